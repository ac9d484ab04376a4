#include "tree.h"

#include <stdlib.h>

#include "fields.h"
#include "source.h"

/* The digest has a fixed length, so the size is known before it is. */
static const char no_digest[] = "0000000000000000000000000000000000000000000000000000000000000000";

static int artifact_show(struct gfs *fs, struct gfs_node node, char **text, size_t *size)
{
	char hex[65];
	int rc = gfs_source_sha256(fs->source, hex, NULL);

	(void)node;
	if (rc != 0)
		return rc;
	return gfs_show_record(fs, fs->artifact, 0, hex, gfs_artifact_fields, NULL, text, size);
}

static int artifact_ready(struct gfs *fs, struct gfs_node node, struct gfs_waiter *waiter)
{
	char hex[65];

	(void)node;
	return gfs_source_sha256(fs->source, hex, waiter);
}

static int artifact_size(struct gfs *fs, struct gfs_node node, uint64_t *size)
{
	char *text;
	size_t n;
	int rc = gfs_show_record(fs, fs->artifact, 0, no_digest, gfs_artifact_fields, NULL, &text,
				 &n);

	(void)node;
	if (rc == 0)
		free(text);
	*size = n;
	return rc;
}

static int problems_show(struct gfs *fs, struct gfs_node node, char **text, size_t *size)
{
	struct gfs_record record = { fs->artifact, fs->id_width, NULL, NULL, 0 };
	struct gfs_json w;
	struct cJSON *array;

	(void)node;
	gfs_json_init(&w);
	array = gfs_json_array(&w, NULL, NULL);
	for (uint32_t i = 0; i < fs->artifact->problem_count; i++) {
		record.p = &fs->artifact->problems[i];
		if (!gfs_problem_is_listed(record.p))
			continue;
		gfs_fields_put(&record, gfs_problem_fields, &w, gfs_json_object(&w, array, NULL));
	}
	return gfs_json_finish(&w, text, size);
}

static bool has_queues(struct gfs *fs, struct gfs_node node)
{
	(void)node;
	return fs->queues != NULL;
}

static const struct gfs_entry root_dir[] = {
	TEXT_ROW(2, "artifact.json", artifact_show, .ready = artifact_ready, .size = artifact_size),
	TEXT_ROW(3, "problems.json", problems_show, .costly = true),
	DIR_ROW(4, "containers", .collection = &gfs_containers),
	DIR_ROW(5, "objects", .collection = &gfs_objects),
	DIR_ROW(6, "targets", .collection = &gfs_targets),
	DIR_ROW(10, "devices", .collection = &gfs_devices),
	DIR_ROW(7, "inspect", .children = gfs_root_inspect),
	DIR_ROW(8, "queues", .live = true, .exists = has_queues, .children = gfs_queues_dir,
		.elements = &gfs_queue_elements),
	END_OF_DIR,
};

const struct gfs_entry gfs_root_entry = DIR_ROW(GFS_ROOT_INO, NULL, .children = root_dir);
