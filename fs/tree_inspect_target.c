/* targets/<target>/inspect and inspect: what examining many objects finds. */
#include "tree.h"

#include <errno.h>

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

static const struct gfs_entry kernel_entry =
	TEXT_ROW(99, NULL, kernel_show, .ready = kernels_ready, .costly = true);

static int kernel_names(struct gfs *fs, struct gfs_node dir, struct gfs_blob **blob,
			const struct gfs_file_names **names)
{
	const struct gfs_kernels *k;
	int rc = gfs_kernels_get(fs, dir.a, NULL, blob, &k);

	if (rc == 0)
		*names = &k->names;
	return rc;
}

static const struct gfs_collection kernels = {
	.each = &kernel_entry,
	.inner = true,
	GFS_NAMED(kernel_names, ".json"),
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
