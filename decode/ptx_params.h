/* The parameter list of a PTX kernel: names, types, and where each parameter lies. */
#ifndef DEC_PTX_PARAMS_H
#define DEC_PTX_PARAMS_H

#include "inspect_internal.h"
#include "ptx_lexer.h"

struct dec_ptx_param {
	struct dec_view name, type; /* type with its dot */
	struct dec_view space; /* of what .ptr points at, with its dot; empty: not said */
	bool pointer, array;
	uint64_t count; /* of an array */
	uint64_t offset, size, align;
	uint64_t pointee_align; /* DEC_UNSTATED: not said */
};

/* Reused from kernel to kernel; zeroed at first. */
struct dec_ptx_params {
	struct dec_ptx_param *list;
	uint32_t count, room;
	uint64_t bytes; /* to the end of the last one */
	bool no_memory;
};

/* What is wrong with a text, and where: sentence is a literal, NULL for nothing. */
struct dec_ptx_fault {
	const char *sentence;
	uint64_t offset;
};

/* Reads from behind '(' to behind ')'. False: no memory, or a fault, which is set. The list
 * then has what came before it. */
bool dec_ptx_read_params(struct dec_ptx_lexer *l, struct dec_ptx_params *params,
			 struct dec_ptx_fault *fault);
void dec_ptx_params_fini(struct dec_ptx_params *params);

/* Copies the list into a kernel. */
bool dec_ptx_keep_params(struct dec_exam *x, const struct dec_ptx_params *params,
			 struct dec_kernel *kernel);

#endif
