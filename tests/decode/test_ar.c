#include "build.h"
#include "inventory.h"

#include <string.h>

static const char cubin[] = "sixteen bytes..";

static void fatbin(struct bytes *b)
{
	static const struct fat_entry e = { 2, 90, 0x11, cubin, sizeof(cubin), 0, NULL, NULL };

	add_fatbin(b, &e, 1);
}

static void add_fatbin_member(struct bytes *b, const char *name)
{
	struct bytes member = { 0 };

	fatbin(&member);
	add_member(b, name, member.p, member.len);
	bytes_free(&member);
}
enum { MAGIC = 8, HEADER = 60, FATBIN = 96, MEMBER = HEADER + FATBIN, SIZE = 48, END = 58 };

static void one(struct bytes *b)
{
	add_ar(b);
	add_fatbin_member(b, "a.o/");
}
static void two_and_text(struct bytes *b)
{
	add_ar(b);
	add_fatbin_member(b, "a.o/");
	add_member(b, "text/", "odd", 3);
	add_fatbin_member(b, "b.o/");
}
static void empty(struct bytes *b)
{
	add_ar(b);
}
static void an_archive_in_it(struct bytes *b)
{
	struct bytes inner = { 0 };

	one(&inner);
	add_ar(b);
	add_member(b, "inner.a/", inner.p, inner.len);
	bytes_free(&inner);
}

static void nested(struct bytes *b, unsigned depth)
{
	struct bytes inner = { 0 };

	if (depth == 0) {
		fatbin(b);
		return;
	}
	nested(&inner, depth - 1);
	add_ar(b);
	add_member(b, "inner/", inner.p, inner.len);
	bytes_free(&inner);
}
static void as_deep_as_allowed(struct bytes *b)
{
	nested(b, DEC_DEPTH_MAX);
}
static void too_deep(struct bytes *b)
{
	nested(b, DEC_DEPTH_MAX + 1);
}
static void two(struct bytes *b)
{
	add_ar(b);
	add_fatbin_member(b, "a.o/");
	add_fatbin_member(b, "b.o/");
}
static void thin(struct bytes *b)
{
	add_text(b, "!<thin>\n");
	add_fatbin_member(b, "a.o/");
}
static void refused_member(struct bytes *b)
{
	add_ar(b);
	add_member(b, "bitcode/", "BC\xc0\xde rest", 9);
	add_fatbin_member(b, "a.o/");
}

/* clang-format off */
static const struct input_case damaged[] = {
	{ "one member", one, NONE, 0, 1, 1, false, NONE },
	{ "two members and one of odd size", two_and_text, NONE, 0, 2, 2, false, NONE },
	{ "no member", empty, NONE, 0, 0, 0, false, NONE },
	{ "an archive in an archive", an_archive_in_it, NONE, 0, 1, 1, false, NONE },
	{ "a member that would be refused alone", refused_member, NONE, 0, 1, 1, false, NONE },
	{ "nested as deep as allowed", as_deep_as_allowed, NONE, 0, 1, 1, false, NONE },
	{ "nested too deep", too_deep, NONE, 0, 0, 0, true,
	  { { DEC_PROBLEM_LIMIT, MAGIC + (DEC_DEPTH_MAX) * (HEADER + MAGIC) + HEADER,
	      "member" } } },
	{ "member past the file", one, { { MAGIC + SIZE, 3, 0x393939 } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_TRUNCATED, MAGIC + SIZE, "member size" } } },
	{ "largest size there is", one,
	  { { MAGIC + SIZE, 8, 0x3939393939393939 }, { MAGIC + SIZE + 8, 2, 0x3939 } },
	  0, 1, 1, true,
	  { { DEC_PROBLEM_TRUNCATED, MAGIC + SIZE, "member size" } } },
	{ "cut in the second header", two, NONE, MAGIC + MEMBER + 30, 1, 1, true,
	  { { DEC_PROBLEM_TRUNCATED, MAGIC + MEMBER, "member header" } } },
	{ "size 0", one, { { MAGIC + SIZE, 2, 0x2030 } }, MAGIC + HEADER, 0, 0, false, NONE },
	{ "no end mark", two, { { MAGIC + END, 1, 0 } }, 0, 2, 2, true,
	  { { DEC_PROBLEM_BAD_MAGIC, MAGIC + END, "member header" } } },
	{ "size without digits", two, { { MAGIC + SIZE, 2, 0x2020 } }, 0, 2, 2, true,
	  { { DEC_PROBLEM_BAD_MAGIC, MAGIC + SIZE, "member size" } } },
	{ "size with letters", two, { { MAGIC + SIZE, 1, 'x' } }, 0, 2, 2, true,
	  { { DEC_PROBLEM_BAD_MAGIC, MAGIC + SIZE, "member size" } } },
	{ "negative size", two, { { MAGIC + SIZE, 1, '-' } }, 0, 2, 2, true,
	  { { DEC_PROBLEM_BAD_MAGIC, MAGIC + SIZE, "member size" } } },
	{ "second header broken", two, { { MAGIC + MEMBER + END, 2, 0 } }, 0, 2, 2, true,
	  { { DEC_PROBLEM_BAD_MAGIC, MAGIC + MEMBER + END, "member header" } } },
};
/* clang-format on */

/* ---- names --------------------------------------------------------------------------------- */

static const char gnu_table[] = "a_long_name_of_more_than_16.o/\nanother.o/\n";
static const char coff_table[] = "first.obj\0second.obj"; /* each ends with NUL */

struct name_case {
	const char *name; /* as in the header */
	const char *table; /* the member of long names before it; NULL: none */
	size_t table_size;
	const char *prefix; /* of the data: a BSD name; NULL: none */
	size_t prefix_size;
	const char *expected;
};

static const struct name_case names[] = {
	{ "a.o/", NULL, 0, NULL, 0, "a.o" },
	{ "a.o", NULL, 0, NULL, 0, "a.o" },
	{ "0123456789abcde/", NULL, 0, NULL, 0, "0123456789abcde" },
	{ "0123456789abcdef", NULL, 0, NULL, 0, "0123456789abcdef" },
	{ "with blanks.o/", NULL, 0, NULL, 0, "with blanks.o" },
	{ "/0", gnu_table, sizeof(gnu_table) - 1, NULL, 0, "a_long_name_of_more_than_16.o" },
	{ "/31", gnu_table, sizeof(gnu_table) - 1, NULL, 0, "another.o" },
	{ "/41", gnu_table, sizeof(gnu_table) - 1, NULL, 0, "" },
	{ "/42", gnu_table, sizeof(gnu_table) - 1, NULL, 0, "" },
	{ "/999999999999999", gnu_table, sizeof(gnu_table) - 1, NULL, 0, "" },
	{ "/7", NULL, 0, NULL, 0, "" },
	{ "/10", coff_table, sizeof(coff_table), NULL, 0, "second.obj" },
	{ "#1/8", NULL, 0, "bsd.o\0\0\0", 8, "bsd.o" },
	{ "#1/5", NULL, 0, "bsd.o", 5, "bsd.o" },
	{ "#1/0", NULL, 0, "", 0, "" },
};

static void check_name(void **state)
{
	const struct name_case *c = *state;
	const struct dec_place *place;
	struct bytes data = { 0 };
	struct opened o = { 0 };

	add_ar(&o.bytes);
	add_member(&o.bytes, "/", "\0\0\0", 4);
	if (c->table)
		add_member(&o.bytes, "//", c->table, c->table_size);
	if (c->prefix)
		add(&data, c->prefix, c->prefix_size);
	fatbin(&data);
	add_member(&o.bytes, c->name, data.p, data.len);
	open_input(&o);
	assert_int_equal(o.a->format, DEC_FORMAT_AR);
	assert_int_equal(o.a->container_count, 1);
	place = &o.a->places[o.a->containers[0].place];
	assert_int_equal(place->kind, DEC_PLACE_MEMBER);
	assert_string_equal(place->name.p, c->expected);
	assert_int_equal(place->range.offset, o.a->containers[0].range.offset);
	assert_int_equal(place->range.size, FATBIN);
	assert_int_equal(o.a->places[place->outer].kind, DEC_PLACE_FILE);
	sweep_failures(&o.bytes, &o.limits);
	bytes_free(&data);
	close_input(&o);
}

static void a_bsd_name_longer_than_the_member(void **state)
{
	struct opened o = { 0 };

	(void)state;
	add_ar(&o.bytes);
	add_member(&o.bytes, "#1/9999999999999", "abc", 3);
	add_fatbin_member(&o.bytes, "a.o/");
	open_input(&o);
	assert_int_equal(o.a->container_count, 1);
	close_input(&o);
}

/* ---- tables ---------------------------------------------------------------------------------- */

struct table_case {
	const char *label;
	const char *name;
	const char *data;
	size_t size;
	struct fault fault;
};

enum { DATA = MAGIC + HEADER };

#define OF(text) text, sizeof(text) - 1 /* NULs are written out */
#define PAST                                                                                       \
	{                                                                                          \
		DEC_PROBLEM_OUT_OF_BOUNDS, DATA, "symbol count"                                    \
	}
#define LONG                                                                                       \
	{                                                                                          \
		DEC_PROBLEM_SIZE_MISMATCH, MAGIC + SIZE, "member size"                             \
	}
#define TEXT(at)                                                                                   \
	{                                                                                          \
		DEC_PROBLEM_BAD_MAGIC, DATA + (at), "long names"                                   \
	}

static const struct table_case tables[] = {
	{ "symbols", "/", OF("\0\0\0\2atatatatf\0g\0"), { 0 } },
	{ "no symbols", "/", OF("\0\0\0\0"), { 0 } },
	{ "no symbols, padded to 8", "/", OF("\0\0\0\0\0\0\0\0"), { 0 } },
	{ "seven bytes of padding", "/", OF("\0\0\0\1ata.f\0\0\0\0\0\0\0\0"), { 0 } },
	{ "eight bytes behind the names", "/", OF("\0\0\0\1ata.f\0\0\0\0\0\0\0\0\0"), LONG },
	{ "no room for the count", "/", OF("\0\0\0"), PAST },
	{ "no room for the numbers", "/", OF("\0\0\0\2atatatat"), PAST },
	{ "largest count there is", "/", OF("\xff\xff\xff\xff rest"), PAST },
	{ "a name without its end", "/", OF("\0\0\0\2atatatatf\0g"), PAST },
	{ "members and symbols of COFF", "/", OF("\1\0\0\0atat\2\0\0\0\1\0\1\0f\0g\0"), { 0 } },
	{ "64-bit symbols", "/SYM64/", OF("\0\0\0\0\0\0\0\1at.at.atf\0"), { 0 } },
	{ "64-bit count past all", "/SYM64/", OF("\xff\xff\xff\xff\xff\xff\xff\xff rest"), PAST },
	{ "symbols of ARM64EC", "/<ECSYMBOLS>/", OF("\2\0\0\0\1\0\1\0f\0g\0"), { 0 } },
	{ "too many of ARM64EC", "/<ECSYMBOLS>/", OF("\3\0\0\0\1\0\1\0f\0g\0"), PAST },
	{ "a table of no known form", "/<XFGHASHMAP>/", OF("\xff\xff"), { 0 } },
	{ "long names", "//", OF("a.o/\nb.o/\n"), { 0 } },
	{ "long names, padded", "//", OF("ab.o/\n\n"), { 0 } },
	{ "long names of COFF", "//", OF("a.obj\0b.obj\0"), { 0 } },
	{ "long names with a byte of something else", "//", OF("a.o/\n\x01.o/\n"), TEXT(5) },
	{ "lines that are no names", "//", OF("not a name\n"), TEXT(10) },
	{ "a long name without its end", "//", OF("a.o/\nb.o"), TEXT(8) },
};

/* Behind a table the archive goes on, whatever the table holds. */
static void check_table(void **state)
{
	const struct table_case *c = *state;
	struct opened o = { 0 };

	add_ar(&o.bytes);
	add_member(&o.bytes, c->name, c->data, c->size);
	add_fatbin_member(&o.bytes, "a.o/");
	open_input(&o);
	assert_int_equal(o.a->container_count, 1);
	assert_int_equal(o.a->problem_count, c->fault.field ? 1 : 0);
	if (c->fault.field) {
		assert_int_equal(o.a->problems[0].code, c->fault.code);
		assert_int_equal(o.a->problems[0].offset, c->fault.offset);
		assert_string_equal(o.a->problems[0].field, c->fault.field);
	}
	sweep_failures(&o.bytes, &o.limits);
	close_input(&o);
}

/* What stands in a table is part of the file, and its place is the table. */
static void tables_keep_their_names(void **state)
{
	static const char *const special[] = { "/", "//", "/SYM64/", "/<ECSYMBOLS>/",
					       "/<XFGHASHMAP>/" };

	(void)state;
	for (size_t i = 0; i < COUNT(special); i++) {
		struct opened o = { 0 };

		add_ar(&o.bytes);
		add_fatbin_member(&o.bytes, special[i]);
		open_input(&o);
		assert_int_equal(o.a->container_count, 1);
		assert_string_equal(o.a->places[o.a->containers[0].place].name.p, special[i]);
		close_input(&o);
	}
}

/* The last name of a table may be the beginning of a window, and then of the next. */
static void a_table_of_several_windows(void **state)
{
	enum { SYMBOLS = DEC_WINDOW / 2 };
	struct bytes table = { 0 };
	struct opened o = { 0 };

	(void)state;
	add(&table, (const uint8_t[]){ 0, SYMBOLS >> 16, SYMBOLS >> 8 & 0xff, SYMBOLS & 0xff }, 4);
	for (uint32_t i = 0; i < SYMBOLS; i++)
		add(&table, "at..", 4);
	for (uint32_t i = 0; i < SYMBOLS; i++)
		add(&table, i % 3 ? "f" : "gg", i % 3 ? 2 : 3);
	add_ar(&o.bytes);
	add_member(&o.bytes, "/", table.p, table.len);
	add_fatbin_member(&o.bytes, "a.o/");
	open_input(&o);
	assert_int_equal(o.a->problem_count, 0);
	assert_int_equal(o.a->container_count, 1);
	bytes_free(&table);
	close_input(&o);
}

/* A size that is too large makes a table of the members behind it. */
static const struct {
	const char *size;
	struct fault fault;
} sizes[] = {
	{ "316       ", LONG }, /* exactly up to the end */
	{ "317       ", { DEC_PROBLEM_TRUNCATED, MAGIC + SIZE, "member size" } },
	{ "9999999999", { DEC_PROBLEM_TRUNCATED, MAGIC + SIZE, "member size" } },
};

static void a_table_over_the_members(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct opened o = { 0 };

		add_ar(&o.bytes);
		add_member(&o.bytes, "/", "\0\0\0\0", 4);
		add_fatbin_member(&o.bytes, "a.o/");
		add_fatbin_member(&o.bytes, "b.o/");
		memcpy(o.bytes.p + MAGIC + SIZE, sizes[i].size, strlen(sizes[i].size));
		open_input(&o);
		assert_int_equal(o.bytes.len - DATA, 316);
		assert_int_equal(o.a->container_count, 2);
		assert_true(o.a->partial);
		assert_int_equal(o.a->problem_count, 1);
		assert_int_equal(o.a->problems[0].code, sizes[i].fault.code);
		assert_int_equal(o.a->problems[0].offset, sizes[i].fault.offset);
		assert_string_equal(o.a->problems[0].field, sizes[i].fault.field);
		close_input(&o);
	}
}

/* Members that hold nothing leave no place. */
static void places_of_members(void **state)
{
	struct opened o = { 0 };

	(void)state;
	two_and_text(&o.bytes);
	open_input(&o);
	assert_int_equal(o.a->place_count, 3);
	assert_string_equal(o.a->places[2].name.p, "b.o");
	close_input(&o);

	o = (struct opened){ 0 };
	an_archive_in_it(&o.bytes);
	open_input(&o);
	assert_int_equal(o.a->place_count, 3);
	assert_string_equal(o.a->places[2].name.p, "a.o");
	assert_string_equal(o.a->places[o.a->places[2].outer].name.p, "inner.a");
	close_input(&o);
}

static void a_thin_archive_is_refused(void **state)
{
	struct dec_limits limits = dec_limits_default();
	struct bytes b = { 0 };
	struct dec_error err;
	struct memory m;

	(void)state;
	thin(&b);
	memory_init(&m, b.p, b.len);
	assert_null(dec_open(&m.source, "thin", &limits, &err));
	assert_int_equal(err.status, DEC_E_REFUSED);
	assert_string_equal(err.field, "magic");
	sweep_failures(&b, &limits);
	bytes_free(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bsd_name_longer_than_the_member),
		cmocka_unit_test(tables_keep_their_names),
		cmocka_unit_test(a_table_of_several_windows),
		cmocka_unit_test(a_table_over_the_members),
		cmocka_unit_test(places_of_members),
		cmocka_unit_test(a_thin_archive_is_refused),
	};

	return RUN_ROWS(damaged, check_input) + RUN_ROWS(names, check_name) +
	       RUN_ROWS(tables, check_table) + cmocka_run_group_tests(tests, NULL, NULL);
}
