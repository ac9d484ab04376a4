/* What holds for every inventory and every answer on it, whatever the file was. */
#ifndef TESTS_SUPPORT_SOUND_H
#define TESTS_SUPPORT_SOUND_H

#include "device.h"

/* NULL, or a sentence on what does not hold. */
const char *inventory_fault(const struct dec_artifact *a, const struct dec_limits *limits);

/* The same for what dec_judge() said of it. */
const char *answer_fault(const struct dec_artifact *a, const struct dec_answer *answer);

#endif
