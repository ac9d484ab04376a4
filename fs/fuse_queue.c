/*
 * /queues through the mount: what changes, is written, and is waited for. Each open of such a
 * file has a struct gfs_file in its handle; all other files have 0 there.
 */
#include "fuse_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>

static struct gfs *fs_of(fuse_req_t req)
{
	return ((struct gfs_front *)fuse_req_userdata(req))->fs;
}

struct gfs_file *gfs_front_file(const struct fuse_file_info *fi)
{
	return (struct gfs_file *)(uintptr_t)fi->fh;
}

void gfs_front_open_live(fuse_req_t req, struct gfs_node node, struct fuse_file_info *fi)
{
	struct gfs_file *file;
	int err = gfs_file_open(fs_of(req), node, fi->flags, &file);

	if (err) {
		fuse_reply_err(req, -err);
		return;
	}
	fi->fh = (uintptr_t)file;
	fi->direct_io = 1;
	fi->noflush = 1; /* a flush says nothing: shells send one before their first write */
	if (fuse_reply_open(req, fi) == -ENOENT)
		gfs_file_close(file); /* interrupted, so that no release will come */
}

void gfs_front_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	if (fi->fh)
		gfs_file_close(gfs_front_file(fi));
	fuse_reply_err(req, 0);
}

void gfs_front_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off,
		     struct fuse_file_info *fi)
{
	size_t put;
	int err;

	(void)ino;
	if (!fi->fh) {
		fuse_reply_err(req, EROFS);
		return;
	}
	err = gfs_file_write(gfs_front_file(fi), fi->flags, (uint64_t)off, buf, size, &put);
	if (err)
		fuse_reply_err(req, -err);
	else
		fuse_reply_write(req, put);
}

/* ---- poll ----------------------------------------------------------------------------- */

struct polling {
	struct gfs_poller poller; /* first: from it to the whole */
	struct fuse_pollhandle *handle;
};

static void drop(struct gfs_poller *poller)
{
	struct polling *p = (struct polling *)poller;

	fuse_pollhandle_destroy(p->handle);
	free(p);
}

static void tell(struct gfs_poller *poller)
{
	fuse_lowlevel_notify_poll(((struct polling *)poller)->handle);
	drop(poller);
}

void gfs_front_poll(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi,
		    struct fuse_pollhandle *handle)
{
	struct polling *p = NULL;

	(void)ino;
	if (handle && fi->fh)
		p = malloc(sizeof(*p));
	if (p) {
		*p = (struct polling){ { .tell = tell, .drop = drop }, handle };
	} else if (handle) {
		fuse_pollhandle_destroy(handle);
		if (fi->fh) {
			fuse_reply_err(req, ENOMEM);
			return;
		}
	}
	/* What never changes is always ready. */
	fuse_reply_poll(req, fi->fh ? gfs_file_poll(gfs_front_file(fi), p ? &p->poller : NULL)
				    : POLLIN | POLLOUT);
}

/* ---- names and attributes ---------------------------------------------------------------- */

void gfs_front_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct fuse_entry_param entry = { 0 };
	struct gfs_node dir, node;
	int err;

	(void)mode; /* of all that is here: -o queue_mode */
	if (!gfs_front_node(req, parent, &dir))
		return;
	err = gfs_mkdir(fs_of(req), dir, name);
	if (!err)
		err = gfs_lookup(fs_of(req), dir, name, &node);
	if (!err)
		err = gfs_getattr(fs_of(req), node, &entry.attr);
	if (err) {
		fuse_reply_err(req, -err);
		return;
	}
	entry.ino = gfs_ino(node);
	fuse_reply_entry(req, &entry);
}

void gfs_front_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct gfs_node dir;

	if (gfs_front_node(req, parent, &dir))
		fuse_reply_err(req, -gfs_rmdir(fs_of(req), dir, name));
}

/* Times are our own and truncation is nothing, but tools ask for both. */
void gfs_front_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *st, int set,
		       struct fuse_file_info *fi)
{
	struct gfs_node node;
	struct stat now;
	int err = 0;

	(void)fi;
	if (!gfs_front_node(req, ino, &node))
		return;
	if (!gfs_is_live(node))
		err = -EROFS;
	else if (set & (FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))
		err = -EPERM;
	else if (set & FUSE_SET_ATTR_SIZE)
		err = gfs_truncate(fs_of(req), node, (uint64_t)st->st_size);
	if (!err)
		err = gfs_getattr(fs_of(req), node, &now);
	if (err)
		fuse_reply_err(req, -err);
	else
		fuse_reply_attr(req, &now, 0);
}

void gfs_front_refuse(fuse_req_t req, fuse_ino_t ino, int live_errno)
{
	struct gfs_node node;

	if (gfs_front_node(req, ino, &node))
		fuse_reply_err(req, gfs_is_live(node) ? live_errno : EROFS);
}
