#include "fs_test.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <openssl/sha.h>

#include "cache.h"
#include "device.h"
#include "names.h"
#include "source.h"
#include "tree.h"
#include "tree_text.h"

/* ---- an inventory made by hand ---------------------------------------------------- */

#define TEXT(s)                                                                                    \
	{                                                                                          \
		s, sizeof(s) - 1                                                                   \
	}
#define ABSENT                                                                                     \
	{                                                                                          \
		dec_absent, 0                                                                      \
	}
#define NO_PROBLEMS                                                                                \
	{                                                                                          \
		DEC_NONE, DEC_NONE                                                                 \
	}

static const char bytes[] = "0123456789abcdefghijklmnopqrstuvwxyz";

/* clang-format off */
static const struct dec_place places[] = {
	{ DEC_PLACE_FILE, TEXT("lib a%.so"), { 0, 36 }, DEC_NONE },
	{ DEC_PLACE_SECTION, TEXT(".nv\xff%"), { 10, 20 }, 0 },
	{ DEC_PLACE_SEGMENT, ABSENT, { 12, 8 }, 1 },
};

static const struct dec_problem problems[] = {
	{ DEC_PROBLEM_TRUNCATED, 30, "size", TEXT("It ends early."), 0, 0, DEC_NONE, true },
	{ DEC_PROBLEM_LIMIT, 1, "count", TEXT("Too many."), DEC_NONE, DEC_NONE, DEC_NONE, true },
	{ DEC_PROBLEM_BAD_MAGIC, 2, "magic", TEXT("No \"magic\"."), 0, DEC_NONE, 3, false },
	{ DEC_PROBLEM_TRUNCATED, 3, "header", TEXT("Short."), 0, DEC_NONE, DEC_NONE, true },
};

static const struct dec_container containers[] = {
	{ .kind = DEC_CONTAINER_FATBIN, .version = 1, .entries = 3, .range = { 12, 8 }, .place = 2,
	  .object_count = 2, .problems = { 2, 3 } },
	{ .kind = DEC_CONTAINER_COMPRESSED_BUNDLE, .codec = DEC_CODEC_ZSTD, .version = 3,
	  .entries = 1, .decoded_size = 4096, .has_hash = true, .hash = 0xfedcba9876543210,
	  .range = { 20, 10 }, .place = 0, .first_object = 2, .object_count = 2,
	  .problems = NO_PROBLEMS },
};

static const struct dec_object objects[] = {
	{ .vendor = DEC_VENDOR_NVIDIA, .kind = DEC_KIND_CUBIN, .codec = DEC_CODEC_NONE,
	  .target_kind = DEC_TARGET_FATBIN_ENTRY, .has_payload = true, .has_version = true,
	  .version_major = 1, .version_minor = 7, .entry_kind = 2, .codec_flags = 0x11,
	  .target = TEXT("sm_90a"), .target_raw = TEXT("90"), .identifier = TEXT("a.cu"),
	  .options = ABSENT, .payload_size = 9, .header = { 12, 4 }, .encoded = { 16, 3 },
	  .problems = { 0, 0 } },
	{ .vendor = DEC_VENDOR_NVIDIA, .kind = DEC_KIND_PTX, .codec = DEC_CODEC_UNSUPPORTED,
	  .target_kind = DEC_TARGET_FATBIN_ENTRY, .codec_flags = UINT64_MAX, .scrambled = true,
	  .target = TEXT("compute_90"), .target_raw = TEXT("90"), .identifier = ABSENT,
	  .options = TEXT("-O3"), .payload_size = (UINT64_C(1) << 53) + 1, .header = { 19, 0 },
	  .encoded = { 19, 1 }, .entry_index = 1, .target_index = 1, .problems = NO_PROBLEMS },
	{ .vendor = DEC_VENDOR_AMD, .kind = DEC_KIND_CODE_OBJECT, .codec = DEC_CODEC_NONE,
	  .target_kind = DEC_TARGET_BUNDLE_ID, .space = DEC_SPACE_DECODED, .has_payload = true,
	  .target = TEXT("gfx90a:xnack+"), .target_raw = TEXT("hip-amdgcn-amd-amdhsa--gfx90a"),
	  .identifier = ABSENT, .options = ABSENT, .payload_size = 100, .header = { 32, 30 },
	  .encoded = { 4000, 96 }, .container = 1, .target_index = 3, .problems = NO_PROBLEMS },
	{ .vendor = DEC_VENDOR_OTHER, .kind = DEC_KIND_HOST, .target_kind = DEC_TARGET_BUNDLE_ID,
	  .has_payload = false, .target = ABSENT, .target_raw = TEXT("host-x86_64"),
	  .identifier = ABSENT, .options = ABSENT, .container = 1, .entry_index = 1,
	  .target_index = DEC_NONE, .problems = NO_PROBLEMS },
};
/* clang-format on */

static const uint32_t of_target[] = { 0, 1, 2, 3 };

/* 247 bytes and one that differs: the cut leaves equal beginnings. */
#define LONG25 "long long long long long "
#define LONG LONG25 LONG25 LONG25 LONG25 LONG25 LONG25 LONG25 LONG25 LONG25 "and very long after al"

static const struct dec_target targets[] = {
	{ TEXT(""), DEC_VENDOR_OTHER, DEC_CLASS_OTHER, NULL, of_target, 4 },
	{ TEXT("."), DEC_VENDOR_OTHER, DEC_CLASS_OTHER, NULL, of_target, 1 },
	{ TEXT("a/b"), DEC_VENDOR_OTHER, DEC_CLASS_OTHER, NULL, of_target + 1, 1 },
	{ TEXT("gfx90a:xnack+"), DEC_VENDOR_AMD, DEC_CLASS_GFX, "CDNA 2", of_target + 1, 2 },
	{ TEXT(LONG "k"), DEC_VENDOR_OTHER, DEC_CLASS_OTHER, NULL, of_target, 1 },
	{ TEXT(LONG "l"), DEC_VENDOR_OTHER, DEC_CLASS_OTHER, NULL, of_target, 1 },
	{ TEXT("sm_90"), DEC_VENDOR_NVIDIA, DEC_CLASS_SM, "Hopper", of_target, 1 },
	{ TEXT("sm_90a"), DEC_VENDOR_NVIDIA, DEC_CLASS_SM, "Hopper", of_target, 1 },
};

static struct dec_artifact artifact = {
	.name = TEXT("lib a%.so"),
	.size = 36,
	.format = DEC_FORMAT_ELF64,
	.partial = true,
	.containers = containers,
	.container_count = COUNT(containers),
	.objects = objects,
	.object_count = COUNT(objects),
	.targets = targets,
	.target_count = COUNT(targets),
	.problems = problems,
	.problem_count = COUNT(problems),
	.places = places,
	.place_count = COUNT(places),
};

struct fixture {
	char *dir;
	char *path;
	struct gfs fs;
};

static int hand_made(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct gfs_message msg;

	assert_non_null(f);
	f->dir = scratch_new();
	f->path = scratch_file(f->dir, "lib a%.so", bytes, 36);
	f->fs.options.artifact = f->path;
	assert_int_equal(gfs_source_open(&f->fs.options, &f->fs.source, &msg), 0);
	f->fs.cache = gfs_cache_new(1 << 20, 1 << 20, f->dir);
	f->fs.artifact = &artifact;
	f->fs.id_width = 5;
	f->fs.uid = 1234;
	f->fs.gid = 5678;
	*state = f;
	return 0;
}

static int fixture_free(void **state)
{
	struct fixture *f = *state;

	gfs_cache_free(f->fs.cache);
	gfs_source_close(f->fs.source);
	scratch_free(f->dir);
	free(f->path);
	free(f);
	return 0;
}

/* ---- contents --------------------------------------------------------------------- */

#define AROUND                                                                                     \
	"\t\"around\":\t[{\n"                                                                      \
	"\t\t\t\"kind\":\t\"file\",\n\t\t\t\"name\":\t\"lib a%.so\",\n"                            \
	"\t\t\t\"offset\":\t0,\n\t\t\t\"size\":\t36\n\t\t}"

#define SECTION_AND_SEGMENT                                                                        \
	", {\n\t\t\t\"kind\":\t\"section\",\n\t\t\t\"name\":\t\".nv%FF%25\",\n"                    \
	"\t\t\t\"offset\":\t10,\n\t\t\t\"size\":\t20\n\t\t}, {\n"                                  \
	"\t\t\t\"kind\":\t\"segment\",\n\t\t\t\"name\":\tnull,\n"                                  \
	"\t\t\t\"offset\":\t12,\n\t\t\t\"size\":\t8\n\t\t}"

/* clang-format off */
static const struct {
	const char *path;
	const char *text;
} contents[] = {
	{ "artifact.json",
	  "{\n\t\"name\":\t\"lib a%.so\",\n\t\"size\":\t36,\n"
	  "\t\"sha256\":\t\"74e7e5bb9d22d6db26bf76946d40fff3ea9f0346b884fd0694920fccfad15e33\",\n"
	  "\t\"format\":\t\"elf64\",\n\t\"containers\":\t2,\n\t\"objects\":\t4,\n\t\"targets\":\t8,\n"
	  "\t\"inventory\":\t{\n\t\t\"state\":\t\"partial\",\n"
	  "\t\t\"reasons\":\t[\"limit\", \"truncated\"]\n\t}\n}\n" },
	{ "problems.json",
	  "[{\n\t\t\"code\":\t\"truncated\",\n\t\t\"offset\":\t30,\n\t\t\"field\":\t\"size\",\n"
	  "\t\t\"message\":\t\"It ends early.\",\n"
	  "\t\t\"container\":\t\"00000\",\n\t\t\"object\":\t\"00000\"\n\t}, {\n"
	  "\t\t\"code\":\t\"limit\",\n\t\t\"offset\":\t1,\n\t\t\"field\":\t\"count\",\n"
	  "\t\t\"message\":\t\"Too many.\",\n"
	  "\t\t\"container\":\tnull,\n\t\t\"object\":\tnull\n\t}, {\n"
	  "\t\t\"code\":\t\"bad_magic\",\n\t\t\"offset\":\t2,\n\t\t\"field\":\t\"magic\",\n"
	  "\t\t\"message\":\t\"No \\\"magic\\\".\",\n"
	  "\t\t\"container\":\t\"00000\",\n\t\t\"object\":\tnull\n\t}, {\n"
	  "\t\t\"code\":\t\"truncated\",\n\t\t\"offset\":\t3,\n\t\t\"field\":\t\"header\",\n"
	  "\t\t\"message\":\t\"Short.\",\n"
	  "\t\t\"container\":\t\"00000\",\n\t\t\"object\":\tnull\n\t}]\n" },
	{ "containers/00000/container.json",
	  "{\n\t\"kind\":\t\"fatbin\",\n\t\"version\":\t1,\n\t\"codec\":\t\"none\",\n"
	  "\t\"entries\":\t3,\n\t\"decoded_size\":\tnull,\n\t\"hash\":\tnull,\n"
	  AROUND SECTION_AND_SEGMENT "],\n\t\"offset\":\t12,\n\t\"size\":\t8,\n"
	  "\t\"problems\":\t[{\n\t\t\t\"code\":\t\"bad_magic\",\n\t\t\t\"offset\":\t2,\n"
	  "\t\t\t\"field\":\t\"magic\",\n\t\t\t\"message\":\t\"No \\\"magic\\\".\"\n\t\t}, {\n"
	  "\t\t\t\"code\":\t\"truncated\",\n\t\t\t\"offset\":\t3,\n\t\t\t\"field\":\t\"header\",\n"
	  "\t\t\t\"message\":\t\"Short.\"\n\t\t}]\n}\n" },
	{ "containers/00001/container.json",
	  "{\n\t\"kind\":\t\"compressed_bundle\",\n\t\"version\":\t3,\n\t\"codec\":\t\"zstd\",\n"
	  "\t\"entries\":\t1,\n\t\"decoded_size\":\t4096,\n\t\"hash\":\t\"0xfedcba9876543210\",\n"
	  AROUND "],\n\t\"offset\":\t20,\n\t\"size\":\t10,\n\t\"problems\":\t[]\n}\n" },
	{ "containers/00000/encoded", "cdefghij" },
	{ "objects/00000/object.json",
	  "{\n\t\"vendor\":\t\"nvidia\",\n\t\"target\":\t\"sm_90a\",\n"
	  "\t\"target_kind\":\t\"fatbin_entry\",\n\t\"target_raw\":\t\"90\",\n"
	  "\t\"kind\":\t\"cubin\",\n\t\"codec\":\t\"none\",\n\t\"codec_flags\":\t\"0x11\",\n"
	  "\t\"payload_size\":\t9,\n\t\"inspection\":\t\"unexamined\",\n"
	  "\t\"problems\":\t[{\n\t\t\t\"code\":\t\"truncated\",\n\t\t\t\"offset\":\t30,\n"
	  "\t\t\t\"field\":\t\"size\",\n\t\t\t\"message\":\t\"It ends early.\"\n\t\t}],\n"
	  "\t\"entry_kind\":\t2,\n\t\"version\":\t\"1.7\",\n\t\"identifier\":\t\"a.cu\",\n"
	  "\t\"options\":\tnull,\n\t\"scrambled\":\tfalse\n}\n" },
	{ "objects/00001/object.json",
	  "{\n\t\"vendor\":\t\"nvidia\",\n\t\"target\":\t\"compute_90\",\n"
	  "\t\"target_kind\":\t\"fatbin_entry\",\n\t\"target_raw\":\t\"90\",\n"
	  "\t\"kind\":\t\"ptx\",\n\t\"codec\":\t\"unsupported\",\n"
	  "\t\"codec_flags\":\t\"0xffffffffffffffff\",\n"
	  "\t\"payload_size\":\t\"0x20000000000001\",\n\t\"inspection\":\t\"unexamined\",\n"
	  "\t\"problems\":\t[],\n"
	  "\t\"entry_kind\":\t0,\n\t\"version\":\tnull,\n\t\"identifier\":\tnull,\n"
	  "\t\"options\":\t\"-O3\",\n\t\"scrambled\":\ttrue\n}\n" },
	{ "objects/00003/object.json",
	  "{\n\t\"vendor\":\t\"other\",\n\t\"target\":\tnull,\n"
	  "\t\"target_kind\":\t\"bundle_id\",\n\t\"target_raw\":\t\"host-x86_64\",\n"
	  "\t\"kind\":\t\"host\",\n\t\"codec\":\t\"none\",\n\t\"codec_flags\":\t\"0x0\",\n"
	  "\t\"payload_size\":\t0,\n\t\"inspection\":\t\"unexamined\",\n\t\"problems\":\t[]\n}\n" },
	{ "objects/00000/location.json",
	  "{\n\t\"id\":\t\"00000\",\n\t\"container\":\t\"00000\",\n\t\"entry_index\":\t0,\n"
	  "\t\"space\":\t\"artifact\",\n"
	  "\t\"header\":\t{\n\t\t\"offset\":\t12,\n\t\t\"size\":\t4\n\t},\n"
	  "\t\"encoded\":\t{\n\t\t\"offset\":\t16,\n\t\t\"size\":\t3\n\t},\n"
	  "\t\"artifact_range\":\t{\n\t\t\"offset\":\t16,\n\t\t\"size\":\t3\n\t},\n"
	  AROUND SECTION_AND_SEGMENT "],\n"
	  "\t\"uri\":\t\"file://lib%20a%25.so#offset=16&size=3\"\n}\n" },
	{ "objects/00002/location.json",
	  "{\n\t\"id\":\t\"00002\",\n\t\"container\":\t\"00001\",\n\t\"entry_index\":\t0,\n"
	  "\t\"space\":\t\"decoded\",\n"
	  "\t\"header\":\t{\n\t\t\"offset\":\t32,\n\t\t\"size\":\t30\n\t},\n"
	  "\t\"encoded\":\t{\n\t\t\"offset\":\t4000,\n\t\t\"size\":\t96\n\t},\n"
	  "\t\"artifact_range\":\t{\n\t\t\"offset\":\t20,\n\t\t\"size\":\t10\n\t},\n"
	  AROUND "],\n\t\"uri\":\tnull\n}\n" },
	{ "objects/00000/payload", "ghi" },
	{ "objects/00001/encoded", "j" },
	{ "targets/sm_90a/target.json",
	  "{\n\t\"target\":\t\"sm_90a\",\n\t\"vendor\":\t\"nvidia\",\n\t\"kind\":\t\"sm\",\n"
	  "\t\"family\":\t\"Hopper\",\n\t\"objects\":\t1,\n"
	  "\t\"kernel_analysis\":\t\"unrequested\"\n}\n" },
	{ "targets/%/target.json",
	  "{\n\t\"target\":\t\"\",\n\t\"vendor\":\t\"other\",\n\t\"kind\":\t\"other\",\n"
	  "\t\"family\":\tnull,\n\t\"objects\":\t4,\n"
	  "\t\"kernel_analysis\":\t\"unrequested\"\n}\n" },
	{ "targets/%/objects", "00000\n00001\n00002\n00003\n" },
	{ "targets/gfx90a:xnack+/objects", "00001\n00002\n" },
};
/* clang-format on */

static void shows_what_the_inventory_says(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < COUNT(contents); i++)
		expect_text(&f->fs, contents[i].path, contents[i].text);
}

/* Complete, without reasons and problems. */
static void shows_an_empty_inventory(void **state)
{
	struct fixture *f = *state;
	struct dec_artifact empty = { .name = TEXT("x"), .size = 36 };
	struct gfs_node node;

	f->fs.artifact = &empty;
	expect_text(&f->fs, "problems.json", "[]\n");
	expect_text(&f->fs, "artifact.json",
		    "{\n\t\"name\":\t\"x\",\n\t\"size\":\t36,\n"
		    "\t\"sha256\":"
		    "\t\"74e7e5bb9d22d6db26bf76946d40fff3ea9f0346b884fd0694920fccfad15e33\","
		    "\n\t\"format\":\t\"other\",\n"
		    "\t\"containers\":\t0,\n\t\"objects\":\t0,\n\t\"targets\":\t0,\n"
		    "\t\"inventory\":\t{\n\t\t\"state\":\t\"complete\",\n\t\t\"reasons\":\t[]\n"
		    "\t}\n}\n");
	assert_int_equal(gfs_walk(&f->fs, "objects/00000", &node), -ENOENT);
	assert_int_equal(gfs_walk(&f->fs, "targets/sm_90", &node), -ENOENT);
	assert_false(gfs_node_from_ino(&f->fs, 32, &node));
}

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
	struct fixture *f = *state;
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
	struct fixture *f = *state;
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
	struct fixture *f = *state;

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
	struct fixture *f = *state;
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
	struct fixture *f = *state;

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
	struct fixture *f = *state;
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
	struct fixture *f = *state;
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
	struct fixture *f = *state;
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

/* ---- through decode --------------------------------------------------------------- */

static const char ptx[] = "//\n.version 7.8\n.target sm_90\n.address_size 64\n\n"
			  ".visible .entry nothing()\n{\n\tret;\n}\n";

static int open_file(const char *path, const char *sha256, struct gfs **fs, struct gfs_message *msg)
{
	struct gfs_options options = {
		.artifact = path,
		.cache = 1 << 20,
		.tmpdir = "/tmp",
		.sha256 = sha256,
		.limits = dec_limits_default(),
	};

	*msg = (struct gfs_message){ .exit = GFS_EXIT_OK };
	return gfs_open(&options, fs, msg);
}

static void opens_a_file(void **state)
{
	char *dir = scratch_new();
	char *path = scratch_file(dir, "kernel.ptx", ptx, sizeof(ptx) - 1);
	unsigned char digest[SHA256_DIGEST_LENGTH];
	struct gfs_message msg;
	struct gfs *fs;
	char hex[65];

	(void)state;
	SHA256((const unsigned char *)ptx, sizeof(ptx) - 1, digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(hex + 2 * i, 3, "%02X", digest[i]);
	if (open_file(path, hex, &fs, &msg) != 0)
		fail_msg("%s", msg.text);
	expect_text(fs, "objects/00000/payload", ptx);
	expect_text(fs, "targets/compute_90/objects", "00000\n");
	gfs_close(fs);
	scratch_free(dir);
	free(path);
}

static void explains_what_it_refuses(void **state)
{
	static const char other[] =
		"0000000000000000000000000000000000000000000000000000000000000000";
	static const struct {
		const char *what;
		const char *bytes;
		size_t size;
		const char *sha256;
		enum gfs_exit exit;
		const char *sentence;
	} cases[] = {
		{ "another digest", ptx, sizeof(ptx) - 1, other, GFS_EXIT_ARTIFACT,
		  "expected 0000" },
		{ "empty", "", 0, NULL, GFS_EXIT_ARTIFACT, "is empty" },
		/* LLVM bitcode is no container of GPU code (design, section 2). */
		{ "bitcode", "BC\xc0\xde\x35\x14\0\0", 8, NULL, GFS_EXIT_REFUSED, "" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *dir = scratch_new();
		char *path = scratch_file(dir, "input", cases[i].bytes, cases[i].size);
		struct gfs_message msg;
		struct gfs *fs;
		int rc = open_file(path, cases[i].sha256, &fs, &msg);

		if (rc >= 0 || fs || msg.exit != cases[i].exit)
			fail_msg("%s: %d, exit %d, %s", cases[i].what, rc, msg.exit, msg.text);
		if (!strstr(msg.text, "input: ") || !strstr(msg.text, cases[i].sentence))
			fail_msg("%s: \"%s\"", cases[i].what, msg.text);
		scratch_free(dir);
		free(path);
	}
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, hand_made, fixture_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(shows_what_the_inventory_says),
		WITH(shows_an_empty_inventory),
		WITH(walks_paths),
		WITH(agrees_with_itself),
		WITH(resumes_listings),
		WITH(knows_its_inode_numbers),
		WITH(reads_at_any_offset),
		WITH(refuses_to_read_directories),
		WITH(goes_stale),
		WITH(waits_for_the_digest),
		cmocka_unit_test(has_sound_tables),
		cmocka_unit_test(opens_a_file),
		cmocka_unit_test(explains_what_it_refuses),
	};

	return cmocka_run_group_tests_name("node", tests, NULL, NULL);
}
