#include "arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

/* Blocks double from a size that suits a payload of one kernel up to one that holds
 * thousands of short texts. */
#define FIRST_BLOCK ((size_t)1 << 10)
#define LAST_BLOCK ((size_t)64 << 10)

struct dec_arena_block {
	struct dec_arena_block *next;
	size_t used;
	size_t size;
	alignas(max_align_t) unsigned char bytes[];
};

static struct dec_arena_block *block_add(struct dec_arena *arena, size_t want)
{
	size_t size = arena->next_size ? arena->next_size : FIRST_BLOCK;
	struct dec_arena_block *block;

	arena->next_size = size < LAST_BLOCK ? size * 2 : LAST_BLOCK;
	if (size < want)
		size = want;
	if (size > SIZE_MAX - sizeof(*block))
		return NULL;
	block = malloc(sizeof(*block) + size);
	if (!block)
		return NULL;
	block->next = arena->top;
	block->used = 0;
	block->size = size;
	arena->top = block;
	return block;
}

void *dec_arena_array(struct dec_arena *arena, size_t count, size_t size)
{
	struct dec_arena_block *block = arena->top;
	const size_t align = alignof(max_align_t);
	size_t want;
	void *p;

	if (size && count > (SIZE_MAX - align) / size)
		return NULL;
	want = (count * size + align - 1) / align * align;
	if (!block || want > block->size - block->used)
		block = block_add(arena, want);
	if (!block)
		return NULL;
	p = block->bytes + block->used;
	block->used += want;
	return memset(p, 0, want);
}

void dec_arena_fini(struct dec_arena *arena)
{
	while (arena->top) {
		struct dec_arena_block *next = arena->top->next;

		free(arena->top);
		arena->top = next;
	}
	arena->next_size = 0;
}

size_t dec_arena_size(const struct dec_arena *arena)
{
	size_t size = 0;

	for (const struct dec_arena_block *block = arena->top; block; block = block->next)
		size += sizeof(*block) + block->size;
	return size;
}
