/*
 * Examines one AMDGPU code object: header, notes, target, symbols, kernels, in this order,
 * because each needs the ones before it. docs/formats/amdgpu.md.
 */
#include "amdgpu.h"

#include <elf.h>

enum { NOTE_CODE_OBJECT_VERSION = 1, FINALIZER_MAJOR = 1 };

static uint64_t at(const struct dec_amdgpu *g, size_t offset)
{
	return g->x->payload.origin + offset;
}

static bool is_hsa(const struct dec_amdgpu *g)
{
	return g->elf.h.osabi == DEC_OSABI_AMDHSA;
}

static bool is_old(const struct dec_amdgpu *g)
{
	return is_hsa(g) && g->elf.h.abiversion == DEC_ABI_V2;
}

/* ---- what cannot be read as a 64-bit object ---------------------------------------------------- */

/* 32-bit objects are for r600, which has no kernels in this sense. */
static bool exam_r600(struct dec_amdgpu *g)
{
	dec_declare_amdgpu_flags(&g->target, g->elf.h.flags, g->elf.h.osabi, g->elf.h.abiversion);
	g->x->out->state = DEC_STATE_UNSUPPORTED;
	return dec_exam_note(g->x, DEC_NONE, DEC_PROBLEM_UNSUPPORTED_VERSION, at(g, EI_CLASS),
			     "EI_CLASS", DEC_COMPLETE, "kernels of 32-bit objects are not read");
}

static bool exam_no_elf64(struct dec_amdgpu *g)
{
	struct dec_view v = dec_payload_head(&g->x->payload, sizeof(Elf64_Ehdr));

	if (dec_elf_header(v, &g->elf.h) && g->elf.h.class == ELFCLASS32 &&
	    g->elf.h.data == ELFDATA2LSB)
		return exam_r600(g);
	if (v.len < sizeof(Elf64_Ehdr))
		return dec_exam_malformed(g->x, DEC_PROBLEM_TRUNCATED, at(g, v.len), "ELF header",
					  "the object ends inside its ELF header");
	return dec_exam_malformed(g->x, DEC_PROBLEM_MALFORMED_ELF, at(g, EI_CLASS), "e_ident",
				  "not a 64-bit little-endian ELF header");
}

/* ---- header and tables ------------------------------------------------------------------------------ */

static bool check_version(struct dec_amdgpu *g)
{
	if (!is_hsa(g) || g->elf.h.abiversion <= DEC_ABI_V6)
		return true;
	return dec_exam_note(g->x, DEC_NONE, DEC_PROBLEM_UNSUPPORTED_VERSION, at(g, EI_ABIVERSION),
			     "EI_ABIVERSION", DEC_COMPLETE,
			     "ABI version %u is newer than what is known; read as version %d",
			     (unsigned)g->elf.h.abiversion, DEC_ABI_V6);
}

static bool broken_table(struct dec_amdgpu *g, struct dec_elf_field bad)
{
	return !bad.name ||
	       dec_exam_note(g->x, DEC_NONE, DEC_PROBLEM_MALFORMED_ELF, at(g, bad.offset), bad.name,
			     DEC_PARTIAL, "the table does not lie in the object");
}

/* The first section that is cut off; there are more behind it, usually. */
static bool check_sections(struct dec_amdgpu *g)
{
	struct dec_elf_field bad;
	struct dec_elfsection s;

	for (uint64_t i = 0; dec_elfview_section(&g->elf, i, &s); i++) {
		if (s.inside || s.type == SHT_NOBITS || s.type == SHT_NULL)
			continue;
		bad = dec_elf_bad_section(s.offset, g->x->payload.len);
		return dec_exam_note(g->x, DEC_NONE, DEC_PROBLEM_OUT_OF_BOUNDS,
				     at(g, g->elf.h.shoff + i * sizeof(Elf64_Shdr) + bad.offset),
				     bad.name, DEC_PARTIAL,
				     "section %llu does not lie in the object",
				     (unsigned long long)i);
	}
	return true;
}

/* The first segment that is cut off: addresses in it lead nowhere. */
static bool check_segments(struct dec_amdgpu *g)
{
	uint64_t offset, vaddr, filesz, memsz;
	struct dec_elf_field bad;
	uint32_t type;

	for (uint64_t i = 0;
	     i < DEC_ELF_SEGMENTS_MAX &&
	     dec_elfview_segment(&g->elf, i, &type, &offset, &vaddr, &filesz, &memsz);
	     i++) {
		if (type == PT_NULL || dec_fits(offset, filesz, g->x->payload.len))
			continue;
		g->segments_broken = true;
		bad = dec_elf_bad_segment(offset, g->x->payload.len);
		return dec_exam_note(g->x, DEC_NONE, DEC_PROBLEM_OUT_OF_BOUNDS,
				     at(g, g->elf.h.phoff + i * sizeof(Elf64_Phdr) + bad.offset),
				     bad.name, DEC_PARTIAL,
				     "segment %llu does not lie in the object",
				     (unsigned long long)i);
	}
	return true;
}

/* Nothing here is known by its section's name, so that this costs no more than a remark. */
static bool check_names(struct dec_amdgpu *g)
{
	struct dec_elfsection s;

	if (g->elf.h.shstrndx == SHN_UNDEF ||
	    (dec_elfview_section(&g->elf, g->elf.h.shstrndx, &s) && s.type == SHT_STRTAB))
		return true;
	return dec_exam_note(g->x, DEC_NONE, DEC_PROBLEM_OUT_OF_BOUNDS,
			     at(g, offsetof(Elf64_Ehdr, e_shstrndx)), "e_shstrndx", DEC_COMPLETE,
			     "this section is no string table: sections have no names");
}

static bool check_tables(struct dec_amdgpu *g)
{
	struct dec_elf_field sections = dec_elf_bad_sections(&g->elf.h);
	struct dec_elf_field segments = dec_elf_bad_segments(&g->elf.h);

	if ((!g->elf.h.shoff || sections.name) && (!g->elf.h.phnum || segments.name))
		return dec_exam_malformed(
			g->x, DEC_PROBLEM_MALFORMED_ELF,
			at(g, sections.name ? sections.offset : offsetof(Elf64_Ehdr, e_shoff)),
			sections.name ? sections.name : "e_shoff",
			"neither sections nor segments lie in the object");
	g->segments_broken = segments.name != NULL;
	if (!broken_table(g, sections) || !broken_table(g, segments) || !check_segments(g))
		return false;
	return !g->elf.h.shoff || sections.name || (check_sections(g) && check_names(g));
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

static bool note_limit(struct dec_amdgpu *g, uint64_t offset)
{
	if (g->kernel_limit_noted)
		return true;
	g->kernel_limit_noted = true;
	return dec_exam_note(g->x, DEC_NONE, DEC_PROBLEM_LIMIT, offset, "kernels", DEC_PARTIAL,
			     "more than %d kernels, or than %llu bytes of their names",
			     DEC_KERNELS_MAX, (unsigned long long)DEC_KERNEL_NAMES_MAX);
}

static bool offset_room(struct dec_amdgpu *g, uint32_t count)
{
	uint32_t room = g->kernel_offset_room ? g->kernel_offset_room * 2 : 16;
	uint64_t *bigger;

	if (count < g->kernel_offset_room)
		return true;
	bigger = dec_arena_array(&g->scratch, room, sizeof(*bigger));
	if (!bigger)
		return false;
	if (count)
		memcpy(bigger, g->kernel_offsets, count * sizeof(*bigger));
	g->kernel_offsets = bigger;
	g->kernel_offset_room = room;
	return true;
}

bool dec_amdgpu_kernel(struct dec_amdgpu *g, const struct dec_kernel *kernel, uint64_t offset,
		       uint32_t *index)
{
	uint32_t count = g->x->out->kernel_count;

	*index = DEC_NONE;
	if (count == DEC_KERNELS_MAX)
		return note_limit(g, offset);
	if (!offset_room(g, count))
		return false;
	g->kernel_offsets[count] = offset;
	return dec_exam_kernel(g->x, kernel, index);
}

static bool read_metadata(struct dec_amdgpu *g, bool *any)
{
	enum dec_amdgpu_language language;

	*any = false;
	for (uint32_t i = 0; i < g->note_count; i++) {
		if (!dec_amdgpu_note_metadata(&g->notes[i], &language))
			continue;
		if (*any && !dec_exam_note(g->x, DEC_NONE, DEC_PROBLEM_MALFORMED_NOTE,
					   g->notes[i].desc.origin, "note", DEC_COMPLETE,
					   "one more note with metadata; both are read"))
			return false;
		*any = true;
		if (!dec_amdgpu_metadata(g, &g->notes[i], language))
			return false;
	}
	return true;
}

/* Kernels of V3 and later are described by "name.kd", older ones have a type of their own. */
static bool is_kernel(const struct dec_amdgpu *g, const struct dec_amdgpu_symbol *s)
{
	if (is_old(g))
		return s->type == DEC_STT_AMDGPU_KERNEL;
	return s->size == 64 && s->name.len > 3 &&
	       memcmp(s->name.p + s->name.len - 3, ".kd", 3) == 0;
}

static bool add_bare(struct dec_amdgpu *g, const struct dec_amdgpu_symbol *s, uint64_t offset,
		     uint32_t *index)
{
	struct dec_kernel kernel = { .symbol = { dec_absent, 0 } };
	struct dec_facts facts = { .has = { false } };
	struct dec_view name = s->name;

	*index = DEC_NONE;
	if (name.len > g->names_left)
		return note_limit(g, offset);
	g->names_left -= name.len;
	if (!is_old(g)) {
		if (!dec_exam_text(g->x, s->name, &kernel.symbol))
			return false;
		name.len -= 3;
	}
	if (!dec_exam_text(g->x, name, &kernel.name) ||
	    !dec_amdgpu_kernel(g, &kernel, offset, index))
		return false;
	if (*index == DEC_NONE)
		return true;
	return (is_old(g) ? dec_amdgpu_kernel_code : dec_amdgpu_descriptor)(g, *index, s, &facts,
									    true) &&
	       dec_facts_keep(g->x, &facts, &g->x->kernels[*index]);
}

/* Kernels that only their symbols tell of: all that finalizer objects have, a gap elsewhere. */
static bool add_symbols(struct dec_amdgpu *g, bool expected)
{
	for (size_t i = 0; i < g->symbols.count && !g->kernel_limit_noted; i++) {
		const struct dec_amdgpu_symbol *s = &g->symbols.list[i];
		uint64_t offset = g->symbols.origin + s->index * sizeof(Elf64_Sym);
		uint32_t kernel;

		if (s->used || !is_kernel(g, s))
			continue;
		if (!add_bare(g, s, offset, &kernel))
			return false;
		if (kernel != DEC_NONE && !expected &&
		    !dec_exam_note(g->x, kernel, DEC_PROBLEM_MALFORMED_METADATA, offset, "symbol",
				   DEC_PARTIAL, "the metadata does not list this kernel"))
			return false;
	}
	return true;
}

static bool by_finalizer(const struct dec_amdgpu *g)
{
	for (uint32_t i = 0; i < g->note_count; i++)
		if (dec_amdgpu_note_is(&g->notes[i], "AMD", NOTE_CODE_OBJECT_VERSION) &&
		    g->notes[i].desc.len >= 4)
			return dec_le32(g->notes[i].desc.p) == FINALIZER_MAJOR;
	return false;
}

static bool exam_kernels(struct dec_amdgpu *g)
{
	bool finalizer = is_old(g) && by_finalizer(g), any;

	if (!read_metadata(g, &any))
		return false;
	if (!any && !finalizer &&
	    !dec_exam_note(g->x, DEC_NONE, DEC_PROBLEM_MALFORMED_NOTE, at(g, 0), "metadata",
			   DEC_PARTIAL, "no note with metadata"))
		return false;
	/* Broken metadata may have listed them all. */
	if (any && !g->metadata_whole)
		return true;
	return add_symbols(g, finalizer);
}

/* PAL, Mesa and objects without a system describe their entry points in ways of their own. */
static bool exam_other_system(struct dec_amdgpu *g)
{
	if (g->x->out->state == DEC_STATE_COMPLETE)
		g->x->out->state = DEC_STATE_UNSUPPORTED;
	return dec_exam_note(g->x, DEC_NONE, DEC_PROBLEM_UNSUPPORTED_VERSION, at(g, EI_OSABI),
			     "EI_OSABI", DEC_COMPLETE,
			     "kernels are read of AMDHSA objects only, this has OS ABI %u",
			     (unsigned)g->elf.h.osabi);
}

static bool exam(struct dec_amdgpu *g)
{
	if (!dec_elfview_open(&g->x->payload, &g->elf))
		return exam_no_elf64(g);
	if (!check_version(g) || !check_tables(g))
		return false;
	if (g->x->out->state == DEC_STATE_MALFORMED)
		return true;
	if (!dec_amdgpu_notes(g) || !dec_amdgpu_target(g) || !dec_amdgpu_symbols(g))
		return false;
	if (!(is_hsa(g) ? exam_kernels(g) : exam_other_system(g)) || !dec_amdgpu_duplicates(g))
		return false;
	return !(g->x->wants & DEC_WANT_METADATA) || dec_amdgpu_tree(g);
}

bool dec_exam_amdgpu(struct dec_exam *x)
{
	struct dec_amdgpu g = {
		.x = x,
		.args_left = DEC_ARGS_MAX,
		.names_left = DEC_KERNEL_NAMES_MAX,
	};
	bool ok = exam(&g);

	dec_arena_fini(&g.scratch);
	return ok;
}
