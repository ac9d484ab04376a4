/* SPDX-License-Identifier: MIT */
#include "support.h"

/* aql.md 4.1: the handles of a fresh runtime */
static void fresh_handles(void **state)
{
	struct world w = open_world();
	struct sg_device_info info;
	struct sg_space_info space;
	static const uint64_t spaces[SG_SPACE_COUNT] = {
		UINT64_C(0x0200000200000000),
		UINT64_C(0x0200000300000001),
		UINT64_C(0x0300000400000000),
		UINT64_C(0x0300000500000001),
	};

	(void)state;
	sg_device_get_info(w.dev, &info);
	assert_true(info.agent == UINT64_C(0x0100000100000000));
	for (unsigned int i = 0; i < SG_SPACE_COUNT; i++) {
		sg_space_get_info(w.dev, (enum sg_space)i, &space);
		assert_true(space.handle == spaces[i]);
	}
	assert_true(queue_info(w.dev, w.queue).doorbell == UINT64_C(0x0400000600000000));
	assert_true(w.queue == UINT64_C(0x0500000700000000));
	assert_true(w.signal == UINT64_C(0x0400000800000001));
	close_world(&w);
}

static void generations_and_indexes(void **state)
{
	struct sg_device *dev = open_device();

	(void)state;
	assert_true(make_signal(dev, 0) == UINT64_C(0x0400000600000000));
	assert_int_equal(sg_signal_destroy(dev, UINT64_C(0x0400000600000000)), SG_OK); /* burns 7 */
	assert_true(make_signal(dev, 0) == UINT64_C(0x0400000800000001)); /* index goes on */
	sg_device_shutdown(dev);
	sg_device_init(dev); /* takes 9 to 13; the tables start afresh */
	assert_true(make_signal(dev, 0) == UINT64_C(0x0400000E00000000));
	sg_device_close(dev);
}

static void generation_wraps(void **state)
{
	struct sg_device *dev = open_device();
	uint64_t handle = 0;

	(void)state;
	/* 5 are taken by the device, each round takes two: 6..7, 8..9, ... up to 0xFFFFFE, 0xFFFFFF */
	for (uint32_t i = 6; i < 0xFFFFFF; i += 2) {
		assert_int_equal(sg_signal_create(dev, 0, &handle), SG_OK);
		assert_int_equal(sg_signal_destroy(dev, handle), SG_OK);
	}
	assert_true((handle >> 32) == 0x04FFFFFE);
	assert_int_equal(sg_signal_create(dev, 0, &handle), SG_OK);
	assert_true((handle >> 32) == 0x04000001);
	sg_device_close(dev);
}

struct handle_case {
	const char *name;
	uint64_t handle;
};

static const struct handle_case bad_handles[] = {
	{ "4.1 zero", 0 },
	{ "4.1 index out of range", UINT64_C(0x0400000800000002) },
	{ "4.1 index 2^32 - 1", UINT64_C(0x04000008FFFFFFFF) },
	{ "4.1 generation below", UINT64_C(0x0400000700000001) },
	{ "4.1 generation above", UINT64_C(0x0400000900000001) },
	{ "4.1 kind queue", UINT64_C(0x0500000700000000) },
	{ "4.1 kind agent", UINT64_C(0x0100000100000000) },
	{ "4.1 no kind", UINT64_C(0x0000000800000001) },
	{ "4.1 all ones", UINT64_MAX },
};

static void check_bad_handle(void **state)
{
	const struct handle_case *c = *state;
	struct world w = open_world();
	struct sg_signal_info info;
	struct sg_wait wait;
	size_t total;

	assert_int_equal(sg_signal_get_info(w.dev, c->handle, &info), SG_INVALID_SIGNAL);
	assert_int_equal(sg_signal_store(w.dev, c->handle, 0), SG_INVALID_SIGNAL);
	assert_int_equal(sg_signal_destroy(w.dev, c->handle), SG_INVALID_SIGNAL);
	assert_int_equal(sg_signal_users(w.dev, c->handle, NULL, 0, &total), SG_INVALID_SIGNAL);
	assert_int_equal(sg_wait_begin(w.dev, c->handle, 0, 0, &wait), SG_INVALID_SIGNAL);
	expect_types(&w, "");
	assert_int_equal(signal_value(w.dev, S0), 1);
	close_world(&w);
}

static void plain_values(void **state)
{
	static const char *const lines[] = {
		"{\"type\":\"signal_create\",\"seq\":5,\"signal_handle\":288230414806417410,"
		"\"initial\":-9223372036854775808}",
		"{\"type\":\"signal_destroy\",\"seq\":6,\"signal_handle\":288230414806417410}",
		NULL,
	};
	struct world w = open_world();
	struct sg_signal_info info = { .value = 0 };
	uint64_t s = make_signal(w.dev, INT64_MIN);

	(void)state;
	assert_int_equal(sg_signal_get_info(w.dev, s, &info), SG_OK);
	assert_true(info.handle == s);
	assert_true(info.value == INT64_MIN);
	assert_false(info.doorbell);
	assert_int_equal(info.queue_id, 0);
	assert_int_equal(sg_signal_store(w.dev, s, INT64_MAX), SG_OK);
	assert_true(signal_value(w.dev, s) == INT64_MAX);
	assert_int_equal(sg_signal_destroy(w.dev, s), SG_OK);
	assert_int_equal(sg_signal_get_info(w.dev, s, &info), SG_INVALID_SIGNAL);
	expect_lines(&w, lines);
	close_world(&w);
}

static void doorbells_are_signals(void **state)
{
	struct world w = open_world();
	struct sg_signal_info info = { .value = 9 };

	(void)state;
	assert_int_equal(sg_signal_get_info(w.dev, Q0_DOORBELL, &info), SG_OK);
	assert_true(info.doorbell);
	assert_int_equal(info.queue_id, 1);
	assert_int_equal(info.value, 0);
	assert_int_equal(sg_signal_destroy(w.dev, Q0_DOORBELL), SG_INVALID_ARGUMENT);
	expect_types(&w, "");
	close_world(&w);
}

static void bounded(void **state)
{
	struct sg_config config;
	struct sg_device *dev;
	uint64_t s[3];
	uint64_t extra;

	(void)state;
	sg_config_default(&config);
	config.max_signals = 3;
	assert_int_equal(sg_device_open(&config, &dev), SG_OK);
	for (unsigned int i = 0; i < 3; i++)
		s[i] = make_signal(dev, i);
	assert_int_equal(sg_signal_create(dev, 0, &extra), SG_OUT_OF_RESOURCES);
	make_queue(dev, 64, SG_MODE_SOFTGPU); /* doorbells have room of their own */
	assert_int_equal(sg_signal_create(dev, 0, &extra), SG_OUT_OF_RESOURCES);
	assert_int_equal(sg_signal_destroy(dev, s[1]), SG_OK);
	assert_int_equal(sg_signal_create(dev, 5, &extra), SG_OK);
	assert_int_equal(signal_value(dev, s[0]), 0);
	assert_int_equal(signal_value(dev, s[2]), 2);
	assert_int_equal(signal_value(dev, extra), 5);
	sg_device_close(dev);
}

static void users(void **state)
{
	struct world w = open_world();
	uint64_t hsa = make_queue(w.dev, 64, SG_MODE_HSA);
	uint64_t deps[5] = { 0, 0, S0, 0, 0 };
	struct sg_signal_user u[8];
	size_t total = 0;

	(void)state;
	sg_queue_set_paused(w.dev, Q0, true);
	publish(w.dev, Q0, dispatch(0, S0), 1);
	publish(w.dev, Q0, dispatch(0, 0), 1);
	publish(w.dev, Q0, agent_packet(), 1);
	publish(w.dev, Q0, barrier(5, deps, S0), 1);
	publish(w.dev, hsa, barrier(3, deps, 0), 1);
	publish(w.dev, hsa, barrier_value(S0, 0, 1, 0, 0), 1);
	assert_int_equal(sg_signal_users(w.dev, S0, u, 8, &total), SG_OK);
	assert_int_equal(total, 5);
	assert_int_equal(u[0].queue_id, 1);
	assert_int_equal(u[0].packet_index, 0);
	assert_int_equal(u[0].packet_type, 2);
	assert_int_equal(u[0].role, SG_ROLE_COMPLETION);
	assert_int_equal(u[1].packet_index, 3);
	assert_int_equal(u[1].role, SG_ROLE_COMPLETION);
	assert_int_equal(u[2].packet_index, 3);
	assert_int_equal(u[2].role, SG_ROLE_DEPENDENCY);
	assert_int_equal(u[3].queue_id, 2);
	assert_int_equal(u[3].packet_index, 0);
	assert_int_equal(u[3].role, SG_ROLE_DEPENDENCY);
	assert_int_equal(u[4].packet_index, 1);
	assert_int_equal(u[4].packet_type, 0);
	assert_int_equal(sg_signal_users(w.dev, S0, u, 2, &total), SG_OK);
	assert_int_equal(total, 5);
	sg_queue_store_write_index(w.dev, hsa, 0); /* the held packet stays */
	sg_queue_set_paused(w.dev, Q0, false);
	assert_int_equal(sg_signal_users(w.dev, S0, u, 8, &total), SG_OK);
	assert_int_equal(total, 0); /* Q0's packets stored 0, which freed the barrier */
	close_world(&w);
}

static void users_of_an_overrun_ring(void **state)
{
	struct world w = open_world();
	size_t total = 0;

	(void)state;
	for (unsigned int i = 0; i < 64; i++)
		ring_put(w.dev, Q0, i, dispatch(0, S0));
	sg_queue_store_write_index(w.dev, Q0, UINT64_MAX);
	assert_int_equal(sg_signal_users(w.dev, S0, NULL, 0, &total), SG_OK);
	assert_int_equal(total, 64);
	close_world(&w);
}

static void users_when_write_index_went_back(void **state)
{
	struct world w = open_world();
	uint64_t hsa = make_queue(w.dev, 64, SG_MODE_HSA);
	uint64_t deps[5] = { S0, 0, 0, 0, 0 };
	size_t total = 0;

	(void)state;
	publish(w.dev, hsa, barrier(3, deps, 0), 1);
	sg_queue_store_write_index(w.dev, hsa, 0);
	assert_int_equal(queue_info(w.dev, hsa).pending, 1);
	assert_int_equal(sg_signal_users(w.dev, S0, NULL, 0, &total), SG_OK);
	assert_int_equal(total, 1);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		NAMED("4.1 handles of a fresh runtime", fresh_handles),
		NAMED("4.1 generations and indexes", generations_and_indexes),
		NAMED("4.1 generation after 0xFFFFFF", generation_wraps),
		NAMED("4.2 plain signal", plain_values),
		NAMED("4.2 doorbell", doorbells_are_signals),
		cmocka_unit_test(bounded),
		cmocka_unit_test(users),
		cmocka_unit_test(users_of_an_overrun_ring),
		cmocka_unit_test(users_when_write_index_went_back),
	};

	return RUN_ROWS(bad_handles, check_bad_handle) + cmocka_run_group_tests(tests, NULL, NULL);
}
