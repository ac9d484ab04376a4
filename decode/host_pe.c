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
	OPTIONAL_32 = 0x10b,
	OPTIONAL_PLUS_SIZE = 112, /* without directories, whose number is the last field */
	OPTIONAL_32_SIZE = 96,
	OPTIONAL_MIN = 96,
	DIRECTORY = 8,
	OFF_OPTIONAL_SIZE = 16, /* in the COFF header */
	OFF_SECTION_COUNT = 2,
	OFF_SYMBOLS = 8,
	OFF_BIGOBJ_SYMBOLS = 0x30,
	OFF_SECTION_ALIGN = 32, /* in the optional header, as the next two */
	OFF_IMAGE_SIZE = 56,
	OFF_HEADERS_SIZE = 60,
	OFF_VIRTUAL_SIZE = 8, /* in a section's header, as the next two */
	OFF_RAW_SIZE = 16,
	OFF_RAW_AT = 20,
	NAME_SIZE = 8,
	PAGE = 4096, /* sections are aligned to at least one, but in drivers */
};

static const uint8_t bigobj_class[16] = { 0xc7, 0xa1, 0xba, 0xd1, 0xee, 0xba, 0xa9, 0x4b,
					  0xaf, 0x20, 0xfa, 0xf6, 0x6a, 0xa4, 0xdc, 0xb8 };

/* What is wrong about a header that can be read all the same, or about what no header is. */
struct fault {
	enum dec_problem_code code;
	uint64_t offset; /* from the file's start */
	const char *field;
	const char *sentence;
};

struct coff {
	struct dec_range range; /* the file */
	uint64_t table; /* section table, from the file's start */
	uint64_t sections;
	uint64_t strings; /* string table, from the file's start; 0: none */
	bool image; /* a section's extent is the smaller of its two sizes */
	uint16_t machine;
	uint32_t align; /* of sections in memory, at least a page */
	bool noted; /* a section that does not lie in the file has been */
	bool remarked; /* one whose sizes do not agree */
	struct fault fault; /* the first one; field NULL: none */
	uint64_t header; /* the COFF header, from the file's start */
	uint64_t symbols_at; /* the field that says where the symbols are */
	uint16_t optional; /* bytes between it and the section table */
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
			bool *ok)
{
	struct dec_view v;

	if (!read_at(b, file, offset, COFF_HEADER, &v, ok) || !*ok)
		return !*ok;
	*c = (struct coff){
		.range = file,
		.header = offset,
		.machine = dec_le16(v.p),
		.align = PAGE,
		.symbols_at = offset + OFF_SYMBOLS,
		.optional = dec_le16(v.p + OFF_OPTIONAL_SIZE),
		.table = offset + COFF_HEADER + dec_le16(v.p + OFF_OPTIONAL_SIZE),
		.sections = dec_le16(v.p + 2),
		.strings = strings_at(dec_le32(v.p + 8), dec_le32(v.p + 12), SYMBOL),
	};
	return true;
}

static void fault(struct coff *c, enum dec_problem_code code, uint64_t offset, const char *field,
		  const char *sentence)
{
	if (!c->fault.field)
		c->fault = (struct fault){ code, offset, field, sentence };
}

static bool is_64_bit(uint16_t machine)
{
	/* x64, arm64 and its two hybrids, IA-64, EFI byte code, RISC-V, LoongArch */
	static const uint16_t machines[] = { 0x8664, 0xaa64, 0xa641, 0xa64e,
					     0x0200, 0x0ebc, 0x5064, 0x6264 };

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machine == machines[i])
			return true;
	return false;
}

/* Fields of the optional header at p against those of the COFF header. */
static void check_against(struct coff *c, const uint8_t *p, bool plus)
{
	if (dec_le32(p + OFF_SECTION_ALIGN) > c->align)
		c->align = dec_le32(p + OFF_SECTION_ALIGN);
	if (c->sections == 0 && dec_le32(p + OFF_IMAGE_SIZE) > dec_le32(p + OFF_HEADERS_SIZE))
		fault(c, DEC_PROBLEM_OUT_OF_BOUNDS, c->header + OFF_SECTION_COUNT,
		      "NumberOfSections",
		      "the image is larger than its headers, and has no sections there");
	if (plus && !is_64_bit(c->machine))
		fault(c, DEC_PROBLEM_BAD_MAGIC, c->header, "Machine",
		      "PE32+ images are for machines of 64 bits, which this is not known to be");
}

/* Its size follows from its magic and from the number of directories at its end. */
static bool optional_read(struct dec_build *b, struct dec_range file, struct coff *c, bool *plus)
{
	uint64_t at = c->header + COFF_HEADER;
	bool inside = dec_fits(at, c->optional, file.size), ok;
	size_t fixed;
	uint16_t magic;
	struct dec_view v;

	if (!inside || c->optional < OPTIONAL_MIN) {
		fault(c, inside ? DEC_PROBLEM_OUT_OF_BOUNDS : DEC_PROBLEM_TRUNCATED,
		      c->header + OFF_OPTIONAL_SIZE, "SizeOfOptionalHeader",
		      inside ? "the optional header has no room for what an image needs"
			     : "the optional header reaches past the end of the file");
		return true;
	}
	if (!read_at(b, file, at, OPTIONAL_MIN, &v, &ok))
		return false;
	magic = dec_le16(v.p);
	*plus = magic == OPTIONAL_PLUS;
	if (!*plus && magic != OPTIONAL_32) {
		fault(c, DEC_PROBLEM_BAD_MAGIC, at, "optional header magic",
		      "the optional header is neither PE32 nor PE32+");
		return true;
	}
	check_against(c, v.p, *plus);
	fixed = *plus ? OPTIONAL_PLUS_SIZE : OPTIONAL_32_SIZE;
	if (!read_at(b, file, at + fixed - 4, 4, &v, &ok) || !ok)
		return !ok;
	if (c->optional != fixed + (uint64_t)dec_le32(v.p) * DIRECTORY)
		fault(c, DEC_PROBLEM_SIZE_MISMATCH, c->header + OFF_OPTIONAL_SIZE,
		      "SizeOfOptionalHeader",
		      "the size is not that of its directories; the section table is read behind "
		      "it");
	return true;
}

/* *ok false with c->fault set: the file begins as an image does, and is none. */
static bool image_read(struct dec_build *b, struct dec_range file, struct coff *c, bool *plus,
		       bool *ok)
{
	struct dec_view v;
	uint64_t at;

	*c = (struct coff){ .range = file };
	if (!read_at(b, file, 0, DOS_HEADER, &v, ok) || !*ok)
		return !*ok;
	*ok = dec_starts(v, "MZ", 2);
	at = dec_le32(v.p + OFF_LFANEW);
	if (!*ok)
		return true;
	if (!read_at(b, file, at, 4 + COFF_HEADER, &v, ok))
		return false;
	if (!*ok)
		fault(c, DEC_PROBLEM_OUT_OF_BOUNDS, OFF_LFANEW, "e_lfanew",
		      "the PE header does not lie in the file, which is searched without section "
		      "names");
	else if (!(*ok = dec_starts(v, "PE\0\0", 4)))
		fault(c, DEC_PROBLEM_BAD_MAGIC, at, "PE signature",
		      "no PE header stands where e_lfanew says; the file is searched without "
		      "section names");
	if (!*ok)
		return true;
	if (!header_read(b, file, at + 4, c, ok) || !*ok)
		return !*ok;
	c->image = true;
	return optional_read(b, file, c, plus);
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
		.symbols_at = OFF_BIGOBJ_SYMBOLS,
		.table = BIGOBJ_HEADER,
		.sections = dec_le32(v.p + 0x2c),
		.strings = strings_at(dec_le32(v.p + OFF_BIGOBJ_SYMBOLS), dec_le32(v.p + 0x34),
				      BIGOBJ_SYMBOL),
	};
	return true;
}

/* An object has no magic: a known machine, no optional header, tables inside the file. */
static bool object_read(struct dec_build *b, struct dec_range file, struct coff *c, bool *ok)
{
	static const uint16_t machines[] = { 0x8664, 0xaa64, 0x014c };
	struct dec_view v;
	uint16_t machine;
	bool known = false;

	if (!read_at(b, file, 0, 2, &v, ok) || !*ok)
		return !*ok;
	machine = dec_le16(v.p);
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		known |= machine == machines[i];
	if (!header_read(b, file, 0, c, ok) || !*ok)
		return !*ok;
	*ok = known && c->optional == 0 && c->sections > 0 && c->strings <= file.size;
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

/* What begins as an image and is none is one for dec_host_pe() to say so. */
bool dec_pe_probe(struct dec_build *b, struct dec_range range, bool *is_pe, bool *is_plus)
{
	struct coff c;

	*is_plus = false;
	if (!image_read(b, range, &c, is_plus, is_pe))
		return false;
	*is_pe |= c.fault.field != NULL;
	return true;
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

/* The first one: where one is wrong there are more, usually. */
static bool note_section(struct dec_build *b, struct coff *c, uint64_t index, uint32_t at)
{
	bool begins = at <= c->range.size;

	if (c->noted)
		return true;
	c->noted = true;
	return dec_note(b, DEC_OWNER_ARTIFACT, DEC_PROBLEM_OUT_OF_BOUNDS,
			c->range.offset + c->table + index * SECTION +
				(begins ? OFF_RAW_SIZE : OFF_RAW_AT),
			begins ? "SizeOfRawData" : "PointerToRawData", DEC_PARTIAL,
			"section %llu does not lie in the file, which is searched all the same",
			(unsigned long long)index);
}

/* The first one, as above; nothing is lost by it. */
static bool remark_section(struct dec_build *b, struct coff *c, enum dec_problem_code code,
			   uint64_t index, size_t offset, const char *field, const char *sentence)
{
	if (c->remarked)
		return true;
	c->remarked = true;
	return dec_note(b, DEC_OWNER_ARTIFACT, code,
			c->range.offset + c->table + index * SECTION + offset, field, DEC_COMPLETE,
			"section %llu %s", (unsigned long long)index, sentence);
}

/* What of a section's raw data counts in an image: the rest is padding up to the alignment in
 * the file, so it is no longer than what the last page in memory leaves. */
static bool image_size(struct dec_build *b, struct coff *c, uint64_t index, const uint8_t *p,
		       uint32_t *size)
{
	uint32_t virtual_size = dec_le32(p + OFF_VIRTUAL_SIZE), raw = *size;
	uint32_t at = dec_le32(p + OFF_RAW_AT);
	bool inside = dec_fits(at, raw, c->range.size);

	if (!c->image || virtual_size == 0 || virtual_size >= raw)
		return true;
	if (inside && raw - virtual_size >= c->align)
		return remark_section(b, c, DEC_PROBLEM_SIZE_MISMATCH, index, OFF_VIRTUAL_SIZE,
				      "VirtualSize", "has more raw bytes than padding needs");
	*size = virtual_size;
	return inside || !dec_fits(at, virtual_size, c->range.size) ||
	       remark_section(b, c, DEC_PROBLEM_OUT_OF_BOUNDS, index, OFF_RAW_SIZE, "SizeOfRawData",
			      "has padding that does not lie in the file");
}

static bool take_section(struct dec_build *b, struct coff *c, struct dec_text strings,
			 uint64_t index, const uint8_t *p, struct dec_host *host)
{
	uint32_t size = dec_le32(p + OFF_RAW_SIZE), at = dec_le32(p + OFF_RAW_AT);
	struct dec_span *span;
	struct dec_text name;

	if (size == 0 || at == 0)
		return true;
	if (!image_size(b, c, index, p, &size))
		return false;
	if (!dec_fits(at, size, c->range.size))
		return note_section(b, c, index, at);
	if (!section_name(b, strings, p, &name))
		return false;
	span = dec_host_add(b, host, DEC_PLACE_SECTION, c->range.offset + at, size);
	if (span)
		span->name = name;
	return span != NULL;
}

static bool sections_read(struct dec_build *b, struct coff *c, struct dec_host *host)
{
	struct dec_text strings;

	if (!dec_fits(c->table, c->sections * SECTION, c->range.size))
		return c->fault.field != NULL ||
		       dec_note(b, DEC_OWNER_ARTIFACT, DEC_PROBLEM_TRUNCATED,
				c->range.offset + c->header + OFF_SECTION_COUNT, "NumberOfSections",
				DEC_PARTIAL,
				"section table of %llu entries reaches past the end of the file; "
				"its bytes are searched without section names",
				(unsigned long long)c->sections);
	if (c->strings > c->range.size &&
	    !dec_note(b, DEC_OWNER_ARTIFACT, DEC_PROBLEM_OUT_OF_BOUNDS,
		      c->range.offset + c->symbols_at, "PointerToSymbolTable", DEC_PARTIAL,
		      "the string table at %llu does not lie in the file: long section names are "
		      "not known",
		      (unsigned long long)c->strings))
		return false;
	if (!strings_read(b, c, &strings))
		return false;
	for (uint64_t i = 0; i < c->sections; i++) {
		uint8_t section[SECTION];
		struct dec_view v;

		if (!dec_peek(b, &b->head, c->range.offset + c->table + i * SECTION, SECTION, &v))
			return false;
		memcpy(section, v.p, SECTION);
		if (!take_section(b, c, strings, i, section, host))
			return false;
	}
	return dec_host_finish(b, host);
}

/* What loses section names may lose what only they tell of. */
static bool note_fault(struct dec_build *b, const struct coff *c)
{
	bool loses = c->fault.code == DEC_PROBLEM_TRUNCATED ||
		     c->fault.code == DEC_PROBLEM_OUT_OF_BOUNDS;

	return !c->fault.field ||
	       dec_note(b, DEC_OWNER_ARTIFACT, c->fault.code, c->range.offset + c->fault.offset,
			c->fault.field, loses ? DEC_PARTIAL : DEC_COMPLETE, "%s",
			c->fault.sentence);
}

bool dec_host_pe(struct dec_build *b, struct dec_range range, struct dec_host *host)
{
	struct coff c;
	bool plus, ok;

	if (!image_read(b, range, &c, &plus, &ok) || !note_fault(b, &c))
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
