#include "build.h"

#include <elf.h>
#include <string.h>

static size_t add_shdr(struct bytes *b, size_t name, const struct elf_section *s, size_t offset)
{
	size_t at = add_zeros(b, ELF_SHDR);

	set_le(b, at, 4, name);
	set_le(b, at + 4, 4, s->type);
	set_le(b, at + 24, 8, offset);
	set_le(b, at + 32, 8, s->size);
	set_le(b, at + 48, 8, 1);
	return at;
}

static void add_phdr(struct bytes *b, const struct elf_section *s, size_t offset)
{
	size_t at = add_zeros(b, ELF_PHDR);

	set_le(b, at, 4, s->type == SHT_NOTE ? PT_NOTE : PT_LOAD);
	set_le(b, at + 8, 8, offset);
	set_le(b, at + 32, 8, s->size);
	set_le(b, at + 40, 8, s->size);
	set_le(b, at + 48, 8, 4);
}

static void add_segments(struct bytes *b, size_t at, const struct elf_section *sections,
			 const size_t *offsets, size_t count)
{
	set_le(b, at + 32, 8, b->len - at);
	set_le(b, at + 56, 2, count);
	for (size_t i = 0; i < count; i++)
		add_phdr(b, &sections[i], offsets[i]);
}

/* Section 0, the sections, the table of their names. */
static void add_sections(struct bytes *b, size_t at, const struct elf_section *sections,
			 const size_t *offsets, size_t count)
{
	static const struct elf_section null = { .type = SHT_NULL };
	struct elf_section names = { .type = SHT_STRTAB };
	struct bytes text = { 0 };
	size_t names_at = b->len, next = 1;

	add_zeros(&text, 1);
	for (size_t i = 0; i < count; i++)
		add(&text, sections[i].name, strlen(sections[i].name) + 1);
	names.size = text.len;
	add_bytes(b, &text);
	bytes_free(&text);
	pad_to(b, 8);
	set_le(b, at + 40, 8, b->len - at);
	set_le(b, at + 60, 2, count + 2);
	set_le(b, at + 62, 2, count + 1);
	add_shdr(b, 0, &null, 0);
	for (size_t i = 0; i < count; i++) {
		add_shdr(b, next, &sections[i], offsets[i]);
		next += strlen(sections[i].name) + 1;
	}
	add_shdr(b, 0, &names, names_at - at);
}

size_t add_elf(struct bytes *b, const struct elf_head *head, const struct elf_section *sections,
	       size_t count, enum elf_tables tables)
{
	size_t at = add(b, "\177ELF\2\1\1", 7), offsets[16];

	add_zeros(b, ELF_EHDR - 7);
	set_le(b, at + 7, 1, head->osabi);
	set_le(b, at + 8, 1, head->abiversion);
	set_le(b, at + 16, 2, head->type);
	set_le(b, at + 18, 2, head->machine);
	set_le(b, at + 20, 4, 1);
	set_le(b, at + 48, 4, head->flags);
	set_le(b, at + 52, 2, ELF_EHDR);
	set_le(b, at + 54, 2, ELF_PHDR);
	set_le(b, at + 58, 2, ELF_SHDR);
	for (size_t i = 0; i < count && i < COUNT(offsets); i++) {
		offsets[i] = b->len - at;
		if (sections[i].type != SHT_NOBITS)
			add(b, sections[i].p, sections[i].size);
	}
	if (tables == ELF_SECTIONS)
		add_sections(b, at, sections, offsets, count);
	else if (tables == ELF_SEGMENTS)
		add_segments(b, at, sections, offsets, count);
	return at;
}

size_t add_note(struct bytes *b, const char *owner, uint32_t type, const void *desc, size_t size)
{
	size_t at = add_le(b, 4, strlen(owner) + 1);

	add_le(b, 4, size);
	add_le(b, 4, type);
	add(b, owner, strlen(owner) + 1);
	pad_to(b, 4);
	add(b, desc, size);
	pad_to(b, 4);
	return at;
}
