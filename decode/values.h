/*
 * Metadata as a stream of values, whatever it is written in: scalars, and containers that
 * END closes. A map gives key, value, key, value ... What comes next is pulled; nothing is
 * built, and no count from the file is believed.
 */
#ifndef DEC_VALUES_H
#define DEC_VALUES_H

#include "decode.h"
#include "view.h"

enum dec_value_type {
	DEC_VALUE_NIL,
	DEC_VALUE_BOOL, /* u */
	DEC_VALUE_UINT, /* u */
	DEC_VALUE_INT, /* i, negative */
	DEC_VALUE_FLOAT, /* f */
	DEC_VALUE_TEXT, /* bytes */
	DEC_VALUE_BYTES, /* bytes: binary data or an extension */
	DEC_VALUE_ARRAY,
	DEC_VALUE_MAP,
	DEC_VALUE_END,
};

struct dec_value {
	enum dec_value_type type;
	uint64_t offset; /* where it is written, counted as problems are */
	union {
		uint64_t u;
		int64_t i;
		double f;
	};
	struct dec_view bytes; /* lasts until the next value is pulled */
};

/* Why a stream ended early. */
struct dec_fault {
	enum dec_problem_code code; /* malformed_metadata, or limit */
	uint64_t offset;
	const char *sentence; /* literal, NULL: no fault */
};

/* A reader begins with this. The first fault stays; every pull after it gives false. */
struct dec_values {
	/* False: the input ended, has a fault, or memory ran out. */
	bool (*next)(struct dec_values *r, struct dec_value *v);
	struct dec_fault fault;
	bool no_memory;
	unsigned depth; /* containers that are open */
};

static inline bool dec_value_opens(const struct dec_value *v)
{
	return v->type == DEC_VALUE_ARRAY || v->type == DEC_VALUE_MAP;
}

static inline bool dec_value_is(const struct dec_value *v, const char *text)
{
	return v->type == DEC_VALUE_TEXT && v->bytes.len == strlen(text) &&
	       memcmp(v->bytes.p, text, v->bytes.len) == 0;
}

/* Pulls what is left of the value just given. False like next. */
static inline bool dec_values_skip(struct dec_values *r, const struct dec_value *v)
{
	unsigned outside = r->depth;
	struct dec_value inner;

	if (!dec_value_opens(v))
		return true;
	while (r->depth >= outside)
		if (!r->next(r, &inner))
			return false;
	return true;
}

/* Ends the stream; gives false for the caller to return. */
static inline bool dec_values_fail(struct dec_values *r, enum dec_problem_code code,
				   uint64_t offset, const char *sentence)
{
	if (!r->fault.sentence)
		r->fault = (struct dec_fault){ code, offset, sentence };
	return false;
}

#endif
