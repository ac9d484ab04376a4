/* The fast search against a naive one. */
#include "internal.h"
#include "inventory.h"

#include <stdlib.h>

static const char *const magics[] = { "\x50\xed\x55\xba", "__CL", "CCOB", "\x10\xff\x10\xad",
				      "\177ELF" };

static size_t naive(const uint8_t *bytes, size_t len, size_t start)
{
	for (size_t i = start; i < len && len - i >= DEC_SCAN_PREFIX; i++)
		for (size_t m = 0; m < COUNT(magics); m++)
			if (memcmp(bytes + i, magics[m], DEC_SCAN_PREFIX) == 0)
				return i;
	return len;
}

/* A copy that ends where the bytes end, so that a sanitizer sees a read past them. */
static size_t scan(const uint8_t *bytes, size_t len, size_t start)
{
	uint8_t *copy = malloc(len ? len : 1);
	size_t found;

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	found = dec_scan(copy, len, start);
	free(copy);
	return found;
}

static uint32_t random_next(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static void each_magic_at_each_place(void **state)
{
	enum { MAX = 70 };
	uint8_t bytes[MAX];

	(void)state;
	for (size_t len = 0; len <= MAX; len++)
		for (size_t at = 0; at + DEC_SCAN_PREFIX <= len; at++)
			for (size_t m = 0; m < COUNT(magics); m++) {
				memset(bytes, 'x', sizeof(bytes));
				memcpy(bytes + at, magics[m], DEC_SCAN_PREFIX);
				assert_int_equal(scan(bytes, len, 0), at);
				assert_int_equal(scan(bytes, len, at), at);
				assert_int_equal(scan(bytes, len, at + 1), len);
			}
}

static void a_magic_that_is_cut_is_none(void **state)
{
	uint8_t bytes[40];

	(void)state;
	for (size_t len = 0; len <= sizeof(bytes); len++)
		for (size_t cut = 1; cut < DEC_SCAN_PREFIX && cut <= len; cut++)
			for (size_t m = 0; m < COUNT(magics); m++) {
				memset(bytes, 0, sizeof(bytes));
				memcpy(bytes + len - cut, magics[m], cut);
				assert_int_equal(scan(bytes, len, 0), len);
			}
}

static void nothing_in_short_bytes(void **state)
{
	(void)state;
	for (size_t len = 0; len < DEC_SCAN_PREFIX; len++)
		for (size_t start = 0; start <= len; start++)
			assert_int_equal(scan((const uint8_t *)"CCOB", len, start), len);
}

/* First and last byte of a magic without what lies between, densely. */
static void near_hits(void **state)
{
	uint8_t bytes[200];

	(void)state;
	for (size_t m = 0; m < COUNT(magics); m++) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)magics[m][i % 2 ? 3 : 0];
		for (size_t len = 0; len <= sizeof(bytes); len++)
			assert_int_equal(scan(bytes, len, 0), naive(bytes, len, 0));
		memcpy(bytes + 131, magics[m], DEC_SCAN_PREFIX);
		for (size_t start = 0; start <= sizeof(bytes); start++)
			assert_int_equal(scan(bytes, sizeof(bytes), start),
					 naive(bytes, sizeof(bytes), start));
	}
}

/* Bytes out of the magics' own letters, so that hits and near hits are common. */
static void random_bytes(void **state)
{
	uint8_t bytes[300];
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t len = random_next(&seed) % sizeof(bytes);
		size_t start = len ? random_next(&seed) % len : 0;

		for (size_t i = 0; i < len; i++)
			bytes[i] = (uint8_t)magics[random_next(&seed) % COUNT(magics)]
						  [random_next(&seed) % DEC_SCAN_PREFIX];
		if (len > 40 && round % 2)
			memcpy(bytes + random_next(&seed) % (len - DEC_SCAN_PREFIX),
			       magics[random_next(&seed) % COUNT(magics)], DEC_SCAN_PREFIX);
		assert_int_equal(scan(bytes, len, start), naive(bytes, len, start));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_magic_at_each_place),
		cmocka_unit_test(a_magic_that_is_cut_is_none),
		cmocka_unit_test(nothing_in_short_bytes),
		cmocka_unit_test(near_hits),
		cmocka_unit_test(random_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
