/* Streams made by the libraries themselves, then cut, lengthened and asked for other sizes. */
#include "build.h"
#include "internal.h"
#include "inventory.h"

#include <errno.h>
#include <stdlib.h>

enum { BEFORE = 7, PAYLOAD = 100000 };

/* Compresses to about half, so that streams are longer than their frames' headers. */
static void payload_fill(uint8_t *p, size_t size)
{
	uint32_t seed = 7;

	for (size_t i = 0; i < size; i++) {
		seed = seed * 1664525u + 1013904223u;
		p[i] = (uint8_t)(seed >> 28);
	}
}

enum codec { ZSTD, ZSTD_WITH_CHECKSUM, ZSTD_WITHOUT_SIZE, ZLIB, ZLIB_STORED };

static const char *const codec_names[] = { "zstd", "zstd, checksum", "zstd, no size", "zlib",
					   "zlib, stored" };

static void pack(struct bytes *b, enum codec codec, const uint8_t *p, size_t size)
{
	switch (codec) {
	case ZSTD:
		add_zstd(b, p, size, ZSTD_PLAIN);
		break;
	case ZSTD_WITH_CHECKSUM:
		add_zstd(b, p, size, ZSTD_CHECKSUM);
		break;
	case ZSTD_WITHOUT_SIZE:
		add_zstd(b, p, size, ZSTD_NO_SIZE);
		break;
	case ZLIB:
		add_zlib(b, p, size);
		break;
	case ZLIB_STORED:
		add_zlib_stored(b, p, size < 65535 ? size : 65535);
		break;
	}
}

/* The stored bytes lie BEFORE bytes into the source, so that offsets of errors show it. */
struct run {
	struct bytes file;
	struct memory memory;
	struct dec_error err;
	struct dec_stream s;
};

static bool decode(struct run *r, enum codec codec, size_t size, enum dec_stream_end end)
{
	memory_init(&r->memory, r->file.p, r->file.len);
	r->err = (struct dec_error){ .status = DEC_OK };
	r->s = (struct dec_stream){
		.source = &r->memory.source,
		.stored = { BEFORE, r->file.len - BEFORE },
		.out = malloc(size ? size : 1),
		.size = size,
		.end = end,
		.err = &r->err,
	};
	assert_non_null(r->s.out);
	return codec >= ZLIB ? dec_stream_zlib(&r->s) : dec_stream_zstd(&r->s);
}

static void run_start(struct run *r)
{
	*r = (struct run){ 0 };
	add_fill(&r->file, 0xee, BEFORE);
}

static void run_end(struct run *r)
{
	assert_false(r->memory.outside);
	free(r->s.out);
	r->s.out = NULL;
}

static void expect_ok(struct run *r, enum codec codec, const uint8_t *p, size_t size,
		      enum dec_stream_end end)
{
	if (!decode(r, codec, size, end))
		fail_msg("%s: %s", codec_names[codec], r->err.sentence);
	assert_int_equal(r->err.status, DEC_OK);
	assert_int_equal(r->s.made, size);
	assert_memory_equal(r->s.out, p, size);
	run_end(r);
}

static void expect_fault(struct run *r, enum codec codec, size_t size, enum dec_problem_code code)
{
	assert_false(decode(r, codec, size, DEC_STREAM_EXACT));
	assert_int_equal(r->err.status, DEC_E_DATA);
	if (r->err.code != code)
		fail_msg("%s: %s instead of %s: %s", codec_names[codec],
			 dec_problem_word(r->err.code), dec_problem_word(code), r->err.sentence);
	assert_string_equal(r->err.field, "payload");
	assert_in_range(r->err.offset, BEFORE, r->file.len);
	assert_true(r->s.made <= size);
	run_end(r);
}

static uint8_t payload[PAYLOAD];

static void each_size_exactly(void **state)
{
	static const size_t sizes[] = { 1, 2, 100, 4096, 65535, PAYLOAD };

	(void)state;
	for (enum codec codec = ZSTD; codec <= ZLIB_STORED; codec++)
		for (size_t i = 0; i < COUNT(sizes); i++) {
			size_t size = codec == ZLIB_STORED && sizes[i] > 65535 ? 65535 : sizes[i];
			struct run r;

			run_start(&r);
			pack(&r.file, codec, payload, size);
			expect_ok(&r, codec, payload, size, DEC_STREAM_EXACT);
			expect_ok(&r, codec, payload, size, DEC_STREAM_PREFIX);
			expect_fault(&r, codec, size + 1, DEC_PROBLEM_SIZE_MISMATCH);
			expect_fault(&r, codec, size - 1, DEC_PROBLEM_SIZE_MISMATCH);
			expect_fault(&r, codec, 0, DEC_PROBLEM_SIZE_MISMATCH);
			assert_int_equal(r.err.offset, BEFORE);
			bytes_free(&r.file);
		}
}

static void nothing_at_all(void **state)
{
	(void)state;
	for (enum codec codec = ZSTD; codec <= ZLIB_STORED; codec++) {
		struct run r;

		run_start(&r);
		pack(&r.file, codec, payload, 0);
		expect_ok(&r, codec, payload, 0, DEC_STREAM_EXACT);
		expect_ok(&r, codec, payload, 0, DEC_STREAM_PREFIX);
		expect_fault(&r, codec, 1, DEC_PROBLEM_SIZE_MISMATCH);
		bytes_free(&r.file);
	}
}

/* Every length that is less than the stream's. */
static void cut_streams(void **state)
{
	enum { SIZE = 300 };

	(void)state;
	for (enum codec codec = ZSTD; codec <= ZLIB_STORED; codec++) {
		struct bytes whole = { 0 };

		pack(&whole, codec, payload, SIZE);
		for (size_t len = 0; len < whole.len; len++) {
			struct run r;

			run_start(&r);
			add(&r.file, whole.p, len);
			expect_fault(&r, codec, SIZE, DEC_PROBLEM_TRUNCATED);
			assert_int_equal(r.err.offset, BEFORE + len);
			bytes_free(&r.file);
		}
		bytes_free(&whole);
	}
}

/* What follows the stream inside its stored bytes does not matter. */
static void bytes_behind_the_stream(void **state)
{
	(void)state;
	for (enum codec codec = ZSTD; codec <= ZLIB_STORED; codec++)
		for (int what = 0; what < 2; what++) {
			struct run r;

			run_start(&r);
			pack(&r.file, codec, payload, 1000);
			add_fill(&r.file, what ? 0xff : 0, 500);
			expect_ok(&r, codec, payload, 1000, DEC_STREAM_EXACT);
			bytes_free(&r.file);
		}
}

static void as_far_as_asked(void **state)
{
	(void)state;
	for (enum codec codec = ZSTD; codec <= ZLIB; codec++)
		for (size_t size = 0; size <= PAYLOAD; size = size * 3 + 1) {
			struct run r;

			run_start(&r);
			pack(&r.file, codec, payload, PAYLOAD);
			expect_ok(&r, codec, payload, size, DEC_STREAM_PREFIX);
			bytes_free(&r.file);
		}
}

/* The stream may end before: a prefix is then what there is. */
static void a_prefix_longer_than_the_stream(void **state)
{
	(void)state;
	for (enum codec codec = ZSTD; codec <= ZLIB_STORED; codec++) {
		struct run r;

		run_start(&r);
		pack(&r.file, codec, payload, 1000);
		assert_true(decode(&r, codec, 5000, DEC_STREAM_PREFIX));
		assert_int_equal(r.s.made, 1000);
		assert_memory_equal(r.s.out, payload, 1000);
		run_end(&r);
		bytes_free(&r.file);
	}
}

static void skippable_frames_before(void **state)
{
	struct run r;

	(void)state;
	run_start(&r);
	add_skippable(&r.file, 0);
	add_skippable(&r.file, 70000);
	pack(&r.file, ZSTD, payload, 1000);
	expect_ok(&r, ZSTD, payload, 1000, DEC_STREAM_EXACT);
	bytes_free(&r.file);

	run_start(&r);
	add_skippable(&r.file, 10);
	expect_fault(&r, ZSTD, 1000, DEC_PROBLEM_SIZE_MISMATCH);
	bytes_free(&r.file);
}

static void only_the_first_frame_counts(void **state)
{
	struct run r;

	(void)state;
	run_start(&r);
	pack(&r.file, ZSTD, payload, 1000);
	pack(&r.file, ZSTD, payload, 1000);
	expect_ok(&r, ZSTD, payload, 1000, DEC_STREAM_EXACT);
	expect_fault(&r, ZSTD, 2000, DEC_PROBLEM_SIZE_MISMATCH);
	bytes_free(&r.file);
}

/* Streams longer than one read. */
static void streams_in_pieces(void **state)
{
	const size_t size = 9 * ((size_t)1 << 20) + 5; /* pieces have up to 4 MiB */
	uint8_t *p = malloc(size);
	struct run r;
	uint32_t seed = 1;

	(void)state;
	assert_non_null(p);
	for (size_t i = 0; i < size; i++) {
		seed = seed * 1664525u + 1013904223u;
		p[i] = (uint8_t)(seed >> 24); /* does not compress */
	}
	for (enum codec codec = ZSTD; codec <= ZLIB; codec++) {
		run_start(&r);
		pack(&r.file, codec, p, size);
		expect_ok(&r, codec, p, size, DEC_STREAM_EXACT);
		assert_true(r.memory.reads >= 3);
		r.file.len = BEFORE + DEC_WINDOW;
		expect_fault(&r, codec, size, DEC_PROBLEM_TRUNCATED);
		bytes_free(&r.file);
	}
	free(p);
}

static void damaged_streams(void **state)
{
	(void)state;
	for (enum codec codec = ZSTD; codec <= ZLIB_STORED; codec++) {
		struct run r;

		run_start(&r);
		pack(&r.file, codec, payload, 1000);
		r.file.p[BEFORE] ^= 0xff; /* the magic, or the method */
		expect_fault(&r, codec, 1000, DEC_PROBLEM_DECODE_FAILED);
		bytes_free(&r.file);
	}
	for (enum codec codec = ZSTD_WITH_CHECKSUM; codec <= ZLIB_STORED; codec += 2) {
		struct run r;

		run_start(&r);
		pack(&r.file, codec, payload, 1000);
		r.file.p[r.file.len - 1] ^= 1; /* the checksum */
		expect_fault(&r, codec, 1000, DEC_PROBLEM_DECODE_FAILED);
		bytes_free(&r.file);
	}
}

static void a_dictionary_is_not_there(void **state)
{
	struct run r;

	(void)state;
	run_start(&r);
	add(&r.file, "\x78\x20\0\0\0\1\x03\0\0\0\0\1", 12); /* RFC 1950: FDICT */
	expect_fault(&r, ZLIB, 0, DEC_PROBLEM_DECODE_FAILED);
	bytes_free(&r.file);
	run_start(&r);
	add(&r.file, "\x28\xb5\x2f\xfd\x21\x07\1\1\0\0", 10); /* dictionary 7 */
	expect_fault(&r, ZSTD, 1, DEC_PROBLEM_DECODE_FAILED);
	bytes_free(&r.file);
}

/* A window past 128 MiB is refused before it is allocated. */
static void a_window_too_large(void **state)
{
	struct run r;

	(void)state;
	run_start(&r);
	add(&r.file, "\x28\xb5\x2f\xfd\0", 5);
	add_le(&r.file, 1, (28 - 10) << 3);
	add(&r.file, "\x03\0\0x", 4);
	expect_fault(&r, ZSTD, 1, DEC_PROBLEM_DECODE_FAILED);
	bytes_free(&r.file);
}

static void a_read_that_fails(void **state)
{
	(void)state;
	for (enum codec codec = ZSTD; codec <= ZLIB; codec++) {
		struct run r;

		run_start(&r);
		pack(&r.file, codec, payload, 1000);
		memory_init(&r.memory, r.file.p, r.file.len);
		r.s = (struct dec_stream){
			.source = &r.memory.source,
			.stored = { BEFORE, r.file.len - BEFORE },
			.out = payload,
			.err = &r.err,
		};
		r.memory.fail_at = 1;
		assert_false(codec >= ZLIB ? dec_stream_zlib(&r.s) : dec_stream_zstd(&r.s));
		assert_int_equal(r.err.status, DEC_E_READ);
		assert_int_equal(r.err.sys_errno, EIO);
		assert_int_equal(r.err.offset, BEFORE);
		bytes_free(&r.file);
	}
}

/* ---- where a stream ends ------------------------------------------------------------------- */

static bool extent(const struct bytes *file, uint64_t limit, uint64_t zlib_size, uint64_t *end)
{
	struct dec_error err = { .status = DEC_OK };
	struct memory m;
	struct dec_build b = { .source = &m.source, .limits = dec_limits_default(), .err = &err };
	bool found = false;

	memory_init(&m, file->p, file->len);
	if (zlib_size == DEC_NONE)
		assert_true(dec_zstd_extent(&b, BEFORE, limit, end, &found));
	else
		assert_true(dec_zlib_extent(&b, BEFORE, limit, zlib_size, end, &found));
	assert_false(m.outside);
	dec_build_fini(&b);
	return found;
}

static void extents_by_the_libraries(void **state)
{
	static const size_t sizes[] = { 0, 1, 100, 4096, PAYLOAD };

	(void)state;
	for (enum codec codec = ZSTD; codec <= ZLIB; codec++)
		for (size_t i = 0; i < COUNT(sizes); i++) {
			struct bytes file = { 0 };
			uint64_t end, wanted = codec == ZLIB ? sizes[i] : DEC_NONE;
			size_t stop;

			add_fill(&file, 0xee, BEFORE);
			pack(&file, codec, payload, sizes[i]);
			stop = file.len;
			add_zeros(&file, 300);
			assert_true(extent(&file, file.len, wanted, &end));
			assert_int_equal(end, stop);
			assert_true(extent(&file, stop, wanted, &end));
			assert_int_equal(end, stop);
			for (size_t cut = 1; cut < 6 && cut < stop - BEFORE; cut++)
				assert_false(extent(&file, stop - cut, wanted, &end));
			bytes_free(&file);
		}
}

struct frame_case {
	const char *name;
	const char *bytes;
	size_t size; /* given */
	size_t length; /* of the frame in them; 0: none is found */
};

#define FRAME(s) s, sizeof(s) - 1
#define MAGIC "\x28\xb5\x2f\xfd"

/* RFC 8878, 3.1: descriptor, window unless single segment, dictionary, size; then blocks, whose
 * three bytes hold last (bit 0), type (bits 1 and 2: raw, run, compressed) and size. */
/* clang-format off */
static const struct frame_case frames[] = {
	{ "raw block", FRAME(MAGIC "\x20\x03" "\x19\0\0" "abc"), 12 },
	{ "raw block and checksum", FRAME(MAGIC "\x24\x03" "\x19\0\0" "abc" "SUM4"), 16 },
	{ "checksum cut", FRAME(MAGIC "\x24\x03" "\x19\0\0" "abc" "SUM"), 0 },
	{ "run of 5", FRAME(MAGIC "\x20\x05" "\x2b\0\0" "a"), 10 },
	{ "run of 5 and checksum", FRAME(MAGIC "\x24\x05" "\x2b\0\0" "a" "SUM4"), 14 },
	{ "run of 128 KiB stores one byte", FRAME(MAGIC "\0\x58" "\x03\0\x10" "a"), 10 },
	{ "run of more than 128 KiB", FRAME(MAGIC "\0\x58" "\x0b\0\x10" "a"), 0 },
	{ "run whose byte is cut", FRAME(MAGIC "\x20\x05" "\x2b\0\0"), 0 },
	{ "compressed block", FRAME(MAGIC "\x20\x03" "\x1d\0\0" "abc"), 12 },
	{ "compressed block and checksum", FRAME(MAGIC "\x24\x03" "\x1d\0\0" "abc" "SUM4"), 16 },
	{ "three blocks",
	  FRAME(MAGIC "\x20\x07" "\x10\0\0" "ab" "\x2a\0\0" "c" "\x15\0\0" "de"), 20 },
	{ "empty block", FRAME(MAGIC "\x20\0" "\1\0\0"), 9 },
	{ "invalid block type", FRAME(MAGIC "\x20\x03" "\x1f\0\0" "abc"), 0 },
	{ "no last block", FRAME(MAGIC "\x20\x03" "\x18\0\0" "abc"), 0 },
	{ "block past the end", FRAME(MAGIC "\x20\x04" "\x21\0\0" "abc"), 0 },
	{ "block header cut", FRAME(MAGIC "\x20\x03" "\x19\0"), 0 },
	{ "window byte, no size", FRAME(MAGIC "\0\x58" "\x19\0\0" "abc"), 12 },
	{ "size of 2 bytes", FRAME(MAGIC "\x40\x58\0\0" "\x19\0\0" "abc"), 14 },
	{ "size of 4 bytes", FRAME(MAGIC "\xa0\3\0\0\0" "\x19\0\0" "abc"), 15 },
	{ "size of 8 bytes", FRAME(MAGIC "\xe0\3\0\0\0\0\0\0\0" "\x19\0\0" "abc"), 19 },
	{ "dictionary of 1 byte", FRAME(MAGIC "\x21\7\x03" "\x19\0\0" "abc"), 13 },
	{ "dictionary of 2 bytes", FRAME(MAGIC "\x22\7\7\x03" "\x19\0\0" "abc"), 14 },
	{ "dictionary of 4 bytes", FRAME(MAGIC "\x23\7\7\7\7\x03" "\x19\0\0" "abc"), 16 },
	{ "the longest header",
	  FRAME(MAGIC "\xc3\x58\7\7\7\7\3\0\0\0\0\0\0\0" "\x19\0\0" "abc"), 24 },
	{ "header cut", FRAME(MAGIC "\xc3\x58\7\7\7\7\3\0\0\0\0\0\0"), 0 },
	{ "magic alone", FRAME(MAGIC), 0 },
	{ "another magic", FRAME("\x27\xb5\x2f\xfd" "\x20\x03" "\x19\0\0" "abc"), 0 },
	{ "nothing", FRAME(""), 0 },
	{ "skippable frame before",
	  FRAME("\x50\x2a\x4d\x18\2\0\0\0xx" MAGIC "\x20\x03" "\x19\0\0" "abc"), 22 },
	{ "two skippable frames before",
	  FRAME("\x5f\x2a\x4d\x18\0\0\0\0" "\x53\x2a\x4d\x18\1\0\0\0x" MAGIC "\x20\x03" "\x19\0\0" "abc"), 29 },
	{ "skippable frame past the end", FRAME("\x50\x2a\x4d\x18\xff\xff\xff\xff" MAGIC), 0 },
	{ "skippable frame alone", FRAME("\x50\x2a\x4d\x18\2\0\0\0xx"), 0 },
};
/* clang-format on */

static void check_frame(void **state)
{
	const struct frame_case *c = *state;
	struct bytes file = { 0 };
	uint64_t end = 0;

	add_fill(&file, 0xee, BEFORE);
	add(&file, c->bytes, c->size);
	assert_int_equal(extent(&file, file.len, DEC_NONE, &end), c->length != 0);
	if (c->length) {
		assert_int_equal(end, BEFORE + c->length);
		add_zeros(&file, 100);
		assert_true(extent(&file, file.len, DEC_NONE, &end));
		assert_int_equal(end, BEFORE + c->length);
		assert_false(extent(&file, BEFORE + c->length - 1, DEC_NONE, &end));
	}
	bytes_free(&file);
}

/* It has to be inflated, but not further than what it says it decodes to. */
static void zlib_extent_stops_at_the_declared_size(void **state)
{
	struct bytes file = { 0 };
	uint8_t *zeros = calloc(1, (size_t)DEC_MIB(4));
	uint64_t end;

	(void)state;
	assert_non_null(zeros);
	add_fill(&file, 0xee, BEFORE);
	add_zlib(&file, zeros, (size_t)DEC_MIB(4));
	assert_true(extent(&file, file.len, DEC_MIB(4), &end));
	assert_int_equal(end, file.len);
	assert_false(extent(&file, file.len, DEC_MIB(1), &end));
	bytes_free(&file);
	free(zeros);
}

static void extents_when_a_read_fails(void **state)
{
	struct bytes file = { 0 };

	(void)state;
	add_fill(&file, 0xee, BEFORE);
	pack(&file, ZLIB, payload, 1000);
	for (int zlib = 0; zlib < 2; zlib++) {
		struct dec_error err = { .status = DEC_OK };
		struct memory m;
		struct dec_build b = { .source = &m.source, .err = &err };
		uint64_t end;
		bool found;

		memory_init(&m, file.p, file.len);
		m.fail_at = 1;
		if (zlib)
			assert_false(dec_zlib_extent(&b, BEFORE, file.len, 1000, &end, &found));
		else
			assert_false(dec_zstd_extent(&b, BEFORE, file.len, &end, &found));
		assert_false(found);
		assert_int_equal(err.status, DEC_E_READ);
		assert_int_equal(err.sys_errno, EIO);
		assert_int_equal(err.offset, BEFORE);
		dec_build_fini(&b);
	}
	bytes_free(&file);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_size_exactly),
		cmocka_unit_test(nothing_at_all),
		cmocka_unit_test(cut_streams),
		cmocka_unit_test(bytes_behind_the_stream),
		cmocka_unit_test(as_far_as_asked),
		cmocka_unit_test(a_prefix_longer_than_the_stream),
		cmocka_unit_test(skippable_frames_before),
		cmocka_unit_test(only_the_first_frame_counts),
		cmocka_unit_test(streams_in_pieces),
		cmocka_unit_test(damaged_streams),
		cmocka_unit_test(a_dictionary_is_not_there),
		cmocka_unit_test(a_window_too_large),
		cmocka_unit_test(a_read_that_fails),
		cmocka_unit_test(extents_by_the_libraries),
		cmocka_unit_test(zlib_extent_stops_at_the_declared_size),
		cmocka_unit_test(extents_when_a_read_fails),
	};

	payload_fill(payload, sizeof(payload));
	return RUN_ROWS(frames, check_frame) + cmocka_run_group_tests(tests, NULL, NULL);
}
