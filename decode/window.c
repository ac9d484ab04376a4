#include "internal.h"

#include <stdlib.h>

/* Read at least this much: the next header is often close by. */
#define READ_AHEAD DEC_KIB(4)

static bool window_grow(struct dec_build *b, struct dec_window *w, size_t size)
{
	uint8_t *bytes;

	if (size <= w->room)
		return true;
	bytes = realloc(w->bytes, size);
	if (!bytes)
		return dec_fatal(b, DEC_E_NOMEM, 0, 0, "window", "out of memory");
	w->bytes = bytes;
	w->room = size;
	return true;
}

static bool has(const struct dec_window *w, uint64_t offset, size_t size, struct dec_view *view)
{
	if (offset < w->origin || !dec_fits(offset - w->origin, size, w->len))
		return false;
	*view = (struct dec_view){ w->bytes + (offset - w->origin), size, offset };
	return true;
}

bool dec_peek(struct dec_build *b, struct dec_window *w, uint64_t offset, size_t size,
	      struct dec_view *view)
{
	static const uint8_t empty[1];
	uint64_t left = b->source->size - offset;
	size_t want = size < READ_AHEAD ? READ_AHEAD : size;
	int err;

	if (size == 0) {
		*view = (struct dec_view){ empty, 0, offset };
		return true;
	}
	if (has(w, offset, size, view) || (w == &b->head && has(&b->scan, offset, size, view)))
		return true;
	if (want > left)
		want = (size_t)left;
	if (!window_grow(b, w, want))
		return false;
	w->len = 0; /* what it held is overwritten, also when the read fails */
	err = b->source->read(b->source->ctx, offset, w->bytes, want);
	if (err)
		return dec_fatal(b, DEC_E_READ, -err, offset, "artifact", "cannot be read");
	w->origin = offset;
	w->len = want;
	*view = (struct dec_view){ w->bytes, size, offset };
	return true;
}

void dec_window_fini(struct dec_window *w)
{
	free(w->bytes);
	*w = (struct dec_window){ 0 };
}
