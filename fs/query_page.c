/* Answers as text: a page, or a line for each row. */
#include "query_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_artifact(const struct gfs_query *q, struct gfs_json *w, struct cJSON *in,
			 bool sized)
{
	const struct dec_artifact *a = q->fs->artifact;
	struct gfs_record record = { a, q->fs->id_width, q->sha256, a, 0 };
	struct cJSON *o = gfs_json_object(w, in, "artifact");

	for (const struct gfs_field *f = gfs_artifact_fields; f->key; f++) {
		if (strcmp(f->key, "name") == 0 || strcmp(f->key, "sha256") == 0 ||
		    (sized && strcmp(f->key, "size") == 0))
			gfs_field_put(&record, f, w, o);
	}
}

/* ---- a page ------------------------------------------------------------------------------------ */

struct page {
	struct gfs_query *q;
	FILE *out;
	uint32_t rows;
	uint64_t bytes;
};

/* JSON printed for itself, as it is printed two levels deeper. */
static void put_indented(FILE *out, const char *text, size_t size)
{
	const char *end = text + size - 1; /* the last newline */

	while (text < end) {
		const char *line = memchr(text, '\n', (size_t)(end - text));
		size_t len = (size_t)((line ? line : end) - text);

		fwrite(text, 1, len, out);
		if (line)
			fputs("\n\t\t", out);
		text += len + (line != NULL);
	}
}

static int take_page_row(void *ctx, const struct gfs_row *row)
{
	struct page *page = ctx;
	const struct gfs_cursor *found = &page->q->found;
	struct gfs_json w;
	char *text;
	size_t size;
	int rc;

	gfs_json_init(&w);
	gfs_row_put(row, &w, gfs_json_object(&w, NULL, NULL));
	rc = gfs_json_finish(&w, &text, &size);
	if (rc != 0)
		return rc;
	fputs(page->rows ? ", " : "", page->out);
	put_indented(page->out, text, size);
	free(text);
	page->rows++;
	page->bytes += size;
	return page->rows == page->q->request->limit || page->bytes >= GFS_QUERY_PAGE_BYTES ||
	       found->before + page->rows == found->total;
}

static int put_head(const struct gfs_query *q, FILE *out)
{
	struct cJSON *root;
	struct cJSON *coverage;
	struct gfs_json w;
	char *text;
	size_t size;
	int rc;

	gfs_json_init(&w);
	root = gfs_json_object(&w, NULL, NULL);
	put_artifact(q, &w, root, true);
	coverage = gfs_json_object(&w, root, "coverage");
	gfs_coverage_put(&q->found.coverage, &w, coverage);
	gfs_json_uint(&w, coverage, "examined", q->found.examined);
	gfs_inventory_put(q->fs->artifact, &w, coverage, "inventory");
	gfs_json_uint(&w, root, "total", q->found.total);
	rc = gfs_json_finish(&w, &text, &size);
	if (rc != 0)
		return rc;
	fwrite(text, 1, size - strlen("\n}\n"), out); /* the object goes on */
	free(text);
	fputs(",\n\t\"rows\":\t[", out);
	return 0;
}

static int put_tail(struct page *page)
{
	struct gfs_cursor *found = &page->q->found;
	char cursor[GFS_CURSOR_SIZE];
	int rc;

	found->before += page->rows;
	fputs("],\n\t\"next_cursor\":\t", page->out);
	if (found->before >= found->total || found->item >= page->q->item_count) {
		fputs("null\n}\n", page->out);
		return 0;
	}
	rc = gfs_cursor_print(page->q, found, cursor);
	if (rc == 0)
		fprintf(page->out, "\"%s\"\n}\n", cursor);
	return rc;
}

static int put_page(struct gfs_query *q, FILE *out)
{
	struct page page = { .q = q, .out = out };
	int rc = put_head(q, out);

	if (rc == 0 && q->found.before < q->found.total)
		rc = gfs_query_walk(q, take_page_row, &page);
	return rc < 0 ? rc : put_tail(&page);
}

/* A cursor knows what examining and counting found. */
static int go_on(struct gfs_query *q, struct gfs_refusal *why)
{
	struct gfs_cursor place;
	int rc = gfs_cursor_parse(q, q->request->cursor, &place);

	if (rc == -EINVAL)
		gfs_refuse(why, "view.cursor: it is of another file or request");
	if (rc == 0)
		rc = gfs_query_prepare(q, true);
	q->found = place;
	return rc;
}

static int start(struct gfs_query *q)
{
	int rc = gfs_query_prepare(q, false);

	return rc == 0 ? gfs_query_count(q) : rc;
}

int gfs_query_page(struct gfs *fs, const struct gfs_request *request, char **text, size_t *size,
		   struct gfs_refusal *why)
{
	FILE *out = open_memstream(text, size);
	struct gfs_query q;
	int rc;

	if (!out)
		return -ENOMEM;
	rc = gfs_query_begin(&q, fs, request, why);
	if (rc == 0)
		rc = request->cursor ? go_on(&q, why) : start(&q);
	if (rc == 0)
		rc = put_page(&q, out);
	gfs_query_end(&q);
	if (ferror(out) && rc == 0)
		rc = -ENOMEM;
	if (fclose(out) != 0 && rc == 0)
		rc = -ENOMEM;
	if (rc != 0) {
		free(*text);
		*text = NULL;
	}
	return rc;
}

/* ---- lines -------------------------------------------------------------------------------------- */

struct lines {
	struct gfs_query *q;
	gfs_put_line put;
	void *ctx;
};

static int take_line_row(void *ctx, const struct gfs_row *row)
{
	struct lines *lines = ctx;
	struct cJSON *root;
	struct gfs_json w;
	char *text;
	size_t size;
	int rc;

	gfs_json_init(&w);
	root = gfs_json_object(&w, NULL, NULL);
	put_artifact(lines->q, &w, root, false);
	gfs_row_put(row, &w, root);
	rc = gfs_json_finish(&w, &text, &size);
	if (rc != 0)
		return rc;
	size = gfs_json_compact(text, size);
	text[size++] = '\n'; /* in place of the one that was taken out */
	rc = lines->put(lines->ctx, text, size);
	free(text);
	return rc;
}

int gfs_query_lines(struct gfs *fs, const struct gfs_request *request, gfs_put_line put, void *ctx,
		    struct gfs_coverage *coverage, struct gfs_refusal *why)
{
	struct gfs_query q;
	struct lines lines = { &q, put, ctx };
	int rc = gfs_query_begin(&q, fs, request, why);

	q.covers = true;
	if (rc == 0)
		rc = gfs_query_prepare(&q, false);
	if (rc == 0)
		rc = gfs_query_walk(&q, take_line_row, &lines);
	*coverage = q.found.coverage;
	gfs_query_end(&q);
	return rc;
}
