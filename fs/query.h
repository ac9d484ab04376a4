/*
 * Questions about one artifact: a request in JSON, answered with a page of rows or with all
 * of them as lines. The keys of rows are those of the tree's files (query_columns.h).
 *
 * Functions that return int give 0 or a negative errno; -EINVAL: the request is refused, and
 * the refusal says why.
 */
#ifndef GFS_QUERY_H
#define GFS_QUERY_H

#include "internal.h"
#include "query_columns.h"

struct cJSON;
struct gfs_coverage;

/* Rows of a page if the request does not say, and the most it can ask for: kernels have
 * about 3 KB each, so that such a page stays below the next bound. */
#define GFS_QUERY_LIMIT 100
#define GFS_QUERY_LIMIT_MAX 10000

/* A page ends behind the row that makes it so long, however many rows it was to have: rows
 * are as long as the artifact makes them. */
#define GFS_QUERY_PAGE_BYTES DEC_MIB(64)

/* Every id that an inventory lists by default, 262,144 of 9 bytes each, are 2.3 MiB. */
#define GFS_QUERY_REQUEST_MAX DEC_MIB(4)

/* Requests are 4 deep, and no value of a row is deeper than 4. */
#define GFS_QUERY_DEPTH 16

/* Values that one filter lists: each is compared with every row. */
#define GFS_QUERY_VALUES_MAX 4096

/* Keys of one object in a filter; those in rows have 8 at most. */
#define GFS_QUERY_KEYS_MAX 64

/* One sentence that begins with the key: "view.limit: expected ...". */
struct gfs_refusal {
	char text[4096];
};

struct gfs_request {
	struct cJSON *root; /* what all pointers here point into */
	const char *path; /* NULL: not stated, as with all that follow */
	const char *sha256;
	const struct cJSON *ids; /* an array of strings */
	const char *cursor;
	uint32_t limit;
	bool has_limit;
	struct gfs_columns columns;
};

/* Takes size bytes of any kind; needs no artifact. The caller ends *request with
 * gfs_request_fini(), whatever is returned. */
int gfs_request_parse(struct gfs_request *request, const char *text, size_t size,
		      struct gfs_refusal *why);
void gfs_request_fini(struct gfs_request *request);

void gfs_refuse(struct gfs_refusal *why, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A word of the request for a sentence: shortened, printable ASCII alone. */
#define GFS_QUOTED_SIZE 72
const char *gfs_quoted(const char *word, char quoted[GFS_QUOTED_SIZE]);

/* One page, with a newline at the end. The caller free()s *text. */
int gfs_query_page(struct gfs *fs, const struct gfs_request *request, char **text, size_t *size,
		   struct gfs_refusal *why);

/* All rows, each as a line with its newline, in the order of the pages. put() gives 0 or a
 * negative errno that ends it. *coverage is what pages say of examining. */
typedef int (*gfs_put_line)(void *ctx, const char *line, size_t size);
int gfs_query_lines(struct gfs *fs, const struct gfs_request *request, gfs_put_line put, void *ctx,
		    struct gfs_coverage *coverage, struct gfs_refusal *why);

#endif
