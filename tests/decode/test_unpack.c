/* Payloads out of fatbin entries: the public way to the codecs. */
#include "alloc.h"
#include "build.h"
#include "inventory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RAW = 0x11, LZ4 = 0x2011, ZSTD = 0x8011, ENTRY = FAT_REGION, PAYLOAD = ENTRY + FAT_ENTRY };

static const char text[] = "a payload that repeats, a payload that repeats, a payload that repeats";

static void pack(struct bytes *b, uint64_t flags)
{
	if (flags == LZ4)
		add_lz4(b, text, sizeof(text));
	else
		add_zstd(b, text, sizeof(text), ZSTD_PLAIN);
}

/* An entry whose stored bytes are size bytes of what p holds. */
static void open_entry(struct opened *o, uint64_t flags, const struct bytes *stored,
		       uint64_t decoded)
{
	struct fat_entry e = { 1, 90, flags, stored->p, stored->len, decoded, NULL, NULL };

	*o = (struct opened){ 0 };
	add_fatbin(&o->bytes, &e, 1);
	open_input(o);
	assert_int_equal(o->a->object_count, 1);
}

struct unpack_case {
	const char *name;
	uint64_t flags;
	int stored; /* bytes more or less than the stream has */
	int decoded; /* bytes more or less than it decodes to */
	bool ok;
	enum dec_problem_code code;
};

static const struct unpack_case unpack_cases[] = {
	{ "LZ4", LZ4, 0, 0, true, 0 },
	{ "LZ4, declared too small", LZ4, 0, -1, false, DEC_PROBLEM_DECODE_FAILED },
	{ "LZ4, declared too large", LZ4, 0, 1, false, DEC_PROBLEM_SIZE_MISMATCH },
	{ "LZ4, cut", LZ4, -1, 0, false, DEC_PROBLEM_DECODE_FAILED },
	{ "LZ4, a byte behind", LZ4, 1, 0, false, DEC_PROBLEM_DECODE_FAILED },
	{ "zstd", ZSTD, 0, 0, true, 0 },
	{ "zstd, declared too small", ZSTD, 0, -1, false, DEC_PROBLEM_SIZE_MISMATCH },
	{ "zstd, declared too large", ZSTD, 0, 1, false, DEC_PROBLEM_SIZE_MISMATCH },
	{ "zstd, cut", ZSTD, -1, 0, false, DEC_PROBLEM_TRUNCATED },
	{ "zstd, a byte behind", ZSTD, 1, 0, true, 0 },
};

static void check_unpack(void **state)
{
	const struct unpack_case *c = *state;
	uint64_t decoded = (uint64_t)((int)sizeof(text) + c->decoded);
	struct bytes stored = { 0 };
	struct opened o;
	char *out;

	pack(&stored, c->flags);
	if (c->stored > 0)
		add_zeros(&stored, (size_t)c->stored);
	else
		stored.len -= (size_t)-c->stored;
	open_entry(&o, c->flags, &stored, decoded);
	out = malloc((size_t)decoded);
	assert_non_null(out);
	assert_int_equal(dec_unpack(o.a, 0, out, &o.err), c->ok);
	assert_int_equal(o.err.status, c->ok ? DEC_OK : DEC_E_DATA);
	if (c->ok) {
		assert_memory_equal(out, text, sizeof(text));
	} else {
		assert_int_equal(o.err.code, c->code);
		assert_in_range(o.err.offset, PAYLOAD, o.bytes.len);
		assert_string_equal(o.err.field, "payload");
	}
	free(out);
	bytes_free(&stored);
	close_input(&o);
}

/* Tokens of LZ4 blocks: literals (high four bits), match length less 4; offset of the match. */
struct lz4_case {
	const char *name;
	const char *bytes;
	size_t size;
	uint64_t decoded;
	enum { NO, YES, EITHER } ok;
};

#define BLOCK(s) s, sizeof(s) - 1

static const struct lz4_case lz4_cases[] = {
	{ "no output", BLOCK("\0"), 0, YES },
	{ "literals alone", BLOCK("\x50hello"), 5, YES },
	/* Damaged, which the library may see or not. */
	{ "match offset 0",
	  BLOCK("\x14"
		"a"
		"\0\0"
		"\x50hello"),
	  14, EITHER },
	{ "match before the start",
	  BLOCK("\x14"
		"a"
		"\xff\xff"
		"\x50hello"),
	  14, NO },
	{ "match of one byte's history",
	  BLOCK("\x14"
		"a"
		"\1\0"
		"\x50hello"),
	  14, YES },
	{ "literals past the input", BLOCK("\xf0\xff"), 300, NO },
	{ "match past the output",
	  BLOCK("\x1f"
		"a"
		"\1\0\xff\xff\0"
		"\x50hello"),
	  20, NO },
	{ "no input", BLOCK(""), 0, NO },
	{ "more input than the output can need", BLOCK("\x50hello0123456789012345678901234567890"),
	  5, NO },
};

/* What was in out before never shows in what it holds after. */
static void check_lz4(void **state)
{
	const struct lz4_case *c = *state;
	struct bytes stored = { 0 };
	char out[300], again[300];
	struct opened o;
	bool ok;

	add(&stored, c->bytes, c->size);
	open_entry(&o, LZ4, &stored, c->decoded);
	memset(out, 0x55, sizeof(out));
	memset(again, 0xaa, sizeof(again));
	ok = dec_unpack(o.a, 0, out, &o.err);
	assert_int_equal(dec_unpack(o.a, 0, again, &o.err), ok);
	if (c->ok != EITHER)
		assert_int_equal(ok, c->ok);
	if (ok)
		assert_memory_equal(out, again, (size_t)c->decoded);
	else
		assert_int_equal(o.err.status, DEC_E_DATA);
	bytes_free(&stored);
	close_input(&o);
}

static void stored_payloads_need_no_unpacking(void **state)
{
	struct bytes stored = { 0 };
	struct opened o;
	char out[16];

	(void)state;
	add(&stored, text, 16);
	open_entry(&o, RAW, &stored, 0);
	assert_false(dec_unpack(o.a, 0, out, &o.err));
	assert_int_equal(o.err.code, DEC_PROBLEM_UNSUPPORTED_CODEC);
	expect_payload(&o, 0, text, 16);
	assert_false(dec_can_decode(o.a, 0));
	bytes_free(&stored);
	close_input(&o);
}

/* Each allocation and each read that an unpacking makes. */
static void failures_while_unpacking(void **state)
{
	static const uint64_t flags[] = { LZ4, ZSTD };

	(void)state;
	for (size_t i = 0; i < COUNT(flags); i++) {
		struct bytes stored = { 0 };
		char out[sizeof(text)];
		struct opened o;
		unsigned allocations, reads;
		long live;

		pack(&stored, flags[i]);
		open_entry(&o, flags[i], &stored, sizeof(text));
		live = alloc_live();
		alloc_fail_at(0);
		o.memory.reads = 0;
		assert_true(dec_unpack(o.a, 0, out, &o.err));
		allocations = alloc_calls();
		reads = (unsigned)o.memory.reads;
		assert_true(allocations > 0 && reads > 0);
		for (unsigned n = 1; n <= allocations; n++) {
			alloc_fail_at(n);
			assert_false(dec_unpack(o.a, 0, out, &o.err));
			alloc_fail_at(0);
			assert_int_equal(o.err.status, DEC_E_NOMEM);
		}
		for (unsigned n = 1; n <= reads; n++) {
			o.memory.reads = 0;
			o.memory.fail_at = n;
			assert_false(dec_unpack(o.a, 0, out, &o.err));
			assert_int_equal(o.err.status, DEC_E_READ);
			assert_int_equal(o.err.sys_errno, EIO);
			assert_in_range(o.err.offset, PAYLOAD, o.bytes.len);
			o.memory.fail_at = 0;
		}
		assert_true(dec_unpack(o.a, 0, out, &o.err));
		assert_int_equal(alloc_live(), live);
		bytes_free(&stored);
		close_input(&o);
	}
}

/* The verdict of one unpacking says nothing about the next. */
static void a_damaged_entry_between_good_ones(void **state)
{
	struct bytes stored = { 0 };
	struct opened o = { 0 };
	char out[sizeof(text)];
	struct fat_entry e[3];

	(void)state;
	pack(&stored, ZSTD);
	for (size_t i = 0; i < 3; i++)
		e[i] = (struct fat_entry){ 1,	       90,	     ZSTD, stored.p,
					   stored.len, sizeof(text), NULL, NULL };
	add_fatbin(&o.bytes, e, 3);
	open_input(&o);
	o.bytes.p[o.a->objects[1].encoded.offset] ^= 0xff;
	assert_true(dec_unpack(o.a, 0, out, &o.err));
	assert_false(dec_unpack(o.a, 1, out, &o.err));
	assert_true(dec_unpack(o.a, 2, out, &o.err));
	assert_int_equal(o.err.status, DEC_OK);
	assert_memory_equal(out, text, sizeof(text));
	bytes_free(&stored);
	close_input(&o);
}

/* An LZ4 block of a size that no block of that payload has is not even read. */
static void an_lz4_block_too_large_is_not_read(void **state)
{
	struct bytes stored = { 0 };
	struct opened o;
	char out[16];

	(void)state;
	add_zeros(&stored, 100000);
	open_entry(&o, LZ4, &stored, sizeof(out));
	o.memory.reads = 0;
	assert_false(dec_unpack(o.a, 0, out, &o.err));
	assert_int_equal(o.err.code, DEC_PROBLEM_SIZE_MISMATCH);
	assert_int_equal(o.memory.reads, 0);
	bytes_free(&stored);
	close_input(&o);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(stored_payloads_need_no_unpacking),
		cmocka_unit_test(failures_while_unpacking),
		cmocka_unit_test(a_damaged_entry_between_good_ones),
		cmocka_unit_test(an_lz4_block_too_large_is_not_read),
	};

	return RUN_ROWS(unpack_cases, check_unpack) + RUN_ROWS(lz4_cases, check_lz4) +
	       cmocka_run_group_tests(tests, NULL, NULL);
}
