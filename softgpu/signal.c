/* SPDX-License-Identifier: MIT */
#include "internal.h"

#include <string.h>

/* Where the signal of this index is, or would be. */
static uint32_t position(const struct sg_device *dev, uint32_t index)
{
	uint32_t low = 0;
	uint32_t high = dev->signal_count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (dev->signals[mid].index < index)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static uint64_t handle_of(const struct sg_signal *s)
{
	return sg_handle(SG_HANDLE_SIGNAL, s->generation, s->index);
}

struct sg_signal *sg_signal_lookup(const struct sg_device *dev, uint64_t handle)
{
	uint32_t at;

	if (handle >> 56 != SG_HANDLE_SIGNAL)
		return NULL;
	at = position(dev, (uint32_t)handle);
	if (at == dev->signal_count || handle_of(&dev->signals[at]) != handle)
		return NULL;
	return &dev->signals[at];
}

/* 0: no room. Indexes are never given twice before a shutdown, so the table stays sorted. */
uint64_t sg_signal_add(struct sg_device *dev, int64_t initial, struct sg_queue *queue)
{
	struct sg_signal *s = &dev->signals[dev->signal_count];
	uint32_t plain = dev->signal_count - dev->queue_count;

	if (dev->signal_next == UINT32_MAX || (!queue && plain == dev->config.max_signals))
		return 0;
	*s = (struct sg_signal){
		.index = dev->signal_next++,
		.generation = sg_take_generation(dev),
		.value = initial,
		.queue = queue,
	};
	dev->signal_count++;
	sg_trace_emit(dev, &(struct sg_event){
				   .type = SG_EVENT_SIGNAL_CREATE,
				   .signal_handle = handle_of(s),
				   .initial = initial,
			   });
	return handle_of(s);
}

void sg_signal_remove(struct sg_device *dev, struct sg_signal *s)
{
	size_t at = (size_t)(s - dev->signals);

	sg_waits_cancel(dev, handle_of(s), s->value);
	sg_take_generation(dev); /* one is burned per object destroyed (aql.md 4.1) */
	memmove(s, s + 1, (dev->signal_count - at - 1) * sizeof(*s));
	dev->signal_count--;
}

void sg_signal_write(struct sg_device *dev, struct sg_signal *s, int64_t value)
{
	s->value = value;
	sg_waits_store(dev, handle_of(s), value);
	sg_hsa_store(dev, handle_of(s), value);
}

enum sg_status sg_signal_create(struct sg_device *dev, int64_t initial, uint64_t *handle)
{
	uint64_t made;

	if (!dev->refcount)
		return SG_NOT_INITIALIZED;
	made = sg_signal_add(dev, initial, NULL);
	if (!made)
		return SG_OUT_OF_RESOURCES;
	*handle = made;
	return SG_OK;
}

static enum sg_status find(const struct sg_device *dev, uint64_t handle, struct sg_signal **out)
{
	if (!dev->refcount)
		return SG_NOT_INITIALIZED;
	*out = sg_signal_lookup(dev, handle);
	return *out ? SG_OK : SG_INVALID_SIGNAL;
}

enum sg_status sg_signal_destroy(struct sg_device *dev, uint64_t handle)
{
	struct sg_signal *s;
	enum sg_status status = find(dev, handle, &s);

	if (status != SG_OK)
		return status;
	if (s->queue)
		return SG_INVALID_ARGUMENT;
	sg_signal_remove(dev, s);
	sg_trace_emit(dev, &(struct sg_event){
				   .type = SG_EVENT_SIGNAL_DESTROY,
				   .signal_handle = handle,
			   });
	sg_exec_begin(dev);
	sg_exec_settle(dev);
	return SG_OK;
}

enum sg_status sg_signal_get_info(const struct sg_device *dev, uint64_t handle,
				  struct sg_signal_info *out)
{
	struct sg_signal *s;
	enum sg_status status = find(dev, handle, &s);

	if (status != SG_OK)
		return status;
	*out = (struct sg_signal_info){
		.handle = handle,
		.value = s->value,
		.doorbell = s->queue != NULL,
		.queue_id = s->queue ? s->queue->id : 0,
	};
	return SG_OK;
}

enum sg_status sg_signal_store(struct sg_device *dev, uint64_t handle, int64_t value)
{
	struct sg_signal *s;
	enum sg_status status = find(dev, handle, &s);

	if (status != SG_OK)
		return status;
	if (s->queue) {
		sg_queue_store_doorbell(dev, s->queue, value);
		return SG_OK;
	}
	sg_exec_begin(dev);
	sg_signal_write(dev, s, value);
	sg_exec_settle(dev);
	return SG_OK;
}

struct users {
	struct sg_signal_user *out;
	size_t cap;
	size_t total;
};

static void add_user(struct users *u, const struct sg_queue *q, const struct sg_descriptor *desc,
		     enum sg_signal_role role)
{
	if (u->total < u->cap)
		u->out[u->total] = (struct sg_signal_user){
			.queue_id = q->id,
			.packet_index = desc->packet_index,
			.packet_type = desc->packet_type,
			.role = role,
		};
	u->total++;
}

static void add_users(struct users *u, const struct sg_queue *q, uint64_t handle)
{
	uint64_t first = sg_queue_first_pending(q);
	uint64_t end = q->write_index;
	struct sg_descriptor desc;
	struct sg_packet_error err;

	if (end > first && end - first > q->size)
		end = first + q->size; /* from here on the slots repeat */
	if (q->held && end <= first)
		end = first + 1; /* write_index was lowered under a packet that is taken */
	for (uint64_t i = first; i < end; i++) {
		const uint8_t *bytes = q->held && i == first ? q->desc.bytes : sg_queue_slot(q, i);

		if (!sg_packet_parse(bytes, i, q->mode, &desc, &err))
			continue; /* it will never touch a signal */
		if (desc.completion_signal == handle)
			add_user(u, q, &desc, SG_ROLE_COMPLETION);
		if (sg_hsa_depends(&desc, handle))
			add_user(u, q, &desc, SG_ROLE_DEPENDENCY);
	}
}

enum sg_status sg_signal_users(const struct sg_device *dev, uint64_t handle,
			       struct sg_signal_user *out, size_t cap, size_t *total)
{
	struct users u = { out, cap, 0 };
	struct sg_signal *s;
	enum sg_status status = find(dev, handle, &s);

	if (status != SG_OK)
		return status;
	for (uint32_t i = 0; i < dev->queue_count; i++)
		add_users(&u, dev->queues[i], handle);
	*total = u.total;
	return SG_OK;
}
