#include "report_tally.h"

#include <stdlib.h>

#ifdef GFS_XXH_DISPATCH
#include <xxh_x86dispatch.h> /* the same functions for the CPU that runs them */
#else
#include <xxhash.h>
#endif

#include "examine.h"

/* ---- counters --------------------------------------------------------------------------- */

/* Slots at first: most distributions have fewer values. */
#define ROOM_MIN ((size_t)16)

static struct gfs_counted *slot_of(struct gfs_counted *slots, size_t room, struct gfs_key key)
{
	uint64_t hash = (key.low ^ key.high) * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = (size_t)(hash >> 32) & (room - 1);

	while (slots[at].count != 0 &&
	       (slots[at].key.low != key.low || slots[at].key.high != key.high))
		at = (at + 1) & (room - 1);
	return &slots[at];
}

static bool grow(struct gfs_counter *c)
{
	size_t room = c->room ? 2 * c->room : ROOM_MIN;
	struct gfs_counted *slots = calloc(room, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < c->room; i++)
		if (c->slots[i].count != 0)
			*slot_of(slots, room, c->slots[i].key) = c->slots[i];
	free(c->slots);
	c->slots = slots;
	c->room = room;
	return true;
}

bool gfs_counter_add(struct gfs_counter *c, struct gfs_key key)
{
	struct gfs_counted *slot;

	if (c->used >= c->room / 2 && !grow(c))
		return false;
	slot = slot_of(c->slots, c->room, key);
	slot->key = key;
	c->used += slot->count++ == 0;
	return true;
}

void gfs_counter_fini(struct gfs_counter *c)
{
	free(c->slots);
	*c = (struct gfs_counter){ 0 };
}

/* Free slots last. */
static int compare(const void *a, const void *b)
{
	const struct gfs_counted *x = a;
	const struct gfs_counted *y = b;

	if (x->count == 0 || y->count == 0)
		return (x->count == 0) - (y->count == 0);
	return x->key.low < y->key.low ? -1 : x->key.low > y->key.low;
}

bool gfs_counter_spread(struct gfs_counter *c, struct gfs_spread *spread)
{
	uint64_t total = 0;
	uint64_t before = 0;
	size_t i = 0;

	if (c->used == 0)
		return false;
	qsort(c->slots, c->room, sizeof(c->slots[0]), compare);
	for (size_t k = 0; k < c->used; k++)
		total += c->slots[k].count;
	while (before + c->slots[i].count <= (total - 1) / 2)
		before += c->slots[i++].count;
	*spread = (struct gfs_spread){
		.min = c->slots[0].key.low,
		.median = c->slots[i].key.low,
		.max = c->slots[c->used - 1].key.low,
	};
	return true;
}

/* ---- one object --------------------------------------------------------------------------- */

struct gfs_key gfs_key_of(const void *p, size_t size)
{
	XXH128_hash_t h = XXH3_128bits(p, size);

	return (struct gfs_key){ h.low64, h.high64 };
}

bool gfs_tally_item_init(struct gfs_tally_item *item, const struct dec_artifact *artifact,
			 uint32_t object, const struct gfs_key *payload,
			 const struct dec_inspection *inspection)
{
	*item = (struct gfs_tally_item){
		.artifact = artifact,
		.object = object,
		.inspection = inspection,
		.names = calloc((size_t)inspection->kernel_count + 1, sizeof(*item->names)),
		.has_payload = payload,
	};
	if (!item->names)
		return false;
	for (uint32_t i = 0; i < inspection->kernel_count; i++)
		item->names[i] =
			gfs_key_of(inspection->kernels[i].name.p, inspection->kernels[i].name.len);
	if (payload)
		item->payload = *payload;
	return true;
}

void gfs_tally_item_fini(struct gfs_tally_item *item)
{
	free(item->names);
}

/* ---- rows ------------------------------------------------------------------------------------ */

const enum dec_fact_id gfs_spread_facts[GFS_SPREAD_COUNT] = {
#define X(suffix) DEC_FACT_##suffix,
	GFS_SPREAD_LIST(X)
#undef X
};

static bool add_kernel(struct gfs_tally *t, const struct dec_kernel *kernel, struct gfs_key name)
{
	bool ok = gfs_counter_add(&t->names, name);

	for (int i = 0; i < GFS_SPREAD_COUNT && ok; i++) {
		const struct dec_fact *fact = dec_kernel_fact(kernel, gfs_spread_facts[i]);

		if (fact)
			ok = gfs_counter_add(&t->spreads[i], (struct gfs_key){ fact->u, 0 });
	}
	return ok;
}

/* Why kernels were not looked for in an object. True: a problem says it. */
static bool add_unsupported(struct gfs_coverage *coverage, const struct dec_artifact *artifact,
			    const struct dec_object *object,
			    const struct dec_inspection *inspection)
{
	bool hidden = !object->has_payload || object->scrambled;
	bool said = false;

	for (uint32_t i = hidden ? object->problems.first : DEC_NONE; i != DEC_NONE;
	     i = artifact->problems[i].next)
		said = coverage->codes[artifact->problems[i].code] = true;
	for (uint32_t i = 0; i < inspection->problem_count; i++)
		said = coverage->codes[inspection->problems[i].code] = true;
	return said;
}

void gfs_coverage_add(struct gfs_coverage *coverage, const struct dec_artifact *artifact,
		      uint32_t object, const struct dec_inspection *inspection)
{
	const struct dec_object *o = &artifact->objects[object];

	if (o->kind == DEC_KIND_HOST)
		return;
	coverage->partial = coverage->partial || inspection->state != DEC_STATE_COMPLETE;
	for (uint32_t i = 0; i < inspection->problem_count; i++)
		if (inspection->problems[i].partial)
			coverage->codes[inspection->problems[i].code] = true;
	if (inspection->state == DEC_STATE_UNSUPPORTED &&
	    !add_unsupported(coverage, artifact, o, inspection))
		coverage->codes[DEC_PROBLEM_UNSUPPORTED_REPRESENTATION] = true;
}

bool gfs_tally_add(struct gfs_tally *t, const struct gfs_tally_item *item)
{
	const struct dec_inspection *inspection = item->inspection;
	bool ok = !item->has_payload || gfs_counter_add(&t->payloads, item->payload);

	t->objects++;
	t->kernels += inspection->kernel_count;
	t->states[inspection->state]++;
	t->consistency[inspection->consistency]++;
	gfs_coverage_add(&t->coverage, item->artifact, item->object, inspection);
	for (uint32_t i = 0; i < inspection->kernel_count && ok; i++)
		ok = add_kernel(t, &inspection->kernels[i], item->names[i]);
	return ok;
}

void gfs_tally_fini(struct gfs_tally *t)
{
	gfs_counter_fini(&t->names);
	gfs_counter_fini(&t->payloads);
	for (int i = 0; i < GFS_SPREAD_COUNT; i++)
		gfs_counter_fini(&t->spreads[i]);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void put_consistency(const struct gfs_tally *t, struct gfs_json *w, struct cJSON *in)
{
	struct cJSON *o = gfs_json_object(w, in, "consistency");

	for (int i = 0; i < GFS_CONSISTENCY_COUNT; i++)
		gfs_json_uint(w, o, dec_consistency_word((enum dec_consistency)i),
			      t->consistency[i]);
}

static void put_states(const struct gfs_tally *t, struct gfs_json *w, struct cJSON *in)
{
	struct cJSON *o = gfs_json_object(w, in, "inspection");

	for (int i = 0; i < GFS_STATE_COUNT; i++)
		gfs_json_uint(w, o, dec_state_word((enum dec_state)i), t->states[i]);
}

static void put_spreads(struct gfs_tally *t, struct gfs_json *w, struct cJSON *in)
{
	struct cJSON *resources = gfs_json_object(w, in, "resources");
	struct gfs_spread spread;

	for (int i = 0; i < GFS_SPREAD_COUNT; i++) {
		struct cJSON *o;

		if (!gfs_counter_spread(&t->spreads[i], &spread))
			continue;
		o = gfs_json_object(w, resources, dec_fact_key(gfs_spread_facts[i]));
		gfs_json_uint(w, o, "min", spread.min);
		gfs_json_uint(w, o, "median", spread.median);
		gfs_json_uint(w, o, "max", spread.max);
	}
}

const char *gfs_coverage_word(const struct gfs_coverage *coverage)
{
	return coverage->partial ? "partial" : "complete";
}

void gfs_coverage_put(const struct gfs_coverage *coverage, struct gfs_json *w, struct cJSON *in)
{
	gfs_json_word(w, in, "state", gfs_coverage_word(coverage));
	gfs_codes_put(w, in, "reasons", coverage->codes);
}

void gfs_tally_put(struct gfs_tally *t, struct gfs_json *w, struct cJSON *in)
{
	gfs_json_uint(w, in, "objects", t->objects);
	gfs_json_uint(w, in, "kernels", t->kernels);
	gfs_json_uint(w, in, "kernel_names", t->names.used);
	gfs_json_uint(w, in, "distinct_payloads", t->payloads.used);
	put_consistency(t, w, in);
	put_states(t, w, in);
	put_spreads(t, w, in);
	gfs_json_word(w, in, "kernel_analysis", gfs_coverage_word(&t->coverage));
	gfs_coverage_put(&t->coverage, w, gfs_json_object(w, in, "coverage"));
}
