/* /queues: the directory itself, and what is in it once. */
#include "tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "queues.h"

/* ---- elements that are called by numbers --------------------------------------------------- */

void gfs_number_name(const struct gfs_elements *e, uint64_t number, char name[GFS_NAME_MAX + 1])
{
	snprintf(name, GFS_NAME_MAX + 1, "%" PRIu64 "%s", number, e->suffix);
}

/* One spelling only: no zeros in front. */
bool gfs_number_parse(const struct gfs_elements *e, const char *name, uint64_t *number)
{
	size_t digits = strspn(name, "0123456789");
	char text[24];

	if (digits == 0 || digits >= sizeof(text) || strcmp(name + digits, e->suffix) != 0)
		return false;
	if (name[0] == '0' && digits > 1)
		return false;
	memcpy(text, name, digits);
	text[digits] = '\0';
	return gfs_parse_u64(text, number) == 0;
}

/* ---- objects ---------------------------------------------------------------------------------- */

bool gfs_objects_next(struct gfs *fs, const struct gfs_elements *e, struct gfs_node dir,
		      uint64_t *number)
{
	struct gfs_object *o;

	(void)dir;
	gfs_queues_lock(fs->queues);
	o = gfs_object_from(fs->queues, e->each->of, *number);
	if (o)
		*number = o->number;
	gfs_queues_unlock(fs->queues);
	return o;
}

int gfs_objects_name(struct gfs *fs, const struct gfs_elements *e, struct gfs_node dir,
		     uint64_t number, char name[GFS_NAME_MAX + 1])
{
	struct gfs_object *o;

	(void)dir;
	gfs_queues_lock(fs->queues);
	o = gfs_object_get(fs->queues, e->each->of, number);
	if (o)
		strcpy(name, o->name);
	gfs_queues_unlock(fs->queues);
	return o ? 0 : -ENOENT;
}

int gfs_objects_find(struct gfs *fs, const struct gfs_elements *e, struct gfs_node dir,
		     const char *name, uint64_t *number)
{
	struct gfs_object *o;

	(void)dir;
	gfs_queues_lock(fs->queues);
	o = gfs_object_named(fs->queues, e->each->of, name);
	if (o)
		*number = o->number;
	gfs_queues_unlock(fs->queues);
	return o ? 0 : -ENOENT;
}

static bool is_name(const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._-";
	size_t len = strlen(name);

	return len <= GFS_OBJECT_NAME_MAX && strspn(name, plain) == len;
}

int gfs_objects_make(struct gfs *fs, const struct gfs_elements *e, const char *name)
{
	int rc;

	if (!is_name(name))
		return -EINVAL;
	gfs_queues_lock(fs->queues);
	rc = gfs_object_make(fs->queues, e->each->of, name);
	gfs_queues_changed(fs->queues, NULL);
	return rc;
}

int gfs_objects_remove(struct gfs *fs, struct gfs_node node)
{
	struct gfs_object *o;

	gfs_queues_lock(fs->queues);
	o = gfs_object_get(fs->queues, node.entry->of, node.a);
	if (o)
		gfs_object_remove(fs->queues, o);
	gfs_queues_changed(fs->queues, NULL);
	return o ? 0 : -ENOENT;
}

/* clang-format off */
#define OBJECTS(row) \
	.each = (row), .next = gfs_objects_next, .name = gfs_objects_name, \
	.find = gfs_objects_find, .make = gfs_objects_make, .remove = gfs_objects_remove
/* clang-format on */

static const struct gfs_entry queue_entry =
	LIVE_DIR(149, NULL, .children = gfs_queue_dir, .of = GFS_CLASS_QUEUE);
static const struct gfs_entry signal_entry =
	LIVE_DIR(183, NULL, .children = gfs_signal_dir, .of = GFS_CLASS_SIGNAL);
static const struct gfs_entry memory_entry =
	LIVE_DIR(191, NULL, .children = gfs_memory_dir, .of = GFS_CLASS_MEMORY);

const struct gfs_elements gfs_queue_elements = { OBJECTS(&queue_entry) };
static const struct gfs_elements signals = { OBJECTS(&signal_entry) };
static const struct gfs_elements memories = { OBJECTS(&memory_entry) };

/* ---- defaults ---------------------------------------------------------------------------------- */

static int size_show(const struct gfs_at *at, struct gfs_text *text)
{
	gfs_text_print(text, "%" PRIu32 "\n", at->q->defaults.size);
	return 0;
}

/* As softgpu would say at the next mkdir (aql.md 3.1). */
static int size_store(const struct gfs_at *at, const char *word)
{
	uint64_t size;
	int rc = gfs_parse_u64(word, &size);

	if (rc != 0)
		return rc;
	if (size < 64 || size > 16384 || (size & (size - 1)) != 0)
		return -EINVAL;
	at->q->defaults.size = (uint32_t)size;
	return 0;
}

static const char *const types[] = { "multi", "single" };

static int type_show(const struct gfs_at *at, struct gfs_text *text)
{
	gfs_text_print(text, "%s\n", types[at->q->defaults.type]);
	return 0;
}

static int type_store(const struct gfs_at *at, const char *word)
{
	for (uint32_t type = 0; type < 2; type++) {
		if (strcmp(types[type], word) == 0) {
			at->q->defaults.type = type;
			return 0;
		}
	}
	return -EINVAL;
}

static int initial_show(const struct gfs_at *at, struct gfs_text *text)
{
	gfs_text_print(text, "%" PRId64 "\n", at->q->defaults.initial);
	return 0;
}

static int initial_store(const struct gfs_at *at, const char *word)
{
	return gfs_parse_i64(word, &at->q->defaults.initial);
}

static const struct gfs_entry defaults_dir[] = {
	STORE_ROW(129, "size", size_show, size_store),
	STORE_ROW(130, "type", type_show, type_store),
	STORE_ROW(131, "initial", initial_show, initial_store),
	END_OF_DIR,
};

/* ---- regions ------------------------------------------------------------------------------------- */

static bool regions_next(struct gfs *fs, const struct gfs_elements *e, struct gfs_node dir,
			 uint64_t *number)
{
	(void)fs;
	(void)e;
	(void)dir;
	return *number < SG_SPACE_COUNT;
}

static void space_info(struct gfs_queues *q, uint64_t space, struct sg_space_info *info)
{
	sg_space_get_info(q->dev, (enum sg_space)space, info);
}

static int regions_name(struct gfs *fs, const struct gfs_elements *e, struct gfs_node dir,
			uint64_t number, char name[GFS_NAME_MAX + 1])
{
	struct sg_space_info info;

	(void)e;
	(void)dir;
	gfs_queues_lock(fs->queues);
	space_info(fs->queues, number, &info);
	gfs_queues_unlock(fs->queues);
	strcpy(name, info.name);
	return 0;
}

static int regions_find(struct gfs *fs, const struct gfs_elements *e, struct gfs_node dir,
			const char *name, uint64_t *number)
{
	char found[GFS_NAME_MAX + 1];

	for (*number = 0; *number < SG_SPACE_COUNT; ++*number) {
		regions_name(fs, e, dir, *number, found);
		if (strcmp(found, name) == 0)
			return 0;
	}
	return -ENOENT;
}

/* clang-format off */
#define SHOW_SPACE(fn, format, value) \
	static int fn(const struct gfs_at *at, struct gfs_text *text) \
	{ \
		struct sg_space_info info; \
\
		space_info(at->q, at->node.a, &info); \
		gfs_text_print(text, format "\n", value); \
		return 0; \
	}
SHOW_SPACE(region_handle_show, "0x%016" PRIx64, info.handle)
SHOW_SPACE(region_flags_show, "%" PRIu32, info.flags)
SHOW_SPACE(region_size_show, "%" PRIu64, info.size)
SHOW_SPACE(region_in_use_show, "%" PRIu64, info.in_use)
/* clang-format on */

static const struct gfs_entry region_dir[] = {
	SHOW_ROW(134, "handle", region_handle_show),
	SHOW_ROW(135, "flags", region_flags_show),
	SHOW_ROW(136, "size", region_size_show),
	SHOW_ROW(137, "in_use", region_in_use_show),
	END_OF_DIR,
};

static const struct gfs_entry region_entry = LIVE_DIR(133, NULL, .children = region_dir);

static const struct gfs_elements regions = {
	.each = &region_entry,
	.next = regions_next,
	.name = regions_name,
	.find = regions_find,
};

/* ---- files ------------------------------------------------------------------------------------------ */

/* Of this interface: a change that scripts would notice raises it. */
#define INTERFACE_VERSION 1

static int info_show(const struct gfs_at *at, struct gfs_text *text)
{
	struct sg_device_info info;
	struct cJSON *root, *o;
	struct gfs_json w;

	sg_device_get_info(at->q->dev, &info);
	gfs_json_init(&w);
	root = gfs_json_object(&w, NULL, NULL);
	gfs_json_uint(&w, root, "version", INTERFACE_VERSION);
	gfs_json_bool(&w, root, "runs_kernels", false);
	gfs_handle_put(&w, root, "agent", info.agent);
	o = gfs_json_array(&w, root, "modes");
	gfs_json_word(&w, o, NULL, sg_mode_name(SG_MODE_SOFTGPU));
	gfs_json_word(&w, o, NULL, sg_mode_name(SG_MODE_HSA));
	o = gfs_json_object(&w, root, "limits");
#define X(option, member, what) gfs_json_uint(&w, o, #member, info.config.member);
	GFS_QUEUE_BOUND_LIST(X)
#undef X
	o = gfs_json_array(&w, root, "unlisted");
	gfs_json_word(&w, o, NULL, "trace_pipe");
	return gfs_json_text_end(&w, false, text);
}

/* Reads as nothing, so that a copy of the tree is no command to anybody. */
static int reset_show(const struct gfs_at *at, struct gfs_text *text)
{
	(void)at;
	(void)text;
	return 0;
}

static int reset_store(const struct gfs_at *at, const char *word)
{
	uint64_t value;
	int rc = gfs_parse_u64(word, &value);

	if (rc == 0 && value != 1)
		rc = -EINVAL;
	if (rc == 0)
		gfs_queues_reset(at->q);
	return rc;
}

static int trace_stats_show(const struct gfs_at *at, struct gfs_text *text)
{
	struct sg_stats stats;

	sg_trace_get_stats(at->q->dev, &stats);
	gfs_stats_print(text, &stats);
	return 0;
}

static int captures_stats_show(const struct gfs_at *at, struct gfs_text *text)
{
	struct sg_stats stats;

	sg_capture_get_stats(at->q->dev, &stats);
	gfs_stats_print(text, &stats);
	return 0;
}

const struct gfs_entry gfs_queues_dir[] = {
	SHOW_ROW(139, "info.json", info_show),
	STORE_ROW(143, "reset", reset_show, reset_store),
	LIVE_DIR(128, "defaults", .children = defaults_dir),
	LIVE_FILE(144, "trace", &gfs_file_trace, .costly = true),
	LIVE_FILE(145, "trace_pipe", &gfs_file_trace_pipe, .unlisted = true),
	SHOW_ROW(146, "trace_stats", trace_stats_show),
	LIVE_DIR(132, "regions", .elements = &regions),
	LIVE_DIR(182, "signals", .elements = &signals),
	LIVE_DIR(190, "memory", .elements = &memories),
	SHOW_ROW(147, "captures_stats", captures_stats_show),
	LIVE_DIR(138, "captures", .elements = &gfs_captures),
	LIVE_RW_FILE(148, "replay", &gfs_file_replay),
	END_OF_DIR,
};
