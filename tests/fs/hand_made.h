/*
 * An inventory made by hand, with something of every kind: four objects in two containers, eight
 * targets with odd names, four problems. Its file has 36 bytes.
 */
#ifndef HAND_MADE_H
#define HAND_MADE_H

#include "fs_test.h"

#include "node.h"
#include "tree.h"

struct hand_made {
	char *dir;
	char *path;
	struct gfs fs;
};

int hand_made_open(void **state);
int hand_made_close(void **state);
#define HAND_MADE(test) cmocka_unit_test_setup_teardown(test, hand_made_open, hand_made_close)

#endif
