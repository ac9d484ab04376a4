/*
 * Kernels by device: every object of a vendor is examined for the names of its kernels, once
 * for all devices of that vendor; which of them a device could load is then added up.
 */
#ifndef GFS_DEVICE_KERNELS_H
#define GFS_DEVICE_KERNELS_H

#include "internal.h"
#include "node.h"
#include "report_tally.h"

struct dec_device;
struct gfs_blob;

/* Where kernels are, by name. */
struct gfs_vendor_kernels {
	char *text; /* all names, one behind the other */
	struct gfs_named {
		size_t at; /* in text */
		size_t len;
		size_t first; /* of its objects */
	} * names; /* sorted bytewise, and one past the last for its first */
	uint32_t count;
	uint32_t *objects; /* of each name, ascending */
	uint32_t examined; /* objects */
	struct gfs_misfit {
		uint32_t object;
		char *target; /* of the payload, which contradicts the entry; NULL: it is
			       * malformed, or other code than the entry's kind says */
	} * misfits; /* in no order */
	uint32_t misfit_count;
	uint32_t *unread; /* objects not examined completely, in no order */
	uint32_t unread_count;
	struct gfs_coverage coverage;
};

/* Cached, made once. The caller ends *blob with gfs_blob_put(), and *kernels with it. */
int gfs_vendor_kernels_get(struct gfs *fs, enum dec_vendor vendor, struct gfs_waiter *waiter,
			   struct gfs_blob **blob, const struct gfs_vendor_kernels **kernels);
int gfs_vendor_kernels_ready(struct gfs *fs, enum dec_vendor vendor, struct gfs_waiter *waiter);

/* Bytes that are examined for it. */
uint64_t gfs_vendor_kernels_size(const struct gfs *fs, enum dec_vendor vendor);

/* A name, which lives as long as the kernels. */
struct dec_text gfs_kernel_name(const struct gfs_vendor_kernels *kernels, uint32_t name);

/* devices/<device>/inspect/report.json */
int gfs_device_report_show(struct gfs *fs, const struct dec_device *device, char **text,
			   size_t *size);

#endif
