/* Spans of a host file: sorted, so that the place of an offset is a binary search. */
#include "internal.h"

#include <stdlib.h>

/* Sections that matter by their name. PE images cut names to 8 bytes. */
static const struct {
	const char *name;
	const struct dec_format_row *format;
} expecting[] = {
	{ ".nv_fatbin", &dec_format_fatbin },
	{ ".nv_fatb", &dec_format_fatbin },
	{ "__nv_relfatbin", &dec_format_fatbin },
	{ "__nv_rel", &dec_format_fatbin },
	{ ".hip_fatbin", &dec_format_bundle },
	{ ".hip_fat", &dec_format_bundle },
	{ ".llvm.offloading", &dec_format_offload_binary },
	{ ".llvm.of", &dec_format_offload_binary },
};

/* Where a library names the archive that its code objects were moved to. */
static const char *const external[] = { ".rocm_kpack_ref", ".kpackrf" };

struct dec_span *dec_host_add(struct dec_build *b, struct dec_host *host, enum dec_place_kind kind,
			      uint64_t offset, uint64_t size)
{
	if (host->count == host->room) {
		size_t room = host->room ? host->room * 2 : 32;
		struct dec_span *spans = reallocarray(host->spans, room, sizeof(*spans));

		if (!spans) {
			dec_fatal(b, DEC_E_NOMEM, 0, offset, "sections", "out of memory");
			return NULL;
		}
		host->spans = spans;
		host->room = room;
	}
	host->spans[host->count] = (struct dec_span){
		.range = { offset, size },
		.name = { dec_absent, 0 },
		.kind = kind,
		.place = DEC_NONE,
	};
	return &host->spans[host->count++];
}

static bool look_up(struct dec_build *b, struct dec_span *span)
{
	for (size_t i = 0; i < sizeof(expecting) / sizeof(expecting[0]); i++)
		if (strcmp(span->name.p, expecting[i].name) == 0)
			span->expects = expecting[i].format;
	span->entry = span->name.len > strlen(DEC_BUNDLE_SECTION_PREFIX) &&
		      memcmp(span->name.p, DEC_BUNDLE_SECTION_PREFIX,
			     strlen(DEC_BUNDLE_SECTION_PREFIX)) == 0;
	for (size_t i = 0; i < sizeof(external) / sizeof(external[0]); i++)
		if (strcmp(span->name.p, external[i]) == 0)
			return dec_note(
				b, DEC_OWNER_ARTIFACT, DEC_PROBLEM_EXTERNAL_CODE,
				span->range.offset, "section", DEC_COMPLETE,
				"the code objects of this library are in a .kpack archive of "
				"their own, which this section names");
	return true;
}

static int by_offset(const void *a, const void *b)
{
	const struct dec_range *x = &((const struct dec_span *)a)->range;
	const struct dec_range *y = &((const struct dec_span *)b)->range;

	if (x->offset != y->offset)
		return x->offset > y->offset ? 1 : -1;
	return (x->size < y->size) - (x->size > y->size); /* the larger first */
}

bool dec_host_finish(struct dec_build *b, struct dec_host *host)
{
	if (host->count)
		qsort(host->spans, host->count, sizeof(*host->spans), by_offset);
	for (size_t i = 0; i < host->count; i++)
		if (!look_up(b, &host->spans[i]))
			return false;
	return true;
}

struct dec_span *dec_host_find(const struct dec_host *host, uint64_t offset)
{
	size_t low = 0, high = host->count;

	while (low < high) { /* the first span that starts after offset */
		size_t middle = low + (high - low) / 2;

		if (host->spans[middle].range.offset > offset)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == 0)
		return NULL;
	low--;
	if (offset - host->spans[low].range.offset >= host->spans[low].range.size)
		return NULL;
	return &host->spans[low];
}

void dec_host_fini(struct dec_host *host)
{
	free(host->spans);
	*host = (struct dec_host){ 0 };
}
