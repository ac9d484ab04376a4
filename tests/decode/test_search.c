/* The search as a whole: what is refused, what is found where reads end, several formats. */
#include "build.h"
#include "internal.h"
#include "inventory.h"

#include <elf.h>
#include <stdlib.h>

static const char cubin[] = "sixteen bytes..";

static void fatbin(struct bytes *b)
{
	static const struct fat_entry e = { 2, 90, 0x11, cubin, sizeof(cubin), 0, NULL, NULL };

	add_fatbin(b, &e, 1);
}

struct start_case {
	const char *name;
	const char *bytes;
	size_t size;
	enum dec_status status;
	enum dec_format format;
	uint32_t objects;
	enum dec_kind kind;
};

#define START(s) s, sizeof(s) - 1

static const struct start_case starts[] = {
	{ "empty file", START(""), DEC_OK, DEC_FORMAT_OTHER, 0, 0 },
	{ "one byte", START("x"), DEC_OK, DEC_FORMAT_OTHER, 0, 0 },
	{ "three bytes of a magic", START("\177EL"), DEC_OK, DEC_FORMAT_OTHER, 0, 0 },
	{ "thin archive", START("!<thin>\n"), DEC_E_REFUSED, 0, 0, 0 },
	{ "bitcode", START("BC\xc0\xde\x35\x14"), DEC_E_REFUSED, 0, 0, 0 },
	{ "wrapped bitcode", START("\xde\xc0\x17\x0b\0\0\0\0"), DEC_E_REFUSED, 0, 0, 0 },
	{ "SPIR-V", START("\x03\x02\x23\x07\0\6\1\0"), DEC_OK, DEC_FORMAT_OTHER, 1,
	  DEC_KIND_SPIRV },
	{ "SPIR-V of the other byte order", START("\x07\x23\x02\x03\0\1\6\0"), DEC_OK,
	  DEC_FORMAT_OTHER, 1, DEC_KIND_SPIRV },
	{ "LTO-IR", START("\xed\x43\x4e\x7f"), DEC_OK, DEC_FORMAT_OTHER, 1, DEC_KIND_LTO_IR },
	{ "archive magic alone", START("!<arch>\n"), DEC_OK, DEC_FORMAT_AR, 0, 0 },
};

static void check_start(void **state)
{
	const struct start_case *c = *state;
	struct dec_limits limits = dec_limits_default();
	struct bytes b = { 0 };
	struct dec_artifact *a;
	struct dec_error err;
	struct memory m;

	add(&b, c->bytes, c->size);
	memory_init(&m, b.p, b.len);
	a = dec_open(&m.source, "start", &limits, &err);
	assert_false(m.outside);
	assert_int_equal(err.status, c->status);
	assert_int_equal(a != NULL, c->status == DEC_OK);
	if (a) {
		assert_int_equal(a->format, c->format);
		assert_int_equal(a->object_count, c->objects);
		assert_int_equal(a->problem_count, 0);
		if (c->objects)
			assert_int_equal(a->objects[0].kind, c->kind);
	} else {
		assert_string_equal(err.field, "magic");
		assert_true(err.sentence[0] != '\0');
	}
	dec_close(a);
	sweep_failures(&b, &limits);
	bytes_free(&b);
}

static void an_old_fat_binary_is_named(void **state)
{
	struct opened o = { 0 };

	(void)state;
	add_text(&o.bytes, "\x01\x5a\xe5\x1e and pointers");
	open_input(&o);
	assert_int_equal(o.a->problem_count, 1);
	assert_int_equal(o.a->problems[0].code, DEC_PROBLEM_UNSUPPORTED_VERSION);
	assert_true(o.a->partial);
	close_input(&o);
}

struct lto_case {
	const char *name; /* the target; "": none */
	uint16_t pairs[8]; /* tag, value ... */
};

/* docs/formats/bare.md, "LTO-IR": tag 1 is ten times the SM number, tag 0x20 marks 'a', tag 0x63 ends the list. */
static const struct lto_case ltos[] = {
	{ "lto_75", { 1, 750, 2, 2, 0x63, 0 } },
	{ "lto_90a", { 1, 900, 2, 2, 0x20, 1, 0x63, 0 } },
	{ "lto_103", { 2, 2, 1, 1030, 0x63, 0 } },
	{ "lto_120", { 1, 1200, 0x20, 0, 0x63, 0 } },
	{ "lto_80", { 1, 800, 0x63, 0, 1, 900 } },
	{ "", { 0x63, 0, 1, 900 } },
	{ "", { 2, 2 } },
};

static void check_lto(void **state)
{
	const struct lto_case *c = *state;
	struct opened o = { 0 };

	add(&o.bytes, "\xed\x43\x4e\x7f", 4);
	add_zeros(&o.bytes, 20);
	for (size_t i = 0; i < COUNT(c->pairs); i++)
		add_le(&o.bytes, 2, c->pairs[i]);
	open_input(&o);
	assert_int_equal(o.a->object_count, 1);
	assert_string_equal(o.a->objects[0].target.p, c->name);
	assert_int_equal(o.a->objects[0].vendor, DEC_VENDOR_NVIDIA);
	close_input(&o);
}

/* Reads grow from 4 KiB to 256 KiB; a magic may lie across the end of any. */
static void across_the_ends_of_reads(void **state)
{
	static const size_t ends[] = { 4096, 4096 + 16384, 4096 + 16384 + 65536, 262144, 524288 };

	(void)state;
	for (size_t i = 0; i < COUNT(ends); i++)
		for (size_t back = 0; back <= 8; back++) {
			struct opened o = { 0 };

			add_fill(&o.bytes, 'x', ends[i] - back);
			fatbin(&o.bytes);
			add_fill(&o.bytes, 'x', 5);
			open_input(&o);
			assert_int_equal(o.a->container_count, 1);
			assert_int_equal(o.a->containers[0].range.offset, ends[i] - back);
			close_input(&o);
		}
}

static void at_the_very_end(void **state)
{
	(void)state;
	for (size_t before = 1; before < 40; before++) {
		struct opened o = { 0 };

		add_fill(&o.bytes, 'x', before);
		fatbin(&o.bytes);
		open_input(&o);
		assert_int_equal(o.a->container_count, 1);
		close_input(&o);
	}
}

/* A magic in claimed bytes is no second container. */
static void nothing_inside_what_is_claimed(void **state)
{
	struct bytes inner = { 0 };
	struct fat_entry e = { 2, 90, 0x11, NULL, 0, 0, NULL, NULL };
	struct opened o = { 0 };

	(void)state;
	fatbin(&inner);
	e.payload = inner.p;
	e.size = inner.len;
	add_fatbin(&o.bytes, &e, 1);
	open_input(&o);
	assert_int_equal(o.a->container_count, 1);
	assert_int_equal(o.a->object_count, 1);
	bytes_free(&inner);
	close_input(&o);
}

/* One byte after another is tried: what is refused hides nothing. */
static void a_false_hit_directly_before(void **state)
{
	static const char *const decoys[] = {
		"\x50\xed\x55\xba",	    "\x50\xed",		"CCOB",	   "CCO",
		"__CLANG_OFFLOAD_BUNDLE__", "\x10\xff\x10\xad", "\177ELF", "\177EL",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(decoys); i++) {
		struct opened o = { 0 };

		add_text(&o.bytes, "x");
		add_text(&o.bytes, decoys[i]);
		fatbin(&o.bytes);
		open_input(&o);
		assert_int_equal(o.a->container_count, 1);
		assert_int_equal(o.a->containers[0].kind, DEC_CONTAINER_FATBIN);
		assert_int_equal(o.a->problem_count, 0);
		close_input(&o);
	}
}

static void all_formats_in_one_file(void **state)
{
	static const enum dec_container_kind kinds[] = {
		DEC_CONTAINER_FATBIN,	      DEC_CONTAINER_BUNDLE, DEC_CONTAINER_COMPRESSED_BUNDLE,
		DEC_CONTAINER_OFFLOAD_BINARY, DEC_CONTAINER_BARE,   DEC_CONTAINER_FATBIN,
	};
	static const struct bundle_entry entry = { "hip-amdgcn-amd-amdhsa--gfx906", cubin, 16 };
	static const struct offload_entry image = { 1, "amdgcn-amd-amdhsa", "gfx906", cubin, 16 };
	static const struct elf_head head = { ET_DYN, EM_AMDGPU, 64, 3, 0x2f };
	static const struct elf_section text = { ".text", SHT_PROGBITS, cubin, 16 };
	struct bytes inner = { 0 };
	struct opened o = { 0 };

	(void)state;
	add_bundle(&inner, &entry, 1, 1);
	add_text(&o.bytes, "x");
	fatbin(&o.bytes);
	add_text(&o.bytes, "x");
	add_bytes(&o.bytes, &inner);
	add_text(&o.bytes, "x");
	add_ccob(&o.bytes, 2, CCOB_ZLIB, &inner);
	add_text(&o.bytes, "x");
	add_offload(&o.bytes, 1, &image, 1, OFFLOAD_PLAIN);
	add_text(&o.bytes, "x");
	add_elf(&o.bytes, &head, &text, 1, ELF_SECTIONS);
	add_text(&o.bytes, "x");
	fatbin(&o.bytes);
	open_input(&o);
	assert_int_equal(o.a->container_count, COUNT(kinds));
	for (uint32_t i = 0; i < COUNT(kinds); i++)
		assert_int_equal(o.a->containers[i].kind, kinds[i]);
	assert_int_equal(o.a->target_count, 2);
	assert_string_equal(o.a->targets[0].name.p, "gfx906");
	assert_int_equal(o.a->targets[0].object_count, 4);
	assert_string_equal(o.a->targets[1].name.p, "sm_90");
	assert_int_equal(o.a->targets[1].object_count, 2);
	assert_int_equal(o.a->problem_count, 0);
	sweep_failures(&o.bytes, &o.limits);
	bytes_free(&inner);
	close_input(&o);
}

/* More targets than the first hash table has room for; sorted bytewise. */
static void many_targets(void **state)
{
	enum { TARGETS = 500 };
	static struct fat_entry e[2 * TARGETS];
	struct opened o = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(e); i++)
		e[i] = (struct fat_entry){
			2, (uint32_t)(i * 7 % TARGETS), 0x11, cubin, 16, 0, NULL, NULL
		};
	add_fatbin(&o.bytes, e, COUNT(e));
	open_input(&o); /* which checks order and lists */
	assert_int_equal(o.a->target_count, TARGETS);
	for (uint32_t t = 0; t < TARGETS; t++)
		assert_int_equal(o.a->targets[t].object_count, 2);
	close_input(&o);
}

static void the_name_is_copied(void **state)
{
	struct dec_limits limits = dec_limits_default();
	char name[] = "any \xff bytes";
	struct dec_artifact *a;
	struct dec_error err;
	struct memory m;

	(void)state;
	memory_init(&m, "x", 1);
	a = dec_open(&m.source, name, &limits, &err);
	assert_non_null(a);
	name[0] = 'X';
	assert_string_equal(a->name.p, "any \xff bytes");
	assert_int_equal(a->size, 1);
	dec_close(a);
	dec_close(NULL);
}

static void words_of_values(void **state)
{
	(void)state;
	assert_string_equal(dec_format_word(DEC_FORMAT_OFFLOAD_BINARY), "offload_binary");
	assert_string_equal(dec_kind_word(DEC_KIND_HOST), "host");
	assert_string_equal(dec_codec_word(DEC_CODEC_UNSUPPORTED), "unsupported");
	assert_string_equal(dec_problem_word(DEC_PROBLEM_UNLISTED), "unlisted");
	assert_string_equal(dec_problem_word((enum dec_problem_code)1000), "?");
	assert_string_equal(dec_place_word(DEC_PLACE_SEGMENT), "segment");
	assert_string_equal(dec_class_word(DEC_CLASS_GFX_GENERIC), "gfx_generic");
	assert_string_equal(dec_target_kind_word(DEC_TARGET_STANDALONE), "standalone");
	assert_string_equal(dec_container_word(DEC_CONTAINER_BARE), "bare");
	assert_string_equal(dec_vendor_word(DEC_VENDOR_AMD), "amd");
	assert_string_equal(dec_space_word(DEC_SPACE_DECODED), "decoded");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_old_fat_binary_is_named),
		cmocka_unit_test(across_the_ends_of_reads),
		cmocka_unit_test(at_the_very_end),
		cmocka_unit_test(nothing_inside_what_is_claimed),
		cmocka_unit_test(a_false_hit_directly_before),
		cmocka_unit_test(all_formats_in_one_file),
		cmocka_unit_test(many_targets),
		cmocka_unit_test(the_name_is_copied),
		cmocka_unit_test(words_of_values),
	};

	return RUN_ROWS(starts, check_start) + RUN_ROWS(ltos, check_lto) +
	       cmocka_run_group_tests(tests, NULL, NULL);
}
