#include "exam_kernels.h"

#include <inttypes.h>
#include <stdlib.h>

static bool note_limit(struct dec_exam *x, struct dec_kernel_budget *budget, uint64_t at,
		       const char *field, uint64_t limit, const char *what)
{
	if (budget->noted)
		return true;
	budget->noted = true;
	return dec_exam_note(x, DEC_NONE, DEC_PROBLEM_LIMIT, at, field, DEC_PARTIAL,
			     "more than %" PRIu64 " %s are in one payload, the rest is left out",
			     limit, what);
}

bool dec_exam_list_kernel(struct dec_exam *x, struct dec_kernel_budget *budget,
			  struct dec_view name, uint64_t at, struct dec_kernel *kernel,
			  uint32_t *index)
{
	*index = DEC_NONE;
	if (x->out->kernel_count >= DEC_KERNELS_MAX)
		return note_limit(x, budget, at, "kernels", DEC_KERNELS_MAX, "kernels");
	if (name.len > DEC_KERNEL_NAMES_MAX - budget->name_bytes)
		return note_limit(x, budget, at, "kernels", DEC_KERNEL_NAMES_MAX,
				  "bytes of kernel names");
	budget->name_bytes += name.len;
	return dec_exam_text(x, name, &kernel->name) && dec_exam_kernel(x, kernel, index);
}

bool dec_exam_claim_args(struct dec_exam *x, struct dec_kernel_budget *budget, uint64_t at,
			 uint64_t count, bool *claimed)
{
	*claimed = count <= DEC_ARGS_MAX - budget->args;
	if (!*claimed)
		return note_limit(x, budget, at, "parameters", DEC_ARGS_MAX, "parameters");
	budget->args += count;
	return true;
}

static int compare_texts(const void *a, size_t a_len, const void *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

	return order ? order : (a_len > b_len) - (a_len < b_len);
}

/* By name, then by place: of one name the earliest comes first. */
static int compare_kernels(const void *va, const void *vb)
{
	const struct dec_kernel *const *pa = va, *const *pb = vb;
	const struct dec_kernel *a = *pa, *b = *pb;
	int order = compare_texts(a->name.p, a->name.len, b->name.p, b->name.len);

	return order ? order : (a > b) - (a < b);
}

const struct dec_kernel **dec_exam_sorted(const struct dec_exam *x, uint32_t first, uint32_t *count)
{
	const struct dec_kernel **sorted;

	*count = x->out->kernel_count - first;
	sorted = calloc((size_t)*count + 1, sizeof(*sorted));
	if (!sorted)
		return NULL;
	for (uint32_t i = 0; i < *count; i++)
		sorted[i] = &x->kernels[first + i];
	qsort(sorted, *count, sizeof(*sorted), compare_kernels);
	return sorted;
}

bool dec_exam_is_listed(const struct dec_kernel **sorted, uint32_t count, struct dec_view name)
{
	uint32_t from = 0, to = count;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;
		struct dec_text candidate = sorted[middle]->name;
		int order = compare_texts(name.p, name.len, candidate.p, candidate.len);

		if (order == 0)
			return true;
		if (order < 0)
			to = middle;
		else
			from = middle + 1;
	}
	return false;
}

bool dec_exam_note_duplicates(struct dec_exam *x, uint32_t first)
{
	uint32_t count;
	const struct dec_kernel **sorted = dec_exam_sorted(x, first, &count);
	bool ok = sorted != NULL;

	for (uint32_t i = 1; ok && i < count; i++) {
		struct dec_text name = sorted[i]->name, before = sorted[i - 1]->name;
		uint32_t kernel = (uint32_t)(sorted[i] - x->kernels);

		if (compare_texts(name.p, name.len, before.p, before.len) == 0)
			ok = dec_exam_note(x, kernel, DEC_PROBLEM_DUPLICATE_KERNEL,
					   x->payload.origin + sorted[i]->code.offset, "name",
					   DEC_COMPLETE, "an earlier kernel has the name %.80s too",
					   name.p);
	}
	free(sorted);
	return ok;
}
