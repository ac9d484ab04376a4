/* SPDX-License-Identifier: MIT */
#include "model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Random calls, the same to the library and to the model. After each one every trace line, queue
 * and signal must agree; now and then all bytes, verdicts and captures as well. SG_MODEL_OPS and
 * SG_MODEL_SEED choose another length and another run.
 */

#define OPS_DEFAULT 1000000u
#define SEED_DEFAULT UINT64_C(0x5eed)

/* Random choices; xorshift64* */

static uint64_t rng;

static uint64_t rnd(uint64_t below)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return (rng * UINT64_C(2685821657736338717) >> 16) % below;
}

#define PICK(...)                                                                                  \
	((const uint64_t[]){ __VA_ARGS__ })[rnd(sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)]

static struct m_queue *any_queue(void)
{
	return &m.queues[rnd(m.queue_count)];
}

static uint64_t stale;

static uint64_t any_signal(void)
{
	if (m.signal_count == 0 || rnd(8) == 0)
		return PICK(0, 0, stale, m.region);
	return m.signals[rnd(m.signal_count)].handle;
}

static uint64_t any_address(void)
{
	uint64_t base = m.memory_count ? m.memories[rnd(m.memory_count)].base : 64;

	return PICK(0, base, base, base + 8, 0x1234);
}

static struct packet random_dispatch(void)
{
	struct packet p = dispatch(any_address(), any_signal());

	p = with(p, 0, 2, PICK(2, 0x102, 0x1402));
	p = with(p, 32, 8, rnd(UINT64_MAX));
	if (rnd(3) == 0) {
		p = with(p, 2, 2, rnd(6));
		for (unsigned int i = 0; i < 3; i++) {
			p = with(p, 4 + 2 * i, 2, PICK(1, 1, 1, 1, 2, 0));
			p = with(p, 12 + 4 * i, 4, PICK(1, 1, 1, 2, 2, 0));
		}
	}
	return p;
}

static struct packet random_packet(void)
{
	uint64_t deps[5] = { 0 };

	switch (rnd(16)) {
	case 0:
		return invalid_packet();
	case 1:
		return agent_packet();
	case 2:
		return with(random_dispatch(), 0, 1, rnd(256));
	case 3:
	case 4:
	case 5:
		for (unsigned int i = 0; i < 5; i++)
			deps[i] = rnd(2) ? 0 : any_signal();
		return barrier((uint8_t)PICK(3, 3, 5), deps, any_signal());
	case 6:
		return barrier_value(any_signal(), (int64_t)rnd(3) - 1,
				     (int64_t)PICK(1, 3, UINT64_MAX), (uint32_t)rnd(5),
				     any_signal());
	default:
		return random_dispatch();
	}
}

/* One call each, made on both */

static struct sg_device *dev;
static struct sg_wait wait_real;

static void op_publish(void)
{
	struct m_queue *q = any_queue();
	uint8_t bytes[256 * 64];
	size_t count = rnd(64) ? 1 + rnd(4) : 1 + rnd(256);
	size_t accepted = 0;
	bool error = !strcmp(q->state, "error");
	enum sg_status status;
	size_t wanted;

	for (size_t i = 0; i < count; i++)
		memcpy(bytes + 64 * i, random_packet().bytes, 64);
	status = sg_queue_publish(dev, q->handle, bytes, count, &accepted);
	wanted = m_publish(q, bytes, count);
	assert_int_equal(status, error ? SG_QUEUE_ERROR : wanted ? SG_OK : SG_QUEUE_FULL);
	assert_int_equal(accepted, wanted);
}

static void op_ring_write(void)
{
	struct m_queue *q = any_queue();
	struct packet p = random_packet();
	uint64_t off = rnd(2) ? 64 * rnd(q->size) : rnd(q->size * 64 + 32);
	size_t len = rnd(2) ? 64 : 1 + rnd(64);
	size_t fits;
	size_t done = 0;

	if (rnd(2)) {
		off = 64 * (q->next % q->size); /* where an unpublished slot stops the queue */
		len = 64;
	}
	fits = off < q->size * 64 ? q->size * 64 - off : 0;
	fits = fits < len ? fits : len;
	assert_int_equal(sg_queue_ring_write(dev, q->handle, off, p.bytes, len, &done),
			 fits ? SG_OK : SG_INVALID_ALLOCATION);
	assert_int_equal(done, fits);
	memcpy(&q->ring[0][0] + (fits ? off : 0), p.bytes, fits);
}

static void op_write_index(void)
{
	struct m_queue *q = any_queue();
	uint64_t v = rnd(40) ? q->write + rnd(3) : q->next + PICK(0, 5, q->size, q->size + 9);

	if (rnd(2000) == 0)
		v = PICK(0, UINT64_MAX, UINT64_MAX - 1);
	assert_int_equal(sg_queue_store_write_index(dev, q->handle, v), SG_OK);
	m_index(q, true, v);
}

static void op_read_index(void)
{
	struct m_queue *q = any_queue();
	uint64_t v = rnd(4) ? m_first(q) : q->read + rnd(5) - (q->read > 4 ? 4 : 0);

	assert_int_equal(sg_queue_store_read_index(dev, q->handle, v), SG_OK);
	m_index(q, false, v);
}

static void op_reserve(void)
{
	struct m_queue *q = any_queue();
	uint64_t count = rnd(3);
	uint64_t old = 0;
	bool fits = count <= UINT64_MAX - q->write;

	assert_int_equal(sg_queue_reserve(dev, q->handle, count, &old),
			 fits ? SG_OK : SG_INVALID_ARGUMENT);
	if (fits) {
		assert_true(old == q->write);
		m_index(q, true, q->write + count);
	}
}

static void op_doorbell(void)
{
	struct m_queue *q = any_queue();
	int64_t v = (int64_t)rnd(5) - 1;

	if (rnd(2))
		assert_int_equal(sg_queue_doorbell(dev, q->handle, v), SG_OK);
	else
		assert_int_equal(sg_signal_store(dev, q->doorbell, v), SG_OK);
	m_doorbell(q, v);
}

static void op_pause(void)
{
	struct m_queue *q = any_queue();

	q->paused = rnd(3) == 0;
	assert_int_equal(sg_queue_set_paused(dev, q->handle, q->paused), SG_OK);
	m_begin();
	m_run(q);
	m_settle();
}

static void op_mode(void)
{
	struct m_queue *q = any_queue();
	bool hsa = rnd(2);
	bool free = q->write == 0 && q->next == 0;

	assert_int_equal(sg_queue_set_mode(dev, q->handle, hsa ? SG_MODE_HSA : SG_MODE_SOFTGPU),
			 free ? SG_OK : SG_BUSY);
	if (free)
		q->hsa = hsa;
}

static void op_queue_create(void)
{
	uint32_t size = (uint32_t)PICK(64, 128, 64, 63);
	bool full = m.queue_count == QUEUES;
	bool hsa = rnd(2);
	uint64_t handle = 0;
	struct m_queue *q = &m.queues[m.queue_count];
	enum sg_status status = sg_queue_create(dev, m.agent, size, 0, &handle);

	assert_int_equal(status, size == 63 ? SG_INVALID_ARGUMENT
				 : full	    ? SG_OUT_OF_RESOURCES
					    : SG_OK);
	if (status != SG_OK)
		return;
	assert_int_equal(sg_queue_set_mode(dev, handle, hsa ? SG_MODE_HSA : SG_MODE_SOFTGPU),
			 SG_OK);
	*q = (struct m_queue){ .id = ++m.queue_id, .size = size, .hsa = hsa, .state = "active" };
	m.queue_count++;
	q->doorbell = m_add_signal(0, q->id);
	q->handle = m_handle(5, m.queue_index++);
	for (uint32_t i = 0; i < size; i++)
		q->ring[i][0] = 1;
	m_say("queue_create",
	      "\"queue_id\":%" PRIu64 ",\"size\":%" PRIu32 ",\"agent_handle\":%" PRIu64, q->id,
	      size, m.agent);
	assert_true(handle == q->handle);
}

static void op_queue_destroy(void)
{
	struct m_queue *q = any_queue();
	unsigned int at = (unsigned int)(q - m.queues);

	/* most often one that is done for */
	if (m.queue_count == 1 || (strcmp(q->state, "error") != 0 && rnd(10)))
		return;
	assert_int_equal(sg_queue_destroy(dev, q->handle), SG_OK);
	stale = q->doorbell;
	m_forget_signal(m_signal(q->doorbell));
	m_generation();
	m_say("queue_destroy", "\"queue_id\":%" PRIu64, q->id);
	m.queue_count--;
	memmove(q, q + 1, (m.queue_count - at) * sizeof(*q));
	m_begin();
	m_settle();
}

static void op_signal_create(void)
{
	int64_t initial = (int64_t)rnd(4) - 1;
	uint64_t handle = 0;
	bool full = m.signal_count - m.queue_count == SIGNALS;

	assert_int_equal(sg_signal_create(dev, initial, &handle),
			 full ? SG_OUT_OF_RESOURCES : SG_OK);
	if (!full)
		assert_true(m_add_signal(initial, 0) == handle);
}

static void op_signal_destroy(void)
{
	uint64_t handle = any_signal();
	struct m_signal *s = m_signal(handle);

	assert_int_equal(sg_signal_destroy(dev, handle), !s	       ? SG_INVALID_SIGNAL
							 : s->queue_id ? SG_INVALID_ARGUMENT
								       : SG_OK);
	if (!s || s->queue_id)
		return;
	stale = handle;
	m_forget_signal(s);
	m_say("signal_destroy", "\"signal_handle\":%" PRIu64, handle);
	m_begin();
	m_settle();
}

static void op_signal_store(void)
{
	uint64_t handle = any_signal();
	struct m_signal *s = m_signal(handle);
	int64_t v = (int64_t)PICK(0, 0, 0, 1, 2, UINT64_MAX, UINT64_C(1) << 63);

	assert_int_equal(sg_signal_store(dev, handle, v), s ? SG_OK : SG_INVALID_SIGNAL);
	if (!s)
		return;
	if (s->queue_id) {
		for (unsigned int i = 0; i < m.queue_count; i++) {
			if (m.queues[i].id == s->queue_id)
				m_doorbell(&m.queues[i], v);
		}
		return;
	}
	m_begin();
	m_store(s, v);
	m_settle();
}

static void op_memory(void)
{
	uint64_t asked = PICK(0, 1, 64, 5000, 65536, 70000);
	uint64_t base = 0;
	struct m_memory *a = &m.memories[m.memory_count];

	if (m.memory_count == MEMORIES || (m.memory_count && rnd(2))) {
		a = &m.memories[rnd(m.memory_count)];
		base = a->base;
		assert_int_equal(sg_memory_free(dev, base + 4), SG_INVALID_ARGUMENT);
		m_say("memory_free", "\"ptr\":%" PRIu64 ",\"outcome\":\"invalid_argument\"",
		      base + 4);
		assert_int_equal(sg_memory_free(dev, base), SG_OK);
		m_say("memory_free", "\"ptr\":%" PRIu64 ",\"outcome\":\"ok\"", base);
		*a = m.memories[--m.memory_count];
		return;
	}
	if (asked) {
		m.memory_count++;
		*a = (struct m_memory){ m.memory_next, (asked + 4095) / 4096 * 4096,
					++m.memory_id };
		m.memory_next += (a->size + 0xffff) / 0x10000 * 0x10000;
	}
	m_say("memory_allocate",
	      "\"space_handle\":%" PRIu64 ",\"size\":%" PRIu64 ",\"ptr\":%" PRIu64
	      ",\"outcome\":\"%s\"",
	      m.region, asked, asked ? a->base : 0, asked ? "ok" : "invalid_argument");
	assert_int_equal(sg_memory_allocate(dev, m.region, asked, &base),
			 asked ? SG_OK : SG_INVALID_ARGUMENT);
	assert_true(base == (asked ? a->base : 0));
}

static void op_wait(void)
{
	uint64_t handle = any_signal();
	struct m_signal *s = m_signal(handle);
	uint32_t condition = (uint32_t)rnd(5);
	int64_t compare = (int64_t)rnd(3) - 1;

	if (m.waiting) {
		sg_wait_end(&wait_real);
		m.waiting = false;
	}
	assert_int_equal(sg_wait_begin(dev, handle, condition, compare, &wait_real),
			 !s		  ? SG_INVALID_SIGNAL
			 : condition == 4 ? SG_INVALID_ARGUMENT
					  : SG_OK);
	if (!s || condition == 4)
		return;
	m.waiting = true;
	m.wait_signal = handle;
	m.wait_condition = condition;
	m.wait_compare = compare;
	m.wait_outcome = SG_WAIT_PENDING;
	if (m_condition(condition, s->value, compare))
		m_decide(SG_WAIT_SATISFIED, s->value);
}

static void op_restart(void)
{
	if (rnd(8))
		return;
	assert_int_equal(sg_device_shutdown(dev), SG_OK);
	for (unsigned int i = 0; i < m.signal_count; i++) {
		if (m.signals[i].handle == m.wait_signal)
			m_decide(SG_WAIT_CANCELLED, m.signals[i].value);
	}
	m.queue_count = m.signal_count = m.memory_count = 0;
	m.queue_index = m.signal_index = 0;
	m.captures = 0;
	m_say("runtime_shutdown", "\"refcount\":0");
	assert_int_equal(sg_device_init(dev), SG_OK);
	m_init();
}

static const struct {
	unsigned int weight; /* of 1000 */
	void (*call)(void);
} ops[] = {
	{ 330, op_publish },	  { 150, op_ring_write },   { 50, op_write_index },
	{ 15, op_read_index },	  { 20, op_reserve },	    { 180, op_doorbell },
	{ 15, op_pause },	  { 5, op_mode },	    { 20, op_queue_create },
	{ 50, op_queue_destroy }, { 30, op_signal_create }, { 12, op_signal_destroy },
	{ 80, op_signal_store },  { 20, op_memory },	    { 22, op_wait },
	{ 1, op_restart },
};

/* Agreement */

static void compare_lines(struct sg_trace_cursor *cursor)
{
	char line[SG_LINE_MAX];

	for (unsigned int i = 0; i < m.line_count; i++) {
		size_t len = sg_trace_next(dev, cursor, line, sizeof(line));

		if (len == 0 || strcmp(line, m.lines[i]) != 0)
			assert_string_equal(len ? line : "", m.lines[i]);
	}
	assert_int_equal(sg_trace_next(dev, cursor, line, sizeof(line)), 0);
	assert_int_equal(cursor->lost, 0);
	m.line_count = 0;
}

static void compare_queue(const struct m_queue *q)
{
	struct sg_queue_info info = queue_info(dev, q->handle);

	assert_true(info.id == q->id);
	assert_true(info.doorbell == q->doorbell);
	assert_true(info.doorbell_count == q->doorbells);
	assert_true(info.write_index == q->write);
	assert_true(info.read_index == q->read);
	assert_true(info.observed_through == q->next);
	assert_true(info.pending == (q->write > q->next ? q->write - q->next : 0) + q->held);
	assert_true(info.free_slots == m_free(q));
	assert_string_equal(sg_state_name(info.state), q->state);
	assert_true(info.state_index == q->state_index);
	assert_true(info.state_signal == q->state_signal);
	assert_int_equal(info.hsa_status, q->status);
	assert_true(info.index_back == q->back);
	assert_true(info.overruns == q->overruns);
}

static void compare_verdicts(const struct m_queue *q)
{
	char text[SG_DETAIL_MAX];
	struct sg_verdict v = { .number = 0 };
	uint64_t n = q->verdicts > VERDICTS ? q->verdicts - VERDICTS : 0;

	if (n)
		assert_int_equal(sg_verdict_get(dev, q->handle, n - 1, &v), SG_NOT_FOUND);
	for (; n < q->verdicts; n++) {
		const struct m_verdict *w = &q->verdict[n % VERDICTS];

		assert_int_equal(sg_verdict_get(dev, q->handle, n, &v), SG_OK);
		assert_true(v.number == n && v.packet_index == w->index);
		assert_int_equal(v.packet_type, w->type);
		assert_int_equal(v.kind == SG_VERDICT_COMPLETE, w->complete);
		assert_int_equal(v.completion_stored, w->stored);
		sg_packet_error_text(v.error, text, sizeof(text));
		assert_string_equal(text, w->detail);
	}
	assert_int_equal(sg_verdict_get(dev, q->handle, n, &v), SG_NOT_FOUND);
}

static void compare_captures(void)
{
	char text[SG_DETAIL_MAX];
	struct sg_capture c = { .number = 0 };

	for (uint64_t n = m.captures > CAPTURES ? m.captures - CAPTURES : 0; n < m.captures; n++) {
		const struct m_capture *w = &m.capture[n % CAPTURES];

		assert_int_equal(sg_capture_get(dev, n, &c), SG_OK);
		assert_true(c.queue_id == w->queue_id && c.desc.packet_index == w->index);
		assert_memory_equal(c.desc.bytes, w->bytes, 64);
		sg_kernarg_text(c.desc.kernarg, text, sizeof(text));
		assert_string_equal(text, w->class);
	}
	assert_int_equal(sg_capture_get(dev, m.captures, &c), SG_NOT_FOUND);
}

static void compare_all_bytes(void)
{
	static uint8_t ring[SLOTS_MAX * 64];
	size_t done = 0;

	for (unsigned int i = 0; i < m.queue_count; i++) {
		const struct m_queue *q = &m.queues[i];

		assert_int_equal(sg_queue_ring_read(dev, q->handle, 0, ring, sizeof(ring), &done),
				 SG_OK);
		assert_int_equal(done, q->size * 64);
		assert_memory_equal(ring, q->ring, done);
		compare_verdicts(q);
	}
	compare_captures();
}

static void compare(struct sg_trace_cursor *cursor)
{
	int64_t value = 0;

	compare_lines(cursor);
	for (unsigned int i = 0; i < m.queue_count; i++)
		compare_queue(&m.queues[i]);
	for (unsigned int i = 0; i < m.signal_count; i++)
		assert_true(signal_value(dev, m.signals[i].handle) == m.signals[i].value);
	if (m.waiting) {
		assert_int_equal(sg_wait_check(&wait_real, false, &value), m.wait_outcome);
		if (m.wait_outcome != SG_WAIT_PENDING)
			assert_true(value == m.wait_value);
	}
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

static void step(void)
{
	unsigned int at = (unsigned int)rnd(1000);
	size_t i = 0;

	if (m.queue_count == 0) {
		op_queue_create();
		return;
	}
	while (at >= ops[i].weight)
		at -= ops[i++].weight;
	ops[i].call();
}

static void agrees_with_the_model(void **state)
{
	uint64_t count = from_environment("SG_MODEL_OPS", OPS_DEFAULT);
	struct sg_trace_cursor cursor = { .next = 1 };
	struct sg_config config;
	unsigned int weights = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(ops); i++)
		weights += ops[i].weight;
	assert_int_equal(weights, 1000);
	rng = from_environment("SG_MODEL_SEED", SEED_DEFAULT);
	sg_config_default(&config);
	config.max_queues = QUEUES;
	config.max_signals = SIGNALS;
	config.trace_events = LINES_MAX;
	config.captures = CAPTURES;
	config.verdicts = VERDICTS;
	assert_int_equal(sg_device_open(&config, &dev), SG_OK);
	m.generation = 1;
	m.memory_next = UINT64_C(0x100000000000);
	m_init();
	compare(&cursor);
	for (uint64_t n = 0; n < count; n++) {
		step();
		compare(&cursor);
		if (n % 256 == 0)
			compare_all_bytes();
	}
	compare_all_bytes();
	print_message("%" PRIu64 " calls, %" PRIu64 " events, %" PRIu64 " queues\n", count, m.seq,
		      m.queue_id);
	print_message("%" PRIu64 " complete, %" PRIu64 " rejected, %" PRIu64 " blocked\n",
		      m.completed, m.rejected, m.blocked);
	sg_device_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_the_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
