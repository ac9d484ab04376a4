/*
 * Code objects that no container holds: cubins and AMDGPU ELF files, as the artifact
 * itself or lying anywhere in it. Their extent follows from their own ELF headers:
 * docs/formats/bare.md.
 */
#include "internal.h"

#include <elf.h>

enum {
	EHDR64_SIZE = 64,
	CUBIN_ABI_OLD = 7, /* EI_ABIVERSION up to here has the SM number in bits 0-7 */
	CUBIN_OLD_A = 0x800,
	CUBIN_NEW_A = 0x8,
	AMDHSA = 64,
	AMDHSA_V3 = 1, /* EI_ABIVERSION from here on has the processor in e_flags */
	NOTE_ISA_VERSION = 3,
	NOTE_ISA_NAME = 11,
	NOTES_MAX = 65536, /* metadata notes come after these two; only the head is read */
};

/* ---- extent ---------------------------------------------------------------------- */

struct extent {
	const struct dec_elf *elf;
	uint64_t end; /* from the ELF header */
	bool proven; /* every table and section lies inside the file */
	uint64_t bad_at; /* what does not, if not proven */
	const char *bad_field;
};

/* The first fault is the one that is named. */
static void unproven(struct extent *x, uint64_t at, const char *field)
{
	if (!x->bad_field) {
		x->bad_at = at;
		x->bad_field = field;
	}
	x->proven = false;
}

static void extend(struct extent *x, uint64_t offset, uint64_t size, uint64_t at, const char *field)
{
	if (!dec_fits(offset, size, x->elf->room))
		unproven(x, at, field);
	else if (offset + size > x->end)
		x->end = offset + size;
}

static bool extend_section(void *ctx, const struct dec_section *s)
{
	struct extent *x = ctx;

	if (dec_elf_has_content(x->elf, s->type))
		extend(x, s->offset, s->size,
		       x->elf->shoff + s->index * sizeof(Elf64_Shdr) +
			       offsetof(Elf64_Shdr, sh_offset),
		       "sh_offset");
	return true;
}

static bool extend_segment(void *ctx, const struct dec_segment *s)
{
	struct extent *x = ctx;

	extend(x, s->offset, s->filesz,
	       x->elf->phoff + s->index * sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, p_offset),
	       "p_offset");
	return true;
}

/* The tables are inside when *ok, so that the products here cannot wrap. */
static bool measure_elf(struct dec_build *b, struct extent *x)
{
	const struct dec_elf *elf = x->elf;
	bool sections = elf->shoff != 0, segments = elf->phoff != 0, ok;
	struct dec_elf_field bad = dec_elf_bad_sections(elf);

	x->proven = sections || segments;
	if (sections) {
		if (!dec_elf_sections(b, elf, extend_section, x, &ok))
			return false;
		if (ok)
			extend(x, elf->shoff, elf->shnum * elf->shentsize, 0, "ELF header");
		else
			unproven(x, bad.offset, bad.name ? bad.name : "ELF header");
	}
	if (segments) {
		bad = dec_elf_bad_segments(elf);
		/* Segments repeat what the sections say; alone they are all there is. */
		if (!dec_elf_segments(b, elf, sections ? NULL : extend_segment, x, &ok))
			return false;
		if (ok)
			extend(x, elf->phoff, elf->phnum * elf->phentsize, 0, "ELF header");
		else
			unproven(x, bad.offset, bad.name ? bad.name : "ELF header");
	}
	return true;
}

/* ---- declared target ------------------------------------------------------------------ */

static void declare_cubin(struct dec_declared *d, const struct dec_elf *elf)
{
	bool old = elf->abiversion <= CUBIN_ABI_OLD;
	uint32_t sm = old ? elf->flags & 0xff : elf->flags >> 8 & 0xff;
	bool a = elf->flags & (old ? CUBIN_OLD_A : CUBIN_NEW_A);

	dec_declare_sm(d, DEC_CLASS_SM, sm, a ? 'a' : 0);
}

/* What the notes of an old AMDGPU object say. */
struct isa {
	struct dec_build *b;
	const struct dec_elf *elf;
	uint64_t offset, size; /* of the first note section or segment */
};

static bool find_note_section(void *ctx, const struct dec_section *s)
{
	struct isa *isa = ctx;

	if (s->type != SHT_NOTE || !dec_fits(s->offset, s->size, isa->elf->room))
		return true;
	isa->offset = s->offset;
	isa->size = s->size;
	return false;
}

static bool find_note_segment(void *ctx, const struct dec_segment *s)
{
	struct isa *isa = ctx;

	if (s->type != PT_NOTE || !dec_fits(s->offset, s->filesz, isa->elf->room))
		return true;
	isa->offset = s->offset;
	isa->size = s->filesz;
	return false;
}

/* The version names today's target; the name note of the same object may be an old one. */
static void declare_notes(struct dec_declared *d, struct dec_view notes)
{
	struct dec_declared name = { .vendor = DEC_VENDOR_AMD }, version = name;
	struct dec_elf_note note;
	bool broken;

	while (dec_elf_next_note(&notes, &note, &broken)) {
		if (!dec_starts(note.owner, "AMD", 4))
			continue;
		if (note.type == NOTE_ISA_VERSION && note.desc.len >= 16)
			dec_declare_isa_version(&version, dec_le32(note.desc.p + 4),
						dec_le32(note.desc.p + 8),
						dec_le32(note.desc.p + 12));
		else if (note.type == NOTE_ISA_NAME)
			dec_declare_isa_name(&name, (const char *)note.desc.p, note.desc.len);
	}
	*d = version.name[0] ? version : name;
}

static bool read_notes(struct dec_build *b, const struct dec_elf *elf, struct dec_declared *d)
{
	struct isa isa = { .b = b, .elf = elf };
	struct dec_view v;
	bool ok;

	if (!dec_elf_sections(b, elf, find_note_section, &isa, &ok) ||
	    (isa.size == 0 && !dec_elf_segments(b, elf, find_note_segment, &isa, &ok)))
		return false;
	if (isa.size > NOTES_MAX)
		isa.size = NOTES_MAX;
	if (!dec_peek(b, &b->head, elf->at + isa.offset, (size_t)isa.size, &v))
		return false;
	declare_notes(d, v);
	return true;
}

static bool declare(struct dec_build *b, const struct dec_elf *elf, struct dec_declared *d)
{
	if (elf->machine == DEC_EM_CUDA) {
		declare_cubin(d, elf);
		return true;
	}
	dec_declare_amdgpu_flags(d, elf->flags, elf->osabi, elf->abiversion);
	if (elf->osabi == AMDHSA && elf->abiversion >= AMDHSA_V3)
		return true;
	/* Older objects, and those of other systems, say it in a note; flags stand in. */
	struct dec_declared noted = { 0 };

	if (!read_notes(b, elf, &noted))
		return false;
	if (noted.name[0])
		*d = noted;
	return true;
}

/* ---- claiming ------------------------------------------------------------------------------ */

bool dec_bare_list(struct dec_build *b, const struct dec_hit *hit, uint64_t end, enum dec_kind kind,
		   const struct dec_declared *declared, const struct dec_view *raw, uint32_t *index)
{
	struct dec_container c = {
		.kind = DEC_CONTAINER_BARE,
		.entries = 1,
		.range = { hit->at, end - hit->at },
		.place = hit->place,
	};
	struct dec_object o = {
		.kind = kind,
		.target_kind = DEC_TARGET_STANDALONE,
		.codec = DEC_CODEC_NONE,
		.space = DEC_SPACE_ARTIFACT,
		.identifier = { dec_absent, 0 },
		.options = { dec_absent, 0 },
		.has_payload = true,
		.payload_size = c.range.size,
		.header = { hit->at, 0 },
		.encoded = c.range,
	};
	uint32_t container, object = DEC_NONE;

	if (!dec_add_container(b, &c, &container))
		return false;
	if (container != DEC_NONE && !dec_add_object(b, &o, declared, raw, &object))
		return false;
	if (index)
		*index = object;
	return true;
}

static bool note_extent(struct dec_build *b, const struct extent *x, uint32_t object)
{
	struct dec_owner owner = { b->container_count - 1, object };

	if (object == DEC_NONE)
		return true;
	return dec_note(
		b, owner, DEC_PROBLEM_MALFORMED_ELF, x->elf->at + x->bad_at,
		x->bad_field ? x->bad_field : "ELF header", DEC_COMPLETE,
		"its tables or sections do not lie inside the file; the payload is taken up "
		"to the end of what holds it");
}

static void keep_header(struct dec_build *b, const struct dec_elf *elf, uint32_t object)
{
	if (object == DEC_NONE)
		return;
	b->objects[object].elf_type = elf->type;
	b->objects[object].elf_osabi = elf->osabi;
	b->objects[object].elf_abiversion = elf->abiversion;
}

/* A header that only looks like one is common enough in code that reads ELF files. */
static bool header_plausible(const struct dec_elf *elf)
{
	return elf->class == ELFCLASS64 && elf->data == ELFDATA2LSB && elf->ehsize == EHDR64_SIZE &&
	       (elf->shoff != 0 || elf->phoff != 0);
}

static bool bare_claim(struct dec_build *b, const struct dec_hit *hit, uint64_t *end)
{
	struct extent x = { 0 };
	struct dec_declared declared;
	struct dec_elf elf;
	uint32_t object;
	bool ok;

	*end = hit->at;
	if (!dec_elf_read(b, hit->at, hit->limit, &elf, &ok))
		return false;
	/* An artifact that is a code object is taken even when the rest of its header is broken. */
	if ((elf.machine != DEC_EM_CUDA && elf.machine != DEC_EM_AMDGPU) ||
	    (!hit->expected && (!ok || !header_plausible(&elf))) ||
	    dec_object_starts_at(b, hit->at))
		return true;
	x = (struct extent){ .elf = &elf, .end = EHDR64_SIZE };
	if (!measure_elf(b, &x) || !declare(b, &elf, &declared))
		return false;
	if (!x.proven)
		x.end = elf.room;
	if (!dec_bare_list(b, hit, hit->at + x.end,
			   elf.machine == DEC_EM_CUDA ? DEC_KIND_CUBIN : DEC_KIND_CODE_OBJECT,
			   &declared, NULL, &object))
		return false;
	keep_header(b, &elf, object);
	/* What is not proven hides nothing behind it: the search goes on inside. */
	*end = hit->at + (x.proven || hit->expected ? x.end : EHDR64_SIZE);
	return x.proven || hit->expected || note_extent(b, &x, object);
}

const struct dec_format_row dec_format_bare = {
	.name = "bare",
	.magic = ELFMAG,
	.magic_len = SELFMAG,
	.claim = bare_claim,
};
