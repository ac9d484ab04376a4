/* Open files of /queues: the parts that are alike, and files of text. */
#include "tree.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queues.h"
#include "waiter.h"

/* ---- text ------------------------------------------------------------------------------ */

static bool text_room(struct gfs_text *t, size_t more)
{
	size_t room = t->room ? t->room : 128;
	char *p;

	while (room - t->len < more)
		room *= 2;
	if (room == t->room)
		return true;
	p = realloc(t->p, room);
	if (!p) {
		t->failed = true;
		return false;
	}
	t->p = p;
	t->room = room;
	return true;
}

void gfs_text_add(struct gfs_text *t, const char *p, size_t len)
{
	if (len == 0 || t->failed || !text_room(t, len))
		return;
	memcpy(t->p + t->len, p, len);
	t->len += len;
}

void gfs_text_print(struct gfs_text *t, const char *format, ...)
{
	char line[256]; /* all that is printed are words and numbers */
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	gfs_text_add(t, line, len < (int)sizeof(line) ? (size_t)len : sizeof(line) - 1);
}

void gfs_text_fini(struct gfs_text *t)
{
	free(t->p);
	*t = (struct gfs_text){ 0 };
}

void gfs_stats_print(struct gfs_text *t, const struct sg_stats *s)
{
	gfs_text_print(t,
		       "{\"total\":%" PRIu64 ",\"retained\":%" PRIu64 ",\"dropped\":%" PRIu64
		       ",\"capacity\":%" PRIu64 "}\n",
		       s->total, s->retained, s->dropped, s->capacity);
}

int gfs_parse_u64(const char *word, uint64_t *value)
{
	bool hex = word[0] == '0' && (word[1] == 'x' || word[1] == 'X');
	const char *digits = hex ? word + 2 : word;
	char *end;

	if (!isxdigit((unsigned char)*digits)) /* strtoull takes signs and blanks */
		return -EINVAL;
	errno = 0;
	*value = strtoull(digits, &end, hex ? 16 : 10);
	if (end == digits || *end)
		return -EINVAL;
	return -errno;
}

int gfs_parse_i64(const char *word, int64_t *value)
{
	bool minus = word[0] == '-';
	uint64_t most = (uint64_t)INT64_MAX + minus;
	uint64_t size;
	int rc = gfs_parse_u64(word + minus, &size);

	if (rc != 0)
		return rc;
	if (size > most)
		return -ERANGE;
	*value = minus ? (int64_t)(0 - size) : (int64_t)size;
	return 0;
}

void gfs_io_copy(struct gfs_io *io, uint64_t start, const void *p, size_t size)
{
	uint64_t at = io->offset - start;

	if (io->offset < start || at >= size)
		return;
	io->done = io->size < size - at ? io->size : (size_t)(size - at);
	memcpy(io->to, (const uint8_t *)p + at, io->done);
}

/* ---- opening ------------------------------------------------------------------------------ */

static bool can_write(const struct gfs_entry *entry)
{
	return entry->file->write && (entry->store || !entry->render);
}

static bool wants_write(int flags)
{
	return (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC;
}

static void list(struct gfs_queues *q, struct gfs_file *f)
{
	f->next = q->files;
	if (f->next)
		f->next->prev = f;
	q->files = f;
}

static void unlist(struct gfs_queues *q, struct gfs_file *f)
{
	if (f->next)
		f->next->prev = f->prev;
	if (f->prev)
		f->prev->next = f->next;
	else
		q->files = f->next;
}

/* False: the object is gone. */
static bool find_object(struct gfs_at *at)
{
	enum gfs_class class = at->node.entry->of;

	at->object = NULL;
	if (class == GFS_CLASS_NONE)
		return true;
	at->object = gfs_object_get(at->q, class, at->node.a);
	return at->object;
}

int gfs_file_open(struct gfs *fs, struct gfs_node node, int flags, struct gfs_file **file)
{
	const struct gfs_file_kind *kind = node.entry->file;
	struct gfs_file *f;
	bool there;

	if (gfs_is_dir(node))
		return -EISDIR;
	if (wants_write(flags) && !can_write(node.entry))
		return -EACCES;
	f = calloc(1, sizeof(*f) + kind->state);
	if (!f)
		return -ENOMEM;
	f->at = (struct gfs_at){ .fs = fs, .q = fs->queues, .node = node };
	f->kind = kind;
	f->state = f + 1;
	gfs_queues_lock(f->at.q);
	there = find_object(&f->at);
	if (there) {
		if (f->at.object)
			f->at.object->refs++;
		list(f->at.q, f);
	}
	gfs_queues_unlock(f->at.q);
	if (!there) {
		free(f);
		return -ENOENT;
	}
	*file = f;
	return 0;
}

void gfs_file_close(struct gfs_file *f)
{
	struct gfs_queues *q = f->at.q;

	gfs_queues_lock(q);
	if (f->kind->fini)
		f->kind->fini(f);
	unlist(q, f);
	if (f->poller) {
		q->watched--;
		f->poller->drop(f->poller);
	}
	gfs_object_put(f->at.object);
	gfs_queues_unlock(q);
	free(f);
}

/* ---- reading, writing, polling --------------------------------------------------------------- */

static bool is_gone(const struct gfs_file *f)
{
	return f->at.object && f->at.object->gone;
}

static void watch(struct gfs_file *f)
{
	if (!f->waiters && !f->poller)
		f->at.q->watched++;
}

static int await(struct gfs_file *f, const struct gfs_io *io)
{
	struct gfs_waiter *waiter = io->waiter;

	if (!waiter || io->flags & O_NONBLOCK)
		return -EAGAIN;
	watch(f);
	gfs_waiters_add(&f->waiters, waiter);
	return -EINPROGRESS;
}

/* What it has been told of may be over, and news then again. */
static void forget_told(struct gfs_file *f)
{
	if (f->poller && f->kind->ready)
		f->told &= f->kind->ready(f);
}

static int read_locked(struct gfs_file *f, struct gfs_io *io)
{
	int rc = is_gone(f) && !f->kind->outlives ? -ENODEV : f->kind->read(f, io);

	if (rc == -EAGAIN)
		return await(f, io);
	forget_told(f);
	return rc;
}

int gfs_file_read(struct gfs_file *f, int flags, uint64_t offset, void *buf, size_t size,
		  size_t *got, struct gfs_waiter *waiter)
{
	struct gfs_io io = {
		.offset = offset, .flags = flags, .to = buf, .size = size, .waiter = waiter
	};
	int rc;

	*got = 0;
	if (!f->kind->read)
		return 0;
	if (f->kind->apart) {
		rc = f->kind->read(f, &io);
	} else {
		gfs_queues_lock(f->at.q);
		rc = read_locked(f, &io);
		gfs_queues_unlock(f->at.q);
	}
	*got = io.done;
	return rc;
}

int gfs_file_write(struct gfs_file *f, int flags, uint64_t offset, const void *buf, size_t size,
		   size_t *put)
{
	struct gfs_io io = { .offset = offset, .flags = flags, .from = buf, .size = size };
	int rc;

	*put = 0;
	gfs_queues_lock(f->at.q);
	rc = is_gone(f) ? -ENODEV : f->kind->write(f, &io);
	/* what fails may have been traced */
	gfs_queues_changed(f->at.q, rc == 0 ? f->at.object : NULL);
	*put = io.done;
	return rc;
}

unsigned int gfs_file_poll(struct gfs_file *f, struct gfs_poller *poller)
{
	unsigned int events;

	gfs_queues_lock(f->at.q);
	events = f->kind->ready ? f->kind->ready(f) : POLLIN | POLLOUT;
	if (is_gone(f))
		events |= POLLHUP;
	if (poller) {
		watch(f);
		if (f->poller)
			f->poller->drop(f->poller);
		f->poller = poller;
		f->told = events;
	}
	gfs_queues_unlock(f->at.q);
	return events;
}

/* ---- attributes ------------------------------------------------------------------------------- */

/* The part of MODE that the options leave: where one may read, one may enter a directory. */
static mode_t mode_of(const struct gfs_queues *q, const struct gfs_entry *entry)
{
	if (S_ISDIR(entry->mode))
		return S_IFDIR | q->mode | (q->mode & 0444) >> 2;
	return S_IFREG | (q->mode & (entry->mode & 0200 ? 0666 : 0444));
}

int gfs_live_attr(struct gfs *fs, struct gfs_node node, struct stat *st)
{
	struct gfs_at at = { .fs = fs, .q = fs->queues, .node = node };
	struct timespec changed;

	gfs_queues_lock(at.q);
	if (!find_object(&at)) {
		gfs_queues_unlock(at.q);
		return -ENOENT;
	}
	changed = at.object ? gfs_object_changed(at.q, at.object) : at.q->changed;
	gfs_queues_unlock(at.q);
	st->st_mode = mode_of(at.q, node.entry);
	st->st_atim = changed;
	st->st_mtim = changed;
	st->st_ctim = changed;
	return 0;
}

int gfs_live_size(struct gfs *fs, struct gfs_node node, uint64_t *size)
{
	const struct gfs_file_kind *kind = node.entry->file;
	struct gfs_at at = { .fs = fs, .q = fs->queues, .node = node };
	int rc = 0;

	*size = 0;
	if (!kind->size)
		return 0;
	if (kind->apart)
		return kind->size(&at, size);
	gfs_queues_lock(at.q);
	rc = find_object(&at) ? kind->size(&at, size) : -ENOENT;
	gfs_queues_unlock(at.q);
	return rc;
}

/* ---- files of text ------------------------------------------------------------------------------ */

/* What the reader saw at offset 0 stays his until he comes back to it. */
struct seen {
	struct gfs_text text;
	bool begun;
};

static int render(const struct gfs_at *at, struct gfs_text *text)
{
	int rc = at->node.entry->render(at, text);

	if (rc == 0 && text->failed)
		rc = -ENOMEM;
	if (rc != 0)
		gfs_text_fini(text);
	return rc;
}

static int text_size(const struct gfs_at *at, uint64_t *size)
{
	struct gfs_text text = { 0 };
	int rc = render(at, &text);

	*size = text.len;
	gfs_text_fini(&text);
	return rc;
}

static bool must_render(const struct seen *seen, const struct gfs_io *io)
{
	return !seen->begun || io->offset == 0;
}

static void keep(struct seen *seen, struct gfs_text text)
{
	gfs_text_fini(&seen->text);
	seen->text = text;
	seen->begun = true;
}

static int text_read(struct gfs_file *f, struct gfs_io *io)
{
	struct seen *seen = f->state;
	struct gfs_text text = { 0 };
	int rc;

	if (must_render(seen, io)) {
		rc = render(&f->at, &text);
		if (rc != 0)
			return rc;
		keep(seen, text);
	}
	gfs_io_copy(io, 0, seen->text.p, seen->text.len);
	return 0;
}

/* Two threads may read one open file: the lock keeps what was seen whole. */
static int text_read_apart(struct gfs_file *f, struct gfs_io *io)
{
	struct seen *seen = f->state;
	struct gfs_text text = { 0 };
	struct gfs_at at = f->at;
	bool fresh;
	int rc = 0;

	at.waiter = io->waiter;
	gfs_queues_lock(at.q);
	fresh = must_render(seen, io);
	gfs_queues_unlock(at.q);
	if (fresh)
		rc = render(&at, &text);
	if (rc != 0)
		return rc;
	gfs_queues_lock(at.q);
	if (fresh)
		keep(seen, text);
	gfs_io_copy(io, 0, seen->text.p, seen->text.len);
	gfs_queues_unlock(at.q);
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool gfs_io_word(const struct gfs_io *io, char word[GFS_WORD_MAX + 1])
{
	const char *p = (const char *)io->from;
	size_t len = io->size;

	if (len && p[len - 1] == '\n')
		len--;
	while (len && is_blank(p[len - 1]))
		len--;
	for (; len && is_blank(*p); len--)
		p++;
	if (len == 0 || len > GFS_WORD_MAX || memchr(p, '\0', len))
		return false;
	memcpy(word, p, len);
	word[len] = '\0';
	return true;
}

static int text_write(struct gfs_file *f, struct gfs_io *io)
{
	char word[GFS_WORD_MAX + 1];
	int rc;

	if (io->offset != 0 && !(io->flags & O_APPEND))
		return -EINVAL;
	if (!gfs_io_word(io, word))
		return -EINVAL;
	rc = f->at.node.entry->store(&f->at, word);
	if (rc == 0)
		io->done = io->size;
	return rc;
}

static bool has_changed(struct gfs_file *f)
{
	struct seen *seen = f->state;
	struct gfs_text now = { 0 };
	bool changed;

	if (!seen->begun || (f->at.object && f->at.object->gone) || render(&f->at, &now) != 0)
		return true;
	changed = now.len != seen->text.len || memcmp(now.p, seen->text.p, now.len) != 0;
	gfs_text_fini(&now);
	return changed;
}

static unsigned int text_ready(struct gfs_file *f)
{
	if (!f->at.node.entry->watched)
		return POLLIN | POLLOUT;
	return has_changed(f) ? POLLIN | POLLPRI | POLLOUT : POLLOUT;
}

static void text_fini(struct gfs_file *f)
{
	struct seen *state = f->state;

	gfs_text_fini(&state->text);
}

const struct gfs_file_kind gfs_file_text = {
	.state = sizeof(struct seen),
	.size = text_size,
	.read = text_read,
	.write = text_write,
	.ready = text_ready,
	.fini = text_fini,
};

const struct gfs_file_kind gfs_file_text_apart = {
	.state = sizeof(struct seen),
	.apart = true,
	.size = text_size,
	.read = text_read_apart,
	.fini = text_fini,
};
