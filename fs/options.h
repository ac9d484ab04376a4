/*
 * Options that both programs share: one table row each (options.c), spelled
 * "-o name=value" for the mount and "-o name=value" for gpuobj alike.
 */
#ifndef GFS_OPTIONS_H
#define GFS_OPTIONS_H

#include "internal.h"

void gfs_options_init(struct gfs_options *options);

/* Takes one "name=value" or "name". 1: taken. 0: not one of ours (the caller may know it).
 * Negative: ours, but the value is wrong; msg says what was expected. Text values are
 * borrowed from arg. Sizes take K, M, G suffixes (powers of 1024). */
int gfs_options_set(struct gfs_options *options, const char *arg, struct gfs_message *msg);

/* 64 hex digits. */
bool gfs_is_digest(const char *text);

/* One line of help per option. */
void gfs_options_help(void);

#endif
