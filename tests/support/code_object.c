#include "code_object.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

void mp_map(struct bytes *b, unsigned pairs)
{
	add_le(b, 1, 0x80 | pairs);
}

void mp_map16(struct bytes *b, unsigned pairs)
{
	add_le(b, 1, 0xde);
	add_le(b, 1, pairs >> 8);
	add_le(b, 1, pairs & 0xff);
}

void mp_array16(struct bytes *b, unsigned count)
{
	add_le(b, 1, 0xdc);
	add_le(b, 1, count >> 8);
	add_le(b, 1, count & 0xff);
}

void mp_array(struct bytes *b, unsigned count)
{
	add_le(b, 1, 0x90 | count);
}

void mp_text(struct bytes *b, const char *text)
{
	size_t len = strlen(text);

	if (len < 32) {
		add_le(b, 1, 0xa0 | len);
	} else {
		add_le(b, 1, 0xd9);
		add_le(b, 1, len);
	}
	add_text(b, text);
}

void mp_uint(struct bytes *b, uint32_t n)
{
	if (n < 128) {
		add_le(b, 1, n);
		return;
	}
	add_le(b, 1, 0xce);
	for (int shift = 24; shift >= 0; shift -= 8)
		add_le(b, 1, n >> shift & 0xff);
}

void mp_pair(struct bytes *b, const char *key, uint32_t n)
{
	mp_text(b, key);
	mp_uint(b, n);
}

void mp_texts(struct bytes *b, const char *key, const char *value)
{
	mp_text(b, key);
	mp_text(b, value);
}

/* ---- a linked object --------------------------------------------------------------------------- */

struct symbol {
	uint32_t name;
	unsigned type, shndx;
	uint64_t value, size;
};

static const char names[] = "\0k\0k.kd\0";
static const struct symbol of_v5[] = {
	{ 0, 0, 0, 0, 0 },
	{ 1, STT_FUNC, 3, BASE + TEXT, 80 },
	{ 3, STT_OBJECT, 2, BASE + KD, 64 },
};
static const struct symbol of_v2[] = {
	{ 0, 0, 0, 0, 0 },
	{ 1, 10, 3, BASE + TEXT, 256 + 80 },
};

static void pad_until(struct bytes *b, size_t at)
{
	if (b->len > at)
		abort();
	add_zeros(b, at - b->len);
}

static void add_program_header(struct bytes *b, size_t index, unsigned type, uint64_t offset,
			       uint64_t size)
{
	size_t at = PHDR + index * 56;

	set_le(b, at, 4, type);
	set_le(b, at + 8, 8, offset);
	set_le(b, at + 16, 8, BASE + offset);
	set_le(b, at + 32, 8, size);
	set_le(b, at + 40, 8, size);
}

static void add_section_header(struct bytes *b, unsigned type, uint64_t offset, uint64_t size,
			       unsigned link)
{
	size_t at = add_zeros(b, 64);

	set_le(b, at + 4, 4, type);
	set_le(b, at + 16, 8, type ? BASE + offset : 0);
	set_le(b, at + 24, 8, offset);
	set_le(b, at + 32, 8, size);
	set_le(b, at + 40, 4, link);
	set_le(b, at + 56, 8, type == SHT_SYMTAB ? 24 : 0);
}

static void add_descriptor(struct bytes *b)
{
	size_t at = add_zeros(b, 64);

	set_le(b, at, 4, 400);
	set_le(b, at + 4, 4, 16);
	set_le(b, at + 8, 4, 280);
	set_le(b, at + 16, 8, TEXT - KD);
	set_le(b, at + 44, 4, 5);
	set_le(b, at + 48, 4, 0x00af0045); /* 6 * 8 VGPRs and 2 * 8 SGPRs */
	set_le(b, at + 52, 4, 0x8d);
	set_le(b, at + 56, 2, 0x9);
}

static void add_kernel_code(struct bytes *b)
{
	size_t at = add_zeros(b, 256);

	set_le(b, at, 4, 1);
	set_le(b, at + 16, 8, 256);
	set_le(b, at + 48, 4, 0xac0041);
	set_le(b, at + 52, 4, 0x8c);
	set_le(b, at + 56, 4, 0xa0009);
	set_le(b, at + 60, 4, 16);
	set_le(b, at + 64, 4, 400);
	set_le(b, at + 72, 8, 280);
	set_le(b, at + 84, 2, 10);
	set_le(b, at + 86, 2, 41);
	set_le(b, at + 100, 1, 3);
	set_le(b, at + 103, 1, 6);
}

static void add_symbols(struct bytes *b, const struct symbol *symbols, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		add_le(b, 4, symbols[i].name);
		add_le(b, 1, STB_GLOBAL << 4 | symbols[i].type);
		add_le(b, 1, 0);
		add_le(b, 2, symbols[i].shndx);
		add_le(b, 8, symbols[i].value);
		add_le(b, 8, symbols[i].size);
	}
}

static void add_dynamic(struct bytes *b)
{
	static const uint64_t entries[][2] = {
		{ DT_SYMTAB, BASE + SYM },
		{ DT_STRTAB, BASE + STR },
		{ DT_STRSZ, sizeof(names) },
		{ DT_HASH, BASE + HASH },
		{ DT_NULL, 0 },
	};

	for (size_t i = 0; i < COUNT(entries); i++) {
		add_le(b, 8, entries[i][0]);
		add_le(b, 8, entries[i][1]);
	}
}

void add_linked(struct bytes *b, unsigned abi, uint32_t flags, const struct bytes *notes)
{
	const struct symbol *symbols = abi ? of_v5 : of_v2;
	size_t count = abi ? COUNT(of_v5) : COUNT(of_v2);
	static const struct elf_head head = { ET_DYN, 224, 64, 0, 0 };

	add_elf(b, &head, NULL, 0, ELF_BARE);
	set_le(b, 8, 1, abi);
	set_le(b, 48, 4, flags);
	add_zeros(b, 3 * 56);
	add_bytes(b, notes);
	pad_until(b, KD);
	add_descriptor(b);
	pad_until(b, TEXT);
	if (abi == 0)
		add_kernel_code(b);
	add_fill(b, 0xbf, 80);
	pad_until(b, SYM);
	add_symbols(b, symbols, count);
	pad_until(b, STR);
	add(b, names, sizeof(names));
	pad_until(b, HASH);
	add_le(b, 4, 1);
	add_le(b, 4, count);
	pad_until(b, DYN);
	add_dynamic(b);
	add_program_header(b, 0, PT_LOAD, 0, b->len);
	add_program_header(b, 1, PT_NOTE, NOTE, notes->len);
	add_program_header(b, 2, PT_DYNAMIC, DYN, 5 * 16);
	set_le(b, 32, 8, PHDR);
	set_le(b, 56, 2, 3);
	set_le(b, 40, 8, b->len);
	set_le(b, 60, 2, 6);
	add_section_header(b, SHT_NULL, 0, 0, 0);
	add_section_header(b, SHT_NOTE, NOTE, notes->len, 0);
	add_section_header(b, SHT_PROGBITS, KD, 64, 0);
	add_section_header(b, SHT_PROGBITS, TEXT, 256 + 80, 0);
	add_section_header(b, SHT_SYMTAB, SYM, count * 24, 5);
	add_section_header(b, SHT_STRTAB, STR, sizeof(names), 0);
}
