#include "inventory.h"
#include "msgpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES(s) s, sizeof(s) - 1

static const struct {
	const char *name;
	const char *input;
	size_t len;
	const char *shown; /* the values pulled before the end or the fault, by spell() */
	enum dec_problem_code code;
	uint64_t offset; /* of the fault; ANYWHERE: there is none */
} cases[] = {
	/* clang-format off */
	{ "empty", BYTES(""), "", 0, ANYWHERE },
	{ "positive fixint", BYTES("\x7f"), "127 ", 0, ANYWHERE },
	{ "negative fixint", BYTES("\xe0"), "-32 ", 0, ANYWHERE },
	{ "minus one", BYTES("\xff"), "-1 ", 0, ANYWHERE },
	{ "unsigned of each width",
	  BYTES("\x94\xcc\xff\xcd\x12\x34\xce\x12\x34\x56\x78\xcf\xff\xff\xff\xff\xff\xff\xff\xff"),
	  "[ 255 4660 305419896 18446744073709551615 ] ", 0, ANYWHERE },
	{ "signed of each width",
	  BYTES("\x94\xd0\x80\xd1\xff\xff\xd2\x80\x00\x00\x00\xd3\x80\x00\x00\x00\x00\x00\x00\x00"),
	  "[ -128 -1 -2147483648 -9223372036854775808 ] ", 0, ANYWHERE },
	{ "signed but positive", BYTES("\xd0\x05"), "5 ", 0, ANYWHERE },
	{ "nil and truth", BYTES("\x93\xc0\xc2\xc3"), "[ nil false true ] ", 0, ANYWHERE },
	{ "floats", BYTES("\x92\xca\x3f\x80\x00\x00\xcb\xbf\xf8\x00\x00\x00\x00\x00\x00"),
	  "[ 1f -1.5f ] ", 0, ANYWHERE },
	{ "text of each width",
	  BYTES("\x94\xa1" "a" "\xd9\x01" "b" "\xda\x00\x01" "c" "\xdb\x00\x00\x00\x01" "d"),
	  "[ 'a' 'b' 'c' 'd' ] ", 0, ANYWHERE },
	{ "binary of each width",
	  BYTES("\x93\xc4\x01" "a" "\xc5\x00\x01" "b" "\xc6\x00\x00\x00\x01" "c"),
	  "[ <a> <b> <c> ] ", 0, ANYWHERE },
	{ "extensions, their type first",
	  BYTES("\x95\xd4" "ta" "\xd5" "tab" "\xc7\x00" "t" "\xc8\x00\x01" "ta" "\xc9\x00\x00\x00\x01" "ta"),
	  "[ <ta> <tab> <t> <ta> <ta> ] ", 0, ANYWHERE },
	{ "wide extensions",
	  BYTES("\x93\xd6" "t0123" "\xd7" "t01234567" "\xd8" "t0123456789abcdef"),
	  "[ <t0123> <t01234567> <t0123456789abcdef> ] ", 0, ANYWHERE },
	{ "arrays of each width", BYTES("\x93\x90\xdc\x00\x01\x01\xdd\x00\x00\x00\x01\x02"),
	  "[ [ ] [ 1 ] [ 2 ] ] ", 0, ANYWHERE },
	{ "maps of each width",
	  BYTES("\x93\x81\xa1" "a" "\x01\xde\x00\x01\xa1" "b" "\x02\xdf\x00\x00\x00\x00"),
	  "[ { 'a' 1 } { 'b' 2 } { } ] ", 0, ANYWHERE },
	{ "values behind the first", BYTES("\x01\x02"), "1 2 ", 0, ANYWHERE },
	{ "reserved lead", BYTES("\x91\xc1"), "[ ", DEC_PROBLEM_MALFORMED_METADATA, 101 },
	{ "number that is cut", BYTES("\xce\x00\x00\x00"), "", DEC_PROBLEM_MALFORMED_METADATA,
	  100 },
	{ "text past the end",
	  BYTES("\x91\xa2" "a"),
	  "[ ", DEC_PROBLEM_MALFORMED_METADATA, 101 },
	{ "text of 4 GiB", BYTES("\xdb\xff\xff\xff\xff"), "", DEC_PROBLEM_MALFORMED_METADATA, 100 },
	{ "extension of 4 GiB", BYTES("\xc9\xff\xff\xff\xff"), "", DEC_PROBLEM_MALFORMED_METADATA,
	  100 },
	{ "extension that is cut",
	  BYTES("\xd8" "t"),
	  "", DEC_PROBLEM_MALFORMED_METADATA, 100 },
	{ "array of 2^32 - 1", BYTES("\xdd\xff\xff\xff\xff"), "", DEC_PROBLEM_MALFORMED_METADATA,
	  100 },
	{ "map of 2^32 - 1", BYTES("\xdf\xff\xff\xff\xff"), "", DEC_PROBLEM_MALFORMED_METADATA,
	  100 },
	{ "map one byte short of its pairs", BYTES("\x82\x01\x02\x03"), "",
	  DEC_PROBLEM_MALFORMED_METADATA, 100 },
	{ "array whose last element is missing", BYTES("\x92\x91\x01"), "[ [ 1 ] ",
	  DEC_PROBLEM_MALFORMED_METADATA, 103 },
	/* clang-format on */
};

static void spell(char *out, size_t room, const struct dec_value *v, bool map)
{
	size_t used = strlen(out);
	int len = (int)v->bytes.len;

	out += used;
	room -= used;
	switch (v->type) {
	case DEC_VALUE_NIL:
		snprintf(out, room, "nil ");
		break;
	case DEC_VALUE_BOOL:
		snprintf(out, room, "%s ", v->u ? "true" : "false");
		break;
	case DEC_VALUE_UINT:
		snprintf(out, room, "%llu ", (unsigned long long)v->u);
		break;
	case DEC_VALUE_INT:
		snprintf(out, room, "%lld ", (long long)v->i);
		break;
	case DEC_VALUE_FLOAT:
		snprintf(out, room, "%gf ", v->f);
		break;
	case DEC_VALUE_TEXT:
		snprintf(out, room, "'%.*s' ", len, (const char *)v->bytes.p);
		break;
	case DEC_VALUE_BYTES:
		snprintf(out, room, "<%.*s> ", len, (const char *)v->bytes.p);
		break;
	case DEC_VALUE_ARRAY:
		snprintf(out, room, "[ ");
		break;
	case DEC_VALUE_MAP:
		snprintf(out, room, "{ ");
		break;
	case DEC_VALUE_END:
		snprintf(out, room, "%s ", map ? "}" : "]");
		break;
	}
}

/* A copy that ends where the bytes end, so that a sanitizer sees a read past them. */
static uint8_t *exact(const void *p, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	if (len)
		memcpy(copy, p, len);
	return copy;
}

static void each_input(void **state)
{
	size_t row = (size_t)((const char *)*state - (const char *)cases) / sizeof(cases[0]);
	bool maps[DEC_METADATA_DEPTH + 1] = { false };
	uint8_t *copy = exact(cases[row].input, cases[row].len);
	struct dec_msgpack m;
	struct dec_value v;
	char shown[256] = "";

	dec_msgpack_open(&m, (struct dec_view){ copy, cases[row].len, 100 });
	while (m.r.next(&m.r, &v)) {
		spell(shown, sizeof(shown), &v, maps[m.r.depth + (v.type == DEC_VALUE_END)]);
		maps[m.r.depth] = dec_value_opens(&v) ? v.type == DEC_VALUE_MAP : maps[m.r.depth];
	}
	assert_string_equal(shown, cases[row].shown);
	assert_int_equal(m.r.fault.sentence != NULL, cases[row].offset != ANYWHERE);
	if (m.r.fault.sentence) {
		assert_int_equal(m.r.fault.code, cases[row].code);
		assert_int_equal(m.r.fault.offset, cases[row].offset);
	}
	assert_false(m.r.next(&m.r, &v)); /* an end stays one */
	free(copy);
}

/* Every depth up to the limit can be read, one more is a fault at its own place. */
static void nesting_has_a_limit(void **state)
{
	(void)state;
	for (size_t depth = 1; depth <= DEC_METADATA_DEPTH + 1; depth++) {
		uint8_t bytes[DEC_METADATA_DEPTH + 2];
		struct dec_msgpack m;
		struct dec_value v;
		size_t pulled = 0;

		memset(bytes, 0x91, sizeof(bytes));
		bytes[depth] = 0xc0;
		dec_msgpack_open(&m, (struct dec_view){ bytes, depth + 1, 0 });
		while (m.r.next(&m.r, &v))
			pulled++;
		if (depth <= DEC_METADATA_DEPTH) {
			assert_null(m.r.fault.sentence);
			assert_int_equal(pulled, 2 * depth + 1);
		} else {
			assert_int_equal(m.r.fault.code, DEC_PROBLEM_LIMIT);
			assert_int_equal(m.r.fault.offset, DEC_METADATA_DEPTH);
		}
	}
}

static void skipping_ends_behind_the_value(void **state)
{
	static const char bytes[] = "\x93\x82\xa1"
				    "a"
				    "\x91\x01\xa1"
				    "b"
				    "\x80\x90\x2a";
	struct dec_msgpack m;
	struct dec_value v;

	(void)state;
	dec_msgpack_open(&m, (struct dec_view){ (const uint8_t *)bytes, sizeof(bytes) - 1, 0 });
	assert_true(m.r.next(&m.r, &v)); /* the array */
	assert_true(m.r.next(&m.r, &v)); /* its map */
	assert_true(dec_values_skip(&m.r, &v));
	assert_true(m.r.next(&m.r, &v)); /* the empty array */
	assert_true(dec_values_skip(&m.r, &v));
	assert_true(m.r.next(&m.r, &v));
	assert_int_equal(v.u, 42);
	assert_true(dec_values_skip(&m.r, &v)); /* a scalar: nothing to skip */
	assert_true(m.r.next(&m.r, &v));
	assert_int_equal(v.type, DEC_VALUE_END);
	assert_int_equal(m.r.depth, 0);
}

/* Every piece of a healthy map is either an end or a fault inside it. */
static void every_cut_is_a_fault(void **state)
{
	static const char whole[] = "\x83\xa1"
				    "a"
				    "\xdc\x00\x02\x01\xcd\x01\x00\xa1"
				    "b"
				    "\xd9\x02"
				    "xy"
				    "\xa1"
				    "c"
				    "\xc3";

	(void)state;
	for (size_t len = 1; len < sizeof(whole) - 1; len++) {
		uint8_t *copy = exact(whole, len);
		struct dec_msgpack m;
		struct dec_value v;

		dec_msgpack_open(&m, (struct dec_view){ copy, len, 0 });
		while (m.r.next(&m.r, &v))
			;
		assert_int_equal(m.r.fault.code, DEC_PROBLEM_MALFORMED_METADATA);
		assert_true(m.r.fault.offset <= len);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nesting_has_a_limit),
		cmocka_unit_test(skipping_ends_behind_the_value),
		cmocka_unit_test(every_cut_is_a_fault),
	};

	return RUN_ROWS(cases, each_input) + cmocka_run_group_tests(tests, NULL, NULL);
}
