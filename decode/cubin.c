/* A cubin: an ELF file that only some of the ELF rules hold for. */
#include "cubin.h"

#include <elf.h>
#include <stdlib.h>

/* What no reader of 64-bit little-endian files can go on with. *readable false: it was said. */
static bool open_elf(struct dec_cubin *c, bool *readable)
{
	struct dec_view v = dec_payload_head(&c->x->payload, sizeof(Elf64_Ehdr));

	*readable = false;
	if (v.len < EI_NIDENT || (v.p[EI_CLASS] == ELFCLASS64 && v.len < sizeof(Elf64_Ehdr)))
		return dec_exam_malformed(c->x, DEC_PROBLEM_TRUNCATED, v.origin, "header",
					  "the cubin ends inside its ELF header: it has %zu bytes",
					  v.len);
	if (v.p[EI_DATA] != ELFDATA2LSB)
		return dec_exam_malformed(
			c->x, DEC_PROBLEM_MALFORMED_ELF, v.origin + EI_DATA, "EI_DATA", "%s",
			v.p[EI_DATA] == ELFDATA2MSB
				? "the cubin calls itself big-endian, which none is"
				: "the byte order is not one of ELF's two");
	if (v.p[EI_CLASS] != ELFCLASS64)
		return dec_exam_malformed(
			c->x, DEC_PROBLEM_MALFORMED_ELF, v.origin + EI_CLASS, "EI_CLASS", "%s",
			v.p[EI_CLASS] == ELFCLASS32 ? "32-bit cubins are not read"
						    : "the class is not one of ELF's two");
	*readable = dec_elfview_open(&c->x->payload, &c->elf);
	if (*readable)
		return true;
	return dec_exam_malformed(c->x, DEC_PROBLEM_MALFORMED_ELF, v.origin, "header",
				  "the ELF header cannot be read");
}

static bool kernels(struct dec_cubin *c)
{
	if (!dec_cubin_find_kernels(c) || !dec_cubin_module_info(c))
		return false;
	for (uint32_t i = 0; i < c->kernel_count; i++)
		if (c->kernels[i].index != DEC_NONE && !dec_cubin_kernel_facts(c, &c->kernels[i]))
			return false;
	return dec_exam_note_duplicates(c->x, 0);
}

static bool examine(struct dec_cubin *c)
{
	bool readable;

	if (!open_elf(c, &readable))
		return false;
	if (!readable)
		return true;
	if (!dec_cubin_read_flags(c) || !dec_cubin_load_sections(c) || !dec_cubin_find_target(c))
		return false;
	if (c->section_count && !kernels(c))
		return false;
	return dec_cubin_metadata(c);
}

bool dec_exam_cubin(struct dec_exam *x)
{
	struct dec_cubin c = { .x = x };
	bool ok = examine(&c);

	free(c.sections);
	free(c.parts);
	free(c.texts);
	free(c.kernels);
	free(c.params);
	return ok;
}
