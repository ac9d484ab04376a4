/*
 * Field tables: one row per JSON key, taken from the struct member itself. A table is an
 * object's keys in their order and ends with FIELDS_END.
 */
#ifndef GFS_FIELDS_H
#define GFS_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "internal.h"
#include "json.h"

/* What a table is read from. */
struct gfs_record {
	const struct dec_artifact *artifact;
	int id_width;
	const char *sha256; /* of the artifact, for tables that show it */
	const void *p; /* the struct that the table describes */
	uint32_t index; /* of p in its array, 0 where there is none */
};

/* Writes one value that needs code. */
typedef void (*gfs_put_fn)(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			   const char *key);

enum gfs_field_kind {
	GFS_FIELD_FN,
	GFS_FIELD_BOOL,
	GFS_FIELD_U32,
	GFS_FIELD_U64,
	GFS_FIELD_WORD,
	GFS_FIELD_TEXT,
	GFS_FIELD_RANGE,
};

struct gfs_field {
	const char *key; /* NULL ends the table */
	enum gfs_field_kind kind;
	size_t offset;
	gfs_put_fn put;
};

/* clang-format off */
#define KIND(T, m) \
	_Generic(((T *)0)->m, \
		bool: GFS_FIELD_BOOL, \
		uint32_t: GFS_FIELD_U32, \
		uint64_t: GFS_FIELD_U64, \
		const char *: GFS_FIELD_WORD, \
		struct dec_text: GFS_FIELD_TEXT, \
		struct dec_range: GFS_FIELD_RANGE)
#define FIELD(T, m) { #m, KIND(T, m), offsetof(T, m), NULL }
#define FIELD_AS(key, T, m) { key, KIND(T, m), offsetof(T, m), NULL }
#define FIELD_FN(key, fn) { key, GFS_FIELD_FN, 0, fn }
#define FIELDS_END { NULL, GFS_FIELD_FN, 0, NULL }
/* clang-format on */

extern const struct gfs_field gfs_artifact_fields[]; /* struct dec_artifact */
extern const struct gfs_field gfs_container_fields[]; /* struct dec_container */
extern const struct gfs_field gfs_object_fields[]; /* struct dec_object */
extern const struct gfs_field gfs_fatbin_fields[]; /* the same, fatbin entries alone */
extern const struct gfs_field gfs_location_fields[]; /* struct dec_object */
extern const struct gfs_field gfs_target_fields[]; /* struct dec_target */
extern const struct gfs_field gfs_id_fields[]; /* the index alone, as "id" */
extern const struct gfs_field gfs_of_object_fields[]; /* struct dec_object, whose kernel it is */
extern const struct gfs_field gfs_problem_fields[]; /* struct dec_problem, in problems.json */
extern const struct gfs_field gfs_own_problem_fields[]; /* struct dec_problem, of one thing */

/* Adds one key to a JSON object. */
void gfs_field_put(const struct gfs_record *r, const struct gfs_field *field, struct gfs_json *w,
		   struct cJSON *in);
/* Adds the keys of a table. */
void gfs_fields_put(const struct gfs_record *r, const struct gfs_field *fields, struct gfs_json *w,
		    struct cJSON *in);

#define X(suffix, word) +1
enum { GFS_CODE_COUNT = 0 DEC_PROBLEM_LIST(X) };
#undef X

/* Adds {state, reasons[]}: how far finding entries got. */
void gfs_inventory_put(const struct dec_artifact *artifact, struct gfs_json *w, struct cJSON *in,
		       const char *key);

/* What concerns finding entries; remarks on one object stand in its object.json alone. */
bool gfs_problem_is_listed(const struct dec_problem *problem);

/* Adds an array of the codes that are seen, GFS_CODE_COUNT flags, sorted by their words. */
void gfs_codes_put(struct gfs_json *w, struct cJSON *in, const char *key, const bool *seen);

#endif
