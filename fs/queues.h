/*
 * /queues: one software device, the objects that users made in it, and the files they have
 * open.
 *
 * One lock covers all of it. It is held for a bounded time, never while something waits.
 * Whoever is to be told of a change, a waiter or a poller, is told after its release.
 */
#ifndef GFS_QUEUES_H
#define GFS_QUEUES_H

#include <pthread.h>
#include <stdalign.h>
#include <sys/types.h>
#include <time.h>

#include "internal.h"
#include "node.h"
#include "softgpu.h"
#include "tree.h"

/* ---- objects ---------------------------------------------------------------------- */

/* What a row of the tree can belong to. */
enum gfs_class {
	GFS_CLASS_NONE,
	GFS_CLASS_QUEUE,
	GFS_CLASS_SIGNAL,
	GFS_CLASS_MEMORY,
	GFS_CLASS_COUNT,
};

#define GFS_OBJECT_NAME_MAX 64

struct gfs_object {
	enum gfs_class class;
	uint64_t number; /* of all objects of a mount, never given twice; in the node */
	uint64_t handle; /* of a queue or signal; the base of memory, 0: not allocated yet */
	enum sg_space space; /* of memory */
	bool gone; /* removed; lives on for the files that are open */
	unsigned int refs;
	struct timespec changed;
	uint64_t mark; /* what it looked like at that time, see gfs_object_changed() */
	char name[GFS_OBJECT_NAME_MAX + 1];
};

/* Live objects of one class. */
struct gfs_objects {
	struct gfs_object **at; /* by number */
	size_t count;
	size_t room;
	void *by_name; /* tsearch() */
};

struct gfs_queues {
	pthread_mutex_t lock;
	struct gfs *fs;
	struct sg_device *dev;
	struct gfs_objects objects[GFS_CLASS_COUNT];
	uint64_t last_number;
	uint64_t capture_base; /* captures that were made before the latest reset */
	struct timespec changed; /* by anybody, anything */
	mode_t mode; /* of files that can be written */
	struct { /* for the next mkdir */
		uint32_t size;
		uint32_t type;
		int64_t initial;
	} defaults;
	struct gfs_file *files; /* all that are open */
	unsigned int watched; /* of them, with a waiter or a poller */
	pthread_t timer; /* runs once a deadline was set */
	pthread_cond_t timer_wake;
	bool timer_runs;
	bool timer_stop;
};

/* Makes fs->queues. -EINVAL: a bound is out of range, -ENOMEM; msg says which. */
int gfs_queues_open(struct gfs *fs, struct gfs_message *msg);
/* Closes what is still open. NULL is fine. */
void gfs_queues_close(struct gfs_queues *q);

/* The same of its device alone, tree_queue_device.c. */
int gfs_device_open(const struct gfs_queue_options *options, struct sg_device **dev,
		    struct gfs_message *msg);

void gfs_queues_lock(struct gfs_queues *q);
/* After looking. */
void gfs_queues_unlock(struct gfs_queues *q);
/* After a change: unlocks, then tells those who waited for it. object may be NULL. */
void gfs_queues_changed(struct gfs_queues *q, struct gfs_object *object);

/* Takes a waiter back from the file that it waits for. False: it is not there. */
bool gfs_queues_cancel(struct gfs_queues *q, struct gfs_waiter *waiter);

/* Negative; 0 for SG_OK. */
int gfs_queues_errno(enum sg_status status);

/* What follows is for holders of the lock. */

struct gfs_object *gfs_object_get(struct gfs_queues *q, enum gfs_class class, uint64_t number);
/* The first one from a number on; NULL: none. */
struct gfs_object *gfs_object_from(struct gfs_queues *q, enum gfs_class class, uint64_t number);
struct gfs_object *gfs_object_named(struct gfs_queues *q, enum gfs_class class, const char *name);

int gfs_object_make(struct gfs_queues *q, enum gfs_class class, const char *name);
void gfs_object_remove(struct gfs_queues *q, struct gfs_object *object);
void gfs_object_put(struct gfs_object *object); /* ends a reference */

/* When it changed last, by itself or by what was done to another object. */
struct timespec gfs_object_changed(struct gfs_queues *q, struct gfs_object *object);

/* Shuts the device down and starts it anew. */
void gfs_queues_reset(struct gfs_queues *q);

/* Monotonic nanoseconds. */
uint64_t gfs_queues_now(void);
/* Sees to it that the deadline of a file is acted on. -EAGAIN and the like: no thread. */
int gfs_queues_set_deadline(struct gfs_file *file, uint64_t deadline);

/* ---- text ------------------------------------------------------------------------- */

/* Grows; once memory runs out it stays as it is and failed is set. */
struct gfs_text {
	char *p;
	size_t len;
	size_t room;
	bool failed;
};

void gfs_text_add(struct gfs_text *text, const char *p, size_t len);
void gfs_text_print(struct gfs_text *text, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void gfs_text_fini(struct gfs_text *text);

/* One number, decimal or 0x. -EINVAL: something else; -ERANGE: too large or small. */
int gfs_parse_u64(const char *word, uint64_t *value);
int gfs_parse_i64(const char *word, int64_t *value);

/* ---- files ------------------------------------------------------------------------ */

/* What a row's functions work on. */
struct gfs_at {
	struct gfs *fs;
	struct gfs_queues *q;
	struct gfs_object *object; /* of the row's class, NULL: it has none */
	struct gfs_node node;
	struct gfs_waiter *waiter; /* for render() that is apart, NULL: it may sleep */
};

/* One read or write. */
struct gfs_io {
	uint64_t offset;
	int flags; /* of the open file: O_APPEND, O_NONBLOCK */
	uint8_t *to; /* of a read */
	const uint8_t *from; /* of a write */
	size_t size;
	size_t done;
	struct gfs_waiter *waiter; /* of a read, NULL: it may sleep */
};

/*
 * An open file. Every open has its own: what a reader sees, and what a writer has begun, is
 * nobody else's.
 */
struct gfs_file {
	alignas(max_align_t) struct gfs_at at; /* so that state can lie behind the struct */
	const struct gfs_file_kind *kind;
	struct gfs_file *next;
	struct gfs_file *prev;
	struct gfs_waiter *waiters;
	struct gfs_poller *poller;
	unsigned int told; /* what the poller knows to be ready */
	uint64_t deadline; /* monotonic nanoseconds, 0: none */
	void *state; /* of the kind, zeroed at first */
};

/*
 * How files behave. All functions have the lock but those of a kind that is `apart`, which
 * take it themselves.
 */
struct gfs_file_kind {
	size_t state; /* bytes of gfs_file.state */
	bool apart;
	bool outlives; /* read() knows what to do when the object is gone */
	int (*size)(const struct gfs_at *at, uint64_t *size);
	/* -EAGAIN: nothing yet. The caller then waits until ready() has POLLIN. */
	int (*read)(struct gfs_file *file, struct gfs_io *io);
	int (*write)(struct gfs_file *file, struct gfs_io *io);
	unsigned int (*ready)(struct gfs_file *file); /* poll(2) bits; NULL: always both */
	void (*expire)(struct gfs_file *file); /* the deadline has passed */
	void (*fini)(struct gfs_file *file);
	/* Of logs: the next line with its newline, at most GFS_LINE_MAX bytes, and moves on.
	 * 0: none now. */
	size_t (*line)(const struct gfs_at *at, struct sg_trace_cursor *cursor, char *line);
};

#define GFS_LINE_MAX (SG_LINE_MAX + 1)

extern const struct gfs_file_kind gfs_file_text; /* render(), store() */
extern const struct gfs_file_kind gfs_file_text_apart; /* the same, render() locks */
extern const struct gfs_file_kind gfs_file_ring;
extern const struct gfs_file_kind gfs_file_data;
extern const struct gfs_file_kind gfs_file_capture;
extern const struct gfs_file_kind gfs_file_packets;
extern const struct gfs_file_kind gfs_file_trace;
extern const struct gfs_file_kind gfs_file_trace_pipe;
extern const struct gfs_file_kind gfs_file_verdicts;
extern const struct gfs_file_kind gfs_file_reserve;
extern const struct gfs_file_kind gfs_file_wait;
extern const struct gfs_file_kind gfs_file_replay;

/* For read(): copies what lies at the offset, counted from start. */
void gfs_io_copy(struct gfs_io *io, uint64_t start, const void *p, size_t size);

/* For write(): one whole write is one command; its blanks and one newline at the end go. No
 * command is longer: "gte", two numbers of 20 digits and a sign. False: it is none. */
#define GFS_WORD_MAX 127
bool gfs_io_word(const struct gfs_io *io, char word[GFS_WORD_MAX + 1]);

/* Mode and times, on top of what all nodes have. */
int gfs_live_attr(struct gfs *fs, struct gfs_node node, struct stat *st);
int gfs_live_size(struct gfs *fs, struct gfs_node node, uint64_t *size);

/* ---- tables ----------------------------------------------------------------------- */

/* clang-format off */
#define LIVE_DIR(i, n, ...) \
	{ .id = (i), .name = (n), .mode = DIR_MODE, .live = true, __VA_ARGS__ }
#define LIVE_FILE(i, n, how, ...) \
	{ .id = (i), .name = (n), .mode = FILE_MODE, .live = true, .file = (how), __VA_ARGS__ }
#define LIVE_RW_FILE(i, n, how, ...) \
	{ .id = (i), .name = (n), .mode = S_IFREG | 0644, .live = true, .file = (how), __VA_ARGS__ }
#define SHOW_ROW(i, n, fn, ...) \
	LIVE_FILE(i, n, &gfs_file_text, .render = (fn), __VA_ARGS__)
#define STORE_ROW(i, n, fn, to, ...) \
	LIVE_RW_FILE(i, n, &gfs_file_text, .render = (fn), .store = (to), __VA_ARGS__)
/* clang-format on */

/* Of queues, signals and memory alike: the class is that of the row of an element. */
bool gfs_objects_next(struct gfs *fs, const struct gfs_elements *e, struct gfs_node dir,
		      uint64_t *number);
int gfs_objects_name(struct gfs *fs, const struct gfs_elements *e, struct gfs_node dir,
		     uint64_t number, char name[GFS_NAME_MAX + 1]);
int gfs_objects_find(struct gfs *fs, const struct gfs_elements *e, struct gfs_node dir,
		     const char *name, uint64_t *number);
int gfs_objects_make(struct gfs *fs, const struct gfs_elements *e, const char *name);
int gfs_objects_remove(struct gfs *fs, struct gfs_node node);

/* Elements that are called by decimal numbers with a suffix, gfs_elements.suffix. */
void gfs_number_name(const struct gfs_elements *e, uint64_t number, char name[GFS_NAME_MAX + 1]);
bool gfs_number_parse(const struct gfs_elements *e, const char *name, uint64_t *number);

extern const struct gfs_entry gfs_queue_dir[]; /* tree_queue_one.c */
extern const struct gfs_entry gfs_signal_dir[]; /* tree_queue_objects.c */
extern const struct gfs_entry gfs_memory_dir[]; /* tree_queue_objects.c */
extern const struct gfs_elements gfs_captures; /* tree_queue_capture.c */

/* ---- what several files show -------------------------------------------------------- */

struct gfs_json;
struct cJSON;

/* What may be wrong with a packet that dispatches a kernel of the artifact. */
#define GFS_FINDING_LIST(X)                                                                        \
	X(kernarg_missing)                                                                         \
	X(kernarg_foreign)                                                                         \
	X(kernarg_short)                                                                           \
	X(kernarg_misaligned)                                                                      \
	X(group_segment_small)                                                                     \
	X(private_segment_small)                                                                   \
	X(workgroup_too_large)                                                                     \
	X(workgroup_not_required)

/* {"total":..,"retained":..,"dropped":..,"capacity":..} */
void gfs_stats_print(struct gfs_text *text, const struct sg_stats *stats);
/* The descriptor's keys in the order of aql.md 2.2, tree_queue_capture.c */
void gfs_descriptor_put(struct gfs_json *w, struct cJSON *in, const struct sg_descriptor *desc,
			uint64_t queue_id);
/* "0x" and 16 digits, "0x0" for none. */
void gfs_handle_put(struct gfs_json *w, struct cJSON *in, const char *key, uint64_t handle);
/* Ends the writer; on one line where the file has one line per answer. */
int gfs_json_text_end(struct gfs_json *w, bool one_line, struct gfs_text *text);
/* The key "binding": what the packet's kernel_object names and how they fit,
 * tree_queue_binding.c. Without the lock. kernarg has c->kernarg_len bytes. */
int gfs_binding_put(const struct gfs_at *at, struct gfs_json *w, struct cJSON *in,
		    const struct sg_capture *c, const uint8_t *kernarg);

#endif
