#include "device_verdict.h"

#include <errno.h>
#include <stdlib.h>

struct judging {
	struct gfs_kernel_verdict *v;
	uint32_t *unread; /* by container: the choice whose kernels are not known, and 1 */
	uint32_t deciding[GFS_RANKS]; /* the first object that gave a rank, and 1; 0: none has it */
	uint32_t misfit; /* the first chosen one that is not what its entry says, and 1 */
	bool hidden; /* kernels that nobody saw may be missing */
};

/* What a runtime could be given: no input of a linker, no code of another vendor. */
static bool is_code(const struct gfs_ranking *r, uint32_t object)
{
	const struct dec_object_verdict *o = &r->answer->objects[object];

	return o->counts && !o->linked;
}

static void note(struct judging *j, enum gfs_rank rank, uint32_t object)
{
	const struct dec_object_verdict *o = &j->v->ranking.answer->objects[object];

	if (j->deciding[rank] == 0)
		j->deciding[rank] = object + 1;
	if (rank != GFS_RANK_MISSING && o->how != DEC_HOW_NONE)
		j->v->ways |= UINT32_C(1) << o->how;
}

static void look_at_unread_one(struct judging *j, uint32_t object)
{
	const struct gfs_ranking *r = &j->v->ranking;
	uint32_t container = r->artifact->objects[object].container;
	enum dec_verdict verdict = r->answer->containers[container].verdict;

	if (j->v->unread++ == 0 || object < j->v->first_unread)
		j->v->first_unread = object;
	if (gfs_ranking_is_misfit(r, object) && j->misfit == 0)
		j->misfit = object + 1;
	if (r->ranks[object] != GFS_RANK_MISSING) {
		j->unread[container] = object + 1;
		note(j, r->ranks[object], object);
	} else if (verdict == DEC_VERDICT_UNKNOWN) {
		note(j, GFS_RANK_MAYBE, object);
	} else if (verdict == DEC_VERDICT_NO || r->chosen[object]) {
		j->hidden = true;
	}
}

static void look_at_unread(struct judging *j)
{
	const struct gfs_ranking *r = &j->v->ranking;

	for (uint32_t i = 0; i < r->kernels->unread_count; i++)
		if (is_code(r, r->kernels->unread[i]))
			look_at_unread_one(j, r->kernels->unread[i]);
}

/*
 * Of a name that no chosen image has. Objects of a container are variants of one code: where
 * the one that is chosen could not be read, it stands for the kernels of the others.
 */
static uint8_t rank_of_rest(const struct judging *j, uint32_t name, uint32_t *object)
{
	const struct gfs_ranking *r = &j->v->ranking;
	const struct gfs_named *n = &r->kernels->names[name];
	uint8_t rank = GFS_RANKS;

	for (size_t i = n[0].first; i < n[1].first; i++) {
		uint32_t other = r->kernels->objects[i];
		uint32_t container = r->artifact->objects[other].container;

		if (!is_code(r, other))
			continue;
		if (j->unread[container] != 0) {
			*object = j->unread[container] - 1;
			return r->ranks[*object];
		}
		if (rank != GFS_RANKS)
			continue;
		*object = other;
		rank = r->answer->containers[container].verdict == DEC_VERDICT_UNKNOWN
			       ? GFS_RANK_MAYBE
			       : GFS_RANK_MISSING;
	}
	return rank;
}

static void judge_names(struct judging *j)
{
	struct gfs_kernel_verdict *v = j->v;

	for (uint32_t i = 0; i < v->ranking.kernels->count; i++) {
		uint32_t object;
		uint8_t rank = (uint8_t)gfs_ranking_best(&v->ranking, i, &object);

		if (rank == GFS_RANK_MISSING)
			rank = rank_of_rest(j, i, &object);
		v->ranks[i] = rank;
		if (rank == GFS_RANKS)
			continue;
		v->counts[rank]++;
		v->total++;
		note(j, (enum gfs_rank)rank, object);
	}
}

/* The containers said why, if some of them have nothing for the device; else what is chosen
 * lacks kernels, or is not what its entry says. */
static enum dec_reason reason_of_missing(const struct judging *j, const struct dec_answer *answer)
{
	uint32_t object = j->deciding[GFS_RANK_MISSING] - 1;

	if (answer->outcome == DEC_OUTCOME_PARTIAL || answer->outcome == DEC_OUTCOME_NONE)
		return answer->reason;
	return j->v->ranking.chosen[object] ? gfs_ranking_reason(&j->v->ranking, object)
					    : DEC_REASON_KERNELS_LEFT;
}

static void conclude_missing(const struct judging *j, struct dec_answer *answer)
{
	bool loads = j->deciding[GFS_RANK_YES] || j->deciding[GFS_RANK_JIT] ||
		     j->deciding[GFS_RANK_MAYBE];

	answer->reason = reason_of_missing(j, answer);
	answer->outcome = loads ? DEC_OUTCOME_PARTIAL : DEC_OUTCOME_NONE;
	if (loads || !answer->incomplete)
		return;
	answer->outcome = DEC_OUTCOME_MAYBE;
	answer->reason = DEC_REASON_INCOMPLETE;
}

static void conclude_all(const struct judging *j, struct dec_answer *answer)
{
	static const struct {
		enum gfs_rank rank;
		enum dec_outcome outcome;
	} order[] = {
		{ GFS_RANK_MAYBE, DEC_OUTCOME_MAYBE },
		{ GFS_RANK_JIT, DEC_OUTCOME_JIT },
		{ GFS_RANK_YES, DEC_OUTCOME_NATIVE },
	};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		uint32_t object = j->deciding[order[i].rank];

		if (object == 0)
			continue;
		answer->outcome = order[i].outcome;
		answer->reason = gfs_ranking_reason(&j->v->ranking, object - 1);
		return;
	}
}

/* The containers took the word of an entry that examination refutes. */
static void conclude_misfit(const struct judging *j, struct dec_answer *answer)
{
	if (answer->outcome != DEC_OUTCOME_NATIVE && answer->outcome != DEC_OUTCOME_JIT)
		return;
	answer->outcome = DEC_OUTCOME_MAYBE;
	answer->reason = gfs_ranking_reason(&j->v->ranking, j->misfit - 1);
}

/* Names prove nothing where there are none, or where some may not have been seen. */
static void conclude(const struct judging *j, struct dec_answer *answer)
{
	if (j->v->counts[GFS_RANK_MISSING] > 0)
		conclude_missing(j, answer);
	else if (j->v->total > 0 && !j->hidden)
		conclude_all(j, answer);
	else if (j->misfit != 0)
		conclude_misfit(j, answer);
}

int gfs_kernel_verdict_init(struct gfs_kernel_verdict *v, const struct dec_artifact *artifact,
			    const struct gfs_vendor_kernels *kernels, struct dec_answer *answer)
{
	struct judging j = { .v = v };
	int rc;

	*v = (struct gfs_kernel_verdict){ .ranks = calloc((size_t)kernels->count + 1, 1) };
	rc = gfs_ranking_init(&v->ranking, artifact, kernels, answer);
	j.unread = calloc((size_t)artifact->container_count + 1, sizeof(*j.unread));
	if (rc != 0 || !v->ranks || !j.unread) {
		free(j.unread);
		return -ENOMEM;
	}
	look_at_unread(&j);
	judge_names(&j);
	conclude(&j, answer);
	free(j.unread);
	return 0;
}

void gfs_kernel_verdict_fini(struct gfs_kernel_verdict *v)
{
	gfs_ranking_fini(&v->ranking);
	free(v->ranks);
}
