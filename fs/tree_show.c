#include "tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
