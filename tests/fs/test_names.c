#include "fs_test.h"

#include "names.h"

/* Repetitions, to write long names in one line. */
#define TEN(s) s s s s s s s s s s

struct name_case {
	const char *what;
	const char *raw;
	size_t len;
	const char *escaped;
};

#define RAW(s) s, sizeof(s) - 1

/* The digits after "~" are from sha256sum of the raw bytes. */
static const struct name_case cases[] = {
	{ "plain", RAW("sm_90a"), "sm_90a" },
	{ "target id", RAW("gfx90a:sramecc+:xnack-"), "gfx90a:sramecc+:xnack-" },
	{ "space stays", RAW("a b"), "a b" },
	{ "empty", RAW(""), "%" },
	{ "dot", RAW("."), "%2E" },
	{ "two dots", RAW(".."), "%2E%2E" },
	{ "three dots", RAW("..."), "..." },
	{ "hidden", RAW(".text"), ".text" },
	{ "slash", RAW("a/b"), "a%2Fb" },
	{ "percent", RAW("100%"), "100%25" },
	{ "tilde", RAW("~2"), "%7E2" },
	{ "NUL", RAW("a\0b"), "a%00b" },
	{ "newline and DEL", RAW("\n\x7f"), "%0A%7F" },
	{ "UTF-8", RAW("\xc3\xa9"), "%C3%A9" },
	{ "200 bytes stay", RAW(TEN(TEN("ab"))), TEN(TEN("ab")) },
	{ "201 bytes are cut", RAW(TEN(TEN("ab")) "c"),
	  TEN("abababababababab") TEN("ab") "~b379af8a93cd63c9" },
	{ "never inside an escape", RAW(TEN(TEN("\xff"))),
	  TEN("%FF%FF%FF%FF%FF%FF") "~da6f14970ce356ce" },
	{ "one byte before an escape", RAW("a" TEN(TEN("\xff"))),
	  "a" TEN("%FF%FF%FF%FF%FF") "%FF%FF%FF%FF%FF%FF%FF%FF%FF~d40e6151a34ec65a" },
};

static void escapes(void **state)
{
	char out[GFS_NAME_SIZE];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct name_case *c = &cases[i];

		if (gfs_name_escape(c->raw, c->len, out) != 0 || strcmp(out, c->escaped) != 0)
			fail_msg("%s: got \"%s\", expected \"%s\"", c->what, out, c->escaped);
	}
}

static void unescapes(void **state)
{
	char out[256];
	size_t len;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct name_case *c = &cases[i];
		bool cut = strchr(c->escaped, '~');

		if (!gfs_name_unescape(c->escaped, out, &len))
			fail_msg("%s: refused", c->what);
		if ((cut ? len > c->len : len != c->len) || memcmp(out, c->raw, len) != 0)
			fail_msg("%s: another name of %zu bytes", c->what, len);
	}
}

static void refuses_broken_escapes(void **state)
{
	static const char *const broken[] = { "", "%4", "a%", "%G0", "%0g", "%2e" };
	char out[256];
	size_t len;

	(void)state;
	for (size_t i = 0; i < COUNT(broken); i++)
		if (gfs_name_unescape(broken[i], out, &len))
			fail_msg("\"%s\" was taken", broken[i]);
}

/* Long names that differ at their end only must not meet. */
static void cut_names_differ(void **state)
{
	char a[GFS_NAME_SIZE];
	char b[GFS_NAME_SIZE];
	char raw[2489];

	(void)state;
	memset(raw, 'k', sizeof(raw));
	assert_int_equal(gfs_name_escape(raw, sizeof(raw), a), 0);
	raw[sizeof(raw) - 1] = 'l';
	assert_int_equal(gfs_name_escape(raw, sizeof(raw), b), 0);
	assert_memory_equal(a, b, GFS_NAME_CUT + 1);
	assert_string_not_equal(a, b);
	assert_int_equal(strlen(a), GFS_NAME_CUT + 1 + GFS_NAME_DIGITS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes),
		cmocka_unit_test(unescapes),
		cmocka_unit_test(refuses_broken_escapes),
		cmocka_unit_test(cut_names_differ),
	};

	return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
