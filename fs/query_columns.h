/*
 * Rows of answers: which keys a row of each collection can have, from the same field tables
 * as the files of the tree, which of them a request wants and what it asks of them.
 */
#ifndef GFS_QUERY_COLUMNS_H
#define GFS_QUERY_COLUMNS_H

#include "fields.h"

/* Rows of: X(ENUM SUFFIX, "word of view.collection"). */
#define GFS_ROWS_LIST(X)                                                                           \
	X(CONTAINERS, "containers")                                                                \
	X(OBJECTS, "objects")                                                                      \
	X(TARGETS, "targets")                                                                      \
	X(KERNELS, "kernels")                                                                      \
	X(PROBLEMS, "problems")

enum gfs_rows {
#define X(suffix, word) GFS_ROWS_##suffix,
	GFS_ROWS_LIST(X)
#undef X
};
extern const char *const gfs_rows_words[]; /* by enum gfs_rows, NULL ends them */

/* The tables that rows are put together from, by what their records point to. */
enum gfs_part {
	GFS_PART_ID, /* the index alone */
	GFS_PART_CONTAINER, /* struct dec_container */
	GFS_PART_OBJECT, /* struct dec_object */
	GFS_PART_FATBIN, /* the same; NULL: no entry of a fatbin */
	GFS_PART_LOCATION, /* the same */
	GFS_PART_OF_OBJECT, /* the same */
	GFS_PART_INSPECTION, /* struct gfs_shown */
	GFS_PART_KERNEL, /* struct gfs_shown */
	GFS_PART_TARGET, /* struct dec_target */
	GFS_PART_ANALYSIS, /* struct gfs_analysis */
	GFS_PART_PROBLEM, /* struct dec_problem */
	GFS_PART_PROBLEM_KERNEL, /* struct gfs_problem_kernel; NULL: it is of no kernel */
	GFS_PART_COUNT,
};

struct gfs_analysis {
	const char *kernel_analysis;
};

struct gfs_problem_kernel {
	struct dec_text kernel;
};

struct gfs_column {
	const char *key;
	const struct gfs_field *field;
	const struct gfs_field *more; /* an array whose elements come behind; NULL: none */
	enum gfs_part part; /* of field */
	enum gfs_part more_part;
	bool early; /* known before an object is examined */
	bool wanted; /* stands in the rows */
	const struct cJSON *filter; /* the value, or the list of them; NULL: any */
};

/* More than any collection has; kernels have the most, a few beside their facts. */
#define GFS_COLUMNS_MAX 128

struct gfs_columns {
	enum gfs_rows of;
	struct gfs_column all[GFS_COLUMNS_MAX];
	size_t count;
};

/* All columns of a collection, all of them wanted. */
void gfs_columns_init(struct gfs_columns *columns, enum gfs_rows of);
/* The index of its column; the count: no row of this collection has that key. */
size_t gfs_columns_find(const struct gfs_columns *columns, const char *key);
/* From here on none are wanted but those that rows always carry. */
void gfs_columns_narrow(struct gfs_columns *columns);

/* One row before it is rendered. A record whose p is NULL is a part the row does not have. */
struct gfs_row {
	const struct gfs_columns *columns;
	struct gfs_record records[GFS_PART_COUNT];
};

/* Adds the wanted keys to a JSON object. */
void gfs_row_put(const struct gfs_row *row, struct gfs_json *w, struct cJSON *in);

/* Which of the filters are asked. */
enum gfs_when { GFS_EARLY, GFS_LATE, GFS_ANY_TIME };
/* 1: all of them match, 0: one does not, -ENOMEM. */
int gfs_row_matches(const struct gfs_row *row, enum gfs_when when);

#endif
