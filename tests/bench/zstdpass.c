/*
 * Decodes zstd frames of a file, one thread, nothing else: the yardstick for examining.
 * Usage: zstdpass FILE <LIST      lines of "offset size decoded-size"; prints microseconds
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <zstd.h>

struct frame {
	long long offset;
	size_t size;
	size_t decoded;
};

static size_t largest(size_t a, size_t b)
{
	return a > b ? a : b;
}

int main(int argc, char **argv)
{
	struct frame *frames = NULL, f;
	size_t count = 0, in_size = 1, out_size = 1;
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	ZSTD_DCtx *ctx = ZSTD_createDCtx();
	struct timespec start, end;
	char *in, *out;

	while (scanf("%lld %zu %zu", &f.offset, &f.size, &f.decoded) == 3) {
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
		if (ZSTD_decompressDCtx(ctx, out, out_size, in, frames[i].size) != frames[i].decoded)
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
