#include "tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "names.h"

static const struct dec_target *target_of(const struct gfs *fs, struct gfs_node node)
{
	return &fs->artifact->targets[node.a];
}

static int target_show(struct gfs *fs, struct gfs_node node, char **text, size_t *size)
{
	return gfs_show_record(fs, target_of(fs, node), node.a, NULL, gfs_target_fields, NULL, text,
			       size);
}

/* Every line is an id of fixed width and a newline. */
static int objects_size(struct gfs *fs, struct gfs_node node, uint64_t *size)
{
	*size = (uint64_t)target_of(fs, node)->object_count * (uint64_t)(fs->id_width + 1);
	return 0;
}

static int objects_show(struct gfs *fs, struct gfs_node node, char **text, size_t *size)
{
	const struct dec_target *target = target_of(fs, node);
	size_t line = (size_t)fs->id_width + 1;
	char id[GFS_NAME_MAX + 1];

	*size = target->object_count * line;
	*text = malloc(*size + 1);
	if (!*text)
		return -ENOMEM;
	for (uint32_t i = 0; i < target->object_count; i++) {
		gfs_id_name(fs, target->objects[i], id);
		memcpy(*text + i * line, id, line - 1);
		(*text)[(i + 1) * line - 1] = '\n';
	}
	(*text)[*size] = '\0';
	return 0;
}

static const struct gfs_entry target_dir[] = {
	TEXT_ROW(81, "target.json", target_show),
	TEXT_ROW(82, "objects", objects_show, .size = objects_size),
	DIR_ROW(96, "inspect", .children = gfs_target_inspect),
	END_OF_DIR,
};

static const struct gfs_entry target_entry = DIR_ROW(80, NULL, .children = target_dir);

static int targets_count(struct gfs *fs, struct gfs_node dir, uint32_t *count)
{
	(void)dir;
	*count = fs->artifact->target_count;
	return 0;
}

static int targets_name(struct gfs *fs, struct gfs_node dir, uint32_t index,
			char name[GFS_NAME_MAX + 1])
{
	struct dec_text text = fs->artifact->targets[index].name;

	(void)dir;
	return gfs_name_escape(text.p, text.len, name);
}

/* Bytewise: <0, 0, >0 as the target's name sorts before, at or after the text. */
static int compare(const struct dec_target *target, const char *p, size_t len)
{
	size_t n = target->name.len < len ? target->name.len : len;
	int order = memcmp(target->name.p, p, n);

	if (order != 0)
		return order;
	return target->name.len < len ? -1 : target->name.len > len;
}

/* The first target whose name is not before the text; target_count if none. */
static uint32_t lower_bound(const struct dec_artifact *artifact, const char *p, size_t len)
{
	uint32_t low = 0;
	uint32_t high = artifact->target_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare(&artifact->targets[middle], p, len) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool begins_with(struct dec_text text, const char *p, size_t len)
{
	return text.len >= len && memcmp(text.p, p, len) == 0;
}

/* A name that was cut gives the beginning only: all targets that share it are compared. */
static int targets_find(struct gfs *fs, struct gfs_node dir, const char *name, uint32_t *index)
{
	const struct dec_artifact *artifact = fs->artifact;
	char raw[GFS_NAME_MAX + 1];
	char escaped[GFS_NAME_MAX + 1];
	size_t len;

	if (!gfs_name_unescape(name, raw, &len))
		return -ENOENT;
	for (uint32_t i = lower_bound(artifact, raw, len); i < artifact->target_count; i++) {
		int rc;

		if (!begins_with(artifact->targets[i].name, raw, len))
			break;
		rc = targets_name(fs, dir, i, escaped);
		if (rc != 0)
			return rc;
		if (strcmp(escaped, name) == 0) {
			*index = i;
			return 0;
		}
		if (!strchr(name, '~'))
			break; /* an uncut name is the first of those that begin with it */
	}
	return -ENOENT;
}

const struct gfs_collection gfs_targets = {
	.each = &target_entry,
	.count = targets_count,
	.name = targets_name,
	.find = targets_find,
};
