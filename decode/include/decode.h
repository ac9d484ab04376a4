/*
 * decode: finds GPU code objects in one file and unpacks them.
 *
 * Knows nothing of mounts, JSON or queues. Reads through struct dec_source only, never
 * maps, never runs what it reads. After dec_open() an artifact is immutable, so any
 * number of threads may read it; dec_unpack() takes its own storage and is safe in
 * parallel as long as the source's read function is.
 *
 * Sizes and offsets are bytes. Offsets count from the start of the artifact unless the
 * space says DEC_SPACE_DECODED: then from the start of the container's decoded bytes.
 */
#ifndef DECODE_H
#define DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dec_limits.h"

/* "no index": an object without a target, a problem without an object ... */
#define DEC_NONE UINT32_MAX

/* ---- vocabularies: X(ENUM SUFFIX, "word shown to users") ------------------------- */

#define DEC_FORMAT_LIST(X)                                                                         \
	X(OTHER, "other")                                                                          \
	X(ELF64, "elf64")                                                                          \
	X(PE32PLUS, "pe32plus")                                                                    \
	X(COFF, "coff")                                                                            \
	X(AR, "ar")                                                                                \
	X(FATBIN, "fatbin")                                                                        \
	X(CUBIN, "cubin")                                                                          \
	X(PTX, "ptx")                                                                              \
	X(CODE_OBJECT, "code_object")                                                              \
	X(BUNDLE, "bundle")                                                                        \
	X(COMPRESSED_BUNDLE, "compressed_bundle")                                                  \
	X(OFFLOAD_BINARY, "offload_binary")

#define DEC_VENDOR_LIST(X)                                                                         \
	X(OTHER, "other")                                                                          \
	X(NVIDIA, "nvidia")                                                                        \
	X(AMD, "amd")

#define DEC_CONTAINER_LIST(X)                                                                      \
	X(BARE, "bare")                                                                            \
	X(FATBIN, "fatbin")                                                                        \
	X(BUNDLE, "bundle")                                                                        \
	X(COMPRESSED_BUNDLE, "compressed_bundle")                                                  \
	X(OFFLOAD_BINARY, "offload_binary")

/* What an entry declares itself to be; what the bytes are is found by examining them. */
#define DEC_KIND_LIST(X)                                                                           \
	X(UNKNOWN, "unknown")                                                                      \
	X(CUBIN, "cubin")                                                                          \
	X(PTX, "ptx")                                                                              \
	X(LTO_IR, "lto_ir")                                                                        \
	X(RELOCATABLE_PTX, "relocatable_ptx")                                                      \
	X(TILE_IR, "tile_ir")                                                                      \
	X(INDEX, "index")                                                                          \
	X(CODE_OBJECT, "code_object")                                                              \
	X(BITCODE, "bitcode")                                                                      \
	X(SPIRV, "spirv")                                                                          \
	X(OBJECT, "object")                                                                        \
	X(HOST, "host")

#define DEC_CODEC_LIST(X)                                                                          \
	X(NONE, "none")                                                                            \
	X(LZ4, "lz4")                                                                              \
	X(ZSTD, "zstd")                                                                            \
	X(ZLIB, "zlib")                                                                            \
	X(UNSUPPORTED, "unsupported")

/* Where an object's declared target was written. */
#define DEC_TARGET_KIND_LIST(X)                                                                    \
	X(FATBIN_ENTRY, "fatbin_entry")                                                            \
	X(BUNDLE_ID, "bundle_id")                                                                  \
	X(OFFLOAD_ARCH, "offload_arch")                                                            \
	X(STANDALONE, "standalone")

/* What sort of target a name is. */
#define DEC_TARGET_CLASS_LIST(X)                                                                   \
	X(OTHER, "other")                                                                          \
	X(SM, "sm")                                                                                \
	X(COMPUTE, "compute")                                                                      \
	X(LTO, "lto")                                                                              \
	X(GFX, "gfx")                                                                              \
	X(GFX_GENERIC, "gfx_generic")                                                              \
	X(SPIRV, "spirv")

#define DEC_SPACE_LIST(X)                                                                          \
	X(ARTIFACT, "artifact")                                                                    \
	X(DECODED, "decoded")

#define DEC_PLACE_LIST(X)                                                                          \
	X(FILE, "file")                                                                            \
	X(MEMBER, "member")                                                                        \
	X(SECTION, "section")                                                                      \
	X(SEGMENT, "segment")

#define DEC_PROBLEM_LIST(X)                                                                        \
	X(TRUNCATED, "truncated")                                                                  \
	X(OUT_OF_BOUNDS, "out_of_bounds")                                                          \
	X(OVERLAP, "overlap")                                                                      \
	X(BAD_MAGIC, "bad_magic")                                                                  \
	X(UNSUPPORTED_VERSION, "unsupported_version")                                              \
	X(UNSUPPORTED_CODEC, "unsupported_codec")                                                  \
	X(SCRAMBLED, "scrambled")                                                                  \
	X(LIMIT, "limit")                                                                          \
	X(DECODE_FAILED, "decode_failed")                                                          \
	X(SIZE_MISMATCH, "size_mismatch")                                                          \
	X(HASH_MISMATCH, "hash_mismatch")                                                          \
	X(MALFORMED_ELF, "malformed_elf")                                                          \
	X(MALFORMED_NOTE, "malformed_note")                                                        \
	X(MALFORMED_METADATA, "malformed_metadata")                                                \
	X(MALFORMED_PTX, "malformed_ptx")                                                          \
	X(MALFORMED_INFO, "malformed_info")                                                        \
	X(DUPLICATE_KERNEL, "duplicate_kernel")                                                    \
	X(TARGET_CONFLICT, "target_conflict")                                                      \
	X(NOTE_FLAGS_DISAGREE, "note_flags_disagree")                                              \
	X(DESCRIPTOR_DISAGREES, "descriptor_disagrees")                                            \
	X(EXTERNAL_CODE, "external_code")                                                          \
	X(NAME_NOT_UTF8, "name_not_utf8")                                                          \
	X(UNLISTED, "unlisted")                                                                    \
	X(UNSUPPORTED_REPRESENTATION, "unsupported_representation")

enum dec_format {
#define X(s, w) DEC_FORMAT_##s,
	DEC_FORMAT_LIST(X)
#undef X
};
enum dec_vendor {
#define X(s, w) DEC_VENDOR_##s,
	DEC_VENDOR_LIST(X)
#undef X
};
enum dec_container_kind {
#define X(s, w) DEC_CONTAINER_##s,
	DEC_CONTAINER_LIST(X)
#undef X
};
enum dec_kind {
#define X(s, w) DEC_KIND_##s,
	DEC_KIND_LIST(X)
#undef X
};
enum dec_codec {
#define X(s, w) DEC_CODEC_##s,
	DEC_CODEC_LIST(X)
#undef X
};
enum dec_target_kind {
#define X(s, w) DEC_TARGET_##s,
	DEC_TARGET_KIND_LIST(X)
#undef X
};
enum dec_target_class {
#define X(s, w) DEC_CLASS_##s,
	DEC_TARGET_CLASS_LIST(X)
#undef X
};
enum dec_space {
#define X(s, w) DEC_SPACE_##s,
	DEC_SPACE_LIST(X)
#undef X
};
enum dec_place_kind {
#define X(s, w) DEC_PLACE_##s,
	DEC_PLACE_LIST(X)
#undef X
};
enum dec_problem_code {
#define X(s, w) DEC_PROBLEM_##s,
	DEC_PROBLEM_LIST(X)
#undef X
};

/* The word for a value; a string literal, "?" for a value outside the list. */
const char *dec_format_word(enum dec_format v);
const char *dec_vendor_word(enum dec_vendor v);
const char *dec_container_word(enum dec_container_kind v);
const char *dec_kind_word(enum dec_kind v);
const char *dec_codec_word(enum dec_codec v);
const char *dec_target_kind_word(enum dec_target_kind v);
const char *dec_class_word(enum dec_target_class v);
const char *dec_space_word(enum dec_space v);
const char *dec_place_word(enum dec_place_kind v);
const char *dec_problem_word(enum dec_problem_code v);

/* ---- the inventory ---------------------------------------------------------------- */

/* len bytes of text from the file, any bytes at all; p[len] is NUL. p is never NULL; an
 * absent text has p == dec_absent. */
struct dec_text {
	const char *p;
	size_t len;
};
extern const char dec_absent[1];
static inline bool dec_text_present(struct dec_text t)
{
	return t.p != dec_absent;
}

struct dec_range {
	uint64_t offset;
	uint64_t size;
};

/* Problems of one container or object, a chain through dec_problem.next. */
struct dec_problem_list {
	uint32_t first; /* DEC_NONE: no problem */
	uint32_t last;
};

struct dec_problem {
	enum dec_problem_code code;
	uint64_t offset; /* of the field that is wrong */
	const char *field; /* string literal naming it */
	struct dec_text message; /* one sentence, with what was expected */
	uint32_t container; /* index, DEC_NONE: the artifact's own */
	uint32_t object; /* index, DEC_NONE: the container's own */
	uint32_t next; /* in the chain of the same owner */
	bool partial; /* entries may be missing from the inventory because of it */
};

/* What lies around a container in the file. */
struct dec_place {
	enum dec_place_kind kind;
	struct dec_text name; /* absent for a segment */
	struct dec_range range;
	uint32_t outer; /* index of the place around this one, DEC_NONE: outermost */
};

struct dec_container {
	enum dec_container_kind kind;
	enum dec_codec codec;
	uint64_t version; /* of the header; 0 where the format has none */
	uint64_t entries; /* as counted or declared; object_count of them are listed */
	uint64_t decoded_size; /* compressed containers: bytes after decoding; else 0 */
	uint64_t hash; /* low half of their MD5, as stored, not checked; valid if has_hash */
	uint64_t hash_offset; /* of the field */
	bool has_hash;
	bool past_limit; /* compressed container whose decoded bytes are not given */
	struct dec_range range; /* the whole container in the artifact */
	struct dec_range stream; /* compressed containers: the compressed bytes in it */
	uint64_t verbatim; /* bytes of the container that stand before the decoded ones */
	uint32_t place; /* innermost place */
	uint32_t first_object;
	uint32_t object_count;
	struct dec_problem_list problems;
};

struct dec_object {
	enum dec_vendor vendor;
	enum dec_kind kind;
	enum dec_codec codec;
	enum dec_target_kind target_kind;
	enum dec_space space; /* of header and encoded */
	bool has_payload; /* false: unsupported codec, past a limit; a problem says why */
	bool scrambled; /* payload is enciphered (fatbin flag 0x10000) */
	bool has_version;
	uint16_t version_major; /* fatbin: PTX ISA, cubin or NVVM container version */
	uint16_t version_minor;
	uint16_t elf_type; /* bare ELF: e_type and two bytes of e_ident; 0 elsewhere */
	uint8_t elf_osabi;
	uint8_t elf_abiversion;
	uint32_t entry_kind; /* fatbin: the number in the header */
	uint64_t codec_flags; /* fatbin: the flags word; 0 elsewhere */
	struct dec_text target; /* normalised spelling; absent: none is declared (host entry) */
	struct dec_text target_raw; /* as spelled in the file */
	struct dec_text identifier; /* fatbin: source file name or module id */
	struct dec_text options; /* fatbin: command line of the compiler */
	uint64_t payload_size; /* declared size after decoding */
	struct dec_range header; /* the entry's own header; size 0: it has none */
	struct dec_range encoded; /* stored bytes, clipped to what exists */
	uint32_t container;
	uint32_t entry_index; /* position in the container */
	uint32_t target_index; /* DEC_NONE: no target */
	struct dec_problem_list problems;
};

struct dec_target {
	struct dec_text name;
	enum dec_vendor vendor;
	enum dec_target_class class;
	const char *family; /* common name of the architecture, NULL: not known */
	const uint32_t *objects; /* ascending indexes */
	uint32_t object_count;
};

struct dec_artifact {
	struct dec_text name;
	uint64_t size;
	enum dec_format format;
	bool partial; /* some problem has .partial set */
	const struct dec_container *containers; /* by position */
	uint32_t container_count;
	const struct dec_object *objects; /* by container, then by entry */
	uint32_t object_count;
	const struct dec_target *targets; /* sorted by name, bytewise */
	uint32_t target_count;
	const struct dec_problem *problems; /* in the order found, all owners */
	uint32_t problem_count;
	const struct dec_place *places;
	uint32_t place_count;
};

/* ---- reading ---------------------------------------------------------------------- */

/* Random access to the artifact. read() fills all of buf or fails: 0, or a negative
 * errno. decode never asks for a byte at or past size. ctx must outlive the artifact. */
struct dec_source {
	int (*read)(void *ctx, uint64_t offset, void *buf, size_t len);
	void *ctx;
	uint64_t size;
};

enum dec_status {
	DEC_OK,
	DEC_E_NOMEM, /* memory ran out */
	DEC_E_READ, /* the source failed; sys_errno says how */
	DEC_E_REFUSED, /* a kind of file that this program does not take */
	DEC_E_DATA, /* the bytes of the payload are broken */
};

struct dec_error {
	enum dec_status status;
	int sys_errno; /* positive, 0 where it has none */
	enum dec_problem_code code; /* DEC_E_DATA: which kind of fault */
	uint64_t offset;
	const char *field;
	char sentence[192];
};

/* The defaults of dec_limits.h. */
struct dec_limits dec_limits_default(void);

/*
 * Searches the whole file and builds the inventory; examines no payload. A fault of the
 * file is a problem of the artifact, not an error. name (any bytes) is copied.
 * Returns NULL with *err set when memory or the source fails, or for a file that is
 * refused. The caller owns the artifact until dec_close().
 */
struct dec_artifact *dec_open(const struct dec_source *source, const char *name,
			      const struct dec_limits *limits, struct dec_error *err);
void dec_close(struct dec_artifact *artifact);

/*
 * Decodes one compressed object of the artifact's space into out, which has payload_size
 * bytes. Writes nothing past that. False with *err set: broken stream, sizes that differ,
 * read failure; out is then undefined. Stored payloads (DEC_CODEC_NONE) need no decoding:
 * read their encoded range, of the artifact or of the container's decoded bytes.
 */
bool dec_unpack(const struct dec_artifact *artifact, uint32_t object, void *out,
		struct dec_error *err);

/*
 * Decodes a compressed container into out, which has decoded_size bytes: the space that
 * its objects' ranges count in. Same rules. dec_can_decode() says whether a container has
 * such bytes at all: compressed, by a known codec, within the limits.
 */
bool dec_can_decode(const struct dec_artifact *artifact, uint32_t container);
bool dec_unpack_container(const struct dec_artifact *artifact, uint32_t container, void *out,
			  struct dec_error *err);

#endif
