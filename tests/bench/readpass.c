/* One read() pass over a file into one reused 1 MiB buffer; prints microseconds. */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static char buffer[1 << 20];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
	double start = now();
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	ssize_t n;

	if (fd < 0)
		return 2;
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		;
	if (n < 0)
		return 1;
	printf("%.0f\n", now() - start);
	return 0;
}
