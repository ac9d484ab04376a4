/* Examining bytes that no inventory was made of, and the result as text to compare. */
#ifndef TESTS_DECODE_INSPECTED_H
#define TESTS_DECODE_INSPECTED_H

#include "alloc.h"
#include "inspect.h"
#include "inventory.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Where the payload stands in its artifact: problems' offsets count from there. */
#define INSPECTED_AT 4096

struct line {
	char text[4096];
	size_t len;
};

__attribute__((format(printf, 2, 3))) static inline void say(struct line *l, const char *format,
							     ...)
{
	va_list args;

	va_start(args, format);
	l->len += (size_t)vsnprintf(l->text + l->len, sizeof(l->text) - l->len, format, args);
	va_end(args);
	assert_true(l->len < sizeof(l->text));
}

/* One object that a fatbin declares as target. */
static inline struct dec_inspection *examine(const void *p, size_t size, const char *target,
					     unsigned wants, struct dec_error *err)
{
	const struct dec_object object = {
		.target_kind = DEC_TARGET_FATBIN_ENTRY,
		.target = { target, strlen(target) },
		.encoded = { INSPECTED_AT, size },
	};
	const struct dec_artifact artifact = { .objects = &object, .object_count = 1 };

	return dec_inspect(&artifact, 0, p, size, wants, err);
}

/* Examines; then again for each allocation that this takes, with that one failing. */
static inline struct dec_inspection *inspected(const void *p, size_t size, const char *target)
{
	struct dec_error err;
	struct dec_inspection *in;
	long live = alloc_live();
	unsigned calls;

	for (unsigned n = 1;; n++) {
		alloc_fail_at(n);
		in = examine(p, size, target, DEC_WANT_METADATA, &err);
		calls = alloc_calls();
		alloc_fail_at(0);
		if (in && calls < n)
			return in;
		assert_null(in);
		assert_int_equal(err.status, DEC_E_NOMEM);
		assert_int_equal(alloc_live(), live);
	}
}

static inline void say_fact(struct line *l, const struct dec_fact *f)
{
	say(l, " %s=", dec_fact_key(f->id));
	switch (dec_fact_shape(f->id)) {
	case DEC_SHAPE_TEXT:
		say(l, "%s", f->text.p);
		break;
	case DEC_SHAPE_TRIPLE:
		say(l, "%" PRIu32 ",%" PRIu32 ",%" PRIu32, f->triple[0], f->triple[1],
		    f->triple[2]);
		break;
	case DEC_SHAPE_COUNT:
	case DEC_SHAPE_BOOL:
	case DEC_SHAPE_HEX:
		say(l, "%" PRIu64, f->u);
		break;
	}
}

/* " [name type space @offset+size/align]", with what is there. */
static inline void say_arg(struct line *l, const struct dec_arg *a)
{
	say(l, " [%s%s%s%s%s%s@%" PRIu64 "+%" PRIu64, a->name.p, a->name.len ? " " : "", a->type.p,
	    a->type.len ? " " : "", a->address_space.p, a->address_space.len ? " " : "", a->offset,
	    a->size);
	if (a->align != DEC_UNSTATED)
		say(l, "/%" PRIu64, a->align);
	say(l, "]");
}

/* "name fact=value ... [arg] ...", kernels divided by "; ". */
static inline void say_kernels(struct line *l, const struct dec_inspection *in)
{
	for (uint32_t k = 0; k < in->kernel_count; k++) {
		say(l, "%s%s", k ? "; " : "", in->kernels[k].name.p);
		for (uint32_t i = 0; i < in->kernels[k].fact_count; i++)
			say_fact(l, &in->kernels[k].facts[i]);
		for (uint32_t i = 0; i < in->kernels[k].arg_count; i++)
			say_arg(l, &in->kernels[k].args[i]);
	}
}

/* "code field@offset", '!' behind those that make it partial, divided by "; ". */
static inline void say_problems(struct line *l, const struct dec_inspection *in)
{
	for (uint32_t i = 0; i < in->problem_count; i++)
		say(l, "%s%s %s@%" PRIu64 "%s", i ? "; " : "",
		    dec_problem_word(in->problems[i].code), in->problems[i].field,
		    in->problems[i].offset - INSPECTED_AT, in->problems[i].partial ? "!" : "");
}

static inline void say_meta(struct line *l, const struct dec_meta *m)
{
	if (m->key.len)
		say(l, "%s:", m->key.p);
	switch (m->type) {
	case DEC_META_TEXT:
	case DEC_META_BYTES:
		say(l, "'%.*s'", (int)m->text.len, m->text.p);
		break;
	case DEC_META_HEX:
		say(l, "0x%" PRIx64, m->u);
		break;
	case DEC_META_ARRAY:
	case DEC_META_MAP:
		say(l, m->type == DEC_META_MAP ? "{" : "[");
		for (uint32_t i = 0; i < m->count; i++) {
			say(l, i ? " " : "");
			say_meta(l, &m->items[i]);
		}
		say(l, m->type == DEC_META_MAP ? "}" : "]");
		break;
	case DEC_META_NIL:
	case DEC_META_BOOL:
	case DEC_META_UINT:
	case DEC_META_INT:
	case DEC_META_FLOAT:
		say(l, "%" PRIu64, m->u);
		break;
	}
}

static inline void expect_line(const struct line *l, const char *expected)
{
	assert_string_equal(l->text, expected);
}

#endif
