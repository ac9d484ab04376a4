#include "build.h"
#include "inventory.h"

#include <elf.h>
#include <string.h>

static const char text[] = "machine code";

static const struct elf_section sections[] = {
	{ ".text", SHT_PROGBITS, text, sizeof(text) },
	{ ".nv.shared", SHT_NOBITS, NULL, 1 << 20 },
};

/* Offsets in an ELF header. */
enum { SHOFF = 40, EHSIZE = 52, SHENTSIZE = 58, SHNUM = 60, SHSTRNDX = 62 };

static const struct elf_head cubin8 = { ET_EXEC, 190, 0x41, 8, 0x06005a04 };
static const struct elf_head gfx1100 = { ET_DYN, EM_AMDGPU, 64, 3, 0x41 };

static void cubin(struct bytes *b)
{
	add_elf(b, &cubin8, sections, COUNT(sections), ELF_SECTIONS);
}
static void code_object(struct bytes *b)
{
	add_elf(b, &gfx1100, sections, 1, ELF_SECTIONS);
}
static void code_object_without_sections(struct bytes *b)
{
	add_elf(b, &gfx1100, sections, 1, ELF_SEGMENTS);
}
static void header_alone(struct bytes *b)
{
	add_elf(b, &gfx1100, NULL, 0, ELF_BARE);
}
static void text_and_cubin(struct bytes *b)
{
	add_text(b, "some text ");
	cubin(b);
}
static void text_and_two(struct bytes *b)
{
	add_text(b, "some text ");
	cubin(b);
	add_text(b, "and");
	code_object_without_sections(b);
	add_text(b, "more");
}
static void text_and_header(struct bytes *b)
{
	add_text(b, "some text ");
	header_alone(b);
}
static void text_and_host_elf(struct bytes *b)
{
	static const struct elf_head host = { ET_DYN, EM_X86_64, 0, 0, 0 };

	add_text(b, "some text ");
	add_elf(b, &host, sections, 1, ELF_SECTIONS);
}
static void cubin_and_code_object(struct bytes *b)
{
	cubin(b);
	code_object(b);
}
/* A section past the end, and a second code object in what would be the first one's body. */
static void one_in_another(struct bytes *b)
{
	struct bytes inner = { 0 };
	struct elf_section body = { ".data", SHT_PROGBITS, NULL, 0 };

	code_object(&inner);
	body.p = inner.p;
	body.size = inner.len;
	add_text(b, "some text ");
	add_elf(b, &cubin8, &body, 1, ELF_SECTIONS);
	bytes_free(&inner);
}
enum { TEXT = 10 };

/* clang-format off */
static const struct input_case damaged[] = {
	{ "cubin", cubin, NONE, 0, 1, 1, false, NONE },
	{ "code object", code_object, NONE, 0, 1, 1, false, NONE },
	{ "code object without sections", code_object_without_sections, NONE, 0, 1, 1, false,
	  NONE },
	{ "header alone", header_alone, NONE, 0, 1, 1, false, NONE },
	{ "cut in the header", cubin, NONE, 63, 1, 1, false, NONE },
	{ "section table far away", cubin, { { SHOFF, 8, UINT64_MAX - 63 } }, 0, 1, 1, false,
	  NONE },
	{ "32-bit", cubin, { { 4, 1, ELFCLASS32 } }, 0, 1, 1, false, NONE },
	{ "big-endian", cubin, { { 5, 1, ELFDATA2MSB } }, 0, 1, 1, false, NONE },
	{ "class 0", cubin, { { 4, 1, 0 } }, 0, 1, 1, false, NONE },
	{ "one after another", cubin_and_code_object, NONE, 0, 2, 2, false, NONE },

	{ "two in text", text_and_two, NONE, 0, 2, 2, false, NONE },
	{ "in text, cut in the header", text_and_cubin, NONE, TEXT + 63, 0, 0, false, NONE },
	{ "in text, no tables", text_and_header, NONE, 0, 0, 0, false, NONE },
	{ "in text, another machine", text_and_host_elf, NONE, 0, 0, 0, false, NONE },
	{ "in text, 32-bit", text_and_cubin, { { TEXT + 4, 1, ELFCLASS32 } }, 0, 0, 0, false,
	  NONE },
	{ "in text, big-endian", text_and_cubin, { { TEXT + 5, 1, ELFDATA2MSB } }, 0, 0, 0, false,
	  NONE },
	{ "in text, header size 52", text_and_cubin, { { TEXT + EHSIZE, 2, 52 } }, 0, 0, 0, false,
	  NONE },
	{ "in text, section table far away", text_and_cubin,
	  { { TEXT + SHOFF, 8, UINT64_MAX - 63 } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_MALFORMED_ELF, TEXT + 40, "e_shoff" } } },
	{ "in text, odd entry size", text_and_cubin, { { TEXT + SHENTSIZE, 2, 8 } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_MALFORMED_ELF, TEXT + 58, "e_shentsize" } } },
	{ "in text, too many sections", text_and_cubin,
	  { { TEXT + SHNUM, 2, 0xffff } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_MALFORMED_ELF, TEXT + 60, "e_shnum" } } },
	{ "in text, cut", text_and_cubin, NONE, TEXT + 100, 1, 1, false,
	  { { DEC_PROBLEM_MALFORMED_ELF, TEXT + 40, "e_shoff" } } },
	{ "in text, one in another", one_in_another, NONE, 0, 1, 1, false, NONE },
	{ "in text, one in a damaged other", one_in_another,
	  { { TEXT + SHENTSIZE, 2, 8 } }, 0, 2, 2, false,
	  { { DEC_PROBLEM_MALFORMED_ELF, TEXT + 58, "e_shentsize" } } },
};
/* clang-format on */

struct target_case {
	const char *name;
	struct elf_head head;
	const char *target;
};

/* docs/formats/bare.md and targets.md: values that were seen in files, and the V3 rules. */
static const struct target_case targets[] = {
	{ "cubin of ABI 7, sm_80", { ET_EXEC, 190, 0x33, 7, 0x00500550 }, "sm_80" },
	{ "cubin of ABI 7, sm_90", { ET_EXEC, 190, 0x33, 7, 0x005a055a }, "sm_90" },
	{ "cubin of ABI 7, sm_90a", { ET_EXEC, 190, 0x33, 7, 0x005a0d5a }, "sm_90a" },
	{ "cubin of ABI 7, virtual 72 on real 70", { ET_EXEC, 190, 0x33, 7, 0x00480546 }, "sm_70" },
	{ "cubin of ABI 4", { ET_EXEC, 190, 0x33, 4, 0x00230523 }, "sm_35" },
	{ "cubin of ABI 8, sm_90", { ET_EXEC, 190, 0x41, 8, 0x06005a04 }, "sm_90" },
	{ "cubin of ABI 8, sm_100", { ET_EXEC, 190, 0x41, 8, 0x06006402 }, "sm_100" },
	{ "cubin of ABI 8, sm_120a of 12.9", { ET_EXEC, 190, 0x41, 8, 0x0600780a }, "sm_120a" },
	{ "cubin of ABI 9", { ET_EXEC, 190, 0x41, 9, 0x06007902 }, "sm_121" },
	{ "relocatable cubin", { ET_REL, 190, 0x41, 8, 0x06005a04 }, "sm_90" },
	{ "code object V5", { ET_DYN, EM_AMDGPU, 64, 3, 0x41 }, "gfx1100" },
	{ "code object V5, features",
	  { ET_DYN, EM_AMDGPU, 64, 3, 0xe3f },
	  "gfx90a:sramecc+:xnack-" },
	{ "code object V6, generic", { ET_DYN, EM_AMDGPU, 64, 4, 0x01000151 }, "gfx9-generic" },
	{ "code object V3", { ET_DYN, EM_AMDGPU, 64, 1, 0x12f }, "gfx906:sramecc-:xnack+" },
};

static void check_target(void **state)
{
	const struct target_case *c = *state;
	struct opened o = { 0 };

	add_elf(&o.bytes, &c->head, sections, 1, ELF_SECTIONS);
	open_input(&o);
	assert_int_equal(o.a->object_count, 1);
	assert_string_equal(o.a->objects[0].target.p, c->target);
	assert_int_equal(o.a->objects[0].target_kind, DEC_TARGET_STANDALONE);
	close_input(&o);
}

static void all_fields(void **state)
{
	struct opened o = { 0 };
	const struct dec_object *object;
	size_t size;

	(void)state;
	cubin(&o.bytes);
	size = o.bytes.len;
	add_text(&o.bytes, "something behind");
	open_input(&o);
	assert_int_equal(o.a->format, DEC_FORMAT_CUBIN);
	assert_int_equal(o.a->containers[0].kind, DEC_CONTAINER_BARE);
	assert_int_equal(o.a->containers[0].entries, 1);
	object = &o.a->objects[0];
	assert_int_equal(object->kind, DEC_KIND_CUBIN);
	assert_int_equal(object->vendor, DEC_VENDOR_NVIDIA);
	assert_int_equal(object->header.size, 0);
	expect_payload(&o, 0, o.bytes.p, size); /* the section without content adds nothing */
	close_input(&o);

	o = (struct opened){ 0 };
	code_object(&o.bytes);
	open_input(&o);
	assert_int_equal(o.a->format, DEC_FORMAT_CODE_OBJECT);
	assert_int_equal(o.a->objects[0].kind, DEC_KIND_CODE_OBJECT);
	assert_int_equal(o.a->objects[0].vendor, DEC_VENDOR_AMD);
	close_input(&o);
}

/* docs/formats/bare.md, "Extent": in relocatable cubins these types have no bytes, in finished ones they do. */
static void section_types_without_content(void **state)
{
	static const uint32_t types[] = { 0x70000007, 0x70000009, 0x7000000a, 0x70000015 };

	(void)state;
	for (size_t i = 0; i < COUNT(types); i++) {
		struct elf_section s = { ".nv.local", types[i], text, sizeof(text) };
		struct elf_head head = cubin8;
		struct opened o = { 0 };
		size_t size;

		head.type = ET_REL;
		add_text(&o.bytes, "some text ");
		add_elf(&o.bytes, &head, &s, 1, ELF_SECTIONS);
		size = o.bytes.len - TEXT;
		set_le(&o.bytes, o.bytes.len - 2 * ELF_SHDR + 32, 8, 1 << 30); /* its size */
		open_input(&o);
		assert_int_equal(o.a->objects[0].payload_size, size);
		assert_int_equal(o.a->problem_count, 0);
		set_le(&o.bytes, TEXT + 16, 2, ET_EXEC);
		dec_close((struct dec_artifact *)(uintptr_t)o.a);
		open_input(&o);
		assert_int_equal(o.a->problem_count, 1);
		close_input(&o);
	}
}

/* gABI: a count of 0 and an index of 0xffff move to section 0. */
static void escapes_of_section_0(void **state)
{
	struct opened o = { 0 };
	size_t size, table;

	(void)state;
	cubin(&o.bytes);
	size = o.bytes.len;
	table = size - 4 * ELF_SHDR;
	set_le(&o.bytes, SHNUM, 2, 0);
	set_le(&o.bytes, SHSTRNDX, 2, 0xffff);
	set_le(&o.bytes, table + 32, 8, 4);
	set_le(&o.bytes, table + 40, 4, 3);
	add_text(&o.bytes, "behind");
	open_input(&o);
	assert_int_equal(o.a->objects[0].payload_size, size);
	close_input(&o);
}

/* ---- the notes of code object V2 ----------------------------------------------------------- */

static void add_isa_version(struct bytes *notes, uint32_t major, uint32_t minor, uint32_t stepping)
{
	struct bytes desc = { 0 };

	add_le(&desc, 2, 4);
	add_le(&desc, 2, 7);
	add_le(&desc, 4, major);
	add_le(&desc, 4, minor);
	add_le(&desc, 4, stepping);
	add(&desc, "AMD\0AMDGPU", 11);
	add_note(notes, "AMD", 3, desc.p, desc.len);
	bytes_free(&desc);
}

static void expect_noted(const struct bytes *notes, enum elf_tables tables, uint8_t osabi,
			 const char *target)
{
	struct elf_section s = { ".note", SHT_NOTE, notes->p, notes->len };
	struct elf_head head = { ET_DYN, EM_AMDGPU, osabi, 0, 0x2c };
	struct opened o = { 0 };

	add_elf(&o.bytes, &head, &s, 1, tables);
	open_input(&o);
	assert_string_equal(o.a->objects[0].target.p, target);
	sweep_failures(&o.bytes, &o.limits);
	close_input(&o);
}

static void notes_of_v2(void **state)
{
	static const char name[] = "amdgcn-amd-amdhsa--gfx907";
	struct bytes notes = { 0 };

	(void)state;
	add_note(&notes, "AMD", 1, "\2\0\0\0\1\0\0\0", 8);
	expect_noted(&notes, ELF_SECTIONS, 64, "gfx900"); /* flags stand in */
	add_note(&notes, "AMD", 11, name, sizeof(name) - 1);
	expect_noted(&notes, ELF_SECTIONS, 64, "gfx907");
	add_isa_version(&notes, 9, 0, 7);
	expect_noted(&notes, ELF_SECTIONS, 64,
		     "gfx906:sramecc-:xnack+"); /* the version is stronger */
	expect_noted(&notes, ELF_SEGMENTS, 64, "gfx906:sramecc-:xnack+");
	expect_noted(&notes, ELF_SEGMENTS, 65, "gfx906:sramecc-:xnack+");
	bytes_free(&notes);
}

struct note_case {
	const char *name;
	size_t at;
	uint32_t value;
};

/* The version note comes second; what is broken before it hides it, nothing else happens. */
static const struct note_case note_cases[] = {
	{ "name size of all ones", 0, UINT32_MAX },
	{ "name size past the end", 0, 4000 },
	{ "description size of all ones", 4, UINT32_MAX },
	{ "description size past the end", 4, 200 },
};

static void check_note(void **state)
{
	const struct note_case *c = *state;
	struct bytes notes = { 0 };

	add_note(&notes, "AMD", 1, "\2\0\0\0\1\0\0\0", 8);
	add_isa_version(&notes, 9, 0, 6);
	set_le(&notes, c->at, 4, c->value);
	expect_noted(&notes, ELF_SECTIONS, 64, "gfx900");
	bytes_free(&notes);
}

static void notes_of_others_are_passed(void **state)
{
	struct bytes notes = { 0 };

	(void)state;
	add_note(&notes, "GNU", 3, "0123456789abcdef0123", 20);
	add_note(&notes, "", 3, "", 0);
	add_isa_version(&notes, 8, 0, 1);
	expect_noted(&notes, ELF_SECTIONS, 64, "gfx801:xnack+");
	bytes_free(&notes);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_fields),
		cmocka_unit_test(section_types_without_content),
		cmocka_unit_test(escapes_of_section_0),
		cmocka_unit_test(notes_of_v2),
		cmocka_unit_test(notes_of_others_are_passed),
	};

	return RUN_ROWS(damaged, check_input) + RUN_ROWS(targets, check_target) +
	       RUN_ROWS(note_cases, check_note) + cmocka_run_group_tests(tests, NULL, NULL);
}
