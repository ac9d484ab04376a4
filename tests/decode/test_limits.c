/* Every bound of dec_limits.h, and that work and memory stay in proportion to the file. */
#include "alloc.h"
#include "build.h"
#include "inventory.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static const char cubin[] = "sixteen bytes..";

static void fatbin(struct bytes *b, size_t count)
{
	struct fat_entry *e = calloc(count, sizeof(*e));

	assert_non_null(e);
	for (size_t i = 0; i < count; i++)
		e[i] = (struct fat_entry){
			2, 75 + (uint32_t)i, 0x11, cubin, sizeof(cubin), 0, NULL, NULL
		};
	add_fatbin(b, e, count);
	free(e);
}

static void expect_limit(const struct dec_artifact *a, uint32_t index, const char *field)
{
	assert_true(index < a->problem_count);
	assert_int_equal(a->problems[index].code, DEC_PROBLEM_LIMIT);
	assert_string_equal(a->problems[index].field, field);
	assert_true(a->problems[index].partial);
	assert_true(a->partial);
}

static void defaults_hold_the_largest_honest_files(void **state)
{
	struct dec_limits limits = dec_limits_default();

	(void)state;
	assert_true(limits.max_payload > 133833256);
	assert_true(limits.max_ratio > 96);
	assert_true(limits.max_objects > 43409);
	assert_true(limits.max_containers > 23984);
}

static void objects_past_the_limit_keep_their_number(void **state)
{
	struct dec_limits limits = dec_limits_default();
	struct opened o = { 0 };

	(void)state;
	limits.max_objects = 3;
	fatbin(&o.bytes, 2);
	fatbin(&o.bytes, 5);
	fatbin(&o.bytes, 1);
	open_limited(&o, &limits);
	assert_int_equal(o.a->object_count, 3);
	assert_int_equal(o.a->container_count, 3);
	assert_int_equal(o.a->containers[1].entries, 5);
	assert_int_equal(o.a->containers[1].object_count, 1);
	assert_int_equal(o.a->containers[2].entries, 1);
	assert_int_equal(o.a->containers[2].object_count, 0);
	assert_int_equal(o.a->problem_count, 1);
	expect_limit(o.a, 0, "max_objects");
	sweep_failures(&o.bytes, &limits);
	close_input(&o);
}

static void exactly_the_limit_is_no_problem(void **state)
{
	struct dec_limits limits = dec_limits_default();
	struct opened o = { 0 };

	(void)state;
	limits.max_objects = 7;
	limits.max_containers = 2;
	fatbin(&o.bytes, 2);
	fatbin(&o.bytes, 5);
	open_limited(&o, &limits);
	assert_int_equal(o.a->object_count, 7);
	assert_int_equal(o.a->problem_count, 0);
	assert_false(o.a->partial);
	close_input(&o);
}

static void containers_past_the_limit(void **state)
{
	struct dec_limits limits = dec_limits_default();
	const struct bundle_entry entry = { "hip-amdgcn-amd-amdhsa--gfx906", cubin, 16 };
	struct bytes inner = { 0 };
	struct opened o = { 0 };

	(void)state;
	limits.max_containers = 1;
	fatbin(&o.bytes, 1);
	fatbin(&o.bytes, 1);
	add_bundle(&o.bytes, &entry, 1, 1);
	add_bundle(&inner, &entry, 1, 1);
	add_ccob(&o.bytes, 3, CCOB_ZSTD, &inner);
	open_limited(&o, &limits);
	assert_int_equal(o.a->container_count, 1);
	assert_int_equal(o.a->object_count, 1);
	assert_int_equal(o.a->problem_count, 1);
	expect_limit(o.a, 0, "max_containers");
	sweep_failures(&o.bytes, &limits);
	bytes_free(&inner);
	close_input(&o);
}

static void no_containers_at_all(void **state)
{
	struct dec_limits limits = dec_limits_default();
	struct opened o = { 0 };

	(void)state;
	limits.max_containers = 0;
	limits.max_objects = 0;
	limits.max_problems = 0;
	fatbin(&o.bytes, 1);
	open_limited(&o, &limits);
	assert_int_equal(o.a->container_count, 0);
	assert_int_equal(o.a->problem_count, 1); /* that some are not listed is always said */
	assert_string_equal(o.a->problems[0].field, "max_problems");
	close_input(&o);
}

static void problems_past_the_limit_are_counted(void **state)
{
	struct dec_limits limits = dec_limits_default();
	struct opened o = { 0 };

	(void)state;
	limits.max_problems = 3;
	fatbin(&o.bytes, 8);
	for (size_t i = 0; i < 8; i++) /* compressed_size without a codec */
		set_le(&o.bytes, FAT_REGION + i * 80 + 0x10, 4, 1);
	open_limited(&o, &limits);
	assert_int_equal(o.a->object_count, 8);
	assert_int_equal(o.a->problem_count, 4);
	expect_limit(o.a, 3, "max_problems");
	assert_string_equal(o.a->problems[3].message.p, "5 more problems are not listed");
	sweep_failures(&o.bytes, &limits);
	close_input(&o);
}

/* Honest libraries have tens of thousands of these. */
static void remarks_are_not_counted(void **state)
{
	struct dec_limits limits = dec_limits_default();
	struct opened o = { 0 };

	(void)state;
	limits.max_problems = 1;
	fatbin(&o.bytes, 8);
	for (size_t i = 0; i < 8; i++)
		set_le(&o.bytes, FAT_REGION + i * 80 + 0x28, 8, 0x10011);
	open_limited(&o, &limits);
	assert_int_equal(o.a->problem_count, 8);
	assert_false(o.a->partial);
	close_input(&o);
}

struct decoded_case {
	const char *name;
	uint64_t decoded, stored;
	uint64_t max_payload, max_ratio;
	bool given;
};

#define FLOOR DEC_RATIO_FLOOR

static const struct decoded_case decoded_cases[] = {
	{ "as large as allowed", 1000, 64, 1000, 0, true },
	{ "one byte larger", 1001, 64, 1000, 0, false },
	{ "all ones", UINT64_MAX, 64, DEC_GIB(1), 0, false },
	{ "any ratio below the floor", FLOOR, 64, DEC_GIB(1), 1, true },
	{ "the ratio above the floor", FLOOR + 64, 64, DEC_GIB(1), 1024, false },
	{ "the ratio exactly", FLOOR + 1024, FLOOR / 1024 + 1, DEC_GIB(1), 1024, true },
	{ "the ratio and one byte less stored", FLOOR + 1024, FLOOR / 1024, DEC_GIB(1), 1024,
	  false },
	{ "no ratio is asked for", DEC_GIB(1), 64, DEC_GIB(1), 0, true },
	{ "the largest ratio there is", DEC_GIB(1), 64, DEC_GIB(1), UINT64_MAX, true },
};

static void check_decoded(void **state)
{
	const struct decoded_case *c = *state;
	struct dec_limits limits = dec_limits_default();
	struct fat_entry e = { 1, 90, 0x8011, NULL, 0, c->decoded, NULL, NULL };
	uint8_t *stored = calloc(1, (size_t)c->stored);
	struct opened o = { 0 };

	assert_non_null(stored);
	e.payload = stored;
	e.size = (size_t)c->stored;
	add_fatbin(&o.bytes, &e, 1);
	limits.max_payload = c->max_payload;
	limits.max_ratio = c->max_ratio;
	open_limited(&o, &limits);
	assert_int_equal(o.a->objects[0].has_payload, c->given);
	assert_int_equal(o.a->problem_count, c->given ? 0 : 1);
	if (!c->given) {
		assert_int_equal(o.a->problems[0].code, DEC_PROBLEM_LIMIT);
		assert_int_equal(o.a->problems[0].offset, FAT_REGION + 0x38);
	}
	assert_int_equal(o.a->objects[0].payload_size, c->decoded);
	free(stored);
	close_input(&o);
}

/* Stored payloads decode to what is there: no limit. */
static void stored_payloads_have_no_limit(void **state)
{
	struct dec_limits limits = dec_limits_default();
	struct opened o = { 0 };

	(void)state;
	limits.max_payload = 1;
	fatbin(&o.bytes, 1);
	open_limited(&o, &limits);
	assert_true(o.a->objects[0].has_payload);
	close_input(&o);
}

static void header_bytes_past_the_limit(void **state)
{
	static const struct elf_head head = { ET_DYN, EM_AMDGPU, 64, 3, 0x41 };
	static const struct elf_section text = { ".text", SHT_PROGBITS, cubin, sizeof(cubin) };
	struct dec_limits limits = dec_limits_default();
	struct opened o = { 0 };

	(void)state;
	limits.max_header_bytes = 2 * 3 * ELF_SHDR; /* two tables of three sections */
	add_text(&o.bytes, "text");
	for (int i = 0; i < 4; i++)
		add_elf(&o.bytes, &head, &text, 1, ELF_SECTIONS);
	open_limited(&o, &limits);
	assert_int_equal(o.a->container_count, 4);
	assert_int_equal(o.a->problem_count, 3); /* the limit once, then what it means for two */
	expect_limit(o.a, 0, "max_header_bytes");
	assert_int_equal(o.a->problems[1].code, DEC_PROBLEM_MALFORMED_ELF);
	sweep_failures(&o.bytes, &limits);
	close_input(&o);
}

static void entries_of_a_bundle(void **state)
{
	const size_t counts[] = { DEC_BUNDLE_ENTRIES_MAX, DEC_BUNDLE_ENTRIES_MAX + 1 };

	(void)state;
	for (size_t i = 0; i < COUNT(counts); i++) {
		struct bundle_entry *e = calloc(counts[i], sizeof(*e));
		struct opened o = { 0 };

		assert_non_null(e);
		for (size_t j = 0; j < counts[i]; j++)
			e[j] = (struct bundle_entry){ "hip-a", "", 0 };
		add_bundle(&o.bytes, e, counts[i], 1);
		open_input(&o);
		assert_int_equal(o.a->containers[0].entries, counts[i]);
		assert_int_equal(o.a->object_count, DEC_BUNDLE_ENTRIES_MAX);
		assert_int_equal(o.a->partial, i == 1);
		if (i == 1)
			expect_limit(o.a, 0, "entry count");
		free(e);
		close_input(&o);
	}
}

/* A header of more than 64 KiB: its fixed part is read, texts past that are not. */
static void a_long_entry_header(void **state)
{
	char *name = malloc((size_t)DEC_FATBIN_HEADER_MAX + 1);
	struct fat_entry e = { 1, 90, 0x11, cubin, sizeof(cubin), 0, name, "-O3" };
	struct opened o = { 0 };

	(void)state;
	assert_non_null(name);
	memset(name, 'n', (size_t)DEC_FATBIN_HEADER_MAX);
	name[DEC_FATBIN_HEADER_MAX] = '\0';
	add_fatbin(&o.bytes, &e, 1);
	open_input(&o);
	assert_int_equal(o.a->object_count, 1);
	assert_false(dec_text_present(o.a->objects[0].identifier));
	assert_false(dec_text_present(o.a->objects[0].options));
	assert_int_equal(o.a->problem_count, 2);
	expect_payload(&o, 0, cubin, sizeof(cubin));
	free(name);
	close_input(&o);
}

/* ---- work in proportion to the file ---------------------------------------------------------- */

/* A byte of the file is read some times, and some bytes are kept for it; not thousands. */
#define PROPORTION 256

static void expect_proportion(struct bytes *b)
{
	struct dec_limits limits = dec_limits_default();
	struct opened o = { .bytes = *b };

	*b = (struct bytes){ 0 };
	alloc_fail_at(0);
	open_limited(&o, &limits);
	assert_in_range(alloc_bytes(), 0, PROPORTION * (uint64_t)o.bytes.len + DEC_MIB(1));
	assert_in_range(o.memory.read_bytes, 0, PROPORTION * (uint64_t)o.bytes.len + DEC_MIB(1));
	close_input(&o);
}

/* Many sections with one long name. */
static void section_names_that_share_bytes(void **state)
{
	enum { SECTIONS = 2000, NAME = 200000 };
	struct elf_section names = { ".shstrtab", SHT_STRTAB, NULL, NAME };
	static const struct elf_head head = { ET_REL, EM_X86_64, 0, 0, 0 };
	struct bytes b = { 0 }, text = { 0 };
	size_t table;

	(void)state;
	add_fill(&text, 'n', NAME);
	names.p = text.p;
	add_elf(&b, &head, &names, 1, ELF_BARE);
	pad_to(&b, 8);
	table = add_zeros(&b, SECTIONS * ELF_SHDR);
	set_le(&b, 40, 8, table);
	set_le(&b, 60, 2, SECTIONS);
	set_le(&b, 62, 2, 1);
	for (size_t i = 1; i < SECTIONS; i++) {
		size_t at = table + i * ELF_SHDR;

		set_le(&b, at + 4, 4, i == 1 ? SHT_STRTAB : SHT_PROGBITS);
		set_le(&b, at + 24, 8, ELF_EHDR);
		set_le(&b, at + 32, 8, i == 1 ? NAME : 1);
	}
	bytes_free(&text);
	expect_proportion(&b);
}

/* Many sections that are bundle entries by their name, in front of bytes without a magic. */
static void entry_sections_and_a_long_rest(void **state)
{
	enum { SECTIONS = 2000, REST = 400000 };
	static const char name[] = "\0__CLANG_OFFLOAD_BUNDLE__hip-x";
	static const struct elf_head head = { ET_REL, EM_X86_64, 0, 0, 0 };
	struct bytes b = { 0 };
	size_t names, table;

	(void)state;
	add_elf(&b, &head, NULL, 0, ELF_BARE);
	add_fill(&b, 'd', SECTIONS);
	pad_to(&b, 8);
	table = add_zeros(&b, SECTIONS * ELF_SHDR);
	add_fill(&b, 'r', REST);
	names = add(&b, name, sizeof(name));
	set_le(&b, 40, 8, table);
	set_le(&b, 60, 2, SECTIONS);
	set_le(&b, 62, 2, 1);
	for (size_t i = 1; i < SECTIONS; i++) {
		size_t at = table + i * ELF_SHDR;

		set_le(&b, at, 4, i == 1 ? 0 : 1);
		set_le(&b, at + 4, 4, i == 1 ? SHT_STRTAB : SHT_PROGBITS);
		set_le(&b, at + 24, 8, i == 1 ? names : ELF_EHDR + i);
		set_le(&b, at + 32, 8, i == 1 ? sizeof(name) : 1);
	}
	expect_proportion(&b);
}

/* Headers of version 1 whose frames all go on in the same blocks and never end. */
static void zstd_frames_that_share_a_tail(void **state)
{
	enum { HITS = 2000, UNIT = 20 + 4 + 2 + 3, BLOCKS = 50000 };
	struct bytes b = { 0 };

	(void)state;
	add_text(&b, "text");
	for (size_t i = 0; i < HITS; i++) {
		add_text(&b, "CCOB");
		add_le(&b, 2, 1);
		add_le(&b, 2, CCOB_ZSTD);
		add_le(&b, 4, 1000);
		add_le(&b, 8, 0);
		add(&b, "\x28\xb5\x2f\xfd\0\x58", 6);
		add_le(&b, 3, (HITS - 1 - i) * UNIT << 3); /* a raw block up to the last of them */
	}
	for (size_t i = 0; i < BLOCKS; i++)
		add(&b, "\x0a\0\0x", 4);
	expect_proportion(&b);
}

/* The same with zlib, which has to be inflated to find its end. */
static void zlib_streams_that_share_a_tail(void **state)
{
	enum { HITS = 100, UNIT = 20 + 2 + 5 };
	const uint64_t size = DEC_MIB(16);
	uint8_t *zeros = calloc(1, (size_t)size);
	struct dec_limits limits = dec_limits_default();
	struct bytes tail = { 0 };
	struct opened o = { 0 };
	size_t noted = 0;

	(void)state;
	limits.max_search_bytes = 3 * size;
	assert_non_null(zeros);
	add_zlib(&tail, zeros, (size_t)size);
	free(zeros);
	add_text(&o.bytes, "text");
	for (size_t i = 0; i < HITS; i++) {
		uint16_t rest = (uint16_t)((HITS - 1 - i) * UNIT);

		add_text(&o.bytes, "CCOB");
		add_le(&o.bytes, 2, 1);
		add_le(&o.bytes, 2, CCOB_ZLIB);
		add_le(&o.bytes, 4, UINT32_MAX);
		add_le(&o.bytes, 8, 0);
		add(&o.bytes, "\x78\x9c\0", 3);
		add_le(&o.bytes, 2, rest);
		add_le(&o.bytes, 2, (uint16_t)~rest);
	}
	add(&o.bytes, tail.p + 2, tail.len - 2 - 4); /* no checksum: the stream does not end */
	open_limited(&o, &limits);
	for (uint32_t i = 0; i < o.a->problem_count; i++)
		noted += strcmp(o.a->problems[i].field, "max_search_bytes") == 0;
	assert_int_equal(noted, 1); /* all of them together, not each, have the budget */
	assert_true(o.a->partial);
	bytes_free(&tail);
	close_input(&o);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_hold_the_largest_honest_files),
		cmocka_unit_test(objects_past_the_limit_keep_their_number),
		cmocka_unit_test(exactly_the_limit_is_no_problem),
		cmocka_unit_test(containers_past_the_limit),
		cmocka_unit_test(no_containers_at_all),
		cmocka_unit_test(problems_past_the_limit_are_counted),
		cmocka_unit_test(remarks_are_not_counted),
		cmocka_unit_test(stored_payloads_have_no_limit),
		cmocka_unit_test(header_bytes_past_the_limit),
		cmocka_unit_test(entries_of_a_bundle),
		cmocka_unit_test(a_long_entry_header),
		cmocka_unit_test(section_names_that_share_bytes),
		cmocka_unit_test(entry_sections_and_a_long_rest),
		cmocka_unit_test(zstd_frames_that_share_a_tail),
		cmocka_unit_test(zlib_streams_that_share_a_tail),
	};

	return RUN_ROWS(decoded_cases, check_decoded) + cmocka_run_group_tests(tests, NULL, NULL);
}
