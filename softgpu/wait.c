/* SPDX-License-Identifier: MIT */
#include "internal.h"

bool sg_compare(uint32_t condition, int64_t value, int64_t with)
{
	switch (condition) {
	case SG_CONDITION_EQ:
		return value == with;
	case SG_CONDITION_NE:
		return value != with;
	case SG_CONDITION_LT:
		return value < with;
	default:
		return value >= with;
	}
}

static void decide(struct sg_wait *wait, enum sg_outcome outcome, int64_t value)
{
	if (wait->outcome == SG_WAIT_PENDING) {
		wait->outcome = outcome;
		wait->value = value;
	}
}

enum sg_status sg_wait_begin(struct sg_device *dev, uint64_t signal, uint32_t condition,
			     int64_t compare, struct sg_wait *wait)
{
	const struct sg_signal *s = sg_signal_lookup(dev, signal);

	if (!dev->refcount)
		return SG_NOT_INITIALIZED;
	if (!s)
		return SG_INVALID_SIGNAL;
	if (condition > SG_CONDITION_GTE)
		return SG_INVALID_ARGUMENT;
	*wait = (struct sg_wait){
		.dev = dev,
		.next = dev->waits,
		.signal = signal,
		.condition = condition,
		.compare = compare,
		.outcome = SG_WAIT_PENDING,
	};
	if (wait->next)
		wait->next->prev = wait;
	dev->waits = wait;
	if (sg_compare(condition, s->value, compare))
		decide(wait, SG_WAIT_SATISFIED, s->value);
	return SG_OK;
}

enum sg_outcome sg_wait_check(struct sg_wait *wait, bool expired, int64_t *value)
{
	/* pending means that the signal still lives: its end would have cancelled the wait */
	if (wait->outcome == SG_WAIT_PENDING)
		wait->value = sg_signal_lookup(wait->dev, wait->signal)->value;
	if (expired)
		decide(wait, SG_WAIT_TIMED_OUT, wait->value);
	*value = wait->value;
	return wait->outcome;
}

void sg_wait_end(struct sg_wait *wait)
{
	if (!wait->dev)
		return;
	if (wait->prev)
		wait->prev->next = wait->next;
	else
		wait->dev->waits = wait->next;
	if (wait->next)
		wait->next->prev = wait->prev;
	wait->dev = NULL;
}

void sg_waits_store(struct sg_device *dev, uint64_t handle, int64_t value)
{
	for (struct sg_wait *w = dev->waits; w; w = w->next) {
		if (w->signal == handle && sg_compare(w->condition, value, w->compare))
			decide(w, SG_WAIT_SATISFIED, value);
	}
}

void sg_waits_cancel(struct sg_device *dev, uint64_t handle, int64_t value)
{
	for (struct sg_wait *w = dev->waits; w; w = w->next) {
		if (w->signal == handle)
			decide(w, SG_WAIT_CANCELLED, value);
	}
}

/* Decides what is open and lets go of every wait, so that none points to the device any more. */
void sg_waits_cancel_all(struct sg_device *dev)
{
	while (dev->waits) {
		struct sg_wait *w = dev->waits;

		if (w->outcome == SG_WAIT_PENDING)
			decide(w, SG_WAIT_CANCELLED, sg_signal_lookup(dev, w->signal)->value);
		sg_wait_end(w);
	}
}

const char *sg_outcome_name(enum sg_outcome outcome)
{
	static const char *const names[] = {
		[SG_WAIT_PENDING] = "pending",
		[SG_WAIT_SATISFIED] = "satisfied",
		[SG_WAIT_TIMED_OUT] = "timed_out",
		[SG_WAIT_CANCELLED] = "cancelled",
	};

	return names[outcome];
}
