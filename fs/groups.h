/*
 * Things that say the same, put together: what would be a row for each of thousands of
 * containers or kernels becomes one for each different answer.
 */
#ifndef GFS_GROUPS_H
#define GFS_GROUPS_H

#include "report_tally.h"

struct gfs_grouped {
	struct gfs_key key; /* what it says, hashed */
	uint32_t index; /* of the thing */
};

struct gfs_group {
	uint32_t first; /* in the sorted array */
	uint32_t count;
};

/*
 * Sorts items by key, within a key by index, and lists the groups in the order of their first
 * indexes. -ENOMEM; else the caller free()s *groups.
 */
int gfs_groups_make(struct gfs_grouped *items, uint32_t count, struct gfs_group **groups,
		    uint32_t *group_count);

#endif
