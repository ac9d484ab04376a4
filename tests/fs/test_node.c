/* Paths, inode numbers, listings, attributes and reads. */
#include "hand_made.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "device.h"
#include "source.h"
#include "tree_text.h"

/* ---- paths ------------------------------------------------------------------------ */

static void walks_paths(void **state)
{
	static const char name300[301] = { [0 ... 299] = 'n' };
	const struct {
		const char *path;
		int rc;
	} cases[] = {
		{ "", 0 },
		{ "/", 0 },
		{ "//objects///00003/", 0 },
		{ "./objects/./00003/.", 0 },
		{ "/objects/00003/object.json", 0 },
		{ "/objects/00003/object.json/", -ENOTDIR },
		{ "/objects/00003/object.json/x", -ENOTDIR },
		{ "/objects/00003/object.json/.", -ENOTDIR },
		{ "/objects/..", -ENOENT },
		{ "/objects/00004", -ENOENT },
		{ "/objects/3", -ENOENT },
		{ "/objects/000003", -ENOENT },
		{ "/objects/0000a", -ENOENT },
		{ "/objects/+0003", -ENOENT },
		{ "/objects/00000/encoded", -ENOENT }, /* stored: it is the payload */
		{ "/objects/00001/payload", -ENOENT }, /* unsupported codec */
		{ "/objects/00002/encoded", -ENOENT }, /* in a compressed container */
		{ "/objects/00003/payload", -ENOENT },
		{ "/containers/00002", -ENOENT },
		{ "/targets/%2E", 0 },
		{ "/targets/a%2Fb", 0 },
		{ "/targets/a%2fb", -ENOENT },
		{ "/targets/sm%5F90", -ENOENT }, /* one spelling each */
		{ "/targets/sm_9", -ENOENT },
		{ "/targets/sm_90", 0 },
		{ "/targets/sm_90b", -ENOENT },
		{ "/targets/sm_90~2", -ENOENT },
		{ "/targets/~", -ENOENT },
		{ "/targets/%%", -ENOENT },
		{ name300, -ENAMETOOLONG },
	};
	struct hand_made *f = *state;
	struct gfs_node node;

	for (size_t i = 0; i < COUNT(cases); i++) {
		int rc = gfs_walk(&f->fs, cases[i].path, &node);

		if (rc != cases[i].rc)
			fail_msg("\"%s\": %s", cases[i].path, strerror(-rc));
	}
	assert_int_equal(gfs_lookup(&f->fs, gfs_root(), ".", &node), -ENOENT);
	assert_int_equal(gfs_lookup(&f->fs, gfs_root(), "", &node), -ENOENT);
	assert_int_equal(gfs_lookup(&f->fs, gfs_root(), name300, &node), -ENAMETOOLONG);
}

/* ---- every node there is ---------------------------------------------------------- */

struct visit {
	struct gfs *fs;
	struct gfs_node dir;
	uint64_t inos[512];
	size_t count;
	uint64_t next;
	int left; /* entries to take before it is enough */
};

static void check_child(struct visit *v, const char *name, struct gfs_node child)
{
	struct gfs_node found;
	struct stat st;

	if (gfs_lookup(v->fs, v->dir, name, &found) != 0 || gfs_ino(found) != gfs_ino(child))
		fail_msg("%s: listed but not found", name);
	if (!gfs_node_from_ino(v->fs, gfs_ino(child), &found) || found.entry != child.entry ||
	    found.a != child.a || found.b != child.b)
		fail_msg("%s: its inode number is another's", name);
	for (size_t i = 0; i < v->count; i++)
		if (v->inos[i] == gfs_ino(child))
			fail_msg("%s: its inode number is not unique", name);
	v->inos[v->count++] = gfs_ino(child);
	assert_int_equal(gfs_getattr(v->fs, child, &st), 0);
	if (st.st_ino != gfs_ino(child) || st.st_nlink != 1 || st.st_uid != v->fs->uid ||
	    st.st_gid != v->fs->gid || st.st_blksize != 131072 ||
	    st.st_blocks != (st.st_size + 511) / 512 ||
	    st.st_mtime != gfs_source_stat(v->fs->source)->st_mtime ||
	    st.st_mode != (gfs_is_dir(child) ? (S_IFDIR | 0755U) : (S_IFREG | 0444U)))
		fail_msg("%s: wrong attributes", name);
}

static int visit_below(void *ctx, const char *name, struct gfs_node child, uint64_t next)
{
	struct visit *v = ctx;
	struct gfs_node dir = v->dir;

	(void)next;
	if (strcmp(name, "inspect") == 0)
		return 0; /* test_tree_inspect.c */
	check_child(v, name, child);
	if (gfs_is_dir(child)) {
		v->dir = child;
		assert_int_equal(gfs_readdir(v->fs, child, 0, visit_below, v), 0);
		v->dir = dir;
	}
	return 0;
}

static void agrees_with_itself(void **state)
{
	struct hand_made *f = *state;
	struct visit v = { .fs = &f->fs, .dir = gfs_root() };

	assert_int_equal(gfs_readdir(&f->fs, v.dir, 0, visit_below, &v), 0);
	/* 6 in the root, 2 containers of 3 and 4 (one is compressed), 4 objects of 3 or 4,
	 * 8 targets of 3, every device with its device.json */
	assert_int_equal(v.count, 6 + (3 + 4) + (4 + 4 + 4 + 3) + 8 * 3 + 2 * dec_device_count());
}

static int take_some(void *ctx, const char *name, struct gfs_node child, uint64_t next)
{
	struct visit *v = ctx;

	(void)name;
	if (v->left-- == 0)
		return 1;
	v->inos[v->count++] = gfs_ino(child);
	v->next = next;
	return 0;
}

/* Going on from any cursor, in steps of any size, gives the same entries. */
static void resumes_listings(void **state)
{
	static const char *const dirs[] = { "/", "/objects", "/objects/00001", "/targets" };
	struct hand_made *f = *state;

	for (size_t i = 0; i < COUNT(dirs); i++) {
		struct visit all = { .left = 100 };
		struct gfs_node dir;

		assert_int_equal(gfs_walk(&f->fs, dirs[i], &dir), 0);
		assert_int_equal(gfs_readdir(&f->fs, dir, 0, take_some, &all), 0);
		for (int step = 1; step < 4; step++) {
			struct visit parts = { .next = 0 };
			size_t before;

			do {
				before = parts.count;
				parts.left = step;
				assert_int_equal(
					gfs_readdir(&f->fs, dir, parts.next, take_some, &parts), 0);
			} while (parts.count > before);
			if (parts.count != all.count ||
			    memcmp(parts.inos, all.inos, all.count * sizeof(all.inos[0])) != 0)
				fail_msg("%s: steps of %d differ", dirs[i], step);
		}
	}
}

static void knows_its_inode_numbers(void **state)
{
	static const struct {
		const char *what;
		uint64_t ino;
		bool known;
	} cases[] = {
		{ "none", 0, false },
		{ "root", GFS_ROOT_INO, true },
		{ "root with an index", GFS_ROOT_INO | 1 << 8, false },
		{ "artifact.json", 2, true },
		{ "no such row", 255, false },
		{ "last object", 32 | 3 << 8, true },
		{ "past the last object", 32 | 4 << 8, false },
		{ "far past it", 33 | UINT64_C(0xfffffff) << 8, false },
		{ "object with an inner index", 32 | UINT64_C(1) << 36, false },
		{ "file of an object", 34 | 3 << 8, true },
		{ "absent file of an object", 35 | 3 << 8, false },
		{ "objects with an index", 5 | 1 << 8, false },
	};
	struct hand_made *f = *state;
	struct gfs_node node;

	assert_int_equal(gfs_ino(gfs_root()), GFS_ROOT_INO);
	for (size_t i = 0; i < COUNT(cases); i++)
		if (gfs_node_from_ino(&f->fs, cases[i].ino, &node) != cases[i].known)
			fail_msg("%s", cases[i].what);
}

/* ---- the tables ------------------------------------------------------------------- */

static void check_entry(const struct gfs_entry *e, bool *taken)
{
	const char *name = e->name ? e->name : "(element)";
	int contents_count = !!e->show + !!e->range + !!e->locate + !!e->unpack + !!e->file;

	if (e->id == 0 || taken[e->id])
		fail_msg("%s: row id %d is taken", name, e->id);
	taken[e->id] = true;
	if (S_ISDIR(e->mode)
		    ? contents_count != 0 || (!e->children && !e->collection && !e->elements)
		    : contents_count != 1)
		fail_msg("%s: not one content", name);
	if (e->locate && !e->ready)
		fail_msg("%s: nothing to wait for", name);
	if (e->unpack && !e->size)
		fail_msg("%s: decoded, but of unknown size", name);
	for (const struct gfs_entry *row = e->children; row && row->id; row++) {
		if (!row->name || strlen(row->name) > GFS_NAME_MAX)
			fail_msg("%s: a row without a good name", name);
		check_entry(row, taken);
	}
	if (e->collection)
		check_entry(e->collection->each, taken);
	for (const struct gfs_elements *set = e->elements; set; set = set->more)
		check_entry(set->each, taken);
}

static void has_sound_tables(void **state)
{
	bool taken[256] = { false };

	(void)state;
	check_entry(&gfs_root_entry, taken);
}

/* ---- reads ------------------------------------------------------------------------ */

static void reads_at_any_offset(void **state)
{
	static const struct {
		const char *path;
		uint64_t offset;
		size_t size;
		const char *expected;
	} cases[] = {
		{ "containers/00000/encoded", 0, 3, "cde" },
		{ "containers/00000/encoded", 6, 10, "ij" },
		{ "containers/00000/encoded", 8, 10, "" },
		{ "containers/00000/encoded", UINT64_MAX, 10, "" },
		{ "containers/00000/encoded", 2, 0, "" },
		{ "targets/sm_90/objects", 3, 2, "00" },
		{ "targets/sm_90/objects", 5, 9, "\n" },
		{ "targets/sm_90/objects", 6, 9, "" },
		{ "targets/sm_90/objects", UINT64_MAX, 9, "" },
	};
	struct hand_made *f = *state;

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gfs_node node;
		char buf[16] = "";
		size_t got = 99;

		assert_int_equal(gfs_walk(&f->fs, cases[i].path, &node), 0);
		assert_int_equal(
			gfs_read(&f->fs, node, cases[i].offset, buf, cases[i].size, &got, NULL), 0);
		if (got != strlen(cases[i].expected) || strcmp(buf, cases[i].expected) != 0)
			fail_msg("%s at %ju: \"%s\"", cases[i].path, (uintmax_t)cases[i].offset,
				 buf);
	}
}

static void refuses_to_read_directories(void **state)
{
	struct hand_made *f = *state;
	char buf[1];
	size_t got;

	assert_int_equal(gfs_read(&f->fs, gfs_root(), 0, buf, 1, &got, NULL), -EISDIR);
}

/* Text that is already there goes stale as well; attributes and listings stay. */
static void goes_stale(void **state)
{
	static const char *const paths[] = {
		"artifact.json",	 "problems.json",	  "objects/00000/object.json",
		"objects/00000/payload", "objects/00002/payload", "targets/sm_90/objects",
	};
	struct hand_made *f = *state;
	int saved = dup(STDERR_FILENO);
	int null = open("/dev/null", O_WRONLY);

	free(slurp(&f->fs, "artifact.json"));
	free(slurp(&f->fs, "problems.json"));
	assert_int_equal(truncate(f->path, 35), 0);
	dup2(null, STDERR_FILENO);
	for (size_t i = 0; i < COUNT(paths); i++) {
		struct gfs_node node;
		struct stat st;
		char buf[8];
		size_t got;

		assert_int_equal(gfs_walk(&f->fs, paths[i], &node), 0);
		assert_int_equal(gfs_getattr(&f->fs, node, &st), 0);
		if (gfs_read(&f->fs, node, 0, buf, sizeof(buf), &got, NULL) != -ESTALE)
			fail_msg("%s: still readable", paths[i]);
	}
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(null);
}

static void never_called(struct gfs_waiter *waiter)
{
	(void)waiter;
	abort();
}

/* The size is there at once, the bytes when the digest is. */
static void waits_for_the_digest(void **state)
{
	struct hand_made *f = *state;
	struct gfs_waiter waiter = { .done = never_called };
	struct gfs_node node;
	struct stat st;
	char buf[512];
	size_t got;
	struct gfs_message msg;

	gfs_source_close(f->fs.source);
	assert_int_equal(truncate(f->path, (off_t)1 << 36), 0);
	assert_int_equal(gfs_source_open(&f->fs.options, &f->fs.source, &msg), 0);
	assert_int_equal(gfs_walk(&f->fs, "artifact.json", &node), 0);
	assert_int_equal(gfs_getattr(&f->fs, node, &st), 0);
	assert_int_equal(gfs_read(&f->fs, node, 0, buf, sizeof(buf), &got, &waiter), -EINPROGRESS);
	assert_true(gfs_waiter_cancel(&f->fs, &waiter));
	assert_false(gfs_waiter_cancel(&f->fs, &waiter));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		HAND_MADE(walks_paths),
		HAND_MADE(agrees_with_itself),
		HAND_MADE(resumes_listings),
		HAND_MADE(knows_its_inode_numbers),
		HAND_MADE(reads_at_any_offset),
		HAND_MADE(refuses_to_read_directories),
		HAND_MADE(goes_stale),
		HAND_MADE(waits_for_the_digest),
		cmocka_unit_test(has_sound_tables),
	};

	return cmocka_run_group_tests_name("node", tests, NULL, NULL);
}
