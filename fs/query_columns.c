#include "query_columns.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "examine_json.h"

const char *const gfs_rows_words[] = {
#define X(suffix, word) word,
	GFS_ROWS_LIST(X)
#undef X
		NULL,
};

/* ---- the tables ----------------------------------------------------------------------- */

static const struct gfs_field analysis_fields[] = {
	FIELD(struct gfs_analysis, kernel_analysis),
	FIELDS_END,
};

static const struct gfs_field problem_kernel_fields[] = {
	FIELD(struct gfs_problem_kernel, kernel),
	FIELDS_END,
};

static const struct gfs_field *const part_fields[] = {
	[GFS_PART_ID] = gfs_id_fields,
	[GFS_PART_CONTAINER] = gfs_container_fields,
	[GFS_PART_OBJECT] = gfs_object_fields,
	[GFS_PART_FATBIN] = gfs_fatbin_fields,
	[GFS_PART_LOCATION] = gfs_location_fields,
	[GFS_PART_OF_OBJECT] = gfs_of_object_fields,
	[GFS_PART_INSPECTION] = gfs_inspection_fields,
	[GFS_PART_KERNEL] = gfs_kernel_fields,
	[GFS_PART_TARGET] = gfs_target_fields,
	[GFS_PART_ANALYSIS] = analysis_fields,
	[GFS_PART_PROBLEM] = gfs_problem_fields,
	[GFS_PART_PROBLEM_KERNEL] = problem_kernel_fields,
};

/* One table in a row. Of a key that an earlier one has, that one stands, but for these. */
struct piece {
	enum gfs_part part;
	bool early;
	const char *replaces; /* the key whose earlier value is only a guess */
	const char *joins; /* the key whose array is continued */
};

#define PIECES_MAX 4

static const struct piece pieces[][PIECES_MAX + 1] = {
	[GFS_ROWS_CONTAINERS] = {
		{ GFS_PART_ID, true, NULL, NULL },
		{ GFS_PART_CONTAINER, true, NULL, NULL },
		{ GFS_PART_COUNT, false, NULL, NULL },
	},
	[GFS_ROWS_OBJECTS] = {
		{ GFS_PART_OBJECT, true, NULL, NULL },
		{ GFS_PART_FATBIN, true, NULL, NULL },
		{ GFS_PART_LOCATION, true, NULL, NULL },
		{ GFS_PART_INSPECTION, false, "inspection", "problems" },
		{ GFS_PART_COUNT, false, NULL, NULL },
	},
	[GFS_ROWS_TARGETS] = {
		{ GFS_PART_TARGET, true, NULL, NULL },
		{ GFS_PART_ANALYSIS, false, "kernel_analysis", NULL },
		{ GFS_PART_COUNT, false, NULL, NULL },
	},
	[GFS_ROWS_KERNELS] = {
		{ GFS_PART_OF_OBJECT, true, NULL, NULL },
		{ GFS_PART_KERNEL, false, NULL, NULL },
		{ GFS_PART_COUNT, false, NULL, NULL },
	},
	[GFS_ROWS_PROBLEMS] = {
		{ GFS_PART_PROBLEM, false, NULL, NULL },
		{ GFS_PART_PROBLEM_KERNEL, false, NULL, NULL },
		{ GFS_PART_COUNT, false, NULL, NULL },
	},
};

/* What rows carry whatever a request selects: a target alone does not say whose it is. */
static const char *const object_keys[] = {
	"target",     "target_kind", "payload_target", "payload_target_kind", "target_consistency",
	"inspection", NULL,
};
static const char *const no_keys[] = { NULL };

static const char *const *const always[] = {
	[GFS_ROWS_CONTAINERS] = no_keys, [GFS_ROWS_OBJECTS] = object_keys,
	[GFS_ROWS_TARGETS] = no_keys,	 [GFS_ROWS_KERNELS] = no_keys,
	[GFS_ROWS_PROBLEMS] = no_keys,
};

/* ---- columns -------------------------------------------------------------------------- */

static bool is_key(const char *key, const char *other)
{
	return other && strcmp(key, other) == 0;
}

static void add_field(struct gfs_columns *columns, const struct piece *piece,
		      const struct gfs_field *field)
{
	size_t at = gfs_columns_find(columns, field->key);
	struct gfs_column *there = &columns->all[at];

	if (at == columns->count) {
		assert(columns->count < GFS_COLUMNS_MAX);
		columns->all[columns->count++] = (struct gfs_column){
			.key = field->key,
			.field = field,
			.part = piece->part,
			.early = piece->early,
			.wanted = true,
		};
	} else if (is_key(field->key, piece->replaces)) {
		there->field = field;
		there->part = piece->part;
		there->early = piece->early;
	} else if (is_key(field->key, piece->joins)) {
		there->more = field;
		there->more_part = piece->part;
		there->early = piece->early;
	}
}

void gfs_columns_init(struct gfs_columns *columns, enum gfs_rows of)
{
	columns->of = of;
	columns->count = 0;
	for (const struct piece *piece = pieces[of]; piece->part != GFS_PART_COUNT; piece++)
		for (const struct gfs_field *f = part_fields[piece->part]; f->key; f++)
			add_field(columns, piece, f);
}

size_t gfs_columns_find(const struct gfs_columns *columns, const char *key)
{
	size_t i = 0;

	while (i < columns->count && strcmp(columns->all[i].key, key) != 0)
		i++;
	return i;
}

void gfs_columns_narrow(struct gfs_columns *columns)
{
	for (size_t i = 0; i < columns->count; i++)
		columns->all[i].wanted = false;
	for (const char *const *key = always[columns->of]; *key; key++)
		columns->all[gfs_columns_find(columns, *key)].wanted = true;
}

/* ---- rendering -------------------------------------------------------------------------- */

static void put_field(const struct gfs_row *row, enum gfs_part part, const struct gfs_field *field,
		      struct gfs_json *w, struct cJSON *in)
{
	if (row->records[part].p)
		gfs_field_put(&row->records[part], field, w, in);
}

/* The elements of the second array go behind those of the first. */
static void join(struct cJSON *array, struct cJSON *more)
{
	while (more && more->child)
		cJSON_AddItemToArray(array, cJSON_DetachItemViaPointer(more, more->child));
}

static void put_column(const struct gfs_row *row, const struct gfs_column *c, struct gfs_json *w,
		       struct cJSON *in)
{
	struct gfs_json second;

	put_field(row, c->part, c->field, w, in);
	if (!c->more || w->failed)
		return;
	gfs_json_init(&second);
	put_field(row, c->more_part, c->more, &second, gfs_json_object(&second, NULL, NULL));
	if (second.failed)
		w->failed = true;
	else
		join(cJSON_GetObjectItemCaseSensitive(in, c->key), second.root->child);
	gfs_json_fini(&second);
}

void gfs_row_put(const struct gfs_row *row, struct gfs_json *w, struct cJSON *in)
{
	for (size_t i = 0; i < row->columns->count; i++)
		if (row->columns->all[i].wanted)
			put_column(row, &row->columns->all[i], w, in);
}

/* ---- filters ------------------------------------------------------------------------------ */

static bool equal(const struct cJSON *value, const struct cJSON *wanted);

/* Both have few members: the request's are counted, and ours come from tables. */
static bool equal_members(const struct cJSON *value, const struct cJSON *wanted)
{
	const struct cJSON *v = value->child;
	const struct cJSON *w = wanted->child;
	bool keyed = cJSON_IsObject(wanted);

	if (cJSON_GetArraySize(value) != cJSON_GetArraySize(wanted))
		return false;
	for (; w; w = w->next, v = v->next) {
		const struct cJSON *other =
			keyed ? cJSON_GetObjectItemCaseSensitive(value, w->string) : v;

		if (!other || !equal(other, w))
			return false;
	}
	return true;
}

/* Rows have numbers as digits, requests have doubles that are known to be whole. */
static bool equal_number(const struct cJSON *value, double wanted)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%.0f", wanted + 0.0); /* no -0 */
	return cJSON_IsRaw(value) && strcmp(value->valuestring, digits) == 0;
}

static bool equal(const struct cJSON *value, const struct cJSON *wanted)
{
	if (cJSON_IsNumber(wanted))
		return equal_number(value, wanted->valuedouble);
	if (cJSON_IsString(wanted))
		return cJSON_IsString(value) &&
		       strcmp(value->valuestring, wanted->valuestring) == 0;
	if (cJSON_IsArray(wanted))
		return cJSON_IsArray(value) && equal_members(value, wanted);
	if (cJSON_IsObject(wanted))
		return cJSON_IsObject(value) && equal_members(value, wanted);
	return (value->type & 0xff) == (wanted->type & 0xff); /* null, true, false */
}

/* A key that the row does not have is null. */
static bool passes(const struct cJSON *value, const struct cJSON *filter)
{
	static const struct cJSON null = { .type = cJSON_NULL };
	const struct cJSON *one;

	if (!value)
		value = &null;
	if (!cJSON_IsArray(filter))
		return equal(value, filter);
	cJSON_ArrayForEach(one, filter)
	{
		if (equal(value, one))
			return true;
	}
	return false;
}

static int column_matches(const struct gfs_row *row, const struct gfs_column *c)
{
	struct gfs_json w;
	struct cJSON *root;
	int rc = -ENOMEM;

	gfs_json_init(&w);
	root = gfs_json_object(&w, NULL, NULL);
	put_column(row, c, &w, root);
	if (!w.failed)
		rc = passes(root->child, c->filter);
	gfs_json_fini(&w);
	return rc;
}

static bool is_asked(const struct gfs_column *c, enum gfs_when when)
{
	return c->filter && (when == GFS_ANY_TIME || c->early == (when == GFS_EARLY));
}

int gfs_row_matches(const struct gfs_row *row, enum gfs_when when)
{
	int rc = 1;

	for (size_t i = 0; i < row->columns->count && rc == 1; i++)
		if (is_asked(&row->columns->all[i], when))
			rc = column_matches(row, &row->columns->all[i]);
	return rc;
}
