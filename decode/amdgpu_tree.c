/* Header, notes and metadata of a code object as one tree, the maps as they are. */
#include "amdgpu_reader.h"

#include <stdio.h>
#include <stdlib.h>

#define SHARED 64 /* short texts remembered, to keep one copy of each */
#define SHARED_LEN_MAX 32

/* Values are gathered on one stack; a container's are moved to the arena when it ends. */
struct building {
	struct dec_exam *x;
	struct dec_values *r;
	struct dec_meta *stack;
	size_t count, room;
	struct frame {
		size_t first;
		struct dec_text key;
		bool map;
	} frames[DEC_METADATA_DEPTH + 3]; /* the tree's own around a note's */
	unsigned depth;
	uint32_t nodes; /* made so far */
	struct dec_text shared[SHARED];
};

static const struct dec_text no_key = { dec_absent, 0 };

/* ---- values ------------------------------------------------------------------------------------- */

/* The same few words make up most of a map. */
static bool keep_text(struct building *b, struct dec_view v, struct dec_text *out)
{
	struct dec_text *slot = NULL;

	if (v.len && v.len <= SHARED_LEN_MAX) {
		size_t sum = v.len + v.p[v.len / 2] * 3u + v.p[v.len - 1] * 7u;

		slot = &b->shared[sum % SHARED];
		if (slot->p && slot->len == v.len && memcmp(slot->p, v.p, v.len) == 0) {
			*out = *slot;
			return true;
		}
	}
	if (!dec_exam_text(b->x, v, out))
		return false;
	if (slot)
		*slot = *out;
	return true;
}

static bool keep_literal(struct building *b, const char *text, struct dec_text *out)
{
	return keep_text(b, (struct dec_view){ (const uint8_t *)text, strlen(text), 0 }, out);
}

static bool push(struct building *b, const struct dec_meta *value)
{
	if (b->count == b->room) {
		size_t room = b->room ? b->room * 2 : 64;
		struct dec_meta *bigger = reallocarray(b->stack, room, sizeof(*bigger));

		if (!bigger)
			return false;
		b->stack = bigger;
		b->room = room;
	}
	b->stack[b->count++] = *value;
	b->nodes++;
	return true;
}

static bool push_scalar(struct building *b, struct dec_text key, const struct dec_value *v)
{
	struct dec_meta m = { .key = key };

	switch (v->type) {
	case DEC_VALUE_BOOL:
		m.type = DEC_META_BOOL;
		m.u = v->u;
		break;
	case DEC_VALUE_UINT:
		m.type = DEC_META_UINT;
		m.u = v->u;
		break;
	case DEC_VALUE_INT:
		m.type = DEC_META_INT;
		m.i = v->i;
		break;
	case DEC_VALUE_FLOAT:
		m.type = DEC_META_FLOAT;
		m.f = v->f;
		break;
	case DEC_VALUE_TEXT:
	case DEC_VALUE_BYTES:
		m.type = v->type == DEC_VALUE_TEXT ? DEC_META_TEXT : DEC_META_BYTES;
		if (!keep_text(b, v->bytes, &m.text))
			return false;
		break;
	default:
		m.type = DEC_META_NIL;
		break;
	}
	return push(b, &m);
}

/* ---- containers ------------------------------------------------------------------------------------ */

static void open_frame(struct building *b, struct dec_text key, bool map)
{
	b->frames[b->depth++] = (struct frame){ b->count, key, map };
}

static bool close_frame(struct building *b)
{
	struct frame frame = b->frames[--b->depth];
	size_t count = b->count - frame.first;
	struct dec_meta *items = dec_exam_array(b->x, count, sizeof(*items));
	struct dec_meta m = { .key = frame.key };

	if (!items)
		return false;
	if (count)
		memcpy(items, &b->stack[frame.first], count * sizeof(*items));
	b->count = frame.first;
	m.type = frame.map ? DEC_META_MAP : DEC_META_ARRAY;
	m.items = items;
	m.count = (uint32_t)count;
	return push(b, &m);
}

static bool in_map(const struct building *b)
{
	return b->depth && b->frames[b->depth - 1].map;
}

/* Keys that are no text: register numbers in PAL's maps. */
static bool key_text(struct building *b, const struct dec_value *v, struct dec_text *key)
{
	char spelling[32] = "";

	switch (v->type) {
	case DEC_VALUE_TEXT:
	case DEC_VALUE_BYTES:
		return keep_text(b, v->bytes, key);
	case DEC_VALUE_BOOL:
		return keep_literal(b, v->u ? "true" : "false", key);
	case DEC_VALUE_UINT:
		snprintf(spelling, sizeof(spelling), "%llu", (unsigned long long)v->u);
		break;
	case DEC_VALUE_INT:
		snprintf(spelling, sizeof(spelling), "%lld", (long long)v->i);
		break;
	case DEC_VALUE_FLOAT:
		snprintf(spelling, sizeof(spelling), "%.17g", v->f);
		break;
	default:
		dec_values_skip(b->r, v);
		break;
	}
	return keep_literal(b, spelling, key);
}

/* ---- metadata --------------------------------------------------------------------------------------- */

static bool limit(struct building *b, uint64_t offset)
{
	return dec_exam_note(b->x, DEC_NONE, DEC_PROBLEM_LIMIT, offset, "metadata", DEC_PARTIAL,
			     "more than %d values; the rest is not shown", DEC_METADATA_NODES_MAX);
}

/* What cannot be read ends the tree; the faults themselves are known by now. */
static bool read_values(struct building *b)
{
	unsigned outside = b->depth;
	struct dec_text key = no_key;
	struct dec_value v;

	do {
		if (!b->r->next(b->r, &v))
			break;
		if (b->nodes >= DEC_METADATA_NODES_MAX) {
			if (!limit(b, v.offset))
				return false;
			break;
		}
		if (v.type == DEC_VALUE_END) {
			if (!close_frame(b))
				return false;
			continue;
		}
		if (b->depth > outside && in_map(b)) {
			if (!key_text(b, &v, &key))
				return false;
			if (!b->r->next(b->r, &v))
				break;
		}
		if (!dec_value_opens(&v) && !push_scalar(b, key, &v))
			return false;
		if (dec_value_opens(&v))
			open_frame(b, key, v.type == DEC_VALUE_MAP);
		key = no_key;
	} while (b->depth > outside);
	while (b->depth > outside)
		if (!close_frame(b))
			return false;
	return !b->r->no_memory;
}

static bool add_note_map(struct building *b, struct dec_amdgpu *g,
			 const struct dec_amdgpu_note *note, enum dec_amdgpu_language language)
{
	const char *word = g->elf.h.osabi == DEC_OSABI_AMDPAL ? "amdpal" : "amdhsa";
	struct dec_amdgpu_reader reader;
	size_t first = b->count;
	struct dec_text key;
	bool ok;

	if (!keep_literal(b, word, &key))
		return false;
	dec_amdgpu_reader_open(&reader, note, language);
	b->r = reader.values;
	ok = read_values(b);
	dec_amdgpu_reader_close(&reader);
	if (b->count > first)
		b->stack[first].key = key;
	return ok;
}

/* ---- what stands around it ----------------------------------------------------------------------------- */

static bool add_number(struct building *b, const char *name, enum dec_meta_type type, uint64_t n)
{
	struct dec_meta m = { .type = type };

	m.u = n;
	return keep_literal(b, name, &m.key) && push(b, &m);
}

static bool open_named(struct building *b, const char *name, bool map)
{
	struct dec_text key;

	if (!keep_literal(b, name, &key))
		return false;
	open_frame(b, key, map);
	return true;
}

static bool add_header(struct building *b, const struct dec_elf *h)
{
	return open_named(b, "elf", true) && add_number(b, "class", DEC_META_UINT, h->class) &&
	       add_number(b, "osabi", DEC_META_UINT, h->osabi) &&
	       add_number(b, "abi_version", DEC_META_UINT, h->abiversion) &&
	       add_number(b, "type", DEC_META_UINT, h->type) &&
	       add_number(b, "flags", DEC_META_HEX, h->flags) && close_frame(b);
}

static bool add_notes(struct building *b, const struct dec_amdgpu *g)
{
	if (!open_named(b, "notes", false))
		return false;
	for (uint32_t i = 0; i < g->note_count; i++) {
		const struct dec_amdgpu_note *note = &g->notes[i];
		struct dec_meta owner = { .type = DEC_META_TEXT };

		open_frame(b, no_key, true);
		if (!keep_literal(b, "owner", &owner.key) ||
		    !keep_text(b, note->owner, &owner.text) || !push(b, &owner) ||
		    !add_number(b, "type", DEC_META_UINT, note->type) ||
		    !add_number(b, "size", DEC_META_UINT, note->desc.len) || !close_frame(b))
			return false;
	}
	return close_frame(b);
}

static bool add_all(struct building *b, struct dec_amdgpu *g)
{
	enum dec_amdgpu_language language;

	open_frame(b, no_key, true);
	if (!add_header(b, &g->elf.h) || !add_notes(b, g))
		return false;
	for (uint32_t i = 0; i < g->note_count; i++)
		if (dec_amdgpu_note_metadata(&g->notes[i], &language) &&
		    !add_note_map(b, g, &g->notes[i], language))
			return false;
	return close_frame(b);
}

bool dec_amdgpu_tree(struct dec_amdgpu *g)
{
	struct building b = { .x = g->x };
	struct dec_meta *top = dec_exam_array(g->x, 1, sizeof(*top));
	bool ok = top && add_all(&b, g);

	if (ok) {
		*top = b.stack[0];
		g->x->out->metadata = top;
	}
	free(b.stack);
	return ok;
}
