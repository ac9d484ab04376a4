/* Examining one payload: what it is decides who examines it. */
#include "inspect_internal.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* The inspection as it is owned: the public part and what it lives in. */
struct owned {
	struct dec_inspection out; /* first */
	struct dec_arena arena;
	struct dec_kernel *kernels;
	struct dec_problem *problems;
};

/* A payload of 12,000 kernels can have one remark on each; more is noise. */
#define PROBLEMS_MAX 16384

/* ---- problems ------------------------------------------------------------------------ */

static bool problem_room(struct dec_exam *x)
{
	uint32_t room = x->problem_room ? x->problem_room * 2 : 8;
	struct dec_problem *bigger;

	if (x->out->problem_count < x->problem_room)
		return true;
	bigger = reallocarray(x->problems, room, sizeof(*bigger));
	if (!bigger)
		return false;
	x->problems = bigger;
	x->problem_room = room;
	return true;
}

static void chain(struct dec_exam *x, uint32_t kernel, uint32_t index)
{
	struct dec_problem_list *list;

	if (kernel == DEC_NONE)
		return;
	list = &x->kernels[kernel].problems;
	if (list->first == DEC_NONE)
		list->first = index;
	else
		x->problems[list->last].next = index;
	list->last = index;
}

__attribute__((format(printf, 7, 0))) static bool add(struct dec_exam *x, uint32_t kernel,
						      enum dec_problem_code code, uint64_t offset,
						      const char *field, bool partial,
						      const char *format, va_list args)
{
	struct dec_problem p = {
		.code = code,
		.offset = offset,
		.field = field,
		.container = x->object->container,
		.object = kernel,
		.next = DEC_NONE,
		.partial = partial,
	};
	char sentence[256];

	if (x->out->problem_count >= x->problems_max) {
		x->problems_dropped++;
		return true;
	}
	vsnprintf(sentence, sizeof(sentence), format, args);
	if (!dec_exam_text(x, (struct dec_view){ (const uint8_t *)sentence, strlen(sentence), 0 },
			   &p.message) ||
	    !problem_room(x))
		return false;
	x->problems[x->out->problem_count] = p;
	chain(x, kernel, x->out->problem_count++);
	return true;
}

bool dec_exam_note(struct dec_exam *x, uint32_t kernel, enum dec_problem_code code, uint64_t offset,
		   const char *field, enum dec_severity severity, const char *format, ...)
{
	va_list args;
	bool ok;

	if (severity == DEC_PARTIAL && x->out->state == DEC_STATE_COMPLETE)
		x->out->state = DEC_STATE_PARTIAL;
	va_start(args, format);
	ok = add(x, kernel, code, offset, field, severity == DEC_PARTIAL, format, args);
	va_end(args);
	return ok;
}

bool dec_exam_malformed(struct dec_exam *x, enum dec_problem_code code, uint64_t offset,
			const char *field, const char *format, ...)
{
	va_list args;
	bool ok;

	x->out->state = DEC_STATE_MALFORMED;
	va_start(args, format);
	ok = add(x, DEC_NONE, code, offset, field, true, format, args);
	va_end(args);
	return ok;
}

/* ---- what an inspection keeps ----------------------------------------------------------- */

void *dec_exam_array(struct dec_exam *x, size_t count, size_t size)
{
	return dec_arena_array(x->arena, count, size);
}

bool dec_exam_text(struct dec_exam *x, struct dec_view v, struct dec_text *out)
{
	char *copy = dec_exam_array(x, v.len + 1, 1);

	if (!copy)
		return false;
	memcpy(copy, v.p, v.len);
	*out = (struct dec_text){ copy, v.len };
	return true;
}

bool dec_exam_kernel(struct dec_exam *x, const struct dec_kernel *kernel, uint32_t *index)
{
	*index = x->out->kernel_count;
	if (*index == x->kernel_room) {
		uint32_t room = x->kernel_room ? x->kernel_room * 2 : 16;
		struct dec_kernel *bigger = reallocarray(x->kernels, room, sizeof(*bigger));

		if (!bigger)
			return false;
		x->kernels = bigger;
		x->kernel_room = room;
	}
	x->kernels[*index] = *kernel;
	x->kernels[*index].problems.first = DEC_NONE;
	x->out->kernel_count++;
	return true;
}

bool dec_exam_target(struct dec_exam *x, enum dec_evidence evidence,
		     const struct dec_declared *target, struct dec_view raw)
{
	struct dec_view name = { (const uint8_t *)target->name, strlen(target->name), 0 };

	x->out->evidence = evidence;
	return dec_exam_text(x, name, &x->out->payload_target) &&
	       dec_exam_text(x, raw, &x->out->payload_target_raw);
}

/* ---- facts ---------------------------------------------------------------------------------- */

static struct dec_fact *set(struct dec_facts *f, enum dec_fact_id id)
{
	f->has[id] = true;
	f->list[id].id = id;
	return &f->list[id];
}

void dec_facts_count(struct dec_facts *f, enum dec_fact_id id, uint64_t value)
{
	set(f, id)->u = value;
}

void dec_facts_triple(struct dec_facts *f, enum dec_fact_id id, uint32_t x, uint32_t y, uint32_t z)
{
	struct dec_fact *fact = set(f, id);

	fact->triple[0] = x;
	fact->triple[1] = y;
	fact->triple[2] = z;
}

void dec_facts_text(struct dec_facts *f, enum dec_fact_id id, struct dec_text text)
{
	set(f, id)->text = text;
}

bool dec_facts_keep(struct dec_exam *x, const struct dec_facts *f, struct dec_kernel *kernel)
{
	struct dec_fact *kept;
	uint32_t count = 0;

	for (size_t id = 0; id < DEC_FACT_COUNT; id++)
		count += f->has[id];
	kept = dec_exam_array(x, count, sizeof(*kept));
	if (!kept)
		return false;
	kernel->facts = kept;
	kernel->fact_count = count;
	for (size_t id = 0; id < DEC_FACT_COUNT; id++)
		if (f->has[id])
			*kept++ = f->list[id];
	return true;
}

const struct dec_fact *dec_kernel_fact(const struct dec_kernel *kernel, enum dec_fact_id id)
{
	for (uint32_t i = 0; i < kernel->fact_count; i++)
		if (kernel->facts[i].id == id)
			return &kernel->facts[i];
	return NULL;
}

/* ---- representations -------------------------------------------------------------------------- */

/* Kinds that nobody examines keep what the inventory says. */
static bool exam_unsupported(struct dec_exam *x)
{
	x->out->state = DEC_STATE_UNSUPPORTED;
	return true;
}

static bool exam_empty(struct dec_exam *x)
{
	(void)x;
	return true;
}

static bool (*const examiners[])(struct dec_exam *x) = {
	[DEC_REPRESENTATION_UNKNOWN] = exam_unsupported,
	[DEC_REPRESENTATION_CUBIN] = dec_exam_cubin,
	[DEC_REPRESENTATION_PTX] = dec_exam_ptx,
	[DEC_REPRESENTATION_LTO_IR] = exam_unsupported,
	[DEC_REPRESENTATION_AMDGPU_ELF] = dec_exam_amdgpu,
	[DEC_REPRESENTATION_LLVM_BITCODE] = exam_unsupported,
	[DEC_REPRESENTATION_LLVM_BITCODE_WRAPPED] = exam_unsupported,
	[DEC_REPRESENTATION_SPIRV] = exam_unsupported,
	[DEC_REPRESENTATION_EMPTY] = exam_empty,
	[DEC_REPRESENTATION_ELF_OTHER] = exam_unsupported,
};

static const struct {
	const char *magic;
	enum dec_representation representation;
} magics[] = {
	{ "BC\xc0\xde", DEC_REPRESENTATION_LLVM_BITCODE },
	{ "\xde\xc0\x17\x0b", DEC_REPRESENTATION_LLVM_BITCODE_WRAPPED },
	{ "\x03\x02\x23\x07", DEC_REPRESENTATION_SPIRV },
	{ "\x07\x23\x02\x03", DEC_REPRESENTATION_SPIRV },
	{ "\xed\x43\x4e\x7f", DEC_REPRESENTATION_LTO_IR },
};

static enum dec_representation elf_representation(struct dec_view v)
{
	uint16_t machine = v.len >= offsetof(Elf64_Ehdr, e_version)
				   ? dec_le16(v.p + offsetof(Elf64_Ehdr, e_machine))
				   : 0;

	if (machine == DEC_EM_CUDA)
		return DEC_REPRESENTATION_CUBIN;
	return machine == DEC_EM_AMDGPU ? DEC_REPRESENTATION_AMDGPU_ELF
					: DEC_REPRESENTATION_ELF_OTHER;
}

static enum dec_representation representation(const struct dec_payload *payload)
{
	struct dec_view v = dec_payload_head(payload, 4);
	struct dec_declared declared;
	struct dec_view raw;

	if (payload->len == 0)
		return DEC_REPRESENTATION_EMPTY;
	if (dec_starts(v, ELFMAG, SELFMAG))
		return elf_representation(dec_payload_head(payload, sizeof(Elf64_Ehdr)));
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (dec_starts(v, magics[i].magic, 4))
			return magics[i].representation;
	return dec_ptx_head(dec_payload_head(payload, DEC_PTX_HEAD), &declared, &raw)
		       ? DEC_REPRESENTATION_PTX
		       : DEC_REPRESENTATION_UNKNOWN;
}

/* What a fatbin's entry says it is, it has to be; other headers do not speak of the bytes. */
static bool check_kind(struct dec_exam *x)
{
	static const struct {
		enum dec_kind kind;
		enum dec_representation expected;
		const char *sentence;
	} rows[] = {
		{ DEC_KIND_CUBIN, DEC_REPRESENTATION_CUBIN,
		  "the entry's kind is cubin, its bytes are none" },
		{ DEC_KIND_PTX, DEC_REPRESENTATION_PTX,
		  "the entry's kind is PTX, its bytes do not begin as PTX" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (x->object->kind == rows[i].kind &&
		    x->object->target_kind == DEC_TARGET_FATBIN_ENTRY &&
		    x->out->representation != rows[i].expected &&
		    x->out->representation != DEC_REPRESENTATION_EMPTY)
			return dec_exam_note(x, DEC_NONE, DEC_PROBLEM_BAD_MAGIC, x->payload.origin,
					     "payload", DEC_PARTIAL, "%s", rows[i].sentence);
	return true;
}

/* ---- consistency -------------------------------------------------------------------------------- */

static bool note_conflict(struct dec_exam *x)
{
	struct dec_inspection *out = x->out;
	uint64_t offset = x->payload.origin;

	if (out->consistency != DEC_CONSISTENCY_CONFLICT)
		return true;
	for (uint32_t k = 0; k < out->kernel_count; k++)
		if (!dec_exam_note(x, k, DEC_PROBLEM_TARGET_CONFLICT, offset, "target", DEC_PARTIAL,
				   "the inventory declares %s, the payload %s", x->object->target.p,
				   out->payload_target.p))
			return false;
	return dec_exam_note(x, DEC_NONE, DEC_PROBLEM_TARGET_CONFLICT, offset, "target",
			     DEC_PARTIAL, "the inventory declares %s, the payload %s",
			     x->object->target.p, out->payload_target.p);
}

static bool compare(struct dec_exam *x)
{
	struct dec_inspection *out = x->out;

	out->consistency = dec_compare_targets(x->object->target_kind, x->object->target.p,
					       out->evidence, out->payload_target.p);
	return note_conflict(x);
}

/* ---- making and freeing --------------------------------------------------------------------------- */

static struct owned *owned_new(struct dec_error *err)
{
	struct owned *o = calloc(1, sizeof(*o));

	*err = (struct dec_error){ .status = o ? DEC_OK : DEC_E_NOMEM, .field = "inspection" };
	if (!o)
		return NULL;
	o->out.payload_target = (struct dec_text){ dec_absent, 0 };
	o->out.payload_target_raw = (struct dec_text){ dec_absent, 0 };
	o->out.state = DEC_STATE_COMPLETE;
	return o;
}

/* One more than PROBLEMS_MAX, so that the list never ends in silence. */
static bool note_dropped(struct dec_exam *x)
{
	uint64_t dropped = x->problems_dropped;

	if (dropped == 0)
		return true;
	x->problems_max++;
	return dec_exam_note(x, DEC_NONE, DEC_PROBLEM_LIMIT, x->payload.origin, "problems",
			     DEC_PARTIAL, "%llu more problems are not listed",
			     (unsigned long long)dropped);
}

static struct dec_inspection *finish(struct owned *o, struct dec_exam *x, bool ok,
				     struct dec_error *err)
{
	o->kernels = x->kernels;
	o->problems = x->problems;
	o->out.kernels = o->kernels;
	o->out.problems = o->problems;
	o->out.memory = sizeof(*o) + dec_arena_size(&o->arena) +
			x->kernel_room * sizeof(*o->kernels) +
			x->problem_room * sizeof(*o->problems);
	if (ok)
		return &o->out;
	*err = (struct dec_error){ .status = DEC_E_NOMEM, .field = "inspection" };
	snprintf(err->sentence, sizeof(err->sentence), "out of memory");
	dec_inspection_free(&o->out);
	return NULL;
}

static struct dec_exam exam(struct owned *o, const struct dec_artifact *artifact, uint32_t object)
{
	const struct dec_object *of = &artifact->objects[object];
	bool stored = of->codec == DEC_CODEC_NONE && of->space == DEC_SPACE_ARTIFACT;

	return (struct dec_exam){
		.artifact = artifact,
		.object = of,
		.payload = { .origin = stored ? of->encoded.offset : 0 },
		.arena = &o->arena,
		.out = &o->out,
		.problems_max = PROBLEMS_MAX,
	};
}

static bool inspect(struct dec_exam *x)
{
	x->out->representation = representation(&x->payload);
	return check_kind(x) && examiners[x->out->representation](x) && compare(x) &&
	       note_dropped(x);
}

struct dec_inspection *dec_inspect(const struct dec_artifact *artifact, uint32_t object,
				   const void *payload, size_t size, unsigned wants,
				   struct dec_error *err)
{
	struct owned *o = owned_new(err);
	struct dec_exam x;

	if (!o)
		return NULL;
	x = exam(o, artifact, object);
	x.payload.bytes = payload;
	x.payload.len = size;
	x.wants = wants;
	return finish(o, &x, inspect(&x), err);
}

struct dec_inspection *dec_inspect_source(const struct dec_artifact *artifact, uint32_t object,
					  const struct dec_source *payload, void *room,
					  unsigned wants, struct dec_error *err)
{
	struct owned *o = owned_new(err);
	struct dec_loader loader;
	struct dec_exam x;
	bool ok;

	if (!o)
		return NULL;
	x = exam(o, artifact, object);
	x.payload.len = (size_t)payload->size;
	x.wants = wants;
	ok = dec_payload_load(&x.payload, &loader, payload, room) && inspect(&x);
	dec_payload_close(&x.payload);
	if (loader.error == 0)
		return finish(o, &x, ok, err);
	finish(o, &x, false, err);
	*err = (struct dec_error){
		.status = DEC_E_READ,
		.sys_errno = -loader.error,
		.field = "payload",
	};
	return NULL;
}

struct dec_inspection *dec_inspect_without(const struct dec_artifact *artifact, uint32_t object,
					   const struct dec_error *why, struct dec_error *err)
{
	struct owned *o = owned_new(err);
	struct dec_exam x;
	bool ok = true;

	if (!o)
		return NULL;
	x = exam(o, artifact, object);
	o->out.state = DEC_STATE_UNSUPPORTED;
	o->out.consistency = DEC_CONSISTENCY_UNKNOWN;
	if (why)
		ok = dec_exam_malformed(&x, why->code, why->offset, why->field, "%s",
					why->sentence);
	return finish(o, &x, ok, err);
}

void dec_inspection_free(struct dec_inspection *inspection)
{
	struct owned *o = (struct owned *)inspection;

	if (!o)
		return;
	free(o->kernels);
	free(o->problems);
	dec_arena_fini(&o->arena);
	free(o);
}
