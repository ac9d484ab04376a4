/*
 * Where a page goes on: the place, and what its first page found by examining everything, so
 * that later ones need not. Bound to the artifact, the request and the limits by a digest;
 * that keeps mistakes out, not somebody who can compute one.
 */
#ifndef GFS_QUERY_CURSOR_H
#define GFS_QUERY_CURSOR_H

#include <stdint.h>

#include "report_tally.h"

struct gfs_query;

struct gfs_cursor {
	uint32_t item; /* index of the next object or row */
	uint32_t sub; /* index of the next row in it */
	uint64_t before; /* rows on the pages before */
	uint64_t total;
	uint32_t examined;
	struct gfs_coverage coverage;
};

#define GFS_CURSOR_SIZE 128

int gfs_cursor_print(const struct gfs_query *q, const struct gfs_cursor *cursor,
		     char text[GFS_CURSOR_SIZE]);
/* -EINVAL: it is none of this artifact and request. */
int gfs_cursor_parse(const struct gfs_query *q, const char *text, struct gfs_cursor *cursor);

#endif
