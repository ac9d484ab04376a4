#include "msgpack.h"

/* Shapes of what follows a lead byte from 0xc0 to 0xdf (MessagePack specification, "Formats"). */
enum form { NEVER, NIL, BOOL, UINT, INT, FLOAT, STR, BIN, EXT, FIXEXT, ARRAY, MAP };

static const struct {
	uint8_t form; /* enum form */
	uint8_t width; /* bytes of the number behind the lead; FIXEXT: of the data */
} forms[] = {
	/* clang-format off */
	{ NIL, 0 }, { NEVER, 0 }, { BOOL, 0 }, { BOOL, 0 },
	{ BIN, 1 }, { BIN, 2 }, { BIN, 4 }, { EXT, 1 },
	{ EXT, 2 }, { EXT, 4 }, { FLOAT, 4 }, { FLOAT, 8 },
	{ UINT, 1 }, { UINT, 2 }, { UINT, 4 }, { UINT, 8 },
	{ INT, 1 }, { INT, 2 }, { INT, 4 }, { INT, 8 },
	{ FIXEXT, 1 }, { FIXEXT, 2 }, { FIXEXT, 4 }, { FIXEXT, 8 },
	{ FIXEXT, 16 }, { STR, 1 }, { STR, 2 }, { STR, 4 },
	{ ARRAY, 2 }, { ARRAY, 4 }, { MAP, 2 }, { MAP, 4 },
	/* clang-format on */
};

static bool broken(struct dec_msgpack *m, const struct dec_value *v, const char *sentence)
{
	return dec_values_fail(&m->r, DEC_PROBLEM_MALFORMED_METADATA, v->offset, sentence);
}

static bool take(struct dec_msgpack *m, struct dec_value *v, uint64_t size, struct dec_view *out)
{
	if (!dec_slice(m->v, m->at, size, out))
		return broken(m, v, "value goes on past the end of the metadata");
	m->at += out->len;
	return true;
}

/* width bytes, the most significant first. */
static bool number(struct dec_msgpack *m, struct dec_value *v, size_t width, uint64_t *n)
{
	struct dec_view raw;

	if (!take(m, v, width, &raw))
		return false;
	*n = 0;
	for (size_t i = 0; i < width; i++)
		*n = *n << 8 | raw.p[i];
	return true;
}

static bool text(struct dec_msgpack *m, struct dec_value *v, uint64_t len)
{
	v->type = DEC_VALUE_TEXT;
	return take(m, v, len, &v->bytes);
}

static bool bytes(struct dec_msgpack *m, struct dec_value *v, uint64_t len)
{
	v->type = DEC_VALUE_BYTES;
	return take(m, v, len, &v->bytes);
}

/* Each element takes one byte at least, which bounds what a count can promise. */
static bool open(struct dec_msgpack *m, struct dec_value *v, enum dec_value_type type,
		 uint64_t values)
{
	if (values > m->v.len - m->at)
		return broken(m, v, "more elements than bytes that are left");
	if (m->r.depth == DEC_METADATA_DEPTH)
		return dec_values_fail(&m->r, DEC_PROBLEM_LIMIT, v->offset,
				       "containers are nested too deep");
	v->type = type;
	m->left[m->r.depth++] = values;
	return true;
}

static bool unsigned_number(struct dec_value *v, uint64_t n)
{
	v->type = DEC_VALUE_UINT;
	v->u = n;
	return true;
}

static bool signed_number(struct dec_value *v, uint64_t n, size_t width)
{
	uint64_t sign = UINT64_C(1) << (8 * width - 1);

	if (!(n & sign))
		return unsigned_number(v, n);
	v->type = DEC_VALUE_INT;
	v->i = (int64_t)((n ^ sign) - sign);
	return true;
}

static bool float_number(struct dec_value *v, uint64_t n, size_t width)
{
	uint32_t low = (uint32_t)n;
	float single;

	v->type = DEC_VALUE_FLOAT;
	if (width == sizeof(v->f)) {
		memcpy(&v->f, &n, sizeof(n));
		return true;
	}
	memcpy(&single, &low, sizeof(low));
	v->f = (double)single;
	return true;
}

static bool by_form(struct dec_msgpack *m, struct dec_value *v, uint8_t lead)
{
	uint8_t form = forms[lead - 0xc0].form, width = forms[lead - 0xc0].width;
	uint64_t n = 0;

	if (form != FIXEXT && !number(m, v, width, &n))
		return false;
	switch (form) {
	case NIL:
		return true;
	case BOOL:
		v->type = DEC_VALUE_BOOL;
		v->u = lead & 1;
		return true;
	case UINT:
		return unsigned_number(v, n);
	case INT:
		return signed_number(v, n, width);
	case FLOAT:
		return float_number(v, n, width);
	case STR:
		return text(m, v, n);
	case BIN:
		return bytes(m, v, n);
	case EXT:
		return bytes(m, v, n + 1); /* the extension's type stands before its data */
	case FIXEXT:
		return bytes(m, v, (uint64_t)width + 1);
	case ARRAY:
		return open(m, v, DEC_VALUE_ARRAY, n);
	case MAP:
		return open(m, v, DEC_VALUE_MAP, 2 * n);
	default:
		return broken(m, v, "lead byte 0xc1, which has no meaning");
	}
}

static bool by_lead(struct dec_msgpack *m, struct dec_value *v, uint8_t lead)
{
	if (lead < 0x80)
		return unsigned_number(v, lead);
	if (lead < 0x90)
		return open(m, v, DEC_VALUE_MAP, 2 * (uint64_t)(lead & 0xf));
	if (lead < 0xa0)
		return open(m, v, DEC_VALUE_ARRAY, lead & 0xf);
	if (lead < 0xc0)
		return text(m, v, lead & 0x1f);
	if (lead < 0xe0)
		return by_form(m, v, lead);
	return signed_number(v, lead, 1);
}

static bool msgpack_next(struct dec_values *r, struct dec_value *v)
{
	struct dec_msgpack *m = (struct dec_msgpack *)r;
	struct dec_view lead;

	*v = (struct dec_value){ .offset = m->v.origin + m->at, .bytes = { m->v.p, 0, 0 } };
	if (r->fault.sentence)
		return false;
	if (r->depth && m->left[r->depth - 1] == 0) {
		r->depth--;
		v->type = DEC_VALUE_END;
		return true;
	}
	if (r->depth)
		m->left[r->depth - 1]--;
	else if (m->at == m->v.len)
		return false;
	return take(m, v, 1, &lead) && by_lead(m, v, *lead.p);
}

void dec_msgpack_open(struct dec_msgpack *m, struct dec_view v)
{
	m->r = (struct dec_values){ .next = msgpack_next };
	m->v = v;
	m->at = 0;
}
