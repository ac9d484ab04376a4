/* SPDX-License-Identifier: MIT */
#include "internal.h"

#include <string.h>

#define FEATURE_KERNEL_DISPATCH 1u

enum {
	TYPE_MULTI = 0,
	TYPE_SINGLE = 1,
};

struct sg_queue *sg_queue_lookup(const struct sg_device *dev, uint64_t handle)
{
	for (uint32_t i = 0; i < dev->queue_count; i++) {
		if (dev->queues[i]->handle == handle)
			return dev->queues[i];
	}
	return NULL;
}

static enum sg_status find(const struct sg_device *dev, uint64_t handle, struct sg_queue **out)
{
	if (!dev->refcount)
		return SG_NOT_INITIALIZED;
	*out = sg_queue_lookup(dev, handle);
	return *out ? SG_OK : SG_INVALID_QUEUE;
}

void sg_queue_free(struct sg_device *dev, struct sg_queue *q)
{
	sg_release(dev, q->ring);
	sg_release(dev, q->verdicts);
	sg_release(dev, q);
}

static struct sg_queue *make_queue(struct sg_device *dev, uint32_t size)
{
	struct sg_queue *q = sg_alloc(dev, 1, sizeof(*q));

	if (!q)
		return NULL;
	q->ring = sg_alloc(dev, size, SG_PACKET_BYTES);
	q->verdicts = sg_alloc(dev, dev->config.verdicts, sizeof(*q->verdicts));
	if (!q->ring || !q->verdicts) {
		sg_queue_free(dev, q);
		return NULL;
	}
	q->size = size;
	/* a slot of zeros would be a vendor packet */
	for (size_t i = 0; i < size; i++)
		q->ring[i * SG_PACKET_BYTES] = SG_PACKET_INVALID;
	return q;
}

/* In the order of aql.md 3.1. */
static enum sg_status check_create(const struct sg_device *dev, uint64_t agent, uint32_t size,
				   uint32_t type)
{
	if (!dev->refcount)
		return SG_NOT_INITIALIZED;
	if (agent != dev->agent)
		return SG_INVALID_AGENT;
	if (size < SG_RING_PACKETS_MIN || size > SG_RING_PACKETS_MAX || (size & (size - 1)))
		return SG_INVALID_ARGUMENT;
	if (type != TYPE_MULTI && type != TYPE_SINGLE)
		return SG_INVALID_QUEUE_CREATION;
	if (dev->queue_count == dev->config.max_queues)
		return SG_OUT_OF_RESOURCES;
	return SG_OK;
}

enum sg_status sg_queue_create(struct sg_device *dev, uint64_t agent, uint32_t size, uint32_t type,
			       uint64_t *handle)
{
	enum sg_status status = check_create(dev, agent, size, type);
	struct sg_queue *q;

	if (status != SG_OK)
		return status;
	q = make_queue(dev, size);
	if (!q)
		return SG_OUT_OF_RESOURCES;
	q->type = type;
	q->id = dev->queue_id + 1;
	q->doorbell = sg_signal_add(dev, 0, q);
	if (!q->doorbell) {
		sg_queue_free(dev, q);
		return SG_OUT_OF_RESOURCES;
	}
	q->handle = sg_handle(SG_HANDLE_QUEUE, sg_take_generation(dev), dev->queue_next++);
	dev->queue_id = q->id;
	dev->queues[dev->queue_count++] = q;
	sg_trace_emit(dev, &(struct sg_event){
				   .type = SG_EVENT_QUEUE_CREATE,
				   .queue_id = q->id,
				   .size = size,
				   .agent_handle = agent,
			   });
	*handle = q->handle;
	return SG_OK;
}

static void unlist(struct sg_device *dev, const struct sg_queue *q)
{
	uint32_t at = 0;

	while (dev->queues[at] != q)
		at++;
	dev->queue_count--;
	memmove(&dev->queues[at], &dev->queues[at + 1],
		(dev->queue_count - at) * sizeof(dev->queues[0]));
}

enum sg_status sg_queue_destroy(struct sg_device *dev, uint64_t queue)
{
	struct sg_queue *q;
	enum sg_status status = find(dev, queue, &q);

	if (status != SG_OK)
		return status;
	/* burns the doorbell's generation; the queue's comes after */
	sg_signal_remove(dev, sg_signal_lookup(dev, q->doorbell));
	sg_take_generation(dev);
	unlist(dev, q);
	sg_trace_emit(dev, &(struct sg_event){
				   .type = SG_EVENT_QUEUE_DESTROY,
				   .queue_id = q->id,
			   });
	sg_queue_free(dev, q);
	sg_exec_begin(dev);
	sg_exec_settle(dev);
	return SG_OK;
}

uint8_t *sg_queue_slot(const struct sg_queue *q, uint64_t index)
{
	return q->ring + (index & (q->size - 1)) * SG_PACKET_BYTES;
}

/* Only the header is rewritten: the old body stays readable (aql.md 3.4). */
void sg_queue_retire(struct sg_queue *q, uint64_t index)
{
	uint8_t *slot = sg_queue_slot(q, index);

	slot[0] = SG_PACKET_INVALID;
	slot[1] = 0;
	if (q->read_index < index + 1)
		q->read_index = index + 1;
}

uint64_t sg_queue_first_pending(const struct sg_queue *q)
{
	return q->held ? q->cursor - 1 : q->cursor;
}

static uint64_t distance(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

/* A slot is taken until read_index has passed it and, should that have been stored, we have too. */
static uint64_t free_slots(const struct sg_queue *q)
{
	uint64_t first = sg_queue_first_pending(q);
	uint64_t used = distance(q->read_index < first ? q->read_index : first, q->write_index);

	return distance(used, q->size);
}

static uint64_t pending(const struct sg_queue *q)
{
	return distance(q->cursor, q->write_index) + (q->held ? 1 : 0);
}

static void store_index(struct sg_device *dev, struct sg_queue *q, const char *which,
			uint64_t *index, uint64_t value)
{
	if (value < *index)
		q->index_back++;
	*index = value;
	if (distance(q->read_index, q->write_index) > q->size)
		q->overruns++;
	sg_trace_emit(dev, &(struct sg_event){
				   .type = SG_EVENT_QUEUE_INDEX_STORE,
				   .queue_id = q->id,
				   .which = which,
				   .index_value = value,
			   });
}

enum sg_status sg_queue_store_write_index(struct sg_device *dev, uint64_t queue, uint64_t value)
{
	struct sg_queue *q;
	enum sg_status status = find(dev, queue, &q);

	if (status == SG_OK)
		store_index(dev, q, "write", &q->write_index, value);
	return status;
}

enum sg_status sg_queue_store_read_index(struct sg_device *dev, uint64_t queue, uint64_t value)
{
	struct sg_queue *q;
	enum sg_status status = find(dev, queue, &q);

	if (status == SG_OK)
		store_index(dev, q, "read", &q->read_index, value);
	return status;
}

enum sg_status sg_queue_reserve(struct sg_device *dev, uint64_t queue, uint64_t count,
				uint64_t *old)
{
	struct sg_queue *q;
	enum sg_status status = find(dev, queue, &q);

	if (status != SG_OK)
		return status;
	if (count > UINT64_MAX - q->write_index)
		return SG_INVALID_ARGUMENT;
	*old = q->write_index;
	store_index(dev, q, "write", &q->write_index, q->write_index + count);
	return SG_OK;
}

void sg_queue_store_doorbell(struct sg_device *dev, struct sg_queue *q, int64_t value)
{
	q->doorbell_count++;
	sg_trace_emit(dev, &(struct sg_event){
				   .type = SG_EVENT_QUEUE_DOORBELL,
				   .queue_id = q->id,
				   .doorbell_value = value,
			   });
	sg_exec_begin(dev);
	sg_signal_write(dev, sg_signal_lookup(dev, q->doorbell), value);
	sg_exec_run(dev, q);
	sg_exec_settle(dev);
}

enum sg_status sg_queue_doorbell(struct sg_device *dev, uint64_t queue, int64_t value)
{
	struct sg_queue *q;
	enum sg_status status = find(dev, queue, &q);

	if (status == SG_OK)
		sg_queue_store_doorbell(dev, q, value);
	return status;
}

/* The header makes a slot a packet, so it goes last (aql.md 1.1). */
static void publish_one(struct sg_queue *q, uint64_t index, const uint8_t *packet)
{
	uint8_t *slot = sg_queue_slot(q, index);

	memcpy(slot + 2, packet + 2, SG_PACKET_BYTES - 2);
	memcpy(slot, packet, 2);
}

static size_t publish_round(struct sg_device *dev, struct sg_queue *q, const uint8_t *packets,
			    size_t count)
{
	uint64_t room = free_slots(q);
	size_t n = count < room ? count : (size_t)room;

	if (n > UINT64_MAX - q->write_index)
		n = (size_t)(UINT64_MAX - q->write_index);
	if (!n)
		return 0;
	for (size_t i = 0; i < n; i++)
		publish_one(q, q->write_index + i, packets + i * SG_PACKET_BYTES);
	store_index(dev, q, "write", &q->write_index, q->write_index + n);
	sg_queue_store_doorbell(dev, q, (int64_t)(q->write_index - 1));
	return n;
}

enum sg_status sg_queue_publish(struct sg_device *dev, uint64_t queue, const uint8_t *packets,
				size_t count, size_t *accepted)
{
	struct sg_queue *q;
	enum sg_status status = find(dev, queue, &q);
	size_t done = 0;
	size_t n;

	if (status != SG_OK)
		return status;
	if (q->state == SG_STATE_ERROR)
		return SG_QUEUE_ERROR;
	while (done < count && q->state != SG_STATE_ERROR) {
		n = publish_round(dev, q, packets + done * SG_PACKET_BYTES, count - done);
		if (!n)
			break;
		done += n;
	}
	if (count && !done)
		return SG_QUEUE_FULL;
	*accepted = done;
	return SG_OK;
}

enum sg_status sg_queue_count_short(struct sg_device *dev, uint64_t queue)
{
	struct sg_queue *q;
	enum sg_status status = find(dev, queue, &q);

	if (status == SG_OK)
		q->short_packets++;
	return status;
}

enum sg_status sg_queue_ring_read(const struct sg_device *dev, uint64_t queue, uint64_t off,
				  uint8_t *buf, size_t len, size_t *done)
{
	struct sg_queue *q;
	enum sg_status status = find(dev, queue, &q);

	if (status != SG_OK)
		return status;
	*done = sg_window((uint64_t)q->size * SG_PACKET_BYTES, off, len);
	if (*done)
		memcpy(buf, q->ring + off, *done);
	return SG_OK;
}

enum sg_status sg_queue_ring_write(struct sg_device *dev, uint64_t queue, uint64_t off,
				   const uint8_t *buf, size_t len, size_t *done)
{
	struct sg_queue *q;
	enum sg_status status = find(dev, queue, &q);
	size_t n;

	if (status != SG_OK)
		return status;
	n = sg_window((uint64_t)q->size * SG_PACKET_BYTES, off, len);
	if (len && !n)
		return SG_INVALID_ALLOCATION;
	if (n)
		memcpy(q->ring + off, buf, n);
	*done = n;
	return SG_OK;
}

enum sg_status sg_queue_get_slot(const struct sg_device *dev, uint64_t queue, uint32_t slot,
				 struct sg_slot *out)
{
	struct sg_queue *q;
	enum sg_status status = find(dev, queue, &q);

	if (status != SG_OK)
		return status;
	if (slot >= q->size)
		return SG_INVALID_ARGUMENT;
	*out = (struct sg_slot){ .slot = slot, .used = q->write_index > slot };
	if (out->used) {
		out->id = slot + (q->write_index - 1 - slot) / q->size * q->size;
		out->pending = out->id >= sg_queue_first_pending(q);
	}
	memcpy(out->bytes, sg_queue_slot(q, slot), SG_PACKET_BYTES);
	return SG_OK;
}

enum sg_status sg_queue_set_mode(struct sg_device *dev, uint64_t queue, enum sg_mode mode)
{
	struct sg_queue *q;
	enum sg_status status = find(dev, queue, &q);

	if (status != SG_OK)
		return status;
	if (mode != SG_MODE_SOFTGPU && mode != SG_MODE_HSA)
		return SG_INVALID_ARGUMENT;
	if (q->write_index || q->cursor)
		return SG_BUSY;
	q->mode = mode;
	return SG_OK;
}

enum sg_status sg_queue_set_paused(struct sg_device *dev, uint64_t queue, bool paused)
{
	struct sg_queue *q;
	enum sg_status status = find(dev, queue, &q);

	if (status != SG_OK)
		return status;
	q->paused = paused;
	sg_exec_begin(dev);
	sg_exec_run(dev, q);
	sg_exec_settle(dev);
	return SG_OK;
}

static bool next_blocked(const struct sg_queue *q)
{
	return q->state == SG_STATE_BLOCKED_DEP && q->cursor < q->write_index &&
	       sg_queue_slot(q, q->cursor)[0] != SG_PACKET_INVALID;
}

enum sg_status sg_queue_get_info(const struct sg_device *dev, uint64_t queue,
				 struct sg_queue_info *out)
{
	struct sg_queue *q;
	enum sg_status status = find(dev, queue, &q);

	if (status != SG_OK)
		return status;
	*out = (struct sg_queue_info){
		.handle = q->handle,
		.id = q->id,
		.size = q->size,
		.type = q->type,
		.features = FEATURE_KERNEL_DISPATCH,
		.mode = q->mode,
		.paused = q->paused,
		.base_address = SG_RING_BASE + q->id * SG_RING_STRIDE,
		.doorbell = q->doorbell,
		.doorbell_value = sg_signal_lookup(dev, q->doorbell)->value,
		.doorbell_count = q->doorbell_count,
		.write_index = q->write_index,
		.read_index = q->read_index,
		.observed_through = q->cursor,
		.pending = pending(q),
		.free_slots = free_slots(q),
		.state = q->state,
		.state_index = q->state_index,
		.state_signal = q->state_signal,
		.hsa_status = q->hsa_status,
		.next_blocked = next_blocked(q),
		.index_back = q->index_back,
		.overruns = q->overruns,
		.short_packets = q->short_packets,
	};
	return SG_OK;
}
