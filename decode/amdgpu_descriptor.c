/*
 * The 64-byte kernel descriptor of code objects from V3 on, and how it must agree with the
 * metadata. docs/formats/amdgpu.md, "Kernel descriptor".
 */
#include "amdgpu.h"

#include <elf.h>

/* AMDHSAKernelDescriptor.h, struct kernel_descriptor_t. */
enum {
	GROUP_SIZE = 0,
	PRIVATE_SIZE = 4,
	KERNARG_SIZE = 8,
	ENTRY_OFFSET = 16,
	RSRC3 = 44,
	RSRC1 = 48,
	RSRC2 = 52,
	PROPERTIES = 56,
	PRELOAD = 58,
	DESCRIPTOR_SIZE = 64,
};
enum {
	PROPERTY_WAVE32 = 1 << 10,
	PROPERTY_DYNAMIC_STACK = 1 << 11,
	RSRC1_VGPRS = 0x3f,
	RSRC1_SGPRS_SHIFT = 6,
	RSRC1_SGPRS = 0xf,
	RSRC1_WGP_MODE_SHIFT = 29,
	RSRC2_PRIVATE = 1,
	CODE_ALIGN = 256,
};

/* One descriptor while it is read. */
struct reading {
	struct dec_amdgpu *g;
	uint32_t kernel;
	const struct dec_amdgpu_symbol *symbol;
	struct dec_view d;
	struct dec_facts *f;
};

static uint32_t wave(const struct reading *rd)
{
	return dec_le16(rd->d.p + PROPERTIES) & PROPERTY_WAVE32 ? 32 : 64;
}

static uint32_t dynamic_stack(const struct reading *rd)
{
	return !!(dec_le16(rd->d.p + PROPERTIES) & PROPERTY_DYNAMIC_STACK);
}

/* ---- against the metadata ---------------------------------------------------------------------- */

static bool disagrees(const struct reading *rd, size_t at, const char *field, uint64_t metadata,
		      uint64_t descriptor)
{
	return dec_exam_note(rd->g->x, rd->kernel, DEC_PROBLEM_DESCRIPTOR_DISAGREES,
			     rd->d.origin + at, field, DEC_PARTIAL,
			     "the metadata calls for %llu, the descriptor has %llu",
			     (unsigned long long)metadata, (unsigned long long)descriptor);
}

static bool check(const struct reading *rd, enum dec_fact_id id, size_t at, uint64_t descriptor)
{
	if (!rd->f->has[id] || rd->f->list[id].u == descriptor)
		return true;
	return disagrees(rd, at, dec_fact_key(id), rd->f->list[id].u, descriptor);
}

/* Whether the name of the payload's processor fits a pattern that may end in '*'. */
static bool processor_is(const struct reading *rd, const char *pattern)
{
	const char *name = rd->g->target.name;
	size_t len = strlen(pattern);

	if (pattern[len - 1] == '*')
		return strncmp(name, pattern, len - 1) == 0;
	return strcspn(name, ":") == len && strncmp(name, pattern, len) == 0;
}

/* Registers per unit, 0: not known for this processor. */
static uint32_t vgpr_granule(const struct reading *rd)
{
	static const struct {
		const char *pattern;
		uint32_t wave32, wave64;
	} rows[] = {
#define X(pattern, wave32, wave64) { pattern, wave32, wave64 },
#include "amdgpu_granules.def"
#undef X
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (processor_is(rd, rows[i].pattern))
			return wave(rd) == 32 ? rows[i].wave32 : rows[i].wave64;
	return 0;
}

/* From GFX10 on the hardware gives every wave all scalar registers and ignores the field. */
static uint32_t sgpr_granule(const struct reading *rd)
{
	static const char *const patterns[] = { "gfx6*", "gfx7*", "gfx8*", "gfx9*" };

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (processor_is(rd, patterns[i]))
			return 8;
	return 0;
}

/* A unit less than what the count needs is stored, or more: compilers raise the field for
 * kernels of small work-groups. */
static bool check_registers(const struct reading *rd, enum dec_fact_id id, uint32_t granule,
			    uint32_t stored)
{
	uint64_t count = rd->f->has[id] ? rd->f->list[id].u : 0;
	uint64_t units = granule ? count / granule + (count % granule != 0) : 0;

	if (units <= 1 || stored >= units - 1)
		return true;
	return disagrees(rd, RSRC1, dec_fact_key(id), units - 1, stored);
}

static bool check_resources(const struct reading *rd)
{
	uint32_t rsrc1 = dec_le32(rd->d.p + RSRC1);
	bool gfx10 = processor_is(rd, "gfx1*") && !processor_is(rd, "gfx125*") &&
		     !processor_is(rd, "gfx12-5*");

	if (gfx10 &&
	    !check(rd, DEC_FACT_WORKGROUP_PROCESSOR_MODE, RSRC1, rsrc1 >> RSRC1_WGP_MODE_SHIFT & 1))
		return false;
	return check_registers(rd, DEC_FACT_VGPR_COUNT, vgpr_granule(rd), rsrc1 & RSRC1_VGPRS) &&
	       check_registers(rd, DEC_FACT_SGPR_COUNT, sgpr_granule(rd),
			       rsrc1 >> RSRC1_SGPRS_SHIFT & RSRC1_SGPRS);
}

static bool check_private(const struct reading *rd)
{
	uint32_t enabled = dec_le32(rd->d.p + RSRC2) & RSRC2_PRIVATE;
	uint32_t needed = dec_le32(rd->d.p + PRIVATE_SIZE) || dynamic_stack(rd);

	return enabled == needed || disagrees(rd, RSRC2, "enable_private_segment", needed, enabled);
}

static bool check_all(const struct reading *rd)
{
	const uint8_t *p = rd->d.p;

	return check(rd, DEC_FACT_GROUP_SEGMENT_FIXED_SIZE, GROUP_SIZE, dec_le32(p + GROUP_SIZE)) &&
	       check(rd, DEC_FACT_PRIVATE_SEGMENT_FIXED_SIZE, PRIVATE_SIZE,
		     dec_le32(p + PRIVATE_SIZE)) &&
	       check(rd, DEC_FACT_KERNARG_SEGMENT_SIZE, KERNARG_SIZE, dec_le32(p + KERNARG_SIZE)) &&
	       check(rd, DEC_FACT_WAVEFRONT_SIZE, PROPERTIES, wave(rd)) &&
	       check(rd, DEC_FACT_USES_DYNAMIC_STACK, PROPERTIES, dynamic_stack(rd)) &&
	       check_private(rd) && check_resources(rd);
}

/* ---- what it adds ---------------------------------------------------------------------------------- */

static void take_words(const struct reading *rd)
{
	const uint8_t *p = rd->d.p;

	dec_facts_count(rd->f, DEC_FACT_COMPUTE_PGM_RSRC1, dec_le32(p + RSRC1));
	dec_facts_count(rd->f, DEC_FACT_COMPUTE_PGM_RSRC2, dec_le32(p + RSRC2));
	dec_facts_count(rd->f, DEC_FACT_COMPUTE_PGM_RSRC3, dec_le32(p + RSRC3));
	dec_facts_count(rd->f, DEC_FACT_KERNEL_CODE_PROPERTIES, dec_le16(p + PROPERTIES));
	dec_facts_count(rd->f, DEC_FACT_KERNARG_PRELOAD, dec_le16(p + PRELOAD));
}

static void take_sizes(const struct reading *rd)
{
	const uint8_t *p = rd->d.p;

	dec_facts_count(rd->f, DEC_FACT_GROUP_SEGMENT_FIXED_SIZE, dec_le32(p + GROUP_SIZE));
	dec_facts_count(rd->f, DEC_FACT_PRIVATE_SEGMENT_FIXED_SIZE, dec_le32(p + PRIVATE_SIZE));
	dec_facts_count(rd->f, DEC_FACT_KERNARG_SEGMENT_SIZE, dec_le32(p + KERNARG_SIZE));
	dec_facts_count(rd->f, DEC_FACT_WAVEFRONT_SIZE, wave(rd));
	dec_facts_count(rd->f, DEC_FACT_USES_DYNAMIC_STACK, dynamic_stack(rd));
}

/* ---- code ---------------------------------------------------------------------------------------------- */

/* "name.kd" describes the function "name". */
static const struct dec_amdgpu_symbol *function_of(const struct reading *rd)
{
	struct dec_text name = { (const char *)rd->symbol->name.p, rd->symbol->name.len };

	if (name.len <= 3 || memcmp(name.p + name.len - 3, ".kd", 3) != 0)
		return NULL;
	name.len -= 3;
	return dec_amdgpu_symbol(rd->g, name);
}

/* A relocation fills in the entry offset, so only a linked object has it. */
static bool check_entry(const struct reading *rd, const struct dec_amdgpu_symbol *function)
{
	uint64_t entry = rd->symbol->value + dec_le64(rd->d.p + ENTRY_OFFSET);

	if (rd->g->elf.h.type == ET_REL || (entry == function->value && entry % CODE_ALIGN == 0))
		return true;
	return dec_exam_note(rd->g->x, rd->kernel, DEC_PROBLEM_DESCRIPTOR_DISAGREES,
			     rd->d.origin + ENTRY_OFFSET, "kernel_code_entry_byte_offset",
			     DEC_PARTIAL,
			     "the entry is at address 0x%llx, the kernel's symbol at 0x%llx",
			     (unsigned long long)entry, (unsigned long long)function->value);
}

static bool find_code(const struct reading *rd)
{
	const struct dec_amdgpu_symbol *function = function_of(rd);

	if (!function)
		return true;
	if (!check_entry(rd, function))
		return false;
	if (dec_amdgpu_locate(rd->g, function, 0, function->size,
			      &rd->g->x->kernels[rd->kernel].code))
		return true;
	return dec_exam_note(rd->g->x, rd->kernel, DEC_PROBLEM_OUT_OF_BOUNDS, rd->d.origin, "code",
			     DEC_PARTIAL, "the kernel's code does not lie in the object");
}

bool dec_amdgpu_descriptor(struct dec_amdgpu *g, uint32_t kernel,
			   const struct dec_amdgpu_symbol *symbol, struct dec_facts *f, bool bare)
{
	struct reading rd = { .g = g, .kernel = kernel, .symbol = symbol, .f = f };
	struct dec_range range;

	if (symbol->size != DESCRIPTOR_SIZE)
		return dec_exam_note(g->x, kernel, DEC_PROBLEM_DESCRIPTOR_DISAGREES,
				     g->symbols.origin + symbol->index * sizeof(Elf64_Sym),
				     "descriptor", DEC_PARTIAL,
				     "the descriptor's symbol has %llu bytes instead of %d",
				     (unsigned long long)symbol->size, DESCRIPTOR_SIZE);
	if (!dec_amdgpu_locate(g, symbol, 0, DESCRIPTOR_SIZE, &range) ||
	    !dec_payload_slice(&g->x->payload, range.offset, range.size, &rd.d))
		return dec_exam_note(g->x, kernel, DEC_PROBLEM_OUT_OF_BOUNDS,
				     g->symbols.origin + symbol->index * sizeof(Elf64_Sym),
				     "descriptor", DEC_PARTIAL,
				     "the descriptor does not lie in the object");
	g->x->kernels[kernel].descriptor = range;
	if (!bare && g->elf.h.type != ET_REL && !check_all(&rd))
		return false;
	take_words(&rd);
	if (bare)
		take_sizes(&rd);
	return find_code(&rd);
}
