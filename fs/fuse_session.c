/* The session: mounting, serving, what the kernel has cached of a file that changed, the end. */
#include "fuse_internal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "queues.h"
#include "source.h"
#include "watch.h"

/* ---- before the loop ---------------------------------------------------------------------- */

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
		front->session =
			fuse_session_new(args->rest, &gfs_front_ops, sizeof(gfs_front_ops), front);
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

/* ---- what the kernel has cached ----------------------------------------------------------- */

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

/* ---- the loop, and its end ---------------------------------------------------------------- */

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
