/* SPDX-License-Identifier: MIT */
#include "support.h"
#include "limits.h"

/* Each row sets one bound at OFFSET; WIDTH is its size. */
struct bound_case {
	const char *name;
	size_t offset;
	size_t width;
	uint64_t max;
	bool zero_allowed;
};

#define BOUND(m, max, zero)                                                                        \
	{                                                                                          \
#m, offsetof(struct sg_config, m), sizeof(((struct sg_config *)0)->m), max, zero   \
	}

static const struct bound_case bounds[] = {
	BOUND(max_queues, SG_QUEUES_MAX, false),   BOUND(max_signals, SG_SIGNALS_MAX, false),
	BOUND(trace_events, SG_TRACE_MAX, false),  BOUND(captures, SG_CAPTURES_MAX, false),
	BOUND(verdicts, SG_VERDICTS_MAX, false),   BOUND(kernarg_bytes, SG_KERNARG_MAX, true),
	BOUND(memory_total, SG_MEMORY_MAX, false), BOUND(memory_single, SG_MEMORY_DEFAULT, false),
};

static enum sg_status open_with(const struct bound_case *c, uint64_t value)
{
	struct sg_config config;
	struct sg_device *dev;
	enum sg_status status;

	sg_config_default(&config);
	put_le((uint8_t *)&config + c->offset, (unsigned int)c->width, value);
	status = sg_device_open(&config, &dev);
	assert_int_equal(dev != NULL, status == SG_OK);
	sg_device_close(dev);
	return status;
}

static void check_bound(void **state)
{
	const struct bound_case *c = *state;

	/* memory_total must cover memory_single, and captures * kernarg_bytes has a cap of its own */
	if (c->offset == offsetof(struct sg_config, memory_total))
		assert_int_equal(open_with(c, SG_MEMORY_SINGLE_DEFAULT), SG_OK);
	else if (c->offset != offsetof(struct sg_config, kernarg_bytes))
		assert_int_equal(open_with(c, 1), SG_OK);
	assert_int_equal(open_with(c, 0), c->zero_allowed ? SG_OK : SG_INVALID_ARGUMENT);
	assert_int_equal(open_with(c, c->max), SG_OK);
	assert_int_equal(open_with(c, c->max + 1), SG_INVALID_ARGUMENT);
}

static void kernarg_copies_are_bounded_together(void **state)
{
	struct sg_config config;
	struct sg_device *dev;

	(void)state;
	sg_config_default(&config);
	config.captures = SG_CAPTURES_MAX;
	config.kernarg_bytes = 4096;
	assert_int_equal(sg_device_open(&config, &dev), SG_OK);
	sg_device_close(dev);
	config.kernarg_bytes = 4097;
	assert_int_equal(sg_device_open(&config, &dev), SG_INVALID_ARGUMENT);
	assert_null(dev);
}

static void small_memory(void **state)
{
	struct sg_config config;
	struct sg_device *dev;

	(void)state;
	sg_config_default(&config);
	config.memory_total = config.memory_single = 4095;
	assert_int_equal(sg_device_open(&config, &dev), SG_INVALID_ARGUMENT);
	config.memory_total = config.memory_single = 4096;
	assert_int_equal(sg_device_open(&config, &dev), SG_OK);
	make_memory(dev, SG_SPACE_REGION_COARSE, 4096);
	sg_device_close(dev);
}

static void fewer_queues(void **state)
{
	struct sg_config config;
	struct sg_device *dev;
	struct sg_device_info info;
	uint64_t q;

	(void)state;
	sg_config_default(&config);
	config.max_queues = 1;
	assert_int_equal(sg_device_open(&config, &dev), SG_OK);
	make_queue(dev, 64, SG_MODE_SOFTGPU);
	assert_int_equal(sg_queue_create(dev, AGENT, 64, 0, &q), SG_OUT_OF_RESOURCES);
	sg_device_get_info(dev, &info);
	assert_int_equal(info.live_queues, 1);
	assert_int_equal(info.live_signals, 0);
	assert_int_equal(info.config.max_queues, 1);
	sg_device_close(dev);
}

static void init_and_shutdown_count(void **state)
{
	static const char *const lines[] = {
		"{\"type\":\"runtime_init\",\"seq\":5,\"refcount\":2,\"profile_id\":\"gpuobjfs-"
		"softgpu\","
		"\"profile_revision\":1,\"fidelity\":\"abi\"}",
		"{\"type\":\"runtime_shutdown\",\"seq\":6,\"refcount\":1}",
		"{\"type\":\"runtime_shutdown\",\"seq\":7,\"refcount\":0}",
		"{\"type\":\"runtime_init\",\"seq\":8,\"refcount\":1,\"profile_id\":\"gpuobjfs-"
		"softgpu\","
		"\"profile_revision\":1,\"fidelity\":\"abi\"}",
		NULL,
	};
	struct world w = open_world();
	struct sg_device_info info;

	(void)state;
	assert_int_equal(sg_device_init(w.dev), SG_OK);
	assert_int_equal(sg_device_shutdown(w.dev), SG_OK);
	assert_int_equal(signal_value(w.dev, S0), 1); /* still there */
	assert_int_equal(sg_device_shutdown(w.dev), SG_OK);
	assert_int_equal(sg_device_shutdown(w.dev), SG_NOT_INITIALIZED);
	sg_device_get_info(w.dev, &info);
	assert_int_equal(info.refcount, 0);
	assert_int_equal(info.agent, 0);
	assert_int_equal(info.live_queues + info.live_signals + info.live_allocations, 0);
	assert_int_equal(sg_device_init(w.dev), SG_OK);
	expect_lines(&w, lines);
	sg_device_get_info(w.dev, &info);
	assert_true(info.agent == UINT64_C(0x0100000900000000)); /* generations go on */
	close_world(&w);
}

static void nothing_works_while_shut_down(void **state)
{
	struct world w = open_world();
	struct sg_queue_info queue;
	struct sg_signal_info signal;
	struct sg_stats stats;
	uint64_t out;

	(void)state;
	sg_device_shutdown(w.dev);
	forget_events(&w);
	assert_int_equal(sg_signal_create(w.dev, 0, &out), SG_NOT_INITIALIZED);
	assert_int_equal(sg_signal_get_info(w.dev, S0, &signal), SG_NOT_INITIALIZED);
	assert_int_equal(sg_signal_store(w.dev, S0, 0), SG_NOT_INITIALIZED);
	assert_int_equal(sg_signal_destroy(w.dev, S0), SG_NOT_INITIALIZED);
	assert_int_equal(sg_queue_get_info(w.dev, Q0, &queue), SG_NOT_INITIALIZED);
	assert_int_equal(sg_queue_doorbell(w.dev, Q0, 0), SG_NOT_INITIALIZED);
	assert_int_equal(sg_queue_destroy(w.dev, Q0), SG_NOT_INITIALIZED);
	assert_int_equal(sg_verdict_get_stats(w.dev, Q0, &stats), SG_NOT_INITIALIZED);
	expect_types(&w, "");
	close_world(&w);
}

static void status_names(void **state)
{
	(void)state;
	assert_string_equal(sg_status_name(SG_OK), "ok");
	assert_string_equal(sg_status_name(SG_INVALID_QUEUE_CREATION), "invalid_queue_creation");
	assert_string_equal(sg_status_name(SG_NOT_FOUND), "not_found");
	assert_string_equal(sg_status_name((enum sg_status)1000), "unknown");
	assert_string_equal(sg_mode_name(SG_MODE_SOFTGPU), "softgpu");
	assert_string_equal(sg_mode_name(SG_MODE_HSA), "hsa");
}

/* The same calls give the same trace. */
static void deterministic(void **state)
{
	struct world a = open_world();
	struct world b = open_world();
	char line_a[SG_LINE_MAX];
	char line_b[SG_LINE_MAX];
	struct world *both[] = { &a, &b };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct sg_device *dev = both[i]->dev;
		uint64_t base = make_memory(dev, SG_SPACE_POOL_FINE_HOST, 100);

		publish(dev, make_queue(dev, 128, SG_MODE_HSA), dispatch(base, S0), 3);
		both[i]->seen = (struct sg_trace_cursor){ .next = 0 };
	}
	while (sg_trace_next(a.dev, &a.seen, line_a, sizeof(line_a))) {
		assert_true(sg_trace_next(b.dev, &b.seen, line_b, sizeof(line_b)) > 0);
		assert_string_equal(line_a, line_b);
	}
	close_world(&a);
	close_world(&b);
}

/* Allocation failures: the first call fails, then the second, until all succeed. */

static void open_fails_cleanly(void **state)
{
	struct sg_config config;
	struct sg_device *dev;
	struct flaky f = { .fail_at = 0 };
	enum sg_status status;

	(void)state;
	sg_config_default(&config);
	do {
		f.calls = 0;
		f.fail_at++;
		config.mem = flaky_allocator(&f);
		status = sg_device_open(&config, &dev);
		if (status != SG_OK) {
			assert_int_equal(status, SG_OUT_OF_RESOURCES);
			assert_null(dev);
			assert_int_equal(f.live, 0);
		}
	} while (status != SG_OK);
	assert_int_equal(f.fail_at, 8); /* the device, six tables, and one more that is not made */
	sg_device_close(dev);
	assert_int_equal(f.live, 0);
}

static void creation_fails_cleanly(void **state)
{
	struct sg_config config;
	struct world w = { .dev = NULL };
	struct flaky f = { .fail_at = 0 };
	struct sg_space_info space;
	enum sg_status status;
	uint64_t out = 77;
	unsigned int tries = 0;

	(void)state;
	sg_config_default(&config);
	config.mem = flaky_allocator(&f);
	assert_int_equal(sg_device_open(&config, &w.dev), SG_OK);
	forget_events(&w);
	do {
		f.calls = 0;
		f.fail_at = ++tries;
		status = sg_queue_create(w.dev, AGENT, 64, 0, &out);
		if (status != SG_OK) {
			assert_int_equal(status, SG_OUT_OF_RESOURCES);
			assert_int_equal(out, 77);
			assert_int_equal(f.live, 7);
			expect_types(&w, "");
		}
	} while (status != SG_OK);
	assert_int_equal(tries, 4);
	assert_true(out == Q0); /* a failure takes no generation, no index and no id */
	expect_types(&w, "signal_create,queue_create");

	f.calls = 0;
	f.fail_at = 1;
	sg_space_get_info(w.dev, SG_SPACE_REGION_COARSE, &space);
	out = 77;
	assert_int_equal(sg_memory_allocate(w.dev, space.handle, 1, &out), SG_OUT_OF_RESOURCES);
	assert_int_equal(out, 77);
	expect_types(&w, "memory_allocate");
	f.fail_at = 0;
	assert_true(make_memory(w.dev, SG_SPACE_REGION_COARSE, 1) == UINT64_C(0x100000000000));
	sg_device_close(w.dev);
	assert_int_equal(f.live, 0);
}

static void processing_allocates_nothing(void **state)
{
	struct sg_config config;
	struct sg_device *dev;
	struct flaky f = { .fail_at = 0 };
	uint64_t base;
	uint64_t s;
	uint64_t queues[2];
	unsigned int before;

	(void)state;
	sg_config_default(&config);
	config.mem = flaky_allocator(&f);
	assert_int_equal(sg_device_open(&config, &dev), SG_OK);
	queues[0] = make_queue(dev, 64, SG_MODE_SOFTGPU);
	queues[1] = make_queue(dev, 64, SG_MODE_HSA);
	base = make_memory(dev, SG_SPACE_REGION_COARSE, 1);
	s = make_signal(dev, 1);
	before = f.calls;
	for (unsigned int i = 0; i < 2; i++) {
		publish(dev, queues[i], dispatch(base, s), 5000);
		publish(dev, queues[i], golden(7), 1);
	}
	make_signal(dev, 1);
	assert_int_equal(f.calls, before);
	sg_device_close(dev);
	assert_int_equal(f.live, 0);
}

static void close_without_device(void **state)
{
	(void)state;
	sg_device_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernarg_copies_are_bounded_together),
		cmocka_unit_test(small_memory),
		cmocka_unit_test(fewer_queues),
		cmocka_unit_test(init_and_shutdown_count),
		cmocka_unit_test(nothing_works_while_shut_down),
		cmocka_unit_test(status_names),
		cmocka_unit_test(deterministic),
		cmocka_unit_test(open_fails_cleanly),
		cmocka_unit_test(creation_fails_cleanly),
		cmocka_unit_test(processing_allocates_nothing),
		cmocka_unit_test(close_without_device),
	};

	return RUN_ROWS(bounds, check_bound) + cmocka_run_group_tests(tests, NULL, NULL);
}
