/* devices/<device>/inspect/report.json: which kernels a device could load. */
#include "device_kernels.h"

#include <errno.h>
#include <stdlib.h>

#include "cache.h"
#include "device.h"
#include "device_show.h"
#include "groups.h"

/* From the best on; the last: there is no image of it that the device would take. */
enum { RANK_YES, RANK_JIT, RANK_MAYBE, RANK_MISSING, RANKS };

static const enum dec_verdict rank_verdicts[RANKS] = {
	DEC_VERDICT_YES,
	DEC_VERDICT_JIT,
	DEC_VERDICT_MAYBE,
	DEC_VERDICT_NO,
};

struct report {
	struct gfs *fs;
	const struct dec_artifact *artifact;
	const struct gfs_vendor_kernels *kernels;
	struct dec_answer *answer;
	struct gfs_json w;
	struct cJSON *root;
	bool *chosen; /* by object */
	uint8_t *best; /* rank that an object can have at best, by object */
	uint32_t *seen; /* by target: the last list that has it */
	uint32_t lists; /* made so far */
	uint32_t *list; /* rank, how, then targets by name */
	uint32_t list_count;
	uint32_t *ranks; /* by name */
	uint64_t counts[RANKS];
	struct gfs_grouped *items; /* the names */
	struct gfs_group *groups;
	uint32_t group_count;
};

/* ---- one kernel ----------------------------------------------------------------------------- */

static uint32_t rank_of_verdict(enum dec_verdict verdict)
{
	switch (verdict) {
	case DEC_VERDICT_YES:
		return RANK_YES;
	case DEC_VERDICT_JIT:
		return RANK_JIT;
	case DEC_VERDICT_NO:
		return RANK_MISSING;
	default:
		return RANK_MAYBE;
	}
}

/* An image that is not chosen is of no use, whether it could be loaded or not. */
static uint32_t rank_of_declared(const struct report *r, uint32_t object)
{
	const struct dec_object_verdict *o = &r->answer->objects[object];
	uint32_t container = r->artifact->objects[object].container;

	if (!r->chosen[object] || o->verdict == DEC_VERDICT_NO)
		return RANK_MISSING;
	switch (r->answer->containers[container].verdict) {
	case DEC_VERDICT_YES:
	case DEC_VERDICT_JIT:
		break;
	default:
		return RANK_MAYBE;
	}
	return rank_of_verdict(o->verdict);
}

/* What the entry declares and what the payload is must both fit. */
static uint32_t rank_of(const struct report *r, uint32_t object)
{
	uint32_t rank = rank_of_declared(r, object);

	return rank > r->best[object] ? rank : r->best[object];
}

static void judge_misfits(struct report *r)
{
	for (uint32_t i = 0; i < r->kernels->misfit_count; i++) {
		const struct gfs_misfit *m = &r->kernels->misfits[i];
		enum dec_verdict verdict = DEC_VERDICT_NO;

		if (m->target)
			verdict = dec_judge_target(r->answer->device,
						   r->artifact->objects[m->object].kind, m->target)
					  .verdict;
		r->best[m->object] = (uint8_t)rank_of_verdict(verdict);
	}
}

enum { HEAD = 2 }; /* numbers before the targets in a list */

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void list_target(struct report *r, uint32_t object)
{
	uint32_t target = r->artifact->objects[object].target_index;

	if (target == DEC_NONE || r->seen[target] == r->lists)
		return;
	r->seen[target] = r->lists;
	r->list[r->list_count++] = target;
}

/* The best rank of a kernel, and the targets of all its objects that have it. */
static void list_kernel(struct report *r, uint32_t name)
{
	const struct gfs_named *n = &r->kernels->names[name];
	uint32_t best = RANK_MISSING;
	uint32_t how = DEC_HOW_NONE;

	for (size_t i = n[0].first; i < n[1].first; i++) {
		uint32_t object = r->kernels->objects[i];
		uint32_t rank = rank_of(r, object);

		if (rank >= best)
			continue;
		best = rank;
		how = r->answer->objects[object].how;
	}
	r->list[0] = best;
	r->list[1] = how;
	r->list_count = HEAD;
	r->lists++;
	for (size_t i = n[0].first; i < n[1].first; i++)
		if (rank_of(r, r->kernels->objects[i]) == best)
			list_target(r, r->kernels->objects[i]);
	if (r->list_count > HEAD)
		qsort(r->list + HEAD, r->list_count - HEAD, sizeof(r->list[0]), compare_numbers);
}

static int group_kernels(struct report *r)
{
	for (uint32_t i = 0; i < r->kernels->count; i++) {
		list_kernel(r, i);
		r->ranks[i] = r->list[0];
		r->counts[r->list[0]]++;
		r->items[i] = (struct gfs_grouped){
			gfs_key_of(r->list, r->list_count * sizeof(r->list[0])),
			i,
		};
	}
	return gfs_groups_make(r->items, r->kernels->count, &r->groups, &r->group_count);
}

static int prepare(struct report *r)
{
	const struct dec_artifact *a = r->artifact;

	r->chosen = calloc((size_t)a->object_count + 1, sizeof(*r->chosen));
	r->best = calloc((size_t)a->object_count + 1, sizeof(*r->best));
	r->seen = calloc((size_t)a->target_count + 1, sizeof(*r->seen));
	r->list = calloc((size_t)a->target_count + HEAD, sizeof(*r->list));
	r->ranks = calloc((size_t)r->kernels->count + 1, sizeof(*r->ranks));
	r->items = calloc((size_t)r->kernels->count + 1, sizeof(*r->items));
	if (!r->chosen || !r->best || !r->seen || !r->list || !r->ranks || !r->items)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->answer->choice_count; i++)
		r->chosen[r->answer->choices[i]] = true;
	judge_misfits(r);
	return group_kernels(r);
}

/* ---- JSON ------------------------------------------------------------------------------------- */

static struct dec_text name_of(const struct report *r, uint32_t name)
{
	const struct gfs_named *n = &r->kernels->names[name];

	return (struct dec_text){ r->kernels->text + n->at, n->len };
}

static void put_counts(struct report *r)
{
	struct cJSON *o;

	gfs_json_uint(&r->w, r->root, "objects", r->kernels->examined);
	o = gfs_json_object(&r->w, r->root, "kernels");
	for (int i = 0; i < RANKS; i++)
		gfs_json_uint(&r->w, o, dec_verdict_word(rank_verdicts[i]), r->counts[i]);
}

static void put_group(struct report *r, struct cJSON *in, const struct gfs_group *group)
{
	struct cJSON *array;

	list_kernel(r, r->items[group->first].index);
	if (r->list[0] != RANK_MISSING) {
		enum dec_how how = (enum dec_how)r->list[1];

		gfs_json_word(&r->w, in, "verdict", dec_verdict_word(rank_verdicts[r->list[0]]));
		gfs_json_word(&r->w, in, "how", how == DEC_HOW_NONE ? NULL : dec_how_word(how));
	}
	array = gfs_json_array(&r->w, in, "targets");
	for (uint32_t i = HEAD; i < r->list_count; i++)
		gfs_json_text(&r->w, array, NULL, r->artifact->targets[r->list[i]].name);
	gfs_json_uint(&r->w, in, "kernels", group->count);
	array = gfs_json_array(&r->w, in, "names");
	for (uint32_t i = 0; i < group->count; i++)
		gfs_json_text(&r->w, array, NULL, name_of(r, r->items[group->first + i].index));
}

static void put_groups(struct report *r, const char *key, bool missing)
{
	struct cJSON *array = gfs_json_array(&r->w, r->root, key);

	for (uint32_t i = 0; i < r->group_count; i++) {
		const struct gfs_group *group = &r->groups[i];
		bool is_missing = r->ranks[r->items[group->first].index] == RANK_MISSING;

		if (is_missing == missing)
			put_group(r, gfs_json_object(&r->w, array, NULL), group);
	}
}

static void put_ids(struct report *r)
{
	struct cJSON *o = gfs_json_object(&r->w, r->root, "ids");

	for (uint32_t i = 0; i < r->kernels->count; i++) {
		const struct gfs_named *n = &r->kernels->names[i];
		struct gfs_ranges ranges;

		if (r->ranks[i] == RANK_MISSING)
			continue;
		gfs_ranges_begin(&ranges, r->fs, &r->w, o, gfs_json_key(&r->w, name_of(r, i)));
		for (size_t k = n[0].first; k < n[1].first; k++)
			if (rank_of(r, r->kernels->objects[k]) == r->ranks[i])
				gfs_ranges_add(&ranges, r->kernels->objects[k]);
		gfs_ranges_end(&ranges);
	}
}

static int show(struct report *r, char **text, size_t *size)
{
	gfs_json_init(&r->w);
	r->root = gfs_json_object(&r->w, NULL, NULL);
	gfs_device_put(&r->w, r->root, r->answer);
	put_counts(r);
	put_groups(r, "loads", false);
	put_groups(r, "missing", true);
	gfs_json_word(&r->w, r->root, "kernel_analysis", gfs_coverage_word(&r->kernels->coverage));
	gfs_coverage_put(&r->kernels->coverage, &r->w, gfs_json_object(&r->w, r->root, "coverage"));
	put_ids(r);
	return gfs_json_finish(&r->w, text, size);
}

int gfs_device_report_show(struct gfs *fs, const struct dec_device *device, char **text,
			   size_t *size)
{
	struct report r = { .fs = fs, .artifact = fs->artifact };
	struct gfs_blob *blob;
	int rc = gfs_vendor_kernels_get(fs, device->vendor, NULL, &blob, &r.kernels);

	if (rc != 0)
		return rc;
	r.answer = dec_judge(fs->artifact, device, NULL);
	rc = r.answer ? prepare(&r) : -ENOMEM;
	if (rc == 0)
		rc = show(&r, text, size);
	free(r.chosen);
	free(r.best);
	free(r.seen);
	free(r.list);
	free(r.ranks);
	free(r.items);
	free(r.groups);
	dec_answer_free(r.answer);
	gfs_blob_put(blob);
	return rc;
}
