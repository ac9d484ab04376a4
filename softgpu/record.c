/* SPDX-License-Identifier: MIT */
#include "internal.h"

#include <string.h>

/* A ring of TOTAL records so far keeps the latest CAPACITY. */
struct sg_stats sg_stats_of(uint64_t total, uint64_t capacity)
{
	uint64_t retained = total < capacity ? total : capacity;

	return (struct sg_stats){ total, retained, total - retained, capacity };
}

static bool retained(uint64_t total, uint64_t capacity, uint64_t number)
{
	return number < total && total - number <= capacity;
}

static uint8_t *kernarg_place(const struct sg_device *dev, uint64_t number)
{
	return dev->kernargs + (size_t)(number % dev->config.captures) * dev->config.kernarg_bytes;
}

/* What the address points to, up to the end of its allocation. */
static void copy_kernarg(struct sg_device *dev, struct sg_capture *c)
{
	const struct sg_allocation *a = sg_memory_lookup(dev, c->desc.kernarg.address);

	if (!a)
		return;
	c->kernarg_alloc_id = a->info.id;
	c->kernarg_offset = c->desc.kernarg.address - a->info.base;
	c->kernarg_len =
		(uint32_t)sg_window(a->info.size, c->kernarg_offset, dev->config.kernarg_bytes);
	if (c->kernarg_len)
		memcpy(kernarg_place(dev, c->number), a->bytes + c->kernarg_offset, c->kernarg_len);
}

void sg_capture_add(struct sg_device *dev, const struct sg_queue *q,
		    const struct sg_descriptor *desc)
{
	struct sg_capture *c = &dev->captures[dev->capture_total % dev->config.captures];

	*c = (struct sg_capture){
		.number = dev->capture_total++,
		.queue_id = q->id,
		.mode = q->mode,
		.desc = *desc,
	};
	copy_kernarg(dev, c);
}

void sg_capture_get_stats(const struct sg_device *dev, struct sg_stats *out)
{
	*out = sg_stats_of(dev->capture_total, dev->config.captures);
}

enum sg_status sg_capture_get(const struct sg_device *dev, uint64_t number, struct sg_capture *out)
{
	if (!dev->refcount)
		return SG_NOT_INITIALIZED;
	if (!retained(dev->capture_total, dev->config.captures, number))
		return SG_NOT_FOUND;
	*out = dev->captures[number % dev->config.captures];
	return SG_OK;
}

enum sg_status sg_capture_get_kernarg(const struct sg_device *dev, uint64_t number, uint8_t *buf,
				      size_t size, size_t *len)
{
	struct sg_capture c;
	enum sg_status status = sg_capture_get(dev, number, &c);

	if (status != SG_OK)
		return status;
	*len = sg_window(c.kernarg_len, 0, size);
	if (*len)
		memcpy(buf, kernarg_place(dev, number), *len);
	return SG_OK;
}

void sg_verdict_add(struct sg_device *dev, struct sg_queue *q, const struct sg_verdict *verdict)
{
	struct sg_verdict *slot = &q->verdicts[q->verdict_total % dev->config.verdicts];

	*slot = *verdict;
	slot->number = q->verdict_total++;
}

static enum sg_status find(const struct sg_device *dev, uint64_t queue, const struct sg_queue **out)
{
	if (!dev->refcount)
		return SG_NOT_INITIALIZED;
	*out = sg_queue_lookup(dev, queue);
	return *out ? SG_OK : SG_INVALID_QUEUE;
}

enum sg_status sg_verdict_get_stats(const struct sg_device *dev, uint64_t queue,
				    struct sg_stats *out)
{
	const struct sg_queue *q;
	enum sg_status status = find(dev, queue, &q);

	if (status == SG_OK)
		*out = sg_stats_of(q->verdict_total, dev->config.verdicts);
	return status;
}

enum sg_status sg_verdict_get(const struct sg_device *dev, uint64_t queue, uint64_t number,
			      struct sg_verdict *out)
{
	const struct sg_queue *q;
	enum sg_status status = find(dev, queue, &q);

	if (status != SG_OK)
		return status;
	if (!retained(q->verdict_total, dev->config.verdicts, number))
		return SG_NOT_FOUND;
	*out = q->verdicts[number % dev->config.verdicts];
	return SG_OK;
}
