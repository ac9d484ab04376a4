/*
 * Counting for the reports: what is added in any order gives the same sums, sets and
 * distributions.
 */
#ifndef GFS_REPORT_TALLY_H
#define GFS_REPORT_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fields.h"
#include "inspect.h"

struct gfs_payload;

struct gfs_key {
	uint64_t low;
	uint64_t high;
};
/* The XXH3-128 of some bytes. */
struct gfs_key gfs_key_of(const void *p, size_t size);

/* How often each key was added. Zeroed: empty. */
struct gfs_counter {
	struct gfs_counted {
		struct gfs_key key;
		uint64_t count; /* 0: the slot is free */
	} * slots;
	size_t room; /* a power of two */
	size_t used; /* distinct keys */
};
/* False: memory ran out. */
bool gfs_counter_add(struct gfs_counter *counter, struct gfs_key key);
void gfs_counter_fini(struct gfs_counter *counter);

/* Of all that was added, .low as the number; the lower one of two middle values. */
struct gfs_spread {
	uint64_t min;
	uint64_t median;
	uint64_t max;
};
/* Sorts the counter, which only gfs_counter_fini() may follow. False: it is empty. */
bool gfs_counter_spread(struct gfs_counter *counter, struct gfs_spread *spread);

/* The facts that reports give distributions of: X(SUFFIX of enum dec_fact_id). */
#define GFS_SPREAD_LIST(X)                                                                         \
	X(REGISTERS)                                                                               \
	X(STATIC_SHARED_BYTES)                                                                     \
	X(STACK_FRAME_BYTES)                                                                       \
	X(VGPR_COUNT)                                                                              \
	X(SGPR_COUNT)                                                                              \
	X(AGPR_COUNT)                                                                              \
	X(GROUP_SEGMENT_FIXED_SIZE)                                                                \
	X(PRIVATE_SEGMENT_FIXED_SIZE)                                                              \
	X(VGPR_SPILL_COUNT)                                                                        \
	X(SGPR_SPILL_COUNT)
#define X(suffix) +1
enum { GFS_SPREAD_COUNT = 0 GFS_SPREAD_LIST(X) };
#undef X
extern const enum dec_fact_id gfs_spread_facts[GFS_SPREAD_COUNT];

#define X(suffix, word) +1
enum {
	GFS_CONSISTENCY_COUNT = 0 DEC_CONSISTENCY_LIST(X),
	GFS_STATE_COUNT = 0 DEC_STATE_LIST(X),
};
#undef X

/* How far examining got. Zeroed: nothing was examined, and all is complete. */
struct gfs_coverage {
	bool partial; /* some object is not complete */
	bool codes[GFS_CODE_COUNT]; /* why */
};
/* Host entries are listed but nobody asks for kernels in them. */
void gfs_coverage_add(struct gfs_coverage *coverage, const struct dec_artifact *artifact,
		      uint32_t object, const struct dec_inspection *inspection);
/* The word of kernel_analysis and coverage.state. */
const char *gfs_coverage_word(const struct gfs_coverage *coverage);
/* Adds state and reasons[] to a JSON object. */
void gfs_coverage_put(const struct gfs_coverage *coverage, struct gfs_json *w, struct cJSON *in);

/* One row of a report. Zeroed: nothing examined. */
struct gfs_tally {
	uint64_t objects;
	uint64_t kernels;
	struct gfs_counter names;
	struct gfs_counter payloads;
	struct gfs_counter spreads[GFS_SPREAD_COUNT];
	uint64_t consistency[GFS_CONSISTENCY_COUNT];
	uint64_t states[GFS_STATE_COUNT];
	struct gfs_coverage coverage;
};

/* One object, made ready for its rows: hashes are computed once and without a lock. */
struct gfs_tally_item {
	const struct dec_artifact *artifact;
	uint32_t object;
	const struct dec_inspection *inspection;
	struct gfs_key *names; /* of the kernels */
	struct gfs_key payload; /* what tells it from others */
	bool has_payload; /* and it is not empty */
};
/* payload NULL: there is none, or it is empty. */
bool gfs_tally_item_init(struct gfs_tally_item *item, const struct dec_artifact *artifact,
			 uint32_t object, const struct gfs_key *payload,
			 const struct dec_inspection *inspection);
void gfs_tally_item_fini(struct gfs_tally_item *item);

/* False: memory ran out. */
bool gfs_tally_add(struct gfs_tally *tally, const struct gfs_tally_item *item);
void gfs_tally_fini(struct gfs_tally *tally);

/* Adds the keys of a row to a JSON object; the tally is used up but for gfs_tally_fini(). */
void gfs_tally_put(struct gfs_tally *tally, struct gfs_json *w, struct cJSON *in);

#endif
