#include "build.h"
#include "inventory.h"

#include <elf.h>
#include <string.h>

#define HOST "host-x86_64-unknown-linux-gnu-"
#define GFX906 "hipv4-amdgcn-amd-amdhsa--gfx906:xnack-"
#define GFX1100 "hipv4-amdgcn-amd-amdhsa--gfx1100"

static const char first[] = "first payload";
static const char second[] = "second";

static const struct bundle_entry three_entries[] = {
	{ HOST, "", 0 },
	{ GFX906, first, sizeof(first) },
	{ GFX1100, second, sizeof(second) },
};

/* Records at 32, each 24 bytes and its id. */
enum {
	COUNT_AT = 24,
	R0 = 32,
	R1 = R0 + 24 + sizeof(HOST) - 1,
	R2 = R1 + 24 + sizeof(GFX906) - 1,
	HEADER = R2 + 24 + sizeof(GFX1100) - 1,
	THREE_SIZE = HEADER + sizeof(first) + sizeof(second),
	OFFSET = 0,
	SIZE = 8,
	ID_LENGTH = 16,
	ID = 24,
};

static void three(struct bytes *b)
{
	add_bundle(b, three_entries, COUNT(three_entries), 1);
}

static void no_entry(struct bytes *b)
{
	add_bundle(b, NULL, 0, 1);
}

static void one_without_id(struct bytes *b)
{
	static const struct bundle_entry e = { "", first, sizeof(first) };

	add_bundle(b, &e, 1, 1);
}

static void three_and_garbage(struct bytes *b)
{
	three(b);
	add_text(b, "garbage");
}

static void three_twice(struct bytes *b)
{
	three(b);
	add_zeros(b, 500);
	three(b);
}

static void text_and_three(struct bytes *b)
{
	add_text(b, "some text ");
	three(b);
}
enum { TEXT = 10 };

static void text_bundle(struct bytes *b)
{
	add_text(b, "__CLANG_OFFLOAD_BUNDLE____START__ " HOST "\nint x;\n");
}

/* clang-format off */
static const struct input_case damaged[] = {
	{ "three entries", three, NONE, 0, 1, 3, false, NONE },
	{ "no entry", no_entry, NONE, 0, 1, 0, false, NONE },
	{ "two bundles with zeros between", three_twice, NONE, 0, 2, 6, false, NONE },
	{ "garbage behind", three_and_garbage, NONE, 0, 1, 3, false,
	  { { DEC_PROBLEM_BAD_MAGIC, THREE_SIZE, "magic" } } },
	{ "text bundle", text_bundle, NONE, 0, 0, 0, false, NONE },

	{ "magic alone", three, NONE, 24, 0, 0, true,
	  { { DEC_PROBLEM_TRUNCATED, 0, "bundle header" } } },
	{ "cut in the count", three, NONE, 31, 0, 0, true,
	  { { DEC_PROBLEM_TRUNCATED, 0, "bundle header" } } },
	{ "count alone", three, NONE, 32, 1, 0, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, COUNT_AT, "entry count" } } },
	{ "count of all ones", three, { { COUNT_AT, 8, UINT64_MAX } }, 0, 1, 3, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, COUNT_AT, "entry count" } } },
	{ "count one too high", three, { { COUNT_AT, 8, 4 } }, 0, 1, 3, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, HEADER + ID_LENGTH, "id length" } } },
	{ "cut in a record", three, NONE, R1 + 20, 1, 1, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, R1 + ID_LENGTH, "id length" },
	    { DEC_PROBLEM_BAD_MAGIC, R1, "magic" } } },
	{ "cut in an id", three, NONE, R2 + 30, 1, 2, true,
	  { { DEC_PROBLEM_TRUNCATED, R1, "offset" },
	    { DEC_PROBLEM_OUT_OF_BOUNDS, R2 + ID_LENGTH, "id length" },
	    { DEC_PROBLEM_BAD_MAGIC, R2, "magic" } } },
	{ "id length of all ones", three, { { R1 + ID_LENGTH, 8, UINT64_MAX } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, R1 + ID_LENGTH, "id length" },
	    { DEC_PROBLEM_BAD_MAGIC, R1, "magic" } } },
	{ "id length past the limit", three,
	  { { R1 + ID_LENGTH, 8, DEC_ENTRY_ID_MAX + 1 } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, R1 + ID_LENGTH, "id length" },
	    { DEC_PROBLEM_BAD_MAGIC, R1, "magic" } } },

	{ "payload wraps", three, { { R1 + OFFSET, 8, UINT64_MAX - 3 } }, 0, 1, 3, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, R1, "offset" } } },
	{ "payload starts past the file", three,
	  { { R1 + OFFSET, 8, UINT64_C(1) << 40 } }, 0, 1, 3, true,
	  { { DEC_PROBLEM_TRUNCATED, R1, "offset" } } },
	{ "payload one byte past the file", three,
	  { { R2 + SIZE, 8, sizeof(second) + 1 } }, 0, 1, 3, true,
	  { { DEC_PROBLEM_TRUNCATED, R2 + SIZE, "size" } } },
	{ "payload of all ones", three, { { R2 + SIZE, 8, UINT64_MAX } }, 0, 1, 3, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, R2, "offset" } } },
	{ "payload at 0", three, { { R1 + OFFSET, 8, 0 } }, 0, 1, 3, false,
	  { { DEC_PROBLEM_OVERLAP, R1, "offset" } } },
	{ "payload in the header's last byte", three,
	  { { R1 + OFFSET, 8, HEADER - 1 } }, 0, 1, 3, false,
	  { { DEC_PROBLEM_OVERLAP, R1, "offset" } } },
	{ "payloads that share a byte", three,
	  { { R1 + SIZE, 8, sizeof(first) + 1 } }, 0, 1, 3, false,
	  { { DEC_PROBLEM_OVERLAP, R2, "offset" } } },
	{ "one payload twice", three,
	  { { R2 + OFFSET, 8, HEADER }, { R2 + SIZE, 8, sizeof(first) } },
	  HEADER + sizeof(first), 1, 3, false,
	  { { DEC_PROBLEM_OVERLAP, R2, "offset" } } },
	{ "an empty payload may lie anywhere", three,
	  { { R0 + OFFSET, 8, UINT64_MAX } }, 0, 1, 3, false, NONE },
	{ "empty id", one_without_id, NONE, 0, 1, 1, false, NONE },
	{ "id with a high byte", three, { { R1 + ID + 5, 1, 0xff } }, 0, 1, 3, false,
	  { { DEC_PROBLEM_NAME_NOT_UTF8, R1 + ID, "entry id" } } },
	{ "id with a NUL", three, { { R1 + ID + 5, 1, 0 } }, 0, 1, 3, false,
	  { { DEC_PROBLEM_NAME_NOT_UTF8, R1 + ID, "entry id" } } },

	{ "found in text", text_and_three, NONE, 0, 1, 3, false, NONE },
	{ "in text, no entry", text_and_three, { { TEXT + COUNT_AT, 8, 0 } }, 0, 0, 0, false,
	  NONE },
	{ "in text, count too high", text_and_three,
	  { { TEXT + COUNT_AT, 8, 1000 } }, 0, 0, 0, false, NONE },
	{ "in text, one record too many", text_and_three,
	  { { TEXT + COUNT_AT, 8, 4 } }, 0, 0, 0, false, NONE },
	{ "in text, id not printable", text_and_three, { { TEXT + R1 + ID, 1, 7 } }, 0, 0, 0, false,
	  NONE },
	{ "in text, cut header", text_and_three, NONE, TEXT + 30, 0, 0, false, NONE },
	{ "in text, payload past the file", text_and_three,
	  { { TEXT + R2 + SIZE, 8, 1000 } }, 0, 1, 3, true,
	  { { DEC_PROBLEM_TRUNCATED, TEXT + R2 + SIZE, "size" } } },
};
/* clang-format on */

static void all_fields(void **state)
{
	struct opened o = { 0 };
	const struct dec_object *host, *object;
	const struct dec_container *c;

	(void)state;
	three(&o.bytes);
	open_input(&o);
	assert_int_equal(o.a->format, DEC_FORMAT_BUNDLE);
	c = &o.a->containers[0];
	assert_int_equal(c->kind, DEC_CONTAINER_BUNDLE);
	assert_int_equal(c->entries, 3);
	assert_int_equal(c->range.size, THREE_SIZE);
	host = &o.a->objects[0];
	assert_int_equal(host->kind, DEC_KIND_HOST);
	assert_int_equal(host->target_index, DEC_NONE);
	assert_false(dec_text_present(host->target));
	assert_string_equal(host->target_raw.p, HOST);
	assert_int_equal(host->payload_size, 0);
	object = &o.a->objects[1];
	assert_int_equal(object->kind, DEC_KIND_CODE_OBJECT);
	assert_int_equal(object->vendor, DEC_VENDOR_AMD);
	assert_int_equal(object->target_kind, DEC_TARGET_BUNDLE_ID);
	assert_string_equal(object->target.p, "gfx906:xnack-");
	assert_string_equal(object->target_raw.p, GFX906);
	assert_int_equal(object->header.offset, R1);
	assert_int_equal(object->header.size, 24 + sizeof(GFX906) - 1);
	expect_payload(&o, 1, first, sizeof(first));
	expect_payload(&o, 2, second, sizeof(second));
	assert_int_equal(o.a->target_count, 2);
	assert_string_equal(o.a->targets[0].name.p, "gfx1100");
	assert_string_equal(o.a->targets[1].name.p, "gfx906:xnack-");
	close_input(&o);
}

static void payloads_on_pages(void **state)
{
	struct opened o = { 0 };

	(void)state;
	add_bundle(&o.bytes, three_entries, COUNT(three_entries), 4096);
	open_input(&o);
	assert_int_equal(o.a->objects[1].encoded.offset, 4096);
	assert_int_equal(o.a->objects[2].encoded.offset, 8192);
	assert_int_equal(o.a->containers[0].range.size, 8192 + sizeof(second));
	assert_int_equal(o.a->problem_count, 0);
	close_input(&o);
}

static void the_same_id_twice_is_kept(void **state)
{
	const struct bundle_entry entries[] = {
		{ GFX1100, first, sizeof(first) },
		{ GFX1100, second, sizeof(second) },
	};
	struct opened o = { 0 };

	(void)state;
	add_bundle(&o.bytes, entries, COUNT(entries), 8);
	open_input(&o);
	assert_int_equal(o.a->object_count, 2);
	assert_int_equal(o.a->target_count, 1);
	assert_int_equal(o.a->targets[0].object_count, 2);
	assert_int_equal(o.a->problem_count, 0);
	close_input(&o);
}

/* What exists of a payload that is cut is given, with the declared size beside it. */
static void a_cut_payload_is_clipped(void **state)
{
	struct opened o = { 0 };

	(void)state;
	three(&o.bytes);
	o.bytes.len -= 3;
	open_input(&o);
	assert_int_equal(o.a->objects[2].payload_size, sizeof(second));
	assert_int_equal(o.a->objects[2].encoded.size, sizeof(second) - 3);
	assert_int_equal(o.a->objects[2].encoded.offset, HEADER + sizeof(first));
	assert_true(o.a->objects[2].has_payload);
	close_input(&o);
}

static void a_payload_outside_is_not_given(void **state)
{
	struct opened o = { 0 };

	(void)state;
	three(&o.bytes);
	set_le(&o.bytes, R1, 8, UINT64_MAX - 3);
	open_input(&o);
	assert_false(o.a->objects[1].has_payload);
	assert_int_equal(o.a->objects[1].encoded.size, 0);
	assert_true(o.a->objects[2].has_payload);
	close_input(&o);
}

/* An ELF file in a payload is that entry's, no object of its own, cut or not. */
static void payloads_are_not_searched(void **state)
{
	struct elf_head head = { ET_DYN, EM_AMDGPU, 64, 3, 0x41 };
	struct elf_section text = { ".text", SHT_PROGBITS, first, sizeof(first) };
	struct bytes elf = { 0 };
	struct bundle_entry entries[] = { { GFX1100, NULL, 0 } };
	struct opened o = { 0 };

	(void)state;
	add_elf(&elf, &head, &text, 1, ELF_SECTIONS);
	entries[0].payload = elf.p;
	entries[0].size = elf.len;
	add_bundle(&o.bytes, entries, 1, 1);
	open_input(&o);
	assert_int_equal(o.a->container_count, 1);
	close_input(&o);

	o = (struct opened){ 0 };
	add_bundle(&o.bytes, entries, 1, 1);
	set_le(&o.bytes, R0 + SIZE, 8, elf.len + 1); /* past the end of the file */
	open_input(&o);
	assert_int_equal(o.a->object_count, 1);
	close_input(&o);
	bytes_free(&elf);
}

/* -fgpu-rdc of the older driver: the section's name is the id. */
static void sections_that_are_entries(void **state)
{
	static const struct elf_head head = { ET_REL, EM_X86_64, 0, 0, 0 };
	static const struct elf_section sections[] = {
		{ "__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--gfx906", SHT_PROGBITS, first,
		  sizeof(first) },
		{ "__CLANG_OFFLOAD_BUNDLE__" HOST, SHT_PROGBITS, "", 1 },
		{ "__CLANG_OFFLOAD_BUNDLE__", SHT_PROGBITS, second, sizeof(second) },
		{ ".text", SHT_PROGBITS, second, sizeof(second) },
	};
	struct opened o = { 0 };

	(void)state;
	add_elf(&o.bytes, &head, sections, COUNT(sections), ELF_SECTIONS);
	open_input(&o);
	assert_int_equal(o.a->format, DEC_FORMAT_ELF64);
	assert_int_equal(o.a->container_count, 2);
	assert_int_equal(o.a->containers[0].kind, DEC_CONTAINER_BUNDLE);
	assert_int_equal(o.a->places[o.a->containers[0].place].kind, DEC_PLACE_SECTION);
	assert_string_equal(o.a->objects[0].target.p, "gfx906");
	assert_string_equal(o.a->objects[0].target_raw.p, "hip-amdgcn-amd-amdhsa--gfx906");
	expect_payload(&o, 0, first, sizeof(first));
	assert_int_equal(o.a->objects[1].kind, DEC_KIND_HOST);
	sweep_failures(&o.bytes, &o.limits);
	close_input(&o);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_fields),
		cmocka_unit_test(payloads_on_pages),
		cmocka_unit_test(the_same_id_twice_is_kept),
		cmocka_unit_test(a_cut_payload_is_clipped),
		cmocka_unit_test(a_payload_outside_is_not_given),
		cmocka_unit_test(payloads_are_not_searched),
		cmocka_unit_test(sections_that_are_entries),
	};

	return RUN_ROWS(damaged, check_input) + cmocka_run_group_tests(tests, NULL, NULL);
}
