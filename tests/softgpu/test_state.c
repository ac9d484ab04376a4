/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <string.h>

static void names(void **state)
{
	(void)state;
	assert_string_equal(sg_state_name(SG_STATE_ACTIVE), "active");
	assert_string_equal(sg_state_name(SG_STATE_STOPPED_INVALID), "stopped-invalid");
	assert_string_equal(sg_state_name(SG_STATE_STOPPED_OVERRUN), "stopped-overrun");
	assert_string_equal(sg_state_name(SG_STATE_BLOCKED_DEP), "blocked-dep");
	assert_string_equal(sg_state_name(SG_STATE_ERROR), "error");
}

static void stopped_while_paused(void **state)
{
	struct world w = open_world();

	(void)state;
	publish(w.dev, Q0, invalid_packet(), 1);
	sg_queue_set_paused(w.dev, Q0, true);
	expect_state(w.dev, Q0, "paused\nstopped-invalid 0\n");
	close_world(&w);
}

static void blocked_and_who_is_behind(void **state)
{
	struct world w = open_world();
	uint64_t q = make_queue(w.dev, 64, SG_MODE_HSA);
	uint64_t deps[5] = { 0, S0, 0, 0, 0 };

	(void)state;
	publish(w.dev, q, barrier(3, deps, 0), 1);
	expect_state(w.dev, q, "blocked-dep 0 0x0400000800000001\n");
	publish(w.dev, q, invalid_packet(), 1);
	expect_state(w.dev, q, "blocked-dep 0 0x0400000800000001\n");
	ring_put(w.dev, q, 1, dispatch(0, 0));
	expect_state(w.dev, q, "blocked-dep 0 0x0400000800000001\nblocked-barrier 1\n");
	sg_signal_store(w.dev, S0, 0);
	expect_state(w.dev, q, "active\n");
	close_world(&w);
}

static void error_line(void **state)
{
	struct world w = open_world();
	uint64_t q = make_queue(w.dev, 64, SG_MODE_HSA);

	(void)state;
	publish(w.dev, q, dispatch(0, 0), 9);
	publish(w.dev, q, agent_packet(), 1);
	expect_state(w.dev, q, "error 0x1009 9\n");
	close_world(&w);
}

static void counters(void **state)
{
	struct world w = open_world();

	(void)state;
	sg_queue_store_write_index(w.dev, Q0, 65);
	sg_queue_store_write_index(w.dev, Q0, 66);
	sg_queue_store_write_index(w.dev, Q0, 0);
	sg_queue_count_short(w.dev, Q0);
	sg_queue_count_short(w.dev, Q0);
	sg_queue_count_short(w.dev, Q0);
	expect_state(w.dev, Q0, "active\noverrun 2\nindex-back 1\nshort-packet 3\n");
	expect_types(&w, "queue_index_store,queue_index_store,queue_index_store");
	close_world(&w);
}

static void stale_queue(void **state)
{
	struct world w = open_world();
	char text[SG_STATE_MAX] = "kept";
	size_t len = 5;

	(void)state;
	sg_queue_destroy(w.dev, Q0);
	assert_int_equal(sg_queue_state_text(w.dev, Q0, text, sizeof(text), &len),
			 SG_INVALID_QUEUE);
	assert_int_equal(sg_queue_count_short(w.dev, Q0), SG_INVALID_QUEUE);
	assert_string_equal(text, "kept");
	assert_int_equal(len, 5);
	close_world(&w);
}

/* paused, blocked-dep, blocked-barrier and three counters with 20 digits each */
static void longest_text_fits(void **state)
{
	static const char longest[] = "paused\n"
				      "blocked-dep 18446744073709551615 0x0400000800000001\n"
				      "blocked-barrier 18446744073709551615\n"
				      "overrun 18446744073709551615\n"
				      "index-back 18446744073709551615\n"
				      "short-packet 18446744073709551615\n";

	(void)state;
	assert_true(sizeof(longest) <= SG_STATE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(stopped_while_paused),
		cmocka_unit_test(blocked_and_who_is_behind),
		cmocka_unit_test(error_line),
		cmocka_unit_test(counters),
		cmocka_unit_test(stale_queue),
		cmocka_unit_test(longest_text_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
