/* Files of a tree as text: whole, and of the size that their attributes say. */
#ifndef TREE_TEXT_H
#define TREE_TEXT_H

struct gfs;

/* NUL behind it; the caller frees it. Fails the test if it cannot be read. */
char *slurp(struct gfs *fs, const char *path);

/* Fail the test if it is another, or has no such part. */
void expect_text(struct gfs *fs, const char *path, const char *text);
void expect_part(struct gfs *fs, const char *path, const char *part);

#endif
