#include "fake_exam.h"

#include "report.h"
#include "report_tally.h"

#define MIB ((uint64_t)1 << 20)

/* ---- distributions --------------------------------------------------------------------- */

static void spreads(void **state)
{
	static const struct {
		const char *what;
		uint64_t values[8];
		size_t count;
		struct gfs_spread spread;
	} cases[] = {
		{ "one", { 7 }, 1, { 7, 7, 7 } },
		{ "two: the lower middle", { 9, 3 }, 2, { 3, 3, 9 } },
		{ "three", { 9, 3, 5 }, 3, { 3, 5, 9 } },
		{ "four", { 4, 3, 2, 1 }, 4, { 1, 2, 4 } },
		{ "equal ones", { 0, 0, 0, 8 }, 4, { 0, 0, 8 } },
		{ "the large", { UINT64_MAX, 1, UINT64_MAX }, 3, { 1, UINT64_MAX, UINT64_MAX } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gfs_counter counter = { 0 };
		struct gfs_spread spread;

		assert_false(gfs_counter_spread(&counter, &spread));
		for (size_t k = 0; k < cases[i].count; k++)
			assert_true(gfs_counter_add(&counter,
						    (struct gfs_key){ cases[i].values[k], 0 }));
		assert_true(gfs_counter_spread(&counter, &spread));
		if (memcmp(&spread, &cases[i].spread, sizeof(spread)) != 0)
			fail_msg("%s: %ju %ju %ju", cases[i].what, (uintmax_t)spread.min,
				 (uintmax_t)spread.median, (uintmax_t)spread.max);
		gfs_counter_fini(&counter);
	}
}

static void counts_what_is_distinct(void **state)
{
	struct gfs_counter counter = { 0 };
	struct gfs_spread spread;

	(void)state;
	for (uint64_t i = 0; i < 30000; i++) {
		assert_true(gfs_counter_add(&counter, (struct gfs_key){ i % 10000, 0 }));
		assert_true(gfs_counter_add(&counter, (struct gfs_key){ i % 10000, 1 }));
	}
	assert_int_equal(counter.used, 20000);
	assert_true(gfs_counter_spread(&counter, &spread));
	assert_int_equal(spread.median, 4999);
	gfs_counter_fini(&counter);
}

/* ---- reports ------------------------------------------------------------------------------ */

static const struct fake_object objects[] = {
	{ "sm_90",
	  "target sm_90\nconsistency base_only\nkernel a registers 10\nkernel b registers 30\n" },
	/* Other bytes than the one before, as many of them. */
	{ "gfx90a",
	  "target gfx90a\nconsistency match\nkernel a vgpr_count 0000000000005 sgpr_count 0\n" },
	{ "sm_90",
	  "target sm_90\nconsistency base_only\nkernel a registers 10\nkernel b registers 30\n" },
	{ "sm_80", "target sm_90\nconsistency conflict\nstate partial\nproblem note\nkernel c\n" },
	{ "sm_80", NULL },
};

#define CONSISTENCY(t, single, match, base, conflict, unknown)                                     \
	t "\"consistency\":\t{\n" t "\t\"unexamined\":\t0,\n" t "\t\"single_source\":\t" single    \
	  ",\n" t "\t\"match\":\t" match ",\n" t "\t\"base_only\":\t" base ",\n" t                 \
	  "\t\"conflict\":\t" conflict ",\n" t "\t\"unknown\":\t" unknown "\n" t "},\n"
#define INSPECTION(t, complete, partial, unsupported)                                              \
	t "\"inspection\":\t{\n" t "\t\"unexamined\":\t0,\n" t "\t\"complete\":\t" complete        \
	  ",\n" t "\t\"partial\":\t" partial ",\n" t "\t\"unsupported\":\t" unsupported ",\n" t    \
	  "\t\"malformed\":\t0\n" t "},\n"
#define SPREAD(t, key, min, median, max)                                                           \
	t "\t\"" key "\":\t{\n" t "\t\t\"min\":\t" min ",\n" t "\t\t\"median\":\t" median ",\n" t  \
	  "\t\t\"max\":\t" max "\n" t "\t}"
#define COVERAGE(t, state, reasons)                                                                \
	t "\"kernel_analysis\":\t\"" state "\",\n" t "\"coverage\":\t{\n" t                        \
	  "\t\"state\":\t\"" state "\",\n" t "\t\"reasons\":\t[" reasons "]\n" t "}"
#define COUNTS(t, objects, kernels, names, payloads)                                               \
	t "\"objects\":\t" objects ",\n" t "\"kernels\":\t" kernels ",\n" t                        \
	  "\"kernel_names\":\t" names ",\n" t "\"distinct_payloads\":\t" payloads ",\n"
#define TARGET(t, name, vendor, kind)                                                              \
	t "\"target\":\t\"" name "\",\n" t "\"vendor\":\t\"" vendor "\",\n" t "\"kind\":\t\"" kind \
	  "\",\n" t "\"family\":\tnull,\n"

#define GFX90A(t)                                                                                  \
	TARGET(t, "gfx90a", "amd", "gfx")                                                          \
	COUNTS(t, "1", "1", "1", "1")                                                              \
	CONSISTENCY(t, "0", "1", "0", "0", "0")                                                    \
	INSPECTION(t, "1", "0", "0")                                                               \
	t "\"resources\":\t{\n" SPREAD(t, "vgpr_count", "5", "5", "5") ",\n" SPREAD(               \
		t, "sgpr_count", "0", "0", "0") "\n" t "},\n" COVERAGE(t, "complete", "")
#define SM_80(t)                                                                                   \
	TARGET(t, "sm_80", "nvidia", "sm")                                                         \
	COUNTS(t, "2", "1", "1", "1")                                                              \
	CONSISTENCY(t, "0", "0", "0", "1", "1")                                                    \
	INSPECTION(t, "0", "1", "1")                                                               \
	t "\"resources\":\t{\n" t                                                                  \
	  "},\n" COVERAGE(t, "partial", "\"malformed_note\", \"unsupported_representation\"")
#define SM_90(t)                                                                                   \
	TARGET(t, "sm_90", "nvidia", "sm")                                                         \
	COUNTS(t, "2", "4", "2", "1")                                                              \
	CONSISTENCY(t, "0", "0", "2", "0", "0")                                                    \
	INSPECTION(t, "2", "0", "0")                                                               \
	t "\"resources\":\t{\n" SPREAD(t, "registers", "10", "10",                                 \
				       "30") "\n" t "},\n" COVERAGE(t, "complete", "")

static const struct {
	const char *path;
	const char *text;
} reports[] = {
	{ "targets/gfx90a/inspect/report.json", "{\n" GFX90A("\t") "\n}\n" },
	{ "targets/sm_80/inspect/report.json", "{\n" SM_80("\t") "\n}\n" },
	{ "targets/sm_90/inspect/report.json", "{\n" SM_90("\t") "\n}\n" },
	{ "inspect/report.json",
	  "{\n" COUNTS("\t", "5", "6", "3", "3") CONSISTENCY("\t", "0", "1", "2", "1", "1")
		  INSPECTION("\t", "3", "1", "1") "\t\"resources\":\t{\n" SPREAD("\t", "registers", "10", "10", "30") ",\n" SPREAD(
			  "\t", "vgpr_count", "5", "5",
			  "5") ",\n" SPREAD("\t", "sgpr_count", "0", "0",
					    "0") "\n\t},\n" COVERAGE("\t", "partial",
								     "\"malformed_note\", "
								     "\"unsupported_"
								     "representation\"") ",\n"
											 "\t\"tar"
											 "gets\":"
											 "\t[{"
											 "\n" GFX90A("\t\t\t") "\n\t\t}, {\n" SM_80("\t\t\t") "\n\t\t}, {\n" SM_90(
												 "\t\t\t") "\n\t\t}],\n"
													   "\t\"conflicts\":\t[{\n\t\t\t\"object\":\t\"00003\",\n\t\t\t\"target\":\t\"sm_80\",\n"
													   "\t\t\t\"payload_target\":\t\"sm_90\"\n\t\t}]\n}\n" },
};

static void adds_up_alone(void **state)
{
	struct fake *f = fake_open(objects, COUNT(objects), MIB);
	struct gfs_tally total;

	(void)state;
	assert_int_equal(gfs_report_total(&f->fs, &total), 0);
	assert_int_equal(total.objects, 5);
	assert_int_equal(total.kernels, 6);
	assert_int_equal(total.names.used, 3);
	assert_true(total.coverage.partial);
	gfs_tally_fini(&total);
	fake_close(f);
}

static void reports_what_it_examined(void **state)
{
	struct fake *f = fake_open(objects, COUNT(objects), MIB);

	(void)state;
	for (size_t i = 0; i < COUNT(reports); i++)
		expect_text(&f->fs, reports[i].path, reports[i].text);
	fake_close(f);
}

static void reports_nothing(void **state)
{
	struct fake *f = fake_open(NULL, 0, MIB);

	(void)state;
	expect_part(&f->fs, "inspect/report.json", "\"state\":\t\"complete\"");
	expect_part(&f->fs, "inspect/report.json", "\"conflicts\":\t[]");
	fake_close(f);
}

static void is_the_same_every_time(void **state)
{
	(void)state;
	fake_same_every_time(objects, COUNT(objects) - 1, "inspect/report.json");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spreads),	   cmocka_unit_test(counts_what_is_distinct),
		cmocka_unit_test(adds_up_alone),   cmocka_unit_test(reports_what_it_examined),
		cmocka_unit_test(reports_nothing), cmocka_unit_test(is_the_same_every_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
