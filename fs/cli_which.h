/*
 * gpuobj which: what is known of one artifact, and the two ways to print it.
 */
#ifndef GFS_CLI_WHICH_H
#define GFS_CLI_WHICH_H

#include "cli_kernels.h"

struct which_verdict {
	struct dec_answer *answer;
	struct gfs_kernel_verdict kernels; /* with --kernels */
};

struct which_file {
	const char *path;
	const struct dec_artifact *artifact;
	const struct cli_kernels *kernels; /* NULL: containers were judged */
	struct which_verdict verdicts[DEC_MATCH_DEVICES]; /* of each setting of the device */
	uint32_t count;
};

/* True: the settings make no difference. */
bool which_agrees(const struct which_file *file);

void which_print_text(const struct which_file *file);
/* A line for each setting. */
void which_print_json(const struct which_file *file);

#endif
