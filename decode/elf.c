/*
 * ELF headers and tables. libelf translates each record; where the records are and how
 * many there may be is checked here, because libelf trusts the counts it finds.
 */
#include "internal.h"

#include <elf.h>
#include <libelf.h>

#define CHUNK 64 /* table entries read at once: 4 KiB of section headers */

bool dec_elf_translate(void *to, size_t to_size, const void *from, size_t from_size, int elf_type,
		       const struct dec_elf *elf)
{
	const Elf_Type type = (Elf_Type)elf_type;

	/* libelf wants a writable pointer but only reads from it; copy rather than cast. */
	unsigned char copy[CHUNK * sizeof(Elf64_Shdr)];
	Elf_Data src = {
		.d_buf = copy, .d_size = from_size, .d_type = type, .d_version = EV_CURRENT
	};
	Elf_Data dst = { .d_buf = to, .d_size = to_size, .d_type = type, .d_version = EV_CURRENT };

	if (from_size > sizeof(copy) || elf_version(EV_CURRENT) == EV_NONE)
		return false;
	memcpy(copy, from, from_size);
	if (elf->class == ELFCLASS32)
		return elf32_xlatetom(&dst, &src, elf->data) != NULL;
	return elf64_xlatetom(&dst, &src, elf->data) != NULL;
}

static bool header64(struct dec_elf *elf, const uint8_t *p)
{
	Elf64_Ehdr h;

	if (!dec_elf_translate(&h, sizeof(h), p, sizeof(h), ELF_T_EHDR, elf))
		return false;
	elf->type = h.e_type;
	elf->version = h.e_version;
	elf->flags = h.e_flags;
	elf->phoff = h.e_phoff;
	elf->shoff = h.e_shoff;
	elf->ehsize = h.e_ehsize;
	elf->phentsize = h.e_phentsize;
	elf->phnum = h.e_phnum;
	elf->shentsize = h.e_shentsize;
	elf->shnum = h.e_shnum;
	elf->shstrndx = h.e_shstrndx;
	return true;
}

static bool header32(struct dec_elf *elf, const uint8_t *p)
{
	Elf32_Ehdr h;

	if (!dec_elf_translate(&h, sizeof(h), p, sizeof(h), ELF_T_EHDR, elf))
		return false;
	elf->type = h.e_type;
	elf->version = h.e_version;
	elf->flags = h.e_flags;
	elf->phoff = h.e_phoff;
	elf->shoff = h.e_shoff;
	elf->ehsize = h.e_ehsize;
	elf->phentsize = h.e_phentsize;
	elf->phnum = h.e_phnum;
	elf->shentsize = h.e_shentsize;
	elf->shnum = h.e_shnum;
	elf->shstrndx = h.e_shstrndx;
	return true;
}

bool dec_elf_has_content(const struct dec_elf *elf, uint32_t type)
{
	static const uint32_t cuda[] = { 0x70000007, 0x70000009, 0x7000000a, 0x70000015 };

	if (type == SHT_NULL || type == SHT_NOBITS)
		return false;
	for (size_t i = 0; i < sizeof(cuda) / sizeof(cuda[0]); i++)
		if (elf->machine == DEC_EM_CUDA && elf->type == ET_REL && type == cuda[i])
			return false;
	return true;
}

bool dec_elf_has_escapes(const struct dec_elf *elf)
{
	return elf->shoff && elf->shentsize == sizeof(Elf64_Shdr) &&
	       (elf->shnum == 0 || elf->shstrndx == SHN_XINDEX) &&
	       dec_fits(elf->shoff, sizeof(Elf64_Shdr), elf->room);
}

void dec_elf_escapes(struct dec_elf *elf, const uint8_t *section0)
{
	Elf64_Shdr zero;

	if (!dec_elf_translate(&zero, sizeof(zero), section0, sizeof(zero), ELF_T_SHDR, elf))
		return;
	if (elf->shnum == 0)
		elf->shnum = zero.sh_size;
	/* 0 would say that there are no names: an escape that leads nowhere stays what it is. */
	if (elf->shstrndx == SHN_XINDEX && zero.sh_link)
		elf->shstrndx = zero.sh_link;
}

static bool resolve_escapes(struct dec_build *b, struct dec_elf *elf)
{
	struct dec_view v;

	if (!dec_elf_has_escapes(elf))
		return true;
	if (!dec_peek(b, &b->head, elf->at + elf->shoff, sizeof(Elf64_Shdr), &v))
		return false;
	dec_elf_escapes(elf, v.p);
	return true;
}

bool dec_elf_header(struct dec_view v, struct dec_elf *elf)
{
	if (v.len < sizeof(Elf32_Ehdr) || !dec_starts(v, ELFMAG, SELFMAG))
		return false;
	elf->class = v.p[EI_CLASS];
	elf->data = v.p[EI_DATA];
	elf->osabi = v.p[EI_OSABI];
	elf->abiversion = v.p[EI_ABIVERSION];
	elf->machine = dec_le16(v.p + offsetof(Elf64_Ehdr, e_machine));
	if (elf->class == ELFCLASS64 && v.len >= sizeof(Elf64_Ehdr))
		return header64(elf, v.p);
	return elf->class == ELFCLASS32 && header32(elf, v.p);
}

bool dec_elf_read(struct dec_build *b, uint64_t at, uint64_t limit, struct dec_elf *elf, bool *ok)
{
	struct dec_view v;
	size_t size = sizeof(Elf64_Ehdr);

	*ok = false;
	*elf = (struct dec_elf){ .at = at, .room = limit - at };
	if (limit - at < size)
		size = sizeof(Elf32_Ehdr);
	if (limit - at < size)
		return true;
	if (!dec_peek(b, &b->head, at, size, &v))
		return false;
	*ok = dec_elf_header(v, elf);
	if (*ok && elf->class == ELFCLASS64 && elf->data == ELFDATA2LSB)
		return resolve_escapes(b, elf);
	return true;
}

#define FIELD_OF(type, member) ((struct dec_elf_field){ offsetof(type, member), #member })
#define FIELD(member) FIELD_OF(Elf64_Ehdr, member)

/* Without an entry the table is not read, wherever it may be. */
struct dec_elf_field dec_elf_bad_sections(const struct dec_elf *elf)
{
	if (!elf->shoff)
		return (struct dec_elf_field){ 0, NULL };
	if (elf->shentsize != sizeof(Elf64_Shdr))
		return FIELD(e_shentsize);
	if (!dec_fits(elf->shoff, sizeof(Elf64_Shdr), elf->room))
		return FIELD(e_shoff);
	if (elf->shnum == 0 || elf->shnum > DEC_ELF_SECTIONS_MAX ||
	    elf->shnum > (elf->room - elf->shoff) / sizeof(Elf64_Shdr))
		return FIELD(e_shnum);
	return (struct dec_elf_field){ 0, NULL };
}

struct dec_elf_field dec_elf_bad_segments(const struct dec_elf *elf)
{
	if (!elf->phnum)
		return (struct dec_elf_field){ 0, NULL };
	if (elf->phentsize != sizeof(Elf64_Phdr))
		return FIELD(e_phentsize);
	if (!elf->phoff || !dec_fits(elf->phoff, sizeof(Elf64_Phdr), elf->room))
		return FIELD(e_phoff);
	if (elf->phnum > (elf->room - elf->phoff) / sizeof(Elf64_Phdr))
		return FIELD(e_phnum);
	return (struct dec_elf_field){ 0, NULL };
}

struct dec_elf_field dec_elf_bad_section(uint64_t offset, uint64_t room)
{
	return offset <= room ? FIELD_OF(Elf64_Shdr, sh_size) : FIELD_OF(Elf64_Shdr, sh_offset);
}

struct dec_elf_field dec_elf_bad_segment(uint64_t offset, uint64_t room)
{
	return offset <= room ? FIELD_OF(Elf64_Phdr, p_filesz) : FIELD_OF(Elf64_Phdr, p_offset);
}

/* Counts what is read of tables over the whole search, so that many headers which share
 * one large table cost no more than the limit. */
static bool spend(struct dec_build *b, uint64_t offset, uint64_t size, bool *ok)
{
	if (size <= b->limits.max_header_bytes - b->header_bytes) {
		b->header_bytes += size;
		return true;
	}
	*ok = false;
	if (b->header_limit_noted)
		return true;
	b->header_limit_noted = true;
	return dec_note(b, DEC_OWNER_ARTIFACT, DEC_PROBLEM_LIMIT, offset, "max_header_bytes",
			DEC_PARTIAL, "more than %llu bytes of ELF tables; the rest is not read",
			(unsigned long long)b->limits.max_header_bytes);
}

/* One table, CHUNK entries at a time. */
struct table {
	uint64_t offset, count;
	size_t entry;
	Elf_Type type;
};

static bool table_ok(const struct dec_elf *elf, const struct table *t, uint16_t entry_size)
{
	return elf->class == ELFCLASS64 && elf->data == ELFDATA2LSB && entry_size == t->entry &&
	       t->count <= elf->room / t->entry &&
	       dec_fits(t->offset, t->count * t->entry, elf->room);
}

/* Reads entries from first on into out (CHUNK of them at most); *n says how many. */
static bool table_chunk(struct dec_build *b, const struct dec_elf *elf, const struct table *t,
			uint64_t first, void *out, size_t *n, bool *ok)
{
	uint64_t left = t->count - first, offset = elf->at + t->offset + first * t->entry;
	size_t size;
	struct dec_view v;

	*n = left < CHUNK ? (size_t)left : CHUNK;
	size = *n * t->entry;
	if (!spend(b, offset, size, ok))
		return false;
	if (!*ok)
		return true;
	if (!dec_peek(b, &b->head, offset, size, &v))
		return false;
	*ok = dec_elf_translate(out, size, v.p, size, (int)t->type, elf);
	return true;
}

bool dec_elf_sections(struct dec_build *b, const struct dec_elf *elf, dec_section_visit visit,
		      void *ctx, bool *ok)
{
	struct table t = { elf->shoff, elf->shnum, sizeof(Elf64_Shdr), ELF_T_SHDR };
	Elf64_Shdr chunk[CHUNK];
	size_t n;

	*ok = elf->shoff && table_ok(elf, &t, elf->shentsize);
	for (uint64_t first = 0; *ok && first < t.count; first += n) {
		if (!table_chunk(b, elf, &t, first, chunk, &n, ok))
			return false;
		for (size_t i = 0; *ok && i < n; i++) {
			struct dec_section s = { first + i,
						 chunk[i].sh_name,
						 chunk[i].sh_type,
						 chunk[i].sh_flags,
						 chunk[i].sh_offset,
						 chunk[i].sh_size,
						 chunk[i].sh_addralign };

			if (visit && !visit(ctx, &s))
				return true;
		}
	}
	return true;
}

bool dec_elf_segments(struct dec_build *b, const struct dec_elf *elf, dec_segment_visit visit,
		      void *ctx, bool *ok)
{
	struct table t = { elf->phoff, elf->phnum, sizeof(Elf64_Phdr), ELF_T_PHDR };
	Elf64_Phdr chunk[CHUNK];
	size_t n;

	*ok = elf->phoff && table_ok(elf, &t, elf->phentsize);
	for (uint64_t first = 0; *ok && first < t.count; first += n) {
		if (!table_chunk(b, elf, &t, first, chunk, &n, ok))
			return false;
		for (size_t i = 0; *ok && i < n; i++) {
			struct dec_segment s = { first + i, chunk[i].p_type, chunk[i].p_offset,
						 chunk[i].p_filesz, chunk[i].p_align };

			if (visit && !visit(ctx, &s))
				return true;
		}
	}
	return true;
}

bool dec_elf_next_note(struct dec_view *v, struct dec_elf_note *note, bool *broken)
{
	uint64_t name_size, desc_size, end;

	*broken = v->len != 0;
	if (v->len < sizeof(Elf64_Nhdr))
		return false;
	name_size = ((uint64_t)dec_le32(v->p) + 3) & ~(uint64_t)3;
	desc_size = dec_le32(v->p + 4);
	if (!dec_slice(*v, sizeof(Elf64_Nhdr), name_size, &note->owner) ||
	    !dec_slice(*v, sizeof(Elf64_Nhdr) + name_size, desc_size, &note->desc))
		return false;
	*broken = false;
	note->type = dec_le32(v->p + 8);
	end = sizeof(Elf64_Nhdr) + name_size + ((desc_size + 3) & ~(uint64_t)3);
	if (end > v->len)
		end = v->len;
	*v = (struct dec_view){ v->p + end, v->len - (size_t)end, v->origin + end };
	return true;
}
