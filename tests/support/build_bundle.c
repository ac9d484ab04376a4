#include "build.h"

#include <stdlib.h>
#include <string.h>

static size_t up(size_t value, size_t align)
{
	return (value + align - 1) / align * align;
}

/* docs/formats/bundle.md */
size_t add_bundle(struct bytes *b, const struct bundle_entry *entries, size_t count, size_t align)
{
	size_t at = add_text(b, "__CLANG_OFFLOAD_BUNDLE__"), offset = 32;

	add_le(b, 8, count);
	for (size_t i = 0; i < count; i++)
		offset += 24 + strlen(entries[i].id);
	for (size_t i = 0; i < count; i++) {
		offset = up(offset, align);
		add_le(b, 8, offset);
		add_le(b, 8, entries[i].size);
		add_le(b, 8, strlen(entries[i].id));
		add_text(b, entries[i].id);
		offset += entries[i].size;
	}
	for (size_t i = 0; i < count; i++) {
		add_zeros(b, up(b->len - at, align) - (b->len - at));
		add(b, entries[i].payload, entries[i].size);
	}
	return at;
}

/* docs/formats/ccob.md */
size_t add_ccob(struct bytes *b, unsigned version, unsigned method, const struct bytes *inner)
{
	static const uint64_t hash = 0x0123456789abcdef;
	size_t at = add_text(b, "CCOB"), total = 0;

	add_le(b, 2, version);
	add_le(b, 2, method);
	if (version > 1)
		total = add_le(b, version == 2 ? 4 : 8, 0);
	add_le(b, version == 3 ? 8 : 4, inner->len);
	add_le(b, 8, hash);
	if (method == CCOB_ZLIB)
		add_zlib(b, inner->p, inner->len);
	else
		add_zstd(b, inner->p, inner->len, ZSTD_PLAIN);
	if (total)
		set_le(b, total, version == 2 ? 4 : 8, b->len - at);
	return at;
}

/* docs/formats/offload_binary.md */
enum { OFFLOAD_ENTRY = 40 };

static size_t add_pair(struct bytes *b, unsigned version, size_t at, size_t strings,
		       const char *key, const char *value)
{
	size_t pair = at, text = strings;

	set_le(b, pair, 8, text);
	set_le(b, pair + 8, 8, text + strlen(key) + 1);
	if (version > 1)
		set_le(b, pair + 16, 8, strlen(value));
	add(b, key, strlen(key) + 1);
	add(b, value, strlen(value) + 1);
	return pair + (version > 1 ? 24 : 16);
}

/* The record with its offsets counted from the start of r. */
static void record(struct bytes *r, unsigned version, const struct offload_entry *entries,
		   size_t count)
{
	size_t header = version == 3 ? 40 : 32, pairs = version > 1 ? 48 : 32;

	add(r, "\x10\xff\x10\xad", 4);
	add_le(r, 4, version);
	add_le(r, 8, 0);
	add_le(r, 8, header);
	add_le(r, 8, version == 1 ? OFFLOAD_ENTRY : count);
	add_zeros(r, header - r->len + count * OFFLOAD_ENTRY);
	for (size_t i = 0; i < count; i++) {
		size_t at = header + i * OFFLOAD_ENTRY, table = add_zeros(r, pairs), next;

		next = add_pair(r, version, table, r->len, "triple", entries[i].triple);
		add_pair(r, version, next, r->len, "arch", entries[i].arch);
		pad_to(r, 8);
		set_le(r, at, 2, entries[i].kind);
		set_le(r, at + 8, 8, table);
		set_le(r, at + 16, 8, 2);
		set_le(r, at + 24, 8, r->len);
		set_le(r, at + 32, 8, entries[i].size);
		add(r, entries[i].image, entries[i].size);
	}
	pad_to(r, 8);
	set_le(r, 8, 8, r->len);
}

size_t add_offload(struct bytes *b, unsigned version, const struct offload_entry *entries,
		   size_t count, enum offload_codec codec)
{
	struct bytes r = { 0 };
	size_t at = b->len;

	record(&r, version, entries, count);
	if (codec == OFFLOAD_PLAIN) {
		add_bytes(b, &r);
	} else {
		add(b, r.p, 40);
		set_le(b, at + 32, 8, r.len);
		if (codec == OFFLOAD_ZLIB)
			add_zlib(b, r.p + 40, r.len - 40);
		else
			add_zstd(b, r.p + 40, r.len - 40, ZSTD_PLAIN);
		set_le(b, at + 8, 8, b->len - at);
		add_zeros(b, (8 - (b->len - at) % 8) % 8);
	}
	bytes_free(&r);
	return at;
}
