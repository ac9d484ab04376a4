/*
 * The tree as a FUSE file system, on libfuse's low-level interface. Node ids are the
 * tree's own inode numbers, which are computed, so there is nothing to forget and no
 * handler for it. Neither are there any for extended attributes: the kernel then asks for
 * them once and never again.
 */
#include "fuse_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>

/* Nothing but /queues ever changes, so the kernel may keep what it has learned. Seconds. */
#define FOR_EVER 1e9

static struct gfs_front *front_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

/* ---- names and attributes --------------------------------------------------------- */

bool gfs_front_node(fuse_req_t req, fuse_ino_t ino, struct gfs_node *node)
{
	if (gfs_node_from_ino(front_of(req)->fs, ino, node))
		return true;
	fuse_reply_err(req, ENOENT);
	return false;
}

static double timeout_of(struct gfs_node node)
{
	return gfs_is_live(node) ? 0 : FOR_EVER;
}

/* Who unmounts waits for the threads, and nobody for what they would answer. */
static bool is_unwanted(void *req)
{
	const struct gfs_front *front = front_of(req);

	return atomic_load(&front->ending) || fuse_session_exited(front->session) ||
	       fuse_req_interrupted(req);
}

fuse_req_t gfs_front_stoppable(fuse_req_t req)
{
	static _Thread_local fuse_req_t current;
	fuse_req_t before = current;

	current = req;
	gfs_stop_set(req ? is_unwanted : NULL, req);
	return before;
}

static int fill_entry(struct gfs *fs, struct gfs_node node, struct fuse_entry_param *entry)
{
	*entry = (struct fuse_entry_param){
		.ino = gfs_ino(node),
		.attr_timeout = timeout_of(node),
		.entry_timeout = timeout_of(node),
	};
	return gfs_getattr(fs, node, &entry->attr);
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct gfs *fs = front_of(req)->fs;
	struct fuse_entry_param entry = { 0 };
	struct gfs_node dir, node;
	int err;

	if (!gfs_front_node(req, parent, &dir))
		return;
	entry.entry_timeout = timeout_of(dir);
	gfs_front_stoppable(req);
	err = gfs_lookup(fs, dir, name, &node);
	if (err == -ENOENT)
		err = 0; /* an entry without a node: the kernel keeps that there is none */
	else if (!err)
		err = fill_entry(fs, node, &entry);
	gfs_front_stoppable(NULL);
	if (err)
		fuse_reply_err(req, -err);
	else
		fuse_reply_entry(req, &entry);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct gfs_node node;
	struct stat st;
	int err;

	(void)fi;
	if (!gfs_front_node(req, ino, &node))
		return;
	gfs_front_stoppable(req);
	err = gfs_getattr(front_of(req)->fs, node, &st);
	gfs_front_stoppable(NULL);
	if (err)
		fuse_reply_err(req, -err);
	else
		fuse_reply_attr(req, &st, timeout_of(node));
}

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	const struct dec_artifact *artifact = front_of(req)->fs->artifact;
	struct statvfs st = {
		.f_bsize = 4096,
		.f_frsize = 4096,
		.f_blocks = artifact->size / 4096 + (artifact->size % 4096 != 0),
		.f_files = (fsfilcnt_t)artifact->container_count + artifact->object_count +
			   artifact->target_count,
		.f_namemax = GFS_NAME_MAX,
	};

	(void)ino;
	fuse_reply_statfs(req, &st);
}

/* ---- directories ------------------------------------------------------------------ */

/* "." and ".." are ours, not the tree's: they stand at offsets 0 and 1, and the tree's
 * cursors follow from here. */
#define DOTS 2

struct listing {
	struct gfs *fs;
	fuse_req_t req;
	bool plus;
	char *data;
	size_t size;
	size_t used;
};

/* Non-zero: the buffer is full. */
static int list_entry(struct listing *list, const char *name, const struct fuse_entry_param *entry,
		      uint64_t next)
{
	char *at = list->data + list->used;
	size_t room = list->size - list->used;
	size_t need;

	if (list->plus)
		need = fuse_add_direntry_plus(list->req, at, room, name, entry, (off_t)next);
	else
		need = fuse_add_direntry(list->req, at, room, name, &entry->attr, (off_t)next);
	if (need > room)
		return 1;
	list->used += need;
	return 0;
}

/* An entry with type and inode number alone. Its node id is 0, so that the kernel asks for
 * the attributes when somebody wants them. */
static struct fuse_entry_param bare_entry(struct gfs_node node)
{
	return (struct fuse_entry_param){
		.attr.st_ino = gfs_ino(node),
		.attr.st_mode = gfs_is_dir(node) ? S_IFDIR : S_IFREG,
	};
}

static int list_child(void *ctx, const char *name, struct gfs_node child, uint64_t next)
{
	struct listing *list = ctx;
	struct fuse_entry_param entry;

	if (!list->plus || gfs_is_live(child) || gfs_attr_is_costly(child) ||
	    fill_entry(list->fs, child, &entry))
		entry = bare_entry(child);
	return list_entry(list, name, &entry, next + DOTS);
}

/* The kernel finds a parent by itself: ".." needs no true inode number here. */
static int list_dots(struct listing *list, struct gfs_node dir, uint64_t off)
{
	struct fuse_entry_param dot = bare_entry(dir);

	if (off < 1 && list_entry(list, ".", &dot, 1))
		return 1;
	return off < DOTS && list_entry(list, "..", &dot, DOTS);
}

static void reply_listing(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, bool plus)
{
	struct gfs_front *front = front_of(req);
	struct listing list = { .fs = front->fs, .req = req, .plus = plus, .size = size };
	uint64_t cursor = off > DOTS ? (uint64_t)off - DOTS : 0;
	struct gfs_buffer *buffer;
	struct gfs_node dir;
	int err = 0;

	if (!gfs_front_node(req, ino, &dir))
		return;
	buffer = gfs_buffer_take(front, size);
	if (!buffer) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	list.data = buffer->data;
	gfs_front_stoppable(req);
	if (!list_dots(&list, dir, (uint64_t)off))
		err = gfs_readdir(front->fs, dir, cursor, list_child, &list);
	gfs_front_stoppable(NULL);
	if (err < 0 && list.used == 0)
		fuse_reply_err(req, -err);
	else
		fuse_reply_buf(req, list.data, list.used);
	gfs_buffer_put(front, buffer);
}

static void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		       struct fuse_file_info *fi)
{
	(void)fi;
	reply_listing(req, ino, size, off, false);
}

static void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
			   struct fuse_file_info *fi)
{
	(void)fi;
	reply_listing(req, ino, size, off, true);
}

/* ---- opening ---------------------------------------------------------------------- */

/* With -o ro the mount has no files that need state, so opens can go without a request; but
 * what is not to be cached has to be opened to say so. */
static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	struct gfs_front *front = userdata;
	bool fast = front->fs->options.read_only;

	front->no_open = fast && !front->direct && (conn->capable & FUSE_CAP_NO_OPEN_SUPPORT);
	front->no_opendir = fast && (conn->capable & FUSE_CAP_NO_OPENDIR_SUPPORT);
	/* A listing that the kernel caches without attributes would cost one lookup an entry
	 * afterwards, so each listing carries them. */
	conn->want &= ~(unsigned int)(FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_AUTO_INVAL_DATA);
	conn->want |= conn->capable & FUSE_CAP_READDIRPLUS;
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct gfs_node node;

	if (!gfs_front_node(req, ino, &node))
		return;
	if (gfs_is_live(node)) {
		gfs_front_open_live(req, node, fi);
		return;
	}
	if ((fi->flags & O_ACCMODE) != O_RDONLY || fi->flags & O_TRUNC) {
		fuse_reply_err(req, EROFS);
		return;
	}
	if (front_of(req)->no_open) {
		fuse_reply_err(req, ENOSYS);
		return;
	}
	fi->direct_io = front_of(req)->direct && gfs_is_bulk(node);
	fi->keep_cache = !fi->direct_io;
	fi->noflush = 1;
	fuse_reply_open(req, fi);
}

static void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct gfs_node node;

	if (front_of(req)->no_opendir) {
		fuse_reply_err(req, ENOSYS);
		return;
	}
	if (!gfs_front_node(req, ino, &node))
		return;
	fi->cache_readdir = !gfs_is_live(node);
	fi->keep_cache = !gfs_is_live(node);
	fuse_reply_open(req, fi);
}

/* ---- what would change the tree --------------------------------------------------- */

/* A missing handler would answer "Function not implemented", which tells nobody anything. */
#define REFUSE(op, live_errno, ...)                                                                \
	static void op(fuse_req_t req, __VA_ARGS__)                                                \
	{                                                                                          \
		gfs_front_refuse(req, i, live_errno);                                              \
	}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
REFUSE(op_mknod, EPERM, fuse_ino_t i, const char *name, mode_t mode, dev_t dev)
REFUSE(op_unlink, EPERM, fuse_ino_t i, const char *name)
REFUSE(op_symlink, EPERM, const char *text, fuse_ino_t i, const char *name)
REFUSE(op_rename, EPERM, fuse_ino_t i, const char *name, fuse_ino_t to, const char *new_name,
       unsigned int flags)
REFUSE(op_link, EPERM, fuse_ino_t i, fuse_ino_t to, const char *name)
REFUSE(op_create, EACCES, fuse_ino_t i, const char *name, mode_t mode, struct fuse_file_info *fi)
REFUSE(op_setxattr, EOPNOTSUPP, fuse_ino_t i, const char *name, const char *v, size_t size,
       int flags)
REFUSE(op_removexattr, EOPNOTSUPP, fuse_ino_t i, const char *name)
REFUSE(op_fallocate, EOPNOTSUPP, fuse_ino_t i, int mode, off_t off, off_t len,
       struct fuse_file_info *fi)
#pragma GCC diagnostic pop

const struct fuse_lowlevel_ops gfs_front_ops = {
	.init = op_init,
	.lookup = op_lookup,
	.getattr = op_getattr,
	.statfs = op_statfs,
	.opendir = op_opendir,
	.readdir = op_readdir,
	.readdirplus = op_readdirplus,
	.open = op_open,
	.read = gfs_front_read,
	.write = gfs_front_write,
	.poll = gfs_front_poll,
	.release = gfs_front_release,
	.setattr = gfs_front_setattr,
	.mknod = op_mknod,
	.mkdir = gfs_front_mkdir,
	.unlink = op_unlink,
	.rmdir = gfs_front_rmdir,
	.symlink = op_symlink,
	.rename = op_rename,
	.link = op_link,
	.create = op_create,
	.setxattr = op_setxattr,
	.removexattr = op_removexattr,
	.fallocate = op_fallocate,
};
