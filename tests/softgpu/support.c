/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void put_le(uint8_t *p, unsigned int width, uint64_t v)
{
	for (unsigned int i = 0; i < width; i++)
		p[i] = (uint8_t)(v >> (8 * i));
}

struct packet unhex(const char *hex)
{
	struct packet p;

	for (size_t i = 0; i < SG_PACKET_BYTES; i++) {
		char two[3] = { hex[2 * i], hex[2 * i + 1], '\0' };

		p.bytes[i] = (uint8_t)strtoul(two, NULL, 16);
	}
	return p;
}

struct packet with(struct packet p, unsigned int off, unsigned int width, uint64_t v)
{
	put_le(p.bytes + off, width, v);
	return p;
}

const char *const golden_hex[8] = {
	NULL,
	"0200010040000100010000000001000001000000010000000000000000000000"
	"cdab000000000000000000000000000000000000000000000100000008000004",
	"0214010040000100010000000001000001000000010000000000000000000000"
	"cdab000000000000000000000000000000000000000000000100000008000004",
	"0300000000000000000000000000000000000000000000000000000000000000"
	"0000000000000000000000000000000000000000000000000100000008000004",
	"0200010000000100010000000001000001000000010000000000000000000000"
	"cdab000000000000000000000000000000000000000000000100000008000004",
	"0200010040000100010000002000000001000000010000000000000000000000"
	"cdab000000000000000000000000000000000000000000000100000008000004",
	"0200000040000100010000000001000001000000010000000000000000000000"
	"cdab000000000000000000000000000000000000000000000100000008000004",
	"0400000000000000000000000000000000000000000000000000000000000000"
	"0000000000000000000000000000000000000000000000000000000000000000",
};

struct packet golden(unsigned int n)
{
	return unhex(golden_hex[n]);
}

struct packet dispatch(uint64_t kernarg, uint64_t completion)
{
	struct packet p = { { 0 } };

	put_le(p.bytes, 2, 2);
	put_le(p.bytes + 2, 2, 1);
	put_le(p.bytes + 4, 2, 64);
	put_le(p.bytes + 6, 2, 1);
	put_le(p.bytes + 8, 2, 1);
	put_le(p.bytes + 12, 4, 256);
	put_le(p.bytes + 16, 4, 1);
	put_le(p.bytes + 20, 4, 1);
	put_le(p.bytes + 32, 8, 0xABCD);
	put_le(p.bytes + 40, 8, kernarg);
	put_le(p.bytes + 56, 8, completion);
	return p;
}

struct packet barrier(uint8_t type, const uint64_t deps[5], uint64_t completion)
{
	struct packet p = { { type } };

	for (unsigned int i = 0; i < 5; i++)
		put_le(p.bytes + 8 + 8 * i, 8, deps[i]);
	put_le(p.bytes + 56, 8, completion);
	return p;
}

struct packet barrier_value(uint64_t signal, int64_t value, int64_t mask, uint32_t cond,
			    uint64_t completion)
{
	struct packet p = { { 0, 0, 2 } };

	put_le(p.bytes + 8, 8, signal);
	put_le(p.bytes + 16, 8, (uint64_t)value);
	put_le(p.bytes + 24, 8, (uint64_t)mask);
	put_le(p.bytes + 32, 4, cond);
	put_le(p.bytes + 56, 8, completion);
	return p;
}

struct packet invalid_packet(void)
{
	return (struct packet){ { 1 } };
}

struct packet agent_packet(void)
{
	return (struct packet){ { 4 } };
}

struct sg_device *open_device(void)
{
	struct sg_device *dev;

	assert_int_equal(sg_device_open(NULL, &dev), SG_OK);
	return dev;
}

struct world open_world(void)
{
	struct world w = { .dev = open_device() };

	w.queue = make_queue(w.dev, 64, SG_MODE_SOFTGPU);
	w.signal = make_signal(w.dev, 1);
	forget_events(&w);
	return w;
}

void close_world(struct world *w)
{
	sg_device_close(w->dev);
}

uint64_t make_queue(struct sg_device *dev, uint32_t size, enum sg_mode mode)
{
	struct sg_device_info info;
	uint64_t queue = 0;

	sg_device_get_info(dev, &info);
	assert_int_equal(sg_queue_create(dev, info.agent, size, 0, &queue), SG_OK);
	assert_int_equal(sg_queue_set_mode(dev, queue, mode), SG_OK);
	return queue;
}

uint64_t make_signal(struct sg_device *dev, int64_t initial)
{
	uint64_t signal = 0;

	assert_int_equal(sg_signal_create(dev, initial, &signal), SG_OK);
	return signal;
}

uint64_t make_memory(struct sg_device *dev, enum sg_space space, uint64_t size)
{
	struct sg_space_info info;
	uint64_t base = 0;

	sg_space_get_info(dev, space, &info);
	assert_int_equal(sg_memory_allocate(dev, info.handle, size, &base), SG_OK);
	return base;
}

int64_t signal_value(const struct sg_device *dev, uint64_t handle)
{
	struct sg_signal_info info = { .value = 0 };

	assert_int_equal(sg_signal_get_info(dev, handle, &info), SG_OK);
	return info.value;
}

struct sg_queue_info queue_info(const struct sg_device *dev, uint64_t queue)
{
	struct sg_queue_info info = { .id = 0 };

	assert_int_equal(sg_queue_get_info(dev, queue, &info), SG_OK);
	return info;
}

size_t publish(struct sg_device *dev, uint64_t queue, struct packet p, size_t copies)
{
	uint8_t *bytes = calloc(copies, SG_PACKET_BYTES);
	size_t accepted = 0;

	assert_non_null(bytes);
	for (size_t i = 0; i < copies; i++)
		memcpy(bytes + i * SG_PACKET_BYTES, p.bytes, SG_PACKET_BYTES);
	assert_int_equal(sg_queue_publish(dev, queue, bytes, copies, &accepted), SG_OK);
	free(bytes);
	return accepted;
}

void ring_put(struct sg_device *dev, uint64_t queue, uint64_t slot, struct packet p)
{
	size_t done = 0;

	assert_int_equal(sg_queue_ring_write(dev, queue, slot * SG_PACKET_BYTES, p.bytes,
					     SG_PACKET_BYTES, &done),
			 SG_OK);
	assert_int_equal(done, SG_PACKET_BYTES);
}

struct sg_slot slot_of(const struct sg_device *dev, uint64_t queue, uint32_t slot)
{
	struct sg_slot out = { .slot = 0 };

	assert_int_equal(sg_queue_get_slot(dev, queue, slot, &out), SG_OK);
	return out;
}

struct sg_verdict last_verdict(const struct sg_device *dev, uint64_t queue)
{
	struct sg_verdict v = { .number = 0 };
	struct sg_stats stats = { .total = 0 };

	assert_int_equal(sg_verdict_get_stats(dev, queue, &stats), SG_OK);
	assert_true(stats.total > 0);
	assert_int_equal(sg_verdict_get(dev, queue, stats.total - 1, &v), SG_OK);
	return v;
}

void expect_types(struct world *w, const char *types)
{
	char got[4096] = "";
	char line[SG_LINE_MAX];
	size_t len = 0;

	while (sg_trace_next(w->dev, &w->seen, line, sizeof(line))) {
		const char *type = line + strlen("{\"type\":\"");
		const char *end = strchr(type, '"');

		assert_non_null(end);
		assert_true(len + SG_LINE_MAX < sizeof(got));
		len += (size_t)snprintf(got + len, sizeof(got) - len, "%s%.*s", len ? "," : "",
					(int)(end - type), type);
	}
	assert_string_equal(got, types);
}

void expect_lines(struct world *w, const char *const *lines)
{
	char line[SG_LINE_MAX];

	for (; *lines; lines++) {
		size_t len = sg_trace_next(w->dev, &w->seen, line, sizeof(line));

		assert_string_equal(len ? line : "", *lines);
		assert_int_equal(len, strlen(line));
	}
	assert_int_equal(sg_trace_next(w->dev, &w->seen, line, sizeof(line)), 0);
}

void forget_events(struct world *w)
{
	char line[SG_LINE_MAX];

	while (sg_trace_next(w->dev, &w->seen, line, sizeof(line)))
		;
}

void expect_state(const struct sg_device *dev, uint64_t queue, const char *text)
{
	char got[SG_STATE_MAX];
	size_t len = 0;

	assert_int_equal(sg_queue_state_text(dev, queue, got, sizeof(got), &len), SG_OK);
	assert_string_equal(got, text);
	assert_int_equal(len, strlen(text));
}

void expect_window(struct sg_device *dev, uint64_t of, window_write write, window_read read,
		   const struct window_case *c)
{
	uint8_t all[WINDOW_BYTES];
	uint8_t out[WINDOW_BYTES];
	uint8_t in[WINDOW_BYTES];
	size_t done = 0;

	memset(in, 0xab, sizeof(in));
	assert_int_equal(read(dev, of, 0, all, sizeof(all), &done), SG_OK);
	assert_int_equal(done, sizeof(all));
	done = 0; /* a write that fails leaves it alone */
	assert_int_equal(write(dev, of, c->off, in, c->len, &done), c->write_status);
	assert_int_equal(done, c->written);
	assert_int_equal(read(dev, of, c->off, out, c->len, &done), SG_OK);
	assert_int_equal(done, c->read);
	assert_memory_equal(in, out, c->read);
	if (c->written)
		memcpy(all + c->off, in, c->written);
	assert_int_equal(read(dev, of, 0, out, sizeof(out), &done), SG_OK);
	assert_memory_equal(out, all, sizeof(all));
}

static void *flaky_alloc(void *ctx, size_t count, size_t size)
{
	struct flaky *f = ctx;
	void *p;

	f->calls++;
	if (f->fail_at && f->calls >= f->fail_at)
		return NULL;
	p = calloc(count, size);
	if (p)
		f->live++;
	return p;
}

static void flaky_release(void *ctx, void *p)
{
	struct flaky *f = ctx;

	f->live--;
	free(p);
}

struct sg_allocator flaky_allocator(struct flaky *f)
{
	return (struct sg_allocator){ flaky_alloc, flaky_release, f };
}
