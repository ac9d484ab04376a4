#include "watch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#define FILE_EVENTS (IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)
/* A file put in its place by rename(2) or by a new create, seen from the directory. */
#define DIR_EVENTS (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR)

struct gfs_watch {
	struct gfs_source *source;
	void (*stale)(void *ctx);
	void *ctx;
	int inotify;
	int stop; /* eventfd, readable once the thread must end */
	int ended; /* eventfd, readable once it has */
	pthread_t thread;
};

/* True: an event came, false: the thread must end. */
static bool wait_event(const struct gfs_watch *watch)
{
	struct pollfd fds[] = {
		{ .fd = watch->inotify, .events = POLLIN },
		{ .fd = watch->stop, .events = POLLIN },
	};

	while (poll(fds, 2, -1) < 0) {
		if (errno != EINTR)
			return false;
	}
	return fds[1].revents == 0;
}

/* What the events were does not matter, gfs_source_check() looks for itself. */
static bool drain_events(int inotify)
{
	char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));

	return read(inotify, events, sizeof(events)) > 0 || errno == EINTR || errno == EAGAIN;
}

static void *watch_main(void *arg)
{
	struct gfs_watch *watch = arg;

	while (wait_event(watch) && drain_events(watch->inotify)) {
		if (gfs_source_check(watch->source) == 0)
			continue;
		watch->stale(watch->ctx);
		break;
	}
	eventfd_write(watch->ended, 1);
	return NULL;
}

/* The directory's watch may fail, for want of permission: a file that loses its name tells
 * its own watch as well, through its link count. */
static int add_watches(int inotify, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = strndup(path, slash > path ? (size_t)(slash - path) : 1);

	if (!dir)
		return -ENOMEM;
	inotify_add_watch(inotify, dir, DIR_EVENTS);
	free(dir);
	return inotify_add_watch(inotify, path, FILE_EVENTS) < 0 ? -errno : 0;
}

/* The thread takes no signals: those that end the mount are the main thread's. */
static int start_thread(struct gfs_watch *watch)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&watch->thread, NULL, watch_main, watch);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}

static void close_watch(struct gfs_watch *watch)
{
	if (watch->inotify >= 0)
		close(watch->inotify);
	if (watch->stop >= 0)
		close(watch->stop);
	if (watch->ended >= 0)
		close(watch->ended);
	free(watch);
}

static int open_watch(struct gfs_watch *watch)
{
	int err;

	watch->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	watch->stop = eventfd(0, EFD_CLOEXEC);
	watch->ended = eventfd(0, EFD_CLOEXEC);
	if (watch->inotify < 0 || watch->stop < 0 || watch->ended < 0)
		return -errno;
	err = add_watches(watch->inotify, gfs_source_path(watch->source));
	return err ? err : start_thread(watch);
}

int gfs_watch_start(struct gfs_source *source, void (*stale)(void *ctx), void *ctx,
		    struct gfs_watch **out)
{
	struct gfs_watch *watch = malloc(sizeof(*watch));
	int err;

	*out = NULL;
	if (!watch)
		return -ENOMEM;
	*watch = (struct gfs_watch){ .source = source, .stale = stale, .ctx = ctx };
	err = open_watch(watch);
	if (err) {
		close_watch(watch);
		return err;
	}
	*out = watch;
	return 0;
}

int gfs_watch_end(struct gfs_watch *watch)
{
	eventfd_write(watch->stop, 1); /* cannot fail: the counter is at 0 */
	return watch->ended;
}

void gfs_watch_free(struct gfs_watch *watch)
{
	if (!watch)
		return;
	pthread_join(watch->thread, NULL);
	close_watch(watch);
}
