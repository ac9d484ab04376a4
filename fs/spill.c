#include "spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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
	if (rc == 0) {
		*map = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		rc = *map == MAP_FAILED ? -errno : 0;
	}
	if (rc != 0) {
		close(fd);
		return rc;
	}
	return fd;
}

void spill_unmap(void *map, uint64_t size)
{
	munmap(map, (size_t)size);
}
