/*
 * fs: private header of the room. One struct gfs is one opened artifact: its source,
 * inventory and cache. Both programs (the mount and gpuobj) are thin fronts over the
 * functions here; none of them includes libfuse.
 *
 * Functions that return int give 0 or a negative errno unless they say otherwise.
 */
#ifndef GFS_INTERNAL_H
#define GFS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "decode.h"

struct gfs_source;
struct gfs_cache;
struct gfs_queues;

/* Exit statuses of both programs, documented in the man pages. */
enum gfs_exit {
	GFS_EXIT_OK = 0,
	GFS_EXIT_FAILURE = 1, /* mount, memory, output ... failed */
	GFS_EXIT_USAGE = 2, /* unknown option, missing or surplus argument */
	GFS_EXIT_ARTIFACT = 3, /* the artifact: unreadable, not a regular file, empty, changed */
	GFS_EXIT_REFUSED = 4, /* a kind of file that is not taken */
};

/* Why something failed, for a person; exit is what the program should end with. */
struct gfs_message {
	enum gfs_exit exit;
	char text[512];
};

void gfs_message_set(struct gfs_message *msg, enum gfs_exit exit, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Bounds of /queues: X(option, member of struct sg_config, "what it bounds"). */
#define GFS_QUEUE_BOUND_LIST(X)                                                                    \
	X(queue_max, max_queues, "queues that live")                                               \
	X(queue_signals, max_signals, "signals that live")                                         \
	X(queue_trace, trace_events, "events kept")                                                \
	X(queue_captures, captures, "captures kept")                                               \
	X(queue_verdicts, verdicts, "verdicts kept of a queue")                                    \
	X(queue_kernarg, kernarg_bytes, "argument bytes kept with a capture")                      \
	X(queue_memory, memory_total, "bytes of memory in all")                                    \
	X(queue_memory_single, memory_single, "bytes of one memory")

struct gfs_queue_options {
#define X(option, member, what) uint64_t member;
	GFS_QUEUE_BOUND_LIST(X)
#undef X
	uint64_t mode; /* of the files that can be written */
};

/* What both programs let the user set; options.h has the table of their spellings. */
struct gfs_options {
	const char *program; /* that speaks in the log; NULL: gpuobjfs */
	const char *artifact; /* path; NULL with sample set */
	bool sample; /* the artifact built into the program */
	bool read_only; /* leave /queues out, the fast mode of the mount */
	uint64_t cache; /* byte budget of decoded payloads and rendered text */
	const char *tmpdir; /* where decodes too large for the cache go */
	const char *sha256; /* refuse a file with another digest; NULL: any */
	struct gfs_queue_options queues;
	struct dec_limits limits;
};

struct gfs {
	struct gfs_options options;
	struct gfs_source *source;
	struct gfs_cache *cache;
	struct gfs_queues *queues; /* NULL: there is no /queues */
	struct dec_artifact *artifact;
	int id_width; /* digits of an id: 5, or what the largest index needs */
	uid_t uid; /* owner of every file */
	gid_t gid;
};

/* Opens source, inventory and cache. On failure *fs is NULL and msg says why. The strings
 * in options must outlive the gfs. */
int gfs_open(const struct gfs_options *options, struct gfs **fs, struct gfs_message *msg);
void gfs_close(struct gfs *fs);

#endif
