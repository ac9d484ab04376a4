/*
 * PE images and COFF objects: their sections. Microsoft PE/COFF specification; the
 * findings about cut names and sizes are in docs/formats/hosts.md.
 */
#include "internal.h"

enum {
	DOS_HEADER = 64,
	OFF_LFANEW = 0x3c,
	COFF_HEADER = 20,
	BIGOBJ_HEADER = 56,
	SECTION = 40,
	SYMBOL = 18,
	BIGOBJ_SYMBOL = 20,
	OPTIONAL_PLUS = 0x20b,
	NAME_SIZE = 8,
};

static const uint8_t bigobj_class[16] = { 0xc7, 0xa1, 0xba, 0xd1, 0xee, 0xba, 0xa9, 0x4b,
					  0xaf, 0x20, 0xfa, 0xf6, 0x6a, 0xa4, 0xdc, 0xb8 };

struct coff {
	struct dec_range range; /* the file */
	uint64_t table; /* section table, from the file's start */
	uint64_t sections;
	uint64_t strings; /* string table, from the file's start; 0: none */
	bool image; /* a section's extent is the smaller of its two sizes */
};

/* *ok false: not inside the file. A fatal failure leaves *ok true, so that callers can end
 * with "return !*ok" on either. */
static bool read_at(struct dec_build *b, struct dec_range file, uint64_t offset, size_t size,
		    struct dec_view *v, bool *ok)
{
	*ok = dec_fits(offset, size, file.size);
	return !*ok || dec_peek(b, &b->head, file.offset + offset, size, v);
}

static uint64_t strings_at(uint64_t symbols, uint64_t count, uint64_t each)
{
	return symbols ? symbols + count * each : 0; /* 32-bit numbers: cannot wrap */
}

/* ---- headers ------------------------------------------------------------------------- */

/* The header that images and ordinary objects share, at offset. */
static bool header_read(struct dec_build *b, struct dec_range file, uint64_t offset, struct coff *c,
			uint16_t *optional, bool *ok)
{
	struct dec_view v;

	if (!read_at(b, file, offset, COFF_HEADER, &v, ok) || !*ok)
		return !*ok;
	*optional = dec_le16(v.p + 16);
	*c = (struct coff){
		.range = file,
		.table = offset + COFF_HEADER + *optional,
		.sections = dec_le16(v.p + 2),
		.strings = strings_at(dec_le32(v.p + 8), dec_le32(v.p + 12), SYMBOL),
	};
	return true;
}

static bool image_read(struct dec_build *b, struct dec_range file, struct coff *c, bool *plus,
		       bool *ok)
{
	struct dec_view v;
	uint16_t optional;
	uint64_t at;

	if (!read_at(b, file, 0, DOS_HEADER, &v, ok) || !*ok)
		return !*ok;
	*ok = dec_starts(v, "MZ", 2);
	at = dec_le32(v.p + OFF_LFANEW);
	if (!*ok)
		return true;
	if (!read_at(b, file, at, 4, &v, ok) || !*ok)
		return !*ok;
	*ok = dec_starts(v, "PE\0\0", 4);
	if (!*ok)
		return true;
	if (!header_read(b, file, at + 4, c, &optional, ok) || !*ok)
		return !*ok;
	c->image = true;
	if (!read_at(b, file, at + 4 + COFF_HEADER, 2, &v, ok) || !*ok)
		return !*ok;
	*plus = optional >= 2 && dec_le16(v.p) == OPTIONAL_PLUS;
	return true;
}

static bool bigobj_read(struct dec_build *b, struct dec_range file, struct coff *c, bool *ok)
{
	struct dec_view v;

	if (!read_at(b, file, 0, BIGOBJ_HEADER, &v, ok) || !*ok)
		return !*ok;
	*ok = dec_le32(v.p) == 0xffff0000 && dec_le16(v.p + 4) == 2 &&
	      memcmp(v.p + 12, bigobj_class, sizeof(bigobj_class)) == 0;
	*c = (struct coff){
		.range = file,
		.table = BIGOBJ_HEADER,
		.sections = dec_le32(v.p + 0x2c),
		.strings = strings_at(dec_le32(v.p + 0x30), dec_le32(v.p + 0x34), BIGOBJ_SYMBOL),
	};
	return true;
}

/* An object has no magic: a known machine, no optional header, tables inside the file. */
static bool object_read(struct dec_build *b, struct dec_range file, struct coff *c, bool *ok)
{
	static const uint16_t machines[] = { 0x8664, 0xaa64, 0x014c };
	struct dec_view v;
	uint16_t optional, machine;
	bool known = false;

	if (!read_at(b, file, 0, 2, &v, ok) || !*ok)
		return !*ok;
	machine = dec_le16(v.p);
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		known |= machine == machines[i];
	if (!header_read(b, file, 0, c, &optional, ok) || !*ok)
		return !*ok;
	*ok = known && optional == 0 && c->sections > 0 && c->strings <= file.size;
	return true;
}

static bool coff_read(struct dec_build *b, struct dec_range file, struct coff *c, bool *ok)
{
	if (!bigobj_read(b, file, c, ok))
		return false;
	if (!*ok && !object_read(b, file, c, ok))
		return false;
	*ok = *ok && c->sections <= DEC_COFF_SECTIONS_MAX &&
	      dec_fits(c->table, c->sections * SECTION, file.size);
	return true;
}

bool dec_pe_probe(struct dec_build *b, struct dec_range range, bool *is_pe, bool *is_plus)
{
	struct coff c;

	*is_plus = false;
	return image_read(b, range, &c, is_plus, is_pe);
}

bool dec_coff_probe(struct dec_build *b, struct dec_range range, bool *is_coff)
{
	struct coff c;

	return coff_read(b, range, &c, is_coff);
}

/* ---- sections -------------------------------------------------------------------------- */

/* The digits of "//" names, most significant first (LLVM's writer). */
static bool base64(const uint8_t *p, size_t len, uint64_t *value)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	*value = 0;
	for (size_t i = 0; i < len; i++) {
		const char *at = p[i] ? strchr(digits, p[i]) : NULL;

		if (!at)
			return false;
		*value = *value * 64 + (uint64_t)(at - digits);
	}
	return true;
}

/* "/123": offset into the string table. */
static bool decimal(const uint8_t *p, size_t len, uint64_t *value)
{
	size_t i = 0;

	for (*value = 0; i < len && p[i]; i++) {
		if (p[i] < '0' || p[i] > '9')
			return false;
		*value = *value * 10 + (uint64_t)(p[i] - '0');
	}
	return i > 0;
}

/* The string table, copied once, so that names which share bytes do not multiply them. */
static bool strings_read(struct dec_build *b, const struct coff *c, struct dec_text *strings)
{
	uint64_t size = c->strings < c->range.size ? c->range.size - c->strings : 0;
	struct dec_view v;

	if (!c->strings)
		size = 0;
	if (size >= 4) { /* it begins with its own size */
		if (!dec_peek(b, &b->head, c->range.offset + c->strings, 4, &v))
			return false;
		if (dec_le32(v.p) < size)
			size = dec_le32(v.p);
	}
	if (size > DEC_SECTION_NAMES_MAX)
		size = DEC_SECTION_NAMES_MAX;
	return dec_peek(b, &b->head, c->range.offset + (size ? c->strings : 0), (size_t)size, &v) &&
	       dec_text_copy(b, v.p, v.len, strings);
}

static bool section_name(struct dec_build *b, struct dec_text strings, const uint8_t *p,
			 struct dec_text *name)
{
	uint64_t offset;
	bool indirect = p[0] == '/' &&
			(p[1] == '/' ? base64(p + 2, 6, &offset) : decimal(p + 1, 7, &offset));

	if (!indirect || offset >= strings.len)
		return dec_text_copy(b, p, strnlen((const char *)p, NAME_SIZE), name);
	*name = (struct dec_text){ strings.p + offset, strlen(strings.p + offset) };
	return true;
}

static bool take_section(struct dec_build *b, const struct coff *c, struct dec_text strings,
			 const uint8_t *p, struct dec_host *host)
{
	uint32_t virtual_size = dec_le32(p + 8), size = dec_le32(p + 16), at = dec_le32(p + 20);
	struct dec_span *span;
	struct dec_text name;

	if (c->image && virtual_size && virtual_size < size)
		size = virtual_size; /* the rest is padding up to the file alignment */
	if (size == 0 || at == 0 || !dec_fits(at, size, c->range.size))
		return true;
	if (!section_name(b, strings, p, &name))
		return false;
	span = dec_host_add(b, host, DEC_PLACE_SECTION, c->range.offset + at, size);
	if (span)
		span->name = name;
	return span != NULL;
}

static bool sections_read(struct dec_build *b, const struct coff *c, struct dec_host *host)
{
	struct dec_text strings;

	if (!dec_fits(c->table, c->sections * SECTION, c->range.size))
		return dec_note(
			b, DEC_OWNER_ARTIFACT, DEC_PROBLEM_TRUNCATED, c->range.offset + c->table,
			"section table", DEC_PARTIAL,
			"section table of %llu entries reaches past the end of the file; its "
			"bytes are searched without section names",
			(unsigned long long)c->sections);
	if (!strings_read(b, c, &strings))
		return false;
	for (uint64_t i = 0; i < c->sections; i++) {
		uint8_t section[SECTION];
		struct dec_view v;

		if (!dec_peek(b, &b->head, c->range.offset + c->table + i * SECTION, SECTION, &v))
			return false;
		memcpy(section, v.p, SECTION);
		if (!take_section(b, c, strings, section, host))
			return false;
	}
	return dec_host_finish(b, host);
}

bool dec_host_pe(struct dec_build *b, struct dec_range range, struct dec_host *host)
{
	struct coff c;
	bool plus, ok;

	if (!image_read(b, range, &c, &plus, &ok))
		return false;
	return !ok || sections_read(b, &c, host);
}

bool dec_host_coff(struct dec_build *b, struct dec_range range, struct dec_host *host)
{
	struct coff c;
	bool ok;

	if (!coff_read(b, range, &c, &ok))
		return false;
	return !ok || sections_read(b, &c, host);
}
