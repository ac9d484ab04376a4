/*
 * Memory for bytes of any size. A fresh page costs a fault, which with virtual machines is
 * more than what is done to its 4 KiB afterwards; so what is large lies on huge pages, where the
 * kernel has them.
 */
#ifndef GFS_BLOCK_H
#define GFS_BLOCK_H

#include <stdint.h>

/* The size of a huge page. Blocks from here on are mappings of their own, given back at once. */
#define GFS_BLOCK_LARGE ((uint64_t)2 << 20)

/* size rounded up to whole huge pages. */
uint64_t gfs_block_round(uint64_t size);

void *gfs_block_new(uint64_t size); /* NULL: out of memory */
void gfs_block_free(void *block, uint64_t size); /* NULL is nothing */

#endif
