/*
 * Reading through the mount. A read that must wait for another thread's decode, or for the
 * digest, gives its worker thread back and is answered by the thread that makes the bytes.
 */
#include "fuse_internal.h"

#include <errno.h>
#include <stdlib.h>

/* The size of a read that the kernel's read-ahead makes. Smaller ones share the buffer. */
#define BUFFER_MIN ((size_t)128 << 10)

/* ---- buffers ---------------------------------------------------------------------- */

void gfs_buffer_free(void *arg)
{
	struct gfs_buffer *buffer = arg;

	if (buffer)
		free(buffer->data);
	free(buffer);
}

static struct gfs_buffer *buffer_new(size_t size)
{
	struct gfs_buffer *buffer = malloc(sizeof(*buffer));

	if (!buffer)
		return NULL;
	buffer->size = size > BUFFER_MIN ? size : BUFFER_MIN;
	buffer->data = malloc(buffer->size);
	if (buffer->data)
		return buffer;
	free(buffer);
	return NULL;
}

/*
 * The thread's buffer, which is its own until gfs_buffer_put(). A read that this thread
 * finishes for somebody else comes in the middle of its own, finds none, and gets another.
 */
struct gfs_buffer *gfs_buffer_take(struct gfs_front *front, size_t size)
{
	struct gfs_buffer *buffer = pthread_getspecific(front->buffer);

	pthread_setspecific(front->buffer, NULL);
	if (buffer && buffer->size >= size)
		return buffer;
	gfs_buffer_free(buffer);
	return buffer_new(size);
}

void gfs_buffer_put(struct gfs_front *front, struct gfs_buffer *buffer)
{
	if (!pthread_getspecific(front->buffer) && pthread_setspecific(front->buffer, buffer) == 0)
		return;
	gfs_buffer_free(buffer);
}

/* ---- reads ------------------------------------------------------------------------ */

/*
 * Whose a read is: in STARTING the thread's that runs it; in WAITING nobody's, until
 * on_done() or on_interrupt() takes it. These two may also come while it is STARTING: then
 * they leave word, and that thread goes on.
 */
enum reading_state { STARTING, WAITING, DONE, CANCELLED };

struct gfs_reading {
	struct gfs_waiter waiter; /* first: on_done() gets from it to the whole */
	struct gfs_front *front;
	fuse_req_t req;
	struct gfs_node node;
	struct gfs_file *file; /* of /queues, NULL: node is read */
	int flags; /* of the open file */
	uint64_t offset;
	size_t size;
	enum reading_state state;
	bool listed;
	struct gfs_reading *prev;
	struct gfs_reading *next;
};

static void list(struct gfs_reading *read)
{
	struct gfs_front *front = read->front;

	read->listed = true;
	read->prev = NULL;
	read->next = front->reads;
	if (read->next)
		read->next->prev = read;
	front->reads = read;
}

static void unlist(struct gfs_reading *read)
{
	if (read->next)
		read->next->prev = read->prev;
	if (read->prev)
		read->prev->next = read->next;
	else
		read->front->reads = read->next;
}

static void reading_free(struct gfs_reading *read)
{
	struct gfs_front *front = read->front;

	if (read->listed) { /* true only for a read that waited: the others take no lock */
		pthread_mutex_lock(&front->lock);
		unlist(read);
		pthread_cond_signal(&front->changed);
		pthread_mutex_unlock(&front->lock);
	}
	free(read);
}

/* STARTING: nobody came, the read waits now and is no longer ours. Else: who came. */
static enum reading_state park(struct gfs_reading *read)
{
	struct gfs_front *front = read->front;
	enum reading_state found;

	pthread_mutex_lock(&front->lock);
	if (!read->listed)
		list(read);
	found = read->state;
	read->state = found == STARTING ? WAITING : STARTING;
	pthread_cond_signal(&front->changed);
	pthread_mutex_unlock(&front->lock);
	return found;
}

/* True: the read waited and is the caller's now. Else the word is left. */
static bool claim(struct gfs_reading *read, enum reading_state word)
{
	bool mine;

	pthread_mutex_lock(&read->front->lock);
	mine = read->state == WAITING;
	read->state = mine ? STARTING : word;
	pthread_mutex_unlock(&read->front->lock);
	return mine;
}

/* libfuse holds the request's own lock. */
static void on_interrupt(fuse_req_t req, void *data)
{
	struct gfs_reading *read = data;

	if (!gfs_waiter_cancel(read->front->fs, &read->waiter))
		return; /* on_done() has it or will */
	if (!claim(read, CANCELLED))
		return;
	fuse_reply_err(req, EINTR);
	reading_free(read);
}

static int read_once(struct gfs_reading *read, char *data, struct gfs_answer *answer)
{
	fuse_req_t before;
	int err;

	*answer = (struct gfs_answer){ .bytes = data };
	if (read->file)
		return gfs_file_read(read->file, read->flags, read->offset, data, read->size,
				     &answer->size, &read->waiter);
	before = gfs_front_stoppable(read->req);
	err = gfs_read_answer(read->front->fs, read->node, read->offset, data, read->size, answer,
			      &read->waiter);
	gfs_front_stoppable(before);
	return err;
}

/* -EINPROGRESS: the read waits and is no longer ours. */
static int read_bytes(struct gfs_reading *read, char *data, struct gfs_answer *answer)
{
	for (;;) {
		int err = read_once(read, data, answer);
		enum reading_state found;

		if (err != -EINPROGRESS)
			return err;
		fuse_req_interrupt_func(read->req, on_interrupt, read);
		found = park(read);
		if (found == STARTING)
			return -EINPROGRESS;
		fuse_req_interrupt_func(read->req, NULL, NULL);
		if (found == CANCELLED)
			return -EINTR;
	}
}

static void run(struct gfs_reading *read)
{
	struct gfs_front *front = read->front;
	struct gfs_buffer *buffer = gfs_buffer_take(front, read->size);
	struct gfs_answer answer = { 0 };
	int err = buffer ? read_bytes(read, buffer->data, &answer) : -ENOMEM;

	if (err != -EINPROGRESS) {
		if (err)
			fuse_reply_err(read->req, -err);
		else
			fuse_reply_buf(read->req, answer.bytes, answer.size);
		reading_free(read);
	}
	gfs_answer_end(&answer);
	if (buffer)
		gfs_buffer_put(front, buffer);
}

static void on_done(struct gfs_waiter *waiter)
{
	struct gfs_reading *read = (struct gfs_reading *)waiter;

	if (!claim(read, DONE))
		return;
	/* Waits for an on_interrupt() that runs now; none comes after this. */
	fuse_req_interrupt_func(read->req, NULL, NULL);
	run(read);
}

void gfs_front_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi)
{
	struct gfs_file *file = gfs_front_file(fi);
	struct gfs_reading *read;
	struct gfs_node node = { 0 };

	/* The node of an open file may be gone. */
	if (!file && !gfs_front_node(req, ino, &node))
		return;
	read = malloc(sizeof(*read));
	if (!read) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	*read = (struct gfs_reading){
		.waiter.done = on_done,
		.front = fuse_req_userdata(req),
		.req = req,
		.node = node,
		.file = file,
		.flags = fi->flags,
		.offset = (uint64_t)off,
		.size = size,
		.state = STARTING,
	};
	run(read);
}

/* A read that waits and whose on_done() is not coming; NULL: all others are on their way. */
static struct gfs_reading *take_waiting(struct gfs_front *front)
{
	for (struct gfs_reading *read = front->reads; read; read = read->next) {
		if (read->state == WAITING && gfs_waiter_cancel(front->fs, &read->waiter))
			return read;
	}
	return NULL;
}

void gfs_front_end_reads(struct gfs_front *front)
{
	pthread_mutex_lock(&front->lock);
	while (front->reads) {
		struct gfs_reading *read = take_waiting(front);

		if (!read) {
			pthread_cond_wait(&front->changed, &front->lock);
			continue;
		}
		unlist(read);
		fuse_reply_err(read->req, ENOTCONN);
		free(read);
	}
	pthread_mutex_unlock(&front->lock);
}
