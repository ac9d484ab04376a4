/*
 * Metadata of AMDGPU code objects: the map of V3 and later, and the YAML of V2, which says the
 * same in other words and with two maps more around the facts. docs/formats/amdgpu.md, "Notes
 * and metadata".
 */
#include "amdgpu_map.h"
#include "amdgpu_reader.h"

#include <assert.h>
#include <stdio.h>

/* ---- single facts -------------------------------------------------------------------------------- */

static enum dec_fact_id fact(const struct dec_amdgpu_row *row)
{
	return (enum dec_fact_id)row->what;
}

static bool take_count(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
		       const struct dec_value *v)
{
	if (v->type != DEC_VALUE_UINT)
		return dec_amdgpu_wrong(rd, row, v, "not a whole number from 0 on");
	dec_facts_count(&rd->facts, fact(row), v->u);
	return true;
}

/* Written as a number too, whatever its documentation says. */
static bool take_bool(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
		      const struct dec_value *v)
{
	if (v->type != DEC_VALUE_BOOL && (v->type != DEC_VALUE_UINT || v->u > 1))
		return dec_amdgpu_wrong(rd, row, v, "not a truth value");
	dec_facts_count(&rd->facts, fact(row), v->u);
	return true;
}

static bool take_text(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
		      const struct dec_value *v)
{
	struct dec_text text;

	if (v->type != DEC_VALUE_TEXT)
		return dec_amdgpu_wrong(rd, row, v, "not text");
	if (!dec_exam_text(rd->g->x, v->bytes, &text))
		return false;
	dec_facts_text(&rd->facts, fact(row), text);
	return true;
}

/* An array of count numbers and nothing else; false also where the stream ends. */
static bool numbers(struct dec_amdgpu_reading *rd, const struct dec_value *v, uint32_t *out,
		    size_t count)
{
	struct dec_value element;
	bool right = true;
	size_t n = 0;

	if (v->type != DEC_VALUE_ARRAY)
		return false;
	while (rd->r->next(rd->r, &element) && element.type != DEC_VALUE_END) {
		right = right && n < count && element.type == DEC_VALUE_UINT &&
			element.u <= UINT32_MAX;
		if (right)
			out[n] = (uint32_t)element.u;
		n++;
		dec_values_skip(rd->r, &element);
	}
	return right && n == count;
}

/* dec_amdgpu_wrong() where numbers() has read the array already. */
static bool wrong_numbers(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
			  struct dec_value v, const char *sentence)
{
	if (v.type == DEC_VALUE_ARRAY)
		v.type = DEC_VALUE_NIL;
	return rd->r->fault.sentence || dec_amdgpu_wrong(rd, row, &v, sentence);
}

static bool take_triple(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
			const struct dec_value *v)
{
	uint32_t n[3];

	if (!numbers(rd, v, n, 3))
		return wrong_numbers(rd, row, *v, "not an array of three numbers of 32 bits");
	dec_facts_triple(&rd->facts, fact(row), n[0], n[1], n[2]);
	return true;
}

static bool take_version(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
			 const struct dec_value *v)
{
	char spelling[24];
	struct dec_text text;
	uint32_t n[2];

	if (!numbers(rd, v, n, 2))
		return wrong_numbers(rd, row, *v, "not an array of two numbers");
	snprintf(spelling, sizeof(spelling), "%u.%u", (unsigned)n[0], (unsigned)n[1]);
	if (!dec_exam_text(rd->g->x, (struct dec_view){ (uint8_t *)spelling, strlen(spelling), 0 },
			   &text))
		return false;
	dec_facts_text(&rd->facts, fact(row), text);
	return true;
}

static bool take_axis(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
		      const struct dec_value *v)
{
	if (v->type != DEC_VALUE_UINT || v->u > UINT32_MAX)
		return dec_amdgpu_wrong(rd, row, v, "not a number of 32 bits");
	rd->groups[row->what] = (uint32_t)v->u;
	dec_facts_triple(&rd->facts, DEC_FACT_MAX_NUM_WORKGROUPS, rd->groups[0], rd->groups[1],
			 rd->groups[2]);
	return true;
}

static bool take_name(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
		      const struct dec_value *v)
{
	struct dec_exam *x = rd->g->x;

	if (v->type != DEC_VALUE_TEXT)
		return dec_amdgpu_wrong(rd, row, v, "not text");
	return dec_exam_text(x, v->bytes, &x->kernels[rd->kernel].name);
}

static bool take_symbol(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
			const struct dec_value *v)
{
	struct dec_exam *x = rd->g->x;

	if (v->type != DEC_VALUE_TEXT)
		return dec_amdgpu_wrong(rd, row, v, "not text");
	rd->symbol_offset = v->offset;
	return dec_exam_text(x, v->bytes, &x->kernels[rd->kernel].symbol);
}

/* ---- kernels ------------------------------------------------------------------------------------------------ */

static bool take_inner(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
		       const struct dec_value *v);

/* clang-format off */
static const struct dec_amdgpu_row kernel_list[] = {
	{ ".agpr_count", NULL, take_count, DEC_FACT_AGPR_COUNT, false },
	{ ".args", "Args", dec_amdgpu_take_args, 0, false },
	{ ".cluster_dims", NULL, take_triple, DEC_FACT_CLUSTER_DIMS, false },
	{ ".device_enqueue_symbol", "RuntimeHandle", take_text,
	  DEC_FACT_DEVICE_ENQUEUE_SYMBOL, false },
	{ ".group_segment_fixed_size", "GroupSegmentFixedSize", take_count,
	  DEC_FACT_GROUP_SEGMENT_FIXED_SIZE, true },
	{ ".kernarg_segment_align", "KernargSegmentAlign", take_count,
	  DEC_FACT_KERNARG_SEGMENT_ALIGN, true },
	{ ".kernarg_segment_size", "KernargSegmentSize", take_count,
	  DEC_FACT_KERNARG_SEGMENT_SIZE, true },
	{ ".kind", NULL, take_text, DEC_FACT_KIND, false },
	{ ".language", "Language", take_text, DEC_FACT_LANGUAGE, false },
	{ ".language_version", "LanguageVersion", take_version, DEC_FACT_LANGUAGE_VERSION, false },
	{ ".max_flat_workgroup_size", "MaxFlatWorkGroupSize", take_count,
	  DEC_FACT_MAX_FLAT_WORKGROUP_SIZE, true },
	{ ".max_num_work_groups_x", NULL, take_axis, 0, false }, /* as documented */
	{ ".max_num_work_groups_y", NULL, take_axis, 1, false },
	{ ".max_num_work_groups_z", NULL, take_axis, 2, false },
	{ ".max_num_workgroups_x", NULL, take_axis, 0, false },
	{ ".max_num_workgroups_y", NULL, take_axis, 1, false },
	{ ".max_num_workgroups_z", NULL, take_axis, 2, false },
	{ ".name", "Name", take_name, 0, true },
	{ ".private_segment_fixed_size", "PrivateSegmentFixedSize", take_count,
	  DEC_FACT_PRIVATE_SEGMENT_FIXED_SIZE, true },
	{ ".reqd_workgroup_size", "ReqdWorkGroupSize", take_triple,
	  DEC_FACT_REQD_WORKGROUP_SIZE, false },
	{ ".sgpr_count", "NumSGPRs", take_count, DEC_FACT_SGPR_COUNT, true },
	{ ".sgpr_spill_count", "NumSpilledSGPRs", take_count, DEC_FACT_SGPR_SPILL_COUNT, false },
	{ ".symbol", "SymbolName", take_symbol, 0, true },
	{ ".uniform_work_group_size", NULL, take_count, DEC_FACT_UNIFORM_WORK_GROUP_SIZE, false },
	{ ".uses_dynamic_stack", "IsDynamicCallStack", take_bool,
	  DEC_FACT_USES_DYNAMIC_STACK, false },
	{ ".vec_type_hint", "VecTypeHint", take_text, DEC_FACT_VEC_TYPE_HINT, false },
	{ ".vgpr_count", "NumVGPRs", take_count, DEC_FACT_VGPR_COUNT, true },
	{ ".vgpr_spill_count", "NumSpilledVGPRs", take_count, DEC_FACT_VGPR_SPILL_COUNT, false },
	{ ".wavefront_size", "WavefrontSize", take_count, DEC_FACT_WAVEFRONT_SIZE, true },
	{ ".workgroup_processor_mode", NULL, take_bool, DEC_FACT_WORKGROUP_PROCESSOR_MODE, false },
	{ ".workgroup_size_hint", "WorkGroupSizeHint", take_triple,
	  DEC_FACT_WORKGROUP_SIZE_HINT, false },
	{ NULL, "Attrs", take_inner, 0, false },
	{ NULL, "CodeProps", take_inner, 0, false },
};
/* clang-format on */
static const struct dec_amdgpu_rows kernel_rows = { kernel_list,
						    sizeof(kernel_list) / sizeof(kernel_list[0]) };
static_assert(sizeof(kernel_list) / sizeof(kernel_list[0]) <= 64, "one bit each in reading.seen");

/* V2's maps of attributes and of code properties, whose keys no other map of a kernel has. */
static bool take_inner(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
		       const struct dec_value *v)
{
	if (v->type != DEC_VALUE_MAP)
		return dec_amdgpu_wrong(rd, row, v, "not a map");
	return dec_amdgpu_read_map(rd, &kernel_rows);
}

static bool keep_args(struct dec_amdgpu_reading *rd)
{
	struct dec_exam *x = rd->g->x;
	struct dec_arg *kept = dec_exam_array(x, rd->arg_count, sizeof(*kept));

	if (!kept)
		return false;
	if (rd->arg_count)
		memcpy(kept, rd->args, rd->arg_count * sizeof(*kept));
	x->kernels[rd->kernel].args = kept;
	x->kernels[rd->kernel].arg_count = rd->arg_count;
	return true;
}

/* The code behind the metadata. V2 writes "name@kd" for the symbol "name". */
static bool join_symbol(struct dec_amdgpu_reading *rd)
{
	struct dec_text name = rd->g->x->kernels[rd->kernel].symbol;
	bool v2 = rd->language == DEC_AMDGPU_YAML;
	struct dec_amdgpu_symbol *symbol;

	if (v2 && name.len > 3 && memcmp(name.p + name.len - 3, "@kd", 3) == 0)
		name.len -= 3;
	if (!dec_text_present(name))
		return true;
	symbol = dec_amdgpu_symbol(rd->g, name);
	if (!symbol)
		return dec_amdgpu_map_note(rd, rd->symbol_offset, v2 ? "SymbolName" : ".symbol",
					   DEC_PARTIAL, "the object has no symbol of this name");
	symbol->used = true;
	return (v2 ? dec_amdgpu_kernel_code : dec_amdgpu_descriptor)(rd->g, rd->kernel, symbol,
								     &rd->facts, false);
}

static void kernel_begin(struct dec_amdgpu_reading *rd)
{
	rd->facts = (struct dec_facts){ .has = { false } };
	rd->groups[0] = rd->groups[1] = rd->groups[2] = UINT32_MAX;
	rd->arg_count = 0;
	rd->seen = 0;
}

static bool read_kernel(struct dec_amdgpu_reading *rd, const struct dec_value *v)
{
	/* A kernel is always named: without its key, by the empty name. */
	const struct dec_kernel kernel = { .name = { "", 0 }, .symbol = { dec_absent, 0 } };
	struct dec_exam *x = rd->g->x;
	bool ok;

	if (!dec_amdgpu_kernel(rd->g, &kernel, v->offset, &rd->kernel))
		return false;
	if (rd->kernel == DEC_NONE) {
		dec_values_skip(rd->r, v);
		return true;
	}
	kernel_begin(rd);
	ok = dec_amdgpu_read_map(rd, &kernel_rows) && keep_args(rd);
	if (ok && !rd->r->fault.sentence)
		ok = dec_amdgpu_check_required(rd, &kernel_rows, v->offset) && join_symbol(rd);
	ok = ok && dec_facts_keep(x, &rd->facts, &x->kernels[rd->kernel]);
	rd->kernel = DEC_NONE;
	return ok;
}

static bool take_kernels(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
			 const struct dec_value *v)
{
	uint64_t outer = rd->seen;
	struct dec_value element;
	bool ok = true;

	if (v->type != DEC_VALUE_ARRAY)
		return dec_amdgpu_wrong(rd, row, v, "not an array");
	while (ok && rd->r->next(rd->r, &element) && element.type != DEC_VALUE_END) {
		if (element.type != DEC_VALUE_MAP)
			ok = dec_amdgpu_wrong(rd, row, &element, "a kernel that is not a map");
		else
			ok = read_kernel(rd, &element);
	}
	rd->seen = outer;
	return ok;
}

/* ---- the whole map -------------------------------------------------------------------------------------------- */

/* Read elsewhere, or shown as it is; a second one is still worth a word. */
static bool take_other(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
		       const struct dec_value *v)
{
	(void)row;
	dec_values_skip(rd->r, v);
	return true;
}

static bool take_target(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
			const struct dec_value *v)
{
	if (v->type != DEC_VALUE_TEXT)
		return dec_amdgpu_wrong(rd, row, v, "not text");
	return true;
}

static const struct dec_amdgpu_row top_list[] = {
	{ "amdhsa.kernels", "Kernels", take_kernels, 0, true },
	{ "amdhsa.version", "Version", take_other, 0, true },
	{ "amdhsa.target", NULL, take_target, 0, false },
	{ "amdhsa.printf", "Printf", take_other, 0, false },
	{ "amdhsa.globals", NULL, take_other, 0, false },
};
static const struct dec_amdgpu_rows top_rows = { top_list, sizeof(top_list) / sizeof(top_list[0]) };

static bool report(struct dec_amdgpu_reading *rd)
{
	const struct dec_fault *fault = &rd->r->fault;

	if (fault->code == DEC_PROBLEM_LIMIT)
		return dec_exam_note(rd->g->x, DEC_NONE, fault->code, fault->offset, "metadata",
				     DEC_PARTIAL, "%s", fault->sentence);
	return dec_exam_malformed(rd->g->x, fault->code, fault->offset, "metadata", "%s",
				  fault->sentence);
}

static bool read_top(struct dec_amdgpu_reading *rd, uint64_t offset)
{
	struct dec_exam *x = rd->g->x;
	struct dec_value v;

	if (!rd->r->next(rd->r, &v) && rd->r->fault.sentence)
		return report(rd);
	if (rd->r->no_memory)
		return false;
	if (v.type != DEC_VALUE_MAP)
		return dec_exam_malformed(x, DEC_PROBLEM_MALFORMED_METADATA, offset, "metadata",
					  "the metadata is not a map");
	if (!dec_amdgpu_read_map(rd, &top_rows))
		return false;
	if (rd->r->fault.sentence)
		return report(rd);
	rd->g->metadata_whole = true;
	if (!dec_amdgpu_check_required(rd, &top_rows, offset))
		return false;
	if (rd->r->next(rd->r, &v) || rd->r->fault.sentence)
		return dec_amdgpu_map_note(rd, v.offset, "metadata", DEC_COMPLETE,
					   "bytes behind the map");
	return !rd->r->no_memory;
}

bool dec_amdgpu_metadata(struct dec_amdgpu *g, const struct dec_amdgpu_note *note,
			 enum dec_amdgpu_language language)
{
	struct dec_amdgpu_reading rd = { .g = g, .language = language, .kernel = DEC_NONE };
	struct dec_amdgpu_reader reader;
	bool ok;

	dec_amdgpu_reader_open(&reader, note, language);
	rd.r = reader.values;
	ok = read_top(&rd, note->desc.origin);
	dec_amdgpu_reader_close(&reader);
	return ok;
}

void dec_amdgpu_metadata_target(const struct dec_amdgpu_note *note, struct dec_value *value)
{
	struct dec_msgpack m;
	struct dec_value key;

	value->type = DEC_VALUE_NIL;
	dec_msgpack_open(&m, note->desc);
	if (!m.r.next(&m.r, &key) || key.type != DEC_VALUE_MAP)
		return;
	while (m.r.next(&m.r, &key) && key.type != DEC_VALUE_END) {
		if (!dec_values_skip(&m.r, &key) || !m.r.next(&m.r, value))
			break;
		if (dec_value_is(&key, "amdhsa.target"))
			return;
		if (!dec_values_skip(&m.r, value))
			break;
	}
	value->type = DEC_VALUE_NIL;
}
