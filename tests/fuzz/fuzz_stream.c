/* The first bytes choose codec, way of ending and declared size; the rest is the stream. */
#include "fuzz.h"
#include "internal.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>

enum { CHOICE, SIZE_LOW, SIZE_HIGH, STREAM };

static void fail(const char *why)
{
	fprintf(stderr, "%s\n", why);
	abort();
}

/* dec_stream_*() must write no byte past size: the allocation ends there. */
static void run(struct memory *m, struct dec_range stored, size_t size, enum dec_stream_end end,
		bool (*codec)(struct dec_stream *s))
{
	struct dec_error err = { .status = DEC_OK };
	struct dec_stream s = {
		.source = &m->source,
		.stored = stored,
		.out = malloc(size ? size : 1),
		.size = size,
		.end = end,
		.err = &err,
	};
	bool ok = codec(&s);

	if (ok != (err.status == DEC_OK))
		fail("the verdict and the error differ");
	if (s.made > size || (ok && end == DEC_STREAM_EXACT && s.made != size))
		fail("more or less was made than asked");
	free(s.out);
}

static void extents(struct memory *m, struct dec_range stored, size_t size)
{
	struct dec_error err = { .status = DEC_OK };
	struct dec_build b = {
		.source = &m->source,
		.limits = dec_limits_default(),
		.err = &err,
	};
	uint64_t limit = stored.offset + stored.size, end = 0;
	bool found;

	if (!dec_zstd_extent(&b, stored.offset, limit, &end, &found) ||
	    (found && (end < stored.offset || end > limit)))
		fail("the end of a zstd frame is not inside");
	if (!dec_zlib_extent(&b, stored.offset, limit, size, &end, &found) ||
	    (found && (end < stored.offset || end > limit)))
		fail("the end of a zlib stream is not inside");
	dec_build_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum dec_stream_end end;
	struct dec_range stored;
	struct memory m;
	size_t declared;

	if (size < STREAM)
		return 0;
	memory_init(&m, data, size);
	stored = (struct dec_range){ STREAM, size - STREAM };
	declared = (size_t)data[SIZE_LOW] | (size_t)data[SIZE_HIGH] << 8;
	end = data[CHOICE] & 1 ? DEC_STREAM_PREFIX : DEC_STREAM_EXACT;
	if (data[CHOICE] & 2)
		run(&m, stored, declared, end, dec_stream_zstd);
	else
		run(&m, stored, declared, end, dec_stream_zlib);
	extents(&m, stored, declared);
	if (m.outside)
		fail("a byte outside the stream's file was asked for");
	return 0;
}
