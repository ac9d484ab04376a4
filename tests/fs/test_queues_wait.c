/* Files of /queues that are read on and waited for: logs, signals, polls. */
#include "queue_files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		QUEUES_TEST(test_follow),   QUEUES_TEST(test_pipe),  QUEUES_TEST(test_wait),
		QUEUES_TEST(test_deadline), QUEUES_TEST(test_reset), QUEUES_TEST(test_pollers),
		QUEUES_TEST(test_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
