/*
 * What examinations found, as JSON. The text of files is from malloc().
 */
#ifndef GFS_EXAMINE_JSON_H
#define GFS_EXAMINE_JSON_H

#include "fields.h"
#include "inspect.h"
#include "internal.h"

/* What the tables are read from: an object as it was examined, or one of its kernels. */
struct gfs_shown {
	const struct dec_object *object;
	const struct dec_inspection *inspection;
	const struct dec_kernel *kernel; /* NULL: the inspection itself */
	const char *sha256; /* of the payload, "" where there is none */
	const struct dec_problem *around; /* of the container; NULL: none */
	uint32_t index; /* of the object */
};

extern const struct gfs_field gfs_inspection_fields[]; /* struct gfs_shown */
extern const struct gfs_field gfs_kernel_fields[]; /* struct gfs_shown with a kernel */

/* A conflict is noted on every kernel: it is listed once for all of them, where they are. */
bool gfs_problem_is_repeated(const struct dec_problem *problem);

/* sha256 is the payload's, "" where there is none; around a problem of the container, found by
 * decoding it, NULL where there is none. */
int gfs_inspection_show(const struct gfs *fs, uint32_t object,
			const struct dec_inspection *inspection, const char *sha256,
			const struct dec_problem *around, char **text, size_t *size);

/* metadata.json: null where there is none. */
int gfs_metadata_show(const struct dec_inspection *inspection, char **text, size_t *size);

int gfs_kernel_show(const struct gfs *fs, uint32_t object, const struct dec_inspection *inspection,
		    uint32_t kernel, char **text, size_t *size);

/* The kernel as it is listed for a target: without what depends on where it lies. One
 * element of an array, printed as in there. */
int gfs_kernel_of_target_show(const struct gfs *fs, uint32_t object,
			      const struct dec_inspection *inspection, uint32_t kernel, char **text,
			      size_t *size);

/* The handle by which a packet names a kernel. */
uint64_t gfs_kernel_object(uint32_t object, const struct dec_kernel *kernel);

#endif
