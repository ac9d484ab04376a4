/*
 * One unlinked temporary file, written through a map, read by gfs_full_read().
 */
#ifndef GFS_SPILL_H
#define GFS_SPILL_H

#include <stddef.h>
#include <stdint.h>

/* A descriptor with size bytes allocated, so that writing them cannot fail, and a writable
 * map of them, whose pages do not stay in memory; or a negative errno. size is not 0. */
int spill_open(const char *dir, uint64_t size, void **map);
void spill_unmap(void *map);

#endif
