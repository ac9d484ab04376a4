/*
 * Examining payloads: one object for the files under its inspect/, or many of them for the
 * reports. Getting the bytes, asking decode, keeping the result.
 *
 * Functions that return int give 0 or a negative errno.
 */
#ifndef GFS_EXAMINE_H
#define GFS_EXAMINE_H

#include "examine_names.h"
#include "inspect.h"
#include "internal.h"
#include "node.h"

struct gfs_blob;

/* ---- the bytes of a payload --------------------------------------------------------- */

/* A payload in memory (or in a mapped temporary file), with storage that goes from one
 * object to the next. Zeroed: empty. */
struct gfs_payload {
	struct gfs_blob *storage;
	void *room; /* of storage */
	uint64_t room_size;
	bool there; /* else the object has none, or it does not decode */
	bool whole; /* room holds all of it, else what was asked for first */
	uint64_t size;
	struct dec_error why; /* if not there: DEC_E_DATA and the fault, DEC_OK if there is none */
};

/* Decodes, past the cache of payloads; only what lies in a compressed container comes from
 * that container's cached bytes. What is stored as it is waits until somebody asks. A broken
 * payload is no failure. */
int gfs_payload_load(struct gfs *fs, uint32_t object, struct gfs_payload *payload);
/* All of its bytes, which must be there. */
int gfs_payload_bytes(struct gfs *fs, uint32_t object, struct gfs_payload *payload,
		      const void **bytes);
/* What its size will be. */
uint64_t gfs_payload_size(const struct gfs *fs, uint32_t object);
void gfs_payload_fini(struct gfs_payload *payload);

/* Examines it; of a large one that waits, no more is read than that takes. */
int gfs_payload_inspect(struct gfs *fs, uint32_t object, const struct gfs_payload *payload,
			unsigned wants, struct dec_inspection **inspection);

#define GFS_DIGEST_SIZE 65

/* "" where there is no payload. */
int gfs_payload_sha256(struct gfs *fs, uint32_t object, struct gfs_payload *payload,
		       char hex[GFS_DIGEST_SIZE]);

/* ---- one object ----------------------------------------------------------------------- */

struct gfs_examined {
	struct dec_inspection *inspection;
	struct gfs_file_names names; /* of the kernels' directories */
	char sha256[GFS_DIGEST_SIZE]; /* of the payload; "": not computed, or no payload */
};

/*
 * Examines an object, once while it is cached; others wait meanwhile, as gfs_cache_get()
 * says. With digest the examination computes the digest too; one that is cached already
 * may be without. The caller ends *blob with gfs_blob_put(), and *examined with it.
 */
int gfs_examined_get(struct gfs *fs, uint32_t object, bool digest, struct gfs_waiter *waiter,
		     struct gfs_blob **blob, const struct gfs_examined **examined);

/* The digest of an object's payload, loaded for this; "" where there is no payload. */
int gfs_payload_digest(struct gfs *fs, uint32_t object, char hex[GFS_DIGEST_SIZE]);

/* ---- many objects ----------------------------------------------------------------------- */

/*
 * Examines count objects (objects NULL: those from 0 on) with as many threads as there are
 * CPUs, up to four, and keeps none of them. take() gets each once, from any of the threads,
 * several at a time, in no order; a negative errno from it ends the work. -EINTR when the
 * calling thread's stop of node.h says so.
 */
typedef int (*gfs_take)(void *ctx, uint32_t object, struct gfs_payload *payload,
			const struct dec_inspection *inspection);
int gfs_examine_all(struct gfs *fs, const uint32_t *objects, uint32_t count, gfs_take take,
		    void *ctx);

#endif
