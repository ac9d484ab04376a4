/* Files of bytes: the ring, memory, captured packets, and the way packets go in. */
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "queues.h"

/* ---- ring ------------------------------------------------------------------------------ */

static int queue_info(const struct gfs_at *at, struct sg_queue_info *info)
{
	return gfs_queues_errno(sg_queue_get_info(at->q->dev, at->object->handle, info));
}

static int ring_size(const struct gfs_at *at, uint64_t *size)
{
	struct sg_queue_info info;
	int rc = queue_info(at, &info);

	if (rc == 0)
		*size = (uint64_t)info.size * SG_PACKET_BYTES;
	return rc;
}

static int ring_read(struct gfs_file *f, struct gfs_io *io)
{
	return gfs_queues_errno(sg_queue_ring_read(f->at.q->dev, f->at.object->handle, io->offset,
						   io->to, io->size, &io->done));
}

static int ring_write(struct gfs_file *f, struct gfs_io *io)
{
	return gfs_queues_errno(sg_queue_ring_write(f->at.q->dev, f->at.object->handle, io->offset,
						    io->from, io->size, &io->done));
}

const struct gfs_file_kind gfs_file_ring = {
	.size = ring_size,
	.read = ring_read,
	.write = ring_write,
};

/* ---- memory ------------------------------------------------------------------------------ */

/* Memory that is not allocated yet is an empty file. */
static int data_size(const struct gfs_at *at, uint64_t *size)
{
	struct sg_allocation_info info;

	if (!at->object->handle)
		return 0;
	if (sg_memory_find(at->q->dev, at->object->handle, &info) != SG_OK)
		return -ENODEV;
	*size = info.size;
	return 0;
}

static int data_read(struct gfs_file *f, struct gfs_io *io)
{
	if (!f->at.object->handle)
		return 0;
	return gfs_queues_errno(sg_memory_read(f->at.q->dev, f->at.object->handle, io->offset,
					       io->to, io->size, &io->done));
}

static int data_write(struct gfs_file *f, struct gfs_io *io)
{
	if (!f->at.object->handle)
		return -EFBIG;
	return gfs_queues_errno(sg_memory_write(f->at.q->dev, f->at.object->handle, io->offset,
						io->from, io->size, &io->done));
}

const struct gfs_file_kind gfs_file_data = {
	.size = data_size,
	.read = data_read,
	.write = data_write,
};

/* ---- packets ------------------------------------------------------------------------------ */

/* A packet of which the first bytes are here. */
struct stream {
	uint64_t position; /* bytes taken so far, which is where the next write must be */
	size_t len;
	uint8_t rest[SG_PACKET_BYTES];
};

static int publish(struct gfs_file *f, const uint8_t *p, size_t count, const struct gfs_io *io,
		   size_t *accepted)
{
	enum sg_status status = SG_OK;

	*accepted = 0;
	if (count)
		status = sg_queue_publish(f->at.q->dev, f->at.object->handle, p, count, accepted);
	if (status == SG_QUEUE_FULL && io->flags & O_NONBLOCK)
		return -EAGAIN;
	return gfs_queues_errno(status);
}

/*
 * p has size bytes, of which the first `before` are the stream's rest. A short count when not
 * all packets were taken; what is left is then the writer's to send again.
 */
static int take(struct gfs_file *f, struct stream *s, const uint8_t *p, size_t size, size_t before,
		struct gfs_io *io)
{
	size_t count = size / SG_PACKET_BYTES;
	size_t accepted;
	int rc = publish(f, p, count, io, &accepted);

	if (rc != 0)
		return rc;
	s->len = accepted == count ? size % SG_PACKET_BYTES : 0;
	memcpy(s->rest, p + accepted * SG_PACKET_BYTES, s->len);
	io->done = accepted * SG_PACKET_BYTES + s->len - before;
	s->position += io->done;
	return 0;
}

/* All packets of a write go in by one step, so a rest must be put before the bytes. */
static int take_joined(struct gfs_file *f, struct stream *s, struct gfs_io *io)
{
	size_t before = s->len;
	uint8_t *joined = malloc(before + io->size);
	int rc;

	if (!joined)
		return -ENOMEM;
	memcpy(joined, s->rest, before);
	memcpy(joined + before, io->from, io->size);
	rc = take(f, s, joined, before + io->size, before, io);
	free(joined);
	return rc;
}

static int packets_write(struct gfs_file *f, struct gfs_io *io)
{
	struct stream *s = f->state;

	if (!(io->flags & O_APPEND) && io->offset != s->position)
		return -ESPIPE;
	if (s->len)
		return take_joined(f, s, io);
	return take(f, s, io->from, io->size, 0, io);
}

static unsigned int packets_ready(struct gfs_file *f)
{
	struct sg_queue_info info;

	if (queue_info(&f->at, &info) != 0 || info.state == SG_STATE_ERROR)
		return POLLERR;
	return POLLIN | (info.free_slots ? POLLOUT : 0);
}

/* The writer is gone in the middle of a packet. */
static void packets_fini(struct gfs_file *f)
{
	const struct stream *s = f->state;

	if (s->len && !f->at.object->gone)
		sg_queue_count_short(f->at.q->dev, f->at.object->handle);
}

/* Reading is allowed and gives nothing, so that tools that walk and copy get by. */
const struct gfs_file_kind gfs_file_packets = {
	.state = sizeof(struct stream),
	.write = packets_write,
	.ready = packets_ready,
	.fini = packets_fini,
};
