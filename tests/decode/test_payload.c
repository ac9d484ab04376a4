/* Bytes that are loaded where somebody looks. */
#include "alloc.h"
#include "build.h"
#include "inspect_internal.h"
#include "inventory.h"
#include "memory.h"
#include "same.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PIECE DEC_PAYLOAD_PIECE
#define PIECES 10
#define SIZE (PIECES * PIECE - 100)

struct fixture {
	uint8_t bytes[SIZE];
	uint8_t room[SIZE];
	struct memory m;
	struct dec_loader loader;
	struct dec_payload p;
};

static struct fixture *fixture_new(size_t size)
{
	struct fixture *f = malloc(sizeof(*f));

	assert_non_null(f);
	for (size_t i = 0; i < SIZE; i++)
		f->bytes[i] = (uint8_t)(i * 7 + i / PIECE);
	memset(f->room, 0xa5, SIZE);
	memory_init(&f->m, f->bytes, size);
	f->p = (struct dec_payload){ .len = size, .origin = 1000 };
	assert_true(dec_payload_load(&f->p, &f->loader, &f->m.source, f->room));
	return f;
}

static void fixture_free(struct fixture *f)
{
	assert_false(f->m.outside);
	dec_payload_close(&f->p);
	free(f);
}

static void expect_slice(struct fixture *f, uint64_t offset, uint64_t len)
{
	struct dec_view v;

	assert_true(dec_payload_slice(&f->p, offset, len, &v));
	assert_int_equal(v.len, len);
	assert_int_equal(v.origin, 1000 + offset);
	assert_memory_equal(v.p, f->bytes + offset, len);
}

/* What is asked for, and how many reads and pieces that makes in all. */
static void loads_what_is_asked_for(void **state)
{
	static const struct {
		uint64_t offset, len, reads, pieces;
	} steps[] = {
		{ 0, 0, 0, 0 }, /* nothing */
		{ PIECE, 1, 1, 1 },
		{ PIECE, PIECE, 1, 1 }, /* all of the same piece */
		{ 2 * PIECE - 1, 2, 2, 2 },
		{ 5 * PIECE, 10, 3, 3 },
		{ 10, 6 * PIECE, 6, 7 }, /* 0, then 3 and 4, then 6 around those that are there */
		{ SIZE, 0, 6, 7 },
		{ SIZE - 1, 1, 7, 8 }, /* the last one is short */
		{ 0, SIZE, 8, 10 },
		{ 0, SIZE, 8, 10 },
	};
	struct fixture *f = fixture_new(SIZE);

	(void)state;
	for (size_t i = 0; i < COUNT(steps); i++) {
		uint64_t bytes = steps[i].pieces * PIECE;

		expect_slice(f, steps[i].offset, steps[i].len);
		if (steps[i].reads != f->m.reads)
			fail_msg("step %zu: %llu reads", i, (unsigned long long)f->m.reads);
		assert_int_equal(f->m.read_bytes, i < 7 ? bytes : bytes - 100);
	}
	fixture_free(f);
}

static void nothing_outside(void **state)
{
	struct fixture *f = fixture_new(SIZE);
	struct dec_view v;

	(void)state;
	assert_false(dec_payload_slice(&f->p, SIZE, 1, &v));
	assert_false(dec_payload_slice(&f->p, 1, UINT64_MAX, &v));
	assert_false(dec_payload_slice(&f->p, UINT64_MAX, 2, &v));
	assert_int_equal(f->m.reads, 0);
	assert_int_equal(dec_payload_head(&f->p, 4).len, 4);
	assert_int_equal(dec_payload_head(&f->p, SIZE_MAX).len, SIZE);
	fixture_free(f);
}

static void small_ones_whole(void **state)
{
	static const size_t sizes[] = { 1, PIECE, DEC_PAYLOAD_WHOLE, DEC_PAYLOAD_WHOLE + 1 };

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct fixture *f = fixture_new(sizes[i]);

		expect_slice(f, sizes[i] - 1, 1);
		assert_int_equal(f->m.read_bytes, i < 3 ? sizes[i] : 1);
		expect_slice(f, 0, 1);
		assert_int_equal(f->m.reads, i < 3 ? 1 : 2);
		fixture_free(f);
	}
}

/* After a read that failed nothing is given, not even what was there before. */
static void a_read_that_fails(void **state)
{
	struct fixture *f = fixture_new(SIZE);
	struct dec_view v;

	(void)state;
	f->m.fail_at = 2;
	expect_slice(f, 0, 1);
	assert_false(dec_payload_slice(&f->p, PIECE, 1, &v));
	assert_int_equal(f->loader.error, -EIO);
	assert_false(dec_payload_slice(&f->p, PIECE, 1, &v));
	assert_false(dec_payload_slice(&f->p, 0, 1, &v));
	assert_int_equal(dec_payload_all(&f->p).len, 0);
	assert_int_equal(f->m.reads, 2);
	fixture_free(f);
}

/* ---- examining ------------------------------------------------------------------------- */

/* A code object with a megabyte of code between what is looked at. */
static struct bytes large_object(void)
{
	static uint8_t code[1 << 20];
	static const struct elf_section sections[] = {
		{ ".text", SHT_PROGBITS, code, sizeof(code) },
		{ ".note", SHT_NOTE, code, 16 },
		{ ".debug_info", SHT_PROGBITS, code, sizeof(code) },
	};
	static const struct elf_head head = { ET_DYN, DEC_EM_AMDGPU, 64, 3, 0x41 };
	struct bytes b = { 0 };

	add_elf(&b, &head, sections, COUNT(sections), ELF_SECTIONS);
	return b;
}

static const struct dec_object of = { .target_kind = DEC_TARGET_BUNDLE_ID,
				      .target = { "gfx1010", 7 } };
static const struct dec_artifact artifact = { .objects = &of, .object_count = 1 };

static void reads_a_part_of_a_code_object(void **state)
{
	struct bytes b = large_object();
	void *room = malloc(b.len);
	struct dec_inspection *whole, *part;
	struct dec_error err;
	struct memory m;

	(void)state;
	assert_non_null(room);
	memset(room, 0xa5, b.len);
	memory_init(&m, b.p, b.len);
	whole = dec_inspect(&artifact, 0, b.p, b.len, DEC_WANT_METADATA, &err);
	part = dec_inspect_source(&artifact, 0, &m.source, room, DEC_WANT_METADATA, &err);
	assert_non_null(whole);
	assert_non_null(part);
	assert_int_equal(whole->representation, DEC_REPRESENTATION_AMDGPU_ELF);
	assert_null(inspections_differ(whole, part));
	assert_true(m.read_bytes > 0 && m.read_bytes < b.len / 10);
	dec_inspection_free(whole);
	dec_inspection_free(part);
	free(room);
	bytes_free(&b);
}

/* Whichever read and whichever allocation it is. */
static void reports_a_read_that_fails(void **state)
{
	struct bytes b = large_object();
	void *room = malloc(b.len);
	struct dec_inspection *in = NULL;
	struct dec_error err;
	struct memory m;
	unsigned n;

	(void)state;
	assert_non_null(room);
	for (n = 1; !in; n++) {
		memory_init(&m, b.p, b.len);
		m.fail_at = n;
		in = dec_inspect_source(&artifact, 0, &m.source, room, 0, &err);
		if (in)
			break;
		assert_int_equal(err.status, DEC_E_READ);
		assert_int_equal(err.sys_errno, EIO);
		assert_string_equal(err.field, "payload");
	}
	assert_true(n > 2);
	dec_inspection_free(in);
	in = NULL;
	for (n = 1; !in; n++) {
		long live = alloc_live();

		memory_init(&m, b.p, b.len);
		alloc_fail_at(n);
		in = dec_inspect_source(&artifact, 0, &m.source, room, 0, &err);
		alloc_fail_at(0);
		if (in)
			break;
		assert_int_equal(err.status, DEC_E_NOMEM);
		assert_int_equal(alloc_live(), live);
	}
	assert_true(n > 2);
	dec_inspection_free(in);
	free(room);
	bytes_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_what_is_asked_for),
		cmocka_unit_test(nothing_outside),
		cmocka_unit_test(small_ones_whole),
		cmocka_unit_test(a_read_that_fails),
		cmocka_unit_test(reads_a_part_of_a_code_object),
		cmocka_unit_test(reports_a_read_that_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
