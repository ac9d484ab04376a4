/*
 * decode: private header of the room. Calls between its files.
 *
 * A struct dec_build is an inventory while it is made. Functions that return bool give
 * false when the whole build must end (memory, read failure): b->err then says why.
 * Faults of the file never end it; they go to dec_note().
 */
#ifndef DEC_INTERNAL_H
#define DEC_INTERNAL_H

#include "arena.h"
#include "decode.h"
#include "view.h"

/* ---- window.c: bounded reads ---------------------------------------------------- */

/* The bytes last read, so that neighbouring small reads cost one call. */
struct dec_window {
	uint8_t *bytes;
	size_t room;
	uint64_t origin;
	size_t len;
};

struct dec_build;

/* The bytes [offset, offset + size), which the caller knows to lie inside the file. The
 * view lasts until the next dec_peek() of the same window. What the search has read is
 * lent to the head window too: only the search itself moves on from it. */
bool dec_peek(struct dec_build *b, struct dec_window *w, uint64_t offset, size_t size,
	      struct dec_view *view);
void dec_window_fini(struct dec_window *w);

/* ---- inventory.c: containers, objects, targets, problems --------------------------- */

struct dec_target_slot {
	struct dec_target target;
	uint32_t next; /* in the hash chain */
};

struct dec_build {
	const struct dec_source *source;
	struct dec_limits limits;
	struct dec_error *err;
	struct dec_arena arena;
	struct dec_window head; /* headers of containers and entries */
	struct dec_window scan; /* the search */
	struct dec_text name;
	enum dec_format format;
	struct dec_container *containers;
	uint32_t container_count, container_room;
	struct dec_object *objects;
	uint32_t object_count, object_room;
	struct dec_problem *problems;
	uint32_t problem_count, problem_room, remark_count;
	uint64_t problems_dropped;
	struct dec_place *places;
	uint32_t place_count, place_room;
	struct dec_target_slot *targets;
	uint32_t target_count, target_room;
	uint32_t *target_hash;
	uint32_t target_hash_size;
	uint64_t header_bytes; /* read of ELF tables, against limits.max_header_bytes */
	uint64_t search_bytes; /* decoded for the inventory, against limits.max_search_bytes */
	unsigned depth; /* archives around what is searched */
	bool object_limit_noted, container_limit_noted, header_limit_noted, search_limit_noted;
	bool partial;
};

/* Owner of a problem: an object, else a container, else the artifact. */
struct dec_owner {
	uint32_t container;
	uint32_t object;
};
#define DEC_OWNER_ARTIFACT ((struct dec_owner){ DEC_NONE, DEC_NONE })

bool dec_fatal(struct dec_build *b, enum dec_status status, int sys_errno, uint64_t offset,
	       const char *field, const char *sentence);

enum dec_severity { DEC_COMPLETE, DEC_PARTIAL }; /* may entries be missing because of it? */

__attribute__((format(printf, 7, 8))) bool dec_note(struct dec_build *b, struct dec_owner owner,
						    enum dec_problem_code code, uint64_t offset,
						    const char *field, enum dec_severity severity,
						    const char *format, ...);

/* A remark on one object, at most one of a kind each, so that max_problems does not count
 * it: an honest library has tens of thousands of scrambled entries. sentence is a literal. */
bool dec_remark(struct dec_build *b, struct dec_owner owner, enum dec_problem_code code,
		uint64_t offset, const char *field, const char *sentence);

/* Copies; an absent text stays absent. */
bool dec_text_copy(struct dec_build *b, const void *p, size_t len, struct dec_text *out);

/* Adds one; *index is DEC_NONE past the limit, which is noted once. */
bool dec_add_container(struct dec_build *b, const struct dec_container *c, uint32_t *index);
bool dec_add_place(struct dec_build *b, const struct dec_place *place, uint32_t *index);

/* What an entry declares as its target. */
struct dec_declared {
	char name[DEC_ENTRY_ID_MAX + 32]; /* normalised spelling; empty: none */
	enum dec_vendor vendor;
	enum dec_target_class class;
	const char *family;
};

/* Adds an object to the container added last. o->container and the target members are
 * filled in from declared; raw may be NULL: spelled as declared. Past the limit *index is
 * DEC_NONE. */
bool dec_add_object(struct dec_build *b, struct dec_object *o, const struct dec_declared *declared,
		    const struct dec_view *raw, uint32_t *index);

/* Spends bytes of max_search_bytes; *ok false when they are used up, which is noted once. */
bool dec_spend_search(struct dec_build *b, uint64_t offset, uint64_t bytes, bool *ok);

/* Applies max_payload and max_ratio to what stored bytes claim to decode to; notes what is
 * past them and sets *past. */
bool dec_limit_decoded(struct dec_build *b, struct dec_owner owner, uint64_t stored,
		       uint64_t decoded, uint64_t field_offset, const char *field,
		       enum dec_severity severity, bool *past);

/* True if some listed object's stored bytes start here: such a hit is no new object. */
bool dec_object_starts_at(const struct dec_build *b, uint64_t offset);

struct dec_artifact *dec_build_finish(struct dec_build *b);
void dec_build_fini(struct dec_build *b);

/* The artifact as dec_open() made it, with what decoding needs later. */
struct dec_inventory {
	struct dec_artifact artifact; /* first: the public part */
	struct dec_source source;
	struct dec_arena arena; /* texts and targets */
	struct dec_container *containers;
	struct dec_object *objects;
	struct dec_problem *problems;
	struct dec_place *places;
};

/* ---- host files --------------------------------------------------------------------- */

/* Named pieces of the host file, sorted by offset, to say where a container lies. */
struct dec_format_row;
struct dec_span {
	struct dec_range range;
	struct dec_text name;
	uint64_t header; /* where its own header is; 0: nobody needs to know */
	enum dec_place_kind kind;
	uint32_t place; /* index once somebody asked, else DEC_NONE */
	const struct dec_format_row *expects; /* what belongs here, NULL: nothing of ours */
	bool entry; /* the whole section is one bundle entry, its id in the section's name */
};
struct dec_host {
	struct dec_span *spans;
	size_t count, room;
};

/* Adds one; NULL: out of memory, b->err is set. */
struct dec_span *dec_host_add(struct dec_build *b, struct dec_host *host, enum dec_place_kind kind,
			      uint64_t offset, uint64_t size);
/* Sorts what a reader collected and looks the names up. */
bool dec_host_finish(struct dec_build *b, struct dec_host *host);
void dec_host_fini(struct dec_host *host);
/* The span that holds offset, NULL: none. */
struct dec_span *dec_host_find(const struct dec_host *host, uint64_t offset);

/* Readers of the file in range: its sections, or what stands in for them. */
bool dec_host_elf(struct dec_build *b, struct dec_range range, struct dec_host *host);
bool dec_host_pe(struct dec_build *b, struct dec_range range, struct dec_host *host);
bool dec_host_coff(struct dec_build *b, struct dec_range range, struct dec_host *host);

/* host_pe.c: what a file that begins so is. */
bool dec_pe_probe(struct dec_build *b, struct dec_range range, bool *is_pe, bool *is_plus);
bool dec_coff_probe(struct dec_build *b, struct dec_range range, bool *is_coff);

/* ---- formats: who claims the bytes after a magic ----------------------------------- */

struct dec_hit {
	uint64_t at; /* where the magic is */
	uint64_t limit; /* end of the file or member that holds it */
	uint32_t place; /* innermost place around it */
	bool expected; /* a place where this format belongs: faults are noted, not skipped */
};

#define DEC_MAGIC_MAX 24
struct dec_format_row {
	const char *name;
	const char *magic; /* at least 4 bytes */
	size_t magic_len;
	const struct dec_format_row *kin; /* stands where that one belongs; NULL: by itself */
	/* Validates the header at hit->at and lists what it holds. *end > hit->at: claimed up
	 * to there. *end == hit->at: not one of ours. */
	bool (*claim)(struct dec_build *b, const struct dec_hit *hit, uint64_t *end);
};

/* A header that is none: a remark, and a partial inventory, only where one belongs. */
bool dec_refuse_header(struct dec_build *b, const struct dec_hit *hit, enum dec_problem_code code,
		       uint64_t offset, const char *field, const char *sentence);

/* formats.def: one row per format that the search looks for. */
#define X(format) extern const struct dec_format_row dec_format_##format;
#include "formats.def"
#undef X

/* scan.c: first offset in bytes where some format's first DEC_SCAN_PREFIX magic bytes are,
 * from start on; len when there is none. */
#define DEC_SCAN_PREFIX 4
size_t dec_scan(const uint8_t *bytes, size_t len, size_t start);

/* fmt_bundle.c: lists the entries of a bundle that a compressed container holds. bytes is
 * the beginning of what it decodes to. *more: the entry table goes on behind them. Nothing
 * is listed then. Otherwise the entries are, as objects of the container added last. */
bool dec_bundle_inner(struct dec_build *b, const struct dec_hit *hit, struct dec_view bytes,
		      uint64_t decoded_size, bool *more);

/* stream.c: decompression of one zlib or zstd stream. */
enum dec_stream_end {
	DEC_STREAM_EXACT, /* decodes to size bytes, no more, no less */
	DEC_STREAM_PREFIX, /* only as far as size bytes, or its end */
};
struct dec_stream {
	const struct dec_source *source;
	struct dec_range stored;
	uint8_t *out;
	size_t size;
	enum dec_stream_end end;
	size_t made; /* bytes written to out */
	struct dec_error *err;
};
bool dec_stream_zstd(struct dec_stream *s);
bool dec_stream_zlib(struct dec_stream *s);
__attribute__((format(printf, 4, 5))) bool dec_stream_fail(struct dec_stream *s,
							   enum dec_problem_code code,
							   uint64_t offset, const char *format,
							   ...);
bool dec_stream_no_memory(struct dec_stream *s);
bool dec_stream_read(struct dec_stream *s, uint64_t at, void *buf, size_t len);

/* Where the stream that begins at offset ends, at most limit; *found false: it is damaged
 * or cut. zstd by its block headers; zlib has to be inflated, to at most size bytes. */
bool dec_zstd_extent(struct dec_build *b, uint64_t offset, uint64_t limit, uint64_t *end,
		     bool *found);
bool dec_zlib_extent(struct dec_build *b, uint64_t offset, uint64_t limit, uint64_t size,
		     uint64_t *end, bool *found);
/* By its first bytes alone. */
bool dec_stream_begins(struct dec_build *b, enum dec_codec codec, struct dec_range stored,
		       bool *yes);

/* fmt_bare.c: lists [hit->at, end) as a bare container with one object. *index may be NULL. */
bool dec_bare_list(struct dec_build *b, const struct dec_hit *hit, uint64_t end, enum dec_kind kind,
		   const struct dec_declared *declared, const struct dec_view *raw,
		   uint32_t *index);

/* fmt_ptx.c: true if the file begins as PTX text; fills the first target. */
bool dec_ptx_head(struct dec_view text, struct dec_declared *declared, struct dec_view *raw);

/* probe.c: what the bytes at range.offset begin as. NULL: nothing that is a format of ours.
 * The row may refuse the file. */
struct dec_probe_row;
bool dec_probe(struct dec_build *b, struct dec_range range, const struct dec_probe_row **row);

struct dec_probe_row {
	enum dec_format format;
	bool container; /* a container by itself: what follows it should be another */
	/* Sections of a host file; NULL: it has none. */
	bool (*host)(struct dec_build *b, struct dec_range range, struct dec_host *host);
	/* Lists the whole range without a search; NULL: it is searched for magics. */
	bool (*list)(struct dec_build *b, const struct dec_hit *hit);
	/* Why such a file is not taken; NULL: it is. */
	const char *refusal;
};

/* search.c: the artifact; a member of an archive, as a file of its own; bytes that are no file,
 * whatever they begin with. */
bool dec_search(struct dec_build *b);
bool dec_search_member(struct dec_build *b, struct dec_range range, uint32_t place);
bool dec_search_bytes(struct dec_build *b, struct dec_range range, uint32_t place);

/* ar.c: every member of the archive, each searched by itself. */
bool dec_ar_list(struct dec_build *b, const struct dec_hit *hit);

/* fmt_bundle.c: the section that span describes, as a bundle of one entry. */
#define DEC_BUNDLE_SECTION_PREFIX "__CLANG_OFFLOAD_BUNDLE__"
bool dec_bundle_section(struct dec_build *b, const struct dec_hit *hit,
			const struct dec_span *span);

/* ---- elf.c: ELF headers and tables, translated by libelf ------------------------------ */

struct dec_elf {
	uint64_t at; /* of the ELF header in the file */
	uint64_t room; /* bytes from there to the end of what may belong to it */
	uint8_t class, data, osabi, abiversion;
	uint16_t type, machine, ehsize, phentsize, shentsize;
	uint32_t version, flags;
	uint64_t phoff, shoff;
	uint64_t phnum, shnum, shstrndx; /* after the escapes of section 0 */
};

struct dec_section {
	uint64_t index;
	uint32_t name, type;
	uint64_t flags, offset, size, align;
};

struct dec_segment {
	uint64_t index;
	uint32_t type;
	uint64_t offset, filesz, align;
};

enum { DEC_EM_CUDA = 190, DEC_EM_AMDGPU = 224 };

/* What the view begins with; false: not an ELF header, or cut inside it. at and room stay. */
bool dec_elf_header(struct dec_view v, struct dec_elf *elf);
/* One record or several of an Elf_Type, at most 4 KiB, to the machine's own form. */
bool dec_elf_translate(void *to, size_t to_size, const void *from, size_t from_size, int elf_type,
		       const struct dec_elf *elf);
/* Whether sections of a type take room in the file. CUDA's relocatable cubins have types of
 * their own that do not, whatever their offset and size (docs/formats/cubin.md). */
bool dec_elf_has_content(const struct dec_elf *elf, uint32_t type);
/* e_shnum 0 and e_shstrndx 0xffff move to section 0 (gABI, "Section Header Table"): whether
 * that is so and its header lies inside; what it says. */
bool dec_elf_has_escapes(const struct dec_elf *elf);
void dec_elf_escapes(struct dec_elf *elf, const uint8_t *section0);

/* The field of the ELF header that keeps a table from lying inside the file; name NULL: it
 * does, or there is none. */
struct dec_elf_field {
	size_t offset; /* in the ELF header */
	const char *name;
};
struct dec_elf_field dec_elf_bad_sections(const struct dec_elf *elf);
struct dec_elf_field dec_elf_bad_segments(const struct dec_elf *elf);
/* The same of the header of a section, or of a segment, that begins at offset and does not lie
 * in the room bytes there are; the field's offset is in that header. */
struct dec_elf_field dec_elf_bad_section(uint64_t offset, uint64_t room);
struct dec_elf_field dec_elf_bad_segment(uint64_t offset, uint64_t room);

/* Reads the header; *ok false: not an ELF file, or cut inside its header. Both classes and
 * byte orders; machine is the little-endian reading, which is how cubins and code objects
 * are told whatever their identification says. */
bool dec_elf_read(struct dec_build *b, uint64_t at, uint64_t limit, struct dec_elf *elf, bool *ok);

/* Walks the tables while visit returns true. *ok false: the table does not lie inside, has
 * another entry size, or max_header_bytes was reached. 64-bit little-endian files only. */
typedef bool (*dec_section_visit)(void *ctx, const struct dec_section *section);
typedef bool (*dec_segment_visit)(void *ctx, const struct dec_segment *segment);
bool dec_elf_sections(struct dec_build *b, const struct dec_elf *elf, dec_section_visit visit,
		      void *ctx, bool *ok);
bool dec_elf_segments(struct dec_build *b, const struct dec_elf *elf, dec_segment_visit visit,
		      void *ctx, bool *ok);

/* The note that v begins with, names and descriptors padded to 4 whatever their section says;
 * v goes on behind it. False: there is none; *broken if there are bytes of one. */
struct dec_elf_note {
	uint32_t type;
	struct dec_view owner; /* NUL and what follows it included */
	struct dec_view desc;
};
bool dec_elf_next_note(struct dec_view *v, struct dec_elf_note *note, bool *broken);

/* ---- targets ------------------------------------------------------------------------ */

/* target_sm.c */
void dec_declare_sm(struct dec_declared *d, enum dec_target_class class, uint32_t sm, char variant);

/* target_amdgpu.c: an entry id "<kind>-<triple>[-<target id>]", or a triple without the
 * kind. Gives the kind of entry beside its target. */
enum dec_kind dec_declare_bundle_id(struct dec_declared *d, const char *id, size_t len);
/* "triple" and "arch" of an offload binary's entry. */
void dec_declare_offload(struct dec_declared *d, const char *triple, const char *arch);
void dec_declare_isa_name(struct dec_declared *d, const char *name, size_t len);
/* e_flags of a code object (amdgpu.md 4.2). */
void dec_declare_amdgpu_flags(struct dec_declared *d, uint32_t flags, uint8_t osabi,
			      uint8_t abiversion);
/* The note of type 3: ISA version (amdgpu.md 5.1). */
void dec_declare_isa_version(struct dec_declared *d, uint32_t major, uint32_t minor,
			     uint32_t stepping);

#endif
