#include "groups.h"

#include <errno.h>
#include <stdlib.h>

static int compare_keys(struct gfs_key x, struct gfs_key y)
{
	if (x.low != y.low)
		return x.low < y.low ? -1 : 1;
	return x.high < y.high ? -1 : x.high > y.high;
}

static int compare_items(const void *a, const void *b)
{
	const struct gfs_grouped *x = a;
	const struct gfs_grouped *y = b;
	int order = compare_keys(x->key, y->key);

	if (order != 0)
		return order;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int compare_groups(const void *a, const void *b, void *ctx)
{
	const struct gfs_grouped *items = ctx;
	uint32_t x = items[((const struct gfs_group *)a)->first].index;
	uint32_t y = items[((const struct gfs_group *)b)->first].index;

	return x < y ? -1 : x > y;
}

static bool begins(const struct gfs_grouped *items, uint32_t i)
{
	return i == 0 || compare_keys(items[i - 1].key, items[i].key) != 0;
}

int gfs_groups_make(struct gfs_grouped *items, uint32_t count, struct gfs_group **groups,
		    uint32_t *group_count)
{
	uint32_t n = 0;

	if (count > 0)
		qsort(items, count, sizeof(*items), compare_items);
	for (uint32_t i = 0; i < count; i++)
		n += begins(items, i);
	*groups = calloc((size_t)n + 1, sizeof(**groups));
	if (!*groups)
		return -ENOMEM;
	*group_count = n;
	n = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (begins(items, i))
			(*groups)[n++].first = i;
		(*groups)[n - 1].count++;
	}
	qsort_r(*groups, n, sizeof(**groups), compare_groups, items);
	return 0;
}
