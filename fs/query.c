/*
 * Answering. The things that rows come from are listed first, with the filters asked that
 * the inventory can answer: the items. Where rows come from examinations, an item is an
 * object, and it is examined for its rows; else it is one row.
 */
#include "query_internal.h"

#include <errno.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "bundle_hash.h"
#include "source.h"
#include "tree.h"

static const struct gfs_row_source *source_of(const struct gfs_query *q)
{
	return &gfs_row_sources[q->request->columns.of];
}

/* ---- the batch ---------------------------------------------------------------------------- */

static int compare_indexes(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static int refuse_id(const struct gfs_query *q, const char *id, struct gfs_refusal *why)
{
	uint32_t count = q->fs->artifact->object_count;
	char quoted[GFS_QUOTED_SIZE];
	char first[GFS_NAME_MAX + 1];
	char last[GFS_NAME_MAX + 1];

	gfs_id_name(q->fs, 0, first);
	gfs_id_name(q->fs, count ? count - 1 : 0, last);
	if (count)
		gfs_refuse(why, "object_ids: unknown id %s, known are %s to %s",
			   gfs_quoted(id, quoted), first, last);
	else
		gfs_refuse(why, "object_ids: unknown id %s, there are no objects",
			   gfs_quoted(id, quoted));
	return -EINVAL;
}

/* Once each, in their order. */
static void sort_batch(struct gfs_query *q)
{
	uint32_t kept = 0;

	qsort(q->batch, q->batch_count, sizeof(q->batch[0]), compare_indexes);
	for (uint32_t i = 0; i < q->batch_count; i++)
		if (i == 0 || q->batch[i] != q->batch[kept - 1])
			q->batch[kept++] = q->batch[i];
	q->batch_count = kept;
}

static int make_batch(struct gfs_query *q, struct gfs_refusal *why)
{
	const struct dec_artifact *artifact = q->fs->artifact;
	const struct cJSON *id;

	if (!q->request->ids)
		return 0;
	q->batch = calloc((size_t)cJSON_GetArraySize(q->request->ids), sizeof(q->batch[0]));
	q->targets = calloc((size_t)artifact->target_count + 1, sizeof(q->targets[0]));
	if (!q->batch || !q->targets)
		return -ENOMEM;
	cJSON_ArrayForEach(id, q->request->ids)
	{
		if (gfs_id_find(q->fs, id->valuestring, artifact->object_count,
				&q->batch[q->batch_count++]) != 0)
			return refuse_id(q, id->valuestring, why);
	}
	sort_batch(q);
	for (uint32_t i = 0; i < q->batch_count; i++) {
		uint32_t target = artifact->objects[q->batch[i]].target_index;

		if (target != DEC_NONE)
			q->targets[target].objects++;
	}
	return 0;
}

static void add_coverage(struct gfs_query *q, uint32_t object,
			 const struct dec_inspection *inspection)
{
	const struct dec_artifact *artifact = q->fs->artifact;
	uint32_t target = artifact->objects[object].target_index;

	q->found.examined++;
	gfs_coverage_add(&q->found.coverage, artifact, object, inspection);
	if (q->batch && target != DEC_NONE)
		gfs_coverage_add(&q->targets[target].coverage, artifact, object, inspection);
}

static int take_batch(void *ctx, uint32_t object, struct gfs_payload *payload,
		      const struct dec_inspection *inspection)
{
	struct gfs_query *q = ctx;

	(void)payload;
	pthread_mutex_lock(&q->lock);
	add_coverage(q, object, inspection);
	pthread_mutex_unlock(&q->lock);
	return 0;
}

/* ---- the items ---------------------------------------------------------------------------- */

static bool is_candidate(const struct gfs_query *q, uint32_t index)
{
	const struct gfs_row_source *c = source_of(q);

	if (q->examines)
		return true;
	if (q->batch && c->in_batch)
		return c->in_batch(q, index);
	return !c->listed || c->listed(q, index);
}

/* Asked now are the filters that need no examination of this item. */
static int item_matches(const struct gfs_query *q, uint32_t index)
{
	struct gfs_made_row made;

	gfs_made_row_init(q, &made);
	if (q->examines)
		gfs_made_row_object(q, index, &made);
	else
		source_of(q)->fill(q, index, &made);
	return gfs_row_matches(&made.row, q->examines ? GFS_EARLY : GFS_ANY_TIME);
}

static int list_items(struct gfs_query *q)
{
	const struct gfs_row_source *c = source_of(q);
	bool of_batch = q->batch && q->examines;
	uint32_t count = *(const uint32_t *)((const char *)q->fs->artifact + c->count);
	int matches = 0;

	if (q->examines)
		count = of_batch ? q->batch_count : q->fs->artifact->object_count;
	q->items = calloc((size_t)count + 1, sizeof(q->items[0]));
	if (!q->items)
		return -ENOMEM;
	for (uint32_t i = 0; i < count && matches >= 0; i++) {
		uint32_t index = of_batch ? q->batch[i] : i;

		matches = is_candidate(q, index) ? item_matches(q, index) : 0;
		if (matches > 0)
			q->items[q->item_count++] = index;
	}
	return matches < 0 ? matches : 0;
}

/* ---- walking the rows ------------------------------------------------------------------------ */

/* The rows of one object from *sub on, which ends behind the last that was taken. */
static int walk_object(const struct gfs_query *q, struct gfs_made_row *made, uint32_t *sub,
		       gfs_take_row take, void *ctx)
{
	const struct gfs_row_source *c = source_of(q);
	uint32_t count = c->rows(q, &made->shown);
	int rc = 0;

	while (rc == 0 && *sub < count) {
		int matches = c->fill_row(q, (*sub)++, made);

		if (matches > 0)
			matches = gfs_row_matches(&made->row, GFS_LATE);
		if (matches != 0)
			rc = matches < 0 ? matches : take(ctx, &made->row);
	}
	return rc;
}

static int count_row(void *ctx, const struct gfs_row *row)
{
	(void)row;
	++*(uint64_t *)ctx;
	return 0;
}

/* Rows that are only counted need it for a filter alone. */
static bool needs_digest(const struct gfs_query *q, gfs_take_row take)
{
	const struct gfs_columns *columns = &q->request->columns;
	size_t at = gfs_columns_find(columns, "payload_sha256");

	if (at == columns->count)
		return false;
	return columns->all[at].filter || (columns->all[at].wanted && take != count_row);
}

static int check_around(const struct gfs_query *q, struct gfs_made_row *made,
			struct gfs_hash_check *check)
{
	int rc;

	if (!source_of(q)->around)
		return 0;
	rc = gfs_hash_check(q->fs, made->shown.object->container, check);
	if (rc == 0 && check->differs)
		made->shown.around = &check->problem;
	return rc;
}

static int walk_payload(const struct gfs_query *q, uint32_t object, struct gfs_payload *payload,
			const struct dec_inspection *inspection, uint32_t *sub, gfs_take_row take,
			void *ctx)
{
	char digest[GFS_DIGEST_SIZE] = "";
	struct gfs_hash_check check;
	struct gfs_made_row made;
	int rc;

	gfs_made_row_init(q, &made);
	gfs_made_row_object(q, object, &made);
	made.shown.inspection = inspection;
	rc = check_around(q, &made, &check);
	if (rc == 0 && needs_digest(q, take))
		rc = gfs_payload_sha256(q->fs, object, payload, digest);
	made.shown.sha256 = digest;
	return rc == 0 ? walk_object(q, &made, sub, take, ctx) : rc;
}

static int walk_examined(struct gfs_query *q, struct gfs_payload *payload, gfs_take_row take,
			 void *ctx)
{
	uint32_t object = q->items[q->found.item];
	struct dec_inspection *inspection = NULL;
	int rc = gfs_payload_load(q->fs, object, payload);

	if (rc == 0)
		rc = gfs_payload_inspect(q->fs, object, payload, 0, &inspection);
	if (rc != 0)
		return rc;
	if (q->covers)
		add_coverage(q, object, inspection);
	rc = walk_payload(q, object, payload, inspection, &q->found.sub, take, ctx);
	dec_inspection_free(inspection);
	return rc;
}

static int walk_plain(struct gfs_query *q, gfs_take_row take, void *ctx)
{
	struct gfs_made_row made;

	gfs_made_row_init(q, &made);
	source_of(q)->fill(q, q->items[q->found.item], &made);
	q->found.sub = 1;
	return take(ctx, &made.row);
}

int gfs_query_walk(struct gfs_query *q, gfs_take_row take, void *ctx)
{
	struct gfs_payload payload = { 0 };
	int rc = 0;

	while (rc == 0 && q->found.item < q->item_count) {
		if (q->examines)
			rc = walk_examined(q, &payload, take, ctx);
		else
			rc = q->found.sub == 0 ? walk_plain(q, take, ctx) : 0;
		if (rc == 0) {
			q->found.item++;
			q->found.sub = 0;
		}
	}
	gfs_payload_fini(&payload);
	return rc;
}

/* ---- counting ------------------------------------------------------------------------------- */

static int take_counted(void *ctx, uint32_t object, struct gfs_payload *payload,
			const struct dec_inspection *inspection)
{
	struct gfs_query *q = ctx;
	uint64_t rows = 0;
	uint32_t sub = 0;
	int rc = walk_payload(q, object, payload, inspection, &sub, count_row, &rows);

	pthread_mutex_lock(&q->lock);
	q->found.total += rows;
	add_coverage(q, object, inspection);
	pthread_mutex_unlock(&q->lock);
	return rc;
}

int gfs_query_count(struct gfs_query *q)
{
	if (q->examines)
		return gfs_examine_all(q->fs, q->items, q->item_count, take_counted, q);
	q->found.total = q->item_count;
	return 0;
}

/* ---- beginning and end ------------------------------------------------------------------------ */

int gfs_query_begin(struct gfs_query *q, struct gfs *fs, const struct gfs_request *request,
		    struct gfs_refusal *why)
{
	int rc;

	*q = (struct gfs_query){ .fs = fs, .request = request };
	pthread_mutex_init(&q->lock, NULL);
	q->examines = source_of(q)->always || (request->ids && source_of(q)->rows);
	rc = make_batch(q, why);
	if (rc == 0)
		rc = gfs_source_sha256(fs->source, q->sha256, NULL);
	return rc;
}

int gfs_query_prepare(struct gfs_query *q, bool known)
{
	int rc = 0;

	if (q->batch && !q->examines && (!known || source_of(q)->sums_up))
		rc = gfs_examine_all(q->fs, q->batch, q->batch_count, take_batch, q);
	return rc == 0 ? list_items(q) : rc;
}

void gfs_query_end(struct gfs_query *q)
{
	free(q->batch);
	free(q->targets);
	free(q->items);
	pthread_mutex_destroy(&q->lock);
}
