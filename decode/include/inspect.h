/*
 * decode, second half: examining one payload. What its bytes are, which target they
 * declare, whether that agrees with the inventory, which kernels are in it and what they
 * need. Works on bytes in memory, so it never waits for a disk.
 *
 * Sizes are bytes. Offsets of ranges count from the payload's start. Offsets of problems
 * count from the artifact's start for a payload stored there, else from the payload's.
 */
#ifndef DEC_INSPECT_H
#define DEC_INSPECT_H

#include "decode.h"

/* ---- vocabularies: X(ENUM SUFFIX, "word shown to users") ------------------------- */

#define DEC_REPRESENTATION_LIST(X)                                                                 \
	X(UNKNOWN, "unknown")                                                                      \
	X(CUBIN, "cubin")                                                                          \
	X(PTX, "ptx")                                                                              \
	X(LTO_IR, "lto_ir")                                                                        \
	X(AMDGPU_ELF, "amdgpu_elf")                                                                \
	X(LLVM_BITCODE, "llvm_bitcode")                                                            \
	X(LLVM_BITCODE_WRAPPED, "llvm_bitcode_wrapped")                                            \
	X(SPIRV, "spirv")                                                                          \
	X(EMPTY, "empty")                                                                          \
	X(ELF_OTHER, "elf_other")

#define DEC_STATE_LIST(X)                                                                          \
	X(UNEXAMINED, "unexamined")                                                                \
	X(COMPLETE, "complete")                                                                    \
	X(PARTIAL, "partial")                                                                      \
	X(UNSUPPORTED, "unsupported")                                                              \
	X(MALFORMED, "malformed")

#define DEC_EVIDENCE_LIST(X)                                                                       \
	X(NONE, "none")                                                                            \
	X(CUBIN_FLAGS, "cubin_flags")                                                              \
	X(CUBIN_COMPAT, "cubin_compat")                                                            \
	X(CUBIN_TKINFO, "cubin_tkinfo")                                                            \
	X(PTX_TARGET, "ptx_target")                                                                \
	X(AMDGPU_NOTE, "amdgpu_note")                                                              \
	X(AMDGPU_FLAGS, "amdgpu_flags")

#define DEC_CONSISTENCY_LIST(X)                                                                    \
	X(UNEXAMINED, "unexamined")                                                                \
	X(SINGLE_SOURCE, "single_source")                                                          \
	X(MATCH, "match")                                                                          \
	X(BASE_ONLY, "base_only")                                                                  \
	X(CONFLICT, "conflict")                                                                    \
	X(UNKNOWN, "unknown")

enum dec_representation {
#define X(s, w) DEC_REPRESENTATION_##s,
	DEC_REPRESENTATION_LIST(X)
#undef X
};
enum dec_state {
#define X(s, w) DEC_STATE_##s,
	DEC_STATE_LIST(X)
#undef X
};
/* Where a payload target was read. */
enum dec_evidence {
#define X(s, w) DEC_EVIDENCE_##s,
	DEC_EVIDENCE_LIST(X)
#undef X
};
enum dec_consistency {
#define X(s, w) DEC_CONSISTENCY_##s,
	DEC_CONSISTENCY_LIST(X)
#undef X
};

const char *dec_representation_word(enum dec_representation v);
const char *dec_state_word(enum dec_state v);
const char *dec_evidence_word(enum dec_evidence v);
const char *dec_consistency_word(enum dec_consistency v);

/* ---- values ------------------------------------------------------------------------ */

/* A piece of metadata: the AMDGPU map as it is, or what other formats say, as a tree. Maps
 * keep the file's order and repeated keys. */
enum dec_meta_type {
	DEC_META_NIL,
	DEC_META_BOOL, /* u */
	DEC_META_UINT, /* u */
	DEC_META_INT, /* i, negative */
	DEC_META_FLOAT, /* f */
	DEC_META_TEXT, /* text */
	DEC_META_HEX, /* u, shown as "0x..." */
	DEC_META_BYTES, /* text: bytes to be shown in hex */
	DEC_META_ARRAY, /* items */
	DEC_META_MAP, /* items, each with a key */
};
struct dec_meta {
	enum dec_meta_type type;
	struct dec_text key; /* in a map; keys that are no text are shown as their text form */
	union {
		uint64_t u;
		int64_t i;
		double f;
		struct dec_text text;
		struct {
			const struct dec_meta *items;
			uint32_t count;
		};
	};
};

/* ---- kernels ------------------------------------------------------------------------ */

/*
 * Facts of one kernel in the vendor's own terms; resources.def has one row per fact:
 * X(ENUM SUFFIX, "json key", shape). A kernel lists those it has, in the table's order.
 */
enum dec_shape { DEC_SHAPE_COUNT, DEC_SHAPE_BOOL, DEC_SHAPE_TRIPLE, DEC_SHAPE_TEXT, DEC_SHAPE_HEX };
enum dec_fact_id {
#define X(s, key, shape) DEC_FACT_##s,
#include "resources.def"
#undef X
	DEC_FACT_COUNT,
};
const char *dec_fact_key(enum dec_fact_id id);
enum dec_shape dec_fact_shape(enum dec_fact_id id);

struct dec_fact {
	enum dec_fact_id id;
	union {
		uint64_t u;
		uint32_t triple[3];
		struct dec_text text;
	};
};

/* One argument or parameter. Texts are absent, numbers DEC_UNSTATED where the format does
 * not say. */
#define DEC_UNSTATED UINT64_MAX
struct dec_arg {
	struct dec_text name;
	struct dec_text type;
	struct dec_text kind; /* value kind (AMDGPU): by_value, global_buffer, hidden_... */
	struct dec_text address_space;
	struct dec_text access;
	uint64_t offset;
	uint64_t size;
	uint64_t align; /* of the pointee where it is a pointer, else of the value */
};

struct dec_kernel {
	struct dec_text name; /* exact, mangled as in the file; empty: it has none, never absent */
	struct dec_text symbol; /* of the descriptor (AMDGPU), absent elsewhere */
	const struct dec_fact *facts;
	uint32_t fact_count;
	const struct dec_arg *args;
	uint32_t arg_count;
	struct dec_range code; /* machine code, or PTX text from its first directive to the
				* closing brace; size 0: not known */
	struct dec_range descriptor; /* 64 bytes (AMDGPU V3+), else size 0 */
	struct dec_problem_list problems; /* in the inspection's array */
};

/* The fact, NULL: the kernel does not have it. */
const struct dec_fact *dec_kernel_fact(const struct dec_kernel *kernel, enum dec_fact_id id);

/* ---- one payload ---------------------------------------------------------------------- */

struct dec_inspection {
	enum dec_representation representation;
	enum dec_state state;
	enum dec_evidence evidence; /* of payload_target */
	enum dec_consistency consistency;
	struct dec_text payload_target; /* normalised; absent: none found */
	struct dec_text payload_target_raw; /* as spelled in the payload */
	const struct dec_kernel *kernels; /* in the order of the payload */
	uint32_t kernel_count;
	/* .object is the kernel's index or DEC_NONE; .partial: made the state partial. */
	const struct dec_problem *problems;
	uint32_t problem_count;
	const struct dec_meta *metadata; /* NULL unless asked for */
	size_t memory; /* bytes that the inspection takes */
};

#define DEC_WANT_METADATA 1u

/*
 * Examines the payload of one object: its decoded bytes, which must stay unchanged during
 * the call and may go afterwards. Faults of the payload are problems, never a failure:
 * NULL only when memory runs out. The caller owns the inspection.
 */
struct dec_inspection *dec_inspect(const struct dec_artifact *artifact, uint32_t object,
				   const void *payload, size_t size, unsigned wants,
				   struct dec_error *err);

/*
 * The same of a payload that is read as far as it is looked at: of a code object of megabytes
 * its tables, notes and descriptors. payload gives its bytes, from 0 on; room has size bytes
 * for them, undefined before and after. NULL also when a read fails.
 */
struct dec_inspection *dec_inspect_source(const struct dec_artifact *artifact, uint32_t object,
					  const struct dec_source *payload, void *room,
					  unsigned wants, struct dec_error *err);

/* The inspection of an object whose payload cannot be given or did not decode: why is the
 * error of dec_unpack(), or NULL for one without a payload. */
struct dec_inspection *dec_inspect_without(const struct dec_artifact *artifact, uint32_t object,
					   const struct dec_error *why, struct dec_error *err);

void dec_inspection_free(struct dec_inspection *inspection);

/* ---- comparing targets ------------------------------------------------------------------ */

/*
 * Declared against observed, by the rules of docs/formats/targets.md. declared may be
 * empty; kind is the object's. Both spellings may be raw: they are normalised here.
 */
enum dec_consistency dec_compare_targets(enum dec_target_kind kind, const char *declared,
					 enum dec_evidence evidence, const char *observed);

#endif
