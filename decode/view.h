/* A bounded piece of bytes that knows where it lies in the outermost file. */
#ifndef DEC_VIEW_H
#define DEC_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct dec_view {
	const uint8_t *p; /* never NULL: an empty view points at a static byte */
	size_t len;
	uint64_t origin; /* offset of p[0] */
};

/* True if size bytes at offset lie inside limit. Subtracts, so that nothing wraps. */
static inline bool dec_fits(uint64_t offset, uint64_t size, uint64_t limit)
{
	return offset <= limit && size <= limit - offset;
}

static inline bool dec_slice(struct dec_view v, uint64_t off, uint64_t len, struct dec_view *out)
{
	if (!dec_fits(off, len, v.len))
		return false;
	*out = (struct dec_view){ v.p + off, (size_t)len, v.origin + off };
	return true;
}

static inline bool dec_starts(struct dec_view v, const void *bytes, size_t len)
{
	return v.len >= len && memcmp(v.p, bytes, len) == 0;
}

/* Little-endian integers at an offset that the caller has proved to fit. */
static inline uint16_t dec_le16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t dec_le32(const uint8_t *p)
{
	return (uint32_t)dec_le16(p) | (uint32_t)dec_le16(p + 2) << 16;
}

static inline uint64_t dec_le64(const uint8_t *p)
{
	return (uint64_t)dec_le32(p) | (uint64_t)dec_le32(p + 4) << 32;
}

#endif
