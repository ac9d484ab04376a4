/* The program's allocations (linked with --wrap): counted, and made to fail. */
#ifndef TESTS_SUPPORT_ALLOC_H
#define TESTS_SUPPORT_ALLOC_H

/* The nth allocation from here on fails, once; 0: none does. */
void alloc_fail_at(unsigned n);
/* Allocations since the last alloc_fail_at(). */
unsigned alloc_calls(void);
/* Bytes that they asked for; what was freed is not taken off. */
unsigned long long alloc_bytes(void);
/* What was allocated and not freed, since the program's start. */
long alloc_live(void);

#endif
