#include "tree_text.h"

#include "fs_test.h"

#include "node.h"

char *slurp(struct gfs *fs, const char *path)
{
	struct gfs_node node;
	struct stat st;
	size_t got = 0;
	char *text;
	int rc = gfs_walk(fs, path, &node);

	if (rc == 0)
		rc = gfs_getattr(fs, node, &st);
	if (rc != 0)
		fail_msg("%s: %s", path, strerror(-rc));
	text = calloc(1, (size_t)st.st_size + 2);
	assert_non_null(text);
	rc = gfs_read(fs, node, 0, text, (size_t)st.st_size + 1, &got, NULL);
	if (rc != 0 || got != (size_t)st.st_size)
		fail_msg("%s: %s, %zu of %zu bytes", path, strerror(-rc), got, (size_t)st.st_size);
	return text;
}

void expect_text(struct gfs *fs, const char *path, const char *expected)
{
	char *text = slurp(fs, path);

	if (strcmp(text, expected) != 0)
		fail_msg("%s:\n%s\nexpected:\n%s", path, text, expected);
	free(text);
}

void expect_part(struct gfs *fs, const char *path, const char *part)
{
	char *text = slurp(fs, path);

	if (!strstr(text, part))
		fail_msg("%s:\n%s\nwithout:\n%s", path, text, part);
	free(text);
}
