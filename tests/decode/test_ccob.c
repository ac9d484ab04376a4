#include "build.h"
#include "inventory.h"

#include <stdio.h>
#include <string.h>

#define GFX906 "hipv4-amdgcn-amd-amdhsa--gfx906"
#define GFX1100 "hipv4-amdgcn-amd-amdhsa--gfx1100"

static const char first[] = "first payload";
static const char second[] = "second";

static void inner_bundle(struct bytes *b)
{
	static const struct bundle_entry entries[] = {
		{ GFX906, first, sizeof(first) },
		{ GFX1100, second, sizeof(second) },
	};

	add_bundle(b, entries, COUNT(entries), 1);
}
/* Offsets in the decoded bytes. */
enum {
	R0 = 32,
	R1 = R0 + 24 + sizeof(GFX906) - 1,
	INNER_HEADER = R1 + 24 + sizeof(GFX1100) - 1,
	INNER_SIZE = INNER_HEADER + sizeof(first) + sizeof(second),
};

static void packed(struct bytes *b, unsigned version, unsigned method)
{
	struct bytes inner = { 0 };

	inner_bundle(&inner);
	add_ccob(b, version, method, &inner);
	bytes_free(&inner);
}

static void v1_zlib(struct bytes *b)
{
	packed(b, 1, CCOB_ZLIB);
}
static void v1_zstd(struct bytes *b)
{
	packed(b, 1, CCOB_ZSTD);
}
static void v2_zlib(struct bytes *b)
{
	packed(b, 2, CCOB_ZLIB);
}
static void v2_zstd(struct bytes *b)
{
	packed(b, 2, CCOB_ZSTD);
}
static void v3_zlib(struct bytes *b)
{
	packed(b, 3, CCOB_ZLIB);
}
static void v3_zstd(struct bytes *b)
{
	packed(b, 3, CCOB_ZSTD);
}

/* What of it is decoded when it is cut does not hang on the library. */
static void v2_stored(struct bytes *b)
{
	struct bytes inner = { 0 };

	inner_bundle(&inner);
	add_text(b, "CCOB");
	add_le(b, 2, 2);
	add_le(b, 2, CCOB_ZLIB);
	add_le(b, 4, 24 + 11 + inner.len);
	add_le(b, 4, inner.len);
	add_le(b, 8, 0);
	add_zlib_stored(b, inner.p, inner.len);
	bytes_free(&inner);
}
enum { STORED = 24 + 7 };

static void v1_zstd_and_zeros(struct bytes *b)
{
	v1_zstd(b);
	add_zeros(b, 100);
}
static void v1_zlib_twice(struct bytes *b)
{
	v1_zlib(b);
	add_zeros(b, 33);
	v1_zlib(b);
}
static void v3_zstd_twice(struct bytes *b)
{
	v3_zstd(b);
	v3_zstd(b);
}
static void v3_and_plain(struct bytes *b)
{
	v3_zstd(b);
	add_zeros(b, 7);
	inner_bundle(b);
}
static void v3_and_garbage(struct bytes *b)
{
	v3_zlib(b);
	add_text(b, "garbage");
}
static void of_a_cut_bundle(struct bytes *b)
{
	struct bytes inner = { 0 };

	inner_bundle(&inner);
	inner.len = R1 + 10;
	add_ccob(b, 3, CCOB_ZSTD, &inner);
	bytes_free(&inner);
}
static void of_no_bundle(struct bytes *b)
{
	struct bytes inner = { 0 };

	add_text(&inner, "this is not a bundle but some text of more than 32 bytes");
	add_ccob(b, 2, CCOB_ZLIB, &inner);
	bytes_free(&inner);
}
static void of_itself(struct bytes *b)
{
	struct bytes inner = { 0 };

	v3_zstd(&inner);
	add_ccob(b, 3, CCOB_ZSTD, &inner);
	bytes_free(&inner);
}
static void text_and_v3(struct bytes *b)
{
	add_text(b, "some text ");
	v3_zstd(b);
}
static void text_and_v1(struct bytes *b)
{
	add_text(b, "some text ");
	v1_zstd(b);
}
enum { TEXT = 10, VERSION = 4, METHOD = 6, TOTAL = 8, V3_DECODED = 16, V3_HEADER = 32 };

/* clang-format off */
static const struct input_case damaged[] = {
	{ "version 1, zlib", v1_zlib, NONE, 0, 1, 2, false, NONE },
	{ "version 1, zstd", v1_zstd, NONE, 0, 1, 2, false, NONE },
	{ "version 2, zlib", v2_zlib, NONE, 0, 1, 2, false, NONE },
	{ "version 2, zstd", v2_zstd, NONE, 0, 1, 2, false, NONE },
	{ "version 3, zlib", v3_zlib, NONE, 0, 1, 2, false, NONE },
	{ "version 3, zstd", v3_zstd, NONE, 0, 1, 2, false, NONE },
	{ "version 1, zeros behind", v1_zstd_and_zeros, NONE, 0, 1, 2, false, NONE },
	{ "version 1 twice", v1_zlib_twice, NONE, 0, 2, 4, false, NONE },
	{ "version 3 back to back", v3_zstd_twice, NONE, 0, 2, 4, false, NONE },
	{ "compressed and plain", v3_and_plain, NONE, 0, 2, 4, false, NONE },

	{ "magic alone", v3_zstd, NONE, 4, 0, 0, true,
	  { { DEC_PROBLEM_TRUNCATED, 0, "CCOB header" } } },
	{ "cut in a version 1 header", v1_zstd, NONE, 19, 0, 0, true,
	  { { DEC_PROBLEM_TRUNCATED, 0, "CCOB header" } } },
	{ "cut in a version 3 header", v3_zstd, NONE, 31, 0, 0, true,
	  { { DEC_PROBLEM_TRUNCATED, 0, "CCOB header" } } },
	{ "version 0", v3_zstd, { { VERSION, 2, 0 } }, 0, 0, 0, true,
	  { { DEC_PROBLEM_UNSUPPORTED_VERSION, VERSION, "version" } } },
	{ "version 4", v3_zstd, { { VERSION, 2, 4 } }, 0, 0, 0, true,
	  { { DEC_PROBLEM_UNSUPPORTED_VERSION, VERSION, "version" } } },
	{ "method 2", v3_zstd, { { METHOD, 2, 2 } }, 0, 1, 0, true,
	  { { DEC_PROBLEM_UNSUPPORTED_CODEC, METHOD, "method" } } },
	{ "method 2 in version 1", v1_zstd, { { METHOD, 2, 2 } }, 0, 1, 0, true,
	  { { DEC_PROBLEM_DECODE_FAILED, 20, "compressed stream" },
	    { DEC_PROBLEM_UNSUPPORTED_CODEC, METHOD, "method" } } },
	{ "zstd that says it is zlib", v3_zstd, { { METHOD, 2, CCOB_ZLIB } }, 0, 1, 0, true,
	  { { DEC_PROBLEM_DECODE_FAILED, ANYWHERE, "compressed stream" } } },
	{ "magic in small letters", v3_zstd, { { 0, 4, 0x626f6363 } }, 0, 0, 0, false, NONE },
	{ "another hash", v3_zstd, { { 24, 8, 1 } }, 0, 1, 2, false, NONE },

	{ "total of 0", v3_zstd, { { TOTAL, 8, 0 } }, 0, 1, 2, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, TOTAL, "total size" } } },
	{ "total less than the header", v2_zlib, { { TOTAL, 4, 23 } }, 0, 1, 2, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, TOTAL, "total size" } } },
	{ "total of the header alone", v3_zstd, { { TOTAL, 8, V3_HEADER } }, V3_HEADER, 1, 0, true,
	  { { DEC_PROBLEM_TRUNCATED, V3_HEADER, "compressed stream" } } },
	{ "total of all ones", v3_zstd, { { TOTAL, 8, UINT64_MAX } }, 0, 1, 2, true,
	  { { DEC_PROBLEM_TRUNCATED, TOTAL, "total size" } } },
	{ "cut in the first payload", v2_stored, NONE, STORED + INNER_HEADER + 5, 1, 2, true,
	  { { DEC_PROBLEM_TRUNCATED, TOTAL, "total size" },
	    { DEC_PROBLEM_TRUNCATED, STORED + INNER_HEADER + 5, "compressed stream" },
	    { DEC_PROBLEM_TRUNCATED, R0 + 8, "size" },
	    { DEC_PROBLEM_TRUNCATED, R1, "offset" } } },
	{ "cut in the records", v2_stored, NONE, STORED + R1 + 5, 1, 1, true,
	  { { DEC_PROBLEM_TRUNCATED, TOTAL, "total size" },
	    { DEC_PROBLEM_TRUNCATED, STORED + R1 + 5, "compressed stream" },
	    { DEC_PROBLEM_TRUNCATED, R0, "offset" },
	    { DEC_PROBLEM_OUT_OF_BOUNDS, R1 + 16, "id length" } } },

	{ "decoded size past the limit", v3_zstd,
	  { { V3_DECODED, 8, UINT64_C(1) << 62 } }, 0, 1, 2, false,
	  { { DEC_PROBLEM_LIMIT, V3_DECODED, "uncompressed size" } } },
	{ "decoded size too small", v3_zstd, { { V3_DECODED, 8, INNER_SIZE - 1 } }, 0, 1, 2, false,
	  { { DEC_PROBLEM_TRUNCATED, R1 + 8, "size" } } },
	{ "decoded size cuts the records", v3_zstd, { { V3_DECODED, 8, R1 + 10 } }, 0, 1, 1, true,
	  { { DEC_PROBLEM_TRUNCATED, R0, "offset" },
	    { DEC_PROBLEM_OUT_OF_BOUNDS, R1 + 16, "id length" } } },

	{ "first block damaged", v3_zstd, { { V3_HEADER + 7, 1, 0xff } }, 0, 1, 0, true,
	  { { DEC_PROBLEM_DECODE_FAILED, ANYWHERE, "compressed stream" } } },
	{ "no zstd magic", v3_zstd, { { V3_HEADER, 1, 0 } }, 0, 1, 0, true,
	  { { DEC_PROBLEM_DECODE_FAILED, V3_HEADER, "compressed stream" } } },
	{ "no zstd magic in version 1", v1_zstd, { { 20, 1, 0 } }, 0, 1, 0, true,
	  { { DEC_PROBLEM_DECODE_FAILED, 20, "compressed stream" },
	    { DEC_PROBLEM_DECODE_FAILED, 20, "compressed stream" } } },
	{ "garbage behind", v3_and_garbage, NONE, 0, 1, 2, false,
	  { { DEC_PROBLEM_BAD_MAGIC, ANYWHERE, "magic" } } },

	{ "a bundle that is cut", of_a_cut_bundle, NONE, 0, 1, 1, true,
	  { { DEC_PROBLEM_TRUNCATED, R0, "offset" },
	    { DEC_PROBLEM_OUT_OF_BOUNDS, R1 + 16, "id length" } } },
	{ "no bundle inside", of_no_bundle, NONE, 0, 1, 0, true,
	  { { DEC_PROBLEM_BAD_MAGIC, 0, "magic" } } },
	{ "compressed twice", of_itself, NONE, 0, 1, 0, true,
	  { { DEC_PROBLEM_BAD_MAGIC, 0, "magic" } } },

	{ "found in text", text_and_v3, NONE, 0, 1, 2, false, NONE },
	{ "in text, version 9", text_and_v3, { { TEXT + VERSION, 2, 9 } }, 0, 0, 0, false, NONE },
	{ "in text, method 2", text_and_v3, { { TEXT + METHOD, 2, 2 } }, 0, 0, 0, false, NONE },
	{ "in text, total past the file", text_and_v3,
	  { { TEXT + TOTAL, 8, 100000 } }, 0, 0, 0, false, NONE },
	{ "in text, version 1", text_and_v1, NONE, 0, 1, 2, false, NONE },
	{ "in text, version 1, damaged", text_and_v1, { { TEXT + 20, 1, 0 } }, 0, 0, 0, false,
	  NONE },
};
/* clang-format on */

struct good_case {
	const char *name;
	void (*build)(struct bytes *b);
	unsigned version;
	enum dec_codec codec;
	size_t header;
};

static const struct good_case good[] = {
	{ "version 1, zlib: fields", v1_zlib, 1, DEC_CODEC_ZLIB, 20 },
	{ "version 1, zstd: fields", v1_zstd, 1, DEC_CODEC_ZSTD, 20 },
	{ "version 2, zlib: fields", v2_zlib, 2, DEC_CODEC_ZLIB, 24 },
	{ "version 2, zstd: fields", v2_zstd, 2, DEC_CODEC_ZSTD, 24 },
	{ "version 3, zlib: fields", v3_zlib, 3, DEC_CODEC_ZLIB, 32 },
	{ "version 3, zstd: fields", v3_zstd, 3, DEC_CODEC_ZSTD, 32 },
};

static void check_good(void **state)
{
	const struct good_case *c = *state;
	const struct dec_container *container;
	const struct dec_object *object;
	struct opened o = { 0 };

	add_zeros(&o.bytes, 4096);
	c->build(&o.bytes);
	open_input(&o);
	container = &o.a->containers[0];
	assert_int_equal(container->kind, DEC_CONTAINER_COMPRESSED_BUNDLE);
	assert_int_equal(container->version, c->version);
	assert_int_equal(container->codec, c->codec);
	assert_int_equal(container->entries, 2);
	assert_int_equal(container->decoded_size, INNER_SIZE);
	assert_true(container->has_hash);
	assert_true(container->hash == UINT64_C(0x0123456789abcdef));
	assert_int_equal(container->range.offset, 4096);
	assert_int_equal(container->range.size, o.bytes.len - 4096);
	assert_int_equal(container->stream.offset, 4096 + c->header);
	assert_int_equal(container->verbatim, 0);
	assert_true(dec_can_decode(o.a, 0));
	object = &o.a->objects[1];
	assert_int_equal(object->space, DEC_SPACE_DECODED);
	assert_int_equal(object->codec, DEC_CODEC_NONE);
	assert_int_equal(object->header.offset, R1);
	assert_int_equal(object->encoded.offset, INNER_HEADER + sizeof(first));
	assert_string_equal(object->target.p, "gfx1100");
	expect_payload(&o, 0, first, sizeof(first));
	expect_payload(&o, 1, second, sizeof(second));
	close_input(&o);
}

/* Entries of a container that is not decoded are listed, their payloads are not given. */
static void past_the_limit(void **state)
{
	struct opened o = { 0 };
	uint8_t out[1];

	(void)state;
	v3_zstd(&o.bytes);
	set_le(&o.bytes, V3_DECODED, 8, UINT64_C(1) << 40);
	open_input(&o);
	assert_int_equal(o.a->object_count, 2);
	assert_true(o.a->containers[0].past_limit);
	assert_false(o.a->objects[0].has_payload);
	assert_false(dec_can_decode(o.a, 0));
	assert_false(dec_unpack_container(o.a, 0, out, &o.err));
	assert_int_equal(o.err.code, DEC_PROBLEM_UNSUPPORTED_CODEC);
	close_input(&o);
}

/* An object in decoded space has no stream of its own. */
static void entries_are_not_unpacked_alone(void **state)
{
	struct opened o = { 0 };
	uint8_t out[64];

	(void)state;
	v3_zstd(&o.bytes);
	open_input(&o);
	assert_false(dec_unpack(o.a, 0, out, &o.err));
	assert_int_equal(o.err.status, DEC_E_DATA);
	close_input(&o);
}

/* The table of entries may lie past the first piece that is decoded. */
static void a_long_table_of_entries(void **state)
{
	enum { ENTRIES = DEC_BUNDLE_ENTRIES_MAX };
	static char ids[ENTRIES][200];
	struct bundle_entry entries[ENTRIES];
	struct bytes inner = { 0 };
	struct opened o = { 0 };

	(void)state;
	for (size_t i = 0; i < ENTRIES; i++) {
		int used = snprintf(ids[i], sizeof(ids[i]), "hip-amdgcn-amd-amdhsa--gfx%zu", i);

		memset(ids[i] + used, 'x', sizeof(ids[i]) - (size_t)used - 1);
		entries[i] = (struct bundle_entry){ ids[i], ids[i], i % sizeof(ids[i]) };
	}
	add_bundle(&inner, entries, ENTRIES, 1);
	add_ccob(&o.bytes, 3, CCOB_ZSTD, &inner);
	open_input(&o);
	assert_int_equal(o.a->object_count, ENTRIES);
	assert_int_equal(o.a->problem_count, 0);
	expect_payload(&o, 199, ids[199], 199);
	bytes_free(&inner);
	close_input(&o);
}

/* Faults of the inner table count in the decoded bytes, wherever the container lies. */
static void places_of_inner_faults(void **state)
{
	struct bytes inner = { 0 };
	struct opened o = { 0 };

	(void)state;
	inner_bundle(&inner);
	set_le(&inner, R1 + 16, 8, 5000); /* length of the second id */
	add_zeros(&o.bytes, 4096);
	add_ccob(&o.bytes, 3, CCOB_ZSTD, &inner);
	open_input(&o);
	assert_int_equal(o.a->problem_count, 1);
	assert_string_equal(o.a->problems[0].field, "id length");
	assert_int_equal(o.a->problems[0].offset, R1 + 16);
	bytes_free(&inner);
	close_input(&o);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(past_the_limit),
		cmocka_unit_test(entries_are_not_unpacked_alone),
		cmocka_unit_test(a_long_table_of_entries),
		cmocka_unit_test(places_of_inner_faults),
	};

	return RUN_ROWS(damaged, check_input) + RUN_ROWS(good, check_good) +
	       cmocka_run_group_tests(tests, NULL, NULL);
}
