/* The bytes of blobs: in memory, taken over from another blob, or in a temporary file. */
#include "cache_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "block.h"
#include "full_read.h"
#include "spill.h"

/* What was read to its end keeps this part of the memory. */
#define THROUGH_SHARE 16

/* A blob takes over a block of up to so many times its size. */
#define ROOM_FACTOR 32

/*
 * Makes the list of what was read to its end short enough for one more of size bytes, and
 * gives b the block of one that goes. A reader of everything so stays in a few blocks: fresh
 * memory costs a page fault every 4 KiB, about what decoding into it costs, and what was
 * written last is still in the CPU's caches. False: no block fits (locked).
 */
static bool take_over(struct gfs_cache *c, struct gfs_blob *b, uint64_t size,
		      struct gfs_blob **dead)
{
	struct gfs_blob *old = cache_unused(c->through.oldest);

	if (c->through_used + size <= c->memory.limit / THROUGH_SHARE)
		return false;
	while (old && (old->room < size || old->room / ROOM_FACTOR > size))
		old = cache_unused(old->newer);
	if (old) {
		b->bytes = old->bytes;
		b->room = old->room;
		c->memory.used += old->room; /* cache_evict() takes it off */
		cache_evict(c, old, dead);
		old->bytes = NULL;
		return true;
	}
	while (c->through_used + size > c->memory.limit / THROUGH_SHARE) {
		old = cache_unused(c->through.oldest);
		if (!old)
			break;
		cache_evict(c, old, dead);
	}
	return false;
}

/* From here on a block has room for others. Texts are smaller: they would count for what they
 * are not. */
#define ROOM_MIN (GFS_BLOCK_LARGE / 8)

/* What a new block of size bytes is to have: where the next blob may take it over, room for
 * most of them (locked). */
static uint64_t room_for(const struct gfs_cache *c, uint64_t size)
{
	uint64_t room = gfs_block_round(size);
	bool shared = size >= ROOM_MIN && c->through_used > 0;

	return shared && room <= c->memory.limit / THROUGH_SHARE ? room : size;
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

		ok = cache_make_room(c, &c->memory, room, &dead) || small;
		b->room = ok ? room : 0;
		c->memory.used += b->room;
	}
	pthread_mutex_unlock(&c->lock);
	cache_free_dead(dead);
	return ok;
}

static bool reserve_spill(struct gfs_cache *c, uint64_t size)
{
	struct gfs_blob *dead = NULL;
	bool ok;

	pthread_mutex_lock(&c->lock);
	ok = size <= c->spill.limit && cache_make_room(c, &c->spill, size, &dead);
	while (ok && c->files >= GFS_SPILL_FILES)
		ok = cache_evict_one(c, &c->spill, &dead);
	if (ok) {
		c->spill.used += size;
		c->files++;
	}
	pthread_mutex_unlock(&c->lock);
	cache_free_dead(dead);
	return ok;
}

static void unreserve(struct gfs_cache *c, struct store *store, uint64_t size)
{
	pthread_mutex_lock(&c->lock);
	store->used -= size;
	c->files -= store == &c->spill;
	pthread_mutex_unlock(&c->lock);
}

void cache_free_content(struct gfs_blob *b)
{
	if (b->fd >= 0)
		close(b->fd);
	else
		gfs_block_free(b->bytes, b->room);
	if (b->release)
		b->release(b->object);
}

/* True: there is one file less. */
static bool drop_spilled(struct gfs_cache *c)
{
	struct gfs_blob *dead = NULL;
	bool dropped;

	pthread_mutex_lock(&c->lock);
	dropped = cache_evict_one(c, &c->spill, &dead);
	pthread_mutex_unlock(&c->lock);
	cache_free_dead(dead);
	return dropped;
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
	/* A disk may be full, and descriptors used up, before our own bounds are reached. */
	do
		fd = spill_open(c->tmpdir, size, &map);
	while (fd < 0 && drop_spilled(c));
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
	cache_make_room(c, &c->memory, bytes, &dead);
	c->memory.used += bytes;
	pthread_mutex_unlock(&c->lock);
	cache_free_dead(dead);
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
		spill_unmap(b->bytes);
	unreserve(b->cache, cache_store_of(b->cache, b), b->room);
	cache_free_content(b);
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
