/* The compressed payloads of a file, from a list on stdin, and how to decode one. */
#ifndef TESTS_BENCH_FRAMES_H
#define TESTS_BENCH_FRAMES_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lz4.h>
#include <zstd.h>

struct frame {
	char codec[8]; /* zstd, lz4, or none: zeros instead of its bytes */
	long long offset;
	size_t size;
	size_t decoded;
};

struct frames {
	struct frame *list;
	size_t count;
	char *in; /* room for the largest */
	char *out;
	ZSTD_DCtx *context;
};

/* Lines of "codec offset size decoded-size". */
static inline bool frames_read(struct frames *f)
{
	size_t in = 1, out = 1;
	struct frame one;

	*f = (struct frames){ .context = ZSTD_createDCtx() };
	while (scanf("%7s %lld %zu %zu", one.codec, &one.offset, &one.size, &one.decoded) == 4) {
		f->list = realloc(f->list, (f->count + 1) * sizeof(one));
		if (!f->list)
			return false;
		f->list[f->count++] = one;
		in = one.size > in ? one.size : in;
		out = one.decoded > out ? one.decoded : out;
	}
	f->in = malloc(in);
	f->out = calloc(out, 1);
	return f->context && f->in && f->out;
}

/* Decodes frame i of the file to f->out. */
static inline bool frames_decode(struct frames *f, int fd, size_t i)
{
	const struct frame *one = &f->list[i];

	if (strcmp(one->codec, "none") == 0)
		return true;
	if (pread(fd, f->in, one->size, one->offset) != (ssize_t)one->size)
		return false;
	if (strcmp(one->codec, "lz4") == 0)
		return LZ4_decompress_safe(f->in, f->out, (int)one->size, (int)one->decoded) ==
		       (int)one->decoded;
	return ZSTD_decompressDCtx(f->context, f->out, one->decoded, f->in, one->size) ==
	       one->decoded;
}

#endif
