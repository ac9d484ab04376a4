/* targets/<target>/inspect and inspect: what examining many objects finds. */
#include "tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cache.h"
#include "report.h"
#include "report_kernels.h"

static int kernels_ready(struct gfs *fs, struct gfs_node node, struct gfs_waiter *waiter)
{
	const struct gfs_kernels *k;
	struct gfs_blob *blob;
	int rc = gfs_kernels_get(fs, node.a, waiter, &blob, &k);

	if (rc == 0)
		gfs_blob_put(blob);
	return rc;
}

static int target_report_show(struct gfs *fs, struct gfs_node node, char **text, size_t *size)
{
	return gfs_target_report_show(fs, node.a, text, size);
}

static int lines_show(struct gfs *fs, struct gfs_node node, char **text, size_t *size)
{
	const struct gfs_kernels *k;
	struct gfs_blob *blob;
	int rc = gfs_kernels_get(fs, node.a, NULL, &blob, &k);

	if (rc != 0)
		return rc;
	rc = gfs_kernels_show_lines(k, text, size);
	gfs_blob_put(blob);
	return rc;
}

static int kernel_show(struct gfs *fs, struct gfs_node node, char **text, size_t *size)
{
	const struct gfs_kernels *k;
	struct gfs_blob *blob;
	int rc = gfs_kernels_get(fs, node.a, NULL, &blob, &k);

	if (rc != 0)
		return rc;
	rc = node.b < k->names.count ? gfs_kernels_show(k, node.b, text, size) : -ENOENT;
	gfs_blob_put(blob);
	return rc;
}

/* ---- the kernels by name ---------------------------------------------------------------- */

static const char suffix[] = ".json";
#define SUFFIX_LEN (sizeof(suffix) - 1)

static const struct gfs_entry kernel_entry =
	TEXT_ROW(99, NULL, kernel_show, .ready = kernels_ready, .costly = true);

static int kernels_count(struct gfs *fs, struct gfs_node dir, uint32_t *count)
{
	const struct gfs_kernels *k;
	struct gfs_blob *blob;
	int rc = gfs_kernels_get(fs, dir.a, NULL, &blob, &k);

	if (rc != 0)
		return rc;
	*count = k->names.count;
	gfs_blob_put(blob);
	return 0;
}

static int kernels_name(struct gfs *fs, struct gfs_node dir, uint32_t index,
			char name[GFS_NAME_MAX + 1])
{
	const struct gfs_kernels *k;
	struct gfs_blob *blob;
	int rc = gfs_kernels_get(fs, dir.a, NULL, &blob, &k);

	if (rc != 0)
		return rc;
	snprintf(name, GFS_NAME_MAX + 1, "%s%s", k->names.names[index], suffix);
	gfs_blob_put(blob);
	return 0;
}

static int kernels_find(struct gfs *fs, struct gfs_node dir, const char *name, uint32_t *index)
{
	const struct gfs_kernels *k;
	struct gfs_blob *blob;
	size_t len = strlen(name);
	int rc;

	if (len <= SUFFIX_LEN || strcmp(name + len - SUFFIX_LEN, suffix) != 0)
		return -ENOENT;
	rc = gfs_kernels_get(fs, dir.a, NULL, &blob, &k);
	if (rc != 0)
		return rc;
	*index = gfs_file_names_find(&k->names, name, len - SUFFIX_LEN);
	gfs_blob_put(blob);
	return *index == DEC_NONE ? -ENOENT : 0;
}

static const struct gfs_collection kernels = {
	.each = &kernel_entry,
	.inner = true,
	.count = kernels_count,
	.name = kernels_name,
	.find = kernels_find,
};

const struct gfs_entry gfs_target_inspect[] = {
	TEXT_ROW(97, "report.json", target_report_show, .costly = true),
	DIR_ROW(98, "kernels", .collection = &kernels),
	TEXT_ROW(100, "kernels.jsonl", lines_show, .ready = kernels_ready, .costly = true),
	END_OF_DIR,
};

/* ---- the whole artifact ------------------------------------------------------------------- */

static int report_show(struct gfs *fs, struct gfs_node node, char **text, size_t *size)
{
	(void)node;
	return gfs_report_show(fs, text, size);
}

const struct gfs_entry gfs_root_inspect[] = {
	TEXT_ROW(9, "report.json", report_show, .costly = true),
	END_OF_DIR,
};
