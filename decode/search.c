/*
 * The search: the whole file for the magics of formats.def. A hit counts when its format
 * claims it; what is claimed is not searched again.
 */
#include "internal.h"

#include <stdlib.h>

/* After a claim the next one is often close: begin with small reads and let them grow. In a
 * row of small containers one read shall cover several, though. */
#define FIRST_READ DEC_KIB(4)
#define FIRST_READ_IN_ROW DEC_KIB(64)
#define SMALL_CLAIM DEC_KIB(32)

/* Formats pad to at most a page between two containers of one section. */
#define CHAIN_GAP 4096

struct search {
	struct dec_build *b;
	struct dec_range range; /* the file, or one member of it */
	struct dec_host host;
	uint32_t outer; /* place of the range itself */
	uint64_t pos; /* everything before is done */
	struct dec_view view; /* bytes read for the search; valid until the next read */
	uint64_t next_read;
	uint64_t chain; /* end of the claim before, where another is expected; 0: none */
	uint64_t chain_limit;
	uint64_t done; /* end of the last claim */
	size_t next_span; /* spans before it were looked at for entry sections */
	bool container_file; /* the range itself is a container, or a row of them */
};

#define X(format) &dec_format_##format,
static const struct dec_format_row *const formats[] = {
#include "formats.def"
};
#undef X

static uint64_t range_end(const struct search *s)
{
	return s->range.offset + s->range.size;
}

/* ---- finding a magic ------------------------------------------------------------------ */

static bool read_more(struct search *s)
{
	uint64_t left = range_end(s) - s->pos;
	uint64_t want = s->next_read < left ? s->next_read : left;

	s->next_read = s->next_read * 4 < DEC_WINDOW ? s->next_read * 4 : DEC_WINDOW;
	return dec_peek(s->b, &s->b->scan, s->pos, (size_t)want, &s->view);
}

/* Moves s->pos to the next place before end where four magic bytes stand; end if none. */
static bool next_prefix(struct search *s, uint64_t end)
{
	while (s->pos < end && range_end(s) - s->pos >= DEC_SCAN_PREFIX) {
		uint64_t seen = s->pos - s->view.origin;
		size_t at;

		if (s->pos < s->view.origin || seen > s->view.len ||
		    s->view.len - seen < DEC_SCAN_PREFIX) {
			if (!read_more(s))
				return false;
			seen = 0;
		}
		at = dec_scan(s->view.p, s->view.len, (size_t)seen);
		if (at < s->view.len) {
			s->pos = s->view.origin + at;
			if (s->pos >= end)
				break;
			return true;
		}
		/* A magic may begin in the last bytes and go on behind them. */
		s->pos = s->view.origin + s->view.len - (DEC_SCAN_PREFIX - 1);
	}
	s->pos = end;
	return true;
}

static bool has_magic(struct search *s, const struct dec_format_row *row, bool *has)
{
	struct dec_view v;

	*has = false;
	if (range_end(s) - s->pos < row->magic_len)
		return true;
	if (!dec_peek(s->b, &s->b->head, s->pos, row->magic_len, &v))
		return false;
	*has = dec_starts(v, row->magic, row->magic_len);
	return true;
}

/* ---- places ----------------------------------------------------------------------------- */

static bool span_place(struct search *s, struct dec_span *span, uint32_t *place)
{
	struct dec_place p;

	*place = s->outer;
	if (!span)
		return true;
	p = (struct dec_place){ span->kind, span->name, span->range, s->outer };
	if (span->place == DEC_NONE && !dec_add_place(s->b, &p, &span->place))
		return false;
	*place = span->place;
	return true;
}

static bool belongs(const struct dec_span *span, const struct dec_format_row *row)
{
	return span && span->expects && (span->expects == row || span->expects == row->kin);
}

/* A format belongs at the file's start, and in the sections made for it one after another. */
static bool is_expected(const struct search *s, const struct dec_span *span,
			const struct dec_format_row *row)
{
	if (s->pos == s->range.offset)
		return true;
	if (!belongs(span, row))
		return false;
	return s->pos == span->range.offset || (s->chain && s->pos - s->chain < CHAIN_GAP);
}

bool dec_refuse_header(struct dec_build *b, const struct dec_hit *hit, enum dec_problem_code code,
		       uint64_t offset, const char *field, const char *sentence)
{
	if (!hit->expected)
		return true;
	return dec_note(b, DEC_OWNER_ARTIFACT, code, offset, field, DEC_PARTIAL, "%s", sentence);
}

/* ---- what lies between two claims ------------------------------------------------------------ */

static bool first_nonzero(struct search *s, uint64_t from, uint64_t to, uint64_t *at)
{
	*at = to;
	while (from < to) {
		uint64_t want = to - from < DEC_WINDOW ? to - from : DEC_WINDOW;
		struct dec_view v;

		if (!dec_peek(s->b, &s->b->head, from, (size_t)want, &v))
			return false;
		for (size_t i = 0; i < v.len; i++)
			if (v.p[i]) {
				*at = from + i;
				return true;
			}
		from += want;
	}
	return true;
}

/* Between containers of one section, and after the last, there are zeros. */
static bool close_chain(struct search *s, uint64_t until)
{
	uint64_t to = until < s->chain_limit ? until : s->chain_limit, at;

	if (!s->chain || s->chain >= to)
		return true;
	if (!first_nonzero(s, s->chain, to, &at))
		return false;
	return at == to ||
	       dec_note(s->b, DEC_OWNER_ARTIFACT, DEC_PROBLEM_BAD_MAGIC, at, "magic", DEC_COMPLETE,
			"expected padding or the next container, found %llu bytes of "
			"something else",
			(unsigned long long)(to - at));
}

/* A payload that the file cuts short reaches past what its container claims; its bytes are
 * no padding. */
static uint64_t behind_payloads(const struct dec_build *b, uint64_t end)
{
	for (uint32_t i = b->object_count; i > 0; i--) {
		const struct dec_object *o = &b->objects[i - 1];

		if (o->container + 1 != b->container_count)
			break;
		if (o->space == DEC_SPACE_ARTIFACT && o->encoded.size &&
		    o->encoded.offset + o->encoded.size > end)
			end = o->encoded.offset + o->encoded.size;
	}
	return end;
}

static void open_chain(struct search *s, const struct dec_hit *hit, const struct dec_span *span,
		       const struct dec_format_row *row, uint64_t end)
{
	s->chain = 0;
	if (row == &dec_format_bare)
		return;
	if (belongs(span, row))
		s->chain_limit = span->range.offset + span->range.size;
	else if (s->container_file)
		s->chain_limit = hit->limit;
	else
		return;
	s->chain = behind_payloads(s->b, end);
}

/* ---- the loop ------------------------------------------------------------------------------------ */

/* Offers the hit at s->pos to one format; *claimed says whether it took it. */
static bool offer(struct search *s, const struct dec_format_row *row, bool *claimed)
{
	struct dec_span *span = dec_host_find(&s->host, s->pos);
	struct dec_hit hit = { .at = s->pos, .limit = range_end(s) };
	uint32_t containers = s->b->container_count;
	uint64_t end;

	hit.expected = is_expected(s, span, row);
	hit.place = DEC_NONE; /* made when somebody claims */
	if (!row->claim(s->b, &hit, &end))
		return false;
	*claimed = end > hit.at;
	if (!*claimed)
		return true;
	if (!span_place(s, span, &hit.place))
		return false;
	for (uint32_t c = containers; c < s->b->container_count; c++)
		s->b->containers[c].place = hit.place;
	if (!close_chain(s, hit.at))
		return false;
	open_chain(s, &hit, span, row, end);
	s->pos = s->done = end;
	s->next_read = end - hit.at < SMALL_CLAIM ? FIRST_READ_IN_ROW : FIRST_READ;
	return true;
}

/* The next section that is a bundle entry by its name and begins behind the last claim. */
static struct dec_span *entry_section(struct search *s)
{
	for (; s->next_span < s->host.count; s->next_span++) {
		struct dec_span *span = &s->host.spans[s->next_span];

		if (span->entry && span->range.offset >= s->done)
			return span;
	}
	return NULL;
}

static bool take_section(struct search *s, struct dec_span *span)
{
	struct dec_hit hit = { .at = span->range.offset, .limit = range_end(s) };

	s->pos = s->done = span->range.offset + span->range.size;
	return span_place(s, span, &hit.place) && dec_bundle_section(s->b, &hit, span);
}

/* Offers the magic at s->pos to the formats. */
static bool take_hit(struct search *s)
{
	bool has, claimed = false;

	for (size_t f = 0; !claimed && f < sizeof(formats) / sizeof(formats[0]); f++) {
		if (!has_magic(s, formats[f], &has))
			return false;
		if (has && !offer(s, formats[f], &claimed))
			return false;
	}
	if (!claimed)
		s->pos++;
	return true;
}

static bool search_range(struct search *s)
{
	while (s->pos < range_end(s)) {
		struct dec_span *section = entry_section(s);
		uint64_t end = section ? section->range.offset : range_end(s);

		if (!next_prefix(s, end))
			return false;
		if (s->pos < end) {
			if (!take_hit(s))
				return false;
		} else if (section && !take_section(s, section)) {
			return false;
		}
	}
	return close_chain(s, range_end(s));
}

/* One file: the artifact, or a member of an archive. */
static bool search_file(struct dec_build *b, struct dec_range range, uint32_t place,
			const struct dec_probe_row *row)
{
	struct search s = {
		.b = b,
		.range = range,
		.outer = place,
		.pos = range.offset,
		.done = range.offset,
		.next_read = FIRST_READ,
		.container_file = row->container,
	};
	struct dec_hit whole = { range.offset, range.offset + range.size, place, true };
	bool ok;

	if (row->list)
		return row->list(b, &whole);
	ok = (!row->host || row->host(b, range, &s.host)) && search_range(&s);
	dec_host_fini(&s.host);
	return ok;
}

/* A member that would be refused as an artifact may still hold something. */
bool dec_search_member(struct dec_build *b, struct dec_range range, uint32_t place)
{
	const struct dec_probe_row *row;
	bool ok;

	if (b->depth == DEC_DEPTH_MAX)
		return dec_note(b, DEC_OWNER_ARTIFACT, DEC_PROBLEM_LIMIT, range.offset, "member",
				DEC_PARTIAL, "archives nest deeper than %d levels", DEC_DEPTH_MAX);
	if (!dec_probe(b, range, &row))
		return false;
	b->depth++;
	ok = search_file(b, range, place, row);
	b->depth--;
	return ok;
}

bool dec_search_bytes(struct dec_build *b, struct dec_range range, uint32_t place)
{
	static const struct dec_probe_row row = { .format = DEC_FORMAT_OTHER };

	return search_file(b, range, place, &row);
}

bool dec_search(struct dec_build *b)
{
	struct dec_range whole = { 0, b->source->size };
	struct dec_place file = { DEC_PLACE_FILE, b->name, whole, DEC_NONE };
	const struct dec_probe_row *row;
	uint32_t place;

	if (!dec_probe(b, whole, &row))
		return false;
	if (row->refusal)
		return dec_fatal(b, DEC_E_REFUSED, 0, 0, "magic", row->refusal);
	b->format = row->format;
	return dec_add_place(b, &file, &place) && search_file(b, whole, place, row);
}

struct dec_artifact *dec_open(const struct dec_source *source, const char *name,
			      const struct dec_limits *limits, struct dec_error *err)
{
	struct dec_build b = { .source = source, .limits = *limits, .err = err };
	struct dec_artifact *artifact = NULL;

	*err = (struct dec_error){ .status = DEC_OK };
	if (dec_text_copy(&b, name, strlen(name), &b.name) && dec_search(&b))
		artifact = dec_build_finish(&b);
	dec_build_fini(&b);
	return artifact;
}
