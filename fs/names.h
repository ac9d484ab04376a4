/*
 * File names made from any bytes: reversible, never "." or "..", never empty, without '/'.
 *
 * Bytes outside printable ASCII, '/', '%' and '~' become %XX. A result over
 * GFS_NAME_KEEP bytes is cut to at most GFS_NAME_CUT, never inside an escape, and ends
 * in "~" and 16 hex digits of the sha256 of the whole unescaped name. A '~' thus stands
 * only where something was cut (or a caller counts twins: "~2").
 */
#ifndef GFS_NAMES_H
#define GFS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define GFS_NAME_KEEP 200
#define GFS_NAME_CUT 180
#define GFS_NAME_DIGITS 16

/* Storage for one escaped name and its NUL. */
#define GFS_NAME_SIZE (GFS_NAME_KEEP + 1)

/* -ENOMEM: the digest of an overlong name could not be had; out is then "". */
int gfs_name_escape(const char *name, size_t len, char out[GFS_NAME_SIZE]);

/*
 * The bytes that every name escaped to this one begins with: all of them unless it was
 * cut. out holds strlen(escaped) bytes. False: no name is escaped like this. True does
 * not mean that one is: compare with gfs_name_escape().
 */
bool gfs_name_unescape(const char *escaped, char *out, size_t *len);

#endif
