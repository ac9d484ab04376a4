#include "cache_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "spill.h"
#include "waiter.h"

/* What a blob without bytes takes: itself, its share of the table, malloc's headers. */
#define OVERHEAD (sizeof(struct gfs_blob) + sizeof(void *) + 32)

#define BUCKETS_MIN ((size_t)256)

/* ---- lists and table (locked) ----------------------------------------------------- */

static void list_push(struct list *list, struct gfs_blob *b)
{
	b->newer = NULL;
	b->older = list->newest;
	if (list->newest)
		list->newest->newer = b;
	else
		list->oldest = b;
	list->newest = b;
}

static void list_remove(struct list *list, struct gfs_blob *b)
{
	if (b->newer)
		b->newer->older = b->older;
	else
		list->newest = b->older;
	if (b->older)
		b->older->newer = b->newer;
	else
		list->oldest = b->newer;
}

struct store *cache_store_of(struct gfs_cache *c, const struct gfs_blob *b)
{
	return b->fd >= 0 ? &c->spill : &c->memory;
}

/* Fibonacci hashing: neighbouring inode numbers differ in their low bits alone. */
static struct gfs_blob **bucket(struct gfs_cache *c, uint64_t key)
{
	return &c->buckets[(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (c->bucket_count - 1)];
}

static struct gfs_blob *table_find(struct gfs_cache *c, uint64_t key)
{
	struct gfs_blob *b = *bucket(c, key);

	while (b && b->key != key)
		b = b->chain;
	return b;
}

/* Where there is no memory to grow, chains get longer. */
static void table_grow(struct gfs_cache *c)
{
	struct gfs_blob **old = c->buckets;
	size_t old_count = c->bucket_count;
	struct gfs_blob **fresh = calloc(2 * old_count, sizeof(*fresh));

	if (!fresh)
		return;
	c->buckets = fresh;
	c->bucket_count = 2 * old_count;
	for (size_t i = 0; i < old_count; i++) {
		for (struct gfs_blob *b = old[i], *next; b; b = next) {
			struct gfs_blob **head = bucket(c, b->key);

			next = b->chain;
			b->chain = *head;
			*head = b;
		}
	}
	free(old);
}

static void table_add(struct gfs_cache *c, struct gfs_blob *b)
{
	struct gfs_blob **head;

	if (c->blob_count >= c->bucket_count)
		table_grow(c);
	head = bucket(c, b->key);
	b->chain = *head;
	*head = b;
	c->blob_count++;
}

static void table_remove(struct gfs_cache *c, struct gfs_blob *b)
{
	struct gfs_blob **at = bucket(c, b->key);

	while (*at != b)
		at = &(*at)->chain;
	*at = b->chain;
	b->chain = NULL;
	c->blob_count--;
}

/* ---- accounts and eviction (locked) ----------------------------------------------- */

static bool fits(const struct store *store, uint64_t size)
{
	return store->used <= store->limit && size <= store->limit - store->used;
}

/* Takes b's bytes, not its overhead, off the accounts. */
static void release_bytes(struct gfs_cache *c, const struct gfs_blob *b)
{
	cache_store_of(c, b)->used -= b->room;
	c->files -= b->fd >= 0;
}

/* Takes b out of the list of what was made or read to its end, or puts it in front of one. */
static void unlist(struct gfs_cache *c, struct gfs_blob *b)
{
	list_remove(b->through ? &c->through : &cache_store_of(c, b)->made, b);
	c->through_used -= b->through ? b->room : 0;
	b->through = false;
}

static void relist(struct gfs_cache *c, struct gfs_blob *b, bool through)
{
	unlist(c, b);
	list_push(through ? &c->through : &cache_store_of(c, b)->made, b);
	c->through_used += through ? b->room : 0;
	b->through = through;
}

/* Ends one reference; the last one moves b to the list of what is to be freed. */
static void unref(struct gfs_cache *c, struct gfs_blob *b, struct gfs_blob **dead)
{
	if (--b->refs > 0)
		return;
	release_bytes(c, b);
	c->memory.used -= OVERHEAD;
	b->chain = *dead;
	*dead = b;
}

struct gfs_blob *cache_unused(struct gfs_blob *b)
{
	while (b && b->refs > 1)
		b = b->newer;
	return b;
}

void cache_evict(struct gfs_cache *c, struct gfs_blob *b, struct gfs_blob **dead)
{
	unlist(c, b);
	table_remove(c, b);
	unref(c, b, dead);
}

bool cache_evict_one(struct gfs_cache *c, struct store *store, struct gfs_blob **dead)
{
	struct gfs_blob *b = store == &c->memory ? cache_unused(c->through.oldest) : NULL;

	if (!b)
		b = cache_unused(store->made.oldest);
	if (b)
		cache_evict(c, b, dead);
	return b;
}

bool cache_make_room(struct gfs_cache *c, struct store *store, uint64_t size,
		     struct gfs_blob **dead)
{
	while (!fits(store, size))
		if (!cache_evict_one(c, store, dead))
			return false;
	return true;
}

void cache_free_dead(struct gfs_blob *dead)
{
	for (struct gfs_blob *next; dead; dead = next) {
		next = dead->chain;
		cache_free_content(dead);
		free(dead);
	}
}

/* ---- references ------------------------------------------------------------------- */

static void put(struct gfs_blob *b, bool through)
{
	struct gfs_cache *c = b->cache;
	struct gfs_blob *dead = NULL;

	pthread_mutex_lock(&c->lock);
	if (through && b->fd < 0 && b->size >= GFS_SPILL_MIN)
		relist(c, b, true);
	unref(c, b, &dead);
	pthread_mutex_unlock(&c->lock);
	cache_free_dead(dead);
}

void gfs_blob_put(struct gfs_blob *b)
{
	put(b, false);
}

void gfs_blob_put_through(struct gfs_blob *b)
{
	put(b, true);
}

/* ---- making once ------------------------------------------------------------------ */

/* A blob about to be made: two references, the table's and the maker's. */
static struct gfs_blob *begin(struct gfs_cache *c, uint64_t key, struct gfs_blob **dead)
{
	struct gfs_blob *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->cache = c;
	b->key = key;
	b->fd = -1;
	b->refs = 2;
	cache_make_room(c, &c->memory, OVERHEAD, dead);
	c->memory.used += OVERHEAD;
	table_add(c, b);
	list_push(&c->making, b);
	return b;
}

/* Throws away what a failed make() left behind. */
static void discard_bytes(struct gfs_cache *c, struct gfs_blob *b)
{
	pthread_mutex_lock(&c->lock);
	release_bytes(c, b);
	pthread_mutex_unlock(&c->lock);
	cache_free_content(b);
	b->fd = -1;
	b->bytes = NULL;
	b->object = NULL;
	b->release = NULL;
	b->size = 0;
	b->room = 0;
}

/* Publishes the outcome, and returns those who queued for it. */
static struct gfs_waiter *settle(struct gfs_cache *c, struct gfs_blob *b, int error)
{
	struct gfs_waiter *waiters = b->waiters;

	b->waiters = NULL;
	b->error = error;
	b->state = error == 0 ? BLOB_READY : BLOB_FAILED;
	list_remove(&c->making, b);
	if (error == 0 || error == -EIO) {
		list_push(&cache_store_of(c, b)->made, b);
	} else {
		table_remove(c, b);
		b->refs--; /* the table's; the maker still has its own */
	}
	pthread_cond_broadcast(&c->settled);
	return waiters;
}

static int run(struct gfs_cache *c, struct gfs_blob *b, gfs_make make, void *ctx)
{
	struct gfs_waiter *waiters;
	int error = make(ctx, b);

	if (b->fd >= 0) {
		spill_unmap(b->bytes);
		b->bytes = NULL;
	}
	if (error != 0)
		discard_bytes(c, b);
	pthread_mutex_lock(&c->lock);
	waiters = settle(c, b, error);
	pthread_mutex_unlock(&c->lock);
	gfs_waiters_done(waiters);
	return error;
}

/* The blob is there, failed, or being made (locked). On 0 the caller has a reference. */
static int join(struct gfs_cache *c, struct gfs_blob *b, struct gfs_waiter *waiter,
		struct gfs_blob **dead)
{
	int error;

	if (b->state == BLOB_MAKING && waiter) {
		gfs_waiters_add(&b->waiters, waiter);
		return -EINPROGRESS;
	}
	b->refs++;
	if (b->state != BLOB_MAKING)
		relist(c, b, false);
	while (b->state == BLOB_MAKING)
		pthread_cond_wait(&c->settled, &c->lock);
	error = b->error;
	if (error != 0)
		unref(c, b, dead);
	return error;
}

/* *mine: it was made here. */
static int get(struct gfs_cache *c, uint64_t key, gfs_make make, void *ctx,
	       struct gfs_waiter *waiter, struct gfs_blob **blob, bool *mine)
{
	struct gfs_blob *dead = NULL;
	struct gfs_blob *b;
	int rc = 0;

	*blob = NULL;
	*mine = false;
	pthread_mutex_lock(&c->lock);
	b = table_find(c, key);
	if (b) {
		rc = join(c, b, waiter, &dead);
	} else {
		b = begin(c, key, &dead);
		*mine = b;
		rc = b ? 0 : -ENOMEM;
	}
	pthread_mutex_unlock(&c->lock);
	cache_free_dead(dead);
	if (*mine) {
		rc = run(c, b, make, ctx);
		if (rc != 0)
			gfs_blob_put(b);
	}
	if (rc == 0)
		*blob = b;
	return rc;
}

int gfs_cache_get(struct gfs_cache *c, uint64_t key, gfs_make make, void *ctx,
		  struct gfs_waiter *waiter, struct gfs_blob **blob)
{
	bool mine;
	int rc;

	do
		rc = get(c, key, make, ctx, waiter, blob, &mine);
	while (rc == -EINTR && !mine);
	return rc;
}

bool gfs_cache_cancel(struct gfs_cache *c, struct gfs_waiter *waiter)
{
	bool found = false;

	pthread_mutex_lock(&c->lock);
	for (struct gfs_blob *b = c->making.newest; b && !found; b = b->older)
		found = gfs_waiters_remove(&b->waiters, waiter);
	pthread_mutex_unlock(&c->lock);
	return found;
}

/* ---- lifetime --------------------------------------------------------------------- */

struct gfs_cache *gfs_cache_new(uint64_t memory, uint64_t spill, const char *tmpdir)
{
	struct gfs_cache *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->buckets = calloc(BUCKETS_MIN, sizeof(struct gfs_blob *));
	if (!c->buckets) {
		free(c);
		return NULL;
	}
	c->bucket_count = BUCKETS_MIN;
	c->memory.limit = memory;
	c->spill.limit = spill;
	c->tmpdir = tmpdir;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->settled, NULL);
	return c;
}

void gfs_cache_free(struct gfs_cache *c)
{
	struct gfs_blob *dead = NULL;

	if (!c)
		return;
	while (cache_evict_one(c, &c->memory, &dead) || cache_evict_one(c, &c->spill, &dead))
		;
	assert(c->blob_count == 0);
	cache_free_dead(dead);
	pthread_cond_destroy(&c->settled);
	pthread_mutex_destroy(&c->lock);
	free(c->buckets);
	free(c);
}

struct gfs_cache_stats gfs_cache_stats(struct gfs_cache *c)
{
	struct gfs_cache_stats stats;

	pthread_mutex_lock(&c->lock);
	stats = (struct gfs_cache_stats){ c->memory.used, c->spill.used, c->files, c->blob_count };
	pthread_mutex_unlock(&c->lock);
	return stats;
}
