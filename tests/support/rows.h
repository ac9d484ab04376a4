/* Tables of test cases: one test for each row, of the row's name. */
#ifndef TESTS_SUPPORT_ROWS_H
#define TESTS_SUPPORT_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Runs fn once per row; its first member is the name, which a failing run prints. */
int run_rows(const char *group, const void *rows, size_t count, size_t stride,
	     CMUnitTestFunction fn);
#define RUN_ROWS(rows, fn)                                                                         \
	run_rows(#rows, rows, sizeof(rows) / sizeof((rows)[0]), sizeof((rows)[0]), fn)

#endif
