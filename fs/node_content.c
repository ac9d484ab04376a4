/* What files hold: their sizes, and reads of all kinds of content that a row can have. */
#include "tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "queues.h"
#include "source.h"

/* What tools should read at once; the payload of a FUSE request. */
#define BLOCK_SIZE 131072

/* ---- making it once --------------------------------------------------------------- */

struct making {
	struct gfs *fs;
	struct gfs_node node;
};

static int make_text(void *ctx, struct gfs_blob *blob)
{
	const struct making *m = ctx;
	char *text;
	size_t size;
	void *to;
	int rc = m->node.entry->show(m->fs, m->node, &text, &size);

	if (rc != 0)
		return rc;
	to = gfs_blob_alloc(blob, size, &rc);
	if (to)
		memcpy(to, text, size);
	free(text);
	return rc;
}

int gfs_errno_of(const struct dec_error *err)
{
	switch (err->status) {
	case DEC_OK:
		return 0;
	case DEC_E_NOMEM:
		return -ENOMEM;
	case DEC_E_READ:
		return err->sys_errno ? -err->sys_errno : -EIO;
	case DEC_E_REFUSED:
	case DEC_E_DATA:
		break;
	}
	return -EIO;
}

static int make_decoded(void *ctx, struct gfs_blob *blob)
{
	const struct making *m = ctx;
	struct dec_error err = { .status = DEC_OK };
	uint64_t size;
	void *to;
	int changed;
	int rc = m->node.entry->size(m->fs, m->node, &size);

	if (rc != 0)
		return rc;
	to = gfs_blob_alloc(blob, size, &rc);
	if (!to)
		return rc;
	if (!m->node.entry->unpack(m->fs, m->node, to, &err))
		rc = gfs_errno_of(&err);
	changed = gfs_source_check(m->fs->source);
	return changed != 0 ? changed : rc;
}

int gfs_content_get(struct gfs *fs, struct gfs_node node, struct gfs_waiter *waiter,
		    struct gfs_blob **blob)
{
	struct making making = { fs, node };

	return gfs_cache_get(fs->cache, gfs_ino(node), node.entry->show ? make_text : make_decoded,
			     &making, waiter, blob);
}

/* ---- sizes ------------------------------------------------------------------------ */

bool gfs_is_bulk(struct gfs_node node)
{
	return node.entry->range || node.entry->unpack;
}

bool gfs_attr_is_costly(struct gfs_node node)
{
	return node.entry->costly;
}

static int size_of_range(struct gfs *fs, struct gfs_node node, uint64_t *size)
{
	struct gfs_node inside;
	struct dec_range range;
	int rc = node.entry->locate(fs, node, &inside, &range);

	if (rc == 0)
		*size = range.size;
	return rc;
}

static int size_of(struct gfs *fs, struct gfs_node node, uint64_t *size)
{
	const struct gfs_entry *entry = node.entry;
	struct gfs_blob *blob;
	int rc;

	*size = 0;
	if (gfs_is_dir(node))
		return 0;
	if (entry->live)
		return gfs_live_size(fs, node, size);
	if (entry->size)
		return entry->size(fs, node, size);
	if (entry->range) {
		*size = entry->range(fs, node).size;
		return 0;
	}
	if (entry->locate)
		return size_of_range(fs, node, size);
	rc = gfs_content_get(fs, node, NULL, &blob);
	if (rc != 0)
		return rc;
	*size = gfs_blob_size(blob);
	gfs_blob_put(blob);
	return 0;
}

int gfs_getattr(struct gfs *fs, struct gfs_node node, struct stat *st)
{
	const struct timespec time = gfs_source_stat(fs->source)->st_mtim;
	uint64_t size;
	int rc = size_of(fs, node, &size);

	if (rc != 0)
		return rc;
	memset(st, 0, sizeof(*st));
	st->st_ino = gfs_ino(node);
	st->st_mode = node.entry->mode;
	st->st_nlink = 1;
	st->st_uid = fs->uid;
	st->st_gid = fs->gid;
	st->st_size = (off_t)size;
	st->st_blocks = (blkcnt_t)(size / 512 + (size % 512 != 0));
	st->st_blksize = BLOCK_SIZE;
	st->st_atim = time;
	st->st_mtim = time;
	st->st_ctim = time;
	return node.entry->live ? gfs_live_attr(fs, node, st) : 0;
}

int gfs_truncate(struct gfs *fs, struct gfs_node node, uint64_t size)
{
	uint64_t now;
	int rc;

	if (!gfs_is_live(node))
		return -EROFS;
	if (gfs_is_dir(node))
		return -EISDIR;
	rc = size_of(fs, node, &now);
	if (rc != 0)
		return rc;
	/* What is cut off from text or a stream means nothing; bytes have their place. */
	return size > now && !node.entry->render ? -EFBIG : 0;
}

/* ---- reads ------------------------------------------------------------------------ */

static int read_range(struct gfs *fs, struct dec_range range, uint64_t offset, void *buf,
		      size_t size, struct gfs_answer *answer)
{
	uint64_t left = offset < range.size ? range.size - offset : 0;
	size_t n = size < left ? size : (size_t)left;
	int rc = gfs_source_read(fs->source, range.offset + (n ? offset : 0), buf, n);

	*answer = (struct gfs_answer){ .bytes = buf, .size = rc == 0 ? n : 0 };
	return rc;
}

/* Bytes of a blob: lent, and the caller's reference with them, or copied. */
static int answer_from(struct gfs_blob *blob, uint64_t offset, void *buf, size_t size,
		       struct gfs_answer *answer)
{
	const unsigned char *bytes = gfs_blob_bytes(blob);
	uint64_t all = gfs_blob_size(blob);
	uint64_t left = offset < all ? all - offset : 0;
	int rc;

	if (bytes) {
		*answer = (struct gfs_answer){
			.bytes = bytes + (left ? offset : 0),
			.size = size < left ? size : (size_t)left,
			.lender = blob,
			.through = size >= left,
		};
		return 0;
	}
	*answer = (struct gfs_answer){ .bytes = buf };
	rc = gfs_blob_read(blob, offset, buf, size, &answer->size);
	gfs_blob_put(blob);
	return rc;
}

static int read_blob(struct gfs *fs, struct gfs_node node, uint64_t offset, void *buf, size_t size,
		     struct gfs_answer *answer, struct gfs_waiter *waiter)
{
	struct gfs_blob *blob;
	int rc = gfs_source_check(fs->source);

	if (rc == 0 && node.entry->ready)
		rc = node.entry->ready(fs, node, waiter);
	if (rc == 0)
		rc = gfs_content_get(fs, node, waiter, &blob);
	if (rc != 0)
		return rc;
	rc = answer_from(blob, offset, buf, size, answer);
	/* Text takes more than a decode to make again. */
	answer->through = answer->through && gfs_is_bulk(node);
	return rc;
}

static int read_inside(struct gfs *fs, struct gfs_node inside, struct dec_range range,
		       uint64_t offset, void *buf, size_t size, struct gfs_answer *answer,
		       struct gfs_waiter *waiter)
{
	uint64_t left = offset < range.size ? range.size - offset : 0;
	size_t n = size < left ? size : (size_t)left;
	int rc = gfs_read_answer(fs, inside, range.offset + (n ? offset : 0), buf, n, answer,
				 waiter);

	answer->through = false; /* of this file: others lie beside it */
	return rc;
}

static int read_located(struct gfs *fs, struct gfs_node node, uint64_t offset, void *buf,
			size_t size, struct gfs_answer *answer, struct gfs_waiter *waiter)
{
	struct gfs_node inside;
	struct dec_range range;
	int rc = gfs_source_check(fs->source);

	if (rc == 0)
		rc = node.entry->ready(fs, node, waiter);
	if (rc == 0)
		rc = node.entry->locate(fs, node, &inside, &range);
	if (rc != 0)
		return rc;
	return read_inside(fs, inside, range, offset, buf, size, answer, waiter);
}

int gfs_read_answer(struct gfs *fs, struct gfs_node node, uint64_t offset, void *buf, size_t size,
		    struct gfs_answer *answer, struct gfs_waiter *waiter)
{
	const struct gfs_entry *entry = node.entry;

	*answer = (struct gfs_answer){ .bytes = buf };
	if (gfs_is_dir(node))
		return -EISDIR;
	if (entry->locate)
		return read_located(fs, node, offset, buf, size, answer, waiter);
	if (entry->inside)
		return read_inside(fs, entry->inside(fs, node), entry->range(fs, node), offset, buf,
				   size, answer, waiter);
	if (entry->range)
		return read_range(fs, entry->range(fs, node), offset, buf, size, answer);
	return read_blob(fs, node, offset, buf, size, answer, waiter);
}

void gfs_answer_end(struct gfs_answer *answer)
{
	if (answer->lender && answer->through)
		gfs_blob_put_through(answer->lender);
	else if (answer->lender)
		gfs_blob_put(answer->lender);
	answer->lender = NULL;
}

int gfs_read(struct gfs *fs, struct gfs_node node, uint64_t offset, void *buf, size_t size,
	     size_t *got, struct gfs_waiter *waiter)
{
	struct gfs_answer answer;
	int rc = gfs_read_answer(fs, node, offset, buf, size, &answer, waiter);

	*got = rc == 0 ? answer.size : 0;
	if (rc == 0 && answer.lender)
		memcpy(buf, answer.bytes, answer.size);
	gfs_answer_end(&answer);
	return rc;
}

bool gfs_waiter_cancel(struct gfs *fs, struct gfs_waiter *waiter)
{
	return (fs->queues && gfs_queues_cancel(fs->queues, waiter)) ||
	       gfs_cache_cancel(fs->cache, waiter) || gfs_source_cancel(fs->source, waiter);
}
