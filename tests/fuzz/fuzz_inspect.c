/* Examines every payload that the bytes store as they are: held in memory, and read piece by
 * piece into room that holds other bytes before. Both must say the same. */
#include "fuzz.h"
#include "memory.h"
#include "same.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Payloads may share bytes: no input is to cost more than a fuzzer's patience. */
#define MAX_EXAMINED DEC_MIB(4)

struct stored {
	const uint8_t *bytes;
	size_t size;
};

static void fail(const char *why)
{
	fprintf(stderr, "%s\n", why);
	abort();
}

static int read_stored(void *ctx, uint64_t offset, void *buf, size_t len)
{
	const struct stored *s = ctx;

	if (offset > s->size || len > s->size - offset || len == 0)
		fail("a byte outside the payload was asked for");
	memcpy(buf, s->bytes + offset, len);
	return 0;
}

static void examine(const struct dec_artifact *a, uint32_t object, struct stored stored)
{
	const struct dec_source source = { read_stored, &stored, stored.size };
	struct dec_inspection *whole, *pieces;
	uint8_t *room = malloc(stored.size + 1);
	struct dec_error err;
	const char *what;

	if (!room)
		return;
	memset(room, 0xa5, stored.size);
	whole = dec_inspect(a, object, stored.bytes, stored.size, DEC_WANT_METADATA, &err);
	pieces = dec_inspect_source(a, object, &source, room, DEC_WANT_METADATA, &err);
	free(room);
	what = whole && pieces ? inspections_differ(whole, pieces) : NULL;
	if (what)
		fail(what);
	dec_inspection_free(whole);
	dec_inspection_free(pieces);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dec_limits limits = dec_limits_default();
	uint64_t budget = MAX_EXAMINED;
	struct dec_artifact *a;
	struct dec_error err;
	struct memory m;

	memory_init(&m, data, size);
	a = dec_open(&m.source, "input", &limits, &err);
	for (uint32_t i = 0; a && i < a->object_count; i++) {
		const struct dec_object *o = &a->objects[i];

		if (!o->has_payload || o->codec != DEC_CODEC_NONE ||
		    o->space != DEC_SPACE_ARTIFACT || o->encoded.size > budget)
			continue;
		budget -= o->encoded.size;
		examine(a, i, (struct stored){ data + o->encoded.offset, o->encoded.size });
	}
	dec_close(a);
	return 0;
}
