/* AMDGPU code objects, examined: healthy ones of each version, and what can be wrong with them. */
#include "alloc.h"
#include "code_object.h"
#include "inspect.h"
#include "inventory.h"
#include "view.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The ten keys that a kernel must have; more of them are the caller's. */
static void mp_kernel(struct bytes *b, unsigned more, const char *name, const char *symbol)
{
	mp_map16(b, 10 + more);
	mp_texts(b, ".name", name);
	mp_texts(b, ".symbol", symbol);
	mp_pair(b, ".kernarg_segment_size", 280);
	mp_pair(b, ".kernarg_segment_align", 8);
	mp_pair(b, ".group_segment_fixed_size", 400);
	mp_pair(b, ".private_segment_fixed_size", 16);
	mp_pair(b, ".wavefront_size", 64);
	mp_pair(b, ".sgpr_count", 10);
	mp_pair(b, ".vgpr_count", 41);
	mp_pair(b, ".max_flat_workgroup_size", 256);
}

static void mp_tail(struct bytes *b, const char *target)
{
	mp_texts(b, "amdhsa.target", target);
	mp_text(b, "amdhsa.version");
	mp_array(b, 2);
	mp_uint(b, 1);
	mp_uint(b, 2);
}

#define GFX90A "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"

static void mp_args(struct bytes *b)
{
	mp_text(b, ".args");
	mp_array(b, 2);
	mp_map(b, 7);
	mp_texts(b, ".name", "out");
	mp_texts(b, ".type_name", "float*");
	mp_texts(b, ".address_space", "global");
	mp_texts(b, ".actual_access", "write_only");
	mp_texts(b, ".value_kind", "global_buffer");
	mp_pair(b, ".offset", 0);
	mp_pair(b, ".size", 8);
	mp_map(b, 3);
	mp_texts(b, ".value_kind", "kind_of_tomorrow");
	mp_pair(b, ".offset", 8);
	mp_pair(b, ".size", 4);
}

static void one_kernel(struct bytes *b)
{
	mp_map(b, 3);
	mp_text(b, "amdhsa.kernels");
	mp_array(b, 1);
	mp_kernel(b, 5, "k", "k.kd");
	mp_args(b);
	mp_pair(b, ".agpr_count", 0);
	mp_pair(b, ".max_num_workgroups_x", 16);
	mp_pair(b, ".max_num_workgroups_z", 4);
	mp_text(b, ".uses_dynamic_stack");
	add_le(b, 1, 0xc2);
	mp_tail(b, GFX90A);
}

static void one_kernel_of_v3(struct bytes *b)
{
	mp_map(b, 2);
	mp_text(b, "amdhsa.kernels");
	mp_array(b, 1);
	mp_kernel(b, 0, "k", "k.kd");
	mp_text(b, "amdhsa.version");
	mp_array(b, 2);
	mp_uint(b, 1);
	mp_uint(b, 0);
}

static void two_of_one_name(struct bytes *b)
{
	mp_map(b, 3);
	mp_text(b, "amdhsa.kernels");
	mp_array(b, 2);
	mp_kernel(b, 0, "k", "k.kd");
	mp_kernel(b, 0, "k", "k.kd");
	mp_tail(b, GFX90A);
}

static void no_kernel(struct bytes *b)
{
	mp_map(b, 3);
	mp_text(b, "amdhsa.kernels");
	mp_array(b, 0);
	mp_tail(b, GFX90A);
}

static void kernel_of_another_symbol(struct bytes *b)
{
	mp_map(b, 3);
	mp_text(b, "amdhsa.kernels");
	mp_array(b, 1);
	mp_kernel(b, 0, "k", "missing.kd");
	mp_tail(b, GFX90A);
}

static void kernel_with_wrong_types(struct bytes *b)
{
	mp_map(b, 3);
	mp_text(b, "amdhsa.kernels");
	mp_array(b, 1);
	mp_kernel(b, 6, "k", "k.kd");
	mp_texts(b, ".agpr_count", "agpr text");
	mp_text(b, ".reqd_workgroup_size");
	mp_array(b, 2);
	mp_texts(b, "first", "second");
	mp_text(b, ".args");
	mp_array(b, 1);
	mp_text(b, "arg text");
	mp_text(b, ".sgpr_spill_count");
	add_le(b, 1, 0xff);
	mp_text(b, ".language");
	mp_map(b, 1);
	mp_texts(b, "map key", "map value");
	mp_pair(b, ".uses_dynamic_stack", 2);
	mp_tail(b, GFX90A);
}

/* ---- linked objects ------------------------------------------------------------------------------- */

enum { SYMTAB = SECTIONS + 4 * 64 }; /* the header of its section */
enum { KERNEL = 208 }; /* bytes of the shortest map that mp_kernel() makes */

static void linked(struct bytes *b, void (*metadata)(struct bytes *))
{
	struct bytes desc = { 0 }, notes = { 0 };

	metadata(&desc);
	add_note(&notes, "AMDGPU", 32, desc.p, desc.len);
	add_linked(b, 3, 0xe3f, &notes);
	bytes_free(&desc);
	bytes_free(&notes);
}

static void healthy(struct bytes *b)
{
	linked(b, one_kernel);
}

static void v3(struct bytes *b)
{
	linked(b, one_kernel_of_v3);
	set_le(b, 8, 1, 1);
	set_le(b, 48, 4, 0x13f);
}

static void without_sections(struct bytes *b)
{
	healthy(b);
	set_le(b, 40, 8, 0);
	set_le(b, 60, 2, 0);
}

/* The one bucket leads to the first of two symbols; the second ends the chain. */
static void with_gnu_hash(struct bytes *b)
{
	static const uint32_t words[] = { 1, 1, 1, 0, 0, 0, 1, 2, 3 };

	without_sections(b);
	set_le(b, DYN + 3 * 16, 8, DT_GNU_HASH);
	for (size_t i = 0; i < COUNT(words); i++)
		set_le(b, HASH + 4 * i, 4, words[i]);
}

static void same_name_twice(struct bytes *b)
{
	linked(b, two_of_one_name);
}

static void symbol_alone(struct bytes *b)
{
	linked(b, no_kernel);
}

static void metadata_alone(struct bytes *b)
{
	linked(b, kernel_of_another_symbol);
}

static void wrong_types(struct bytes *b)
{
	linked(b, kernel_with_wrong_types);
}

static void relocatable(struct bytes *b)
{
	healthy(b);
	set_le(b, 16, 2, ET_REL);
	set_le(b, SYM + 24 + 8, 8, 0);
	set_le(b, SYM + 48 + 8, 8, 0);
	set_le(b, KD + 16, 8, 0);
}

/* ---- V1 and V2 ----------------------------------------------------------------------------------------- */

static const char yaml[] = "---\n"
			   "Version:         [ 1, 0 ]\n"
			   "Kernels:\n"
			   "  - Name:            k\n"
			   "    SymbolName:      'k@kd'\n"
			   "    Language:        OpenCL C\n"
			   "    LanguageVersion: [ 2, 0 ]\n"
			   "    Attrs:\n"
			   "      ReqdWorkGroupSize: [ 64, 2, 1 ]\n"
			   "    Args:\n"
			   "      - TypeName:        'float*'\n"
			   "        Size:            8\n"
			   "        Align:           8\n"
			   "        ValueKind:       GlobalBuffer\n"
			   "        AddrSpaceQual:   Global\n"
			   "        AccQual:         Default\n"
			   "      - Size:            2\n"
			   "        Align:           2\n"
			   "        ValueKind:       ByValue\n"
			   "      - Size:            8\n"
			   "        Align:           8\n"
			   "        ValueKind:       HiddenMultiGridSyncArg\n"
			   "    CodeProps:\n"
			   "      KernargSegmentSize: 280\n"
			   "      GroupSegmentFixedSize: 400\n"
			   "      PrivateSegmentFixedSize: 16\n"
			   "      KernargSegmentAlign: 8\n"
			   "      WavefrontSize:   64\n"
			   "      NumSGPRs:        10\n"
			   "      NumVGPRs:        41\n"
			   "      MaxFlatWorkGroupSize: 256\n"
			   "...\n";

static void add_isa_version(struct bytes *notes, uint32_t major, uint32_t minor, uint32_t stepping)
{
	struct bytes desc = { 0 };

	add_le(&desc, 2, 4);
	add_le(&desc, 2, 7);
	add_le(&desc, 4, major);
	add_le(&desc, 4, minor);
	add_le(&desc, 4, stepping);
	add(&desc, "AMD\0AMDGPU", 11);
	add_note(notes, "AMD", 3, desc.p, desc.len);
	bytes_free(&desc);
}

static void old_object(struct bytes *b, uint32_t version, const char *metadata)
{
	struct bytes notes = { 0 }, desc = { 0 };

	add_le(&desc, 4, version);
	add_le(&desc, 4, 0);
	add_note(&notes, "AMD", 1, desc.p, desc.len);
	add_isa_version(&notes, 9, 0, 7);
	if (metadata) {
		add_note(&notes, "AMD", 11, "amdgcn-amd-amdhsa--gfx907", 25);
		add_note(&notes, "AMD", 10, metadata, strlen(metadata));
	}
	add_linked(b, 0, 0x12f, &notes);
	bytes_free(&desc);
	bytes_free(&notes);
}

static void v2(struct bytes *b)
{
	old_object(b, 2, yaml);
}

static void v1(struct bytes *b)
{
	old_object(b, 1, NULL);
}

static void v2_not_yaml(struct bytes *b)
{
	old_object(b, 2, "---\nKernels:\n  - Name: \"k\n");
}

static void v2_with_alias(struct bytes *b)
{
	old_object(b, 2, "---\nKernels: *other\n");
}

static void v2_too_deep(struct bytes *b)
{
	char text[80] = "---\nOther: ";

	memset(text + strlen(text), '[', 40);
	old_object(b, 2, text);
}

/* ---- metadata alone -------------------------------------------------------------------------------------- */

/* In a section at offset 64, so that the metadata begins at 84. */
enum { ALONE = ELF_EHDR + 20 };

static void alone_with(struct bytes *b, const void *desc, size_t size, const struct elf_head *head)
{
	struct bytes note = { 0 };
	struct elf_section section = { .name = ".note", .type = SHT_NOTE };

	add_note(&note, "AMDGPU", 32, desc, size);
	section.p = note.p;
	section.size = note.len;
	add_elf(b, head, &section, 1, ELF_SECTIONS);
	bytes_free(&note);
}

static const struct elf_head gfx1100 = { ET_DYN, 224, 64, 3, 0x41 };

/* clang-format off */
#define VERSION(map) map "\xae" "amdhsa.version" "\x92\x01\x02"
#define WHOLE_MAP VERSION("\x82") "\xae" "amdhsa.kernels" "\x90"
/* clang-format on */
#define ALONE(name, text)                                                                          \
	static void name(struct bytes *b)                                                          \
	{                                                                                          \
		alone_with(b, text, sizeof(text) - 1, &gfx1100);                                   \
	}

/* clang-format off */
ALONE(empty_metadata, "")
ALONE(not_a_map, "\x90")
ALONE(reserved_lead, "\xc1")
ALONE(map_of_4g, "\xdf\xff\xff\xff\xff")
ALONE(kernels_of_4g, "\x81\xae" "amdhsa.kernels" "\xdd\xff\xff\xff\xff")
ALONE(text_past_the_end, "\x81\xae" "amdhsa.kernels" "\x91\xa5" "x")
ALONE(kernel_cut, "\x81\xae" "amdhsa.kernels" "\x91\x82\xa5" ".name" "\xa1" "k")
ALONE(no_kernels_key, "\x81\xae" "amdhsa.version" "\x92\x01\x02")
ALONE(kernel_no_map, VERSION("\x82") "\xae" "amdhsa.kernels" "\x91\x05")
ALONE(same_key_twice,
      VERSION("\x83") "\xae" "amdhsa.version" "\x92\x09\x09" "\xae" "amdhsa.kernels" "\x90")
ALONE(odd_types, "\x84\xa1" "a" "\xc4\x01" "b" "\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00\x05"
      "\xae" "amdhsa.version" "\x92\x01\x02" "\xae" "amdhsa.kernels" "\x90")
ALONE(bytes_behind, WHOLE_MAP "\xc1\xc1")
/* clang-format on */

static void nested_deep(struct bytes *b)
{
	struct bytes desc = { 0 };

	add_text(&desc, "\x81\xa1"
			"x");
	add_fill(&desc, 0x91, 20000);
	add_le(&desc, 1, 1);
	alone_with(b, desc.p, desc.len, &gfx1100);
	bytes_free(&desc);
}

static void notes_section(struct bytes *b, const struct bytes *notes)
{
	struct elf_section section = { ".note", SHT_NOTE, notes->p, notes->len };

	add_elf(b, &gfx1100, &section, 1, ELF_SECTIONS);
}

static const char whole[] = WHOLE_MAP;
enum { WHOLE = sizeof(whole) - 1 };

static void two_notes(struct bytes *b)
{
	struct bytes notes = { 0 };

	add_note(&notes, "AMDGPU", 32, whole, WHOLE);
	add_note(&notes, "AMDGPU", 32, whole, WHOLE);
	notes_section(b, &notes);
	bytes_free(&notes);
}

static void no_padding(struct bytes *b)
{
	struct bytes notes = { 0 };

	add_note(&notes, "AMDGPU", 32, whole, WHOLE);
	notes.len = 20 + WHOLE;
	notes_section(b, &notes);
	bytes_free(&notes);
}

static void owner_without_nul(struct bytes *b)
{
	struct bytes notes = { 0 };

	add_note(&notes, "AMDGPU", 32, whole, WHOLE);
	set_le(&notes, 0, 4, 6);
	notes_section(b, &notes);
	bytes_free(&notes);
}

static void padded_to_8(struct bytes *b)
{
	struct bytes notes = { 0 };

	add_le(&notes, 4, 7);
	add_le(&notes, 4, WHOLE);
	add_le(&notes, 4, 32);
	add(&notes, "AMDGPU", 7);
	pad_to(&notes, 8);
	add(&notes, whole, WHOLE);
	pad_to(&notes, 8);
	add_note(&notes, "AMD", 99, "12345678", 8);
	notes_section(b, &notes);
	bytes_free(&notes);
}

static void only_whole(struct bytes *b)
{
	alone_with(b, whole, WHOLE, &gfx1100);
}

static void pal(struct bytes *b)
{
	static const struct elf_head head = { ET_REL, 224, 65, 0, 0x36 };
	static const char map[] = "\x81\xb0"
				  "amdpal.pipelines"
				  "\x91\x81\xaa"
				  ".registers"
				  "\x81\xcd\x2e\x12\x05";

	alone_with(b, map, sizeof(map) - 1, &head);
}

static void mesa(struct bytes *b)
{
	static const struct elf_head head = { ET_REL, 224, 66, 0, 0x12c };
	struct bytes notes = { 0 };
	struct elf_section section = { ".note", SHT_NOTE, NULL, 0 };

	add_note(&notes, "AMD", 11, "amdgcn-mesa-mesa3d--gfx900", 26);
	section.p = notes.p;
	section.size = notes.len;
	add_elf(b, &head, &section, 1, ELF_SECTIONS);
	bytes_free(&notes);
}

static void r600(struct bytes *b)
{
	static const struct elf_head head = { ET_REL, 224, 0, 0, 0 };

	add_elf(b, &head, NULL, 0, ELF_SECTIONS);
	set_le(b, EI_CLASS, 1, ELFCLASS32);
	set_le(b, offsetof(Elf32_Ehdr, e_flags), 4, 0xf);
}

/* ---- the table ------------------------------------------------------------------------------------------------ */

/* Offsets are numbers, or of the MessagePack text that is named. */
struct expected {
	enum dec_problem_code code;
	uint64_t offset;
	const char *field; /* NULL ends the list */
	const char *text;
};

static const struct object_case {
	const char *name;
	void (*build)(struct bytes *b);
	struct edit edits[3];
	size_t keep; /* bytes that are left; 0: all */
	enum dec_state state;
	const char *target; /* NULL: none */
	enum dec_evidence evidence;
	uint32_t kernels;
	struct expected problems[7];
} cases[] = {
/* clang-format off */
#define COMPLETE(target) DEC_STATE_COMPLETE, target, DEC_EVIDENCE_AMDGPU_NOTE
#define PARTIAL(target) DEC_STATE_PARTIAL, target, DEC_EVIDENCE_AMDGPU_NOTE
#define FLAGS(state) DEC_STATE_##state, "gfx1100", DEC_EVIDENCE_AMDGPU_FLAGS
#define META DEC_PROBLEM_MALFORMED_METADATA
#define V5 "gfx90a:sramecc+:xnack-"
#define OLD "gfx906:sramecc-:xnack+"
	{ "V5", healthy, { { 0, 0, 0 } }, 0, COMPLETE(V5), 1, { { 0, 0, NULL, NULL } } },
	{ "V3, features only in its flags", v3, { { 0, 0, 0 } }, 0, DEC_STATE_COMPLETE,
	  "gfx90a:sramecc-:xnack+", DEC_EVIDENCE_AMDGPU_FLAGS, 1, { { 0, 0, NULL, NULL } } },
	{ "without sections", without_sections, { { 0, 0, 0 } }, 0, COMPLETE(V5), 1,
	  { { 0, 0, NULL, NULL } } },
	{ "without sections, GNU hash", with_gnu_hash, { { 0, 0, 0 } }, 0, COMPLETE(V5), 1,
	  { { 0, 0, NULL, NULL } } },
	{ "relocatable", relocatable, { { 0, 0, 0 } }, 0, COMPLETE(V5), 1, { { 0, 0, NULL, NULL } } },
	{ "newer ABI version", healthy, { { 8, 1, 9 } }, 0, COMPLETE(V5), 1,
	  { { DEC_PROBLEM_UNSUPPORTED_VERSION, 8, "EI_ABIVERSION", NULL } } },
	{ "unknown processor number", healthy, { { 48, 4, 0xefe } }, 0, COMPLETE(V5), 1,
	  { { DEC_PROBLEM_UNSUPPORTED_VERSION, 48, "e_flags", NULL } } },
	{ "another processor in the flags", healthy, { { 48, 4, 0xe30 } }, 0, PARTIAL(V5), 1,
	  { { DEC_PROBLEM_NOTE_FLAGS_DISAGREE, 48, "e_flags", NULL } } },
	{ "another feature in the flags", healthy, { { 48, 4, 0xf3f } }, 0, PARTIAL(V5), 1,
	  { { DEC_PROBLEM_NOTE_FLAGS_DISAGREE, 48, "e_flags", NULL } } },
	{ "V2", v2, { { 0, 0, 0 } }, 0, COMPLETE(OLD), 1, { { 0, 0, NULL, NULL } } },
	{ "V1", v1, { { 0, 0, 0 } }, 0, COMPLETE(OLD), 1, { { 0, 0, NULL, NULL } } },
	{ "PAL", pal, { { 0, 0, 0 } }, 0, DEC_STATE_UNSUPPORTED, "gfx1030",
	  DEC_EVIDENCE_AMDGPU_FLAGS, 0, { { DEC_PROBLEM_UNSUPPORTED_VERSION, 7, "EI_OSABI", NULL } } },
	{ "Mesa", mesa, { { 0, 0, 0 } }, 0, DEC_STATE_UNSUPPORTED, "gfx900",
	  DEC_EVIDENCE_AMDGPU_NOTE, 0, { { DEC_PROBLEM_UNSUPPORTED_VERSION, 7, "EI_OSABI", NULL } } },
	{ "r600", r600, { { 0, 0, 0 } }, 0, DEC_STATE_UNSUPPORTED, NULL, DEC_EVIDENCE_NONE, 0,
	  { { DEC_PROBLEM_UNSUPPORTED_VERSION, 4, "EI_CLASS", NULL } } },

	{ "cut inside the header", healthy, { { 0, 0, 0 } }, 63, DEC_STATE_MALFORMED, NULL,
	  DEC_EVIDENCE_NONE, 0, { { DEC_PROBLEM_TRUNCATED, 63, "ELF header", NULL } } },
	{ "big-endian", healthy, { { EI_DATA, 1, 2 } }, 0, DEC_STATE_MALFORMED, NULL,
	  DEC_EVIDENCE_NONE, 0, { { DEC_PROBLEM_MALFORMED_ELF, 4, "e_ident", NULL } } },
	{ "no tables", healthy, { { 40, 8, UINT64_MAX }, { 32, 8, UINT64_MAX } }, 0,
	  DEC_STATE_MALFORMED, NULL, DEC_EVIDENCE_NONE, 0,
	  { { DEC_PROBLEM_MALFORMED_ELF, 40, "e_shoff", NULL } } },
	{ "names out of range", healthy, { { 62, 2, 0xffff } }, 0, COMPLETE(V5), 1,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, 62, "e_shstrndx", NULL } } },
	{ "too many sections", healthy, { { 60, 2, 0xfeff } }, 0, PARTIAL(V5), 1,
	  { { DEC_PROBLEM_MALFORMED_ELF, 60, "e_shnum", NULL } } },
	{ "section table past the end", healthy, { { 40, 8, UINT64_MAX - 63 } }, 0, PARTIAL(V5), 1,
	  { { DEC_PROBLEM_MALFORMED_ELF, 40, "e_shoff", NULL } } },
	{ "segment table past the end", healthy, { { 32, 8, UINT64_MAX - 55 } }, 0, PARTIAL(V5), 1,
	  { { DEC_PROBLEM_MALFORMED_ELF, 32, "e_phoff", NULL } } },
	{ "segment of all bytes begins past the end", healthy, { { PHDR + 8, 8, 1u << 30 } }, 0,
	  PARTIAL(V5), 1, { { DEC_PROBLEM_OUT_OF_BOUNDS, PHDR + 8, "p_offset", NULL } } },
	{ "segment of all bytes ends past the end", healthy, { { PHDR + 32, 8, UINT64_MAX } }, 0,
	  PARTIAL(V5), 1, { { DEC_PROBLEM_OUT_OF_BOUNDS, PHDR + 32, "p_filesz", NULL } } },
	{ "segment and section past the end", healthy,
	  { { PHDR + 32, 8, UINT64_MAX }, { SECTIONS + 2 * 64 + 32, 8, 1u << 30 } }, 0, PARTIAL(V5),
	  1, { { DEC_PROBLEM_OUT_OF_BOUNDS, PHDR + 32, "p_filesz", NULL },
	    { DEC_PROBLEM_OUT_OF_BOUNDS, SECTIONS + 2 * 64 + 32, "sh_size", NULL },
	    { DEC_PROBLEM_OUT_OF_BOUNDS, SYM + 48, "descriptor", NULL } } },
	{ "section begins past the end", healthy, { { SECTIONS + 64 + 24, 8, 1u << 30 } }, 0,
	  PARTIAL(V5), 1,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, SECTIONS + 64 + 24, "sh_offset", NULL } } },

	{ "symbols: link", healthy, { { SYMTAB + 40, 4, 999 } }, 0, COMPLETE(V5), 1,
	  { { DEC_PROBLEM_MALFORMED_ELF, SYMTAB + 40, "sh_link", NULL } } },
	{ "symbols: link to something else", healthy, { { SYMTAB + 40, 4, 1 } }, 0, COMPLETE(V5), 1,
	  { { DEC_PROBLEM_MALFORMED_ELF, SYMTAB + 40, "sh_link", NULL } } },
	{ "symbols: entry size", healthy, { { SYMTAB + 56, 8, 7 } }, 0, COMPLETE(V5), 1,
	  { { DEC_PROBLEM_MALFORMED_ELF, SYMTAB + 56, "sh_entsize", NULL } } },
	{ "symbols: no entry size", healthy, { { SYMTAB + 56, 8, 0 } }, 0, COMPLETE(V5), 1,
	  { { DEC_PROBLEM_MALFORMED_ELF, SYMTAB + 56, "sh_entsize", NULL } } },
	{ "symbols: size below one", healthy, { { SYMTAB + 32, 8, 5 } }, 0, COMPLETE(V5), 1,
	  { { DEC_PROBLEM_MALFORMED_ELF, SYMTAB + 32, "sh_size", NULL } } },
	{ "symbols: another number than DT_HASH has", healthy, { { SYMTAB + 32, 8, 4 * 24 } }, 0,
	  COMPLETE(V5), 1, { { DEC_PROBLEM_MALFORMED_ELF, SYMTAB + 32, "sh_size", NULL } } },
	{ "symbols: type", healthy, { { SYMTAB + 4, 4, SHT_PROGBITS } }, 0, COMPLETE(V5), 1,
	  { { DEC_PROBLEM_MALFORMED_ELF, SYMTAB + 4, "sh_type", NULL } } },

	{ "same name twice", same_name_twice, { { 0, 0, 0 } }, 0, COMPLETE(V5), 2,
	  { { DEC_PROBLEM_DUPLICATE_KERNEL, DESC + 17 + KERNEL, "kernel", NULL } } },
	{ "symbol without metadata", symbol_alone, { { 0, 0, 0 } }, 0, PARTIAL(V5), 1,
	  { { META, SYM + 48, "symbol", NULL } } },
	{ "metadata without symbol", metadata_alone, { { 0, 0, 0 } }, 0, PARTIAL(V5), 2,
	  { { META, 0, ".symbol", "missing.kd" }, { META, SYM + 48, "symbol", NULL },
	    { DEC_PROBLEM_DUPLICATE_KERNEL, SYM + 48, "kernel", NULL } } },
	{ "wrong types", wrong_types, { { 0, 0, 0 } }, 0, PARTIAL(V5), 1,
	  { { META, 0, ".agpr_count", "agpr text" }, { META, 0, ".reqd_workgroup_size", "\xa5" "first" },
	    { META, 0, ".args", "arg text" }, { META, ANYWHERE, ".sgpr_spill_count", NULL },
	    { META, ANYWHERE, ".language", NULL }, { META, ANYWHERE, ".uses_dynamic_stack", NULL } } },

	{ "descriptor: group size", healthy, { { KD, 4, 401 } }, 0, PARTIAL(V5), 1,
	  { { DEC_PROBLEM_DESCRIPTOR_DISAGREES, KD, "group_segment_fixed_size", NULL } } },
	{ "descriptor: private size", healthy, { { KD + 4, 4, 12 } }, 0, PARTIAL(V5), 1,
	  { { DEC_PROBLEM_DESCRIPTOR_DISAGREES, KD + 4, "private_segment_fixed_size", NULL } } },
	{ "descriptor: kernarg size", healthy, { { KD + 8, 4, 0 } }, 0, PARTIAL(V5), 1,
	  { { DEC_PROBLEM_DESCRIPTOR_DISAGREES, KD + 8, "kernarg_segment_size", NULL } } },
	{ "descriptor: wave size and registers of wave32", healthy, { { KD + 56, 2, 0x409 } }, 0,
	  PARTIAL(V5), 1,
	  { { DEC_PROBLEM_DESCRIPTOR_DISAGREES, KD + 56, "wavefront_size", NULL } } },
	{ "descriptor: dynamic stack", healthy, { { KD + 56, 2, 0x809 } }, 0, PARTIAL(V5), 1,
	  { { DEC_PROBLEM_DESCRIPTOR_DISAGREES, KD + 56, "uses_dynamic_stack", NULL } } },
	{ "descriptor: no private segment", healthy, { { KD + 52, 4, 0x8c } }, 0, PARTIAL(V5), 1,
	  { { DEC_PROBLEM_DESCRIPTOR_DISAGREES, KD + 52, "enable_private_segment", NULL } } },
	{ "descriptor: fewer VGPRs", healthy, { { KD + 48, 4, 0x00af0044 } }, 0, PARTIAL(V5), 1,
	  { { DEC_PROBLEM_DESCRIPTOR_DISAGREES, KD + 48, "vgpr_count", NULL } } },
	{ "descriptor: fewer SGPRs", healthy, { { KD + 48, 4, 0x00af0005 } }, 0, PARTIAL(V5), 1,
	  { { DEC_PROBLEM_DESCRIPTOR_DISAGREES, KD + 48, "sgpr_count", NULL } } },
	{ "descriptor: more registers than needed", healthy, { { KD + 48, 4, 0x00af01c7 } }, 0,
	  COMPLETE(V5), 1, { { 0, 0, NULL, NULL } } },
	{ "descriptor: another entry", healthy, { { KD + 16, 8, 0x200 } }, 0, PARTIAL(V5), 1,
	  { { DEC_PROBLEM_DESCRIPTOR_DISAGREES, KD + 16, "kernel_code_entry_byte_offset", NULL } } },
	{ "descriptor: another size", healthy, { { SYM + 48 + 16, 8, 32 } }, 0, PARTIAL(V5), 1,
	  { { DEC_PROBLEM_DESCRIPTOR_DISAGREES, SYM + 48, "descriptor", NULL } } },
	{ "descriptor outside", healthy, { { SYM + 48 + 8, 8, UINT64_MAX } }, 0, PARTIAL(V5), 1,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, SYM + 48, "descriptor", NULL } } },
	{ "code outside", healthy, { { SYM + 24 + 16, 8, UINT64_MAX } }, 0, PARTIAL(V5), 1,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, KD, "code", NULL } } },

	{ "V2: entry outside its symbol", v2, { { TEXT + 16, 8, 1024 } }, 0, PARTIAL(OLD), 1,
	  { { DEC_PROBLEM_OUT_OF_BOUNDS, TEXT + 16, "kernel_code_entry_byte_offset", NULL } } },
	{ "V2: not YAML", v2_not_yaml, { { 0, 0, 0 } }, 0, DEC_STATE_MALFORMED, OLD,
	  DEC_EVIDENCE_AMDGPU_NOTE, 1, { { META, ANYWHERE, "metadata", NULL } } },
	{ "V2: alias", v2_with_alias, { { 0, 0, 0 } }, 0, DEC_STATE_MALFORMED, OLD,
	  DEC_EVIDENCE_AMDGPU_NOTE, 0, { { META, ANYWHERE, "metadata", NULL } } },
	{ "V2: nested too deep", v2_too_deep, { { 0, 0, 0 } }, 0, DEC_STATE_PARTIAL, OLD,
	  DEC_EVIDENCE_AMDGPU_NOTE, 0, { { DEC_PROBLEM_LIMIT, ANYWHERE, "metadata", NULL } } },

	{ "metadata: empty", empty_metadata, { { 0, 0, 0 } }, 0, FLAGS(MALFORMED), 0,
	  { { META, ALONE, "metadata", NULL } } },
	{ "metadata: not a map", not_a_map, { { 0, 0, 0 } }, 0, FLAGS(MALFORMED), 0,
	  { { META, ALONE, "metadata", NULL } } },
	{ "metadata: reserved lead", reserved_lead, { { 0, 0, 0 } }, 0, FLAGS(MALFORMED), 0,
	  { { META, ALONE, "metadata", NULL } } },
	{ "metadata: map of 2^32 - 1", map_of_4g, { { 0, 0, 0 } }, 0, FLAGS(MALFORMED), 0,
	  { { META, ALONE, "metadata", NULL } } },
	{ "metadata: 2^32 - 1 kernels", kernels_of_4g, { { 0, 0, 0 } }, 0, FLAGS(MALFORMED), 0,
	  { { META, ALONE + 16, "metadata", NULL } } },
	{ "metadata: text past the end", text_past_the_end, { { 0, 0, 0 } }, 0, FLAGS(MALFORMED), 0,
	  { { META, ALONE + 17, "metadata", NULL } } },
	{ "metadata: a kernel that is cut", kernel_cut, { { 0, 0, 0 } }, 0, FLAGS(MALFORMED), 1,
	  { { META, ALONE + 26, "metadata", NULL } } },
	{ "metadata: 20,000 levels", nested_deep, { { 0, 0, 0 } }, 0, FLAGS(PARTIAL), 0,
	  { { DEC_PROBLEM_LIMIT, ALONE + 3 + DEC_METADATA_DEPTH - 1, "metadata", NULL } } },
	{ "metadata: no list of kernels", no_kernels_key, { { 0, 0, 0 } }, 0, FLAGS(PARTIAL), 0,
	  { { META, ALONE, "amdhsa.kernels", NULL } } },
	{ "metadata: a kernel that is no map", kernel_no_map, { { 0, 0, 0 } }, 0, FLAGS(PARTIAL), 0,
	  { { META, ALONE + 35, "amdhsa.kernels", NULL } } },
	{ "metadata: a key twice", same_key_twice, { { 0, 0, 0 } }, 0, FLAGS(PARTIAL), 0,
	  { { META, ALONE + 34, "amdhsa.version", NULL } } },
	{ "metadata: odd types", odd_types, { { 0, 0, 0 } }, 0, FLAGS(COMPLETE), 0,
	  { { META, ALONE + 3, "metadata", NULL }, { META, ALONE + 6, "metadata", NULL } } },
	{ "metadata: bytes behind the map", bytes_behind, { { 0, 0, 0 } }, 0, FLAGS(COMPLETE), 0,
	  { { META, ALONE + WHOLE, "metadata", NULL } } },

	{ "note: whole", only_whole, { { 0, 0, 0 } }, 0, FLAGS(COMPLETE), 0, { { 0, 0, NULL, NULL } } },
	{ "note: two of metadata", two_notes, { { 0, 0, 0 } }, 0, FLAGS(COMPLETE), 0,
	  { { DEC_PROBLEM_MALFORMED_NOTE, ALONE + 36 + 20, "note", NULL } } },
	{ "note: without its padding", no_padding, { { 0, 0, 0 } }, 0, FLAGS(COMPLETE), 0,
	  { { DEC_PROBLEM_MALFORMED_NOTE, ALONE + WHOLE, "note padding", NULL } } },
	{ "note: owner without NUL", owner_without_nul, { { 0, 0, 0 } }, 0, FLAGS(COMPLETE), 0,
	  { { DEC_PROBLEM_MALFORMED_NOTE, ELF_EHDR + 12, "note owner", NULL } } },
	{ "note: padding that is not zero", only_whole, { { ELF_EHDR + 19, 1, 0xff } }, 0,
	  FLAGS(COMPLETE), 0,
	  { { DEC_PROBLEM_MALFORMED_NOTE, ELF_EHDR + 19, "note padding", NULL } } },
	{ "note: padded to 8", padded_to_8, { { 0, 0, 0 } }, 0, FLAGS(COMPLETE), 0,
	  { { 0, 0, NULL, NULL } } },
	{ "note: name size near 2^32", only_whole, { { ELF_EHDR, 4, 0xfffffffc } }, 0,
	  FLAGS(PARTIAL), 0,
	  { { DEC_PROBLEM_MALFORMED_NOTE, ELF_EHDR, "n_namesz", NULL },
	    { DEC_PROBLEM_MALFORMED_NOTE, 0, "metadata", NULL } } },
	{ "note: size past the end", only_whole, { { ELF_EHDR + 4, 4, 0x1000 } }, 0,
	  FLAGS(PARTIAL), 0,
	  { { DEC_PROBLEM_MALFORMED_NOTE, ELF_EHDR + 4, "n_descsz", NULL },
	    { DEC_PROBLEM_MALFORMED_NOTE, 0, "metadata", NULL } } },
	{ "note: another owner", only_whole, { { ELF_EHDR + 12, 1, 'X' } }, 0, FLAGS(PARTIAL), 0,
	  { { DEC_PROBLEM_MALFORMED_NOTE, 0, "metadata", NULL } } },
	/* clang-format on */
};

static struct dec_inspection *examine(const struct bytes *b, struct dec_error *err)
{
	static const struct dec_object object = {
		.kind = DEC_KIND_CODE_OBJECT,
		.target_kind = DEC_TARGET_STANDALONE,
		.has_payload = true,
		.target = { "", 0 },
		.target_index = DEC_NONE,
	};
	static const struct dec_artifact artifact = { .objects = &object, .object_count = 1 };

	return dec_inspect(&artifact, 0, b->p, b->len, DEC_WANT_METADATA, err);
}

static void make(const struct object_case *row, struct bytes *b)
{
	struct bytes built = { 0 };

	row->build(&built);
	for (size_t i = 0; i < COUNT(row->edits) && row->edits[i].width; i++)
		set_le(&built, row->edits[i].at, row->edits[i].width, row->edits[i].value);
	b->len = row->keep ? row->keep : built.len;
	b->p = malloc(b->len);
	assert_non_null(b->p);
	memcpy(b->p, built.p, b->len);
	bytes_free(&built);
}

static uint64_t offset_of(const struct bytes *b, const struct expected *e)
{
	const uint8_t *at;

	if (!e->text)
		return e->offset;
	at = memmem(b->p, b->len, e->text, strlen(e->text));
	assert_non_null(at);
	return (uint64_t)(at - b->p) - 1;
}

static void check_problems(const struct bytes *b, const struct object_case *row,
			   const struct dec_inspection *in)
{
	uint32_t count = 0;

	for (; count < COUNT(row->problems) && row->problems[count].field; count++) {
		const struct expected *e = &row->problems[count];

		assert_true(count < in->problem_count);
		assert_string_equal(in->problems[count].field, e->field);
		assert_int_equal(in->problems[count].code, e->code);
		if (offset_of(b, e) != ANYWHERE)
			assert_int_equal(in->problems[count].offset, offset_of(b, e));
	}
	assert_int_equal(in->problem_count, count);
}

/* Fails the 1st, 2nd ... allocation: no inspection then, and nothing that stays allocated. */
static void sweep(const struct bytes *b)
{
	for (unsigned n = 1;; n++) {
		long before = alloc_live();
		struct dec_inspection *in;
		struct dec_error err;
		bool reached;

		alloc_fail_at(n);
		in = examine(b, &err);
		reached = alloc_calls() >= n;
		alloc_fail_at(0);
		if (in)
			dec_inspection_free(in);
		else
			assert_int_equal(err.status, DEC_E_NOMEM);
		assert_int_equal(alloc_live(), before);
		assert_int_equal(in == NULL, reached);
		if (!reached)
			return;
	}
}

static void each_object(void **state)
{
	const struct object_case *row = *state;
	struct dec_inspection *in;
	struct dec_error err;
	struct bytes b;

	make(row, &b);
	in = examine(&b, &err);
	assert_non_null(in);
	assert_int_equal(in->representation, DEC_REPRESENTATION_AMDGPU_ELF);
	check_problems(&b, row, in);
	assert_int_equal(in->state, row->state);
	assert_int_equal(in->kernel_count, row->kernels);
	assert_int_equal(in->evidence, row->evidence);
	assert_int_equal(dec_text_present(in->payload_target), row->target != NULL);
	if (row->target)
		assert_string_equal(in->payload_target.p, row->target);
	dec_inspection_free(in);
	sweep(&b);
	bytes_free(&b);
}

/* ---- what healthy objects say ----------------------------------------------------------------------------- */

static void expect_count(const struct dec_kernel *k, enum dec_fact_id id, uint64_t value)
{
	const struct dec_fact *f = dec_kernel_fact(k, id);

	assert_non_null(f);
	assert_int_equal(f->u, value);
}

static void expect_sizes(const struct dec_kernel *k)
{
	expect_count(k, DEC_FACT_VGPR_COUNT, 41);
	expect_count(k, DEC_FACT_SGPR_COUNT, 10);
	expect_count(k, DEC_FACT_GROUP_SEGMENT_FIXED_SIZE, 400);
	expect_count(k, DEC_FACT_PRIVATE_SEGMENT_FIXED_SIZE, 16);
	expect_count(k, DEC_FACT_KERNARG_SEGMENT_SIZE, 280);
	expect_count(k, DEC_FACT_KERNARG_SEGMENT_ALIGN, 8);
	expect_count(k, DEC_FACT_WAVEFRONT_SIZE, 64);
}

static void expect_range(struct dec_range r, uint64_t offset, uint64_t size)
{
	assert_int_equal(r.offset, offset);
	assert_int_equal(r.size, size);
}

static struct dec_inspection *examine_built(void (*build)(struct bytes *), struct bytes *b)
{
	struct dec_inspection *in;
	struct dec_error err;

	*b = (struct bytes){ 0 };
	build(b);
	in = examine(b, &err);
	assert_non_null(in);
	assert_int_equal(in->kernel_count, 1);
	return in;
}

static void kernel_of_v5(void **state)
{
	struct bytes b;
	struct dec_inspection *in = examine_built(healthy, &b);
	const struct dec_kernel *k = &in->kernels[0];
	const struct dec_fact *groups = dec_kernel_fact(k, DEC_FACT_MAX_NUM_WORKGROUPS);

	(void)state;
	assert_string_equal(k->name.p, "k");
	assert_string_equal(k->symbol.p, "k.kd");
	expect_range(k->descriptor, KD, 64);
	expect_range(k->code, TEXT, 80);
	expect_sizes(k);
	expect_count(k, DEC_FACT_COMPUTE_PGM_RSRC1, 0x00af0045);
	expect_count(k, DEC_FACT_COMPUTE_PGM_RSRC3, 5);
	expect_count(k, DEC_FACT_KERNEL_CODE_PROPERTIES, 9);
	assert_non_null(groups);
	assert_int_equal(groups->triple[0], 16);
	assert_int_equal(groups->triple[1], UINT32_MAX);
	assert_int_equal(groups->triple[2], 4);
	assert_int_equal(k->arg_count, 2);
	assert_string_equal(k->args[0].name.p, "out");
	assert_string_equal(k->args[0].access.p, "write_only");
	assert_string_equal(k->args[0].kind.p, "global_buffer");
	assert_string_equal(k->args[1].kind.p, "kind_of_tomorrow");
	assert_false(dec_text_present(k->args[1].name));
	assert_int_equal(k->args[1].offset, 8);
	assert_int_equal(k->args[1].align, DEC_UNSTATED);
	dec_inspection_free(in);
	bytes_free(&b);
}

static void kernel_of_v2(void **state)
{
	static const uint64_t offsets[] = { 0, 8, 16 };
	struct bytes b;
	struct dec_inspection *in = examine_built(v2, &b);
	const struct dec_kernel *k = &in->kernels[0];

	(void)state;
	assert_string_equal(in->payload_target_raw.p, "amdgcn-amd-amdhsa--gfx907");
	assert_string_equal(k->symbol.p, "k@kd");
	expect_range(k->descriptor, 0, 0);
	expect_range(k->code, TEXT + 256, 80);
	expect_sizes(k);
	assert_string_equal(dec_kernel_fact(k, DEC_FACT_LANGUAGE_VERSION)->text.p, "2.0");
	assert_int_equal(k->arg_count, 3);
	for (size_t i = 0; i < COUNT(offsets); i++)
		assert_int_equal(k->args[i].offset, offsets[i]);
	assert_string_equal(k->args[0].address_space.p, "global");
	assert_false(dec_text_present(k->args[0].access));
	assert_string_equal(k->args[2].kind.p, "hidden_multigrid_sync_arg");
	dec_inspection_free(in);
	bytes_free(&b);
}

static void kernel_of_v1(void **state)
{
	struct bytes b;
	struct dec_inspection *in = examine_built(v1, &b);
	const struct dec_kernel *k = &in->kernels[0];

	(void)state;
	assert_string_equal(in->payload_target_raw.p, "9:0:7");
	assert_string_equal(k->name.p, "k");
	assert_false(dec_text_present(k->symbol));
	expect_range(k->code, TEXT + 256, 80);
	expect_sizes(k);
	assert_int_equal(k->arg_count, 0);
	dec_inspection_free(in);
	bytes_free(&b);
}

/* A name under a wrong key, and one that is a number: empty names, of which none is a duplicate. */
static void two_without_name(struct bytes *b)
{
	struct bytes desc = { 0 }, notes = { 0 };

	two_of_one_name(&desc);
	memcpy(memmem(desc.p, desc.len, ".name", 5), ".nbme", 5);
	memcpy((uint8_t *)memmem(desc.p, desc.len, ".name\xa1k", 7) + 5, "\xcc\x05", 2);
	add_note(&notes, "AMDGPU", 32, desc.p, desc.len);
	add_linked(b, 3, 0xe3f, &notes);
	bytes_free(&desc);
	bytes_free(&notes);
}

static void kernels_without_name(void **state)
{
	struct bytes b = { 0 };
	struct dec_inspection *in;
	struct dec_error err;

	(void)state;
	two_without_name(&b);
	in = examine(&b, &err);
	assert_non_null(in);
	assert_int_equal(in->kernel_count, 2);
	for (uint32_t k = 0; k < in->kernel_count; k++) {
		assert_true(dec_text_present(in->kernels[k].name));
		assert_string_equal(in->kernels[k].name.p, "");
	}
	assert_int_equal(in->problem_count, 2);
	for (uint32_t i = 0; i < in->problem_count; i++)
		assert_string_equal(in->problems[i].field, ".name");
	dec_inspection_free(in);
	bytes_free(&b);
}

/* A kernel that only its symbol tells of has what the descriptor says. */
static void kernel_of_a_symbol(void **state)
{
	struct bytes b;
	struct dec_inspection *in = examine_built(symbol_alone, &b);
	const struct dec_kernel *k = &in->kernels[0];

	(void)state;
	assert_string_equal(k->name.p, "k");
	assert_string_equal(k->symbol.p, "k.kd");
	expect_range(k->descriptor, KD, 64);
	expect_count(k, DEC_FACT_GROUP_SEGMENT_FIXED_SIZE, 400);
	assert_null(dec_kernel_fact(k, DEC_FACT_VGPR_COUNT));
	dec_inspection_free(in);
	bytes_free(&b);
}

static const struct dec_meta *member(const struct dec_meta *m, const char *key)
{
	assert_int_equal(m->type, DEC_META_MAP);
	for (uint32_t i = 0; i < m->count; i++)
		if (strcmp(m->items[i].key.p, key) == 0)
			return &m->items[i];
	fail_msg("no %s", key);
	return NULL;
}

static void the_metadata_tree(void **state)
{
	struct bytes b;
	struct dec_inspection *in = examine_built(healthy, &b);
	const struct dec_meta *kernels = member(member(in->metadata, "amdhsa"), "amdhsa.kernels");
	const struct dec_meta *note = &member(in->metadata, "notes")->items[0];

	(void)state;
	assert_int_equal(member(member(in->metadata, "elf"), "flags")->u, 0xe3f);
	assert_int_equal(member(in->metadata, "notes")->count, 1);
	assert_string_equal(member(note, "owner")->text.p, "AMDGPU");
	assert_int_equal(kernels->type, DEC_META_ARRAY);
	assert_int_equal(kernels->count, 1);
	assert_int_equal(member(&kernels->items[0], ".vgpr_count")->u, 41);
	assert_int_equal(member(&kernels->items[0], ".uses_dynamic_stack")->type, DEC_META_BOOL);
	assert_int_equal(member(&kernels->items[0], ".args")->items[1].count, 3);
	dec_inspection_free(in);
	bytes_free(&b);
}

/* 12,000 kernels in one object, each looked up, none of them there. */
static void many_kernels(void **state)
{
	enum { KERNELS = 12000 };
	struct bytes b = { 0 }, desc = { 0 };
	struct dec_inspection *in;
	struct dec_error err;
	char name[32], symbol[32];

	(void)state;
	mp_map(&desc, 3);
	mp_text(&desc, "amdhsa.kernels");
	mp_array16(&desc, KERNELS);
	for (int i = 0; i < KERNELS; i++) {
		snprintf(name, sizeof(name), "kernel_%d", i);
		snprintf(symbol, sizeof(symbol), "kernel_%d.kd", i);
		mp_kernel(&desc, 0, name, symbol);
	}
	mp_tail(&desc, GFX90A);
	alone_with(&b, desc.p, desc.len, &gfx1100);
	in = examine(&b, &err);
	assert_non_null(in);
	assert_int_equal(in->kernel_count, KERNELS);
	assert_int_equal(in->state, DEC_STATE_PARTIAL);
	dec_inspection_free(in);
	bytes_free(&desc);
	bytes_free(&b);
}

/* Any length of a healthy object can be read, and nothing past it is. */
static void every_cut(void **state)
{
	static void (*const builds[])(struct bytes *) = { healthy, v2, with_gnu_hash };

	(void)state;
	for (size_t i = 0; i < COUNT(builds); i++) {
		struct bytes b = { 0 };

		builds[i](&b);
		for (size_t len = 20; len < b.len; len++) {
			struct bytes cut = { malloc(len), len, len };
			struct dec_inspection *in;
			struct dec_error err;

			assert_non_null(cut.p);
			memcpy(cut.p, b.p, len);
			in = examine(&cut, &err);
			assert_non_null(in);
			assert_int_not_equal(in->state, DEC_STATE_UNEXAMINED);
			dec_inspection_free(in);
			bytes_free(&cut);
		}
		bytes_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_of_v5),	     cmocka_unit_test(kernel_of_v2),
		cmocka_unit_test(kernel_of_v1),	     cmocka_unit_test(kernel_of_a_symbol),
		cmocka_unit_test(the_metadata_tree), cmocka_unit_test(many_kernels),
		cmocka_unit_test(every_cut),	     cmocka_unit_test(kernels_without_name),
	};

	return RUN_ROWS(cases, each_object) + cmocka_run_group_tests(tests, NULL, NULL);
}
