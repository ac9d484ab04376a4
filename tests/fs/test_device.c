#include "fake_exam.h"

#include <errno.h>

#include "device.h"
#include "groups.h"
#include "node.h"

#define MIB ((uint64_t)1 << 20)

/*
 * Three regions and a bundle. On sm_86 the first gives sm_80, the second nothing, the third
 * sm_86 in place of the sm_80 beside it; on sm_90 the first two give sm_90.
 */
static const struct fake_object objects[] = {
	{ "sm_80", "begins\nkernel a\nkernel b\n" },
	{ "sm_90", "kernel a\nkernel c\n" },
	{ "sm_90", "begins\nkernel d\nkernel a\n" },
	{ "sm_80", "begins\nkernel old\nkernel e\n" },
	{ "sm_86", "kernel e\nkernel e\n" },
	{ "gfx90a:xnack-", "begins\nkernel a\nstate partial\nproblem note\n" },
};

enum { NVIDIA_OBJECTS = 5 };

/* clang-format off */
#define SM_80 "\t\t\t\"target\":\t\"sm_80\",\n\t\t\t\"verdict\":\t\"yes\",\n" \
	"\t\t\t\"how\":\t\"same_major\",\n\t\t\t\"reason\":\t\"sm_lower_minor\",\n" \
	"\t\t\t\"objects\":\t2\n"
#define SM_86 "\t\t\t\"target\":\t\"sm_86\",\n\t\t\t\"verdict\":\t\"yes\",\n" \
	"\t\t\t\"how\":\t\"exact\",\n\t\t\t\"reason\":\t\"sm_exact\",\n" \
	"\t\t\t\"objects\":\t1\n"
#define SM_90 "\t\t\t\"target\":\t\"sm_90\",\n\t\t\t\"verdict\":\t\"no\",\n" \
	"\t\t\t\"how\":\tnull,\n\t\t\t\"reason\":\t\"sm_other_major\",\n" \
	"\t\t\t\"objects\":\t2\n"
#define CHOICE(verdict, how, reason, targets) \
	"\t\t\t\"verdict\":\t\"" verdict "\",\n\t\t\t\"how\":\t" how ",\n" \
	"\t\t\t\"reason\":\t\"" reason "\",\n\t\t\t\"one_of\":\tfalse,\n" \
	"\t\t\t\"targets\":\t[" targets "],\n\t\t\t\"containers\":\t1\n"
#define IDS(containers, objects) \
	"\t\t\t\t\"containers\":\t[" containers "],\n\t\t\t\t\"objects\":\t[" objects "]\n"
#define LOADS(how, objects) \
	"\t\t\t\t\"verdict\":\t\"yes\",\n\t\t\t\t\"how\":\t\"" how "\",\n" \
	"\t\t\t\t\"objects\":\t[" objects "]\n"

/* From "containers" to "reasons", and from "ids" on. */
static const char sm_86_rows[] =
	"\t\"containers\":\t{\n\t\t\"native\":\t2,\n\t\t\"jit\":\t0,\n\t\t\"none\":\t1,\n"
	"\t\t\"maybe\":\t0,\n\t\t\"other\":\t1\n\t},\n"
	"\t\"targets\":\t[{\n" SM_80 "\t\t}, {\n" SM_86 "\t\t}, {\n" SM_90 "\t\t}],\n"
	"\t\"choices\":\t[{\n"
	CHOICE("yes", "\"same_major\"", "sm_lower_minor", "\"sm_80\"") "\t\t}, {\n"
	CHOICE("no", "null", "sm_other_major", "") "\t\t}, {\n"
	CHOICE("yes", "\"exact\"", "sm_exact", "\"sm_86\"") "\t\t}],\n"
	"\t\"reasons\":\t{\n";
static const char sm_86_ids[] =
	"\t\"ids\":\t{\n\t\t\"loads\":\t[{\n"
	LOADS("exact", "\"00004\"") "\t\t\t}, {\n"
	LOADS("same_major", "\"00000\", \"00003\"") "\t\t\t}],\n"
	"\t\t\"choices\":\t[{\n"
	IDS("\"00000\"", "\"00000\"") "\t\t\t}, {\n"
	IDS("\"00001\"", "") "\t\t\t}, {\n"
	IDS("\"00002\"", "\"00004\"") "\t\t\t}]\n\t}\n}\n";

#define ROW(t, targets, count, names) \
	t "\"targets\":\t[" targets "],\n" t "\"kernels\":\t" count ",\n" \
	t "\"names\":\t[" names "]\n"
#define LOADED(how, targets, count, names) \
	"\t\t\t\"verdict\":\t\"yes\",\n\t\t\t\"how\":\t\"" how "\",\n" \
	ROW("\t\t\t", targets, count, names)

static const char sm_86_report[] =
	"\t\"objects\":\t5,\n"
	"\t\"kernels\":\t{\n\t\t\"yes\":\t3,\n\t\t\"jit\":\t0,\n\t\t\"maybe\":\t0,\n"
	"\t\t\"no\":\t3\n\t},\n"
	"\t\"loads\":\t[{\n" LOADED("same_major", "\"sm_80\"", "2", "\"a\", \"b\"")
	"\t\t}, {\n" LOADED("exact", "\"sm_86\"", "1", "\"e\"") "\t\t}],\n"
	"\t\"missing\":\t[{\n" ROW("\t\t\t", "\"sm_90\"", "2", "\"c\", \"d\"")
	"\t\t}, {\n" ROW("\t\t\t", "\"sm_80\"", "1", "\"old\"") "\t\t}],\n"
	"\t\"kernel_analysis\":\t\"complete\",\n"
	"\t\"coverage\":\t{\n\t\t\"state\":\t\"complete\",\n\t\t\"reasons\":\t[]\n\t},\n"
	"\t\"ids\":\t{\n\t\t\"a\":\t[\"00000\"],\n\t\t\"b\":\t[\"00000\"],\n"
	"\t\t\"e\":\t[\"00004\"]\n\t}\n}\n";
/* clang-format on */

static void shows_what_a_device_would_take(void **state)
{
	struct fake *f = fake_open(objects, COUNT(objects), MIB);

	(void)state;
	expect_part(&f->fs, "devices/sm_86/device.json", "{\n\t\"device\":\t\"sm_86\",\n");
	expect_part(&f->fs, "devices/sm_86/device.json", "\t\"verdict\":\t\"partial\",\n");
	expect_part(&f->fs, "devices/sm_86/device.json", sm_86_rows);
	expect_part(&f->fs, "devices/sm_86/device.json", sm_86_ids);
	expect_part(&f->fs, "devices/sm_90/device.json", "\t\"verdict\":\t\"partial\",\n");
	expect_part(&f->fs, "devices/sm_75/device.json", "\t\"verdict\":\t\"none\",\n");
	expect_part(&f->fs, "devices/gfx90a:xnack-/device.json",
		    "\t\"compute_capability\":\tnull,\n");
	fake_close(f);
}

static void examines_nothing_for_a_device(void **state)
{
	struct fake *f = fake_open(objects, COUNT(objects), MIB);
	const struct dec_device *device;
	struct gfs_node node;

	(void)state;
	for (uint32_t i = 0; (device = dec_device_at(i)); i++) {
		char path[128];

		snprintf(path, sizeof(path), "devices/%s/device.json", device->name);
		free(slurp(&f->fs, path));
	}
	assert_int_equal(atomic_load(&fake_exams), 0);
	/* Even so a listing with attributes leaves it out. */
	assert_int_equal(gfs_walk(&f->fs, "devices/sm_86/device.json", &node), 0);
	assert_true(gfs_attr_is_costly(node));
	fake_close(f);
}

static void reports_kernels(void **state)
{
	struct fake *f = fake_open(objects, COUNT(objects), MIB);

	(void)state;
	expect_part(&f->fs, "devices/sm_86/inspect/report.json", sm_86_report);
	assert_int_equal(atomic_load(&fake_exams), NVIDIA_OBJECTS);
	expect_part(&f->fs, "devices/sm_90/inspect/report.json", "\t\t\"yes\":\t3,\n");
	expect_part(&f->fs, "devices/sm_75/inspect/report.json", "\t\t\"no\":\t6\n");
	/* Which cubins 8.8 takes is not public: it may be a, b of sm_80 and e of sm_86. */
	expect_part(&f->fs, "devices/sm_88/inspect/report.json", "\t\t\"maybe\":\t3,\n");
	assert_int_equal(atomic_load(&fake_exams), NVIDIA_OBJECTS);
	expect_part(&f->fs, "devices/gfx90a:xnack-/inspect/report.json",
		    "\"reasons\":\t[\"malformed_note\"]\n");
	assert_int_equal(atomic_load(&fake_exams), COUNT(objects));
	fake_close(f);
}

/* The entry says sm_80: the payload decides too, and so does whether it is one. */
static void judges_what_payloads_are(void **state)
{
	static const struct fake_object odd[] = {
		{ "sm_80", "kernel fits\ntarget sm_80\nconsistency match\n" },
		{ "sm_80", "begins\nkernel other\ntarget sm_86\nconsistency conflict\n" },
		{ "sm_80", "begins\nkernel broken\nstate malformed\n" },
	};
	struct fake *f = fake_open(odd, COUNT(odd), MIB);

	(void)state;
	expect_part(&f->fs, "devices/sm_80/inspect/report.json",
		    "\"missing\":\t[{\n" ROW("\t\t\t", "\"sm_80\"", "1", "\"other\""));
	expect_part(&f->fs, "devices/sm_80/inspect/report.json", "\t\t\"maybe\":\t1,\n");
	expect_part(&f->fs, "devices/sm_80/inspect/report.json",
		    LOADED("exact", "\"sm_80\"", "1", "\"fits\""));
	expect_part(&f->fs, "devices/sm_86/inspect/report.json",
		    LOADED("same_major", "\"sm_80\"", "2", "\"fits\", \"other\""));
	fake_close(f);
}

static bool stop_at_once(void *ctx)
{
	(void)ctx;
	return true;
}

static void ends_when_asked(void **state)
{
	struct fake *f = fake_open(objects, COUNT(objects), MIB);
	struct gfs_node node;
	struct stat st;

	(void)state;
	assert_int_equal(gfs_walk(&f->fs, "devices/sm_86/inspect/report.json", &node), 0);
	gfs_stop_set(stop_at_once, NULL);
	assert_int_equal(gfs_getattr(&f->fs, node, &st), -EINTR);
	gfs_stop_set(NULL, NULL);
	assert_int_equal(gfs_getattr(&f->fs, node, &st), 0);
	fake_close(f);
}

static void is_the_same_every_time(void **state)
{
	(void)state;
	fake_same_every_time(objects, COUNT(objects), "devices/sm_86/inspect/report.json");
}

/* Names of any bytes, and one that is the beginning of another. */
static void keeps_names_apart(void **state)
{
	static const struct fake_object odd[] = {
		{ "sm_86", "kernel ab\nkernel a\nkernel \xff\nkernel a/b\nkernel\n" },
	};
	struct fake *f = fake_open(odd, COUNT(odd), MIB);

	(void)state;
	expect_part(&f->fs, "devices/sm_86/inspect/report.json",
		    "\"names\":\t[\"\", \"a\", \"a/b\", \"ab\", \"%FF\"]\n");
	expect_part(&f->fs, "devices/sm_86/inspect/report.json", "\t\t\"%FF\":\t[\"00000\"]\n");
	fake_close(f);
}

static int take_name(void *ctx, const char *name, struct gfs_node child, uint64_t next)
{
	uint32_t *vendors = ctx;
	const struct dec_device *device = dec_device_named(name);

	(void)child;
	(void)next;
	assert_non_null(device);
	*vendors |= UINT32_C(1) << device->vendor;
	return 0;
}

static void lists_devices_of_the_vendors_present(void **state)
{
	static const struct {
		const char *what;
		struct fake_object object;
		uint32_t vendors;
	} cases[] = {
		{ "NVIDIA", { "sm_86", "" }, 1u << DEC_VENDOR_NVIDIA },
		{ "AMD", { "gfx1100", "" }, 1u << DEC_VENDOR_AMD },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct fake *f = fake_open(&cases[i].object, 1, MIB);
		uint32_t vendors = 0;
		struct gfs_node node;

		assert_int_equal(gfs_walk(&f->fs, "devices", &node), 0);
		assert_int_equal(gfs_readdir(&f->fs, node, 0, take_name, &vendors), 0);
		if (vendors != cases[i].vendors)
			fail_msg("%s: %#x", cases[i].what, vendors);
		assert_int_equal(gfs_walk(&f->fs, "devices/sm_86", &node),
				 cases[i].vendors >> DEC_VENDOR_NVIDIA & 1 ? 0 : -ENOENT);
		assert_int_equal(gfs_walk(&f->fs, "devices/sm_8", &node), -ENOENT);
		fake_close(f);
	}
}

static void groups(void **state)
{
	struct gfs_grouped items[] = {
		{ { 7, 0 }, 0 }, { { 3, 1 }, 1 }, { { 7, 0 }, 2 }, { { 3, 0 }, 3 }, { { 3, 1 }, 4 },
	};
	struct gfs_group *groups;
	uint32_t count;

	(void)state;
	assert_int_equal(gfs_groups_make(items, COUNT(items), &groups, &count), 0);
	assert_int_equal(count, 3);
	assert_int_equal(groups[0].count, 2);
	assert_int_equal(items[groups[0].first].index, 0);
	assert_int_equal(items[groups[0].first + 1].index, 2);
	assert_int_equal(items[groups[1].first + 1].index, 4);
	assert_int_equal(groups[2].count, 1);
	assert_int_equal(items[groups[2].first].index, 3);
	free(groups);
	assert_int_equal(gfs_groups_make(NULL, 0, &groups, &count), 0);
	assert_int_equal(count, 0);
	free(groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_what_a_device_would_take),
		cmocka_unit_test(examines_nothing_for_a_device),
		cmocka_unit_test(reports_kernels),
		cmocka_unit_test(judges_what_payloads_are),
		cmocka_unit_test(ends_when_asked),
		cmocka_unit_test(is_the_same_every_time),
		cmocka_unit_test(keeps_names_apart),
		cmocka_unit_test(lists_devices_of_the_vendors_present),
		cmocka_unit_test(groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
