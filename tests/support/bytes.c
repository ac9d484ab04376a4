#include "bytes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void grow(struct bytes *b, size_t more)
{
	if (more <= b->room - b->len)
		return;
	b->room = (b->len + more) * 2;
	b->p = realloc(b->p, b->room);
	if (!b->p)
		abort();
}

size_t add(struct bytes *b, const void *p, size_t len)
{
	size_t at = b->len;

	grow(b, len + 1); /* never a NULL pointer, even for no bytes */
	if (len)
		memcpy(b->p + at, p, len);
	b->len += len;
	return at;
}

size_t add_fill(struct bytes *b, uint8_t byte, size_t len)
{
	size_t at = b->len;

	grow(b, len + 1);
	memset(b->p + at, byte, len);
	b->len += len;
	return at;
}

size_t add_zeros(struct bytes *b, size_t len)
{
	return add_fill(b, 0, len);
}

size_t add_text(struct bytes *b, const char *text)
{
	return add(b, text, strlen(text));
}

size_t add_le(struct bytes *b, unsigned width, uint64_t value)
{
	size_t at = add_zeros(b, width);

	set_le(b, at, width, value);
	return at;
}

size_t add_bytes(struct bytes *b, const struct bytes *other)
{
	return add(b, other->p, other->len);
}

void pad_to(struct bytes *b, size_t align)
{
	add_zeros(b, (align - b->len % align) % align);
}

void set_le(struct bytes *b, size_t at, unsigned width, uint64_t value)
{
	if (at > b->len || width > b->len - at)
		abort();
	for (unsigned i = 0; i < width; i++)
		b->p[at + i] = (uint8_t)(value >> 8 * i);
}

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;

	return at ? (int)(at - digits) : -1;
}

struct bytes bytes_unhex(const char *text, size_t len)
{
	struct bytes b = { 0 };
	int high = -1;

	add_zeros(&b, 0);
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '#') {
			while (i + 1 < len && text[i + 1] != '\n')
				i++;
		} else if (!isspace((unsigned char)text[i])) {
			int value = digit(text[i]);

			if (value < 0)
				break;
			if (high >= 0)
				add_le(&b, 1, (uint64_t)(high * 16 + value));
			high = high >= 0 ? -1 : value;
		}
	}
	return b;
}

void bytes_free(struct bytes *b)
{
	free(b->p);
	*b = (struct bytes){ 0 };
}
