/*
 * The members of an archive that are tables: of symbols, and of long names. Where a table says
 * how long it must be, its member is held against that. docs/formats/hosts.md, "Archives".
 */
#include "ar.h"

/* Bytes behind the last name: padding to 2, in some writers to 8. */
#define PADDING 8

/* A table of symbols: a count, something of one size for each, then their names with NUL. The
 * second table of COFF has the members' offsets and their count before that. */
struct form {
	const char *name; /* of the member */
	size_t word; /* bytes of a count */
	size_t each;
	bool big_endian;
	bool members;
};

static const struct form forms[] = {
	{ "/               ", 4, 4, true, false },
	{ "/               ", 4, 2, false, true },
	{ "/SYM64/         ", 8, 8, true, false },
	{ "/<ECSYMBOLS>/   ", 4, 2, false, false },
};

/* ---- tables of symbols --------------------------------------------------------------- */

struct walk {
	struct dec_build *b;
	struct dec_range data;
	uint64_t at; /* of what comes next, in data */
};

static uint64_t left(const struct walk *w)
{
	return w->data.size - w->at;
}

static uint64_t count_in(const uint8_t *p, const struct form *form)
{
	uint64_t value = 0;

	for (size_t i = 0; i < form->word; i++)
		value = value << 8 | p[form->big_endian ? i : form->word - 1 - i];
	return value;
}

/* Goes on behind a count and what there is each of. *ok false: it does not fit, and the walk
 * stays at the count. */
static bool counted(struct walk *w, const struct form *form, size_t each, uint64_t *count, bool *ok)
{
	struct dec_view v;

	*ok = left(w) >= form->word;
	if (!*ok)
		return true;
	if (!dec_peek(w->b, &w->b->head, w->data.offset + w->at, form->word, &v))
		return false;
	*count = count_in(v.p, form);
	*ok = *count <= (left(w) - form->word) / each;
	if (*ok)
		w->at += form->word + *count * each;
	return true;
}

/* Goes on behind count names; *count is how many of them there are not. */
static bool skip_names(struct walk *w, uint64_t *count)
{
	while (*count && left(w)) {
		uint64_t want = left(w) < DEC_WINDOW ? left(w) : DEC_WINDOW;
		const uint8_t *p, *end;
		struct dec_view v;

		if (!dec_peek(w->b, &w->b->head, w->data.offset + w->at, (size_t)want, &v))
			return false;
		for (p = v.p; *count && p < v.p + v.len; p = end + 1, --*count) {
			end = memchr(p, 0, v.len - (size_t)(p - v.p));
			if (!end)
				break;
		}
		w->at += *count ? v.len : (size_t)(p - v.p);
	}
	return true;
}

static bool symbols_check(struct dec_build *b, struct dec_range data, const struct form *form,
			  struct dec_ar_fault *fault)
{
	struct walk w = { b, data, 0 };
	uint64_t count = 0;
	bool ok = true;

	if (form->members && !counted(&w, form, form->word, &count, &ok))
		return false;
	if (ok && !counted(&w, form, form->each, &count, &ok))
		return false;
	*fault = (struct dec_ar_fault){
		.code = DEC_PROBLEM_OUT_OF_BOUNDS,
		.offset = data.offset + (ok ? w.at - count * form->each - form->word : w.at),
		.field = "symbol count",
		.sentence = "the table has no room for so many symbols and their names",
	};
	if (!ok)
		return true;
	if (!skip_names(&w, &count))
		return false;
	if (count)
		return true;
	fault->field = NULL;
	if (left(&w) >= PADDING)
		*fault = (struct dec_ar_fault){
			.code = DEC_PROBLEM_SIZE_MISMATCH,
			.offset = data.offset - DEC_AR_HEADER + DEC_AR_OFF_SIZE,
			.field = "member size",
			.sentence = "the member goes on behind the last name of its table of "
				    "symbols",
		};
	return true;
}

/* Tables of one name may have one of several forms; the first one's fault is told. */
static bool any_form(struct dec_build *b, struct dec_range data, const uint8_t *name,
		     struct dec_ar_fault *fault)
{
	fault->field = NULL;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct dec_ar_fault here;

		if (memcmp(name, forms[i].name, DEC_AR_NAME) != 0)
			continue;
		if (!symbols_check(b, data, &forms[i], &here))
			return false;
		if (!here.field || !fault->field)
			*fault = here;
		if (!here.field)
			break;
	}
	return true;
}

/* ---- the table of long names ----------------------------------------------------------- */

/* A line ends behind "/" and an empty one may follow as padding; NUL ends COFF's names. */
static bool fits_name(uint8_t byte, uint8_t before)
{
	return byte == '\n' ? before == '/' || before == '\n' : byte >= ' ' || byte == 0;
}

static bool names_check(struct dec_build *b, struct dec_range data, struct dec_ar_fault *fault)
{
	uint64_t at = 0;
	uint8_t before = 0;
	bool fits = true;

	while (fits && at < data.size) {
		uint64_t want = data.size - at < DEC_WINDOW ? data.size - at : DEC_WINDOW;
		struct dec_view v;

		if (!dec_peek(b, &b->head, data.offset + at, (size_t)want, &v))
			return false;
		for (size_t i = 0; i < v.len && (fits = fits_name(v.p[i], before)); i++, at++)
			before = v.p[i];
	}
	fits = fits && (before == '\n' || before == 0);
	*fault = (struct dec_ar_fault){
		.code = DEC_PROBLEM_BAD_MAGIC,
		.offset = data.offset + at,
		.field = fits ? NULL : "long names",
		.sentence = "the table of long names holds something else",
	};
	return true;
}

bool dec_ar_is_names(const uint8_t *name)
{
	return memcmp(name, "//              ", DEC_AR_NAME) == 0;
}

bool dec_ar_is_table(const uint8_t *name)
{
	bool is = dec_ar_is_names(name) || memcmp(name, "/<XFGHASHMAP>/  ", DEC_AR_NAME) == 0;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		is |= memcmp(name, forms[i].name, DEC_AR_NAME) == 0;
	return is;
}

bool dec_ar_table_check(struct dec_build *b, struct dec_range data, const uint8_t *name,
			struct dec_ar_fault *fault)
{
	return dec_ar_is_names(name) ? names_check(b, data, fault) : any_form(b, data, name, fault);
}
