/*
 * amd_kernel_code_t, the 256 bytes before the code of a kernel in code objects V1 and V2.
 * docs/formats/amdgpu.md, "amd_kernel_code_t"; AMDKernelCodeT.h.
 */
#include "amdgpu.h"

#include <elf.h>

enum {
	ENTRY_OFFSET = 16,
	RSRC1 = 48,
	RSRC2 = 52,
	PROPERTIES = 56,
	PRIVATE_SIZE = 60,
	GROUP_SIZE = 64,
	KERNARG_SIZE = 72,
	SGPR_COUNT = 84,
	VGPR_COUNT = 86,
	KERNARG_ALIGN_LOG2 = 100,
	WAVEFRONT_LOG2 = 103,
	KERNEL_CODE_SIZE = 256,
};

static void take_log2(struct dec_facts *f, enum dec_fact_id id, uint8_t log2)
{
	if (log2 < 64)
		dec_facts_count(f, id, UINT64_C(1) << log2);
}

static void take_sizes(struct dec_facts *f, const uint8_t *p)
{
	dec_facts_count(f, DEC_FACT_VGPR_COUNT, dec_le16(p + VGPR_COUNT));
	dec_facts_count(f, DEC_FACT_SGPR_COUNT, dec_le16(p + SGPR_COUNT));
	dec_facts_count(f, DEC_FACT_GROUP_SEGMENT_FIXED_SIZE, dec_le32(p + GROUP_SIZE));
	dec_facts_count(f, DEC_FACT_PRIVATE_SEGMENT_FIXED_SIZE, dec_le32(p + PRIVATE_SIZE));
	dec_facts_count(f, DEC_FACT_KERNARG_SEGMENT_SIZE, dec_le64(p + KERNARG_SIZE));
	take_log2(f, DEC_FACT_KERNARG_SEGMENT_ALIGN, p[KERNARG_ALIGN_LOG2]);
	take_log2(f, DEC_FACT_WAVEFRONT_SIZE, p[WAVEFRONT_LOG2]);
}

static bool outside(struct dec_amdgpu *g, uint32_t kernel, uint64_t offset, const char *field,
		    const char *sentence)
{
	return dec_exam_note(g->x, kernel, DEC_PROBLEM_OUT_OF_BOUNDS, offset, field, DEC_PARTIAL,
			     "%s", sentence);
}

/* The symbol covers the structure and the code behind it. */
static bool find_code(struct dec_amdgpu *g, uint32_t kernel, const struct dec_amdgpu_symbol *symbol,
		      struct dec_view head)
{
	uint64_t entry = dec_le64(head.p + ENTRY_OFFSET);

	if (entry < KERNEL_CODE_SIZE || entry > symbol->size ||
	    !dec_amdgpu_locate(g, symbol, entry, symbol->size - entry, &g->x->kernels[kernel].code))
		return outside(g, kernel, head.origin + ENTRY_OFFSET,
			       "kernel_code_entry_byte_offset",
			       "the kernel's code does not lie in its symbol");
	return true;
}

bool dec_amdgpu_kernel_code(struct dec_amdgpu *g, uint32_t kernel,
			    const struct dec_amdgpu_symbol *symbol, struct dec_facts *f, bool bare)
{
	struct dec_range range;
	struct dec_view head;

	if (!dec_amdgpu_locate(g, symbol, 0, KERNEL_CODE_SIZE, &range) ||
	    !dec_payload_slice(&g->x->payload, range.offset, range.size, &head))
		return outside(g, kernel, g->symbols.origin + symbol->index * sizeof(Elf64_Sym),
			       "amd_kernel_code_t", "the structure does not lie in the object");
	dec_facts_count(f, DEC_FACT_COMPUTE_PGM_RSRC1, dec_le32(head.p + RSRC1));
	dec_facts_count(f, DEC_FACT_COMPUTE_PGM_RSRC2, dec_le32(head.p + RSRC2));
	dec_facts_count(f, DEC_FACT_KERNEL_CODE_PROPERTIES, dec_le32(head.p + PROPERTIES));
	if (bare)
		take_sizes(f, head.p);
	return find_code(g, kernel, symbol, head);
}
