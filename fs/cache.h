/*
 * Decoded payloads and rendered text, made once however many readers want them, kept
 * within a byte budget, the least recently used dropped first.
 *
 * A blob is immutable once made. What is larger than a quarter of the budget, or finds
 * no room beside blobs in use, lives in an unlinked temporary file instead of memory;
 * those files together are bounded as well. Blobs below GFS_SPILL_MIN always go to
 * memory, so the budget can be passed by that much per thread and no more.
 */
#ifndef GFS_CACHE_H
#define GFS_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node.h"

/* Below this a file descriptor and three system calls cost more than the memory. */
#define GFS_SPILL_MIN ((uint64_t)64 << 10)

/* Temporary files open at once, far below the usual limit of 1,024 descriptors. */
#define GFS_SPILL_FILES 64

struct gfs_cache;
struct gfs_blob;

/*
 * Makes a blob: calls gfs_blob_alloc() once and fills what it gives, or gfs_blob_adopt().
 * Runs without locks held; may get other keys from the cache, never its own. 0 or a negative
 * errno but -EINPROGRESS; -EIO is remembered as the key's answer, others are not. -EINTR is
 * the maker's alone: others who wait for the key make it themselves.
 */
typedef int (*gfs_make)(void *ctx, struct gfs_blob *blob);

struct gfs_cache_stats {
	uint64_t memory; /* bytes, overhead of every blob included */
	uint64_t spilled; /* bytes in temporary files */
	uint64_t files;
	uint64_t blobs; /* remembered failures included */
};

/* memory is the budget, spill the bound of all temporary files in tmpdir (borrowed).
 * NULL: out of memory. */
struct gfs_cache *gfs_cache_new(uint64_t memory, uint64_t spill, const char *tmpdir);
/* Every blob must have been put back. */
void gfs_cache_free(struct gfs_cache *cache);

/*
 * Finds the blob of key, or runs make() here and now. While another thread is making it:
 * with a waiter, queues it and gives -EINPROGRESS; without one, sleeps. On 0 the caller
 * owns a reference and ends it with gfs_blob_put().
 */
int gfs_cache_get(struct gfs_cache *cache, uint64_t key, gfs_make make, void *ctx,
		  struct gfs_waiter *waiter, struct gfs_blob **blob);

/* True: the waiter was queued and is no longer. */
bool gfs_cache_cancel(struct gfs_cache *cache, struct gfs_waiter *waiter);

struct gfs_cache_stats gfs_cache_stats(struct gfs_cache *cache);

/* For make(): size writable bytes, or NULL with *err -ENOMEM or -ENOSPC. */
void *gfs_blob_alloc(struct gfs_blob *blob, uint64_t size, int *err);

/* For make(): hands over an object that takes about bytes, so that the cache counts it and
 * ends it with release(). The blob has no bytes to read. */
void gfs_blob_adopt(struct gfs_blob *blob, void *object, uint64_t bytes,
		    void (*release)(void *object));
/* The adopted object; lives as long as the reference. */
const void *gfs_blob_object(const struct gfs_blob *blob);

/*
 * Storage for a while, counted and spilled as a blob's bytes are, but of no key. NULL with
 * *err -ENOMEM or -ENOSPC; else *scratch is to be freed, by any thread.
 */
void *gfs_scratch_alloc(struct gfs_cache *cache, uint64_t size, struct gfs_blob **scratch,
			int *err);
void gfs_scratch_free(struct gfs_blob *scratch); /* NULL is nothing */

uint64_t gfs_blob_size(const struct gfs_blob *blob);
/* NULL: they are in a file and can be copied only. */
const void *gfs_blob_bytes(const struct gfs_blob *blob);
/* Copies up to size bytes at offset; *got is short only at the end. */
int gfs_blob_read(const struct gfs_blob *blob, uint64_t offset, void *buf, size_t size,
		  size_t *got);
void gfs_blob_put(struct gfs_blob *blob);
/* As gfs_blob_put(), by who has read the end of a large blob. It is the first to go then,
 * unless somebody gets it again: a file read in order is read once, and the kernel has it. */
void gfs_blob_put_through(struct gfs_blob *blob);

#endif
