#include "build.h"
#include "inspect_internal.h"
#include "inventory.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t text[] = "machine code";
static const struct elf_section sections[] = {
	{ ".text", SHT_PROGBITS, text, sizeof(text) },
	{ ".bss", SHT_NOBITS, NULL, 4096 },
	{ ".note", SHT_NOTE, text, 4 },
};
static const struct elf_head amdgpu = { ET_DYN, DEC_EM_AMDGPU, 64, 3, 0x41 };

/* Bytes that end where the view ends. */
static struct bytes exact(const struct bytes *b)
{
	struct bytes copy = { malloc(b->len), b->len, b->len };

	assert_non_null(copy.p);
	memcpy(copy.p, b->p, b->len);
	return copy;
}

/* Lives until the next call. */
static const struct dec_payload *payload(const struct bytes *b)
{
	static struct dec_payload p;

	p = (struct dec_payload){ .bytes = b->p, .len = b->len, .origin = 1000 };
	return &p;
}

static void expect_section(const struct dec_elfview *elf, uint64_t index, const char *name,
			   size_t content)
{
	struct dec_elfsection s;

	assert_true(dec_elfview_section(elf, index, &s));
	assert_int_equal(s.name.len, strlen(name));
	assert_memory_equal(s.name.p, name, s.name.len);
	assert_int_equal(s.content.size, content);
	assert_int_equal(dec_elfview_bytes(elf, &s).len, content);
	if (content)
		assert_int_equal(dec_elfview_bytes(elf, &s).origin, 1000 + s.offset);
}

static void sections_by_index(void **state)
{
	struct bytes b = { 0 };
	struct dec_elfview elf;
	struct dec_elfsection s;

	(void)state;
	add_elf(&b, &amdgpu, sections, COUNT(sections), ELF_SECTIONS);
	assert_true(dec_elfview_open(payload(&b), &elf));
	assert_true(dec_elfview_has_sections(&elf));
	expect_section(&elf, 0, "", 0);
	expect_section(&elf, 1, ".text", sizeof(text));
	expect_section(&elf, 2, ".bss", 0);
	expect_section(&elf, 3, ".note", 4);
	assert_false(dec_elfview_section(&elf, 5, &s));
	assert_false(dec_elfview_section(&elf, UINT64_MAX, &s));
	bytes_free(&b);
}

/* e_shnum 0 and e_shstrndx 0xffff: section 0 has the numbers. */
static void escapes(void **state)
{
	struct bytes b = { 0 };
	struct dec_elfview elf;
	uint64_t table;

	(void)state;
	add_elf(&b, &amdgpu, sections, COUNT(sections), ELF_SECTIONS);
	table = dec_le64(b.p + offsetof(Elf64_Ehdr, e_shoff));
	set_le(&b, offsetof(Elf64_Ehdr, e_shnum), 2, 0);
	set_le(&b, offsetof(Elf64_Ehdr, e_shstrndx), 2, SHN_XINDEX);
	set_le(&b, table + offsetof(Elf64_Shdr, sh_size), 8, COUNT(sections) + 2);
	set_le(&b, table + offsetof(Elf64_Shdr, sh_link), 4, COUNT(sections) + 1);
	assert_true(dec_elfview_open(payload(&b), &elf));
	assert_int_equal(elf.h.shnum, COUNT(sections) + 2);
	expect_section(&elf, 3, ".note", 4);
	bytes_free(&b);
}

/* Cubins have the toolkit's number there. */
static void any_version_is_taken(void **state)
{
	struct bytes b = { 0 };
	struct dec_elfview elf;

	(void)state;
	add_elf(&b, &amdgpu, sections, COUNT(sections), ELF_SECTIONS);
	set_le(&b, offsetof(Elf64_Ehdr, e_version), 4, 0x82);
	assert_true(dec_elfview_open(payload(&b), &elf));
	assert_int_equal(elf.h.version, 0x82);
	bytes_free(&b);
}

static const struct refused {
	const char *name;
	size_t keep; /* 0: all */
	struct edit edit;
} refused[] = {
	{ "cut inside its header", 63, { 0, 0, 0 } },
	{ "cut inside its magic", 3, { 0, 0, 0 } },
	{ "another magic", 0, { 0, 1, 'E' } },
	{ "32 bits", 0, { EI_CLASS, 1, ELFCLASS32 } },
	{ "no class", 0, { EI_CLASS, 1, 0 } },
	{ "big-endian", 0, { EI_DATA, 1, ELFDATA2MSB } },
};

static void not_opened(void **state)
{
	const struct refused *row = *state;
	struct bytes b = { 0 }, copy;
	struct dec_elfview elf;

	add_elf(&b, &amdgpu, sections, COUNT(sections), ELF_SECTIONS);
	if (row->edit.width)
		set_le(&b, row->edit.at, row->edit.width, row->edit.value);
	if (row->keep)
		b.len = row->keep;
	copy = exact(&b);
	assert_false(dec_elfview_open(payload(&copy), &elf));
	bytes_free(&copy);
	bytes_free(&b);
}

static const struct broken {
	const char *name;
	size_t at; /* in the ELF header */
	unsigned width;
	uint64_t value;
} broken[] = {
	{ "no table", offsetof(Elf64_Ehdr, e_shoff), 8, 0 },
	{ "table past the end", offsetof(Elf64_Ehdr, e_shoff), 8, UINT64_MAX - 7 },
	{ "more sections than bytes", offsetof(Elf64_Ehdr, e_shnum), 2, 0xff00 },
	{ "entries of another size", offsetof(Elf64_Ehdr, e_shentsize), 2, 40 },
};

static void no_sections(void **state)
{
	const struct broken *row = *state;
	struct bytes b = { 0 };
	struct dec_elfview elf;
	struct dec_elfsection s;

	add_elf(&b, &amdgpu, sections, COUNT(sections), ELF_SECTIONS);
	set_le(&b, row->at, row->width, row->value);
	assert_true(dec_elfview_open(payload(&b), &elf));
	assert_false(dec_elfview_has_sections(&elf));
	assert_false(dec_elfview_section(&elf, 1, &s));
	bytes_free(&b);
}

/* The bytes of a section that is cut are not given; names without an end are empty. */
static void sections_outside(void **state)
{
	struct bytes b = { 0 };
	struct dec_elfview elf;
	struct dec_elfsection s;
	uint64_t table;

	(void)state;
	add_elf(&b, &amdgpu, sections, COUNT(sections), ELF_SECTIONS);
	table = dec_le64(b.p + offsetof(Elf64_Ehdr, e_shoff));
	set_le(&b, table + 64 + offsetof(Elf64_Shdr, sh_size), 8, UINT64_MAX);
	set_le(&b, table + 128 + offsetof(Elf64_Shdr, sh_name), 4, UINT32_MAX);
	assert_true(dec_elfview_open(payload(&b), &elf));
	assert_true(dec_elfview_section(&elf, 1, &s));
	assert_false(s.inside);
	assert_int_equal(s.content.size, 0);
	assert_true(dec_elfview_section(&elf, 2, &s));
	assert_int_equal(s.name.len, 0);
	set_le(&b, table + 4 * 64 + offsetof(Elf64_Shdr, sh_size), 8, 3);
	assert_true(dec_elfview_section(&elf, 1, &s));
	assert_int_equal(s.name.len, 0);
	bytes_free(&b);
}

/* Section types without content in relocatable cubins only. */
static void cuda_sections_without_content(void **state)
{
	static const struct elf_section shared = { ".nv.shared", 0x7000000a, text, sizeof(text) };
	struct elf_head head = { ET_REL, DEC_EM_CUDA, 0x41, 8, 0 };
	struct dec_elfview elf;

	(void)state;
	for (int linked = 0; linked < 2; linked++) {
		struct bytes b = { 0 };

		head.type = linked ? ET_EXEC : ET_REL;
		add_elf(&b, &head, &shared, 1, ELF_SECTIONS);
		assert_true(dec_elfview_open(payload(&b), &elf));
		expect_section(&elf, 1, ".nv.shared", linked ? sizeof(text) : 0);
		bytes_free(&b);
	}
}

static void addresses(void **state)
{
	struct bytes b = { 0 };
	struct dec_elfview elf;
	uint64_t table, offset;

	(void)state;
	add_elf(&b, &amdgpu, sections, 1, ELF_SEGMENTS);
	table = dec_le64(b.p + offsetof(Elf64_Ehdr, e_phoff));
	set_le(&b, table + offsetof(Elf64_Phdr, p_vaddr), 8, 0x1000);
	assert_true(dec_elfview_open(payload(&b), &elf));
	assert_false(dec_elfview_has_sections(&elf));
	assert_true(dec_elfview_address(&elf, 0x1000, sizeof(text), &offset));
	assert_int_equal(offset, ELF_EHDR);
	assert_true(dec_elfview_address(&elf, 0x1004, 2, &offset));
	assert_int_equal(offset, ELF_EHDR + 4);
	assert_false(dec_elfview_address(&elf, 0xfff, 1, &offset));
	assert_false(dec_elfview_address(&elf, 0x1000, sizeof(text) + 1, &offset));
	assert_false(dec_elfview_address(&elf, UINT64_MAX, 1, &offset));
	set_le(&b, table + offsetof(Elf64_Phdr, p_offset), 8, UINT64_MAX);
	assert_false(dec_elfview_address(&elf, 0x1000, 1, &offset));
	bytes_free(&b);
}

static void symbols_and_their_names(void **state)
{
	static const char strings[] = "\0first\0cut";
	struct dec_elfsection symtab = { .entsize = sizeof(Elf64_Sym) }, strtab = { .index = 0 };
	struct dec_elfview elf;
	struct dec_elfsymbol s;
	struct bytes b = { 0 };

	(void)state;
	add_elf(&b, &amdgpu, sections, 1, ELF_SECTIONS);
	symtab.content = (struct dec_range){ b.len, 3 * sizeof(Elf64_Sym) - 1 };
	for (uint32_t name = 1; name <= 7; name += 6) {
		add_le(&b, 4, name);
		add_le(&b, 1, 0x12);
		add_le(&b, 1, 3);
		add_le(&b, 2, 6);
		add_le(&b, 8, 0x1100);
		add_le(&b, 8, 64);
	}
	add_zeros(&b, sizeof(Elf64_Sym) - 1);
	/* Without the NUL behind the last name. */
	strtab.content = (struct dec_range){ b.len, sizeof(strings) - 1 };
	add(&b, strings, sizeof(strings));
	assert_true(dec_elfview_open(payload(&b), &elf));
	assert_int_equal(dec_elfview_symbol_count(&symtab), 2);
	assert_true(dec_elfview_symbol(&elf, &symtab, &strtab, 0, &s));
	assert_int_equal(s.name.len, 5);
	assert_memory_equal(s.name.p, "first", 5);
	assert_int_equal(s.info, 0x12);
	assert_int_equal(s.shndx, 6);
	assert_int_equal(s.value, 0x1100);
	assert_int_equal(s.size, 64);
	assert_true(dec_elfview_symbol(&elf, &symtab, &strtab, 1, &s));
	assert_int_equal(s.name.len, 0);
	assert_false(dec_elfview_symbol(&elf, &symtab, &strtab, 2, &s));
	symtab.entsize = 16;
	assert_int_equal(dec_elfview_symbol_count(&symtab), 0);
	bytes_free(&b);
}

/* Whatever the length, no read past the end and no section that is not there. */
static void every_cut(void **state)
{
	struct bytes b = { 0 };

	(void)state;
	add_elf(&b, &amdgpu, sections, COUNT(sections), ELF_SECTIONS);
	for (size_t len = 1; len < b.len; len++) {
		struct bytes cut = { b.p, len, len }, copy = exact(&cut);
		struct dec_elfview elf;
		struct dec_elfsection s;

		if (dec_elfview_open(payload(&copy), &elf)) {
			assert_false(dec_elfview_has_sections(&elf));
			assert_false(dec_elfview_section(&elf, 4, &s));
		}
		bytes_free(&copy);
	}
	bytes_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_by_index),
		cmocka_unit_test(escapes),
		cmocka_unit_test(any_version_is_taken),
		cmocka_unit_test(sections_outside),
		cmocka_unit_test(cuda_sections_without_content),
		cmocka_unit_test(addresses),
		cmocka_unit_test(symbols_and_their_names),
		cmocka_unit_test(every_cut),
	};

	return RUN_ROWS(refused, not_opened) + RUN_ROWS(broken, no_sections) +
	       cmocka_run_group_tests(tests, NULL, NULL);
}
