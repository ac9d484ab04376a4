#include "demangle.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* The library refuses names that could have more than 2,048 components, two a byte. */
#define MANGLED_MAX 1024

/* The longest of 50,331 kernels in two real libraries has 620 bytes, and 3,399 demangled. A
 * name that refers back to itself doubles with every few bytes, so there must be an end. */
#define DEMANGLED_MAX ((size_t)16 << 10)

/* What __cxa_demangle() of libsupc++ is made of; itself it has no bound for what it allocates.
 * 0: all of it was put. */
extern int __gcclibcxx_demangle_callback(const char *mangled,
					 void (*put)(const char *, size_t, void *), void *ctx);

struct output {
	jmp_buf full;
	size_t len;
	char text[DEMANGLED_MAX];
};

/* The library keeps nothing but its stack while it prints: it may be left so. */
static void put(const char *p, size_t len, void *ctx)
{
	struct output *out = ctx;

	if (len >= sizeof(out->text) - out->len)
		longjmp(out->full, 1);
	memcpy(out->text + out->len, p, len);
	out->len += len;
}

static char *demangle(const char *mangled, struct output *out)
{
	if (setjmp(out->full) != 0 || __gcclibcxx_demangle_callback(mangled, put, out) != 0)
		return NULL;
	return strndup(out->text, out->len);
}

char *gfs_demangle(struct dec_text name)
{
	struct output *out;
	char *text;

	if (name.len < 3 || name.len > MANGLED_MAX || memcmp(name.p, "_Z", 2) != 0 ||
	    memchr(name.p, '\0', name.len))
		return NULL;
	out = malloc(sizeof(*out));
	if (!out)
		return NULL;
	out->len = 0;
	text = demangle(name.p, out);
	free(out);
	return text;
}
