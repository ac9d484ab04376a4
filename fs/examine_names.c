#include "examine_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

static int compare(const void *a, const void *b, void *ctx)
{
	const struct gfs_file_names *list = ctx;
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;
	int order = strcmp(list->names[x], list->names[y]);

	if (order != 0)
		return order;
	return x < y ? -1 : x > y;
}

static void sort(struct gfs_file_names *list)
{
	qsort_r(list->sorted, list->count, sizeof(list->sorted[0]), compare, list);
}

static int set_name(struct gfs_file_names *list, uint32_t index, struct dec_text text)
{
	char escaped[GFS_NAME_SIZE];
	int rc = gfs_name_escape(text.p, text.len, escaped);

	if (rc != 0)
		return rc;
	list->names[index] = strdup(escaped);
	list->sorted[index] = index;
	list->memory += strlen(escaped) + 1;
	return list->names[index] ? 0 : -ENOMEM;
}

static int number(struct gfs_file_names *list, uint32_t index, uint32_t twin)
{
	char *longer;

	if (asprintf(&longer, "%s~%" PRIu32, list->names[index], twin) < 0)
		return -ENOMEM;
	free(list->names[index]);
	list->names[index] = longer;
	return 0;
}

/* Equal names are neighbours, in the order of their indexes: the first keeps its name. */
static int number_twins(struct gfs_file_names *list)
{
	uint32_t first = 0;
	int rc = 0;

	for (uint32_t i = 1; i < list->count && rc == 0; i++) {
		const char *name = list->names[list->sorted[first]];

		if (strcmp(list->names[list->sorted[i]], name) == 0)
			rc = number(list, list->sorted[i], i - first + 1);
		else
			first = i;
	}
	sort(list);
	return rc;
}

int gfs_file_names_init(struct gfs_file_names *list, uint32_t count,
			struct dec_text (*name)(const void *ctx, uint32_t index), const void *ctx)
{
	int rc = 0;

	*list = (struct gfs_file_names){
		.count = count,
		.names = calloc((size_t)count + 1, sizeof(*list->names)),
		.sorted = calloc((size_t)count + 1, sizeof(*list->sorted)),
		.memory = count * (sizeof(*list->names) + sizeof(*list->sorted) + 16),
	};
	if (!list->names || !list->sorted)
		rc = -ENOMEM;
	for (uint32_t i = 0; i < count && rc == 0; i++)
		rc = set_name(list, i, name(ctx, i));
	if (rc == 0) {
		sort(list);
		rc = number_twins(list);
	}
	if (rc != 0)
		gfs_file_names_fini(list);
	return rc;
}

void gfs_file_names_fini(struct gfs_file_names *list)
{
	for (uint32_t i = 0; list->names && i < list->count; i++)
		free(list->names[i]);
	free(list->names);
	free(list->sorted);
	*list = (struct gfs_file_names){ 0 };
}

/* Bytewise: <0, 0, >0 as name sorts before, at or after the len bytes at p. */
static int compare_name(const char *name, const char *p, size_t len)
{
	int order = strncmp(name, p, len);

	return order != 0 ? order : name[len] != '\0';
}

uint32_t gfs_file_names_find(const struct gfs_file_names *list, const char *name, size_t len)
{
	uint32_t low = 0;
	uint32_t high = list->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = compare_name(list->names[list->sorted[middle]], name, len);

		if (order == 0)
			return list->sorted[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return DEC_NONE;
}
