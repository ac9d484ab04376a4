#include "fake_exam.h"

#include <errno.h>
#include <unistd.h>

#include "device.h"
#include "node.h"

#define MIB ((uint64_t)1 << 20)

#define LONG25 "long_long_long_long_long_"
#define LONG LONG25 LONG25 LONG25 LONG25 LONG25 LONG25 LONG25 LONG25 LONG25

/* The first byte of the file is no payload's. */
static const struct fake_object objects[] = {
	{ "gfx90a", "target gfx90a\n"
		    "kernel _Z1fi vgpr_count 8 reqd_workgroup_size 16,4,1 uses_dynamic_stack 1 "
		    "arg x:4 code 7+6 descriptor 2 note symbol\n"
		    "kernel a/b\n" },
	{ "sm_90", "consistency conflict\nstate partial\nproblem note\n"
		   "kernel _Z1fi registers 8 binding weak compute_pgm_rsrc1 16 code 0+4\n"
		   "kernel _Z1fi registers 9\n" },
	{ "sm_90", "kernel _Z1fi registers 8 binding weak compute_pgm_rsrc1 16 code 4+4\n"
		   "kernel " LONG "\nkernel \n" },
	{ "sm_90", NULL },
};

/* clang-format off */
static const struct {
	const char *path;
	const char *text;
} contents[] = {
	{ "objects/00000/inspect/kernels/_Z1fi/kernel.json",
	  "{\n\t\"name\":\t\"_Z1fi\",\n\t\"demangled\":\t\"f(int)\",\n\t\"vendor\":\t\"amd\",\n"
	  "\t\"target\":\t\"gfx90a\",\n\t\"symbol\":\tnull,\n"
	  "\t\"kernel_object\":\t\"0x4700000000000002\",\n\t\"vgpr_count\":\t8,\n"
	  "\t\"reqd_workgroup_size\":\t[16, 4, 1],\n\t\"uses_dynamic_stack\":\ttrue,\n"
	  "\t\"args\":\t[{\n\t\t\t\"name\":\t\"x\",\n\t\t\t\"kind\":\t\"by_value\",\n"
	  "\t\t\t\"size\":\t4\n\t\t}],\n"
	  "\t\"problems\":\t[{\n\t\t\t\"code\":\t\"limit\",\n\t\t\t\"offset\":\t100,\n"
	  "\t\t\t\"field\":\t\"symbol\",\n\t\t\t\"message\":\t\"It is wrong.\"\n\t\t}]\n}\n" },
	{ "objects/00000/inspect/kernels/a%2Fb/kernel.json",
	  "{\n\t\"name\":\t\"a/b\",\n\t\"demangled\":\tnull,\n\t\"vendor\":\t\"amd\",\n"
	  "\t\"target\":\t\"gfx90a\",\n\t\"symbol\":\tnull,\n\t\"kernel_object\":\tnull,\n"
	  "\t\"args\":\t[],\n\t\"problems\":\t[]\n}\n" },
	{ "objects/00001/inspect/kernels/_Z1fi/kernel.json",
	  "{\n\t\"name\":\t\"_Z1fi\",\n\t\"demangled\":\t\"f(int)\",\n\t\"vendor\":\t\"nvidia\",\n"
	  "\t\"target\":\t\"sm_90\",\n\t\"symbol\":\tnull,\n\t\"registers\":\t8,\n"
	  "\t\"binding\":\t\"weak\",\n\t\"compute_pgm_rsrc1\":\t\"0x10\",\n"
	  "\t\"args\":\t[],\n\t\"problems\":\t[]\n}\n" },
	{ "objects/00000/inspect/kernels/_Z1fi/code", "gfx90a" },
	{ "objects/00001/inspect/kernels/_Z1fi/code", "cons" },
	{ "objects/00000/inspect/metadata.json",
	  "{\n\t\"nil\":\tnull,\n\t\"b%FF\":\ttrue,\n\t\"u\":\t\"0xffffffffffffffff\",\n"
	  "\t\"i\":\t-3,\n\t\"f\":\t0.5,\n\t\"t\":\t\"x\",\n\t\"h\":\t\"0x10\",\n"
	  "\t\"y\":\t\"01ab\",\n\t\"a\":\t[-3]\n}\n" },
	{ "objects/00003/inspect/metadata.json", "null\n" },
	{ "objects/00003/inspect/inspection.json",
	  "{\n\t\"vendor\":\t\"nvidia\",\n\t\"target\":\t\"sm_90\",\n"
	  "\t\"target_kind\":\t\"fatbin_entry\",\n\t\"target_raw\":\t\"sm_90\",\n"
	  "\t\"payload_target\":\tnull,\n\t\"payload_target_kind\":\tnull,\n"
	  "\t\"payload_target_raw\":\tnull,\n\t\"target_consistency\":\t\"unknown\",\n"
	  "\t\"inspection\":\t\"unsupported\",\n\t\"reasons\":\t[],\n"
	  "\t\"representation\":\t\"unknown\",\n\t\"payload_size\":\t0,\n"
	  "\t\"payload_sha256\":\tnull,\n\t\"kernel_count\":\t0,\n\t\"problems\":\t[]\n}\n" },
	{ "targets/gfx90a/inspect/kernels/_Z1fi.json",
	  "[{\n\t\t\"name\":\t\"_Z1fi\",\n\t\t\"demangled\":\t\"f(int)\",\n"
	  "\t\t\"vendor\":\t\"amd\",\n\t\t\"target\":\t\"gfx90a\",\n\t\t\"symbol\":\tnull,\n"
	  "\t\t\"vgpr_count\":\t8,\n\t\t\"reqd_workgroup_size\":\t[16, 4, 1],\n"
	  "\t\t\"uses_dynamic_stack\":\ttrue,\n"
	  "\t\t\"args\":\t[{\n\t\t\t\t\"name\":\t\"x\",\n\t\t\t\t\"kind\":\t\"by_value\",\n"
	  "\t\t\t\t\"size\":\t4\n\t\t\t}],\n"
	  "\t\t\"problems\":\t[{\n\t\t\t\t\"code\":\t\"limit\",\n"
	  "\t\t\t\t\"field\":\t\"symbol\"\n\t\t\t}]\n\t}]\n" },
	{ "targets/sm_90/inspect/kernels/_Z1fi.json",
	  "[{\n\t\t\"name\":\t\"_Z1fi\",\n\t\t\"demangled\":\t\"f(int)\",\n"
	  "\t\t\"vendor\":\t\"nvidia\",\n\t\t\"target\":\t\"sm_90\",\n\t\t\"symbol\":\tnull,\n"
	  "\t\t\"registers\":\t8,\n\t\t\"binding\":\t\"weak\",\n"
	  "\t\t\"compute_pgm_rsrc1\":\t\"0x10\",\n\t\t\"args\":\t[],\n\t\t\"problems\":\t[]\n"
	  "\t}, {\n\t\t\"name\":\t\"_Z1fi\",\n\t\t\"demangled\":\t\"f(int)\",\n"
	  "\t\t\"vendor\":\t\"nvidia\",\n\t\t\"target\":\t\"sm_90\",\n\t\t\"symbol\":\tnull,\n"
	  "\t\t\"registers\":\t9,\n\t\t\"args\":\t[],\n\t\t\"problems\":\t[]\n\t}]\n" },
	{ "targets/sm_90/inspect/kernels.jsonl",
	  "{\"name\":\"\",\"demangled\":null,\"vendor\":\"nvidia\",\"target\":\"sm_90\","
	  "\"symbol\":null,\"args\":[],\"problems\":[]}\n"
	  "{\"name\":\"_Z1fi\",\"demangled\":\"f(int)\",\"vendor\":\"nvidia\",\"target\":\"sm_90\","
	  "\"symbol\":null,\"registers\":8,\"binding\":\"weak\",\"compute_pgm_rsrc1\":\"0x10\","
	  "\"args\":[],\"problems\":[]}\n"
	  "{\"name\":\"_Z1fi\",\"demangled\":\"f(int)\",\"vendor\":\"nvidia\",\"target\":\"sm_90\","
	  "\"symbol\":null,\"registers\":9,\"args\":[],\"problems\":[]}\n"
	  "{\"name\":\"" LONG "\",\"demangled\":null,\"vendor\":\"nvidia\",\"target\":\"sm_90\","
	  "\"symbol\":null,\"args\":[],\"problems\":[]}\n" },
};
/* clang-format on */

static void shows_what_was_found(void **state)
{
	struct fake *f = fake_open(objects, COUNT(objects), MIB);

	(void)state;
	for (size_t i = 0; i < COUNT(contents); i++)
		expect_text(&f->fs, contents[i].path, contents[i].text);
	fake_close(f);
}

/* Without a cache everything is made anew, and the same. */
static void shows_the_same_without_a_cache(void **state)
{
	struct fake *f = fake_open(objects, COUNT(objects), 0);

	(void)state;
	for (size_t i = COUNT(contents); i-- > 0;)
		expect_text(&f->fs, contents[i].path, contents[i].text);
	fake_close(f);
}

static void lists_problems_of_the_payload(void **state)
{
	static const struct {
		const char *path;
		const char *part;
	} cases[] = {
		{ "objects/00000/inspect/inspection.json",
		  "\t\"problems\":\t[{\n\t\t\t\"code\":\t\"limit\",\n\t\t\t\"offset\":\t100,\n"
		  "\t\t\t\"field\":\t\"symbol\",\n\t\t\t\"message\":\t\"It is wrong.\",\n"
		  "\t\t\t\"kernel\":\t\"_Z1fi\"\n\t\t}]\n}\n" },
		{ "objects/00000/inspect/inspection.json",
		  "\"payload_target_kind\":\t\"cubin_flags\"" },
		{ "objects/00000/inspect/inspection.json", "\"reasons\":\t[]" },
		{ "objects/00001/inspect/inspection.json", "\"reasons\":\t[\"malformed_note\"]" },
		{ "objects/00001/inspect/inspection.json", "\"kernel_count\":\t2" },
	};
	struct fake *f = fake_open(objects, COUNT(objects), MIB);

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		expect_part(&f->fs, cases[i].path, cases[i].part);
	fake_close(f);
}

static void finds_paths(void **state)
{
	static const struct {
		const char *path;
		int rc;
	} cases[] = {
		{ "inspect/report.json", 0 },
		{ "objects/00000/inspect/kernels/_Z1fi", 0 },
		{ "objects/00000/inspect/kernels/_Z1fi/descriptor", 0 },
		{ "objects/00000/inspect/kernels/_Z1fi/dispatch.aql", 0 },
		{ "objects/00000/inspect/kernels/a%2Fb/code", -ENOENT },
		{ "objects/00000/inspect/kernels/a%2Fb/descriptor", -ENOENT },
		{ "objects/00000/inspect/kernels/_Z1fi~2", -ENOENT },
		{ "objects/00001/inspect/kernels/_Z1fi~2/kernel.json", 0 },
		{ "objects/00001/inspect/kernels/_Z1fi/descriptor", -ENOENT },
		{ "objects/00001/inspect/kernels/_Z1fi/dispatch.aql", -ENOENT },
		{ "objects/00002/inspect/kernels/%", 0 },
		{ "objects/00003/inspect/kernels", 0 },
		{ "objects/00003/inspect/kernels/x", -ENOENT },
		{ "targets/sm_90/inspect/kernels/%.json", 0 },
		{ "targets/sm_90/inspect/kernels/.json", -ENOENT },
		{ "targets/sm_90/inspect/kernels/_Z1fi", -ENOENT },
		{ "targets/sm_90/inspect/kernels/_Z1fi~2.json", -ENOENT },
		{ "targets/gfx90a/inspect/kernels/a%2Fb.json", 0 },
	};
	struct fake *f = fake_open(objects, COUNT(objects), MIB);

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gfs_node node;
		int rc = gfs_walk(&f->fs, cases[i].path, &node);

		if (rc != cases[i].rc)
			fail_msg("%s: %s", cases[i].path, strerror(-rc));
	}
	fake_close(f);
}

/* ---- every node there is ------------------------------------------------------------------ */

struct visit {
	struct gfs *fs;
	struct gfs_node dir;
	bool inside; /* of a directory called inspect */
	int files;
};

static int visit_below(void *ctx, const char *name, struct gfs_node child, uint64_t next)
{
	struct visit *v = ctx;
	struct visit below = { v->fs, child, v->inside || strcmp(name, "inspect") == 0, 0 };
	struct gfs_node found;

	(void)next;
	if (gfs_lookup(v->fs, v->dir, name, &found) != 0 || gfs_ino(found) != gfs_ino(child))
		fail_msg("%s: listed but not found", name);
	if (!gfs_node_from_ino(v->fs, gfs_ino(child), &found) || found.entry != child.entry ||
	    found.a != child.a || found.b != child.b)
		fail_msg("%s: its inode number is another's", name);
	if (!gfs_is_dir(child) && v->inside && !gfs_attr_is_costly(child))
		fail_msg("%s: examines, but is not costly", name);
	if (gfs_is_dir(child))
		assert_int_equal(gfs_readdir(v->fs, child, 0, visit_below, &below), 0);
	v->files += below.files + (v->inside && !gfs_is_dir(child));
	return 0;
}

static void agrees_with_itself(void **state)
{
	struct fake *f = fake_open(objects, COUNT(objects), MIB);
	struct visit v = { &f->fs, gfs_root(), false, 0 };

	(void)state;
	assert_int_equal(gfs_readdir(&f->fs, v.dir, 0, visit_below, &v), 0);
	/* the report; two files each of 4 objects; of their kernels 4 + 1, 2 + 1, 2 + 1 + 1, none;
	 * of the targets 2 + 2 and 2 + 3; one of every device */
	assert_int_equal(v.files, 1 + 8 + 5 + 3 + 4 + 4 + 5 + dec_device_count());
	fake_close(f);
}

static int ignore(void *ctx, const char *name, struct gfs_node child, uint64_t next)
{
	(void)ctx;
	(void)name;
	(void)child;
	(void)next;
	return 0;
}

/* What a walk that leaves out the directories called inspect meets. */
static void examines_nothing_outside_inspect(void **state)
{
	static const char *const dirs[] = {
		"objects",	 "objects/00000",	  "objects/00000/inspect",
		"targets/sm_90", "targets/sm_90/inspect", "inspect"
	};
	struct fake *f = fake_open(objects, COUNT(objects), MIB);

	(void)state;
	for (size_t i = 0; i < COUNT(dirs); i++) {
		struct gfs_node node;
		struct stat st;

		assert_int_equal(gfs_walk(&f->fs, dirs[i], &node), 0);
		assert_int_equal(gfs_readdir(&f->fs, node, 0, ignore, NULL), 0);
		assert_int_equal(gfs_getattr(&f->fs, node, &st), 0);
	}
	assert_int_equal(atomic_load(&fake_exams), 0);
	fake_close(f);
}

/* Nodes stay what they are; what is read says that the file changed. */
static void goes_stale(void **state)
{
	static const char *const paths[] = {
		"objects/00000/inspect/inspection.json",
		"objects/00000/inspect/kernels/_Z1fi/kernel.json",
		"objects/00000/inspect/kernels/_Z1fi/code",
		"objects/00000/inspect/kernels/_Z1fi/dispatch.aql",
		"targets/sm_90/inspect/kernels/_Z1fi.json",
		"targets/sm_90/inspect/report.json",
	};
	struct fake *f = fake_open(objects, COUNT(objects), 0);
	struct gfs_node nodes[COUNT(paths)];

	(void)state;
	for (size_t i = 0; i < COUNT(paths); i++)
		assert_int_equal(gfs_walk(&f->fs, paths[i], &nodes[i]), 0);
	assert_int_equal(truncate(f->path, 3), 0);
	for (size_t i = 0; i < COUNT(paths); i++) {
		struct gfs_node found;
		char buf[8];
		size_t got;

		if (!gfs_node_from_ino(&f->fs, gfs_ino(nodes[i]), &found))
			fail_msg("%s: its inode number is unknown", paths[i]);
		if (gfs_read(&f->fs, nodes[i], 0, buf, sizeof(buf), &got, NULL) != -ESTALE)
			fail_msg("%s: still readable", paths[i]);
	}
	fake_close(f);
}

/* ---- many kernels --------------------------------------------------------------------------- */

#define MANY 12000

static int find_child(void *ctx, const char *name, struct gfs_node child, uint64_t next)
{
	struct visit *v = ctx;
	struct gfs_node found;

	(void)next;
	assert_int_equal(gfs_lookup(v->fs, v->dir, name, &found), 0);
	assert_int_equal(gfs_ino(found), gfs_ino(child));
	v->files++;
	return 0;
}

/* Twins as well: quadratic work would take minutes here. */
static void lists_many_kernels(void **state)
{
	static const char *const dirs[] = { "objects/00000/inspect/kernels",
					    "targets/sm_90/inspect/kernels" };
	char *payload;
	size_t size;
	FILE *stream = open_memstream(&payload, &size);
	struct fake_object object = { .target = "sm_90" };
	struct fake *f;

	(void)state;
	for (int i = 0; i < MANY; i++)
		fprintf(stream, "kernel k%d registers %d\n", i % 2 ? i : 0, i % 255);
	assert_int_equal(fclose(stream), 0);
	object.payload = payload;
	f = fake_open(&object, 1, 256 * MIB);
	for (size_t i = 0; i < COUNT(dirs); i++) {
		struct visit v = { .fs = &f->fs };

		assert_int_equal(gfs_walk(&f->fs, dirs[i], &v.dir), 0);
		assert_int_equal(gfs_readdir(&f->fs, v.dir, 0, find_child, &v), 0);
		assert_int_equal(v.files, i == 0 ? MANY : MANY / 2 + 1);
	}
	assert_int_equal(atomic_load(&fake_exams), 2);
	fake_close(f);
	free(payload);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_what_was_found),
		cmocka_unit_test(shows_the_same_without_a_cache),
		cmocka_unit_test(lists_problems_of_the_payload),
		cmocka_unit_test(finds_paths),
		cmocka_unit_test(agrees_with_itself),
		cmocka_unit_test(examines_nothing_outside_inspect),
		cmocka_unit_test(goes_stale),
		cmocka_unit_test(lists_many_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
