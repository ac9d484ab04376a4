/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <string.h>

/* One barrier packet in a queue of mode hsa, its dependencies picked by a letter each. */
#define DEPS 5

struct barrier_case {
	const char *name;
	uint8_t type;
	char deps[DEPS + 1]; /* - null, 0 1 n: a signal of value 0, 1, -1; d destroyed, f forged */
	const char *state; /* its first word */
	uint32_t hsa_status;
	unsigned int blame; /* which dependency state_signal names; DEPS: 0 */
};

static const struct barrier_case barriers[] = {
	{ "and: all null completes at once", 3, "-----", "active", 0, 0 },
	{ "and: all zero", 3, "00000", "active", 0, 0 },
	{ "and: null counts as satisfied", 3, "-0-0-", "active", 0, 0 },
	{ "and: one open", 3, "0-1--", "blocked-dep", 0, 2 },
	{ "and: the first open one is named", 3, "01-11", "blocked-dep", 0, 1 },
	{ "and: negative is not zero", 3, "n----", "blocked-dep", 0, 0 },
	{ "and: destroyed dependency", 3, "0d---", "error", 0x1006, 1 },
	{ "and: dead one decides over an open one", 3, "1f---", "error", 0x1006, 1 },
	{ "or: all null never completes", 5, "-----", "blocked-dep", 0, DEPS },
	{ "or: null counts as not satisfied", 5, "-1---", "blocked-dep", 0, 1 },
	{ "or: one zero is enough", 5, "11-10", "active", 0, 0 },
	{ "or: zero decides over a dead one", 5, "d0---", "active", 0, 0 },
	{ "or: dead one and open one", 5, "1d---", "error", 0x1006, 1 },
	{ "or: negative is not zero", 5, "n----", "blocked-dep", 0, 0 },
};

static uint64_t pick(struct sg_device *dev, char letter)
{
	uint64_t s;

	switch (letter) {
	case '-':
		return 0;
	case 'f':
		return UINT64_C(0x04FFFFFF00000000);
	case 'd':
		s = make_signal(dev, 0);
		assert_int_equal(sg_signal_destroy(dev, s), SG_OK);
		return s;
	default:
		return make_signal(dev, letter == 'n' ? -1 : letter - '0');
	}
}

static void check_barrier(void **state)
{
	const struct barrier_case *c = *state;
	struct sg_device *dev = open_device();
	uint64_t q = make_queue(dev, 64, SG_MODE_HSA);
	uint64_t done = make_signal(dev, 3);
	uint64_t deps[DEPS];
	struct sg_queue_info info;

	for (unsigned int i = 0; i < DEPS; i++)
		deps[i] = pick(dev, c->deps[i]);
	publish(dev, q, barrier(c->type, deps, done), 1);
	info = queue_info(dev, q);
	assert_string_equal(sg_state_name(info.state), c->state);
	assert_int_equal(info.hsa_status, c->hsa_status);
	assert_int_equal(signal_value(dev, done), info.state == SG_STATE_ACTIVE ? 2 : 3);
	assert_int_equal(info.read_index, info.state == SG_STATE_BLOCKED_DEP ? 0 : 1);
	assert_int_equal(info.observed_through, 1);
	if (info.state == SG_STATE_BLOCKED_DEP) {
		assert_true(info.state_signal == (c->blame == DEPS ? 0 : deps[c->blame]));
		assert_int_equal(info.pending, 1);
		assert_int_equal(info.free_slots, 63);
	}
	if (info.state == SG_STATE_ERROR) {
		struct sg_verdict v = last_verdict(dev, q);

		assert_int_equal(v.kind, SG_VERDICT_REJECTED);
		assert_true(v.error.arg == deps[c->blame]);
		assert_int_equal(info.state_index, 0);
	}
	sg_device_close(dev);
}

/* Barrier-value: (signal & mask) cond value, signed */
struct value_case {
	const char *name;
	int64_t signal;
	int64_t mask;
	uint32_t cond;
	int64_t value;
	bool met;
};

static const struct value_case values[] = {
	{ "eq met", 5, -1, 0, 5, true },
	{ "eq open", 5, -1, 0, 4, false },
	{ "eq under the mask", 0xf5, 0x0f, 0, 5, true },
	{ "ne met", 5, -1, 1, 4, true },
	{ "ne open", 5, -1, 1, 5, false },
	{ "lt is signed", -1, -1, 2, 0, true },
	{ "lt open", 0, -1, 2, 0, false },
	{ "gte met", 0, -1, 3, 0, true },
	{ "gte is signed", -1, -1, 3, 0, false },
	{ "mask 0 compares 0", 77, 0, 0, 0, true },
};

static void check_value(void **state)
{
	const struct value_case *c = *state;
	struct sg_device *dev = open_device();
	uint64_t q = make_queue(dev, 64, SG_MODE_HSA);
	uint64_t s = make_signal(dev, c->signal);

	publish(dev, q, barrier_value(s, c->value, c->mask, c->cond, 0), 1);
	assert_int_equal(queue_info(dev, q).state, c->met ? SG_STATE_ACTIVE : SG_STATE_BLOCKED_DEP);
	sg_device_close(dev);
}

static void value_with_null_or_dead_signal(void **state)
{
	struct sg_device *dev = open_device();
	uint64_t q = make_queue(dev, 64, SG_MODE_HSA);
	struct sg_capture c = { .number = 9 };
	struct sg_descriptor d;
	struct sg_packet_error err;

	(void)state;
	publish(dev, q, barrier_value(0, 1, 1, 0, 0), 1);
	assert_int_equal(queue_info(dev, q).state, SG_STATE_ACTIVE);
	assert_int_equal(sg_capture_get(dev, 0, &c), SG_OK);
	assert_int_equal(c.mode, SG_MODE_HSA);
	assert_true(sg_replay(c.desc.bytes, 64, 0, c.mode, &d, &err));
	publish(dev, q, barrier_value(S0, 1, 1, 0, 0), 1);
	assert_int_equal(queue_info(dev, q).state, SG_STATE_ERROR);
	assert_int_equal(queue_info(dev, q).hsa_status, 0x1006);
	sg_device_close(dev);
}

/* Each kind of bad packet ends the queue; the contract's reject stays as it is. */
struct error_case {
	const char *name;
	unsigned int golden;
	uint32_t hsa_status;
};

static const struct error_case errors[] = {
	{ "error: zero workgroup", 4, 0x1001 },
	{ "error: grid smaller", 5, 0x100D },
	{ "error: no dimensions", 6, 0x100D },
	{ "error: agent dispatch", 7, 0x1009 },
};

static void check_error(void **state)
{
	const struct error_case *c = *state;
	struct sg_device *dev = open_device();
	uint64_t q = make_queue(dev, 64, SG_MODE_HSA);
	struct world w = { .dev = dev };
	struct packet good = dispatch(0, 0);
	struct sg_queue_info info;
	size_t accepted = 0;

	forget_events(&w);
	ring_put(dev, q, 0, golden(c->golden));
	ring_put(dev, q, 1, good);
	sg_queue_store_write_index(dev, q, 2);
	sg_queue_doorbell(dev, q, 1);
	expect_types(&w, "queue_index_store,queue_doorbell,packet_observed,dispatch_rejected");
	info = queue_info(dev, q);
	assert_int_equal(info.state, SG_STATE_ERROR);
	assert_int_equal(info.hsa_status, c->hsa_status);
	assert_int_equal(info.state_index, 0);
	assert_int_equal(info.read_index, 1);
	assert_int_equal(info.pending, 1);
	assert_int_equal(slot_of(dev, q, 0).bytes[0], 1);

	/* for good: stores are kept and traced, nothing is launched */
	assert_int_equal(sg_queue_doorbell(dev, q, 1), SG_OK);
	sg_queue_set_paused(dev, q, true);
	sg_queue_set_paused(dev, q, false);
	expect_types(&w, "queue_doorbell");
	assert_int_equal(sg_queue_publish(dev, q, good.bytes, 1, &accepted), SG_QUEUE_ERROR);
	assert_int_equal(queue_info(dev, q).state, SG_STATE_ERROR);
	assert_int_equal(sg_queue_destroy(dev, q), SG_OK);
	sg_device_close(dev);
}

static void error_in_the_middle_of_a_write(void **state)
{
	struct sg_device *dev = open_device();
	uint64_t q = make_queue(dev, 64, SG_MODE_HSA);
	uint8_t bytes[100 * SG_PACKET_BYTES];
	struct packet good = dispatch(0, 0);
	struct packet bad = agent_packet();
	size_t accepted = 0;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		memcpy(bytes + i * 64, i == 10 ? bad.bytes : good.bytes, 64);
	assert_int_equal(sg_queue_publish(dev, q, bytes, 100, &accepted), SG_OK);
	assert_int_equal(accepted, 64); /* the first round was written before the bad one was met */
	assert_int_equal(queue_info(dev, q).state_index, 10);
	sg_device_close(dev);
}

static void completion_is_subtracted(void **state)
{
	struct sg_device *dev = open_device();
	uint64_t q = make_queue(dev, 64, SG_MODE_HSA);
	uint64_t s = make_signal(dev, 2);

	(void)state;
	publish(dev, q, dispatch(0, s), 1);
	assert_int_equal(signal_value(dev, s), 1);
	publish(dev, q, dispatch(0, s), 2);
	assert_int_equal(signal_value(dev, s), -1);
	sg_signal_store(dev, s, INT64_MIN);
	publish(dev, q, dispatch(0, s), 1);
	assert_true(signal_value(dev, s) == INT64_MAX);
	assert_true(last_verdict(dev, q).completion_stored);
	publish(dev, q, dispatch(0, queue_info(dev, q).doorbell), 1);
	assert_false(last_verdict(dev, q).completion_stored);
	sg_device_close(dev);
}

static void trace_of_a_blocked_packet(void **state)
{
	struct world w = open_world();
	uint64_t q = make_queue(w.dev, 64, SG_MODE_HSA);
	uint64_t deps[5] = { S0, 0, 0, 0, 0 };
	char line[SG_LINE_MAX];

	(void)state;
	forget_events(&w);
	publish(w.dev, q, barrier(3, deps, 0), 1);
	publish(w.dev, q, dispatch(0, 0), 1);
	expect_types(&w, "queue_index_store,queue_doorbell,packet_observed,dispatch_validated,"
			 "queue_index_store,queue_doorbell");
	sg_signal_store(w.dev, S0, 0);
	assert_true(sg_trace_next(w.dev, &w.seen, line, sizeof(line)) > 0);
	assert_non_null(strstr(line, "\"type\":\"diagnostic_complete\""));
	assert_non_null(strstr(line, "\"packet_index\":0,"));
	assert_non_null(strstr(line, "\"note\":\"not_kernel_success\""));
	expect_types(&w, "packet_observed,dispatch_validated,diagnostic_complete");
	close_world(&w);
}

static void dependencies_need_not_be_met_together(void **state)
{
	struct world w = open_world();
	uint64_t q = make_queue(w.dev, 64, SG_MODE_HSA);
	uint64_t other = make_signal(w.dev, 1);
	uint64_t deps[5] = { S0, other, 0, 0, 0 };

	(void)state;
	publish(w.dev, q, barrier(3, deps, 0), 1);
	sg_signal_store(w.dev, S0, 0);
	expect_state(w.dev, q, "blocked-dep 0 0x0400000b00000003\n");
	sg_signal_store(w.dev, S0, 1);
	assert_int_equal(sg_signal_destroy(w.dev, S0), SG_OK); /* seen: no longer of interest */
	expect_state(w.dev, q, "blocked-dep 0 0x0400000b00000003\n");
	sg_signal_store(w.dev, other, 0);
	expect_state(w.dev, q, "active\n");
	close_world(&w);
}

/* What happens to a signal between two looks at the queue is not missed, paused or not. */
static void passing_zero_is_seen(void **state)
{
	struct world w = open_world();
	uint64_t waiter = make_queue(w.dev, 64, SG_MODE_HSA);
	uint64_t worker = make_queue(w.dev, 64, SG_MODE_HSA);
	uint64_t deps[5] = { S0, 0, 0, 0, 0 };

	(void)state;
	publish(w.dev, waiter, barrier(3, deps, 0), 1);
	publish(w.dev, worker, dispatch(0, S0), 2); /* 1, 0, -1 */
	assert_int_equal(signal_value(w.dev, S0), -1);
	expect_state(w.dev, waiter, "active\n");

	sg_signal_store(w.dev, S0, 1);
	publish(w.dev, waiter, barrier(3, deps, 0), 1);
	sg_queue_set_paused(w.dev, waiter, true);
	sg_signal_store(w.dev, S0, 0);
	sg_signal_store(w.dev, S0, 1);
	expect_state(w.dev, waiter, "paused\nblocked-dep 1 0x0400000800000001\n");
	sg_queue_set_paused(w.dev, waiter, false);
	expect_state(w.dev, waiter, "active\n");
	close_world(&w);
}

static void destroying_a_dependency_is_an_error(void **state)
{
	struct world w = open_world();
	uint64_t q = make_queue(w.dev, 64, SG_MODE_HSA);
	uint64_t deps[5] = { S0, 0, 0, 0, 0 };
	char line[SG_LINE_MAX];

	(void)state;
	publish(w.dev, q, barrier(3, deps, 0), 1);
	forget_events(&w);
	assert_int_equal(sg_signal_destroy(w.dev, S0), SG_OK);
	assert_true(sg_trace_next(w.dev, &w.seen, line, sizeof(line)) > 0);
	assert_non_null(strstr(line, "signal_destroy"));
	assert_true(sg_trace_next(w.dev, &w.seen, line, sizeof(line)) > 0);
	assert_non_null(strstr(line, "\"type\":\"dispatch_rejected\""));
	assert_non_null(
		strstr(line, "\"detail\":\"InvalidSignal { handle: 288230410511450113 }\""));
	expect_state(w.dev, q, "error 0x1006 0\n");
	close_world(&w);
}

static void destroying_a_queue_is_one_for_who_waits_on_its_doorbell(void **state)
{
	struct world w = open_world();
	uint64_t q = make_queue(w.dev, 64, SG_MODE_HSA);
	uint64_t deps[5] = { 0, 0, 0, 0, Q0_DOORBELL };

	(void)state;
	sg_queue_doorbell(w.dev, Q0, 1);
	publish(w.dev, q, barrier(3, deps, 0), 1);
	assert_int_equal(queue_info(w.dev, q).state, SG_STATE_BLOCKED_DEP);
	sg_queue_destroy(w.dev, Q0);
	expect_state(w.dev, q, "error 0x1006 0\n");
	close_world(&w);
}

static void a_chain_of_queues(void **state)
{
	struct world w = open_world();
	uint64_t queues[8];
	uint64_t signals[9];

	(void)state;
	/* from last to first, so that each round of settling frees one queue */
	for (unsigned int i = 0; i < 9; i++)
		signals[i] = make_signal(w.dev, 1);
	for (unsigned int i = 0; i < 8; i++) {
		uint64_t deps[5] = { signals[i + 1], 0, 0, 0, 0 };

		queues[i] = make_queue(w.dev, 64, SG_MODE_HSA);
		publish(w.dev, queues[i], barrier(3, deps, signals[i]), 1);
	}
	sg_signal_store(w.dev, signals[8], 0);
	for (unsigned int i = 0; i < 8; i++) {
		expect_state(w.dev, queues[i], "active\n");
		assert_int_equal(signal_value(w.dev, signals[i]), 0);
	}
	close_world(&w);
}

static void softgpu_completion_frees_hsa_queue(void **state)
{
	struct world w = open_world();
	uint64_t q = make_queue(w.dev, 64, SG_MODE_HSA);
	uint64_t deps[5] = { S0, 0, 0, 0, 0 };

	(void)state;
	publish(w.dev, q, barrier(3, deps, 0), 1);
	publish(w.dev, Q0, golden(1), 1);
	expect_state(w.dev, q, "active\n");
	close_world(&w);
}

/* The held packet is the one that was taken, whatever is written over its slot. */
static void held_packet_is_a_copy(void **state)
{
	struct world w = open_world();
	uint64_t q = make_queue(w.dev, 64, SG_MODE_HSA);
	uint64_t deps[5] = { S0, 0, 0, 0, 0 };
	struct packet p = barrier(3, deps, 0);
	struct sg_capture c = { .number = 9 };

	(void)state;
	publish(w.dev, q, p, 1);
	ring_put(w.dev, q, 0, agent_packet());
	sg_signal_store(w.dev, S0, 0);
	expect_state(w.dev, q, "active\n");
	assert_int_equal(sg_capture_get(w.dev, 0, &c), SG_OK);
	assert_memory_equal(c.desc.bytes, p.bytes, 64);
	close_world(&w);
}

static void barrier_bit_orders(void **state)
{
	struct world w = open_world();
	uint64_t q = make_queue(w.dev, 64, SG_MODE_HSA);
	uint64_t deps[5] = { S0, 0, 0, 0, 0 };
	uint64_t done = make_signal(w.dev, 1);

	(void)state;
	publish(w.dev, q, barrier(3, deps, 0), 1);
	publish(w.dev, q, with(dispatch(0, done), 0, 2, 0x0102), 1);
	assert_int_equal(signal_value(w.dev, done), 1);
	expect_state(w.dev, q, "blocked-dep 0 0x0400000800000001\nblocked-barrier 1\n");
	sg_signal_store(w.dev, S0, 0);
	assert_int_equal(signal_value(w.dev, done), 0);
	close_world(&w);
}

static void softgpu_mode_ignores_dependencies(void **state)
{
	struct world w = open_world();
	uint64_t deps[5] = { S0, UINT64_MAX, 1, 2, 3 };

	(void)state;
	publish(w.dev, Q0, barrier(3, deps, 0), 1);
	publish(w.dev, Q0, barrier(5, deps, 0), 1);
	assert_int_equal(queue_info(w.dev, Q0).read_index, 2);
	expect_state(w.dev, Q0, "active\n");
	close_world(&w);
}

static void blocked_ring_fills_up(void **state)
{
	struct world w = open_world();
	uint64_t q = make_queue(w.dev, 64, SG_MODE_HSA);
	uint64_t deps[5] = { S0, 0, 0, 0, 0 };
	struct packet p = dispatch(0, 0);
	size_t accepted = 0;

	(void)state;
	publish(w.dev, q, barrier(3, deps, 0), 1);
	assert_int_equal(publish(w.dev, q, p, 100), 63);
	assert_int_equal(sg_queue_publish(w.dev, q, p.bytes, 1, &accepted), SG_QUEUE_FULL);
	sg_signal_store(w.dev, S0, 0);
	assert_int_equal(queue_info(w.dev, q).read_index, 64);
	assert_int_equal(queue_info(w.dev, q).free_slots, 64);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(value_with_null_or_dead_signal),
		cmocka_unit_test(error_in_the_middle_of_a_write),
		cmocka_unit_test(completion_is_subtracted),
		cmocka_unit_test(trace_of_a_blocked_packet),
		cmocka_unit_test(dependencies_need_not_be_met_together),
		cmocka_unit_test(passing_zero_is_seen),
		cmocka_unit_test(destroying_a_dependency_is_an_error),
		cmocka_unit_test(destroying_a_queue_is_one_for_who_waits_on_its_doorbell),
		cmocka_unit_test(a_chain_of_queues),
		cmocka_unit_test(softgpu_completion_frees_hsa_queue),
		cmocka_unit_test(held_packet_is_a_copy),
		cmocka_unit_test(barrier_bit_orders),
		cmocka_unit_test(softgpu_mode_ignores_dependencies),
		cmocka_unit_test(blocked_ring_fills_up),
	};

	return RUN_ROWS(barriers, check_barrier) + RUN_ROWS(values, check_value) +
	       RUN_ROWS(errors, check_error) + cmocka_run_group_tests(tests, NULL, NULL);
}
