/* Opens the bytes as an artifact, asks which devices could load it, reads every byte of every
 * range it gives, unpacks what is compressed, closes. */
#include "fuzz.h"
#include "memory.h"
#include "sound.h"

#include <stdio.h>
#include <stdlib.h>

/* So that one input cannot ask for more than a fuzzer's patience. */
#define MAX_PAYLOAD DEC_MIB(1)
#define MAX_UNPACKED DEC_MIB(16)

static void fail(const char *why)
{
	fprintf(stderr, "%s\n", why);
	abort();
}

/* A sanitizer sees each byte. */
static void read_all(const uint8_t *p, uint64_t size)
{
	volatile uint8_t sum = 0;

	for (uint64_t i = 0; i < size; i++)
		sum = (uint8_t)(sum + p[i]);
}

static void read_range(const struct dec_source *source, struct dec_range range)
{
	uint8_t chunk[4096];

	while (range.size) {
		size_t len = range.size < sizeof(chunk) ? (size_t)range.size : sizeof(chunk);

		if (source->read(source->ctx, range.offset, chunk, len) != 0)
			fail("a range cannot be read");
		read_all(chunk, len);
		range.offset += len;
		range.size -= len;
	}
}

typedef bool (*unpacker)(const struct dec_artifact *a, uint32_t index, void *out,
			 struct dec_error *err);

/* Gives the size, 0 when it could not be decoded. */
static uint64_t unpack(const struct dec_artifact *a, uint32_t index, uint64_t size, unpacker fn,
		       uint8_t **out)
{
	struct dec_error err;
	bool ok;

	*out = malloc((size_t)size + 1);
	if (!*out)
		return 0;
	ok = fn(a, index, *out, &err);
	if (ok != (err.status == DEC_OK))
		fail("the verdict and the error differ");
	if (!ok && (!err.field || !err.sentence[0]))
		fail("an error without a field or a sentence");
	if (ok)
		read_all(*out, size);
	return ok ? size : 0;
}

static void unpack_container(const struct dec_artifact *a, uint32_t index, uint64_t *budget)
{
	const struct dec_container *c = &a->containers[index];
	uint64_t size;
	uint8_t *out;

	if (!dec_can_decode(a, index) || c->decoded_size > *budget)
		return;
	*budget -= c->decoded_size;
	size = unpack(a, index, c->decoded_size, dec_unpack_container, &out);
	for (uint32_t i = 0; size && i < c->object_count; i++) {
		const struct dec_object *o = &a->objects[c->first_object + i];

		if (o->encoded.size > *budget)
			break; /* entries may share bytes: thousands times one megabyte */
		*budget -= o->encoded.size;
		read_all(out + o->encoded.offset, o->encoded.size);
	}
	free(out);
}

static void unpack_object(const struct dec_artifact *a, const struct dec_source *source,
			  uint32_t index, uint64_t *budget)
{
	const struct dec_object *o = &a->objects[index];
	uint8_t *out;

	if (o->space == DEC_SPACE_DECODED)
		return;
	if (o->encoded.size <= *budget) {
		*budget -= o->encoded.size;
		read_range(source, o->encoded);
		read_range(source, o->header);
	}
	if (o->codec == DEC_CODEC_NONE || !o->has_payload || o->payload_size > *budget)
		return;
	*budget -= o->payload_size;
	unpack(a, index, o->payload_size, dec_unpack, &out);
	free(out);
}

/* One device of each vendor with all the doubts that there are. */
static void judge(const struct dec_artifact *a)
{
	static const char *const devices[] = { "sm_88", "sm_110", "gfx906:sramecc+:xnack-" };
	const struct dec_judge_options options = { .driver = 560 };

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		struct dec_answer *answer =
			dec_judge(a, dec_device_named(devices[i]), i ? NULL : &options);
		const char *fault = answer ? answer_fault(a, answer) : NULL;

		if (fault)
			fail(fault);
		dec_answer_free(answer);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dec_limits limits = dec_limits_default();
	uint64_t budget = MAX_UNPACKED;
	struct dec_artifact *a;
	struct dec_error err;
	struct memory m;
	const char *fault;

	limits.max_payload = MAX_PAYLOAD;
	memory_init(&m, data, size);
	a = dec_open(&m.source, "input", &limits, &err);
	if ((a != NULL) != (err.status == DEC_OK))
		fail("the artifact and the error differ");
	if (m.outside)
		fail("a byte outside the artifact was asked for");
	if (!a)
		return 0;
	fault = inventory_fault(a, &limits);
	if (fault)
		fail(fault);
	judge(a);
	for (uint32_t i = 0; i < a->container_count; i++)
		unpack_container(a, i, &budget);
	for (uint32_t i = 0; i < a->object_count; i++)
		unpack_object(a, &m.source, i, &budget);
	if (m.outside)
		fail("a byte outside the artifact was asked for");
	dec_close(a);
	return 0;
}
