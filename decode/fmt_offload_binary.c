/*
 * LLVM OffloadBinary records, versions 1 to 3: a header, entries, string pairs and images;
 * all offsets count from the record's start. docs/formats/offload_binary.md.
 */
#include "internal.h"

#include <stdlib.h>

enum {
	HEADER_MIN = 32,
	HEADER_V3 = 40,
	OFF_VERSION = 4,
	OFF_SIZE = 8,
	OFF_ENTRY = 16, /* offset of the entry, or of the array of entries */
	OFF_COUNT = 24, /* v1: size of the entry; later: number of entries */
	OFF_INFLATED = 32, /* v3: size of the whole record when inflated, 0: not compressed */
	ENTRY_SIZE = 40,
	PAIR_V1 = 16,
	PAIR_V2 = 24,
	/* Entries of one record: linkers write one; as many as targets in a bundle. */
	ENTRIES_MAX = 4096,
	PAIRS_MAX = 64, /* "triple", "arch" and a few more */
	VALUE_MAX = DEC_ENTRY_ID_MAX,
};

/* Image kinds: X(number) to what the entry declares. */
static const enum dec_kind image_kinds[] = {
	[1] = DEC_KIND_OBJECT,	[2] = DEC_KIND_BITCODE, [3] = DEC_KIND_CUBIN,
	[4] = DEC_KIND_UNKNOWN, [5] = DEC_KIND_PTX,	[6] = DEC_KIND_SPIRV,
};

struct record {
	const struct dec_hit *hit;
	uint32_t version;
	uint64_t size; /* of the record in the artifact */
	uint64_t entries_at, count;
	uint64_t entry_size; /* as stored in version 1, else what it has to be */
	uint64_t inflated; /* 0: stored plainly */
	struct dec_container c;
	/* Where the record's bytes are read from: the artifact, or their decoded form. */
	enum dec_space space;
	uint64_t base, room;
	struct dec_view bytes;
};

static struct dec_owner owner(const struct dec_build *b)
{
	return (struct dec_owner){ b->container_count - 1, DEC_NONE };
}

/* size bytes at offset of the record; *ok false: not inside. */
static bool peek(struct dec_build *b, const struct record *r, uint64_t offset, uint64_t size,
		 struct dec_view *v, bool *ok)
{
	*ok = dec_fits(offset, size, r->room) && size <= DEC_MIB(1);
	if (!*ok)
		return true;
	if (r->space == DEC_SPACE_DECODED) {
		*ok = dec_slice(r->bytes, offset, size, v);
		return true;
	}
	return dec_peek(b, &b->head, r->base + offset, (size_t)size, v);
}

/* ---- strings ---------------------------------------------------------------------------- */

struct strings {
	char triple[VALUE_MAX + 1];
	char arch[VALUE_MAX + 1];
};

/* A NUL-terminated text of at most VALUE_MAX bytes; *ok false: none is there. */
static bool text_read(struct dec_build *b, const struct record *r, uint64_t offset, char *out,
		      bool *ok)
{
	uint64_t size = r->room - (offset < r->room ? offset : r->room);
	struct dec_view v;
	size_t len;

	out[0] = 0;
	if (size > VALUE_MAX + 1)
		size = VALUE_MAX + 1;
	if (!peek(b, r, offset, size, &v, ok))
		return false;
	if (!*ok || size == 0)
		return true;
	len = strnlen((const char *)v.p, v.len);
	*ok = len < v.len;
	if (*ok)
		memcpy(out, v.p, len + 1);
	return true;
}

static bool pair_read(struct dec_build *b, const struct record *r, uint64_t at,
		      struct strings *strings, bool *ok)
{
	char key[VALUE_MAX + 1];
	uint64_t key_at, value_at;
	struct dec_view v;

	if (!peek(b, r, at, PAIR_V1, &v, ok))
		return false;
	if (!*ok)
		return true;
	key_at = dec_le64(v.p);
	value_at = dec_le64(v.p + 8);
	if (!text_read(b, r, key_at, key, ok))
		return false;
	if (*ok && strcmp(key, "triple") == 0)
		return text_read(b, r, value_at, strings->triple, ok);
	if (*ok && strcmp(key, "arch") == 0)
		return text_read(b, r, value_at, strings->arch, ok);
	return true;
}

static bool strings_read(struct dec_build *b, const struct record *r, uint64_t at, uint64_t count,
			 struct strings *strings, bool *ok)
{
	uint64_t pair = r->version == 1 ? PAIR_V1 : PAIR_V2;

	*ok = count <= PAIRS_MAX && dec_fits(at, count * pair, r->room);
	for (uint64_t i = 0; *ok && i < count; i++)
		if (!pair_read(b, r, at + i * pair, strings, ok))
			return false;
	return true;
}

/* ---- entries ----------------------------------------------------------------------------- */

static enum dec_kind image_kind(uint16_t number)
{
	size_t rows = sizeof(image_kinds) / sizeof(image_kinds[0]);

	return number < rows ? image_kinds[number] : DEC_KIND_UNKNOWN;
}

static bool entry_notes(struct dec_build *b, const struct record *r, struct dec_owner o,
			uint64_t at, struct dec_range image, bool strings_ok)
{
	if (!strings_ok &&
	    !dec_note(b, o, DEC_PROBLEM_OUT_OF_BOUNDS, r->base + at + 8, "string table",
		      DEC_COMPLETE, "the entry's strings do not lie inside the record"))
		return false;
	if (dec_fits(image.offset, image.size, r->room))
		return true;
	return dec_note(b, o, DEC_PROBLEM_OUT_OF_BOUNDS, r->base + at + 24, "image offset",
			DEC_COMPLETE,
			"image at %llu of %llu bytes does not lie inside the record of %llu bytes",
			(unsigned long long)image.offset, (unsigned long long)image.size,
			(unsigned long long)r->room);
}

static bool entry_list(struct dec_build *b, const struct record *r, uint64_t at, uint32_t number)
{
	struct strings strings = { "", "" };
	struct dec_declared declared;
	struct dec_range image;
	uint64_t strings_at, pairs;
	struct dec_view v, raw;
	struct dec_object o;
	uint32_t index;
	bool ok, inside;

	if (!peek(b, r, at, ENTRY_SIZE, &v, &ok))
		return false;
	if (!ok)
		return true;
	o = (struct dec_object){
		.kind = image_kind(dec_le16(v.p)),
		.target_kind = DEC_TARGET_OFFLOAD_ARCH,
		.codec = DEC_CODEC_NONE,
		.space = r->space,
		.identifier = { dec_absent, 0 },
		.options = { dec_absent, 0 },
		.header = { r->base + at, ENTRY_SIZE },
		.entry_index = number,
	};
	strings_at = dec_le64(v.p + 8);
	pairs = dec_le64(v.p + 16);
	image = (struct dec_range){ dec_le64(v.p + 24), dec_le64(v.p + 32) };
	if (!strings_read(b, r, strings_at, pairs, &strings, &ok))
		return false;
	inside = dec_fits(image.offset, image.size, r->room);
	o.payload_size = image.size;
	o.has_payload = inside && !r->c.past_limit;
	o.encoded = inside ? (struct dec_range){ r->base + image.offset, image.size }
			   : (struct dec_range){ r->base, 0 };
	dec_declare_offload(&declared, strings.triple, strings.arch);
	raw = (struct dec_view){ (const uint8_t *)strings.arch, strlen(strings.arch), 0 };
	if (!dec_add_object(b, &o, &declared, &raw, &index))
		return false;
	return index == DEC_NONE ||
	       entry_notes(b, r, (struct dec_owner){ b->container_count - 1, index }, at, image,
			   ok);
}

static bool entries_list(struct dec_build *b, const struct record *r)
{
	uint64_t fit = (r->room - r->entries_at) / ENTRY_SIZE;
	uint64_t count = r->count < fit ? r->count : fit;

	if (count > ENTRIES_MAX)
		count = ENTRIES_MAX;
	if (count < r->count && !dec_note(b, owner(b), DEC_PROBLEM_OUT_OF_BOUNDS,
					  r->hit->at + OFF_COUNT, "number of entries", DEC_PARTIAL,
					  "%llu entries of 40 bytes do not fit; %llu are listed",
					  (unsigned long long)r->count, (unsigned long long)count))
		return false;
	for (uint64_t i = 0; i < count; i++)
		if (!entry_list(b, r, r->entries_at + i * ENTRY_SIZE, (uint32_t)i))
			return false;
	return true;
}

/* ---- compressed records (v3) ----------------------------------------------------------------- */

/* What is needed to list the entries of a compressed record may lie anywhere in it, so all
 * of it is decoded, when it is small; offload records hold one image each. */
#define INFLATE_MAX DEC_MIB(64)

static bool inflate_record(struct dec_build *b, struct record *r, uint8_t *bytes)
{
	struct dec_error err = { .status = DEC_OK };
	struct dec_view head;
	struct dec_stream s = {
		.source = b->source,
		.stored = r->c.stream,
		.out = bytes + r->c.verbatim,
		.size = (size_t)(r->inflated - r->c.verbatim),
		.end = DEC_STREAM_EXACT,
		.err = &err,
	};

	if (!dec_peek(b, &b->head, r->hit->at, (size_t)r->c.verbatim, &head))
		return false;
	memcpy(bytes, head.p, head.len);
	r->space = DEC_SPACE_DECODED;
	r->base = 0;
	if (r->c.codec == DEC_CODEC_ZSTD ? dec_stream_zstd(&s) : dec_stream_zlib(&s)) {
		r->bytes = (struct dec_view){ bytes, (size_t)r->inflated, 0 };
		r->room = r->inflated;
		return entries_list(b, r);
	}
	if (err.status != DEC_E_DATA) {
		*b->err = err;
		return false;
	}
	return dec_note(b, owner(b), err.code, err.offset, "compressed record", DEC_PARTIAL, "%s",
			err.sentence);
}

static bool compressed_list(struct dec_build *b, struct record *r)
{
	uint8_t *bytes;
	bool past, ok;

	if (!dec_limit_decoded(b, owner(b), r->c.stream.size, r->inflated,
			       r->hit->at + OFF_INFLATED, "inflated size", DEC_PARTIAL, &past))
		return false;
	r->c.past_limit = past || r->inflated > INFLATE_MAX;
	b->containers[b->container_count - 1].past_limit = past;
	if (past)
		return true;
	if (r->c.past_limit)
		return dec_note(b, owner(b), DEC_PROBLEM_LIMIT, r->hit->at + OFF_INFLATED,
				"inflated size", DEC_PARTIAL,
				"the entries of a compressed record over %llu bytes are not listed",
				(unsigned long long)INFLATE_MAX);
	if (!dec_spend_search(b, r->hit->at, r->inflated, &ok))
		return false;
	if (!ok)
		return true;
	bytes = malloc((size_t)r->inflated);
	if (!bytes)
		return dec_fatal(b, DEC_E_NOMEM, 0, r->hit->at, "record", "out of memory");
	ok = inflate_record(b, r, bytes);
	free(bytes);
	return ok;
}

/* ---- the header ------------------------------------------------------------------------------- */

static bool header_read(struct dec_build *b, struct record *r, bool *ok)
{
	const struct dec_hit *hit = r->hit;
	uint64_t left = hit->limit - hit->at, header;
	struct dec_view v;

	*ok = false;
	if (left < HEADER_MIN)
		return dec_refuse_header(b, hit, DEC_PROBLEM_TRUNCATED, hit->at, "record header",
					 "the file ends inside an offload binary's header");
	if (!dec_peek(b, &b->head, hit->at, left < HEADER_V3 ? HEADER_MIN : HEADER_V3, &v))
		return false;
	r->version = dec_le32(v.p + OFF_VERSION);
	r->size = dec_le64(v.p + OFF_SIZE);
	r->entries_at = dec_le64(v.p + OFF_ENTRY);
	r->count = r->version == 1 ? 1 : dec_le64(v.p + OFF_COUNT);
	r->entry_size = r->version == 1 ? dec_le64(v.p + OFF_COUNT) : ENTRY_SIZE;
	if (r->version < 1 || r->version > 3)
		return dec_refuse_header(b, hit, DEC_PROBLEM_UNSUPPORTED_VERSION,
					 hit->at + OFF_VERSION, "version",
					 "offload binary version is not 1, 2 or 3");
	header = r->version == 3 ? HEADER_V3 : HEADER_MIN;
	if (left < header || r->size < header || r->size > left)
		return dec_refuse_header(
			b, hit, DEC_PROBLEM_OUT_OF_BOUNDS, hit->at + OFF_SIZE, "size",
			"the record's size is less than its header or reaches past the end of "
			"the file");
	if (r->version == 3)
		r->inflated = dec_le64(v.p + OFF_INFLATED);
	*ok = r->entries_at >= header && r->entries_at <= r->size &&
	      (r->inflated == 0 || r->inflated >= r->entries_at);
	return *ok || dec_refuse_header(b, hit, DEC_PROBLEM_OUT_OF_BOUNDS, hit->at + OFF_ENTRY,
					"entry offset", "the entries do not lie inside the record");
}

static bool codec_read(struct dec_build *b, struct record *r)
{
	struct dec_view v;
	size_t size = r->c.stream.size < 4 ? (size_t)r->c.stream.size : 4;

	if (!dec_peek(b, &b->head, r->c.stream.offset, size, &v))
		return false;
	r->c.codec = dec_starts(v, "\x28\xb5\x2f\xfd", 4) ? DEC_CODEC_ZSTD : DEC_CODEC_ZLIB;
	return true;
}

static bool record_list(struct dec_build *b, struct record *r)
{
	uint32_t index;

	r->c.version = r->version;
	r->c.entries = r->count;
	r->c.range = (struct dec_range){ r->hit->at, r->size };
	if (r->inflated) {
		r->c.decoded_size = r->inflated;
		r->c.verbatim = r->entries_at;
		r->c.stream =
			(struct dec_range){ r->hit->at + r->entries_at, r->size - r->entries_at };
		if (!codec_read(b, r))
			return false;
	}
	if (!dec_add_container(b, &r->c, &index))
		return false;
	if (index == DEC_NONE)
		return true;
	if (r->entry_size != ENTRY_SIZE &&
	    !dec_note(b, owner(b), DEC_PROBLEM_OUT_OF_BOUNDS, r->hit->at + OFF_COUNT, "entry size",
		      DEC_COMPLETE, "entry size is %llu, an entry has 40 bytes",
		      (unsigned long long)r->entry_size))
		return false;
	return r->inflated ? compressed_list(b, r) : entries_list(b, r);
}

static bool offload_claim(struct dec_build *b, const struct dec_hit *hit, uint64_t *end)
{
	struct record r = {
		.hit = hit,
		.c = { .kind = DEC_CONTAINER_OFFLOAD_BINARY, .place = hit->place },
		.space = DEC_SPACE_ARTIFACT,
		.base = hit->at,
	};
	bool ok;

	*end = hit->at;
	if (!header_read(b, &r, &ok))
		return false;
	if (!ok)
		return true;
	r.room = r.size;
	*end = hit->at + r.size;
	return record_list(b, &r);
}

const struct dec_format_row dec_format_offload_binary = {
	.name = "offload_binary",
	.magic = "\x10\xff\x10\xad",
	.magic_len = 4,
	.claim = offload_claim,
};
