/* queues/<q>: one queue. */
#include "tree.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "json.h"
#include "queues.h"

static int info_of(const struct gfs_at *at, struct sg_queue_info *info)
{
	return gfs_queues_errno(sg_queue_get_info(at->q->dev, at->object->handle, info));
}

/* ---- what is shown ---------------------------------------------------------------------------- */

/* clang-format off */
#define SHOW(fn, format, value) \
	static int fn(const struct gfs_at *at, struct gfs_text *text) \
	{ \
		struct sg_queue_info info; \
		int rc = info_of(at, &info); \
\
		if (rc == 0) \
			gfs_text_print(text, format "\n", value); \
		return rc; \
	}
SHOW(id_show, "%" PRIu64, info.id)
SHOW(size_show, "%" PRIu32, info.size)
SHOW(type_show, "%s", info.type ? "single" : "multi")
SHOW(features_show, "%" PRIu32, info.features)
SHOW(handle_show, "0x%016" PRIx64, info.handle)
SHOW(doorbell_handle_show, "0x%016" PRIx64, info.doorbell)
SHOW(base_address_show, "0x%" PRIx64, info.base_address)
SHOW(mode_show, "%s", sg_mode_name(info.mode))
SHOW(paused_show, "%d", info.paused)
SHOW(write_index_show, "%" PRIu64, info.write_index)
SHOW(read_index_show, "%" PRIu64, info.read_index)
SHOW(doorbell_show, "%" PRId64, info.doorbell_value)
SHOW(observed_through_show, "%" PRIu64, info.observed_through)
SHOW(pending_show, "%" PRIu64, info.pending)
SHOW(free_slots_show, "%" PRIu64, info.free_slots)
SHOW(doorbell_count_show, "%" PRIu64, info.doorbell_count)
/* clang-format on */

static int state_show(const struct gfs_at *at, struct gfs_text *text)
{
	char lines[SG_STATE_MAX];
	size_t len;
	enum sg_status status =
		sg_queue_state_text(at->q->dev, at->object->handle, lines, sizeof(lines), &len);

	if (status == SG_OK)
		gfs_text_add(text, lines, len);
	return gfs_queues_errno(status);
}

static int verdict_stats_show(const struct gfs_at *at, struct gfs_text *text)
{
	struct sg_stats stats;
	enum sg_status status = sg_verdict_get_stats(at->q->dev, at->object->handle, &stats);

	if (status == SG_OK)
		gfs_stats_print(text, &stats);
	return gfs_queues_errno(status);
}

/* ---- what is stored ----------------------------------------------------------------------------- */

static int fixed_store(const struct gfs_at *at, const char *word)
{
	(void)at;
	(void)word;
	return -EBUSY;
}

static int mode_store(const struct gfs_at *at, const char *word)
{
	static const enum sg_mode modes[] = { SG_MODE_SOFTGPU, SG_MODE_HSA };

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(sg_mode_name(modes[i]), word) == 0)
			return gfs_queues_errno(
				sg_queue_set_mode(at->q->dev, at->object->handle, modes[i]));
	}
	return -EINVAL;
}

static int paused_store(const struct gfs_at *at, const char *word)
{
	uint64_t value;
	int rc = gfs_parse_u64(word, &value);

	if (rc == 0 && value > 1)
		rc = -EINVAL;
	if (rc != 0)
		return rc;
	return gfs_queues_errno(sg_queue_set_paused(at->q->dev, at->object->handle, value == 1));
}

static int index_store(const struct gfs_at *at, const char *word,
		       enum sg_status (*store)(struct sg_device *, uint64_t, uint64_t))
{
	uint64_t value;
	int rc = gfs_parse_u64(word, &value);

	if (rc != 0)
		return rc;
	return gfs_queues_errno(store(at->q->dev, at->object->handle, value));
}

static int write_index_store(const struct gfs_at *at, const char *word)
{
	return index_store(at, word, sg_queue_store_write_index);
}

static int read_index_store(const struct gfs_at *at, const char *word)
{
	return index_store(at, word, sg_queue_store_read_index);
}

static int doorbell_store(const struct gfs_at *at, const char *word)
{
	int64_t value;
	int rc = gfs_parse_i64(word, &value);

	if (rc != 0)
		return rc;
	return gfs_queues_errno(sg_queue_doorbell(at->q->dev, at->object->handle, value));
}

/* ---- slots ------------------------------------------------------------------------------------------ */

static bool slots_next(struct gfs *fs, const struct gfs_elements *e, struct gfs_node dir,
		       uint64_t *number)
{
	struct gfs_queues *q = fs->queues;
	struct sg_queue_info info = { 0 };
	struct gfs_object *o;

	(void)e;
	gfs_queues_lock(q);
	o = gfs_object_get(q, GFS_CLASS_QUEUE, dir.a);
	if (o && sg_queue_get_info(q->dev, o->handle, &info) != SG_OK)
		info.size = 0;
	gfs_queues_unlock(q);
	return *number < info.size;
}

static int slots_name(struct gfs *fs, const struct gfs_elements *e, struct gfs_node dir,
		      uint64_t number, char name[GFS_NAME_MAX + 1])
{
	(void)fs;
	(void)dir;
	gfs_number_name(e, number, name);
	return 0;
}

static int slots_find(struct gfs *fs, const struct gfs_elements *e, struct gfs_node dir,
		      const char *name, uint64_t *number)
{
	return gfs_number_parse(e, name, number) && slots_next(fs, e, dir, number) ? 0 : -ENOENT;
}

/* As the processor would take it: decoded, or why not. */
static void put_packet(struct gfs_json *w, struct cJSON *in, const struct sg_slot *slot,
		       const struct sg_queue_info *info)
{
	char sentence[SG_DETAIL_MAX];
	struct sg_packet_error err;
	struct sg_descriptor desc;

	if (sg_replay(slot->bytes, sizeof(slot->bytes), slot->id, info->mode, &desc, &err)) {
		gfs_json_null(w, in, "error");
		gfs_descriptor_put(w, gfs_json_object(w, in, "packet"), &desc, info->id);
		return;
	}
	sg_packet_error_text(err, sentence, sizeof(sentence));
	gfs_json_word(w, in, "error", sentence);
	gfs_json_null(w, in, "packet");
}

static int slot_render(const struct gfs_at *at, struct gfs_text *text)
{
	struct sg_queue_info info;
	struct sg_slot slot;
	struct cJSON *root;
	struct gfs_json w;
	int rc = info_of(at, &info);

	if (rc == 0)
		rc = gfs_queues_errno(
			sg_queue_get_slot(at->q->dev, at->object->handle, at->node.b, &slot));
	if (rc != 0)
		return rc;
	gfs_json_init(&w);
	root = gfs_json_object(&w, NULL, NULL);
	gfs_json_uint(&w, root, "slot", slot.slot);
	if (slot.used)
		gfs_json_uint(&w, root, "id", slot.id);
	else
		gfs_json_null(&w, root, "id");
	gfs_json_bool(&w, root, "pending", slot.pending);
	gfs_json_word(&w, root, "type", sg_packet_type_name(slot.bytes[0]));
	/* AMD's second type, of vendor packets alone */
	if (slot.bytes[0] == 0)
		gfs_json_uint(&w, root, "amd_format", slot.bytes[2]);
	else
		gfs_json_null(&w, root, "amd_format");
	put_packet(&w, root, &slot, &info);
	gfs_json_bytes(&w, root, "bytes",
		       (struct dec_text){ (const char *)slot.bytes, sizeof(slot.bytes) });
	return gfs_json_text_end(&w, false, text);
}

static const struct gfs_entry slot_entry =
	LIVE_FILE(181, NULL, &gfs_file_text, .render = slot_render, .of = GFS_CLASS_QUEUE);

static const struct gfs_elements slots = {
	.each = &slot_entry,
	.place = GFS_IN_B,
	.suffix = ".json",
	.next = slots_next,
	.name = slots_name,
	.find = slots_find,
};

/* ---- the directory ------------------------------------------------------------------------------------ */

#define OF_QUEUE .of = GFS_CLASS_QUEUE

const struct gfs_entry gfs_queue_dir[] = {
	SHOW_ROW(150, "id", id_show, OF_QUEUE),
	SHOW_ROW(151, "size", size_show, .store = fixed_store, OF_QUEUE),
	SHOW_ROW(152, "type", type_show, .store = fixed_store, OF_QUEUE),
	SHOW_ROW(153, "features", features_show, OF_QUEUE),
	SHOW_ROW(154, "handle", handle_show, OF_QUEUE),
	SHOW_ROW(155, "doorbell_handle", doorbell_handle_show, OF_QUEUE),
	SHOW_ROW(156, "base_address", base_address_show, OF_QUEUE),
	STORE_ROW(157, "mode", mode_show, mode_store, OF_QUEUE),
	STORE_ROW(158, "paused", paused_show, paused_store, OF_QUEUE),
	STORE_ROW(159, "write_index", write_index_show, write_index_store, OF_QUEUE),
	STORE_ROW(160, "read_index", read_index_show, read_index_store, .watched = true, OF_QUEUE),
	STORE_ROW(161, "doorbell", doorbell_show, doorbell_store, OF_QUEUE),
	LIVE_RW_FILE(162, "reserve", &gfs_file_reserve, OF_QUEUE),
	SHOW_ROW(163, "observed_through", observed_through_show, OF_QUEUE),
	SHOW_ROW(164, "pending", pending_show, OF_QUEUE),
	SHOW_ROW(165, "free_slots", free_slots_show, OF_QUEUE),
	SHOW_ROW(166, "doorbell_count", doorbell_count_show, OF_QUEUE),
	SHOW_ROW(167, "state", state_show, .watched = true, OF_QUEUE),
	LIVE_RW_FILE(168, "packets", &gfs_file_packets, OF_QUEUE),
	LIVE_RW_FILE(169, "ring", &gfs_file_ring, OF_QUEUE),
	LIVE_DIR(170, "slots", .elements = &slots, OF_QUEUE),
	LIVE_FILE(171, "trace", &gfs_file_trace, .costly = true, OF_QUEUE),
	LIVE_FILE(172, "verdicts", &gfs_file_verdicts, .costly = true, OF_QUEUE),
	SHOW_ROW(173, "verdict_stats", verdict_stats_show, OF_QUEUE),
	END_OF_DIR,
};
