/* PTX text as a file of its own: recognised by its first directives. */
#include "internal.h"
#include "ptx_lexer.h"

/* "M.m", both of digits. */
static bool is_version(struct dec_view v)
{
	size_t dots = 0;

	for (size_t i = 0; i < v.len; i++) {
		if (v.p[i] == '.')
			dots++;
		else if (v.p[i] < '0' || v.p[i] > '9')
			return false;
	}
	return dots == 1 && v.len >= 3 && v.p[0] != '.' && v.p[v.len - 1] != '.';
}

/* sm_90a or compute_90a: digits, then 'a', 'f' or nothing. */
static bool declare_target(struct dec_declared *d, struct dec_view v)
{
	const char *name = dec_starts(v, "sm_", 3)	  ? "sm_"
			   : dec_starts(v, "compute_", 8) ? "compute_"
							  : NULL;
	uint32_t sm = 0;
	size_t i;

	if (!name)
		return false;
	for (i = strlen(name); i < v.len && v.p[i] >= '0' && v.p[i] <= '9' && sm < 100000; i++)
		sm = sm * 10 + (uint32_t)(v.p[i] - '0');
	if (i == strlen(name) || v.len - i > 1)
		return false;
	if (v.len - i == 1 && v.p[i] != 'a' && v.p[i] != 'f')
		return false;
	dec_declare_sm(d, DEC_CLASS_COMPUTE, sm, i < v.len ? (char)v.p[i] : 0);
	return true;
}

/* The first target of the list; texmode_unified, debug and the like stand beside it. */
static void read_targets(struct dec_ptx_lexer *l, struct dec_declared *d, struct dec_view *raw)
{
	struct dec_ptx_token token;

	do {
		dec_ptx_next(l, &token);
		if (declare_target(d, token.text)) {
			*raw = token.text;
			return;
		}
		dec_ptx_next(l, &token);
	} while (dec_ptx_is(&token, ","));
}

bool dec_ptx_head(struct dec_view text, struct dec_declared *declared, struct dec_view *raw)
{
	const uint8_t *end, *nul = text.len ? memchr(text.p, 0, text.len) : NULL;
	struct dec_ptx_lexer l;
	struct dec_ptx_token token;

	*declared = (struct dec_declared){ .vendor = DEC_VENDOR_NVIDIA };
	*raw = (struct dec_view){ (const uint8_t *)dec_absent, 0, 0 };
	if (nul) /* where the module ends */
		text.len = (size_t)(nul - text.p);
	if (dec_starts(text, "\xef\xbb\xbf", 3) && !dec_slice(text, 3, text.len - 3, &text))
		return false;
	l = dec_ptx_begin(text);
	if (!dec_ptx_next(&l, &token) || !dec_ptx_is(&token, ".version") ||
	    !dec_ptx_next(&l, &token) || !is_version(token.text))
		return false;
	end = token.text.p + token.text.len;
	if (!dec_ptx_next(&l, &token))
		return true;
	if (token.text.p == end) /* "7.0.1", "7.0x": what stands there is no version */
		return false;
	if (dec_ptx_is(&token, ".target"))
		read_targets(&l, declared, raw);
	return true;
}
