/* Builders of inputs, from the layouts in docs/formats. Each gives the offset of its first byte. */
#ifndef TESTS_SUPPORT_BUILD_H
#define TESTS_SUPPORT_BUILD_H

#include "bytes.h"

/* ---- compressed streams, by the libraries themselves -------------------------------- */

size_t add_lz4(struct bytes *b, const void *p, size_t len);
size_t add_zlib(struct bytes *b, const void *p, size_t len);
/* One block that is not compressed: 7 bytes, what is packed, 4 bytes. At most 65535 bytes. */
size_t add_zlib_stored(struct bytes *b, const void *p, size_t len);
enum { ZSTD_PLAIN = 0, ZSTD_CHECKSUM = 1, ZSTD_NO_SIZE = 2 };
size_t add_zstd(struct bytes *b, const void *p, size_t len, unsigned options);
size_t add_skippable(struct bytes *b, size_t len);

/* ---- fatbin --------------------------------------------------------------------------- */

enum {
	FAT_REGION = 16, /* offset of the first entry */
	FAT_ENTRY = 64, /* size of the fixed part of an entry header */
};

struct fat_entry {
	unsigned kind;
	uint32_t arch;
	uint64_t flags;
	const void *payload; /* as stored; padded to 8 */
	size_t size;
	uint64_t decoded; /* uncompressed_size; compressed_size is size when a codec flag is set */
	const char *name;
	const char *options;
};

size_t add_fatbin(struct bytes *b, const struct fat_entry *entries, size_t count);

/* ---- bundles ---------------------------------------------------------------------------- */

struct bundle_entry {
	const char *id;
	const void *payload;
	size_t size;
};

/* Payloads at multiples of align, counted from the bundle's start. */
size_t add_bundle(struct bytes *b, const struct bundle_entry *entries, size_t count, size_t align);

enum { CCOB_ZLIB = 0, CCOB_ZSTD = 1 };
size_t add_ccob(struct bytes *b, unsigned version, unsigned method, const struct bytes *inner);

struct offload_entry {
	unsigned kind;
	const char *triple;
	const char *arch;
	const void *image;
	size_t size;
};

enum offload_codec { OFFLOAD_PLAIN, OFFLOAD_ZLIB, OFFLOAD_ZSTD };
size_t add_offload(struct bytes *b, unsigned version, const struct offload_entry *entries,
		   size_t count, enum offload_codec codec);

/* ---- ELF ---------------------------------------------------------------------------------- */

struct elf_head {
	uint16_t type, machine;
	uint8_t osabi, abiversion;
	uint32_t flags;
};

struct elf_section {
	const char *name;
	uint32_t type; /* SHT_... */
	const void *p;
	size_t size;
};

enum elf_tables {
	ELF_SECTIONS, /* section headers last, as linkers write them */
	ELF_SEGMENTS, /* program headers alone, one for each section */
	ELF_BARE, /* neither */
};
size_t add_elf(struct bytes *b, const struct elf_head *head, const struct elf_section *sections,
	       size_t count, enum elf_tables tables);

enum { ELF_EHDR = 64, ELF_SHDR = 64, ELF_PHDR = 56 };

/* Notes, padded to 4 */
size_t add_note(struct bytes *b, const char *owner, uint32_t type, const void *desc, size_t size);

/* ---- other hosts ---------------------------------------------------------------------------- */

size_t add_ar(struct bytes *b); /* the global magic */
/* name as it stands in the header, at most 16 bytes */
size_t add_member(struct bytes *b, const char *name, const void *p, size_t len);

struct coff_section {
	const char *name; /* as in the header, at most 8 bytes */
	const void *p;
	size_t size;
	size_t padding; /* raw bytes behind them */
};
/* strings is the string table without its size, or NULL: no symbol table either. */
size_t add_coff(struct bytes *b, const struct coff_section *sections, size_t count,
		const char *strings);
size_t add_bigobj(struct bytes *b, const struct coff_section *sections, size_t count,
		  const char *strings);
/* An image: PE32 or PE32+ */
size_t add_pe(struct bytes *b, const struct coff_section *sections, size_t count, int plus);

#endif
