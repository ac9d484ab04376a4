#include "tree.h"

#include "fields.h"

static const struct dec_object *object_of(const struct gfs *fs, struct gfs_node node)
{
	return &fs->artifact->objects[node.a];
}

static int object_show(struct gfs *fs, struct gfs_node node, char **text, size_t *size)
{
	const struct dec_object *o = object_of(fs, node);

	return gfs_show_record(fs, o, node.a, NULL, gfs_object_fields,
			       o->target_kind == DEC_TARGET_FATBIN_ENTRY ? gfs_fatbin_fields : NULL,
			       text, size);
}

static int location_show(struct gfs *fs, struct gfs_node node, char **text, size_t *size)
{
	return gfs_show_record(fs, object_of(fs, node), node.a, NULL, gfs_location_fields, NULL,
			       text, size);
}

enum gfs_payload_way gfs_payload_way(const struct gfs *fs, uint32_t object)
{
	const struct dec_object *o = &fs->artifact->objects[object];

	if (!o->has_payload)
		return GFS_PAYLOAD_NONE;
	if (o->space == DEC_SPACE_DECODED)
		return dec_can_decode(fs->artifact, o->container) ? GFS_PAYLOAD_INNER
								  : GFS_PAYLOAD_NONE;
	return o->codec == DEC_CODEC_NONE ? GFS_PAYLOAD_STORED : GFS_PAYLOAD_DECODED;
}

static bool has_stored_payload(struct gfs *fs, struct gfs_node node)
{
	return gfs_payload_way(fs, node.a) == GFS_PAYLOAD_STORED;
}

static bool has_inner_payload(struct gfs *fs, struct gfs_node node)
{
	return gfs_payload_way(fs, node.a) == GFS_PAYLOAD_INNER;
}

static bool has_decoded_payload(struct gfs *fs, struct gfs_node node)
{
	return gfs_payload_way(fs, node.a) == GFS_PAYLOAD_DECODED;
}

/* Where it differs from the payload and is the object's own. */
static bool has_encoded(struct gfs *fs, struct gfs_node node)
{
	const struct dec_object *o = object_of(fs, node);

	return o->codec != DEC_CODEC_NONE && o->space == DEC_SPACE_ARTIFACT;
}

static struct dec_range encoded_range(const struct gfs *fs, struct gfs_node node)
{
	return object_of(fs, node)->encoded;
}

static struct gfs_node payload_container(const struct gfs *fs, struct gfs_node node)
{
	return gfs_container_decoded(object_of(fs, node)->container);
}

static int payload_size(struct gfs *fs, struct gfs_node node, uint64_t *size)
{
	*size = object_of(fs, node)->payload_size;
	return 0;
}

static bool payload_unpack(const struct gfs *fs, struct gfs_node node, void *out,
			   struct dec_error *err)
{
	return dec_unpack(fs->artifact, node.a, out, err);
}

enum {
	OBJECT_JSON,
	OBJECT_LOCATION,
	OBJECT_STORED,
	OBJECT_INNER,
	OBJECT_DECODED,
	OBJECT_ENCODED,
	OBJECT_INSPECT,
	OBJECT_END,
};

static const struct gfs_entry object_dir[] = {
	[OBJECT_JSON] = TEXT_ROW(33, "object.json", object_show),
	[OBJECT_LOCATION] = TEXT_ROW(34, "location.json", location_show),
	[OBJECT_STORED] = RANGE_ROW(35, "payload", encoded_range, .exists = has_stored_payload),
	[OBJECT_INNER] = RANGE_ROW(38, "payload", encoded_range, .inside = payload_container,
				   .exists = has_inner_payload),
	[OBJECT_DECODED] = DECODED_ROW(36, "payload", payload_size, payload_unpack,
				       .exists = has_decoded_payload),
	[OBJECT_ENCODED] = RANGE_ROW(37, "encoded", encoded_range, .exists = has_encoded),
	[OBJECT_INSPECT] = DIR_ROW(48, "inspect", .children = gfs_object_inspect),
	[OBJECT_END] = END_OF_DIR,
};

bool gfs_object_payload(const struct gfs *fs, uint32_t object, struct gfs_node *node)
{
	static const int rows[] = {
		[GFS_PAYLOAD_STORED] = OBJECT_STORED,
		[GFS_PAYLOAD_INNER] = OBJECT_INNER,
		[GFS_PAYLOAD_DECODED] = OBJECT_DECODED,
	};
	enum gfs_payload_way way = gfs_payload_way(fs, object);

	if (way == GFS_PAYLOAD_NONE)
		return false;
	*node = (struct gfs_node){ &object_dir[rows[way]], object, 0 };
	return true;
}

static const struct gfs_entry object_entry = DIR_ROW(32, NULL, .children = object_dir);

static int objects_count(struct gfs *fs, struct gfs_node dir, uint32_t *count)
{
	(void)dir;
	*count = fs->artifact->object_count;
	return 0;
}

static int objects_name(struct gfs *fs, struct gfs_node dir, uint32_t index,
			char name[GFS_NAME_MAX + 1])
{
	(void)dir;
	gfs_id_name(fs, index, name);
	return 0;
}

static int objects_find(struct gfs *fs, struct gfs_node dir, const char *name, uint32_t *index)
{
	(void)dir;
	return gfs_id_find(fs, name, fs->artifact->object_count, index);
}

const struct gfs_collection gfs_objects = {
	.each = &object_entry,
	.count = objects_count,
	.name = objects_name,
	.find = objects_find,
};
