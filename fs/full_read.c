#include "full_read.h"

#include <errno.h>
#include <unistd.h>

int gfs_full_read(int fd, uint64_t offset, void *buf, size_t len)
{
	char *to = buf;

	while (len > 0) {
		ssize_t n = pread(fd, to, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
		to += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}
