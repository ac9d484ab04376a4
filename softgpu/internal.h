/* SPDX-License-Identifier: MIT */
#ifndef SOFTGPU_INTERNAL_H
#define SOFTGPU_INTERNAL_H

#include "softgpu.h"
#include "limits.h"

#include <assert.h>

/* Handle kinds, bits 56 to 63 (aql.md 4.1). */
enum sg_handle_kind {
	SG_HANDLE_AGENT = 1,
	SG_HANDLE_REGION = 2,
	SG_HANDLE_POOL = 3,
	SG_HANDLE_SIGNAL = 4,
	SG_HANDLE_QUEUE = 5,
};

enum sg_packet_type {
#define X(type, name, text, parse, waits) SG_PACKET_##name = type,
#include "packets.def"
#undef X
};

enum sg_packet_error_code {
	SG_PACKET_OK,
#define X(id, name, key, text, status) SG_PACKET_E_##id,
#include "errors.def"
#undef X
	SG_PACKET_ERROR_COUNT,
};

enum sg_event_type {
#define X(id, name, ...) SG_EVENT_##id,
#include "trace.def"
#undef X
};

/* AMD's second discriminator of type 0, byte 2 (aql.md 1.6). */
#define SG_AMD_FORMAT_BARRIER_VALUE 2

#define SG_DEPENDENCIES_MAX 5u

/*
 * Where the fields are: these structs are never laid over bytes, only asked for offsets and widths
 * by SG_GET(), which reads little-endian on any host.
 */
struct sg_layout_dispatch {
	uint16_t header;
	uint16_t setup;
	uint16_t workgroup_size[3];
	uint16_t reserved0;
	uint32_t grid_size[3];
	uint32_t private_segment_size;
	uint32_t group_segment_size;
	uint64_t kernel_object;
	uint64_t kernarg_address;
	uint64_t reserved2;
	uint64_t completion_signal;
};
static_assert(sizeof(struct sg_layout_dispatch) == SG_PACKET_BYTES, "hsa.h");
static_assert(offsetof(struct sg_layout_dispatch, setup) == 2, "hsa.h");
static_assert(offsetof(struct sg_layout_dispatch, workgroup_size) == 4, "hsa.h");
static_assert(offsetof(struct sg_layout_dispatch, grid_size) == 12, "hsa.h");
static_assert(offsetof(struct sg_layout_dispatch, private_segment_size) == 24, "hsa.h");
static_assert(offsetof(struct sg_layout_dispatch, group_segment_size) == 28, "hsa.h");
static_assert(offsetof(struct sg_layout_dispatch, kernel_object) == 32, "hsa.h");
static_assert(offsetof(struct sg_layout_dispatch, kernarg_address) == 40, "hsa.h");
static_assert(offsetof(struct sg_layout_dispatch, completion_signal) == 56, "hsa.h");

struct sg_layout_barrier {
	uint16_t header;
	uint16_t reserved0;
	uint32_t reserved1;
	uint64_t dep_signal[SG_DEPENDENCIES_MAX];
	uint64_t reserved2;
	uint64_t completion_signal;
};
static_assert(sizeof(struct sg_layout_barrier) == SG_PACKET_BYTES, "hsa.h");
static_assert(offsetof(struct sg_layout_barrier, dep_signal) == 8, "hsa.h");
static_assert(offsetof(struct sg_layout_barrier, completion_signal) == 56, "hsa.h");

struct sg_layout_barrier_value {
	uint16_t header;
	uint8_t amd_format;
	uint8_t reserved;
	uint32_t reserved0;
	uint64_t signal;
	int64_t value;
	int64_t mask;
	uint32_t cond;
	uint32_t reserved1;
	uint64_t reserved2;
	uint64_t reserved3;
	uint64_t completion_signal;
};
static_assert(sizeof(struct sg_layout_barrier_value) == SG_PACKET_BYTES, "hsa_ext_amd.h");
static_assert(offsetof(struct sg_layout_barrier_value, amd_format) == 2, "hsa_ext_amd.h");
static_assert(offsetof(struct sg_layout_barrier_value, signal) == 8, "hsa_ext_amd.h");
static_assert(offsetof(struct sg_layout_barrier_value, value) == 16, "hsa_ext_amd.h");
static_assert(offsetof(struct sg_layout_barrier_value, mask) == 24, "hsa_ext_amd.h");
static_assert(offsetof(struct sg_layout_barrier_value, cond) == 32, "hsa_ext_amd.h");
static_assert(offsetof(struct sg_layout_barrier_value, completion_signal) == 56, "hsa_ext_amd.h");

static inline uint64_t sg_le(const uint8_t *p, size_t width)
{
	uint64_t v = 0;

	while (width--)
		v = v << 8 | p[width];
	return v;
}

#define SG_GET(p, layout, member)                                                                  \
	sg_le((p) + offsetof(struct sg_layout_##layout, member),                                   \
	      sizeof(((struct sg_layout_##layout *)0)->member))

/* How much of [off, off + len) lies in an object of SIZE bytes. */
static inline size_t sg_window(uint64_t size, uint64_t off, size_t len)
{
	if (off >= size)
		return 0;
	return len < size - off ? len : (size_t)(size - off);
}

struct sg_event {
	enum sg_event_type type;
	uint64_t seq;
	uint64_t queue_id; /* 0: the event names no queue; ids start at 1 */
	uint64_t refcount;
	const char *profile_id;
	uint64_t profile_revision;
	const char *fidelity;
	uint64_t space_handle;
	uint64_t size;
	uint64_t ptr;
	const char *outcome;
	uint64_t signal_handle;
	int64_t initial;
	uint64_t agent_handle;
	int64_t doorbell_value;
	const char *which;
	uint64_t index_value;
	struct sg_packet_error detail;
	const char *contract;
	const char *note;
	struct sg_descriptor desc;
};
static_assert(sizeof(struct sg_event) <= SG_EVENT_BYTES, "limits.h");
static_assert(sizeof(struct sg_capture) <= SG_CAPTURE_BYTES, "limits.h");
static_assert(sizeof(struct sg_verdict) <= SG_VERDICT_BYTES, "limits.h");

struct sg_signal {
	uint32_t index; /* of its handle, the key of the table */
	uint32_t generation;
	int64_t value;
	struct sg_queue *queue; /* whose doorbell it is, NULL: plain */
};
static_assert(sizeof(struct sg_signal) <= SG_SIGNAL_BYTES, "limits.h");

struct sg_allocation {
	struct sg_allocation_info info;
	uint8_t *bytes;
};

struct sg_queue {
	uint64_t handle;
	uint64_t id;
	uint32_t size; /* a power of two */
	uint32_t type;
	enum sg_mode mode;
	bool paused;
	uint64_t doorbell;
	uint64_t doorbell_count;
	uint64_t write_index;
	uint64_t read_index;
	uint64_t cursor; /* the id that is taken from the ring next */
	uint32_t budget; /* packets that this request may still take */
	bool held; /* packet cursor - 1 is taken and waits, desc has it */
	uint32_t seen; /* of the held packet: bit k, dependency k was seen satisfied */
	struct sg_descriptor desc;
	enum sg_state state;
	uint64_t state_index;
	uint64_t state_signal;
	uint32_t hsa_status;
	uint64_t index_back;
	uint64_t overruns;
	uint64_t short_packets;
	uint8_t *ring;
	struct sg_verdict *verdicts; /* number n is at n % config.verdicts */
	uint64_t verdict_total;
};

struct sg_device {
	struct sg_config config;
	uint64_t refcount;
	uint32_t generation; /* the next one to give */
	uint64_t agent;
	uint64_t spaces[SG_SPACE_COUNT];

	struct sg_queue **queues; /* live ones in order of creation */
	uint32_t queue_count;
	uint32_t queue_next; /* index of the next handle */
	uint64_t queue_id; /* of the latest queue */

	struct sg_signal *signals; /* live ones, sorted by index */
	uint32_t signal_count;
	uint32_t signal_next; /* index of the next handle */
	struct sg_wait *waits;

	struct sg_allocation *allocations; /* live ones, sorted by base */
	uint32_t allocation_count;
	uint64_t allocation_id; /* of the latest one */
	uint64_t next_base;
	uint64_t in_use[SG_SPACE_COUNT];

	struct sg_event *events; /* seq s is at s % config.trace_events */
	uint64_t seq; /* of the latest event */

	struct sg_capture *captures; /* number n is at n % config.captures */
	uint8_t *kernargs; /* kernarg_bytes for each, NULL if that is 0 */
	uint64_t capture_total;
};

/* device.c */
void *sg_alloc(struct sg_device *dev, size_t count, size_t size);
void sg_release(struct sg_device *dev, void *p);
uint32_t sg_take_generation(struct sg_device *dev);
uint64_t sg_handle(enum sg_handle_kind kind, uint32_t generation, uint32_t index);

/* memory.c */
void sg_memory_init(struct sg_device *dev);
void sg_memory_fini(struct sg_device *dev);
struct sg_kernarg sg_memory_classify(const struct sg_device *dev, uint64_t va);
const struct sg_allocation *sg_memory_lookup(const struct sg_device *dev, uint64_t va);

/* signal.c; an entry's address is good until the next signal is made or destroyed */
struct sg_signal *sg_signal_lookup(const struct sg_device *dev, uint64_t handle);
uint64_t sg_signal_add(struct sg_device *dev, int64_t initial, struct sg_queue *queue);
void sg_signal_remove(struct sg_device *dev, struct sg_signal *signal);
void sg_signal_write(struct sg_device *dev, struct sg_signal *signal, int64_t value);

/* wait.c */
void sg_waits_store(struct sg_device *dev, uint64_t handle, int64_t value);
void sg_waits_cancel(struct sg_device *dev, uint64_t handle, int64_t value);
void sg_waits_cancel_all(struct sg_device *dev);

/* queue.c */
struct sg_queue *sg_queue_lookup(const struct sg_device *dev, uint64_t handle);
void sg_queue_free(struct sg_device *dev, struct sg_queue *q);
uint8_t *sg_queue_slot(const struct sg_queue *q, uint64_t index);
void sg_queue_retire(struct sg_queue *q, uint64_t index);
uint64_t sg_queue_first_pending(const struct sg_queue *q);
void sg_queue_store_doorbell(struct sg_device *dev, struct sg_queue *q, int64_t value);

/* exec.c */
void sg_exec_begin(struct sg_device *dev);
void sg_exec_run(struct sg_device *dev, struct sg_queue *q);
void sg_exec_settle(struct sg_device *dev);

/* packet.c */
bool sg_packet_parse(const uint8_t *bytes, uint64_t packet_index, enum sg_mode mode,
		     struct sg_descriptor *out, struct sg_packet_error *err);

/* hsa.c */
enum sg_dependency {
	SG_DEPENDENCY_MET,
	SG_DEPENDENCY_OPEN,
	SG_DEPENDENCY_DEAD,
};
enum sg_dependency sg_hsa_check(const struct sg_device *dev, struct sg_queue *q);
void sg_hsa_store(struct sg_device *dev, uint64_t handle, int64_t value);
bool sg_hsa_depends(const struct sg_descriptor *desc, uint64_t handle);
bool sg_compare(uint32_t condition, int64_t value, int64_t with);

/* record.c */
struct sg_stats sg_stats_of(uint64_t total, uint64_t capacity);
void sg_capture_add(struct sg_device *dev, const struct sg_queue *q,
		    const struct sg_descriptor *desc);
void sg_verdict_add(struct sg_device *dev, struct sg_queue *q, const struct sg_verdict *verdict);

/* trace.c */
void sg_trace_emit(struct sg_device *dev, const struct sg_event *event);

/* text.c: counts what it is given, keeps what fits, always ends with a NUL (size > 0) */
struct sg_text {
	char *buf;
	size_t size;
	size_t len; /* kept */
};
struct sg_text sg_text_on(char *buf, size_t size);
void sg_text_str(struct sg_text *t, const char *s);
void sg_text_u64(struct sg_text *t, uint64_t v);
void sg_text_i64(struct sg_text *t, int64_t v);
void sg_text_hex(struct sg_text *t, uint64_t v, unsigned int digits);
void sg_text_quoted(struct sg_text *t, const char *s); /* a JSON string */

#endif
