/* SPDX-License-Identifier: MIT */
#include "internal.h"

/* What mode hsa waits for before it completes a packet (aql.md 1.4, 1.6). */

static bool is_zero(const uint8_t *packet, int64_t value)
{
	(void)packet;
	return value == 0;
}

static bool meets_condition(const uint8_t *packet, int64_t value)
{
	uint64_t masked = (uint64_t)value & SG_GET(packet, barrier_value, mask);

	return sg_compare((uint32_t)SG_GET(packet, barrier_value, cond), (int64_t)masked,
			  (int64_t)SG_GET(packet, barrier_value, value));
}

struct waits {
	size_t offset; /* of the first dependency handle */
	uint32_t count;
	bool any; /* one is enough, and a null handle is not met; else all, and null is met */
	bool (*met)(const uint8_t *packet, int64_t value);
};

/* clang-format off */
#define DEP_SIGNALS offsetof(struct sg_layout_barrier, dep_signal), SG_DEPENDENCIES_MAX
#define WAITS_NONE {0, 0, false, is_zero}
#define WAITS_AND {DEP_SIGNALS, false, is_zero}
#define WAITS_OR {DEP_SIGNALS, true, is_zero}
#define WAITS_VALUE {offsetof(struct sg_layout_barrier_value, signal), 1, false, meets_condition}
/* clang-format on */

static const struct waits waits[] = {
#define X(type, name, text, parse, waits) [type] = waits,
#include "packets.def"
#undef X
};

/* DESC came from the parser, so its type has a row. */
static const struct waits *waits_of(const struct sg_descriptor *desc)
{
	return &waits[desc->packet_type];
}

static uint64_t dependency(const struct waits *w, const struct sg_descriptor *desc, uint32_t k)
{
	return sg_le(desc->bytes + w->offset + 8 * k, 8);
}

bool sg_hsa_depends(const struct sg_descriptor *desc, uint64_t handle)
{
	const struct waits *w = waits_of(desc);

	for (uint32_t k = 0; k < w->count; k++) {
		if (dependency(w, desc, k) == handle)
			return true;
	}
	return false;
}

/*
 * A dependency needs to be seen at its value once, not at the same time as the others. So every
 * store is looked at when it happens, even if the queue is paused or the value changes again before
 * the queue goes on.
 */
void sg_hsa_store(struct sg_device *dev, uint64_t handle, int64_t value)
{
	for (uint32_t i = 0; i < dev->queue_count; i++) {
		struct sg_queue *q = dev->queues[i];
		const struct waits *w;

		if (!q->held)
			continue;
		w = waits_of(&q->desc);
		for (uint32_t k = 0; k < w->count; k++) {
			if (dependency(w, &q->desc, k) == handle && w->met(q->desc.bytes, value))
				q->seen |= 1u << k;
		}
	}
}

/* Looks at dependency K of the held packet now, unless it was seen to be met before. */
static enum sg_dependency check_one(const struct sg_device *dev, struct sg_queue *q,
				    const struct waits *w, uint32_t k)
{
	uint64_t handle = dependency(w, &q->desc, k);
	const struct sg_signal *s;

	if (q->seen & 1u << k)
		return SG_DEPENDENCY_MET;
	if (!handle)
		return w->any ? SG_DEPENDENCY_OPEN : SG_DEPENDENCY_MET;
	s = sg_signal_lookup(dev, handle);
	if (!s)
		return SG_DEPENDENCY_DEAD;
	if (!w->met(q->desc.bytes, s->value))
		return SG_DEPENDENCY_OPEN;
	q->seen |= 1u << k;
	return SG_DEPENDENCY_MET;
}

/*
 * For the held packet. Of `any`, one that is met decides before a dead one does; of `all`, a dead
 * one decides, since it can never be met. Unless met, state_signal is the handle to blame.
 */
enum sg_dependency sg_hsa_check(const struct sg_device *dev, struct sg_queue *q)
{
	const struct waits *w = waits_of(&q->desc);
	enum sg_dependency worst = SG_DEPENDENCY_MET;
	uint64_t blame = 0;

	for (uint32_t k = 0; k < w->count; k++) {
		enum sg_dependency one = check_one(dev, q, w, k);

		if (one == SG_DEPENDENCY_MET && w->any)
			return SG_DEPENDENCY_MET;
		if (one > worst || (one == worst && !blame)) {
			worst = one;
			blame = dependency(w, &q->desc, k);
		}
	}
	if (worst == SG_DEPENDENCY_MET)
		return worst;
	q->state = SG_STATE_BLOCKED_DEP;
	q->state_index = q->desc.packet_index;
	q->state_signal = blame;
	return worst;
}
