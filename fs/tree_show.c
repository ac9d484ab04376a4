#include "tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cache.h"
#include "examine_names.h"
#include "fields.h"

int gfs_show_record(struct gfs *fs, const void *p, uint32_t index, const char *sha256,
		    const struct gfs_field *fields, const struct gfs_field *more, char **text,
		    size_t *size)
{
	struct gfs_record record = { fs->artifact, fs->id_width, sha256, p, index };
	struct gfs_json w;
	struct cJSON *root;

	gfs_json_init(&w);
	root = gfs_json_object(&w, NULL, NULL);
	gfs_fields_put(&record, fields, &w, root);
	if (more)
		gfs_fields_put(&record, more, &w, root);
	return gfs_json_finish(&w, text, size);
}

void gfs_id_name(const struct gfs *fs, uint32_t index, char name[GFS_NAME_MAX + 1])
{
	snprintf(name, GFS_NAME_MAX + 1, "%0*" PRIu32, fs->id_width, index);
}

int gfs_id_find(const struct gfs *fs, const char *name, uint32_t count, uint32_t *index)
{
	size_t width = (size_t)fs->id_width;
	uint64_t value = 0;

	if (strlen(name) != width || strspn(name, "0123456789") != width)
		return -ENOENT;
	for (size_t i = 0; i < width; i++)
		value = value * 10 + (uint64_t)(name[i] - '0');
	if (value >= count)
		return -ENOENT;
	*index = (uint32_t)value;
	return 0;
}

/* ---- names of a list ---------------------------------------------------------------- */

int gfs_named_count(struct gfs *fs, struct gfs_node dir, uint32_t *count)
{
	const struct gfs_file_names *names;
	struct gfs_blob *blob;
	int rc = dir.entry->collection->names(fs, dir, &blob, &names);

	if (rc != 0)
		return rc;
	*count = names->count;
	gfs_blob_put(blob);
	return 0;
}

int gfs_named_name(struct gfs *fs, struct gfs_node dir, uint32_t index, char name[GFS_NAME_MAX + 1])
{
	const struct gfs_collection *collection = dir.entry->collection;
	const struct gfs_file_names *names;
	struct gfs_blob *blob;
	int rc = collection->names(fs, dir, &blob, &names);

	if (rc != 0)
		return rc;
	snprintf(name, GFS_NAME_MAX + 1, "%s%s", names->names[index], collection->suffix);
	gfs_blob_put(blob);
	return 0;
}

int gfs_named_find(struct gfs *fs, struct gfs_node dir, const char *name, uint32_t *index)
{
	const struct gfs_collection *collection = dir.entry->collection;
	size_t len = strlen(name), behind = strlen(collection->suffix);
	const struct gfs_file_names *names;
	struct gfs_blob *blob;
	int rc;

	/* The empty name is written "%", so that a suffix alone is no name. */
	if (len <= behind || strcmp(name + len - behind, collection->suffix) != 0)
		return -ENOENT;
	rc = collection->names(fs, dir, &blob, &names);
	if (rc != 0)
		return rc;
	*index = gfs_file_names_find(names, name, len - behind);
	gfs_blob_put(blob);
	return *index == DEC_NONE ? -ENOENT : 0;
}
