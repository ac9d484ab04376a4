/*
 * A packet that would dispatch a kernel: what softgpu's rules and the kernel's own metadata
 * ask for, but for the memory of its arguments.
 */
#ifndef GFS_EXAMINE_DISPATCH_H
#define GFS_EXAMINE_DISPATCH_H

#include "inspect.h"

#define GFS_DISPATCH_SIZE 64

/* An AQL packet of one work-group. */
void gfs_dispatch_template(uint32_t object, const struct dec_kernel *kernel,
			   unsigned char packet[GFS_DISPATCH_SIZE]);

#endif
