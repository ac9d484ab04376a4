#include "yamlvalues.h"

/* Digits that fit 64 bits, nothing else. */
static bool plain_number(struct dec_view s, uint64_t *n)
{
	*n = 0;
	for (size_t i = 0; i < s.len; i++) {
		uint64_t digit = (uint64_t)s.p[i] - '0';

		if (digit > 9 || *n > (UINT64_MAX - digit) / 10)
			return false;
		*n = *n * 10 + digit;
	}
	return s.len > 0;
}

/* The core schema's integers and booleans, as LLVM writes them. */
static void resolve_plain(struct dec_value *v)
{
	struct dec_view digits = v->bytes;
	uint64_t n;

	if (dec_value_is(v, "true") || dec_value_is(v, "false")) {
		v->u = v->bytes.p[0] == 't';
		v->type = DEC_VALUE_BOOL;
	} else if (plain_number(digits, &n)) {
		v->type = DEC_VALUE_UINT;
		v->u = n;
	} else if (digits.len && digits.p[0] == '-' &&
		   dec_slice(digits, 1, digits.len - 1, &digits) && plain_number(digits, &n) && n &&
		   n <= (uint64_t)INT64_MAX) {
		v->type = DEC_VALUE_INT;
		v->i = -(int64_t)n;
	}
}

static void scalar(const yaml_event_t *e, struct dec_value *v)
{
	v->type = DEC_VALUE_TEXT;
	v->bytes = (struct dec_view){ e->data.scalar.value, e->data.scalar.length, v->offset };
	if (e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
		resolve_plain(v);
}

/* Where so many characters end; places are asked for in the order of the text. */
static uint64_t byte_offset(struct dec_yaml *y, size_t characters)
{
	while (y->characters < characters && y->bytes < y->v.len) {
		y->bytes++;
		while (y->bytes < y->v.len && (y->v.p[y->bytes] & 0xc0) == 0x80)
			y->bytes++;
		y->characters++;
	}
	return y->v.origin + y->bytes;
}

static bool fail(struct dec_yaml *y)
{
	const yaml_parser_t *p = &y->parser;
	uint64_t offset;

	if (p->error == YAML_MEMORY_ERROR) {
		y->r.no_memory = true;
		return false;
	}
	offset = p->error == YAML_READER_ERROR ? y->v.origin + p->problem_offset
					       : byte_offset(y, p->problem_mark.index);
	return dec_values_fail(&y->r, DEC_PROBLEM_MALFORMED_METADATA, offset, "not YAML");
}

static bool open(struct dec_yaml *y, struct dec_value *v, enum dec_value_type type)
{
	if (y->r.depth == DEC_METADATA_DEPTH)
		return dec_values_fail(&y->r, DEC_PROBLEM_LIMIT, v->offset,
				       "containers are nested too deep");
	v->type = type;
	y->r.depth++;
	return true;
}

/* *given false: an event that stands for no value. */
static bool translate(struct dec_yaml *y, struct dec_value *v, bool *given)
{
	*given = true;
	switch (y->event.type) {
	case YAML_SCALAR_EVENT:
		scalar(&y->event, v);
		return true;
	case YAML_SEQUENCE_START_EVENT:
		return open(y, v, DEC_VALUE_ARRAY);
	case YAML_MAPPING_START_EVENT:
		return open(y, v, DEC_VALUE_MAP);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		v->type = DEC_VALUE_END;
		y->r.depth--;
		return true;
	case YAML_ALIAS_EVENT:
		return dec_values_fail(&y->r, DEC_PROBLEM_MALFORMED_METADATA, v->offset,
				       "alias, which metadata does not have");
	case YAML_STREAM_END_EVENT:
		return false;
	default:
		*given = false;
		return true;
	}
}

static bool yaml_next(struct dec_values *r, struct dec_value *v)
{
	struct dec_yaml *y = (struct dec_yaml *)r;
	bool given;

	*v = (struct dec_value){ .offset = y->v.origin, .bytes = { y->v.p, 0, 0 } };
	do {
		if (r->fault.sentence || r->no_memory)
			return false;
		if (y->event_made)
			yaml_event_delete(&y->event);
		y->event_made = yaml_parser_parse(&y->parser, &y->event);
		if (!y->event_made)
			return fail(y);
		v->offset = byte_offset(y, y->event.start_mark.index);
		if (!translate(y, v, &given))
			return false;
	} while (!given);
	return true;
}

void dec_yaml_open(struct dec_yaml *y, struct dec_view v)
{
	*y = (struct dec_yaml){ .r.next = yaml_next, .v = v };
	y->parser_made = yaml_parser_initialize(&y->parser);
	y->r.no_memory = !y->parser_made;
	if (y->parser_made)
		yaml_parser_set_input_string(&y->parser, v.p, v.len);
}

void dec_yaml_close(struct dec_yaml *y)
{
	if (y->event_made)
		yaml_event_delete(&y->event);
	if (y->parser_made)
		yaml_parser_delete(&y->parser);
}
