/* What an AMDGPU code object declares as its target: notes first, flags where there is none.
 * docs/formats/amdgpu.md, "Three places, one target". */
#include "amdgpu.h"

#include <elf.h>
#include <stdio.h>

enum { NOTE_ISA_VERSION = 3, NOTE_ISA_NAME = 11, ISA_VERSION_SIZE = 16, MACH_MASK = 0xff };

static const struct dec_amdgpu_note *find(const struct dec_amdgpu *g, uint32_t type)
{
	for (uint32_t i = 0; i < g->note_count; i++)
		if (dec_amdgpu_note_is(&g->notes[i], "AMD", type))
			return &g->notes[i];
	return NULL;
}

static bool is_hsa(const struct dec_amdgpu *g)
{
	return g->elf.h.osabi == DEC_OSABI_AMDHSA;
}

static uint64_t field_at(const struct dec_amdgpu *g, size_t offset)
{
	return g->x->payload.origin + offset;
}

/* ---- notes ---------------------------------------------------------------------------------- */

static bool from_metadata(struct dec_amdgpu *g, struct dec_view *raw)
{
	enum dec_amdgpu_language language;
	struct dec_value value = { .type = DEC_VALUE_NIL };

	for (uint32_t i = 0; i < g->note_count && value.type != DEC_VALUE_TEXT; i++)
		if (dec_amdgpu_note_metadata(&g->notes[i], &language) &&
		    language == DEC_AMDGPU_MSGPACK)
			dec_amdgpu_metadata_target(&g->notes[i], &value);
	if (value.type != DEC_VALUE_TEXT || value.bytes.len > DEC_ENTRY_ID_MAX)
		return false;
	dec_declare_isa_name(&g->target, (const char *)value.bytes.p, value.bytes.len);
	*raw = value.bytes;
	return g->target.name[0];
}

/* The name in the name note of an old object may be one that later tools dropped (gfx907),
 * so its version counts and its name is only the spelling. */
static bool from_isa_notes(struct dec_amdgpu *g, struct dec_view *raw, char *spelling, size_t room)
{
	const struct dec_amdgpu_note *version = find(g, NOTE_ISA_VERSION);
	const struct dec_amdgpu_note *name = find(g, NOTE_ISA_NAME);
	const uint8_t *p;

	if (name && name->desc.len <= DEC_ENTRY_ID_MAX) {
		dec_declare_isa_name(&g->target, (const char *)name->desc.p, name->desc.len);
		*raw = name->desc;
	}
	if (version && version->desc.len >= ISA_VERSION_SIZE) {
		p = version->desc.p;
		if (!name) {
			snprintf(spelling, room, "%u:%u:%u", (unsigned)dec_le32(p + 4),
				 (unsigned)dec_le32(p + 8), (unsigned)dec_le32(p + 12));
			*raw = (struct dec_view){ (uint8_t *)spelling, strlen(spelling), 0 };
		}
		dec_declare_isa_version(&g->target, dec_le32(p + 4), dec_le32(p + 8),
					dec_le32(p + 12));
	}
	return g->target.name[0];
}

/* ---- flags ---------------------------------------------------------------------------------- */

static struct dec_view processor(const struct dec_declared *d)
{
	return (struct dec_view){ (const uint8_t *)d->name, strcspn(d->name, ":"), 0 };
}

/* gfx125x has xnack always on, which newer tools do not spell. */
static bool xnack_is_fixed(struct dec_view name)
{
	return dec_starts(name, "gfx125", 6) || dec_starts(name, "gfx12-5", 7);
}

/* Features are compared where both places can state "any": from V4 on. */
static bool disagree(const struct dec_amdgpu *g, const struct dec_declared *flags)
{
	struct dec_view a = processor(&g->target), b = processor(flags);
	bool same = a.len == b.len && dec_starts(a, b.p, b.len);

	if (!same || !is_hsa(g) || g->elf.h.abiversion <= DEC_ABI_V3 || xnack_is_fixed(a))
		return !same;
	return strcmp(g->target.name, flags->name) != 0;
}

static bool compare_flags(struct dec_amdgpu *g, const struct dec_declared *flags)
{
	if (!flags->name[0] || !disagree(g, flags))
		return true;
	return dec_exam_note(g->x, DEC_NONE, DEC_PROBLEM_NOTE_FLAGS_DISAGREE,
			     field_at(g, offsetof(Elf64_Ehdr, e_flags)), "e_flags", DEC_PARTIAL,
			     "the notes declare %s, the flags %s", g->target.name, flags->name);
}

static bool remark_unknown(struct dec_amdgpu *g, const struct dec_declared *flags)
{
	if (flags->name[0] || !(g->elf.h.flags & MACH_MASK))
		return true;
	return dec_exam_note(g->x, DEC_NONE, DEC_PROBLEM_UNSUPPORTED_VERSION,
			     field_at(g, offsetof(Elf64_Ehdr, e_flags)), "e_flags", DEC_COMPLETE,
			     "processor number 0x%02x is not known",
			     (unsigned)(g->elf.h.flags & MACH_MASK));
}

static bool from_flags(struct dec_amdgpu *g, const struct dec_declared *flags)
{
	char spelling[16];

	g->target = *flags;
	if (!flags->name[0])
		return true;
	snprintf(spelling, sizeof(spelling), "0x%08x", (unsigned)g->elf.h.flags);
	return dec_exam_target(g->x, DEC_EVIDENCE_AMDGPU_FLAGS, flags,
			       (struct dec_view){ (uint8_t *)spelling, strlen(spelling), 0 });
}

bool dec_amdgpu_target(struct dec_amdgpu *g)
{
	/* V1 and V2 flags are no processor number: documents and tools disagree on them. */
	bool flags_count = !is_hsa(g) || g->elf.h.abiversion != DEC_ABI_V2;
	struct dec_declared flags = { .name = "" };
	struct dec_view raw = { (const uint8_t *)dec_absent, 0, 0 };
	char spelling[40];

	if (flags_count)
		dec_declare_amdgpu_flags(&flags, g->elf.h.flags, g->elf.h.osabi,
					 g->elf.h.abiversion);
	if (flags_count && !remark_unknown(g, &flags))
		return false;
	if (!from_metadata(g, &raw) && !from_isa_notes(g, &raw, spelling, sizeof(spelling)))
		return from_flags(g, &flags);
	return dec_exam_target(g->x, DEC_EVIDENCE_AMDGPU_NOTE, &g->target, raw) &&
	       compare_flags(g, &flags);
}
