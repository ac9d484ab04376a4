/*
 * What devices/<device>/ shows: which code of the artifact a device could load. The verdicts
 * are decode's (its device.h); here they are added up and written.
 *
 * Rows that compare between releases come first. What is positional, ids of containers and
 * objects, stands under the one key "ids" at the end, in ranges: "00003-00017" is all from the
 * one to the other.
 */
#ifndef GFS_DEVICE_SHOW_H
#define GFS_DEVICE_SHOW_H

#include "internal.h"
#include "json.h"

struct dec_device;
struct dec_answer;

/* True: the artifact has code for the vendor of the device. */
bool gfs_device_is_shown(const struct gfs *fs, const struct dec_device *device);

/* device.json, from the inventory alone. */
int gfs_device_show(struct gfs *fs, const struct dec_device *device, char **text, size_t *size);

/* The keys that both files of a device begin with. */
void gfs_device_put(struct gfs_json *w, struct cJSON *in, const struct dec_answer *answer);

/* An array of ids in ranges, made from ascending indexes. */
struct gfs_ranges {
	struct gfs_json *w;
	struct cJSON *array;
	int width; /* of an id */
	uint32_t first; /* of the range that is open */
	uint32_t next; /* the index behind it; 0: none is open */
};
void gfs_ranges_begin(struct gfs_ranges *r, const struct gfs *fs, struct gfs_json *w,
		      struct cJSON *in, const char *key);
void gfs_ranges_add(struct gfs_ranges *r, uint32_t index); /* equal to the last one: once */
void gfs_ranges_end(struct gfs_ranges *r);

#endif
