/*
 * What tests of /queues do with its files, without a mount. Whatever they do not expect fails the
 * test; a number that is given is 0 or a negative errno.
 */
#ifndef QUEUE_FILES_H
#define QUEUE_FILES_H

#include "fs_test.h"

#include "queues.h"

/* Setup of a test: *state is the artifact with its queues, for close_queues(). */
int open_queues(void **state, const char *artifact);
int open_sample(void **state);
int close_queues(void **state);
#define QUEUES_TEST(fn) cmocka_unit_test_setup_teardown(fn, open_sample, close_queues)

struct gfs_node walk(struct gfs *fs, const char *path);
int make_dir(struct gfs *fs, const char *dir, const char *name);
int remove_dir(struct gfs *fs, const char *dir, const char *name);
struct gfs_file *open_file(struct gfs *fs, const char *path, int flags);

/* What a file gives from an offset on, where want is what the read gives. The text is good until
 * the next one is read; so is that of content(), which is a whole file. */
char *text_at(struct gfs_file *f, uint64_t offset, struct gfs_waiter *waiter, int want);
char *content(struct gfs *fs, const char *path);
uint64_t number(struct gfs *fs, const char *path);

/* Writes all of it; store() to a file that it opens. */
int put(struct gfs_file *f, uint64_t offset, const void *bytes, size_t size);
int store(struct gfs *fs, const char *path, const char *text);

void write_le(uint8_t *at, int size, uint64_t value);
/* A dispatch of 64 work-items; the kernel_object tells one from another. */
void make_packet(uint8_t packet[SG_PACKET_BYTES], uint64_t kernel_object);

#endif
