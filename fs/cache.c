#include "cache.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "block.h"
#include "full_read.h"
#include "spill.h"

enum blob_state { BLOB_MAKING, BLOB_READY, BLOB_FAILED };

struct gfs_blob {
	struct gfs_cache *cache;
	uint64_t key;
	struct gfs_blob *chain; /* next in the bucket */
	struct gfs_blob *newer; /* in the list of its store, or of those being made */
	struct gfs_blob *older;
	struct gfs_waiter *waiters;
	enum blob_state state;
	bool through; /* in the list of those read to their end */
	int error; /* of a failed one */
	uint32_t refs; /* one of them the table's */
	unsigned char *bytes; /* NULL: in the file */
	void *object; /* an adopted one instead of bytes */
	void (*release)(void *object);
	uint64_t size;
	uint64_t room; /* what is accounted: size, or more in a block that another had before */
	int fd; /* -1: in memory */
};

/* What a blob without bytes takes: itself, its share of the table, malloc's headers. */
#define OVERHEAD (sizeof(struct gfs_blob) + sizeof(void *) + 32)

#define BUCKETS_MIN ((size_t)256)

struct list {
	struct gfs_blob *newest;
	struct gfs_blob *oldest;
};

/* What was read to its end keeps this part of the memory. */
#define THROUGH_SHARE 16

/* A blob takes over a block of up to so many times its size. */
#define ROOM_FACTOR 32

/* One kind of storage. Blobs in use count but cannot be evicted. */
struct store {
	struct list made; /* without those in the list through */
	uint64_t used;
	uint64_t limit;
};

struct gfs_cache {
	pthread_mutex_t lock; /* of all below and of what is not immutable in blobs */
	pthread_cond_t settled; /* some blob left BLOB_MAKING */
	struct gfs_blob **buckets;
	size_t bucket_count; /* a power of two */
	size_t blob_count;
	struct store memory;
	struct store spill;
	uint64_t files;
	struct list through; /* in memory, read to their end */
	uint64_t through_used; /* of the memory's */
	struct list making;
	const char *tmpdir;
};

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

static struct store *store_of(struct gfs_cache *c, const struct gfs_blob *b)
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
	store_of(c, b)->used -= b->room;
	c->files -= b->fd >= 0;
}

/* Takes b out of the list of what was made or read to its end, or puts it in front of one. */
static void unlist(struct gfs_cache *c, struct gfs_blob *b)
{
	list_remove(b->through ? &c->through : &store_of(c, b)->made, b);
	c->through_used -= b->through ? b->room : 0;
	b->through = false;
}

static void relist(struct gfs_cache *c, struct gfs_blob *b, bool through)
{
	unlist(c, b);
	list_push(through ? &c->through : &store_of(c, b)->made, b);
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

/* From b on, towards the newest. */
static struct gfs_blob *unused(struct gfs_blob *b)
{
	while (b && b->refs > 1)
		b = b->newer;
	return b;
}

static void evict(struct gfs_cache *c, struct gfs_blob *b, struct gfs_blob **dead)
{
	unlist(c, b);
	table_remove(c, b);
	unref(c, b, dead);
}

/* Drops the oldest blob of the store that nobody uses, one read to its end before others.
 * False: there is none. */
static bool evict_one(struct gfs_cache *c, struct store *store, struct gfs_blob **dead)
{
	struct gfs_blob *b = store == &c->memory ? unused(c->through.oldest) : NULL;

	if (!b)
		b = unused(store->made.oldest);
	if (b)
		evict(c, b, dead);
	return b;
}

static bool make_room(struct gfs_cache *c, struct store *store, uint64_t size,
		      struct gfs_blob **dead)
{
	while (!fits(store, size))
		if (!evict_one(c, store, dead))
			return false;
	return true;
}

/* Not under the lock: giving back a gigabyte takes the kernel a while. */
static void free_content(struct gfs_blob *b)
{
	if (b->fd >= 0)
		close(b->fd);
	else
		gfs_block_free(b->bytes, b->room);
	if (b->release)
		b->release(b->object);
}

static void free_dead(struct gfs_blob *dead)
{
	for (struct gfs_blob *next; dead; dead = next) {
		next = dead->chain;
		free_content(dead);
		free(dead);
	}
}

/* ---- the bytes of a blob ---------------------------------------------------------- */

/*
 * Makes the list of what was read to its end short enough for one more of size bytes, and
 * gives b the block of one that goes. A reader of everything so stays in a few blocks: fresh
 * memory costs a page fault every 4 KiB, about what decoding into it costs, and what was
 * written last is still in the CPU's caches. False: no block fits (locked).
 */
static bool take_over(struct gfs_cache *c, struct gfs_blob *b, uint64_t size,
		      struct gfs_blob **dead)
{
	struct gfs_blob *old = unused(c->through.oldest);

	if (c->through_used + size <= c->memory.limit / THROUGH_SHARE)
		return false;
	while (old && (old->room < size || old->room / ROOM_FACTOR > size))
		old = unused(old->newer);
	if (old) {
		b->bytes = old->bytes;
		b->room = old->room;
		c->memory.used += old->room; /* evict() takes it off */
		evict(c, old, dead);
		old->bytes = NULL;
		return true;
	}
	while (c->through_used + size > c->memory.limit / THROUGH_SHARE) {
		old = unused(c->through.oldest);
		if (!old)
			break;
		evict(c, old, dead);
	}
	return false;
}

/* What a new block of size bytes is to have: where the next blob may take it over, room for
 * most of them (locked). */
static uint64_t room_for(const struct gfs_cache *c, uint64_t size)
{
	uint64_t room = gfs_block_round(size);

	return c->through_used > 0 && room <= c->memory.limit / THROUGH_SHARE ? room : size;
}

/* True: room is accounted, and b has a block already or is to get one. */
static bool reserve_memory(struct gfs_cache *c, struct gfs_blob *b, uint64_t size)
{
	struct gfs_blob *dead = NULL;
	bool small = size < GFS_SPILL_MIN;
	bool ok = false;

	pthread_mutex_lock(&c->lock);
	if (!small && size <= c->memory.limit / 4)
		ok = take_over(c, b, size, &dead);
	if (!ok && (small || size <= c->memory.limit / 4)) {
		uint64_t room = small ? size : room_for(c, size);

		ok = make_room(c, &c->memory, room, &dead) || small;
		b->room = ok ? room : 0;
		c->memory.used += b->room;
	}
	pthread_mutex_unlock(&c->lock);
	free_dead(dead);
	return ok;
}

static bool reserve_spill(struct gfs_cache *c, uint64_t size)
{
	struct gfs_blob *dead = NULL;
	bool ok;

	pthread_mutex_lock(&c->lock);
	ok = size <= c->spill.limit && make_room(c, &c->spill, size, &dead);
	while (ok && c->files >= GFS_SPILL_FILES)
		ok = evict_one(c, &c->spill, &dead);
	if (ok) {
		c->spill.used += size;
		c->files++;
	}
	pthread_mutex_unlock(&c->lock);
	free_dead(dead);
	return ok;
}

static void unreserve(struct gfs_cache *c, struct store *store, uint64_t size)
{
	pthread_mutex_lock(&c->lock);
	store->used -= size;
	c->files -= store == &c->spill;
	pthread_mutex_unlock(&c->lock);
}

static void *alloc_spilled(struct gfs_blob *b, uint64_t size, int *err)
{
	struct gfs_cache *c = b->cache;
	void *map;
	int fd;

	if (!reserve_spill(c, size)) {
		*err = -ENOSPC;
		return NULL;
	}
	fd = spill_open(c->tmpdir, size, &map);
	if (fd < 0) {
		unreserve(c, &c->spill, size);
		/* Whatever is wrong with tmpdir, its name is not what the reader asked for. */
		*err = fd == -ENOMEM ? fd : -ENOSPC;
		return NULL;
	}
	b->fd = fd;
	b->size = size;
	b->room = size;
	b->bytes = map;
	return map;
}

void *gfs_blob_alloc(struct gfs_blob *b, uint64_t size, int *err)
{
	struct gfs_cache *c = b->cache;

	assert(b->state == BLOB_MAKING && !b->bytes);
	if (size > SIZE_MAX / 2) {
		*err = -ENOMEM;
		return NULL;
	}
	if (!reserve_memory(c, b, size))
		return alloc_spilled(b, size, err);
	if (!b->bytes)
		b->bytes = gfs_block_new(b->room);
	if (!b->bytes) {
		unreserve(c, &c->memory, b->room);
		b->room = 0;
		*err = -ENOMEM;
		return NULL;
	}
	b->size = size;
	return b->bytes;
}

/* It exists already, so there is nothing to refuse: others make room for it. */
void gfs_blob_adopt(struct gfs_blob *b, void *object, uint64_t bytes, void (*release)(void *object))
{
	struct gfs_cache *c = b->cache;
	struct gfs_blob *dead = NULL;

	assert(b->state == BLOB_MAKING && !b->bytes && !b->object);
	pthread_mutex_lock(&c->lock);
	make_room(c, &c->memory, bytes, &dead);
	c->memory.used += bytes;
	pthread_mutex_unlock(&c->lock);
	free_dead(dead);
	b->object = object;
	b->release = release;
	b->size = bytes;
	b->room = bytes;
}

const void *gfs_blob_object(const struct gfs_blob *b)
{
	return b->object;
}

void *gfs_scratch_alloc(struct gfs_cache *c, uint64_t size, struct gfs_blob **scratch, int *err)
{
	struct gfs_blob *b = calloc(1, sizeof(*b));
	void *bytes;

	*scratch = NULL;
	*err = -ENOMEM;
	if (!b)
		return NULL;
	b->cache = c;
	b->fd = -1;
	bytes = gfs_blob_alloc(b, size, err);
	if (bytes)
		*scratch = b;
	else
		free(b);
	return bytes;
}

void gfs_scratch_free(struct gfs_blob *b)
{
	if (!b)
		return;
	if (b->fd >= 0)
		spill_unmap(b->bytes, b->size);
	unreserve(b->cache, store_of(b->cache, b), b->room);
	free_content(b);
	free(b);
}

uint64_t gfs_blob_size(const struct gfs_blob *b)
{
	return b->size;
}

int gfs_blob_read(const struct gfs_blob *b, uint64_t offset, void *buf, size_t size, size_t *got)
{
	uint64_t left = offset < b->size ? b->size - offset : 0;
	size_t n = size < left ? size : (size_t)left;
	int rc = 0;

	assert(!b->object);
	*got = 0;
	if (n == 0)
		return 0;
	if (b->fd >= 0)
		rc = gfs_full_read(b->fd, offset, buf, n);
	else
		memcpy(buf, b->bytes + offset, n);
	if (rc == 0)
		*got = n;
	return rc;
}

const void *gfs_blob_bytes(const struct gfs_blob *b)
{
	return b->fd < 0 ? b->bytes : NULL;
}

static void put(struct gfs_blob *b, bool through)
{
	struct gfs_cache *c = b->cache;
	struct gfs_blob *dead = NULL;

	pthread_mutex_lock(&c->lock);
	if (through && b->fd < 0 && b->size >= GFS_SPILL_MIN)
		relist(c, b, true);
	unref(c, b, &dead);
	pthread_mutex_unlock(&c->lock);
	free_dead(dead);
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
	make_room(c, &c->memory, OVERHEAD, dead);
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
	free_content(b);
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
		list_push(&store_of(c, b)->made, b);
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
	struct gfs_waiter *next;
	int error = make(ctx, b);

	if (b->fd >= 0) {
		spill_unmap(b->bytes, b->size);
		b->bytes = NULL;
	}
	if (error != 0)
		discard_bytes(c, b);
	pthread_mutex_lock(&c->lock);
	waiters = settle(c, b, error);
	pthread_mutex_unlock(&c->lock);
	for (; waiters; waiters = next) {
		next = waiters->next; /* done() may free it */
		waiters->done(waiters);
	}
	return error;
}

/* The blob is there, failed, or being made (locked). On 0 the caller has a reference. */
static int join(struct gfs_cache *c, struct gfs_blob *b, struct gfs_waiter *waiter,
		struct gfs_blob **dead)
{
	int error;

	if (b->state == BLOB_MAKING && waiter) {
		waiter->next = b->waiters;
		b->waiters = waiter;
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
	free_dead(dead);
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

static bool unqueue(struct gfs_blob *b, struct gfs_waiter *waiter)
{
	for (struct gfs_waiter **at = &b->waiters; *at; at = &(*at)->next) {
		if (*at == waiter) {
			*at = waiter->next;
			return true;
		}
	}
	return false;
}

bool gfs_cache_cancel(struct gfs_cache *c, struct gfs_waiter *waiter)
{
	bool found = false;

	pthread_mutex_lock(&c->lock);
	for (struct gfs_blob *b = c->making.newest; b && !found; b = b->older)
		found = unqueue(b, waiter);
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
	while (evict_one(c, &c->memory, &dead) || evict_one(c, &c->spill, &dead))
		;
	assert(c->blob_count == 0);
	free_dead(dead);
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
