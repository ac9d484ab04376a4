#include "build.h"

#include <stdio.h>
#include <string.h>

size_t add_ar(struct bytes *b)
{
	return add_text(b, "!<arch>\n");
}

size_t add_member(struct bytes *b, const char *name, const void *p, size_t len)
{
	char header[61];
	size_t at = b->len;

	snprintf(header, sizeof(header), "%-16.16s%-12d%-6d%-6d%-8d%-10zu`\n", name, 0, 0, 0,
		 100644, len);
	add_text(b, header);
	add(b, p, len);
	add(b, "\n", len % 2);
	return at;
}

enum { SECTION = 40 };

/* The table's records at b->len, the raw data behind it. Gives the end of the data. */
static void add_table(struct bytes *b, size_t at, const struct coff_section *sections, size_t count)
{
	size_t table = add_zeros(b, count * SECTION);

	for (size_t i = 0; i < count; i++) {
		size_t record = table + i * SECTION, len = strlen(sections[i].name);

		memcpy(b->p + record, sections[i].name, len < 8 ? len : 8);
		set_le(b, record + 8, 4, sections[i].size);
		set_le(b, record + 16, 4, sections[i].size + sections[i].padding);
		set_le(b, record + 20, 4, b->len - at);
		add(b, sections[i].p, sections[i].size);
		add_zeros(b, sections[i].padding);
	}
}

static void add_strings(struct bytes *b, const char *strings)
{
	add_le(b, 4, 4 + strlen(strings) + 1);
	add(b, strings, strlen(strings) + 1);
}

size_t add_coff(struct bytes *b, const struct coff_section *sections, size_t count,
		const char *strings)
{
	size_t at = add_le(b, 2, 0x8664);

	add_le(b, 2, count);
	add_zeros(b, 16);
	add_table(b, at, sections, count);
	if (strings) {
		set_le(b, at + 8, 4, b->len - at);
		set_le(b, at + 12, 4, 1);
		add_zeros(b, 18);
		add_strings(b, strings);
	}
	return at;
}

size_t add_bigobj(struct bytes *b, const struct coff_section *sections, size_t count,
		  const char *strings)
{
	size_t at = add(b, "\0\0\xff\xff\2\0\x64\x86\0\0\0\0", 12);

	add(b, "\xc7\xa1\xba\xd1\xee\xba\xa9\x4b\xaf\x20\xfa\xf6\x6a\xa4\xdc\xb8", 16);
	add_zeros(b, 28);
	set_le(b, at + 0x2c, 4, count);
	add_table(b, at, sections, count);
	if (strings) {
		set_le(b, at + 0x30, 4, b->len - at);
		set_le(b, at + 0x34, 4, 1);
		add_zeros(b, 20);
		add_strings(b, strings);
	}
	return at;
}

size_t add_pe(struct bytes *b, const struct coff_section *sections, size_t count, int plus)
{
	enum { LFANEW = 0x40, OPTIONAL_PLUS = 112, OPTIONAL = 96 };
	size_t optional = plus ? OPTIONAL_PLUS : OPTIONAL;
	size_t at = add_text(b, "MZ"), header;

	add_zeros(b, LFANEW - 2);
	set_le(b, at + 0x3c, 4, LFANEW);
	add(b, "PE\0\0", 4);
	header = add_le(b, 2, 0x8664);
	add_le(b, 2, count);
	add_zeros(b, 16);
	set_le(b, header + 16, 2, optional);
	add_le(b, 2, plus ? 0x20b : 0x10b);
	add_zeros(b, optional - 2);
	add_table(b, at, sections, count);
	return at;
}
