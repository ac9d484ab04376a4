/*
 * The tree as a FUSE file system, on libfuse's low-level interface. Node ids are the
 * tree's own inode numbers, which are computed, so there is nothing to forget and no
 * handler for it. Neither are there any for extended attributes: the kernel then asks for
 * them once and never again.
 */
#include "fuse_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "queues.h"
#include "source.h"
#include "watch.h"

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

static const struct fuse_lowlevel_ops ops = {
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

/* ---- the session ------------------------------------------------------------------ */

/* One argument with the defaults, before the user's own so that those win. */
static int insert_defaults(struct fuse_args *rest, const char *device)
{
	char *name = NULL;
	char *arg = NULL;
	char *opts = NULL;
	int err = -1;

	if (asprintf(&name, "fsname=%s", device) < 0)
		return -1;
	if (fuse_opt_add_opt(&opts, "nosuid,nodev,default_permissions,subtype=gpuobjfs") == 0 &&
	    fuse_opt_add_opt_escaped(&opts, name) == 0 && asprintf(&arg, "-o%s", opts) >= 0)
		err = fuse_opt_insert_arg(rest, 1, arg);
	free(arg);
	free(opts);
	free(name);
	return err;
}

struct gfs_front *gfs_front_new(const struct gfs_mount_args *args, const char *device)
{
	struct gfs_front *front = calloc(1, sizeof(*front));

	if (!front)
		return NULL;
	if (pthread_key_create(&front->buffer, gfs_buffer_free) != 0) {
		free(front);
		return NULL;
	}
	front->direct = args->direct_io;
	pthread_mutex_init(&front->lock, NULL);
	pthread_cond_init(&front->changed, NULL);
	if (insert_defaults(args->rest, device) == 0)
		front->session = fuse_session_new(args->rest, &ops, sizeof(ops), front);
	if (front->session)
		return front;
	gfs_front_free(front);
	return NULL;
}

int gfs_front_mount(struct gfs_front *front, struct gfs *fs, const char *mountpoint)
{
	struct gfs_message msg;

	front->fs = fs;
	if (!fs->options.read_only && gfs_queues_open(fs, &msg) != 0) {
		fprintf(stderr, "gpuobjfs: %s\n", msg.text);
		return -EINVAL;
	}
	if (fuse_set_signal_handlers(front->session) < 0)
		return -EINVAL;
	front->handles_signals = true;
	if (fuse_session_mount(front->session, mountpoint) < 0)
		return -EIO;
	front->mounted = true;
	return 0;
}

int gfs_front_daemonize(struct gfs_front *front, bool foreground)
{
	(void)front;
	return fuse_daemonize(foreground) < 0 ? -EIO : 0;
}

static int drop_cached(void *ctx, const char *name, struct gfs_node node, uint64_t next)
{
	struct gfs_front *front = ctx;

	(void)name;
	(void)next;
	if (atomic_load(&front->ending))
		return 1; /* it goes with the mount */
	/* -ENOENT says that the kernel does not know the node, which is as good. */
	fuse_lowlevel_notify_inval_inode(front->session, gfs_ino(node), 0, 0);
	if (gfs_is_dir(node) && !gfs_is_live(node))
		gfs_readdir(front->fs, node, 0, drop_cached, front);
	return 0;
}

static void on_stale(void *ctx)
{
	drop_cached(ctx, "", gfs_root(), 0);
}

static int run_threads(struct fuse_session *session, unsigned int threads)
{
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	int err;

	if (!config)
		return -ENOMEM;
	fuse_loop_cfg_set_max_threads(config, threads);
	err = fuse_session_loop_mt(session, config);
	fuse_loop_cfg_destroy(config);
	return err;
}

/* Two more than decode at full speed, so that a listing need not wait for a decode. */
static unsigned int default_threads(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus > 0 ? (unsigned int)cpus + 2 : 4;
}

/* False: there is none to come. */
static bool answer_one(struct fuse_session *session, struct fuse_buf *buf)
{
	int size = fuse_session_receive_buf(session, buf);

	if (size > 0)
		fuse_session_process_buf(session, buf);
	return size > 0 || size == -EINTR || size == -EAGAIN;
}

/*
 * Dropping what the kernel has cached waits in the kernel for reads of the same pages, and nobody
 * but us will answer them: neither would end. So what comes is answered until that is over.
 */
static void end_watch(struct gfs_front *front)
{
	struct fuse_buf buf = { 0 };
	struct pollfd fds[2];
	sigset_t all;

	/* Another signal would end the session again, and with it what was just received. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	atomic_store(&front->ending, true);
	fuse_session_reset(front->session);
	fds[0] = (struct pollfd){ gfs_watch_end(front->watch), POLLIN, 0 };
	fds[1] = (struct pollfd){ fuse_session_fd(front->session), POLLIN, 0 };
	while ((poll(fds, 2, -1) >= 0 || errno == EINTR) && !fds[0].revents) {
		if (fds[1].revents && !answer_one(front->session, &buf))
			fds[1].fd = -1;
	}
	free(buf.mem);
	gfs_watch_free(front->watch);
}

static void unmount(struct gfs_front *front)
{
	if (front->mounted)
		fuse_session_unmount(front->session);
	front->mounted = false;
}

int gfs_front_run(struct gfs_front *front, const struct gfs_mount_args *args)
{
	struct gfs_source *source = front->fs->source;
	unsigned int threads = args->max_threads ? args->max_threads : default_threads();
	int err;

	/* Without the watch pages that the kernel has cached outlive a change; reads that
	 * come here are refused all the same. */
	if (gfs_source_path(source))
		gfs_watch_start(source, on_stale, front, &front->watch);
	err = args->single_thread ? fuse_session_loop(front->session)
				  : run_threads(front->session, threads);
	if (front->watch)
		end_watch(front);
	gfs_front_end_reads(front);
	unmount(front);
	return err < 0 ? err : 0; /* above 0: the number of the signal that ended it */
}

void gfs_front_free(struct gfs_front *front)
{
	if (!front)
		return;
	unmount(front);
	if (front->handles_signals)
		fuse_remove_signal_handlers(front->session);
	if (front->session)
		fuse_session_destroy(front->session);
	gfs_buffer_free(pthread_getspecific(front->buffer)); /* this thread goes on */
	pthread_key_delete(front->buffer);
	pthread_cond_destroy(&front->changed);
	pthread_mutex_destroy(&front->lock);
	free(front);
}

const char *gfs_front_library(void)
{
	return fuse_pkgversion();
}
