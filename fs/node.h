/*
 * The tree: every file and directory that users see, without a mount.
 *
 * A node is a value, never allocated: the table row that describes it and up to two
 * indexes (object, container or target; later kernel). Its inode number is computed
 * from them, so numbers are stable across remounts and forgetting costs nothing.
 */
#ifndef GFS_NODE_H
#define GFS_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct gfs;
struct gfs_entry; /* one row of a directory table, tree.h */

struct gfs_node {
	const struct gfs_entry *entry;
	uint32_t a; /* outer index, 0 where there is none */
	uint32_t b; /* inner index, 0 where there is none */
};

/* File names are at most this many bytes (design: cut at 180 plus "~" and 16 digits). */
#define GFS_NAME_MAX 255

/* The root's inode number, FUSE's own. */
#define GFS_ROOT_INO 1

/*
 * Somebody who wants bytes that another thread is already making. done() is called once,
 * from the making thread, without locks held; the owner then calls gfs_read() again.
 */
struct gfs_waiter {
	void (*done)(struct gfs_waiter *self);
	struct gfs_waiter *next; /* owned by the list that it is queued in */
};

struct gfs_node gfs_root(void);
uint64_t gfs_ino(struct gfs_node node);
/* False: no such inode number in this artifact. */
bool gfs_node_from_ino(struct gfs *fs, uint64_t ino, struct gfs_node *node);
bool gfs_is_dir(struct gfs_node node);

/* -ENOENT, -ENOTDIR, -ENAMETOOLONG. "." and ".." are not names. */
int gfs_lookup(struct gfs *fs, struct gfs_node dir, const char *name, struct gfs_node *node);

/* Exact size; renders JSON to learn it, never decodes a payload. */
int gfs_getattr(struct gfs *fs, struct gfs_node node, struct stat *st);

/* True: gfs_getattr() of this node is not cheap, readdirplus should leave it out. */
bool gfs_attr_is_costly(struct gfs_node node);

/* True: stored or decoded bytes as they are, of any size. */
bool gfs_is_bulk(struct gfs_node node);

/*
 * Calls fill for each child from cursor on (0: the first), in a fixed order, until it
 * returns non-zero or the end. next is the cursor of the child after. "." and ".." are
 * not given. The name is valid during the call only.
 */
typedef int (*gfs_fill)(void *ctx, const char *name, struct gfs_node child, uint64_t next);
int gfs_readdir(struct gfs *fs, struct gfs_node dir, uint64_t cursor, gfs_fill fill, void *ctx);

/*
 * Copies up to size bytes at offset; *got is short only at the end of the file.
 * -ESTALE: the artifact changed. -EIO: the payload does not decode. -EISDIR.
 * With a waiter: -EINPROGRESS when another thread is making the bytes, and the waiter is
 * queued. Without one the call sleeps until they are there.
 */
int gfs_read(struct gfs *fs, struct gfs_node node, uint64_t offset, void *buf, size_t size,
	     size_t *got, struct gfs_waiter *waiter);

/*
 * The same, without a copy where the bytes are in memory already: bytes is buf then or memory
 * of the cache, and gfs_answer_end() is due after success.
 */
struct gfs_answer {
	const void *bytes;
	size_t size;
	struct gfs_blob *lender; /* NULL: bytes is buf */
	bool through; /* it was read to its end */
};
int gfs_read_answer(struct gfs *fs, struct gfs_node node, uint64_t offset, void *buf, size_t size,
		    struct gfs_answer *answer, struct gfs_waiter *waiter);
void gfs_answer_end(struct gfs_answer *answer);

/* Takes a queued waiter back. False: done() was or is being called, the caller must not
 * free it. For requests that are interrupted. */
bool gfs_waiter_cancel(struct gfs *fs, struct gfs_waiter *waiter);

/*
 * For work that takes seconds: while the calling thread has a stop (NULL: it has none), it is
 * asked between two payloads that are examined, and true ends the call in progress with
 * -EINTR. Fronts set it around each request that can be interrupted.
 */
void gfs_stop_set(bool (*stop)(void *ctx), void *ctx);

/*
 * The same for telling how far such work is: while the calling thread has a progress, it is
 * called from time to time with the payload bytes that were examined since the last time.
 * The sum over one piece of work is that of payload_size of its objects.
 */
void gfs_progress_set(void (*progress)(void *ctx, uint64_t bytes), void *ctx);

/* ---- what changes ----------------------------------------------------------------- */

/* True: attributes and content may change at any time, the content is reached through
 * gfs_file_open() only, and names may come and go. */
bool gfs_is_live(struct gfs_node node);

/* -EROFS outside of what is live, -EPERM where no directory can be made, -EEXIST. */
int gfs_mkdir(struct gfs *fs, struct gfs_node dir, const char *name);
/* The same; -EBUSY: it is not the user's. */
int gfs_rmdir(struct gfs *fs, struct gfs_node dir, const char *name);
/* Sizes are fixed: cutting a file changes nothing, -EFBIG: it cannot grow. */
int gfs_truncate(struct gfs *fs, struct gfs_node node, uint64_t size);

struct gfs_file;

/* flags are those of open(2). -EACCES: not for writing. */
int gfs_file_open(struct gfs *fs, struct gfs_node node, int flags, struct gfs_file **file);
void gfs_file_close(struct gfs_file *file);

/* As gfs_read(). With a waiter, -EINPROGRESS also when there is nothing yet; without one,
 * or with O_NONBLOCK in flags, -EAGAIN. -ENODEV: what the file belongs to was removed. */
int gfs_file_read(struct gfs_file *file, int flags, uint64_t offset, void *buf, size_t size,
		  size_t *got, struct gfs_waiter *waiter);
/* *put is short when not all was taken. */
int gfs_file_write(struct gfs_file *file, int flags, uint64_t offset, const void *buf, size_t size,
		   size_t *put);

/*
 * Who wants to hear when a file gets ready: tell() is called once, without locks held, and
 * owns it then. drop() is called instead, with locks held, when it is no longer wanted.
 */
struct gfs_poller {
	void (*tell)(struct gfs_poller *self);
	void (*drop)(struct gfs_poller *self);
	struct gfs_poller *next; /* owned by the file */
};

/* What is ready, in bits of poll(2). A poller (NULL: none) takes the place of an older one. */
unsigned int gfs_file_poll(struct gfs_file *file, struct gfs_poller *poller);

/* Walks a path ("/", "objects/00003/payload", repeated slashes and "." allowed; ".." not). */
int gfs_walk(struct gfs *fs, const char *path, struct gfs_node *node);

#endif
