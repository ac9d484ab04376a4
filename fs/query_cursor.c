#include "query_internal.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <openssl/evp.h>

/* Bytes of the digest that are kept: enough that no two requests share them by chance. */
#define MARK_BYTES 16

/* Changes when what a position counts does. */
static const char magic[] = "gpuobj query 1";

static_assert(GFS_CODE_COUNT <= 64, "the codes of a coverage are bits of one number");

/* ---- what a cursor is bound to ------------------------------------------------------------ */

static void put_word(FILE *f, const char *word)
{
	fwrite(word, 1, strlen(word) + 1, f);
}

/* As it means, not as it was spelled; fields and filters are in the order of the columns.
 * False: memory ran out. */
static bool put_columns(FILE *f, const struct gfs_columns *columns)
{
	for (size_t i = 0; i < columns->count; i++) {
		const struct gfs_column *c = &columns->all[i];
		char *filter = c->filter ? cJSON_PrintUnformatted(c->filter) : NULL;

		if (c->filter && !filter)
			return false;
		put_word(f, c->wanted ? c->key : "");
		put_word(f, filter ? filter : "");
		cJSON_free(filter);
	}
	return true;
}

static void put_limits(FILE *f, const struct dec_limits *limits)
{
#define X(name, value, what) fprintf(f, "%" PRIx64 ",", limits->name);
	DEC_LIMIT_LIST(X)
#undef X
}

static bool put_request(FILE *f, const struct gfs_query *q)
{
	put_word(f, magic);
	put_word(f, q->sha256);
	put_limits(f, &q->fs->options.limits);
	put_word(f, gfs_rows_words[q->request->columns.of]);
	for (uint32_t i = 0; i < q->batch_count; i++)
		fprintf(f, "%" PRIx32 ",", q->batch[i]);
	put_word(f, "");
	return put_columns(f, &q->request->columns);
}

static int make_mark(const struct gfs_query *q, const char *place, char mark[2 * MARK_BYTES + 1])
{
	unsigned char md[EVP_MAX_MD_SIZE];
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	bool ok;

	if (!f)
		return -ENOMEM;
	ok = put_request(f, q);
	put_word(f, place);
	ok = fclose(f) == 0 && ok && EVP_Digest(text, size, md, NULL, EVP_sha256(), NULL);
	free(text);
	if (!ok)
		return -ENOMEM;
	for (int i = 0; i < MARK_BYTES; i++)
		snprintf(mark + 2 * i, 3, "%02x", md[i]);
	return 0;
}

/* ---- text ------------------------------------------------------------------------------------ */

static uint64_t codes_of(const struct gfs_coverage *coverage)
{
	uint64_t bits = 0;

	for (int i = 0; i < GFS_CODE_COUNT; i++)
		bits |= coverage->codes[i] ? UINT64_C(1) << i : 0;
	return bits;
}

int gfs_cursor_print(const struct gfs_query *q, const struct gfs_cursor *c,
		     char text[GFS_CURSOR_SIZE])
{
	int len = snprintf(text, GFS_CURSOR_SIZE,
			   "%" PRIx32 "-%" PRIx32 "-%" PRIx64 "-%" PRIx64 "-%" PRIx32 "-%x-%" PRIx64
			   "-",
			   c->item, c->sub, c->before, c->total, c->examined, c->coverage.partial,
			   codes_of(&c->coverage));
	char mark[2 * MARK_BYTES + 1];
	int rc = make_mark(q, text, mark);

	assert(len > 0 && (size_t)len + sizeof(mark) <= GFS_CURSOR_SIZE);
	if (rc == 0)
		memcpy(text + len, mark, sizeof(mark));
	return rc;
}

/* Read leniently, then printed again: only what comes out the same was ours. */
int gfs_cursor_parse(const struct gfs_query *q, const char *text, struct gfs_cursor *c)
{
	char again[GFS_CURSOR_SIZE];
	unsigned partial;
	uint64_t codes;
	int rc;

	*c = (struct gfs_cursor){ 0 };
	if (sscanf(text,
		   "%8" SCNx32 "-%8" SCNx32 "-%16" SCNx64 "-%16" SCNx64 "-%8" SCNx32
		   "-%1x-%16" SCNx64,
		   &c->item, &c->sub, &c->before, &c->total, &c->examined, &partial, &codes) != 7)
		return -EINVAL;
	c->coverage.partial = partial;
	for (int i = 0; i < GFS_CODE_COUNT; i++)
		c->coverage.codes[i] = codes >> i & 1;
	rc = gfs_cursor_print(q, c, again);
	return rc == 0 && strcmp(text, again) != 0 ? -EINVAL : rc;
}
