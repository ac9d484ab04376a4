#include "amdgpu_map.h"

bool dec_amdgpu_map_note(struct dec_amdgpu_reading *rd, uint64_t offset, const char *field,
			 enum dec_severity severity, const char *sentence)
{
	return dec_exam_note(rd->g->x, rd->kernel, DEC_PROBLEM_MALFORMED_METADATA, offset, field,
			     severity, "%s", sentence);
}

bool dec_amdgpu_wrong(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
		      const struct dec_value *v, const char *sentence)
{
	uint64_t offset = v->offset;

	dec_values_skip(rd->r, v);
	return dec_amdgpu_map_note(rd, offset, row->key ? row->key : row->v2_key, DEC_PARTIAL,
				   sentence);
}

/* Begins behind the row that was found last: compilers write the keys of a map in order, and so
 * the rows are. */
static const struct dec_amdgpu_row *row_find(const struct dec_amdgpu_reading *rd,
					     const struct dec_amdgpu_rows *rows,
					     const struct dec_value *key, size_t *next)
{
	for (size_t left = rows->count; left > 0; left--) {
		const struct dec_amdgpu_row *row = &rows->list[*next];
		const char *name = rd->language == DEC_AMDGPU_YAML ? row->v2_key : row->key;

		*next = *next + 1 < rows->count ? *next + 1 : 0;
		if (name && dec_value_is(key, name))
			return row;
	}
	return NULL;
}

/* Keys that are not ours are the vendor's to add; only odd types are worth a word. */
static bool skip_unknown(struct dec_amdgpu_reading *rd, const struct dec_value *v)
{
	bool odd = v->type == DEC_VALUE_BYTES || v->type == DEC_VALUE_FLOAT;

	dec_values_skip(rd->r, v);
	return !odd || dec_amdgpu_map_note(rd, v->offset, "metadata", DEC_COMPLETE,
					   "a value of a type that metadata does not use");
}

static bool take_value(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_rows *rows,
		       const struct dec_amdgpu_row *row, const struct dec_value *v)
{
	uint64_t bit;

	if (!row)
		return skip_unknown(rd, v);
	bit = UINT64_C(1) << (row - rows->list);
	if (rd->seen & bit)
		return dec_amdgpu_wrong(rd, row, v, "the key is given twice; the first one counts");
	rd->seen |= bit;
	return row->take(rd, row, v);
}

bool dec_amdgpu_read_map(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_rows *rows)
{
	struct dec_value key, value;
	size_t next = 0;

	while (rd->r->next(rd->r, &key) && key.type != DEC_VALUE_END) {
		const struct dec_amdgpu_row *row = row_find(rd, rows, &key, &next);
		bool odd = key.type != DEC_VALUE_TEXT;
		uint64_t offset = key.offset;

		dec_values_skip(rd->r, &key);
		if (odd && !dec_amdgpu_map_note(rd, offset, "metadata", DEC_COMPLETE,
						"a key that is not text"))
			return false;
		if (rd->r->next(rd->r, &value) && !take_value(rd, rows, row, &value))
			return false;
	}
	return !rd->r->no_memory;
}

bool dec_amdgpu_check_required(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_rows *rows,
			       uint64_t offset)
{
	if (rd->language == DEC_AMDGPU_YAML)
		return true;
	for (size_t i = 0; i < rows->count; i++)
		if (rows->list[i].required && !(rd->seen >> i & 1))
			return dec_amdgpu_map_note(rd, offset, rows->list[i].key, DEC_PARTIAL,
						   "the key is missing from its map");
	return true;
}
