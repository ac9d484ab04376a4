/* What .nv.info and the sections of a kernel say of it. docs/formats/cubin.md, "Facts". */
#include "cubin.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Attribute numbers; their names for display are in nv_info.def. */
enum {
	ATTR_MAX_THREADS = 0x05,
	ATTR_PARAM_CBANK = 0x0a,
	ATTR_REQNTID = 0x10,
	ATTR_FRAME_SIZE = 0x11,
	ATTR_MIN_STACK_SIZE = 0x12,
	ATTR_KPARAM_INFO = 0x17,
	ATTR_CBANK_PARAM_SIZE = 0x19,
	ATTR_MAXREG_COUNT = 0x1b,
	ATTR_REGCOUNT = 0x2f,
	ATTR_CUDA_API_VERSION = 0x37,
	ATTR_CTA_PER_CLUSTER = 0x3d,
	ATTR_EXPLICIT_CLUSTER = 0x3e,
	ATTR_MAX_CLUSTER_RANK = 0x3f,
	ATTR_KPARAM_INFO_V2 = 0x45,
	ATTR_NUM_BARRIERS = 0x4c,
};

#define NO_LIMIT 0xff /* MAXREG_COUNT of a kernel without one */
#define STACK_UNKNOWN UINT32_MAX /* MIN_STACK_SIZE of a recursion */
/* From here on: registers not in sh_info, 1 KiB of shared memory kept for the system. */
#define SM_HOPPER 90
#define RESERVED_SHARED 1024
#define TOOLKIT_12_0 0x78 /* e_version, ABI 7 */

/* ---- records --------------------------------------------------------------------------------------- */

bool dec_info_next(struct dec_view *v, struct dec_info_record *r, const char **fault)
{
	size_t size = 4;

	*fault = NULL;
	if (v->len == 0)
		return false;
	if (v->len < size) {
		*fault = "a record is cut";
		return false;
	}
	*r = (struct dec_info_record){ .format = v->p[0], .attribute = v->p[1], .at = v->origin };
	if (r->format < DEC_INFO_BARE || r->format > DEC_INFO_SIZED) {
		*fault = "a record has a format that is none of the four";
		return false;
	}
	r->bytes = (struct dec_view){ v->p + size, 0, v->origin + size };
	if (r->format == DEC_INFO_BYTE)
		r->value = v->p[2];
	else if (r->format == DEC_INFO_HALF)
		r->value = dec_le16(v->p + 2);
	else if (r->format == DEC_INFO_SIZED &&
		 !dec_slice(*v, size, dec_le16(v->p + 2), &r->bytes)) {
		*fault = "a record is longer than its section";
		return false;
	}
	size += r->bytes.len;
	*v = (struct dec_view){ v->p + size, v->len - size, v->origin + size };
	return true;
}

static bool note_info(struct dec_cubin *c, uint32_t kernel, uint64_t at, enum dec_severity severity,
		      const char *sentence)
{
	return dec_exam_note(c->x, kernel, DEC_PROBLEM_MALFORMED_INFO, at, ".nv.info", severity,
			     "%s", sentence);
}

/* ---- the module's ---------------------------------------------------------------------------------- */

/* The first kernel with this symbol; NULL: it is no kernel's. */
static struct dec_cubin_kernel *kernel_of(const struct dec_cubin *c, uint64_t symbol)
{
	uint32_t from = 0, to = c->kernel_count;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (c->kernels[middle].symbol < symbol)
			from = middle + 1;
		else
			to = middle;
	}
	return from < c->kernel_count && c->kernels[from].symbol == symbol ? &c->kernels[from]
									   : NULL;
}

static void keep_value(struct dec_cubin_kernel *k, uint8_t attribute, uint32_t value)
{
	switch (attribute) {
	case ATTR_REGCOUNT:
		k->has_registers = true;
		k->registers = value;
		break;
	case ATTR_FRAME_SIZE:
		k->has_frame = true;
		k->frame = value;
		break;
	default:
		k->has_min_stack = value != STACK_UNKNOWN;
		k->min_stack = value;
		break;
	}
}

static bool module_record(struct dec_cubin *c, const struct dec_info_record *r)
{
	struct dec_cubin_kernel *k;
	uint32_t symbol;

	if (r->attribute != ATTR_REGCOUNT && r->attribute != ATTR_FRAME_SIZE &&
	    r->attribute != ATTR_MIN_STACK_SIZE)
		return true;
	if (r->bytes.len != 8)
		return note_info(c, DEC_NONE, r->at, DEC_PARTIAL,
				 "a record that should name a symbol and a value does not");
	symbol = dec_le32(r->bytes.p);
	if (c->symbol_count && symbol >= c->symbol_count)
		return dec_exam_note(c->x, DEC_NONE, DEC_PROBLEM_MALFORMED_INFO, r->bytes.origin,
				     ".nv.info", DEC_PARTIAL,
				     "a record speaks of symbol %" PRIu32 " of %" PRIu64, symbol,
				     c->symbol_count);
	k = kernel_of(c, symbol);
	if (k)
		keep_value(k, r->attribute, dec_le32(r->bytes.p + 4));
	return true;
}

bool dec_cubin_is_module_info(const struct dec_cubin *c, const struct dec_elfsection *s)
{
	static const char name[] = ".nv.info";

	if (s->type != DEC_SHT_NV_INFO)
		return false;
	if (!c->named)
		return s->info == 0;
	return s->name.len == strlen(name) && dec_starts(s->name, name, strlen(name));
}

bool dec_cubin_module_info(struct dec_cubin *c)
{
	for (uint64_t i = 1; i < c->section_count; i++) {
		struct dec_view v = dec_elfview_bytes(&c->elf, &c->sections[i]);
		struct dec_info_record r;
		const char *fault;

		if (!dec_cubin_is_module_info(c, &c->sections[i]))
			continue;
		while (dec_info_next(&v, &r, &fault))
			if (!module_record(c, &r))
				return false;
		if (fault && !note_info(c, DEC_NONE, v.origin, DEC_PARTIAL, fault))
			return false;
	}
	return true;
}

/* ---- parameters ------------------------------------------------------------------------------------ */

static bool add_param(struct dec_cubin *c, const struct dec_info_record *r)
{
	struct dec_cubin_param *p;
	uint32_t last = dec_le32(r->bytes.p + 8);
	bool v2 = r->attribute == ATTR_KPARAM_INFO_V2;

	if (c->param_count == c->param_room) {
		uint32_t room = c->param_room ? c->param_room * 2 : 32;
		struct dec_cubin_param *bigger = reallocarray(c->params, room, sizeof(*bigger));

		if (!bigger)
			return false;
		c->params = bigger;
		c->param_room = room;
	}
	p = &c->params[c->param_count++];
	*p = (struct dec_cubin_param){
		.ordinal = dec_le16(r->bytes.p + 4),
		.offset = dec_le16(r->bytes.p + 6),
		.size = v2 ? last : last >> 18,
		.word = v2 ? 0 : last,
	};
	return true;
}

static int compare_params(const void *va, const void *vb)
{
	const struct dec_cubin_param *a = va, *b = vb;

	if (a->ordinal != b->ordinal)
		return a->ordinal < b->ordinal ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Space of what a parameter points at: bits 8 to 11. */
static bool keep_space(struct dec_exam *x, uint32_t word, struct dec_text *out)
{
	static const char *const spaces[] = {
		[1] = "local", [2] = "shared", [4] = "global_or_const", [5] = "generic"
	};
	uint32_t space = word >> 8 & 15;
	char number[8];

	if (space == 0)
		return true;
	if (space < sizeof(spaces) / sizeof(spaces[0]) && spaces[space]) {
		*out = (struct dec_text){ spaces[space], strlen(spaces[space]) };
		return true;
	}
	snprintf(number, sizeof(number), "0x%x", (unsigned)space);
	return dec_exam_text(x, (struct dec_view){ (const uint8_t *)number, strlen(number), 0 },
			     out);
}

static bool keep_param(struct dec_exam *x, const struct dec_cubin_param *p, struct dec_arg *arg)
{
	static const struct dec_text absent = { dec_absent, 0 };
	uint32_t log2_align = p->word & 0xff;
	bool pointer = p->word >> 8 & 15;

	*arg = (struct dec_arg){
		.name = absent,
		.type = absent,
		.kind = absent,
		.address_space = absent,
		.access = absent,
		.offset = p->offset,
		.size = p->size,
		.align = pointer && log2_align < 63 ? (uint64_t)1 << log2_align : DEC_UNSTATED,
	};
	return keep_space(x, p->word, &arg->address_space);
}

static bool keep_params(struct dec_cubin *c, const struct dec_cubin_kernel *k,
			struct dec_kernel *kernel)
{
	struct dec_arg *args;
	bool claimed;

	if (!dec_exam_claim_args(c->x, &c->budget, dec_cubin_section_at(c, k->info, 0),
				 c->param_count, &claimed))
		return false;
	if (!claimed || c->param_count == 0)
		return true;
	qsort(c->params, c->param_count, sizeof(*c->params), compare_params);
	args = dec_exam_array(c->x, c->param_count, sizeof(*args));
	if (!args)
		return false;
	for (uint32_t i = 0; i < c->param_count; i++)
		if (!keep_param(c->x, &c->params[i], &args[i]))
			return false;
	kernel->args = args;
	kernel->arg_count = c->param_count;
	return true;
}

/* ---- a kernel's own attributes --------------------------------------------------------------------- */

/* Sized attributes that are facts as they stand. */
static const struct {
	uint8_t attribute, words;
	enum dec_fact_id fact;
} sized_facts[] = {
	{ ATTR_MAX_THREADS, 3, DEC_FACT_MAX_THREADS },
	{ ATTR_REQNTID, 3, DEC_FACT_REQUIRED_THREADS },
	{ ATTR_CTA_PER_CLUSTER, 3, DEC_FACT_CLUSTER },
	{ ATTR_MAX_CLUSTER_RANK, 1, DEC_FACT_MAX_CLUSTER_RANK },
};

/* What must be sized so, to be read. */
static size_t wanted_size(uint8_t attribute)
{
	switch (attribute) {
	case ATTR_PARAM_CBANK:
		return 8;
	case ATTR_KPARAM_INFO:
	case ATTR_KPARAM_INFO_V2:
		return 12;
	case ATTR_CUDA_API_VERSION:
		return 4;
	}
	for (size_t i = 0; i < sizeof(sized_facts) / sizeof(sized_facts[0]); i++)
		if (sized_facts[i].attribute == attribute)
			return (size_t)4 * sized_facts[i].words;
	return 0;
}

/* Toolkit * 10: 130 is 13.0. */
static bool api_version(struct dec_cubin *c, struct dec_facts *f, uint32_t version)
{
	struct dec_text text;
	char decimal[24];

	snprintf(decimal, sizeof(decimal), "%" PRIu32 ".%" PRIu32, version / 10, version % 10);
	if (!dec_exam_text(c->x, (struct dec_view){ (const uint8_t *)decimal, strlen(decimal), 0 },
			   &text))
		return false;
	dec_facts_text(f, DEC_FACT_API_VERSION, text);
	return true;
}

static bool sized_record(struct dec_cubin *c, struct dec_facts *f, const struct dec_info_record *r)
{
	const uint8_t *p = r->bytes.p;

	switch (r->attribute) {
	case ATTR_KPARAM_INFO:
	case ATTR_KPARAM_INFO_V2:
		return add_param(c, r);
	case ATTR_CUDA_API_VERSION:
		return api_version(c, f, dec_le32(p));
	case ATTR_PARAM_CBANK:
		dec_facts_count(f, DEC_FACT_PARAM_BASE, dec_le16(p + 4));
		return true;
	}
	for (size_t i = 0; i < sizeof(sized_facts) / sizeof(sized_facts[0]); i++) {
		if (sized_facts[i].attribute != r->attribute)
			continue;
		if (sized_facts[i].words == 1)
			dec_facts_count(f, sized_facts[i].fact, dec_le32(p));
		else
			dec_facts_triple(f, sized_facts[i].fact, dec_le32(p), dec_le32(p + 4),
					 dec_le32(p + 8));
	}
	return true;
}

static void short_record(struct dec_facts *f, const struct dec_info_record *r)
{
	switch (r->attribute) {
	case ATTR_CBANK_PARAM_SIZE:
		dec_facts_count(f, DEC_FACT_PARAM_BYTES, r->value);
		break;
	case ATTR_MAXREG_COUNT:
		if (r->value != NO_LIMIT)
			dec_facts_count(f, DEC_FACT_MAX_REGISTERS, r->value);
		break;
	case ATTR_NUM_BARRIERS:
		dec_facts_count(f, DEC_FACT_BARRIERS, r->value);
		break;
	case ATTR_EXPLICIT_CLUSTER:
		dec_facts_count(f, DEC_FACT_EXPLICIT_CLUSTER, 1);
		break;
	}
}

static bool kernel_record(struct dec_cubin *c, const struct dec_cubin_kernel *k,
			  struct dec_facts *f, const struct dec_info_record *r)
{
	size_t wanted = wanted_size(r->attribute);

	if (!wanted) {
		short_record(f, r);
		return true;
	}
	if (r->bytes.len != wanted)
		return dec_exam_note(c->x, k->index, DEC_PROBLEM_MALFORMED_INFO, r->at, ".nv.info",
				     DEC_PARTIAL, "attribute 0x%02x has %zu bytes, not %zu",
				     r->attribute, r->bytes.len, wanted);
	return sized_record(c, f, r);
}

/* What an attribute that is not there says: none. Only where all of them could be read. */
static void defaults(const struct dec_cubin *c, struct dec_facts *f)
{
	if (!f->has[DEC_FACT_PARAM_BYTES])
		dec_facts_count(f, DEC_FACT_PARAM_BYTES, 0);
	if (c->abi >= DEC_CUBIN_ABI_8 && !f->has[DEC_FACT_BARRIERS])
		dec_facts_count(f, DEC_FACT_BARRIERS, 0);
}

static bool own_info(struct dec_cubin *c, const struct dec_cubin_kernel *k, struct dec_facts *f)
{
	const struct dec_elfsection *s = &c->sections[k->info];
	struct dec_view v = dec_elfview_bytes(&c->elf, s);
	struct dec_info_record r;
	const char *fault;

	c->param_count = 0;
	if (!k->info || !s->inside)
		return true;
	while (dec_info_next(&v, &r, &fault))
		if (!kernel_record(c, k, f, &r))
			return false;
	if (fault)
		return note_info(c, k->index, v.origin, DEC_PARTIAL, fault);
	defaults(c, f);
	return true;
}

/* ---- what sections say ------------------------------------------------------------------------------- */

static bool registers(struct dec_cubin *c, const struct dec_cubin_kernel *k, struct dec_facts *f)
{
	uint32_t info = k->text ? c->sections[k->text].info : 0;
	uint32_t by_section = c->sm < SM_HOPPER ? info >> 24 : 0;

	if (k->has_registers)
		dec_facts_count(f, DEC_FACT_REGISTERS, k->registers);
	else if (by_section)
		dec_facts_count(f, DEC_FACT_REGISTERS, by_section);
	if (!k->has_registers || !by_section || k->registers == by_section)
		return true;
	return dec_exam_note(c->x, k->index, DEC_PROBLEM_MALFORMED_INFO,
			     dec_cubin_section_at(c, k->text, offsetof(Elf64_Shdr, sh_info)),
			     "sh_info", DEC_COMPLETE,
			     "the code's section says %" PRIu32 " registers, .nv.info %" PRIu32,
			     by_section, k->registers);
}

static void static_shared(const struct dec_cubin *c, const struct dec_cubin_kernel *k,
			  struct dec_facts *f)
{
	uint32_t section = c->parts[k->text].shared;
	uint64_t size = section ? c->sections[section].size : 0;
	bool linked = c->elf.h.type == ET_EXEC && c->sm >= SM_HOPPER && size >= RESERVED_SHARED;

	/* Before the device link nothing is assigned yet; without names nothing is known. */
	if (c->elf.h.type == ET_REL || !c->named)
		return;
	if (linked && c->abi >= DEC_CUBIN_ABI_8) {
		size -= RESERVED_SHARED;
	} else if (linked && c->elf.h.version >= TOOLKIT_12_0) {
		size -= RESERVED_SHARED;
		dec_facts_count(f, DEC_FACT_STATIC_SHARED_ESTIMATED, 1);
	}
	dec_facts_count(f, DEC_FACT_STATIC_SHARED_BYTES, size);
}

static struct dec_text binding_word(uint8_t binding)
{
	switch (binding) {
	case STB_LOCAL:
		return (struct dec_text){ "local", strlen("local") };
	case STB_GLOBAL:
		return (struct dec_text){ "global", strlen("global") };
	case STB_WEAK:
		return (struct dec_text){ "weak", strlen("weak") };
	}
	return (struct dec_text){ "other", strlen("other") };
}

static void symbol_facts(const struct dec_cubin_kernel *k, struct dec_facts *f)
{
	if (k->has_frame)
		dec_facts_count(f, DEC_FACT_STACK_FRAME_BYTES, k->frame);
	if (k->has_min_stack)
		dec_facts_count(f, DEC_FACT_MIN_STACK_BYTES, k->min_stack);
	if (k->bound)
		dec_facts_text(f, DEC_FACT_BINDING, binding_word(k->binding));
	dec_facts_count(f, DEC_FACT_CODE_BYTES, k->size);
}

static bool section_facts(struct dec_cubin *c, const struct dec_cubin_kernel *k,
			  struct dec_facts *f)
{
	const struct dec_elfsection *text = &c->sections[k->text];
	uint32_t constant0 = c->parts[k->text].constant0;

	if (!k->text)
		return registers(c, k, f);
	static_shared(c, k, f);
	if (constant0)
		dec_facts_count(f, DEC_FACT_CONSTANT0_BYTES, c->sections[constant0].size);
	if (c->abi < DEC_CUBIN_ABI_8)
		dec_facts_count(f, DEC_FACT_BARRIERS, text->flags >> 20 & 0x7f);
	return registers(c, k, f);
}

bool dec_cubin_kernel_facts(struct dec_cubin *c, struct dec_cubin_kernel *k)
{
	struct dec_facts facts = { 0 };
	struct dec_kernel *kernel = &c->x->kernels[k->index];

	symbol_facts(k, &facts);
	return own_info(c, k, &facts) && section_facts(c, k, &facts) && keep_params(c, k, kernel) &&
	       dec_facts_keep(c->x, &facts, kernel);
}
