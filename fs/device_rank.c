#include "device_rank.h"

#include <errno.h>
#include <stdlib.h>

#include "json.h"

enum dec_verdict gfs_rank_verdict(enum gfs_rank rank)
{
	static const enum dec_verdict verdicts[GFS_RANKS] = {
		[GFS_RANK_YES] = DEC_VERDICT_YES,
		[GFS_RANK_JIT] = DEC_VERDICT_JIT,
		[GFS_RANK_MAYBE] = DEC_VERDICT_MAYBE,
		[GFS_RANK_MISSING] = DEC_VERDICT_NO,
	};

	return verdicts[rank];
}

/* ---- one object ----------------------------------------------------------------------------- */

static uint8_t rank_of_verdict(enum dec_verdict verdict)
{
	switch (verdict) {
	case DEC_VERDICT_YES:
		return GFS_RANK_YES;
	case DEC_VERDICT_JIT:
		return GFS_RANK_JIT;
	case DEC_VERDICT_NO:
		return GFS_RANK_MISSING;
	default:
		return GFS_RANK_MAYBE;
	}
}

/* An image that is not chosen is of no use, whether it could be loaded or not. */
static uint8_t rank_of_declared(const struct gfs_ranking *r, uint32_t object)
{
	const struct dec_object_verdict *o = &r->answer->objects[object];
	uint32_t container = r->artifact->objects[object].container;

	if (!r->chosen[object] || o->verdict == DEC_VERDICT_NO)
		return GFS_RANK_MISSING;
	switch (r->answer->containers[container].verdict) {
	case DEC_VERDICT_YES:
	case DEC_VERDICT_JIT:
		break;
	default:
		return GFS_RANK_MAYBE;
	}
	return rank_of_verdict(o->verdict);
}

static struct dec_object_verdict verdict_of_misfit(const struct gfs_ranking *r,
						   const struct gfs_misfit *m)
{
	if (!m->target)
		return (struct dec_object_verdict){ .verdict = DEC_VERDICT_MAYBE,
						    .reason = DEC_REASON_MISFIT };
	return dec_judge_target(r->answer->device, r->artifact->objects[m->object].kind, m->target);
}

/* What the entry declares and what the payload is must both fit. */
static void rank_misfits(struct gfs_ranking *r)
{
	for (uint32_t i = 0; i < r->kernels->misfit_count; i++) {
		const struct gfs_misfit *m = &r->kernels->misfits[i];
		uint8_t rank = rank_of_verdict(verdict_of_misfit(r, m).verdict);

		if (rank > r->ranks[m->object])
			r->ranks[m->object] = rank;
	}
}

int gfs_ranking_init(struct gfs_ranking *r, const struct dec_artifact *artifact,
		     const struct gfs_vendor_kernels *kernels, const struct dec_answer *answer)
{
	*r = (struct gfs_ranking){ artifact, kernels, answer, NULL, NULL };
	r->chosen = calloc((size_t)artifact->object_count + 1, sizeof(*r->chosen));
	r->ranks = calloc((size_t)artifact->object_count + 1, sizeof(*r->ranks));
	if (!r->chosen || !r->ranks)
		return -ENOMEM;
	for (uint32_t i = 0; i < answer->choice_count; i++)
		r->chosen[answer->choices[i]] = true;
	for (uint32_t i = 0; i < artifact->object_count; i++)
		r->ranks[i] = rank_of_declared(r, i);
	rank_misfits(r);
	return 0;
}

void gfs_ranking_fini(struct gfs_ranking *r)
{
	free(r->chosen);
	free(r->ranks);
}

bool gfs_ranking_is_misfit(const struct gfs_ranking *r, uint32_t object)
{
	return rank_of_declared(r, object) < r->ranks[object];
}

/* A container in doubt says why, its object may be beyond any. */
enum dec_reason gfs_ranking_reason(const struct gfs_ranking *r, uint32_t object)
{
	const struct dec_object_verdict *o = &r->answer->objects[object];
	const struct dec_container_verdict *c =
		&r->answer->containers[r->artifact->objects[object].container];

	if (gfs_ranking_is_misfit(r, object))
		for (uint32_t i = 0; i < r->kernels->misfit_count; i++)
			if (r->kernels->misfits[i].object == object)
				return verdict_of_misfit(r, &r->kernels->misfits[i]).reason;
	if (c->verdict == DEC_VERDICT_UNKNOWN)
		return c->reason;
	return r->chosen[object] && c->verdict == DEC_VERDICT_MAYBE ? c->reason : o->reason;
}

/* ---- one kernel ------------------------------------------------------------------------------- */

enum gfs_rank gfs_ranking_best(const struct gfs_ranking *r, uint32_t name, uint32_t *object)
{
	const struct gfs_named *n = &r->kernels->names[name];
	enum gfs_rank best = GFS_RANK_MISSING;

	*object = r->kernels->objects[n[0].first];
	for (size_t i = n[0].first; i < n[1].first; i++) {
		uint32_t other = r->kernels->objects[i];

		if (r->ranks[other] >= best)
			continue;
		best = r->ranks[other];
		*object = other;
	}
	return best;
}

enum { HEAD = 2 }; /* numbers before the targets in a list */

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void list_target(struct gfs_rank_rows *rows, uint32_t object)
{
	uint32_t target = rows->ranking->artifact->objects[object].target_index;

	if (target == DEC_NONE || rows->seen[target] == rows->lists)
		return;
	rows->seen[target] = rows->lists;
	rows->list[rows->list_count++] = target;
}

/* The best rank of a kernel, and the targets of all its objects that have it. */
static void list_kernel(struct gfs_rank_rows *rows, uint32_t name)
{
	const struct gfs_ranking *r = rows->ranking;
	const struct gfs_named *n = &r->kernels->names[name];
	uint32_t first;
	enum gfs_rank best = gfs_ranking_best(r, name, &first);

	rows->list[0] = best;
	rows->list[1] = best == GFS_RANK_MISSING ? DEC_HOW_NONE : r->answer->objects[first].how;
	rows->list_count = HEAD;
	rows->lists++;
	for (size_t i = n[0].first; i < n[1].first; i++)
		if (r->ranks[r->kernels->objects[i]] == best)
			list_target(rows, r->kernels->objects[i]);
	if (rows->list_count > HEAD)
		qsort(rows->list + HEAD, rows->list_count - HEAD, sizeof(rows->list[0]),
		      compare_numbers);
}

/* ---- rows --------------------------------------------------------------------------------------- */

int gfs_rank_rows_init(struct gfs_rank_rows *rows, const struct gfs_ranking *ranking,
		       const uint8_t *ranks, enum gfs_rank rank)
{
	uint32_t names = ranking->kernels->count;
	uint32_t targets = ranking->artifact->target_count;
	uint32_t count = 0;

	*rows = (struct gfs_rank_rows){ .ranking = ranking };
	rows->seen = calloc((size_t)targets + 1, sizeof(*rows->seen));
	rows->list = calloc((size_t)targets + HEAD, sizeof(*rows->list));
	rows->items = calloc((size_t)names + 1, sizeof(*rows->items));
	if (!rows->seen || !rows->list || !rows->items)
		return -ENOMEM;
	for (uint32_t i = 0; i < names; i++) {
		if (ranks && ranks[i] != rank)
			continue;
		list_kernel(rows, i);
		rows->items[count++] = (struct gfs_grouped){
			gfs_key_of(rows->list, rows->list_count * sizeof(rows->list[0])),
			i,
		};
	}
	return gfs_groups_make(rows->items, count, &rows->groups, &rows->count);
}

void gfs_rank_rows_fini(struct gfs_rank_rows *rows)
{
	free(rows->seen);
	free(rows->list);
	free(rows->items);
	free(rows->groups);
}

struct gfs_rank_row gfs_rank_rows_get(struct gfs_rank_rows *rows, uint32_t index)
{
	const struct gfs_group *group = &rows->groups[index];
	const struct gfs_grouped *names = &rows->items[group->first];

	list_kernel(rows, names->index);
	return (struct gfs_rank_row){
		.rank = (enum gfs_rank)rows->list[0],
		.how = (enum dec_how)rows->list[1],
		.targets = rows->list + HEAD,
		.target_count = rows->list_count - HEAD,
		.names = names,
		.count = group->count,
	};
}

void gfs_rank_row_put(const struct gfs_ranking *ranking, const struct gfs_rank_row *row,
		      struct gfs_json *w, struct cJSON *in)
{
	struct cJSON *array = gfs_json_array(w, in, "targets");

	for (uint32_t i = 0; i < row->target_count; i++)
		gfs_json_text(w, array, NULL, ranking->artifact->targets[row->targets[i]].name);
	gfs_json_uint(w, in, "kernels", row->count);
	array = gfs_json_array(w, in, "names");
	for (uint32_t i = 0; i < row->count; i++)
		gfs_json_text(w, array, NULL,
			      gfs_kernel_name(ranking->kernels, row->names[i].index));
}
