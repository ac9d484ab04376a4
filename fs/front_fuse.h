/*
 * The mount, as its program sees it. What is behind these calls includes libfuse; nothing
 * else does.
 */
#ifndef GFS_FRONT_FUSE_H
#define GFS_FRONT_FUSE_H

#include "internal.h"

struct fuse_args; /* libfuse's; only the files of this library look inside */
struct gfs_front;

/* The command line, taken apart. */
struct gfs_mount_args {
	struct gfs_options options;
	const char *mountpoint;
	int help;
	const char *help_topic; /* the first word, what --help may be asked for */
	int version;
	int foreground;
	int single_thread;
	int direct_io;
	unsigned int max_threads; /* 0: what suits the machine */
	struct fuse_args *rest; /* what libfuse is to judge */
	struct gfs_kept *kept; /* copies that options and mountpoint point into */
};

/*
 * Takes argv apart by libfuse's conventions. Negative errno: msg says what is wrong; an
 * empty text means that libfuse has said it on stderr. gfs_mount_args_fini() is due after
 * success and failure.
 */
int gfs_mount_args_init(struct gfs_mount_args *args, int argc, char **argv,
			struct gfs_message *msg);
void gfs_mount_args_fini(struct gfs_mount_args *args);

/*
 * Judges the options left for libfuse, which complains on stderr. device is what df and
 * /proc/mounts show. NULL: they are wrong. Nothing is mounted yet.
 */
struct gfs_front *gfs_front_new(const struct gfs_mount_args *args, const char *device);

/* Mounts fs, which must outlive gfs_front_run(). libfuse says on stderr why it failed. */
int gfs_front_mount(struct gfs_front *front, struct gfs *fs, const char *mountpoint);

/* Goes on in the background: the parent process ends with 0 here. Before any thread. */
int gfs_front_daemonize(struct gfs_front *front, bool foreground);

/* Serves until the file system is unmounted or a signal asks for the end; then unmounts. */
int gfs_front_run(struct gfs_front *front, const struct gfs_mount_args *args);

/* Unmounts where that is still due. Close the gfs first: its threads may hold buffers of the
 * front. NULL is fine. */
void gfs_front_free(struct gfs_front *front);

const char *gfs_front_library(void);

#endif
