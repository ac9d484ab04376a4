/*
 * What the tests of fs share: cmocka with its headers in order, and files to open.
 */
#ifndef FS_TEST_H
#define FS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A directory of its own, removed with everything in it by scratch_free(). */
static inline char *scratch_new(void)
{
	const char *top = getenv("TMPDIR");
	char *dir = NULL;

	assert_true(asprintf(&dir, "%s/gpuobjfs-test-XXXXXX", top ? top : "/tmp") > 0);
	assert_non_null(mkdtemp(dir));
	return dir;
}

static inline void scratch_free(char *dir)
{
	char *command = NULL;

	assert_true(asprintf(&command, "rm -rf '%s'", dir) > 0);
	assert_int_equal(system(command), 0);
	free(command);
	free(dir);
}

/* Writes a whole file, replacing what it held; the path is the caller's to free. */
static inline char *scratch_file(const char *dir, const char *name, const void *bytes, size_t size)
{
	char *path = NULL;
	FILE *f;

	assert_true(asprintf(&path, "%s/%s", dir, name) > 0);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
	return path;
}

#endif
