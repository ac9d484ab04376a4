/* Arguments of one kernel. docs/formats/amdgpu.md, "Argument map". */
#include "amdgpu_map.h"

static const struct {
	const char *word, *v2_word;
} words[] = {
#define X(word, v2_word) { word, v2_word },
#include "amdgpu_words.def"
#undef X
};

static struct dec_text *arg_text(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row)
{
	return (struct dec_text *)((char *)&rd->arg + row->what);
}

static bool take_arg_number(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
			    const struct dec_value *v)
{
	if (v->type != DEC_VALUE_UINT)
		return dec_amdgpu_wrong(rd, row, v, "not a whole number from 0 on");
	memcpy((char *)&rd->arg + row->what, &v->u, sizeof(v->u));
	return true;
}

static bool take_value_align(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
			     const struct dec_value *v)
{
	if (v->type != DEC_VALUE_UINT || v->u == 0 || v->u & (v->u - 1))
		return dec_amdgpu_wrong(rd, row, v, "not a power of two");
	rd->value_align = v->u;
	return true;
}

static bool take_arg_text(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
			  const struct dec_value *v)
{
	if (v->type != DEC_VALUE_TEXT)
		return dec_amdgpu_wrong(rd, row, v, "not text");
	return dec_exam_text(rd->g->x, v->bytes, arg_text(rd, row));
}

/* Known words need no copy; others are kept as they are spelled. */
static bool take_arg_word(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
			  const struct dec_value *v)
{
	if (v->type != DEC_VALUE_TEXT)
		return dec_amdgpu_wrong(rd, row, v, "not text");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *word =
			rd->language == DEC_AMDGPU_YAML ? words[i].v2_word : words[i].word;

		if (!word || !dec_value_is(v, word))
			continue;
		*arg_text(rd, row) = (struct dec_text){ words[i].word, strlen(words[i].word) };
		return true;
	}
	if (rd->language == DEC_AMDGPU_YAML && dec_value_is(v, "Default"))
		return true;
	return dec_exam_text(rd->g->x, v->bytes, arg_text(rd, row));
}

/* What the compiler found stands in only where the source declares nothing. */
static bool take_actual_access(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
			       const struct dec_value *v)
{
	if (dec_text_present(rd->arg.access))
		return true;
	return take_arg_word(rd, row, v);
}

/* clang-format off */
static const struct dec_amdgpu_row arg_list[] = {
	{ ".access", "AccQual", take_arg_word, offsetof(struct dec_arg, access), false },
	{ ".actual_access", "ActualAccQual", take_actual_access,
	  offsetof(struct dec_arg, access), false },
	{ ".address_space", "AddrSpaceQual", take_arg_word,
	  offsetof(struct dec_arg, address_space), false },
	{ ".name", "Name", take_arg_text, offsetof(struct dec_arg, name), false },
	{ ".offset", NULL, take_arg_number, offsetof(struct dec_arg, offset), true },
	{ ".pointee_align", "PointeeAlign", take_arg_number, offsetof(struct dec_arg, align), false },
	{ ".size", "Size", take_arg_number, offsetof(struct dec_arg, size), true },
	{ ".type_name", "TypeName", take_arg_text, offsetof(struct dec_arg, type), false },
	{ ".value_kind", "ValueKind", take_arg_word, offsetof(struct dec_arg, kind), true },
	{ NULL, "Align", take_value_align, 0, false },
};
/* clang-format on */
static const struct dec_amdgpu_rows arg_rows = { arg_list, sizeof(arg_list) / sizeof(arg_list[0]) };

static bool arg_keep(struct dec_amdgpu_reading *rd)
{
	if (rd->arg_count == rd->arg_room) {
		uint32_t room = rd->arg_room ? rd->arg_room * 2 : 32;
		struct dec_arg *bigger = dec_arena_array(&rd->g->scratch, room, sizeof(*bigger));

		if (!bigger)
			return false;
		if (rd->arg_count)
			memcpy(bigger, rd->args, rd->arg_count * sizeof(*bigger));
		rd->args = bigger;
		rd->arg_room = room;
	}
	rd->args[rd->arg_count++] = rd->arg;
	return true;
}

/* V2 stores no offsets: each argument stands at the next multiple of its alignment. */
static void place_v2(struct dec_amdgpu_reading *rd)
{
	const struct dec_arg *last = rd->arg_count ? &rd->args[rd->arg_count - 1] : NULL;
	uint64_t end, align = rd->value_align;

	if (!align || (last && (last->offset == DEC_UNSTATED || last->size == DEC_UNSTATED ||
				last->size > INT64_MAX - last->offset)))
		return;
	end = last ? last->offset + last->size : 0;
	if (end > INT64_MAX - align)
		return;
	rd->arg.offset = (end + align - 1) & ~(align - 1);
	if (rd->arg.align == DEC_UNSTATED)
		rd->arg.align = align;
}

static bool read_arg(struct dec_amdgpu_reading *rd, uint64_t offset)
{
	const struct dec_text absent = { dec_absent, 0 };
	uint64_t outer = rd->seen;

	rd->arg = (struct dec_arg){
		absent, absent, absent, absent, absent, DEC_UNSTATED, DEC_UNSTATED, DEC_UNSTATED,
	};
	rd->value_align = 0;
	rd->seen = 0;
	if (!dec_amdgpu_read_map(rd, &arg_rows))
		return false;
	if (rd->r->fault.sentence)
		return true;
	if (!dec_amdgpu_check_required(rd, &arg_rows, offset))
		return false;
	rd->seen = outer;
	if (rd->language == DEC_AMDGPU_YAML)
		place_v2(rd);
	rd->g->args_left--;
	return arg_keep(rd);
}

static bool args_limit(struct dec_amdgpu_reading *rd, const struct dec_value *v)
{
	dec_values_skip(rd->r, v);
	if (rd->g->args_limit_noted)
		return true;
	rd->g->args_limit_noted = true;
	return dec_exam_note(rd->g->x, DEC_NONE, DEC_PROBLEM_LIMIT, v->offset, "arguments",
			     DEC_PARTIAL, "more than %d arguments in all", DEC_ARGS_MAX);
}

bool dec_amdgpu_take_args(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
			  const struct dec_value *v)
{
	struct dec_value element;
	bool ok = true;

	if (v->type != DEC_VALUE_ARRAY)
		return dec_amdgpu_wrong(rd, row, v, "not an array");
	while (ok && rd->r->next(rd->r, &element) && element.type != DEC_VALUE_END) {
		if (element.type != DEC_VALUE_MAP)
			ok = dec_amdgpu_wrong(rd, row, &element, "an argument that is not a map");
		else if (rd->g->args_left)
			ok = read_arg(rd, element.offset);
		else
			ok = args_limit(rd, &element);
	}
	return ok;
}
