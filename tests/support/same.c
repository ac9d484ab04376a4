#include "same.h"

#include <string.h>

static bool same_text(struct dec_text a, struct dec_text b)
{
	return a.len == b.len && dec_text_present(a) == dec_text_present(b) &&
	       memcmp(a.p, b.p, a.len) == 0;
}

static bool same_range(struct dec_range a, struct dec_range b)
{
	return a.size == b.size && (a.size == 0 || a.offset == b.offset);
}

static bool same_fact(const struct dec_fact *a, const struct dec_fact *b)
{
	if (a->id != b->id)
		return false;
	switch (dec_fact_shape(a->id)) {
	case DEC_SHAPE_TEXT:
		return same_text(a->text, b->text);
	case DEC_SHAPE_TRIPLE:
		return memcmp(a->triple, b->triple, sizeof(a->triple)) == 0;
	case DEC_SHAPE_COUNT:
	case DEC_SHAPE_BOOL:
	case DEC_SHAPE_HEX:
		break;
	}
	return a->u == b->u;
}

static bool same_arg(const struct dec_arg *a, const struct dec_arg *b)
{
	return same_text(a->name, b->name) && same_text(a->type, b->type) &&
	       same_text(a->kind, b->kind) && same_text(a->address_space, b->address_space) &&
	       same_text(a->access, b->access) && a->offset == b->offset && a->size == b->size &&
	       a->align == b->align;
}

static const char *kernels_differ(const struct dec_kernel *a, const struct dec_kernel *b)
{
	if (!same_text(a->name, b->name) || !same_text(a->symbol, b->symbol))
		return "the name of a kernel";
	if (!same_range(a->code, b->code) || !same_range(a->descriptor, b->descriptor))
		return "a range of a kernel";
	if (a->fact_count != b->fact_count || a->arg_count != b->arg_count)
		return "how much a kernel says";
	for (uint32_t i = 0; i < a->fact_count; i++)
		if (!same_fact(&a->facts[i], &b->facts[i]))
			return dec_fact_key(a->facts[i].id);
	for (uint32_t i = 0; i < a->arg_count; i++)
		if (!same_arg(&a->args[i], &b->args[i]))
			return "an argument";
	return NULL;
}

static bool same_problem(const struct dec_problem *a, const struct dec_problem *b)
{
	return a->code == b->code && a->offset == b->offset && strcmp(a->field, b->field) == 0 &&
	       a->object == b->object && a->partial == b->partial &&
	       same_text(a->message, b->message);
}

/* Not a float in bits, which would tell NaNs apart: they come from the same eight bytes. */
static bool same_meta(const struct dec_meta *a, const struct dec_meta *b)
{
	if (a->type != b->type || !same_text(a->key, b->key))
		return false;
	switch (a->type) {
	case DEC_META_NIL:
		return true;
	case DEC_META_TEXT:
	case DEC_META_BYTES:
		return same_text(a->text, b->text);
	case DEC_META_ARRAY:
	case DEC_META_MAP:
		break;
	case DEC_META_BOOL:
	case DEC_META_UINT:
	case DEC_META_INT:
	case DEC_META_FLOAT:
	case DEC_META_HEX:
		return a->u == b->u;
	}
	for (uint32_t i = 0; a->count == b->count && i < a->count; i++)
		if (!same_meta(&a->items[i], &b->items[i]))
			return false;
	return a->count == b->count;
}

const char *inspections_differ(const struct dec_inspection *a, const struct dec_inspection *b)
{
	if (a->representation != b->representation || a->state != b->state)
		return "representation or state";
	if (a->evidence != b->evidence || a->consistency != b->consistency ||
	    !same_text(a->payload_target, b->payload_target) ||
	    !same_text(a->payload_target_raw, b->payload_target_raw))
		return "the target";
	if (a->kernel_count != b->kernel_count || a->problem_count != b->problem_count)
		return "how many kernels or problems there are";
	for (uint32_t i = 0; i < a->kernel_count; i++) {
		const char *what = kernels_differ(&a->kernels[i], &b->kernels[i]);

		if (what)
			return what;
	}
	for (uint32_t i = 0; i < a->problem_count; i++)
		if (!same_problem(&a->problems[i], &b->problems[i]))
			return "a problem";
	if (!a->metadata != !b->metadata || (a->metadata && !same_meta(a->metadata, b->metadata)))
		return "the metadata";
	return NULL;
}
