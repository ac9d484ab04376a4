/* One growing arena: what an inventory's texts and lists live in, freed at once. */
#ifndef DEC_ARENA_H
#define DEC_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct dec_arena_block;
struct dec_arena {
	struct dec_arena_block *top; /* zeroed: empty */
	size_t next_size; /* of the next block */
};

/* Zeroed memory for count elements of size bytes, aligned for any type; NULL when memory
 * runs out or the product does not fit. Lives until dec_arena_fini(). */
void *dec_arena_array(struct dec_arena *arena, size_t count, size_t size);
void dec_arena_fini(struct dec_arena *arena);

/* Bytes taken from the allocator. */
size_t dec_arena_size(const struct dec_arena *arena);

#endif
