/* SPDX-License-Identifier: MIT */
#include "internal.h"

#include <string.h>

static_assert(SG_RING_STRIDE == SG_RING_PACKETS_MAX * SG_PACKET_BYTES, "rings must not overlap");
static_assert(SG_MEMORY_STRIDE % SG_MEMORY_GRANULE == 0, "aql.md 5");

static const struct space_row {
	const char *name;
	enum sg_handle_kind kind;
	uint32_t flags;
	enum sg_location location;
} spaces[SG_SPACE_COUNT] = {
#define X(id, name, kind, flags, location)                                                         \
	[SG_SPACE_##id] = { name, SG_HANDLE_##kind, flags, location },
	SG_SPACE_LIST(X)
#undef X
};

/* Regions and pools have a table each, so the indexes of their handles count separately. */
void sg_memory_init(struct sg_device *dev)
{
	uint32_t next[SG_HANDLE_POOL + 1] = { 0 };

	for (unsigned int i = 0; i < SG_SPACE_COUNT; i++)
		dev->spaces[i] =
			sg_handle(spaces[i].kind, sg_take_generation(dev), next[spaces[i].kind]++);
}

void sg_memory_fini(struct sg_device *dev)
{
	for (uint32_t i = 0; i < dev->allocation_count; i++)
		sg_release(dev, dev->allocations[i].bytes);
	dev->allocation_count = 0;
	memset(dev->in_use, 0, sizeof(dev->in_use));
	memset(dev->spaces, 0, sizeof(dev->spaces));
}

void sg_space_get_info(const struct sg_device *dev, enum sg_space space, struct sg_space_info *out)
{
	*out = (struct sg_space_info){
		.name = spaces[space].name,
		.handle = dev->spaces[space],
		.segment = 0,
		.flags = spaces[space].flags,
		.location = spaces[space].location,
		.size = dev->config.memory_total,
		.in_use = dev->in_use[space],
	};
}

static uint64_t total_in_use(const struct sg_device *dev)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < SG_SPACE_COUNT; i++)
		sum += dev->in_use[i];
	return sum;
}

/* The number of live allocations whose base is at most VA. */
static uint32_t count_up_to(const struct sg_device *dev, uint64_t va)
{
	uint32_t low = 0;
	uint32_t high = dev->allocation_count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (dev->allocations[mid].info.base <= va)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct sg_allocation *sg_memory_lookup(const struct sg_device *dev, uint64_t va)
{
	uint32_t n = count_up_to(dev, va);
	const struct sg_allocation *a;

	if (n == 0)
		return NULL;
	a = &dev->allocations[n - 1];
	return va - a->info.base < a->info.size ? a : NULL;
}

static const struct sg_allocation *at_base(const struct sg_device *dev, uint64_t base)
{
	const struct sg_allocation *a = sg_memory_lookup(dev, base);

	return a && a->info.base == base ? a : NULL;
}

/* Only the exact base is ours; a pointer into an allocation is foreign (aql.md 5). */
struct sg_kernarg sg_memory_classify(const struct sg_device *dev, uint64_t va)
{
	const struct sg_allocation *a = at_base(dev, va);

	if (!va)
		return (struct sg_kernarg){ SG_KERNARG_NULL, 0, 0 };
	if (!a)
		return (struct sg_kernarg){ SG_KERNARG_FOREIGN_OPAQUE, va, 0 };
	return (struct sg_kernarg){ SG_KERNARG_SOFTGPU, va, a->info.id };
}

/* Kind decodes, kind is region or pool, space is live: failures up to here are not traced. */
static enum sg_status find_space(const struct sg_device *dev, uint64_t handle, enum sg_space *out)
{
	uint64_t kind = handle >> 56;

	if (!dev->refcount)
		return SG_NOT_INITIALIZED;
	if (kind != SG_HANDLE_REGION && kind != SG_HANDLE_POOL)
		return SG_INVALID_ARGUMENT;
	for (unsigned int i = 0; i < SG_SPACE_COUNT; i++) {
		if (dev->spaces[i] == handle) {
			*out = (enum sg_space)i;
			return SG_OK;
		}
	}
	return kind == SG_HANDLE_REGION ? SG_INVALID_REGION : SG_INVALID_POOL;
}

static enum sg_status allocate(struct sg_device *dev, enum sg_space space, uint64_t asked)
{
	struct sg_allocation *a = &dev->allocations[dev->allocation_count];
	uint64_t size;

	if (asked == 0)
		return SG_INVALID_ARGUMENT;
	if (asked > dev->config.memory_single)
		return SG_INVALID_ALLOCATION;
	/* memory_single is at most 1 GiB: neither this nor the base can wrap */
	size = (asked + SG_MEMORY_GRANULE - 1) / SG_MEMORY_GRANULE * SG_MEMORY_GRANULE;
	if (size > dev->config.memory_total - total_in_use(dev))
		return SG_OUT_OF_RESOURCES;
	if (size > SG_RING_BASE - dev->next_base)
		return SG_OUT_OF_RESOURCES;
	a->bytes = sg_alloc(dev, (size_t)size, 1);
	if (!a->bytes)
		return SG_OUT_OF_RESOURCES;
	a->info = (struct sg_allocation_info){ dev->next_base, size, ++dev->allocation_id, space };
	dev->allocation_count++;
	dev->in_use[space] += size;
	dev->next_base += (size + SG_MEMORY_STRIDE - 1) / SG_MEMORY_STRIDE * SG_MEMORY_STRIDE;
	return SG_OK;
}

enum sg_status sg_memory_allocate(struct sg_device *dev, uint64_t space, uint64_t size,
				  uint64_t *base)
{
	enum sg_space which;
	enum sg_status status = find_space(dev, space, &which);
	uint64_t ptr;

	if (status != SG_OK)
		return status;
	status = allocate(dev, which, size);
	ptr = status == SG_OK ? dev->allocations[dev->allocation_count - 1].info.base : 0;
	sg_trace_emit(dev, &(struct sg_event){
				   .type = SG_EVENT_MEMORY_ALLOCATE,
				   .space_handle = space,
				   .size = size,
				   .ptr = ptr,
				   .outcome = sg_status_name(status),
			   });
	if (status == SG_OK)
		*base = ptr;
	return status;
}

static enum sg_status release(struct sg_device *dev, uint64_t base)
{
	uint32_t n = count_up_to(dev, base);
	struct sg_allocation *a;

	if (n == 0 || dev->allocations[n - 1].info.base != base)
		return SG_INVALID_ARGUMENT;
	a = &dev->allocations[n - 1];
	dev->in_use[a->info.space] -= a->info.size;
	sg_release(dev, a->bytes);
	memmove(a, a + 1, (dev->allocation_count - n) * sizeof(*a));
	dev->allocation_count--;
	return SG_OK;
}

enum sg_status sg_memory_free(struct sg_device *dev, uint64_t base)
{
	enum sg_status status;

	if (!dev->refcount)
		return SG_NOT_INITIALIZED;
	status = release(dev, base);
	sg_trace_emit(dev, &(struct sg_event){
				   .type = SG_EVENT_MEMORY_FREE,
				   .ptr = base,
				   .outcome = sg_status_name(status),
			   });
	return status;
}

enum sg_status sg_memory_find(const struct sg_device *dev, uint64_t va,
			      struct sg_allocation_info *out)
{
	const struct sg_allocation *a = sg_memory_lookup(dev, va);

	if (!dev->refcount)
		return SG_NOT_INITIALIZED;
	if (!a)
		return SG_INVALID_ARGUMENT;
	*out = a->info;
	return SG_OK;
}

enum sg_status sg_memory_read(const struct sg_device *dev, uint64_t base, uint64_t off,
			      uint8_t *buf, size_t len, size_t *done)
{
	const struct sg_allocation *a = at_base(dev, base);

	if (!dev->refcount)
		return SG_NOT_INITIALIZED;
	if (!a)
		return SG_INVALID_ARGUMENT;
	*done = sg_window(a->info.size, off, len);
	if (*done)
		memcpy(buf, a->bytes + off, *done);
	return SG_OK;
}

enum sg_status sg_memory_write(struct sg_device *dev, uint64_t base, uint64_t off,
			       const uint8_t *buf, size_t len, size_t *done)
{
	const struct sg_allocation *a = at_base(dev, base);
	size_t n;

	if (!dev->refcount)
		return SG_NOT_INITIALIZED;
	if (!a)
		return SG_INVALID_ARGUMENT;
	n = sg_window(a->info.size, off, len);
	if (len && !n)
		return SG_INVALID_ALLOCATION;
	if (n)
		memcpy(a->bytes + off, buf, n);
	*done = n;
	return SG_OK;
}
