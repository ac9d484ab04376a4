/*
 * A struct dec_source over bytes in memory, which can fail and which watches what is asked.
 * A source.size past len stands for a file that goes on with zeros.
 */
#ifndef TESTS_SUPPORT_MEMORY_H
#define TESTS_SUPPORT_MEMORY_H

#include "decode.h"

struct memory {
	struct dec_source source; /* .ctx points here: does not move */
	const uint8_t *p;
	uint64_t len;
	uint64_t reads; /* calls so far */
	uint64_t read_bytes;
	uint64_t fail_at; /* the call, counted from 1, that fails with EIO; 0: none */
	bool outside; /* a byte at or past the end was asked for */
};

void memory_init(struct memory *m, const void *p, size_t len);

#endif
