#include "queue_files.h"

#include <fcntl.h>

#include "options.h"

int open_queues(void **state, const char *artifact)
{
	struct gfs_options options;
	struct gfs_message msg;
	struct gfs *fs;

	gfs_options_init(&options);
	options.artifact = artifact;
	assert_int_equal(gfs_open(&options, &fs, &msg), 0);
	assert_int_equal(gfs_queues_open(fs, &msg), 0);
	*state = fs;
	return 0;
}

int open_sample(void **state)
{
	return open_queues(state, SAMPLE_FILE);
}

int close_queues(void **state)
{
	gfs_close(*state);
	return 0;
}

struct gfs_node walk(struct gfs *fs, const char *path)
{
	struct gfs_node node;
	int rc = gfs_walk(fs, path, &node);

	if (rc != 0)
		fail_msg("%s: %s", path, strerror(-rc));
	return node;
}

int make_dir(struct gfs *fs, const char *dir, const char *name)
{
	return gfs_mkdir(fs, walk(fs, dir), name);
}

int remove_dir(struct gfs *fs, const char *dir, const char *name)
{
	return gfs_rmdir(fs, walk(fs, dir), name);
}

struct gfs_file *open_file(struct gfs *fs, const char *path, int flags)
{
	struct gfs_file *file;

	assert_int_equal(gfs_file_open(fs, walk(fs, path), flags, &file), 0);
	return file;
}

char *text_at(struct gfs_file *f, uint64_t offset, struct gfs_waiter *waiter, int want)
{
	static char text[1 << 17];
	size_t got;

	assert_int_equal(gfs_file_read(f, 0, offset, text, sizeof(text) - 1, &got, waiter), want);
	text[got] = '\0';
	return text;
}

char *content(struct gfs *fs, const char *path)
{
	struct gfs_file *f = open_file(fs, path, O_RDONLY);
	char *text = text_at(f, 0, NULL, 0);

	gfs_file_close(f);
	return text;
}

int put(struct gfs_file *f, uint64_t offset, const void *bytes, size_t size)
{
	size_t done;
	int rc = gfs_file_write(f, 0, offset, bytes, size, &done);

	if (rc == 0)
		assert_int_equal(done, size);
	return rc;
}

int store(struct gfs *fs, const char *path, const char *text)
{
	struct gfs_file *f = open_file(fs, path, O_WRONLY);
	int rc = put(f, 0, text, strlen(text));

	gfs_file_close(f);
	return rc;
}

void write_le(uint8_t *at, int size, uint64_t value)
{
	for (int i = 0; i < size; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

uint64_t number(struct gfs *fs, const char *path)
{
	return strtoull(content(fs, path), NULL, 0);
}

void make_packet(uint8_t packet[SG_PACKET_BYTES], uint64_t kernel_object)
{
	memset(packet, 0, SG_PACKET_BYTES);
	packet[0] = 2;
	packet[2] = 1;
	for (int i = 0; i < 3; i++) {
		write_le(packet + 4 + 2 * i, 2, i == 0 ? 64 : 1);
		write_le(packet + 12 + 4 * i, 4, i == 0 ? 64 : 1);
	}
	write_le(packet + 32, 8, kernel_object);
}
