/*
 * A verdict by kernels: what one device gets of all kernels of an artifact, wherever they lie.
 * The verdict of decode's answer is by containers, which says little of files that keep the
 * kernels of each architecture in containers of their own.
 */
#ifndef GFS_DEVICE_VERDICT_H
#define GFS_DEVICE_VERDICT_H

#include "device_rank.h"

struct gfs_kernel_verdict {
	struct gfs_ranking ranking;
	uint8_t *
		ranks; /* by name; GFS_RANKS: only input of a linker has it, which does not count */
	uint32_t counts[GFS_RANKS]; /* names */
	uint32_t total; /* of the counts */
	uint32_t ways; /* in which images fit: 1 << enum dec_how each */
	uint32_t unread; /* objects that count and whose kernels are not all known */
	uint32_t first_unread; /* the first of them in the file */
};

/*
 * Judges the kernels, and puts outcome and reason of the answer right where their names tell
 * more than the containers did. kernels and answer are borrowed. 0 or -ENOMEM;
 * gfs_kernel_verdict_fini() follows in both cases.
 */
int gfs_kernel_verdict_init(struct gfs_kernel_verdict *v, const struct dec_artifact *artifact,
			    const struct gfs_vendor_kernels *kernels, struct dec_answer *answer);
void gfs_kernel_verdict_fini(struct gfs_kernel_verdict *v);

#endif
