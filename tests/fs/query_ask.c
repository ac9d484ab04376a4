#include "query_ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "json.h"
#include "query.h"
#include "report_tally.h"

char *ask_page(struct gfs *fs, const char *text, char *refusal)
{
	struct gfs_refusal why = { "" };
	struct gfs_request request;
	char *page = NULL;
	size_t size;
	int rc = gfs_request_parse(&request, text, strlen(text), &why);

	if (rc == 0)
		rc = gfs_query_page(fs, &request, &page, &size, &why);
	gfs_request_fini(&request);
	snprintf(refusal, sizeof(why.text), "%s", rc && !why.text[0] ? strerror(-rc) : why.text);
	return rc == 0 ? page : NULL;
}

/* ---- lines ------------------------------------------------------------------------------ */

struct taking {
	FILE *to;
	size_t count;
};

/* Takes the first member away, which is the artifact. */
static int take_line(void *ctx, const char *line, size_t size)
{
	struct taking *t = ctx;
	const char *end = memchr(line, '}', size);

	if (strncmp(line, "{\"artifact\":{\"name\":", 20) != 0 || !end || line[size - 1] != '\n')
		return -1;
	end += end[1] == ',';
	fprintf(t->to, "{%.*s", (int)(size - (size_t)(end + 1 - line)), end + 1);
	t->count++;
	return 0;
}

static char *request_text(const char *root, const char *view, const char *more)
{
	char *text;

	return asprintf(&text, "{%s\"view\":{%s%s}}", root, view, more) > 0 ? text : NULL;
}

bool ask_lines(struct gfs *fs, const char *root, const char *view, struct asked *asked)
{
	char *text = request_text(root, view, "");
	struct gfs_refusal why = { "" };
	struct gfs_coverage coverage;
	struct gfs_request request;
	struct taking taking = { 0 };
	size_t size;
	int rc;

	*asked = (struct asked){ 0 };
	taking.to = open_memstream(&asked->rows, &size);
	rc = gfs_request_parse(&request, text, strlen(text), &why);
	if (rc == 0)
		rc = gfs_query_lines(fs, &request, take_line, &taking, &coverage, &why);
	gfs_request_fini(&request);
	fclose(taking.to);
	free(text);
	asked->count = taking.count;
	asked->total = taking.count;
	if (rc != 0)
		fprintf(stderr, "%s (%d)\n", why.text, rc);
	return rc == 0;
}

/* ---- pages -------------------------------------------------------------------------------- */

/* Rows end where only they are indented so. */
static void take_rows(char *page, struct taking *t)
{
	static const char begin[] = "\n\t\"rows\":\t[";
	static const char end[] = "\n\t\t}";
	char *row = strstr(page, begin) + strlen(begin);

	while (*row == '{') {
		char *after = strstr(row, end) + strlen(end);

		fprintf(t->to, "%.*s\n", (int)gfs_json_compact(row, (size_t)(after - row)), row);
		t->count++;
		row = after + (*after == ',' ? 2 : 0);
	}
}

/* False: it is not as pages are. cursor has 128 bytes, "" behind the last page. */
static bool take_page(char *page, unsigned limit, struct asked *asked, struct taking *t,
		      char *cursor)
{
	struct cJSON *root = cJSON_Parse(page);
	const struct cJSON *next = cJSON_GetObjectItemCaseSensitive(root, "next_cursor");
	const struct cJSON *total = cJSON_GetObjectItemCaseSensitive(root, "total");
	const struct cJSON *rows = cJSON_GetObjectItemCaseSensitive(root, "rows");
	size_t before = t->count;
	size_t count = (size_t)cJSON_GetArraySize(rows);
	bool ok = next && cJSON_IsNumber(total) && cJSON_IsArray(rows) && count <= limit;

	if (ok) {
		ok = asked->pages == 0 || asked->total == (uint64_t)total->valuedouble;
		asked->total = (uint64_t)total->valuedouble;
		asked->pages++;
		take_rows(page, t);
		ok = ok && t->count - before == count && (count == limit || cJSON_IsNull(next));
		snprintf(cursor, 128, "%s", cJSON_IsString(next) ? next->valuestring : "");
	}
	cJSON_Delete(root);
	return ok;
}

bool ask_pages(struct gfs *fs, const char *root, const char *view, unsigned limit,
	       struct asked *asked)
{
	struct taking taking = { 0 };
	char cursor[128] = "";
	char refusal[4096];
	size_t size;
	bool ok;

	*asked = (struct asked){ 0 };
	taking.to = open_memstream(&asked->rows, &size);
	do {
		char more[192];
		char *text;
		char *page;

		snprintf(more, sizeof(more),
			 *cursor ? ",\"limit\":%u,\"cursor\":\"%s\"" : ",\"limit\":%u", limit,
			 cursor);
		text = request_text(root, view, more);
		page = ask_page(fs, text, refusal);
		ok = page && take_page(page, limit, asked, &taking, cursor);
		if (!ok)
			fprintf(stderr, "%s: %s\n", text, page ? "no page" : refusal);
		free(page);
		free(text);
	} while (ok && *cursor);
	fclose(taking.to);
	asked->count = taking.count;
	return ok;
}

void asked_free(struct asked *asked)
{
	free(asked->rows);
}
