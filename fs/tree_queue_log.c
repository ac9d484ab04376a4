/* Files of lines that grow: traces, verdicts, and the pipe. */
#include "tree.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "queues.h"

/* ---- where lines come from ---------------------------------------------------------------- */

static size_t trace_line(const struct gfs_at *at, struct sg_trace_cursor *cursor, char *line)
{
	struct sg_queue_info info;
	size_t len;

	if (at->object && !cursor->queue_id) {
		if (sg_queue_get_info(at->q->dev, at->object->handle, &info) != SG_OK)
			return 0;
		cursor->queue_id = info.id;
	}
	len = sg_trace_next(at->q->dev, cursor, line, SG_LINE_MAX);
	if (len)
		line[len++] = '\n';
	return len;
}

/* A JSON string; OUT has room for twice the text. */
static void quote(const char *text, char *out)
{
	*out++ = '"';
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			*out++ = '\\';
		*out++ = *text;
	}
	strcpy(out, "\"");
}

static size_t print_verdict(const struct sg_verdict *v, char *line)
{
	char detail[SG_DETAIL_MAX];
	char quoted[2 * SG_DETAIL_MAX + 3] = "null";
	char status[16] = "null";

	if (v->hsa_status) {
		sg_packet_error_text(v->error, detail, sizeof(detail));
		quote(detail, quoted);
		snprintf(status, sizeof(status), "\"0x%04" PRIx32 "\"", v->hsa_status);
	}
	return (size_t)snprintf(line, GFS_LINE_MAX,
				"{\"id\":%" PRIu64 ",\"type\":\"%s\",\"verdict\":\"%s\","
				"\"detail\":%s,\"hsa_status\":%s,\"completion_stored\":%s}\n",
				v->packet_index, sg_packet_type_name(v->packet_type),
				sg_verdict_name(v->kind), quoted, status,
				v->completion_stored ? "true" : "false");
}

/* The cursor's next is the number of the verdict here. */
static size_t verdict_line(const struct gfs_at *at, struct sg_trace_cursor *cursor, char *line)
{
	struct sg_verdict verdict;
	struct sg_stats stats;

	if (sg_verdict_get_stats(at->q->dev, at->object->handle, &stats) != SG_OK)
		return 0;
	if (cursor->next < stats.dropped)
		cursor->next = stats.dropped;
	if (sg_verdict_get(at->q->dev, at->object->handle, cursor->next, &verdict) != SG_OK)
		return 0;
	cursor->next++;
	return print_verdict(&verdict, line);
}

/* ---- what a reader sees ----------------------------------------------------------------------- */

/* A follower's text is thrown away behind him once it is longer than this. */
#define KEEP_MAX ((size_t)4 << 20)

struct log {
	struct gfs_text text;
	uint64_t start; /* offset of the text in the file */
	struct sg_trace_cursor cursor; /* what comes after the text */
	bool begun;
	bool ended; /* the reader was told of the end */
};

static int log_size(const struct gfs_at *at, uint64_t *size)
{
	struct sg_trace_cursor cursor = { 0 };
	char line[GFS_LINE_MAX];
	size_t len;

	while ((len = at->node.entry->file->line(at, &cursor, line)) != 0)
		*size += len;
	return 0;
}

static int gather(struct gfs_file *f, struct log *log)
{
	char line[GFS_LINE_MAX];
	size_t len;

	while ((len = f->kind->line(&f->at, &log->cursor, line)) != 0)
		gfs_text_add(&log->text, line, len);
	if (!log->text.failed)
		return 0;
	gfs_text_fini(&log->text);
	log->begun = false;
	return -ENOMEM;
}

static int begin(struct gfs_file *f, struct log *log)
{
	gfs_text_fini(&log->text);
	*log = (struct log){ .begun = true };
	return gather(f, log);
}

static int follow(struct gfs_file *f, struct log *log)
{
	if (log->text.len > KEEP_MAX) {
		log->start += log->text.len;
		log->text.len = 0;
	}
	return gather(f, log);
}

/* The first read at the end says that it is the end, so that cat stops; one that comes
 * back for more, as tail -f does, gets what there is by then. */
static int log_read(struct gfs_file *f, struct gfs_io *io)
{
	struct log *log = f->state;
	int rc = 0;

	if (!log->begun || io->offset == 0) {
		rc = begin(f, log);
	} else if (io->offset >= log->start + log->text.len) {
		if (log->ended)
			rc = follow(f, log);
		else
			log->ended = true;
	}
	if (rc != 0)
		return rc;
	if (io->offset < log->start)
		return -ESPIPE; /* thrown away */
	gfs_io_copy(io, log->start, log->text.p, log->text.len);
	if (io->done)
		log->ended = false;
	return 0;
}

static void log_fini(struct gfs_file *f)
{
	struct log *state = f->state;

	gfs_text_fini(&state->text);
}

const struct gfs_file_kind gfs_file_trace = {
	.state = sizeof(struct log),
	.size = log_size,
	.read = log_read,
	.fini = log_fini,
	.line = trace_line,
};

const struct gfs_file_kind gfs_file_verdicts = {
	.state = sizeof(struct log),
	.size = log_size,
	.read = log_read,
	.fini = log_fini,
	.line = verdict_line,
};

/* ---- trace_pipe ---------------------------------------------------------------------------------- */

#define LOST_MAX 64

struct pipe {
	struct sg_trace_cursor cursor;
	char line[LOST_MAX + GFS_LINE_MAX]; /* the one that is being handed out */
	size_t len;
	size_t at;
};

/* The next event, behind a line that says how many were dropped before it. */
static bool fetch(struct gfs_file *f, struct pipe *pipe)
{
	char event[GFS_LINE_MAX];
	size_t len;

	pipe->cursor.lost = 0;
	pipe->at = 0;
	pipe->len = 0;
	len = trace_line(&f->at, &pipe->cursor, event);
	if (len == 0)
		return false;
	if (pipe->cursor.lost)
		pipe->len = (size_t)snprintf(pipe->line, LOST_MAX,
					     "{\"type\":\"trace_lost\",\"count\":%" PRIu64 "}\n",
					     pipe->cursor.lost);
	memcpy(pipe->line + pipe->len, event, len);
	pipe->len += len;
	return true;
}

/* Whole lines as long as they fit; a reader of single bytes gets pieces. */
static int pipe_read(struct gfs_file *f, struct gfs_io *io)
{
	struct pipe *pipe = f->state;

	while (io->done < io->size) {
		size_t room = io->size - io->done;
		size_t n;

		if (pipe->at == pipe->len && !fetch(f, pipe))
			break;
		n = pipe->len - pipe->at;
		if (n > room && io->done)
			break;
		n = n < room ? n : room;
		memcpy(io->to + io->done, pipe->line + pipe->at, n);
		pipe->at += n;
		io->done += n;
	}
	return io->done || io->size == 0 ? 0 : -EAGAIN;
}

static unsigned int pipe_ready(struct gfs_file *f)
{
	const struct pipe *pipe = f->state;
	uint64_t next = pipe->cursor.next ? pipe->cursor.next : 1;
	struct sg_stats stats;

	sg_trace_get_stats(f->at.q->dev, &stats);
	return pipe->at < pipe->len || next <= stats.total ? POLLIN : 0;
}

const struct gfs_file_kind gfs_file_trace_pipe = {
	.state = sizeof(struct pipe),
	.read = pipe_read,
	.ready = pipe_ready,
};
