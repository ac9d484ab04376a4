/* objects/<id>/inspect: what examining one object finds. */
#include "tree.h"

#include <errno.h>
#include <stdlib.h>

#include "bundle_hash.h"
#include "cache.h"
#include "examine.h"
#include "examine_dispatch.h"
#include "examine_json.h"

static int examined_ready(struct gfs *fs, struct gfs_node node, struct gfs_waiter *waiter)
{
	const struct gfs_examined *x;
	struct gfs_blob *blob;
	int rc = gfs_examined_get(fs, node.a, false, waiter, &blob, &x);

	if (rc == 0)
		gfs_blob_put(blob);
	return rc;
}

/* The examination and the kernel that a node below kernels/ stands for. */
static int get_kernel(struct gfs *fs, struct gfs_node node, struct gfs_blob **blob,
		      const struct gfs_examined **x)
{
	int rc = gfs_examined_get(fs, node.a, false, NULL, blob, x);

	if (rc != 0 || node.b < (*x)->inspection->kernel_count)
		return rc;
	gfs_blob_put(*blob);
	return -ENOENT;
}

/* ---- files ------------------------------------------------------------------------------ */

/* Not ready(): that would examine without the digest, which the examination gives nearly
 * for nothing. */
static int inspection_show(struct gfs *fs, struct gfs_node node, char **text, size_t *size)
{
	const struct gfs_examined *x;
	struct gfs_hash_check check;
	struct gfs_blob *blob;
	char sha256[GFS_DIGEST_SIZE];
	int rc = gfs_examined_get(fs, node.a, true, NULL, &blob, &x);

	if (rc != 0)
		return rc;
	if (x->sha256[0] == '\0')
		rc = gfs_payload_digest(fs, node.a, sha256);
	if (rc == 0)
		rc = gfs_hash_check(fs, fs->artifact->objects[node.a].container, &check);
	if (rc == 0)
		rc = gfs_inspection_show(fs, node.a, x->inspection,
					 x->sha256[0] ? x->sha256 : sha256,
					 check.differs ? &check.problem : NULL, text, size);
	gfs_blob_put(blob);
	return rc;
}

static int metadata_show(struct gfs *fs, struct gfs_node node, char **text, size_t *size)
{
	struct gfs_payload payload = { 0 };
	struct dec_inspection *inspection;
	int rc = gfs_payload_load(fs, node.a, &payload);

	if (rc == 0)
		rc = gfs_payload_inspect(fs, node.a, &payload, DEC_WANT_METADATA, &inspection);
	gfs_payload_fini(&payload);
	if (rc != 0)
		return rc;
	rc = gfs_metadata_show(inspection, text, size);
	dec_inspection_free(inspection);
	return rc;
}

static int kernel_show(struct gfs *fs, struct gfs_node node, char **text, size_t *size)
{
	const struct gfs_examined *x;
	struct gfs_blob *blob;
	int rc = get_kernel(fs, node, &blob, &x);

	if (rc != 0)
		return rc;
	rc = gfs_kernel_show(fs, node.a, x->inspection, node.b, text, size);
	gfs_blob_put(blob);
	return rc;
}

static int dispatch_show(struct gfs *fs, struct gfs_node node, char **text, size_t *size)
{
	const struct gfs_examined *x;
	struct gfs_blob *blob;
	int rc = get_kernel(fs, node, &blob, &x);

	if (rc != 0)
		return rc;
	*size = GFS_DISPATCH_SIZE;
	*text = malloc(*size);
	if (*text)
		gfs_dispatch_template(node.a, &x->inspection->kernels[node.b],
				      (unsigned char *)*text);
	else
		rc = -ENOMEM;
	gfs_blob_put(blob);
	return rc;
}

static int dispatch_size(struct gfs *fs, struct gfs_node node, uint64_t *size)
{
	(void)fs;
	(void)node;
	*size = GFS_DISPATCH_SIZE;
	return 0;
}

/* ---- ranges of the payload ----------------------------------------------------------------- */

static int locate(struct gfs *fs, struct gfs_node node, struct gfs_node *inside,
		  struct dec_range *code, struct dec_range *descriptor)
{
	const struct gfs_examined *x;
	struct gfs_blob *blob;
	int rc = get_kernel(fs, node, &blob, &x);

	if (rc != 0)
		return rc;
	*code = x->inspection->kernels[node.b].code;
	*descriptor = x->inspection->kernels[node.b].descriptor;
	gfs_blob_put(blob);
	return gfs_object_payload(fs, node.a, inside) ? 0 : -ENOENT;
}

static int code_locate(struct gfs *fs, struct gfs_node node, struct gfs_node *inside,
		       struct dec_range *range)
{
	struct dec_range descriptor;

	return locate(fs, node, inside, range, &descriptor);
}

static int descriptor_locate(struct gfs *fs, struct gfs_node node, struct gfs_node *inside,
			     struct dec_range *range)
{
	struct dec_range code;

	return locate(fs, node, inside, &code, range);
}

/* Where this cannot be found out, reading the file says why. */
static bool has_range(struct gfs *fs, struct gfs_node node,
		      int (*find)(struct gfs *, struct gfs_node, struct gfs_node *,
				  struct dec_range *))
{
	struct gfs_node inside;
	struct dec_range range;
	int rc = find(fs, node, &inside, &range);

	return rc == 0 ? range.size != 0 : rc != -ENOENT;
}

static bool has_code(struct gfs *fs, struct gfs_node node)
{
	return has_range(fs, node, code_locate);
}

static bool has_descriptor(struct gfs *fs, struct gfs_node node)
{
	return has_range(fs, node, descriptor_locate);
}

/* ---- the directories ------------------------------------------------------------------------- */

static const struct gfs_entry kernel_dir[] = {
	TEXT_ROW(53, "kernel.json", kernel_show, .ready = examined_ready, .costly = true),
	LOCATED_ROW(54, "code", code_locate, .exists = has_code, .ready = examined_ready,
		    .costly = true),
	LOCATED_ROW(55, "descriptor", descriptor_locate, .exists = has_descriptor,
		    .ready = examined_ready, .costly = true),
	TEXT_ROW(56, "dispatch.aql", dispatch_show, .size = dispatch_size, .exists = has_descriptor,
		 .ready = examined_ready, .costly = true),
	END_OF_DIR,
};

static const struct gfs_entry kernel_entry = DIR_ROW(52, NULL, .children = kernel_dir);

static int kernel_names(struct gfs *fs, struct gfs_node dir, struct gfs_blob **blob,
			const struct gfs_file_names **names)
{
	const struct gfs_examined *x;
	int rc = gfs_examined_get(fs, dir.a, false, NULL, blob, &x);

	if (rc == 0)
		*names = &x->names;
	return rc;
}

static const struct gfs_collection kernels = {
	.each = &kernel_entry,
	.inner = true,
	GFS_NAMED(kernel_names, ""),
};

const struct gfs_entry gfs_object_inspect[] = {
	TEXT_ROW(49, "inspection.json", inspection_show, .costly = true),
	TEXT_ROW(50, "metadata.json", metadata_show, .costly = true),
	DIR_ROW(51, "kernels", .collection = &kernels),
	END_OF_DIR,
};
