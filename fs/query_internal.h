/*
 * What the files of the query share: one request being answered.
 */
#ifndef GFS_QUERY_INTERNAL_H
#define GFS_QUERY_INTERNAL_H

#include <pthread.h>

#include "examine.h"
#include "examine_json.h"
#include "query.h"
#include "query_cursor.h"

/* Of the batch, per target. */
struct gfs_batch_target {
	uint32_t objects;
	struct gfs_coverage coverage;
};

struct gfs_query {
	struct gfs *fs;
	const struct gfs_request *request;
	char sha256[GFS_DIGEST_SIZE]; /* of the artifact */
	uint32_t *batch; /* objects, ascending; NULL: no ids were given */
	uint32_t batch_count;
	struct gfs_batch_target *targets; /* with a batch */
	bool examines; /* rows come from examinations */
	bool covers; /* coverage is added up while rows are walked, not before */
	uint32_t *items;
	uint32_t item_count;
	pthread_mutex_t lock; /* of found, and coverages, while several threads examine */
	struct gfs_cursor found;
};

/* A row and what its records point to. */
struct gfs_made_row {
	struct gfs_row row;
	struct gfs_shown shown;
	struct gfs_analysis analysis;
	struct dec_problem problem;
	struct gfs_problem_kernel kernel;
};

struct gfs_row_source {
	size_t count; /* offset of a uint32_t in struct dec_artifact */
	bool (*listed)(const struct gfs_query *q, uint32_t index); /* NULL: all are */
	bool (*in_batch)(const struct gfs_query *q, uint32_t index); /* the same, with a batch */
	void (*fill)(const struct gfs_query *q, uint32_t index, struct gfs_made_row *made);
	/* Rows of one object that was examined; NULL: they never come from there. */
	uint32_t (*rows)(const struct gfs_query *q, const struct gfs_shown *shown);
	bool (*fill_row)(const struct gfs_query *q, uint32_t sub, struct gfs_made_row *made);
	bool around; /* those show what is wrong with the container when it is decoded */
	bool always; /* they do without a batch, too */
	bool sums_up; /* rows tell how the batch was examined */
};

/* ---- query_rows.c --------------------------------------------------------------------- */

extern const struct gfs_row_source gfs_row_sources[]; /* by enum gfs_rows */

void gfs_made_row_init(const struct gfs_query *q, struct gfs_made_row *made);
/* What concerns the object, of rows of all kinds that have one; it is unexamined. */
void gfs_made_row_object(const struct gfs_query *q, uint32_t index, struct gfs_made_row *made);

/* ---- query.c ---------------------------------------------------------------------------- */

/* To be followed by gfs_query_end(), whatever is returned. */
int gfs_query_begin(struct gfs_query *q, struct gfs *fs, const struct gfs_request *request,
		    struct gfs_refusal *why);
/* The rest, when it is known that the request is right. known: q->found need not be found
 * again. */
int gfs_query_prepare(struct gfs_query *q, bool known);
void gfs_query_end(struct gfs_query *q);

/* Examines what rows come from, for q->found. */
int gfs_query_count(struct gfs_query *q);

/* For each row: 0 to go on, 1 to stop behind it, a negative errno. */
typedef int (*gfs_take_row)(void *ctx, const struct gfs_row *row);
/* From q->found on, which then is behind the last row taken. */
int gfs_query_walk(struct gfs_query *q, gfs_take_row take, void *ctx);

#endif
