/* Opening an artifact, or saying why not. */
#include "fs_test.h"

#include <openssl/sha.h>

#include "internal.h"
#include "tree_text.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_a_file),
		cmocka_unit_test(explains_what_it_refuses),
	};

	return cmocka_run_group_tests_name("open", tests, NULL, NULL);
}
