/* /queues where memory runs out: each allocation fails in turn, and nothing is lost by it. */
#include "fs_test.h"

#include <errno.h>
#include <fcntl.h>

#include "alloc.h"
#include "options.h"
#include "queues.h"

static struct gfs *open_sample(void)
{
	struct gfs_options options;
	struct gfs_message msg;
	struct gfs *fs;

	gfs_options_init(&options);
	options.artifact = SAMPLE_FILE;
	assert_int_equal(gfs_open(&options, &fs, &msg), 0);
	return fs;
}

/* ---- what users do ----------------------------------------------------------------------- */

static int make_dir(struct gfs *fs, const char *parent, const char *name)
{
	struct gfs_node dir;

	assert_int_equal(gfs_walk(fs, parent, &dir), 0);
	return gfs_mkdir(fs, dir, name);
}

/* Written in two parts, 0 for one, then read from where the writing ended. */
static int use(struct gfs *fs, const char *path, const char *bytes, size_t first, size_t second)
{
	struct gfs_node node;
	struct gfs_file *f;
	static char text[1 << 16];
	size_t done = 0;
	int rc = gfs_walk(fs, path, &node);

	if (rc == 0)
		rc = gfs_file_open(fs, node, first ? O_RDWR : O_RDONLY, &f);
	if (rc != 0)
		return rc;
	if (first)
		rc = gfs_file_write(f, 0, 0, bytes, first, &done);
	if (rc == 0 && second)
		rc = gfs_file_write(f, 0, first, bytes + first, second, &done);
	if (rc == 0)
		rc = gfs_file_read(f, 0, 0, text, sizeof(text), &done, NULL);
	gfs_file_close(f);
	return rc;
}

/* The first failure ends it. */
static int use_all(struct gfs *fs)
{
	char packet[SG_PACKET_BYTES] = { 2, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0,
					 0, 1, 0, 0, 0, 1, 0, 0, 0, 1 };
	static const struct {
		const char *path;
		const char *text;
	} files[] = {
		{ "queues/memory/m/size", "4096" },    { "queues/signals/s/value", "3" },
		{ "queues/signals/s/wait", "eq 3 0" }, { "queues/signals/s/users", NULL },
		{ "queues/captures/0.json", NULL },    { "queues/captures/0.replay.json", NULL },
		{ "queues/q/slots/0.json", NULL },     { "queues/q/state", NULL },
		{ "queues/q/reserve", "1" },	       { "queues/q/verdicts", NULL },
		{ "queues/info.json", NULL },	       { "queues/trace", NULL },
		{ "queues/trace_pipe", NULL },
	};
	int rc = make_dir(fs, "queues", "q");

	if (rc == 0)
		rc = make_dir(fs, "queues/signals", "s");
	if (rc == 0)
		rc = make_dir(fs, "queues/memory", "m");
	if (rc == 0)
		rc = use(fs, "queues/q/packets", packet, 10, sizeof(packet) - 10);
	if (rc == 0)
		rc = use(fs, "queues/replay", packet, 10, sizeof(packet) - 10);
	for (size_t i = 0; i < COUNT(files) && rc == 0; i++)
		rc = use(fs, files[i].path, files[i].text,
			 files[i].text ? strlen(files[i].text) : 0, 0);
	return rc;
}

/* ---- the sweeps ---------------------------------------------------------------------------- */

static void test_open(void **state)
{
	struct gfs *fs = open_sample();
	struct gfs_message msg;
	unsigned n = 0;

	(void)state;
	while (!fs->queues) {
		int rc;

		alloc_fail_at(++n);
		rc = gfs_queues_open(fs, &msg);
		alloc_fail_at(0);
		if (rc != (fs->queues ? 0 : -ENOMEM))
			fail_msg("allocation %u: %d", n, rc);
	}
	assert_true(n > 5);
	gfs_close(fs);
}

/* What failed can be done afterwards, with the same names. */
static void test_use(void **state)
{
	struct gfs *fs = open_sample();
	struct gfs_message msg;
	bool reached = true;
	unsigned n;

	(void)state;
	assert_int_equal(gfs_queues_open(fs, &msg), 0);
	for (n = 1; reached; n++) {
		int rc;

		alloc_fail_at(n);
		rc = use_all(fs);
		reached = alloc_calls() >= n;
		alloc_fail_at(0);
		/* softgpu has one word for what it has no room for */
		if (rc != 0 && (!reached || (rc != -ENOMEM && rc != -ENOSPC)))
			fail_msg("allocation %u: %d", n, rc);
		assert_int_equal(use(fs, "queues/reset", "1", 1, 0), 0);
		if (use_all(fs) != 0)
			fail_msg("after allocation %u", n);
		assert_int_equal(use(fs, "queues/reset", "1", 1, 0), 0);
	}
	assert_true(n > 20);
	gfs_close(fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
