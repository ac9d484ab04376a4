/* SPDX-License-Identifier: MIT */
#include "support.h"
#include "internal.h"

#include <string.h>

static void numbers(void **state)
{
	char buf[128];
	struct sg_text t = sg_text_on(buf, sizeof(buf));

	(void)state;
	sg_text_u64(&t, 0);
	sg_text_str(&t, " ");
	sg_text_u64(&t, UINT64_MAX);
	sg_text_str(&t, " ");
	sg_text_u64(&t, UINT64_C(288230410511450113)); /* a double would end in ...112 */
	sg_text_str(&t, " ");
	sg_text_i64(&t, INT64_MIN);
	sg_text_str(&t, " ");
	sg_text_i64(&t, INT64_MAX);
	sg_text_str(&t, " ");
	sg_text_i64(&t, -1);
	assert_string_equal(buf, "0 18446744073709551615 288230410511450113 -9223372036854775808 "
				 "9223372036854775807 -1");
	assert_int_equal(t.len, strlen(buf));
}

static void hex(void **state)
{
	char buf[64];
	struct sg_text t = sg_text_on(buf, sizeof(buf));

	(void)state;
	sg_text_hex(&t, 0x1009, 4);
	sg_text_str(&t, " ");
	sg_text_hex(&t, UINT64_C(0x0400000800000001), 16);
	sg_text_str(&t, " ");
	sg_text_hex(&t, 0, 16);
	assert_string_equal(buf, "0x1009 0x0400000800000001 0x0000000000000000");
}

static void quotes(void **state)
{
	char buf[64];
	struct sg_text t = sg_text_on(buf, sizeof(buf));

	(void)state;
	sg_text_quoted(&t, "a \"b\" \\c");
	assert_string_equal(buf, "\"a \\\"b\\\" \\\\c\"");
}

static void cut(void **state)
{
	char buf[4] = "xyz";
	struct sg_text t = sg_text_on(buf, sizeof(buf));

	(void)state;
	assert_string_equal(buf, "");
	sg_text_str(&t, "abcdef");
	assert_string_equal(buf, "abc");
	assert_int_equal(t.len, 3);
	sg_text_u64(&t, 1);
	assert_string_equal(buf, "abc");
}

static void no_room_at_all(void **state)
{
	char c = 'x';
	struct sg_text t = sg_text_on(&c, 0);

	(void)state;
	sg_text_str(&t, "abc");
	assert_int_equal(c, 'x');
	t = sg_text_on(&c, 1);
	sg_text_str(&t, "abc");
	assert_int_equal(c, '\0');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),	  cmocka_unit_test(hex),
		cmocka_unit_test(quotes),	  cmocka_unit_test(cut),
		cmocka_unit_test(no_room_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
