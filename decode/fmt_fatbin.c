/*
 * CUDA fatbin regions: a 16-byte header, then entries back to back. Field offsets and
 * their meaning: docs/formats/fatbin.md, which says how sure each is.
 */
#include "internal.h"

enum {
	REGION_HEADER = 16,
	REGION_VERSION = 1,
	ENTRY_HEADER_MIN = 64,
	ENTRY_VERSION = 0x0101,
	KIND_NESTED = 0x100,
};

/* Offsets in an entry header. */
enum {
	E_KIND = 0x00,
	E_VERSION = 0x02,
	E_HEADER_SIZE = 0x04,
	E_PAYLOAD_SIZE = 0x08,
	E_COMPRESSED_SIZE = 0x10,
	E_OPTIONS_OFFSET = 0x14,
	E_MINOR = 0x18,
	E_MAJOR = 0x1a,
	E_ARCH = 0x1c,
	E_NAME_OFFSET = 0x20,
	E_NAME_LENGTH = 0x24,
	E_FLAGS = 0x28,
	E_UNCOMPRESSED_SIZE = 0x38,
};

enum {
	FLAG_ZLIB = 0x1000,
	FLAG_LZ4 = 0x2000,
	FLAG_ZSTD = 0x8000,
	FLAG_CODECS = 0xf000, /* 0x4000 was never seen: a codec nobody knows */
	FLAG_SCRAMBLED = 0x10000,
	FLAG_ARCH = 0x100000, /* sm_90a */
	FLAG_FAMILY = 0x200000, /* sm_100f */
};

/* Entry kinds; a number without a row is listed as unknown, its target as sm_. */
static const struct kind_row {
	uint16_t number;
	enum dec_kind kind;
	enum dec_target_class class;
	bool has_options; /* the options block is a command line */
} kinds[] = {
	{ 0x01, DEC_KIND_PTX, DEC_CLASS_COMPUTE, true },
	{ 0x02, DEC_KIND_CUBIN, DEC_CLASS_SM, false },
	{ 0x08, DEC_KIND_LTO_IR, DEC_CLASS_LTO, true },
	{ 0x20, DEC_KIND_INDEX, DEC_CLASS_SM, false },
	{ 0x40, DEC_KIND_RELOCATABLE_PTX, DEC_CLASS_COMPUTE, true },
	{ 0x80, DEC_KIND_TILE_IR, DEC_CLASS_COMPUTE, false },
};
static const struct kind_row unknown_kind = { 0, DEC_KIND_UNKNOWN, DEC_CLASS_SM, false };

static const struct kind_row *kind_find(uint16_t number)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].number == number)
			return &kinds[i];
	return &unknown_kind;
}

struct region {
	const struct dec_hit *hit;
	uint64_t first; /* offset of the first entry */
	uint64_t end; /* of the entries, inside the file */
	bool clipped; /* the header claims more than the file has */
	uint32_t container;
};

struct entry {
	uint64_t at;
	uint32_t header_size;
	uint64_t stored; /* bytes of the payload that exist, at most payload_size */
	const struct kind_row *kind;
	struct dec_view header; /* up to DEC_FATBIN_HEADER_MAX of it */
	struct dec_object object;
	uint32_t index; /* of the object once listed */
};

static struct dec_owner owner(const struct region *r, const struct entry *e)
{
	return (struct dec_owner){ r->container, e ? e->index : DEC_NONE };
}

/* ---- one entry ------------------------------------------------------------------- */

static enum dec_codec codec_of(uint64_t flags)
{
	switch (flags & FLAG_CODECS) {
	case 0:
		return DEC_CODEC_NONE;
	case FLAG_LZ4:
		return DEC_CODEC_LZ4;
	case FLAG_ZSTD:
		return DEC_CODEC_ZSTD;
	default:
		return DEC_CODEC_UNSUPPORTED;
	}
}

/* Text inside the header, cut at its NUL; *ok false when it does not lie inside. */
static bool header_text(struct dec_build *b, const struct entry *e, uint32_t offset, uint32_t len,
			struct dec_text *text, bool *ok)
{
	struct dec_view v;

	*ok = offset >= ENTRY_HEADER_MIN && dec_slice(e->header, offset, len, &v);
	if (!*ok)
		return true;
	return dec_text_copy(b, v.p, strnlen((const char *)v.p, v.len), text);
}

static bool read_name(struct dec_build *b, const struct region *r, struct entry *e)
{
	uint32_t offset = dec_le32(e->header.p + E_NAME_OFFSET);
	uint32_t len = dec_le32(e->header.p + E_NAME_LENGTH);
	bool ok;

	if (offset == 0)
		return true;
	if (!header_text(b, e, offset, len, &b->objects[e->index].identifier, &ok))
		return false;
	return ok || dec_note(b, owner(r, e), DEC_PROBLEM_OUT_OF_BOUNDS, e->at + E_NAME_OFFSET,
			      "name_offset", DEC_COMPLETE,
			      "name at %u of %u bytes is not inside the entry header of %u bytes",
			      offset, len, e->header_size);
}

static bool read_options(struct dec_build *b, const struct region *r, struct entry *e)
{
	uint32_t block = dec_le32(e->header.p + E_OPTIONS_OFFSET), offset, len;
	struct dec_view v;
	bool ok;

	if (block == 0 || !e->kind->has_options)
		return true;
	if (block < ENTRY_HEADER_MIN || !dec_slice(e->header, block, 8, &v))
		return dec_note(b, owner(r, e), DEC_PROBLEM_OUT_OF_BOUNDS, e->at + E_OPTIONS_OFFSET,
				"options_offset", DEC_COMPLETE,
				"options block at %u is not inside the entry header of %u bytes",
				block, e->header_size);
	offset = dec_le32(v.p);
	len = dec_le32(v.p + 4);
	if (len == 0) /* old packers write offset 0 then: never follow it */
		return true;
	if (!header_text(b, e, offset, len, &b->objects[e->index].options, &ok))
		return false;
	return ok ||
	       dec_note(b, owner(r, e), DEC_PROBLEM_OUT_OF_BOUNDS, e->at + block + 4,
			"options length", DEC_COMPLETE,
			"options at %u of %u bytes are not inside the entry header of %u bytes",
			offset, len, e->header_size);
}

/* Sizes as the flags say they should be read; remarks where the fields contradict. */
static bool read_extents(struct dec_build *b, const struct region *r, struct entry *e)
{
	uint32_t compressed = dec_le32(e->header.p + E_COMPRESSED_SIZE);
	struct dec_object *o = &b->objects[e->index];
	uint64_t at = e->at + E_COMPRESSED_SIZE;

	o->encoded = (struct dec_range){ e->at + e->header_size, e->stored };
	if (o->codec == DEC_CODEC_NONE) {
		o->payload_size = dec_le64(e->header.p + E_PAYLOAD_SIZE);
		return compressed == 0 ||
		       dec_note(b, owner(r, e), DEC_PROBLEM_SIZE_MISMATCH, at, "compressed_size",
				DEC_COMPLETE, "compressed_size is %u but no codec flag is set",
				compressed);
	}
	o->payload_size = dec_le64(e->header.p + E_UNCOMPRESSED_SIZE);
	if (compressed == 0)
		return dec_note(
			b, owner(r, e), DEC_PROBLEM_SIZE_MISMATCH, at, "compressed_size",
			DEC_COMPLETE,
			"compressed_size is 0 but a codec flag is set; payload_size is used");
	if (compressed <= e->stored) {
		o->encoded.size = compressed;
		return true;
	}
	return dec_note(b, owner(r, e), DEC_PROBLEM_OUT_OF_BOUNDS, at, "compressed_size",
			DEC_COMPLETE,
			"compressed_size %u is more than the %llu bytes of the payload", compressed,
			(unsigned long long)e->stored);
}

/* Says why a payload is not given, or why the codec was a choice. */
static bool read_codec(struct dec_build *b, const struct region *r, struct entry *e)
{
	struct dec_object *o = &b->objects[e->index];
	uint64_t at = e->at + E_FLAGS;
	bool past;

	if (o->codec == DEC_CODEC_UNSUPPORTED) {
		o->has_payload = false;
		return dec_remark(
			b, owner(r, e), DEC_PROBLEM_UNSUPPORTED_CODEC, at, "flags",
			o->codec_flags & FLAG_ZLIB
				? "first-generation compression (flag 0x1000) is not decoded"
				: "unknown codec flag 0x4000: the payload is not decoded");
	}
	if (o->scrambled) {
		o->has_payload = false;
		return dec_remark(
			b, owner(r, e), DEC_PROBLEM_SCRAMBLED, at, "flags",
			"the payload is scrambled (flag 0x10000); its contents are not shown");
	}
	if ((o->codec_flags & FLAG_CODECS) == (FLAG_LZ4 | FLAG_ZSTD) &&
	    !dec_note(b, owner(r, e), DEC_PROBLEM_UNSUPPORTED_CODEC, at, "flags", DEC_COMPLETE,
		      "both the LZ4 and the zstd flag are set; read as %s by its first bytes",
		      dec_codec_word(o->codec)))
		return false;
	if (o->codec == DEC_CODEC_NONE)
		return true;
	if (!dec_limit_decoded(b, owner(r, e), o->encoded.size, o->payload_size,
			       e->at + E_UNCOMPRESSED_SIZE, "uncompressed_size", DEC_COMPLETE,
			       &past))
		return false;
	o->has_payload = !past;
	return true;
}

static bool note_clipped(struct dec_build *b, const struct region *r, const struct entry *e,
			 uint64_t payload_size)
{
	uint64_t start = e->at + e->header_size;
	bool past_file = payload_size > r->hit->limit - start;

	if (payload_size == e->stored)
		return true;
	return dec_note(b, owner(r, e),
			past_file ? DEC_PROBLEM_TRUNCATED : DEC_PROBLEM_OUT_OF_BOUNDS,
			e->at + E_PAYLOAD_SIZE, "payload_size", DEC_PARTIAL,
			"payload of %llu bytes reaches past the end of the %s; %llu bytes are left",
			(unsigned long long)payload_size, past_file ? "file" : "region",
			(unsigned long long)e->stored);
}

static bool note_header(struct dec_build *b, const struct region *r, const struct entry *e)
{
	if (e->header_size % 8 == 0)
		return true;
	return dec_note(b, owner(r, e), DEC_PROBLEM_OUT_OF_BOUNDS, e->at + E_HEADER_SIZE,
			"header_size", DEC_COMPLETE, "header_size %u is not a multiple of 8",
			e->header_size);
}

static char variant_of(uint64_t flags)
{
	if (flags & FLAG_ARCH) /* both set was never seen; the driver looks at 'a' first */
		return 'a';
	return flags & FLAG_FAMILY ? 'f' : 0;
}

/* Where both codec flags are set the first bytes of the stream decide. */
static bool both_codecs(struct dec_build *b, struct entry *e, enum dec_codec *codec)
{
	struct dec_view head;

	if (!dec_peek(b, &b->head, e->at + e->header_size, e->stored < 4 ? (size_t)e->stored : 4,
		      &head))
		return false;
	*codec = dec_starts(head, "\x28\xb5\x2f\xfd", 4) ? DEC_CODEC_ZSTD : DEC_CODEC_LZ4;
	/* The header's view ended with this read. */
	return dec_peek(b, &b->head, e->at, e->header.len, &e->header);
}

/* The driver finds a table of entries in it, whose layout nobody has written down. */
static bool note_nested(struct dec_build *b, const struct region *r, const struct entry *e)
{
	return e->object.entry_kind != KIND_NESTED ||
	       dec_note(b, owner(r, e), DEC_PROBLEM_UNLISTED, e->at + E_KIND, "kind", DEC_PARTIAL,
			"an entry of kind 0x100 may hold a table of further entries, which are not "
			"listed");
}

static bool entry_list(struct dec_build *b, const struct region *r, struct entry *e)
{
	uint64_t flags = dec_le64(e->header.p + E_FLAGS);
	enum dec_codec codec = codec_of(flags);
	struct dec_declared declared;
	const uint8_t *p;

	if ((flags & FLAG_CODECS) == (FLAG_LZ4 | FLAG_ZSTD) && !both_codecs(b, e, &codec))
		return false;
	p = e->header.p;
	dec_declare_sm(&declared, e->kind->class, dec_le32(p + E_ARCH), variant_of(flags));
	e->object = (struct dec_object){
		.kind = e->kind->kind,
		.target_kind = DEC_TARGET_FATBIN_ENTRY,
		.space = DEC_SPACE_ARTIFACT,
		.codec = codec,
		.codec_flags = flags,
		.entry_kind = dec_le16(p + E_KIND),
		.has_payload = true,
		.scrambled = (flags & FLAG_SCRAMBLED) != 0,
		.has_version = true,
		.version_major = dec_le16(p + E_MAJOR),
		.version_minor = dec_le16(p + E_MINOR),
		.identifier = { dec_absent, 0 },
		.options = { dec_absent, 0 },
		.header = { e->at, e->header_size },
		.entry_index = e->object.entry_index,
	};
	if (!dec_add_object(b, &e->object, &declared, NULL, &e->index))
		return false;
	if (e->index == DEC_NONE)
		return true;
	return note_nested(b, r, e) && note_header(b, r, e) &&
	       note_clipped(b, r, e, dec_le64(p + E_PAYLOAD_SIZE)) && read_extents(b, r, e) &&
	       read_codec(b, r, e) && read_name(b, r, e) && read_options(b, r, e);
}

/* ---- a region ------------------------------------------------------------------------ */

/* The first entry's header, if it can be one: what proves a region whose size is wrong. */
static bool first_entry_plausible(struct dec_build *b, uint64_t at, uint64_t end, bool *plausible)
{
	struct dec_view v;

	*plausible = false;
	if (end - at < ENTRY_HEADER_MIN)
		return true;
	if (!dec_peek(b, &b->head, at, ENTRY_HEADER_MIN, &v))
		return false;
	*plausible = dec_le16(v.p + E_VERSION) == ENTRY_VERSION &&
		     dec_le32(v.p + E_HEADER_SIZE) >= ENTRY_HEADER_MIN &&
		     dec_le32(v.p + E_HEADER_SIZE) <= DEC_FATBIN_HEADER_MAX;
	return true;
}

/* Reads the entry header at e->at. *ok false: no further entry can be found. */
static bool entry_read(struct dec_build *b, const struct region *r, struct entry *e, bool *ok)
{
	uint64_t left = r->end - e->at, payload;
	size_t size;

	*ok = false;
	if (left < ENTRY_HEADER_MIN)
		return r->clipped ||
		       dec_note(b, owner(r, NULL), DEC_PROBLEM_TRUNCATED, e->at, "entry header",
				DEC_PARTIAL,
				"%llu bytes are left in the region, an entry header has 64",
				(unsigned long long)left);
	if (!dec_peek(b, &b->head, e->at, ENTRY_HEADER_MIN, &e->header))
		return false;
	if (r->clipped && dec_le16(e->header.p + E_VERSION) != ENTRY_VERSION)
		return true; /* the true end of a region that claimed too much */
	e->header_size = dec_le32(e->header.p + E_HEADER_SIZE);
	if (e->header_size < ENTRY_HEADER_MIN || e->header_size > left)
		return dec_note(b, owner(r, NULL), DEC_PROBLEM_OUT_OF_BOUNDS, e->at + E_HEADER_SIZE,
				"header_size", DEC_PARTIAL,
				"entry header_size %u is not between 64 and the %llu bytes left in "
				"the region; later entries cannot be found",
				e->header_size, (unsigned long long)left);
	size = e->header_size < DEC_FATBIN_HEADER_MAX ? e->header_size : DEC_FATBIN_HEADER_MAX;
	if (!dec_peek(b, &b->head, e->at, size, &e->header))
		return false;
	payload = dec_le64(e->header.p + E_PAYLOAD_SIZE);
	left -= e->header_size;
	e->stored = payload < left ? payload : left;
	e->kind = kind_find(dec_le16(e->header.p + E_KIND));
	*ok = true;
	return true;
}

static bool walk(struct dec_build *b, const struct region *r, uint64_t *end)
{
	struct entry e = { .at = r->first };
	uint32_t count = 0;
	bool ok;

	while (e.at < r->end) {
		if (!entry_read(b, r, &e, &ok))
			return false;
		if (!ok)
			break;
		e.object.entry_index = count++;
		if (!entry_list(b, r, &e))
			return false;
		/* Inside the region by entry_read(), so that neither sum can wrap. */
		e.at += e.header_size + e.stored;
		*end = e.at;
	}
	b->containers[r->container].entries = count;
	return true;
}

static bool note_size(struct dec_build *b, const struct region *r, uint64_t fat_size, uint64_t room)
{
	uint64_t at = r->hit->at + 8;

	if (r->clipped)
		return dec_note(b, owner(r, NULL), DEC_PROBLEM_TRUNCATED, at, "fat_size",
				DEC_PARTIAL,
				"region of %llu bytes after its header, %llu are left in the file",
				(unsigned long long)fat_size, (unsigned long long)room);
	if (fat_size > INT32_MAX)
		return dec_note(b, owner(r, NULL), DEC_PROBLEM_OUT_OF_BOUNDS, at, "fat_size",
				DEC_COMPLETE,
				"%llu bytes: the driver reads this field as a signed 32-bit number",
				(unsigned long long)fat_size);
	return true;
}

static bool region_list(struct dec_build *b, struct region *r, uint64_t fat_size, uint64_t *end)
{
	struct dec_container c = {
		.kind = DEC_CONTAINER_FATBIN,
		.version = REGION_VERSION,
		.range = { r->hit->at, r->end - r->hit->at },
		.place = r->hit->place,
	};
	uint64_t walked = r->first;

	if (!dec_add_container(b, &c, &r->container))
		return false;
	*end = r->end;
	if (r->container == DEC_NONE)
		return true;
	if (!note_size(b, r, fat_size, r->end - r->first) || !walk(b, r, &walked))
		return false;
	if (r->clipped) { /* only what the entries prove is taken */
		*end = walked;
		b->containers[r->container].range.size = walked - r->hit->at;
	}
	return true;
}

static bool fatbin_claim(struct dec_build *b, const struct dec_hit *hit, uint64_t *end)
{
	uint64_t left = hit->limit - hit->at, fat_size, room;
	struct region r = { .hit = hit };
	uint16_t version, header_size;
	struct dec_view v;
	bool plausible;

	*end = hit->at;
	if (left < REGION_HEADER)
		return dec_refuse_header(b, hit, DEC_PROBLEM_TRUNCATED, hit->at, "region header",
					 "the file ends inside a fatbin region header of 16 bytes");
	if (!dec_peek(b, &b->head, hit->at, REGION_HEADER, &v))
		return false;
	version = dec_le16(v.p + 4);
	header_size = dec_le16(v.p + 6);
	fat_size = dec_le64(v.p + 8);
	if (version != REGION_VERSION)
		return dec_refuse_header(
			b, hit, DEC_PROBLEM_UNSUPPORTED_VERSION, hit->at + 4, "version",
			"fatbin region version is not 1; its entries are not listed");
	if (header_size < REGION_HEADER || header_size % 8 || header_size > left)
		return dec_refuse_header(
			b, hit, DEC_PROBLEM_OUT_OF_BOUNDS, hit->at + 6, "header_size",
			"fatbin region header_size is no multiple of 8 from 16 up to the end of "
			"the file");
	r.first = hit->at + header_size;
	room = left - header_size;
	r.clipped = fat_size > room;
	r.end = r.first + (r.clipped ? room : fat_size);
	if (!first_entry_plausible(b, r.first, r.end, &plausible))
		return false;
	/* A size that fits proves the header of 16 bytes; anything odder needs an entry. */
	if (!hit->expected && !plausible && (r.clipped || header_size != REGION_HEADER))
		return true;
	return region_list(b, &r, fat_size, end);
}

const struct dec_format_row dec_format_fatbin = {
	.name = "fatbin",
	.magic = "\x50\xed\x55\xba",
	.magic_len = 4,
	.claim = fatbin_claim,
};
