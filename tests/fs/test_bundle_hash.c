#include "fs_test.h"

#include <errno.h>

#include "build.h"
#include "node.h"
#include "options.h"
#include "tree_text.h"

/* A bundle of two entries, one of them empty, and what md5sum says of it: 634f0175 5579d395... */
static const struct bundle_entry entries[] = {
	{ "host-x86_64-unknown-linux-gnu-", "", 0 },
	{ "hipv4-amdgcn-amd-amdhsa--gfx906", "payload", 7 },
};
#define HASH UINT64_C(0x95d3795575014f63)

static const struct {
	const char *name;
	unsigned version, method;
	size_t field; /* where the hash is */
	uint64_t stored;
	const char *message; /* NULL: no problem */
} cases[] = {
	{ "v1 zlib", 1, CCOB_ZLIB, 12, HASH, NULL },
	{ "v2 zstd", 2, CCOB_ZSTD, 16, HASH, NULL },
	{ "v3 zstd", 3, CCOB_ZSTD, 24, HASH, NULL },
	{ "v1 zlib, first byte", 1, CCOB_ZLIB, 12, HASH ^ 1,
	  "the decoded bundle hashes to 0x95d3795575014f63, the header says 0x95d3795575014f62" },
	{ "v2 zstd, last byte", 2, CCOB_ZSTD, 16, HASH ^ UINT64_C(1) << 63,
	  "the decoded bundle hashes to 0x95d3795575014f63, the header says 0x15d3795575014f63" },
	{ "v3 zlib, nothing", 3, CCOB_ZLIB, 24, 0,
	  "the decoded bundle hashes to 0x95d3795575014f63, the header says 0x0000000000000000" },
	{ "v3 zstd, big-endian", 3, CCOB_ZSTD, 24, UINT64_C(0x634f01755579d395),
	  "the decoded bundle hashes to 0x95d3795575014f63, the header says 0x634f01755579d395" },
	{ "v3 zstd, the other half", 3, CCOB_ZSTD, 24, UINT64_C(0x36a9d2865373fa4a),
	  "the decoded bundle hashes to 0x95d3795575014f63, the header says 0x36a9d2865373fa4a" },
};

/* 16 bytes that are nothing, so that offsets do not count from the header. */
enum { AT = 16 };

static char *artifact(const char *dir, size_t i)
{
	struct bytes inner = { 0 }, b = { 0 };
	char *path;

	add_bundle(&inner, entries, COUNT(entries), 1);
	add_zeros(&b, AT);
	add_ccob(&b, cases[i].version, cases[i].method, &inner);
	set_le(&b, AT + cases[i].field, 8, cases[i].stored);
	path = scratch_file(dir, "bundles", b.p, b.len);
	bytes_free(&inner);
	bytes_free(&b);
	return path;
}

static struct gfs *opened(const char *path, uint64_t cache)
{
	struct gfs_options options;
	struct gfs_message msg;
	struct gfs *fs;

	gfs_options_init(&options);
	options.artifact = path;
	options.read_only = true;
	options.cache = cache;
	if (gfs_open(&options, &fs, &msg) != 0)
		fail_msg("%s", msg.text);
	return fs;
}

static void expect(struct gfs *fs, const char *path, size_t i, const char *message)
{
	char problem[1024] = "\"problems\":\t[]";
	char *text = slurp(fs, path);

	if (message)
		snprintf(problem, sizeof(problem),
			 "\"problems\":\t[{\n\t\t\t\"code\":\t\"hash_mismatch\",\n"
			 "\t\t\t\"offset\":\t%zu,\n\t\t\t\"field\":\t\"hash\",\n"
			 "\t\t\t\"message\":\t\"%s\"\n\t\t}]\n}\n",
			 AT + cases[i].field, message);
	if (!strstr(text, problem))
		fail_msg("%s: %s:\n%s\nexpected:\n%s", cases[i].name, path, text, problem);
	free(text);
}

static const char *const inspections[] = {
	"objects/00000/inspect/inspection.json",
	"objects/00001/inspect/inspection.json",
};
static const char *const elsewhere[] = {
	"objects/00000/object.json",
	"objects/00001/object.json",
	"containers/00000/container.json",
};

/* Whatever was read before, and however little is kept of it. */
static void says_it_with_the_objects_alone(void **state)
{
	static const char *const first[] = { NULL, "containers/00000/decoded",
					     "objects/00001/payload", "inspect/report.json" };
	char *dir = scratch_new();

	(void)state;
	for (size_t i = 0; i < COUNT(cases) * COUNT(first); i++) {
		size_t which = i / COUNT(first);
		const char *before = first[i % COUNT(first)];
		char *path = artifact(dir, which);
		struct gfs *fs = opened(path, (which + i) % 2 ? 0 : 1 << 20);

		if (before)
			free(slurp(fs, before));
		for (size_t k = 0; k < COUNT(inspections); k++)
			expect(fs, inspections[(k + i) % 2], which, cases[which].message);
		for (size_t k = 0; k < COUNT(elsewhere); k++)
			expect(fs, elsewhere[k], which, NULL);
		expect_text(fs, "problems.json", "[]\n");
		expect_text(fs, "objects/00001/payload", "payload");
		expect_part(fs, "objects/00001/inspect/inspection.json", "\"reasons\":\t[],");
		gfs_close(fs);
		free(path);
	}
	scratch_free(dir);
}

/* What does not decode has no hash, and its own problem. */
static void has_no_verdict_on_what_does_not_decode(void **state)
{
	char *dir = scratch_new();
	struct bytes inner = { 0 }, b = { 0 };
	char *path, *text;
	struct gfs *fs;

	(void)state;
	add_bundle(&inner, entries, COUNT(entries), 1);
	add_ccob(&b, 3, CCOB_ZSTD, &inner);
	set_le(&b, 16, 8, inner.len + 1); /* the uncompressed size */
	path = scratch_file(dir, "bundles", b.p, b.len);
	fs = opened(path, 1 << 20);
	text = slurp(fs, inspections[1]);
	assert_non_null(strstr(text, "decode_failed"));
	assert_null(strstr(text, "hash_mismatch"));
	free(text);
	gfs_close(fs);
	free(path);
	bytes_free(&inner);
	bytes_free(&b);
	scratch_free(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_it_with_the_objects_alone),
		cmocka_unit_test(has_no_verdict_on_what_does_not_decode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
