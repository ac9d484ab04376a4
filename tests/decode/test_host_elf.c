#include "build.h"
#include "inventory.h"

#include <elf.h>
#include <string.h>

static const char cubin[] = "sixteen bytes..";
static const struct elf_head host = { ET_DYN, EM_X86_64, 0, 0, 0 };

enum { SHOFF = 40, SHENTSIZE = 58, SHNUM = 60, SHSTRNDX = 62, FATBIN = 96 };

/* The section's bytes: fatbin, zeros, fatbin. */
static void regions(struct bytes *b)
{
	static const struct fat_entry e = { 2, 90, 0x11, cubin, sizeof(cubin), 0, NULL, NULL };

	add_fatbin(b, &e, 1);
	add_zeros(b, 24);
	add_fatbin(b, &e, 1);
}

static void library(struct bytes *b, const char *name, enum elf_tables tables, const char *tail)
{
	struct bytes body = { 0 };
	struct elf_section sections[] = {
		{ ".text", SHT_PROGBITS, "code", 4 },
		{ name, SHT_PROGBITS, NULL, 0 },
		{ ".bss", SHT_NOBITS, NULL, 1 << 20 },
		{ ".data", SHT_PROGBITS, "data", 4 },
	};

	regions(&body);
	add_text(&body, tail);
	sections[1].p = body.p;
	sections[1].size = body.len;
	add_elf(b, &host, sections, COUNT(sections), tables);
	bytes_free(&body);
}
enum { SECTION = ELF_EHDR + 4, SECOND = SECTION + FATBIN + 24, SECTION_END = SECOND + FATBIN };

static void nv_fatbin(struct bytes *b)
{
	library(b, ".nv_fatbin", ELF_SECTIONS, "");
}
static void nv_fatbin_and_tail(struct bytes *b)
{
	library(b, ".nv_fatbin", ELF_SECTIONS, "tail");
}
static void rodata_and_tail(struct bytes *b)
{
	library(b, ".rodata", ELF_SECTIONS, "tail");
}
static void without_sections(struct bytes *b)
{
	library(b, ".nv_fatbin", ELF_SEGMENTS, "");
}
static void without_tables(struct bytes *b)
{
	library(b, ".nv_fatbin", ELF_BARE, "");
}
static void kpack(struct bytes *b)
{
	static const struct elf_section sections[] = {
		{ ".hip_fatbin", SHT_PROGBITS, "\0\0\0\0\0\0\0", 8 },
		{ ".rocm_kpack_ref", SHT_PROGBITS, "\x82", 1 },
	};

	add_elf(b, &host, sections, COUNT(sections), ELF_SECTIONS);
}

/* clang-format off */
static const struct input_case damaged[] = {
	{ "regions in their section", nv_fatbin, NONE, 0, 2, 2, false, NONE },
	{ "regions in another section", rodata_and_tail, NONE, 0, 2, 2, false, NONE },
	{ "segments alone", without_sections, NONE, 0, 2, 2, false, NONE },
	{ "no tables", without_tables, NONE, 0, 2, 2, false, NONE },
	{ "code objects that are elsewhere", kpack, NONE, 0, 0, 0, false,
	  { { DEC_PROBLEM_EXTERNAL_CODE, ELF_EHDR + 8, "section" } } },

	{ "something behind the regions", nv_fatbin_and_tail, NONE, 0, 2, 2, false,
	  { { DEC_PROBLEM_BAD_MAGIC, SECTION_END, "magic" } } },
	{ "section that begins with another version", nv_fatbin,
	  { { SECTION + 4, 2, 2 } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_UNSUPPORTED_VERSION, SECTION + 4, "version" } } },
	{ "the next region of another version", nv_fatbin, { { SECOND + 4, 2, 2 } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_UNSUPPORTED_VERSION, SECOND + 4, "version" },
	    { DEC_PROBLEM_BAD_MAGIC, SECOND, "magic" } } },
	{ "the same in another section", rodata_and_tail, { { SECOND + 4, 2, 2 } }, 0, 1, 1, false,
	  NONE },

	{ "cut: the section table is gone", nv_fatbin, NONE, SECTION_END + 10, 2, 2, true,
	  { { DEC_PROBLEM_TRUNCATED, SHOFF, "e_shoff" } } },
	{ "section table far away", nv_fatbin, { { SHOFF, 8, UINT64_MAX - 63 } }, 0, 2, 2, true,
	  { { DEC_PROBLEM_TRUNCATED, SHOFF, "e_shoff" } } },
	{ "more sections than there is room", nv_fatbin, { { SHNUM, 2, 0xff00 } }, 0, 2, 2, true,
	  { { DEC_PROBLEM_TRUNCATED, SHNUM, "e_shnum" } } },
	{ "odd entry size", nv_fatbin, { { SHENTSIZE, 2, 40 } }, 0, 2, 2, true,
	  { { DEC_PROBLEM_MALFORMED_ELF, SHENTSIZE, "e_shentsize" } } },
	{ "cut in the ELF header", nv_fatbin, NONE, 40, 0, 0, true,
	  { { DEC_PROBLEM_TRUNCATED, 0, "ELF header" } } },
	{ "names out of range", nv_fatbin_and_tail, { { SHSTRNDX, 2, 0xfff0 } }, 0, 2, 2, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, SHSTRNDX, "e_shstrndx" } } },
	{ "no class", nv_fatbin, { { 4, 1, 0 } }, 0, 2, 2, true,
	  { { DEC_PROBLEM_MALFORMED_ELF, 4, "e_ident" } } },
	{ "segments far away", nv_fatbin,
	  { { 32, 8, UINT64_C(1) << 63 }, { 54, 2, 56 }, { 56, 2, 1 } }, 0, 2, 2, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, 32, "e_phoff" } } },
	{ "no sections in their table", nv_fatbin, { { SHNUM, 2, 0 } }, 0, 2, 2, true,
	  { { DEC_PROBLEM_TRUNCATED, SHNUM, "e_shnum" } } },

};
/* clang-format on */

struct place_case {
	const char *name;
	void (*build)(struct bytes *b);
	enum dec_place_kind kind;
	const char *place; /* NULL: absent */
};

static const struct place_case places[] = {
	{ "place: section", nv_fatbin, DEC_PLACE_SECTION, ".nv_fatbin" },
	{ "place: another section", rodata_and_tail, DEC_PLACE_SECTION, ".rodata" },
	{ "place: segment", without_sections, DEC_PLACE_SEGMENT, NULL },
	{ "place: the file", without_tables, DEC_PLACE_FILE, "input" },
};

static void check_place(void **state)
{
	const struct place_case *c = *state;
	const struct dec_place *place;
	struct opened o = { 0 };

	c->build(&o.bytes);
	open_input(&o);
	assert_int_equal(o.a->format, DEC_FORMAT_ELF64);
	assert_int_equal(o.a->containers[0].place, o.a->containers[1].place);
	place = &o.a->places[o.a->containers[0].place];
	assert_int_equal(place->kind, c->kind);
	if (c->place)
		assert_string_equal(place->name.p, c->place);
	else
		assert_false(dec_text_present(place->name));
	if (c->kind != DEC_PLACE_FILE) {
		assert_int_equal(place->range.offset, SECTION);
		assert_int_equal(place->outer, 0);
	}
	close_input(&o);
}

/* Every section that a format belongs in makes its faults known. */
static void sections_where_something_is_expected(void **state)
{
	static const struct {
		const char *section;
		const char *magic;
		size_t size;
	} rows[] = {
		{ ".nv_fatbin", "\x50\xed\x55\xba\x07\0\x10\0\0\0\0\0\0\0\0\0", 16 },
		{ "__nv_relfatbin", "\x50\xed\x55\xba\x07\0\x10\0\0\0\0\0\0\0\0\0", 16 },
		{ ".hip_fatbin", "__CLANG_OFFLOAD_BUNDLE__", 24 },
		{ ".hip_fatbin", "CCOB\x07\0\0\0", 8 },
		{ ".llvm.offloading", "\x10\xff\x10\xad\x07\0\0\0", 8 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct elf_section s = { rows[i].section, SHT_PROGBITS, rows[i].magic,
					 rows[i].size };
		struct opened o = { 0 };

		add_elf(&o.bytes, &host, &s, 1, ELF_SECTIONS);
		open_input(&o);
		/* The count that a bundle's header goes on with is what follows in the file. */
		assert_int_equal(o.a->problem_count > 0, true);
		close_input(&o);

		o = (struct opened){ 0 };
		s.name = ".rodata";
		add_elf(&o.bytes, &host, &s, 1, ELF_SECTIONS);
		open_input(&o);
		assert_int_equal(o.a->problem_count, 0);
		close_input(&o);
	}
}

struct refused_case {
	const char *name;
	size_t at;
	uint8_t value;
};

static const struct refused_case refused[] = {
	{ "32-bit host", 4, ELFCLASS32 },
	{ "big-endian host", 5, ELFDATA2MSB },
};

static void check_refused(void **state)
{
	const struct refused_case *c = *state;
	struct dec_limits limits = dec_limits_default();
	struct bytes b = { 0 };
	struct dec_error err;
	struct memory m;

	nv_fatbin(&b);
	b.p[c->at] = c->value;
	memory_init(&m, b.p, b.len);
	assert_null(dec_open(&m.source, "host", &limits, &err));
	assert_int_equal(err.status, DEC_E_REFUSED);
	sweep_failures(&b, &limits);
	bytes_free(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections_where_something_is_expected),
	};

	return RUN_ROWS(damaged, check_input) + RUN_ROWS(places, check_place) +
	       RUN_ROWS(refused, check_refused) + cmocka_run_group_tests(tests, NULL, NULL);
}
