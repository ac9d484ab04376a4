/* ar archives (GNU, BSD, COFF): members, each searched as a file of its own. */
#include "ar.h"

#include <stdlib.h>

enum {
	GLOBAL_MAGIC = 8,
	HEADER = DEC_AR_HEADER,
	NAME_SIZE = DEC_AR_NAME,
	OFF_SIZE = DEC_AR_OFF_SIZE,
	SIZE_SIZE = 10,
	OFF_END = 58, /* the bytes 60 0A */
	NAME_MAX_BYTES = 1024,
};

struct archive {
	const struct dec_hit *hit;
	uint64_t at; /* of the member's header */
	struct dec_range data; /* of the member */
	bool cut; /* the member reaches past the end */
	struct dec_range names; /* the table of long names, size 0: none yet */
	uint8_t name[NAME_SIZE]; /* as in the header */
	uint32_t place; /* the archive's own */
};

/* Decimal digits, blanks behind them. */
static bool number(const uint8_t *p, size_t len, uint64_t *value)
{
	size_t i = 0;

	for (*value = 0; i < len && p[i] >= '0' && p[i] <= '9'; i++)
		*value = *value * 10 + (uint64_t)(p[i] - '0'); /* 15 digits at most */
	for (size_t j = i; j < len; j++)
		if (p[j] != ' ')
			return false;
	return i > 0;
}

static bool note(struct dec_build *b, enum dec_problem_code code, uint64_t at, const char *field,
		 const char *sentence)
{
	return dec_note(b, DEC_OWNER_ARTIFACT, code, at, field, DEC_PARTIAL, "%s", sentence);
}

/* ---- names --------------------------------------------------------------------------- */

/* A name of the table ends with "/\n" (GNU) or NUL (COFF). */
static bool long_name(struct dec_build *b, const struct archive *a, uint64_t offset,
		      struct dec_text *name)
{
	uint64_t left = offset < a->names.size ? a->names.size - offset : 0;
	struct dec_view v;
	size_t len = 0;

	if (!dec_peek(b, &b->head, a->names.offset + (left ? offset : 0),
		      (size_t)(left < NAME_MAX_BYTES ? left : NAME_MAX_BYTES), &v))
		return false;
	while (len < v.len && v.p[len] && v.p[len] != '\n')
		len++;
	if (len && v.p[len - 1] == '/')
		len--;
	return dec_text_copy(b, v.p, len, name);
}

/* "#1/N": the name is the first N bytes of the data. */
static bool bsd_name(struct dec_build *b, struct archive *a, uint64_t size, struct dec_text *name)
{
	struct dec_view v;

	if (size > a->data.size)
		size = a->data.size;
	if (!dec_peek(b, &b->head, a->data.offset,
		      (size_t)(size < NAME_MAX_BYTES ? size : NAME_MAX_BYTES), &v) ||
	    !dec_text_copy(b, v.p, strnlen((const char *)v.p, v.len), name))
		return false;
	a->data.offset += size;
	a->data.size -= size;
	return true;
}

static bool member_name(struct dec_build *b, struct archive *a, struct dec_text *name)
{
	const uint8_t *p = a->name;
	size_t len = NAME_SIZE;
	uint64_t value;

	if (p[0] == '/' && number(p + 1, NAME_SIZE - 1, &value))
		return long_name(b, a, value, name);
	if (memcmp(p, "#1/", 3) == 0 && number(p + 3, NAME_SIZE - 3, &value))
		return bsd_name(b, a, value, name);
	while (len && p[len - 1] == ' ')
		len--;
	if (p[0] != '/' && len > 1 && p[len - 1] == '/') /* tables keep theirs */
		len--;
	return dec_text_copy(b, p, len, name);
}

/* ---- members ---------------------------------------------------------------------------- */

/* A table is searched for magics alone, lest its count or its first name is read as a header;
 * what only has a table's name, as any member. */
static bool search_data(struct dec_build *b, struct archive *a, uint32_t place)
{
	struct dec_ar_fault fault = { .field = NULL };

	if (a->cut || !dec_ar_is_table(a->name))
		return dec_search_member(b, a->data, place);
	if (!dec_ar_table_check(b, a->data, a->name, &fault))
		return false;
	if (!fault.field)
		return dec_search_bytes(b, a->data, place);
	return note(b, fault.code, fault.offset, fault.field, fault.sentence) &&
	       dec_search_member(b, a->data, place);
}

static bool search_member(struct dec_build *b, struct archive *a)
{
	struct dec_place place = { .kind = DEC_PLACE_MEMBER, .outer = a->place };
	uint32_t containers = b->container_count, places = b->place_count, index;

	if (dec_ar_is_names(a->name))
		a->names = a->data;
	if (!member_name(b, a, &place.name))
		return false;
	place.range = a->data;
	if (a->data.size == 0)
		return true;
	if (!dec_add_place(b, &place, &index) || !search_data(b, a, index))
		return false;
	if (b->container_count == containers) /* nobody refers to it */
		b->place_count = places;
	return true;
}

/* What follows a header that is none may still hold code. */
static bool search_rest(struct dec_build *b, const struct archive *a, bool ends)
{
	struct dec_range rest = { a->at, a->hit->limit - a->at };

	return note(b, DEC_PROBLEM_BAD_MAGIC, a->at + (ends ? OFF_SIZE : OFF_END),
		    ends ? "member size" : "member header",
		    ends ? "no size in decimal digits; the rest is searched as one piece"
			 : "no member header ends here (60 0A expected); the rest is searched as "
			   "one piece") &&
	       dec_search_member(b, rest, a->place);
}

/* Reads the header at a->at. *ok false: it is none; *ends says whether it ends as one. */
static bool header_read(struct dec_build *b, struct archive *a, bool *ends, bool *ok)
{
	uint64_t left = a->hit->limit - a->at - HEADER, size;
	struct dec_view v;

	if (!dec_peek(b, &b->head, a->at, HEADER, &v))
		return false;
	*ends = memcmp(v.p + OFF_END, "`\n", 2) == 0;
	*ok = *ends && number(v.p + OFF_SIZE, SIZE_SIZE, &size);
	if (!*ok)
		return true;
	memcpy(a->name, v.p, NAME_SIZE);
	a->cut = size > left;
	a->data = (struct dec_range){ a->at + HEADER, a->cut ? left : size };
	return !a->cut || note(b, DEC_PROBLEM_TRUNCATED, a->at + OFF_SIZE, "member size",
			       "the member reaches past the end of the archive");
}

bool dec_ar_list(struct dec_build *b, const struct dec_hit *hit)
{
	struct archive a = { .hit = hit, .at = hit->at + GLOBAL_MAGIC, .place = hit->place };
	bool ends, ok;

	while (hit->limit - a.at >= HEADER) {
		uint64_t end;

		if (!header_read(b, &a, &ends, &ok))
			return false;
		if (!ok)
			return search_rest(b, &a, ends);
		end = a.data.offset + a.data.size; /* before a BSD name is taken off */
		if (!search_member(b, &a))
			return false;
		a.at = end + (end - hit->at) % 2;
		if (a.at > hit->limit)
			a.at = hit->limit;
	}
	return a.at == hit->limit || note(b, DEC_PROBLEM_TRUNCATED, a.at, "member header",
					  "the archive ends inside a member header of 60 bytes");
}
