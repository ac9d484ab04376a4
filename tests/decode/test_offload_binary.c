#include "build.h"
#include "inventory.h"

#include <stdlib.h>

static const char first[] = "first image";
static const char second[] = "second";

static const struct offload_entry entries[] = {
	{ 1, "amdgcn-amd-amdhsa", "gfx90a:sramecc+:xnack-", first, sizeof(first) },
	{ 3, "nvptx64-nvidia-cuda", "sm_90", second, sizeof(second) },
};

static void v1(struct bytes *b)
{
	add_offload(b, 1, entries, 1, OFFLOAD_PLAIN);
}
static void v2(struct bytes *b)
{
	add_offload(b, 2, entries, 2, OFFLOAD_PLAIN);
}
static void v3(struct bytes *b)
{
	add_offload(b, 3, entries, 2, OFFLOAD_PLAIN);
}
static void v3_zlib(struct bytes *b)
{
	add_offload(b, 3, entries, 2, OFFLOAD_ZLIB);
}
static void v3_zstd(struct bytes *b)
{
	add_offload(b, 3, entries, 2, OFFLOAD_ZSTD);
}
static void v1_twice(struct bytes *b)
{
	v1(b);
	v1(b);
}
static void v3_zstd_twice(struct bytes *b)
{
	v3_zstd(b);
	v3_zstd(b);
}
/* Large enough that 65 MiB out of it are no suspicious ratio. */
static void v3_zstd_large(struct bytes *b)
{
	v3_zstd(b);
	add_zeros(b, 70000);
	set_le(b, 8, 8, b->len);
}
static void v1_and_garbage(struct bytes *b)
{
	v1(b);
	add_text(b, "garbage");
}
static void text_and_v1(struct bytes *b)
{
	add_text(b, "some text ");
	v1(b);
}

/* The builder's layout: header, entries, for each its pairs, texts and image. */
enum {
	TEXT = 10,
	VERSION = 4,
	SIZE = 8,
	ENTRY_OFFSET = 16,
	ENTRY_COUNT = 24,
	INFLATED = 32,
	E0_V1 = 32,
	E0_V3 = 40,
	STRINGS = 8,
	PAIRS = 16,
	IMAGE = 24,
	IMAGE_SIZE = 32,
	PAIRS_V1 = E0_V1 + 40,
	ARCH_PAIR_V1 = PAIRS_V1 + 16,
	V1_IMAGE = 160,
	V1_SIZE = 176,
};

/* clang-format off */
static const struct input_case damaged[] = {
	{ "version 1", v1, NONE, 0, 1, 1, false, NONE },
	{ "version 2", v2, NONE, 0, 1, 2, false, NONE },
	{ "version 3, stored", v3, NONE, 0, 1, 2, false, NONE },
	{ "version 3, zlib", v3_zlib, NONE, 0, 1, 2, false, NONE },
	{ "version 3, zstd", v3_zstd, NONE, 0, 1, 2, false, NONE },
	{ "version 1 twice", v1_twice, NONE, 0, 2, 2, false, NONE },
	{ "version 3 twice", v3_zstd_twice, NONE, 0, 2, 4, false, NONE },
	{ "garbage behind", v1_and_garbage, NONE, 0, 1, 1, false,
	  { { DEC_PROBLEM_BAD_MAGIC, V1_SIZE, "magic" } } },

	{ "magic alone", v1, NONE, 4, 0, 0, true,
	  { { DEC_PROBLEM_TRUNCATED, 0, "record header" } } },
	{ "cut header", v1, NONE, 31, 0, 0, true,
	  { { DEC_PROBLEM_TRUNCATED, 0, "record header" } } },
	{ "cut header of version 3", v3, NONE, 39, 0, 0, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, SIZE, "size" } } },
	{ "version 0", v1, { { VERSION, 4, 0 } }, 0, 0, 0, true,
	  { { DEC_PROBLEM_UNSUPPORTED_VERSION, VERSION, "version" } } },
	{ "version 4", v1, { { VERSION, 4, 4 } }, 0, 0, 0, true,
	  { { DEC_PROBLEM_UNSUPPORTED_VERSION, VERSION, "version" } } },
	{ "size less than the header", v1, { { SIZE, 8, 31 } }, 0, 0, 0, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, SIZE, "size" } } },
	{ "size past the file", v1, { { SIZE, 8, V1_SIZE + 1 } }, 0, 0, 0, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, SIZE, "size" } } },
	{ "size of all ones", v1, { { SIZE, 8, UINT64_MAX } }, 0, 0, 0, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, SIZE, "size" } } },
	{ "cut file", v1, NONE, V1_SIZE - 1, 0, 0, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, SIZE, "size" } } },
	{ "entry in the header", v1, { { ENTRY_OFFSET, 8, 31 } }, 0, 0, 0, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, ENTRY_OFFSET, "entry offset" } } },
	{ "entry past the record", v1, { { ENTRY_OFFSET, 8, V1_SIZE + 1 } }, 0, 0, 0, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, ENTRY_OFFSET, "entry offset" } } },
	{ "entry offset of all ones", v1, { { ENTRY_OFFSET, 8, UINT64_MAX } }, 0, 0, 0, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, ENTRY_OFFSET, "entry offset" } } },
	{ "entry cut by the record's end", v1, { { ENTRY_OFFSET, 8, V1_SIZE - 39 } }, 0, 1, 0, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, ENTRY_COUNT, "number of entries" } } },
	{ "more entries than fit", v2, { { ENTRY_COUNT, 8, UINT64_MAX } }, 112, 0, 0, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, SIZE, "size" } } },
	{ "entry count 0", v2, { { ENTRY_COUNT, 8, 0 } }, 0, 1, 0, false, NONE },

	{ "image past the record", v1,
	  { { E0_V1 + IMAGE_SIZE, 8, V1_SIZE - V1_IMAGE + 1 } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E0_V1 + IMAGE, "image offset" } } },
	{ "image wraps", v1, { { E0_V1 + IMAGE, 8, UINT64_MAX - 3 } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E0_V1 + IMAGE, "image offset" } } },
	{ "strings past the record", v1, { { E0_V1 + STRINGS, 8, V1_SIZE - 31 } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E0_V1 + STRINGS, "string table" } } },
	{ "strings wrap", v1, { { E0_V1 + STRINGS, 8, UINT64_MAX - 15 } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E0_V1 + STRINGS, "string table" } } },
	{ "pairs of all ones", v1, { { E0_V1 + PAIRS, 8, UINT64_MAX } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E0_V1 + STRINGS, "string table" } } },
	{ "pairs whose product wraps", v1,
	  { { E0_V1 + PAIRS, 8, UINT64_C(1) << 60 } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E0_V1 + STRINGS, "string table" } } },
	{ "no pairs", v1, { { E0_V1 + PAIRS, 8, 0 } }, 0, 1, 1, false, NONE },
	{ "key past the record", v1, { { PAIRS_V1, 8, V1_SIZE + 1 } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E0_V1 + STRINGS, "string table" } } },
	{ "value past the record", v1, { { ARCH_PAIR_V1 + 8, 8, UINT64_MAX } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E0_V1 + STRINGS, "string table" } } },
	{ "value without an end", v1,
	  { { ARCH_PAIR_V1 + 8, 8, V1_SIZE - 4 }, { V1_SIZE - 4, 4, UINT32_MAX } }, 0, 1, 1, false,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, E0_V1 + STRINGS, "string table" } } },

	{ "inflated less than the entries' offset", v3_zstd, { { INFLATED, 8, 39 } }, 0, 0, 0, true,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, ENTRY_OFFSET, "entry offset" } } },
	{ "inflated size too small", v3_zstd, { { INFLATED, 8, 100 } }, 0, 1, 0, true,
	  { { DEC_PROBLEM_SIZE_MISMATCH, E0_V3, "compressed record" } } },
	{ "inflated size too large", v3_zstd, { { INFLATED, 8, 5000 } }, 0, 1, 0, true,
	  { { DEC_PROBLEM_SIZE_MISMATCH, E0_V3, "compressed record" } } },
	{ "inflated size past what is listed", v3_zstd_large,
	  { { INFLATED, 8, DEC_MIB(65) } }, 0, 1, 0, true,
	  { { DEC_PROBLEM_LIMIT, INFLATED, "inflated size" } } },
	{ "damaged stream", v3_zlib, { { E0_V3 + 2, 4, UINT32_MAX } }, 0, 1, 0, true,
	  { { DEC_PROBLEM_DECODE_FAILED, ANYWHERE, "compressed record" } } },
	{ "stream that is missing", v3_zstd, { { SIZE, 8, E0_V3 } }, E0_V3, 1, 0, true,
	  { { DEC_PROBLEM_TRUNCATED, E0_V3, "compressed record" } } },
	/* Nothing of a record past the limit is listed, so that the inventory is not complete. */
	{ "inflated size past the limit", v3_zstd,
	  { { INFLATED, 8, UINT64_C(1) << 62 } }, 0, 1, 0, true,
	  { { DEC_PROBLEM_LIMIT, INFLATED, "inflated size" } } },

	{ "found in text", text_and_v1, NONE, 0, 1, 1, false, NONE },
	{ "in text, version 9", text_and_v1, { { TEXT + VERSION, 4, 9 } }, 0, 0, 0, false, NONE },
	{ "in text, size past the file", text_and_v1, { { TEXT + SIZE, 8, 10000 } }, 0, 0, 0, false,
	  NONE },
	{ "in text, entry past the record", text_and_v1,
	  { { TEXT + ENTRY_OFFSET, 8, 10000 } }, 0, 0, 0, false, NONE },
};
/* clang-format on */

struct good_case {
	const char *name;
	void (*build)(struct bytes *b);
	unsigned version;
	enum dec_codec codec;
};

static const struct good_case good[] = {
	{ "version 2: fields", v2, 2, DEC_CODEC_NONE },
	{ "version 3: fields", v3, 3, DEC_CODEC_NONE },
	{ "version 3, zlib: fields", v3_zlib, 3, DEC_CODEC_ZLIB },
	{ "version 3, zstd: fields", v3_zstd, 3, DEC_CODEC_ZSTD },
};

static void check_good(void **state)
{
	const struct good_case *c = *state;
	const struct dec_container *container;
	struct opened o = { 0 };

	c->build(&o.bytes);
	open_input(&o);
	container = &o.a->containers[0];
	assert_int_equal(o.a->format, DEC_FORMAT_OFFLOAD_BINARY);
	assert_int_equal(container->kind, DEC_CONTAINER_OFFLOAD_BINARY);
	assert_int_equal(container->version, c->version);
	assert_int_equal(container->codec, c->codec);
	assert_int_equal(container->entries, 2);
	assert_int_equal(o.a->objects[0].kind, DEC_KIND_OBJECT);
	assert_int_equal(o.a->objects[0].target_kind, DEC_TARGET_OFFLOAD_ARCH);
	assert_string_equal(o.a->objects[0].target.p, "gfx90a:sramecc+:xnack-");
	assert_int_equal(o.a->objects[0].vendor, DEC_VENDOR_AMD);
	assert_int_equal(o.a->objects[1].kind, DEC_KIND_CUBIN);
	assert_string_equal(o.a->objects[1].target.p, "sm_90");
	assert_int_equal(o.a->objects[1].vendor, DEC_VENDOR_NVIDIA);
	expect_payload(&o, 0, first, sizeof(first));
	expect_payload(&o, 1, second, sizeof(second));
	close_input(&o);
}

/* The header stands in the decoded bytes as it does in the file. */
static void decoded_bytes_begin_with_the_header(void **state)
{
	struct opened o = { 0 };
	struct bytes plain = { 0 };
	uint8_t *out;

	(void)state;
	v3(&plain);
	v3_zstd(&o.bytes);
	open_input(&o);
	assert_int_equal(o.a->containers[0].verbatim, 40);
	assert_int_equal(o.a->containers[0].decoded_size, plain.len);
	out = malloc(plain.len);
	assert_non_null(out);
	assert_true(dec_unpack_container(o.a, 0, out, &o.err));
	assert_memory_equal(out, o.bytes.p, 40);
	assert_memory_equal(out + 40, plain.p + 40, plain.len - 40);
	free(out);
	bytes_free(&plain);
	close_input(&o);
}

struct kind_case {
	const char *name;
	unsigned number;
	enum dec_kind kind;
};

static const struct kind_case kinds[] = {
	{ "no kind", 0, DEC_KIND_UNKNOWN },
	{ "object", 1, DEC_KIND_OBJECT },
	{ "bitcode", 2, DEC_KIND_BITCODE },
	{ "cubin", 3, DEC_KIND_CUBIN },
	{ "fat binary", 4, DEC_KIND_UNKNOWN },
	{ "PTX", 5, DEC_KIND_PTX },
	{ "SPIR-V", 6, DEC_KIND_SPIRV },
	{ "from the future", 7, DEC_KIND_UNKNOWN },
	{ "of all ones", 0xffff, DEC_KIND_UNKNOWN },
};

static void check_kind(void **state)
{
	const struct kind_case *c = *state;
	struct opened o = { 0 };

	v1(&o.bytes);
	set_le(&o.bytes, E0_V1, 2, c->number);
	open_input(&o);
	assert_int_equal(o.a->objects[0].kind, c->kind);
	close_input(&o);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(decoded_bytes_begin_with_the_header),
	};

	return RUN_ROWS(damaged, check_input) + RUN_ROWS(good, check_good) +
	       RUN_ROWS(kinds, check_kind) + cmocka_run_group_tests(tests, NULL, NULL);
}
