/* Requests that are refused, and bounds of those that are not. */
#include "query_fake.h"

struct refused {
	const char *request;
	const char *sentence;
};

static const struct refused refused[] = {
	{ "", "request: it is no JSON, at offset 0" },
	{ "x", "request: it is no JSON, at offset 0" },
	{ "{", "request: it is no JSON, at offset 0" },
	{ "[]", "request: expected an object" },
	{ "null", "request: expected an object" },
	{ VIEW("\"targets\"") " x", "request: something stands behind its end, at offset 34" },
	{ VIEW("\"targets\"") "{}", "request: something stands behind its end, at offset 33" },
	{ "{\"view\":{\"collection\":\"tar\\u0000gets\"}}",
	  "request: it has an escaped NUL in a string, at offset 26" },
	{ "{\"view\":{\"collection\":\"tar\ngets\"}}",
	  "request: it has a control byte in a string, at offset 26" },
	{ "{\"path\":\"a\\u001bb\"}",
	  "path: it has text with control characters, or that is no UTF-8" },
	{ "{\"path\":\"\xff\"}", "path: it has text with control characters, or that is no UTF-8" },
	{ "{\"path\":\"a", "request: a string does not end, at offset 10" },
	{ "{\v}", "request: it has a control byte, at offset 1" },
	{ VIEW("\"targets\",\"limit\":01"), "request: it has a number that is none, at offset 40" },
	{ VIEW("\"targets\",\"limit\":1."), "request: it has a number that is none, at offset 40" },
	{ VIEW("\"targets\",\"limit\":-"), "request: it has a number that is none, at offset 40" },
	{ VIEW("\"targets\",\"limit\":+1"), "request: it is no JSON, at offset 40" },
	{ VIEW("\"targets\",\"limit\":1e+-1"),
	  "request: it has a number that is none, at offset 40" },
	{ "{\"view\":[[[[[[[[[[[[[[[[[[[[[", "request: it is nested too deep, at offset 23" },
	{ "{\"paths\":1}",
	  "request: unknown key \"paths\", known are path, expected_sha256, object_ids, view" },
	{ "{\"\\u001\":1}", "request: it is no JSON, at offset 2" },
	{ "{\"path\":1}", "path: expected a string that is not empty" },
	{ "{\"path\":\"\"}", "path: expected a string that is not empty" },
	{ "{\"path\":\"a\",\"path\":\"a\"}", "path: is there twice" },
	{ "{\"expected_sha256\":\"12\"}", "expected_sha256: expected 64 hex digits" },
	{ "{\"expected_sha256\":12}", "expected_sha256: expected 64 hex digits" },
	{ "{\"object_ids\":\"00000\"}",
	  "object_ids: expected a list of strings that is not empty" },
	{ "{\"object_ids\":[]}", "object_ids: expected a list of strings that is not empty" },
	{ "{\"object_ids\":[\"00000\",0]}",
	  "object_ids: expected a list of strings that is not empty" },
	{ "{\"object_ids\":[\"00000\"],\"view\":{\"collection\":\"objects\"}}",
	  "expected_sha256: expected the digest of the artifact that object_ids are from, it is "
	  "missing" },
	{ "{}", "view: expected an object, it is missing" },
	{ "{\"view\":[]}", "view: expected an object" },
	{ "{\"view\":{}}", "view.collection: expected a string, it is missing" },
	{ VIEW("1"), "view.collection: expected a string" },
	{ VIEW("\"Targets\""), "view.collection: unknown collection \"Targets\", known are "
			       "containers, objects, targets, kernels, problems" },
	{ VIEW("\"targets\",\"field\":1"), "view: unknown key \"field\", known are collection, "
					   "fields, filter, limit, cursor" },
	{ VIEW("\"targets\",\"collection\":\"targets\""), "view.collection: is there twice" },
	{ VIEW("\"targets\",\"fields\":\"target\""),
	  "view.fields: expected a list of strings that is not empty" },
	{ VIEW("\"targets\",\"fields\":[]"),
	  "view.fields: expected a list of strings that is not empty" },
	{ VIEW("\"targets\",\"fields\":[\"id\"]"),
	  "view.fields: unknown key \"id\", known of targets are target, vendor, kind, family, "
	  "objects, kernel_analysis" },
	{ VIEW("\"targets\",\"filter\":[]"), "view.filter: expected an object" },
	{ VIEW("\"targets\",\"filter\":{\"a\\u00e9\":1}"),
	  "view.filter: unknown key \"a?\?\", known of targets are target, vendor, kind, family, "
	  "objects, kernel_analysis" },
	{ VIEW("\"targets\",\"filter\":{\"kind\":[]}"),
	  "view.filter.kind: is an empty list, which nothing matches" },
	{ VIEW("\"targets\",\"filter\":{\"kind\":\"sm\",\"kind\":\"sm\"}"),
	  "view.filter.kind: is there twice" },
	{ VIEW("\"targets\",\"filter\":{\"objects\":1.5}"),
	  "view.filter.objects: has a number that is not whole or past 2^53" },
	{ VIEW("\"targets\",\"filter\":{\"objects\":[1,1e99]}"),
	  "view.filter.objects: has a number that is not whole or past 2^53" },
	{ VIEW("\"targets\",\"filter\":{\"objects\":{\"a\":1,\"a\":1}}"),
	  "view.filter.objects: has an object with a key twice" },
#define LIMIT_SENTENCE "view.limit: expected a whole number from 1 to 10000"
	{ VIEW("\"targets\",\"limit\":0"), LIMIT_SENTENCE },
	{ VIEW("\"targets\",\"limit\":-1"), LIMIT_SENTENCE },
	{ VIEW("\"targets\",\"limit\":0.5"), LIMIT_SENTENCE },
	{ VIEW("\"targets\",\"limit\":10001"), LIMIT_SENTENCE },
	{ VIEW("\"targets\",\"limit\":99999999999999999999"), LIMIT_SENTENCE },
	{ VIEW("\"targets\",\"limit\":1e999"), LIMIT_SENTENCE },
	{ VIEW("\"targets\",\"limit\":\"5\""), LIMIT_SENTENCE },
	{ VIEW("\"targets\",\"limit\":null"), LIMIT_SENTENCE },
	{ VIEW("\"targets\",\"cursor\":1"), "view.cursor: expected a string that is not empty" },
	{ VIEW("\"targets\",\"cursor\":null"), "view.cursor: expected a string that is not empty" },
	{ VIEW("\"targets\",\"cursor\":\"x\""), "view.cursor: it is of another file or request" },
};

static void refuses(void **state)
{
	struct open *o = opened();

	(void)state;
	for (size_t i = 0; i < COUNT(refused); i++) {
		char *page = ask_page(&o->fake->fs, refused[i].request, o->refusal);

		if (page || strcmp(o->refusal, refused[i].sentence) != 0)
			fail_msg("%s\n  gives %s\n  not   %s", refused[i].request,
				 page ? page : o->refusal, refused[i].sentence);
	}
	assert_examined(0);
	closed(o);
}

/* Everything that is past a bound, and everything up to it. */
static void bounds_requests(void **state)
{
	size_t size = (size_t)GFS_QUERY_REQUEST_MAX;
	char *text = malloc(size + 2);
	struct gfs_request request;
	struct gfs_refusal why;

	(void)state;
	assert_non_null(text);
	memset(text, ' ', size + 1);
	memcpy(text, VIEW("\"targets\""), sizeof(VIEW("\"targets\"")) - 1);
	assert_int_equal(gfs_request_parse(&request, text, size, &why), 0);
	gfs_request_fini(&request);
	assert_int_not_equal(gfs_request_parse(&request, text, size + 1, &why), 0);
	assert_string_equal(why.text, "request: it has more than 4194304 bytes");
	gfs_request_fini(&request);
	text[size - 1] = '\0';
	assert_int_not_equal(gfs_request_parse(&request, text, size, &why), 0);
	assert_string_equal(why.text, "request: it has a control byte, at offset 4194303");
	gfs_request_fini(&request);
	free(text);
}

static void bounds_filters(void **state)
{
	struct open *o = opened();
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	fputs("{\"view\":{\"collection\":\"targets\",\"filter\":{\"objects\":[0", f);
	for (int i = 1; i <= GFS_QUERY_VALUES_MAX; i++)
		fprintf(f, ",%d", i);
	fputs("]}}}", f);
	assert_int_equal(fclose(f), 0);
	assert_null(ask_page(&o->fake->fs, text, o->refusal));
	assert_string_equal(o->refusal, "view.filter.objects: has too many values");
	memcpy(strstr(text, "[0,"), "[  ", 3);
	free(answer(o, text));
	free(text);
	closed(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses),
		cmocka_unit_test(bounds_requests),
		cmocka_unit_test(bounds_filters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
