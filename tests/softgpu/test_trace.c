/* SPDX-License-Identifier: MIT */
#include "support.h"
#include "internal.h"

#include <string.h>

/* aql.md 3.5: keys and their order; every number at its largest, so this is the longest line too */
struct line_case {
	const char *name; /* the type */
	struct sg_event event;
	const char *fields;
};

#define MAX "18446744073709551615"

/* clang-format off */
#define EXTREME { \
	.packet_index = UINT64_MAX, .packet_type = 255, .header = 0xffff, .setup = 0xffff, \
	.dimensions = 3, .workgroup_size = {65535, 65535, 65535}, \
	.grid_size = {UINT32_MAX, UINT32_MAX, UINT32_MAX}, \
	.private_segment_size = UINT32_MAX, .group_segment_size = UINT32_MAX, \
	.kernel_object = UINT64_MAX, .kernarg = {SG_KERNARG_SOFTGPU, UINT64_MAX, UINT64_MAX}, \
	.completion_signal = UINT64_MAX, \
}

static const struct line_case lines_3_5[] = {
	{ "runtime_init",
	  { .type = SG_EVENT_RUNTIME_INIT, .refcount = UINT64_MAX, .profile_id = "gpuobjfs-softgpu",
	    .profile_revision = 1, .fidelity = "abi" },
	  "\"refcount\":" MAX ",\"profile_id\":\"gpuobjfs-softgpu\",\"profile_revision\":1,"
	  "\"fidelity\":\"abi\"" },
	{ "runtime_shutdown", { .type = SG_EVENT_RUNTIME_SHUTDOWN, .refcount = 0 }, "\"refcount\":0" },
	{ "memory_allocate",
	  { .type = SG_EVENT_MEMORY_ALLOCATE, .space_handle = UINT64_MAX, .size = UINT64_MAX,
	    .ptr = UINT64_MAX, .outcome = "out_of_resources" },
	  "\"space_handle\":" MAX ",\"size\":" MAX ",\"ptr\":" MAX ",\"outcome\":\"out_of_resources\"" },
	{ "memory_free",
	  { .type = SG_EVENT_MEMORY_FREE, .ptr = UINT64_MAX, .outcome = "invalid_argument" },
	  "\"ptr\":" MAX ",\"outcome\":\"invalid_argument\"" },
	{ "signal_create",
	  { .type = SG_EVENT_SIGNAL_CREATE, .signal_handle = UINT64_MAX, .initial = INT64_MIN },
	  "\"signal_handle\":" MAX ",\"initial\":-9223372036854775808" },
	{ "signal_destroy", { .type = SG_EVENT_SIGNAL_DESTROY, .signal_handle = UINT64_MAX },
	  "\"signal_handle\":" MAX },
	{ "queue_create",
	  { .type = SG_EVENT_QUEUE_CREATE, .queue_id = UINT64_MAX, .size = 16384,
	    .agent_handle = UINT64_MAX },
	  "\"queue_id\":" MAX ",\"size\":16384,\"agent_handle\":" MAX },
	{ "queue_destroy", { .type = SG_EVENT_QUEUE_DESTROY, .queue_id = UINT64_MAX },
	  "\"queue_id\":" MAX },
	{ "queue_doorbell",
	  { .type = SG_EVENT_QUEUE_DOORBELL, .queue_id = UINT64_MAX, .doorbell_value = -1 },
	  "\"queue_id\":" MAX ",\"value\":-1" },
	{ "queue_index_store",
	  { .type = SG_EVENT_QUEUE_INDEX_STORE, .queue_id = UINT64_MAX, .which = "read",
	    .index_value = UINT64_MAX },
	  "\"queue_id\":" MAX ",\"which\":\"read\",\"value\":" MAX },
	{ "packet_observed",
	  { .type = SG_EVENT_PACKET_OBSERVED, .queue_id = UINT64_MAX, .desc = EXTREME },
	  "\"queue_id\":" MAX ",\"packet_index\":" MAX ",\"packet_type\":255" },
	{ "packet_validate_failed",
	  { .type = SG_EVENT_PACKET_VALIDATE_FAILED, .queue_id = UINT64_MAX,
	    .detail = {SG_PACKET_E_STILL_INVALID_AT, UINT64_MAX} },
	  "\"queue_id\":" MAX ",\"detail\":\"StillInvalid { packet_index: " MAX " }\"" },
	{ "dispatch_validated",
	  { .type = SG_EVENT_DISPATCH_VALIDATED, .queue_id = UINT64_MAX, .desc = EXTREME },
	  "\"queue_id\":" MAX ",\"packet_index\":" MAX ",\"packet_type\":255,\"dimensions\":3,"
	  "\"workgroup_size\":[65535,65535,65535],\"grid_size\":[4294967295,4294967295,4294967295],"
	  "\"private_segment_size\":4294967295,\"group_segment_size\":4294967295,"
	  "\"kernel_object\":" MAX ",\"kernarg_class\":\"softgpu:" MAX "\","
	  "\"completion_signal\":" MAX },
	{ "dispatch_rejected",
	  { .type = SG_EVENT_DISPATCH_REJECTED, .queue_id = UINT64_MAX, .desc = EXTREME,
	    .detail = {SG_PACKET_E_DIM2, 0}, .contract = "diagnostic_rejected" },
	  "\"queue_id\":" MAX ",\"packet_index\":" MAX ",\"packet_type\":255,\"detail\":"
	  "\"DimConstraint { detail: \\\"dims=2 requires workgroup/grid z=1\\\" }\","
	  "\"contract\":\"diagnostic_rejected\"" },
	{ "diagnostic_complete",
	  { .type = SG_EVENT_DIAGNOSTIC_COMPLETE, .queue_id = UINT64_MAX, .desc = EXTREME,
	    .contract = "diagnostic_complete_no_execution", .note = "not_kernel_success" },
	  "\"queue_id\":" MAX ",\"packet_index\":" MAX ",\"completion_signal\":" MAX ","
	  "\"contract\":\"diagnostic_complete_no_execution\",\"note\":\"not_kernel_success\"" },
};
/* clang-format on */

static void check_line(void **state)
{
	const struct line_case *c = *state;
	struct sg_device *dev = open_device();
	struct sg_trace_cursor cursor = { .next = 2 };
	char line[SG_LINE_MAX];
	char wanted[2 * SG_LINE_MAX] = "{\"type\":\"";

	strcat(wanted, c->name);
	strcat(wanted, "\",\"seq\":2,");
	strcat(wanted, c->fields);
	strcat(wanted, "}");
	sg_trace_emit(dev, &c->event);
	assert_int_equal(sg_trace_next(dev, &cursor, line, sizeof(line)), strlen(wanted));
	assert_string_equal(line, wanted);
	assert_true(strlen(wanted) + strlen(MAX) < SG_LINE_MAX); /* seq could have 20 digits */
	sg_device_close(dev);
}

static void first_events(void **state)
{
	static const char *const lines[] = {
		"{\"type\":\"runtime_init\",\"seq\":1,\"refcount\":1,\"profile_id\":\"gpuobjfs-"
		"softgpu\","
		"\"profile_revision\":1,\"fidelity\":\"abi\"}",
		"{\"type\":\"signal_create\",\"seq\":2,\"signal_handle\":288230401921515520,"
		"\"initial\":0}",
		"{\"type\":\"queue_create\",\"seq\":3,\"queue_id\":1,\"size\":64,"
		"\"agent_handle\":72057598332895232}",
		"{\"type\":\"signal_create\",\"seq\":4,\"signal_handle\":288230410511450113,"
		"\"initial\":1}",
		NULL,
	};
	struct world w = open_world();

	(void)state;
	w.seen = (struct sg_trace_cursor){ .next = 0 };
	expect_lines(&w, lines);
	close_world(&w);
}

static void ring_of_512(void **state)
{
	struct world w = open_world();
	struct sg_stats stats;
	struct sg_trace_cursor all = { .next = 1 };
	char line[SG_LINE_MAX];
	unsigned int n = 0;

	(void)state;
	for (unsigned int i = 0; i < 508; i++)
		sg_queue_doorbell(w.dev, Q0, i);
	sg_trace_get_stats(w.dev, &stats);
	assert_int_equal(stats.total, 512);
	assert_int_equal(stats.retained, 512);
	assert_int_equal(stats.dropped, 0);
	assert_int_equal(stats.capacity, 512);
	sg_queue_doorbell(w.dev, Q0, 508);
	sg_queue_doorbell(w.dev, Q0, 509);
	sg_trace_get_stats(w.dev, &stats);
	assert_int_equal(stats.total, 514);
	assert_int_equal(stats.retained, 512);
	assert_int_equal(stats.dropped, 2);
	while (sg_trace_next(w.dev, &all, line, sizeof(line))) {
		if (n++ == 0)
			assert_non_null(strstr(line, "\"seq\":3,"));
	}
	assert_int_equal(n, 512);
	assert_int_equal(all.lost, 2);
	assert_non_null(strstr(line, "\"seq\":514,"));
	close_world(&w);
}

static void readers_do_not_disturb_each_other(void **state)
{
	struct world w = open_world();
	struct sg_trace_cursor a = { .next = 1 };
	struct sg_trace_cursor b = { .next = 3 };
	char line[SG_LINE_MAX];

	(void)state;
	assert_true(sg_trace_next(w.dev, &a, line, sizeof(line)) > 0);
	assert_non_null(strstr(line, "\"seq\":1,"));
	assert_true(sg_trace_next(w.dev, &b, line, sizeof(line)) > 0);
	assert_non_null(strstr(line, "\"seq\":3,"));
	assert_true(sg_trace_next(w.dev, &a, line, sizeof(line)) > 0);
	assert_non_null(strstr(line, "\"seq\":2,"));
	close_world(&w);
}

static void one_queue_only(void **state)
{
	struct world w = open_world();
	uint64_t q1 = make_queue(w.dev, 64, SG_MODE_SOFTGPU);

	(void)state;
	w.seen = (struct sg_trace_cursor){ .queue_id = 2 };
	sg_queue_doorbell(w.dev, Q0, 0);
	publish(w.dev, q1, golden(7), 1);
	sg_signal_store(w.dev, S0, 5);
	sg_queue_destroy(w.dev, q1);
	expect_types(&w, "queue_create,queue_index_store,queue_doorbell,packet_observed,"
			 "dispatch_rejected,queue_destroy");
	assert_int_equal(w.seen.lost, 0);
	expect_types(&w, "");
	close_world(&w);
}

static void smallest_ring(void **state)
{
	struct sg_config config;
	struct world w = { .dev = NULL };

	(void)state;
	sg_config_default(&config);
	config.trace_events = 1;
	assert_int_equal(sg_device_open(&config, &w.dev), SG_OK);
	make_signal(w.dev, 0);
	make_queue(w.dev, 64, SG_MODE_SOFTGPU);
	expect_types(&w, "queue_create");
	assert_int_equal(w.seen.lost, 3);
	close_world(&w);
}

static void cursor_from_the_future(void **state)
{
	struct world w = open_world();
	struct sg_trace_cursor cursor = { .next = UINT64_MAX };
	char line[SG_LINE_MAX];

	(void)state;
	assert_int_equal(sg_trace_next(w.dev, &cursor, line, sizeof(line)), 0);
	assert_true(cursor.next == UINT64_MAX);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_events),
		cmocka_unit_test(ring_of_512),
		cmocka_unit_test(readers_do_not_disturb_each_other),
		cmocka_unit_test(one_queue_only),
		cmocka_unit_test(smallest_ring),
		cmocka_unit_test(cursor_from_the_future),
	};

	return RUN_ROWS(lines_3_5, check_line) + cmocka_run_group_tests(tests, NULL, NULL);
}
