/*
 * Signals that end gpuobj: it takes away what it has half done on the way, and ends by the
 * signal, so that its parent sees which.
 */
#ifndef GFS_CLI_SIGNAL_H
#define GFS_CLI_SIGNAL_H

#include <signal.h>

/* For SIGINT, SIGTERM and SIGHUP, those of them that were not ignored. */
void cli_signals_init(void);

/* None of them arrives in between: a file and the note of it change together. */
void cli_signals_hold(sigset_t *before);
void cli_signals_release(const sigset_t *before);

/* Notes the file name in the directory dir, both to live on: it is removed when a signal ends
 * the program. NULL: there is none. To be called while signals are held. */
void cli_signals_note(int dir, const char *name);

#endif
