#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cache.h"
#include "queues.h"
#include "source.h"
#include "tree.h"

/* Decodes of the largest payload allowed that temporary files may hold together. */
#define SPILL_PAYLOADS 4

/* Ids have at least this many digits, so that small artifacts look alike. */
#define ID_WIDTH_MIN 5

void gfs_message_set(struct gfs_message *msg, enum gfs_exit exit, const char *format, ...)
{
	va_list args;

	msg->exit = exit;
	va_start(args, format);
	vsnprintf(msg->text, sizeof(msg->text), format, args);
	va_end(args);
}

static int no_memory(const struct gfs *fs, struct gfs_message *msg)
{
	gfs_message_set(msg, GFS_EXIT_FAILURE, "%s: out of memory", gfs_source_name(fs->source));
	return -ENOMEM;
}

static int has_changed(const struct gfs *fs, struct gfs_message *msg)
{
	gfs_message_set(msg, GFS_EXIT_ARTIFACT, "%s: changed while it was being read",
			gfs_source_name(fs->source));
	return -ESTALE;
}

static int check_digest(struct gfs *fs, struct gfs_message *msg)
{
	const char *name = gfs_source_name(fs->source);
	char hex[65];
	int rc;

	if (!fs->options.sha256)
		return 0;
	rc = gfs_source_sha256(fs->source, hex, NULL);
	if (rc == -ESTALE)
		return has_changed(fs, msg);
	if (rc != 0) {
		gfs_message_set(msg, GFS_EXIT_ARTIFACT, "%s: cannot be read (%s)", name,
				strerror(-rc));
		return rc;
	}
	if (strcasecmp(hex, fs->options.sha256) != 0) {
		gfs_message_set(msg, GFS_EXIT_ARTIFACT, "%s: its sha256 is %s, expected %s", name,
				hex, fs->options.sha256);
		return -EINVAL;
	}
	return 0;
}

static int explain(const struct gfs *fs, const struct dec_error *err, struct gfs_message *msg)
{
	const char *name = gfs_source_name(fs->source);

	switch (err->status) {
	case DEC_E_READ:
		gfs_message_set(msg, GFS_EXIT_ARTIFACT,
				"%s: cannot be read at offset %" PRIu64 " (%s)", name, err->offset,
				strerror(err->sys_errno));
		return err->sys_errno ? -err->sys_errno : -EIO;
	case DEC_E_REFUSED:
		if (err->offset)
			gfs_message_set(msg, GFS_EXIT_REFUSED, "%s: %s (at offset %" PRIu64 ")",
					name, err->sentence, err->offset);
		else
			gfs_message_set(msg, GFS_EXIT_REFUSED, "%s: %s", name, err->sentence);
		return -EINVAL;
	case DEC_OK:
	case DEC_E_DATA:
	case DEC_E_NOMEM:
		break;
	}
	return no_memory(fs, msg);
}

static int open_inventory(struct gfs *fs, struct gfs_message *msg)
{
	struct dec_error err = { .status = DEC_OK };

	fs->artifact = dec_open(gfs_source_plain(fs->source), gfs_source_name(fs->source),
				&fs->options.limits, &err);
	/* First, because a file that shrinks looks like one that cannot be read. */
	if (gfs_source_check(fs->source) != 0)
		return has_changed(fs, msg);
	return fs->artifact ? 0 : explain(fs, &err, msg);
}

/* Of what has ids; there are no more targets than objects. */
static uint32_t largest_count(const struct dec_artifact *a)
{
	return a->container_count > a->object_count ? a->container_count : a->object_count;
}

/* Only limits raised far beyond their defaults get here. */
static int check_counts(const struct gfs *fs, struct gfs_message *msg)
{
	if (largest_count(fs->artifact) <= GFS_INDEX_MAX)
		return 0;
	gfs_message_set(msg, GFS_EXIT_REFUSED, "%s: more than %" PRIu32 " containers or objects",
			gfs_source_name(fs->source), (uint32_t)GFS_INDEX_MAX);
	return -EFBIG;
}

static int id_width(const struct dec_artifact *a)
{
	uint32_t largest = largest_count(a);
	int width = 1;

	for (uint32_t last = largest ? largest - 1 : 0; last >= 10; last /= 10)
		width++;
	return width > ID_WIDTH_MIN ? width : ID_WIDTH_MIN;
}

/*
 * The budget is what users see of the process, so a sixth of it is left to what malloc loses
 * between blobs of all sizes; measured after a walk over 47,000 kernels: a seventh. That
 * holds for one heap. With one per thread, blobs made by one and freed by another leave twice
 * as much behind, and what these programs allocate is too little to wait for each other.
 */
#define MALLOC_SHARE 6

/*
 * Fresh memory costs a page fault every 4 KiB, about what decoding into it costs. So blocks as
 * large as malloc allows come from the heap, where the next decode finds them again, and the
 * heap shrinks only when this much is free at its end. Both are malloc's own limits otherwise:
 * 128 KiB, which would give back the buffers of each decode.
 */
#define HEAP_BLOCK_MAX (32 << 20)
#define HEAP_SLACK (16 << 20)

static void tune_malloc(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, HEAP_BLOCK_MAX);
	mallopt(M_TRIM_THRESHOLD, HEAP_SLACK);
}

static int open_cache(struct gfs *fs, struct gfs_message *msg)
{
	const struct gfs_options *o = &fs->options;
	uint64_t payload = o->limits.max_payload;
	uint64_t spill =
		payload < UINT64_MAX / SPILL_PAYLOADS ? payload * SPILL_PAYLOADS : UINT64_MAX;

	tune_malloc();
	/* What grows past a limit of the shell (ulimit -f) is an error, and not the end. */
	signal(SIGXFSZ, SIG_IGN);
	fs->cache = gfs_cache_new(o->cache - o->cache / MALLOC_SHARE, spill, o->tmpdir);
	return fs->cache ? 0 : no_memory(fs, msg);
}

/*
 * A descriptor of ours must not become a standard stream that is closed: what is meant for the
 * stream would go there, and a daemon puts /dev/null in its place. It can be read and written as
 * little as before.
 */
static void keep_streams_closed(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return;
	}
}

int gfs_open(const struct gfs_options *options, struct gfs **out, struct gfs_message *msg)
{
	struct gfs *fs = calloc(1, sizeof(*fs));
	int rc;

	*out = NULL;
	keep_streams_closed();
	if (!fs) {
		gfs_message_set(msg, GFS_EXIT_FAILURE, "out of memory");
		return -ENOMEM;
	}
	fs->options = *options;
	fs->uid = getuid();
	fs->gid = getgid();
	rc = gfs_source_open(options, &fs->source, msg);
	if (rc == 0)
		rc = check_digest(fs, msg);
	if (rc == 0)
		rc = open_inventory(fs, msg);
	if (rc == 0)
		rc = check_counts(fs, msg);
	if (rc == 0)
		rc = open_cache(fs, msg);
	if (rc != 0) {
		gfs_close(fs);
		return rc;
	}
	fs->id_width = id_width(fs->artifact);
	*out = fs;
	return 0;
}

void gfs_close(struct gfs *fs)
{
	if (!fs)
		return;
	/* First: its thread may still call a waiter, which may read. */
	gfs_source_close(fs->source);
	gfs_queues_close(fs->queues);
	gfs_cache_free(fs->cache);
	dec_close(fs->artifact);
	free(fs);
}
