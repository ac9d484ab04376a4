/* SPDX-License-Identifier: MIT */
#include "internal.h"

static void put(struct sg_text *t, char c)
{
	if (t->len + 1 < t->size) {
		t->buf[t->len++] = c;
		t->buf[t->len] = '\0';
	}
}

struct sg_text sg_text_on(char *buf, size_t size)
{
	if (size)
		buf[0] = '\0';
	return (struct sg_text){ buf, size, 0 };
}

void sg_text_str(struct sg_text *t, const char *s)
{
	while (*s)
		put(t, *s++);
}

void sg_text_u64(struct sg_text *t, uint64_t v)
{
	char digits[20]; /* 2^64 - 1 has 20 */
	size_t n = 0;

	do {
		digits[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	while (n)
		put(t, digits[--n]);
}

void sg_text_i64(struct sg_text *t, int64_t v)
{
	if (v < 0)
		put(t, '-');
	sg_text_u64(t, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void sg_text_hex(struct sg_text *t, uint64_t v, unsigned int digits)
{
	sg_text_str(t, "0x");
	while (digits--)
		put(t, "0123456789abcdef"[v >> (4 * digits) & 15]);
}

/* All strings in here are ours and printable, so only these two need escaping. */
void sg_text_quoted(struct sg_text *t, const char *s)
{
	put(t, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			put(t, '\\');
		put(t, *s);
	}
	put(t, '"');
}
