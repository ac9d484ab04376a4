/*
 * Names of C++ as people write them.
 */
#ifndef GFS_DEMANGLE_H
#define GFS_DEMANGLE_H

#include "decode.h"

/* The demangled form, to be free()d. NULL: no C++ name, not a valid one, or one that is too
 * long, before or after. */
char *gfs_demangle(struct dec_text name);

#endif
