#include "alloc.h"
#include "arena.h"
#include "inventory.h"

#include <stdalign.h>
#include <string.h>

#define BLOCK ((size_t)64 << 10)

static void memory_is_zeroed_aligned_and_apart(void **state)
{
	struct dec_arena arena = { 0 };
	unsigned char *seen[200];

	(void)state;
	for (size_t i = 0; i < COUNT(seen); i++) {
		size_t size = i * 37 % 1000;

		seen[i] = dec_arena_array(&arena, size, 1);
		assert_non_null(seen[i]);
		assert_int_equal((uintptr_t)seen[i] % alignof(max_align_t), 0);
		for (size_t j = 0; j < size; j++)
			assert_int_equal(seen[i][j], 0);
		memset(seen[i], (int)i, size);
	}
	for (size_t i = 0; i < COUNT(seen); i++)
		for (size_t j = 0; j < i * 37 % 1000; j++)
			assert_int_equal(seen[i][j], (unsigned char)i);
	dec_arena_fini(&arena);
}

static void sizes_around_a_block(void **state)
{
	static const size_t sizes[] = { 0, 1, 15, 16, 17, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK };
	struct dec_arena arena = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		unsigned char *p = dec_arena_array(&arena, 1, sizes[i]);

		assert_non_null(p);
		memset(p, 0xff, sizes[i]);
	}
	dec_arena_fini(&arena);
	assert_null(arena.top);
}

static void zero_elements_are_no_failure(void **state)
{
	struct dec_arena arena = { 0 };

	(void)state;
	assert_non_null(dec_arena_array(&arena, 0, 8));
	assert_non_null(dec_arena_array(&arena, SIZE_MAX, 0));
	dec_arena_fini(&arena);
}

static void products_that_do_not_fit(void **state)
{
	struct dec_arena arena = { 0 };

	(void)state;
	assert_null(dec_arena_array(&arena, SIZE_MAX / 2 + 1, 2));
	assert_null(dec_arena_array(&arena, SIZE_MAX, SIZE_MAX));
	assert_null(dec_arena_array(&arena, SIZE_MAX / 8, 8));
	assert_null(dec_arena_array(&arena, SIZE_MAX, 1));
	dec_arena_fini(&arena);
}

/* Blocks double up to 64 KiB, so that neither few nor many texts cost much. */
static void few_blocks_serve_many(void **state)
{
	struct dec_arena arena = { 0 };

	(void)state;
	alloc_fail_at(0);
	for (size_t i = 0; i < BLOCK; i++)
		assert_non_null(dec_arena_array(&arena, 1, 16));
	assert_in_range(alloc_calls(), 16, 16 + 7);
	assert_in_range(dec_arena_size(&arena), 16 * BLOCK, 18 * BLOCK);
	dec_arena_fini(&arena);
	assert_int_equal(dec_arena_size(&arena), 0);
	assert_non_null(dec_arena_array(&arena, 1, 16));
	assert_true(dec_arena_size(&arena) < 2048);
	dec_arena_fini(&arena);
}

static void what_was_there_outlives_a_failure(void **state)
{
	struct dec_arena arena = { 0 };
	long before = alloc_live();
	char *text;

	(void)state;
	text = dec_arena_array(&arena, 6, 1);
	memcpy(text, "hello", 6);
	alloc_fail_at(1);
	assert_null(dec_arena_array(&arena, BLOCK, 1));
	alloc_fail_at(0);
	assert_string_equal(text, "hello");
	assert_non_null(dec_arena_array(&arena, BLOCK, 1));
	dec_arena_fini(&arena);
	assert_int_equal(alloc_live(), before);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
		cmocka_unit_test(sizes_around_a_block),
		cmocka_unit_test(zero_elements_are_no_failure),
		cmocka_unit_test(products_that_do_not_fit),
		cmocka_unit_test(few_blocks_serve_many),
		cmocka_unit_test(what_was_there_outlives_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
