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
};

/* name.len keeps the name's offset until name_spans() has the string table. */
static bool take_section(void *ctx, const struct dec_section *s)
{
	struct reader *r = ctx;
	struct dec_span *span;

	if (s->index == r->elf.shstrndx)
		r->names = *s;
	if (s->type == SHT_NULL || s->type == SHT_NOBITS || s->size == 0 ||
	    !dec_fits(s->offset, s->size, r->elf.room))
		return true;
	span = dec_host_add(r->b, r->host, DEC_PLACE_SECTION, r->elf.at + s->offset, s->size);
	r->failed = !span;
	if (span)
		span->name.len = s->name;
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
		else
			*name = (struct dec_text){ dec_absent, 0 };
	}
	return true;
}

/* A file cut short has lost its table, which linkers put last: what is missing may be code. */
static bool note_table(struct reader *r)
{
	struct dec_elf *elf = &r->elf;
	bool past = elf->shnum > elf->room / sizeof(Elf64_Shdr) ||
		    !dec_fits(elf->shoff, elf->shnum * sizeof(Elf64_Shdr), elf->room);

	return dec_note(
		r->b, DEC_OWNER_ARTIFACT, past ? DEC_PROBLEM_TRUNCATED : DEC_PROBLEM_MALFORMED_ELF,
		elf->at + offsetof(Elf64_Ehdr, e_shoff), "e_shoff", DEC_PARTIAL,
		"section header table at %llu (%llu entries of %u bytes) cannot be read, the "
		"file has %llu bytes; its bytes are searched without section names",
		(unsigned long long)elf->shoff, (unsigned long long)elf->shnum, elf->shentsize,
		(unsigned long long)elf->room);
}

static bool read_host(struct reader *r)
{
	bool ok = false;

	if (r->elf.shoff && r->elf.shnum) {
		if (!dec_elf_sections(r->b, &r->elf, take_section, r, &ok))
			return false;
		if (!ok && !note_table(r))
			return false;
		if (ok && !r->failed && !name_spans(r))
			return false;
	}
	if (!ok) {
		r->host->count = 0;
		if (!dec_elf_segments(r->b, &r->elf, take_segment, r, &ok))
			return false;
	}
	return !r->failed;
}

bool dec_host_elf(struct dec_build *b, struct dec_range range, struct dec_host *host)
{
	struct reader r = { .b = b, .host = host };
	bool ok;

	if (!dec_elf_read(b, range.offset, range.offset + range.size, &r.elf, &ok))
		return false;
	if (ok && !read_host(&r))
		return false;
	return dec_host_finish(b, host);
}
