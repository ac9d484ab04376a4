/*
 * Private to the libfuse front: what front_fuse.c and fuse_*.c share.
 */
#ifndef GFS_FUSE_INTERNAL_H
#define GFS_FUSE_INTERNAL_H

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>
#include <pthread.h>
#include <stdatomic.h>

#include "front_fuse.h"
#include "node.h"

struct gfs_watch;

struct gfs_front {
	struct fuse_session *session;
	struct gfs *fs;
	struct gfs_watch *watch;
	bool handles_signals;
	bool mounted;
	atomic_bool ending; /* long work is for nobody any longer */
	bool direct; /* bulk goes to its reader past the kernel's cache */
	bool no_open; /* opens are answered once for all, see op_init() */
	bool no_opendir;
	pthread_key_t buffer; /* each thread's struct gfs_buffer while no request uses it */
	pthread_mutex_t lock; /* of what follows, and of the reads in the list */
	pthread_cond_t changed;
	struct gfs_reading *reads; /* have begun to wait and are not answered yet */
};

/* Room for an answer. */
struct gfs_buffer {
	size_t size;
	char *data;
};

/* The thread's own buffer, or a new one; NULL: no memory. gfs_buffer_put() takes it back. */
struct gfs_buffer *gfs_buffer_take(struct gfs_front *front, size_t size);
void gfs_buffer_put(struct gfs_front *front, struct gfs_buffer *buffer);
void gfs_buffer_free(void *buffer); /* destructor of the thread's own */

extern const struct fuse_lowlevel_ops gfs_front_ops; /* front_fuse.c */

/* False: there is no such node, and the request has its answer. */
bool gfs_front_node(fuse_req_t req, fuse_ino_t ino, struct gfs_node *node);

/*
 * From here to the next call, which comes before the answer, long work of this thread ends when
 * the request is interrupted or the session ends. What is given back is due in that next call:
 * NULL, or the request in whose middle this thread serves another.
 */
fuse_req_t gfs_front_stoppable(fuse_req_t req);

void gfs_front_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi);

/* ---- fuse_queue.c: what changes ------------------------------------------------------ */

/* The open file of /queues, NULL: it is another. */
struct gfs_file *gfs_front_file(const struct fuse_file_info *fi);
void gfs_front_open_live(fuse_req_t req, struct gfs_node node, struct fuse_file_info *fi);
void gfs_front_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void gfs_front_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off,
		     struct fuse_file_info *fi);
void gfs_front_poll(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi,
		    struct fuse_pollhandle *handle);
void gfs_front_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode);
void gfs_front_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name);
void gfs_front_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *st, int set,
		       struct fuse_file_info *fi);
/* Answers with the errno for what is live, else with EROFS. */
void gfs_front_refuse(fuse_req_t req, fuse_ino_t ino, int live_errno);

/* Answers all reads that wait. After the loop, while the session is still there. */
void gfs_front_end_reads(struct gfs_front *front);

#endif
