/* What the files of gpuobj diff share. */
#ifndef GFS_CLI_DIFF_H
#define GFS_CLI_DIFF_H

#include "cli.h"

/* Exit statuses as of diff(1). */
enum { CLI_DIFF_DIFFERENT = 1, CLI_DIFF_TROUBLE = 2 };

struct gfs_kernels;

struct cli_diff {
	struct cli *cli;
	const char *path[2]; /* old and new, for messages */
	struct gfs *fs[2];
	bool quiet; /* no lines: the first difference is enough */
	bool different;
	bool failed; /* no use in going on */
};

/* One line: the sign and a space come before. */
void cli_diff_put(struct cli_diff *d, char sign, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* True: nothing more need be looked at. */
bool cli_diff_done(const struct cli_diff *d);

/* The facts of a kernel that differ between the declarations of its name in k. */
void cli_diff_facts(struct cli_diff *d, const char *target, const char *name,
		    const struct gfs_kernels *const k[2], const uint32_t at[2]);

#endif
