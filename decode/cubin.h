/* decode: private header of the examination of cubins. docs/formats/cubin.md. */
#ifndef DEC_CUBIN_H
#define DEC_CUBIN_H

#include "exam_kernels.h"
#include "inspect_internal.h"

enum { DEC_CUBIN_ABI_7 = 7, DEC_CUBIN_ABI_8 = 8 };
enum { DEC_CUBIN_FLAG_SM, DEC_CUBIN_FLAG_ACCELERATOR, DEC_CUBIN_FLAG_OTHER };

/* Extensible whole program: e_type of `ptxas -ewp`. */
#define DEC_ET_EWP 0xff00

enum { DEC_SHT_NV_INFO = 0x70000000, DEC_SHT_NV_COMPAT = 0x70000086 };

/* Sections that belong to one .text section, as indexes; 0: there is none. */
struct dec_cubin_parts {
	uint32_t info, constant0, shared;
	bool taken; /* info is some kernel's */
	bool symbol; /* a function lies in it */
};

struct dec_cubin_kernel {
	uint64_t symbol; /* index */
	uint64_t text; /* section index, 0: unknown */
	uint32_t info; /* section index of its attributes, 0: it has none of its own */
	struct dec_view name;
	uint64_t value, size;
	uint8_t binding;
	bool bound; /* binding is known */
	bool has_registers, has_frame, has_min_stack;
	uint32_t registers, frame, min_stack;
	uint32_t index; /* in the inspection, DEC_NONE: not listed */
};

/* One parameter as .nv.info tells it. */
struct dec_cubin_param {
	uint32_t ordinal, offset, size;
	uint32_t word; /* of KPARAM_INFO; 0 for V2, which says nothing more */
};

struct dec_cubin {
	struct dec_exam *x;
	struct dec_elfview elf;
	unsigned abi; /* which layout */
	uint32_t sm;
	bool accelerator; /* by the flags */
	struct dec_elfsection *sections;
	uint64_t section_count;
	struct dec_cubin_parts *parts; /* by section index */
	uint32_t *texts; /* sections named .text.*, sorted by name */
	uint32_t text_count;
	bool named; /* section names can be read */
	uint64_t symtab, strtab, shndx; /* section indexes, 0: there is none */
	uint64_t symbol_count;
	struct dec_cubin_kernel *kernels; /* by symbol */
	uint32_t kernel_count, kernel_room;
	struct dec_cubin_param *params; /* of the kernel at hand */
	uint32_t param_count, param_room;
	struct dec_kernel_budget budget;
};

/* One record of .nv.info or .nv.compat. */
struct dec_info_record {
	uint8_t format, attribute;
	uint32_t value; /* formats 2 and 3 */
	struct dec_view bytes; /* format 4 */
	uint64_t at; /* as problems count */
};
enum { DEC_INFO_BARE = 1, DEC_INFO_BYTE, DEC_INFO_HALF, DEC_INFO_SIZED };

/* Takes the next record off v. False at the end, or at a fault: *fault says which, NULL: the
 * end; v then begins with what is wrong. */
bool dec_info_next(struct dec_view *v, struct dec_info_record *record, const char **fault);

/* True for the attributes of the whole module. */
bool dec_cubin_is_module_info(const struct dec_cubin *c, const struct dec_elfsection *s);

/* ---- cubin_sections.c: the section table and what belongs together ------------------------ */

/* Where a field of a section header or symbol is, as problems count. */
uint64_t dec_cubin_section_at(const struct dec_cubin *c, uint64_t section, size_t field);
uint64_t dec_cubin_symbol_at(const struct dec_cubin *c, uint64_t symbol, size_t field);

/* The name behind ".text." of a section; empty: not such a section. */
struct dec_view dec_cubin_function(const struct dec_elfsection *s);

bool dec_cubin_load_sections(struct dec_cubin *c);

/* ---- cubin_target.c ----------------------------------------------------------------------- */

/* ABI, flags and target; the target only once the sections, if any, are loaded. */
bool dec_cubin_read_flags(struct dec_cubin *c);
bool dec_cubin_find_target(struct dec_cubin *c);

/* dec_elf_next_note(), with type 0 for notes that are not NVIDIA's. */
enum { DEC_NT_CUINFO = 1000, DEC_NT_TKINFO = 2000 };
bool dec_cubin_next_note(struct dec_view *v, struct dec_elf_note *note, bool *broken);

enum {
	DEC_TKINFO_OBJECT,
	DEC_TKINFO_TOOL,
	DEC_TKINFO_VERSION,
	DEC_TKINFO_BUILD,
	DEC_TKINFO_COMMAND,
	DEC_TKINFO_STRINGS
};
/* A string of a tkinfo note, empty where it cannot be read. */
struct dec_view dec_cubin_tkinfo(struct dec_view desc, unsigned which);

/* ---- cubin_kernels.c, cubin_info.c --------------------------------------------------------- */

/* Finds the kernels and lists them; then their facts. */
bool dec_cubin_find_kernels(struct dec_cubin *c);
bool dec_cubin_module_info(struct dec_cubin *c);
bool dec_cubin_kernel_facts(struct dec_cubin *c, struct dec_cubin_kernel *k);

/* ---- cubin_meta.c --------------------------------------------------------------------------- */

bool dec_cubin_metadata(struct dec_cubin *c);

#endif
