#include "build.h"

#include <lz4.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

size_t add_lz4(struct bytes *b, const void *p, size_t len)
{
	size_t at = b->len, room = (size_t)LZ4_compressBound((int)len);

	add_zeros(b, room);
	b->len = at + (size_t)LZ4_compress_default(p, (char *)b->p + at, (int)len, (int)room);
	return at;
}

size_t add_zlib(struct bytes *b, const void *p, size_t len)
{
	size_t at = b->len;
	uLongf made = compressBound(len);

	add_zeros(b, made);
	if (compress2(b->p + at, &made, p, len, 9) != Z_OK)
		abort();
	b->len = at + made;
	return at;
}

size_t add_zlib_stored(struct bytes *b, const void *p, size_t len)
{
	size_t at = add(b, "\x78\x01\x01", 3);
	uLong sum = adler32(1, p, (uInt)len);

	add_le(b, 2, len);
	add_le(b, 2, ~len);
	add(b, p, len);
	for (int shift = 24; shift >= 0; shift -= 8) /* the one number here that is big-endian */
		add_le(b, 1, sum >> shift & 0xff);
	return at;
}

size_t add_zstd(struct bytes *b, const void *p, size_t len, unsigned options)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	size_t at = b->len, room = ZSTD_compressBound(len), made;

	add_zeros(b, room);
	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, options & ZSTD_CHECKSUM ? 1 : 0);
	ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, options & ZSTD_NO_SIZE ? 0 : 1);
	made = ZSTD_compress2(context, b->p + at, room, p, len);
	if (ZSTD_isError(made))
		abort();
	ZSTD_freeCCtx(context);
	b->len = at + made;
	return at;
}

size_t add_skippable(struct bytes *b, size_t len)
{
	size_t at = add_le(b, 4, 0x184d2a53);

	add_le(b, 4, len);
	add_fill(b, 0xee, len);
	return at;
}
