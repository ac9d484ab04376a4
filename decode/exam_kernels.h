/* Kernels of one payload: listed within limits, looked up by name. */
#ifndef DEC_EXAM_KERNELS_H
#define DEC_EXAM_KERNELS_H

#include "inspect_internal.h"

/* What the list may come to. Zeroed: nothing listed yet. */
struct dec_kernel_budget {
	uint64_t name_bytes;
	uint64_t args;
	bool noted;
};

/* Adds a kernel whose name, from the payload, is copied. at is the place in the payload that
 * a problem names. Past a limit *index is DEC_NONE, which is noted once. */
bool dec_exam_list_kernel(struct dec_exam *x, struct dec_kernel_budget *budget,
			  struct dec_view name, uint64_t at, struct dec_kernel *kernel,
			  uint32_t *index);

/* False, noted once: so many more arguments are not listed. */
bool dec_exam_claim_args(struct dec_exam *x, struct dec_kernel_budget *budget, uint64_t at,
			 uint64_t count, bool *claimed);

/* The kernels from first on, sorted by name; to be freed. NULL: no memory. */
const struct dec_kernel **dec_exam_sorted(const struct dec_exam *x, uint32_t first,
					  uint32_t *count);
bool dec_exam_is_listed(const struct dec_kernel **sorted, uint32_t count, struct dec_view name);

/* A remark on each kernel from first on whose name an earlier one of them has. */
bool dec_exam_note_duplicates(struct dec_exam *x, uint32_t first);

#endif
