#include "payload.h"

#include <stdlib.h>

static size_t piece_count(size_t len)
{
	return len / DEC_PAYLOAD_PIECE + (len % DEC_PAYLOAD_PIECE > 0);
}

static bool is_loaded(const struct dec_loader *l, size_t piece)
{
	return l->loaded[piece / 8] >> piece % 8 & 1;
}

/* Pieces [first, end), none of which is there, by one read. */
static void load(const struct dec_payload *p, size_t first, size_t end)
{
	struct dec_loader *l = p->loader;
	size_t at = first * DEC_PAYLOAD_PIECE;
	size_t left = p->len - at;
	size_t len = (end - first) * DEC_PAYLOAD_PIECE;

	l->error = l->source->read(l->source->ctx, at, l->room + at, len < left ? len : left);
	for (size_t i = first; l->error == 0 && i < end; i++)
		l->loaded[i / 8] |= (uint8_t)(1 << i % 8);
}

/* The bytes lie in the payload. */
static bool need(const struct dec_payload *p, size_t offset, size_t len)
{
	bool whole = p->len <= DEC_PAYLOAD_WHOLE;
	size_t at = whole ? 0 : offset / DEC_PAYLOAD_PIECE;
	size_t end = piece_count(whole ? p->len : offset + len);

	while (p->loader->error == 0 && len > 0 && at < end) {
		size_t first = at;

		while (at < end && !is_loaded(p->loader, at))
			at++;
		if (at > first)
			load(p, first, at);
		else
			at++;
	}
	return p->loader->error == 0;
}

bool dec_payload_load(struct dec_payload *p, struct dec_loader *loader,
		      const struct dec_source *source, void *room)
{
	*loader = (struct dec_loader){
		.source = source,
		.room = room,
		.loaded = calloc(piece_count(p->len) / 8 + 1, 1),
	};
	p->bytes = room;
	p->loader = loader;
	return loader->loaded;
}

void dec_payload_close(struct dec_payload *p)
{
	if (p->loader)
		free(p->loader->loaded);
}

bool dec_payload_slice(const struct dec_payload *p, uint64_t offset, uint64_t len,
		       struct dec_view *out)
{
	if (!dec_fits(offset, len, p->len))
		return false;
	if (p->loader && !need(p, (size_t)offset, (size_t)len))
		return false;
	*out = (struct dec_view){ p->bytes + offset, (size_t)len, p->origin + offset };
	return true;
}

struct dec_view dec_payload_head(const struct dec_payload *p, size_t len)
{
	struct dec_view v;

	if (dec_payload_slice(p, 0, len < p->len ? len : p->len, &v))
		return v;
	return (struct dec_view){ (const uint8_t *)dec_absent, 0, p->origin };
}

struct dec_view dec_payload_all(const struct dec_payload *p)
{
	return dec_payload_head(p, p->len);
}
