/*
 * decode: private header of the examination of payloads.
 *
 * A struct dec_exam is an inspection while it is made. Functions that return bool give
 * false when memory ran out, and everything ends; faults of the payload go to
 * dec_exam_note() and never end the examination of the rest.
 */
#ifndef DEC_INSPECT_INTERNAL_H
#define DEC_INSPECT_INTERNAL_H

#include "arena.h"
#include "inspect.h"
#include "internal.h"
#include "payload.h"
#include "view.h"

struct dec_exam {
	const struct dec_artifact *artifact;
	const struct dec_object *object;
	struct dec_payload payload;
	unsigned wants;
	struct dec_arena *arena; /* of the inspection: all that it keeps */
	struct dec_inspection *out;
	struct dec_kernel *kernels;
	uint32_t kernel_room;
	struct dec_problem *problems;
	uint32_t problem_room;
	uint32_t problems_max;
	uint64_t problems_dropped;
};

/* What a note does to the state: DEC_COMPLETE is a remark, DEC_PARTIAL makes a complete
 * examination partial. dec_exam_malformed() says that nothing can be trusted. */
__attribute__((format(printf, 7, 8))) bool
dec_exam_note(struct dec_exam *x, uint32_t kernel, enum dec_problem_code code, uint64_t offset,
	      const char *field, enum dec_severity severity, const char *format, ...);
__attribute__((format(printf, 5, 6))) bool dec_exam_malformed(struct dec_exam *x,
							      enum dec_problem_code code,
							      uint64_t offset, const char *field,
							      const char *format, ...);

/* Copies text from the payload into the inspection, NUL behind it. */
bool dec_exam_text(struct dec_exam *x, struct dec_view v, struct dec_text *out);
void *dec_exam_array(struct dec_exam *x, size_t count, size_t size);

/* Adds a kernel; its arrays belong to the arena already. *index is its place. */
bool dec_exam_kernel(struct dec_exam *x, const struct dec_kernel *kernel, uint32_t *index);

/* Facts of one kernel, collected on the stack of who examines and then kept. A fact that is
 * set twice keeps the latest value. */
struct dec_facts {
	struct dec_fact list[DEC_FACT_COUNT];
	bool has[DEC_FACT_COUNT];
};
void dec_facts_count(struct dec_facts *f, enum dec_fact_id id, uint64_t value);
void dec_facts_triple(struct dec_facts *f, enum dec_fact_id id, uint32_t x, uint32_t y, uint32_t z);
void dec_facts_text(struct dec_facts *f, enum dec_fact_id id, struct dec_text text);
/* Copies what is set, in the table's order, into the kernel. */
bool dec_facts_keep(struct dec_exam *x, const struct dec_facts *f, struct dec_kernel *kernel);

/* The payload target, with its raw spelling; the first call with the best evidence wins only
 * if callers call it once: formats decide themselves which source counts. */
bool dec_exam_target(struct dec_exam *x, enum dec_evidence evidence,
		     const struct dec_declared *target, struct dec_view raw);

/* ---- one function per representation ---------------------------------------------------- */

bool dec_exam_cubin(struct dec_exam *x); /* cubin.c, cubin_info.c */
bool dec_exam_ptx(struct dec_exam *x); /* ptx.c, ptx_lexer.c */
bool dec_exam_amdgpu(struct dec_exam *x); /* amdgpu.c, amdgpu_meta.c, amdgpu_v2.c ... */

/* ---- elfview.c: an ELF file in memory, 64-bit little-endian ------------------------------ */

struct dec_elfview {
	const struct dec_payload *payload;
	struct dec_elf h;
};

struct dec_elfsection {
	uint64_t index;
	struct dec_view name; /* without NUL; empty when it cannot be read */
	bool named; /* it can; also an empty one */
	uint32_t type, link, info;
	uint64_t flags, addr, offset, size, align, entsize;
	bool inside; /* [offset, offset + size) lies in the file */
	struct dec_range content; /* of the payload; size 0: it has none, or not inside */
};

struct dec_elfsymbol {
	uint64_t index;
	struct dec_view name;
	uint8_t info, other;
	uint16_t shndx;
	uint64_t value, size;
};

/* False: not an ELF file of this kind, or cut inside its header. */
bool dec_elfview_open(const struct dec_payload *payload, struct dec_elfview *elf);
/* True if there is a section table and it lies inside the file. */
bool dec_elfview_has_sections(const struct dec_elfview *elf);
/* False: no such section. */
bool dec_elfview_section(const struct dec_elfview *elf, uint64_t index, struct dec_elfsection *s);
/* Its content; empty where it has none. */
struct dec_view dec_elfview_bytes(const struct dec_elfview *elf, const struct dec_elfsection *s);
/* Program headers likewise. */
bool dec_elfview_segment(const struct dec_elfview *elf, uint64_t index, uint32_t *type,
			 uint64_t *offset, uint64_t *vaddr, uint64_t *filesz, uint64_t *memsz);
/* Symbols of a SHT_SYMTAB or SHT_DYNSYM section; names from its linked string table. */
uint64_t dec_elfview_symbol_count(const struct dec_elfsection *table);
bool dec_elfview_symbol(const struct dec_elfview *elf, const struct dec_elfsection *table,
			const struct dec_elfsection *strings, uint64_t index,
			struct dec_elfsymbol *s);
/* File offset of [vaddr, vaddr + size) through PT_LOAD. False: not mapped from the file. */
bool dec_elfview_address(const struct dec_elfview *elf, uint64_t vaddr, uint64_t size,
			 uint64_t *offset);

#endif
