/* SPDX-License-Identifier: MIT */
#include "support.h"

/* aql.md 4.2: the value of S0 is 1 at the start, then STORE is stored */
struct wait_case {
	const char *name;
	uint32_t condition;
	int64_t compare;
	enum sg_outcome at_once;
	int64_t store;
	enum sg_outcome after;
};

static const struct wait_case cases[] = {
	{ "eq at once", 0, 1, SG_WAIT_SATISFIED, 5, SG_WAIT_SATISFIED },
	{ "eq later", 0, 5, SG_WAIT_PENDING, 5, SG_WAIT_SATISFIED },
	{ "eq never", 0, 6, SG_WAIT_PENDING, 5, SG_WAIT_PENDING },
	{ "ne at once", 1, 0, SG_WAIT_SATISFIED, 0, SG_WAIT_SATISFIED },
	{ "ne later", 1, 1, SG_WAIT_PENDING, 0, SG_WAIT_SATISFIED },
	{ "lt at once", 2, 2, SG_WAIT_SATISFIED, 9, SG_WAIT_SATISFIED },
	{ "lt is signed", 2, 0, SG_WAIT_PENDING, -1, SG_WAIT_SATISFIED },
	{ "lt not equal", 2, 1, SG_WAIT_PENDING, 1, SG_WAIT_PENDING },
	{ "gte at once", 3, 1, SG_WAIT_SATISFIED, 0, SG_WAIT_SATISFIED },
	{ "gte is signed", 3, 2, SG_WAIT_PENDING, INT64_MIN, SG_WAIT_PENDING },
	{ "gte later", 3, 2, SG_WAIT_PENDING, INT64_MAX, SG_WAIT_SATISFIED },
};

static void check_wait(void **state)
{
	const struct wait_case *c = *state;
	struct world w = open_world();
	struct sg_wait wait;
	int64_t value = 99;

	assert_int_equal(sg_wait_begin(w.dev, S0, c->condition, c->compare, &wait), SG_OK);
	assert_int_equal(sg_wait_check(&wait, false, &value), c->at_once);
	assert_int_equal(value, 1);
	sg_signal_store(w.dev, S0, c->store);
	assert_int_equal(sg_wait_check(&wait, false, &value), c->after);
	assert_true(value == (c->at_once == SG_WAIT_SATISFIED ? 1 : c->store));
	sg_wait_end(&wait);
	expect_types(&w, "");
	close_world(&w);
}

static void condition_out_of_range(void **state)
{
	struct world w = open_world();
	struct sg_wait wait;

	(void)state;
	assert_int_equal(sg_wait_begin(w.dev, S0, 4, 0, &wait), SG_INVALID_ARGUMENT);
	assert_int_equal(sg_wait_begin(w.dev, S0, UINT32_MAX, 0, &wait), SG_INVALID_ARGUMENT);
	close_world(&w);
}

static void timeout_zero_tests_once(void **state)
{
	struct world w = open_world();
	struct sg_wait wait;
	int64_t value = 99;

	(void)state;
	assert_int_equal(sg_wait_begin(w.dev, S0, 0, 1, &wait), SG_OK);
	assert_int_equal(sg_wait_check(&wait, true, &value), SG_WAIT_SATISFIED);
	sg_wait_end(&wait);
	assert_int_equal(sg_wait_begin(w.dev, S0, 0, 2, &wait), SG_OK);
	assert_int_equal(sg_wait_check(&wait, true, &value), SG_WAIT_TIMED_OUT);
	assert_int_equal(value, 1);
	sg_signal_store(w.dev, S0, 2); /* too late */
	assert_int_equal(sg_wait_check(&wait, false, &value), SG_WAIT_TIMED_OUT);
	assert_int_equal(value, 1);
	sg_wait_end(&wait);
	close_world(&w);
}

static void first_satisfying_store_counts(void **state)
{
	struct world w = open_world();
	struct sg_wait wait;
	int64_t value = 99;

	(void)state;
	assert_int_equal(sg_wait_begin(w.dev, S0, 2, 0, &wait), SG_OK);
	sg_signal_store(w.dev, S0, -3);
	sg_signal_store(w.dev, S0, 8);
	sg_signal_destroy(w.dev, S0);
	assert_int_equal(sg_wait_check(&wait, true, &value), SG_WAIT_SATISFIED);
	assert_int_equal(value, -3);
	sg_wait_end(&wait);
	close_world(&w);
}

static void completion_wakes(void **state)
{
	struct world w = open_world();
	struct sg_wait wait;
	int64_t value = 99;

	(void)state;
	assert_int_equal(sg_wait_begin(w.dev, S0, 2, 1, &wait), SG_OK);
	publish(w.dev, Q0, golden(1), 1);
	assert_int_equal(sg_wait_check(&wait, false, &value), SG_WAIT_SATISFIED);
	assert_int_equal(value, 0);
	sg_wait_end(&wait);
	close_world(&w);
}

static void doorbell_wakes(void **state)
{
	struct world w = open_world();
	struct sg_wait wait;
	int64_t value = 99;

	(void)state;
	assert_int_equal(sg_wait_begin(w.dev, Q0_DOORBELL, 0, 5, &wait), SG_OK);
	sg_queue_doorbell(w.dev, Q0, 5);
	assert_int_equal(sg_wait_check(&wait, false, &value), SG_WAIT_SATISFIED);
	assert_int_equal(value, 5);
	sg_wait_end(&wait);
	close_world(&w);
}

/* aql.md 4.3 */

static void destroy_cancels(void **state)
{
	struct world w = open_world();
	struct sg_wait mine;
	struct sg_wait other;
	uint64_t s = make_signal(w.dev, 3);
	int64_t value = 99;

	(void)state;
	assert_int_equal(sg_wait_begin(w.dev, S0, 0, 7, &mine), SG_OK);
	assert_int_equal(sg_wait_begin(w.dev, s, 0, 7, &other), SG_OK);
	sg_signal_store(w.dev, S0, 6);
	sg_signal_destroy(w.dev, S0);
	assert_int_equal(sg_wait_check(&mine, true, &value), SG_WAIT_CANCELLED);
	assert_int_equal(value, 6);
	assert_int_equal(sg_wait_check(&other, false, &value), SG_WAIT_PENDING);
	assert_int_equal(value, 3);
	sg_wait_end(&mine);
	sg_wait_end(&mine);
	sg_wait_end(&other);
	close_world(&w);
}

static void queue_destroy_cancels(void **state)
{
	struct world w = open_world();
	struct sg_wait wait;
	int64_t value = 99;

	(void)state;
	assert_int_equal(sg_wait_begin(w.dev, Q0_DOORBELL, 0, 5, &wait), SG_OK);
	sg_queue_destroy(w.dev, Q0);
	assert_int_equal(sg_wait_check(&wait, false, &value), SG_WAIT_CANCELLED);
	assert_int_equal(value, 0);
	sg_wait_end(&wait);
	close_world(&w);
}

static void shutdown_cancels_all(void **state)
{
	struct world w = open_world();
	struct sg_wait waits[3];
	struct sg_wait late;
	int64_t value = 99;

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(sg_wait_begin(w.dev, S0, 0, (int64_t)i, &waits[i]), SG_OK);
	sg_wait_end(&waits[0]);
	sg_device_shutdown(w.dev);
	assert_int_equal(sg_wait_begin(w.dev, S0, 0, 0, &late), SG_NOT_INITIALIZED);
	sg_device_close(w.dev);
	assert_int_equal(sg_wait_check(&waits[1], false, &value), SG_WAIT_SATISFIED);
	assert_int_equal(sg_wait_check(&waits[2], false, &value), SG_WAIT_CANCELLED);
	assert_int_equal(value, 1);
	for (unsigned int i = 0; i < 3; i++)
		sg_wait_end(&waits[i]);
}

static void any_order_of_ending(void **state)
{
	struct world w = open_world();
	struct sg_wait waits[5];
	static const unsigned int order[5] = { 2, 4, 0, 1, 3 };
	int64_t value;

	(void)state;
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(sg_wait_begin(w.dev, S0, 0, 9, &waits[i]), SG_OK);
	for (unsigned int i = 0; i < 4; i++)
		sg_wait_end(&waits[order[i]]);
	sg_signal_store(w.dev, S0, 9);
	assert_int_equal(sg_wait_check(&waits[3], false, &value), SG_WAIT_SATISFIED);
	sg_wait_end(&waits[3]);
	close_world(&w);
}

static void outcome_names(void **state)
{
	(void)state;
	assert_string_equal(sg_outcome_name(SG_WAIT_PENDING), "pending");
	assert_string_equal(sg_outcome_name(SG_WAIT_SATISFIED), "satisfied");
	assert_string_equal(sg_outcome_name(SG_WAIT_TIMED_OUT), "timed_out");
	assert_string_equal(sg_outcome_name(SG_WAIT_CANCELLED), "cancelled");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(condition_out_of_range),
		cmocka_unit_test(timeout_zero_tests_once),
		cmocka_unit_test(first_satisfying_store_counts),
		cmocka_unit_test(completion_wakes),
		cmocka_unit_test(doorbell_wakes),
		cmocka_unit_test(destroy_cancels),
		cmocka_unit_test(queue_destroy_cancels),
		cmocka_unit_test(shutdown_cancels_all),
		cmocka_unit_test(any_order_of_ending),
		cmocka_unit_test(outcome_names),
	};

	return RUN_ROWS(cases, check_wait) + cmocka_run_group_tests(tests, NULL, NULL);
}
