/*
 * The targets of an artifact as a line for people who ask what a library carries.
 */
#ifndef GFS_CLI_TARGETS_H
#define GFS_CLI_TARGETS_H

#include <stddef.h>

#include "decode.h"

/* All names, separated by commas: kinds as in the list of decode.h, within a kind by
 * architecture, "sm_90a" before "sm_100". "-" without any. To be free()d; NULL: memory ran
 * out. A name is shown as cli_text() does, a comma in it as %2C. */
char *cli_targets_list(const struct dec_artifact *artifact);

/* The same of count of them, by index; indexes NULL: those from 0 on. */
char *cli_targets_some(const struct dec_artifact *artifact, const uint32_t *indexes,
		       uint32_t count);

/* Such a list made shorter: a prefix stands once, "sm_75,86,90a compute_90". To be free()d;
 * NULL: memory ran out. */
char *cli_targets_brief(const char *list);

#endif
