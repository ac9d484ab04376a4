#include "examine.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <openssl/evp.h>

#include "block.h"
#include "cache.h"
#include "source.h"
#include "tree.h"

/* ---- the bytes of a payload --------------------------------------------------------- */

static int make_room(struct gfs *fs, struct gfs_payload *p, uint64_t size)
{
	int rc = 0;

	if (p->storage && p->room_size >= size)
		return 0;
	gfs_payload_fini(p);
	if (size > GFS_BLOCK_LARGE / 8) /* the next one is larger, or smaller */
		size = gfs_block_round(size);
	p->room = gfs_scratch_alloc(fs->cache, size, &p->storage, &rc);
	if (!p->room)
		return rc;
	p->room_size = size;
	return 0;
}

/* What is stored as it is has no other limit before it is read whole. */
static bool is_too_large(const struct gfs *fs, const struct dec_object *o, uint64_t size,
			 struct dec_error *why)
{
	if (size <= fs->options.limits.max_payload)
		return false;
	*why = (struct dec_error){
		.status = DEC_E_DATA,
		.code = DEC_PROBLEM_LIMIT,
		.offset = o->space == DEC_SPACE_ARTIFACT ? o->encoded.offset : 0,
		.field = "payload size",
	};
	snprintf(why->sentence, sizeof(why->sentence),
		 "the payload has %llu bytes, %llu are examined at most (max_payload)",
		 (unsigned long long)size, (unsigned long long)fs->options.limits.max_payload);
	return true;
}

static int load_inner(struct gfs *fs, const struct dec_object *o, struct gfs_payload *p)
{
	struct gfs_node container = gfs_container_decoded(o->container);
	size_t got;
	int rc = gfs_read(fs, container, o->encoded.offset, p->room, (size_t)p->size, &got, NULL);

	if (rc != -EIO)
		return rc;
	p->why = (struct dec_error){
		.status = DEC_E_DATA,
		.code = DEC_PROBLEM_DECODE_FAILED,
		.offset = fs->artifact->containers[o->container].stream.offset,
		.field = "container",
		.sentence = "the container around the payload does not decode",
	};
	return 0;
}

static int load_decoded(struct gfs *fs, uint32_t object, struct gfs_payload *p)
{
	bool failed =
		!dec_unpack(fs->artifact, object, p->room, &p->why) && p->why.status != DEC_E_DATA;
	/* A file that changed looks broken or short: that is not a fault of the payload. */
	int changed = gfs_source_check(fs->source);

	if (changed != 0)
		return changed;
	return failed ? gfs_errno_of(&p->why) : 0;
}

uint64_t gfs_payload_size(const struct gfs *fs, uint32_t object)
{
	const struct dec_object *o = &fs->artifact->objects[object];

	return gfs_payload_way(fs, object) == GFS_PAYLOAD_DECODED ? o->payload_size
								  : o->encoded.size;
}

int gfs_payload_load(struct gfs *fs, uint32_t object, struct gfs_payload *p)
{
	const struct dec_object *o = &fs->artifact->objects[object];
	enum gfs_payload_way way = gfs_payload_way(fs, object);
	int rc;

	p->there = false;
	p->why = (struct dec_error){ .status = DEC_OK };
	p->size = gfs_payload_size(fs, object);
	if (way == GFS_PAYLOAD_NONE || is_too_large(fs, o, p->size, &p->why))
		return 0;
	/* Of a file that changed nothing is decoded only to be thrown away. */
	rc = gfs_source_check(fs->source);
	if (rc == 0)
		rc = make_room(fs, p, p->size);
	if (rc != 0)
		return rc;
	p->whole = way != GFS_PAYLOAD_STORED;
	if (way == GFS_PAYLOAD_INNER)
		rc = load_inner(fs, o, p);
	else if (way == GFS_PAYLOAD_DECODED)
		rc = load_decoded(fs, object, p);
	p->there = rc == 0 && p->why.status == DEC_OK;
	return rc;
}

int gfs_payload_bytes(struct gfs *fs, uint32_t object, struct gfs_payload *p, const void **bytes)
{
	uint64_t at = fs->artifact->objects[object].encoded.offset;
	int rc = 0;

	assert(p->there);
	if (!p->whole)
		rc = gfs_source_read(fs->source, at, p->room, (size_t)p->size);
	p->whole = rc == 0;
	*bytes = p->room;
	return rc;
}

void gfs_payload_fini(struct gfs_payload *p)
{
	gfs_scratch_free(p->storage);
	p->storage = NULL;
	p->room = NULL;
	p->there = false;
}

/* ---- examining it ------------------------------------------------------------------------ */

struct stored {
	const struct dec_source *artifact;
	uint64_t at;
};

static int read_stored(void *ctx, uint64_t offset, void *buf, size_t len)
{
	const struct stored *s = ctx;

	return s->artifact->read(s->artifact->ctx, s->at + offset, buf, len);
}

static int inspect_stored(struct gfs *fs, uint32_t object, const struct gfs_payload *p,
			  unsigned wants, struct dec_inspection **inspection)
{
	struct stored stored = {
		.artifact = gfs_source_plain(fs->source),
		.at = fs->artifact->objects[object].encoded.offset,
	};
	const struct dec_source source = { read_stored, &stored, p->size };
	struct dec_error err;
	int changed;

	*inspection = dec_inspect_source(fs->artifact, object, &source, p->room, wants, &err);
	changed = gfs_source_check(fs->source);
	if (changed == 0)
		return *inspection ? 0 : gfs_errno_of(&err);
	dec_inspection_free(*inspection);
	*inspection = NULL;
	return changed;
}

int gfs_payload_inspect(struct gfs *fs, uint32_t object, const struct gfs_payload *p,
			unsigned wants, struct dec_inspection **inspection)
{
	const struct dec_error *why = p->why.status == DEC_OK ? NULL : &p->why;
	struct dec_error err;

	if (p->there && !p->whole)
		return inspect_stored(fs, object, p, wants, inspection);
	*inspection =
		p->there ? dec_inspect(fs->artifact, object, p->room, (size_t)p->size, wants, &err)
			 : dec_inspect_without(fs->artifact, object, why, &err);
	return *inspection ? 0 : gfs_errno_of(&err);
}

/* ---- digest ----------------------------------------------------------------------------- */

int gfs_payload_sha256(struct gfs *fs, uint32_t object, struct gfs_payload *p,
		       char hex[GFS_DIGEST_SIZE])
{
	unsigned char md[EVP_MAX_MD_SIZE];
	const void *bytes;
	unsigned int len;
	int rc;

	hex[0] = '\0';
	if (!p->there)
		return 0;
	rc = gfs_payload_bytes(fs, object, p, &bytes);
	if (rc != 0)
		return rc;
	if (!EVP_Digest(bytes, (size_t)p->size, md, &len, EVP_sha256(), NULL))
		return -ENOMEM;
	for (unsigned int i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", md[i]);
	return 0;
}

int gfs_payload_digest(struct gfs *fs, uint32_t object, char hex[GFS_DIGEST_SIZE])
{
	struct gfs_payload payload = { 0 };
	int rc = gfs_payload_load(fs, object, &payload);

	if (rc == 0)
		rc = gfs_payload_sha256(fs, object, &payload, hex);
	gfs_payload_fini(&payload);
	return rc;
}

/* ---- one object -------------------------------------------------------------------------- */

static void examined_free(void *object)
{
	struct gfs_examined *x = object;

	dec_inspection_free(x->inspection);
	gfs_file_names_fini(&x->names);
	free(x);
}

static struct dec_text kernel_name(const void *ctx, uint32_t index)
{
	const struct dec_inspection *inspection = ctx;

	return inspection->kernels[index].name;
}

struct making {
	struct gfs *fs;
	uint32_t object;
	bool digest;
};

static int examine(const struct making *m, struct gfs_payload *payload, struct gfs_examined *x)
{
	int rc = gfs_payload_load(m->fs, m->object, payload);

	if (rc == 0)
		rc = gfs_payload_inspect(m->fs, m->object, payload, 0, &x->inspection);
	if (rc == 0)
		rc = gfs_file_names_init(&x->names, x->inspection->kernel_count, kernel_name,
					 x->inspection);
	if (rc == 0 && m->digest)
		rc = gfs_payload_sha256(m->fs, m->object, payload, x->sha256);
	return rc;
}

static int make_examined(void *ctx, struct gfs_blob *blob)
{
	struct gfs_examined *x = calloc(1, sizeof(*x));
	struct gfs_payload payload = { 0 };
	int rc = x ? examine(ctx, &payload, x) : -ENOMEM;

	gfs_payload_fini(&payload);
	if (rc == 0)
		gfs_blob_adopt(blob, x, sizeof(*x) + x->inspection->memory + x->names.memory,
			       examined_free);
	else if (x)
		examined_free(x);
	return rc;
}

int gfs_examined_get(struct gfs *fs, uint32_t object, bool with_digest, struct gfs_waiter *waiter,
		     struct gfs_blob **blob, const struct gfs_examined **examined)
{
	struct making making = { fs, object, with_digest };
	int rc = gfs_cache_get(fs->cache, GFS_KEY(GFS_KEY_EXAMINED, object), make_examined, &making,
			       waiter, blob);

	*examined = rc == 0 ? gfs_blob_object(*blob) : NULL;
	return rc;
}
