/* Kernels of a cubin by its symbols, or by its sections where the symbols are gone. */
#include "cubin.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define OTHER_ENTRY 0x10 /* st_other of a kernel */

static struct dec_cubin_kernel *add(struct dec_cubin *c)
{
	if (c->kernel_count == c->kernel_room) {
		uint32_t room = c->kernel_room ? c->kernel_room * 2 : 16;
		struct dec_cubin_kernel *bigger = reallocarray(c->kernels, room, sizeof(*bigger));

		if (!bigger)
			return NULL;
		c->kernels = bigger;
		c->kernel_room = room;
	}
	return &c->kernels[c->kernel_count++];
}

/* ---- symbols ----------------------------------------------------------------------------------- */

/* The symbol table, its strings and its wide section indexes. */
static bool find_tables(struct dec_cubin *c)
{
	const struct dec_elfsection *s = c->sections;
	uint64_t link;

	for (uint64_t i = 1; i < c->section_count && !c->symtab; i++)
		if (s[i].type == SHT_SYMTAB)
			c->symtab = i;
	if (!c->symtab)
		return true;
	for (uint64_t i = 1; i < c->section_count && !c->shndx; i++)
		if (s[i].type == SHT_SYMTAB_SHNDX && s[i].link == c->symtab)
			c->shndx = i;
	link = s[c->symtab].link;
	if (link > 0 && link < c->section_count && s[link].type == SHT_STRTAB)
		c->strtab = link;
	if (c->strtab)
		return true;
	return dec_exam_note(c->x, DEC_NONE, DEC_PROBLEM_MALFORMED_ELF,
			     dec_cubin_section_at(c, c->symtab, offsetof(Elf64_Shdr, sh_link)),
			     "sh_link", DEC_PARTIAL,
			     "section %" PRIu64 ", which should hold the symbols' names, is no "
			     "string table",
			     link);
}

static bool count_symbols(struct dec_cubin *c)
{
	const struct dec_elfsection *s = &c->sections[c->symtab];

	if (s->entsize != sizeof(Elf64_Sym))
		return dec_exam_note(
			c->x, DEC_NONE, DEC_PROBLEM_MALFORMED_ELF,
			dec_cubin_section_at(c, c->symtab, offsetof(Elf64_Shdr, sh_entsize)),
			"sh_entsize", DEC_PARTIAL, "symbols do not have 24 bytes");
	c->symbol_count = dec_elfview_symbol_count(s);
	if (s->content.size % sizeof(Elf64_Sym) &&
	    !dec_exam_note(c->x, DEC_NONE, DEC_PROBLEM_MALFORMED_ELF,
			   dec_cubin_section_at(c, c->symtab, offsetof(Elf64_Shdr, sh_size)),
			   "sh_size", DEC_PARTIAL,
			   "%" PRIu64 " bytes of symbols are not a multiple of 24",
			   s->content.size))
		return false;
	if (c->symbol_count <= DEC_ELF_SYMBOLS_MAX)
		return true;
	c->symbol_count = DEC_ELF_SYMBOLS_MAX;
	return dec_exam_note(c->x, DEC_NONE, DEC_PROBLEM_LIMIT,
			     dec_cubin_section_at(c, c->symtab, offsetof(Elf64_Shdr, sh_size)),
			     "sh_size", DEC_PARTIAL, "symbols past the first %d are left out",
			     DEC_ELF_SYMBOLS_MAX);
}

static uint64_t section_of(const struct dec_cubin *c, const struct dec_elfsymbol *s)
{
	struct dec_range table = c->sections[c->shndx].content;
	struct dec_view wide;

	if (s->shndx != SHN_XINDEX || !c->shndx || !dec_fits(s->index * 4, 4, table.size) ||
	    !dec_payload_slice(&c->x->payload, table.offset + s->index * 4, 4, &wide))
		return s->shndx;
	return dec_le32(wide.p);
}

static bool note_symbol(struct dec_cubin *c, enum dec_problem_code code, uint64_t symbol,
			size_t field, const char *name, enum dec_severity severity,
			const char *sentence)
{
	return dec_exam_note(c->x, DEC_NONE, code, dec_cubin_symbol_at(c, symbol, field), name,
			     severity, "kernel symbol %" PRIu64 " %s", symbol, sentence);
}

/* The name that the code's section has; "#index" is the last resort, made later. */
static bool name_by_section(struct dec_cubin *c, struct dec_cubin_kernel *k)
{
	if (k->text)
		k->name = dec_cubin_function(&c->sections[k->text]);
	if (!c->strtab) /* said once, for all */
		return true;
	return note_symbol(c, DEC_PROBLEM_MALFORMED_ELF, k->symbol, offsetof(Elf64_Sym, st_name),
			   "st_name", k->name.len ? DEC_COMPLETE : DEC_PARTIAL,
			   k->name.len ? "has no name that can be read; its section has"
				       : "has no name that can be read");
}

/* Either may be the wrong one: the symbol's is shown, and attributes are its section's. */
static bool check_name(struct dec_cubin *c, const struct dec_cubin_kernel *k)
{
	struct dec_view section = { 0 };

	if (k->text && c->named)
		section = dec_cubin_function(&c->sections[k->text]);
	if (!k->text || !c->named ||
	    (section.len == k->name.len && memcmp(section.p, k->name.p, section.len) == 0))
		return true;
	return note_symbol(c, DEC_PROBLEM_MALFORMED_ELF, k->symbol, offsetof(Elf64_Sym, st_name),
			   "st_name", DEC_PARTIAL, "has another name than its section");
}

static bool add_symbol(struct dec_cubin *c, const struct dec_elfsymbol *s)
{
	struct dec_cubin_kernel *k = add(c);
	uint64_t section = section_of(c, s);

	if (!k)
		return false;
	*k = (struct dec_cubin_kernel){
		.symbol = s->index,
		.text = section < c->section_count ? section : 0,
		.name = s->name,
		.value = s->value,
		.size = s->size,
		.binding = ELF64_ST_BIND(s->info),
		.bound = true,
	};
	if (!k->text &&
	    !note_symbol(c, DEC_PROBLEM_OUT_OF_BOUNDS, s->index, offsetof(Elf64_Sym, st_shndx),
			 "st_shndx", DEC_PARTIAL, "lies in a section that is not there"))
		return false;
	return k->name.len ? check_name(c, k) : name_by_section(c, k);
}

static bool is_kernel(const struct dec_elfsymbol *s)
{
	return ELF64_ST_TYPE(s->info) == STT_FUNC && s->other & OTHER_ENTRY &&
	       s->shndx != SHN_UNDEF;
}

/* Every section of code is a function's: one that no symbol names may be a kernel's. */
static bool note_unnamed(struct dec_cubin *c)
{
	uint32_t count = 0;
	uint64_t first = 0;

	for (uint32_t i = 0; i < c->text_count; i++) {
		uint64_t text = c->texts[i];

		if (c->parts[text].symbol)
			continue;
		count++;
		first = first && first < text ? first : text;
	}
	return count == 0 ||
	       dec_exam_note(c->x, DEC_NONE, DEC_PROBLEM_MALFORMED_ELF,
			     dec_cubin_section_at(c, c->symtab, offsetof(Elf64_Shdr, sh_offset)),
			     ".symtab", DEC_PARTIAL,
			     "no symbol stands for the code of %" PRIu32
			     " sections, the first is %" PRIu64,
			     count, first);
}

static void mark_section(struct dec_cubin *c, const struct dec_elfsymbol *s)
{
	uint64_t section = section_of(c, s);

	if (ELF64_ST_TYPE(s->info) == STT_FUNC && section < c->section_count)
		c->parts[section].symbol = true;
}

static bool by_symbols(struct dec_cubin *c)
{
	static const struct dec_elfsection none = { .content = { 0, 0 } };
	const struct dec_elfsection *table = &c->sections[c->symtab];
	const struct dec_elfsection *strings = c->strtab ? &c->sections[c->strtab] : &none;
	struct dec_elfsymbol s;

	for (uint64_t i = 1; i < c->symbol_count; i++) {
		if (!dec_elfview_symbol(&c->elf, table, strings, i, &s))
			continue;
		mark_section(c, &s);
		if (is_kernel(&s) && !add_symbol(c, &s))
			return false;
	}
	return note_unnamed(c);
}

/* ---- without symbols --------------------------------------------------------------------------- */

static int compare_symbols(const void *va, const void *vb)
{
	const struct dec_cubin_kernel *a = va, *b = vb;

	if (a->symbol != b->symbol)
		return a->symbol < b->symbol ? -1 : 1;
	return (a->text > b->text) - (a->text < b->text);
}

/* A kernel is a function with a constant bank 0. Its section still knows the symbol's index,
 * which .nv.info speaks in. */
static bool by_sections(struct dec_cubin *c)
{
	for (uint32_t i = 0; i < c->text_count; i++) {
		uint64_t text = c->texts[i];
		const struct dec_elfsection *s = &c->sections[text];
		struct dec_cubin_kernel *k;

		if (!c->parts[text].constant0)
			continue;
		k = add(c);
		if (!k)
			return false;
		*k = (struct dec_cubin_kernel){
			.symbol = s->info & 0xffffff,
			.text = text,
			.name = dec_cubin_function(s),
			.value = s->addr,
			.size = s->size,
		};
	}
	if (c->kernel_count)
		qsort(c->kernels, c->kernel_count, sizeof(*c->kernels), compare_symbols);
	return dec_exam_note(c->x, DEC_NONE, DEC_PROBLEM_MALFORMED_ELF,
			     c->x->payload.origin + offsetof(Elf64_Ehdr, e_shoff), ".symtab",
			     DEC_COMPLETE,
			     "there is no symbol table: kernels are told by their sections");
}

/* ---- listing --------------------------------------------------------------------------------------- */

/* Where the code is in the payload; size 0 when it is not there. */
static struct dec_range code_of(const struct dec_cubin *c, const struct dec_cubin_kernel *k)
{
	const struct dec_elfsection *s = &c->sections[k->text];

	if (!k->text || k->value < s->addr ||
	    !dec_fits(k->value - s->addr, k->size, s->content.size))
		return (struct dec_range){ 0, 0 };
	return (struct dec_range){ s->content.offset + (k->value - s->addr), k->size };
}

static uint64_t place_of(const struct dec_cubin *c, const struct dec_cubin_kernel *k, size_t field)
{
	if (k->bound)
		return dec_cubin_symbol_at(c, k->symbol, field);
	return dec_cubin_section_at(c, k->text, 0);
}

/* Each section of attributes is one kernel's, so that none is read again and again. */
static bool take_info(struct dec_cubin *c, struct dec_cubin_kernel *k)
{
	struct dec_cubin_parts *parts = &c->parts[k->text];

	if (parts->taken)
		return dec_exam_note(c->x, k->index, DEC_PROBLEM_OVERLAP, place_of(c, k, 0),
				     "symbol", DEC_PARTIAL,
				     "another kernel has section %" PRIu64 " and its attributes",
				     k->text);
	parts->taken = true;
	k->info = parts->info;
	if (k->info && c->sections[k->info].content.size)
		return true;
	return dec_exam_note(c->x, k->index, DEC_PROBLEM_MALFORMED_INFO, place_of(c, k, 0),
			     ".nv.info", DEC_PARTIAL,
			     "no section has attributes of the kernel in section %" PRIu64,
			     k->text);
}

static bool list(struct dec_cubin *c, struct dec_cubin_kernel *k)
{
	struct dec_kernel kernel = {
		.symbol = { dec_absent, 0 },
		.code = code_of(c, k),
	};
	struct dec_view name = k->name;
	char number[24];

	if (!name.len) {
		int len = snprintf(number, sizeof(number), "#%" PRIu64, k->symbol);

		name = (struct dec_view){ (const uint8_t *)number, (size_t)len, 0 };
	}
	if (!dec_exam_list_kernel(c->x, &c->budget, name, place_of(c, k, 0), &kernel, &k->index))
		return false;
	if (k->index == DEC_NONE || !k->text)
		return true;
	if (!take_info(c, k))
		return false;
	if (kernel.code.size == k->size)
		return true;
	return dec_exam_note(c->x, k->index, DEC_PROBLEM_OUT_OF_BOUNDS,
			     place_of(c, k, offsetof(Elf64_Sym, st_value)), "st_value", DEC_PARTIAL,
			     "the code, %" PRIu64 " bytes at 0x%" PRIx64
			     ", does not lie in section %" PRIu64,
			     k->size, k->value, k->text);
}

bool dec_cubin_find_kernels(struct dec_cubin *c)
{
	if (!find_tables(c) || (c->symtab && !count_symbols(c)))
		return false;
	if (c->symbol_count ? !by_symbols(c) : !by_sections(c))
		return false;
	for (uint32_t i = 0; i < c->kernel_count; i++)
		if (!list(c, &c->kernels[i]))
			return false;
	return true;
}
