/*
 * The reports: many objects examined, counts and distributions kept. The same text whatever
 * the order in which the threads finished.
 */
#ifndef GFS_REPORT_H
#define GFS_REPORT_H

#include "internal.h"

/* inspect/report.json: one row per target, totals over all objects, conflicts. */
int gfs_report_show(struct gfs *fs, char **text, size_t *size);

struct gfs_tally;

/* The totals of that report alone. The tally is the caller's to end with gfs_tally_fini(),
 * whatever is returned. */
int gfs_report_total(struct gfs *fs, struct gfs_tally *total);

/* targets/<target>/inspect/report.json */
int gfs_target_report_show(struct gfs *fs, uint32_t target, char **text, size_t *size);

#endif
