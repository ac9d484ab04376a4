#include "fs_test.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cache.h"

#define MIB ((uint64_t)1 << 20)

/* What a blob is to hold, and how often it was made. */
struct recipe {
	uint64_t size;
	unsigned char byte;
	int error; /* what to end with, after the allocation */
	int made;
	int alloc_error;
	const void *map; /* what was allocated */
};

static int make(void *ctx, struct gfs_blob *blob)
{
	struct recipe *r = ctx;
	unsigned char *to;

	r->made++;
	to = gfs_blob_alloc(blob, r->size, &r->alloc_error);
	if (!to)
		return r->alloc_error;
	r->map = to;
	memset(to, r->byte, (size_t)r->size);
	return r->error;
}

static void expect(struct gfs_cache *cache, uint64_t key, struct recipe *r)
{
	unsigned char bytes[3] = { 0 };
	struct gfs_blob *blob;
	size_t got;

	assert_int_equal(gfs_cache_get(cache, key, make, r, NULL, &blob), 0);
	assert_int_equal(gfs_blob_size(blob), r->size);
	assert_int_equal(gfs_blob_read(blob, r->size - 2, bytes, sizeof(bytes), &got), 0);
	assert_int_equal(got, 2);
	assert_int_equal(bytes[0], r->byte);
	assert_int_equal(bytes[1], r->byte);
	assert_int_equal(gfs_blob_read(blob, r->size + 1, bytes, sizeof(bytes), &got), 0);
	assert_int_equal(got, 0);
	gfs_blob_put(blob);
}

static struct gfs_cache *cache_new(uint64_t memory, uint64_t spill)
{
	struct gfs_cache *cache = gfs_cache_new(memory, spill, "/tmp");

	assert_non_null(cache);
	return cache;
}

static void makes_once(void **state)
{
	struct gfs_cache *cache = cache_new(MIB, MIB);
	struct recipe r = { .size = 100, .byte = 'x' };
	struct recipe empty = { .size = 0 };
	struct gfs_blob *blob;

	(void)state;
	expect(cache, 7, &r);
	expect(cache, 7, &r);
	assert_int_equal(r.made, 1);
	assert_int_equal(gfs_cache_get(cache, 8, make, &empty, NULL, &blob), 0);
	assert_int_equal(gfs_blob_size(blob), 0);
	gfs_blob_put(blob);
	gfs_cache_free(cache);
}

static void remembers_broken_ones_only(void **state)
{
	static const struct {
		const char *what;
		int error;
		int made; /* after two tries */
		uint64_t blobs;
	} cases[] = {
		{ "broken", -EIO, 1, 1 },
		{ "no memory", -ENOMEM, 2, 0 },
		{ "changed", -ESTALE, 2, 0 },
		{ "disk full", -ENOSPC, 2, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gfs_cache *cache = cache_new(MIB, 4 * MIB);
		struct recipe r = { .size = MIB / 2, .error = cases[i].error };
		struct gfs_blob *blob;
		struct gfs_cache_stats stats;

		for (int try = 0; try < 2; try++)
			if (gfs_cache_get(cache, 1, make, &r, NULL, &blob) != cases[i].error ||
			    blob)
				fail_msg("%s: another error", cases[i].what);
		stats = gfs_cache_stats(cache);
		if (r.made != cases[i].made || stats.blobs != cases[i].blobs)
			fail_msg("%s: made %d times, %d left", cases[i].what, r.made,
				 (int)stats.blobs);
		if (stats.spilled != 0 || stats.files != 0 || stats.memory > 1024)
			fail_msg("%s: its bytes were kept", cases[i].what);
		gfs_cache_free(cache);
	}
}

static void stays_within_budget(void **state)
{
	struct gfs_cache *cache = cache_new(MIB, 0);
	struct recipe r = { .size = 10000, .byte = 'b' };

	(void)state;
	for (uint64_t key = 0; key < 2000; key++) {
		expect(cache, key, &r);
		assert_true(gfs_cache_stats(cache).memory <= MIB);
	}
	/* Overhead counts: fewer than fit by their bytes alone. */
	assert_true(gfs_cache_stats(cache).blobs < MIB / 10000);
	assert_true(gfs_cache_stats(cache).blobs > 95);
	gfs_cache_free(cache);
}

/* Nothing but overhead, and more blobs than the table begins with. */
static void counts_overhead(void **state)
{
	struct gfs_cache *cache = cache_new(MIB, 0);
	struct recipe r = { .size = 2, .byte = 'o' };

	(void)state;
	for (uint64_t key = 0; key < 50000; key++)
		expect(cache, key << 8, &r);
	assert_true(gfs_cache_stats(cache).memory <= MIB);
	assert_true(gfs_cache_stats(cache).blobs > 1000);
	r.made = 0;
	expect(cache, (uint64_t)49999 << 8, &r);
	assert_int_equal(r.made, 0);
	gfs_cache_free(cache);
}

static void drops_the_least_recently_used(void **state)
{
	struct gfs_cache *cache = cache_new(MIB, 0);
	struct recipe r[5];

	(void)state;
	for (int i = 0; i < 5; i++)
		r[i] = (struct recipe){ .size = MIB / 4 - 1000, .byte = (unsigned char)i };
	for (uint64_t i = 0; i < 4; i++)
		expect(cache, i, &r[i]);
	expect(cache, 0, &r[0]);
	expect(cache, 4, &r[4]); /* instead of 1 */
	expect(cache, 0, &r[0]);
	assert_int_equal(r[0].made, 1);
	expect(cache, 1, &r[1]);
	assert_int_equal(r[1].made, 2);
	gfs_cache_free(cache);
}

/* A budget of nothing still serves small blobs, one at a time. */
static void survives_no_budget(void **state)
{
	struct gfs_cache *cache = cache_new(0, MIB);
	struct recipe small = { .size = 100, .byte = 's' };
	struct recipe large = { .size = GFS_SPILL_MIN, .byte = 'l' };

	(void)state;
	for (uint64_t key = 0; key < 10; key++)
		expect(cache, key, &small);
	assert_int_equal(gfs_cache_stats(cache).blobs, 1);
	expect(cache, 10, &large);
	assert_int_equal(gfs_cache_stats(cache).spilled, GFS_SPILL_MIN);
	gfs_cache_free(cache);
}

static void spills_large_blobs(void **state)
{
	struct gfs_cache *cache = cache_new(MIB, 3 * MIB);
	struct recipe quarter = { .size = MIB / 4, .byte = 'q' };
	struct recipe large = { .size = MIB / 4 + 1, .byte = 'l' };
	struct recipe huge = { .size = 2 * MIB, .byte = 'h' };
	struct recipe impossible = { .size = 3 * MIB + 1 };
	struct gfs_blob *blob;

	(void)state;
	expect(cache, 1, &quarter);
	assert_int_equal(gfs_cache_stats(cache).files, 0);
	expect(cache, 2, &large);
	assert_int_equal(gfs_cache_stats(cache).files, 1);
	assert_int_equal(gfs_cache_stats(cache).spilled, large.size);
	expect(cache, 3, &huge);
	assert_int_equal(gfs_cache_stats(cache).spilled, large.size + huge.size);
	huge.byte = 'H';
	expect(cache, 4, &huge); /* instead of both files, not of what is in memory */
	assert_int_equal(gfs_cache_stats(cache).files, 1);
	expect(cache, 1, &quarter);
	assert_int_equal(quarter.made, 1);
	assert_int_equal(gfs_cache_get(cache, 5, make, &impossible, NULL, &blob), -ENOSPC);
	expect(cache, 4, &huge);
	assert_int_equal(huge.made, 2);
	gfs_cache_free(cache);
}

static void bounds_the_files(void **state)
{
	struct gfs_cache *cache = cache_new(0, 1024 * MIB);
	struct recipe r = { .size = GFS_SPILL_MIN, .byte = 'f' };

	(void)state;
	for (uint64_t key = 0; key < GFS_SPILL_FILES + 10; key++)
		expect(cache, key, &r);
	assert_int_equal(gfs_cache_stats(cache).files, GFS_SPILL_FILES);
	gfs_cache_free(cache);
}

/* Pages of the map at p that count as memory of this process; -1: there is no such map. */
static long resident(const void *p)
{
	FILE *maps = fopen("/proc/self/smaps", "r");
	bool inside = false;
	long rss = -1;
	char line[512];

	assert_non_null(maps);
	while (rss < 0 && fgets(line, sizeof(line), maps)) {
		unsigned long begin;
		unsigned long end;

		if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
			inside = (uintptr_t)p >= begin && (uintptr_t)p < end;
		else if (inside)
			sscanf(line, "Rss: %ld", &rss);
	}
	fclose(maps);
	return rss;
}

static int make_and_wait(void *ctx, struct gfs_blob *blob)
{
	struct recipe *r = ctx;
	int err = make(r, blob);
	const unsigned char *bytes = r->map;

	if (err)
		return err;
	while (resident(bytes) > 0)
		usleep(1000);
	assert_int_equal(bytes[0], r->byte);
	return 0;
}

/* However long it takes: what is written through a map does not stay in memory. */
static void keeps_spilled_bytes_out_of_memory(void **state)
{
	struct gfs_cache *cache = cache_new(MIB, 64 * MIB);
	struct recipe r = { .size = 32 * MIB, .byte = 'k' };
	struct gfs_blob *blob;

	(void)state;
	assert_int_equal(gfs_cache_get(cache, 1, make_and_wait, &r, NULL, &blob), 0);
	gfs_blob_put(blob);
	expect(cache, 1, &r);
	assert_int_equal(r.made, 1);
	gfs_cache_free(cache);
}

/* A blob that somebody reads is not dropped; what finds no room beside it is spilled, and
 * where the files are full too there is no room at all. */
static void respects_blobs_in_use(void **state)
{
	struct gfs_cache *cache = cache_new(MIB, MIB / 4);
	struct recipe r = { .size = MIB / 4 - 1000, .byte = 'u' };
	struct gfs_blob *held[5];
	struct gfs_blob *blob;
	unsigned char byte;
	size_t got;

	(void)state;
	for (uint64_t key = 0; key < 5; key++)
		assert_int_equal(gfs_cache_get(cache, key, make, &r, NULL, &held[key]), 0);
	assert_int_equal(gfs_cache_stats(cache).files, 1);
	assert_int_equal(gfs_cache_get(cache, 5, make, &r, NULL, &blob), -ENOSPC);
	r.made = 0;
	expect(cache, 0, &r);
	assert_int_equal(r.made, 0);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(gfs_blob_read(held[i], 0, &byte, 1, &got), 0);
		assert_int_equal(byte, 'u');
		gfs_blob_put(held[i]);
	}
	assert_int_equal(gfs_cache_get(cache, 5, make, &r, NULL, &blob), 0);
	gfs_blob_put(blob);
	gfs_cache_free(cache);
}

static void says_no_space_for_a_bad_tmpdir(void **state)
{
	struct gfs_cache *cache = gfs_cache_new(MIB, 8 * MIB, "/nonexistent");
	struct recipe r = { .size = MIB };
	struct gfs_blob *blob;

	(void)state;
	assert_int_equal(gfs_cache_get(cache, 1, make, &r, NULL, &blob), -ENOSPC);
	assert_int_equal(gfs_cache_stats(cache).spilled, 0);
	gfs_cache_free(cache);
}

/* Where no more files can be made, one that nobody reads goes for the next. */
static void drops_a_file_that_is_in_the_way(void **state)
{
	struct gfs_cache *cache = cache_new(MIB, 8 * MIB);
	struct recipe first = { .size = MIB, .byte = 'x' };
	struct recipe second = { .size = MIB, .byte = 'y' };
	struct rlimit before;
	struct rlimit limit;
	struct gfs_blob *blob;
	int next = dup(STDIN_FILENO);

	(void)state;
	assert_true(next >= 0);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = (struct rlimit){ (rlim_t)next + 1, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	expect(cache, 1, &first);
	expect(cache, 2, &second);
	assert_int_equal(gfs_cache_stats(cache).files, 1);
	assert_int_equal(gfs_cache_get(cache, 2, make, &second, NULL, &blob), 0);
	assert_int_equal(gfs_cache_get(cache, 1, make, &first, NULL, &blob), -ENOSPC);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(gfs_cache_get(cache, 2, make, &second, NULL, &blob), 0);
	assert_int_equal(second.made, 1);
	gfs_blob_put(blob);
	gfs_blob_put(blob);
	gfs_cache_free(cache);
}

/* ---- what is read through ------------------------------------------------------------ */

/* Gets a blob as a reader of the whole file does. */
static void read_through(struct gfs_cache *cache, uint64_t key, struct recipe *r)
{
	struct gfs_blob *blob;
	const unsigned char *bytes;

	assert_int_equal(gfs_cache_get(cache, key, make, r, NULL, &blob), 0);
	bytes = gfs_blob_bytes(blob);
	for (uint64_t i = 0; i < r->size; i += r->size / 7)
		assert_int_equal(bytes[i], r->byte);
	assert_int_equal(bytes[r->size - 1], r->byte);
	gfs_blob_put_through(blob);
}

/* Files read one after the other stay in a few blocks, whatever their sizes. */
static void reuses_what_was_read_through(void **state)
{
	struct gfs_cache *cache = cache_new(64 * MIB, 0);
	uint64_t random = 1;

	(void)state;
	for (uint64_t key = 0; key < 2000; key++) {
		struct recipe r = { .byte = (unsigned char)(1 + key % 255) };

		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		r.size = GFS_SPILL_MIN + (random >> 40) % (3 * MIB);
		read_through(cache, key, &r);
		/* A sixteenth, and what the newest takes beyond that. */
		assert_true(gfs_cache_stats(cache).memory <= 4 * MIB + 4 * MIB);
	}
	gfs_cache_free(cache);
}

/* Getting a blob again, or holding it, saves it from those that come after. */
static void keeps_what_is_read_again(void **state)
{
	struct gfs_cache *cache = cache_new(64 * MIB, 0);
	struct recipe again = { .size = MIB, .byte = 'a' };
	struct recipe held = { .size = MIB, .byte = 'h' };
	struct recipe once = { .size = MIB, .byte = 'o' };
	struct recipe small = { .size = GFS_SPILL_MIN - 1, .byte = 's' };
	struct gfs_blob *hold;
	unsigned char byte;
	size_t got;

	(void)state;
	read_through(cache, 1, &again);
	expect(cache, 1, &again);
	read_through(cache, 2, &held);
	assert_int_equal(gfs_cache_get(cache, 2, make, &held, NULL, &hold), 0);
	read_through(cache, 2, &held);
	read_through(cache, 3, &small);
	for (uint64_t key = 10; key < 40; key++)
		read_through(cache, key, &once);
	assert_int_equal(once.made, 30);
	assert_int_equal(gfs_blob_read(hold, MIB - 1, &byte, 1, &got), 0);
	assert_int_equal(byte, 'h');
	gfs_blob_put(hold);
	expect(cache, 1, &again);
	expect(cache, 2, &held);
	expect(cache, 3, &small);
	assert_int_equal(again.made + held.made + small.made, 3);
	read_through(cache, 39, &once); /* the newest are still there */
	assert_int_equal(once.made, 30);
	gfs_cache_free(cache);
}

/* What is in a file has no bytes to lend, and nothing is gained by dropping it. */
static void reads_files_through(void **state)
{
	struct gfs_cache *cache = cache_new(MIB, 8 * MIB);
	struct recipe large = { .size = 2 * MIB, .byte = 'l' };
	struct gfs_blob *blob;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(gfs_cache_get(cache, 1, make, &large, NULL, &blob), 0);
		assert_null(gfs_blob_bytes(blob));
		gfs_blob_put_through(blob);
	}
	assert_int_equal(large.made, 1);
	gfs_cache_free(cache);
}

/* ---- objects and scratch ----------------------------------------------------------- */

static int adopted; /* objects that live */

static void release(void *object)
{
	free(object);
	adopted--;
}

static int make_object(void *ctx, struct gfs_blob *blob)
{
	const uint64_t *bytes = ctx;
	uint64_t *object = malloc(sizeof(*object));

	assert_non_null(object);
	*object = *bytes;
	adopted++;
	gfs_blob_adopt(blob, object, *bytes, release);
	return 0;
}

static void adopts_objects(void **state)
{
	struct gfs_cache *cache = cache_new(MIB, MIB);
	uint64_t sizes[] = { 700 << 10, 200 << 10, 600 << 10, 5 * MIB };
	struct gfs_blob *blob;

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		assert_int_equal(gfs_cache_get(cache, i, make_object, &sizes[i], NULL, &blob), 0);
		assert_int_equal(*(const uint64_t *)gfs_blob_object(blob), sizes[i]);
		gfs_blob_put(blob);
	}
	/* Only what is alone may be larger than the budget. */
	assert_int_equal(adopted, 1);
	assert_true(gfs_cache_stats(cache).memory > 5 * MIB);
	assert_int_equal(gfs_cache_get(cache, 9, make_object, &sizes[1], NULL, &blob), 0);
	assert_int_equal(adopted, 1);
	gfs_blob_put(blob);
	gfs_cache_free(cache);
	assert_int_equal(adopted, 0);
}

static int adopt_and_fail(void *ctx, struct gfs_blob *blob)
{
	make_object(ctx, blob);
	return -ENOMEM;
}

static void releases_objects_of_failed_makers(void **state)
{
	struct gfs_cache *cache = cache_new(MIB, MIB);
	struct gfs_blob *blob;
	uint64_t size = 100;

	(void)state;
	assert_int_equal(gfs_cache_get(cache, 1, adopt_and_fail, &size, NULL, &blob), -ENOMEM);
	assert_int_equal(adopted, 0);
	assert_int_equal(gfs_cache_stats(cache).memory, 0);
	gfs_cache_free(cache);
}

static void lends_scratch(void **state)
{
	static const struct {
		const char *what;
		uint64_t size;
		uint64_t memory;
		uint64_t spilled;
	} cases[] = {
		{ "empty", 0, 0, 0 },
		{ "small", 1000, 1000, 0 },
		{ "a quarter", MIB / 4, MIB / 4, 0 },
		{ "more", MIB / 4 + 1, 0, MIB / 4 + 1 },
	};
	struct gfs_cache *cache = cache_new(MIB, MIB);
	struct gfs_blob *scratch;
	int err;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		void *bytes = gfs_scratch_alloc(cache, cases[i].size, &scratch, &err);
		struct gfs_cache_stats stats = gfs_cache_stats(cache);

		assert_non_null(bytes);
		memset(bytes, 1, (size_t)cases[i].size);
		if (stats.memory != cases[i].memory || stats.spilled != cases[i].spilled)
			fail_msg("%s: not counted", cases[i].what);
		gfs_scratch_free(scratch);
	}
	assert_null(gfs_scratch_alloc(cache, MIB + 1, &scratch, &err));
	assert_null(scratch);
	assert_int_equal(err, -ENOSPC);
	gfs_scratch_free(NULL);
	assert_int_equal(gfs_cache_stats(cache).memory, 0);
	assert_int_equal(gfs_cache_stats(cache).files, 0);
	gfs_cache_free(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(makes_once),
		cmocka_unit_test(remembers_broken_ones_only),
		cmocka_unit_test(stays_within_budget),
		cmocka_unit_test(counts_overhead),
		cmocka_unit_test(drops_the_least_recently_used),
		cmocka_unit_test(survives_no_budget),
		cmocka_unit_test(spills_large_blobs),
		cmocka_unit_test(keeps_spilled_bytes_out_of_memory),
		cmocka_unit_test(bounds_the_files),
		cmocka_unit_test(respects_blobs_in_use),
		cmocka_unit_test(says_no_space_for_a_bad_tmpdir),
		cmocka_unit_test(drops_a_file_that_is_in_the_way),
		cmocka_unit_test(adopts_objects),
		cmocka_unit_test(releases_objects_of_failed_makers),
		cmocka_unit_test(lends_scratch),
		cmocka_unit_test(reuses_what_was_read_through),
		cmocka_unit_test(keeps_what_is_read_again),
		cmocka_unit_test(reads_files_through),
	};

	return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
