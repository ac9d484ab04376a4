/*
 * Decodes zstd frames and LZ4 blocks of a file, one thread, nothing else: the yardstick for
 * reading and examining payloads. The list is that of frames.h.
 * Usage: decodepass FILE <LIST
 * Prints microseconds.
 */
#include "frames.h"

#include <fcntl.h>
#include <time.h>

int main(int argc, char **argv)
{
	struct timespec start, end;
	struct frames frames;
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;

	if (fd < 0 || !frames_read(&frames))
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (size_t i = 0; i < frames.count; i++)
		if (!frames_decode(&frames, fd, i))
			return 1;
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.0f\n", (double)(end.tv_sec - start.tv_sec) * 1e6 +
				 (double)(end.tv_nsec - start.tv_nsec) / 1e3);
	return 0;
}
