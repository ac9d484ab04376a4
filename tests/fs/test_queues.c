/*
 * /queues without a mount: the tree that comes and goes, open files, and what a capture says
 * of the kernel that it dispatches.
 */
#include "fs_test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>

#include "options.h"
#include "queues.h"

/* ---- a sample with queues ------------------------------------------------------------- */

static int open_sample(void **state)
{
	struct gfs_options options;
	struct gfs_message msg;
	struct gfs *fs;

	gfs_options_init(&options);
	options.artifact = SAMPLE_FILE;
	assert_int_equal(gfs_open(&options, &fs, &msg), 0);
	assert_int_equal(gfs_queues_open(fs, &msg), 0);
	*state = fs;
	return 0;
}

static int close_sample(void **state)
{
	gfs_close(*state);
	return 0;
}

static struct gfs_node walk(struct gfs *fs, const char *path)
{
	struct gfs_node node;
	int rc = gfs_walk(fs, path, &node);

	if (rc != 0)
		fail_msg("%s: %s", path, strerror(-rc));
	return node;
}

static int make_dir(struct gfs *fs, const char *dir, const char *name)
{
	return gfs_mkdir(fs, walk(fs, dir), name);
}

static int remove_dir(struct gfs *fs, const char *dir, const char *name)
{
	return gfs_rmdir(fs, walk(fs, dir), name);
}

static struct gfs_file *open_file(struct gfs *fs, const char *path, int flags)
{
	struct gfs_file *file;

	assert_int_equal(gfs_file_open(fs, walk(fs, path), flags, &file), 0);
	return file;
}

/* What a file gives from an offset on, as text of the test's own. */
static char *text_at(struct gfs_file *f, uint64_t offset, struct gfs_waiter *waiter, int want)
{
	static char text[1 << 17];
	size_t got;

	assert_int_equal(gfs_file_read(f, 0, offset, text, sizeof(text) - 1, &got, waiter), want);
	text[got] = '\0';
	return text;
}

static char *content(struct gfs *fs, const char *path)
{
	struct gfs_file *f = open_file(fs, path, O_RDONLY);
	char *text = text_at(f, 0, NULL, 0);

	gfs_file_close(f);
	return text;
}

static int put(struct gfs_file *f, uint64_t offset, const void *bytes, size_t size)
{
	size_t done;
	int rc = gfs_file_write(f, 0, offset, bytes, size, &done);

	if (rc == 0)
		assert_int_equal(done, size);
	return rc;
}

static int store(struct gfs *fs, const char *path, const char *text)
{
	struct gfs_file *f = open_file(fs, path, O_WRONLY);
	int rc = put(f, 0, text, strlen(text));

	gfs_file_close(f);
	return rc;
}

static void write_le(uint8_t *at, int size, uint64_t value)
{
	for (int i = 0; i < size; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t number(struct gfs *fs, const char *path)
{
	return strtoull(content(fs, path), NULL, 0);
}

/* A dispatch of 64 work-items; the kernel_object tells one from another. */
static void make_packet(uint8_t packet[SG_PACKET_BYTES], uint64_t kernel_object)
{
	memset(packet, 0, SG_PACKET_BYTES);
	packet[0] = 2;
	packet[2] = 1;
	for (int i = 0; i < 3; i++) {
		write_le(packet + 4 + 2 * i, 2, i == 0 ? 64 : 1);
		write_le(packet + 12 + 4 * i, 4, i == 0 ? 64 : 1);
	}
	write_le(packet + 32, 8, kernel_object);
}

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

/* ---- logs ------------------------------------------------------------------------------------ */

static void test_follow(void **state)
{
	struct gfs *fs = *state;
	struct gfs_file *f = open_file(fs, "queues/trace", O_RDONLY);
	size_t first = strlen(text_at(f, 0, NULL, 0));

	assert_int_equal(make_dir(fs, "queues/signals", "a"), 0);
	assert_string_equal(text_at(f, first, NULL, 0), ""); /* what was seen has its end */
	assert_non_null(strstr(text_at(f, first, NULL, 0), "signal_create"));
	assert_string_equal(text_at(f, 1 << 20, NULL, 0), "");
	assert_int_equal(make_dir(fs, "queues/signals", "b"), 0);
	assert_non_null(strstr(text_at(f, 0, NULL, 0), "\"seq\":3")); /* anew */
	gfs_file_close(f);
}

static void test_pipe(void **state)
{
	struct gfs *fs = *state;
	struct gfs_file *f = open_file(fs, "queues/trace_pipe", O_RDONLY);
	const char *lost = "{\"type\":\"trace_lost\",\"count\":88}\n{";
	char byte[2] = "";
	char line[256] = "";
	size_t got;

	assert_int_equal(gfs_file_poll(f, NULL), POLLIN);
	do {
		assert_int_equal(gfs_file_read(f, 0, 0, byte, 1, &got, NULL), 0);
		strcat(line, byte);
	} while (byte[0] != '\n');
	assert_non_null(strstr(line, "runtime_init"));
	assert_int_equal(gfs_file_read(f, 0, 0, byte, 1, &got, NULL), -EAGAIN);
	assert_int_equal(gfs_file_poll(f, NULL), 0);
	for (int i = 0; i < 300; i++) {
		assert_int_equal(make_dir(fs, "queues/signals", "a"), 0);
		assert_int_equal(remove_dir(fs, "queues/signals", "a"), 0);
	}
	/* 601 events, of which one was read and 512 are there */
	assert_memory_equal(text_at(f, 0, NULL, 0), lost, strlen(lost));
	gfs_file_close(f);
}

/* ---- waiting ------------------------------------------------------------------------------------ */

struct counter {
	struct gfs_waiter waiter; /* first */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int done;
};

static void count_done(struct gfs_waiter *waiter)
{
	struct counter *c = (struct counter *)waiter;

	pthread_mutex_lock(&c->lock);
	c->done++;
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->lock);
}

#define COUNTER                                                                                    \
	{                                                                                          \
		{ count_done, NULL }, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0       \
	}

static void test_wait(void **state)
{
	struct gfs *fs = *state;
	struct counter c = COUNTER;
	struct gfs_file *f;

	assert_int_equal(make_dir(fs, "queues/signals", "s"), 0);
	f = open_file(fs, "queues/signals/s/wait", O_RDWR);
	assert_string_equal(text_at(f, 0, &c.waiter, 0), "");
	assert_int_equal(put(f, 0, "eq 5\n", 5), 0);
	text_at(f, 5, NULL, -EAGAIN);
	text_at(f, 5, &c.waiter, -EINPROGRESS);
	assert_int_equal(store(fs, "queues/signals/s/value", "4"), 0);
	assert_int_equal(c.done, 0);
	assert_int_equal(store(fs, "queues/signals/s/value", "5"), 0);
	assert_int_equal(c.done, 1);
	assert_int_equal(store(fs, "queues/signals/s/value", "6"), 0);
	assert_string_equal(text_at(f, 5, &c.waiter, 0), "satisfied 5\n");
	assert_string_equal(text_at(f, 7, &c.waiter, 0), "tisfied 5\n");
	assert_string_equal(text_at(f, 17, &c.waiter, 0), "");
	assert_int_equal(put(f, 17, "eq 7", 4), 0);
	text_at(f, 0, &c.waiter, -EINPROGRESS);
	assert_true(gfs_waiter_cancel(fs, &c.waiter));
	assert_false(gfs_waiter_cancel(fs, &c.waiter));
	text_at(f, 0, &c.waiter, -EINPROGRESS);
	assert_int_equal(remove_dir(fs, "queues/signals", "s"), 0);
	assert_int_equal(c.done, 2);
	assert_string_equal(text_at(f, 0, &c.waiter, 0), "cancelled 6\n");
	assert_int_equal(put(f, 0, "eq 7", 4), -ENODEV);
	gfs_file_close(f);
}

static void test_deadline(void **state)
{
	struct gfs *fs = *state;
	struct counter c = COUNTER;
	struct gfs_file *f;

	assert_int_equal(make_dir(fs, "queues/signals", "s"), 0);
	f = open_file(fs, "queues/signals/s/wait", O_RDWR);
	assert_int_equal(put(f, 0, "eq 5 0", 6), 0);
	assert_string_equal(text_at(f, 0, NULL, 0), "timed_out 1\n");
	assert_int_equal(put(f, 0, "eq 5 1000000", 12), 0);
	pthread_mutex_lock(&c.lock);
	if (gfs_file_poll(f, NULL) & POLLIN)
		c.done = 1; /* it was over already */
	else
		text_at(f, 0, &c.waiter, -EINPROGRESS);
	while (!c.done)
		pthread_cond_wait(&c.changed, &c.lock);
	pthread_mutex_unlock(&c.lock);
	assert_string_equal(text_at(f, 0, NULL, 0), "timed_out 1\n");
	assert_int_equal(put(f, 0, "eq 5 3600000000000", 18), 0);
	gfs_file_close(f);
}

static void test_reset(void **state)
{
	struct gfs *fs = *state;
	struct counter c = COUNTER;
	struct gfs_file *f, *g;

	assert_int_equal(make_dir(fs, "queues/signals", "s"), 0);
	assert_int_equal(make_dir(fs, "queues", "q"), 0);
	f = open_file(fs, "queues/signals/s/wait", O_RDWR);
	g = open_file(fs, "queues/q/verdicts", O_RDONLY);
	assert_int_equal(put(f, 0, "eq 5", 4), 0);
	text_at(f, 0, &c.waiter, -EINPROGRESS);
	assert_int_equal(store(fs, "queues/reset", "1\n"), 0);
	assert_int_equal(c.done, 1);
	assert_string_equal(text_at(f, 0, NULL, 0), "cancelled 1\n");
	text_at(g, 0, NULL, -ENODEV);
	gfs_file_close(f);
	gfs_file_close(g);
}

struct told {
	struct gfs_poller poller; /* first */
	int told;
	int dropped;
};

static void note_told(struct gfs_poller *poller)
{
	((struct told *)poller)->told++;
}

static void note_dropped(struct gfs_poller *poller)
{
	((struct told *)poller)->dropped++;
}

#define TOLD                                                                                       \
	{                                                                                          \
		{ note_told, note_dropped, NULL }, 0, 0                                            \
	}

static void test_pollers(void **state)
{
	struct gfs *fs = *state;
	struct told first = TOLD, second = TOLD;
	struct gfs_file *f;

	assert_int_equal(make_dir(fs, "queues/signals", "s"), 0);
	f = open_file(fs, "queues/signals/s/value", O_RDWR);
	assert_true(gfs_file_poll(f, NULL) & POLLPRI); /* nobody has read it yet */
	assert_string_equal(text_at(f, 0, NULL, 0), "1\n");
	assert_int_equal(gfs_file_poll(f, &first.poller), POLLOUT);
	assert_int_equal(gfs_file_poll(f, &second.poller), POLLOUT);
	assert_int_equal(first.dropped, 1);
	assert_int_equal(store(fs, "queues/signals/s/value", "1"), 0);
	assert_int_equal(second.told, 0);
	assert_int_equal(store(fs, "queues/signals/s/value", "2"), 0);
	assert_int_equal(second.told, 1);
	assert_int_equal(second.dropped, 0);
	assert_int_equal(gfs_file_poll(f, &first.poller), POLLIN | POLLPRI | POLLOUT);
	gfs_file_close(f);
	assert_int_equal(first.dropped, 2);
	assert_int_equal(first.told, 0);
}

/* Readiness that ended and came again is news, though nobody polled in between. */
static void test_edges(void **state)
{
	struct gfs *fs = *state;
	struct told told = TOLD;
	struct gfs_file *f = open_file(fs, "queues/trace_pipe", O_RDONLY);

	assert_int_equal(gfs_file_poll(f, &told.poller), POLLIN);
	text_at(f, 0, NULL, 0);
	assert_int_equal(make_dir(fs, "queues/signals", "s"), 0);
	assert_int_equal(told.told, 1);
	gfs_file_close(f);
}

/* ---- bindings ----------------------------------------------------------------------------------- */

#define KERNEL "objects/00007/inspect/kernels/"

/* The template of a kernel of the sample. */
static void template(struct gfs *fs, const char *kernel, uint8_t packet[SG_PACKET_BYTES])
{
	char path[128];
	size_t got;

	snprintf(path, sizeof(path), KERNEL "%s/dispatch.aql", kernel);
	assert_int_equal(gfs_read(fs, walk(fs, path), 0, packet, SG_PACKET_BYTES, &got, NULL), 0);
	assert_int_equal(got, SG_PACKET_BYTES);
}

/* What is read of the latest capture after this packet went in. */
static const char *capture(struct gfs *fs, const uint8_t packet[SG_PACKET_BYTES], const char *kind)
{
	struct gfs_file *f = open_file(fs, "queues/q/packets", O_WRONLY);
	char path[64];
	uint64_t n;

	assert_int_equal(put(f, 0, packet, SG_PACKET_BYTES), 0);
	gfs_file_close(f);
	n = number(fs, "queues/q/read_index") - 1;
	snprintf(path, sizeof(path), "queues/captures/%d.%s", (int)n, kind);
	return content(fs, path);
}

/* saxpy: 24 bytes of arguments at 8, at most 256 items. block_sum: 1024 bytes of LDS, 256x1x1. */
static const struct fit {
	const char *name;
	const char *kernel;
	int at; /* bytes of the template that are changed */
	int size;
	uint64_t value; /* an address: what is added to that of the memory */
	const char *findings;
} fits[] = {
	{ "template", "saxpy", 40, 8, 0, "[]" },
	{ "interior", "saxpy", 40, 8, 64, "[]" },
	{ "kernarg_missing", "saxpy", 40, 0, 0, "[\"kernarg_missing\"]" },
	{ "kernarg_foreign", "saxpy", 40, 8, 1 << 20, "[\"kernarg_foreign\"]" },
	{ "kernarg_short", "saxpy", 40, 8, 4096 - 16, "[\"kernarg_short\"]" },
	{ "kernarg_misaligned", "saxpy", 40, 8, 4, "[\"kernarg_misaligned\"]" },
	{ "group_segment_small", "block_sum", 28, 4, 1023, "[\"group_segment_small\"]" },
	{ "group_segment of more", "block_sum", 28, 4, 1025, "[]" },
	{ "workgroup_too_large", "saxpy", 4, 2, 257, "[\"workgroup_too_large\"]" },
	{ "workgroup_not_required", "block_sum", 4, 2, 128, "[\"workgroup_not_required\"]" },
};

static void test_findings(void **state)
{
	struct gfs *fs = *state;
	uint64_t address;

	assert_int_equal(make_dir(fs, "queues", "q"), 0);
	assert_int_equal(make_dir(fs, "queues/memory", "m"), 0);
	assert_int_equal(store(fs, "queues/memory/m/size", "4096"), 0);
	address = number(fs, "queues/memory/m/address");
	for (size_t i = 0; i < COUNT(fits); i++) {
		uint8_t packet[SG_PACKET_BYTES];
		char expected[128];
		const char *text;

		template(fs, fits[i].kernel, packet);
		if (fits[i].at != 40 || fits[i].size)
			write_le(packet + 40, 8, address);
		write_le(packet + fits[i].at, fits[i].size,
			 fits[i].value + (fits[i].at == 40 ? address : 0));
		write_le(packet + 12, 4, 1024);
		snprintf(expected, sizeof(expected), "\"findings\":\t%s", fits[i].findings);
		text = capture(fs, packet, "json");
		if (!strstr(text, expected))
			fail_msg("%s:\n%s", fits[i].name, text);
	}
}

static void test_arguments(void **state)
{
	static const uint8_t arguments[24] = { 1, 0, 0, 0, 2, 0, 0, 0, 3 };
	struct gfs *fs = *state;
	uint8_t packet[SG_PACKET_BYTES];
	struct gfs_file *f;
	const char *text;

	assert_int_equal(make_dir(fs, "queues", "q"), 0);
	assert_int_equal(make_dir(fs, "queues/memory", "m"), 0);
	assert_int_equal(store(fs, "queues/memory/m/size", "24"), 0);
	f = open_file(fs, "queues/memory/m/data", O_WRONLY);
	assert_int_equal(put(f, 0, arguments, sizeof(arguments)), 0);
	gfs_file_close(f);
	template(fs, "saxpy", packet);
	write_le(packet + 40, 8, number(fs, "queues/memory/m/address"));
	text = capture(fs, packet, "json");
	assert_non_null(strstr(text, "\"object\":\t\"00007\""));
	assert_non_null(strstr(text, "\"kernel\":\t\"saxpy\""));
	assert_non_null(strstr(text, "\"bytes\":\t\"01000000\""));
	assert_non_null(strstr(text, "\"bytes\":\t\"0300000000000000\""));
	assert_non_null(strstr(text, "\"kernarg_bytes\":\t\"010000000200000003\""));
	assert_non_null(strstr(capture(fs, packet, "replay.json"), "\"kernel\":\t\"saxpy\""));
}

static void test_unbound(void **state)
{
	static const uint64_t handles[] = {
		0, /* none */
		0xabcd, /* somebody else's */
		UINT64_C(0x4700ffff00000880), /* no such object */
		UINT64_C(0x4700000700000881), /* no descriptor there */
		UINT64_C(0x4700000000000000), /* an object without kernels of this kind */
	};
	struct gfs *fs = *state;
	uint8_t packet[SG_PACKET_BYTES];

	assert_int_equal(make_dir(fs, "queues", "q"), 0);
	for (size_t i = 0; i < COUNT(handles); i++) {
		make_packet(packet, handles[i]);
		assert_non_null(strstr(capture(fs, packet, "json"), "\"binding\":\tnull"));
	}
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

/* A kernel that needs scratch memory is not in the sample. */
static int open_scratch(void **state)
{
	struct gfs_options options;
	struct gfs_message msg;
	struct gfs *fs;

	gfs_options_init(&options);
	options.artifact = DATA_DIR "/amd/co/gfx90a_sramecc+_xnack-_v5.hsaco";
	assert_int_equal(gfs_open(&options, &fs, &msg), 0);
	assert_int_equal(gfs_queues_open(fs, &msg), 0);
	*state = fs;
	return 0;
}

static void test_private_segment(void **state)
{
	struct gfs *fs = *state;
	uint8_t packet[SG_PACKET_BYTES];
	size_t got;

	assert_int_equal(make_dir(fs, "queues", "q"), 0);
	assert_int_equal(gfs_read(fs, walk(fs, "objects/00000/inspect/kernels/priv/dispatch.aql"),
				  0, packet, sizeof(packet), &got, NULL),
			 0);
	assert_null(strstr(capture(fs, packet, "json"), "private_segment_small"));
	packet[24]--; /* one byte less */
	assert_non_null(strstr(capture(fs, packet, "json"), "\"private_segment_small\""));
}

#define ROW(fn) cmocka_unit_test_setup_teardown(fn, open_sample, close_sample)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(test_inodes),
		ROW(test_listing),
		ROW(test_removed),
		ROW(test_names),
		cmocka_unit_test(test_numbers),
		ROW(test_pieces),
		ROW(test_full),
		ROW(test_follow),
		ROW(test_pipe),
		ROW(test_wait),
		ROW(test_deadline),
		ROW(test_reset),
		ROW(test_pollers),
		ROW(test_edges),
		ROW(test_findings),
		cmocka_unit_test_setup_teardown(test_private_segment, open_scratch, close_sample),
		ROW(test_arguments),
		ROW(test_unbound),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
