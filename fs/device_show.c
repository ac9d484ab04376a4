#include "device_show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "device.h"
#include "groups.h"

#define X(...) +1
enum {
	VERDICT_COUNT = 0 DEC_VERDICT_LIST(X),
	HOW_COUNT = 0 DEC_HOW_LIST(X),
	REASON_COUNT = 0
#include "device_reasons.def"
};
#undef X

struct showing {
	struct gfs *fs;
	const struct dec_artifact *artifact;
	struct dec_answer *answer;
	struct gfs_json w;
	struct cJSON *root;
	bool reasons[REASON_COUNT]; /* that a row gives */
	bool *chosen; /* by object */
	uint32_t *seen; /* by target: the last list that has it */
	uint32_t lists; /* made so far */
	uint32_t *list; /* head of a row, then the targets that a container chooses from */
	uint32_t list_count;
	struct gfs_grouped *items; /* the containers that count */
	struct gfs_group *groups;
	uint32_t group_count;
};

bool gfs_device_is_shown(const struct gfs *fs, const struct dec_device *device)
{
	for (uint32_t i = 0; i < fs->artifact->target_count; i++)
		if (fs->artifact->targets[i].vendor == device->vendor)
			return true;
	return false;
}

/* ---- what is said of everything ---------------------------------------------------------- */

static const char *how_word(enum dec_how how)
{
	return how == DEC_HOW_NONE ? NULL : dec_how_word(how);
}

static void put_verdict(struct showing *s, struct cJSON *in, enum dec_verdict verdict,
			enum dec_how how, enum dec_reason reason)
{
	gfs_json_word(&s->w, in, "verdict", dec_verdict_word(verdict));
	gfs_json_word(&s->w, in, "how", how_word(how));
	gfs_json_word(&s->w, in, "reason", dec_reason_word(reason));
	s->reasons[reason] = true;
}

static void put_capability(struct gfs_json *w, struct cJSON *in, const struct dec_device *device)
{
	char text[24];

	snprintf(text, sizeof(text), "%u.%u", device->sm / 10, device->sm % 10);
	gfs_json_word(w, in, "compute_capability", device->sm ? text : NULL);
}

void gfs_device_put(struct gfs_json *w, struct cJSON *in, const struct dec_answer *answer)
{
	const struct dec_device *device = answer->device;
	const struct dec_product *product;
	struct cJSON *products;

	gfs_json_word(w, in, "device", device->name);
	gfs_json_word(w, in, "vendor", dec_vendor_word(device->vendor));
	gfs_json_word(w, in, "family", dec_device_family(device));
	put_capability(w, in, device);
	products = gfs_json_array(w, in, "products");
	for (uint32_t i = 0; (product = dec_product_at(i)); i++)
		if (dec_product_has(product, device))
			gfs_json_word(w, products, NULL, product->name);
	gfs_json_word(w, in, "verdict", dec_outcome_word(answer->outcome));
	gfs_json_word(w, in, "reason", dec_reason_word(answer->reason));
	gfs_json_word(w, in, "inventory", answer->incomplete ? "partial" : "complete");
}

static void put_counts(struct showing *s)
{
	const struct dec_answer *a = s->answer;
	struct cJSON *o = gfs_json_object(&s->w, s->root, "containers");
	uint32_t judged = a->native + a->jit + a->none + a->maybe;

	gfs_json_uint(&s->w, o, "native", a->native);
	gfs_json_uint(&s->w, o, "jit", a->jit);
	gfs_json_uint(&s->w, o, "none", a->none);
	gfs_json_uint(&s->w, o, "maybe", a->maybe);
	gfs_json_uint(&s->w, o, "other", s->artifact->container_count - judged);
}

/* ---- targets ------------------------------------------------------------------------------- */

/* One rule says the same of all objects of a target that it decides on. */
static void put_target(struct showing *s, struct cJSON *array, const struct dec_target *target)
{
	const struct dec_object_verdict *says[REASON_COUNT] = { NULL };
	uint32_t objects[REASON_COUNT] = { 0 };

	for (uint32_t i = 0; i < target->object_count; i++) {
		const struct dec_object_verdict *o = &s->answer->objects[target->objects[i]];

		if (o->counts && objects[o->reason]++ == 0)
			says[o->reason] = o;
	}
	for (int i = 0; i < REASON_COUNT; i++) {
		struct cJSON *row;

		if (!says[i])
			continue;
		row = gfs_json_object(&s->w, array, NULL);
		gfs_json_text(&s->w, row, "target", target->name);
		put_verdict(s, row, says[i]->verdict, says[i]->how, says[i]->reason);
		gfs_json_uint(&s->w, row, "objects", objects[i]);
	}
}

static void put_targets(struct showing *s)
{
	struct cJSON *array = gfs_json_array(&s->w, s->root, "targets");

	for (uint32_t i = 0; i < s->artifact->target_count; i++)
		put_target(s, array, &s->artifact->targets[i]);
}

/* ---- choices ------------------------------------------------------------------------------- */

enum { HEAD = 4 }; /* numbers before the targets in a list */

/* What a row for the container would say, as numbers. */
static void list_choice(struct showing *s, uint32_t container)
{
	const struct dec_container_verdict *c = &s->answer->containers[container];

	s->list[0] = c->verdict;
	s->list[1] = c->how;
	s->list[2] = c->reason;
	s->list[3] = c->one_of;
	s->list_count = HEAD;
	s->lists++;
	for (uint32_t i = 0; i < c->choice_count; i++) {
		uint32_t object = s->answer->choices[c->first_choice + i];
		uint32_t target = s->artifact->objects[object].target_index;

		if (target == DEC_NONE || s->seen[target] == s->lists)
			continue;
		s->seen[target] = s->lists;
		s->list[s->list_count++] = target;
	}
}

static struct gfs_key key_of(struct showing *s, uint32_t container)
{
	list_choice(s, container);
	return gfs_key_of(s->list, s->list_count * sizeof(s->list[0]));
}

static int group_choices(struct showing *s)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < s->artifact->container_count; i++)
		if (s->answer->containers[i].counts)
			s->items[count++] = (struct gfs_grouped){ key_of(s, i), i };
	return gfs_groups_make(s->items, count, &s->groups, &s->group_count);
}

static int make_choices(struct showing *s)
{
	const struct dec_artifact *a = s->artifact;

	s->items = calloc((size_t)a->container_count + 1, sizeof(*s->items));
	s->seen = calloc((size_t)a->target_count + 1, sizeof(*s->seen));
	s->list = calloc((size_t)a->target_count + HEAD, sizeof(*s->list));
	s->chosen = calloc((size_t)a->object_count + 1, sizeof(*s->chosen));
	if (!s->items || !s->seen || !s->list || !s->chosen)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->answer->choice_count; i++)
		s->chosen[s->answer->choices[i]] = true;
	return group_choices(s);
}

static void put_choice(struct showing *s, struct cJSON *in, const struct gfs_group *group)
{
	uint32_t container = s->items[group->first].index;
	const struct dec_container_verdict *c = &s->answer->containers[container];
	struct cJSON *targets;

	list_choice(s, container);
	put_verdict(s, in, c->verdict, c->how, c->reason);
	gfs_json_bool(&s->w, in, "one_of", c->one_of);
	targets = gfs_json_array(&s->w, in, "targets");
	for (uint32_t i = HEAD; i < s->list_count; i++)
		gfs_json_text(&s->w, targets, NULL, s->artifact->targets[s->list[i]].name);
	gfs_json_uint(&s->w, in, "containers", group->count);
}

static void put_choices(struct showing *s)
{
	struct cJSON *array = gfs_json_array(&s->w, s->root, "choices");

	for (uint32_t i = 0; i < s->group_count; i++)
		put_choice(s, gfs_json_object(&s->w, array, NULL), &s->groups[i]);
}

/* ---- sentences and ids ------------------------------------------------------------------------ */

static void put_reasons(struct showing *s)
{
	struct cJSON *o = gfs_json_object(&s->w, s->root, "reasons");

	s->reasons[s->answer->reason] = true;
	for (int i = 0; i < REASON_COUNT; i++)
		if (s->reasons[i])
			gfs_json_word(&s->w, o, dec_reason_word((enum dec_reason)i),
				      dec_reason_sentence((enum dec_reason)i));
}

static bool could_load(const struct dec_object_verdict *says)
{
	return says->counts && says->verdict != DEC_VERDICT_NO;
}

static void put_loads_of(struct showing *s, struct cJSON *in, enum dec_verdict verdict,
			 enum dec_how how)
{
	struct gfs_ranges ranges;

	gfs_json_word(&s->w, in, "verdict", dec_verdict_word(verdict));
	gfs_json_word(&s->w, in, "how", how_word(how));
	gfs_ranges_begin(&ranges, s->fs, &s->w, in, "objects");
	for (uint32_t i = 0; i < s->artifact->object_count; i++) {
		const struct dec_object_verdict *o = &s->answer->objects[i];

		if (could_load(o) && o->verdict == verdict && o->how == how)
			gfs_ranges_add(&ranges, i);
	}
	gfs_ranges_end(&ranges);
}

static void put_loads(struct showing *s, struct cJSON *in)
{
	struct cJSON *array = gfs_json_array(&s->w, in, "loads");
	bool pairs[VERDICT_COUNT][HOW_COUNT] = { { false } };

	for (uint32_t i = 0; i < s->artifact->object_count; i++)
		if (could_load(&s->answer->objects[i]))
			pairs[s->answer->objects[i].verdict][s->answer->objects[i].how] = true;
	for (int verdict = 0; verdict < VERDICT_COUNT; verdict++)
		for (int how = 0; how < HOW_COUNT; how++)
			if (pairs[verdict][how])
				put_loads_of(s, gfs_json_object(&s->w, array, NULL),
					     (enum dec_verdict)verdict, (enum dec_how)how);
}

static void add_chosen(struct showing *s, struct gfs_ranges *ranges, uint32_t container)
{
	const struct dec_container *c = &s->artifact->containers[container];

	for (uint32_t i = c->first_object; i < c->first_object + c->object_count; i++)
		if (s->chosen[i])
			gfs_ranges_add(ranges, i);
}

static void put_choice_ids(struct showing *s, struct cJSON *in, const struct gfs_group *group)
{
	struct gfs_ranges ranges;

	gfs_ranges_begin(&ranges, s->fs, &s->w, in, "containers");
	for (uint32_t i = 0; i < group->count; i++)
		gfs_ranges_add(&ranges, s->items[group->first + i].index);
	gfs_ranges_end(&ranges);
	gfs_ranges_begin(&ranges, s->fs, &s->w, in, "objects");
	for (uint32_t i = 0; i < group->count; i++)
		add_chosen(s, &ranges, s->items[group->first + i].index);
	gfs_ranges_end(&ranges);
}

static void put_ids(struct showing *s)
{
	struct cJSON *ids = gfs_json_object(&s->w, s->root, "ids");
	struct cJSON *array;

	put_loads(s, ids);
	array = gfs_json_array(&s->w, ids, "choices");
	for (uint32_t i = 0; i < s->group_count; i++)
		put_choice_ids(s, gfs_json_object(&s->w, array, NULL), &s->groups[i]);
}

/* ---- the file ------------------------------------------------------------------------------------ */

static int show(struct showing *s, char **text, size_t *size)
{
	gfs_json_init(&s->w);
	s->root = gfs_json_object(&s->w, NULL, NULL);
	gfs_device_put(&s->w, s->root, s->answer);
	put_counts(s);
	put_targets(s);
	put_choices(s);
	put_reasons(s);
	put_ids(s);
	return gfs_json_finish(&s->w, text, size);
}

int gfs_device_show(struct gfs *fs, const struct dec_device *device, char **text, size_t *size)
{
	struct showing s = { .fs = fs, .artifact = fs->artifact };
	int rc;

	s.answer = dec_judge(fs->artifact, device, NULL);
	rc = s.answer ? make_choices(&s) : -ENOMEM;
	if (rc == 0)
		rc = show(&s, text, size);
	free(s.items);
	free(s.groups);
	free(s.seen);
	free(s.list);
	free(s.chosen);
	dec_answer_free(s.answer);
	return rc;
}
