/*
 * Compressed Clang offload bundles ("CCOB", versions 1 to 3). The inventory decodes no
 * further than the entry table inside. docs/formats/ccob.md.
 */
#include "internal.h"

#include <stdlib.h>

enum { HEADER_MIN = 8, OFF_VERSION = 4, OFF_METHOD = 6 };

/* Layout by version; size 0: the header has no total size. */
static const struct layout {
	uint16_t header, total, total_size, decoded, decoded_size, hash;
} layouts[] = {
	[1] = { 20, 0, 0, 8, 4, 12 },
	[2] = { 24, 8, 4, 12, 4, 16 },
	[3] = { 32, 8, 8, 16, 8, 24 },
};

static const enum dec_codec methods[] = { DEC_CODEC_ZLIB, DEC_CODEC_ZSTD };

/* First try for the entry table: a bundle of 8 entries has a header of about 600 bytes. */
#define PREFIX_FIRST DEC_KIB(4)
/* The header and as many records as are listed, each with the longest id. */
#define PREFIX_MAX (32 + (uint64_t)DEC_BUNDLE_ENTRIES_MAX * (24 + DEC_ENTRY_ID_MAX))

struct ccob {
	const struct dec_hit *hit;
	const struct layout *layout;
	struct dec_container c;
	uint64_t total; /* as declared; 0 in version 1 */
	bool sized; /* c.range.size is what the header or the frame says */
};

static struct dec_owner owner(const struct dec_build *b)
{
	return (struct dec_owner){ b->container_count - 1, DEC_NONE };
}

static uint64_t field(const uint8_t *p, uint16_t offset, uint16_t size)
{
	return size == 8 ? dec_le64(p + offset) : size == 4 ? dec_le32(p + offset) : 0;
}

/* ---- the header --------------------------------------------------------------------- */

/* *ok false: no header of a version that is known. "CCOB" is four letters that occur in
 * text, so away from its places the method must be a known one too. */
static bool header_read(struct dec_build *b, struct ccob *x, bool *ok)
{
	const struct dec_hit *hit = x->hit;
	uint64_t left = hit->limit - hit->at;
	uint16_t version, method;
	struct dec_view v;

	*ok = false;
	if (left < HEADER_MIN)
		return dec_refuse_header(b, hit, DEC_PROBLEM_TRUNCATED, hit->at, "CCOB header",
					 "the file ends inside a compressed bundle's header");
	if (!dec_peek(b, &b->head, hit->at, HEADER_MIN, &v))
		return false;
	version = dec_le16(v.p + OFF_VERSION);
	method = dec_le16(v.p + OFF_METHOD);
	if (version == 0 || version >= sizeof(layouts) / sizeof(layouts[0]))
		return dec_refuse_header(b, hit, DEC_PROBLEM_UNSUPPORTED_VERSION,
					 hit->at + OFF_VERSION, "version",
					 "compressed bundle version is not 1, 2 or 3; not decoded");
	x->layout = &layouts[version];
	if (left < x->layout->header)
		return dec_refuse_header(b, hit, DEC_PROBLEM_TRUNCATED, hit->at, "CCOB header",
					 "the file ends inside a compressed bundle's header");
	if (!dec_peek(b, &b->head, hit->at, x->layout->header, &v))
		return false;
	x->c.version = version;
	x->c.codec = method < sizeof(methods) / sizeof(methods[0]) ? methods[method]
								   : DEC_CODEC_UNSUPPORTED;
	x->c.decoded_size = field(v.p, x->layout->decoded, x->layout->decoded_size);
	x->c.hash = dec_le64(v.p + x->layout->hash);
	x->c.hash_offset = hit->at + x->layout->hash;
	x->total = field(v.p, x->layout->total, x->layout->total_size);
	*ok = hit->expected || x->c.codec != DEC_CODEC_UNSUPPORTED;
	return true;
}

/* ---- the extent ----------------------------------------------------------------------- */

/* Version 1, and a total size that cannot be: the stream itself says where it ends. */
static bool extent_from_stream(struct dec_build *b, struct ccob *x)
{
	uint64_t start = x->hit->at + x->layout->header, end = start;
	bool found = false;

	if (x->c.codec == DEC_CODEC_ZSTD && !dec_zstd_extent(b, start, x->hit->limit, &end, &found))
		return false;
	if (x->c.codec == DEC_CODEC_ZLIB &&
	    !dec_zlib_extent(b, start, x->hit->limit,
			     x->c.decoded_size < b->limits.max_payload ? x->c.decoded_size
								       : b->limits.max_payload,
			     &end, &found))
		return false;
	x->sized = found;
	x->c.range.size = (found ? end : x->hit->limit) - x->hit->at;
	return true;
}

static bool extent_read(struct dec_build *b, struct ccob *x)
{
	uint64_t left = x->hit->limit - x->hit->at;

	x->sized = x->total >= x->layout->header && x->total <= left;
	x->c.range = (struct dec_range){ x->hit->at, x->total };
	if (x->total > left) /* cut short: what exists may still hold the entry table */
		x->c.range.size = left;
	else if (!x->sized && !extent_from_stream(b, x))
		return false;
	x->c.stream.offset = x->hit->at + x->layout->header;
	x->c.stream.size = x->c.range.size - x->layout->header;
	return true;
}

static bool note_extent(struct dec_build *b, const struct ccob *x)
{
	uint64_t left = x->hit->limit - x->hit->at;
	uint64_t at = x->hit->at + x->layout->total;

	if (x->total > left)
		return dec_note(
			b, owner(b), DEC_PROBLEM_TRUNCATED, at, "total size", DEC_PARTIAL,
			"total size %llu reaches past the end of the file; %llu bytes are left",
			(unsigned long long)x->total, (unsigned long long)left);
	if (x->layout->total_size && x->total < x->layout->header)
		return dec_note(b, owner(b), DEC_PROBLEM_OUT_OF_BOUNDS, at, "total size",
				DEC_COMPLETE,
				"total size %llu is less than the header of %u bytes; the end is "
				"taken from the compressed stream",
				(unsigned long long)x->total, x->layout->header);
	if (!x->sized)
		return dec_note(b, owner(b), DEC_PROBLEM_DECODE_FAILED, x->c.stream.offset,
				"compressed stream", DEC_PARTIAL,
				"the end of the compressed stream cannot be found");
	return true;
}

/* ---- the entries ------------------------------------------------------------------------- */

/* Decodes the first size bytes, or what there is of them, into out. */
static bool prefix_decode(struct dec_build *b, const struct ccob *x, uint8_t *out, size_t size,
			  struct dec_stream *s)
{
	struct dec_error err = { .status = DEC_OK };
	bool ok;

	*s = (struct dec_stream){
		.source = b->source,
		.stored = x->c.stream,
		.out = out,
		.size = size,
		.end = DEC_STREAM_PREFIX,
		.err = &err,
	};
	ok = x->c.codec == DEC_CODEC_ZSTD ? dec_stream_zstd(s) : dec_stream_zlib(s);
	s->err = NULL;
	if (ok)
		return true;
	if (err.status != DEC_E_DATA) {
		*b->err = err;
		return false;
	}
	return dec_note(b, owner(b), err.code, err.offset, "compressed stream", DEC_PARTIAL, "%s",
			err.sentence);
}

/* One try with a prefix of size bytes. *more: the entry table goes on behind it. */
static bool entries_try(struct dec_build *b, const struct ccob *x, uint8_t *bytes, uint64_t size,
			bool *more)
{
	uint32_t problems = b->problem_count;
	struct dec_stream s;

	*more = false;
	if (!prefix_decode(b, x, bytes, (size_t)size, &s))
		return false;
	if (s.made == 0) /* a damaged stream has been noted already */
		return b->problem_count > problems ||
		       dec_note(b, owner(b), DEC_PROBLEM_DECODE_FAILED, x->c.stream.offset,
				"compressed stream", DEC_PARTIAL, "decodes to nothing");
	return dec_bundle_inner(b, x->hit, (struct dec_view){ bytes, s.made, 0 },
				s.made < size ? s.made : x->c.decoded_size, more);
}

/* Grows the prefix until the entry table is in it. */
static bool entries_list(struct dec_build *b, const struct ccob *x)
{
	uint64_t max = x->c.decoded_size < PREFIX_MAX ? x->c.decoded_size : PREFIX_MAX;
	uint64_t size = max < PREFIX_FIRST ? max : PREFIX_FIRST;
	uint64_t read = x->c.stream.size < DEC_WINDOW ? x->c.stream.size : DEC_WINDOW;
	bool more = true, ok = true, within = true;

	if (max == 0)
		return dec_note(b, owner(b), DEC_PROBLEM_SIZE_MISMATCH,
				x->hit->at + x->layout->decoded, "uncompressed size", DEC_PARTIAL,
				"the uncompressed size is 0, which leaves no room for a bundle");
	for (; ok && more; size = size * 8 < max ? size * 8 : max) {
		uint8_t *bytes;

		if (!dec_spend_search(b, x->hit->at, read + size, &within))
			return false;
		if (!within)
			return true;
		bytes = malloc((size_t)size);
		ok = bytes || dec_fatal(b, DEC_E_NOMEM, 0, x->hit->at, "bundle", "out of memory");
		ok = ok && entries_try(b, x, bytes, size, &more);
		more = more && size < max; /* never at the maximum, see there */
		free(bytes);
	}
	return ok;
}

static bool ccob_list(struct dec_build *b, struct ccob *x)
{
	uint64_t method_at = x->hit->at + OFF_METHOD;
	struct dec_container *c;
	uint32_t index;
	bool past;

	if (!dec_add_container(b, &x->c, &index))
		return false;
	if (index == DEC_NONE)
		return true;
	if (!note_extent(b, x))
		return false;
	if (x->c.codec == DEC_CODEC_UNSUPPORTED)
		return dec_note(b, owner(b), DEC_PROBLEM_UNSUPPORTED_CODEC, method_at, "method",
				DEC_PARTIAL, "compression method is not 0 (zlib) or 1 (zstd)");
	if (!dec_limit_decoded(b, owner(b), x->c.stream.size, x->c.decoded_size,
			       x->hit->at + x->layout->decoded, "uncompressed size", DEC_COMPLETE,
			       &past))
		return false;
	c = &b->containers[index];
	c->past_limit = past;
	return entries_list(b, x);
}

static bool ccob_claim(struct dec_build *b, const struct dec_hit *hit, uint64_t *end)
{
	struct ccob x = { .hit = hit,
			  .c = { .kind = DEC_CONTAINER_COMPRESSED_BUNDLE,
				 .has_hash = true,
				 .place = hit->place } };
	bool ok;

	*end = hit->at;
	if (!header_read(b, &x, &ok))
		return false;
	if (!ok)
		return true;
	if (!extent_read(b, &x))
		return false;
	/* Four letters and a small number are little proof: the stream has to be one. */
	if (!hit->expected && !dec_stream_begins(b, x.c.codec, x.c.stream, &ok))
		return false;
	if (!hit->expected && (!ok || !x.sized))
		return true;
	*end = hit->at + x.c.range.size;
	return ccob_list(b, &x);
}

const struct dec_format_row dec_format_ccob = {
	.name = "ccob",
	.magic = "CCOB",
	.magic_len = 4,
	.kin = &dec_format_bundle,
	.claim = ccob_claim,
};
