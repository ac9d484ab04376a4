/* Payloads out of their stored bytes. Each codec is one function and one row. */
#include "internal.h"

#include <lz4.h>
#include <stdlib.h>

/* ---- LZ4: one raw block, so all of it at once ------------------------------------------ */

static bool lz4_block(struct dec_stream *s, const char *stored)
{
	int got = LZ4_decompress_safe(stored, (char *)s->out, (int)s->stored.size, (int)s->size);

	if (got < 0)
		return dec_stream_fail(
			s, DEC_PROBLEM_DECODE_FAILED, s->stored.offset,
			"the LZ4 block is damaged, or decodes to more than %zu bytes", s->size);
	if ((size_t)got != s->size)
		return dec_stream_fail(s, DEC_PROBLEM_SIZE_MISMATCH, s->stored.offset,
				       "the LZ4 block decodes to %d bytes, %zu are declared", got,
				       s->size);
	return true;
}

static bool unpack_lz4(struct dec_stream *s)
{
	char *stored;
	bool ok;

	/* A block holds no more than LZ4_compressBound() of what it decodes to: checked
	 * before anything of that size is allocated. */
	if (s->size > LZ4_MAX_INPUT_SIZE ||
	    s->stored.size > (uint64_t)LZ4_compressBound((int)s->size))
		return dec_stream_fail(
			s, DEC_PROBLEM_SIZE_MISMATCH, s->stored.offset,
			"an LZ4 block of %llu bytes cannot decode to the %zu declared",
			(unsigned long long)s->stored.size, s->size);
	stored = malloc((size_t)s->stored.size + 1);
	if (!stored)
		return dec_stream_no_memory(s);
	ok = dec_stream_read(s, 0, stored, (size_t)s->stored.size) && lz4_block(s, stored);
	free(stored);
	return ok;
}

static bool (*const codecs[])(struct dec_stream *s) = {
	[DEC_CODEC_LZ4] = unpack_lz4,
	[DEC_CODEC_ZSTD] = dec_stream_zstd,
	[DEC_CODEC_ZLIB] = dec_stream_zlib,
};

static bool known(enum dec_codec codec)
{
	return (size_t)codec < sizeof(codecs) / sizeof(codecs[0]) && codecs[codec];
}

static struct dec_stream stream(const struct dec_artifact *artifact, struct dec_range stored,
				void *out, uint64_t size, struct dec_error *err)
{
	const struct dec_inventory *inventory = (const struct dec_inventory *)artifact;

	*err = (struct dec_error){ .status = DEC_OK };
	return (struct dec_stream){
		.source = &inventory->source,
		.stored = stored,
		.out = out,
		.size = (size_t)size,
		.end = DEC_STREAM_EXACT,
		.err = err,
	};
}

bool dec_unpack(const struct dec_artifact *artifact, uint32_t object, void *out,
		struct dec_error *err)
{
	const struct dec_object *o = &artifact->objects[object];
	struct dec_stream s = stream(artifact, o->encoded, out, o->payload_size, err);

	if (!o->has_payload || !known(o->codec))
		return dec_stream_fail(&s, DEC_PROBLEM_UNSUPPORTED_CODEC, o->encoded.offset,
				       "this payload is not given");
	return codecs[o->codec](&s);
}

bool dec_can_decode(const struct dec_artifact *artifact, uint32_t container)
{
	const struct dec_container *c = &artifact->containers[container];

	return c->codec != DEC_CODEC_NONE && known(c->codec) && !c->past_limit;
}

bool dec_unpack_container(const struct dec_artifact *artifact, uint32_t container, void *out,
			  struct dec_error *err)
{
	const struct dec_container *c = &artifact->containers[container];
	uint8_t *bytes = out;
	struct dec_stream head = stream(artifact, c->range, bytes, c->verbatim, err);
	struct dec_stream s = stream(artifact, c->stream, bytes + c->verbatim,
				     c->decoded_size - c->verbatim, err);

	if (!dec_can_decode(artifact, container))
		return dec_stream_fail(&s, DEC_PROBLEM_UNSUPPORTED_CODEC, c->range.offset,
				       "this container is not decoded");
	return dec_stream_read(&head, 0, bytes, head.size) && codecs[c->codec](&s);
}
