#include "block.h"

#include <stdlib.h>
#include <sys/mman.h>

uint64_t gfs_block_round(uint64_t size)
{
	return (size + GFS_BLOCK_LARGE - 1) / GFS_BLOCK_LARGE * GFS_BLOCK_LARGE;
}

/* A mapping that begins on a huge page: one that is a page too long, cut at both ends. */
static void *map_aligned(size_t size)
{
	size_t room = size + GFS_BLOCK_LARGE;
	char *map = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before;

	if (map == MAP_FAILED)
		return NULL;
	before = -(uintptr_t)map & (GFS_BLOCK_LARGE - 1);
	if (before)
		munmap(map, before);
	munmap(map + before + size, room - before - size);
	madvise(map + before, size, MADV_HUGEPAGE); /* without it the block is slower */
	return map + before;
}

/* What a mapping of size bytes takes. */
static size_t whole_pages(uint64_t size)
{
	return ((size_t)size + 4095) & ~(size_t)4095;
}

void *gfs_block_new(uint64_t size)
{
	if (size >= GFS_BLOCK_LARGE)
		return map_aligned(whole_pages(size));
	return malloc(size ? (size_t)size : 1);
}

void gfs_block_free(void *block, uint64_t size)
{
	if (block && size >= GFS_BLOCK_LARGE)
		munmap(block, whole_pages(size));
	else
		free(block);
}
