/* SPDX-License-Identifier: MIT */
#include "internal.h"

#include <string.h>

/* Labels of the contract; no other verdict exists, because no kernel ever runs. */
static const char *const contracts[] = {
	[SG_VERDICT_COMPLETE] = "diagnostic_complete_no_execution",
	[SG_VERDICT_REJECTED] = "diagnostic_rejected",
};
#define NOTE_NOT_SUCCESS "not_kernel_success"

const char *sg_verdict_name(enum sg_verdict_kind kind)
{
	return contracts[kind];
}

static void set_state(struct sg_queue *q, enum sg_state state, uint64_t index)
{
	q->state = state;
	q->state_index = index;
	q->state_signal = 0;
}

/*
 * The contract stores 0 whatever the value was; mode hsa subtracts 1, as hardware does. A doorbell,
 * a dead or a forged handle is passed over in silence (aql.md 4.4).
 */
static bool store_completion(struct sg_device *dev, const struct sg_queue *q, uint64_t handle)
{
	struct sg_signal *s = sg_signal_lookup(dev, handle);

	if (!s || s->queue)
		return false;
	sg_signal_write(dev, s, q->mode == SG_MODE_HSA ? (int64_t)((uint64_t)s->value - 1) : 0);
	return true;
}

static void complete(struct sg_device *dev, struct sg_queue *q, const struct sg_descriptor *desc)
{
	struct sg_verdict verdict = {
		.packet_index = desc->packet_index,
		.packet_type = desc->packet_type,
		.kind = SG_VERDICT_COMPLETE,
		.completion_signal = desc->completion_signal,
	};

	verdict.completion_stored = store_completion(dev, q, desc->completion_signal);
	sg_queue_retire(q, desc->packet_index);
	sg_trace_emit(dev, &(struct sg_event){
				   .type = SG_EVENT_DIAGNOSTIC_COMPLETE,
				   .queue_id = q->id,
				   .desc = *desc,
				   .contract = contracts[SG_VERDICT_COMPLETE],
				   .note = NOTE_NOT_SUCCESS,
			   });
	sg_capture_add(dev, q, desc);
	sg_verdict_add(dev, q, &verdict);
}

/* In mode hsa it is the last packet that the queue handles (aql.md 2.4). */
static void reject(struct sg_device *dev, struct sg_queue *q, uint64_t index, const uint8_t *bytes,
		   struct sg_packet_error err)
{
	struct sg_verdict verdict = {
		.packet_index = index,
		.packet_type = bytes[0],
		.kind = SG_VERDICT_REJECTED,
		.error = err,
		.hsa_status = sg_packet_error_hsa_status(err),
		.completion_signal = SG_GET(bytes, dispatch, completion_signal),
	};

	sg_trace_emit(dev, &(struct sg_event){
				   .type = SG_EVENT_DISPATCH_REJECTED,
				   .queue_id = q->id,
				   .desc = { .packet_index = index, .packet_type = bytes[0] },
				   .detail = err,
				   .contract = contracts[SG_VERDICT_REJECTED],
			   });
	sg_queue_retire(q, index);
	sg_verdict_add(dev, q, &verdict);
	if (q->mode == SG_MODE_HSA) {
		set_state(q, SG_STATE_ERROR, index);
		q->hsa_status = verdict.hsa_status;
	}
}

/* True: the queue may go on past the packet. */
static bool try_held(struct sg_device *dev, struct sg_queue *q)
{
	enum sg_dependency met = sg_hsa_check(dev, q);
	uint64_t signal = q->state_signal;

	if (met == SG_DEPENDENCY_OPEN)
		return false;
	q->held = false;
	if (met == SG_DEPENDENCY_DEAD) {
		reject(dev, q, q->desc.packet_index, q->desc.bytes,
		       (struct sg_packet_error){ SG_PACKET_E_INVALID_DEPENDENCY, signal });
		return false;
	}
	complete(dev, q, &q->desc);
	return true;
}

static bool execute(struct sg_device *dev, struct sg_queue *q, uint64_t index, const uint8_t *bytes)
{
	struct sg_packet_error err;
	struct sg_event event = {
		.type = SG_EVENT_PACKET_OBSERVED,
		.queue_id = q->id,
		.desc = { .packet_index = index, .packet_type = bytes[0] },
	};

	sg_trace_emit(dev, &event);
	if (!sg_packet_parse(bytes, index, q->mode, &event.desc, &err)) {
		reject(dev, q, index, bytes, err);
		return q->state != SG_STATE_ERROR;
	}
	event.desc.kernarg = sg_memory_classify(dev, event.desc.kernarg.address);
	event.type = SG_EVENT_DISPATCH_VALIDATED;
	sg_trace_emit(dev, &event);
	if (q->mode == SG_MODE_SOFTGPU) {
		complete(dev, q, &event.desc);
		return true;
	}
	q->desc = event.desc;
	q->held = true;
	q->seen = 0;
	return try_held(dev, q);
}

/*
 * A private copy: all that follows reads one state of the slot. Whoever writes to the ring holds
 * the same lock as we do, so the header needs no acquire.
 */
static bool take(const struct sg_queue *q, uint8_t *copy)
{
	memcpy(copy, sg_queue_slot(q, q->cursor), SG_PACKET_BYTES);
	return copy[0] != SG_PACKET_INVALID;
}

static void observe_invalid(struct sg_device *dev, struct sg_queue *q)
{
	set_state(q, SG_STATE_STOPPED_INVALID, q->cursor);
	sg_trace_emit(dev, &(struct sg_event){
				   .type = SG_EVENT_PACKET_VALIDATE_FAILED,
				   .queue_id = q->id,
				   .detail = { SG_PACKET_E_STILL_INVALID_AT, q->cursor },
			   });
}

/* A request may take as many packets from a queue as it has slots (aql.md 3.6). */
void sg_exec_begin(struct sg_device *dev)
{
	for (uint32_t i = 0; i < dev->queue_count; i++)
		dev->queues[i]->budget = dev->queues[i]->size;
}

void sg_exec_run(struct sg_device *dev, struct sg_queue *q)
{
	uint8_t packet[SG_PACKET_BYTES];

	if (q->paused || q->state == SG_STATE_ERROR)
		return;
	if (q->held && !try_held(dev, q))
		return;
	while (q->cursor < q->write_index) {
		if (q->budget == 0) {
			set_state(q, SG_STATE_STOPPED_OVERRUN, q->cursor);
			return;
		}
		if (!take(q, packet)) {
			observe_invalid(dev, q);
			return;
		}
		q->budget--;
		q->cursor++;
		if (!execute(dev, q, q->cursor - 1, packet))
			return;
	}
	set_state(q, SG_STATE_ACTIVE, 0);
}

/*
 * What one queue stored may have freed another, which may have freed a third. Every round that is
 * not the last one ends a held packet, so this stops.
 */
void sg_exec_settle(struct sg_device *dev)
{
	bool moved;

	do {
		moved = false;
		for (uint32_t i = 0; i < dev->queue_count; i++) {
			struct sg_queue *q = dev->queues[i];
			uint64_t first = sg_queue_first_pending(q);

			if (!q->held)
				continue;
			sg_exec_run(dev, q);
			moved |= sg_queue_first_pending(q) != first;
		}
	} while (moved);
}
