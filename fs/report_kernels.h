/*
 * The kernels of a target by name: every object of it is examined and what it says of each
 * kernel is kept as text, equal ones once.
 */
#ifndef GFS_REPORT_KERNELS_H
#define GFS_REPORT_KERNELS_H

#include "examine_names.h"
#include "internal.h"
#include "node.h"
#include "report_tally.h"

struct gfs_blob;
struct gfs_declared;

struct gfs_kernels {
	struct gfs_declared *declared; /* by name, then by text */
	size_t declared_count;
	size_t *first; /* of each name in declared, and one past the last */
	struct gfs_file_names names; /* without ".json" */
	struct gfs_key payloads; /* of the objects, added up */
	uint64_t problems[GFS_CODE_COUNT]; /* that were found in them, by code */
};

/* Cached, made once. The caller ends *blob with gfs_blob_put(), and *kernels with it. */
int gfs_kernels_get(struct gfs *fs, uint32_t target, struct gfs_waiter *waiter,
		    struct gfs_blob **blob, const struct gfs_kernels **kernels);

/* Names are in bytewise order. The text lives as long as the kernels. */
struct dec_text gfs_kernels_name(const struct gfs_kernels *kernels, uint32_t name);
/* Of the machine code or PTX text of a name, added up over all that differ. */
struct gfs_key gfs_kernels_code(const struct gfs_kernels *kernels, uint32_t name);
/* True: both are declared alike, but for the code. */
bool gfs_kernels_alike(const struct gfs_kernels *x, uint32_t x_name, const struct gfs_kernels *y,
		       uint32_t y_name);

/* <kernel>.json: an array of the declarations of one name. */
int gfs_kernels_show(const struct gfs_kernels *kernels, uint32_t name, char **text, size_t *size);

/* kernels.jsonl: one line for each declaration. */
int gfs_kernels_show_lines(const struct gfs_kernels *kernels, char **text, size_t *size);

#endif
