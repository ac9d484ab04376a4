/* SPDX-License-Identifier: MIT */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

const char *sg_status_name(enum sg_status status)
{
	static const char *const names[] = {
#define X(id, name) name,
		SG_STATUS_LIST(X)
#undef X
	};

	if ((size_t)status >= sizeof(names) / sizeof(names[0]))
		return "unknown";
	return names[status];
}

const char *sg_mode_name(enum sg_mode mode)
{
	return mode == SG_MODE_HSA ? "hsa" : "softgpu";
}

uint32_t sg_take_generation(struct sg_device *dev)
{
	uint32_t taken = dev->generation;

	dev->generation = taken == SG_GENERATION_MAX ? 1 : taken + 1;
	return taken;
}

uint64_t sg_handle(enum sg_handle_kind kind, uint32_t generation, uint32_t index)
{
	return (uint64_t)kind << 56 | (uint64_t)generation << 32 | index;
}

static void *default_alloc(void *ctx, size_t count, size_t size)
{
	(void)ctx;
	return calloc(count, size);
}

static void default_release(void *ctx, void *p)
{
	(void)ctx;
	free(p);
}

void *sg_alloc(struct sg_device *dev, size_t count, size_t size)
{
	return dev->config.mem.alloc(dev->config.mem.ctx, count, size);
}

void sg_release(struct sg_device *dev, void *p)
{
	if (p)
		dev->config.mem.release(dev->config.mem.ctx, p);
}

void sg_config_default(struct sg_config *config)
{
	*config = (struct sg_config){
		.max_queues = SG_QUEUES_DEFAULT,
		.max_signals = SG_SIGNALS_DEFAULT,
		.trace_events = SG_TRACE_DEFAULT,
		.captures = SG_CAPTURES_DEFAULT,
		.verdicts = SG_VERDICTS_DEFAULT,
		.kernarg_bytes = SG_KERNARG_DEFAULT,
		.memory_total = SG_MEMORY_DEFAULT,
		.memory_single = SG_MEMORY_SINGLE_DEFAULT,
		.mem = { default_alloc, default_release, NULL },
	};
}

static bool within(uint64_t value, uint64_t max)
{
	return value >= 1 && value <= max;
}

static bool config_valid(const struct sg_config *c)
{
	return within(c->max_queues, SG_QUEUES_MAX) && within(c->max_signals, SG_SIGNALS_MAX) &&
	       within(c->trace_events, SG_TRACE_MAX) && within(c->captures, SG_CAPTURES_MAX) &&
	       within(c->verdicts, SG_VERDICTS_MAX) && c->kernarg_bytes <= SG_KERNARG_MAX &&
	       (uint64_t)c->captures * c->kernarg_bytes <= SG_KERNARG_TOTAL_MAX &&
	       c->memory_total >= SG_MEMORY_GRANULE && c->memory_total <= SG_MEMORY_MAX &&
	       within(c->memory_single, c->memory_total) && (!c->mem.alloc || c->mem.release);
}

static bool make_tables(struct sg_device *dev)
{
	const struct sg_config *c = &dev->config;
	size_t signals = (size_t)c->max_signals + c->max_queues; /* each queue has a doorbell */
	size_t allocations = (size_t)(c->memory_total / SG_MEMORY_GRANULE);

	dev->queues = sg_alloc(dev, c->max_queues, sizeof(*dev->queues));
	dev->signals = sg_alloc(dev, signals, sizeof(*dev->signals));
	dev->allocations = sg_alloc(dev, allocations, sizeof(*dev->allocations));
	dev->events = sg_alloc(dev, c->trace_events, sizeof(*dev->events));
	dev->captures = sg_alloc(dev, c->captures, sizeof(*dev->captures));
	if (c->kernarg_bytes)
		dev->kernargs = sg_alloc(dev, c->captures, c->kernarg_bytes);
	return dev->queues && dev->signals && dev->allocations && dev->events && dev->captures &&
	       (dev->kernargs || !c->kernarg_bytes);
}

enum sg_status sg_device_open(const struct sg_config *config, struct sg_device **dev)
{
	struct sg_config c;

	*dev = NULL;
	sg_config_default(&c);
	if (config && !config_valid(config))
		return SG_INVALID_ARGUMENT;
	if (config) {
		struct sg_allocator mem = c.mem;

		c = *config;
		if (!c.mem.alloc)
			c.mem = mem;
	}
	*dev = c.mem.alloc(c.mem.ctx, 1, sizeof(**dev));
	if (!*dev)
		return SG_OUT_OF_RESOURCES;
	(*dev)->config = c;
	(*dev)->generation = 1;
	(*dev)->next_base = SG_MEMORY_BASE;
	if (!make_tables(*dev)) {
		sg_device_close(*dev);
		*dev = NULL;
		return SG_OUT_OF_RESOURCES;
	}
	return sg_device_init(*dev);
}

enum sg_status sg_device_init(struct sg_device *dev)
{
	if (dev->refcount == 0) {
		dev->agent = sg_handle(SG_HANDLE_AGENT, sg_take_generation(dev), 0);
		sg_memory_init(dev);
	}
	dev->refcount++;
	sg_trace_emit(dev, &(struct sg_event){
				   .type = SG_EVENT_RUNTIME_INIT,
				   .refcount = dev->refcount,
				   .profile_id = "gpuobjfs-softgpu",
				   .profile_revision = 1,
				   .fidelity = "abi",
			   });
	return SG_OK;
}

/* All objects go at once: nothing is traced for each, and no generation is burned. */
static void destroy_objects(struct sg_device *dev)
{
	sg_waits_cancel_all(dev);
	for (uint32_t i = 0; i < dev->queue_count; i++)
		sg_queue_free(dev, dev->queues[i]);
	dev->queue_count = 0;
	dev->queue_next = 0;
	dev->signal_count = 0;
	dev->signal_next = 0;
	sg_memory_fini(dev);
	dev->capture_total = 0;
	dev->agent = 0;
}

enum sg_status sg_device_shutdown(struct sg_device *dev)
{
	if (dev->refcount == 0)
		return SG_NOT_INITIALIZED;
	if (--dev->refcount == 0)
		destroy_objects(dev);
	sg_trace_emit(dev, &(struct sg_event){
				   .type = SG_EVENT_RUNTIME_SHUTDOWN,
				   .refcount = dev->refcount,
			   });
	return SG_OK;
}

void sg_device_close(struct sg_device *dev)
{
	struct sg_allocator mem;

	if (!dev)
		return;
	mem = dev->config.mem;
	destroy_objects(dev);
	sg_release(dev, dev->queues);
	sg_release(dev, dev->signals);
	sg_release(dev, dev->allocations);
	sg_release(dev, dev->events);
	sg_release(dev, dev->captures);
	sg_release(dev, dev->kernargs);
	mem.release(mem.ctx, dev);
}

void sg_device_get_info(const struct sg_device *dev, struct sg_device_info *out)
{
	*out = (struct sg_device_info){
		.config = dev->config,
		.refcount = dev->refcount,
		.agent = dev->agent,
		.live_queues = dev->queue_count,
		.live_signals = dev->signal_count - dev->queue_count,
		.live_allocations = dev->allocation_count,
	};
	for (unsigned int i = 0; i < SG_SPACE_COUNT; i++)
		out->memory_in_use += dev->in_use[i];
}
