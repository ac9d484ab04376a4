/* Runs files, and all files of folders, through a fuzz target. ".hex" files hold hex digits
 * and comments. A file that takes longer than the limit is a failure. */
#include "bytes.h"
#include "fuzz.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* CPU seconds: what nobody waits for at a mount. */
#define LIMIT 2.0

static unsigned ran, slow;

static struct bytes load(const char *path)
{
	FILE *f = fopen(path, "rb");
	size_t len = strlen(path);
	struct bytes b = { 0 };
	uint8_t chunk[4096];
	size_t n;

	if (!f) {
		perror(path);
		exit(1);
	}
	add_zeros(&b, 0);
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		add(&b, chunk, n);
	fclose(f);
	if (len > 4 && strcmp(path + len - 4, ".hex") == 0) {
		struct bytes text = b;

		b = bytes_unhex((const char *)text.p, text.len);
		bytes_free(&text);
	}
	return b;
}

static int run(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	struct bytes b;
	uint8_t *exact;
	double seconds;
	clock_t start;

	(void)st;
	(void)ftw;
	if (type != FTW_F)
		return 0;
	b = load(path);
	/* A sanitizer sees a read past the end only where the allocation ends. */
	exact = malloc(b.len ? b.len : 1);
	memcpy(exact, b.p, b.len);
	fprintf(stderr, "%s\n", path);
	start = clock();
	LLVMFuzzerTestOneInput(exact, b.len);
	seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
	if (seconds > LIMIT) {
		printf("%s: %.1f s of CPU\n", path, seconds);
		slow++;
	}
	ran++;
	free(exact);
	bytes_free(&b);
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (nftw(argv[i], run, 16, FTW_PHYS) != 0) {
			fprintf(stderr, "%s: %s\n", argv[i], strerror(errno));
			return 1;
		}
	printf("%u files, %u too slow\n", ran, slow);
	return slow || ran == 0;
}
