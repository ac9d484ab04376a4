/* SPDX-License-Identifier: MIT */
#include "model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct model m;

static uint64_t get(const uint8_t *p, unsigned int off, unsigned int width)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < width; i++)
		v |= (uint64_t)p[off + i] << (8 * i);
	return v;
}

void m_say(const char *type, const char *format, ...)
{
	char *line = m.lines[m.line_count++];
	int n = snprintf(line, SG_LINE_MAX, "{\"type\":\"%s\",\"seq\":%" PRIu64 ",", type, ++m.seq);
	va_list ap;

	assert_true(m.line_count < LINES_MAX);
	va_start(ap, format);
	n += vsnprintf(line + n, (size_t)(SG_LINE_MAX - n), format, ap);
	va_end(ap);
	snprintf(line + n, (size_t)(SG_LINE_MAX - n), "}");
}

uint32_t m_generation(void)
{
	uint32_t g = m.generation;

	m.generation = g == 0xFFFFFF ? 1 : g + 1;
	return g;
}

uint64_t m_handle(uint64_t kind, uint64_t index)
{
	return kind << 56 | (uint64_t)m_generation() << 32 | index;
}

struct m_signal *m_signal(uint64_t handle)
{
	for (unsigned int i = 0; i < m.signal_count; i++) {
		if (m.signals[i].handle == handle)
			return &m.signals[i];
	}
	return NULL;
}

bool m_condition(uint64_t condition, int64_t a, int64_t b)
{
	return (condition == 0 && a == b) || (condition == 1 && a != b) ||
	       (condition == 2 && a < b) || (condition == 3 && a >= b);
}

static bool m_value_met(const uint8_t *p, int64_t v)
{
	return m_condition(get(p, 32, 4), (int64_t)((uint64_t)v & get(p, 24, 8)),
			   (int64_t)get(p, 16, 8));
}

void m_decide(enum sg_outcome outcome, int64_t value)
{
	if (m.waiting && m.wait_outcome == SG_WAIT_PENDING) {
		m.wait_outcome = outcome;
		m.wait_value = value;
	}
}

void m_store(struct m_signal *s, int64_t value)
{
	s->value = value;
	if (m.wait_signal == s->handle && m_condition(m.wait_condition, value, m.wait_compare))
		m_decide(SG_WAIT_SATISFIED, value);
	for (unsigned int i = 0; i < m.queue_count; i++) {
		struct m_queue *q = &m.queues[i];

		if (!q->held)
			continue;
		if (q->packet[0] == 3 || q->packet[0] == 5) {
			for (unsigned int k = 0; k < 5; k++) {
				if (get(q->packet, 8 + 8 * k, 8) == s->handle && value == 0)
					q->seen[k] = true;
			}
		} else if (q->packet[0] == 0) {
			if (get(q->packet, 8, 8) == s->handle && m_value_met(q->packet, value))
				q->seen[0] = true;
		}
	}
}

/* NULL if the packet is valid, else the detail. */
static const char *m_judge(const uint8_t *p, bool hsa)
{
	static char text[SG_DETAIL_MAX];
	uint64_t dims = get(p, 2, 2) & 3;
	uint64_t wg[3] = { get(p, 4, 2), get(p, 6, 2), get(p, 8, 2) };
	uint64_t grid[3] = { get(p, 12, 4), get(p, 16, 4), get(p, 20, 4) };

	if (p[0] == 3 || p[0] == 5 || (hsa && p[0] == 0 && p[2] == 2 && get(p, 32, 4) < 4))
		return NULL;
	if (p[0] != 2) {
		snprintf(text, sizeof(text), "UnsupportedType { packet_type: %d }", p[0]);
		return text;
	}
	if (dims == 0)
		return "BadDimensions { dimensions: 0 }";
	for (int d = 0; d < 3; d++) {
		if (wg[d] == 0) {
			snprintf(text, sizeof(text), "ZeroWorkgroup { dim: %d }", d);
			return text;
		}
		if (grid[d] < wg[d]) {
			snprintf(text, sizeof(text), "GridSmallerThanWorkgroup { dim: %d }", d);
			return text;
		}
	}
	if (dims == 1 && (wg[1] > 1 || wg[2] > 1))
		return "DimConstraint { detail: \"dims=1 requires workgroup y=z=1\" }";
	if (dims == 1 && (grid[1] > 1 || grid[2] > 1))
		return "DimConstraint { detail: \"dims=1 requires grid y=z=1\" }";
	if (dims == 2 && (wg[2] > 1 || grid[2] > 1))
		return "DimConstraint { detail: \"dims=2 requires workgroup/grid z=1\" }";
	return NULL;
}

static void m_class(uint64_t address, char *out, size_t size)
{
	snprintf(out, size, "%s", address ? "foreign_opaque" : "null");
	for (unsigned int i = 0; address && i < m.memory_count; i++) {
		if (m.memories[i].base == address)
			snprintf(out, size, "softgpu:%" PRIu64, m.memories[i].id);
	}
}

static void m_state(struct m_queue *q, const char *word, uint64_t index, uint64_t signal)
{
	snprintf(q->state, sizeof(q->state), "%s", word);
	q->state_index = index;
	q->state_signal = signal;
}

static void m_retire(struct m_queue *q, uint64_t id)
{
	uint8_t *slot = q->ring[id % q->size];

	slot[0] = 1;
	slot[1] = 0;
	if (id + 1 > q->read)
		q->read = id + 1;
}

static struct m_verdict *m_verdict(struct m_queue *q, uint64_t id, const uint8_t *p)
{
	struct m_verdict *v = &q->verdict[q->verdicts++ % VERDICTS];

	*v = (struct m_verdict){ .index = id, .type = p[0] };
	return v;
}

static void m_reject(struct m_queue *q, uint64_t id, const uint8_t *p, const char *detail)
{
	char escaped[SG_DETAIL_MAX];
	size_t n = 0;

	for (const char *c = detail; *c; c++) {
		if (*c == '"')
			escaped[n++] = '\\';
		escaped[n++] = *c;
	}
	escaped[n] = '\0';
	m_say("dispatch_rejected",
	      "\"queue_id\":%" PRIu64 ",\"packet_index\":%" PRIu64
	      ",\"packet_type\":%d,\"detail\":\"%s\","
	      "\"contract\":\"diagnostic_rejected\"",
	      q->id, id, p[0], escaped);
	m_retire(q, id);
	m.rejected++;
	snprintf(m_verdict(q, id, p)->detail, SG_DETAIL_MAX, "%s", detail);
	if (q->hsa) {
		m_state(q, "error", id, 0);
		q->status = strstr(detail, "Zero")	      ? 0x1001
			    : strstr(detail, "Unsupported")   ? 0x1009
			    : strstr(detail, "InvalidSignal") ? 0x1006
							      : 0x100D;
	}
}

static void m_complete(struct m_queue *q, uint64_t id, const uint8_t *p)
{
	uint64_t completion = get(p, 56, 8);
	struct m_signal *s = m_signal(completion);
	struct m_capture *c = &m.capture[m.captures % CAPTURES];
	bool store = s && !s->queue_id;

	if (store)
		m_store(s, q->hsa ? (int64_t)((uint64_t)s->value - 1) : 0);
	m_retire(q, id);
	m_say("diagnostic_complete",
	      "\"queue_id\":%" PRIu64 ",\"packet_index\":%" PRIu64 ",\"completion_signal\":%" PRIu64
	      ",\"contract\":\"diagnostic_complete_no_execution\",\"note\":\"not_kernel_success\"",
	      q->id, id, completion);
	m.captures++;
	m.completed++;
	c->queue_id = q->id;
	c->index = id;
	memcpy(c->bytes, p, 64);
	m_class(p[0] == 2 ? get(p, 40, 8) : 0, c->class, sizeof(c->class));
	m_verdict(q, id, p)->complete = true;
	q->verdict[(q->verdicts - 1) % VERDICTS].stored = store;
}

/* 1: nothing to wait for any more; 0: blocked; -1: a dependency is dead. */
static int m_ready(struct m_queue *q, uint64_t *blame)
{
	const uint8_t *p = q->packet;
	unsigned int count = p[0] == 2 ? 0 : p[0] == 0 ? 1 : 5;
	bool any = p[0] == 5;
	unsigned int met = 0;
	uint64_t dead = 0;
	uint64_t open = 0;

	for (unsigned int k = 0; k < count; k++) {
		uint64_t handle = get(p, 8 + 8 * k, 8);
		struct m_signal *s = m_signal(handle);

		if (s && (p[0] == 0 ? m_value_met(p, s->value) : s->value == 0))
			q->seen[k] = true;
		if (q->seen[k] || (!handle && !any))
			met++;
		else if (handle && !s)
			dead = dead ? dead : handle;
		else
			open = open ? open : handle;
	}
	*blame = dead ? dead : open;
	if (any ? met > 0 : met == count)
		return 1;
	return dead ? -1 : 0;
}

/* The held packet; false: stop here. */
static bool m_held(struct m_queue *q)
{
	uint64_t id = q->next - 1;
	uint64_t blame;
	int ready = m_ready(q, &blame);
	char detail[SG_DETAIL_MAX];

	if (ready == 0) {
		m.blocked++;
		m_state(q, "blocked-dep", id, blame);
		return false;
	}
	q->held = false;
	if (ready > 0) {
		m_complete(q, id, q->packet);
		return true;
	}
	snprintf(detail, sizeof(detail), "InvalidSignal { handle: %" PRIu64 " }", blame);
	m_reject(q, id, q->packet, detail);
	return false;
}

static bool m_one(struct m_queue *q, uint64_t id)
{
	uint8_t p[64];
	const char *detail;
	bool kd;
	char class[48];

	memcpy(p, q->ring[id % q->size], 64);
	kd = p[0] == 2;
	m_say("packet_observed",
	      "\"queue_id\":%" PRIu64 ",\"packet_index\":%" PRIu64 ",\"packet_type\":%d", q->id, id,
	      p[0]);
	detail = m_judge(p, q->hsa);
	if (detail) {
		m_reject(q, id, p, detail);
		return !q->hsa;
	}
	m_class(kd ? get(p, 40, 8) : 0, class, sizeof(class));
	if (!kd) {
		m_say("dispatch_validated",
		      "\"queue_id\":%" PRIu64 ",\"packet_index\":%" PRIu64
		      ",\"packet_type\":%d,\"dimensions\":0,\"workgroup_size\":[0,0,0],"
		      "\"grid_size\":[0,0,0],\"private_segment_size\":0,\"group_segment_size\":0,"
		      "\"kernel_object\":0,\"kernarg_class\":\"null\",\"completion_signal\":"
		      "%" PRIu64,
		      q->id, id, p[0], get(p, 56, 8));
	} else {
		m_say("dispatch_validated",
		      "\"queue_id\":%" PRIu64 ",\"packet_index\":%" PRIu64
		      ",\"packet_type\":2,\"dimensions\":%" PRIu64 ",\"workgroup_size\":[%" PRIu64
		      ",%" PRIu64 ",%" PRIu64 "],\"grid_size\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64
		      "],\"private_segment_size\":%" PRIu64 ",\"group_segment_size\":%" PRIu64
		      ",\"kernel_object\":%" PRIu64
		      ",\"kernarg_class\":\"%s\",\"completion_signal\":%" PRIu64,
		      q->id, id, get(p, 2, 2) & 3, get(p, 4, 2), get(p, 6, 2), get(p, 8, 2),
		      get(p, 12, 4), get(p, 16, 4), get(p, 20, 4), get(p, 24, 4), get(p, 28, 4),
		      get(p, 32, 8), class, get(p, 56, 8));
	}
	if (!q->hsa) {
		m_complete(q, id, p);
		return true;
	}
	memcpy(q->packet, p, 64);
	memset(q->seen, 0, sizeof(q->seen));
	q->held = true;
	return m_held(q);
}

void m_run(struct m_queue *q)
{
	if (q->paused || !strcmp(q->state, "error"))
		return;
	if (q->held && !m_held(q))
		return;
	for (; q->next < q->write;) {
		if (q->left == 0) {
			m_state(q, "stopped-overrun", q->next, 0);
			return;
		}
		if (q->ring[q->next % q->size][0] == 1) {
			m_say("packet_validate_failed",
			      "\"queue_id\":%" PRIu64
			      ",\"detail\":\"StillInvalid { packet_index: %" PRIu64 " }\"",
			      q->id, q->next);
			m_state(q, "stopped-invalid", q->next, 0);
			return;
		}
		q->left--;
		q->next++;
		if (!m_one(q, q->next - 1))
			return;
	}
	m_state(q, "active", 0, 0);
}

void m_begin(void)
{
	for (unsigned int i = 0; i < m.queue_count; i++)
		m.queues[i].left = m.queues[i].size;
}

void m_settle(void)
{
	bool again = true;

	while (again) {
		again = false;
		for (unsigned int i = 0; i < m.queue_count; i++) {
			struct m_queue *q = &m.queues[i];
			uint64_t before = q->next;

			if (!q->held)
				continue;
			m_run(q);
			if (!q->held || q->next != before)
				again = true;
		}
	}
}

void m_doorbell(struct m_queue *q, int64_t value)
{
	m_say("queue_doorbell", "\"queue_id\":%" PRIu64 ",\"value\":%" PRId64, q->id, value);
	q->doorbells++;
	m_begin();
	m_store(m_signal(q->doorbell), value);
	m_run(q);
	m_settle();
}

void m_index(struct m_queue *q, bool write, uint64_t value)
{
	uint64_t *index = write ? &q->write : &q->read;

	q->back += value < *index;
	*index = value;
	q->overruns += q->write > q->read && q->write - q->read > q->size;
	m_say("queue_index_store", "\"queue_id\":%" PRIu64 ",\"which\":\"%s\",\"value\":%" PRIu64,
	      q->id, write ? "write" : "read", value);
}

uint64_t m_first(const struct m_queue *q)
{
	return q->held ? q->next - 1 : q->next;
}

uint64_t m_free(const struct m_queue *q)
{
	uint64_t low = q->read < m_first(q) ? q->read : m_first(q);

	if (q->write <= low)
		return q->size;
	return q->write - low >= q->size ? 0 : q->size - (q->write - low);
}

size_t m_publish(struct m_queue *q, const uint8_t *packets, size_t count)
{
	size_t done = 0;

	while (done < count && strcmp(q->state, "error") != 0) {
		uint64_t n = m_free(q) < count - done ? m_free(q) : count - done;

		if (n > UINT64_MAX - q->write)
			n = UINT64_MAX - q->write;
		if (n == 0)
			break;
		for (uint64_t i = 0; i < n; i++)
			memcpy(q->ring[(q->write + i) % q->size], packets + 64 * (done + i), 64);
		m_index(q, true, q->write + n);
		m_doorbell(q, (int64_t)(q->write - 1));
		done += n;
	}
	return done;
}

void m_forget_signal(struct m_signal *s)
{
	unsigned int at = (unsigned int)(s - m.signals);

	if (m.wait_signal == s->handle)
		m_decide(SG_WAIT_CANCELLED, s->value);
	m_generation();
	m.signal_count--;
	memmove(s, s + 1, (m.signal_count - at) * sizeof(*s));
}

uint64_t m_add_signal(int64_t initial, uint64_t queue_id)
{
	struct m_signal *s = &m.signals[m.signal_count++];

	*s = (struct m_signal){ m_handle(4, m.signal_index++), initial, queue_id };
	m_say("signal_create", "\"signal_handle\":%" PRIu64 ",\"initial\":%" PRId64, s->handle,
	      initial);
	return s->handle;
}

void m_init(void)
{
	m.agent = m_handle(1, 0);
	m.region = m_handle(2, 0);
	for (unsigned int i = 0; i < 3; i++)
		m_generation(); /* the other region, two pools */
	m_say("runtime_init",
	      "\"refcount\":1,\"profile_id\":\"gpuobjfs-softgpu\",\"profile_revision\":1,"
	      "\"fidelity\":\"abi\"");
}
