/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SOFTGPU_MODEL_H
#define TESTS_SOFTGPU_MODEL_H

/*
 * A second, simple-minded device, written from docs/formats/aql.md and kept apart from the library:
 * plain loops, whole rings compared, events as printed text. test_model.c has it do what the real
 * one does and compares. There is one model, because a test needs no more.
 */

#include "support.h"

#define QUEUES 4
#define SIGNALS 10
#define MEMORIES 5
#define SLOTS_MAX 128
#define CAPTURES 16
#define VERDICTS 8
#define LINES_MAX 4096

struct m_signal {
	uint64_t handle;
	int64_t value;
	uint64_t queue_id; /* of a doorbell */
};

struct m_memory {
	uint64_t base;
	uint64_t size;
	uint64_t id;
};

struct m_verdict {
	uint64_t index;
	uint8_t type;
	bool complete;
	bool stored;
	char detail[SG_DETAIL_MAX];
};

struct m_queue {
	uint64_t handle;
	uint64_t id;
	uint64_t doorbell;
	uint32_t size;
	bool hsa;
	bool paused;
	uint64_t doorbells;
	uint64_t write;
	uint64_t read;
	uint64_t next; /* id that is observed next */
	uint64_t back;
	uint64_t overruns;
	uint32_t left; /* packets that this call may still take */
	bool held; /* packet next - 1 waits */
	bool seen[5];
	uint8_t packet[64];
	char state[32];
	uint64_t state_index;
	uint64_t state_signal;
	uint32_t status;
	uint64_t verdicts;
	struct m_verdict verdict[VERDICTS];
	uint8_t ring[SLOTS_MAX][64];
};

struct m_capture {
	uint64_t queue_id;
	uint64_t index;
	uint8_t bytes[64];
	char class[48];
};

struct model {
	uint32_t generation;
	uint64_t agent;
	uint64_t region;
	unsigned int signal_index;
	unsigned int queue_index;
	uint64_t queue_id;
	uint64_t memory_id;
	uint64_t memory_next;
	uint64_t seq;
	unsigned int queue_count;
	struct m_queue queues[QUEUES]; /* in order of creation */
	unsigned int signal_count;
	struct m_signal signals[SIGNALS + QUEUES];
	unsigned int memory_count;
	struct m_memory memories[MEMORIES];
	uint64_t captures;
	struct m_capture capture[CAPTURES];
	/* how much of everything there was */
	uint64_t completed;
	uint64_t rejected;
	uint64_t blocked;
	/* the one wait */
	bool waiting;
	uint64_t wait_signal;
	uint32_t wait_condition;
	int64_t wait_compare;
	enum sg_outcome wait_outcome;
	int64_t wait_value;
	/* lines that the last call should have traced */
	unsigned int line_count;
	char lines[LINES_MAX][SG_LINE_MAX];
};

extern struct model m;

__attribute__((format(printf, 2, 3))) void m_say(const char *type, const char *format, ...);
uint64_t m_handle(uint64_t kind, uint64_t index);
uint32_t m_generation(void);
struct m_signal *m_signal(uint64_t handle);
bool m_condition(uint64_t condition, int64_t a, int64_t b);
void m_decide(enum sg_outcome outcome, int64_t value);
void m_store(struct m_signal *s, int64_t value);
void m_begin(void);
void m_settle(void);
void m_run(struct m_queue *q);
void m_doorbell(struct m_queue *q, int64_t value);
void m_index(struct m_queue *q, bool write, uint64_t value);
uint64_t m_first(const struct m_queue *q);
uint64_t m_free(const struct m_queue *q);
size_t m_publish(struct m_queue *q, const uint8_t *packets, size_t count);
void m_forget_signal(struct m_signal *s);
uint64_t m_add_signal(int64_t initial, uint64_t queue_id);
void m_init(void);

#endif
