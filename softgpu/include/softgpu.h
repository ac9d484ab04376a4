/* SPDX-License-Identifier: MIT */
#ifndef SOFTGPU_H
#define SOFTGPU_H

/*
 * A software packet processor for AQL queues that never runs a kernel.
 *
 * It follows the SoftGPU Phase 4 diagnostic completion contract: a valid packet is completed
 * diagnostically, an invalid one is rejected, a slot whose type is still INVALID stops the queue.
 * "aql.md 3.2" below names a section of docs/formats/aql.md, where each fact has its source.
 *
 * Rules for the whole interface
 * - One device is one world; two devices share nothing. The caller serializes all calls on one
 *   device. There are no threads, clocks, callbacks or I/O in here; all work that a call causes is
 *   done when it returns, and it is bounded by the packets that are valid in the rings.
 * - Objects are named by 64-bit handles, or by device addresses for memory. A handle that is stale,
 *   forged or of another kind is refused, never followed.
 * - Everything is copied out: no pointer into the device leaves it. Out-parameters are written on
 *   SG_OK only, unless said otherwise.
 * - A call that fails changes nothing and, where aql.md 3.5 has no outcome for it, traces nothing.
 * - Handles, ids, addresses and the trace depend on the sequence of calls alone.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_PACKET_BYTES 64u /* hsa.h: every AQL packet */

/* Buffers of these sizes hold any text of their kind with its NUL; test_trace.c has the proof. */
#define SG_LINE_MAX 768u /* one trace event */
#define SG_DETAIL_MAX 128u /* one packet error, one kernarg class */
#define SG_STATE_MAX 256u /* all lines of a queue's state */

#define SG_MUST_CHECK __attribute__((warn_unused_result))

/* Status */

/* The words up to OUT_OF_RESOURCES are SoftGPU's (aql.md 10.2); the rest are ours. */
#define SG_STATUS_LIST(X)                                                                          \
	X(OK, "ok")                                                                                \
	X(NOT_INITIALIZED, "not_initialized")                                                      \
	X(INVALID_ARGUMENT, "invalid_argument")                                                    \
	X(INVALID_AGENT, "invalid_agent")                                                          \
	X(INVALID_REGION, "invalid_region")                                                        \
	X(INVALID_POOL, "invalid_pool")                                                            \
	X(INVALID_SIGNAL, "invalid_signal")                                                        \
	X(INVALID_QUEUE, "invalid_queue")                                                          \
	X(INVALID_QUEUE_CREATION, "invalid_queue_creation")                                        \
	X(INVALID_ALLOCATION, "invalid_allocation") /* larger than the object or the limit */      \
	X(OUT_OF_RESOURCES, "out_of_resources")                                                    \
	X(QUEUE_FULL, "queue_full") /* no free slot, and nothing that could free one now */        \
	X(QUEUE_ERROR, "queue_error") /* mode hsa: the queue takes no more packets */              \
	X(BUSY, "busy") /* fixed from the first packet on */                                       \
	X(NOT_FOUND, "not_found") /* never recorded, or dropped as the oldest */

enum sg_status {
#define X(id, name) SG_##id,
	SG_STATUS_LIST(X)
#undef X
};

/* Never NULL; "unknown" for a number outside the list. */
const char *sg_status_name(enum sg_status status);

/* Device */

struct sg_device;

/* Both functions get CTX. alloc returns zeroed storage for any object, or NULL. */
struct sg_allocator {
	void *(*alloc)(void *ctx, size_t count, size_t size);
	void (*release)(void *ctx, void *p);
	void *ctx;
};

/* Bounds of one device; softgpu/limits.h has the defaults, the caps and their arithmetic. */
struct sg_config {
	uint32_t max_queues; /* live at one time */
	uint32_t max_signals; /* live at one time, doorbells not counted */
	uint32_t trace_events; /* retained */
	uint32_t captures; /* retained */
	uint32_t verdicts; /* retained, per queue */
	uint32_t kernarg_bytes; /* copied with each capture; 0 copies none */
	uint64_t memory_total; /* bytes, counted in rounded sizes */
	uint64_t memory_single; /* bytes, largest size that may be asked for */
	struct sg_allocator mem; /* alloc NULL: calloc and free */
};

void sg_config_default(struct sg_config *config);

/*
 * Makes a device and initializes it once (event runtime_init). CONFIG may be NULL for the defaults.
 * INVALID_ARGUMENT: a bound is 0 or above its cap, or memory_total below 4096. OUT_OF_RESOURCES: no
 * memory. *DEV is NULL after any failure. The caller owns the device until sg_device_close().
 */
enum sg_status sg_device_open(const struct sg_config *config, struct sg_device **dev) SG_MUST_CHECK;

/* Frees all of it; waits that are still begun end as cancelled. NULL is allowed. */
void sg_device_close(struct sg_device *dev);

/*
 * init and shutdown count. The shutdown that reaches 0 destroys every object, cancels every wait
 * and clears the captures; until the next init all calls on objects give NOT_INITIALIZED.
 * Generations, queue ids, allocation ids, addresses, the trace and its numbers go on.
 */
enum sg_status sg_device_init(struct sg_device *dev);
enum sg_status sg_device_shutdown(struct sg_device *dev);

struct sg_device_info {
	struct sg_config config;
	uint64_t refcount; /* 0: shut down */
	uint64_t agent; /* handle, 0 when shut down */
	uint32_t live_queues;
	uint32_t live_signals; /* plain ones */
	uint32_t live_allocations;
	uint64_t memory_in_use; /* bytes, rounded sizes */
};

void sg_device_get_info(const struct sg_device *dev, struct sg_device_info *out);

/* Memory (aql.md 5) */

/* X(id, "name", kind, flags, location): the four views of the one allocator. */
#define SG_SPACE_LIST(X)                                                                           \
	X(REGION_FINE_KERNARG, "region_fine_kernarg", REGION, 3, SG_LOCATION_NONE)                 \
	X(REGION_COARSE, "region_coarse", REGION, 4, SG_LOCATION_NONE)                             \
	X(POOL_FINE_HOST, "pool_fine_host", POOL, 3, SG_LOCATION_CPU)                              \
	X(POOL_COARSE_DEVICE, "pool_coarse_device", POOL, 4, SG_LOCATION_GPU)

enum sg_location {
	SG_LOCATION_CPU = 0,
	SG_LOCATION_GPU = 1,
	SG_LOCATION_NONE = 2, /* regions have none */
};

enum sg_space {
#define X(id, name, kind, flags, location) SG_SPACE_##id,
	SG_SPACE_LIST(X)
#undef X
		SG_SPACE_COUNT,
};

struct sg_space_info {
	const char *name; /* static */
	uint64_t handle; /* 0 when shut down */
	uint32_t segment; /* 0: global */
	uint32_t flags; /* hsa.h: 1 kernarg, 2 fine grained, 4 coarse grained */
	enum sg_location location;
	uint64_t size; /* bytes, shared by all spaces */
	uint64_t in_use; /* bytes of this space, rounded sizes */
};

void sg_space_get_info(const struct sg_device *dev, enum sg_space space, struct sg_space_info *out);

struct sg_allocation_info {
	uint64_t base; /* device address, a multiple of 64 KiB, never given twice */
	uint64_t size; /* bytes, a multiple of 4096 */
	uint64_t id; /* from 1, one more per success, never given twice */
	enum sg_space space;
};

/*
 * SPACE is a handle of sg_space_get_info(). The bytes start as zeros.
 * INVALID_ARGUMENT: not a region or pool handle, or SIZE 0. INVALID_REGION, INVALID_POOL: stale.
 * INVALID_ALLOCATION: above memory_single. OUT_OF_RESOURCES: above what is left.
 * Event memory_allocate for success and for every failure from SIZE 0 on.
 */
enum sg_status sg_memory_allocate(struct sg_device *dev, uint64_t space, uint64_t size,
				  uint64_t *base) SG_MUST_CHECK;

/* INVALID_ARGUMENT unless BASE is exactly the base of a live allocation. Event memory_free. */
enum sg_status sg_memory_free(struct sg_device *dev, uint64_t base);

/* The live allocation that VA lies in. INVALID_ARGUMENT: none. */
enum sg_status sg_memory_find(const struct sg_device *dev, uint64_t va,
			      struct sg_allocation_info *out) SG_MUST_CHECK;

/*
 * Bytes of the allocation at BASE from OFF on. *DONE may be less than LEN at the end. A read from
 * the end or past it gives 0 bytes, a write there INVALID_ALLOCATION (LEN 0 always succeeds).
 * INVALID_ARGUMENT: no allocation has this base.
 */
enum sg_status sg_memory_read(const struct sg_device *dev, uint64_t base, uint64_t off,
			      uint8_t *buf, size_t len, size_t *done) SG_MUST_CHECK;
enum sg_status sg_memory_write(struct sg_device *dev, uint64_t base, uint64_t off,
			       const uint8_t *buf, size_t len, size_t *done) SG_MUST_CHECK;

/* Signals (aql.md 4) */

struct sg_signal_info {
	uint64_t handle;
	int64_t value;
	bool doorbell;
	uint64_t queue_id; /* of a doorbell, else 0 */
};

/* OUT_OF_RESOURCES: max_signals are live. Event signal_create. */
enum sg_status sg_signal_create(struct sg_device *dev, int64_t initial,
				uint64_t *handle) SG_MUST_CHECK;

/*
 * Makes the handle stale and cancels the waits on it. INVALID_ARGUMENT: a doorbell, which only its
 * queue can destroy. A barrier packet of mode hsa that depends on the signal becomes an error of
 * its queue. Event signal_destroy.
 */
enum sg_status sg_signal_destroy(struct sg_device *dev, uint64_t handle);

enum sg_status sg_signal_get_info(const struct sg_device *dev, uint64_t handle,
				  struct sg_signal_info *out) SG_MUST_CHECK;

/*
 * On a plain signal: sets the value; no event. On a doorbell: sg_queue_doorbell(). Either way,
 * blocked queues of mode hsa go on as far as the new value lets them.
 */
enum sg_status sg_signal_store(struct sg_device *dev, uint64_t handle, int64_t value);

enum sg_signal_role {
	SG_ROLE_COMPLETION, /* the packet stores to it when it completes */
	SG_ROLE_DEPENDENCY, /* the packet waits for it (acted on in mode hsa only) */
};

struct sg_signal_user {
	uint64_t queue_id;
	uint64_t packet_index;
	uint8_t packet_type;
	enum sg_signal_role role;
};

/*
 * The packets that are submitted and not done, and name this signal: queues in order of creation,
 * packets in order of id. Writes at most CAP of them; *TOTAL counts all. INVALID_SIGNAL: stale.
 */
enum sg_status sg_signal_users(const struct sg_device *dev, uint64_t handle,
			       struct sg_signal_user *out, size_t cap, size_t *total) SG_MUST_CHECK;

enum sg_condition { /* numbers of hsa.h, signed comparisons */
		    SG_CONDITION_EQ = 0,
		    SG_CONDITION_NE = 1,
		    SG_CONDITION_LT = 2,
		    SG_CONDITION_GTE = 3,
};

enum sg_outcome {
	SG_WAIT_PENDING,
	SG_WAIT_SATISFIED,
	SG_WAIT_TIMED_OUT,
	SG_WAIT_CANCELLED,
};

/*
 * A wait lives in the caller's storage, which must stay in place from begin to end. The members are
 * private. The outcome is latched: the first store that satisfies it, or the destroying of the
 * signal, decides, whatever comes after. The caller does the sleeping and keeps the time.
 */
struct sg_wait {
	struct sg_device *dev;
	struct sg_wait *next;
	struct sg_wait *prev;
	uint64_t signal;
	uint32_t condition;
	int64_t compare;
	int64_t value;
	enum sg_outcome outcome;
};

/* Tests once at the start. INVALID_SIGNAL, INVALID_ARGUMENT (condition): *WAIT needs no end. */
enum sg_status sg_wait_begin(struct sg_device *dev, uint64_t signal, uint32_t condition,
			     int64_t compare, struct sg_wait *wait) SG_MUST_CHECK;

/*
 * *VALUE is the value that decided; while pending, the present one. EXPIRED says that the caller's
 * deadline has passed and turns pending into timed out, for good.
 */
enum sg_outcome sg_wait_check(struct sg_wait *wait, bool expired, int64_t *value);

/* May be called again, and after sg_device_close(). */
void sg_wait_end(struct sg_wait *wait);

/* "pending", "satisfied", "timed_out", "cancelled" */
const char *sg_outcome_name(enum sg_outcome outcome);

/* Packets (aql.md 1, 2, 6) */

enum sg_mode {
	SG_MODE_SOFTGPU, /* the contract to the letter */
	SG_MODE_HSA, /* and: dependencies, barrier-value, decrement, error state */
};

const char *sg_mode_name(enum sg_mode mode); /* "softgpu", "hsa" */

/* "kernel_dispatch" and so on; "unassigned" above 5. */
const char *sg_packet_type_name(uint8_t type);

/* CODE is a row of softgpu/errors.def, ARG the number that its text shows; 0 and 0: no error. */
struct sg_packet_error {
	uint32_t code;
	uint64_t arg;
};

/*
 * The Rust debug spelling of aql.md 2.2, as in a trace event's detail; empty for no error. Returns
 * the length without the NUL; what does not fit is cut.
 */
size_t sg_packet_error_text(struct sg_packet_error err, char *buf, size_t size);

/* The HSA status that a real queue would report (aql.md 2.4); 0 for no error. */
uint32_t sg_packet_error_hsa_status(struct sg_packet_error err);

enum sg_kernarg_class {
	SG_KERNARG_NULL,
	SG_KERNARG_SOFTGPU, /* the base of a live allocation */
	SG_KERNARG_FOREIGN_OPAQUE, /* anything else, pointers into an allocation included */
};

struct sg_kernarg {
	enum sg_kernarg_class class;
	uint64_t address;
	uint64_t alloc_id; /* of class softgpu, else 0 */
};

const char *sg_kernarg_class_name(enum sg_kernarg_class class);

/* As in a trace event: "null", "softgpu:<alloc_id>", "foreign_opaque". Same rules as above. */
size_t sg_kernarg_text(struct sg_kernarg kernarg, char *buf, size_t size);

/* The normalized descriptor of aql.md 2.2; of barriers only the parts that the contract reads. */
struct sg_descriptor {
	uint64_t packet_index;
	uint8_t packet_type; /* low byte of the header */
	uint16_t header;
	uint16_t setup; /* kernel dispatch only, as all below up to kernarg */
	uint8_t dimensions;
	uint16_t workgroup_size[3];
	uint32_t grid_size[3]; /* work-items */
	uint32_t private_segment_size;
	uint32_t group_segment_size;
	uint64_t kernel_object;
	struct sg_kernarg kernarg;
	uint64_t completion_signal;
	uint8_t bytes[SG_PACKET_BYTES]; /* as observed */
};

/*
 * Parses without a device, so a kernarg address is null or foreign_opaque, never softgpu.
 * PACKET_INDEX is a label. MODE is that of the queue that a capture came from; SG_MODE_SOFTGPU for
 * bytes from elsewhere. False: *ERR says why and *OUT is untouched; true: *ERR is no error.
 */
bool sg_replay(const uint8_t *bytes, size_t len, uint64_t packet_index, enum sg_mode mode,
	       struct sg_descriptor *out, struct sg_packet_error *err);

/* Queues (aql.md 3, 10) */

/* X(id, "word"): why the processor is where it is. */
#define SG_STATE_LIST(X)                                                                           \
	X(ACTIVE, "active")                                                                        \
	X(STOPPED_INVALID, "stopped-invalid") /* the slot of state_index is not published */       \
	X(STOPPED_OVERRUN, "stopped-overrun") /* size packets in one go, state_index is next */    \
	X(BLOCKED_DEP, "blocked-dep") /* hsa: state_index waits for state_signal */                \
	X(ERROR, "error") /* hsa: for good, because of state_index */

enum sg_state {
#define X(id, word) SG_STATE_##id,
	SG_STATE_LIST(X)
#undef X
};

const char *sg_state_name(enum sg_state state);

struct sg_queue_info {
	uint64_t handle;
	uint64_t id; /* from 1, never given twice */
	uint32_t size; /* packets */
	uint32_t type; /* 0 multi, 1 single producer */
	uint32_t features; /* 1: kernel dispatch, a claim about the protocol only */
	enum sg_mode mode;
	bool paused;
	uint64_t base_address; /* of the ring */
	uint64_t doorbell; /* handle of the doorbell signal */
	int64_t doorbell_value;
	uint64_t doorbell_count; /* stores to it */
	uint64_t write_index;
	uint64_t read_index;
	uint64_t observed_through; /* the id that is observed next */
	uint64_t pending; /* submitted and not done, a blocked one included */
	uint64_t free_slots;
	enum sg_state state;
	uint64_t state_index;
	uint64_t state_signal; /* blocked-dep: 0 if all that it could wait for are null */
	uint32_t hsa_status; /* error */
	bool next_blocked; /* a published packet waits behind the blocked one */
	uint64_t index_back; /* index stores that lowered an index */
	uint64_t overruns; /* index stores that left write_index > read_index + size */
	uint64_t short_packets; /* sg_queue_count_short() */
};

/*
 * SIZE: a power of two, 64 to 16384, else INVALID_ARGUMENT. TYPE: 0 or 1, else
 * INVALID_QUEUE_CREATION. AGENT: the device's, else INVALID_AGENT. OUT_OF_RESOURCES: max_queues are
 * live, or no memory. Events signal_create (the doorbell), queue_create.
 */
enum sg_status sg_queue_create(struct sg_device *dev, uint64_t agent, uint32_t size, uint32_t type,
			       uint64_t *handle) SG_MUST_CHECK;

/* Packets that are not done vanish; waits on the doorbell are cancelled. Event queue_destroy. */
enum sg_status sg_queue_destroy(struct sg_device *dev, uint64_t queue);

enum sg_status sg_queue_get_info(const struct sg_device *dev, uint64_t queue,
				 struct sg_queue_info *out) SG_MUST_CHECK;

/*
 * The state as text, a word and its details per line: "paused" when it is, the state unless that is
 * active while paused, "blocked-barrier <id>" for the packet behind a blocked one, then "overrun",
 * "index-back" and "short-packet" with their counts unless 0. *LEN leaves out the NUL.
 */
enum sg_status sg_queue_state_text(const struct sg_device *dev, uint64_t queue, char *buf,
				   size_t size, size_t *len) SG_MUST_CHECK;

/* BUSY once write_index is not 0 or a packet has been observed. */
enum sg_status sg_queue_set_mode(struct sg_device *dev, uint64_t queue,
				 enum sg_mode mode) SG_MUST_CHECK;

/* While paused nothing is observed. false observes as a doorbell store would, without its event. */
enum sg_status sg_queue_set_paused(struct sg_device *dev, uint64_t queue, bool paused);

/* Stored as given: lower values and overruns are counted, not refused. Event queue_index_store. */
enum sg_status sg_queue_store_write_index(struct sg_device *dev, uint64_t queue, uint64_t value);
enum sg_status sg_queue_store_read_index(struct sg_device *dev, uint64_t queue, uint64_t value);

/* Adds COUNT to write_index; *OLD is what it was. INVALID_ARGUMENT: it would wrap. Same event. */
enum sg_status sg_queue_reserve(struct sg_device *dev, uint64_t queue, uint64_t count,
				uint64_t *old) SG_MUST_CHECK;

/*
 * Keeps VALUE, counts the store, observes and processes the ids from observed_through up to
 * write_index, at most size of them (aql.md 3.6). Event queue_doorbell first, then those of 3.4.
 */
enum sg_status sg_queue_doorbell(struct sg_device *dev, uint64_t queue, int64_t value);

/* Bytes of the ring; same rules as sg_memory_read() and sg_memory_write(). Nothing is observed. */
enum sg_status sg_queue_ring_read(const struct sg_device *dev, uint64_t queue, uint64_t off,
				  uint8_t *buf, size_t len, size_t *done) SG_MUST_CHECK;
enum sg_status sg_queue_ring_write(struct sg_device *dev, uint64_t queue, uint64_t off,
				   const uint8_t *buf, size_t len, size_t *done) SG_MUST_CHECK;

/*
 * COUNT whole packets at PACKETS: body, header, write_index, one doorbell store with the last id;
 * in as many rounds as free slots demand. *ACCEPTED may be less than COUNT; a rejected packet is an
 * accepted one here, its verdict tells. QUEUE_FULL: none accepted. QUEUE_ERROR: error state.
 */
enum sg_status sg_queue_publish(struct sg_device *dev, uint64_t queue, const uint8_t *packets,
				size_t count, size_t *accepted) SG_MUST_CHECK;

/* Counts a packet that was begun and dropped by the caller before its 64 bytes were there. */
enum sg_status sg_queue_count_short(struct sg_device *dev, uint64_t queue);

struct sg_slot {
	uint32_t slot;
	bool used; /* an id below write_index maps to it: the latest is id */
	uint64_t id; /* 0 unless used */
	bool pending;
	uint8_t bytes[SG_PACKET_BYTES];
};

/* INVALID_ARGUMENT: SLOT is not below size. */
enum sg_status sg_queue_get_slot(const struct sg_device *dev, uint64_t queue, uint32_t slot,
				 struct sg_slot *out) SG_MUST_CHECK;

/* Records */

struct sg_stats {
	uint64_t total; /* recorded; total - retained is the number of the oldest one there */
	uint64_t retained; /* readable */
	uint64_t dropped; /* the oldest, to make room */
	uint64_t capacity;
};

/* Of the trace the first number is 1, so the oldest event there is dropped + 1. */
void sg_trace_get_stats(const struct sg_device *dev, struct sg_stats *out);

struct sg_trace_cursor {
	uint64_t next; /* seq of the first event that is wanted; 0 and 1 mean all */
	uint64_t queue_id; /* only events that name this queue; 0: all events */
	uint64_t lost; /* counts events that were dropped before they could be read */
};

/*
 * The next event as one JSON line of aql.md 3.5, without a newline, and moves the cursor past it.
 * Returns its length, 0 if there is none now. SIZE must be at least SG_LINE_MAX. LOST grows by what
 * lay between the cursor and the oldest retained event, other queues' events included.
 */
size_t sg_trace_next(const struct sg_device *dev, struct sg_trace_cursor *cursor, char *buf,
		     size_t size);

struct sg_capture {
	uint64_t number; /* from 0 in order of completion, again from 0 after shutdown */
	uint64_t queue_id; /* the queue may be gone */
	enum sg_mode mode; /* for sg_replay() */
	struct sg_descriptor desc;
	uint64_t kernarg_alloc_id; /* allocation that the address lies in, 0: none */
	uint64_t kernarg_offset; /* of the address in it */
	uint32_t kernarg_len; /* bytes copied when the packet was accepted */
};

void sg_capture_get_stats(const struct sg_device *dev, struct sg_stats *out);

/* NOT_FOUND: NUMBER was not recorded yet, or is dropped. */
enum sg_status sg_capture_get(const struct sg_device *dev, uint64_t number,
			      struct sg_capture *out) SG_MUST_CHECK;

/* The kernarg bytes copied with it, at most SIZE. *LEN is how many there are. */
enum sg_status sg_capture_get_kernarg(const struct sg_device *dev, uint64_t number, uint8_t *buf,
				      size_t size, size_t *len) SG_MUST_CHECK;

enum sg_verdict_kind {
	SG_VERDICT_COMPLETE, /* "diagnostic_complete_no_execution" */
	SG_VERDICT_REJECTED, /* "diagnostic_rejected" */
};

const char *sg_verdict_name(enum sg_verdict_kind kind);

struct sg_verdict {
	uint64_t number; /* from 0, per queue */
	uint64_t packet_index;
	uint8_t packet_type;
	enum sg_verdict_kind kind;
	struct sg_packet_error error; /* of a rejected one */
	uint32_t hsa_status; /* 0 of a complete one */
	uint64_t completion_signal;
	bool completion_stored; /* the handle was a live plain signal and got its new value */
};

enum sg_status sg_verdict_get_stats(const struct sg_device *dev, uint64_t queue,
				    struct sg_stats *out) SG_MUST_CHECK;
enum sg_status sg_verdict_get(const struct sg_device *dev, uint64_t queue, uint64_t number,
			      struct sg_verdict *out) SG_MUST_CHECK;

#endif
