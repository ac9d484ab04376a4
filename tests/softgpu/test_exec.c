/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <string.h>

/* The example of aql.md 3.5: G1, then G7, each by write_index and doorbell. */
static void example_trace(void **state)
{
	static const char *const lines[] = {
		"{\"type\":\"queue_index_store\",\"seq\":5,\"queue_id\":1,\"which\":\"write\","
		"\"value\":1}",
		"{\"type\":\"queue_doorbell\",\"seq\":6,\"queue_id\":1,\"value\":0}",
		"{\"type\":\"packet_observed\",\"seq\":7,\"queue_id\":1,\"packet_index\":0,"
		"\"packet_type\":2}",
		"{\"type\":\"dispatch_validated\",\"seq\":8,\"queue_id\":1,\"packet_index\":0,"
		"\"packet_type\":2,\"dimensions\":1,\"workgroup_size\":[64,1,1],"
		"\"grid_size\":[256,1,1],\"private_segment_size\":0,\"group_segment_size\":0,"
		"\"kernel_object\":43981,\"kernarg_class\":\"null\","
		"\"completion_signal\":288230410511450113}",
		"{\"type\":\"diagnostic_complete\",\"seq\":9,\"queue_id\":1,\"packet_index\":0,"
		"\"completion_signal\":288230410511450113,"
		"\"contract\":\"diagnostic_complete_no_execution\",\"note\":\"not_kernel_"
		"success\"}",
		"{\"type\":\"queue_index_store\",\"seq\":10,\"queue_id\":1,\"which\":\"write\","
		"\"value\":2}",
		"{\"type\":\"queue_doorbell\",\"seq\":11,\"queue_id\":1,\"value\":1}",
		"{\"type\":\"packet_observed\",\"seq\":12,\"queue_id\":1,\"packet_index\":1,"
		"\"packet_type\":4}",
		"{\"type\":\"dispatch_rejected\",\"seq\":13,\"queue_id\":1,\"packet_index\":1,"
		"\"packet_type\":4,\"detail\":\"UnsupportedType { packet_type: 4 }\","
		"\"contract\":\"diagnostic_rejected\"}",
		NULL,
	};
	struct world w = open_world();

	(void)state;
	assert_true(w.queue == Q0);
	assert_true(w.signal == S0);
	ring_put(w.dev, Q0, 0, golden(1));
	assert_int_equal(sg_queue_store_write_index(w.dev, Q0, 1), SG_OK);
	assert_int_equal(sg_queue_doorbell(w.dev, Q0, 0), SG_OK);
	assert_int_equal(signal_value(w.dev, S0), 0);
	ring_put(w.dev, Q0, 1, golden(7));
	assert_int_equal(sg_queue_store_write_index(w.dev, Q0, 2), SG_OK);
	assert_int_equal(sg_queue_doorbell(w.dev, Q0, 1), SG_OK);
	expect_lines(&w, lines);
	close_world(&w);
}

/* Every golden vector through a live queue: what its events, signal, slot and capture look like. */
struct live_case {
	const char *name;
	unsigned int n;
	bool complete;
	const char *detail;
	uint32_t hsa_status;
};

static const struct live_case live[] = {
	{ "live G1", 1, true, "", 0 },
	{ "live G2", 2, true, "", 0 },
	{ "live G3", 3, true, "", 0 },
	{ "live G4", 4, false, "ZeroWorkgroup { dim: 0 }", 0x1001 },
	{ "live G5", 5, false, "GridSmallerThanWorkgroup { dim: 0 }", 0x100D },
	{ "live G6", 6, false, "BadDimensions { dimensions: 0 }", 0x100D },
	{ "live G7", 7, false, "UnsupportedType { packet_type: 4 }", 0x1009 },
};

static void check_live(void **state)
{
	const struct live_case *c = *state;
	struct world w = open_world();
	struct packet p = golden(c->n);
	struct sg_verdict v;
	struct sg_slot slot;
	struct sg_stats captures;
	char text[SG_DETAIL_MAX];

	assert_int_equal(publish(w.dev, Q0, p, 1), 1);
	expect_types(&w, c->complete ? "queue_index_store,queue_doorbell,packet_observed,"
				       "dispatch_validated,diagnostic_complete"
				     : "queue_index_store,queue_doorbell,packet_observed,"
				       "dispatch_rejected");
	assert_int_equal(signal_value(w.dev, S0), c->complete ? 0 : 1);

	slot = slot_of(w.dev, Q0, 0);
	assert_int_equal(slot.bytes[0], 1);
	assert_int_equal(slot.bytes[1], 0);
	assert_memory_equal(slot.bytes + 2, p.bytes + 2, 62);
	assert_int_equal(queue_info(w.dev, Q0).read_index, 1);

	v = last_verdict(w.dev, Q0);
	assert_int_equal(v.kind, c->complete ? SG_VERDICT_COMPLETE : SG_VERDICT_REJECTED);
	assert_int_equal(v.packet_type, p.bytes[0]);
	assert_int_equal(v.completion_stored, c->complete);
	assert_int_equal(v.hsa_status, c->hsa_status);
	sg_packet_error_text(v.error, text, sizeof(text));
	assert_string_equal(text, c->detail);

	sg_capture_get_stats(w.dev, &captures);
	assert_int_equal(captures.total, c->complete ? 1 : 0);
	close_world(&w);
}

/* aql.md 4.4; the packet is G1 with another completion signal */
enum completion {
	NONE,
	LIVE,
	OWN_DOORBELL,
	OTHER_DOORBELL,
	DESTROYED,
	FORGED,
	OTHER_KIND,
};

struct completion_case {
	const char *name;
	enum completion which;
	int64_t before;
	bool rejected;
	bool stored;
	int64_t after; /* of the signal, or of the doorbell */
};

static const struct completion_case completions_4_4[] = {
	{ "4.4 none", NONE, 0, false, false, 0 },
	{ "4.4 live plain, 1", LIVE, 1, false, true, 0 },
	{ "4.4 live plain, 2 goes to 0 too", LIVE, 2, false, true, 0 },
	{ "4.4 live plain, negative", LIVE, INT64_MIN, false, true, 0 },
	{ "4.4 own doorbell", OWN_DOORBELL, 0, false, false, 0 },
	{ "4.4 doorbell of another queue", OTHER_DOORBELL, -5, false, false, -5 },
	{ "4.4 destroyed", DESTROYED, 1, false, false, 0 },
	{ "4.4 forged", FORGED, 1, false, false, 0 },
	{ "4.4 other kind", OTHER_KIND, 1, false, false, 0 },
	{ "4.4 rejected leaves a live signal", LIVE, 7, true, false, 7 },
};

static uint64_t completion_handle(struct world *w, const struct completion_case *c)
{
	uint64_t handle;

	switch (c->which) {
	case NONE:
		return 0;
	case OWN_DOORBELL:
		return Q0_DOORBELL;
	case OTHER_DOORBELL:
		handle = queue_info(w->dev, make_queue(w->dev, 64, SG_MODE_SOFTGPU)).doorbell;
		assert_int_equal(sg_signal_store(w->dev, handle, c->before), SG_OK);
		return handle;
	case DESTROYED:
		assert_int_equal(sg_signal_destroy(w->dev, S0), SG_OK);
		return S0;
	case FORGED:
		return S0 + (UINT64_C(1) << 32);
	case OTHER_KIND:
		return Q0;
	default:
		handle = make_signal(w->dev, c->before);
		return handle;
	}
}

static void check_completion(void **state)
{
	const struct completion_case *c = *state;
	struct world w = open_world();
	uint64_t handle = completion_handle(&w, c);
	struct packet p = dispatch(0, handle);
	struct sg_verdict v;

	if (c->rejected)
		p = with(p, 2, 2, 0);
	forget_events(&w);
	publish(w.dev, Q0, p, 1);
	expect_types(&w, c->rejected ? "queue_index_store,queue_doorbell,packet_observed,"
				       "dispatch_rejected"
				     : "queue_index_store,queue_doorbell,packet_observed,"
				       "dispatch_validated,diagnostic_complete");
	v = last_verdict(w.dev, Q0);
	assert_int_equal(v.completion_stored, c->stored);
	assert_true(v.completion_signal == handle);
	if (c->which == LIVE || c->which == OTHER_DOORBELL || c->which == OWN_DOORBELL)
		assert_int_equal(signal_value(w.dev, handle), c->after);
	assert_int_equal(queue_info(w.dev, Q0).read_index, 1);
	if (c->which == OTHER_DOORBELL) /* no side effect there */
		assert_int_equal(queue_info(w.dev, UINT64_C(0x0500000A00000001)).doorbell_count, 1);
	close_world(&w);
}

/* aql.md 3.3 and 3.6 */

static void nothing_new(void **state)
{
	struct world w = open_world();

	(void)state;
	publish(w.dev, Q0, golden(1), 3);
	forget_events(&w);
	sg_queue_doorbell(w.dev, Q0, 2);
	sg_queue_doorbell(w.dev, Q0, 99);
	expect_types(&w, "queue_doorbell,queue_doorbell");
	expect_state(w.dev, Q0, "active\n");
	close_world(&w);
}

static void first_pending_invalid(void **state)
{
	static const char *const lines[] = {
		"{\"type\":\"queue_index_store\",\"seq\":5,\"queue_id\":1,\"which\":\"write\","
		"\"value\":1}",
		"{\"type\":\"queue_doorbell\",\"seq\":6,\"queue_id\":1,\"value\":0}",
		"{\"type\":\"packet_validate_failed\",\"seq\":7,\"queue_id\":1,"
		"\"detail\":\"StillInvalid { packet_index: 0 }\"}",
		NULL,
	};
	struct world w = open_world();

	(void)state;
	sg_queue_store_write_index(w.dev, Q0, 1);
	sg_queue_doorbell(w.dev, Q0, 0);
	expect_lines(&w, lines);
	assert_int_equal(queue_info(w.dev, Q0).read_index, 0);
	assert_int_equal(queue_info(w.dev, Q0).observed_through, 0);
	expect_state(w.dev, Q0, "stopped-invalid 0\n");

	ring_put(w.dev, Q0, 0, golden(1));
	expect_types(&w, "");
	sg_queue_doorbell(w.dev, Q0, 0);
	expect_types(&w, "queue_doorbell,packet_observed,dispatch_validated,diagnostic_complete");
	assert_int_equal(queue_info(w.dev, Q0).read_index, 1);
	close_world(&w);
}

static void invalid_with_other_header_bits(void **state)
{
	struct world w = open_world();

	(void)state;
	publish(w.dev, Q0, with(golden(1), 0, 2, 0x0101), 1);
	expect_types(&w, "queue_index_store,queue_doorbell,packet_validate_failed");
	close_world(&w);
}

static void valid_prefix_then_invalid(void **state)
{
	struct world w = open_world();

	(void)state;
	ring_put(w.dev, Q0, 0, golden(1));
	ring_put(w.dev, Q0, 1, golden(7));
	ring_put(w.dev, Q0, 3, golden(3));
	sg_queue_store_write_index(w.dev, Q0, 4);
	forget_events(&w);
	sg_queue_doorbell(w.dev, Q0, 3);
	expect_types(&w, "queue_doorbell,packet_observed,dispatch_validated,diagnostic_complete,"
			 "packet_observed,dispatch_rejected,packet_validate_failed");
	assert_int_equal(queue_info(w.dev, Q0).read_index, 2);
	assert_int_equal(queue_info(w.dev, Q0).observed_through, 2);
	assert_int_equal(queue_info(w.dev, Q0).pending, 2);
	expect_state(w.dev, Q0, "stopped-invalid 2\n");
	sg_queue_doorbell(w.dev, Q0, 3);
	expect_types(&w, "queue_doorbell,packet_validate_failed");
	ring_put(w.dev, Q0, 2, golden(2));
	sg_queue_doorbell(w.dev, Q0, 3);
	expect_types(&w, "queue_doorbell,packet_observed,dispatch_validated,diagnostic_complete,"
			 "packet_observed,dispatch_validated,diagnostic_complete");
	expect_state(w.dev, Q0, "active\n");
	close_world(&w);
}

static void overrun_stops_after_size(void **state)
{
	struct world w = open_world();

	(void)state;
	for (unsigned int i = 0; i < 64; i++)
		ring_put(w.dev, Q0, i, dispatch(0, 0));
	sg_queue_store_write_index(w.dev, Q0, 66);
	sg_queue_doorbell(w.dev, Q0, 65);
	assert_int_equal(queue_info(w.dev, Q0).read_index, 64);
	expect_state(w.dev, Q0, "stopped-overrun 64\noverrun 1\n");
	forget_events(&w);
	sg_queue_doorbell(w.dev, Q0, 65);
	expect_types(&w, "queue_doorbell,packet_validate_failed");
	expect_state(w.dev, Q0, "stopped-invalid 64\noverrun 1\n");
	ring_put(w.dev, Q0, 0, dispatch(0, 0));
	ring_put(w.dev, Q0, 1, dispatch(0, 0));
	sg_queue_doorbell(w.dev, Q0, 65);
	assert_int_equal(queue_info(w.dev, Q0).read_index, 66);
	expect_state(w.dev, Q0, "active\noverrun 1\n");
	close_world(&w);
}

static void write_index_lowered(void **state)
{
	struct world w = open_world();

	(void)state;
	publish(w.dev, Q0, dispatch(0, 0), 5);
	sg_queue_store_write_index(w.dev, Q0, 2);
	forget_events(&w);
	sg_queue_doorbell(w.dev, Q0, 1);
	expect_types(&w, "queue_doorbell");
	assert_int_equal(queue_info(w.dev, Q0).observed_through, 5);
	assert_int_equal(queue_info(w.dev, Q0).pending, 0);
	expect_state(w.dev, Q0, "active\nindex-back 1\n");
	close_world(&w);
}

static void nothing_is_observed_without_a_doorbell(void **state)
{
	struct world w = open_world();

	(void)state;
	ring_put(w.dev, Q0, 0, golden(1));
	sg_queue_store_write_index(w.dev, Q0, 1);
	sg_signal_store(w.dev, S0, 4);
	expect_types(&w, "queue_index_store");
	assert_int_equal(queue_info(w.dev, Q0).observed_through, 0);
	close_world(&w);
}

static void slot_is_read_once(void **state)
{
	struct world w = open_world();
	struct sg_stats captures;

	(void)state;
	publish(w.dev, Q0, dispatch(0, 0), 64);
	for (unsigned int i = 0; i < 64; i++)
		ring_put(w.dev, Q0, i, dispatch(0, 0));
	sg_queue_doorbell(w.dev, Q0, 63);
	sg_capture_get_stats(w.dev, &captures);
	assert_int_equal(captures.total, 64);
	close_world(&w);
}

static void stale_vendor_slot_is_rejected_once_submitted(void **state)
{
	struct world w = open_world();

	(void)state;
	ring_put(w.dev, Q0, 0, (struct packet){ { 0 } });
	sg_queue_doorbell(w.dev, Q0, 0);
	expect_types(&w, "queue_doorbell"); /* above write_index nothing counts */
	sg_queue_store_write_index(w.dev, Q0, 1);
	sg_queue_doorbell(w.dev, Q0, 0);
	expect_types(&w, "queue_index_store,queue_doorbell,packet_observed,dispatch_rejected");
	close_world(&w);
}

static void read_index_only_moves_forward(void **state)
{
	struct world w = open_world();

	(void)state;
	sg_queue_store_read_index(w.dev, Q0, 10);
	publish(w.dev, Q0, dispatch(0, 0), 3);
	assert_int_equal(queue_info(w.dev, Q0).read_index, 10);
	sg_queue_store_read_index(w.dev, Q0, 0);
	publish(w.dev, Q0, dispatch(0, 0), 1);
	assert_int_equal(queue_info(w.dev, Q0).read_index, 4);
	close_world(&w);
}

static void one_signal_two_packets(void **state)
{
	struct world w = open_world();

	(void)state;
	sg_signal_store(w.dev, S0, 2);
	publish(w.dev, Q0, dispatch(0, S0), 2);
	assert_int_equal(signal_value(w.dev, S0), 0); /* aql.md 4.4: stored, not subtracted */
	close_world(&w);
}

static void kernarg_class_in_the_trace(void **state)
{
	static const char *const wanted[] = { "\"softgpu:1\"", "\"foreign_opaque\"", "\"null\"" };
	struct world w = open_world();
	uint64_t base = make_memory(w.dev, SG_SPACE_REGION_FINE_KERNARG, 64);
	char line[SG_LINE_MAX];
	size_t n = 0;

	(void)state;
	forget_events(&w);
	publish(w.dev, Q0, dispatch(base, 0), 1);
	publish(w.dev, Q0, dispatch(base + 8, 0), 1);
	publish(w.dev, Q0, dispatch(0, 0), 1);
	while (sg_trace_next(w.dev, &w.seen, line, sizeof(line))) {
		if (strstr(line, "dispatch_validated"))
			assert_non_null(strstr(line, wanted[n++]));
	}
	assert_int_equal(n, 3);
	close_world(&w);
}

/* A paused queue keeps and traces the doorbell; going on does what the doorbell would have. */
static void paused(void **state)
{
	struct world w = open_world();

	(void)state;
	sg_queue_set_paused(w.dev, Q0, true);
	publish(w.dev, Q0, golden(1), 1);
	expect_types(&w, "queue_index_store,queue_doorbell");
	assert_int_equal(queue_info(w.dev, Q0).doorbell_count, 1);
	expect_state(w.dev, Q0, "paused\n");
	sg_queue_set_paused(w.dev, Q0, false);
	expect_types(&w, "packet_observed,dispatch_validated,diagnostic_complete");
	expect_state(w.dev, Q0, "active\n");
	close_world(&w);
}

static void verdict_names(void **state)
{
	(void)state;
	assert_string_equal(sg_verdict_name(SG_VERDICT_COMPLETE),
			    "diagnostic_complete_no_execution");
	assert_string_equal(sg_verdict_name(SG_VERDICT_REJECTED), "diagnostic_rejected");
}

int main(void)
{
	const struct CMUnitTest steps_3_3[] = {
		NAMED("3.3 nothing new", nothing_new),
		NAMED("3.3 first pending slot INVALID", first_pending_invalid),
		NAMED("3.3 valid packets, then an INVALID one", valid_prefix_then_invalid),
		NAMED("3.3 write_index above observed + size", overrun_stops_after_size),
		NAMED("3.3 write_index stored lower", write_index_lowered),
		NAMED("3.3 no observing without a doorbell",
		      nothing_is_observed_without_a_doorbell),
	};
	const struct CMUnitTest decisions_3_6[] = {
		NAMED("3.6 valid prefix before an INVALID slot", valid_prefix_then_invalid),
		NAMED("3.6 exactly once", slot_is_read_once),
		NAMED("3.6 overrun", overrun_stops_after_size),
		NAMED("3.6 completion on accept is a store", one_signal_two_packets),
		NAMED("3.6 reading a slot", stale_vendor_slot_is_rejected_once_submitted),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(example_trace),
		cmocka_unit_test(invalid_with_other_header_bits),
		cmocka_unit_test(read_index_only_moves_forward),
		cmocka_unit_test(kernarg_class_in_the_trace),
		cmocka_unit_test(paused),
		cmocka_unit_test(verdict_names),
	};

	return RUN_ROWS(live, check_live) + RUN_ROWS(completions_4_4, check_completion) +
	       cmocka_run_group_tests(steps_3_3, NULL, NULL) +
	       cmocka_run_group_tests(decisions_3_6, NULL, NULL) +
	       cmocka_run_group_tests(tests, NULL, NULL);
}
