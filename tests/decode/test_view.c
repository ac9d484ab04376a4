#include "inventory.h"
#include "view.h"

struct fits_case {
	const char *name;
	uint64_t offset, size, limit;
	bool fits;
};

static const struct fits_case fits_cases[] = {
	{ "nothing in nothing", 0, 0, 0, true },
	{ "all of it", 0, 10, 10, true },
	{ "nothing at the end", 10, 0, 10, true },
	{ "nothing past the end", 11, 0, 10, false },
	{ "one byte at the end", 10, 1, 10, false },
	{ "one byte too many", 4, 7, 10, false },
	{ "the sum wraps to inside", 8, UINT64_MAX - 4, 10, false },
	{ "the sum wraps to 0", 1, UINT64_MAX, 10, false },
	{ "offset of all ones", UINT64_MAX, 1, 10, false },
	{ "everything there is", 0, UINT64_MAX, UINT64_MAX, true },
	{ "the last byte there is", UINT64_MAX - 1, 1, UINT64_MAX, true },
	{ "all ones in both", UINT64_MAX, UINT64_MAX, UINT64_MAX, false },
};

static void check_fits(void **state)
{
	const struct fits_case *c = *state;

	assert_int_equal(dec_fits(c->offset, c->size, c->limit), c->fits);
}

static void slice_keeps_its_place(void **state)
{
	static const uint8_t bytes[] = "0123456789";
	struct dec_view v = { bytes, 10, 1000 }, s, inner;

	(void)state;
	assert_true(dec_slice(v, 3, 5, &s));
	assert_ptr_equal(s.p, bytes + 3);
	assert_int_equal(s.len, 5);
	assert_int_equal(s.origin, 1003);
	assert_true(dec_slice(s, 5, 0, &inner));
	assert_int_equal(inner.origin, 1008);
}

static void slice_that_does_not_fit_leaves_out_alone(void **state)
{
	static const uint8_t bytes[] = "0123456789";
	struct dec_view v = { bytes, 10, 0 }, out = { bytes, 1, 77 };

	(void)state;
	assert_false(dec_slice(v, 3, 8, &out));
	assert_false(dec_slice(v, 11, 0, &out));
	assert_false(dec_slice(v, 3, UINT64_MAX - 2, &out));
	assert_int_equal(out.origin, 77);
	assert_int_equal(out.len, 1);
}

static void starts_needs_all_bytes(void **state)
{
	static const uint8_t bytes[] = "CCOB";
	struct dec_view v = { bytes, 4, 0 };

	(void)state;
	assert_true(dec_starts(v, "", 0));
	assert_true(dec_starts(v, "CCO", 3));
	assert_true(dec_starts(v, "CCOB", 4));
	assert_false(dec_starts(v, "CCOB", 5)); /* the NUL is not in the view */
	assert_false(dec_starts(v, "CCOb", 4));
}

static void integers_are_little_endian_at_any_address(void **state)
{
	static const uint8_t bytes[] = { 0xff, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xf1 };

	(void)state;
	assert_int_equal(dec_le16(bytes + 1), 0x9988);
	assert_int_equal(dec_le32(bytes + 1), 0xbbaa9988);
	assert_true(dec_le64(bytes + 1) == UINT64_C(0xf1eeddccbbaa9988));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(slice_keeps_its_place),
		cmocka_unit_test(slice_that_does_not_fit_leaves_out_alone),
		cmocka_unit_test(starts_needs_all_bytes),
		cmocka_unit_test(integers_are_little_endian_at_any_address),
	};

	return RUN_ROWS(fits_cases, check_fits) + cmocka_run_group_tests(tests, NULL, NULL);
}
