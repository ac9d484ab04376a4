/*
 * One line on a terminal that says how far the work is, and is gone when the work ends or
 * something else is written. Work that is over soon shows nothing.
 */
#ifndef GFS_CLI_PROGRESS_H
#define GFS_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct cli_progress {
	int fd; /* the terminal; -1: nothing is ever shown */
	unsigned int width; /* its columns; 0: ask it each time */
	uint64_t delay; /* milliseconds before the first line */
	uint64_t interval; /* and between two of them */
	uint64_t (*now)(void); /* milliseconds, from anywhere */

	const char *what; /* NULL: no work in progress */
	uint64_t total; /* 0: nobody knows */
	uint64_t done;
	uint64_t next; /* when to draw */
};

/* With fd a terminal that moves its cursor, else without showing anything. */
void cli_progress_init(struct cli_progress *progress, int fd);

/* Work begins: what is a word or two, total in bytes. */
void cli_progress_begin(struct cli_progress *progress, const char *what, uint64_t total);
/* ctx is the progress, so that it can be handed to gfs_progress_set(). */
void cli_progress_add(void *ctx, uint64_t bytes);
/* Takes the line away until the next addition: something else is to be written. */
void cli_progress_hide(struct cli_progress *progress);
void cli_progress_end(struct cli_progress *progress);

/* For handlers of signals: takes away the line that is shown, if one is. */
void cli_progress_erase(void);

#endif
