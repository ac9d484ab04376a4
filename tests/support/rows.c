#include "rows.h"

#include <stdlib.h>
#include <string.h>

int run_rows(const char *group, const void *rows, size_t count, size_t stride,
	     CMUnitTestFunction fn)
{
	struct CMUnitTest *tests = calloc(count, sizeof(*tests));
	int failed;

	if (!tests)
		return 1;
	for (size_t i = 0; i < count; i++) {
		const char *row = (const char *)rows + i * stride;

		memcpy(&tests[i].name, row, sizeof(tests[i].name));
		tests[i].test_func = fn;
		tests[i].initial_state = (void *)(uintptr_t)row;
	}
	failed = _cmocka_run_group_tests(group, tests, count, NULL, NULL);
	free(tests);
	return failed;
}
