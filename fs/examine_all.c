/* Many objects, by several threads: each takes the next object until there is none. */
#include "examine.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/* More threads would need more payloads in memory at once: four of a quarter of the cache's
 * budget each are all of it. */
#define THREADS_MAX 4

static _Thread_local struct {
	bool (*stop)(void *ctx);
	void *ctx;
} stopper;

void gfs_stop_set(bool (*stop)(void *ctx), void *ctx)
{
	stopper.stop = stop;
	stopper.ctx = ctx;
}

static _Thread_local struct {
	void (*tell)(void *ctx, uint64_t bytes);
	void *ctx;
} progress;

void gfs_progress_set(void (*tell)(void *ctx, uint64_t bytes), void *ctx)
{
	progress.tell = tell;
	progress.ctx = ctx;
}

struct work {
	struct gfs *fs;
	const uint32_t *objects;
	uint32_t count;
	gfs_take take;
	void *ctx;
	atomic_uint next;
	atomic_int error; /* the first one; not 0: everybody ends */
	atomic_uint_fast64_t untold; /* bytes examined that progress has not heard of */
};

static int examine_one(struct work *w, uint32_t object, struct gfs_payload *payload)
{
	struct dec_inspection *inspection;
	int rc = gfs_payload_load(w->fs, object, payload);

	if (rc == 0)
		rc = gfs_payload_inspect(w->fs, object, payload, 0, &inspection);
	if (rc != 0)
		return rc;
	rc = w->take(w->ctx, object, payload, inspection);
	dec_inspection_free(inspection);
	atomic_fetch_add(&w->untold, w->fs->artifact->objects[object].payload_size);
	return rc;
}

static void end(struct work *w, int error)
{
	int none = 0;

	atomic_compare_exchange_strong(&w->error, &none, error);
}

/* Helpers have no progress and leave what they did to the thread that has. */
static void tell_progress(struct work *w)
{
	uint64_t bytes = progress.tell ? atomic_exchange(&w->untold, 0) : 0;

	if (bytes > 0)
		progress.tell(progress.ctx, bytes);
}

/* Asks the stop of its own thread: helpers have none and see the error it leaves. */
static void *run(void *arg)
{
	struct work *w = arg;
	struct gfs_payload payload = { 0 };

	while (atomic_load(&w->error) == 0) {
		int rc = stopper.stop && stopper.stop(stopper.ctx) ? -EINTR : 0;
		uint32_t i = rc == 0 ? atomic_fetch_add(&w->next, 1) : 0;

		if (rc == 0 && i >= w->count)
			break;
		if (rc == 0)
			rc = examine_one(w, w->objects ? w->objects[i] : i, &payload);
		if (rc != 0)
			end(w, rc);
		tell_progress(w);
	}
	gfs_payload_fini(&payload);
	return NULL;
}

static unsigned helper_count(uint32_t objects)
{
	cpu_set_t set;
	unsigned threads = 1;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		threads = (unsigned)CPU_COUNT(&set);
	threads = threads < THREADS_MAX ? threads : THREADS_MAX;
	threads = threads < objects ? threads : objects;
	return threads > 0 ? threads - 1 : 0;
}

int gfs_examine_all(struct gfs *fs, const uint32_t *objects, uint32_t count, gfs_take take,
		    void *ctx)
{
	struct work work = { fs, objects, count, take, ctx, 0, 0, 0 };
	pthread_t helpers[THREADS_MAX];
	unsigned wanted = helper_count(count);
	unsigned started = 0;

	/* Without a helper this thread does more of it. */
	while (started < wanted && pthread_create(&helpers[started], NULL, run, &work) == 0)
		started++;
	run(&work);
	for (unsigned i = 0; i < started; i++)
		pthread_join(helpers[i], NULL);
	tell_progress(&work);
	return atomic_load(&work.error);
}
