/* Lists of those who wait, for their owners: each is under its owner's lock. */
#ifndef GFS_WAITER_H
#define GFS_WAITER_H

#include "node.h"

void gfs_waiters_add(struct gfs_waiter **list, struct gfs_waiter *waiter);
/* False: it is not in the list. */
bool gfs_waiters_remove(struct gfs_waiter **list, struct gfs_waiter *waiter);
/* Calls done() of all. Without locks, and with the list out of everybody's reach. */
void gfs_waiters_done(struct gfs_waiter *list);

#endif
