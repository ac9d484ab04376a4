#include "examine_json.h"

#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "fields.h"

#define SHOWN(r) ((const struct gfs_shown *)(r)->p)

/* clang-format off */
#define SHOWN_FN(fn, put_value, value) \
	static void fn(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in, \
		       const char *key) \
	{ \
		const struct gfs_shown *s = SHOWN(r); \
		put_value(w, in, key, value); \
	}
SHOWN_FN(put_vendor, gfs_json_word, dec_vendor_word(s->object->vendor))
SHOWN_FN(put_target, gfs_json_text, s->object->target)
SHOWN_FN(put_target_kind, gfs_json_word, dec_target_kind_word(s->object->target_kind))
SHOWN_FN(put_target_raw, gfs_json_text, s->object->target_raw)
SHOWN_FN(put_payload_target, gfs_json_text, s->inspection->payload_target)
SHOWN_FN(put_payload_target_raw, gfs_json_text, s->inspection->payload_target_raw)
SHOWN_FN(put_consistency, gfs_json_word, dec_consistency_word(s->inspection->consistency))
SHOWN_FN(put_state, gfs_json_word, dec_state_word(s->inspection->state))
SHOWN_FN(put_payload_size, gfs_json_uint, s->object->payload_size)
SHOWN_FN(put_sha256, gfs_json_word, s->sha256[0] ? s->sha256 : NULL)
SHOWN_FN(put_name, gfs_json_text, s->kernel->name)
SHOWN_FN(put_symbol, gfs_json_text, s->kernel->symbol)
/* clang-format on */

/* ---- inspection.json ------------------------------------------------------------------ */

static void put_evidence(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			 const char *key)
{
	enum dec_evidence evidence = SHOWN(r)->inspection->evidence;

	gfs_json_word(w, in, key,
		      evidence == DEC_EVIDENCE_NONE ? NULL : dec_evidence_word(evidence));
}

/* What nobody has looked at is null, not unknown or 0. */
static bool is_unexamined(const struct gfs_record *r)
{
	return SHOWN(r)->inspection->state == DEC_STATE_UNEXAMINED;
}

static void put_representation(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			       const char *key)
{
	const char *word = dec_representation_word(SHOWN(r)->inspection->representation);

	gfs_json_word(w, in, key, is_unexamined(r) ? NULL : word);
}

static void put_kernel_count(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			     const char *key)
{
	if (is_unexamined(r))
		gfs_json_null(w, in, key);
	else
		gfs_json_uint(w, in, key, SHOWN(r)->inspection->kernel_count);
}

static void put_reasons(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			const char *key)
{
	const struct dec_inspection *inspection = SHOWN(r)->inspection;
	bool seen[GFS_CODE_COUNT] = { false };

	for (uint32_t i = 0; i < inspection->problem_count; i++)
		if (inspection->problems[i].partial)
			seen[inspection->problems[i].code] = true;
	gfs_codes_put(w, in, key, seen);
}

static struct cJSON *put_problem(struct gfs_json *w, struct cJSON *array,
				 const struct dec_problem *problem)
{
	struct gfs_record record = { .p = problem };
	struct cJSON *o = gfs_json_object(w, array, NULL);

	gfs_fields_put(&record, gfs_own_problem_fields, w, o);
	return o;
}

bool gfs_problem_is_repeated(const struct dec_problem *problem)
{
	return problem->object != DEC_NONE && problem->code == DEC_PROBLEM_TARGET_CONFLICT;
}

static void put_all_problems(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			     const char *key)
{
	const struct dec_inspection *inspection = SHOWN(r)->inspection;
	struct cJSON *array = gfs_json_array(w, in, key);

	for (uint32_t i = 0; i < inspection->problem_count; i++) {
		const struct dec_problem *p = &inspection->problems[i];
		struct cJSON *o;

		if (gfs_problem_is_repeated(p))
			continue;
		o = put_problem(w, array, p);
		if (p->object != DEC_NONE)
			gfs_json_text(w, o, "kernel", inspection->kernels[p->object].name);
	}
	if (SHOWN(r)->around)
		put_problem(w, array, SHOWN(r)->around);
}

const struct gfs_field gfs_inspection_fields[] = {
	FIELD_FN("vendor", put_vendor),
	FIELD_FN("target", put_target),
	FIELD_FN("target_kind", put_target_kind),
	FIELD_FN("target_raw", put_target_raw),
	FIELD_FN("payload_target", put_payload_target),
	FIELD_FN("payload_target_kind", put_evidence),
	FIELD_FN("payload_target_raw", put_payload_target_raw),
	FIELD_FN("target_consistency", put_consistency),
	FIELD_FN("inspection", put_state),
	FIELD_FN("reasons", put_reasons),
	FIELD_FN("representation", put_representation),
	FIELD_FN("payload_size", put_payload_size),
	FIELD_FN("payload_sha256", put_sha256),
	FIELD_FN("kernel_count", put_kernel_count),
	FIELD_FN("problems", put_all_problems),
	FIELDS_END,
};

int gfs_inspection_show(const struct gfs *fs, uint32_t object,
			const struct dec_inspection *inspection, const char *sha256,
			const struct dec_problem *around, char **text, size_t *size)
{
	struct gfs_shown shown = {
		.object = &fs->artifact->objects[object],
		.inspection = inspection,
		.sha256 = sha256,
		.around = around,
	};
	struct gfs_record record = { .artifact = fs->artifact, .p = &shown };
	struct gfs_json w;

	gfs_json_init(&w);
	gfs_fields_put(&record, gfs_inspection_fields, &w, gfs_json_object(&w, NULL, NULL));
	return gfs_json_finish(&w, text, size);
}

/* ---- kernels ----------------------------------------------------------------------------- */

/* "G": no handle of memory, queue or signal begins so. */
#define KERNEL_OBJECT_TAG UINT64_C(0x47)

uint64_t gfs_kernel_object(uint32_t object, const struct dec_kernel *kernel)
{
	return KERNEL_OBJECT_TAG << 56 | (uint64_t)object << 32 | kernel->descriptor.offset;
}

static void put_demangled(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			  const char *key)
{
	char *demangled = gfs_demangle(SHOWN(r)->kernel->name);

	if (demangled)
		gfs_json_text(w, in, key, (struct dec_text){ demangled, strlen(demangled) });
	else
		gfs_json_null(w, in, key);
	free(demangled);
}

static void put_kernel_object(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			      const char *key)
{
	const struct gfs_shown *s = SHOWN(r);

	if (s->object->vendor != DEC_VENDOR_AMD)
		return;
	if (s->kernel->descriptor.size != 0)
		gfs_json_hex(w, in, key, gfs_kernel_object(s->index, s->kernel));
	else
		gfs_json_null(w, in, key);
}

/* Only where it is so: the name as it is shown is not the exact one. */
static void put_escaped(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			const char *key)
{
	if (!gfs_json_text_is_plain(SHOWN(r)->kernel->name))
		gfs_json_bool(w, in, key, true);
}

static void put_triple(struct gfs_json *w, struct cJSON *in, const char *key,
		       const uint32_t triple[3])
{
	struct cJSON *array = gfs_json_array(w, in, key);

	for (int i = 0; i < 3; i++)
		gfs_json_uint(w, array, NULL, triple[i]);
}

static void put_fact(struct gfs_json *w, struct cJSON *in, const struct dec_fact *fact)
{
	const char *key = dec_fact_key(fact->id);

	switch (dec_fact_shape(fact->id)) {
	case DEC_SHAPE_COUNT:
		gfs_json_uint(w, in, key, fact->u);
		break;
	case DEC_SHAPE_BOOL:
		gfs_json_bool(w, in, key, fact->u != 0);
		break;
	case DEC_SHAPE_TRIPLE:
		put_triple(w, in, key, fact->triple);
		break;
	case DEC_SHAPE_TEXT:
		gfs_json_text(w, in, key, fact->text);
		break;
	case DEC_SHAPE_HEX:
		gfs_json_hex(w, in, key, fact->u);
		break;
	}
}

/* clang-format off */
/* A row of its own for each fact; a kernel that does not have it has no such key. */
#define X(suffix, name, shape) \
	static void put_##suffix(const struct gfs_record *r, struct gfs_json *w, \
				 struct cJSON *in, const char *key) \
	{ \
		const struct dec_fact *fact = dec_kernel_fact(SHOWN(r)->kernel, DEC_FACT_##suffix); \
		(void)key; \
		if (fact) \
			put_fact(w, in, fact); \
	}
#include "resources.def"
#undef X
#define X(suffix, name, shape) FIELD_FN(name, put_##suffix),
/* clang-format on */

/* What an argument does not state is left out. */
static void put_stated_text(struct gfs_json *w, struct cJSON *in, const char *key,
			    struct dec_text text)
{
	if (dec_text_present(text))
		gfs_json_text(w, in, key, text);
}

static void put_stated(struct gfs_json *w, struct cJSON *in, const char *key, uint64_t value)
{
	if (value != DEC_UNSTATED)
		gfs_json_uint(w, in, key, value);
}

static void put_arg(struct gfs_json *w, struct cJSON *in, const struct dec_arg *arg)
{
	put_stated_text(w, in, "name", arg->name);
	put_stated_text(w, in, "type", arg->type);
	put_stated_text(w, in, "kind", arg->kind);
	put_stated(w, in, "offset", arg->offset);
	put_stated(w, in, "size", arg->size);
	put_stated(w, in, "align", arg->align);
	put_stated_text(w, in, "address_space", arg->address_space);
	put_stated_text(w, in, "access", arg->access);
}

static void put_args(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
		     const char *key)
{
	const struct dec_kernel *kernel = SHOWN(r)->kernel;
	struct cJSON *array = gfs_json_array(w, in, key);

	for (uint32_t i = 0; i < kernel->arg_count; i++)
		put_arg(w, gfs_json_object(w, array, NULL), &kernel->args[i]);
}

static void put_kernel_problems(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
				const char *key)
{
	const struct gfs_shown *s = SHOWN(r);
	struct cJSON *array = gfs_json_array(w, in, key);

	for (uint32_t i = s->kernel->problems.first; i != DEC_NONE;
	     i = s->inspection->problems[i].next)
		put_problem(w, array, &s->inspection->problems[i]);
}

/* Offsets, and sentences that may tell some, are not for comparing. */
static void put_problem_codes(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			      const char *key)
{
	const struct gfs_shown *s = SHOWN(r);
	struct cJSON *array = gfs_json_array(w, in, key);
	const struct dec_problem *p;

	for (uint32_t i = s->kernel->problems.first; i != DEC_NONE; i = p->next) {
		struct cJSON *o = gfs_json_object(w, array, NULL);

		p = &s->inspection->problems[i];
		gfs_json_word(w, o, "code", dec_problem_word(p->code));
		gfs_json_word(w, o, "field", p->field);
	}
}

const struct gfs_field gfs_kernel_fields[] = {
	FIELD_FN("name", put_name),
	FIELD_FN("demangled", put_demangled),
	FIELD_FN("vendor", put_vendor),
	FIELD_FN("target", put_target),
	FIELD_FN("symbol", put_symbol),
	FIELD_FN("kernel_object", put_kernel_object),
	FIELD_FN("name_escaped", put_escaped),
#include "resources.def"
	FIELD_FN("args", put_args),
	FIELD_FN("problems", put_kernel_problems),
	FIELDS_END,
};

static const struct gfs_field kernel_of_target_fields[] = {
	FIELD_FN("name", put_name),
	FIELD_FN("demangled", put_demangled),
	FIELD_FN("vendor", put_vendor),
	FIELD_FN("target", put_target),
	FIELD_FN("symbol", put_symbol),
	FIELD_FN("name_escaped", put_escaped),
#include "resources.def"
	FIELD_FN("args", put_args),
	FIELD_FN("problems", put_problem_codes),
	FIELDS_END,
};
#undef X

static struct gfs_shown shown_kernel(const struct gfs *fs, uint32_t object,
				     const struct dec_inspection *inspection, uint32_t kernel)
{
	return (struct gfs_shown){
		.object = &fs->artifact->objects[object],
		.inspection = inspection,
		.kernel = &inspection->kernels[kernel],
		.index = object,
	};
}

int gfs_kernel_show(const struct gfs *fs, uint32_t object, const struct dec_inspection *inspection,
		    uint32_t kernel, char **text, size_t *size)
{
	struct gfs_shown shown = shown_kernel(fs, object, inspection, kernel);
	struct gfs_record record = { .artifact = fs->artifact, .p = &shown };
	struct gfs_json w;

	gfs_json_init(&w);
	gfs_fields_put(&record, gfs_kernel_fields, &w, gfs_json_object(&w, NULL, NULL));
	return gfs_json_finish(&w, text, size);
}

int gfs_kernel_of_target_show(const struct gfs *fs, uint32_t object,
			      const struct dec_inspection *inspection, uint32_t kernel, char **text,
			      size_t *size)
{
	struct gfs_shown shown = shown_kernel(fs, object, inspection, kernel);
	struct gfs_record record = { .artifact = fs->artifact, .p = &shown };
	struct gfs_json w;
	struct cJSON *array;
	int rc;

	gfs_json_init(&w);
	array = gfs_json_array(&w, NULL, NULL);
	gfs_fields_put(&record, kernel_of_target_fields, &w, gfs_json_object(&w, array, NULL));
	rc = gfs_json_finish(&w, text, size);
	if (rc != 0)
		return rc;
	/* "[", the element, "]" and a newline. */
	*size -= 3;
	memmove(*text, *text + 1, *size);
	(*text)[*size] = '\0';
	return 0;
}

/* ---- metadata.json ------------------------------------------------------------------------- */

static void put_items(struct gfs_json *w, struct cJSON *in, const struct dec_meta *meta);

static void put_meta(struct gfs_json *w, struct cJSON *in, const char *key,
		     const struct dec_meta *meta)
{
	switch (meta->type) {
	case DEC_META_NIL:
		gfs_json_null(w, in, key);
		break;
	case DEC_META_BOOL:
		gfs_json_bool(w, in, key, meta->u != 0);
		break;
	case DEC_META_UINT:
		gfs_json_uint(w, in, key, meta->u);
		break;
	case DEC_META_INT:
		gfs_json_negative(w, in, key, meta->i);
		break;
	case DEC_META_FLOAT:
		gfs_json_float(w, in, key, meta->f);
		break;
	case DEC_META_TEXT:
		gfs_json_text(w, in, key, meta->text);
		break;
	case DEC_META_HEX:
		gfs_json_hex(w, in, key, meta->u);
		break;
	case DEC_META_BYTES:
		gfs_json_bytes(w, in, key, meta->text);
		break;
	case DEC_META_ARRAY:
		put_items(w, gfs_json_array(w, in, key), meta);
		break;
	case DEC_META_MAP:
		put_items(w, gfs_json_object(w, in, key), meta);
		break;
	}
}

static void put_items(struct gfs_json *w, struct cJSON *in, const struct dec_meta *meta)
{
	bool keyed = meta->type == DEC_META_MAP;

	for (uint32_t i = 0; i < meta->count && !w->failed; i++)
		put_meta(w, in, keyed ? gfs_json_key(w, meta->items[i].key) : NULL,
			 &meta->items[i]);
}

int gfs_metadata_show(const struct dec_inspection *inspection, char **text, size_t *size)
{
	static const struct dec_meta none = { .type = DEC_META_NIL };
	struct gfs_json w;

	gfs_json_init(&w);
	put_meta(&w, NULL, NULL, inspection->metadata ? inspection->metadata : &none);
	return gfs_json_finish(&w, text, size);
}
