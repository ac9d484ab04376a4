/*
 * Private to the cache: cache.c finds and makes blobs, cache_bytes.c gives them their bytes.
 */
#ifndef GFS_CACHE_INTERNAL_H
#define GFS_CACHE_INTERNAL_H

#include <pthread.h>

#include "cache.h"

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

struct list {
	struct gfs_blob *newest;
	struct gfs_blob *oldest;
};

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

/* ---- cache.c, locked ----------------------------------------------------------------- */

/* Where b counts. */
struct store *cache_store_of(struct gfs_cache *c, const struct gfs_blob *b);
/* The first blob that nobody uses, from b on towards the newest; NULL: none. */
struct gfs_blob *cache_unused(struct gfs_blob *b);

/* What is dropped goes to a list for cache_free_dead(), which is to be called unlocked: giving
 * back a gigabyte takes the kernel a while. */
void cache_evict(struct gfs_cache *c, struct gfs_blob *b, struct gfs_blob **dead);
/* Drops the oldest blob of the store that nobody uses, one read to its end before others.
 * False: there is none. */
bool cache_evict_one(struct gfs_cache *c, struct store *store, struct gfs_blob **dead);
bool cache_make_room(struct gfs_cache *c, struct store *store, uint64_t size,
		     struct gfs_blob **dead);

/* ---- unlocked -------------------------------------------------------------------------- */

void cache_free_dead(struct gfs_blob *dead);
void cache_free_content(struct gfs_blob *b); /* cache_bytes.c */

#endif
