/* Note records of an AMDGPU code object. docs/formats/amdgpu.md, "Note records". */
#include "amdgpu.h"

#include <elf.h>

enum { RECORD_HEAD = 12 };

/* What one walk over a region came to. */
struct walk {
	struct dec_view region;
	uint64_t at, pad;
	bool ended; /* every byte belongs to a record, or is zero and too few for one */
	bool unpadded; /* the last record lacks its padding */
	uint64_t fault; /* where a record goes past the end */
	const char *field;
};

static uint64_t aligned(uint64_t n, uint64_t align)
{
	return (n + align - 1) & ~(align - 1);
}

static bool zero(struct dec_view v)
{
	for (size_t i = 0; i < v.len; i++)
		if (v.p[i])
			return false;
	return true;
}

/* A tail too short for a record, at most the padding to 8, is no fault. */
static bool tail(struct walk *w)
{
	struct dec_view rest;

	if (!dec_slice(w->region, w->at, w->region.len - w->at, &rest))
		return true;
	if (rest.len >= RECORD_HEAD)
		return false;
	w->ended = zero(rest);
	w->fault = rest.origin;
	w->field = "note";
	return true;
}

/* One record. False: there is none, or it does not fit; w->fault is then its place. Sizes
 * are 32 bits in 64, so that no sum wraps. */
static bool record(struct walk *w, struct dec_amdgpu_note *note, struct dec_view *name)
{
	struct dec_view head;
	uint64_t desc, next;

	if (tail(w) || !dec_slice(w->region, w->at, RECORD_HEAD, &head))
		return false;
	w->fault = head.origin;
	w->field = "n_namesz";
	note->type = dec_le32(head.p + 8);
	desc = aligned(w->at + RECORD_HEAD + dec_le32(head.p), w->pad);
	if (!dec_slice(w->region, w->at + RECORD_HEAD, dec_le32(head.p), name))
		return false;
	w->fault += 4;
	w->field = "n_descsz";
	if (!dec_slice(w->region, desc, dec_le32(head.p + 4), &note->desc))
		return false;
	note->owner = *name;
	if (name->len && name->p[name->len - 1] == 0)
		note->owner.len--;
	next = aligned(desc + note->desc.len, w->pad);
	w->unpadded = next > w->region.len;
	w->at = w->unpadded ? w->region.len : next;
	w->ended = w->at == w->region.len;
	return true;
}

static struct walk walk_from(struct dec_view region, uint64_t pad)
{
	return (struct walk){ .region = region, .pad = pad, .ended = region.len == 0 };
}

static bool consumes(struct dec_view region, uint64_t pad)
{
	struct walk w = walk_from(region, pad);
	struct dec_amdgpu_note note;
	struct dec_view name;

	while (record(&w, &note, &name))
		;
	return w.ended;
}

static bool remark(struct dec_amdgpu *g, uint64_t offset, const char *field, const char *what)
{
	return dec_exam_note(g->x, DEC_NONE, DEC_PROBLEM_MALFORMED_NOTE, offset, field,
			     DEC_COMPLETE, "%s", what);
}

/* Odd ways to write what can still be read. */
static bool remark_record(struct dec_amdgpu *g, const struct walk *w,
			  const struct dec_amdgpu_note *note, struct dec_view name)
{
	uint64_t name_end = name.origin - w->region.origin + name.len;
	uint64_t desc = note->desc.origin - w->region.origin;
	struct dec_view pad;

	if (note->owner.len == name.len &&
	    !remark(g, name.origin, "note owner", "the owner's name does not end with NUL"))
		return false;
	if (w->unpadded && !remark(g, note->desc.origin + note->desc.len, "note padding",
				   "the last note lacks its padding"))
		return false;
	if ((dec_slice(w->region, name_end, desc - name_end, &pad) && !zero(pad)) ||
	    (dec_slice(w->region, desc + note->desc.len, w->at - desc - note->desc.len, &pad) &&
	     !zero(pad)))
		return remark(g, pad.origin, "note padding", "padding bytes that are not zero");
	return true;
}

static bool keep(struct dec_amdgpu *g, const struct dec_amdgpu_note *note)
{
	if (g->note_count == g->note_room) {
		uint32_t room = g->note_room ? g->note_room * 2 : 8;
		struct dec_amdgpu_note *bigger =
			dec_arena_array(&g->scratch, room, sizeof(*bigger));

		if (!bigger)
			return false;
		if (g->note_count)
			memcpy(bigger, g->notes, g->note_count * sizeof(*bigger));
		g->notes = bigger;
		g->note_room = room;
	}
	g->notes[g->note_count++] = *note;
	return true;
}

/* Padding is to 4 whatever the section says; 8 is tried where that does not come out even. */
static bool read_region(struct dec_amdgpu *g, struct dec_view region)
{
	bool by_8 = !consumes(region, 4) && consumes(region, 8);
	struct walk w = walk_from(region, by_8 ? 8 : 4);
	struct dec_amdgpu_note note;
	struct dec_view name;

	while (g->note_count < DEC_NOTES_MAX && record(&w, &note, &name))
		if (!keep(g, &note) || !remark_record(g, &w, &note, name))
			return false;
	if (g->note_count == DEC_NOTES_MAX)
		return dec_exam_note(g->x, DEC_NONE, DEC_PROBLEM_LIMIT, region.origin + w.at,
				     "notes", DEC_PARTIAL, "more than %d notes", DEC_NOTES_MAX);
	if (w.ended)
		return true;
	return dec_exam_note(g->x, DEC_NONE, DEC_PROBLEM_MALFORMED_NOTE, w.fault, w.field,
			     DEC_PARTIAL, "a note goes on past the end of its section");
}

/* ---- where notes are --------------------------------------------------------------------- */

struct regions {
	struct dec_view list[DEC_NOTE_REGIONS_MAX];
	size_t count;
	bool full;
};

static bool overlaps(struct dec_view a, struct dec_view b)
{
	return a.origin < b.origin + b.len && b.origin < a.origin + a.len;
}

/* Sections and segments describe the same bytes: what is known already is not read twice. */
static void add_region(struct regions *r, struct dec_view v)
{
	for (size_t i = 0; i < r->count; i++)
		if (overlaps(r->list[i], v))
			return;
	if (r->count == DEC_NOTE_REGIONS_MAX)
		r->full = true;
	else if (v.len)
		r->list[r->count++] = v;
}

static void find_regions(const struct dec_amdgpu *g, struct regions *r)
{
	const struct dec_elfview *elf = &g->elf;
	uint64_t offset, vaddr, filesz, memsz;
	struct dec_elfsection s;
	struct dec_view v;
	uint32_t type;

	if (dec_elfview_has_sections(elf))
		for (uint64_t i = 0; dec_elfview_section(elf, i, &s) && !r->full; i++)
			if (s.type == SHT_NOTE)
				add_region(r, dec_elfview_bytes(elf, &s));
	for (uint64_t i = 0; i < DEC_ELF_SEGMENTS_MAX; i++)
		if (dec_elfview_segment(elf, i, &type, &offset, &vaddr, &filesz, &memsz) &&
		    type == PT_NOTE && dec_payload_slice(elf->payload, offset, filesz, &v))
			add_region(r, v);
}

bool dec_amdgpu_notes(struct dec_amdgpu *g)
{
	struct regions r = { .count = 0 };

	find_regions(g, &r);
	if (r.full &&
	    !dec_exam_note(g->x, DEC_NONE, DEC_PROBLEM_LIMIT, g->x->payload.origin, "notes",
			   DEC_PARTIAL, "more than %d sections of notes", DEC_NOTE_REGIONS_MAX))
		return false;
	for (size_t i = 0; i < r.count; i++)
		if (!read_region(g, r.list[i]))
			return false;
	return true;
}

/* ---- what a note is ------------------------------------------------------------------------- */

bool dec_amdgpu_note_is(const struct dec_amdgpu_note *note, const char *owner, uint32_t type)
{
	return note->type == type && note->owner.len == strlen(owner) &&
	       dec_starts(note->owner, owner, note->owner.len);
}

bool dec_amdgpu_note_metadata(const struct dec_amdgpu_note *note,
			      enum dec_amdgpu_language *language)
{
	enum { V2_METADATA = 10, METADATA = 32 };

	*language = DEC_AMDGPU_MSGPACK;
	if (dec_amdgpu_note_is(note, "AMDGPU", METADATA))
		return true;
	*language = DEC_AMDGPU_YAML;
	return dec_amdgpu_note_is(note, "AMD", V2_METADATA);
}
