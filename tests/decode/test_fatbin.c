#include "build.h"
#include "inventory.h"

#include <string.h>

/* Offsets in an entry header: docs/formats/fatbin.md. */
enum {
	VERSION = 2,
	HEADER_SIZE = 4,
	PAYLOAD_SIZE = 8,
	COMPRESSED_SIZE = 0x10,
	OPTIONS_OFFSET = 0x14,
	NAME_OFFSET = 0x20,
	NAME_LENGTH = 0x24,
	FLAGS = 0x28,
	UNCOMPRESSED_SIZE = 0x38,
};

static const char cubin[] = "sixteen bytes.."; /* 16 with its NUL */
static const char ptx[] = ".version 8.5\n.target sm_90\n.address_size 64\n";

/* One raw cubin for sm_90: entry at 16, payload at 80, 96 bytes in all. */
static void one(struct bytes *b)
{
	static const struct fat_entry e = { 2, 90, 0x11, cubin, sizeof(cubin), 0, NULL, NULL };

	add_fatbin(b, &e, 1);
}
enum { E0 = FAT_REGION, E0_PAYLOAD = E0 + FAT_ENTRY, ONE_SIZE = E0_PAYLOAD + sizeof(cubin) };

/* The same, then PTX by zstd with name and options: entry at 96. */
static void two(struct bytes *b)
{
	struct bytes packed = { 0 };

	add_zstd(&packed, ptx, sizeof(ptx), ZSTD_PLAIN);
	add_fatbin(b,
		   (struct fat_entry[]){
			   { 2, 90, 0x11, cubin, sizeof(cubin), 0, NULL, NULL },
			   { 1, 90, 0x8011, packed.p, packed.len, sizeof(ptx), "a.cu", "-O2" },
		   },
		   2);
	bytes_free(&packed);
}
enum { E1 = ONE_SIZE, E1_HEADER = FAT_ENTRY + 8 + 16, E1_OPTIONS = E1 + FAT_ENTRY + 8 };

static void empty(struct bytes *b)
{
	add_fatbin(b, NULL, 0);
}

static void one_and_garbage(struct bytes *b)
{
	one(b);
	add_text(b, "garbage");
}

static void one_and_zeros(struct bytes *b)
{
	one(b);
	add_zeros(b, 100);
}

static void two_regions_apart(struct bytes *b)
{
	one(b);
	add_zeros(b, 24);
	one(b);
}

static void region_header_of_24(struct bytes *b)
{
	struct bytes r = { 0 };

	one(&r);
	add(b, r.p, 6);
	add_le(b, 2, 24);
	add(b, r.p + 8, 8);
	add_fill(b, 0xaa, 8);
	add(b, r.p + 16, r.len - 16);
	bytes_free(&r);
}

/* Away from the start of the file, where nothing says that a region belongs. */
static void text_and_one(struct bytes *b)
{
	add_text(b, "some text ");
	one(b);
}
enum { TEXT = 10 };

/* clang-format off */
static const struct input_case damaged[] = {
	{ "one entry", one, NONE, 0, 1, 1, false, NONE },
	{ "two entries", two, NONE, 0, 1, 2, false, NONE },
	{ "no entry at all", empty, NONE, 0, 1, 0, false, NONE },
	{ "two regions with zeros between", two_regions_apart, NONE, 0, 2, 2, false, NONE },
	{ "zeros behind", one_and_zeros, NONE, 0, 1, 1, false, NONE },
	{ "garbage behind", one_and_garbage, NONE, 0, 1, 1, false,
	  { { DEC_PROBLEM_BAD_MAGIC, ONE_SIZE, "magic" } } },
	{ "region header of 24 bytes", region_header_of_24, NONE, 0, 1, 1, false, NONE },

	{ "magic alone", one, NONE, 4, 0, 0, true,
	  { { DEC_PROBLEM_TRUNCATED, 0, "region header" } } },
	{ "15 bytes", one, NONE, 15, 0, 0, true,
	  { { DEC_PROBLEM_TRUNCATED, 0, "region header" } } },
	{ "region version 0", one, { { 4, 2, 0 } }, 0, 0, 0, true,
	  { { DEC_PROBLEM_UNSUPPORTED_VERSION, 4, "version" } } },
	{ "region version 2", one, { { 4, 2, 2 } }, 0, 0, 0, true,
	  { { DEC_PROBLEM_UNSUPPORTED_VERSION, 4, "version" } } },
	{ "region header size 8", one, { { 6, 2, 8 } }, 0, 0, 0, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, 6, "header_size" } } },
	{ "region header size 20", one, { { 6, 2, 20 } }, 0, 0, 0, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, 6, "header_size" } } },
	{ "region header past the file", one, { { 6, 2, 104 } }, 0, 0, 0, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, 6, "header_size" } } },
	{ "fat_size 8 past the file", one, { { 8, 8, ONE_SIZE - 8 } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_TRUNCATED, 8, "fat_size" } } },
	{ "fat_size wraps", one, { { 8, 8, UINT64_MAX - 15 } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_TRUNCATED, 8, "fat_size" } } },
	{ "fat_size with its upper half", one, { { 12, 4, 1 } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_TRUNCATED, 8, "fat_size" } } },
	{ "fat_size cuts the second header", two,
	  { { 8, 8, ONE_SIZE - FAT_REGION + 40 } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_TRUNCATED, E1, "entry header" },
	    { DEC_PROBLEM_BAD_MAGIC, E1 + 40, "magic" } } },
	{ "fat_size less than a header", one, { { 8, 8, 40 } }, 56, 1, 0, true,
	  { { DEC_PROBLEM_TRUNCATED, E0, "entry header" } } },

	{ "entry header size 0", one,
	  { { E0 + HEADER_SIZE, 4, 0 }, { E0 + PAYLOAD_SIZE, 8, 0 } }, 0, 1, 0, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E0 + HEADER_SIZE, "header_size" } } },
	{ "entry header size 32", one, { { E0 + HEADER_SIZE, 4, 32 } }, 0, 1, 0, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E0 + HEADER_SIZE, "header_size" } } },
	{ "entry header one past the region", one,
	  { { E0 + HEADER_SIZE, 4, ONE_SIZE - FAT_REGION + 1 } }, 0, 1, 0, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E0 + HEADER_SIZE, "header_size" } } },
	{ "entry header up to the region's end", one,
	  { { E0 + HEADER_SIZE, 4, ONE_SIZE - FAT_REGION }, { E0 + PAYLOAD_SIZE, 8, 0 } },
	  0, 1, 1, false, NONE },
	{ "entry header of all ones", two, { { E1 + HEADER_SIZE, 4, UINT32_MAX } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E1 + HEADER_SIZE, "header_size" } } },
	{ "entry header size 68", one,
	  { { E0 + HEADER_SIZE, 4, 68 }, { E0 + PAYLOAD_SIZE, 8, 12 } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E0 + HEADER_SIZE, "header_size" } } },
	{ "payload past the file", one,
	  { { E0 + PAYLOAD_SIZE, 8, sizeof(cubin) + 1 } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_TRUNCATED, E0 + PAYLOAD_SIZE, "payload_size" } } },
	{ "payload wraps", one, { { E0 + PAYLOAD_SIZE, 8, UINT64_MAX - 63 } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_TRUNCATED, E0 + PAYLOAD_SIZE, "payload_size" } } },
	{ "payload past the region", one_and_zeros, { { E0 + PAYLOAD_SIZE, 8, 64 } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E0 + PAYLOAD_SIZE, "payload_size" } } },
	{ "payload hides the next entry", two, { { E0 + PAYLOAD_SIZE, 8, 24 } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, ONE_SIZE + 8 + HEADER_SIZE, "header_size" } } },
	{ "no payload", one, { { E0 + PAYLOAD_SIZE, 8, 0 }, { 8, 8, 64 } }, 80, 1, 1, false, NONE },

	{ "compressed size past the payload", two,
	  { { E1 + COMPRESSED_SIZE, 4, 1000 } }, 0, 1, 2, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E1 + COMPRESSED_SIZE, "compressed_size" } } },
	{ "compressed size 0", two, { { E1 + COMPRESSED_SIZE, 4, 0 } }, 0, 1, 2, false,
	  { { DEC_PROBLEM_SIZE_MISMATCH, E1 + COMPRESSED_SIZE, "compressed_size" } } },
	{ "compressed size without a codec", one,
	  { { E0 + COMPRESSED_SIZE, 4, 16 } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_SIZE_MISMATCH, E0 + COMPRESSED_SIZE, "compressed_size" } } },
	{ "uncompressed size of 1 TiB", two,
	  { { E1 + UNCOMPRESSED_SIZE, 8, UINT64_C(1) << 40 } }, 0, 1, 2, false,
	  { { DEC_PROBLEM_LIMIT, E1 + UNCOMPRESSED_SIZE, "uncompressed_size" } } },
	{ "uncompressed size past the ratio", two,
	  { { E1 + UNCOMPRESSED_SIZE, 8, DEC_MIB(64) } }, 0, 1, 2, false,
	  { { DEC_PROBLEM_LIMIT, E1 + UNCOMPRESSED_SIZE, "uncompressed_size" } } },
	{ "both codecs", two, { { E1 + FLAGS, 8, 0xa011 } }, 0, 1, 2, false,
	  { { DEC_PROBLEM_UNSUPPORTED_CODEC, E1 + FLAGS, "flags" } } },
	{ "both codecs of an empty payload", one,
	  { { E0 + FLAGS, 8, 0xa011 }, { E0 + PAYLOAD_SIZE, 8, 0 }, { 8, 8, 64 } }, 80, 1, 1, false,
	  { { DEC_PROBLEM_SIZE_MISMATCH, E0 + COMPRESSED_SIZE, "compressed_size" },
	    { DEC_PROBLEM_UNSUPPORTED_CODEC, E0 + FLAGS, "flags" } } },
	{ "first-generation codec", two, { { E1 + FLAGS, 8, 0x1011 } }, 0, 1, 2, false,
	  { { DEC_PROBLEM_UNSUPPORTED_CODEC, E1 + FLAGS, "flags" } } },
	{ "a codec nobody knows", two, { { E1 + FLAGS, 8, 0x4011 } }, 0, 1, 2, false,
	  { { DEC_PROBLEM_UNSUPPORTED_CODEC, E1 + FLAGS, "flags" } } },
	{ "scrambled", two, { { E1 + FLAGS, 8, 0x18011 } }, 0, 1, 2, false,
	  { { DEC_PROBLEM_SCRAMBLED, E1 + FLAGS, "flags" } } },

	{ "name before the fixed part's end", two, { { E1 + NAME_OFFSET, 4, 63 } }, 0, 1, 2, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E1 + NAME_OFFSET, "name_offset" } } },
	{ "name past the header", two, { { E1 + NAME_LENGTH, 4, E1_HEADER - 63 } }, 0, 1, 2, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E1 + NAME_OFFSET, "name_offset" } } },
	{ "name whose sum wraps in 32 bits", two,
	  { { E1 + NAME_OFFSET, 4, 0xffffff00 }, { E1 + NAME_LENGTH, 4, 0x200 } }, 0, 1, 2, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E1 + NAME_OFFSET, "name_offset" } } },
	{ "options block past the header", two,
	  { { E1 + OPTIONS_OFFSET, 4, E1_HEADER - 7 } }, 0, 1, 2, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E1 + OPTIONS_OFFSET, "options_offset" } } },
	{ "options block in the fixed part", two, { { E1 + OPTIONS_OFFSET, 4, 8 } }, 0, 1, 2, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E1 + OPTIONS_OFFSET, "options_offset" } } },
	{ "options too long", two, { { E1_OPTIONS + 4, 4, 0xfffffff0 } }, 0, 1, 2, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E1_OPTIONS + 4, "options length" } } },
	{ "options of no length at offset 0", two, { { E1_OPTIONS, 8, 0 } }, 0, 1, 2, false, NONE },
	{ "options of a cubin are not followed", one,
	  { { E0 + OPTIONS_OFFSET, 4, 0xffffffff } }, 0, 1, 1, false, NONE },
	{ "kind 0x100", one, { { E0, 2, 0x100 } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_UNLISTED, E0, "kind" } } },
	{ "kind 0x1234", one, { { E0, 2, 0x1234 } }, 0, 1, 1, false, NONE },

	{ "found in text", text_and_one, NONE, 0, 1, 1, false, NONE },
	{ "in text, cut header", text_and_one, NONE, TEXT + 12, 0, 0, false, NONE },
	{ "in text, version 2", text_and_one, { { TEXT + 4, 2, 2 } }, 0, 0, 0, false, NONE },
	{ "in text, odd header size", text_and_one, { { TEXT + 6, 2, 18 } }, 0, 0, 0, false, NONE },
	{ "in text, too large, good entry", text_and_one, { { TEXT + 8, 8, 4096 } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_TRUNCATED, TEXT + 8, "fat_size" } } },
	{ "in text, too large, no entry", text_and_one,
	  { { TEXT + 8, 8, 4096 }, { TEXT + E0 + VERSION, 2, 7 } }, 0, 0, 0, false, NONE },
	{ "in text, header of 24, no entry", text_and_one,
	  { { TEXT + 6, 2, 24 }, { TEXT + 8, 8, 72 } }, 0, 0, 0, false, NONE },
};
/* clang-format on */

/* ---- what a good entry says ------------------------------------------------------------ */

struct kind_case {
	const char *name;
	unsigned number;
	uint64_t flags;
	enum dec_kind kind;
	const char *target;
};

static const struct kind_case kinds[] = {
	{ "PTX", 1, 0x11, DEC_KIND_PTX, "compute_90" },
	{ "cubin", 2, 0x11, DEC_KIND_CUBIN, "sm_90" },
	{ "LTO-IR", 8, 0x11, DEC_KIND_LTO_IR, "lto_90" },
	{ "index", 0x20, 0x11, DEC_KIND_INDEX, "sm_90" },
	{ "relocatable PTX", 0x40, 0x11, DEC_KIND_RELOCATABLE_PTX, "compute_90" },
	{ "tile IR", 0x80, 0x11, DEC_KIND_TILE_IR, "compute_90" },
	{ "old cubin text", 4, 0x11, DEC_KIND_UNKNOWN, "sm_90" },
	{ "to be finalised", 0x10, 0x11, DEC_KIND_UNKNOWN, "sm_90" },
	{ "nested", 0x100, 0x11, DEC_KIND_UNKNOWN, "sm_90" },
	{ "cubin of the architecture", 2, 0x100011, DEC_KIND_CUBIN, "sm_90a" },
	{ "cubin of the family", 2, 0x200011, DEC_KIND_CUBIN, "sm_90f" },
	{ "both marks", 2, 0x300011, DEC_KIND_CUBIN, "sm_90a" },
	{ "PTX of the architecture", 1, 0x100011, DEC_KIND_PTX, "compute_90a" },
	{ "PTX of the family", 1, 0x200011, DEC_KIND_PTX, "compute_90f" },
	{ "LTO-IR of the architecture", 8, 0x100011, DEC_KIND_LTO_IR, "lto_90a" },
};

static void check_kind(void **state)
{
	const struct kind_case *c = *state;
	struct fat_entry e = { c->number, 90, c->flags, cubin, sizeof(cubin), 0, NULL, NULL };
	struct opened o = { 0 };
	const struct dec_object *object;

	add_fatbin(&o.bytes, &e, 1);
	open_input(&o);
	assert_int_equal(o.a->format, DEC_FORMAT_FATBIN);
	object = &o.a->objects[0];
	assert_int_equal(object->kind, c->kind);
	assert_int_equal(object->entry_kind, c->number);
	assert_string_equal(object->target.p, c->target);
	assert_string_equal(object->target_raw.p, c->target);
	assert_int_equal(object->vendor, DEC_VENDOR_NVIDIA);
	assert_int_equal(object->target_kind, DEC_TARGET_FATBIN_ENTRY);
	assert_int_equal(o.a->targets[0].vendor, DEC_VENDOR_NVIDIA);
	close_input(&o);
}

static void all_fields_of_two_entries(void **state)
{
	struct opened o = { 0 };
	const struct dec_object *first, *second;

	(void)state;
	two(&o.bytes);
	open_input(&o);
	first = &o.a->objects[0];
	second = &o.a->objects[1];
	assert_int_equal(o.a->containers[0].kind, DEC_CONTAINER_FATBIN);
	assert_int_equal(o.a->containers[0].version, 1);
	assert_int_equal(o.a->containers[0].entries, 2);
	assert_int_equal(o.a->containers[0].range.size, o.bytes.len);
	assert_int_equal(first->header.offset, E0);
	assert_int_equal(first->header.size, FAT_ENTRY);
	assert_false(dec_text_present(first->identifier));
	assert_false(dec_text_present(first->options));
	expect_payload(&o, 0, cubin, sizeof(cubin));
	assert_int_equal(second->header.offset, E1);
	assert_int_equal(second->header.size, E1_HEADER);
	assert_int_equal(second->entry_index, 1);
	assert_int_equal(second->codec, DEC_CODEC_ZSTD);
	assert_int_equal(second->codec_flags, 0x8011);
	assert_true(second->has_version);
	assert_int_equal(second->version_major, 8);
	assert_int_equal(second->version_minor, 5);
	assert_string_equal(second->identifier.p, "a.cu");
	assert_string_equal(second->options.p, "-O2");
	expect_payload(&o, 1, ptx, sizeof(ptx));
	close_input(&o);
}

/* payload_size counts the padding, compressed_size does not. */
static void lz4_without_its_padding(void **state)
{
	struct opened o = { 0 };
	struct bytes packed = { 0 };
	struct fat_entry e = { 1, 75, 0x2011, NULL, 0, sizeof(ptx), NULL, NULL };

	(void)state;
	add_lz4(&packed, ptx, sizeof(ptx));
	e.payload = packed.p;
	e.size = packed.len;
	add_fatbin(&o.bytes, &e, 1);
	open_input(&o);
	assert_int_equal(o.a->objects[0].codec, DEC_CODEC_LZ4);
	assert_int_equal(o.a->objects[0].encoded.size, packed.len);
	expect_payload(&o, 0, ptx, sizeof(ptx));
	bytes_free(&packed);
	close_input(&o);
}

static void both_flags_are_read_by_the_stream(void **state)
{
	struct opened o = { 0 };

	(void)state;
	two(&o.bytes);
	set_le(&o.bytes, E1 + FLAGS, 8, 0xa011);
	open_input(&o);
	assert_int_equal(o.a->objects[1].codec, DEC_CODEC_ZSTD);
	expect_payload(&o, 1, ptx, sizeof(ptx));
	close_input(&o);
}

struct withheld_case {
	const char *name;
	uint64_t flags, uncompressed;
	enum dec_codec codec;
	bool scrambled;
};

static const struct withheld_case withheld[] = {
	{ "scrambled", 0x18011, sizeof(ptx), DEC_CODEC_ZSTD, true },
	{ "scrambled and stored", 0x10011, 0, DEC_CODEC_NONE, true },
	{ "zlib", 0x1011, sizeof(ptx), DEC_CODEC_UNSUPPORTED, false },
	{ "zlib and zstd", 0x9011, sizeof(ptx), DEC_CODEC_UNSUPPORTED, false },
	{ "unknown", 0x4011, sizeof(ptx), DEC_CODEC_UNSUPPORTED, false },
	{ "past the limit", 0x8011, UINT64_C(1) << 40, DEC_CODEC_ZSTD, false },
};

static void check_withheld(void **state)
{
	const struct withheld_case *c = *state;
	const struct dec_object *object;
	struct opened o = { 0 };
	uint8_t out[64];

	two(&o.bytes);
	set_le(&o.bytes, E1 + FLAGS, 8, c->flags);
	set_le(&o.bytes, E1 + UNCOMPRESSED_SIZE, 8, c->uncompressed);
	open_input(&o);
	object = &o.a->objects[1];
	assert_false(object->has_payload);
	assert_int_equal(object->codec, c->codec);
	assert_int_equal(object->scrambled, c->scrambled);
	assert_int_equal(object->codec_flags, c->flags);
	assert_true(object->problems.first != DEC_NONE);
	assert_false(dec_unpack(o.a, 1, out, &o.err));
	assert_int_equal(o.err.status, DEC_E_DATA);
	assert_int_equal(o.err.code, DEC_PROBLEM_UNSUPPORTED_CODEC);
	assert_true(o.a->objects[0].has_payload);
	close_input(&o);
}

/* A region of more than 2 GiB that the file really has. */
static void a_size_the_driver_reads_as_negative(void **state)
{
	const uint64_t fat_size = UINT64_C(0x90000000);
	struct dec_limits limits = dec_limits_default();
	struct bytes b = { 0 };
	struct dec_error err;
	struct dec_artifact *a;
	struct memory m;

	(void)state;
	one(&b);
	set_le(&b, 8, 8, fat_size);
	set_le(&b, E0 + PAYLOAD_SIZE, 8, fat_size - FAT_ENTRY);
	memory_init(&m, b.p, b.len);
	m.source.size = FAT_REGION + fat_size;
	a = dec_open(&m.source, "large", &limits, &err);
	assert_non_null(a);
	assert_int_equal(a->object_count, 1);
	assert_int_equal(a->objects[0].payload_size, fat_size - FAT_ENTRY);
	assert_int_equal(a->problem_count, 1);
	assert_int_equal(a->problems[0].code, DEC_PROBLEM_OUT_OF_BOUNDS);
	assert_int_equal(a->problems[0].offset, 8);
	assert_false(a->partial);
	assert_true(m.read_bytes < DEC_MIB(1));
	dec_close(a);
	bytes_free(&b);
}

/* The region claims what its entries prove, so that a region behind it is found too. */
static void a_region_that_claims_too_much_hides_nothing(void **state)
{
	struct opened o = { 0 };

	(void)state;
	two_regions_apart(&o.bytes);
	set_le(&o.bytes, 8, 8, UINT64_C(1) << 20);
	open_input(&o);
	assert_int_equal(o.a->container_count, 2);
	assert_int_equal(o.a->object_count, 2);
	assert_int_equal(o.a->containers[0].range.size, ONE_SIZE);
	assert_int_equal(o.a->containers[1].range.offset, ONE_SIZE + 24);
	close_input(&o);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_fields_of_two_entries),
		cmocka_unit_test(lz4_without_its_padding),
		cmocka_unit_test(both_flags_are_read_by_the_stream),
		cmocka_unit_test(a_size_the_driver_reads_as_negative),
		cmocka_unit_test(a_region_that_claims_too_much_hides_nothing),
	};

	return RUN_ROWS(damaged, check_input) + RUN_ROWS(kinds, check_kind) +
	       RUN_ROWS(withheld, check_withheld) + cmocka_run_group_tests(tests, NULL, NULL);
}
