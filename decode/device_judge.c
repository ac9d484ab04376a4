/*
 * The verdict on a whole inventory: each object by the rules of its vendor, then what the
 * runtime would take from each container, then the artifact. docs/devices.md, "Containers".
 */
#include "device_rules.h"

#include <stdlib.h>

enum {
	KIND_FINALISED = 0x10, /* an ELF that the driver finishes first */
	FLAG_MERCURY = 0x1000000,
};

struct judging {
	const struct dec_artifact *a;
	const struct dec_device *device;
	uint32_t driver;
	struct dec_object_verdict *objects;
	struct dec_container_verdict *containers;
	uint32_t *floors; /* of each container: the lowest driver its toolkit allows */
	uint32_t *ranks; /* of each object that would do, see rank_of() */
	uint32_t *choices;
	uint32_t choice_count;
};

/* An answer with what it owns. */
struct owned {
	struct dec_answer answer; /* first: the public part */
	struct dec_object_verdict *objects;
	struct dec_container_verdict *containers;
	uint32_t *choices;
};

/* ---- objects --------------------------------------------------------------------------- */

static struct dec_object_verdict judge_code(const struct dec_device *device,
					    const struct dec_code *code)
{
	return device->vendor == DEC_VENDOR_NVIDIA ? dec_judge_sm(device, code)
						   : dec_judge_gfx(device, code);
}

/* Whether some of the stored bytes are known to be missing. */
static bool damaged(const struct dec_artifact *a, const struct dec_object *o)
{
	if (o->codec == DEC_CODEC_NONE && o->encoded.size < o->payload_size)
		return true;
	for (uint32_t i = o->problems.first; i != DEC_NONE; i = a->problems[i].next)
		if (a->problems[i].partial)
			return true;
	return false;
}

static struct dec_object_verdict judge_object(const struct judging *j, const struct dec_profile *p,
					      const struct dec_object *o)
{
	struct dec_code code = {
		.kind = o->kind,
		.target = p,
		.suffix_lost = o->target_kind == DEC_TARGET_STANDALONE,
		.finalised = o->target_kind == DEC_TARGET_FATBIN_ENTRY &&
			     o->entry_kind == KIND_FINALISED,
	};
	struct dec_object_verdict v = { .verdict = DEC_VERDICT_NO, .reason = DEC_REASON_NOT_CODE };

	if (o->kind == DEC_KIND_HOST || o->kind == DEC_KIND_INDEX)
		return v;
	v.reason = DEC_REASON_OTHER_VENDOR;
	if (o->vendor != j->device->vendor)
		return v;
	v = judge_code(j->device, &code);
	if (o->vendor == DEC_VENDOR_NVIDIA)
		dec_weigh_sm(&v, j->device, o, p, j->driver, j->floors[o->container]);
	else
		dec_weigh_gfx(&v, &j->a->containers[o->container], o, p);
	if (dec_would_do(v.verdict) && o->payload_size == 0)
		dec_refuse(&v, DEC_REASON_EMPTY);
	else if (dec_would_do(v.verdict) && damaged(j->a, o))
		dec_doubt(&v, DEC_REASON_DAMAGED);
	return v;
}

/* ---- ranks ------------------------------------------------------------------------------- */

enum { SLOT_BITS = 2, SLOTS = 1 << SLOT_BITS };

/* cubin, what the driver finishes, PTX, Tile IR; within each the nearest number. */
static uint32_t rank_nvidia(const struct dec_object *o, const struct dec_profile *p)
{
	uint32_t kind = o->kind == DEC_KIND_TILE_IR   ? 1
			: o->kind == DEC_KIND_PTX     ? 2
			: o->kind == DEC_KIND_UNKNOWN ? 3
						      : 4;

	return kind << 16 | p->sm;
}

static uint32_t rank_amd(enum dec_how how)
{
	return how == DEC_HOW_EXACT ? 3 : how == DEC_HOW_GENERIC ? 2 : 1;
}

/* How little the target leaves open. */
static uint32_t slot_of(const struct dec_profile *p)
{
	if (p->vendor == DEC_VENDOR_NVIDIA)
		return p->variant == 'a' ? 2 : p->variant == 'f' ? 1 : 0;
	return (p->sramecc ? 2u : 0u) + (p->xnack ? 1u : 0u);
}

/* Larger is taken first; the lowest bits only tell apart what ranks alike. */
static uint32_t rank_of(const struct dec_object *o, const struct dec_profile *p, enum dec_how how)
{
	uint32_t rank = o->vendor == DEC_VENDOR_NVIDIA ? rank_nvidia(o, p) : rank_amd(how);

	return rank << SLOT_BITS | slot_of(p);
}

/* NVIDIA: the number in a rank. */
static uint32_t sm_of(uint32_t rank)
{
	return rank >> SLOT_BITS & 0xffff;
}

static void find_floors(struct judging *j)
{
	for (uint32_t i = 0; i < j->a->object_count; i++) {
		const struct dec_object *o = &j->a->objects[i];
		uint32_t floor = dec_toolkit_floor(o);

		if (floor > j->floors[o->container])
			j->floors[o->container] = floor;
	}
}

/* Target by target, so that each is taken apart once. */
static void judge_objects(struct judging *j)
{
	static const struct dec_profile none = { .known = false };
	uint32_t judged = 0;

	for (uint32_t t = 0; t < j->a->target_count; t++) {
		const struct dec_target *target = &j->a->targets[t];
		struct dec_profile p = dec_profile_of(target->name.p);

		judged += target->object_count;
		for (uint32_t i = 0; i < target->object_count; i++) {
			uint32_t object = target->objects[i];
			const struct dec_object *o = &j->a->objects[object];

			j->objects[object] = judge_object(j, &p, o);
			j->ranks[object] = rank_of(o, &p, j->objects[object].how);
		}
	}
	for (uint32_t i = 0; judged < j->a->object_count && i < j->a->object_count; i++)
		if (j->a->objects[i].target_index == DEC_NONE)
			j->objects[i] = judge_object(j, &none, &j->a->objects[i]);
}

/* ---- what a runtime would take from one container -------------------------------------------- */

/*
 * Objects that rank alike: for NVIDIA of one kind and number, for AMD native, generic or
 * SPIR-V. What differs only in suffix or features has a slot of its own, because the order
 * among those is not certain; a slot holds the first and the last that may be meant.
 */
struct group {
	uint32_t rank; /* 0: empty; the highest is taken */
	uint32_t slots[SLOTS][2];
};

/* What takes the place of an object of the same rank and target. */
static void slot_take(const struct judging *j, uint32_t *slot, uint32_t object)
{
	const struct dec_object *o = &j->a->objects[object];
	enum dec_container_kind kind = j->a->containers[o->container].kind;
	bool fatbin = kind == DEC_CONTAINER_FATBIN;

	if (slot[0] == DEC_NONE) {
		slot[0] = slot[1] = object;
		return;
	}
	if (fatbin && o->kind != DEC_KIND_PTX) { /* the first, and one without Mercury before */
		if (!(j->a->objects[slot[0]].codec_flags & FLAG_MERCURY) ||
		    (o->codec_flags & FLAG_MERCURY))
			return;
		slot[0] = object;
	} else if (fatbin || kind == DEC_CONTAINER_COMPRESSED_BUNDLE) {
		slot[0] = object; /* the last */
	}
	slot[1] = object;
}

static void group_take(const struct judging *j, struct group *g, uint32_t object)
{
	uint32_t rank = j->ranks[object] >> SLOT_BITS;

	if (rank < g->rank)
		return;
	if (rank > g->rank) {
		g->rank = rank;
		memset(g->slots, 0xff, sizeof(g->slots)); /* DEC_NONE */
	}
	slot_take(j, g->slots[j->ranks[object] % SLOTS], object);
}

static void choose(struct judging *j, struct dec_container_verdict *c, uint32_t object)
{
	const struct dec_object_verdict *v = &j->objects[object];

	j->choices[j->choice_count++] = object;
	if (c->choice_count++ == 0) {
		c->verdict = v->verdict;
		c->how = v->how;
		c->reason = v->reason;
	}
}

static void choose_group(struct judging *j, struct dec_container_verdict *c, const struct group *g)
{
	for (uint32_t s = SLOTS; g->rank && s-- > 0;) {
		if (g->slots[s][0] == DEC_NONE)
			continue;
		choose(j, c, g->slots[s][0]);
		if (g->slots[s][1] != g->slots[s][0])
			choose(j, c, g->slots[s][1]);
	}
}

/* A runtime that takes one of several takes a doubtful one perhaps: there is no second try. */
static void settle(struct judging *j, struct dec_container_verdict *c, const struct group *best,
		   const struct group *certain)
{
	c->first_choice = j->choice_count;
	choose_group(j, c, best);
	for (uint32_t i = 0; i < c->choice_count; i++) {
		const struct dec_object_verdict *v = &j->objects[j->choices[c->first_choice + i]];

		if (v->verdict == DEC_VERDICT_MAYBE && c->verdict != DEC_VERDICT_MAYBE) {
			c->verdict = DEC_VERDICT_MAYBE;
			c->reason = v->reason;
		}
	}
	if (certain->rank < best->rank)
		choose_group(j, c, certain);
	c->one_of = c->choice_count > 1;
}

/* How close an object came that will not do: reasons that say more are kept. */
static unsigned closeness(const struct judging *j, uint32_t object)
{
	const struct dec_object_verdict *v = &j->objects[object];

	if (!v->counts)
		return 0;
	switch (v->reason) {
	case DEC_REASON_SM_ACCELERATED_OTHER:
	case DEC_REASON_SM_FAMILY_OTHER:
		return sm_of(j->ranks[object]) / 10 == j->device->sm / 10 ? 3 : 1;
	case DEC_REASON_SM_OTHER_MAJOR:
	case DEC_REASON_GFX_OTHER:
	case DEC_REASON_GENERIC_OTHER:
		return 1;
	default:
		return v->verdict == DEC_VERDICT_UNKNOWN ? 4 : v->linked ? 2 : 3;
	}
}

/* No object will do: unknown if it is of one, else no. */
static void give_reason(const struct judging *j, struct dec_container_verdict *c,
			const struct dec_container *container)
{
	unsigned closest = 0;

	c->verdict = DEC_VERDICT_NO;
	c->reason = DEC_REASON_NO_CODE;
	for (uint32_t i = 0; i < container->object_count; i++) {
		uint32_t object = container->first_object + i;

		if (closeness(j, object) <= closest)
			continue;
		closest = closeness(j, object);
		c->verdict = j->objects[object].verdict;
		c->reason = j->objects[object].reason;
	}
}

/* PTX that is too new may be what the driver takes by number, and fails at: the last counts. */
static void doubt_newer_ptx(const struct judging *j, struct dec_container_verdict *c,
			    const struct dec_container *container, uint32_t rank)
{
	uint32_t chosen = j->choices[c->first_choice];

	if (c->verdict != DEC_VERDICT_JIT)
		return;
	for (uint32_t i = 0; i < container->object_count; i++) {
		uint32_t object = container->first_object + i;
		uint32_t other = j->ranks[object] >> SLOT_BITS;

		if (j->objects[object].reason != DEC_REASON_PTX_VERSION_NEW || other < rank ||
		    (other == rank && object < chosen))
			continue;
		c->verdict = DEC_VERDICT_MAYBE;
		c->reason = DEC_REASON_PTX_VERSION_NEW;
		return;
	}
}

static void judge_container(struct judging *j, uint32_t index)
{
	const struct dec_container *container = &j->a->containers[index];
	struct dec_container_verdict *c = &j->containers[index];
	struct group best = { .rank = 0 }, certain = { .rank = 0 };

	for (uint32_t i = 0; i < container->object_count; i++) {
		uint32_t object = container->first_object + i;
		const struct dec_object_verdict *v = &j->objects[object];

		c->counts |= v->counts && !v->linked;
		if (!dec_would_do(v->verdict))
			continue;
		group_take(j, &best, object);
		if (v->verdict != DEC_VERDICT_MAYBE)
			group_take(j, &certain, object);
	}
	settle(j, c, &best, &certain);
	if (c->choice_count == 0)
		give_reason(j, c, container);
	else
		doubt_newer_ptx(j, c, container, best.rank);
}

/* ---- the artifact -------------------------------------------------------------------------------- */

static void count(struct dec_answer *answer, const struct dec_artifact *a)
{
	for (uint32_t i = 0; i < a->container_count; i++) {
		const struct dec_container_verdict *c = &answer->containers[i];

		if (!c->counts)
			continue;
		switch (c->verdict) {
		case DEC_VERDICT_YES:
			answer->native++;
			break;
		case DEC_VERDICT_JIT:
			answer->jit++;
			break;
		case DEC_VERDICT_NO:
			answer->none++;
			break;
		default:
			answer->maybe++;
		}
	}
}

/* The reason of the first container that counts and has one of two verdicts. */
static enum dec_reason reason_of(const struct dec_answer *answer, const struct dec_artifact *a,
				 enum dec_verdict this, enum dec_verdict or_this)
{
	for (uint32_t i = 0; i < a->container_count; i++) {
		const struct dec_container_verdict *c = &answer->containers[i];

		if (c->counts && (c->verdict == this || c->verdict == or_this))
			return c->reason;
	}
	return DEC_REASON_NO_CODE;
}

static bool any_linked(const struct dec_answer *answer, const struct dec_artifact *a)
{
	for (uint32_t i = 0; i < a->object_count; i++)
		if (answer->objects[i].linked)
			return true;
	return false;
}

static void conclude(struct dec_answer *answer, enum dec_outcome outcome, enum dec_reason reason)
{
	answer->outcome = outcome;
	answer->reason = reason;
}

static void judge_artifact(struct dec_answer *answer, const struct dec_artifact *a)
{
	bool loads;

	count(answer, a);
	answer->incomplete = a->partial;
	loads = answer->native || answer->jit;
	if (answer->none && loads)
		conclude(answer, DEC_OUTCOME_PARTIAL,
			 reason_of(answer, a, DEC_VERDICT_NO, DEC_VERDICT_NO));
	else if (answer->maybe)
		conclude(answer, DEC_OUTCOME_MAYBE,
			 reason_of(answer, a, DEC_VERDICT_MAYBE, DEC_VERDICT_UNKNOWN));
	else if (loads)
		conclude(answer, answer->jit ? DEC_OUTCOME_JIT : DEC_OUTCOME_NATIVE,
			 answer->jit ? reason_of(answer, a, DEC_VERDICT_JIT, DEC_VERDICT_JIT)
				     : reason_of(answer, a, DEC_VERDICT_YES, DEC_VERDICT_YES));
	else if (a->partial)
		conclude(answer, DEC_OUTCOME_MAYBE, DEC_REASON_INCOMPLETE);
	else if (answer->none)
		conclude(answer, DEC_OUTCOME_NONE,
			 reason_of(answer, a, DEC_VERDICT_NO, DEC_VERDICT_NO));
	else
		conclude(answer, DEC_OUTCOME_NONE,
			 any_linked(answer, a) ? DEC_REASON_ONLY_LINKED : DEC_REASON_NO_CODE);
}

/* ---- the answer ---------------------------------------------------------------------------------- */

static void *array(uint32_t count, size_t size)
{
	return calloc(count ? count : 1, size);
}

void dec_answer_free(struct dec_answer *answer)
{
	struct owned *owned = (struct owned *)answer;

	if (!owned)
		return;
	free(owned->objects);
	free(owned->containers);
	free(owned->choices);
	free(owned);
}

struct dec_answer *dec_judge(const struct dec_artifact *artifact, const struct dec_device *device,
			     const struct dec_judge_options *options)
{
	struct owned *owned = calloc(1, sizeof(*owned));
	struct judging j = { .a = artifact,
			     .device = device,
			     .driver = options ? options->driver : 0 };

	if (!owned)
		return NULL;
	j.objects = owned->objects = array(artifact->object_count, sizeof(*j.objects));
	j.containers = owned->containers = array(artifact->container_count, sizeof(*j.containers));
	j.choices = owned->choices = array(artifact->object_count, sizeof(*j.choices));
	j.ranks = array(artifact->object_count, sizeof(*j.ranks));
	j.floors = array(artifact->container_count, sizeof(*j.floors));
	if (!j.objects || !j.containers || !j.choices || !j.ranks || !j.floors) {
		free(j.ranks);
		free(j.floors);
		dec_answer_free(&owned->answer);
		return NULL;
	}
	find_floors(&j);
	judge_objects(&j);
	for (uint32_t i = 0; i < artifact->container_count; i++)
		judge_container(&j, i);
	free(j.ranks);
	free(j.floors);
	owned->answer = (struct dec_answer){
		.device = device,
		.objects = j.objects,
		.containers = j.containers,
		.choices = j.choices,
		.choice_count = j.choice_count,
	};
	judge_artifact(&owned->answer, artifact);
	return &owned->answer;
}

struct dec_object_verdict dec_judge_target(const struct dec_device *device, enum dec_kind kind,
					   const char *target)
{
	struct dec_profile p = dec_profile_of(target);
	struct dec_code code = { .kind = kind, .target = &p };

	return judge_code(device, &code);
}
