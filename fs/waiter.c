#include "waiter.h"

void gfs_waiters_add(struct gfs_waiter **list, struct gfs_waiter *waiter)
{
	waiter->next = *list;
	*list = waiter;
}

bool gfs_waiters_remove(struct gfs_waiter **list, struct gfs_waiter *waiter)
{
	while (*list && *list != waiter)
		list = &(*list)->next;
	if (!*list)
		return false;
	*list = waiter->next;
	return true;
}

void gfs_waiters_done(struct gfs_waiter *list)
{
	for (struct gfs_waiter *next; list; list = next) {
		next = list->next; /* done() may free it */
		list->done(list);
	}
}
