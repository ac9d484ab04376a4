#include "tree.h"

#include "fields.h"

static int container_show(struct gfs *fs, struct gfs_node node, char **text, size_t *size)
{
	return gfs_show_record(fs, &fs->artifact->containers[node.a], node.a, NULL,
			       gfs_container_fields, NULL, text, size);
}

static struct dec_range container_range(const struct gfs *fs, struct gfs_node node)
{
	return fs->artifact->containers[node.a].range;
}

static bool can_decode(struct gfs *fs, struct gfs_node node)
{
	return dec_can_decode(fs->artifact, node.a);
}

static int decoded_size(struct gfs *fs, struct gfs_node node, uint64_t *size)
{
	*size = fs->artifact->containers[node.a].decoded_size;
	return 0;
}

static bool decoded_unpack(const struct gfs *fs, struct gfs_node node, void *out,
			   struct dec_error *err)
{
	return dec_unpack_container(fs->artifact, node.a, out, err);
}

enum { CONTAINER_JSON, CONTAINER_ENCODED, CONTAINER_DECODED, CONTAINER_END };

static const struct gfs_entry container_dir[] = {
	[CONTAINER_JSON] = TEXT_ROW(17, "container.json", container_show),
	[CONTAINER_ENCODED] = RANGE_ROW(18, "encoded", container_range),
	[CONTAINER_DECODED] =
		DECODED_ROW(19, "decoded", decoded_size, decoded_unpack, .exists = can_decode),
	[CONTAINER_END] = END_OF_DIR,
};

struct gfs_node gfs_container_decoded(uint32_t container)
{
	return (struct gfs_node){ &container_dir[CONTAINER_DECODED], container, 0 };
}

static const struct gfs_entry container_entry = DIR_ROW(16, NULL, .children = container_dir);

static int containers_count(struct gfs *fs, struct gfs_node dir, uint32_t *count)
{
	(void)dir;
	*count = fs->artifact->container_count;
	return 0;
}

static int containers_name(struct gfs *fs, struct gfs_node dir, uint32_t index,
			   char name[GFS_NAME_MAX + 1])
{
	(void)dir;
	gfs_id_name(fs, index, name);
	return 0;
}

static int containers_find(struct gfs *fs, struct gfs_node dir, const char *name, uint32_t *index)
{
	(void)dir;
	return gfs_id_find(fs, name, fs->artifact->container_count, index);
}

const struct gfs_collection gfs_containers = {
	.each = &container_entry,
	.count = containers_count,
	.name = containers_name,
	.find = containers_find,
};
