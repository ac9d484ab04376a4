/* What holds for every inventory, whatever the file was. */
#ifndef TESTS_SUPPORT_SOUND_H
#define TESTS_SUPPORT_SOUND_H

#include "decode.h"

/* NULL, or a sentence on what does not hold. */
const char *inventory_fault(const struct dec_artifact *a, const struct dec_limits *limits);

#endif
