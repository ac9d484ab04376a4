#include "spill.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* ---- maps ------------------------------------------------------------------------------ */

/*
 * What decodes or examines through a map touches each of its pages, and they would all count
 * as memory of this process, however small the cache. So while there are maps a thread takes
 * the pages out again; they stay in the file, and one that is still needed comes back.
 */
#define TAKE_OUT_NS 10000000

struct map {
	void *bytes;
	size_t size;
	struct map *next;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct map *maps;
	bool running;
} keeper = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void *take_out(void *ctx)
{
	pthread_mutex_lock(&keeper.lock);
	while (keeper.maps) {
		struct timespec until;

		for (const struct map *m = keeper.maps; m; m = m->next)
			madvise(m->bytes, m->size, MADV_DONTNEED);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += TAKE_OUT_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&keeper.changed, &keeper.lock, &until);
	}
	keeper.running = false;
	pthread_mutex_unlock(&keeper.lock);
	return ctx;
}

/* Without the thread the map works as well, and counts. */
static void start_keeper(void)
{
	pthread_t thread;

	if (keeper.running || pthread_create(&thread, NULL, take_out, NULL) != 0)
		return;
	pthread_detach(thread);
	keeper.running = true;
}

static int map_file(int fd, size_t size, void **bytes)
{
	struct map *m = malloc(sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->size = size;
	m->bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (m->bytes == MAP_FAILED) {
		free(m);
		return -errno;
	}
	pthread_mutex_lock(&keeper.lock);
	m->next = keeper.maps;
	keeper.maps = m;
	start_keeper();
	pthread_mutex_unlock(&keeper.lock);
	*bytes = m->bytes;
	return 0;
}

void spill_unmap(void *bytes)
{
	struct map **at = &keeper.maps;
	struct map *m;

	pthread_mutex_lock(&keeper.lock);
	while ((*at)->bytes != bytes)
		at = &(*at)->next;
	m = *at;
	*at = m->next;
	pthread_cond_signal(&keeper.changed);
	pthread_mutex_unlock(&keeper.lock);
	munmap(m->bytes, m->size);
	free(m);
}

/* ---- files ------------------------------------------------------------------------------- */

/* For file systems without O_TMPFILE. */
static int open_and_unlink(const char *dir)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/gpuobjfs-XXXXXX", dir) < 0)
		return -ENOMEM;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	else
		unlink(path);
	free(path);
	return fd;
}

static int open_unlinked(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);

	if (fd >= 0)
		return fd;
	if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT)
		return open_and_unlink(dir);
	return -errno;
}

/* Without the blocks a full disk would be a SIGBUS in the decoder, not an error. */
static int allocate(int fd, uint64_t size)
{
	int err;

	do
		err = posix_fallocate(fd, 0, (off_t)size);
	while (err == EINTR);
	return -err;
}

int spill_open(const char *dir, uint64_t size, void **map)
{
	int fd = open_unlinked(dir);
	int rc;

	if (fd < 0)
		return fd;
	rc = allocate(fd, size);
	if (rc == 0)
		rc = map_file(fd, (size_t)size, map);
	if (rc != 0) {
		close(fd);
		return rc;
	}
	return fd;
}
