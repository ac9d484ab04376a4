/*
 * Usage: query_pages ARTIFACT LIMIT...
 *
 * Asks for every collection, of the inventory and with all objects examined, as pages of each
 * limit, and compares the rows with those that come as lines. One process, so that what opening
 * costs is paid once. Prints what it compared; fails at the first difference.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"
#include "options.h"
#include "query.h"
#include "query_ask.h"
#include "source.h"
#include "tree.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool compare(struct gfs *fs, const char *root, const char *word, unsigned limit)
{
	char view[64];
	struct asked whole;
	struct asked pages = { 0 };
	double start = now();
	bool ok;

	snprintf(view, sizeof(view), "\"collection\":\"%s\"", word);
	ok = ask_lines(fs, root, view, &whole) && ask_pages(fs, root, view, limit, &pages);
	ok = ok && pages.count == whole.count && pages.total == whole.count &&
	     strcmp(pages.rows, whole.rows) == 0;
	printf("%s %s%s: %zu rows on %zu pages of %u, %.1f s\n", ok ? "equal" : "DIFFERENT", word,
	       *root ? " examined" : "", whole.count, pages.pages, limit, now() - start);
	asked_free(&whole);
	asked_free(&pages);
	return ok;
}

/* The members that make all objects the batch; the caller's to free. */
static char *all_ids(struct gfs *fs)
{
	char sha256[65];
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f || gfs_source_sha256(fs->source, sha256, NULL) != 0)
		return NULL;
	fprintf(f, "\"expected_sha256\":\"%s\",\"object_ids\":[", sha256);
	for (uint32_t i = 0; i < fs->artifact->object_count; i++) {
		char id[GFS_NAME_MAX + 1];

		gfs_id_name(fs, i, id);
		fprintf(f, "%s\"%s\"", i ? "," : "", id);
	}
	fputs("],", f);
	return fclose(f) == 0 ? text : NULL;
}

static bool compare_all(struct gfs *fs, const char *ids, unsigned limit)
{
	bool ok = true;

	for (int i = 0; gfs_rows_words[i] && ok; i++) {
		ok = compare(fs, "", gfs_rows_words[i], limit);
		if (ok && fs->artifact->object_count > 0)
			ok = compare(fs, ids, gfs_rows_words[i], limit);
	}
	return ok;
}

int main(int argc, char **argv)
{
	struct gfs_options options;
	struct gfs_message msg;
	struct gfs *fs;
	char *ids;
	bool ok = argc > 2;

	if (!ok) {
		fprintf(stderr, "usage: query_pages ARTIFACT LIMIT...\n");
		return 2;
	}
	gfs_options_init(&options);
	options.artifact = argv[1];
	if (gfs_open(&options, &fs, &msg) != 0) {
		fprintf(stderr, "%s\n", msg.text);
		return 2;
	}
	ids = all_ids(fs);
	for (int i = 2; i < argc && ok; i++)
		ok = compare_all(fs, ids, (unsigned)atoi(argv[i]));
	free(ids);
	gfs_close(fs);
	return ok ? 0 : 1;
}
