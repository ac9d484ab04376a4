#include "inventory.h"

#include "alloc.h"
#include "sound.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More allocations or reads than any input of these tables makes. */
#define SWEEP_MAX 20000

void open_limited(struct opened *o, const struct dec_limits *limits)
{
	const char *fault;

	o->limits = *limits;
	memory_init(&o->memory, o->bytes.p, o->bytes.len);
	o->a = dec_open(&o->memory.source, "input", &o->limits, &o->err);
	if (!o->a)
		fail_msg("does not open: %s: %s", o->err.field, o->err.sentence);
	assert_int_equal(o->err.status, DEC_OK);
	assert_false(o->memory.outside);
	fault = inventory_fault(o->a, &o->limits);
	if (fault)
		fail_msg("%s", fault);
}

void open_input(struct opened *o)
{
	struct dec_limits limits = dec_limits_default();

	open_limited(o, &limits);
}

void close_input(struct opened *o)
{
	/* The public interface lends a const artifact to everyone but its owner. */
	dec_close((struct dec_artifact *)(uintptr_t)o->a);
	bytes_free(&o->bytes);
}

static uint8_t *decode(struct opened *o, const struct dec_object *object, uint32_t index)
{
	const struct dec_container *c = &o->a->containers[object->container];
	uint64_t size = object->space == DEC_SPACE_DECODED ? c->decoded_size : object->payload_size;
	uint8_t *out = malloc((size_t)size + 1);
	bool ok;

	assert_non_null(out);
	if (object->space == DEC_SPACE_DECODED)
		ok = dec_unpack_container(o->a, object->container, out, &o->err);
	else
		ok = dec_unpack(o->a, index, out, &o->err);
	if (!ok)
		fail_msg("object %u is not decoded: %s", index, o->err.sentence);
	if (object->space == DEC_SPACE_DECODED)
		memmove(out, out + object->encoded.offset, (size_t)object->encoded.size);
	return out;
}

void expect_payload(struct opened *o, uint32_t index, const void *p, size_t size)
{
	const struct dec_object *object = &o->a->objects[index];
	bool stored = object->codec == DEC_CODEC_NONE && object->space == DEC_SPACE_ARTIFACT;
	uint8_t *out;

	assert_true(object->has_payload);
	assert_int_equal(object->payload_size, size);
	if (stored) {
		assert_int_equal(object->encoded.size, size);
		assert_memory_equal(o->bytes.p + object->encoded.offset, p, size);
		return;
	}
	out = decode(o, object, index);
	assert_memory_equal(out, p, size);
	free(out);
}

/* ---- failures ----------------------------------------------------------------------- */

/* Says how it went; what it lists goes to *listed: problems, objects and containers. */
static enum dec_status attempt(struct memory *m, const struct dec_limits *limits,
			       uint32_t listed[3], struct dec_error *err)
{
	struct dec_artifact *a = dec_open(&m->source, "input", limits, err);

	listed[0] = a ? a->problem_count : 0;
	listed[1] = a ? a->object_count : 0;
	listed[2] = a ? a->container_count : 0;
	assert_int_equal(a != NULL, err->status == DEC_OK);
	dec_close(a);
	return err->status;
}

/* fails: as it must when the nth allocation or read does. Some may fail without harm; then
 * nothing may be missing. */
static void expect_status(const struct dec_error *err, enum dec_status fails, unsigned n,
			  const uint32_t listed[3], const uint32_t undisturbed[3])
{
	if (err->status == DEC_OK) {
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(listed[i], undisturbed[i]);
		return;
	}
	if (err->status != fails)
		fail_msg("failure %u: status %d instead of %d (%s)", n, (int)err->status,
			 (int)fails, err->sentence);
	assert_non_null(err->field);
	assert_true(err->sentence[0] != '\0');
}

static void sweep_allocations(const struct bytes *b, const struct dec_limits *limits,
			      const uint32_t undisturbed[3])
{
	unsigned calls = 0;

	for (unsigned n = 1; n == 1 || calls >= n - 1; n++) {
		long before = alloc_live();
		uint32_t listed[3];
		struct dec_error err;
		struct memory m;
		enum dec_status status;

		assert_true(n < SWEEP_MAX);
		memory_init(&m, b->p, b->len);
		alloc_fail_at(n);
		status = attempt(&m, limits, listed, &err);
		calls = alloc_calls();
		alloc_fail_at(0);
		assert_int_equal(alloc_live(), before);
		if (status != DEC_E_REFUSED)
			expect_status(&err, DEC_E_NOMEM, n, listed, undisturbed);
	}
}

static void sweep_reads(const struct bytes *b, const struct dec_limits *limits)
{
	struct memory m = { .reads = 1 };

	for (unsigned n = 1; m.reads >= n; n++) {
		long before = alloc_live();
		uint32_t listed[3];
		struct dec_error err;
		enum dec_status status;

		assert_true(n < SWEEP_MAX);
		memory_init(&m, b->p, b->len);
		m.fail_at = n;
		status = attempt(&m, limits, listed, &err);
		assert_int_equal(alloc_live(), before);
		if (m.reads < n)
			return;
		assert_int_equal(status, DEC_E_READ);
		assert_int_equal(err.sys_errno, EIO);
		assert_non_null(err.field);
	}
}

void sweep_failures(const struct bytes *b, const struct dec_limits *limits)
{
	uint32_t undisturbed[3];
	struct dec_error err;
	struct memory m;

	memory_init(&m, b->p, b->len);
	attempt(&m, limits, undisturbed, &err);
	sweep_allocations(b, limits, undisturbed);
	sweep_reads(b, limits);
}

/* ---- tables ----------------------------------------------------------------------------- */

static void print_problems(const struct dec_artifact *a)
{
	for (uint32_t i = 0; i < a->problem_count; i++) {
		const struct dec_problem *p = &a->problems[i];

		print_error("  found %s at %" PRIu64 ", %s: %s%s\n", dec_problem_word(p->code),
			    p->offset, p->field, p->message.p, p->partial ? " (partial)" : "");
	}
}

static bool same_fault(const struct dec_problem *p, const struct fault *f)
{
	return f->field && p->code == f->code &&
	       (f->offset == ANYWHERE || p->offset == f->offset) && strcmp(p->field, f->field) == 0;
}

static void expect_faults(const struct dec_artifact *a, const struct fault *faults, size_t room)
{
	size_t count = 0;
	bool same = true;

	while (count < room && faults[count].field)
		count++;
	same = count == a->problem_count;
	for (size_t i = 0; same && i < count; i++)
		same = same_fault(&a->problems[i], &faults[i]);
	if (same)
		return;
	for (size_t i = 0; i < count; i++)
		print_error("  expected %s at %" PRIu64 ", %s\n", dec_problem_word(faults[i].code),
			    faults[i].offset, faults[i].field);
	print_problems(a);
	fail_msg("other problems than expected");
}

static void build_case(const struct input_case *c, struct bytes *b)
{
	c->build(b);
	for (size_t i = 0; i < COUNT(c->edits) && c->edits[i].width; i++)
		set_le(b, c->edits[i].at, c->edits[i].width, c->edits[i].value);
	if (c->keep)
		b->len = c->keep;
}

void check_input(void **state)
{
	const struct input_case *c = *state;
	struct opened o = { 0 };

	build_case(c, &o.bytes);
	open_input(&o);
	expect_faults(o.a, c->faults, COUNT(c->faults));
	assert_int_equal(o.a->container_count, c->containers);
	assert_int_equal(o.a->object_count, c->objects);
	assert_int_equal(o.a->partial, c->partial);
	sweep_failures(&o.bytes, &o.limits);
	close_input(&o);
}
