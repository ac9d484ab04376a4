/*
 * Decodes zstd frames and LZ4 blocks of a file, one thread, nothing else: the yardstick for
 * reading and examining payloads.
 * Usage: decodepass FILE <LIST      lines of "codec offset size decoded-size"
 * Prints microseconds.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <lz4.h>
#include <zstd.h>

struct frame {
	char codec[8];
	long long offset;
	size_t size;
	size_t decoded;
};

static size_t largest(size_t a, size_t b)
{
	return a > b ? a : b;
}

static int decode(ZSTD_DCtx *ctx, const struct frame *f, const char *in, char *out, size_t room)
{
	if (strcmp(f->codec, "lz4") == 0)
		return LZ4_decompress_safe(in, out, (int)f->size, (int)f->decoded) ==
		       (int)f->decoded;
	return ZSTD_decompressDCtx(ctx, out, room, in, f->size) == f->decoded;
}

int main(int argc, char **argv)
{
	struct frame *frames = NULL, f;
	size_t count = 0, in_size = 1, out_size = 1;
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	ZSTD_DCtx *ctx = ZSTD_createDCtx();
	struct timespec start, end;
	char *in, *out;

	while (scanf("%7s %lld %zu %zu", f.codec, &f.offset, &f.size, &f.decoded) == 4) {
		frames = realloc(frames, (count + 1) * sizeof(*frames));
		if (!frames)
			return 1;
		frames[count++] = f;
		in_size = largest(in_size, f.size);
		out_size = largest(out_size, f.decoded);
	}
	in = malloc(in_size);
	out = malloc(out_size);
	if (fd < 0 || !ctx || !in || !out)
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (size_t i = 0; i < count; i++) {
		if (pread(fd, in, frames[i].size, frames[i].offset) != (ssize_t)frames[i].size)
			return 1;
		if (!decode(ctx, &frames[i], in, out, out_size))
			return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.0f\n", (double)(end.tv_sec - start.tv_sec) * 1e6 +
				 (double)(end.tv_nsec - start.tv_nsec) / 1e3);
	free(out);
	free(in);
	ZSTD_freeDCtx(ctx);
	free(frames);
	return 0;
}
