/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOFTGPU_SUPPORT_H
#define TESTS_SOFTGPU_SUPPORT_H

#include "rows.h"
#include "softgpu.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A cmocka row that has another name than its function. */
/* clang-format off */
#define NAMED(name, fn) { name, fn, NULL, NULL, NULL }
/* clang-format on */

/* Packets, written byte by byte from the tables of aql.md 1. */

struct packet {
	uint8_t bytes[SG_PACKET_BYTES];
};

void put_le(uint8_t *p, unsigned int width, uint64_t v);
struct packet unhex(const char *hex);
struct packet dispatch(uint64_t kernarg, uint64_t completion);
struct packet barrier(uint8_t type, const uint64_t deps[5], uint64_t completion);
struct packet barrier_value(uint64_t signal, int64_t value, int64_t mask, uint32_t cond,
			    uint64_t completion);
struct packet invalid_packet(void);
struct packet agent_packet(void); /* G7, always rejected */
struct packet with(struct packet p, unsigned int off, unsigned int width, uint64_t v);

/* The golden vectors of aql.md 1.10. */
extern const char *const golden_hex[8]; /* [1] to [7] */
struct packet golden(unsigned int n);

/* One device, its first queue of 64 packets and its first signal, of value 1. */

#define Q0 UINT64_C(0x0500000700000000)
#define Q0_DOORBELL UINT64_C(0x0400000600000000)
#define S0 UINT64_C(0x0400000800000001)
#define AGENT UINT64_C(0x0100000100000000)

struct world {
	struct sg_device *dev;
	uint64_t queue;
	uint64_t signal;
	struct sg_trace_cursor seen; /* what expect_types() has read */
};

struct sg_device *open_device(void);
struct world open_world(void);
void close_world(struct world *w);

uint64_t make_queue(struct sg_device *dev, uint32_t size, enum sg_mode mode);
uint64_t make_signal(struct sg_device *dev, int64_t initial);
uint64_t make_memory(struct sg_device *dev, enum sg_space space, uint64_t size);
int64_t signal_value(const struct sg_device *dev, uint64_t handle);
struct sg_queue_info queue_info(const struct sg_device *dev, uint64_t queue);
size_t publish(struct sg_device *dev, uint64_t queue, struct packet p, size_t copies);
void ring_put(struct sg_device *dev, uint64_t queue, uint64_t slot, struct packet p);
struct sg_slot slot_of(const struct sg_device *dev, uint64_t queue, uint32_t slot);
struct sg_verdict last_verdict(const struct sg_device *dev, uint64_t queue);

/* Events since the last call, as their types with a comma between. */
void expect_types(struct world *w, const char *types);
/* The same, whole lines; the list ends with NULL. */
void expect_lines(struct world *w, const char *const *lines);
void forget_events(struct world *w);
void expect_state(const struct sg_device *dev, uint64_t queue, const char *text);

/* What has WINDOW_BYTES bytes, a ring or memory, written and read at a place. */
#define WINDOW_BYTES 4096
struct window_case {
	const char *name;
	uint64_t off;
	size_t len;
	size_t read;
	enum sg_status write_status;
	size_t written;
};
typedef enum sg_status (*window_write)(struct sg_device *dev, uint64_t of, uint64_t off,
				       const uint8_t *buf, size_t len, size_t *done);
typedef enum sg_status (*window_read)(const struct sg_device *dev, uint64_t of, uint64_t off,
				      uint8_t *buf, size_t len, size_t *done);
/* What is written is read again, and nothing else has changed. */
void expect_window(struct sg_device *dev, uint64_t of, window_write write, window_read read,
		   const struct window_case *c);

/* An allocator that fails from its FAIL_AT-th call on (0: never), and counts what is live. */
struct flaky {
	unsigned int calls;
	unsigned int fail_at;
	unsigned int live;
};

struct sg_allocator flaky_allocator(struct flaky *f);

#endif
