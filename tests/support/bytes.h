/* A growing piece of bytes that inputs are built in. Running out of memory ends the program. */
#ifndef TESTS_SUPPORT_BYTES_H
#define TESTS_SUPPORT_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t *p;
	size_t len, room;
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Each gives the offset at which it added. */
size_t add(struct bytes *b, const void *p, size_t len);
size_t add_fill(struct bytes *b, uint8_t byte, size_t len);
size_t add_zeros(struct bytes *b, size_t len);
size_t add_text(struct bytes *b, const char *text); /* without its NUL */
size_t add_le(struct bytes *b, unsigned width, uint64_t value);
size_t add_bytes(struct bytes *b, const struct bytes *other);

/* Zeros up to the next multiple of align. */
void pad_to(struct bytes *b, size_t align);
/* Writes inside what is there. */
void set_le(struct bytes *b, size_t at, unsigned width, uint64_t value);

/* Blanks and lines that begin with '#' are skipped; anything else but hex digits ends it. */
struct bytes bytes_unhex(const char *text, size_t len);

void bytes_free(struct bytes *b);

#endif
