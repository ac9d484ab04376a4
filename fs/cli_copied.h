/*
 * What a destination holds from earlier copies: whose copy it is, which of its files need
 * not be copied again, and what a copy that was killed has left.
 */
#ifndef GFS_CLI_COPIED_H
#define GFS_CLI_COPIED_H

#include "cli.h"

struct cli_copied {
	bool other; /* there is an artifact.json of another artifact */
	bool resume; /* there is the same artifact.json as this artifact has */
	struct timespec since; /* and its ctime: files of that copy are not older */
	int record; /* the directory that has the artifact.json, -1: none has */
};

/*
 * Looks at the directory fd, whose path is given, and at those above that it may be a part of
 * the copy of: where the next name on the path is one at the root of the tree. name is what
 * will be written in the directory, NULL: whatever it may be. An error is one of reading
 * artifact.json in the tree. Ends with cli_copied_fini().
 */
int cli_copied_look(struct cli_copied *copied, struct gfs *fs, int fd, const char *path,
		    const char *name);
void cli_copied_fini(struct cli_copied *copied);

/* Removes an artifact.json of another artifact: what is there will be a mixture, which
 * nothing may take for its copy; negative errno. */
int cli_copied_disown(const struct cli_copied *copied);

/*
 * True: what is under the name in the directory is what would be copied there. It has the
 * size and mtime, and was put there by a copy of the same artifact: any two artifacts may
 * agree in both, and mtime is the same for all files of one.
 */
bool cli_copied_already(const struct cli_copied *copied, int fd, const char *name,
			const struct stat *wanted);

/* Temporary names, of a process and a number. */
#define CLI_TEMPORARY_SIZE 64
void cli_temporary_name(char name[CLI_TEMPORARY_SIZE], unsigned int number);

/* Removes from the directory fd the temporary files of processes that are no more. */
void cli_temporary_clean(int fd);

#endif
