#include "build_words.h"

#include "build.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char payload[] = "sixteen bytes..";
static const struct elf_section sections[] = {
	{ ".text", SHT_PROGBITS, payload, sizeof(payload) },
};

enum { WORDS_MAX = 128, WORD_MAX = 96 };
struct words {
	char w[WORDS_MAX][WORD_MAX];
	size_t count;
};

static const struct {
	const char *prefix;
	unsigned kind;
} entry_kinds[] = {
	{ "sm_", 0x02 },  { "compute_", 0x01 }, { "lto_", 0x08 }, { "fin_", 0x10 },
	{ "rel_", 0x40 }, { "tile_", 0x80 },	{ "idx_", 0x20 }, { "odd_", 0x04 },
};

/* The version of PTX that no word gives: new enough for every target. */
enum { NEWEST_MAJOR = 9, NEWEST_MINOR = 4 };
enum { E_MINOR = 0x18, E_MAJOR = 0x1a };

static void add_entry(struct bytes *b, const char *word)
{
	struct fat_entry e = { .payload = payload, .size = sizeof(payload), .flags = 0x11 };
	unsigned major = NEWEST_MAJOR, minor = NEWEST_MINOR;
	const char *at = strchr(word, '@');
	size_t start = b->len, used;
	char *end;

	for (size_t i = 0; i < COUNT(entry_kinds); i++)
		if (strncmp(word, entry_kinds[i].prefix, strlen(entry_kinds[i].prefix)) == 0)
			e.kind = entry_kinds[i].kind;
	assert_int_not_equal(e.kind, 0);
	e.arch = (uint32_t)strtoul(strchr(word, '_') + 1, &end, 10);
	e.flags |= *end == 'a' ? 0x100000 : *end == 'f' ? 0x200000 : 0;
	if (strstr(word, "+m"))
		e.flags |= 0x1000000;
	if (strstr(word, "+z")) {
		e.flags |= 0x8000;
		e.decoded = sizeof(payload);
	}
	if (strstr(word, "+0"))
		e.size = 0;
	if (strstr(word, "+c"))
		e.options = "-O3 --compile-only ";
	if (at)
		assert_int_equal(sscanf(at, "@%u.%u", &major, &minor), 2);
	/* The entry alone: what stands before it is a region header of its own. */
	add_fatbin(b, &e, 1);
	used = b->len - start - FAT_REGION;
	memmove(b->p + start, b->p + start + FAT_REGION, used);
	b->len = start + used;
	set_le(b, start + E_MAJOR, 2, major);
	set_le(b, start + E_MINOR, 2, minor);
}

static void build_fatbin(struct bytes *b, const struct words *w)
{
	size_t at = add_fatbin(b, NULL, 0);

	for (size_t i = 0; i < w->count; i++)
		add_entry(b, w->w[i]);
	set_le(b, at + 8, 8, b->len - at - FAT_REGION);
}

static void add_id(struct words *ids, const char *before, const char *text, const char *behind)
{
	assert_true(ids->count < WORDS_MAX);
	snprintf(ids->w[ids->count++], WORD_MAX, "%s%s%s", before, text, behind);
}

static void entry_ids(const struct words *w, struct words *ids)
{
	ids->count = 0;
	for (size_t i = 0; i < w->count; i++) {
		const char *word = w->w[i];

		if (strncmp(word, "gfx", 3) == 0)
			add_id(ids, "hipv4-amdgcn-amd-amdhsa--", word, "");
		else if (strcmp(word, "spirv") == 0)
			add_id(ids, "hip-spirv64-amd-amdhsa--amdgcn", word, "");
		else if (strcmp(word, "host") == 0)
			add_id(ids, "", word, "-x86_64-unknown-linux-gnu-");
		else if (strcmp(word, "fill") == 0)
			for (unsigned k = 0; k < 80; k++)
				add_id(ids, "host-x86_64-unknown-linux-gnu-", word, "");
		else
			add_id(ids, "", word, "");
	}
}

static void build_bundle(struct bytes *b, const struct words *w)
{
	static struct words ids;
	struct bundle_entry entries[WORDS_MAX];

	entry_ids(w, &ids);
	for (size_t i = 0; i < ids.count; i++) {
		char *empty = strstr(ids.w[i], "+0");

		if (empty)
			*empty = 0;
		entries[i] =
			(struct bundle_entry){ ids.w[i], payload, empty ? 0 : sizeof(payload) };
	}
	add_bundle(b, entries, ids.count, 8);
}

static void add_packed(struct bytes *b, const struct words *w, size_t cut)
{
	struct bytes inner = { 0 };

	build_bundle(&inner, w);
	inner.len -= cut;
	add_ccob(b, 2, CCOB_ZSTD, &inner);
	bytes_free(&inner);
}

static void build_ccob(struct bytes *b, const struct words *w)
{
	add_packed(b, w, 0);
}

static void build_cut_ccob(struct bytes *b, const struct words *w)
{
	add_packed(b, w, 4);
}

static void build_offload(struct bytes *b, const struct words *w)
{
	struct offload_entry entries[8];
	char texts[8][2][40];

	for (size_t i = 0; i < w->count; i++) {
		entries[i] = (struct offload_entry){ .triple = texts[i][0],
						     .arch = texts[i][1],
						     .image = payload,
						     .size = sizeof(payload) };
		assert_int_equal(sscanf(w->w[i], "%u,%39[^,],%39s", &entries[i].kind, texts[i][0],
					texts[i][1]),
				 3);
	}
	add_offload(b, w->count > 1 ? 2 : 1, entries, w->count, OFFLOAD_PLAIN);
}

static void build_cubin(struct bytes *b, const struct words *w)
{
	char *end;
	uint32_t sm = (uint32_t)strtoul(w->w[0], &end, 10);
	struct elf_head head = { ET_EXEC, 190, 0x41, 8,
				 0x06000002 | sm << 8 | (*end == 'a' ? 8 : 0) };

	if (strstr(end, "+r"))
		head.type = ET_REL;
	add_elf(b, &head, sections, 1, ELF_SECTIONS);
}

static void build_code_object(struct bytes *b, const struct words *w)
{
	char *end;
	struct elf_head head = { ET_DYN, EM_AMDGPU, 64, 3, (uint32_t)strtoul(w->w[0], &end, 16) };

	if (strncmp(end, "+r", 2) == 0)
		head.type = ET_REL;
	else if (strncmp(end, "+os", 3) == 0)
		head.osabi = (uint8_t)atoi(end + 3);
	else if (strncmp(end, "+abi", 4) == 0)
		head.abiversion = (uint8_t)atoi(end + 4);
	add_elf(b, &head, sections, 1, ELF_SECTIONS);
}

static void build_ptx(struct bytes *b, const struct words *w)
{
	add_text(b, ".version 9.0\n.target ");
	add_text(b, w->w[0]);
	add_text(b, "\n.address_size 64\n");
}

static const struct {
	char letter;
	void (*build)(struct bytes *b, const struct words *w);
} builders[] = {
	{ 'F', build_fatbin },	    { 'B', build_bundle },  { 'C', build_ccob },
	{ 'K', build_cut_ccob },    { 'O', build_offload }, { 'U', build_cubin },
	{ 'G', build_code_object }, { 'T', build_ptx },
};

static void build_one(struct bytes *b, char letter, const struct words *w)
{
	if (letter != 'T' && b->len == 0)
		add_text(b, "some text ");
	for (size_t i = 0; i < COUNT(builders); i++) {
		if (builders[i].letter == letter) {
			builders[i].build(b, w);
			return;
		}
	}
	fail_msg("no container is called %c", letter);
}

void build_words(struct bytes *b, const char *spec)
{
	static struct words w;
	char letter = 0;

	while (*spec) {
		size_t len = strcspn(spec, " ");

		if (len == 1 && letter)
			build_one(b, letter, &w);
		if (len == 1) {
			letter = *spec;
			w.count = 0;
		} else {
			assert_true(w.count < WORDS_MAX && len < WORD_MAX);
			snprintf(w.w[w.count++], WORD_MAX, "%.*s", (int)len, spec);
		}
		spec += len + (spec[len] == ' ');
	}
	if (letter)
		build_one(b, letter, &w);
	else
		add_text(b, "nothing of ours");
}
