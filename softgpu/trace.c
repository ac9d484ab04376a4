/* SPDX-License-Identifier: MIT */
#include "internal.h"

static void write_u8(struct sg_text *t, const void *p)
{
	sg_text_u64(t, *(const uint8_t *)p);
}

static void write_u32(struct sg_text *t, const void *p)
{
	sg_text_u64(t, *(const uint32_t *)p);
}

static void write_u64(struct sg_text *t, const void *p)
{
	sg_text_u64(t, *(const uint64_t *)p);
}

static void write_i64(struct sg_text *t, const void *p)
{
	sg_text_i64(t, *(const int64_t *)p);
}

static void write_array(struct sg_text *t, uint64_t x, uint64_t y, uint64_t z)
{
	sg_text_str(t, "[");
	sg_text_u64(t, x);
	sg_text_str(t, ",");
	sg_text_u64(t, y);
	sg_text_str(t, ",");
	sg_text_u64(t, z);
	sg_text_str(t, "]");
}

static void write_3_u16(struct sg_text *t, const void *p)
{
	const uint16_t *v = p;

	write_array(t, v[0], v[1], v[2]);
}

static void write_3_u32(struct sg_text *t, const void *p)
{
	const uint32_t *v = p;

	write_array(t, v[0], v[1], v[2]);
}

static void write_text(struct sg_text *t, const void *p)
{
	sg_text_quoted(t, *(const char *const *)p);
}

static void write_error(struct sg_text *t, const void *p)
{
	char text[SG_DETAIL_MAX];

	sg_packet_error_text(*(const struct sg_packet_error *)p, text, sizeof(text));
	sg_text_quoted(t, text);
}

static void write_kernarg(struct sg_text *t, const void *p)
{
	char text[SG_DETAIL_MAX];

	sg_kernarg_text(*(const struct sg_kernarg *)p, text, sizeof(text));
	sg_text_quoted(t, text);
}

struct field {
	const char *key;
	void (*write)(struct sg_text *t, const void *member);
	size_t offset;
};

/* clang-format off */
#define WRITER(m) _Generic(((struct sg_event *)0)->m, \
	uint8_t: write_u8, uint32_t: write_u32, uint64_t: write_u64, int64_t: write_i64, \
	uint16_t *: write_3_u16, uint32_t *: write_3_u32, const char *: write_text, \
	struct sg_packet_error: write_error, struct sg_kernarg: write_kernarg)
/* clang-format on */
#define FIELD_AS(key, m)                                                                           \
	{                                                                                          \
		key, WRITER(m), offsetof(struct sg_event, m)                                       \
	}
#define FIELD(m) FIELD_AS(#m, m)

#define X(id, name, ...)                                                                           \
	static const struct field fields_##id[] = { __VA_ARGS__, { NULL, NULL, 0 } };
#include "trace.def"
#undef X

static const struct {
	const char *name;
	const struct field *fields;
} types[] = {
#define X(id, name, ...) [SG_EVENT_##id] = { name, fields_##id },
#include "trace.def"
#undef X
};

static size_t event_line(const struct sg_event *event, char *buf, size_t size)
{
	struct sg_text t = sg_text_on(buf, size);
	const struct field *f;

	sg_text_str(&t, "{\"type\":");
	sg_text_quoted(&t, types[event->type].name);
	sg_text_str(&t, ",\"seq\":");
	sg_text_u64(&t, event->seq);
	for (f = types[event->type].fields; f->key; f++) {
		sg_text_str(&t, ",");
		sg_text_quoted(&t, f->key);
		sg_text_str(&t, ":");
		f->write(&t, (const char *)event + f->offset);
	}
	sg_text_str(&t, "}");
	return t.len;
}

void sg_trace_emit(struct sg_device *dev, const struct sg_event *event)
{
	struct sg_event *slot = &dev->events[++dev->seq % dev->config.trace_events];

	*slot = *event;
	slot->seq = dev->seq;
}

void sg_trace_get_stats(const struct sg_device *dev, struct sg_stats *out)
{
	*out = sg_stats_of(dev->seq, dev->config.trace_events);
}

size_t sg_trace_next(const struct sg_device *dev, struct sg_trace_cursor *cursor, char *buf,
		     size_t size)
{
	const struct sg_event *event;
	struct sg_stats stats;

	sg_trace_get_stats(dev, &stats);
	if (cursor->next == 0)
		cursor->next = 1;
	if (cursor->next <= stats.dropped) {
		cursor->lost += stats.dropped + 1 - cursor->next;
		cursor->next = stats.dropped + 1;
	}
	while (cursor->next <= dev->seq) {
		event = &dev->events[cursor->next++ % dev->config.trace_events];
		if (!cursor->queue_id || event->queue_id == cursor->queue_id)
			return event_line(event, buf, size);
	}
	return 0;
}
