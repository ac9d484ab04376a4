/*
 * File names for the kernels of one directory: escaped as names.h says, and where two come
 * out the same the later ones get "~2", "~3". That is no clash: an escaped name has '~' only
 * before 16 digits.
 */
#ifndef GFS_EXAMINE_NAMES_H
#define GFS_EXAMINE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "decode.h"

struct gfs_file_names {
	uint32_t count;
	char **names; /* by index */
	uint32_t *sorted; /* indexes in bytewise order of their names */
	size_t memory; /* bytes that it takes */
};

/* Names for count texts that name() gives. -ENOMEM: nothing is left to free. */
int gfs_file_names_init(struct gfs_file_names *list, uint32_t count,
			struct dec_text (*name)(const void *ctx, uint32_t index), const void *ctx);
void gfs_file_names_fini(struct gfs_file_names *list);

/* The index of a name of len bytes, DEC_NONE if there is none. */
uint32_t gfs_file_names_find(const struct gfs_file_names *list, const char *name, size_t len);

#endif
