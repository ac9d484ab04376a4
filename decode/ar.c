/* ar archives (GNU, BSD, COFF): members, each searched as a file of its own. */
#include "internal.h"

#include <stdlib.h>

enum {
	GLOBAL_MAGIC = 8,
	HEADER = 60,
	NAME_SIZE = 16,
	OFF_SIZE = 48,
	SIZE_SIZE = 10,
	OFF_END = 58, /* the bytes 60 0A */
	NAME_MAX_BYTES = 1024,
};

struct archive {
	const struct dec_hit *hit;
	uint64_t at; /* of the member's header */
	struct dec_range data; /* of the member */
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
	if (len > 1 && p[len - 1] == '/')
		len--;
	return dec_text_copy(b, p, len, name);
}

/* Indexes and tables, which hold no code. */
static bool is_special(struct archive *a)
{
	static const char *const names[] = { "/               ", "/SYM64/         ",
					     "/<ECSYMBOLS>/   ", "/<XFGHASHMAP>/  " };

	if (memcmp(a->name, "//              ", NAME_SIZE) == 0) {
		a->names = a->data;
		return true;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (memcmp(a->name, names[i], NAME_SIZE) == 0)
			return true;
	return false;
}

/* ---- members ---------------------------------------------------------------------------- */

static bool search_member(struct dec_build *b, struct archive *a)
{
	struct dec_place place = { .kind = DEC_PLACE_MEMBER, .outer = a->place };
	uint32_t containers = b->container_count, places = b->place_count, index;

	if (is_special(a))
		return true;
	if (!member_name(b, a, &place.name))
		return false;
	place.range = a->data;
	if (a->data.size == 0)
		return true;
	if (!dec_add_place(b, &place, &index) || !dec_search_member(b, a->data, index))
		return false;
	if (b->container_count == containers) /* nobody refers to it */
		b->place_count = places;
	return true;
}

/* What follows a header that is none may still hold code. */
static bool search_rest(struct dec_build *b, const struct archive *a)
{
	struct dec_range rest = { a->at, a->hit->limit - a->at };

	return note(b, DEC_PROBLEM_BAD_MAGIC, a->at + OFF_END, "member header",
		    "no member header ends here (60 0A expected); the rest is searched as one "
		    "piece") &&
	       dec_search_member(b, rest, a->place);
}

/* Reads the header at a->at. *ok false: it is none. */
static bool header_read(struct dec_build *b, struct archive *a, bool *ok)
{
	uint64_t left = a->hit->limit - a->at - HEADER, size;
	struct dec_view v;

	if (!dec_peek(b, &b->head, a->at, HEADER, &v))
		return false;
	*ok = memcmp(v.p + OFF_END, "`\n", 2) == 0 && number(v.p + OFF_SIZE, SIZE_SIZE, &size);
	if (!*ok)
		return true;
	memcpy(a->name, v.p, NAME_SIZE);
	a->data = (struct dec_range){ a->at + HEADER, size < left ? size : left };
	return size <= left || note(b, DEC_PROBLEM_TRUNCATED, a->at + OFF_SIZE, "member size",
				    "the member reaches past the end of the archive");
}

bool dec_ar_list(struct dec_build *b, const struct dec_hit *hit)
{
	struct archive a = { .hit = hit, .at = hit->at + GLOBAL_MAGIC, .place = hit->place };
	bool ok;

	while (hit->limit - a.at >= HEADER) {
		uint64_t end;

		if (!header_read(b, &a, &ok))
			return false;
		if (!ok)
			return search_rest(b, &a);
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
