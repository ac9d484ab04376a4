/* zlib and zstd streams, decoded in pieces and only as far as asked. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

bool dec_stream_fail(struct dec_stream *s, enum dec_problem_code code, uint64_t offset,
		     const char *format, ...)
{
	va_list args;

	*s->err = (struct dec_error){
		.status = DEC_E_DATA, .code = code, .offset = offset, .field = "payload"
	};
	va_start(args, format);
	vsnprintf(s->err->sentence, sizeof(s->err->sentence), format, args);
	va_end(args);
	return false;
}

bool dec_stream_no_memory(struct dec_stream *s)
{
	*s->err = (struct dec_error){ .status = DEC_E_NOMEM, .field = "payload" };
	snprintf(s->err->sentence, sizeof(s->err->sentence), "out of memory");
	return false;
}

bool dec_stream_read(struct dec_stream *s, uint64_t at, void *buf, size_t len)
{
	uint64_t offset = s->stored.offset + at;
	int err = s->source->read(s->source->ctx, offset, buf, len);

	if (err == 0)
		return true;
	*s->err = (struct dec_error){
		.status = DEC_E_READ, .sys_errno = -err, .offset = offset, .field = "payload"
	};
	snprintf(s->err->sentence, sizeof(s->err->sentence), "cannot be read");
	return false;
}

static bool truncated(struct dec_stream *s)
{
	return dec_stream_fail(s, DEC_PROBLEM_TRUNCATED, s->stored.offset + s->stored.size,
			       "the stream goes on after its %llu stored bytes",
			       (unsigned long long)s->stored.size);
}

static bool too_long(struct dec_stream *s)
{
	return dec_stream_fail(s, DEC_PROBLEM_SIZE_MISMATCH, s->stored.offset,
			       "decodes to more than the %zu bytes declared", s->size);
}

/* ---- the same loop for both: read a piece, step until it is used up --------------------- */

enum step {
	STEP_ON, /* progress was made; nothing left in the piece, or more to come */
	STEP_END, /* the stream is complete */
	STEP_FAILED, /* s->err is set */
};

struct pieces {
	uint8_t *bytes;
	size_t room, len, used;
	uint64_t at; /* stored bytes read so far */
};

static uint64_t piece_offset(const struct dec_stream *s, const struct pieces *p)
{
	return s->stored.offset + p->at - p->len + p->used;
}

static bool next_piece(struct dec_stream *s, struct pieces *p)
{
	uint64_t left = s->stored.size - p->at;

	if (p->used < p->len)
		return dec_stream_fail(s, DEC_PROBLEM_DECODE_FAILED, piece_offset(s, p),
				       "the stream cannot be decoded past this point");
	if (left == 0)
		return truncated(s);
	p->len = left < p->room ? (size_t)left : p->room;
	p->used = 0;
	if (!dec_stream_read(s, p->at, p->bytes, p->len))
		return false;
	p->at += p->len;
	return true;
}

/* A full output buffer gets one spare byte: a stream that fills it too is too long. */
typedef enum step (*stepper)(struct dec_stream *s, void *state, struct pieces *p, uint8_t *out,
			     size_t room, size_t *made);

/* Given a whole frame at once, zstd decodes straight into the output: an eighth less time.
 * Most frames are smaller than this; a prefix needs no more than a window. */
static size_t piece_room(const struct dec_stream *s)
{
	uint64_t most = s->end == DEC_STREAM_PREFIX ? DEC_WINDOW : DEC_MIB(4);

	return (size_t)(s->stored.size < most ? s->stored.size : most);
}

static bool run(struct dec_stream *s, stepper step, void *state)
{
	struct pieces p = { .room = piece_room(s), .bytes = malloc(piece_room(s) + 1) };
	enum step result = STEP_ON;
	bool ok = p.bytes || dec_stream_no_memory(s);
	uint8_t spare;

	while (ok && result == STEP_ON && !(s->end == DEC_STREAM_PREFIX && s->made == s->size)) {
		bool full = s->made == s->size;
		size_t made = 0, used = p.used;

		result = step(s, state, &p, full ? &spare : s->out + s->made,
			      full ? 1 : s->size - s->made, &made);
		ok = result != STEP_FAILED;
		if (ok && full && made)
			ok = too_long(s);
		else if (ok)
			s->made += full ? 0 : made;
		/* No progress: the piece is used up and nothing is held back. */
		if (ok && result == STEP_ON && made == 0 && p.used == used)
			ok = next_piece(s, &p);
	}
	free(p.bytes);
	if (ok && s->end == DEC_STREAM_EXACT && s->made != s->size)
		return dec_stream_fail(s, DEC_PROBLEM_SIZE_MISMATCH, s->stored.offset,
				       "decodes to %zu bytes, %zu are declared", s->made, s->size);
	return ok;
}

/* ---- zstd ------------------------------------------------------------------------------------ */

/* Larger windows than 128 MiB were never seen in a fatbin or bundle, and cost their size. */
#define ZSTD_WINDOW_LOG 27

static enum step step_zstd(struct dec_stream *s, void *state, struct pieces *p, uint8_t *out,
			   size_t room, size_t *made)
{
	ZSTD_inBuffer in = { p->bytes, p->len, p->used };
	ZSTD_outBuffer to = { out, room, 0 };
	size_t hint = ZSTD_decompressStream(state, &to, &in);

	p->used = in.pos;
	*made = to.pos;
	if (ZSTD_getErrorCode(hint) == ZSTD_error_memory_allocation) {
		dec_stream_no_memory(s);
		return STEP_FAILED;
	}
	if (ZSTD_isError(hint)) {
		dec_stream_fail(s, DEC_PROBLEM_DECODE_FAILED, piece_offset(s, p),
				"the zstd frame is damaged: %s", ZSTD_getErrorName(hint));
		return STEP_FAILED;
	}
	/* A frame that ends without output is one to skip; the next follows. */
	return hint == 0 && (s->made || to.pos || p->at - p->len + p->used == s->stored.size)
		       ? STEP_END
		       : STEP_ON;
}

bool dec_stream_zstd(struct dec_stream *s)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	bool ok;

	if (!context)
		return dec_stream_no_memory(s);
	ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
	ok = run(s, step_zstd, context);
	ZSTD_freeDCtx(context);
	return ok;
}

/* ---- zlib -------------------------------------------------------------------------------------- */

static enum step step_zlib(struct dec_stream *s, void *state, struct pieces *p, uint8_t *out,
			   size_t room, size_t *made)
{
	z_stream *z = state;
	int result;

	z->next_in = p->bytes + p->used;
	z->avail_in = (uInt)(p->len - p->used);
	z->next_out = out;
	z->avail_out = room < UINT_MAX ? (uInt)room : UINT_MAX;
	room = z->avail_out;
	result = inflate(z, Z_NO_FLUSH);
	p->used = p->len - z->avail_in;
	*made = room - z->avail_out;
	if (result == Z_STREAM_END)
		return STEP_END;
	if (result == Z_OK || result == Z_BUF_ERROR)
		return STEP_ON;
	if (result == Z_MEM_ERROR) {
		dec_stream_no_memory(s);
		return STEP_FAILED;
	}
	dec_stream_fail(s, DEC_PROBLEM_DECODE_FAILED, piece_offset(s, p),
			"the zlib stream is damaged: %s", z->msg ? z->msg : "no reason given");
	return STEP_FAILED;
}

bool dec_stream_zlib(struct dec_stream *s)
{
	z_stream z = { 0 };
	bool ok;

	if (inflateInit(&z) != Z_OK)
		return dec_stream_no_memory(s);
	ok = run(s, step_zlib, &z);
	inflateEnd(&z);
	return ok;
}

/* ---- where a stream ends -------------------------------------------------------------------------- */

enum {
	ZSTD_FRAME_MAGIC = 4,
	ZSTD_SKIPPABLE_HEADER = 8,
	ZSTD_BLOCK_HEADER = 3,
	ZSTD_BLOCKSIZE_LIMIT = 128 << 10, /* RFC 8878, 3.1.1.2.4 */
	ZSTD_FRAME_HEADER_MAX = 14, /* descriptor, window, dictionary id, content size */
};

/* RFC 8878, 3.1.1.1: bytes of the frame header after the magic. */
static unsigned frame_header_size(uint8_t descriptor)
{
	static const uint8_t dictionary[] = { 0, 1, 2, 4 }, content[] = { 0, 2, 4, 8 };
	bool single = descriptor & 0x20;
	unsigned size = content[descriptor >> 6];

	if (size == 0 && single)
		size = 1;
	return 1u + !single + dictionary[descriptor & 3] + size;
}

/* What one header costs: dec_peek() reads this much when it has to. */
#define HEADER_COST DEC_KIB(4)

/* *ok false: the budget of the search is used up. */
static bool skip_skippable(struct dec_build *b, uint64_t *at, uint64_t limit, bool *ok)
{
	struct dec_view v;

	*ok = true;
	while (limit - *at >= ZSTD_SKIPPABLE_HEADER) {
		uint64_t size;

		if (!dec_peek(b, &b->head, *at, ZSTD_SKIPPABLE_HEADER, &v))
			return false;
		size = dec_le32(v.p + 4);
		if ((dec_le32(v.p) & 0xfffffff0) != 0x184d2a50 ||
		    size > limit - *at - ZSTD_SKIPPABLE_HEADER)
			return true;
		if (!dec_spend_search(b, *at, HEADER_COST, ok))
			return false;
		if (!*ok)
			return true;
		*at += ZSTD_SKIPPABLE_HEADER + size;
	}
	return true;
}

/* RFC 8878, 3.1.1.2: block after block; *last says that none follows. */
static bool skip_block(struct dec_build *b, uint64_t *at, uint64_t limit, bool *last, bool *ok)
{
	struct dec_view v;
	uint32_t header, type, size;

	*ok = limit - *at >= ZSTD_BLOCK_HEADER;
	if (*ok && !dec_spend_search(b, *at, HEADER_COST, ok))
		return false;
	if (!*ok)
		return true;
	if (!dec_peek(b, &b->head, *at, ZSTD_BLOCK_HEADER, &v))
		return false;
	header = (uint32_t)v.p[0] | (uint32_t)v.p[1] << 8 | (uint32_t)v.p[2] << 16;
	*last = header & 1;
	type = header >> 1 & 3;
	size = header >> 3;
	*ok = type != 3 && size <= ZSTD_BLOCKSIZE_LIMIT;
	if (type == 1) /* a run is stored as one byte */
		size = 1;
	*at += ZSTD_BLOCK_HEADER;
	*ok = *ok && size <= limit - *at;
	if (*ok)
		*at += size;
	return true;
}

bool dec_zstd_extent(struct dec_build *b, uint64_t offset, uint64_t limit, uint64_t *end,
		     bool *found)
{
	uint64_t at = offset;
	struct dec_view v;
	unsigned header;
	bool last = false, ok = true, checksum;

	*found = false;
	if (!skip_skippable(b, &at, limit, &ok))
		return false;
	if (!ok || limit - at < ZSTD_FRAME_MAGIC + 1)
		return true;
	if (!dec_peek(b, &b->head, at, ZSTD_FRAME_MAGIC + 1, &v))
		return false;
	if (dec_le32(v.p) != ZSTD_MAGICNUMBER)
		return true;
	header = frame_header_size(v.p[ZSTD_FRAME_MAGIC]);
	checksum = v.p[ZSTD_FRAME_MAGIC] & 4;
	if (header > limit - at - ZSTD_FRAME_MAGIC)
		return true;
	at += ZSTD_FRAME_MAGIC + header;
	while (ok && !last)
		if (!skip_block(b, &at, limit, &last, &ok))
			return false;
	if (ok && checksum)
		ok = limit - at >= 4;
	*found = ok;
	*end = at + (checksum ? 4 : 0);
	return true;
}

/* RFC 1950, 2.2: deflate, and a check over both bytes. */
static bool zlib_header(struct dec_view v)
{
	return v.len == 2 && (v.p[0] & 15) == 8 && (v.p[0] << 8 | v.p[1]) % 31 == 0;
}

struct inflating {
	z_stream z;
	uint8_t *in, *out; /* DEC_WINDOW bytes each */
	uint64_t at, limit; /* the next byte to read, the end of what may be read */
	uint64_t made;
	int result;
};

/* Reads more when the input is used up, and inflates once. *ok false: there is no more, or
 * the budget of the search is used up. */
static bool inflate_some(struct dec_build *b, struct inflating *i, bool *ok)
{
	size_t size = i->limit - i->at < DEC_WINDOW ? (size_t)(i->limit - i->at) : DEC_WINDOW;
	int err;

	*ok = i->z.avail_in || size;
	if (*ok && !dec_spend_search(b, i->at, DEC_WINDOW, ok))
		return false;
	if (!*ok)
		return true;
	if (i->z.avail_in == 0) {
		err = b->source->read(b->source->ctx, i->at, i->in, size);
		if (err)
			return dec_fatal(b, DEC_E_READ, -err, i->at, "zlib stream",
					 "cannot be read");
		i->at += size;
		i->z.next_in = i->in;
		i->z.avail_in = (uInt)size;
	}
	i->z.next_out = i->out;
	i->z.avail_out = (uInt)DEC_WINDOW;
	i->result = inflate(&i->z, Z_NO_FLUSH);
	i->made += DEC_WINDOW - i->z.avail_out;
	return true;
}

static bool inflate_to_end(struct dec_build *b, struct inflating *i, uint64_t size)
{
	bool ok = true;

	while (ok && (i->result == Z_OK || i->result == Z_BUF_ERROR) && i->made <= size)
		if (!inflate_some(b, i, &ok))
			return false;
	return true;
}

bool dec_zlib_extent(struct dec_build *b, uint64_t offset, uint64_t limit, uint64_t size,
		     uint64_t *end, bool *found)
{
	struct inflating i = { .at = offset, .limit = limit };
	struct dec_view head;
	bool ok;

	*found = false;
	if (!dec_peek(b, &b->head, offset, limit - offset < 2 ? 0 : 2, &head))
		return false;
	if (!zlib_header(head))
		return true;
	i.in = malloc(2 * (size_t)DEC_WINDOW);
	if (!i.in || inflateInit(&i.z) != Z_OK) {
		free(i.in);
		return dec_fatal(b, DEC_E_NOMEM, 0, offset, "zlib stream", "out of memory");
	}
	i.out = i.in + DEC_WINDOW;
	ok = inflate_to_end(b, &i, size);
	*found = ok && i.result == Z_STREAM_END;
	*end = i.at - i.z.avail_in;
	inflateEnd(&i.z);
	free(i.in);
	return ok;
}

bool dec_stream_begins(struct dec_build *b, enum dec_codec codec, struct dec_range stored,
		       bool *yes)
{
	struct dec_view v;
	size_t size = codec == DEC_CODEC_ZSTD ? ZSTD_FRAME_MAGIC : 2;

	*yes = false;
	if (stored.size < size)
		return true;
	if (!dec_peek(b, &b->head, stored.offset, size, &v))
		return false;
	*yes = codec == DEC_CODEC_ZSTD ? dec_le32(v.p) == ZSTD_MAGICNUMBER ||
						 (dec_le32(v.p) & 0xfffffff0) == 0x184d2a50
				       : zlib_header(v);
	return true;
}
