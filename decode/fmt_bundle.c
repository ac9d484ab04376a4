/*
 * Plain Clang offload bundles: magic, entry count, packed entry records; payloads at
 * offsets from the magic. docs/formats/bundle.md.
 */
#include "internal.h"

#include <stdlib.h>

#define MAGIC "__CLANG_OFFLOAD_BUNDLE__"
enum {
	MAGIC_SIZE = 24,
	HEADER_SIZE = 32, /* magic and count */
	RECORD_SIZE = 24, /* offset, size, id length; the id follows */
};

struct record {
	uint64_t at; /* offset of the record in its space */
	uint64_t offset, size; /* of the payload, from the bundle's start */
	uint64_t id_len;
};

struct bundle {
	const struct dec_hit *hit;
	enum dec_space space;
	struct dec_view inner; /* in decoded space: the bytes that are there already */
	uint64_t base; /* offset of the magic in its space */
	uint64_t left; /* bytes from the magic to the end of the space */
	uint64_t count; /* as declared */
	uint64_t header_end; /* from the magic, after the records read so far */
	uint32_t container;
	struct record *records;
	uint32_t record_count;
	bool more; /* decoded space: the entry table goes on behind the bytes that are there */
};

static struct dec_owner owner(const struct bundle *u)
{
	return (struct dec_owner){ u->container, DEC_NONE };
}

/* ---- records ------------------------------------------------------------------------ */

/* *there false: not decoded yet. */
static bool peek(struct dec_build *b, const struct bundle *u, uint64_t offset, size_t size,
		 struct dec_view *v, bool *there)
{
	*there = true;
	if (u->space == DEC_SPACE_ARTIFACT)
		return dec_peek(b, &b->head, offset, size, v);
	*there = dec_slice(u->inner, offset, size, v);
	return true;
}

/* Reads the record at header_end. *ok false: it does not fit. */
static bool record_read(struct dec_build *b, struct bundle *u, struct record *r, bool *ok)
{
	struct dec_view v;

	*ok = dec_fits(u->header_end, RECORD_SIZE, u->left);
	if (!*ok)
		return true;
	r->at = u->base + u->header_end;
	if (!peek(b, u, r->at, RECORD_SIZE, &v, ok))
		return false;
	u->more |= !*ok;
	if (!*ok)
		return true;
	r->offset = dec_le64(v.p);
	r->size = dec_le64(v.p + 8);
	r->id_len = dec_le64(v.p + 16);
	*ok = r->id_len <= DEC_ENTRY_ID_MAX &&
	      dec_fits(u->header_end + RECORD_SIZE, r->id_len, u->left);
	return true;
}

/* Once a record was read its id is there too. */
static bool id_view(struct dec_build *b, const struct bundle *u, const struct record *r,
		    struct dec_view *id, bool *there)
{
	return peek(b, u, r->at + RECORD_SIZE, (size_t)r->id_len, id, there);
}

/* Away from the places where bundles belong, an id must read like one. */
static bool id_plausible(struct dec_view id)
{
	bool hyphen = false;

	for (size_t i = 0; i < id.len; i++) {
		if (id.p[i] < 0x20 || id.p[i] > 0x7e)
			return false;
		hyphen |= id.p[i] == '-';
	}
	return hyphen;
}

static uint32_t records_max(const struct bundle *u)
{
	uint64_t fit = (u->left - HEADER_SIZE) / RECORD_SIZE;

	if (fit > u->count)
		fit = u->count;
	return (uint32_t)(fit < DEC_BUNDLE_ENTRIES_MAX ? fit : DEC_BUNDLE_ENTRIES_MAX);
}

/* Reads every record that fits into u->records. *ok false: this is no bundle. */
static bool records_read(struct dec_build *b, struct bundle *u, bool *ok)
{
	uint32_t max = records_max(u);

	*ok = true;
	for (u->record_count = 0; u->record_count < max; u->record_count++) {
		struct record *r = &u->records[u->record_count];
		struct dec_view id;
		bool fits;

		if (!record_read(b, u, r, &fits))
			return false;
		if (!fits)
			break;
		if (!id_view(b, u, r, &id, &fits))
			return false;
		u->more |= !fits;
		if (!fits || (!u->hit->expected && !id_plausible(id)))
			break;
		u->header_end += RECORD_SIZE + r->id_len;
	}
	if (!u->hit->expected)
		*ok = u->record_count == u->count && u->count > 0;
	return true;
}

/* ---- objects ------------------------------------------------------------------------ */

static bool valid_text(struct dec_view v)
{
	for (size_t i = 0; i < v.len; i++)
		if (v.p[i] < 0x20 || v.p[i] > 0x7e)
			return false;
	return true;
}

static bool note_range(struct dec_build *b, const struct bundle *u, const struct record *r,
		       uint32_t index, uint64_t header_size)
{
	struct dec_owner o = { u->container, index };

	if (r->size == 0)
		return true;
	if (r->size > UINT64_MAX - r->offset)
		return dec_note(b, o, DEC_PROBLEM_OUT_OF_BOUNDS, r->at, "offset", DEC_COMPLETE,
				"payload at %llu of %llu bytes wraps around 64 bits",
				(unsigned long long)r->offset, (unsigned long long)r->size);
	if (!dec_fits(r->offset, r->size, u->left))
		return dec_note(b, o, DEC_PROBLEM_TRUNCATED,
				r->offset < u->left ? r->at + 8 : r->at,
				r->offset < u->left ? "size" : "offset",
				u->space == DEC_SPACE_ARTIFACT ? DEC_PARTIAL : DEC_COMPLETE,
				"payload at %llu of %llu bytes reaches past the end of the %s; "
				"%llu bytes are left from the bundle's start",
				(unsigned long long)r->offset, (unsigned long long)r->size,
				u->space == DEC_SPACE_ARTIFACT ? "file" : "decoded bytes",
				(unsigned long long)u->left);
	if (r->offset < header_size)
		return dec_note(b, o, DEC_PROBLEM_OVERLAP, r->at, "offset", DEC_COMPLETE,
				"payload at %llu lies inside the bundle's header of %llu bytes",
				(unsigned long long)r->offset, (unsigned long long)header_size);
	return true;
}

/* The part of a payload that exists. */
static struct dec_range clip(const struct bundle *u, const struct record *r)
{
	uint64_t offset = r->offset < u->left ? r->offset : u->left;
	uint64_t size = r->size < u->left - offset ? r->size : u->left - offset;

	return (struct dec_range){ u->base + offset, size };
}

static bool object_add(struct dec_build *b, const struct bundle *u, const struct record *r,
		       uint32_t entry_index, uint32_t *index)
{
	struct dec_declared declared;
	struct dec_view id = { (const uint8_t *)dec_absent, 0, 0 };
	bool there;
	struct dec_object o = {
		.target_kind = DEC_TARGET_BUNDLE_ID,
		.codec = DEC_CODEC_NONE,
		.space = u->space,
		.identifier = { dec_absent, 0 },
		.options = { dec_absent, 0 },
		.payload_size = r->size,
		.header = { r->at, RECORD_SIZE + r->id_len },
		.encoded = clip(u, r),
		.entry_index = entry_index,
	};

	if (!id_view(b, u, r, &id, &there))
		return false;
	o.kind = dec_declare_bundle_id(&declared, (const char *)id.p, id.len);
	o.has_payload =
		(o.encoded.size > 0 || r->size == 0) && !b->containers[u->container].past_limit;
	if (!dec_add_object(b, &o, &declared, &id, index))
		return false;
	if (*index == DEC_NONE || valid_text(id))
		return true;
	return dec_note(
		b, (struct dec_owner){ u->container, *index }, DEC_PROBLEM_NAME_NOT_UTF8,
		r->at + RECORD_SIZE, "entry id", DEC_COMPLETE,
		"the entry id holds bytes that are no printable ASCII; they are shown as %%XX");
}

static int by_start(const void *a, const void *b)
{
	const struct dec_range *x = &(*(const struct dec_object *const *)a)->encoded;
	const struct dec_range *y = &(*(const struct dec_object *const *)b)->encoded;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Two payloads that share bytes: a remark on the later one. */
static bool note_overlaps(struct dec_build *b, const struct bundle *u)
{
	uint32_t first = b->containers[u->container].first_object;
	uint32_t count = b->containers[u->container].object_count;
	const struct dec_object **order = malloc((count + 1) * sizeof(*order));
	uint64_t reached = 0;
	bool ok = order || dec_fatal(b, DEC_E_NOMEM, 0, u->hit->at, "bundle", "out of memory");

	for (uint32_t i = 0; ok && i < count; i++)
		order[i] = &b->objects[first + i];
	if (ok)
		qsort(order, count, sizeof(*order), by_start);
	for (uint32_t i = 0; ok && i < count; i++) {
		struct dec_range range = order[i]->encoded;

		/* A payload that does not fit says nothing of its neighbours. */
		if (range.size == 0 || range.size != order[i]->payload_size)
			continue;
		if (range.offset < reached)
			ok = dec_note(b,
				      (struct dec_owner){ u->container,
							  (uint32_t)(order[i] - b->objects) },
				      DEC_PROBLEM_OVERLAP, order[i]->header.offset, "offset",
				      DEC_COMPLETE, "payload shares bytes with another entry's");
		if (range.offset + range.size > reached) /* both lie inside the file */
			reached = range.offset + range.size;
	}
	free(order);
	return ok;
}

/* A bundle has no size field: it ends with its last payload that lies inside the file. */
static uint64_t bundle_end(const struct bundle *u)
{
	uint64_t end = u->header_end;

	for (uint32_t i = 0; i < u->record_count; i++) {
		const struct record *r = &u->records[i];

		if (dec_fits(r->offset, r->size, u->left) && r->size && r->offset + r->size > end)
			end = r->offset + r->size;
	}
	return end;
}

static bool note_count(struct dec_build *b, const struct bundle *u)
{
	if (u->record_count == u->count)
		return true;
	if (u->record_count == DEC_BUNDLE_ENTRIES_MAX)
		return dec_note(b, owner(u), DEC_PROBLEM_LIMIT, u->base + MAGIC_SIZE, "entry count",
				DEC_PARTIAL, "%llu entries, %u are listed",
				(unsigned long long)u->count, u->record_count);
	if (u->count > (u->left - HEADER_SIZE) / RECORD_SIZE)
		return dec_note(
			b, owner(u), DEC_PROBLEM_OUT_OF_BOUNDS, u->base + MAGIC_SIZE, "entry count",
			DEC_PARTIAL,
			"%llu entries of at least 24 bytes do not fit in the %llu bytes left; "
			"%u are listed",
			(unsigned long long)u->count, (unsigned long long)(u->left - HEADER_SIZE),
			u->record_count);
	return dec_note(
		b, owner(u), DEC_PROBLEM_OUT_OF_BOUNDS, u->base + u->header_end + 16, "id length",
		DEC_PARTIAL,
		"the record of entry %u or its id does not fit; %u of %llu entries are listed",
		u->record_count, u->record_count, (unsigned long long)u->count);
}

static bool objects_list(struct dec_build *b, const struct bundle *u)
{
	uint32_t index;

	for (uint32_t i = 0; i < u->record_count; i++) {
		if (!object_add(b, u, &u->records[i], i, &index))
			return false;
		if (index != DEC_NONE && !note_range(b, u, &u->records[i], index, u->header_end))
			return false;
	}
	return note_count(b, u) && note_overlaps(b, u);
}

static bool bundle_list(struct dec_build *b, struct bundle *u, uint64_t *end)
{
	struct dec_container c = {
		.kind = DEC_CONTAINER_BUNDLE,
		.entries = u->count,
		.range = { u->hit->at, bundle_end(u) },
		.place = u->hit->place,
	};

	if (!dec_add_container(b, &c, &u->container))
		return false;
	*end = u->hit->at + c.range.size;
	return u->container == DEC_NONE || objects_list(b, u);
}

static bool bundle_read(struct dec_build *b, struct bundle *u, uint64_t *end)
{
	bool ok;

	u->records = malloc((records_max(u) + (size_t)1) * sizeof(*u->records));
	if (!u->records)
		return dec_fatal(b, DEC_E_NOMEM, 0, u->hit->at, "bundle", "out of memory");
	if (!records_read(b, u, &ok))
		return false;
	return !ok || bundle_list(b, u, end);
}

static bool bundle_claim(struct dec_build *b, const struct dec_hit *hit, uint64_t *end)
{
	struct bundle u = {
		.hit = hit,
		.base = hit->at,
		.left = hit->limit - hit->at,
		.header_end = HEADER_SIZE,
	};
	struct dec_view v;
	bool ok;

	*end = hit->at;
	if (u.left < HEADER_SIZE)
		return dec_refuse_header(b, hit, DEC_PROBLEM_TRUNCATED, hit->at, "bundle header",
					 "the file ends inside a bundle header of 32 bytes");
	if (!dec_peek(b, &b->head, hit->at, HEADER_SIZE, &v))
		return false;
	u.count = dec_le64(v.p + MAGIC_SIZE);
	/* "__CLANG_OFFLOAD_BUNDLE____START__" marks a text bundle, which holds no code. */
	if (memcmp(v.p + MAGIC_SIZE, "__START_", 8) == 0)
		return true;
	if (!hit->expected && u.count > (u.left - HEADER_SIZE) / RECORD_SIZE)
		return true;
	ok = bundle_read(b, &u, end);
	free(u.records);
	return ok;
}

/* Container faults inside have no offset in the artifact; theirs is the decoded one. */
bool dec_bundle_inner(struct dec_build *b, const struct dec_hit *hit, struct dec_view bytes,
		      uint64_t decoded_size, bool *more)
{
	struct dec_hit inner = { hit->at, hit->limit, hit->place, true };
	struct bundle u = {
		.hit = &inner,
		.space = DEC_SPACE_DECODED,
		.inner = bytes,
		.left = decoded_size,
		.header_end = HEADER_SIZE,
		.container = b->container_count - 1,
	};
	bool ok;

	*more = false;
	if (bytes.len < HEADER_SIZE || !dec_starts(bytes, MAGIC, MAGIC_SIZE))
		return dec_note(b, owner(&u), DEC_PROBLEM_BAD_MAGIC, 0, "magic", DEC_PARTIAL,
				"decodes to something that is no bundle; no entries are listed");
	u.count = dec_le64(bytes.p + MAGIC_SIZE);
	b->containers[u.container].entries = u.count;
	u.records = malloc((records_max(&u) + (size_t)1) * sizeof(*u.records));
	if (!u.records)
		return dec_fatal(b, DEC_E_NOMEM, 0, hit->at, "bundle", "out of memory");
	ok = records_read(b, &u, &ok);
	*more = u.more;
	if (ok && !u.more)
		ok = objects_list(b, &u);
	free(u.records);
	return ok;
}

/* -fgpu-rdc objects of the older driver: one section per entry. */
bool dec_bundle_section(struct dec_build *b, const struct dec_hit *hit, const struct dec_span *span)
{
	struct dec_container c = {
		.kind = DEC_CONTAINER_BUNDLE,
		.entries = 1,
		.range = span->range,
		.place = hit->place,
	};
	struct dec_object o = {
		.target_kind = DEC_TARGET_BUNDLE_ID,
		.codec = DEC_CODEC_NONE,
		.space = DEC_SPACE_ARTIFACT,
		.has_payload = true,
		.identifier = { dec_absent, 0 },
		.options = { dec_absent, 0 },
		.payload_size = span->range.size,
		.header = { span->range.offset, 0 },
		.encoded = span->range,
	};
	size_t prefix = strlen(DEC_BUNDLE_SECTION_PREFIX);
	struct dec_view id = { (const uint8_t *)span->name.p + prefix, span->name.len - prefix, 0 };
	struct dec_declared declared;
	uint32_t index;

	o.kind = dec_declare_bundle_id(&declared, (const char *)id.p, id.len);
	if (!dec_add_container(b, &c, &index))
		return false;
	return index == DEC_NONE || dec_add_object(b, &o, &declared, &id, &index);
}

const struct dec_format_row dec_format_bundle = {
	.name = "bundle",
	.magic = MAGIC,
	.magic_len = MAGIC_SIZE,
	.claim = bundle_claim,
};
