/* What answers have, and what is examined for them. */
#include "query_fake.h"

static int count_of(const char *text, const char *what)
{
	int count = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		count++;
	return count;
}

static void assert_says(const char *page, const char *what, int times)
{
	if (count_of(page, what) != times)
		fail_msg("%d times, not %d: %s in\n%s", count_of(page, what), times, what, page);
}

/* ---- what is examined ------------------------------------------------------------------------------ */

static void inventory_examines_nothing(void **state)
{
	static const char *const requests[] = {
		VIEW("\"containers\""),
		VIEW("\"objects\""),
		VIEW("\"objects\",\"fields\":[\"payload_sha256\",\"kernel_count\"]"),
		VIEW("\"objects\",\"filter\":{\"inspection\":\"complete\"}"),
		VIEW("\"targets\",\"filter\":{\"kernel_analysis\":\"complete\"}"),
		VIEW("\"targets\""),
		VIEW("\"problems\""),
	};
	struct open *o = opened();

	(void)state;
	for (size_t i = 0; i < COUNT(requests); i++)
		free(answer(o, requests[i]));
	assert_examined(0);
	closed(o);
}

static void inventory_rows_are_unexamined(void **state)
{
	struct open *o = opened();
	char *page = answer(o, VIEW("\"objects\",\"fields\":[\"target\"]"));

	(void)state;
	assert_says(page, "\"target\":", QUERY_OBJECTS);
	assert_says(page, "\"target_kind\":\t\"fatbin_entry\"", QUERY_OBJECTS);
	assert_says(page, "\"payload_target\":\tnull", QUERY_OBJECTS);
	assert_says(page, "\"payload_target_kind\":\tnull", QUERY_OBJECTS);
	assert_says(page, "\"target_consistency\":\t\"unexamined\"", QUERY_OBJECTS);
	assert_says(page, "\"inspection\":\t\"unexamined\"", QUERY_OBJECTS);
	assert_says(page, "\"codec\"", 0);
	free(page);
	page = answer(o, VIEW("\"targets\""));
	assert_says(page, "\"kernel_analysis\":\t\"unrequested\"", 3);
	free(page);
	closed(o);
}

/* The first page examines all for the total and then what it shows, the next ones go on. */
static void kernels_examine_what_they_must(void **state)
{
	struct open *o = opened();
	struct asked asked;
	char *page = answer(o, VIEW("\"kernels\",\"limit\":1"));

	(void)state;
	assert_examined(QUERY_OBJECTS + 1);
	assert_says(page, "\"total\":\t6,", 1);
	assert_says(page, "\"examined\":\t5,", 1);
	assert_says(page, "\"state\":\t\"partial\"", 1);
	free(page);
	forget();
	assert_true(ask_pages(&o->fake->fs, "", "\"collection\":\"kernels\"", 1, &asked));
	assert_int_equal(asked.pages, 6);
	/* All once; six pages; three of them begin behind the last kernel of an object. */
	assert_examined(QUERY_OBJECTS + 6 + 3);
	asked_free(&asked);
	forget();
	free(answer(o, VIEW("\"kernels\",\"filter\":{\"target\":[\"sm_80\",\"gfx90a\"]}")));
	assert_examined(3 + 2); /* three of five counted, two shown */
	forget();
	page = answer(o, VIEW("\"kernels\",\"filter\":{\"target\":\"sm_1\"}"));
	assert_says(page, "\"rows\":\t[]", 1);
	free(page);
	assert_examined(0);
	forget();
	free(answer(o, VIEW("\"kernels\",\"filter\":{\"object\":\"00003\",\"vendor\":\"amd\"}")));
	assert_examined(2);
	closed(o);
}

static void ids_examine_the_batch(void **state)
{
	struct open *o = opened();
	char *page = answer(
		o, with_ids(o, "\"00002\",\"00000\",\"00002\"", "\"collection\":\"objects\""));

	(void)state;
	assert_examined(4); /* counted, and shown */
	assert_says(page, "\"total\":\t2,", 1);
	assert_says(page, "\"id\":\t\"00000\"", 1);
	assert_says(page, "\"payload_target\":\t\"sm_80\"", 1);
	assert_says(page, "\"target_consistency\":\t\"conflict\"", 1);
	assert_says(page, "\"target_consistency\":\t\"base_only\"", 1);
	assert_says(page, "\"payload_sha256\":\tnull", 0);
	assert_true(strstr(page, "\"00000\"") < strstr(page, "\"00002\""));
	free(page);
	forget();
	free(answer(o, with_ids(o, "\"00002\",\"00000\"",
				"\"collection\":\"objects\",\"filter\":{\"id\":\"00000\"}")));
	assert_examined(2);
	forget();
	free(answer(o, with_ids(o, "\"00002\",\"00000\"", "\"collection\":\"containers\"")));
	assert_examined(2);
	closed(o);
}

static void targets_tell_how_much_is_known(void **state)
{
	struct open *o = opened();
	char *page = answer(o, with_ids(o, "\"00000\",\"00001\"", "\"collection\":\"targets\""));

	(void)state;
	assert_says(page, "\"target\":", 2);
	assert_says(page, "\"kernel_analysis\":\t\"complete\"", 1); /* sm_80 */
	assert_says(page, "\"kernel_analysis\":\t\"partial\"", 1); /* half of sm_90 */
	assert_says(page, "\"state\":\t\"complete\"", 2); /* of what was asked for */
	free(page);
	/* All of sm_90, but one of them conflicts. */
	page = answer(o, with_ids(o, "\"00000\",\"00002\"", "\"collection\":\"targets\""));
	assert_says(page, "\"kernel_analysis\":\t\"partial\"", 1);
	assert_says(page, "\"state\":\t\"partial\"", 1);
	assert_says(page, "\"reasons\":\t[\"malformed_note\"]", 1);
	free(page);
	page = answer(o, with_ids(o, "\"00002\"", "\"collection\":\"problems\""));
	assert_says(page, "\"code\":\t\"malformed_note\"", 1);
	assert_says(page, "\"object\":\t\"00002\"", 2);
	assert_says(page, "\"kernel\":\t\"d\"", 1);
	free(page);
	closed(o);
}

static void refuses_ids(void **state)
{
	static const char *const ids[] = { "00005", "0", "000001", "-0001", "99999999999", "" };
	struct open *o = opened();

	(void)state;
	for (size_t i = 0; i < COUNT(ids); i++) {
		char quoted[64];
		char sentence[128];

		snprintf(quoted, sizeof(quoted), "\"00001\",\"%s\"", ids[i]);
		snprintf(sentence, sizeof(sentence),
			 "object_ids: unknown id \"%s\", known are 00000 to 00004", ids[i]);
		assert_null(ask_page(&o->fake->fs,
				     with_ids(o, quoted, "\"collection\":\"objects\""),
				     o->refusal));
		assert_string_equal(o->refusal, sentence);
	}
	assert_examined(0);
	closed(o);
}

/* ---- filters ----------------------------------------------------------------------------------- */

struct filtered {
	const char *view;
	int rows;
};

static const struct filtered filters[] = {
	{ "\"objects\",\"filter\":{\"target\":\"sm_90\"}", 2 },
	{ "\"objects\",\"filter\":{\"target\":\"sm_9\"}", 0 },
	{ "\"objects\",\"filter\":{\"target\":[\"sm_90\",\"sm_80\",\"x\"]}", 3 },
	{ "\"objects\",\"filter\":{\"target\":[\"sm_90\",\"sm_80\"],\"id\":\"00001\"}", 1 },
	{ "\"objects\",\"filter\":{\"payload_target\":null}", 5 },
	{ "\"objects\",\"filter\":{\"scrambled\":false}", 5 },
	{ "\"objects\",\"filter\":{\"scrambled\":true}", 0 },
	{ "\"objects\",\"filter\":{\"entry_index\":-0}", 1 },
	{ "\"objects\",\"filter\":{\"entry_index\":\"0\"}", 0 },
	{ "\"objects\",\"filter\":{\"header\":{\"size\":0,\"offset\":0}}", 5 },
	{ "\"objects\",\"filter\":{\"header\":{\"size\":0}}", 0 },
	{ "\"objects\",\"filter\":{\"problems\":[[]]}", 5 },
	{ "\"objects\",\"filter\":{\"problems\":[[0]]}", 0 },
	{ "\"targets\",\"filter\":{\"objects\":2}", 2 },
	{ "\"targets\",\"filter\":{\"family\":null,\"kind\":\"sm\"}", 2 },
	{ "\"kernels\",\"filter\":{\"registers\":20}", 2 },
	{ "\"kernels\",\"filter\":{\"registers\":[10,255]}", 3 },
	{ "\"kernels\",\"filter\":{\"registers\":null}", 1 },
	{ "\"kernels\",\"filter\":{\"registers\":20,\"target\":\"sm_80\"}", 0 },
	{ "\"kernels\",\"filter\":{\"name\":\"a\"}", 3 },
	{ "\"kernels\",\"filter\":{\"args\":[[]]}", 5 },
	{ "\"kernels\",\"filter\":{\"kernel_object\":\"0x4700000300000040\"}", 1 },
};

static void filters_rows(void **state)
{
	struct open *o = opened();

	(void)state;
	for (size_t i = 0; i < COUNT(filters); i++) {
		char total[32];
		char *page;

		snprintf(o->text, sizeof(o->text), "{\"view\":{\"collection\":%s}}",
			 filters[i].view);
		page = answer(o, o->text);
		snprintf(total, sizeof(total), "\"total\":\t%d,", filters[i].rows);
		if (!strstr(page, total))
			fail_msg("%s: not %s\n%s", o->text, total, page);
		free(page);
	}
	closed(o);
}

/* ---- pages ----------------------------------------------------------------------------------------- */

static const char *const views[] = {
	"\"collection\":\"containers\"",
	"\"collection\":\"objects\"",
	"\"collection\":\"targets\"",
	"\"collection\":\"kernels\"",
	"\"collection\":\"problems\"",
	"\"collection\":\"kernels\",\"filter\":{\"registers\":[10,20]}",
	"\"collection\":\"kernels\",\"fields\":[\"registers\"]",
	"\"collection\":\"objects\",\"filter\":{\"inspection\":\"complete\"}",
};

/* With and without ids, pages of any size are the lines, cut. */
static void pages_are_the_whole(void **state)
{
	struct open *o = opened();

	(void)state;
	for (size_t i = 0; i < 4 * COUNT(views); i++) {
		const char *view = views[i / 4];
		char ids[256] = "";
		struct asked whole;
		struct asked pages;

		if (i % 2)
			snprintf(ids, sizeof(ids),
				 "\"expected_sha256\":\"%s\",\"object_ids\":[\"00004\",\"00002\","
				 "\"00000\"],",
				 o->sha256);
		assert_true(ask_lines(&o->fake->fs, ids, view, &whole));
		assert_true(ask_pages(&o->fake->fs, ids, view, i % 4 < 2 ? 1 : 3, &pages));
		assert_string_equal(whole.rows, pages.rows);
		assert_int_equal(whole.count, pages.total);
		asked_free(&whole);
		asked_free(&pages);
	}
	closed(o);
}

/* A page is no longer than it may be, whatever its rows are. */
static void ends_pages_early(void **state)
{
	enum { LONG = 4 << 20, FITTING = GFS_QUERY_PAGE_BYTES / LONG, MANY = FITTING + 2 };
	struct fake_object *many = calloc(MANY, sizeof(*many));
	char *payload = malloc(LONG + 32);
	char refusal[4096];
	struct fake *f;
	char *page;

	(void)state;
	assert_true(many && payload);
	memset(payload, 'k', LONG);
	memcpy(payload, "kernel ", 7);
	strcpy(payload + LONG, "\n");
	for (int i = 0; i < MANY; i++)
		many[i] = (struct fake_object){ "sm_90", payload };
	f = fake_open(many, MANY, 64 * MIB);
	page = ask_page(&f->fs, VIEW("\"kernels\",\"fields\":[\"name\"]"), refusal);
	assert_non_null(page);
	assert_int_equal(count_of(page, "\"name\":\t\"kkk"), FITTING);
	assert_says(page, "\"total\":\t18,", 1);
	assert_says(page, "\"next_cursor\":\tnull", 0);
	free(page);
	fake_close(f);
	free(payload);
	free(many);
}

/* ---- cursors --------------------------------------------------------------------------------------- */

static void first_cursor(struct open *o, const char *request, char cursor[128])
{
	char *page = answer(o, request);
	const char *at = strstr(page, "\"next_cursor\":\t\"");

	assert_non_null(at);
	snprintf(cursor, 128, "%s", at + strlen("\"next_cursor\":\t\""));
	*strchr(cursor, '"') = '\0';
	free(page);
}

static bool takes(struct open *o, const char *view, const char *cursor)
{
	char *page;

	snprintf(o->text, sizeof(o->text), "{\"view\":{\"collection\":%s,\"cursor\":\"%s\"}}", view,
		 cursor);
	page = ask_page(&o->fake->fs, o->text, o->refusal);
	free(page);
	if (!page)
		assert_string_equal(o->refusal, "view.cursor: it is of another file or request");
	return page;
}

static void binds_cursors(void **state)
{
	static const char view[] = "\"objects\",\"filter\":{\"vendor\":\"nvidia\"}";
	struct open *o = opened();
	char cursor[128];

	(void)state;
	first_cursor(o, VIEW("\"objects\",\"limit\":1,\"filter\":{\"vendor\":\"nvidia\"}"), cursor);
	assert_true(takes(o, view, cursor));
	/* Pages of one request may differ in length, and so may its spelling. */
	assert_true(takes(o, "\"objects\",\"filter\":{\"vendor\":\"nvidia\"},\"limit\":2", cursor));
	assert_true(takes(o, "\"objects\" , \"filter\" : {\"vendor\":\"nvidia\"}", cursor));
	assert_false(takes(o, "\"objects\"", cursor));
	assert_false(takes(o, "\"kernels\",\"filter\":{\"vendor\":\"nvidia\"}", cursor));
	assert_false(takes(o, "\"objects\",\"filter\":{\"vendor\":\"amd\"}", cursor));
	assert_false(takes(o, "\"objects\",\"filter\":{\"vendor\":[\"nvidia\"]}", cursor));
	assert_false(takes(o, "\"objects\",\"filter\":{\"vendor\":\"nvidia\"},\"fields\":[\"id\"]",
			   cursor));
	o->fake->fs.options.limits.max_payload--;
	assert_false(takes(o, view, cursor));
	o->fake->fs.options.limits.max_payload++;
	/* Ids are part of the request. */
	snprintf(o->text, sizeof(o->text),
		 "{\"expected_sha256\":\"%s\",\"object_ids\":[\"00000\",\"00001\"],\"view\":{"
		 "\"collection\":%s,\"cursor\":\"%s\"}}",
		 o->sha256, view, cursor);
	assert_null(ask_page(&o->fake->fs, o->text, o->refusal));
	for (size_t i = 0; cursor[i]; i++) {
		char kept = cursor[i];

		cursor[i] = kept == '1' ? '2' : '1';
		assert_false(takes(o, view, cursor));
		cursor[i] = kept;
	}
	strcat(cursor, "0");
	assert_false(takes(o, view, cursor));
	closed(o);
}

/* A batch is a set. */
static void binds_cursors_to_the_batch(void **state)
{
	static const struct {
		const char *ids;
		bool taken;
	} others[] = {
		{ "\"00001\",\"00000\",\"00001\"", true },
		{ "\"00000\",\"00002\"", false },
		{ "\"00000\",\"00001\",\"00002\"", false },
	};
	struct open *o = opened();
	char cursor[128];
	char view[256];

	(void)state;
	first_cursor(o,
		     with_ids(o, "\"00000\",\"00001\"", "\"collection\":\"objects\",\"limit\":1"),
		     cursor);
	snprintf(view, sizeof(view), "\"collection\":\"objects\",\"cursor\":\"%s\"", cursor);
	for (size_t i = 0; i < COUNT(others); i++) {
		char *page = ask_page(&o->fake->fs, with_ids(o, others[i].ids, view), o->refusal);

		assert_int_equal(page != NULL, others[i].taken);
		free(page);
	}
	closed(o);
}

static void binds_cursors_to_the_file(void **state)
{
	struct fake_object other[QUERY_OBJECTS];
	struct open *o = opened();
	char cursor[128];

	(void)state;
	first_cursor(o, VIEW("\"kernels\",\"limit\":1"), cursor);
	memcpy(other, query_objects, sizeof(other));
	other[0].payload = "kernel a\n";
	fake_close(o->fake);
	o->fake = fake_open(other, COUNT(other), MIB);
	forget();
	assert_false(takes(o, "\"kernels\"", cursor));
	assert_examined(0);
	closed(o);
}

/* ---- columns ----------------------------------------------------------------------------------------- */

static void has_each_key_once(void **state)
{
	(void)state;
	for (int of = 0; gfs_rows_words[of]; of++) {
		struct gfs_columns columns;

		gfs_columns_init(&columns, (enum gfs_rows)of);
		assert_true(columns.count > 0 && columns.count < GFS_COLUMNS_MAX);
		for (size_t i = 0; i < columns.count; i++)
			assert_int_equal(gfs_columns_find(&columns, columns.all[i].key), i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inventory_examines_nothing),
		cmocka_unit_test(inventory_rows_are_unexamined),
		cmocka_unit_test(kernels_examine_what_they_must),
		cmocka_unit_test(ids_examine_the_batch),
		cmocka_unit_test(targets_tell_how_much_is_known),
		cmocka_unit_test(refuses_ids),
		cmocka_unit_test(filters_rows),
		cmocka_unit_test(pages_are_the_whole),
		cmocka_unit_test(ends_pages_early),
		cmocka_unit_test(binds_cursors),
		cmocka_unit_test(binds_cursors_to_the_batch),
		cmocka_unit_test(binds_cursors_to_the_file),
		cmocka_unit_test(has_each_key_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
