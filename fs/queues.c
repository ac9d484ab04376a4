#include "queues.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"
#include "waiter.h"

/*
 * Directories of memory without any, at most: with the defaults of softgpu there can be as
 * many allocations (256 MiB in pieces of 4 KiB). Queues and signals are bounded by it.
 */
#define MEMORIES_MAX 65536

/* ---- errno -------------------------------------------------------------------------- */

int gfs_queues_errno(enum sg_status status)
{
	static const int errnos[] = {
		[SG_OK] = 0,
		[SG_NOT_INITIALIZED] = ENXIO,
		[SG_INVALID_ARGUMENT] = EINVAL,
		[SG_INVALID_AGENT] = ESTALE,
		[SG_INVALID_REGION] = ESTALE,
		[SG_INVALID_POOL] = ESTALE,
		[SG_INVALID_SIGNAL] = ESTALE,
		[SG_INVALID_QUEUE] = ESTALE,
		[SG_INVALID_QUEUE_CREATION] = EOPNOTSUPP,
		[SG_INVALID_ALLOCATION] = EFBIG,
		[SG_OUT_OF_RESOURCES] = ENOSPC,
		[SG_QUEUE_FULL] = ENOSPC,
		[SG_QUEUE_ERROR] = EIO,
		[SG_BUSY] = EBUSY,
		[SG_NOT_FOUND] = ENOENT,
	};

	return -errnos[status];
}

/* ---- when things changed ---------------------------------------------------------------- */

/* Changes with all that packets and signals can do to it behind its own files' back. */
static uint64_t mark_of(struct gfs_queues *q, const struct gfs_object *o)
{
	struct sg_signal_info signal;
	struct sg_queue_info queue;

	if (o->class == GFS_CLASS_SIGNAL && sg_signal_get_info(q->dev, o->handle, &signal) == SG_OK)
		return (uint64_t)signal.value;
	if (o->class == GFS_CLASS_QUEUE && sg_queue_get_info(q->dev, o->handle, &queue) == SG_OK)
		return ((queue.observed_through * 31 + queue.pending) * 31 + queue.read_index) *
			       31 +
		       queue.state;
	return 0;
}

/*
 * The latest change of anything is not before that of this object, and is all that is known
 * of it where it was changed through another.
 */
struct timespec gfs_object_changed(struct gfs_queues *q, struct gfs_object *o)
{
	uint64_t mark = mark_of(q, o);

	if (mark != o->mark) {
		o->mark = mark;
		o->changed = q->changed;
	}
	return o->changed;
}

/* ---- telling those who wait ------------------------------------------------------------ */

static unsigned int ready(struct gfs_file *f)
{
	unsigned int events = f->kind->ready ? f->kind->ready(f) : POLLIN | POLLOUT;

	if (f->at.object && f->at.object->gone)
		events |= POLLHUP;
	return events;
}

struct told {
	struct gfs_waiter *waiters;
	struct gfs_poller *pollers;
};

static void take_waiters(struct gfs_file *f, struct told *told)
{
	while (f->waiters) {
		struct gfs_waiter *waiter = f->waiters;

		f->waiters = waiter->next;
		gfs_waiters_add(&told->waiters, waiter);
	}
}

static void take_poller(struct gfs_file *f, struct told *told)
{
	f->poller->next = told->pollers;
	told->pollers = f->poller;
	f->poller = NULL;
}

/* Those of one file that have something to do now. */
static void take_ready(struct gfs_queues *q, struct gfs_file *f, struct told *told)
{
	unsigned int events = ready(f);

	if (events & (POLLIN | POLLHUP | POLLERR))
		take_waiters(f, told);
	if (f->poller && events & ~f->told)
		take_poller(f, told);
	if (!f->waiters && !f->poller)
		q->watched--;
}

static void tell(struct told *told)
{
	struct gfs_poller *poller = told->pollers;

	gfs_waiters_done(told->waiters);
	while (poller) {
		struct gfs_poller *next = poller->next;

		poller->tell(poller);
		poller = next;
	}
}

void gfs_queues_lock(struct gfs_queues *q)
{
	pthread_mutex_lock(&q->lock);
}

void gfs_queues_unlock(struct gfs_queues *q)
{
	pthread_mutex_unlock(&q->lock);
}

static void unlock_and_tell(struct gfs_queues *q)
{
	struct told told = { NULL, NULL };

	for (struct gfs_file *f = q->watched ? q->files : NULL; f; f = f->next) {
		if (f->waiters || f->poller)
			take_ready(q, f, &told);
	}
	pthread_mutex_unlock(&q->lock);
	tell(&told);
}

void gfs_queues_changed(struct gfs_queues *q, struct gfs_object *object)
{
	clock_gettime(CLOCK_REALTIME, &q->changed);
	if (object) {
		object->changed = q->changed;
		object->mark = mark_of(q, object);
	}
	unlock_and_tell(q);
}

bool gfs_queues_cancel(struct gfs_queues *q, struct gfs_waiter *waiter)
{
	bool found = false;

	gfs_queues_lock(q);
	for (struct gfs_file *f = q->files; f && !found; f = f->next) {
		found = gfs_waiters_remove(&f->waiters, waiter);
		if (found && !f->waiters && !f->poller)
			q->watched--;
	}
	gfs_queues_unlock(q);
	return found;
}

/* ---- deadlines --------------------------------------------------------------------------- */

#define SECOND UINT64_C(1000000000)

uint64_t gfs_queues_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

static void expire(struct gfs_queues *q)
{
	uint64_t now = gfs_queues_now();

	for (struct gfs_file *f = q->files; f; f = f->next) {
		if (f->deadline && f->deadline <= now) {
			f->deadline = 0;
			f->kind->expire(f);
		}
	}
}

/* 0: there is none. */
static uint64_t next_deadline(const struct gfs_queues *q)
{
	uint64_t next = 0;

	for (const struct gfs_file *f = q->files; f; f = f->next) {
		if (f->deadline && (!next || f->deadline < next))
			next = f->deadline;
	}
	return next;
}

static void sleep_until(struct gfs_queues *q, uint64_t when)
{
	struct timespec until = {
		.tv_sec = (time_t)(when / SECOND),
		.tv_nsec = (long)(when % SECOND),
	};

	if (when)
		pthread_cond_timedwait(&q->timer_wake, &q->lock, &until);
	else
		pthread_cond_wait(&q->timer_wake, &q->lock);
}

static void *run_timer(void *arg)
{
	struct gfs_queues *q = arg;

	gfs_queues_lock(q);
	while (!q->timer_stop) {
		expire(q);
		unlock_and_tell(q);
		gfs_queues_lock(q);
		if (!q->timer_stop)
			sleep_until(q, next_deadline(q));
	}
	gfs_queues_unlock(q);
	return NULL;
}

int gfs_queues_set_deadline(struct gfs_file *f, uint64_t deadline)
{
	struct gfs_queues *q = f->at.q;

	if (deadline && !q->timer_runs) {
		int err = pthread_create(&q->timer, NULL, run_timer, q);

		if (err)
			return -err;
		q->timer_runs = true;
	}
	f->deadline = deadline;
	if (deadline)
		pthread_cond_signal(&q->timer_wake);
	return 0;
}

static void stop_timer(struct gfs_queues *q)
{
	if (!q->timer_runs)
		return;
	gfs_queues_lock(q);
	q->timer_stop = true;
	pthread_cond_signal(&q->timer_wake);
	gfs_queues_unlock(q);
	pthread_join(q->timer, NULL);
}

/* ---- objects ------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct gfs_object *)a)->name, ((const struct gfs_object *)b)->name);
}

/* Where the first object from a number on is, or would be. */
static size_t position(const struct gfs_objects *all, uint64_t number)
{
	size_t low = 0;
	size_t high = all->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (all->at[middle]->number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct gfs_object *gfs_object_from(struct gfs_queues *q, enum gfs_class class, uint64_t number)
{
	const struct gfs_objects *all = &q->objects[class];
	size_t at = position(all, number);

	return at < all->count ? all->at[at] : NULL;
}

struct gfs_object *gfs_object_get(struct gfs_queues *q, enum gfs_class class, uint64_t number)
{
	struct gfs_object *o = gfs_object_from(q, class, number);

	return o && o->number == number ? o : NULL;
}

struct gfs_object *gfs_object_named(struct gfs_queues *q, enum gfs_class class, const char *name)
{
	struct gfs_object key = { 0 };
	struct gfs_object *const *found;

	if (strlen(name) > GFS_OBJECT_NAME_MAX)
		return NULL;
	strcpy(key.name, name);
	found = tfind(&key, &q->objects[class].by_name, compare_names);
	return found ? *found : NULL;
}

void gfs_object_put(struct gfs_object *o)
{
	if (o && --o->refs == 0)
		free(o);
}

static bool make_room(struct gfs_objects *all)
{
	size_t room = all->room ? 2 * all->room : 16;
	struct gfs_object **at;

	if (all->count < all->room)
		return true;
	at = realloc(all->at, room * sizeof(struct gfs_object *));
	if (!at)
		return false;
	all->at = at;
	all->room = room;
	return true;
}

static int create(struct gfs_queues *q, struct gfs_object *o)
{
	struct sg_device_info info;
	enum sg_status status = SG_OK;

	if (o->class == GFS_CLASS_QUEUE) {
		sg_device_get_info(q->dev, &info);
		status = sg_queue_create(q->dev, info.agent, q->defaults.size, q->defaults.type,
					 &o->handle);
	} else if (o->class == GFS_CLASS_SIGNAL) {
		status = sg_signal_create(q->dev, q->defaults.initial, &o->handle);
	} else if (q->objects[o->class].count == MEMORIES_MAX) {
		status = SG_OUT_OF_RESOURCES;
	}
	return gfs_queues_errno(status);
}

static void destroy(struct gfs_queues *q, const struct gfs_object *o)
{
	if (o->class == GFS_CLASS_QUEUE)
		sg_queue_destroy(q->dev, o->handle);
	else if (o->class == GFS_CLASS_SIGNAL)
		sg_signal_destroy(q->dev, o->handle);
	else if (o->handle)
		sg_memory_free(q->dev, o->handle);
}

/* Numbers rise, so the end is where it belongs. */
static int enlist(struct gfs_queues *q, struct gfs_object *o)
{
	struct gfs_objects *all = &q->objects[o->class];

	if (q->last_number + 1 >= GFS_INDEX_MAX)
		return -ENOSPC;
	if (!make_room(all) || !tsearch(o, &all->by_name, compare_names))
		return -ENOMEM;
	o->number = ++q->last_number;
	all->at[all->count++] = o;
	return 0;
}

static void unlist(struct gfs_queues *q, struct gfs_object *o)
{
	struct gfs_objects *all = &q->objects[o->class];
	size_t at = position(all, o->number);

	all->count--;
	memmove(&all->at[at], &all->at[at + 1], (all->count - at) * sizeof(struct gfs_object *));
	tdelete(o, &all->by_name, compare_names);
	o->gone = true;
}

int gfs_object_make(struct gfs_queues *q, enum gfs_class class, const char *name)
{
	struct gfs_object *o;
	int rc;

	if (gfs_object_named(q, class, name))
		return -EEXIST;
	o = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	o->class = class;
	o->refs = 1;
	o->space = SG_SPACE_REGION_FINE_KERNARG;
	strcpy(o->name, name);
	rc = enlist(q, o);
	if (rc == 0) {
		rc = create(q, o);
		if (rc != 0)
			unlist(q, o);
	}
	if (rc != 0) {
		gfs_object_put(o);
		return rc;
	}
	clock_gettime(CLOCK_REALTIME, &o->changed);
	o->mark = mark_of(q, o);
	return 0;
}

void gfs_object_remove(struct gfs_queues *q, struct gfs_object *o)
{
	destroy(q, o);
	unlist(q, o);
	gfs_object_put(o);
}

void gfs_queues_reset(struct gfs_queues *q)
{
	struct sg_stats stats;

	sg_capture_get_stats(q->dev, &stats);
	q->capture_base += stats.total;
	sg_device_shutdown(q->dev);
	for (int class = 0; class < GFS_CLASS_COUNT; class ++) {
		struct gfs_objects *all = &q->objects[class];

		while (all->count) {
			struct gfs_object *o = all->at[all->count - 1];

			unlist(q, o);
			gfs_object_put(o);
		}
	}
	sg_device_init(q->dev);
}

/* ---- opening and closing ------------------------------------------------------------------- */

static void init_timer(struct gfs_queues *q)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&q->timer_wake, &attr);
	pthread_condattr_destroy(&attr);
}

int gfs_queues_open(struct gfs *fs, struct gfs_message *msg)
{
	struct gfs_queues *q = calloc(1, sizeof(*q));
	int rc;

	if (!q) {
		gfs_message_set(msg, GFS_EXIT_FAILURE, "queues: out of memory");
		return -ENOMEM;
	}
	rc = gfs_device_open(&fs->options.queues, &q->dev, msg);
	if (rc != 0) {
		free(q);
		return rc;
	}
	q->fs = fs;
	q->mode = (mode_t)fs->options.queues.mode;
	q->defaults.size = 64;
	q->defaults.initial = 1; /* what a completion signal wants */
	pthread_mutex_init(&q->lock, NULL);
	init_timer(q);
	clock_gettime(CLOCK_REALTIME, &q->changed);
	fs->queues = q;
	return 0;
}

static void no_free(void *object)
{
	(void)object; /* the array's too */
}

void gfs_queues_close(struct gfs_queues *q)
{
	if (!q)
		return;
	stop_timer(q);
	while (q->files)
		gfs_file_close(q->files);
	for (int class = 0; class < GFS_CLASS_COUNT; class ++) {
		struct gfs_objects *all = &q->objects[class];

		tdestroy(all->by_name, no_free);
		for (size_t i = 0; i < all->count; i++)
			gfs_object_put(all->at[i]);
		free(all->at);
	}
	sg_device_close(q->dev);
	pthread_cond_destroy(&q->timer_wake);
	pthread_mutex_destroy(&q->lock);
	free(q);
}
