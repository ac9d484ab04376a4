/* queues/captures: every accepted packet as it was, decoded, and replayed. */
#include "tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "queues.h"

/*
 * Captures count from 0 again after a reset. In nodes they are numbered across resets, so that
 * no inode number comes twice.
 */
static uint64_t first_there(struct gfs_queues *q, const struct sg_stats *stats)
{
	return q->capture_base + stats->dropped;
}

static uint64_t number_of(const struct gfs_at *at)
{
	return (at->node.a | (uint64_t)at->node.b << GFS_INDEX_BITS) - at->q->capture_base;
}

static bool captures_next(struct gfs *fs, const struct gfs_elements *e, struct gfs_node dir,
			  uint64_t *number)
{
	struct gfs_queues *q = fs->queues;
	struct sg_stats stats;
	bool there;

	(void)e;
	(void)dir;
	gfs_queues_lock(q);
	sg_capture_get_stats(q->dev, &stats);
	if (*number < first_there(q, &stats))
		*number = first_there(q, &stats);
	there = *number < q->capture_base + stats.total;
	gfs_queues_unlock(q);
	return there;
}

static int captures_name(struct gfs *fs, const struct gfs_elements *e, struct gfs_node dir,
			 uint64_t number, char name[GFS_NAME_MAX + 1])
{
	uint64_t base;

	(void)dir;
	gfs_queues_lock(fs->queues);
	base = fs->queues->capture_base;
	gfs_queues_unlock(fs->queues);
	if (number < base)
		return -ENOENT;
	gfs_number_name(e, number - base, name);
	return 0;
}

static int captures_find(struct gfs *fs, const struct gfs_elements *e, struct gfs_node dir,
			 const char *name, uint64_t *number)
{
	uint64_t wanted;

	if (!gfs_number_parse(e, name, &wanted))
		return -ENOENT;
	gfs_queues_lock(fs->queues);
	wanted += fs->queues->capture_base;
	gfs_queues_unlock(fs->queues);
	*number = wanted;
	return captures_next(fs, e, dir, number) && *number == wanted ? 0 : -ENOENT;
}

/* ---- bytes ------------------------------------------------------------------------------- */

static int capture_size(const struct gfs_at *at, uint64_t *size)
{
	(void)at;
	*size = SG_PACKET_BYTES;
	return 0;
}

static int capture_read(struct gfs_file *f, struct gfs_io *io)
{
	struct sg_capture c;

	if (sg_capture_get(f->at.q->dev, number_of(&f->at), &c) != SG_OK)
		return -ENODEV;
	gfs_io_copy(io, 0, c.desc.bytes, sizeof(c.desc.bytes));
	return 0;
}

const struct gfs_file_kind gfs_file_capture = {
	.size = capture_size,
	.read = capture_read,
};

/* ---- decoded ------------------------------------------------------------------------------ */

static void put_bytes(struct gfs_json *w, struct cJSON *in, const char *key, const uint8_t *p,
		      size_t len)
{
	gfs_json_bytes(w, in, key, (struct dec_text){ (const char *)p, len });
}

/* With all 16 digits, as the files that hold handles have them. */
void gfs_handle_put(struct gfs_json *w, struct cJSON *in, const char *key, uint64_t handle)
{
	char text[24] = "0x0";

	if (handle)
		snprintf(text, sizeof(text), "0x%016" PRIx64, handle);
	gfs_json_word(w, in, key, text);
}

static void put_kernarg(struct gfs_json *w, struct cJSON *in, const struct sg_kernarg *kernarg)
{
	struct cJSON *o = gfs_json_object(w, in, "kernarg");

	gfs_json_word(w, o, "class", sg_kernarg_class_name(kernarg->class));
	if (kernarg->class == SG_KERNARG_SOFTGPU)
		gfs_json_uint(w, o, "alloc_id", kernarg->alloc_id);
	if (kernarg->class != SG_KERNARG_NULL)
		gfs_json_hex(w, o, "addr", kernarg->address);
}

void gfs_descriptor_put(struct gfs_json *w, struct cJSON *in, const struct sg_descriptor *desc,
			uint64_t queue_id)
{
	struct cJSON *array;

	gfs_json_uint(w, in, "packet_index", desc->packet_index);
	gfs_json_uint(w, in, "packet_type", desc->packet_type);
	gfs_json_uint(w, in, "header", desc->header);
	gfs_json_uint(w, in, "setup", desc->setup);
	gfs_json_uint(w, in, "dimensions", desc->dimensions);
	array = gfs_json_array(w, in, "workgroup_size");
	for (int i = 0; i < 3; i++)
		gfs_json_uint(w, array, NULL, desc->workgroup_size[i]);
	array = gfs_json_array(w, in, "grid_size");
	for (int i = 0; i < 3; i++)
		gfs_json_uint(w, array, NULL, desc->grid_size[i]);
	gfs_json_uint(w, in, "private_segment_size", desc->private_segment_size);
	gfs_json_uint(w, in, "group_segment_size", desc->group_segment_size);
	gfs_handle_put(w, in, "kernel_object", desc->kernel_object);
	put_kernarg(w, in, &desc->kernarg);
	gfs_handle_put(w, in, "completion_signal", desc->completion_signal);
	put_bytes(w, in, "bytes", desc->bytes, sizeof(desc->bytes));
	gfs_json_uint(w, in, "queue_id", queue_id);
}

static void put_allocation(struct gfs_json *w, struct cJSON *in, const struct sg_capture *c)
{
	struct cJSON *o;

	if (!c->kernarg_alloc_id) {
		gfs_json_null(w, in, "kernarg_allocation");
		return;
	}
	o = gfs_json_object(w, in, "kernarg_allocation");
	gfs_json_uint(w, o, "alloc_id", c->kernarg_alloc_id);
	gfs_json_uint(w, o, "offset", c->kernarg_offset);
}

int gfs_json_text_end(struct gfs_json *w, bool one_line, struct gfs_text *text)
{
	char *printed;
	size_t size;
	int rc = gfs_json_finish(w, &printed, &size);

	if (rc != 0)
		return rc;
	if (one_line) {
		size = gfs_json_compact(printed, size);
		printed[size++] = '\n'; /* where the last one was, or before it */
	}
	gfs_text_add(text, printed, size);
	free(printed);
	return text->failed ? -ENOMEM : 0;
}

/* A capture and its argument bytes, out of the lock's reach. */
struct copy {
	struct sg_capture c;
	uint8_t *kernarg;
};

static int take_copy(const struct gfs_at *at, struct copy *copy)
{
	struct sg_device *dev = at->q->dev;
	uint64_t number;
	size_t len = 0;
	int rc = 0;

	copy->kernarg = NULL;
	gfs_queues_lock(at->q);
	number = number_of(at);
	if (sg_capture_get(dev, number, &copy->c) != SG_OK)
		rc = -ENODEV;
	if (rc == 0 && copy->c.kernarg_len) {
		copy->kernarg = malloc(copy->c.kernarg_len);
		if (!copy->kernarg)
			rc = -ENOMEM;
		else if (sg_capture_get_kernarg(dev, number, copy->kernarg, copy->c.kernarg_len,
						&len) != SG_OK)
			copy->c.kernarg_len = 0;
	}
	gfs_queues_unlock(at->q);
	return rc;
}

/* The copy reaches to the end of the memory, which is mostly zeros: those are left out. */
static void put_memory(struct gfs_json *w, struct cJSON *in, const struct copy *copy)
{
	size_t len = copy->kernarg ? copy->c.kernarg_len : 0;

	gfs_json_uint(w, in, "kernarg_size", len);
	while (len && copy->kernarg[len - 1] == 0)
		len--;
	put_bytes(w, in, "kernarg_bytes", copy->kernarg, len);
}

static int render(const struct gfs_at *at, const struct sg_descriptor *desc,
		  const struct copy *copy, struct gfs_text *text)
{
	struct gfs_json w;
	struct cJSON *root;
	int rc;

	gfs_json_init(&w);
	root = gfs_json_object(&w, NULL, NULL);
	gfs_descriptor_put(&w, root, desc, copy->c.queue_id);
	put_allocation(&w, root, &copy->c);
	put_memory(&w, root, copy);
	rc = gfs_binding_put(at, &w, root, &copy->c, copy->kernarg);
	if (rc != 0) {
		gfs_json_fini(&w);
		return rc;
	}
	return gfs_json_text_end(&w, false, text);
}

static int capture_render(const struct gfs_at *at, struct gfs_text *text)
{
	struct copy copy;
	int rc = take_copy(at, &copy);

	if (rc == 0)
		rc = render(at, &copy.c.desc, &copy, text);
	free(copy.kernarg);
	return rc;
}

/* What it knows that a replay cannot is repeated, so that a diff shows only what differs. */
static int replay_render(const struct gfs_at *at, struct gfs_text *text)
{
	struct sg_packet_error err;
	struct sg_descriptor desc;
	struct copy copy;
	int rc = take_copy(at, &copy);

	if (rc == 0 && !sg_replay(copy.c.desc.bytes, SG_PACKET_BYTES, copy.c.desc.packet_index,
				  copy.c.mode, &desc, &err))
		rc = -EIO; /* it was accepted once by the same rules */
	if (rc == 0)
		rc = render(at, &desc, &copy, text);
	free(copy.kernarg);
	return rc;
}

/* ---- the directory ---------------------------------------------------------------------------- */

static const struct gfs_entry aql_entry = LIVE_FILE(140, NULL, &gfs_file_capture);
static const struct gfs_entry json_entry =
	LIVE_FILE(141, NULL, &gfs_file_text_apart, .render = capture_render, .costly = true);
static const struct gfs_entry replay_entry =
	LIVE_FILE(142, NULL, &gfs_file_text_apart, .render = replay_render, .costly = true);

/* clang-format off */
#define CAPTURES(row, with) \
	.each = (row), .place = GFS_IN_BOTH, .suffix = (with), .next = captures_next, \
	.name = captures_name, .find = captures_find
/* clang-format on */

static const struct gfs_elements replays = { CAPTURES(&replay_entry, ".replay.json") };
static const struct gfs_elements decoded = { CAPTURES(&json_entry, ".json"), .more = &replays };
const struct gfs_elements gfs_captures = { CAPTURES(&aql_entry, ".aql"), .more = &decoded };
