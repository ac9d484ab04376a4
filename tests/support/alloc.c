#include "alloc.h"

#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_reallocarray(void *p, size_t count, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_reallocarray(void *p, size_t count, size_t size);
void __wrap_free(void *p);

static unsigned calls, fail_at;
static unsigned long long bytes;
static long live;

void alloc_fail_at(unsigned n)
{
	calls = 0;
	bytes = 0;
	fail_at = n;
}

unsigned alloc_calls(void)
{
	return calls;
}

unsigned long long alloc_bytes(void)
{
	return bytes;
}

long alloc_live(void)
{
	return live;
}

static bool fails(size_t size)
{
	bytes += size;
	return ++calls == fail_at;
}

static void *counted(void *p, bool is_new)
{
	live += p && is_new;
	return p;
}

void *__wrap_malloc(size_t size)
{
	return fails(size) ? NULL : counted(__real_malloc(size), true);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails(count * size) ? NULL : counted(__real_calloc(count, size), true);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails(size) ? NULL : counted(__real_realloc(p, size), !p);
}

void *__wrap_reallocarray(void *p, size_t count, size_t size)
{
	return fails(count * size) ? NULL : counted(__real_reallocarray(p, count, size), !p);
}

void __wrap_free(void *p)
{
	live -= p != NULL;
	__real_free(p);
}
