/* Two inspections of one payload, made in two ways. */
#ifndef TESTS_SUPPORT_SAME_H
#define TESTS_SUPPORT_SAME_H

#include "inspect.h"

/* NULL, or a word for what differs first. */
const char *inspections_differ(const struct dec_inspection *a, const struct dec_inspection *b);

#endif
