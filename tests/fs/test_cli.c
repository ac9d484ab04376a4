/* The parts of gpuobj that no artifact is needed for: texts, sizes, targets, progress. */
#include "fs_test.h"

#include <unistd.h>

#include "cli_progress.h"
#include "cli_targets.h"
#include "cli_term.h"

/* ---- texts ------------------------------------------------------------------------- */

#define TEXT(bytes) bytes, sizeof(bytes) - 1

static const struct {
	const char *bytes;
	size_t len;
	const char *shown;
	size_t width;
} texts[] = {
	{ TEXT(""), "", 0 },
	{ TEXT("libfoo.so"), "libfoo.so", 9 },
	{ TEXT("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f", 4 },
	{ TEXT("a\tb\n"), "a%09b%0A", 8 },
	{ TEXT("\033[31m"), "%1B[31m", 7 },
	{ TEXT("100%\n"), "100%25%0A", 9 },
	{ TEXT("100%"), "100%25", 6 },
	{ TEXT("a%09b"), "a%2509b", 7 },
	{ TEXT("a\x7f"), "a%7F", 4 },
	{ TEXT("a\xd8\x9c"), "a%D8%9C", 7 },
	{ TEXT("\xe2\x80\x8e"), "%E2%80%8E", 9 },
	{ TEXT("\xe2\x80\x8f"), "%E2%80%8F", 9 },
	{ TEXT("\xe2\x80\xaa"), "%E2%80%AA", 9 },
	{ TEXT("a\xe2\x80\xae%"), "a%E2%80%AE%25", 13 },
	{ TEXT("\xe2\x81\xa6"), "%E2%81%A6", 9 },
	{ TEXT("\xe2\x81\xa9"), "%E2%81%A9", 9 },
	{ TEXT("\xe2\x80\x90\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa\xd8\x9b"),
	  "\xe2\x80\x90\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa\xd8\x9b", 6 },
	{ TEXT("\xc2\x9b"
	       "31m"),
	  "%C2%9B31m", 9 },
	{ TEXT("\xc2\xa0"), "\xc2\xa0", 1 },
	{ TEXT("\x9b\xff"), "%9B%FF", 6 },
	{ TEXT("a\0b"), "a%00b", 5 },
};

static void test_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		char *shown = cli_text(texts[i].bytes, texts[i].len);

		assert_non_null(shown);
		assert_string_equal(shown, texts[i].shown);
		assert_int_equal(cli_text_width(shown), texts[i].width);
		free(shown);
	}
}

static const struct {
	uint64_t size;
	const char *text;
} sizes[] = {
	{ 0, "0" },
	{ 1023, "1023" },
	{ 1024, "1.0K" },
	{ 1025, "1.1K" },
	{ 1536, "1.5K" },
	{ 10137, "9.9K" },
	{ 10138, "10K" },
	{ 10240, "10K" },
	{ 10241, "11K" },
	{ 1023 * 1024, "1023K" },
	{ 1023 * 1024 + 1, "1.0M" },
	{ 1024 * 1024, "1.0M" },
	{ UINT64_C(158993272), "152M" },
	{ UINT64_MAX, "16E" },
};

static void test_size(void **state)
{
	char text[CLI_SIZE_TEXT];

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		cli_size_text(text, sizes[i].size, false);
		assert_string_equal(text, sizes[i].text);
	}
	cli_size_text(text, UINT64_MAX, true);
	assert_string_equal(text, "18446744073709551615");
}

/* ---- targets ------------------------------------------------------------------------- */

static const struct {
	const char *list;
	const char *brief;
} lists[] = {
	{ "-", "-" },
	{ "sm_75", "sm_75" },
	{ "sm_75,sm_86,sm_90a", "sm_75,86,90a" },
	{ "sm_75,compute_75,compute_90", "sm_75 compute_75,90" },
	{ "gfx90a:sramecc+:xnack-,gfx942,gfx11-generic", "gfx90a:sramecc+:xnack-,942,11-generic" },
	{ "sm_,sm_x,sm_90", "sm_ sm_x sm_90" },
	{ "gfx90a,sm_90,gfx942", "gfx90a sm_90 gfx942" },
	{ "other,other2", "other other2" },
};

static void test_brief(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(lists); i++) {
		char *brief = cli_targets_brief(lists[i].list);

		assert_non_null(brief);
		assert_string_equal(brief, lists[i].brief);
		free(brief);
	}
}

#define TARGET(kind, text)                                                                         \
	{                                                                                          \
		.name = { text, sizeof(text) - 1 }, .class = DEC_CLASS_##kind                      \
	}

static void test_list(void **state)
{
	static const struct dec_target targets[] = {
		TARGET(COMPUTE, "compute_90"), TARGET(GFX, "gfx1030"), TARGET(GFX, "gfx906:xnack-"),
		TARGET(GFX, "gfx908"),	       TARGET(GFX, "gfx90a"),  TARGET(OTHER, "a,\033b"),
		TARGET(SM, "sm_100"),	       TARGET(SM, "sm_90"),    TARGET(SM, "sm_90a"),
	};
	struct dec_artifact artifact = { .targets = targets, .target_count = COUNT(targets) };
	char *list = cli_targets_list(&artifact);

	(void)state;
	assert_string_equal(list, "sm_90,sm_90a,sm_100,compute_90,gfx906:xnack-,gfx908,gfx90a,"
				  "gfx1030,a%2C%1Bb");
	free(list);
	artifact.target_count = 0;
	list = cli_targets_list(&artifact);
	assert_string_equal(list, "-");
	free(list);
}

/* ---- progress ------------------------------------------------------------------------ */

static uint64_t clock_ms;

static uint64_t now(void)
{
	return clock_ms;
}

struct screen {
	struct cli_progress progress;
	int read_end;
	char text[1024]; /* what came since the last look */
};

static void screen_init(struct screen *s, unsigned int width)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	s->read_end = ends[0];
	s->progress = (struct cli_progress){
		.fd = ends[1], .width = width, .delay = 1000, .interval = 100, .now = now
	};
	clock_ms = 5000;
}

static const char *look(struct screen *s)
{
	ssize_t n;

	/* So that reading does not wait. */
	assert_int_equal(write(s->progress.fd, "|", 1), 1);
	n = read(s->read_end, s->text, sizeof(s->text) - 1);
	assert_true(n > 0);
	s->text[n - 1] = '\0';
	return s->text;
}

static void screen_fini(struct screen *s)
{
	close(s->progress.fd);
	close(s->read_end);
}

static void test_progress_quick(void **state)
{
	struct screen s;

	(void)state;
	screen_init(&s, 80);
	cli_progress_begin(&s.progress, "working", 100);
	for (int i = 0; i < 100; i++) {
		clock_ms += 9;
		cli_progress_add(&s.progress, 1);
	}
	cli_progress_end(&s.progress);
	assert_string_equal(look(&s), "");
	screen_fini(&s);
}

static void test_progress_slow(void **state)
{
	struct screen s;

	(void)state;
	screen_init(&s, 30);
	cli_progress_begin(&s.progress, "working", 200);
	clock_ms += 999;
	cli_progress_add(&s.progress, 50);
	assert_string_equal(look(&s), "");
	clock_ms += 1;
	cli_progress_add(&s.progress, 50);
	assert_string_equal(look(&s), "\r\033[Kworking 49% [#######--------]");
	clock_ms += 99;
	cli_progress_add(&s.progress, 50);
	assert_string_equal(look(&s), ""); /* not more often than it can be read */
	clock_ms += 1;
	cli_progress_add(&s.progress, 50);
	assert_string_equal(look(&s), "\r\033[Kworking 99% [##############-]");
	cli_progress_hide(&s.progress);
	assert_string_equal(look(&s), "\r\033[K");
	cli_progress_hide(&s.progress);
	assert_string_equal(look(&s), "");
	clock_ms += 100;
	cli_progress_add(&s.progress, UINT64_MAX); /* more than was promised */
	assert_string_equal(look(&s), "\r\033[Kworking 99% [##############-]");
	cli_progress_end(&s.progress);
	assert_string_equal(look(&s), "\r\033[K");
	clock_ms += 1000;
	cli_progress_add(&s.progress, 1);
	assert_string_equal(look(&s), "");
	screen_fini(&s);
}

static void test_progress_narrow(void **state)
{
	struct screen s;

	(void)state;
	for (unsigned int width = 1; width < 25; width++) {
		screen_init(&s, width);
		cli_progress_begin(&s.progress, "working", 2);
		clock_ms += 1000;
		cli_progress_add(&s.progress, 1);
		assert_true(strlen(look(&s)) - strlen("\r\033[K") < width);
		cli_progress_end(&s.progress);
		screen_fini(&s);
	}
}

static void test_progress_unknown(void **state)
{
	struct screen s;

	(void)state;
	screen_init(&s, 80);
	cli_progress_begin(&s.progress, "copied", 0);
	clock_ms += 1000;
	cli_progress_add(&s.progress, 1536);
	assert_string_equal(look(&s), "\r\033[Kcopied 1.5K");
	cli_progress_erase(); /* as a handler of signals does */
	assert_string_equal(look(&s), "\r\033[K");
	screen_fini(&s);
}

static void test_progress_none(void **state)
{
	struct cli_progress progress;
	int ends[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	cli_progress_init(&progress, ends[1]);
	assert_int_equal(progress.fd, -1);
	progress.delay = 0;
	cli_progress_begin(&progress, "working", 2);
	cli_progress_add(&progress, 1);
	cli_progress_end(&progress);
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_brief),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_progress_quick),
		cmocka_unit_test(test_progress_slow),
		cmocka_unit_test(test_progress_narrow),
		cmocka_unit_test(test_progress_unknown),
		cmocka_unit_test(test_progress_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
