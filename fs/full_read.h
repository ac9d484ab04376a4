/* Reading a descriptor until it has given all that was asked for. */
#ifndef GFS_FULL_READ_H
#define GFS_FULL_READ_H

#include <stddef.h>
#include <stdint.h>

/* All len bytes at offset, or a negative errno: -EIO where the file ends before them. */
int gfs_full_read(int fd, uint64_t offset, void *buf, size_t len);

#endif
