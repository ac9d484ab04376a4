/* The section table of a cubin: checked once, and which sections speak of which function. */
#include "cubin.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>

enum part { PART_TEXT, PART_INFO, PART_CONSTANT0, PART_SHARED, PART_NONE };

static const char *const prefixes[] = {
	[PART_TEXT] = ".text.",
	[PART_INFO] = ".nv.info.",
	[PART_CONSTANT0] = ".nv.constant0.",
	[PART_SHARED] = ".nv.shared.",
};

uint64_t dec_cubin_section_at(const struct dec_cubin *c, uint64_t section, size_t field)
{
	return c->x->payload.origin + c->elf.h.shoff + section * sizeof(Elf64_Shdr) + field;
}

uint64_t dec_cubin_symbol_at(const struct dec_cubin *c, uint64_t symbol, size_t field)
{
	return c->x->payload.origin + c->sections[c->symtab].offset + symbol * sizeof(Elf64_Sym) +
	       field;
}

static struct dec_view behind(struct dec_view name, const char *prefix)
{
	size_t len = strlen(prefix);

	if (!dec_starts(name, prefix, len))
		return (struct dec_view){ (const uint8_t *)dec_absent, 0, 0 };
	return (struct dec_view){ name.p + len, name.len - len, name.origin + len };
}

struct dec_view dec_cubin_function(const struct dec_elfsection *s)
{
	return behind(s->name, prefixes[PART_TEXT]);
}

static bool same(struct dec_view a, struct dec_view b)
{
	return a.len == b.len && memcmp(a.p, b.p, a.len) == 0;
}

/* ---- the table ----------------------------------------------------------------------------- */

static bool note_table(struct dec_cubin *c, enum dec_problem_code code, struct dec_elf_field bad,
		       const char *sentence)
{
	return dec_exam_malformed(c->x, code, c->x->payload.origin + bad.offset, bad.name, "%s",
				  sentence);
}

/* Why there is no section table; says whether to go on without. */
static bool no_table(struct dec_cubin *c)
{
	const struct dec_elf *h = &c->elf.h;
	struct dec_elf_field bad = dec_elf_bad_sections(h);
	size_t len = c->x->payload.len;
	bool both_past = h->shoff >= len && (h->phnum == 0 || h->phoff >= len);

	if (h->shoff == 0)
		return dec_exam_note(
			c->x, DEC_NONE, DEC_PROBLEM_MALFORMED_ELF,
			c->x->payload.origin + offsetof(Elf64_Ehdr, e_shoff), "e_shoff",
			DEC_PARTIAL,
			"there is no section table: the header is all that can be read");
	if (bad.offset == offsetof(Elf64_Ehdr, e_shentsize))
		return note_table(c, DEC_PROBLEM_MALFORMED_ELF, bad,
				  "section headers do not have 64 bytes");
	if (both_past)
		return note_table(c, DEC_PROBLEM_TRUNCATED, bad,
				  "the cubin ends before its section table");
	if (bad.offset == offsetof(Elf64_Ehdr, e_shoff))
		return note_table(c, DEC_PROBLEM_OUT_OF_BOUNDS, bad,
				  "the section table begins past the end");
	return note_table(c, DEC_PROBLEM_OUT_OF_BOUNDS, bad,
			  "there are no sections, or more than the cubin has room for");
}

/* Nothing hangs on segments, but a header is right or it is not. */
static bool check_segments(struct dec_cubin *c)
{
	struct dec_elf_field bad = dec_elf_bad_segments(&c->elf.h);

	return !bad.name || dec_exam_note(c->x, DEC_NONE, DEC_PROBLEM_OUT_OF_BOUNDS,
					  c->x->payload.origin + bad.offset, bad.name, DEC_COMPLETE,
					  "the table of segments does not lie in the cubin");
}

/* A section that claims bytes it does not have loses them; the others stay. */
static bool check_section(struct dec_cubin *c, const struct dec_elfsection *s)
{
	struct dec_elf_field bad = dec_elf_bad_section(s->offset, c->x->payload.len);

	if (s->inside || !dec_elf_has_content(&c->elf.h, s->type))
		return true;
	return dec_exam_note(c->x, DEC_NONE, DEC_PROBLEM_OUT_OF_BOUNDS,
			     dec_cubin_section_at(c, s->index, bad.offset), bad.name, DEC_PARTIAL,
			     "section %" PRIu64 " (%.*s) does not lie in the %zu bytes there are",
			     s->index, (int)(s->name.len < 80 ? s->name.len : 80),
			     (const char *)s->name.p, c->x->payload.len);
}

/* Attributes and constants are found by the names of their sections. */
static bool check_each_name(struct dec_cubin *c)
{
	const struct dec_elfsection *names = &c->sections[c->elf.h.shstrndx];

	for (uint64_t i = 1; i < c->section_count; i++)
		if (c->sections[i].type != SHT_NULL && !c->sections[i].named)
			return dec_exam_note(
				c->x, DEC_NONE, DEC_PROBLEM_OUT_OF_BOUNDS,
				dec_cubin_section_at(c, i, offsetof(Elf64_Shdr, sh_name)),
				"sh_name", DEC_PARTIAL,
				"section %" PRIu64 " has no name in the %" PRIu64
				" bytes of section %" PRIu64,
				i, names->content.size, names->index);
	return true;
}

static bool check_names(struct dec_cubin *c)
{
	uint64_t names = c->elf.h.shstrndx;

	c->named = names < c->section_count && c->sections[names].content.size > 0;
	if (c->named)
		return check_each_name(c);
	return dec_exam_note(c->x, DEC_NONE, DEC_PROBLEM_OUT_OF_BOUNDS,
			     c->x->payload.origin + offsetof(Elf64_Ehdr, e_shstrndx), "e_shstrndx",
			     DEC_PARTIAL,
			     "section names cannot be read: section %" PRIu64 " holds none", names);
}

static void extend(uint64_t *end, uint64_t offset, uint64_t size)
{
	if (offset + size > *end)
		*end = offset + size;
}

/* Bytes behind everything that the headers speak of. */
static bool check_extent(struct dec_cubin *c)
{
	const struct dec_elf *h = &c->elf.h;
	uint64_t end = sizeof(Elf64_Ehdr), len = c->x->payload.len;

	extend(&end, h->shoff, h->shnum * sizeof(Elf64_Shdr)); /* proved to fit */
	if (h->phoff && dec_fits(h->phoff, h->phnum * sizeof(Elf64_Phdr), len))
		extend(&end, h->phoff, h->phnum * sizeof(Elf64_Phdr));
	for (uint64_t i = 0; i < c->section_count; i++)
		extend(&end, c->sections[i].content.offset, c->sections[i].content.size);
	if (end >= len || c->section_count < h->shnum)
		return true;
	return dec_exam_note(c->x, DEC_NONE, DEC_PROBLEM_SIZE_MISMATCH, c->x->payload.origin + end,
			     "payload", DEC_COMPLETE,
			     "%" PRIu64 " bytes follow the end of the ELF file", len - end);
}

static bool load_table(struct dec_cubin *c)
{
	uint64_t count = c->elf.h.shnum;

	if (count > DEC_CUBIN_SECTIONS_MAX) {
		count = DEC_CUBIN_SECTIONS_MAX;
		if (!dec_exam_note(c->x, DEC_NONE, DEC_PROBLEM_LIMIT,
				   c->x->payload.origin + offsetof(Elf64_Ehdr, e_shnum), "e_shnum",
				   DEC_PARTIAL, "sections past the first %d are left out",
				   DEC_CUBIN_SECTIONS_MAX))
			return false;
	}
	c->sections = calloc((size_t)count, sizeof(*c->sections));
	c->parts = calloc((size_t)count, sizeof(*c->parts));
	c->texts = calloc((size_t)count, sizeof(*c->texts));
	if (!c->sections || !c->parts || !c->texts)
		return false;
	c->section_count = count;
	for (uint64_t i = 0; i < count; i++)
		if (!dec_elfview_section(&c->elf, i, &c->sections[i]) ||
		    !check_section(c, &c->sections[i]))
			return false;
	return check_names(c) && check_extent(c);
}

/* ---- what belongs together -------------------------------------------------------------------- */

static int compare_texts(const void *va, const void *vb, void *ctx)
{
	const struct dec_elfsection *sections = ctx;
	const uint32_t *ia = va, *ib = vb;
	struct dec_view a = sections[*ia].name, b = sections[*ib].name;
	int order = memcmp(a.p, b.p, a.len < b.len ? a.len : b.len);

	if (order == 0)
		order = (a.len > b.len) - (a.len < b.len);
	return order ? order : (*ia > *ib) - (*ia < *ib);
}

static bool sort_texts(struct dec_cubin *c)
{
	uint64_t name_bytes = 0;

	for (uint64_t i = 1; i < c->section_count; i++) {
		if (!dec_cubin_function(&c->sections[i]).len)
			continue;
		name_bytes += c->sections[i].name.len;
		if (name_bytes > DEC_KERNEL_NAMES_MAX)
			return dec_exam_note(c->x, DEC_NONE, DEC_PROBLEM_LIMIT,
					     dec_cubin_section_at(c, i, 0), "sh_name", DEC_PARTIAL,
					     "names of code sections past the first %" PRIu64
					     " bytes are left out",
					     DEC_KERNEL_NAMES_MAX);
		c->texts[c->text_count++] = (uint32_t)i;
	}
	if (c->text_count)
		qsort_r(c->texts, c->text_count, sizeof(*c->texts), compare_texts, c->sections);
	return true;
}

/* The .text section of a function by its name; 0: there is none. */
static uint64_t text_named(const struct dec_cubin *c, struct dec_view function)
{
	uint32_t from = 0, to = c->text_count;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;
		struct dec_view name = dec_cubin_function(&c->sections[c->texts[middle]]);
		int order = memcmp(function.p, name.p,
				   function.len < name.len ? function.len : name.len);

		if (order == 0)
			order = (function.len > name.len) - (function.len < name.len);
		if (order == 0)
			return c->texts[middle];
		if (order < 0)
			to = middle;
		else
			from = middle + 1;
	}
	return 0;
}

static enum part part_of(const struct dec_cubin *c, const struct dec_elfsection *s,
			 struct dec_view *function)
{
	if (!c->named) /* the type is enough for the one part that has its own */
		return s->type == DEC_SHT_NV_INFO && s->info ? PART_INFO : PART_NONE;
	if (behind(s->name, ".nv.shared.reserved.").len)
		return PART_NONE;
	for (enum part part = PART_INFO; part < PART_NONE; part++) {
		*function = behind(s->name, prefixes[part]);
		if (function->len)
			return part;
	}
	return PART_NONE;
}

/* sh_info says which section, and the name must agree; where it does not, as in a file whose
 * sections were renumbered, the name decides. */
static uint64_t owner(const struct dec_cubin *c, const struct dec_elfsection *s,
		      struct dec_view function)
{
	if (s->info > 0 && s->info < c->section_count &&
	    (!c->named || same(dec_cubin_function(&c->sections[s->info]), function)))
		return s->info;
	return c->named ? text_named(c, function) : 0;
}

static void join(struct dec_cubin *c)
{
	for (uint64_t i = 1; i < c->section_count; i++) {
		struct dec_view function = { 0 };
		enum part part = part_of(c, &c->sections[i], &function);
		uint64_t text = part == PART_NONE ? 0 : owner(c, &c->sections[i], function);
		uint32_t *slot = part == PART_INFO	  ? &c->parts[text].info
				 : part == PART_CONSTANT0 ? &c->parts[text].constant0
							  : &c->parts[text].shared;

		if (text && !*slot)
			*slot = (uint32_t)i;
	}
}

bool dec_cubin_load_sections(struct dec_cubin *c)
{
	if (!dec_elfview_has_sections(&c->elf))
		return no_table(c);
	if (!check_segments(c) || !load_table(c) || !sort_texts(c))
		return false;
	join(c);
	return true;
}
