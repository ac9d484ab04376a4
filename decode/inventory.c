/* The inventory while it grows, and its final form. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool dec_fatal(struct dec_build *b, enum dec_status status, int sys_errno, uint64_t offset,
	       const char *field, const char *sentence)
{
	*b->err = (struct dec_error){
		.status = status, .sys_errno = sys_errno, .offset = offset, .field = field
	};
	snprintf(b->err->sentence, sizeof(b->err->sentence), "%s", sentence);
	return false;
}

static bool no_memory(struct dec_build *b, const char *what)
{
	return dec_fatal(b, DEC_E_NOMEM, 0, 0, what, "out of memory");
}

/* Room for one more element; doubles. Element counts stay below the limits, far from 2^32. */
static void *grow(void *array, uint32_t count, uint32_t *room, size_t size)
{
	uint32_t wanted = *room ? *room * 2 : 16;
	void *bigger;

	if (count < *room)
		return array;
	bigger = reallocarray(array, wanted, size);
	if (bigger)
		*room = wanted;
	return bigger;
}

#define GROW(b, array, count, room)                                                                \
	({                                                                                         \
		void *grown = grow((b)->array, (b)->count, &(b)->room, sizeof(*(b)->array));       \
		if (grown)                                                                         \
			(b)->array = grown;                                                        \
		grown != NULL;                                                                     \
	})

bool dec_text_copy(struct dec_build *b, const void *p, size_t len, struct dec_text *out)
{
	char *copy;

	if (p == dec_absent) {
		*out = (struct dec_text){ dec_absent, 0 };
		return true;
	}
	copy = dec_arena_array(&b->arena, len + 1, 1);
	if (!copy)
		return no_memory(b, "text");
	memcpy(copy, p, len);
	*out = (struct dec_text){ copy, len };
	return true;
}

/* ---- problems -------------------------------------------------------------------- */

static struct dec_problem_list *owner_list(struct dec_build *b, struct dec_owner owner)
{
	if (owner.object != DEC_NONE)
		return &b->objects[owner.object].problems;
	if (owner.container != DEC_NONE)
		return &b->containers[owner.container].problems;
	return NULL;
}

static void chain(struct dec_build *b, struct dec_owner owner, uint32_t index)
{
	struct dec_problem_list *list = owner_list(b, owner);

	if (!list)
		return;
	if (list->first == DEC_NONE)
		list->first = index;
	else
		b->problems[list->last].next = index;
	list->last = index;
}

static bool problem_add(struct dec_build *b, struct dec_owner owner, const struct dec_problem *p)
{
	if (!GROW(b, problems, problem_count, problem_room))
		return no_memory(b, "problems");
	b->problems[b->problem_count] = *p;
	chain(b, owner, b->problem_count++);
	return true;
}

bool dec_note(struct dec_build *b, struct dec_owner owner, enum dec_problem_code code,
	      uint64_t offset, const char *field, enum dec_severity severity, const char *format,
	      ...)
{
	struct dec_problem p = {
		.code = code,
		.offset = offset,
		.field = field,
		.container = owner.container,
		.object = owner.object,
		.next = DEC_NONE,
		.partial = severity == DEC_PARTIAL,
	};
	char sentence[256];
	va_list args;

	b->partial |= p.partial;
	if (b->problem_count - b->remark_count >= b->limits.max_problems) {
		b->problems_dropped++;
		return true;
	}
	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	return dec_text_copy(b, sentence, strlen(sentence), &p.message) &&
	       problem_add(b, owner, &p);
}

bool dec_remark(struct dec_build *b, struct dec_owner owner, enum dec_problem_code code,
		uint64_t offset, const char *field, const char *sentence)
{
	struct dec_problem p = {
		.code = code,
		.offset = offset,
		.field = field,
		.message = { sentence, strlen(sentence) },
		.container = owner.container,
		.object = owner.object,
		.next = DEC_NONE,
	};

	b->remark_count++;
	return problem_add(b, owner, &p);
}

/* One more than max_problems, so that the list never ends in silence. */
static bool note_dropped(struct dec_build *b)
{
	struct dec_problem p = {
		.code = DEC_PROBLEM_LIMIT,
		.field = "max_problems",
		.container = DEC_NONE,
		.object = DEC_NONE,
		.next = DEC_NONE,
		.partial = true,
	};
	char sentence[128];

	if (b->problems_dropped == 0)
		return true;
	snprintf(sentence, sizeof(sentence), "%llu more problems are not listed",
		 (unsigned long long)b->problems_dropped);
	b->partial = true;
	return dec_text_copy(b, sentence, strlen(sentence), &p.message) &&
	       problem_add(b, DEC_OWNER_ARTIFACT, &p);
}

/* ---- places and containers ------------------------------------------------------- */

bool dec_add_place(struct dec_build *b, const struct dec_place *place, uint32_t *index)
{
	if (!GROW(b, places, place_count, place_room))
		return no_memory(b, "places");
	b->places[b->place_count] = *place;
	*index = b->place_count++;
	return true;
}

bool dec_add_container(struct dec_build *b, const struct dec_container *c, uint32_t *index)
{
	*index = DEC_NONE;
	if (b->container_count >= b->limits.max_containers) {
		if (b->container_limit_noted)
			return true;
		b->container_limit_noted = true;
		return dec_note(b, DEC_OWNER_ARTIFACT, DEC_PROBLEM_LIMIT, c->range.offset,
				"max_containers", DEC_PARTIAL,
				"more than %llu containers; those from here on are not listed",
				(unsigned long long)b->limits.max_containers);
	}
	if (!GROW(b, containers, container_count, container_room))
		return no_memory(b, "containers");
	b->containers[b->container_count] = *c;
	b->containers[b->container_count].first_object = b->object_count;
	b->containers[b->container_count].problems.first = DEC_NONE;
	*index = b->container_count++;
	return true;
}

/* ---- targets: one slot per name ---------------------------------------------------- */

static uint32_t name_hash(const char *p, size_t len)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)p[i]) * 16777619u;
	return h;
}

static bool target_rehash(struct dec_build *b)
{
	uint32_t size = b->target_hash_size ? b->target_hash_size * 2 : 64;
	uint32_t *table;

	if (b->target_count < b->target_hash_size)
		return true;
	table = malloc(size * sizeof(*table));
	if (!table)
		return no_memory(b, "targets");
	memset(table, 0xff, size * sizeof(*table));
	for (uint32_t t = 0; t < b->target_count; t++) {
		struct dec_text name = b->targets[t].target.name;
		uint32_t slot = name_hash(name.p, name.len) & (size - 1);

		b->targets[t].next = table[slot];
		table[slot] = t;
	}
	free(b->target_hash);
	b->target_hash = table;
	b->target_hash_size = size;
	return true;
}

static uint32_t target_find(const struct dec_build *b, const char *p, size_t len)
{
	uint32_t t = b->target_hash[name_hash(p, len) & (b->target_hash_size - 1)];

	while (t != DEC_NONE) {
		struct dec_text name = b->targets[t].target.name;

		if (name.len == len && memcmp(name.p, p, len) == 0)
			return t;
		t = b->targets[t].next;
	}
	return DEC_NONE;
}

static bool target_add(struct dec_build *b, const struct dec_declared *d, size_t len,
		       uint32_t *index)
{
	struct dec_target_slot slot = {
		.target = { .vendor = d->vendor, .class = d->class, .family = d->family }
	};
	uint32_t *head = &b->target_hash[name_hash(d->name, len) & (b->target_hash_size - 1)];

	if (!GROW(b, targets, target_count, target_room))
		return no_memory(b, "targets");
	if (!dec_text_copy(b, d->name, len, &slot.target.name))
		return false;
	slot.next = *head;
	*head = b->target_count;
	*index = b->target_count;
	b->targets[b->target_count++] = slot;
	return true;
}

static bool target_get(struct dec_build *b, const struct dec_declared *d, uint32_t *index)
{
	size_t len = strlen(d->name);

	*index = DEC_NONE;
	if (len == 0)
		return true;
	if (!target_rehash(b))
		return false;
	*index = target_find(b, d->name, len);
	return *index != DEC_NONE || target_add(b, d, len, index);
}

/* ---- objects ------------------------------------------------------------------------ */

static bool object_past_limit(struct dec_build *b, uint64_t offset)
{
	if (b->object_limit_noted)
		return true;
	b->object_limit_noted = true;
	return dec_note(b, DEC_OWNER_ARTIFACT, DEC_PROBLEM_LIMIT, offset, "max_objects",
			DEC_PARTIAL,
			"more than %llu objects; those from here on are counted, not listed",
			(unsigned long long)b->limits.max_objects);
}

static bool raw_text(struct dec_build *b, struct dec_object *o, const struct dec_view *raw)
{
	if (!raw) {
		o->target_raw = o->target;
		return true;
	}
	return dec_text_copy(b, raw->p, raw->len, &o->target_raw);
}

bool dec_add_object(struct dec_build *b, struct dec_object *o, const struct dec_declared *declared,
		    const struct dec_view *raw, uint32_t *index)
{
	*index = DEC_NONE;
	if (b->object_count >= b->limits.max_objects)
		return object_past_limit(b, o->header.offset);
	if (!GROW(b, objects, object_count, object_room))
		return no_memory(b, "objects");
	if (!target_get(b, declared, &o->target_index))
		return false;
	o->vendor = declared->vendor;
	o->target = (struct dec_text){ dec_absent, 0 };
	if (o->target_index != DEC_NONE)
		o->target = b->targets[o->target_index].target.name;
	if (!raw_text(b, o, raw))
		return false;
	o->container = b->container_count - 1;
	o->problems.first = DEC_NONE;
	b->containers[o->container].object_count++;
	*index = b->object_count;
	b->objects[b->object_count++] = *o;
	return true;
}

bool dec_spend_search(struct dec_build *b, uint64_t offset, uint64_t bytes, bool *ok)
{
	*ok = bytes <= b->limits.max_search_bytes - b->search_bytes;
	if (*ok) {
		b->search_bytes += bytes;
		return true;
	}
	b->search_bytes = b->limits.max_search_bytes;
	if (b->search_limit_noted)
		return true;
	b->search_limit_noted = true;
	return dec_note(b, DEC_OWNER_ARTIFACT, DEC_PROBLEM_LIMIT, offset, "max_search_bytes",
			DEC_PARTIAL,
			"more than %llu bytes to decode for the inventory; compressed containers "
			"from here on may not be listed",
			(unsigned long long)b->limits.max_search_bytes);
}

bool dec_limit_decoded(struct dec_build *b, struct dec_owner owner, uint64_t stored,
		       uint64_t decoded, uint64_t field_offset, const char *field,
		       enum dec_severity severity, bool *past)
{
	*past = true;
	if (decoded > b->limits.max_payload)
		return dec_note(b, owner, DEC_PROBLEM_LIMIT, field_offset, field, severity,
				"decodes to %llu bytes, past the limit of %llu (max_payload)",
				(unsigned long long)decoded,
				(unsigned long long)b->limits.max_payload);
	/* Divides, so that the product cannot wrap. */
	if (decoded > DEC_RATIO_FLOOR && b->limits.max_ratio &&
	    decoded / b->limits.max_ratio > stored)
		return dec_note(b, owner, DEC_PROBLEM_LIMIT, field_offset, field, severity,
				"%llu stored bytes decode to %llu, past the limit of %llu to 1 "
				"(max_ratio)",
				(unsigned long long)stored, (unsigned long long)decoded,
				(unsigned long long)b->limits.max_ratio);
	*past = false;
	return true;
}

bool dec_object_starts_at(const struct dec_build *b, uint64_t offset)
{
	/* Only objects of the latest container can reach past what it claimed. */
	for (uint32_t i = b->object_count; i > 0; i--) {
		const struct dec_object *o = &b->objects[i - 1];

		if (o->container + 1 != b->container_count)
			return false;
		if (o->space == DEC_SPACE_ARTIFACT && o->encoded.size &&
		    o->encoded.offset == offset)
			return true;
	}
	return false;
}

/* ---- the end -------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	const struct dec_text *x = &((const struct dec_target_slot *)a)->target.name;
	const struct dec_text *y = &((const struct dec_target_slot *)b)->target.name;
	size_t common = x->len < y->len ? x->len : y->len;
	int order = memcmp(x->p, y->p, common);

	if (order)
		return order;
	return (x->len > y->len) - (x->len < y->len);
}

/* Sorts the targets and moves every object's index along. */
static bool targets_sort(struct dec_build *b)
{
	uint32_t *moved = dec_arena_array(&b->arena, b->target_count, sizeof(*moved));

	if (!moved)
		return no_memory(b, "targets");
	for (uint32_t t = 0; t < b->target_count; t++)
		b->targets[t].next = t; /* the hash chains are not needed any more */
	if (b->target_count)
		qsort(b->targets, b->target_count, sizeof(*b->targets), by_name);
	for (uint32_t t = 0; t < b->target_count; t++)
		moved[b->targets[t].next] = t;
	for (uint32_t i = 0; i < b->object_count; i++)
		if (b->objects[i].target_index != DEC_NONE)
			b->objects[i].target_index = moved[b->objects[i].target_index];
	return true;
}

/* Lists each target's objects, in order, out of one array. */
static bool targets_list(struct dec_build *b, struct dec_target *targets)
{
	uint32_t *lists = dec_arena_array(&b->arena, b->object_count, sizeof(*lists));
	uint32_t *fill = dec_arena_array(&b->arena, b->target_count, sizeof(*fill));
	uint32_t at = 0;

	if (!lists || !fill)
		return no_memory(b, "targets");
	for (uint32_t i = 0; i < b->object_count; i++)
		if (b->objects[i].target_index != DEC_NONE)
			targets[b->objects[i].target_index].object_count++;
	for (uint32_t t = 0; t < b->target_count; t++) {
		targets[t].objects = lists + at;
		fill[t] = at;
		at += targets[t].object_count;
	}
	for (uint32_t i = 0; i < b->object_count; i++)
		if (b->objects[i].target_index != DEC_NONE)
			lists[fill[b->objects[i].target_index]++] = i;
	return true;
}

/* The growing arrays hold up to twice what is used: give the rest back. Never fails, a
 * larger block serves as well. */
static void *settle(void *array, uint32_t count, size_t size)
{
	void *smaller = count ? reallocarray(array, count, size) : NULL;

	return smaller ? smaller : array;
}

/* Moves the arrays to the inventory, which frees them. */
static void settle_all(struct dec_build *b, struct dec_inventory *v)
{
	v->containers = settle(b->containers, b->container_count, sizeof(*b->containers));
	v->objects = settle(b->objects, b->object_count, sizeof(*b->objects));
	v->problems = settle(b->problems, b->problem_count, sizeof(*b->problems));
	v->places = settle(b->places, b->place_count, sizeof(*b->places));
	b->containers = NULL;
	b->objects = NULL;
	b->problems = NULL;
	b->places = NULL;
}

static bool fill_targets(struct dec_build *b, struct dec_artifact *a)
{
	struct dec_target *targets;

	if (!targets_sort(b))
		return false;
	targets = dec_arena_array(&b->arena, b->target_count, sizeof(*targets));
	if (!targets)
		return no_memory(b, "targets");
	for (uint32_t t = 0; t < b->target_count; t++)
		targets[t] = b->targets[t].target;
	a->targets = targets;
	a->target_count = b->target_count;
	return targets_list(b, targets);
}

struct dec_artifact *dec_build_finish(struct dec_build *b)
{
	struct dec_inventory *v = calloc(1, sizeof(*v));
	struct dec_artifact *a;

	if (!v) {
		no_memory(b, "inventory");
		return NULL;
	}
	a = &v->artifact;
	if (!note_dropped(b) || !fill_targets(b, a)) {
		free(v);
		return NULL;
	}
	settle_all(b, v);
	a->name = b->name;
	a->size = b->source->size;
	a->format = b->format;
	a->partial = b->partial;
	a->containers = v->containers;
	a->container_count = b->container_count;
	a->objects = v->objects;
	a->object_count = b->object_count;
	a->problems = v->problems;
	a->problem_count = b->problem_count;
	a->places = v->places;
	a->place_count = b->place_count;
	v->source = *b->source;
	v->arena = b->arena;
	b->arena = (struct dec_arena){ 0 };
	return a;
}

void dec_close(struct dec_artifact *artifact)
{
	struct dec_inventory *v = (struct dec_inventory *)artifact;

	if (!v)
		return;
	free(v->containers);
	free(v->objects);
	free(v->problems);
	free(v->places);
	dec_arena_fini(&v->arena);
	free(v);
}

void dec_build_fini(struct dec_build *b)
{
	dec_arena_fini(&b->arena);
	dec_window_fini(&b->head);
	dec_window_fini(&b->scan);
	free(b->containers);
	free(b->objects);
	free(b->problems);
	free(b->places);
	free(b->targets);
	free(b->target_hash);
}
