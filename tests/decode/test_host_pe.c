#include "build.h"
#include "inventory.h"

#include <string.h>

static const char cubin[] = "sixteen bytes..";
enum { FATBIN = 96 };

static struct bytes region(void)
{
	static const struct fat_entry e = { 2, 90, 0x11, cubin, sizeof(cubin), 0, NULL, NULL };
	struct bytes b = { 0 };

	add_fatbin(&b, &e, 1);
	return b;
}

typedef size_t (*coff_builder)(struct bytes *b, const struct coff_section *sections, size_t count,
			       const char *strings);

static void object(struct bytes *b, coff_builder build, const char *name, const char *strings)
{
	struct bytes body = region();
	struct coff_section sections[] = {
		{ ".text", "code", 4, 0 },
		{ name, body.p, body.len, 0 },
		{ ".bss", NULL, 0, 0 },
	};

	build(b, sections, COUNT(sections), strings);
	bytes_free(&body);
}

static void image(struct bytes *b, int plus, const char *name, size_t padding, const char *tail)
{
	struct bytes body = region();
	struct coff_section sections[] = { { ".text", "code", 4, 12 }, { name, NULL, 0, padding } };

	add_text(&body, tail);
	sections[1].p = body.p;
	sections[1].size = body.len;
	add_pe(b, sections, COUNT(sections), plus);
	bytes_free(&body);
}

static void coff(struct bytes *b)
{
	object(b, add_coff, "/4", ".nv_fatbin");
}
static void bigobj(struct bytes *b)
{
	object(b, add_bigobj, "/4", ".nv_fatbin");
}
static void pe32plus(struct bytes *b)
{
	image(b, 1, ".nv_fatb", 100, "");
}
static void pe32(struct bytes *b)
{
	image(b, 0, ".nv_fatb", 100, "");
}
static void pe_with_tail(struct bytes *b)
{
	image(b, 1, ".nv_fatb", 100, "tail");
}
static void pe_padded(struct bytes *b)
{
	image(b, 1, ".nv_fatb", 4096, "");
}
enum {
	PE_HEADER = 0x44,
	PE_SECTIONS = PE_HEADER + 2,
	PE_OPTIONAL = PE_HEADER + 16,
	PE_TABLE = PE_HEADER + 20 + 112,
	PE_SECTION = PE_TABLE + 2 * 40 + 16,
	COFF_SECTIONS = 2,
	COFF_OPTIONAL = 16,
};

/* clang-format off */
static const struct input_case damaged[] = {
	{ "COFF object", coff, NONE, 0, 1, 1, false, NONE },
	{ "big COFF object", bigobj, NONE, 0, 1, 1, false, NONE },
	{ "PE32+", pe32plus, NONE, 0, 1, 1, false, NONE },
	{ "PE32", pe32, NONE, 0, 1, 1, false, NONE },
	{ "something behind the region", pe_with_tail, NONE, 0, 1, 1, false,
	  { { DEC_PROBLEM_BAD_MAGIC, PE_SECTION + FATBIN, "magic" } } },
	{ "the section's virtual size ends before", pe_with_tail,
	  { { PE_TABLE + 40 + 8, 4, FATBIN } }, 0, 1, 1, false, NONE },
	{ "virtual size 0", pe_with_tail, { { PE_TABLE + 40 + 8, 4, 0 } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_BAD_MAGIC, PE_SECTION + FATBIN, "magic" } } },
	{ "section past the file", pe_with_tail,
	  { { PE_TABLE + 40 + 16, 4, UINT32_MAX }, { PE_TABLE + 40 + 8, 4, UINT32_MAX } },
	  0, 1, 1, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, PE_TABLE + 40 + 16, "SizeOfRawData" } } },
	{ "a section's padding past the file", pe_with_tail,
	  { { PE_TABLE + 40 + 16, 4, UINT32_MAX } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, PE_TABLE + 40 + 16, "SizeOfRawData" },
	    { DEC_PROBLEM_BAD_MAGIC, PE_SECTION + FATBIN, "magic" } } },
	{ "more padding than a page", pe_padded, { { PE_TABLE + 40 + 8, 4, 1 } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_SIZE_MISMATCH, PE_TABLE + 40 + 8, "VirtualSize" } } },
	{ "padding of a page, less a byte", pe_padded,
	  { { PE_TABLE + 40 + 8, 4, FATBIN + 1 } }, 0, 1, 1, false, NONE },
	{ "more padding than a page, aligned to more", pe_padded,
	  { { PE_TABLE + 40 + 8, 4, 1 }, { PE_OPTIONAL + 4 + 32, 4, 8192 } }, 0, 1, 1, false,
	  NONE },
	{ "no sections, yet more than headers", pe32plus,
	  { { PE_SECTIONS, 2, 0 }, { PE_OPTIONAL + 4 + 56, 4, 8192 } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, PE_SECTIONS, "NumberOfSections" } } },
	{ "PE32+ of another machine", pe32plus, { { PE_HEADER, 2, 0x14c } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_BAD_MAGIC, PE_HEADER, "Machine" } } },
	{ "section at 0", pe_with_tail, { { PE_TABLE + 40 + 20, 4, 0 } }, 0, 1, 1, false, NONE },
	{ "more sections than there is room", pe32plus,
	  { { PE_SECTIONS, 2, 0xffff } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_TRUNCATED, PE_SECTIONS, "NumberOfSections" } } },
	{ "table past the file", pe32plus, { { PE_OPTIONAL, 2, 0xffff } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_TRUNCATED, PE_OPTIONAL, "SizeOfOptionalHeader" } } },
	{ "cut in the DOS header", pe32plus, NONE, 63, 0, 0, false, NONE },
	{ "cut before the PE header", pe32plus, NONE, 66, 0, 0, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, 0x3c, "e_lfanew" } } },
	{ "cut in the COFF header", pe32plus, NONE, PE_HEADER + 19, 0, 0, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, 0x3c, "e_lfanew" } } },
	{ "cut before the optional header", pe32plus, NONE, PE_HEADER + 21, 0, 0, true,
	  { { DEC_PROBLEM_TRUNCATED, PE_OPTIONAL, "SizeOfOptionalHeader" } } },
	{ "PE header far away", pe32plus, { { 0x3c, 4, UINT32_MAX } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, 0x3c, "e_lfanew" } } },
	{ "no PE magic", pe32plus, { { 0x40, 1, 'X' } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_BAD_MAGIC, 0x40, "PE signature" } } },
	{ "no room for an optional header", pe32plus, { { PE_OPTIONAL, 2, 0 } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, PE_OPTIONAL, "SizeOfOptionalHeader" } } },
	{ "a directory without room", pe32plus, { { PE_HEADER + 20 + 108, 4, 1 } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_SIZE_MISMATCH, PE_OPTIONAL, "SizeOfOptionalHeader" } } },
	{ "an optional header of another kind", pe32plus,
	  { { PE_HEADER + 20, 2, 0x107 } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_BAD_MAGIC, PE_HEADER + 20, "optional header magic" } } },
	{ "a symbol table far away", pe32plus, { { PE_HEADER + 8, 4, UINT32_MAX } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, PE_HEADER + 8, "PointerToSymbolTable" } } },
	{ "a section far away", pe32plus, { { PE_TABLE + 40 + 20, 4, UINT32_MAX } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, PE_TABLE + 40 + 20, "PointerToRawData" } } },
	{ "object of an unknown machine", coff, { { 0, 2, 0x1234 } }, 0, 1, 1, false, NONE },
	{ "object with an optional header", coff, { { COFF_OPTIONAL, 2, 1 } }, 0, 1, 1, false,
	  NONE },
	{ "object without sections", coff, { { COFF_SECTIONS, 2, 0 } }, 0, 1, 1, false, NONE },
	{ "object with too many sections", coff, { { COFF_SECTIONS, 2, 0xffff } }, 0, 1, 1, false,
	  NONE },
	{ "big object with too many sections", bigobj, { { 0x2c, 4, UINT32_MAX } }, 0, 1, 1, false,
	  NONE },
	{ "string table far away", bigobj,
	  { { 0x30, 4, UINT32_MAX }, { 0x34, 4, UINT32_MAX } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, 0x30, "PointerToSymbolTable" } } },
};
/* clang-format on */

struct format_case {
	const char *name;
	void (*build)(struct bytes *b);
	struct edit edit;
	enum dec_format format;
};

static const struct format_case formats[] = {
	{ "format: COFF", coff, { 0 }, DEC_FORMAT_COFF },
	{ "format: COFF of arm64", coff, { 0, 2, 0xaa64 }, DEC_FORMAT_COFF },
	{ "format: COFF of x86", coff, { 0, 2, 0x014c }, DEC_FORMAT_COFF },
	{ "format: COFF of something else", coff, { 0, 2, 0x1234 }, DEC_FORMAT_OTHER },
	{ "format: big COFF", bigobj, { 0 }, DEC_FORMAT_COFF },
	{ "format: big COFF of another class", bigobj, { 12, 1, 0 }, DEC_FORMAT_OTHER },
	{ "format: big COFF of version 1", bigobj, { 4, 2, 1 }, DEC_FORMAT_OTHER },
	{ "format: PE32+", pe32plus, { 0 }, DEC_FORMAT_PE32PLUS },
	{ "format: PE32", pe32, { 0 }, DEC_FORMAT_OTHER },
	{ "format: DOS program", pe32plus, { 0x3c, 4, 0 }, DEC_FORMAT_OTHER },
};

static void check_format(void **state)
{
	const struct format_case *c = *state;
	struct opened o = { 0 };

	c->build(&o.bytes);
	if (c->edit.width)
		set_le(&o.bytes, c->edit.at, c->edit.width, c->edit.value);
	open_input(&o);
	assert_int_equal(o.a->format, c->format);
	close_input(&o);
}

/* ---- names of sections ------------------------------------------------------------------------- */

struct name_case {
	const char *name; /* as in the header */
	const char *strings; /* NULL: no string table */
	const char *expected;
};

static const struct name_case names[] = {
	{ ".rdata", "", ".rdata" },
	{ ".nv_fatb", "", ".nv_fatb" },
	{ "/4", ".nv_fatbin", ".nv_fatbin" },
	{ "/8", "abc.nv_fatbin", "nv_fatbin" },
	{ "/0000004", ".nv_fatbin", ".nv_fatbin" },
	{ "//AAAAAE", ".nv_fatbin", ".nv_fatbin" }, /* 'E' is 4 */
	{ "//AAAAA!", ".nv_fatbin", "//AAAAA!" },
	{ "//AAAA", ".nv_fatbin", "//AAAA" },
	{ "/", ".nv_fatbin", "/" },
	{ "/x", ".nv_fatbin", "/x" },
	{ "/4x", ".nv_fatbin", "/4x" },
	{ "/9999999", ".nv_fatbin", "/9999999" },
	{ "//////", ".nv_fatbin", "//////" },
	{ "/4", NULL, "/4" },
};

static void check_name(void **state)
{
	const struct name_case *c = *state;
	const struct dec_place *place;
	struct opened o = { 0 };

	object(&o.bytes, add_coff, c->name, c->strings);
	open_input(&o);
	assert_int_equal(o.a->container_count, 1);
	place = &o.a->places[o.a->containers[0].place];
	assert_int_equal(place->kind, DEC_PLACE_SECTION);
	assert_string_equal(place->name.p, c->expected);
	sweep_failures(&o.bytes, &o.limits);
	close_input(&o);
}

int main(void)
{
	return RUN_ROWS(damaged, check_input) + RUN_ROWS(formats, check_format) +
	       RUN_ROWS(names, check_name);
}
