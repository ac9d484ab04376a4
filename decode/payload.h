/*
 * The bytes of a payload: all of them in memory, or loaded where they are looked at. A
 * stored code object of megabytes is examined by its tables, notes and descriptors alone,
 * and yet no rule has to foretell which bytes those are.
 */
#ifndef DEC_PAYLOAD_H
#define DEC_PAYLOAD_H

#include "decode.h"
#include "view.h"

/* What is loaded at once: tables and descriptors lie together, and a call costs more than this.
 * A payload of a few pieces is loaded whole. A fuzzer has smaller ones. */
#ifndef DEC_PAYLOAD_PIECE
#define DEC_PAYLOAD_PIECE ((size_t)16 << 10)
#endif
#define DEC_PAYLOAD_WHOLE (4 * DEC_PAYLOAD_PIECE)

struct dec_loader {
	const struct dec_source *source;
	uint8_t *room; /* of the payload's size; holds what was loaded */
	uint8_t *loaded; /* a bit for each piece */
	int error; /* the first one, negative; nothing is given after it */
};

struct dec_payload {
	size_t len;
	uint64_t origin; /* what problems' offsets count from, see inspect.h */
	const uint8_t *bytes; /* for payload.c alone: others take a slice */
	struct dec_loader *loader; /* NULL: all are there */
};

/* False: out of memory. loader is to be ended by dec_payload_close(). */
bool dec_payload_load(struct dec_payload *p, struct dec_loader *loader,
		      const struct dec_source *source, void *room);
void dec_payload_close(struct dec_payload *p);

/* False: they do not lie in the payload, or could not be loaded. */
bool dec_payload_slice(const struct dec_payload *p, uint64_t offset, uint64_t len,
		       struct dec_view *out);
/* The first bytes, at most len; all of them. Empty where they could not be loaded. */
struct dec_view dec_payload_head(const struct dec_payload *p, size_t len);
struct dec_view dec_payload_all(const struct dec_payload *p);

#endif
