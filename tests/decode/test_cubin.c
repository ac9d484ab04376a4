/* Cubins built from the layouts in docs/formats/cubin.md, whole and broken. */
#include "build.h"
#include "inspected.h"

#include <elf.h>
#include <stdlib.h>

/* Sections of the built file, by index. */
enum {
	STRTAB = 1,
	SYMTAB,
	NV_INFO,
	TEXT_K,
	INFO_K,
	CONSTANT0_K,
	SHARED_K,
	COMPAT,
	TKINFO,
	CUINFO,
	NAMES,
	SECTIONS,
};

/* Symbols */
enum { SYM_F = 1, SYM_K, SYM_BANK, SYMBOLS };

struct spec {
	uint16_t type; /* 0: ET_EXEC */
	uint8_t abi;
	uint32_t flags;
	uint32_t version; /* e_version; 0: 1 */
	uint32_t shared; /* size of .nv.shared.k; 0: no such section */
	unsigned compat; /* attribute 9; NO_COMPAT: there is none */
	const char *command; /* in tkinfo; NULL: no such note */
	bool abi7_barriers; /* in sh_flags of .text.k */
	bool plain; /* .nv.info.k says nothing */
};
#define NO_COMPAT 9

static void put_shdr(struct bytes *b, unsigned section, size_t field, unsigned width,
		     uint64_t value)
{
	uint64_t shoff = 0;

	memcpy(&shoff, b->p + offsetof(Elf64_Ehdr, e_shoff), sizeof(shoff));
	set_le(b, (size_t)le64toh(shoff) + section * sizeof(Elf64_Shdr) + field, width, value);
}

static void add_symbol(struct bytes *b, unsigned name, unsigned info, unsigned other,
		       unsigned section, uint64_t value, uint64_t size)
{
	add_le(b, 4, name);
	add_le(b, 1, info);
	add_le(b, 1, other);
	add_le(b, 2, section);
	add_le(b, 8, value);
	add_le(b, 8, size);
}

static void add_pair(struct bytes *b, unsigned attribute, uint32_t symbol, uint32_t value)
{
	add_le(b, 4, 4 | attribute << 8 | 8 << 16);
	add_le(b, 4, symbol);
	add_le(b, 4, value);
}

static void add_param(struct bytes *b, unsigned ordinal, unsigned offset, uint32_t word)
{
	add_le(b, 4, 0x000c1704);
	add_le(b, 4, 0);
	add_le(b, 2, ordinal);
	add_le(b, 2, offset);
	add_le(b, 4, word);
}

static void add_triple(struct bytes *b, unsigned attribute, uint32_t x, uint32_t y, uint32_t z)
{
	add_le(b, 4, 4 | attribute << 8 | 12 << 16);
	add_le(b, 4, x);
	add_le(b, 4, y);
	add_le(b, 4, z);
}

static void build_module_info(struct bytes *b)
{
	add_pair(b, 0x2f, SYM_K, 40);
	add_pair(b, 0x11, SYM_K, 24);
	add_pair(b, 0x12, SYM_K, 32);
	add_pair(b, 0x2f, SYM_F, 7); /* no kernel */
}

/* As annex A.4 has it, and what a kernel of a cluster has beside. */
static void build_kernel_info(struct bytes *b)
{
	add_le(b, 4, 0x00043704); /* CUDA_API_VERSION */
	add_le(b, 4, 130);
	add_param(b, 2, 0x10, 0x0021f505); /* generic, pointee 32: size 8 */
	add_param(b, 1, 0x08, 0x0009f000); /* size 2 */
	add_param(b, 0, 0, 0x0021f000); /* size 8 */
	add_le(b, 4, 0x00801b03); /* MAXREG_COUNT 128 */
	add_le(b, 4, 0x00024c02); /* NUM_BARRIERS */
	add_triple(b, 0x05, 256, 1, 1);
	add_triple(b, 0x3d, 2, 1, 1);
	add_le(b, 4, 0x00003e01); /* EXPLICIT_CLUSTER */
	add_le(b, 4, 0x00183c03 - 0x2300); /* CBANK_PARAM_SIZE 0x18 */
	add_le(b, 4, 0x00080a04); /* PARAM_CBANK */
	add_le(b, 4, SYM_BANK);
	add_le(b, 4, 0x00180210);
	add_le(b, 4, 0x00046104); /* not known */
	add_le(b, 4, 5);
}

static void build_tkinfo(struct bytes *b, const char *command)
{
	struct bytes desc = { 0 };
	static const char strings[] = "\0ptxas\0release 13.0\0build 1";

	add_le(&desc, 4, 2);
	add_le(&desc, 4, 0);
	add_le(&desc, 4, 1);
	add_le(&desc, 4, 7);
	add_le(&desc, 4, 20);
	add_le(&desc, 4, sizeof(strings));
	add(&desc, strings, sizeof(strings));
	add(&desc, command, strlen(command) + 1);
	add_note(b, "NVIDIA Corp", 2000, desc.p, desc.len);
	bytes_free(&desc);
}

static void patch_headers(struct bytes *b, const struct spec *s)
{
	put_shdr(b, SYMTAB, offsetof(Elf64_Shdr, sh_link), 4, STRTAB);
	put_shdr(b, SYMTAB, offsetof(Elf64_Shdr, sh_entsize), 8, sizeof(Elf64_Sym));
	put_shdr(b, TEXT_K, offsetof(Elf64_Shdr, sh_info), 4, SYM_K | 40u << 24);
	if (s->abi7_barriers)
		put_shdr(b, TEXT_K, offsetof(Elf64_Shdr, sh_flags), 8, 0x300006);
	put_shdr(b, INFO_K, offsetof(Elf64_Shdr, sh_info), 4, TEXT_K);
	put_shdr(b, CONSTANT0_K, offsetof(Elf64_Shdr, sh_info), 4, TEXT_K);
	put_shdr(b, SHARED_K, offsetof(Elf64_Shdr, sh_info), 4, TEXT_K);
	put_shdr(b, SHARED_K, offsetof(Elf64_Shdr, sh_size), 8, s->shared);
	if (!s->shared)
		put_shdr(b, SHARED_K, offsetof(Elf64_Shdr, sh_type), 4, SHT_NULL);
	if (!s->shared)
		put_shdr(b, SHARED_K, offsetof(Elf64_Shdr, sh_name), 4, 0);
	set_le(b, offsetof(Elf64_Ehdr, e_version), 4, s->version ? s->version : 1);
}

static void build(struct bytes *b, const struct spec *s)
{
	static const char names[] = "\0f\0k\0bank";
	static const uint8_t code[256], bank[0x228];
	static const uint8_t cuinfo[] = { 2, 0, 90, 0, 130, 0, 0, 0 };
	struct bytes symbols = { 0 }, module = { 0 }, kernel = { 0 }, compat = { 0 };
	struct bytes tkinfo = { 0 }, info = { 0 };

	add_symbol(&symbols, 0, 0, 0, 0, 0, 0);
	add_symbol(&symbols, 1, STT_FUNC, 0, TEXT_K, 192, 64);
	add_symbol(&symbols, 3, STB_GLOBAL << 4 | STT_FUNC, 0x10, TEXT_K, 0, 192);
	add_symbol(&symbols, 5, STT_SECTION, 0, CONSTANT0_K, 0, 0);
	build_module_info(&module);
	if (s->plain)
		add(&kernel, "\x03\x50\0\0", 4); /* says nothing that is shown */
	else
		build_kernel_info(&kernel);
	add_le(&compat, 4, 0x00010202);
	if (s->compat != NO_COMPAT)
		add_le(&compat, 4, 0x00000902 | (uint64_t)s->compat << 16);
	if (s->command)
		build_tkinfo(&tkinfo, s->command);
	add_note(&info, "NVIDIA Corp", 1000, cuinfo, sizeof(cuinfo));
	add_elf(b,
		&(struct elf_head){ s->type ? s->type : ET_EXEC, EM_CUDA, s->abi < 8 ? 0x33 : 0x41,
				    s->abi, s->flags },
		(struct elf_section[]){
			{ ".strtab", SHT_STRTAB, names, sizeof(names) },
			{ ".symtab", SHT_SYMTAB, symbols.p, symbols.len },
			{ ".nv.info", 0x70000000, module.p, module.len },
			{ ".text.k", SHT_PROGBITS, code, sizeof(code) },
			{ ".nv.info.k", 0x70000000, kernel.p, kernel.len },
			{ ".nv.constant0.k", SHT_PROGBITS, bank, sizeof(bank) },
			{ ".nv.shared.k", SHT_NOBITS, code, 0 },
			{ ".nv.compat", 0x70000086, compat.p, compat.len },
			{ ".note.nv.tkinfo", SHT_NOTE, tkinfo.p, tkinfo.len },
			{ ".note.nv.cuinfo", SHT_NOTE, info.p, info.len },
		},
		NAMES - 1, ELF_SECTIONS);
	patch_headers(b, s);
	bytes_free(&symbols);
	bytes_free(&module);
	bytes_free(&kernel);
	bytes_free(&compat);
	bytes_free(&tkinfo);
	bytes_free(&info);
}

#define SM(n) ((uint32_t)(n) << 8 | 0x06000004)
#define SM7(n) ((uint32_t)(n) << 16 | (uint32_t)(n) | 0x500)
static const struct spec usual = {
	.abi = 8, .flags = SM(90), .shared = 1536, .command = "-v -arch sm_90 -m 64"
};

/* ---- facts ----------------------------------------------------------------------------------- */

struct fact_case {
	const char *name;
	struct spec spec;
	const char *kernels;
};

#define HEAD_FACTS                                                                                 \
	"stack_frame_bytes=24 min_stack_bytes=32 param_bytes=24 param_base=528 "                   \
	"constant0_bytes=552 "
#define MIDDLE "max_registers=128 max_threads=256,1,1 cluster=2,1,1 explicit_cluster=1 "
#define END "binding=global code_bytes=192 api_version=13.0 [@0+8] [@8+2] [generic @16+8/32]"
#define PLAIN_END "constant0_bytes=552 barriers=0 binding=global code_bytes=192"

static const struct fact_case facts[] = {
	{ "ABI 8, Hopper",
	  { .abi = 8, .flags = SM(90), .shared = 1536 },
	  "k registers=40 static_shared_bytes=512 " HEAD_FACTS "barriers=2 " MIDDLE END },
	{ "only what is kept for the system",
	  { .abi = 8, .flags = SM(90), .shared = 1024 },
	  "k registers=40 static_shared_bytes=0 " HEAD_FACTS "barriers=2 " MIDDLE END },
	{ "no shared memory",
	  { .abi = 8, .flags = SM(100) },
	  "k registers=40 static_shared_bytes=0 " HEAD_FACTS "barriers=2 " MIDDLE END },
	{ "below 90 all of it counts",
	  { .abi = 8, .flags = SM(80), .shared = 1536 },
	  "k registers=40 static_shared_bytes=1536 " HEAD_FACTS "barriers=2 " MIDDLE END },
	{ "relocatable: not assigned",
	  { .type = ET_REL, .abi = 8, .flags = SM(90), .shared = 1536 },
	  "k registers=40 " HEAD_FACTS "barriers=2 " MIDDLE END },
	{ "extensible: not linked yet",
	  { .type = 0xff00, .abi = 8, .flags = SM(90), .shared = 1536 },
	  "k registers=40 static_shared_bytes=1536 " HEAD_FACTS "barriers=2 " MIDDLE END },
	{ "ABI 7 of 12.3",
	  { .abi = 7, .flags = SM7(90), .version = 0x7b, .shared = 1536 },
	  "k registers=40 static_shared_bytes=512 static_shared_estimated=1 " HEAD_FACTS
	  "barriers=0 " MIDDLE END },
	{ "ABI 7 of 12.0, small",
	  { .abi = 7, .flags = SM7(90), .version = 0x78, .shared = 512 },
	  "k registers=40 static_shared_bytes=512 " HEAD_FACTS "barriers=0 " MIDDLE END },
	{ "ABI 7 of 11.8",
	  { .abi = 7, .flags = SM7(90), .version = 0x76, .shared = 1536 },
	  "k registers=40 static_shared_bytes=1536 " HEAD_FACTS "barriers=0 " MIDDLE END },
	{ "ABI 7, barriers in the section's flags",
	  { .abi = 7, .flags = SM7(80), .version = 0x76, .abi7_barriers = true },
	  "k registers=40 static_shared_bytes=0 " HEAD_FACTS "barriers=3 " MIDDLE END },
	{ "nothing said",
	  { .abi = 8, .flags = SM(90), .plain = true },
	  "k registers=40 static_shared_bytes=0 stack_frame_bytes=24 min_stack_bytes=32 "
	  "param_bytes=0 " PLAIN_END },
};

static void check_facts(void **state)
{
	const struct fact_case *c = *state;
	struct line kernels = { .len = 0 }, problems = { .len = 0 };
	struct bytes b = { 0 };
	struct dec_inspection *in;

	build(&b, &c->spec);
	in = inspected(b.p, b.len, "");
	say_kernels(&kernels, in);
	say_problems(&problems, in);
	expect_line(&problems, "");
	expect_line(&kernels, c->kernels);
	assert_int_equal(in->state, DEC_STATE_COMPLETE);
	assert_int_equal(in->kernels[0].code.size, 192);
	dec_inspection_free(in);
	bytes_free(&b);
}

/* ---- targets --------------------------------------------------------------------------------- */

struct target_case {
	const char *name;
	struct spec spec;
	const char *target; /* evidence, target, raw */
};

#define TARGET(bits, attribute, words)                                                             \
	{                                                                                          \
		.abi = 8, .flags = (bits), .compat = (attribute), .command = (words)               \
	}

static const struct target_case targets[] = {
	{ "attribute says a", TARGET(SM(90), 1, NULL), "cubin_compat sm_90a 0x06005a04" },
	{ "attribute says a, note too", TARGET(SM(90), 1, "-arch sm_90a"),
	  "cubin_compat sm_90a 0x06005a04" },
	{ "attribute says not a, no f yet", TARGET(SM(90), 0, "-arch sm_90"),
	  "cubin_compat sm_90 0x06005a04" },
	{ "attribute says not a, note f", TARGET(SM(100), 0, "-v  -arch sm_100f -m 64"),
	  "cubin_tkinfo sm_100f sm_100f" },
	{ "attribute says not a, note plain", TARGET(SM(100), 0, "-arch sm_100"),
	  "cubin_tkinfo sm_100 sm_100" },
	{ "attribute says not a, note a", TARGET(SM(100), 0, "-arch sm_100a"),
	  "cubin_compat sm_100 0x06006404" },
	{ "attribute alone", TARGET(SM(100), 0, NULL), "cubin_compat sm_100 0x06006404" },
	{ "flags say a, attribute not", TARGET(SM(120) | 8, 0, NULL),
	  "cubin_compat sm_120 0x0600780c" },
	{ "flags say a, attribute not, note a", TARGET(SM(120) | 8, 0, "-arch sm_120a"),
	  "cubin_compat sm_120 0x0600780c" },
	{ "flags say a, attribute not, note f", TARGET(SM(120) | 8, 0, "-arch sm_120f"),
	  "cubin_tkinfo sm_120f sm_120f" },
	{ "flags say a, attribute not, note plain", TARGET(SM(120) | 8, 0, "-arch sm_120"),
	  "cubin_tkinfo sm_120 sm_120" },
	{ "flags and attribute say a", TARGET(SM(120) | 8, 1, NULL),
	  "cubin_compat sm_120a 0x0600780c" },
	{ "flags alone", TARGET(SM(86), NO_COMPAT, NULL), "cubin_flags sm_86 0x06005604" },
	{ "flags say a", TARGET(SM(120) | 8, NO_COMPAT, NULL), "cubin_flags sm_120a 0x0600780c" },
	{ "flags say a, note agrees", TARGET(SM(120) | 8, NO_COMPAT, "-arch=sm_120a"),
	  "cubin_tkinfo sm_120a sm_120a" },
	{ "flags say a, note does not", TARGET(SM(120) | 8, NO_COMPAT, "-arch sm_120"),
	  "cubin_flags sm_120a 0x0600780c" },
	{ "note alone", TARGET(SM(120), NO_COMPAT, "-arch sm_120f"),
	  "cubin_tkinfo sm_120f sm_120f" },
	{ "note of another", TARGET(SM(120), NO_COMPAT, "-arch sm_12"),
	  "cubin_flags sm_120 0x06007804" },
	{ "note with a longer word", TARGET(SM(120), NO_COMPAT, "-arch sm_120ab"),
	  "cubin_flags sm_120 0x06007804" },
	{ "note without the option", TARGET(SM(120), NO_COMPAT, "-no-arch sm_120a"),
	  "cubin_flags sm_120 0x06007804" },
	{ "note that ends in the option", TARGET(SM(120), NO_COMPAT, "-v -arch"),
	  "cubin_flags sm_120 0x06007804" },
	{ "ABI 7",
	  { .abi = 7, .flags = SM7(80), .compat = NO_COMPAT },
	  "cubin_flags sm_80 0x00500550" },
	{ "ABI 7 says a",
	  { .abi = 7, .flags = SM7(90) | 0x800, .compat = NO_COMPAT },
	  "cubin_flags sm_90a 0x005a0d5a" },
	{ "no number", TARGET(SM(0), NO_COMPAT, NULL), "none  " },
};

static void check_target(void **state)
{
	const struct target_case *c = *state;
	struct line target = { .len = 0 };
	struct bytes b = { 0 };
	struct dec_inspection *in;

	build(&b, &c->spec);
	in = inspected(b.p, b.len, "");
	say(&target, "%s %s %s", dec_evidence_word(in->evidence), in->payload_target.p,
	    in->payload_target_raw.p);
	expect_line(&target, c->target);
	dec_inspection_free(in);
	bytes_free(&b);
}

/* ---- faults ---------------------------------------------------------------------------------- */

enum where { HEADER, SECTION, SYMBOL, BYTES_OF };

struct fault_case {
	const char *name;
	struct {
		enum where where;
		unsigned index; /* section or symbol */
		size_t field;
		unsigned width; /* 0: no edit */
		uint64_t value;
	} edits[2];
	size_t keep; /* bytes that are left; 0: all */
	enum dec_state state;
	unsigned kernels;
	const char *problem; /* "code field", '!' if it makes it partial; the first one */
	bool elsewhere; /* the problem is not at the first edit */
	const char *fact; /* some of the kernel's text; with '-' in front: not in it */
};

#define EHDR(member) HEADER, 0, offsetof(Elf64_Ehdr, member)
#define IDENT(byte) HEADER, 0, (byte)
#define SHDR(section, member) SECTION, (section), offsetof(Elf64_Shdr, member)
#define SYM(symbol, member) SYMBOL, (symbol), offsetof(Elf64_Sym, member)
#define OK DEC_STATE_COMPLETE
#define PART DEC_STATE_PARTIAL
#define BAD DEC_STATE_MALFORMED

static const struct fault_case faults[] = {
	{ "untouched", { { 0 } }, 0, OK, 1, "", true, "k registers=40 " },

	/* The header */
	{ "32-bit class",
	  { { IDENT(EI_CLASS), 1, 1 } },
	  0,
	  BAD,
	  0,
	  "malformed_elf EI_CLASS!",
	  false,
	  "" },
	{ "no class",
	  { { IDENT(EI_CLASS), 1, 7 } },
	  0,
	  BAD,
	  0,
	  "malformed_elf EI_CLASS!",
	  false,
	  "" },
	{ "big-endian",
	  { { IDENT(EI_DATA), 1, 2 } },
	  0,
	  BAD,
	  0,
	  "malformed_elf EI_DATA!",
	  false,
	  "" },
	{ "no byte order",
	  { { IDENT(EI_DATA), 1, 0 } },
	  0,
	  BAD,
	  0,
	  "malformed_elf EI_DATA!",
	  false,
	  "" },
	{ "ABI version 9",
	  { { IDENT(EI_ABIVERSION), 1, 9 } },
	  0,
	  OK,
	  1,
	  "unsupported_version EI_ABIVERSION",
	  false,
	  "k registers=40 " },
	{ "OSABI of no cubin",
	  { { IDENT(EI_OSABI), 1, 41 } },
	  0,
	  OK,
	  1,
	  "unsupported_version EI_OSABI",
	  false,
	  "" },
	{ "cut in its header", { { 0 } }, 63, BAD, 0, "truncated header!", false, "" },

	/* The section table */
	{ "cut before the table", { { 0 } }, 600, BAD, 0, "truncated e_shoff!", true, "" },
	{ "table far away",
	  { { EHDR(e_shoff), 8, UINT64_MAX - 8 }, { EHDR(e_phnum), 2, 1 } },
	  0,
	  BAD,
	  0,
	  "out_of_bounds e_shoff!",
	  false,
	  "" },
	{ "too many sections",
	  { { EHDR(e_shnum), 2, 65535 } },
	  0,
	  BAD,
	  0,
	  "out_of_bounds e_shnum!",
	  false,
	  "" },
	{ "small section headers",
	  { { EHDR(e_shentsize), 2, 8 } },
	  0,
	  BAD,
	  0,
	  "malformed_elf e_shentsize!",
	  false,
	  "" },
	{ "no section table",
	  { { EHDR(e_shoff), 8, 0 }, { EHDR(e_shnum), 2, 0 } },
	  0,
	  PART,
	  0,
	  "malformed_elf e_shoff!",
	  false,
	  "" },
	{ "names out of range",
	  { { EHDR(e_shstrndx), 2, 99 } },
	  0,
	  PART,
	  1,
	  "out_of_bounds e_shstrndx!",
	  false,
	  "param_bytes=24 " },
	{ "offset that wraps",
	  { { SHDR(NV_INFO, sh_offset), 8, UINT64_MAX - 15 } },
	  0,
	  PART,
	  1,
	  "out_of_bounds sh_offset!",
	  false,
	  "-registers=39" },
	{ "section past the end",
	  { { SHDR(INFO_K, sh_size), 8, 1 << 20 } },
	  0,
	  PART,
	  1,
	  "out_of_bounds sh_size!",
	  true,
	  "-param_bytes" },
	{ "section without content may lie anywhere",
	  { { SHDR(SHARED_K, sh_offset), 8, 1u << 30 } },
	  0,
	  OK,
	  1,
	  "",
	  true,
	  "static_shared_bytes=512" },
	{ "sections renumbered",
	  { { SHDR(INFO_K, sh_info), 4, 3 }, { SHDR(CONSTANT0_K, sh_info), 4, 99 } },
	  0,
	  OK,
	  1,
	  "",
	  true,
	  "param_bytes=24 param_base=528 constant0_bytes=552" },

	/* Symbols */
	{ "odd size",
	  { { SHDR(SYMTAB, sh_size), 8, 24 * SYMBOLS + 1 } },
	  0,
	  PART,
	  1,
	  "malformed_elf sh_size!",
	  false,
	  "k registers=40 " },
	{ "other entry size",
	  { { SHDR(SYMTAB, sh_entsize), 8, 16 } },
	  0,
	  PART,
	  1,
	  "malformed_elf sh_entsize!",
	  false,
	  "k registers=40 " },
	{ "its own strings",
	  { { SHDR(SYMTAB, sh_link), 4, SYMTAB } },
	  0,
	  PART,
	  1,
	  "malformed_elf sh_link!",
	  false,
	  "k registers=40 " },
	{ "strings out of range",
	  { { SHDR(SYMTAB, sh_link), 4, 99 } },
	  0,
	  PART,
	  1,
	  "malformed_elf sh_link!",
	  false,
	  "k registers=40 " },
	{ "no symbol table",
	  { { SHDR(SYMTAB, sh_type), 4, SHT_PROGBITS } },
	  0,
	  OK,
	  1,
	  "malformed_elf .symtab",
	  true,
	  "k registers=40 " },
	{ "name out of range",
	  { { SYM(SYM_K, st_name), 4, 1 << 20 } },
	  0,
	  OK,
	  1,
	  "malformed_elf st_name",
	  false,
	  "k registers=40 " },
	{ "name and section out of range",
	  { { SYM(SYM_K, st_shndx), 2, 0x1234 }, { SYM(SYM_K, st_name), 4, 1 << 20 } },
	  0,
	  PART,
	  1,
	  "out_of_bounds st_shndx!",
	  false,
	  "#2 registers=40 " },
	{ "section out of range",
	  { { SYM(SYM_K, st_shndx), 2, 0x1234 } },
	  0,
	  PART,
	  1,
	  "out_of_bounds st_shndx!",
	  false,
	  "k registers=40 " },
	{ "code out of its section",
	  { { SYM(SYM_K, st_value), 8, 65 } },
	  0,
	  PART,
	  1,
	  "out_of_bounds st_value!",
	  false,
	  "code_bytes=192" },
	{ "code size that wraps",
	  { { SYM(SYM_K, st_size), 8, UINT64_MAX } },
	  0,
	  PART,
	  1,
	  "out_of_bounds st_value!",
	  true,
	  "k registers=40 " },
	{ "undefined kernel", { { SYM(SYM_K, st_shndx), 2, 0 } }, 0, OK, 0, "", true, "" },
	{ "function beside it is a kernel too",
	  { { SYM(SYM_F, st_other), 1, 0x10 } },
	  0,
	  PART,
	  2,
	  "malformed_elf st_name!",
	  true,
	  "f registers=7 " },
	{ "segments far away",
	  { { EHDR(e_phoff), 8, UINT64_C(1) << 63 }, { EHDR(e_phentsize), 4, 1 << 16 | 56 } },
	  0,
	  OK,
	  1,
	  "out_of_bounds e_phoff",
	  true,
	  "" },
	{ "segments of another size",
	  { { EHDR(e_phoff), 8, 64 }, { EHDR(e_phentsize), 4, 1 << 16 | 32 } },
	  0,
	  OK,
	  1,
	  "out_of_bounds e_phentsize",
	  true,
	  "" },
	{ "weak", { { SYM(SYM_K, st_info), 1, 0x22 } }, 0, OK, 1, "", true, "binding=weak" },
	{ "local", { { SYM(SYM_K, st_info), 1, 0x02 } }, 0, OK, 1, "", true, "binding=local" },

	/* Attributes */
	{ "format 9",
	  { { BYTES_OF, NV_INFO, 0, 1, 9 } },
	  0,
	  PART,
	  1,
	  "malformed_info .nv.info!",
	  false,
	  "k static_shared_bytes=512" },
	{ "format 0",
	  { { BYTES_OF, INFO_K, 8, 1, 0 } },
	  0,
	  PART,
	  1,
	  "malformed_info .nv.info!",
	  false,
	  "-param_bytes" },
	{ "record longer than the section",
	  { { BYTES_OF, NV_INFO, 0, 4, 0xfff02f04 } },
	  0,
	  PART,
	  1,
	  "malformed_info .nv.info!",
	  false,
	  "k static_shared_bytes=512" },
	{ "record cut",
	  { { SHDR(NV_INFO, sh_size), 8, 14 } },
	  0,
	  PART,
	  1,
	  "malformed_info .nv.info!",
	  true,
	  "k registers=40 static_shared_bytes=512 param_bytes" },
	{ "symbol out of range",
	  { { BYTES_OF, NV_INFO, 4, 4, 0xffffffff } },
	  0,
	  PART,
	  1,
	  "malformed_info .nv.info!",
	  false,
	  "k static_shared_bytes=512 stack_frame_bytes=24" },
	{ "symbol and value of another size",
	  { { BYTES_OF, NV_INFO, 0, 4, 0x00042f04 } },
	  0,
	  PART,
	  1,
	  "malformed_info .nv.info!",
	  false,
	  "k static_shared_bytes=512" },
	{ "parameter of another size",
	  { { BYTES_OF, INFO_K, 8, 4, 0x00081704 } },
	  0,
	  PART,
	  1,
	  "malformed_info .nv.info!",
	  false,
	  "" },
	{ "stack of a recursion",
	  { { BYTES_OF, NV_INFO, 32, 4, 0xffffffff } },
	  0,
	  OK,
	  1,
	  "",
	  true,
	  "-min_stack_bytes" },
	{ "registers that disagree",
	  { { EHDR(e_flags), 4, SM(80) }, { SHDR(TEXT_K, sh_info), 4, 2 | 41u << 24 } },
	  0,
	  OK,
	  1,
	  "malformed_info sh_info",
	  true,
	  "k registers=40 " },
	{ "bad .nv.compat",
	  { { BYTES_OF, COMPAT, 4, 1, 7 } },
	  0,
	  PART,
	  1,
	  "malformed_info .nv.compat!",
	  false,
	  "" },
	{ "bad note",
	  { { BYTES_OF, TKINFO, 4, 4, 0xfffffff0 } },
	  0,
	  PART,
	  1,
	  "malformed_note note!",
	  true,
	  "" },
};

static size_t place(const struct bytes *b, enum where where, unsigned index, size_t field)
{
	uint64_t shoff = 0, offset = 0;
	size_t header;

	memcpy(&shoff, b->p + offsetof(Elf64_Ehdr, e_shoff), sizeof(shoff));
	if (where == SYMBOL) {
		field += index * sizeof(Elf64_Sym);
		index = SYMTAB;
	}
	header = (size_t)le64toh(shoff) + index * sizeof(Elf64_Shdr);
	if (where == HEADER)
		return field;
	if (where == SECTION)
		return header + field;
	memcpy(&offset, b->p + header + offsetof(Elf64_Shdr, sh_offset), sizeof(offset));
	return (size_t)le64toh(offset) + field;
}

static void expect_problem(const struct fault_case *c, const struct dec_inspection *in, size_t at)
{
	struct line l = { .len = 0 };

	if (in->problem_count)
		say(&l, "%s %s%s", dec_problem_word(in->problems[0].code), in->problems[0].field,
		    in->problems[0].partial ? "!" : "");
	expect_line(&l, c->problem);
	if (!c->elsewhere)
		assert_int_equal(in->problems[0].offset - INSPECTED_AT, at);
}

static void expect_fact(const struct fault_case *c, const struct dec_inspection *in)
{
	struct line l = { .len = 0 };

	say_kernels(&l, in);
	if (c->fact[0] == '-')
		assert_null(strstr(l.text, c->fact + 1));
	else
		assert_non_null(strstr(l.text, c->fact));
}

static void check_fault(void **state)
{
	const struct fault_case *c = *state;
	struct bytes b = { 0 };
	struct dec_inspection *in;
	size_t at[COUNT(c->edits)] = { 0 };
	uint8_t *exact;

	build(&b, &usual);
	for (size_t i = 0; i < COUNT(c->edits); i++) /* before any of them is made */
		at[i] = place(&b, c->edits[i].where, c->edits[i].index, c->edits[i].field);
	for (size_t i = 0; i < COUNT(c->edits) && c->edits[i].width; i++)
		set_le(&b, at[i], c->edits[i].width, c->edits[i].value);
	if (c->keep)
		b.len = c->keep;
	exact = malloc(b.len);
	assert_non_null(exact);
	memcpy(exact, b.p, b.len);
	in = inspected(exact, b.len, "");
	free(exact);
	expect_problem(c, in, at[0]);
	assert_int_equal(in->state, c->state);
	assert_int_equal(in->kernel_count, c->kernels);
	expect_fact(c, in);
	dec_inspection_free(in);
	bytes_free(&b);
}

/* ---- metadata -------------------------------------------------------------------------------- */

static void metadata(void **state)
{
	struct line l = { .len = 0 };
	struct bytes b = { 0 };
	struct dec_inspection *in;

	(void)state;
	build(&b, &usual);
	in = inspected(b.p, b.len, "");
	say_meta(&l, in->metadata);
	expect_line(&l,
		    "{elf:{type:'executable' osabi:0x41 abi_version:8 version:1 flags:0x6005a04 "
		    "flag_fields:{mercury:0 accelerator:0 sm:90} sections:12 symbols:4} "
		    "notes:[{note:'tkinfo' version:2 object:'' tool:'ptxas' "
		    "tool_version:'release 13.0' build:'build 1' options:'-v -arch sm_90 -m 64'} "
		    "{note:'cuinfo' version:2 virtual_sm:90 toolkit:'13.0'}] "
		    "nv_compat:[{attribute:'isa_class' value:1} "
		    "{attribute:'accelerator_target' value:0}] "
		    "nv_info:{module:[{attribute:'REGCOUNT' symbol:'k' value:40} "
		    "{attribute:'FRAME_SIZE' symbol:'k' value:24} "
		    "{attribute:'MIN_STACK_SIZE' symbol:'k' value:32} "
		    "{attribute:'REGCOUNT' symbol:'f' value:7}] "
		    "kernels:[{kernel:'k' attributes:[{attribute:'CUDA_API_VERSION' value:130} "
		    "{attribute:'KPARAM_INFO' value:{ordinal:2 offset:16 size:8 "
		    "pointee_log2_align:5 space:5 bank:31 parameter_space:0}} "
		    "{attribute:'KPARAM_INFO' value:{ordinal:1 offset:8 size:2 "
		    "pointee_log2_align:0 space:0 bank:31 parameter_space:0}} "
		    "{attribute:'KPARAM_INFO' value:{ordinal:0 offset:0 size:8 "
		    "pointee_log2_align:0 space:0 bank:31 parameter_space:0}} "
		    "{attribute:'MAXREG_COUNT' value:128} {attribute:'NUM_BARRIERS' value:2} "
		    "{attribute:'MAX_THREADS' value:[256 1 1]} "
		    "{attribute:'CTA_PER_CLUSTER' value:[2 1 1]} {attribute:'EXPLICIT_CLUSTER'} "
		    "{attribute:'CBANK_PARAM_SIZE' value:24} "
		    "{attribute:'PARAM_CBANK' value:{symbol:'bank' offset:528 size:24}} "
		    "{attribute:0x61 value:5}]}]}}");
	dec_inspection_free(in);
	bytes_free(&b);
}

static void trailing_bytes(void **state)
{
	struct bytes b = { 0 };
	struct dec_inspection *in;
	size_t end;

	(void)state;
	build(&b, &usual);
	end = add_zeros(&b, 8);
	in = inspected(b.p, b.len, "");
	assert_int_equal(in->state, DEC_STATE_COMPLETE);
	assert_int_equal(in->problem_count, 1);
	assert_int_equal(in->problems[0].code, DEC_PROBLEM_SIZE_MISMATCH);
	assert_int_equal(in->problems[0].offset, INSPECTED_AT + end);
	dec_inspection_free(in);
	bytes_free(&b);
}

int main(void)
{
	const struct CMUnitTest others[] = {
		cmocka_unit_test(metadata),
		cmocka_unit_test(trailing_bytes),
	};

	return RUN_ROWS(facts, check_facts) + RUN_ROWS(targets, check_target) +
	       RUN_ROWS(faults, check_fault) +
	       cmocka_run_group_tests_name("others", others, NULL, NULL);
}
