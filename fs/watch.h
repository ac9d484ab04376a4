/*
 * Watching the artifact, so that pages the kernel holds of a changed file can be dropped
 * before anybody reads them.
 */
#ifndef GFS_WATCH_H
#define GFS_WATCH_H

#include "source.h"

struct gfs_watch;

/*
 * Starts a thread that calls stale(ctx) once, from that thread, when gfs_source_check()
 * first fails after something happened to the file. The source must outlive the watch.
 * On failure *watch is NULL; reads are then still checked one by one.
 */
int gfs_watch_start(struct gfs_source *source, void (*stale)(void *ctx), void *ctx,
		    struct gfs_watch **watch);

/* Asks the thread to end. The descriptor, which stays the watch's, is readable once it has and
 * a stale() that is running is over. */
int gfs_watch_end(struct gfs_watch *watch);

/* After gfs_watch_end(); waits for the thread. NULL is fine. */
void gfs_watch_free(struct gfs_watch *watch);

#endif
