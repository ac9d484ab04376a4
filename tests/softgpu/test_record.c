/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <string.h>

static struct sg_device *open_small(uint32_t captures, uint32_t verdicts, uint32_t kernarg_bytes)
{
	struct sg_config config;
	struct sg_device *dev;

	sg_config_default(&config);
	config.captures = captures;
	config.verdicts = verdicts;
	config.kernarg_bytes = kernarg_bytes;
	assert_int_equal(sg_device_open(&config, &dev), SG_OK);
	return dev;
}

/* By member: there is padding between them. */
static void assert_same(const struct sg_descriptor *a, const struct sg_descriptor *b)
{
	assert_true(a->packet_index == b->packet_index);
	assert_int_equal(a->packet_type, b->packet_type);
	assert_int_equal(a->header, b->header);
	assert_int_equal(a->setup, b->setup);
	assert_int_equal(a->dimensions, b->dimensions);
	assert_memory_equal(a->workgroup_size, b->workgroup_size, sizeof(a->workgroup_size));
	assert_memory_equal(a->grid_size, b->grid_size, sizeof(a->grid_size));
	assert_int_equal(a->private_segment_size, b->private_segment_size);
	assert_int_equal(a->group_segment_size, b->group_segment_size);
	assert_true(a->kernel_object == b->kernel_object);
	assert_int_equal(a->kernarg.class, b->kernarg.class);
	assert_true(a->kernarg.address == b->kernarg.address);
	assert_true(a->kernarg.alloc_id == b->kernarg.alloc_id);
	assert_true(a->completion_signal == b->completion_signal);
	assert_memory_equal(a->bytes, b->bytes, sizeof(a->bytes));
}

static void capture_holds_the_packet(void **state)
{
	struct world w = open_world();
	struct packet p = golden(2);
	struct sg_capture c = { .number = 9 };
	struct sg_descriptor replayed;
	struct sg_packet_error err;

	(void)state;
	publish(w.dev, Q0, p, 1);
	sg_queue_destroy(w.dev, Q0);
	assert_int_equal(sg_capture_get(w.dev, 0, &c), SG_OK);
	assert_int_equal(c.number, 0);
	assert_int_equal(c.queue_id, 1);
	assert_int_equal(c.mode, SG_MODE_SOFTGPU);
	assert_memory_equal(c.desc.bytes, p.bytes, 64);
	assert_int_equal(c.desc.bytes[0], 2); /* as observed, before the slot became INVALID */
	assert_true(sg_replay(c.desc.bytes, 64, c.desc.packet_index, c.mode, &replayed, &err));
	assert_same(&replayed, &c.desc);
	close_world(&w);
}

static void replay_differs_in_the_kernarg_only(void **state)
{
	struct world w = open_world();
	uint64_t base = make_memory(w.dev, SG_SPACE_REGION_FINE_KERNARG, 64);
	struct sg_capture c = { .number = 9 };
	struct sg_descriptor replayed;
	struct sg_packet_error err;

	(void)state;
	publish(w.dev, Q0, dispatch(base, S0), 1);
	assert_int_equal(sg_capture_get(w.dev, 0, &c), SG_OK);
	assert_int_equal(c.desc.kernarg.class, SG_KERNARG_SOFTGPU);
	assert_true(sg_replay(c.desc.bytes, 64, 0, c.mode, &replayed, &err));
	assert_int_equal(replayed.kernarg.class, SG_KERNARG_FOREIGN_OPAQUE);
	assert_true(replayed.kernarg.address == base);
	replayed.kernarg = c.desc.kernarg;
	assert_same(&replayed, &c.desc);
	close_world(&w);
}

/* aql.md 6: which packets are captured */
struct captured_case {
	const char *name;
	unsigned int golden;
	uint8_t type; /* other than the vector's, if not 0 */
	bool captured;
};

static const struct captured_case captured_6[] = {
	{ "6 dispatch", 1, 0, true },	     { "6 barrier-AND", 3, 0, true },
	{ "6 barrier-OR", 3, 5, true },	     { "6 rejected", 5, 0, false },
	{ "6 agent dispatch", 7, 0, false }, { "6 INVALID", 1, 1, false },
};

static void check_captured(void **state)
{
	const struct captured_case *c = *state;
	struct world w = open_world();
	struct packet p = golden(c->golden);
	struct sg_stats stats;

	if (c->type)
		p.bytes[0] = c->type;
	publish(w.dev, Q0, p, 1);
	sg_capture_get_stats(w.dev, &stats);
	assert_int_equal(stats.total, c->captured);
	assert_int_equal(stats.capacity, 4096);
	close_world(&w);
}

static void slot_is_no_capture(void **state)
{
	struct world w = open_world();
	struct sg_slot slot;
	struct sg_descriptor d;
	struct sg_packet_error err;
	char text[SG_DETAIL_MAX];

	(void)state;
	publish(w.dev, Q0, golden(1), 1);
	slot = slot_of(w.dev, Q0, 0);
	assert_false(sg_replay(slot.bytes, 64, 0, SG_MODE_SOFTGPU, &d, &err));
	sg_packet_error_text(err, text, sizeof(text));
	assert_string_equal(text, "StillInvalid");
	close_world(&w);
}

static void oldest_capture_is_dropped(void **state)
{
	struct sg_device *dev = open_small(3, 4096, 16);
	uint64_t base = make_memory(dev, SG_SPACE_REGION_FINE_KERNARG, 64);
	uint64_t q = make_queue(dev, 64, SG_MODE_SOFTGPU);
	struct sg_capture c = { .number = 9 };
	struct sg_stats stats;
	uint8_t kernarg[16];
	size_t len = 0;

	(void)state;
	for (uint8_t i = 0; i < 5; i++) {
		size_t done = 0;

		assert_int_equal(sg_memory_write(dev, base, 0, &i, 1, &done), SG_OK);
		publish(dev, q, dispatch(base, 0), 1);
	}
	sg_capture_get_stats(dev, &stats);
	assert_int_equal(stats.total, 5);
	assert_int_equal(stats.retained, 3);
	assert_int_equal(stats.dropped, 2);
	assert_int_equal(stats.capacity, 3);
	assert_int_equal(sg_capture_get(dev, 1, &c), SG_NOT_FOUND);
	assert_int_equal(sg_capture_get_kernarg(dev, 1, kernarg, 16, &len), SG_NOT_FOUND);
	assert_int_equal(sg_capture_get(dev, 5, &c), SG_NOT_FOUND);
	assert_int_equal(sg_capture_get(dev, UINT64_MAX, &c), SG_NOT_FOUND);
	for (uint64_t n = 2; n < 5; n++) {
		assert_int_equal(sg_capture_get(dev, n, &c), SG_OK);
		assert_int_equal(c.number, n);
		assert_int_equal(c.desc.packet_index, n);
		assert_int_equal(sg_capture_get_kernarg(dev, n, kernarg, 16, &len), SG_OK);
		assert_int_equal(len, 16);
		assert_int_equal(kernarg[0], n);
	}
	sg_device_close(dev);
}

/* The copy is of the moment, from the address to the end of the allocation, up to the bound. */
struct kernarg_case {
	const char *name;
	uint32_t bound;
	uint64_t offset; /* of the address in an allocation of 8192 bytes */
	uint32_t len;
};

static const struct kernarg_case kernargs[] = {
	{ "kernarg copy: bound", 4096, 0, 4096 },
	{ "kernarg copy: interior", 4096, 100, 4096 },
	{ "kernarg copy: near the end", 4096, 8190, 2 },
	{ "kernarg copy: outside", 4096, 8192, 0 },
	{ "kernarg copy: larger bound", 65536, 0, 8192 },
	{ "kernarg copy: none wanted", 0, 0, 0 },
};

static void check_kernarg(void **state)
{
	const struct kernarg_case *c = *state;
	struct sg_device *dev = open_small(2, 2, c->bound);
	uint64_t q = make_queue(dev, 64, SG_MODE_SOFTGPU);
	uint64_t base = make_memory(dev, SG_SPACE_REGION_FINE_KERNARG, 8192);
	struct sg_capture capture = { .number = 9 };
	uint8_t bytes[8192];
	uint8_t got[8192];
	size_t done = 0;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7);
	assert_int_equal(sg_memory_write(dev, base, 0, bytes, sizeof(bytes), &done), SG_OK);
	publish(dev, q, dispatch(base + c->offset, 0), 1);
	memset(got, 0, sizeof(got));
	assert_int_equal(sg_memory_write(dev, base, 0, got, sizeof(got), &done), SG_OK);
	assert_int_equal(sg_memory_free(dev, base), SG_OK);
	assert_int_equal(sg_capture_get(dev, 0, &capture), SG_OK);
	assert_int_equal(capture.kernarg_len, c->len);
	assert_int_equal(sg_capture_get_kernarg(dev, 0, got, sizeof(got), &done), SG_OK);
	assert_int_equal(done, c->len);
	if (c->len)
		assert_memory_equal(got, bytes + c->offset, c->len);
	assert_int_equal(sg_capture_get_kernarg(dev, 0, got, 1, &done), SG_OK);
	assert_int_equal(done, c->len ? 1 : 0);
	sg_device_close(dev);
}

static void shutdown_clears_captures(void **state)
{
	struct world w = open_world();
	struct sg_capture c;
	struct sg_stats stats;

	(void)state;
	publish(w.dev, Q0, golden(1), 2);
	sg_device_shutdown(w.dev);
	assert_int_equal(sg_capture_get(w.dev, 0, &c), SG_NOT_INITIALIZED);
	sg_device_init(w.dev);
	sg_capture_get_stats(w.dev, &stats);
	assert_int_equal(stats.total, 0);
	assert_int_equal(sg_capture_get(w.dev, 0, &c), SG_NOT_FOUND);
	close_world(&w);
}

static void captures_are_in_processing_order(void **state)
{
	struct world w = open_world();
	uint64_t q1 = make_queue(w.dev, 64, SG_MODE_SOFTGPU);
	static const uint64_t queue_ids[] = { 2, 1, 2, 2 };
	struct sg_capture c = { .number = 9 };

	(void)state;
	publish(w.dev, q1, golden(1), 1);
	publish(w.dev, Q0, golden(1), 1);
	publish(w.dev, Q0, golden(7), 1);
	publish(w.dev, q1, golden(3), 2);
	for (uint64_t n = 0; n < COUNT(queue_ids); n++) {
		assert_int_equal(sg_capture_get(w.dev, n, &c), SG_OK);
		assert_int_equal(c.queue_id, queue_ids[n]);
	}
	assert_int_equal(sg_capture_get(w.dev, COUNT(queue_ids), &c), SG_NOT_FOUND);
	close_world(&w);
}

static void verdicts_are_bounded_per_queue(void **state)
{
	struct sg_device *dev = open_small(1, 2, 0);
	uint64_t a = make_queue(dev, 64, SG_MODE_SOFTGPU);
	uint64_t b = make_queue(dev, 64, SG_MODE_SOFTGPU);
	struct sg_verdict v = { .number = 9 };
	struct sg_stats stats = { .total = 9 };

	(void)state;
	publish(dev, a, dispatch(0, 0), 2);
	publish(dev, a, golden(4), 1);
	publish(dev, b, golden(7), 1);
	assert_int_equal(sg_verdict_get_stats(dev, a, &stats), SG_OK);
	assert_int_equal(stats.total, 3);
	assert_int_equal(stats.retained, 2);
	assert_int_equal(stats.dropped, 1);
	assert_int_equal(stats.capacity, 2);
	assert_int_equal(sg_verdict_get(dev, a, 0, &v), SG_NOT_FOUND);
	assert_int_equal(sg_verdict_get(dev, a, 3, &v), SG_NOT_FOUND);
	assert_int_equal(sg_verdict_get(dev, a, 1, &v), SG_OK);
	assert_int_equal(v.number, 1);
	assert_int_equal(v.kind, SG_VERDICT_COMPLETE);
	assert_int_equal(v.packet_index, 1);
	assert_int_equal(sg_verdict_get(dev, a, 2, &v), SG_OK);
	assert_int_equal(v.kind, SG_VERDICT_REJECTED);
	assert_int_equal(v.hsa_status, 0x1001);
	assert_int_equal(sg_verdict_get(dev, b, 0, &v), SG_OK);
	assert_int_equal(v.packet_type, 4);
	sg_queue_destroy(dev, a);
	assert_int_equal(sg_verdict_get(dev, a, 2, &v), SG_INVALID_QUEUE);
	assert_int_equal(sg_verdict_get_stats(dev, a, &stats), SG_INVALID_QUEUE);
	sg_device_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		NAMED("6 captured bytes and descriptor", capture_holds_the_packet),
		NAMED("6 replay differs in the kernarg class", replay_differs_in_the_kernarg_only),
		NAMED("6 a processed slot is still invalid", slot_is_no_capture),
		NAMED("3.6 captures are bounded", oldest_capture_is_dropped),
		cmocka_unit_test(shutdown_clears_captures),
		cmocka_unit_test(captures_are_in_processing_order),
		cmocka_unit_test(verdicts_are_bounded_per_queue),
	};

	return RUN_ROWS(captured_6, check_captured) + RUN_ROWS(kernargs, check_kernarg) +
	       cmocka_run_group_tests(tests, NULL, NULL);
}
