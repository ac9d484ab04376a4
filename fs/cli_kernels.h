/*
 * --kernels: verdicts by the names of kernels, which takes an examination of everything.
 */
#ifndef GFS_CLI_KERNELS_H
#define GFS_CLI_KERNELS_H

#include "cli.h"
#include "device_verdict.h"

/* The kernels of one vendor in one artifact. */
struct cli_kernels {
	struct gfs *fs;
	const struct dec_judge_options *options;
	enum dec_vendor vendor;
	struct gfs_blob *blob;
	const struct gfs_vendor_kernels *kernels;
};

/* Examines; a failure is reported, and nothing is to be ended. The options are borrowed. */
bool cli_kernels_begin(struct cli *cli, struct cli_kernels *k, const struct cli_artifact *artifact,
		       enum dec_vendor vendor, const struct dec_judge_options *options);
void cli_kernels_end(struct cli_kernels *k);

/* As gfs_kernel_verdict_init(), which does not come back without memory. */
void cli_kernels_judge(const struct cli_kernels *k, struct dec_answer *answer,
		       struct gfs_kernel_verdict *v);

/* The device that most kernels load on, the first of several; *count of them load. NULL: none
 * loads on any. */
const struct dec_device *cli_kernels_most(const struct cli_kernels *k, uint32_t *count);

/* Lines that name the first of the missing ones. */
void cli_kernels_print_missing(const struct gfs_kernel_verdict *v);

/* The keys of a line of JSON. */
void cli_kernels_put(const struct cli_kernels *k, const struct gfs_kernel_verdict *v,
		     struct gfs_json *w, struct cJSON *in);

#endif
