#include "sound.h"

#include <string.h>

static bool inside(struct dec_range r, uint64_t size)
{
	return r.offset <= size && r.size <= size - r.offset;
}

static bool text_ok(struct dec_text t)
{
	return t.p && t.p[t.len] == '\0' && (dec_text_present(t) || t.len == 0);
}

/* The chain holds exactly the problems of this owner, in the order found. */
static bool chain_ok(const struct dec_artifact *a, struct dec_problem_list list, uint32_t container,
		     uint32_t object)
{
	uint32_t next = list.first;

	for (uint32_t i = 0; i < a->problem_count; i++) {
		const struct dec_problem *p = &a->problems[i];
		bool own = object != DEC_NONE ? p->object == object
					      : p->object == DEC_NONE && p->container == container;

		if (!own)
			continue;
		if (next != i)
			return false;
		next = p->next;
	}
	return next == DEC_NONE;
}

static const char *object_fault(const struct dec_artifact *a, uint32_t index)
{
	const struct dec_object *o = &a->objects[index];
	const struct dec_container *c = &a->containers[o->container];
	uint64_t room = o->space == DEC_SPACE_ARTIFACT ? a->size : c->decoded_size;

	if (!inside(o->header, room))
		return "an object's header is not inside its space";
	if (!inside(o->encoded, room))
		return "an object's bytes are not inside its space";
	if (o->space == DEC_SPACE_DECODED && c->codec == DEC_CODEC_NONE)
		return "decoded space of a container that is not compressed";
	if (!text_ok(o->target) || !text_ok(o->target_raw) || !text_ok(o->identifier) ||
	    !text_ok(o->options))
		return "a text does not end";
	if (o->target_index != DEC_NONE && o->target_index >= a->target_count)
		return "an object's target is not there";
	if ((o->target_index != DEC_NONE) != dec_text_present(o->target))
		return "an object has a target's name or index alone";
	if (o->target_index != DEC_NONE && o->target.p != a->targets[o->target_index].name.p)
		return "an object's target has another name";
	if (strcmp(dec_kind_word(o->kind), "?") == 0 || strcmp(dec_codec_word(o->codec), "?") == 0)
		return "an object's kind or codec is no known one";
	return NULL;
}

static const char *container_fault(const struct dec_artifact *a, uint32_t index)
{
	const struct dec_container *c = &a->containers[index];
	uint64_t after = (uint64_t)c->first_object + c->object_count;

	if (!inside(c->range, a->size))
		return "a container is not inside the artifact";
	if (c->range.size == 0)
		return "a container has no bytes";
	if (index && a->containers[index - 1].range.offset > c->range.offset)
		return "containers are not in order";
	if (c->place >= a->place_count)
		return "a container's place is not there";
	if (c->codec != DEC_CODEC_NONE &&
	    (!inside(c->stream, a->size) || c->stream.offset < c->range.offset ||
	     c->verbatim > c->decoded_size || c->verbatim > c->range.size))
		return "a compressed container's parts do not fit";
	if (after > a->object_count)
		return "a container's objects are not there";
	if (index + 1 < a->container_count ? after != a->containers[index + 1].first_object
					   : after != a->object_count)
		return "an object is in no container";
	for (uint64_t i = c->first_object; i < after; i++) {
		const struct dec_object *o = &a->objects[i];

		if (o->container != index)
			return "an object is in another container";
		if (i > c->first_object && o->entry_index <= a->objects[i - 1].entry_index)
			return "entries are not in order";
		if (o->entry_index >= c->entries)
			return "an entry was not counted";
	}
	return NULL;
}

static const char *target_fault(const struct dec_artifact *a, uint32_t index)
{
	const struct dec_target *t = &a->targets[index];

	if (!text_ok(t->name) || t->name.len == 0)
		return "a target has no name";
	if (index && strcmp(a->targets[index - 1].name.p, t->name.p) >= 0)
		return "targets are not sorted, or twice there";
	if (t->object_count == 0)
		return "a target has no object";
	for (uint32_t i = 0; i < t->object_count; i++) {
		if (t->objects[i] >= a->object_count ||
		    a->objects[t->objects[i]].target_index != index)
			return "a target lists an object that is not its own";
		if (i && t->objects[i] <= t->objects[i - 1])
			return "a target's objects are not in order";
	}
	return NULL;
}

static const char *problem_fault(const struct dec_artifact *a, uint32_t index)
{
	const struct dec_problem *p = &a->problems[index];

	if (!p->field || !text_ok(p->message) || p->message.len == 0)
		return "a problem has no field or no sentence";
	if (p->container != DEC_NONE && p->container >= a->container_count)
		return "a problem's container is not there";
	if (p->object != DEC_NONE &&
	    (p->object >= a->object_count || a->objects[p->object].container != p->container))
		return "a problem's object is not there";
	if (strcmp(dec_problem_word(p->code), "?") == 0)
		return "a problem has no known code";
	return NULL;
}

static const char *place_fault(const struct dec_artifact *a, uint32_t index)
{
	const struct dec_place *p = &a->places[index];

	if (!inside(p->range, a->size) || !text_ok(p->name))
		return "a place is not inside the artifact";
	if (index == 0 ? p->outer != DEC_NONE || p->kind != DEC_PLACE_FILE : p->outer >= index)
		return "a place is not around by another";
	return NULL;
}

/* Walking all chains costs problems times owners: only where that is little. */
static const char *chains_fault(const struct dec_artifact *a)
{
	uint64_t owners = (uint64_t)a->container_count + a->object_count;

	if (owners * a->problem_count > UINT64_C(1) << 20)
		return NULL;
	for (uint32_t i = 0; i < a->container_count; i++)
		if (!chain_ok(a, a->containers[i].problems, i, DEC_NONE))
			return "a container's chain of problems is broken";
	for (uint32_t i = 0; i < a->object_count; i++)
		if (!chain_ok(a, a->objects[i].problems, a->objects[i].container, i))
			return "an object's chain of problems is broken";
	return NULL;
}

const char *inventory_fault(const struct dec_artifact *a, const struct dec_limits *limits)
{
	bool partial = false;
	const char *fault = NULL;

	if (a->container_count > limits->max_containers || a->object_count > limits->max_objects)
		return "more is listed than the limits allow";
	for (uint32_t i = 0; !fault && i < a->container_count; i++)
		fault = container_fault(a, i);
	for (uint32_t i = 0; !fault && i < a->object_count; i++)
		fault = object_fault(a, i);
	for (uint32_t i = 0; !fault && i < a->target_count; i++)
		fault = target_fault(a, i);
	for (uint32_t i = 0; !fault && i < a->place_count; i++)
		fault = place_fault(a, i);
	for (uint32_t i = 0; !fault && i < a->problem_count; i++) {
		fault = problem_fault(a, i);
		partial |= a->problems[i].partial;
	}
	if (!fault)
		fault = chains_fault(a);
	if (!fault && partial != a->partial)
		fault = "the artifact's state and its problems differ";
	return fault;
}

/* ---- answers ------------------------------------------------------------------------------ */

static bool would_do(const struct dec_answer *answer, uint32_t object)
{
	enum dec_verdict v = answer->objects[object].verdict;

	return v == DEC_VERDICT_YES || v == DEC_VERDICT_JIT || v == DEC_VERDICT_MAYBE;
}

static const char *choices_fault(const struct dec_artifact *a, const struct dec_answer *answer,
				 uint32_t container)
{
	const struct dec_container *c = &a->containers[container];
	const struct dec_container_verdict *v = &answer->containers[container];
	bool some = false;

	for (uint32_t i = 0; i < c->object_count; i++)
		some |= would_do(answer, c->first_object + i);
	if (some != (v->choice_count > 0))
		return "a container has no choice although something would do, or the reverse";
	if (v->one_of != (v->choice_count > 1))
		return "one_of and the number of choices differ";
	for (uint32_t i = 0; i < v->choice_count; i++) {
		uint32_t object = answer->choices[v->first_choice + i];

		if (object >= a->object_count || a->objects[object].container != container)
			return "a choice is not in its container";
		if (!would_do(answer, object))
			return "a choice would not do";
		for (uint32_t k = 0; k < i; k++)
			if (answer->choices[v->first_choice + k] == object)
				return "a choice is listed twice";
	}
	return NULL;
}

const char *answer_fault(const struct dec_artifact *a, const struct dec_answer *answer)
{
	uint32_t choices = 0, counting = 0;
	const char *fault = NULL;

	for (uint32_t i = 0; !fault && i < a->container_count; i++) {
		if (answer->containers[i].first_choice != choices)
			return "the choices do not follow one another";
		fault = choices_fault(a, answer, i);
		choices += answer->containers[i].choice_count;
		counting += answer->containers[i].counts;
	}
	for (uint32_t i = 0; !fault && i < a->object_count; i++)
		if (would_do(answer, i) != (answer->objects[i].how != DEC_HOW_NONE))
			fault = "an object would do and it is not said how, or the reverse";
	if (!fault && choices != answer->choice_count)
		fault = "the number of choices is wrong";
	if (!fault && answer->native + answer->jit + answer->none + answer->maybe != counting)
		fault = "the containers that count do not add up";
	return fault;
}
