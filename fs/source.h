/*
 * The backing file: bounded preads, and the rule that a file which changed under us
 * gives ESTALE. Never mapped.
 */
#ifndef GFS_SOURCE_H
#define GFS_SOURCE_H

#include "internal.h"
#include "node.h"

struct gfs_source;

/* Opens options->artifact (or the built-in sample). Refuses what is not a regular,
 * non-empty, readable file, with a sentence that names it. */
int gfs_source_open(const struct gfs_options *options, struct gfs_source **source,
		    struct gfs_message *msg);
void gfs_source_close(struct gfs_source *source);

/* Last component of the path, or "sample". Lives as long as the source. */
const char *gfs_source_name(const struct gfs_source *source);
/* Absolute path for fsname and for watching, NULL for the sample. */
const char *gfs_source_path(const struct gfs_source *source);
/* As it was when opened; the sample's has st_mtime 0. */
const struct stat *gfs_source_stat(const struct gfs_source *source);

/* For dec_open(): plain preads. Call gfs_source_check() after it. */
const struct dec_source *gfs_source_plain(struct gfs_source *source);

/* -ESTALE once device, inode, size, mtime or ctime differ from when it was opened; the
 * first time one line goes to the log (stderr or syslog). */
int gfs_source_check(struct gfs_source *source);

/* All len bytes or an error; gfs_source_check() before and after. -EIO at a short read. */
int gfs_source_read(struct gfs_source *source, uint64_t offset, void *buf, size_t len);

/*
 * The digest of the whole file in lower-case hex, computed once, by a thread of its own
 * that the first caller starts. With a waiter: -EINPROGRESS while it runs.
 */
int gfs_source_sha256(struct gfs_source *source, char hex[65], struct gfs_waiter *waiter);
bool gfs_source_cancel(struct gfs_source *source, struct gfs_waiter *waiter);

#endif
