/*
 * decode: private header of the examination of AMDGPU code objects, calls between its files.
 * docs/formats/amdgpu.md.
 */
#ifndef DEC_AMDGPU_H
#define DEC_AMDGPU_H

#include "inspect_internal.h"
#include "values.h"

enum {
	DEC_OSABI_AMDHSA = 64,
	DEC_OSABI_AMDPAL = 65,
	DEC_OSABI_MESA3D = 66,
	DEC_ABI_V2 = 0, /* and the finalizer's V1 */
	DEC_ABI_V3 = 1,
	DEC_ABI_V6 = 4,
	DEC_STT_AMDGPU_KERNEL = 10,
};

/* What the notes of the metadata are written in. */
enum dec_amdgpu_language { DEC_AMDGPU_MSGPACK, DEC_AMDGPU_YAML };

struct dec_amdgpu_note {
	struct dec_view owner; /* without its NUL */
	uint32_t type;
	struct dec_view desc;
};

struct dec_amdgpu_symbol {
	struct dec_view name;
	uint64_t hash;
	uint64_t index;
	uint64_t value, size;
	uint16_t shndx;
	uint8_t type;
	bool used; /* by a kernel of the metadata */
};

/* Where the symbols are. */
struct dec_amdgpu_symbols {
	struct dec_amdgpu_symbol *list; /* by index in their table, undefined ones left out */
	struct dec_amdgpu_symbol **sorted; /* by hash and name */
	size_t count;
	uint64_t origin; /* of the table, for problems */
};

/* One code object while it is examined. */
struct dec_amdgpu {
	struct dec_exam *x;
	struct dec_elfview elf;
	struct dec_arena scratch; /* until the examination ends */
	struct dec_amdgpu_note *notes;
	uint32_t note_count, note_room;
	struct dec_amdgpu_symbols symbols;
	struct dec_declared target; /* of the payload; name empty: none */
	uint64_t *kernel_offsets; /* where each is listed, for problems */
	uint32_t kernel_offset_room;
	uint64_t args_left; /* of DEC_ARGS_MAX */
	uint64_t names_left; /* of DEC_KERNEL_NAMES_MAX, for kernels that only symbols name */
	bool segments_broken; /* addresses lead nowhere, or not all of them lead anywhere */
	bool kernel_limit_noted, args_limit_noted;
	bool metadata_whole; /* some metadata was read to its end */
};

/* amdgpu_note.c: collects the notes, each once. */
bool dec_amdgpu_notes(struct dec_amdgpu *g);
bool dec_amdgpu_note_is(const struct dec_amdgpu_note *note, const char *owner, uint32_t type);
/* The note of a metadata map, and its language. */
bool dec_amdgpu_note_metadata(const struct dec_amdgpu_note *note,
			      enum dec_amdgpu_language *language);

/* amdgpu_target.c: what the notes and the flags declare. */
bool dec_amdgpu_target(struct dec_amdgpu *g);

/* amdgpu_symbol.c */
bool dec_amdgpu_symbols(struct dec_amdgpu *g);
/* The first one of that name, NULL: none. */
struct dec_amdgpu_symbol *dec_amdgpu_symbol(const struct dec_amdgpu *g, struct dec_text name);
/* Where the symbol's bytes lie in the payload. False: not in it, *range stays. */
bool dec_amdgpu_locate(const struct dec_amdgpu *g, const struct dec_amdgpu_symbol *symbol,
		       uint64_t skip, uint64_t size, struct dec_range *range);
/* Remarks on every kernel whose name an earlier one has. */
bool dec_amdgpu_duplicates(struct dec_amdgpu *g);

/* amdgpu.c: adds a kernel that is listed at offset. *index is DEC_NONE past DEC_KERNELS_MAX,
 * which is noted once. */
bool dec_amdgpu_kernel(struct dec_amdgpu *g, const struct dec_kernel *kernel, uint64_t offset,
		       uint32_t *index);

/* amdgpu_meta.c: the kernels that a metadata note lists. */
bool dec_amdgpu_metadata(struct dec_amdgpu *g, const struct dec_amdgpu_note *note,
			 enum dec_amdgpu_language language);
/* The amdhsa.target of a map; of no type TEXT where it has none. */
void dec_amdgpu_metadata_target(const struct dec_amdgpu_note *note, struct dec_value *value);

/*
 * amdgpu_descriptor.c: adds to f what the 64 bytes at symbol say, and fills in the kernel's
 * ranges. Compares them with what f holds from the metadata; bare: there is no metadata, the
 * descriptor's word stands for all.
 */
bool dec_amdgpu_descriptor(struct dec_amdgpu *g, uint32_t kernel,
			   const struct dec_amdgpu_symbol *symbol, struct dec_facts *f, bool bare);

/* amdgpu_kernel_code.c: the same of amd_kernel_code_t in code objects V1 and V2, without a
 * comparison. */
bool dec_amdgpu_kernel_code(struct dec_amdgpu *g, uint32_t kernel,
			    const struct dec_amdgpu_symbol *symbol, struct dec_facts *f, bool bare);

/* amdgpu_tree.c: everything that is known as a tree for display. */
bool dec_amdgpu_tree(struct dec_amdgpu *g);

#endif
