/*
 * Opening built inputs in tests, and tables of inputs with what is expected of each.
 *
 * Every opening also checks what always holds (sound.h), and that decode asks for no byte
 * outside the file. A row of a table is opened once more for each allocation and each read
 * that it makes, with that one failing.
 */
#ifndef TESTS_SUPPORT_INVENTORY_H
#define TESTS_SUPPORT_INVENTORY_H

#include "bytes.h"
#include "memory.h"
#include "rows.h"

struct opened {
	struct bytes bytes;
	struct memory memory;
	struct dec_limits limits;
	struct dec_error err;
	const struct dec_artifact *a;
};

/* Opens and asserts that it opens. o->bytes are built already; they are freed by close(). */
void open_input(struct opened *o);
/* The same with limits of the caller's. */
void open_limited(struct opened *o, const struct dec_limits *limits);
void close_input(struct opened *o);

/* The payload of an object, decoded; its first object first. Asserts that it can be had. */
void expect_payload(struct opened *o, uint32_t object, const void *p, size_t size);

/* Fails the 1st, 2nd ... allocation, then read, until dec_open() is not disturbed. */
void sweep_failures(const struct bytes *b, const struct dec_limits *limits);

/* ---- tables -------------------------------------------------------------------------- */

struct edit {
	size_t at;
	unsigned width; /* 0 ends the list */
	uint64_t value;
};

/* Where a library found a stream damaged differs with its version. */
#define ANYWHERE UINT64_MAX

struct fault {
	enum dec_problem_code code;
	uint64_t offset; /* ANYWHERE: not compared */
	const char *field; /* NULL ends the list */
};

struct input_case {
	const char *name; /* first: what a failing run prints */
	void (*build)(struct bytes *b);
	struct edit edits[4];
	size_t keep; /* bytes of it that are left; 0: all */
	uint32_t containers, objects;
	bool partial;
	struct fault faults[5]; /* in the order found */
};

/* No edits, or no faults. */
/* clang-format off */
#define NONE { { 0 } }
/* clang-format on */

void check_input(void **state);

#endif
