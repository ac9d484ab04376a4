/* Who makes a blob, who waits for it meanwhile, and what a crowd does to the budget. */
#include "fs_test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "cache.h"

#define MIB ((uint64_t)1 << 20)

/* A blob whose making waits until the test says so. */
struct gate {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	struct gfs_cache *cache;
	atomic_int second; /* the thread id of who came second */
	bool entered;
	bool open;
	int error;
	int made;
	int done;
};

struct counting_waiter {
	struct gfs_waiter waiter; /* first */
	struct gate *gate;
};

static int make_gated(void *ctx, struct gfs_blob *blob)
{
	struct gate *g = ctx;
	unsigned char *to;
	int rc = 0;

	pthread_mutex_lock(&g->lock);
	g->made++;
	g->entered = true;
	pthread_cond_broadcast(&g->moved);
	while (!g->open)
		pthread_cond_wait(&g->moved, &g->lock);
	pthread_mutex_unlock(&g->lock);
	to = gfs_blob_alloc(blob, 1, &rc);
	if (!to)
		return rc;
	*to = 'g';
	return g->error;
}

static void *get_gated(void *arg)
{
	struct gate *g = arg;
	struct gfs_blob *blob;
	int rc = gfs_cache_get(g->cache, 1, make_gated, g, NULL, &blob);

	if (rc == 0)
		gfs_blob_put(blob);
	return rc == g->error ? NULL : arg;
}

/* As a front does: the bytes are asked for again, from the thread that made them. */
static void waiter_done(struct gfs_waiter *waiter)
{
	struct gate *g = ((struct counting_waiter *)waiter)->gate;
	struct gfs_blob *blob = NULL;

	if (g->error == 0) {
		assert_int_equal(gfs_cache_get(g->cache, 1, make_gated, g, NULL, &blob), 0);
		gfs_blob_put(blob);
	}
	pthread_mutex_lock(&g->lock);
	g->done++;
	pthread_mutex_unlock(&g->lock);
	free(waiter);
}

static struct gfs_waiter *waiter_new(struct gate *g)
{
	struct counting_waiter *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->waiter.done = waiter_done;
	w->gate = g;
	return &w->waiter;
}

static void gate_enter(struct gate *g, pthread_t *maker)
{
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->moved, NULL);
	g->cache = gfs_cache_new(MIB, MIB, "/tmp");
	assert_non_null(g->cache);
	assert_int_equal(pthread_create(maker, NULL, get_gated, g), 0);
	pthread_mutex_lock(&g->lock);
	while (!g->entered)
		pthread_cond_wait(&g->moved, &g->lock);
	pthread_mutex_unlock(&g->lock);
}

static void gate_open(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	g->open = true;
	pthread_cond_broadcast(&g->moved);
	pthread_mutex_unlock(&g->lock);
}

static void gate_fini(struct gate *g)
{
	gfs_cache_free(g->cache);
	pthread_cond_destroy(&g->moved);
	pthread_mutex_destroy(&g->lock);
}

static void one_makes_and_others_wait(void **state)
{
	static const struct {
		const char *what;
		int error;
	} cases[] = { { "made", 0 }, { "broken", -EIO }, { "no memory", -ENOMEM } };
	enum { SLEEPERS = 6, QUEUED = 5 };

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gate g = { .error = cases[i].error };
		pthread_t maker;
		pthread_t sleepers[SLEEPERS];
		struct gfs_blob *blob;
		void *wrong;

		gate_enter(&g, &maker);
		for (int n = 0; n < QUEUED; n++)
			assert_int_equal(
				gfs_cache_get(g.cache, 1, make_gated, &g, waiter_new(&g), &blob),
				-EINPROGRESS);
		for (int n = 0; n < SLEEPERS; n++)
			assert_int_equal(pthread_create(&sleepers[n], NULL, get_gated, &g), 0);
		gate_open(&g);
		pthread_join(maker, &wrong);
		if (wrong)
			fail_msg("%s: the maker got something else", cases[i].what);
		for (int n = 0; n < SLEEPERS; n++) {
			pthread_join(sleepers[n], &wrong);
			if (wrong)
				fail_msg("%s: a sleeper got something else", cases[i].what);
		}
		if (g.done != QUEUED)
			fail_msg("%s: %d of the queued were told", cases[i].what, g.done);
		/* A sleeper that came late may make again what was not kept. */
		if (g.error != -ENOMEM && g.made != 1)
			fail_msg("%s: made %d times", cases[i].what, g.made);
		gate_fini(&g);
	}
}

static int make_counted(void *ctx, struct gfs_blob *blob)
{
	int *made = ctx;
	int rc = 0;

	(*made)++;
	return gfs_blob_alloc(blob, 8, &rc) ? 0 : rc;
}

/* Whoever waited for an interrupted maker makes it himself. */
static void *get_after_interrupt(void *arg)
{
	struct gate *g = arg;
	struct gfs_blob *blob;
	int made = 0;
	int rc;

	atomic_store(&g->second, gettid());
	rc = gfs_cache_get(g->cache, 1, make_counted, &made, NULL, &blob);
	if (rc != 0 || made != 1)
		return arg;
	gfs_blob_put(blob);
	return NULL;
}

/* 'S' for a thread that sleeps, 0 for one that has ended. */
static char state_of(int thread)
{
	char path[64];
	char line[256];
	const char *behind_name = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", thread);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (fgets(line, sizeof(line), f))
		behind_name = strrchr(line, ')');
	fclose(f);
	return behind_name ? behind_name[2] : 0;
}

static void await_second(struct gate *g)
{
	int thread;
	char state;

	do {
		sched_yield();
		thread = atomic_load(&g->second);
		state = thread ? state_of(thread) : 'R';
	} while (state && state != 'S');
	assert_int_equal(state, 'S');
}

static void interrupts_the_maker_alone(void **state)
{
	struct gate g = { .error = -EINTR };
	pthread_t maker, other;
	void *failed;

	(void)state;
	gate_enter(&g, &maker);
	assert_int_equal(pthread_create(&other, NULL, get_after_interrupt, &g), 0);
	await_second(&g);
	gate_open(&g);
	assert_int_equal(pthread_join(maker, &failed), 0);
	assert_null(failed);
	assert_int_equal(pthread_join(other, &failed), 0);
	assert_null(failed);
	gate_fini(&g);
}

static void cancels_queued_waiters(void **state)
{
	struct gate g = { .error = 0 };
	struct gfs_waiter *waiters[3];
	struct gfs_blob *blob;
	pthread_t maker;
	void *wrong;

	(void)state;
	gate_enter(&g, &maker);
	for (int i = 0; i < 3; i++) {
		waiters[i] = waiter_new(&g);
		assert_int_equal(gfs_cache_get(g.cache, 1, make_gated, &g, waiters[i], &blob),
				 -EINPROGRESS);
	}
	assert_true(gfs_cache_cancel(g.cache, waiters[1]));
	assert_false(gfs_cache_cancel(g.cache, waiters[1]));
	free(waiters[1]);
	gate_open(&g);
	pthread_join(maker, &wrong);
	assert_null(wrong);
	assert_int_equal(g.done, 2);
	gate_fini(&g);
}

/* Many threads over few keys in a budget that holds only some of them. */
struct crowd {
	struct gfs_cache *cache;
	atomic_int wrong;
};

static int make_numbered(void *ctx, struct gfs_blob *blob)
{
	uint64_t key = *(const uint64_t *)ctx;
	int rc = 0;
	unsigned char *to;

	if (key % 7 == 3)
		return key % 2 ? -EIO : -ENOMEM;
	to = gfs_blob_alloc(blob, 5000 * (key + 1), &rc);
	if (to)
		memset(to, (int)key, 5000 * (size_t)(key + 1));
	return rc;
}

static void *crowd_member(void *arg)
{
	struct crowd *crowd = arg;
	unsigned seed = (unsigned)(uintptr_t)&crowd;
	unsigned char bytes[64];
	size_t got;

	for (int i = 0; i < 2000; i++) {
		uint64_t key = (uint64_t)rand_r(&seed) % 40;
		struct gfs_blob *blob;
		int rc = gfs_cache_get(crowd->cache, key, make_numbered, &key, NULL, &blob);

		if ((rc != 0) != (key % 7 == 3))
			atomic_fetch_add(&crowd->wrong, 1);
		if (rc != 0)
			continue;
		rc = gfs_blob_read(blob, 5000 * key + 4936, bytes, sizeof(bytes), &got);
		if (rc != 0 || got != sizeof(bytes) || bytes[0] != key || bytes[63] != key)
			atomic_fetch_add(&crowd->wrong, 1);
		gfs_blob_put(blob);
	}
	return NULL;
}

static void serves_a_crowd(void **state)
{
	struct crowd crowd = { .cache = gfs_cache_new(MIB / 2, 8 * MIB, "/tmp") };
	pthread_t threads[8];

	(void)state;
	assert_non_null(crowd.cache);
	for (size_t i = 0; i < COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, crowd_member, &crowd), 0);
	for (size_t i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&crowd.wrong), 0);
	assert_true(gfs_cache_stats(crowd.cache).memory <= MIB / 2 + 8 * GFS_SPILL_MIN);
	gfs_cache_free(crowd.cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_makes_and_others_wait),
		cmocka_unit_test(interrupts_the_maker_alone),
		cmocka_unit_test(cancels_queued_waiters),
		cmocka_unit_test(serves_a_crowd),
	};

	return cmocka_run_group_tests_name("cache, threads", tests, NULL, NULL);
}
