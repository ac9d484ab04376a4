/*
 * Private to the libfuse front: what front_fuse.c and fuse_read.c share.
 */
#ifndef GFS_FUSE_INTERNAL_H
#define GFS_FUSE_INTERNAL_H

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>
#include <pthread.h>

#include "front_fuse.h"
#include "node.h"

struct gfs_watch;

struct gfs_front {
	struct fuse_session *session;
	struct gfs *fs;
	struct gfs_watch *watch;
	bool handles_signals;
	bool mounted;
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

/* False: there is no such node, and the request has its answer. */
bool gfs_front_node(fuse_req_t req, fuse_ino_t ino, struct gfs_node *node);

void gfs_front_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi);

/* Answers all reads that wait. After the loop, while the session is still there. */
void gfs_front_end_reads(struct gfs_front *front);

#endif
