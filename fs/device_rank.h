/*
 * Which kernels of an artifact one device could load: each name has the rank of the best
 * image of it that the device would take.
 */
#ifndef GFS_DEVICE_RANK_H
#define GFS_DEVICE_RANK_H

#include "device.h"
#include "device_kernels.h"
#include "groups.h"

/* From the best on; the last: there is no image of it that the device would take. */
enum gfs_rank { GFS_RANK_YES, GFS_RANK_JIT, GFS_RANK_MAYBE, GFS_RANK_MISSING, GFS_RANKS };

enum dec_verdict gfs_rank_verdict(enum gfs_rank rank);

/* What is given to gfs_ranking_init() is borrowed. */
struct gfs_ranking {
	const struct dec_artifact *artifact;
	const struct gfs_vendor_kernels *kernels;
	const struct dec_answer *answer;
	bool *chosen; /* by object */
	uint8_t *ranks; /* by object, of its image */
};

/* 0 or -ENOMEM; gfs_ranking_fini() follows in both cases. */
int gfs_ranking_init(struct gfs_ranking *r, const struct dec_artifact *artifact,
		     const struct gfs_vendor_kernels *kernels, const struct dec_answer *answer);
void gfs_ranking_fini(struct gfs_ranking *r);

/* The best rank of a name, and in *object the first image that has it. */
enum gfs_rank gfs_ranking_best(const struct gfs_ranking *r, uint32_t name, uint32_t *object);

/* True: it has a lower rank than its entry would give it, for what it was found to be. */
bool gfs_ranking_is_misfit(const struct gfs_ranking *r, uint32_t object);

/* Why an object has its rank. */
enum dec_reason gfs_ranking_reason(const struct gfs_ranking *r, uint32_t object);

/* ---- names of which the same is said ----------------------------------------------------- */

struct gfs_rank_row {
	enum gfs_rank rank;
	enum dec_how how;
	const uint32_t *targets; /* of all images that have the rank, ascending */
	uint32_t target_count;
	const struct gfs_grouped *names; /* ascending */
	uint32_t count;
};

struct gfs_rank_rows {
	const struct gfs_ranking *ranking;
	uint32_t *seen; /* by target: the last list that has it */
	uint32_t lists; /* made so far */
	uint32_t *list; /* rank, how, then targets of a name */
	uint32_t list_count;
	struct gfs_grouped *items;
	struct gfs_group *groups;
	uint32_t count; /* rows */
};

/* Of the names that ranks, by name, says are of one rank; NULL: of all. 0 or -ENOMEM;
 * gfs_rank_rows_fini() follows in both cases. */
int gfs_rank_rows_init(struct gfs_rank_rows *rows, const struct gfs_ranking *ranking,
		       const uint8_t *ranks, enum gfs_rank rank);
void gfs_rank_rows_fini(struct gfs_rank_rows *rows);

/* In the order of first names. Its targets last until the next one is asked for. */
struct gfs_rank_row gfs_rank_rows_get(struct gfs_rank_rows *rows, uint32_t index);

/* The row's keys from targets on, names included. */
void gfs_rank_row_put(const struct gfs_ranking *ranking, const struct gfs_rank_row *row,
		      struct gfs_json *w, struct cJSON *in);

#endif
