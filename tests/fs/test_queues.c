/* /queues without a mount: the tree that comes and goes, packets that are written. */
#include "queue_files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "options.h"

/* ---- the tree -------------------------------------------------------------------------- */

struct visit {
	struct gfs *fs;
	unsigned int count;
	uint64_t next;
	char name[GFS_NAME_MAX + 1];
};

/* Every node comes back from its inode number and from its name. */
static int check_child(void *ctx, const char *name, struct gfs_node child, uint64_t next)
{
	struct visit *v = ctx;
	struct gfs_node found;
	struct stat st;

	(void)name;
	(void)next;
	v->count++;
	assert_true(gfs_is_live(child));
	assert_true(gfs_node_from_ino(v->fs, gfs_ino(child), &found));
	assert_ptr_equal(found.entry, child.entry);
	assert_int_equal(gfs_ino(found), gfs_ino(child));
	assert_int_equal(gfs_getattr(v->fs, child, &st), 0);
	if (gfs_is_dir(child))
		assert_int_equal(gfs_readdir(v->fs, child, 0, check_child, v), 0);
	return 0;
}

static void test_inodes(void **state)
{
	struct visit v = { .fs = *state };
	uint8_t packet[SG_PACKET_BYTES];

	assert_int_equal(make_dir(v.fs, "queues", "q"), 0);
	assert_int_equal(make_dir(v.fs, "queues/signals", "s"), 0);
	assert_int_equal(make_dir(v.fs, "queues/memory", "m"), 0);
	make_packet(packet, 1);
	struct gfs_file *f = open_file(v.fs, "queues/q/packets", O_WRONLY);
	assert_int_equal(put(f, 0, packet, sizeof(packet)), 0);
	gfs_file_close(f);
	assert_int_equal(gfs_readdir(v.fs, walk(v.fs, "queues"), 0, check_child, &v), 0);
	assert_int_equal(v.count, 12 + 3 + 4 * 5 - 1 + 24 + 64 + 6 + 6 + 3 + 1);
}

static int take_one(void *ctx, const char *name, struct gfs_node child, uint64_t next)
{
	struct visit *v = ctx;

	(void)child;
	if (v->count++)
		return 1;
	strcpy(v->name, name);
	v->next = next;
	return 0;
}

/* Lists one entry at a time; drop is removed once it has been listed. */
static unsigned int list_slowly(struct gfs *fs, const char *path, const char *drop)
{
	struct visit v = { .fs = fs };
	unsigned int total = 0;

	for (;;) {
		v.count = 0;
		assert_int_equal(gfs_readdir(fs, walk(fs, path), v.next, take_one, &v), 0);
		if (v.count == 0)
			return total;
		total++;
		if (drop && strcmp(v.name, drop) == 0)
			assert_int_equal(remove_dir(fs, path, drop), 0);
	}
}

static void test_listing(void **state)
{
	struct gfs *fs = *state;
	uint8_t packet[SG_PACKET_BYTES];
	struct gfs_file *f;
	char name[8];

	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		assert_int_equal(make_dir(fs, "queues/signals", name), 0);
	}
	assert_int_equal(list_slowly(fs, "queues/signals", "s1"), 5);
	assert_int_equal(list_slowly(fs, "queues/signals", "s4"), 4);
	assert_int_equal(list_slowly(fs, "queues/signals", NULL), 3);
	assert_int_equal(list_slowly(fs, "queues", NULL), 11);
	assert_int_equal(make_dir(fs, "queues", "q"), 0);
	make_packet(packet, 1);
	f = open_file(fs, "queues/q/packets", O_WRONLY);
	for (int i = 0; i < 3; i++)
		assert_int_equal(put(f, 64 * i, packet, sizeof(packet)), 0);
	gfs_file_close(f);
	assert_int_equal(list_slowly(fs, "queues/captures", NULL), 9);
	assert_int_equal(list_slowly(fs, "queues/q/slots", NULL), 64);
}

static void test_removed(void **state)
{
	struct gfs *fs = *state;
	struct gfs_node node, found;
	struct stat st;

	assert_int_equal(make_dir(fs, "queues", "q"), 0);
	node = walk(fs, "queues/q/slots/3.json");
	assert_int_equal(remove_dir(fs, "queues", "q"), 0);
	assert_false(gfs_node_from_ino(fs, gfs_ino(node), &found));
	assert_int_equal(gfs_getattr(fs, node, &st), -ENOENT);
	assert_int_equal(make_dir(fs, "queues", "q"), 0);
	assert_int_not_equal(gfs_ino(walk(fs, "queues/q/slots/3.json")), gfs_ino(node));
}

static void test_names(void **state)
{
	static const char *const wrong[] = { "00.json", "64.json", "-1.json", "1", "1.jso", "" };
	struct gfs *fs = *state;
	struct gfs_node node;

	assert_int_equal(make_dir(fs, "queues", "q"), 0);
	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_int_equal(gfs_lookup(fs, walk(fs, "queues/q/slots"), wrong[i], &node),
				 -ENOENT);
	assert_int_equal(gfs_lookup(fs, walk(fs, "queues"), "trace_pipe", &node), 0);
}

/* ---- numbers ------------------------------------------------------------------------------ */

static void test_numbers(void **state)
{
	static const struct {
		const char *word;
		int as_u64;
		int as_i64;
	} rows[] = {
		{ "0", 0, 0 },
		{ "0x0", 0, 0 },
		{ "0XfF", 0, 0 },
		{ "9223372036854775807", 0, 0 },
		{ "9223372036854775808", 0, -ERANGE },
		{ "0x8000000000000000", 0, -ERANGE },
		{ "18446744073709551615", 0, -ERANGE },
		{ "18446744073709551616", -ERANGE, -ERANGE },
		{ "-1", -EINVAL, 0 },
		{ "-9223372036854775808", -EINVAL, 0 },
		{ "-9223372036854775809", -EINVAL, -ERANGE },
		{ "--1", -EINVAL, -EINVAL },
		{ "+1", -EINVAL, -EINVAL },
		{ "0x", -EINVAL, -EINVAL },
		{ "x1", -EINVAL, -EINVAL },
		{ "1 ", -EINVAL, -EINVAL },
		{ "12a", -EINVAL, -EINVAL },
		{ "", -EINVAL, -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t u;
		int64_t n;

		if (gfs_parse_u64(rows[i].word, &u) != rows[i].as_u64 ||
		    gfs_parse_i64(rows[i].word, &n) != rows[i].as_i64)
			fail_msg("'%s'", rows[i].word);
	}
}

/* ---- packets ------------------------------------------------------------------------------- */

/* Three packets in two writes, cut everywhere. */
static void test_pieces(void **state)
{
	struct gfs *fs = *state;
	uint8_t packets[3 * SG_PACKET_BYTES];

	for (int i = 0; i < 3; i++)
		make_packet(packets + i * SG_PACKET_BYTES, (uint64_t)i + 7);
	assert_int_equal(make_dir(fs, "queues", "q"), 0);
	for (size_t cut = 1; cut < sizeof(packets); cut++) {
		struct gfs_file *f = open_file(fs, "queues/q/packets", O_WRONLY);
		char path[64];

		assert_int_equal(put(f, 0, packets, cut), 0);
		assert_int_equal(number(fs, "queues/q/read_index"), 3 * (cut - 1) + cut / 64);
		assert_int_equal(put(f, 0, packets + cut, 1), -ESPIPE);
		assert_int_equal(put(f, cut, packets + cut, sizeof(packets) - cut), 0);
		gfs_file_close(f);
		for (int i = 0; i < 3; i++) {
			snprintf(path, sizeof(path), "queues/captures/%zu.aql",
				 3 * (cut - 1) + (size_t)i);
			assert_memory_equal(content(fs, path), packets + i * SG_PACKET_BYTES, 64);
		}
	}
	assert_string_equal(content(fs, "queues/q/state"), "active\n");
}

static void test_full(void **state)
{
	struct gfs *fs = *state;
	uint8_t packets[65 * SG_PACKET_BYTES];
	struct gfs_file *f;
	size_t done;

	for (int i = 0; i < 65; i++)
		make_packet(packets + i * SG_PACKET_BYTES, (uint64_t)i);
	assert_int_equal(make_dir(fs, "queues", "q"), 0);
	assert_int_equal(store(fs, "queues/q/paused", "1"), 0);
	f = open_file(fs, "queues/q/packets", O_WRONLY);
	assert_int_equal(put(f, 0, packets, 10), 0);
	assert_int_equal(gfs_file_write(f, 0, 10, packets + 10, sizeof(packets) - 10, &done), 0);
	assert_int_equal(done, 64 * 64 - 10);
	assert_int_equal(gfs_file_write(f, 0, 4096, packets, 64, &done), -ENOSPC);
	assert_int_equal(gfs_file_write(f, O_NONBLOCK, 4096, packets, 64, &done), -EAGAIN);
	assert_int_equal(gfs_file_poll(f, NULL), POLLIN);
	assert_int_equal(store(fs, "queues/q/paused", "0"), 0);
	assert_int_equal(gfs_file_poll(f, NULL), POLLIN | POLLOUT);
	assert_int_equal(put(f, 4096, packets + 4096, 64), 0);
	assert_int_equal(number(fs, "queues/q/read_index"), 65);
	gfs_file_close(f);
}

/* ---- options ---------------------------------------------------------------------------------------- */

static void test_bounds(void **state)
{
	static const struct {
		const char *option;
		int rc;
	} rows[] = {
		{ "queue_max=64", 0 },	       { "queue_max=65", -EINVAL },
		{ "queue_max=0", -EINVAL },    { "queue_signals=1", 0 },
		{ "queue_trace=1", 0 },	       { "queue_trace=65537", -EINVAL },
		{ "queue_captures=65536", 0 }, { "queue_captures=4G", -EINVAL },
		{ "queue_kernarg=0", 0 },      { "queue_verdicts=0", -EINVAL },
		{ "queue_memory=4096", 0 },    { "queue_memory=4095", -EINVAL },
		{ "queue_memory=1G", 0 },      { "queue_memory_single=0", -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct gfs_options options;
		struct gfs_message msg;
		struct gfs *fs;
		int rc;

		gfs_options_init(&options);
		options.artifact = SAMPLE_FILE;
		assert_int_equal(gfs_options_set(&options, rows[i].option, &msg), 1);
		assert_int_equal(gfs_open(&options, &fs, &msg), 0);
		rc = gfs_queues_open(fs, &msg);
		gfs_close(fs);
		if (rc != rows[i].rc)
			fail_msg("%s: %d", rows[i].option, rc);
		if (rc != 0)
			assert_memory_equal(msg.text + 7, rows[i].option,
					    strcspn(rows[i].option, "="));
	}
}

/* Without a mount there is no /queues. */
static void test_absent(void **state)
{
	struct gfs_options options;
	struct gfs_message msg;
	struct gfs_node node;
	struct gfs *fs;

	(void)state;
	gfs_options_init(&options);
	options.artifact = SAMPLE_FILE;
	assert_int_equal(gfs_open(&options, &fs, &msg), 0);
	assert_int_equal(gfs_walk(fs, "queues", &node), -ENOENT);
	gfs_close(fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		QUEUES_TEST(test_inodes),	QUEUES_TEST(test_listing),
		QUEUES_TEST(test_removed),	QUEUES_TEST(test_names),
		cmocka_unit_test(test_numbers), QUEUES_TEST(test_pieces),
		QUEUES_TEST(test_full),		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
