#include "fake_exam.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include <openssl/sha.h>

#include "cache.h"
#include "demangle.h"
#include "examine.h"
#include "examine_dispatch.h"
#include "names.h"
#include "node.h"

#define MIB ((uint64_t)1 << 20)

/* ---- file names ----------------------------------------------------------------------- */

#define LONG25 "long_long_long_long_long_"
#define LONG LONG25 LONG25 LONG25 LONG25 LONG25 LONG25 LONG25 LONG25 LONG25

static const char *const kernel_names[] = {
	"b", "a", "a", "a/b", "a", "", ".", "b", "c~2", "a!", LONG "x", LONG "y", LONG "x", "\xff",
};
static const char *const file_names[] = {
	"b", "a", "a~2", "a%2Fb", "a~3", "%", "%2E", "b~2", "c%7E2", "a!", NULL, NULL, NULL, "%FF",
};

static struct dec_text name_at(const void *ctx, uint32_t index)
{
	const char *const *names = ctx;

	return (struct dec_text){ names[index], strlen(names[index]) };
}

static void names_files(void **state)
{
	struct gfs_file_names list;

	(void)state;
	assert_int_equal(gfs_file_names_init(&list, COUNT(kernel_names), name_at, kernel_names), 0);
	assert_int_equal(list.count, COUNT(file_names));
	for (uint32_t i = 0; i < list.count; i++) {
		const char *name = list.names[i];

		if (file_names[i] && strcmp(name, file_names[i]) != 0)
			fail_msg("%s: %s, expected %s", kernel_names[i], name, file_names[i]);
		if (strlen(name) > GFS_NAME_MAX - strlen(".json"))
			fail_msg("%s: too long", name);
		if (gfs_file_names_find(&list, name, strlen(name)) != i)
			fail_msg("%s: not found", name);
	}
	assert_string_not_equal(list.names[10], list.names[11]);
	assert_memory_equal(list.names[12], list.names[10], strlen(list.names[10]));
	assert_string_equal(list.names[12] + strlen(list.names[10]), "~2");
	gfs_file_names_fini(&list);
}

static void finds_no_other_names(void **state)
{
	static const char *const cases[] = { "",  "c",	 "a~1", "a~4", "a~",  "b~3",
					     "A", "a/b", "zz",	"%%",  "%2F", "c~2" };
	struct gfs_file_names list;

	(void)state;
	assert_int_equal(gfs_file_names_init(&list, COUNT(kernel_names), name_at, kernel_names), 0);
	for (size_t i = 0; i < COUNT(cases); i++)
		if (gfs_file_names_find(&list, cases[i], strlen(cases[i])) != DEC_NONE)
			fail_msg("\"%s\" is found", cases[i]);
	gfs_file_names_fini(&list);
	assert_int_equal(gfs_file_names_init(&list, 0, name_at, NULL), 0);
	assert_int_equal(gfs_file_names_find(&list, "a", 1), DEC_NONE);
	gfs_file_names_fini(&list);
}

/* ---- C++ names -------------------------------------------------------------------------- */

static void demangles(void **state)
{
	static const struct {
		const char *mangled;
		const char *demangled;
	} cases[] = {
		{ "_Z4axpyfPKfPf", "axpy(float, float const*, float*)" },
		{ "_ZN2ns3fooIiEEvT_", "void ns::foo<int>(int)" },
		{ "axpy", NULL },
		{ "_Z", NULL },
		{ "", NULL },
		{ "_Z4axp", NULL },
		{ "i", NULL },
		{ "_ZN12\xff\xff", NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct dec_text name = { cases[i].mangled, strlen(cases[i].mangled) };
		char *text = gfs_demangle(name);

		if (!text != !cases[i].demangled || (text && strcmp(text, cases[i].demangled) != 0))
			fail_msg("%s: %s", cases[i].mangled, text ? text : "null");
		free(text);
	}
	assert_null(gfs_demangle((struct dec_text){ "_Z1\0v", 5 }));
}

/* Each pair is made of the one before, twice: 300 bytes would be 2^30 demangled. */
static void refuses_names_that_explode(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char mangled[1024] = "_Z1fI1ASt4pairIS0_S0_E";
	char *at = mangled + strlen(mangled);
	char *text;

	(void)state;
	for (int i = 2; i < 34; i++)
		at += sprintf(at, "S1_IS%c_S%c_E", digits[i], digits[i]);
	strcpy(at, "EvT_");
	text = gfs_demangle((struct dec_text){ mangled, strlen(mangled) });
	assert_null(text);
}

/* ---- packets ------------------------------------------------------------------------------- */

static void makes_packets(void **state)
{
	/* clang-format off */
	static const struct {
		const char *what;
		struct dec_fact facts[3];
		uint32_t fact_count;
		uint32_t object;
		uint64_t descriptor;
		const char *hex; /* of the first 40 bytes, the rest is 0 */
	} cases[] = {
		{ "nothing stated", { { 0 } }, 0, 3, 0x100,
		  "02150100" "4000010001000000" "400000000100000001000000"
		  "00000000" "00000000" "0001000003000047" },
		{ "a small work-group",
		  { { DEC_FACT_GROUP_SEGMENT_FIXED_SIZE, { 0x1234 } },
		    { DEC_FACT_PRIVATE_SEGMENT_FIXED_SIZE, { UINT64_MAX } },
		    { DEC_FACT_MAX_FLAT_WORKGROUP_SIZE, { 32 } } },
		  3, 0, 0,
		  "02150100" "2000010001000000" "200000000100000001000000"
		  "ffffffff" "34120000" "0000000000000047" },
		{ "a large one", { { DEC_FACT_MAX_FLAT_WORKGROUP_SIZE, { 1024 } } }, 1, 0, 0,
		  "02150100" "4000010001000000" "400000000100000001000000"
		  "00000000" "00000000" "0000000000000047" },
		{ "required",
		  { { DEC_FACT_REQD_WORKGROUP_SIZE, { .triple = { 16, 8, 2 } } } }, 1, 0, 0,
		  "02150300" "1000080002000000" "100000000800000002000000"
		  "00000000" "00000000" "0000000000000047" },
		{ "required, one dimension",
		  { { DEC_FACT_REQD_WORKGROUP_SIZE, { .triple = { 256, 1, 1 } } } }, 1, 0, 0,
		  "02150100" "0001010001000000" "000100000100000001000000"
		  "00000000" "00000000" "0000000000000047" },
		{ "required, but of no size",
		  { { DEC_FACT_REQD_WORKGROUP_SIZE, { .triple = { 256, 0, 1 } } } }, 1, 0, 0,
		  "02150100" "4000010001000000" "400000000100000001000000"
		  "00000000" "00000000" "0000000000000047" },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct dec_kernel kernel = {
			.facts = cases[i].facts,
			.fact_count = cases[i].fact_count,
			.descriptor = { cases[i].descriptor, 64 },
		};
		unsigned char packet[GFS_DISPATCH_SIZE];
		char hex[2 * GFS_DISPATCH_SIZE + 1];

		gfs_dispatch_template(cases[i].object, &kernel, packet);
		for (size_t b = 0; b < sizeof(packet); b++)
			sprintf(hex + 2 * b, "%02x", packet[b]);
		if (strncmp(hex, cases[i].hex, 80) != 0 || strspn(hex + 80, "0") != 48)
			fail_msg("%s: %s", cases[i].what, hex);
	}
}

/* ---- one object ------------------------------------------------------------------------------ */

static const struct fake_object objects[] = {
	{ "sm_90", "target sm_90\nkernel a\n" },
	{ "sm_90", NULL },
	{ "gfx90a", "kernel b\nkernel b\n" },
};

static void *ask(void *arg)
{
	struct fake *f = arg;
	const struct gfs_examined *x;
	struct gfs_blob *blob;

	if (gfs_examined_get(&f->fs, 2, false, NULL, &blob, &x) != 0)
		return arg;
	if (x->inspection->kernel_count != 2 || strcmp(x->names.names[1], "b~2") != 0)
		return arg;
	gfs_blob_put(blob);
	return NULL;
}

static void examines_once(void **state)
{
	struct fake *f = fake_open(objects, COUNT(objects), MIB);
	pthread_t threads[4];

	(void)state;
	for (size_t i = 0; i < COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask, f), 0);
	for (size_t i = 0; i < COUNT(threads); i++) {
		void *failed;

		assert_int_equal(pthread_join(threads[i], &failed), 0);
		assert_null(failed);
	}
	assert_int_equal(atomic_load(&fake_exams), 1);
	fake_close(f);
}

static void examines_again_what_was_dropped(void **state)
{
	struct fake *f = fake_open(objects, COUNT(objects), 0);

	(void)state;
	assert_null(ask(f));
	assert_true(gfs_cache_stats(f->fs.cache).memory > 4096);
	free(slurp(&f->fs, "objects/00000/inspect/inspection.json"));
	assert_null(ask(f));
	assert_int_equal(atomic_load(&fake_exams), 3);
	fake_close(f);
}

static void knows_the_digest(void **state)
{
	static const struct {
		const char *what;
		uint32_t object;
		bool before; /* examined without the digest before */
	} cases[] = { { "at once", 0, false }, { "later", 2, true }, { "none", 1, false } };
	struct fake *f = fake_open(objects, COUNT(objects), MIB);

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *payload = objects[cases[i].object].payload;
		unsigned char digest[SHA256_DIGEST_LENGTH];
		const struct gfs_examined *x;
		struct gfs_blob *blob;
		char path[64];
		char hex[70];

		if (cases[i].before) {
			assert_int_equal(
				gfs_examined_get(&f->fs, cases[i].object, false, NULL, &blob, &x),
				0);
			assert_string_equal(x->sha256, "");
			gfs_blob_put(blob);
		}
		strcpy(hex, "null,");
		if (payload) {
			SHA256((const unsigned char *)payload, strlen(payload), digest);
			for (size_t b = 0; b < sizeof(digest); b++)
				sprintf(hex + 2 * b, "%02x", digest[b]);
		}
		sprintf(path, "objects/%05u/inspect/inspection.json", cases[i].object);
		expect_part(&f->fs, path, hex);
	}
	fake_close(f);
}

static void says_what_is_too_large(void **state)
{
	struct fake *f = fake_open(objects, COUNT(objects), MIB);
	struct gfs_payload payload = { 0 };

	(void)state;
	f->fs.options.limits.max_payload = 4;
	assert_int_equal(gfs_payload_load(&f->fs, 0, &payload), 0);
	assert_false(payload.there);
	assert_int_equal(payload.why.status, DEC_E_DATA);
	assert_int_equal(payload.why.code, DEC_PROBLEM_LIMIT);
	assert_int_equal(payload.why.offset, 1);
	assert_int_equal(gfs_payload_load(&f->fs, 1, &payload), 0);
	assert_int_equal(payload.why.status, DEC_OK);
	gfs_payload_fini(&payload);
	fake_close(f);
}

/* A file that changed is not a payload that is broken, and nothing is decoded of it. */
static void goes_stale(void **state)
{
	struct fake *f = fake_open(objects, COUNT(objects), MIB);
	struct gfs_payload payload = { 0 };
	const struct gfs_examined *x;
	struct gfs_blob *blob;

	(void)state;
	assert_int_equal(truncate(f->path, 3), 0);
	assert_int_equal(gfs_payload_load(&f->fs, 0, &payload), -ESTALE);
	assert_null(payload.room);
	assert_int_equal(gfs_examined_get(&f->fs, 0, false, NULL, &blob, &x), -ESTALE);
	assert_null(x);
	fake_close(f);
}

/* ---- many ------------------------------------------------------------------------------------- */

#define MANY 500

struct taken {
	atomic_int times[MANY];
	int error_at; /* the object for which to fail, -1: none */
};

static int count_take(void *ctx, uint32_t object, struct gfs_payload *payload,
		      const struct dec_inspection *inspection)
{
	struct taken *t = ctx;

	if (!payload->there || inspection->kernel_count != object % 3)
		return -EBADMSG;
	atomic_fetch_add(&t->times[object], 1);
	return (int)object == t->error_at ? -EXDEV : 0;
}

static struct fake *open_many(void)
{
	static const char *const payloads[] = { "state complete\n", "kernel a\n",
						"kernel a\nkernel b\n" };
	struct fake_object *many = calloc(MANY, sizeof(*many));
	struct fake *f;

	assert_non_null(many);
	for (size_t i = 0; i < MANY; i++)
		many[i] = (struct fake_object){ i < 250 ? "sm_90" : "gfx90a", payloads[i % 3] };
	f = fake_open(many, MANY, MIB);
	free(many);
	return f;
}

static void takes_each_once(void **state)
{
	struct fake *f = open_many();
	const struct dec_target *t = &f->targets[0];
	struct taken all = { .error_at = -1 };
	struct taken some = { .error_at = -1 };

	(void)state;
	assert_int_equal(gfs_examine_all(&f->fs, NULL, MANY, count_take, &all), 0);
	assert_int_equal(gfs_examine_all(&f->fs, t->objects, t->object_count, count_take, &some),
			 0);
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(all.times[i], 1);
		assert_int_equal(some.times[i], i >= 250);
	}
	assert_int_equal(gfs_examine_all(&f->fs, NULL, 0, count_take, &all), 0);
	/* Nothing is kept. */
	assert_int_equal(gfs_cache_stats(f->fs.cache).memory, 0);
	fake_close(f);
}

static void ends_at_an_error(void **state)
{
	struct fake *f = open_many();
	struct taken taken = { .error_at = 100 };

	(void)state;
	assert_int_equal(gfs_examine_all(&f->fs, NULL, MANY, count_take, &taken), -EXDEV);
	assert_int_equal(taken.times[MANY - 1], 0);
	fake_close(f);
}

static void add_bytes(void *ctx, uint64_t bytes)
{
	*(uint64_t *)ctx += bytes;
}

static void tells_how_far_it_is(void **state)
{
	struct fake *f = open_many();
	struct taken taken = { .error_at = -1 };
	uint64_t wanted = 0;
	uint64_t told = 0;

	(void)state;
	for (int i = 0; i < MANY; i++)
		wanted += f->fs.artifact->objects[i].payload_size;
	gfs_progress_set(add_bytes, &told);
	assert_int_equal(gfs_examine_all(&f->fs, NULL, MANY, count_take, &taken), 0);
	assert_int_equal(told, wanted);
	gfs_progress_set(NULL, NULL);
	assert_int_equal(gfs_examine_all(&f->fs, NULL, MANY, count_take, &taken), 0);
	assert_int_equal(told, wanted);
	fake_close(f);
}

static bool stop_after(void *ctx)
{
	int *left = ctx;

	return (*left)-- <= 0;
}

static void stops_when_asked(void **state)
{
	static const char *const paths[] = { "inspect/report.json",
					     "targets/sm_90/inspect/report.json",
					     "targets/gfx90a/inspect/kernels.jsonl" };
	struct fake *f = open_many();

	(void)state;
	for (size_t i = 0; i < COUNT(paths); i++) {
		struct gfs_node node;
		struct stat st;
		int left = 0; /* a helper may do all of it before the second question */

		gfs_stop_set(stop_after, &left);
		assert_int_equal(gfs_walk(&f->fs, paths[i], &node), 0);
		if (gfs_getattr(&f->fs, node, &st) != -EINTR)
			fail_msg("%s: not stopped", paths[i]);
		gfs_stop_set(NULL, NULL);
		free(slurp(&f->fs, paths[i]));
	}
	fake_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_files),
		cmocka_unit_test(finds_no_other_names),
		cmocka_unit_test(demangles),
		cmocka_unit_test(refuses_names_that_explode),
		cmocka_unit_test(makes_packets),
		cmocka_unit_test(examines_once),
		cmocka_unit_test(examines_again_what_was_dropped),
		cmocka_unit_test(knows_the_digest),
		cmocka_unit_test(says_what_is_too_large),
		cmocka_unit_test(goes_stale),
		cmocka_unit_test(takes_each_once),
		cmocka_unit_test(ends_at_an_error),
		cmocka_unit_test(tells_how_far_it_is),
		cmocka_unit_test(stops_when_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
