#include "bundle_hash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "cache.h"
#include "tree.h"

/* What the cache keeps of a container. */
struct hashed {
	bool known;
	uint64_t hash;
};

struct making {
	struct gfs *fs;
	uint32_t container;
};

/* In pieces: the bytes may lie in a temporary file. */
static int update(EVP_MD_CTX *md, const struct gfs_blob *decoded)
{
	unsigned char piece[16384];
	size_t got = sizeof(piece);

	for (uint64_t at = 0; got == sizeof(piece); at += got) {
		int rc = gfs_blob_read(decoded, at, piece, sizeof(piece), &got);

		if (rc != 0)
			return rc;
		if (!EVP_DigestUpdate(md, piece, got))
			return -ENOMEM;
	}
	return 0;
}

static int finish(EVP_MD_CTX *md, struct hashed *h)
{
	unsigned char digest[EVP_MAX_MD_SIZE];

	if (!EVP_DigestFinal_ex(md, digest, NULL))
		return -ENOMEM;
	for (unsigned int i = 0; i < sizeof(h->hash); i++)
		h->hash |= (uint64_t)digest[i] << 8 * i;
	h->known = true;
	return 0;
}

static int hash(const struct gfs_blob *decoded, struct hashed *h)
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	int rc = md ? 0 : -ENOMEM;

	/* Where MD5 is not permitted, it fails to begin. */
	if (rc == 0 && EVP_DigestInit_ex(md, EVP_md5(), NULL)) {
		rc = update(md, decoded);
		if (rc == 0)
			rc = finish(md, h);
	}
	EVP_MD_CTX_free(md);
	return rc;
}

static int make_hashed(void *ctx, struct gfs_blob *blob)
{
	const struct making *m = ctx;
	struct hashed *h = calloc(1, sizeof(*h));
	struct gfs_blob *decoded;
	int rc = h ? gfs_content_get(m->fs, gfs_container_decoded(m->container), NULL, &decoded)
		   : -ENOMEM;

	if (rc == 0) {
		rc = hash(decoded, h);
		gfs_blob_put(decoded);
	}
	if (rc == 0)
		gfs_blob_adopt(blob, h, sizeof(*h), free);
	else
		free(h);
	return rc;
}

static void compare(const struct dec_container *c, uint32_t container, uint64_t hash,
		    struct gfs_hash_check *check)
{
	if (hash == c->hash)
		return;
	snprintf(check->message, sizeof(check->message),
		 "the decoded bundle hashes to 0x%016" PRIx64 ", the header says 0x%016" PRIx64,
		 hash, c->hash);
	check->differs = true;
	check->problem = (struct dec_problem){
		.code = DEC_PROBLEM_HASH_MISMATCH,
		.offset = c->hash_offset,
		.field = "hash",
		.message = { check->message, strlen(check->message) },
		.container = container,
		.object = DEC_NONE,
		.next = DEC_NONE,
	};
}

int gfs_hash_check(struct gfs *fs, uint32_t container, struct gfs_hash_check *check)
{
	const struct dec_container *c = &fs->artifact->containers[container];
	struct making making = { fs, container };
	const struct hashed *h;
	struct gfs_blob *blob;
	int rc;

	check->differs = false;
	if (!c->has_hash || !dec_can_decode(fs->artifact, container))
		return 0;
	rc = gfs_cache_get(fs->cache, GFS_KEY(GFS_KEY_HASH, container), make_hashed, &making, NULL,
			   &blob);
	if (rc != 0)
		return rc == -EIO ? 0 : rc;
	h = gfs_blob_object(blob);
	if (h->known)
		compare(c, container, h->hash, check);
	gfs_blob_put(blob);
	return 0;
}
