#include "fs_test.h"

#include <math.h>

#include <errno.h>

#include <cjson/cJSON.h>

#include "json.h"

#define TEXT(s)                                                                                    \
	{                                                                                          \
		s, sizeof(s) - 1                                                                   \
	}

/* The one value of an array, without the array. */
static void check(const char *what, struct gfs_json *w, const char *expected)
{
	char *text;
	size_t size;

	if (gfs_json_finish(w, &text, &size) != 0)
		fail_msg("%s: not written", what);
	if (size < 3 || size != strlen(text) || strcmp(text + size - 2, "]\n") != 0)
		fail_msg("%s: ends wrongly: %s", what, text);
	text[size - 2] = '\0';
	if (strcmp(text + 1, expected) != 0)
		fail_msg("%s: got %s, expected %s", what, text + 1, expected);
	free(text);
}

static struct cJSON *begin(struct gfs_json *w)
{
	gfs_json_init(w);
	return gfs_json_array(w, NULL, NULL);
}

static void numbers(void **state)
{
	static const struct {
		const char *what;
		uint64_t value;
		const char *number;
		const char *hex;
	} cases[] = {
		{ "zero", 0, "0", "\"0x0\"" },
		{ "32 bits", 4294967295, "4294967295", "\"0xffffffff\"" },
		{ "2^53 - 1", 9007199254740991, "9007199254740991", "\"0x1fffffffffffff\"" },
		{ "2^53", 9007199254740992, "9007199254740992", "\"0x20000000000000\"" },
		{ "2^53 + 1", 9007199254740993, "\"0x20000000000001\"", "\"0x20000000000001\"" },
		{ "64 bits", UINT64_MAX, "\"0xffffffffffffffff\"", "\"0xffffffffffffffff\"" },
	};
	struct gfs_json w;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		gfs_json_uint(&w, begin(&w), NULL, cases[i].value);
		check(cases[i].what, &w, cases[i].number);
		gfs_json_hex(&w, begin(&w), NULL, cases[i].value);
		check(cases[i].what, &w, cases[i].hex);
	}
}

static void negative_numbers(void **state)
{
	static const struct {
		int64_t value;
		const char *expected;
	} cases[] = {
		{ -1, "-1" },
		{ -9007199254740992, "-9007199254740992" },
		{ -9007199254740993, "\"-9007199254740993\"" },
		{ INT64_MIN, "\"-9223372036854775808\"" },
	};
	struct gfs_json w;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		gfs_json_negative(&w, begin(&w), NULL, cases[i].value);
		check(cases[i].expected, &w, cases[i].expected);
	}
}

static void fractions(void **state)
{
	static const struct {
		double value;
		const char *expected;
	} cases[] = {
		{ 0.5, "0.5" },
		{ -1e300, "-1.0000000000000001e+300" },
		{ (double)INFINITY, "null" },
		{ (double)NAN, "null" },
	};
	struct gfs_json w;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		gfs_json_float(&w, begin(&w), NULL, cases[i].value);
		check(cases[i].expected, &w, cases[i].expected);
	}
}

static void compacts(void **state)
{
	static const struct {
		const char *text;
		const char *expected;
	} cases[] = {
		{ "", "" },
		{ "[1, 2,\n\t3 ]\n", "[1,2,3]" },
		{ "{\n\t\"a b\":\t\"c\td \"\n}", "{\"a b\":\"c\td \"}" },
		{ "[\"\\\" x\", \"\\\\\", \"y\"]", "[\"\\\" x\",\"\\\\\",\"y\"]" },
		{ "\"\\", "\"\\" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[64];
		size_t size;

		strcpy(text, cases[i].text);
		size = gfs_json_compact(text, strlen(text));
		if (size != strlen(cases[i].expected) || memcmp(text, cases[i].expected, size) != 0)
			fail_msg("%s: %.*s", cases[i].text, (int)size, text);
	}
}

static void texts(void **state)
{
	static const struct {
		const char *what;
		struct dec_text text;
		const char *expected;
	} cases[] = {
		{ "empty", TEXT(""), "\"\"" },
		{ "plain", TEXT("sm_90a"), "\"sm_90a\"" },
		{ "percent alone", TEXT("100%"), "\"100%\"" },
		{ "quotes", TEXT("a\"b\\c"), "\"a\\\"b\\\\c\"" },
		{ "UTF-8", TEXT("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
		  "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"" },
		{ "last code point", TEXT("\xf4\x8f\xbf\xbf"), "\"\xf4\x8f\xbf\xbf\"" },
		{ "past the last", TEXT("\xf4\x90\x80\x80"), "\"%F4%90%80%80\"" },
		{ "surrogate", TEXT("\xed\xa0\x80"), "\"%ED%A0%80\"" },
		{ "before surrogates", TEXT("\xed\x9f\xbf"), "\"\xed\x9f\xbf\"" },
		{ "overlong slash", TEXT("\xc0\xaf"), "\"%C0%AF\"" },
		{ "overlong, 3 bytes", TEXT("\xe0\x9f\xbf"), "\"%E0%9F%BF\"" },
		{ "overlong, 4 bytes", TEXT("\xf0\x8f\xbf\xbf"), "\"%F0%8F%BF%BF\"" },
		{ "cut at the end", TEXT("a\xe2\x82"), "\"a%E2%82\"" },
		{ "lone continuation", TEXT("\x80"), "\"%80\"" },
		{ "percent in broken text", TEXT("%\xff"), "\"%25%FF\"" },
		{ "NUL", TEXT("a\0b"), "\"a%00b\"" },
		{ "newline", TEXT("a\nb"), "\"a%0Ab\"" },
	};
	struct gfs_json w;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		gfs_json_text(&w, begin(&w), NULL, cases[i].text);
		check(cases[i].what, &w, cases[i].expected);
	}
	gfs_json_text(&w, begin(&w), NULL, (struct dec_text){ dec_absent, 0 });
	check("absent", &w, "null");
}

static int write_all(char **text, size_t *size)
{
	struct gfs_json w;
	struct cJSON *root;
	struct cJSON *array;

	gfs_json_init(&w);
	root = gfs_json_object(&w, NULL, NULL);
	gfs_json_uint(&w, root, "number", 7);
	gfs_json_hex(&w, root, "hex", 255);
	gfs_json_text(&w, root, "text", (struct dec_text)TEXT("\xff"));
	array = gfs_json_array(&w, root, "array");
	gfs_json_word(&w, gfs_json_object(&w, array, NULL), "word", NULL);
	gfs_json_bool(&w, array, NULL, true);
	gfs_json_bytes(&w, root, gfs_json_key(&w, (struct dec_text)TEXT("k\xff")),
		       (struct dec_text)TEXT("\x01\xfe"));
	gfs_json_negative(&w, root, "negative", -1);
	gfs_json_float(&w, root, "float", 0.1);
	return gfs_json_finish(&w, text, size);
}

static void keeps_order(void **state)
{
	char *text;
	size_t size;

	(void)state;
	assert_int_equal(write_all(&text, &size), 0);
	assert_string_equal(text,
			    "{\n\t\"number\":\t7,\n\t\"hex\":\t\"0xff\",\n\t\"text\":\t\"%FF\",\n"
			    "\t\"array\":\t[{\n\t\t\t\"word\":\tnull\n\t\t}, true],\n"
			    "\t\"k%FF\":\t\"01fe\",\n\t\"negative\":\t-1,\n"
			    "\t\"float\":\t0.10000000000000001\n}\n");
	free(text);
}

static void one_root(void **state)
{
	struct gfs_json w;
	char *text;
	size_t size;

	(void)state;
	gfs_json_init(&w);
	gfs_json_object(&w, NULL, NULL);
	gfs_json_object(&w, NULL, NULL);
	assert_int_equal(gfs_json_finish(&w, &text, &size), -ENOMEM);
	assert_null(text);
}

static size_t allocations_left;
static size_t allocations_live;

static void *failing_malloc(size_t size)
{
	void *p = allocations_left > 0 ? malloc(size) : NULL;

	if (allocations_left > 0)
		allocations_left--;
	allocations_live += p != NULL;
	return p;
}

static void counting_free(void *p)
{
	allocations_live -= p != NULL;
	free(p);
}

/* Every allocation fails in turn, until nothing fails. */
static void survives_failing_memory(void **state)
{
	cJSON_Hooks hooks = { failing_malloc, counting_free };
	char *text = NULL;
	size_t size;
	size_t n = 0;
	int rc;

	(void)state;
	cJSON_InitHooks(&hooks);
	do {
		allocations_left = n++;
		rc = write_all(&text, &size);
		assert_int_equal(allocations_live, 0);
		if (rc != 0) {
			assert_int_equal(rc, -ENOMEM);
			assert_null(text);
		}
	} while (rc != 0);
	cJSON_InitHooks(NULL);
	assert_true(n > 10);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),   cmocka_unit_test(negative_numbers),
		cmocka_unit_test(fractions), cmocka_unit_test(compacts),
		cmocka_unit_test(texts),     cmocka_unit_test(keeps_order),
		cmocka_unit_test(one_root),  cmocka_unit_test(survives_failing_memory),
	};

	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
