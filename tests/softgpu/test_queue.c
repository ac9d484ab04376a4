/* SPDX-License-Identifier: MIT */
#include "support.h"

/* aql.md 3.1 */
struct create_case {
	const char *name;
	uint64_t agent;
	uint32_t size;
	uint32_t type;
	enum sg_status status;
};

static const struct create_case creations_3_1[] = {
	{ "3.1 size 64", AGENT, 64, 0, SG_OK },
	{ "3.1 size 16384", AGENT, 16384, 0, SG_OK },
	{ "3.1 size 0", AGENT, 0, 0, SG_INVALID_ARGUMENT },
	{ "3.1 size 32", AGENT, 32, 0, SG_INVALID_ARGUMENT },
	{ "3.1 size 65", AGENT, 65, 0, SG_INVALID_ARGUMENT },
	{ "3.1 size 96", AGENT, 96, 0, SG_INVALID_ARGUMENT },
	{ "3.1 size 32768", AGENT, 32768, 0, SG_INVALID_ARGUMENT },
	{ "3.1 size 2^31", AGENT, UINT32_C(1) << 31, 0, SG_INVALID_ARGUMENT },
	{ "3.1 type single", AGENT, 64, 1, SG_OK },
	{ "3.1 type cooperative", AGENT, 64, 2, SG_INVALID_QUEUE_CREATION },
	{ "3.1 type 2^32 - 1", AGENT, 64, UINT32_MAX, SG_INVALID_QUEUE_CREATION },
	{ "3.1 agent forged", AGENT + 1, 64, 0, SG_INVALID_AGENT },
	{ "3.1 order: agent before size", 0, 63, 2, SG_INVALID_AGENT },
	{ "3.1 order: size before type", AGENT, 63, 2, SG_INVALID_ARGUMENT },
};

static void check_create(void **state)
{
	const struct create_case *c = *state;
	struct sg_device *dev = open_device();
	uint64_t queue = 0;

	assert_int_equal(sg_queue_create(dev, c->agent, c->size, c->type, &queue), c->status);
	assert_int_equal(queue != 0, c->status == SG_OK);
	if (c->status == SG_OK) {
		struct sg_queue_info info = queue_info(dev, queue);

		assert_int_equal(info.size, c->size);
		assert_int_equal(info.type, c->type);
		assert_int_equal(info.features, 1);
	}
	sg_device_close(dev);
}

static void order_starts_with_not_initialized(void **state)
{
	struct sg_device *dev = open_device();
	uint64_t queue;

	(void)state;
	sg_device_shutdown(dev);
	assert_int_equal(sg_queue_create(dev, 0, 63, 2, &queue), SG_NOT_INITIALIZED);
	sg_device_close(dev);
}

static void sixty_four_live(void **state)
{
	struct sg_device *dev = open_device();
	uint64_t queues[64];
	uint64_t extra = 0;

	(void)state;
	for (unsigned int i = 0; i < 64; i++)
		queues[i] = make_queue(dev, 64, SG_MODE_SOFTGPU);
	assert_int_equal(sg_queue_create(dev, AGENT, 64, 0, &extra), SG_OUT_OF_RESOURCES);
	assert_int_equal(sg_queue_create(dev, AGENT, 64, 2, &extra), SG_INVALID_QUEUE_CREATION);
	assert_int_equal(sg_queue_destroy(dev, queues[10]), SG_OK);
	assert_int_equal(sg_queue_create(dev, AGENT, 64, 0, &extra), SG_OK);
	assert_int_equal(queue_info(dev, extra).id, 65);
	sg_device_close(dev);
}

static void ids_are_never_reused(void **state)
{
	struct sg_device *dev = open_device();
	uint64_t q = make_queue(dev, 64, SG_MODE_SOFTGPU);

	(void)state;
	assert_int_equal(queue_info(dev, q).id, 1);
	sg_queue_destroy(dev, q);
	q = make_queue(dev, 64, SG_MODE_SOFTGPU);
	assert_int_equal(queue_info(dev, q).id, 2);
	sg_device_shutdown(dev);
	sg_device_init(dev);
	q = make_queue(dev, 64, SG_MODE_SOFTGPU);
	assert_int_equal(queue_info(dev, q).id, 3);
	assert_true(queue_info(dev, q).base_address == 0x200000300000);
	sg_device_close(dev);
}

static void fresh_ring_and_indexes(void **state)
{
	struct world w = open_world();
	struct sg_queue_info info = queue_info(w.dev, Q0);
	static const uint8_t zeros[63];

	(void)state;
	for (uint32_t i = 0; i < 64; i++) {
		struct sg_slot slot = slot_of(w.dev, Q0, i);

		assert_int_equal(slot.bytes[0], 1);
		assert_memory_equal(slot.bytes + 1, zeros, 63);
		assert_false(slot.used);
	}
	assert_int_equal(info.write_index, 0);
	assert_int_equal(info.read_index, 0);
	assert_int_equal(info.observed_through, 0);
	assert_int_equal(info.free_slots, 64);
	assert_true(info.handle == Q0);
	assert_true(info.doorbell == Q0_DOORBELL);
	assert_true(info.base_address == 0x200000100000);
	close_world(&w);
}

/* aql.md 3.2 */

static void store_write_index(void **state)
{
	static const char *const lines[] = {
		"{\"type\":\"queue_index_store\",\"seq\":5,\"queue_id\":1,\"which\":\"write\","
		"\"value\":18446744073709551615}",
		"{\"type\":\"queue_index_store\",\"seq\":6,\"queue_id\":1,\"which\":\"write\","
		"\"value\":3}",
		NULL,
	};
	struct world w = open_world();

	(void)state;
	assert_int_equal(sg_queue_store_write_index(w.dev, Q0, UINT64_MAX), SG_OK);
	assert_int_equal(sg_queue_store_write_index(w.dev, Q0, 3), SG_OK);
	expect_lines(&w, lines);
	assert_int_equal(queue_info(w.dev, Q0).write_index, 3);
	assert_int_equal(queue_info(w.dev, Q0).index_back, 1);
	assert_int_equal(queue_info(w.dev, Q0).overruns, 1);
	close_world(&w);
}

static void store_read_index(void **state)
{
	static const char *const lines[] = {
		"{\"type\":\"queue_index_store\",\"seq\":5,\"queue_id\":1,\"which\":\"read\","
		"\"value\":9}",
		NULL,
	};
	struct world w = open_world();

	(void)state;
	assert_int_equal(sg_queue_store_read_index(w.dev, Q0, 9), SG_OK);
	expect_lines(&w, lines);
	assert_int_equal(queue_info(w.dev, Q0).read_index, 9);
	close_world(&w);
}

static void loads_are_silent(void **state)
{
	struct world w = open_world();

	(void)state;
	queue_info(w.dev, Q0);
	slot_of(w.dev, Q0, 0);
	signal_value(w.dev, S0);
	expect_types(&w, "");
	close_world(&w);
}

static void doorbell_store(void **state)
{
	static const char *const lines[] = {
		"{\"type\":\"queue_doorbell\",\"seq\":5,\"queue_id\":1,\"value\":-"
		"9223372036854775808}",
		"{\"type\":\"queue_doorbell\",\"seq\":6,\"queue_id\":1,\"value\":7}",
		NULL,
	};
	struct world w = open_world();

	(void)state;
	assert_int_equal(sg_queue_doorbell(w.dev, Q0, INT64_MIN), SG_OK);
	assert_int_equal(sg_signal_store(w.dev, Q0_DOORBELL, 7), SG_OK);
	expect_lines(&w, lines);
	assert_int_equal(queue_info(w.dev, Q0).doorbell_value, 7);
	assert_int_equal(queue_info(w.dev, Q0).doorbell_count, 2);
	assert_int_equal(signal_value(w.dev, Q0_DOORBELL), 7);
	close_world(&w);
}

/* SoftGPU has no add; ours is the one for several producers, and traced as the store it is. */
static void reserve_is_the_only_add(void **state)
{
	static const char *const lines[] = {
		"{\"type\":\"queue_index_store\",\"seq\":5,\"queue_id\":1,\"which\":\"write\","
		"\"value\":3}",
		"{\"type\":\"queue_index_store\",\"seq\":6,\"queue_id\":1,\"which\":\"write\","
		"\"value\":8}",
		NULL,
	};
	struct world w = open_world();
	uint64_t old = 99;

	(void)state;
	assert_int_equal(sg_queue_reserve(w.dev, Q0, 3, &old), SG_OK);
	assert_int_equal(old, 0);
	assert_int_equal(sg_queue_reserve(w.dev, Q0, 5, &old), SG_OK);
	assert_int_equal(old, 3);
	assert_int_equal(sg_queue_reserve(w.dev, Q0, UINT64_MAX - 7, &old), SG_INVALID_ARGUMENT);
	assert_int_equal(old, 3);
	expect_lines(&w, lines);
	assert_int_equal(queue_info(w.dev, Q0).write_index, 8);
	close_world(&w);
}

/* Destroy, aql.md 3.4 and 4.1 */

static void destroy(void **state)
{
	struct world w = open_world();
	struct sg_queue_info info;
	size_t done;

	(void)state;
	ring_put(w.dev, Q0, 0, golden(1));
	sg_queue_store_write_index(w.dev, Q0, 1);
	forget_events(&w);
	assert_int_equal(sg_queue_destroy(w.dev, Q0), SG_OK);
	expect_types(&w, "queue_destroy");
	assert_int_equal(signal_value(w.dev, S0), 1); /* the packet vanished */
	assert_int_equal(sg_queue_destroy(w.dev, Q0), SG_INVALID_QUEUE);
	assert_int_equal(sg_queue_get_info(w.dev, Q0, &info), SG_INVALID_QUEUE);
	assert_int_equal(sg_queue_doorbell(w.dev, Q0, 0), SG_INVALID_QUEUE);
	assert_int_equal(sg_queue_ring_read(w.dev, Q0, 0, NULL, 0, &done), SG_INVALID_QUEUE);
	assert_int_equal(sg_signal_store(w.dev, Q0_DOORBELL, 0), SG_INVALID_SIGNAL);
	/* generations: 8 was S0, 9 and 10 are burned */
	assert_true(make_queue(w.dev, 64, SG_MODE_SOFTGPU) == UINT64_C(0x0500000C00000001));
	close_world(&w);
}

/* Every call on a queue that is gone, then on a device that is shut down. */
static void refuse_all(struct sg_device *dev, enum sg_status status)
{
	struct packet p = golden(1);
	char text[SG_STATE_MAX];
	struct sg_queue_info info;
	struct sg_slot slot;
	struct sg_verdict verdict;
	struct sg_stats stats;
	uint64_t old;
	size_t n;

	assert_int_equal(sg_queue_destroy(dev, Q0), status);
	assert_int_equal(sg_queue_get_info(dev, Q0, &info), status);
	assert_int_equal(sg_queue_state_text(dev, Q0, text, sizeof(text), &n), status);
	assert_int_equal(sg_queue_set_mode(dev, Q0, SG_MODE_HSA), status);
	assert_int_equal(sg_queue_set_paused(dev, Q0, true), status);
	assert_int_equal(sg_queue_store_write_index(dev, Q0, 1), status);
	assert_int_equal(sg_queue_store_read_index(dev, Q0, 1), status);
	assert_int_equal(sg_queue_reserve(dev, Q0, 1, &old), status);
	assert_int_equal(sg_queue_doorbell(dev, Q0, 1), status);
	assert_int_equal(sg_queue_ring_read(dev, Q0, 0, p.bytes, 1, &n), status);
	assert_int_equal(sg_queue_ring_write(dev, Q0, 0, p.bytes, 1, &n), status);
	assert_int_equal(sg_queue_publish(dev, Q0, p.bytes, 1, &n), status);
	assert_int_equal(sg_queue_count_short(dev, Q0), status);
	assert_int_equal(sg_queue_get_slot(dev, Q0, 0, &slot), status);
	assert_int_equal(sg_verdict_get_stats(dev, Q0, &stats), status);
	assert_int_equal(sg_verdict_get(dev, Q0, 0, &verdict), status);
}

static void stale_handle_is_refused_everywhere(void **state)
{
	struct world w = open_world();

	(void)state;
	sg_queue_destroy(w.dev, Q0);
	make_queue(w.dev, 64, SG_MODE_SOFTGPU);
	forget_events(&w);
	refuse_all(w.dev, SG_INVALID_QUEUE);
	expect_types(&w, "");
	sg_device_shutdown(w.dev);
	forget_events(&w);
	refuse_all(w.dev, SG_NOT_INITIALIZED);
	expect_types(&w, "");
	close_world(&w);
}

/* The ring as bytes, aql.md 10.3 */
static const struct window_case windows[] = {
	{ "ring: all", 0, 4096, 4096, SG_OK, 4096 },
	{ "ring: one byte in the middle", 2000, 1, 1, SG_OK, 1 },
	{ "ring: crossing the end", 4095, 10, 1, SG_OK, 1 },
	{ "ring: at the end", 4096, 1, 0, SG_INVALID_ALLOCATION, 0 },
	{ "ring: past the end", 5000, 1, 0, SG_INVALID_ALLOCATION, 0 },
	{ "ring: far past the end", UINT64_MAX, 4096, 0, SG_INVALID_ALLOCATION, 0 },
	{ "ring: nothing", 10, 0, 0, SG_OK, 0 },
	{ "ring: nothing past the end", 5000, 0, 0, SG_OK, 0 },
};

static void check_window(void **state)
{
	struct world w = open_world();

	expect_window(w.dev, Q0, sg_queue_ring_write, sg_queue_ring_read, *state);
	expect_types(&w, "");
	close_world(&w);
}

/* Publishing */

static void publish_in_rounds(void **state)
{
	struct world w = open_world();

	(void)state;
	assert_int_equal(publish(w.dev, Q0, dispatch(0, 0), 200), 200);
	assert_int_equal(queue_info(w.dev, Q0).write_index, 200);
	assert_int_equal(queue_info(w.dev, Q0).read_index, 200);
	assert_int_equal(queue_info(w.dev, Q0).doorbell_count, 4);
	assert_int_equal(queue_info(w.dev, Q0).doorbell_value, 199);
	assert_int_equal(queue_info(w.dev, Q0).free_slots, 64);
	close_world(&w);
}

static void publish_order_of_events(void **state)
{
	struct world w = open_world();

	(void)state;
	publish(w.dev, Q0, golden(7), 2);
	expect_types(&w, "queue_index_store,queue_doorbell,packet_observed,dispatch_rejected,"
			 "packet_observed,dispatch_rejected");
	close_world(&w);
}

static void publish_to_a_full_ring(void **state)
{
	struct world w = open_world();
	struct packet p = golden(1);
	size_t accepted = 99;

	(void)state;
	sg_queue_set_paused(w.dev, Q0, true);
	assert_int_equal(publish(w.dev, Q0, p, 100), 64);
	assert_int_equal(queue_info(w.dev, Q0).free_slots, 0);
	assert_int_equal(queue_info(w.dev, Q0).pending, 64);
	assert_int_equal(sg_queue_publish(w.dev, Q0, p.bytes, 1, &accepted), SG_QUEUE_FULL);
	assert_int_equal(accepted, 99);
	assert_int_equal(sg_queue_publish(w.dev, Q0, p.bytes, 0, &accepted), SG_OK);
	assert_int_equal(accepted, 0);
	sg_queue_set_paused(w.dev, Q0, false);
	assert_int_equal(publish(w.dev, Q0, p, 1), 1);
	close_world(&w);
}

static void publish_behind_an_invalid_slot(void **state)
{
	struct world w = open_world();

	(void)state;
	assert_int_equal(publish(w.dev, Q0, invalid_packet(), 1), 1);
	assert_int_equal(publish(w.dev, Q0, golden(1), 100), 63);
	expect_state(w.dev, Q0, "stopped-invalid 0\n");
	close_world(&w);
}

static void publish_never_wraps(void **state)
{
	struct world w = open_world();
	struct packet p = golden(1);
	size_t accepted = 0;

	(void)state;
	sg_queue_store_write_index(w.dev, Q0, UINT64_MAX);
	sg_queue_store_read_index(w.dev, Q0, UINT64_MAX);
	assert_int_equal(sg_queue_publish(w.dev, Q0, p.bytes, 1, &accepted), SG_QUEUE_FULL);
	assert_true(queue_info(w.dev, Q0).write_index == UINT64_MAX);
	close_world(&w);
}

static void free_slots_count_what_is_unread(void **state)
{
	struct world w = open_world();

	(void)state;
	sg_queue_set_paused(w.dev, Q0, true);
	publish(w.dev, Q0, golden(1), 10);
	assert_int_equal(queue_info(w.dev, Q0).free_slots, 54);
	sg_queue_store_read_index(w.dev, Q0, 10); /* a lie: nothing is processed yet */
	assert_int_equal(queue_info(w.dev, Q0).free_slots, 54);
	sg_queue_set_paused(w.dev, Q0, false);
	assert_int_equal(queue_info(w.dev, Q0).free_slots, 64);
	sg_queue_store_read_index(w.dev, Q0, 3);
	assert_int_equal(queue_info(w.dev, Q0).free_slots, 57);
	sg_queue_store_write_index(w.dev, Q0, 500);
	assert_int_equal(queue_info(w.dev, Q0).free_slots, 0);
	close_world(&w);
}

static void slots_know_their_id(void **state)
{
	struct world w = open_world();
	struct sg_slot slot = { .slot = 0 };

	(void)state;
	publish(w.dev, Q0, dispatch(0, 0), 66);
	sg_queue_set_paused(w.dev, Q0, true);
	publish(w.dev, Q0, dispatch(0, 0), 1);
	slot = slot_of(w.dev, Q0, 1);
	assert_true(slot.used);
	assert_int_equal(slot.id, 65);
	assert_false(slot.pending);
	slot = slot_of(w.dev, Q0, 2);
	assert_int_equal(slot.id, 66);
	assert_true(slot.pending);
	assert_int_equal(slot.bytes[0], 2);
	slot = slot_of(w.dev, Q0, 3);
	assert_int_equal(slot.id, 3);
	assert_false(slot.pending);
	assert_int_equal(sg_queue_get_slot(w.dev, Q0, 64, &slot), SG_INVALID_ARGUMENT);
	close_world(&w);
}

static void mode_is_fixed_by_the_first_packet(void **state)
{
	struct world w = open_world();

	(void)state;
	assert_int_equal(sg_queue_set_mode(w.dev, Q0, SG_MODE_HSA), SG_OK);
	assert_int_equal(sg_queue_set_mode(w.dev, Q0, (enum sg_mode)7), SG_INVALID_ARGUMENT);
	assert_int_equal(queue_info(w.dev, Q0).mode, SG_MODE_HSA);
	publish(w.dev, Q0, dispatch(0, 0), 1);
	assert_int_equal(sg_queue_set_mode(w.dev, Q0, SG_MODE_SOFTGPU), SG_BUSY);
	sg_queue_store_write_index(w.dev, Q0, 0);
	assert_int_equal(sg_queue_set_mode(w.dev, Q0, SG_MODE_SOFTGPU), SG_BUSY);
	close_world(&w);
}

static void wrap_around(void **state)
{
	struct world w = open_world();

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		struct packet p = dispatch(0, 0);
		struct sg_capture c = { .number = 0 };

		p = with(p, 32, 8, i);
		publish(w.dev, Q0, p, 1);
		assert_int_equal(sg_capture_get(w.dev, i, &c), SG_OK);
		assert_int_equal(c.desc.kernel_object, i);
		assert_int_equal(c.desc.packet_index, i);
	}
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest rules_3_1[] = {
		NAMED("3.1 order: not initialized first", order_starts_with_not_initialized),
		NAMED("3.1 live queues", sixty_four_live),
		NAMED("3.1 ids", ids_are_never_reused),
		NAMED("3.1 ring and indexes", fresh_ring_and_indexes),
	};
	const struct CMUnitTest operations_3_2[] = {
		NAMED("3.2 store write_index", store_write_index),
		NAMED("3.2 store read_index", store_read_index),
		NAMED("3.2 loads", loads_are_silent),
		NAMED("3.2 store to doorbell", doorbell_store),
		NAMED("3.2 add, compare-and-swap, inactivate, soft queue", reserve_is_the_only_add),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(destroy),
		cmocka_unit_test(stale_handle_is_refused_everywhere),
		cmocka_unit_test(publish_in_rounds),
		cmocka_unit_test(publish_order_of_events),
		cmocka_unit_test(publish_to_a_full_ring),
		cmocka_unit_test(publish_behind_an_invalid_slot),
		cmocka_unit_test(publish_never_wraps),
		cmocka_unit_test(free_slots_count_what_is_unread),
		cmocka_unit_test(slots_know_their_id),
		cmocka_unit_test(mode_is_fixed_by_the_first_packet),
		cmocka_unit_test(wrap_around),
	};

	return RUN_ROWS(creations_3_1, check_create) +
	       cmocka_run_group_tests(rules_3_1, NULL, NULL) +
	       cmocka_run_group_tests(operations_3_2, NULL, NULL) +
	       RUN_ROWS(windows, check_window) + cmocka_run_group_tests(tests, NULL, NULL);
}
