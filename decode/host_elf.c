/* ELF host files: which sections (without a section table: which segments) there are. */
#include "internal.h"

#include <elf.h>
#include <stdlib.h>

struct reader {
	struct dec_build *b;
	struct dec_elf elf;
	struct dec_host *host;
	struct dec_section names; /* the string table of section names */
	bool failed; /* a visit ran out of memory */
	bool noted; /* a section that does not lie in the file has been */
};

static bool note(struct reader *r, enum dec_problem_code code, uint64_t offset, const char *field,
		 enum dec_severity severity, const char *sentence)
{
	return dec_note(r->b, DEC_OWNER_ARTIFACT, code, r->elf.at + offset, field, severity, "%s",
			sentence);
}

/* The first one: where one is wrong there are more, usually. */
static bool note_section(struct reader *r, uint64_t header, size_t field, const char *name,
			 const char *what)
{
	if (r->noted)
		return true;
	r->noted = true;
	return dec_note(
		r->b, DEC_OWNER_ARTIFACT, DEC_PROBLEM_OUT_OF_BOUNDS, header + field, name,
		DEC_PARTIAL, "section %llu %s; the whole file is searched all the same",
		(unsigned long long)((header - r->elf.at - r->elf.shoff) / sizeof(Elf64_Shdr)),
		what);
}

/* name.len keeps the name's offset until name_spans() has the string table. */
static bool take_section(void *ctx, const struct dec_section *s)
{
	struct reader *r = ctx;
	uint64_t header = r->elf.at + r->elf.shoff + s->index * sizeof(Elf64_Shdr);
	struct dec_span *span;

	if (s->index == r->elf.shstrndx)
		r->names = *s;
	if (s->type == SHT_NULL || s->type == SHT_NOBITS || s->size == 0)
		return true;
	if (!dec_fits(s->offset, s->size, r->elf.room)) {
		struct dec_elf_field bad = dec_elf_bad_section(s->offset, r->elf.room);

		r->failed =
			!note_section(r, header, bad.offset, bad.name, "does not lie in the file");
		return !r->failed;
	}
	span = dec_host_add(r->b, r->host, DEC_PLACE_SECTION, r->elf.at + s->offset, s->size);
	r->failed = !span;
	if (span) {
		span->name.len = s->name;
		span->header = header;
	}
	return !r->failed;
}

static bool take_segment(void *ctx, const struct dec_segment *s)
{
	struct reader *r = ctx;

	if (s->type != PT_LOAD || s->filesz == 0 || !dec_fits(s->offset, s->filesz, r->elf.room))
		return true;
	r->failed =
		!dec_host_add(r->b, r->host, DEC_PLACE_SEGMENT, r->elf.at + s->offset, s->filesz);
	return !r->failed;
}

static bool name_absent(struct reader *r, struct dec_span *span)
{
	bool outside = r->names.type == SHT_STRTAB && span->name.len >= r->names.size;

	span->name = (struct dec_text){ dec_absent, 0 };
	return !outside || note_section(r, span->header, offsetof(Elf64_Shdr, sh_name), "sh_name",
					"has a name outside the string table");
}

/* The table is copied once, so that names which share bytes do not multiply them. */
static bool name_spans(struct reader *r)
{
	struct dec_build *b = r->b;
	struct dec_text table;
	struct dec_view v;
	uint64_t size =
		r->names.size < DEC_SECTION_NAMES_MAX ? r->names.size : DEC_SECTION_NAMES_MAX;

	if (!dec_fits(r->names.offset, size, r->elf.room))
		size = 0;
	if (!dec_peek(b, &b->head, r->elf.at + (size ? r->names.offset : 0), (size_t)size, &v) ||
	    !dec_text_copy(b, v.p, v.len, &table))
		return false;
	for (size_t i = 0; i < r->host->count; i++) {
		struct dec_text *name = &r->host->spans[i].name;

		if (name->len < table.len)
			*name = (struct dec_text){ table.p + name->len,
						   strlen(table.p + name->len) };
		else if (!name_absent(r, &r->host->spans[i]))
			return false;
	}
	return true;
}

/* A file cut short has lost its table, which linkers put last: what is missing may be code. */
static bool note_table(struct reader *r)
{
	struct dec_elf *elf = &r->elf;
	struct dec_elf_field bad = dec_elf_bad_sections(elf);

	if (!bad.name)
		return true;
	return dec_note(
		r->b, DEC_OWNER_ARTIFACT,
		bad.offset == offsetof(Elf64_Ehdr, e_shentsize) ? DEC_PROBLEM_MALFORMED_ELF
								: DEC_PROBLEM_TRUNCATED,
		elf->at + bad.offset, bad.name, DEC_PARTIAL,
		"section header table at %llu (%llu entries of %u bytes) cannot be read, the "
		"file has %llu bytes; its bytes are searched without section names",
		(unsigned long long)elf->shoff, (unsigned long long)elf->shnum, elf->shentsize,
		(unsigned long long)elf->room);
}

/* Nothing hangs on segments where there are sections, but a header is right or it is not. */
static bool note_segments(struct reader *r)
{
	struct dec_elf_field bad = dec_elf_bad_segments(&r->elf);

	return !bad.name || note(r, DEC_PROBLEM_OUT_OF_BOUNDS, bad.offset, bad.name, DEC_COMPLETE,
				 "the table of segments does not lie in the file");
}

static bool note_names(struct reader *r)
{
	if (r->elf.shstrndx == SHN_UNDEF || r->names.type == SHT_STRTAB)
		return true;
	return note(r, DEC_PROBLEM_OUT_OF_BOUNDS, offsetof(Elf64_Ehdr, e_shstrndx), "e_shstrndx",
		    DEC_PARTIAL,
		    "this section is no string table: sections have no names, and what is known by "
		    "its section's name alone is not found");
}

static bool read_host(struct reader *r)
{
	bool ok = false;

	if (!note_segments(r) || !note_table(r))
		return false;
	if (r->elf.shoff && !dec_elf_bad_sections(&r->elf).name) {
		if (!dec_elf_sections(r->b, &r->elf, take_section, r, &ok))
			return false;
		if (ok && !r->failed && (!note_names(r) || !name_spans(r)))
			return false;
	}
	if (!ok) {
		r->host->count = 0;
		if (!dec_elf_segments(r->b, &r->elf, take_segment, r, &ok))
			return false;
	}
	return !r->failed;
}

static bool note_header(struct reader *r)
{
	if (r->elf.room < sizeof(Elf64_Ehdr))
		return note(r, DEC_PROBLEM_TRUNCATED, 0, "ELF header", DEC_PARTIAL,
			    "the file ends inside its ELF header");
	return note(r, DEC_PROBLEM_MALFORMED_ELF, EI_CLASS, "e_ident", DEC_PARTIAL,
		    "class or byte order is none of ELF's; the file is searched without section "
		    "names");
}

bool dec_host_elf(struct dec_build *b, struct dec_range range, struct dec_host *host)
{
	struct reader r = { .b = b, .host = host };
	bool ok;

	if (!dec_elf_read(b, range.offset, range.offset + range.size, &r.elf, &ok))
		return false;
	if (!(ok ? read_host(&r) : note_header(&r)))
		return false;
	return dec_host_finish(b, host);
}
