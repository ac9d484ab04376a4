/*
 * Answering. The things that rows come from are listed first, with the filters asked that
 * the inventory can answer: the items. Where rows come from examinations, an item is an
 * object, and it is examined for its rows; else it is one row.
 */
#include "query.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "examine.h"
#include "examine_json.h"
#include "query_cursor.h"
#include "source.h"
#include "tree.h"

/* Of the batch, per target. */
struct batch_target {
	uint32_t objects;
	struct gfs_coverage coverage;
};

struct query {
	struct gfs *fs;
	const struct gfs_request *request;
	char sha256[GFS_DIGEST_SIZE]; /* of the artifact */
	uint32_t *batch; /* objects, ascending; NULL: no ids were given */
	uint32_t batch_count;
	struct batch_target *targets; /* with a batch */
	bool examines; /* rows come from examinations */
	bool covers; /* coverage is added up while rows are walked, not before */
	uint32_t *items;
	uint32_t item_count;
	pthread_mutex_t lock; /* of found, and coverages, while several threads examine */
	struct gfs_cursor found;
};

/* A row and what its records point to. */
struct made_row {
	struct gfs_row row;
	struct gfs_shown shown;
	struct gfs_analysis analysis;
	struct dec_problem problem;
	struct gfs_problem_kernel kernel;
};

static const struct dec_inspection unexamined = {
	.state = DEC_STATE_UNEXAMINED,
	.consistency = DEC_CONSISTENCY_UNEXAMINED,
	.evidence = DEC_EVIDENCE_NONE,
	.payload_target = { dec_absent, 0 },
	.payload_target_raw = { dec_absent, 0 },
};

/* ---- rows ------------------------------------------------------------------------------- */

static void row_init(const struct query *q, struct made_row *made)
{
	*made = (struct made_row){ .row.columns = &q->request->columns };
}

static void set_part(const struct query *q, struct made_row *made, enum gfs_part part,
		     const void *p, uint32_t index)
{
	made->row.records[part] =
		(struct gfs_record){ q->fs->artifact, q->fs->id_width, NULL, p, index };
}

static void fill_container(const struct query *q, uint32_t index, struct made_row *made)
{
	const struct dec_container *container = &q->fs->artifact->containers[index];

	set_part(q, made, GFS_PART_ID, container, index);
	set_part(q, made, GFS_PART_CONTAINER, container, index);
}

/* What concerns the object, of rows of all kinds that have one. */
static void fill_shown(const struct query *q, uint32_t index, struct made_row *made)
{
	const struct dec_object *o = &q->fs->artifact->objects[index];

	made->shown = (struct gfs_shown){
		.object = o,
		.inspection = &unexamined,
		.sha256 = "",
		.index = index,
	};
	set_part(q, made, GFS_PART_OBJECT, o, index);
	if (o->target_kind == DEC_TARGET_FATBIN_ENTRY)
		set_part(q, made, GFS_PART_FATBIN, o, index);
	set_part(q, made, GFS_PART_LOCATION, o, index);
	set_part(q, made, GFS_PART_OF_OBJECT, o, index);
	set_part(q, made, GFS_PART_INSPECTION, &made->shown, index);
}

static void fill_target(const struct query *q, uint32_t index, struct made_row *made)
{
	const struct dec_target *target = &q->fs->artifact->targets[index];

	made->analysis.kernel_analysis = "unrequested";
	if (q->batch) {
		struct gfs_coverage coverage = q->targets[index].coverage;

		coverage.partial |= q->targets[index].objects < target->object_count;
		made->analysis.kernel_analysis = gfs_coverage_word(&coverage);
	}
	set_part(q, made, GFS_PART_TARGET, target, index);
	set_part(q, made, GFS_PART_ANALYSIS, &made->analysis, index);
}

static void fill_problem(const struct query *q, uint32_t index, struct made_row *made)
{
	set_part(q, made, GFS_PART_PROBLEM, &q->fs->artifact->problems[index], index);
}

/* Rows of an object that was examined; false: at sub there is none to be shown. */
static bool fill_kernel(const struct query *q, uint32_t sub, struct made_row *made)
{
	made->shown.kernel = &made->shown.inspection->kernels[sub];
	set_part(q, made, GFS_PART_KERNEL, &made->shown, made->shown.index);
	return true;
}

static bool fill_object(const struct query *q, uint32_t sub, struct made_row *made)
{
	(void)q;
	(void)sub;
	(void)made;
	return true;
}

static uint32_t inventory_problem(const struct query *q, const struct dec_object *o, uint32_t sub)
{
	uint32_t i = o->problems.first;

	while (i != DEC_NONE && sub-- > 0)
		i = q->fs->artifact->problems[i].next;
	return i;
}

static uint32_t inventory_problem_count(const struct query *q, const struct dec_object *o)
{
	uint32_t count = 0;

	for (uint32_t i = o->problems.first; i != DEC_NONE; i = q->fs->artifact->problems[i].next)
		count++;
	return count;
}

/* Those of object.json first, then those of inspection.json. */
static bool fill_object_problem(const struct query *q, uint32_t sub, struct made_row *made)
{
	const struct gfs_shown *s = &made->shown;
	uint32_t known = inventory_problem(q, s->object, sub);
	const struct dec_problem *p;

	made->row.records[GFS_PART_PROBLEM_KERNEL].p = NULL;
	if (known != DEC_NONE) {
		fill_problem(q, known, made);
		return true;
	}
	p = &s->inspection->problems[sub - inventory_problem_count(q, s->object)];
	if (gfs_problem_is_repeated(p))
		return false;
	if (p->object != DEC_NONE) {
		made->kernel.kernel = s->inspection->kernels[p->object].name;
		set_part(q, made, GFS_PART_PROBLEM_KERNEL, &made->kernel, 0);
	}
	made->problem = *p;
	made->problem.container = s->object->container;
	made->problem.object = s->index;
	set_part(q, made, GFS_PART_PROBLEM, &made->problem, 0);
	return true;
}

static uint32_t kernel_rows(const struct query *q, const struct gfs_shown *s)
{
	(void)q;
	return s->inspection->kernel_count;
}

static uint32_t object_rows(const struct query *q, const struct gfs_shown *s)
{
	(void)q;
	(void)s;
	return 1;
}

static uint32_t problem_rows(const struct query *q, const struct gfs_shown *s)
{
	return inventory_problem_count(q, s->object) + s->inspection->problem_count;
}

/* ---- what rows come from ------------------------------------------------------------------ */

static bool holds_any(const struct query *q, uint32_t index)
{
	const struct dec_container *c = &q->fs->artifact->containers[index];
	uint32_t low = 0;
	uint32_t high = q->batch_count;

	while (low < high) { /* to the first that is not before the container */
		uint32_t middle = low + (high - low) / 2;

		if (q->batch[middle] < c->first_object)
			low = middle + 1;
		else
			high = middle;
	}
	return low < q->batch_count && q->batch[low] - c->first_object < c->object_count;
}

static bool is_of_batch(const struct query *q, uint32_t index)
{
	return q->targets[index].objects > 0;
}

static bool is_listed(const struct query *q, uint32_t index)
{
	return gfs_problem_is_listed(&q->fs->artifact->problems[index]);
}

struct collection {
	size_t count; /* offset of a uint32_t in struct dec_artifact */
	bool (*listed)(const struct query *q, uint32_t index); /* NULL: all are */
	bool (*in_batch)(const struct query *q, uint32_t index); /* the same, with a batch */
	void (*fill)(const struct query *q, uint32_t index, struct made_row *made);
	/* Rows of one object that was examined; NULL: they never come from there. */
	uint32_t (*rows)(const struct query *q, const struct gfs_shown *shown);
	bool (*fill_row)(const struct query *q, uint32_t sub, struct made_row *made);
	bool always; /* not with a batch alone */
};

#define COUNT_OF(member) offsetof(struct dec_artifact, member)

static const struct collection collections[] = {
	[GFS_ROWS_CONTAINERS] = { COUNT_OF(container_count), NULL, holds_any, fill_container, NULL,
				  NULL, false },
	[GFS_ROWS_OBJECTS] = { COUNT_OF(object_count), NULL, NULL, fill_shown, object_rows,
			       fill_object, false },
	[GFS_ROWS_TARGETS] = { COUNT_OF(target_count), NULL, is_of_batch, fill_target, NULL, NULL,
			       false },
	[GFS_ROWS_KERNELS] = { COUNT_OF(object_count), NULL, NULL, NULL, kernel_rows, fill_kernel,
			       true },
	[GFS_ROWS_PROBLEMS] = { COUNT_OF(problem_count), is_listed, NULL, fill_problem,
				problem_rows, fill_object_problem, false },
};

static const struct collection *collection_of(const struct query *q)
{
	return &collections[q->request->columns.of];
}

/* ---- the batch ---------------------------------------------------------------------------- */

static int compare_indexes(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static int refuse_id(const struct query *q, const char *id, struct gfs_refusal *why)
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
static void sort_batch(struct query *q)
{
	uint32_t kept = 0;

	qsort(q->batch, q->batch_count, sizeof(q->batch[0]), compare_indexes);
	for (uint32_t i = 0; i < q->batch_count; i++)
		if (i == 0 || q->batch[i] != q->batch[kept - 1])
			q->batch[kept++] = q->batch[i];
	q->batch_count = kept;
}

static int make_batch(struct query *q, struct gfs_refusal *why)
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

static void add_coverage(struct query *q, uint32_t object, const struct dec_inspection *inspection)
{
	const struct dec_object *o = &q->fs->artifact->objects[object];

	q->found.examined++;
	gfs_coverage_add(&q->found.coverage, o, inspection);
	if (q->batch && o->target_index != DEC_NONE)
		gfs_coverage_add(&q->targets[o->target_index].coverage, o, inspection);
}

static int take_batch(void *ctx, uint32_t object, const struct gfs_payload *payload,
		      const struct dec_inspection *inspection)
{
	struct query *q = ctx;

	(void)payload;
	pthread_mutex_lock(&q->lock);
	add_coverage(q, object, inspection);
	pthread_mutex_unlock(&q->lock);
	return 0;
}

/* ---- the items ---------------------------------------------------------------------------- */

static bool is_candidate(const struct query *q, uint32_t index)
{
	const struct collection *c = collection_of(q);

	if (q->examines)
		return true;
	if (q->batch && c->in_batch)
		return c->in_batch(q, index);
	return !c->listed || c->listed(q, index);
}

/* Asked now are the filters that need no examination of this item. */
static int item_matches(const struct query *q, uint32_t index)
{
	struct made_row made;

	row_init(q, &made);
	if (q->examines)
		fill_shown(q, index, &made);
	else
		collection_of(q)->fill(q, index, &made);
	return gfs_row_matches(&made.row, q->examines ? GFS_EARLY : GFS_ANY_TIME);
}

static int list_items(struct query *q)
{
	const struct collection *c = collection_of(q);
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

/* For each row: 0 to go on, 1 to stop behind it, a negative errno. */
typedef int (*take_row)(void *ctx, const struct gfs_row *row);

/* The rows of one object from *sub on, which ends behind the last that was taken. */
static int walk_object(const struct query *q, struct made_row *made, uint32_t *sub, take_row take,
		       void *ctx)
{
	const struct collection *c = collection_of(q);
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
static bool needs_digest(const struct query *q, take_row take)
{
	const struct gfs_columns *columns = &q->request->columns;
	size_t at = gfs_columns_find(columns, "payload_sha256");

	if (at == columns->count)
		return false;
	return columns->all[at].filter || (columns->all[at].wanted && take != count_row);
}

static int walk_payload(const struct query *q, uint32_t object, const struct gfs_payload *payload,
			const struct dec_inspection *inspection, uint32_t *sub, take_row take,
			void *ctx)
{
	char digest[GFS_DIGEST_SIZE] = "";
	struct made_row made;
	int rc = 0;

	row_init(q, &made);
	fill_shown(q, object, &made);
	made.shown.inspection = inspection;
	if (needs_digest(q, take))
		rc = gfs_payload_sha256(payload, digest);
	made.shown.sha256 = digest;
	return rc == 0 ? walk_object(q, &made, sub, take, ctx) : rc;
}

static int walk_examined(struct query *q, struct gfs_payload *payload, take_row take, void *ctx)
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

static int walk_plain(struct query *q, take_row take, void *ctx)
{
	struct made_row made;

	row_init(q, &made);
	collection_of(q)->fill(q, q->items[q->found.item], &made);
	q->found.sub = 1;
	return take(ctx, &made.row);
}

/* From q->found on, which then is behind the last row taken. */
static int walk(struct query *q, take_row take, void *ctx)
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

static int take_counted(void *ctx, uint32_t object, const struct gfs_payload *payload,
			const struct dec_inspection *inspection)
{
	struct query *q = ctx;
	uint64_t rows = 0;
	uint32_t sub = 0;
	int rc = walk_payload(q, object, payload, inspection, &sub, count_row, &rows);

	pthread_mutex_lock(&q->lock);
	q->found.total += rows;
	add_coverage(q, object, inspection);
	pthread_mutex_unlock(&q->lock);
	return rc;
}

static int count_rows(struct query *q)
{
	if (q->examines)
		return gfs_examine_all(q->fs, q->items, q->item_count, take_counted, q);
	q->found.total = q->item_count;
	return 0;
}

/* ---- beginning and end ------------------------------------------------------------------------ */

static int query_begin(struct query *q, struct gfs *fs, const struct gfs_request *request,
		       struct gfs_refusal *why)
{
	int rc;

	*q = (struct query){ .fs = fs, .request = request };
	pthread_mutex_init(&q->lock, NULL);
	q->examines = collection_of(q)->always || (request->ids && collection_of(q)->rows);
	rc = make_batch(q, why);
	if (rc == 0)
		rc = gfs_source_sha256(fs->source, q->sha256, NULL);
	return rc;
}

/* The rest, when it is known that the request is right. */
static int query_prepare(struct query *q)
{
	int rc = 0;

	if (q->batch && !q->examines)
		rc = gfs_examine_all(q->fs, q->batch, q->batch_count, take_batch, q);
	return rc == 0 ? list_items(q) : rc;
}

static void query_end(struct query *q)
{
	free(q->batch);
	free(q->targets);
	free(q->items);
	pthread_mutex_destroy(&q->lock);
}

static void put_artifact(const struct query *q, struct gfs_json *w, struct cJSON *in, bool sized)
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
	struct query *q;
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

static int put_head(const struct query *q, FILE *out)
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
	rc = gfs_cursor_print(page->q->fs, page->q->request, page->q->sha256, found, cursor);
	if (rc == 0)
		fprintf(page->out, "\"%s\"\n}\n", cursor);
	return rc;
}

static int put_page(struct query *q, FILE *out)
{
	struct page page = { .q = q, .out = out };
	int rc = put_head(q, out);

	if (rc == 0 && q->found.before < q->found.total)
		rc = walk(q, take_page_row, &page);
	return rc < 0 ? rc : put_tail(&page);
}

/* A cursor knows what examining and counting found. */
static int go_on(struct query *q, struct gfs_refusal *why)
{
	struct gfs_cursor place;
	int rc = gfs_cursor_parse(q->fs, q->request, q->sha256, q->request->cursor, &place);

	if (rc == -EINVAL)
		gfs_refuse(why, "view.cursor: it is of another file or request");
	if (rc == 0)
		rc = query_prepare(q);
	q->found = place;
	return rc;
}

static int start(struct query *q)
{
	int rc = query_prepare(q);

	return rc == 0 ? count_rows(q) : rc;
}

int gfs_query_page(struct gfs *fs, const struct gfs_request *request, char **text, size_t *size,
		   struct gfs_refusal *why)
{
	FILE *out = open_memstream(text, size);
	struct query q;
	int rc;

	if (!out)
		return -ENOMEM;
	rc = query_begin(&q, fs, request, why);
	if (rc == 0)
		rc = request->cursor ? go_on(&q, why) : start(&q);
	if (rc == 0)
		rc = put_page(&q, out);
	query_end(&q);
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
	struct query *q;
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
	struct query q;
	struct lines lines = { &q, put, ctx };
	int rc = query_begin(&q, fs, request, why);

	q.covers = true;
	if (rc == 0)
		rc = query_prepare(&q);
	if (rc == 0)
		rc = walk(&q, take_line_row, &lines);
	*coverage = q.found.coverage;
	query_end(&q);
	return rc;
}
