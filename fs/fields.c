#include "fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
/* Enumerations: the word of a member. */
#define WORD_FN(fn, T, m, word) \
	static void fn(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in, \
		       const char *key) \
	{ \
		gfs_json_word(w, in, key, word(((const T *)r->p)->m)); \
	}
WORD_FN(put_format, struct dec_artifact, format, dec_format_word)
WORD_FN(put_container_kind, struct dec_container, kind, dec_container_word)
WORD_FN(put_container_codec, struct dec_container, codec, dec_codec_word)
WORD_FN(put_vendor, struct dec_object, vendor, dec_vendor_word)
WORD_FN(put_target_kind, struct dec_object, target_kind, dec_target_kind_word)
WORD_FN(put_kind, struct dec_object, kind, dec_kind_word)
WORD_FN(put_codec, struct dec_object, codec, dec_codec_word)
WORD_FN(put_space, struct dec_object, space, dec_space_word)
WORD_FN(put_target_vendor, struct dec_target, vendor, dec_vendor_word)
WORD_FN(put_target_class, struct dec_target, class, dec_class_word)
WORD_FN(put_problem_code, struct dec_problem, code, dec_problem_word)
/* clang-format on */

/* ---- shared values ---------------------------------------------------------------- */

static void put_range(struct gfs_json *w, struct cJSON *in, const char *key, struct dec_range range)
{
	struct cJSON *o = gfs_json_object(w, in, key);

	gfs_json_uint(w, o, "offset", range.offset);
	gfs_json_uint(w, o, "size", range.size);
}

static void put_id_or_null(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			   const char *key, uint32_t index)
{
	char id[16];

	snprintf(id, sizeof(id), "%0*" PRIu32, r->id_width, index);
	gfs_json_word(w, in, key, index == DEC_NONE ? NULL : id);
}

const struct gfs_field gfs_own_problem_fields[] = {
	FIELD_FN("code", put_problem_code),
	FIELD(struct dec_problem, offset),
	FIELD(struct dec_problem, field),
	FIELD(struct dec_problem, message),
	FIELDS_END,
};

static void put_problems(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			 const char *key, struct dec_problem_list list)
{
	struct cJSON *array = gfs_json_array(w, in, key);
	const struct dec_problem *p;

	for (uint32_t i = list.first; i != DEC_NONE; i = p->next) {
		struct gfs_record one = *r;

		p = &r->artifact->problems[i];
		one.p = p;
		gfs_fields_put(&one, gfs_own_problem_fields, w, gfs_json_object(w, array, NULL));
	}
}

/* From the innermost place outwards is how they are linked; outermost first is how they
 * are read, so the chain is walked to its end before anything is written. */
static void put_place(const struct gfs_record *r, struct gfs_json *w, struct cJSON *array,
		      uint32_t index)
{
	const struct dec_place *place = &r->artifact->places[index];
	struct cJSON *o;

	if (place->outer != DEC_NONE)
		put_place(r, w, array, place->outer);
	o = gfs_json_object(w, array, NULL);
	gfs_json_word(w, o, "kind", dec_place_word(place->kind));
	gfs_json_text(w, o, "name", place->name);
	gfs_json_uint(w, o, "offset", place->range.offset);
	gfs_json_uint(w, o, "size", place->range.size);
}

static void put_around(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
		       const char *key, uint32_t place)
{
	struct cJSON *array = gfs_json_array(w, in, key);

	if (place != DEC_NONE)
		put_place(r, w, array, place);
}

/* ---- artifact and problems -------------------------------------------------------- */

static void put_sha256(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
		       const char *key)
{
	gfs_json_word(w, in, key, r->sha256);
}

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void gfs_codes_put(struct gfs_json *w, struct cJSON *in, const char *key, const bool *seen)
{
	struct cJSON *array = gfs_json_array(w, in, key);
	const char *words[GFS_CODE_COUNT];
	size_t n = 0;

	for (int code = 0; code < GFS_CODE_COUNT; code++)
		if (seen[code])
			words[n++] = dec_problem_word((enum dec_problem_code)code);
	qsort(words, n, sizeof(words[0]), compare_words);
	for (size_t i = 0; i < n; i++)
		gfs_json_word(w, array, NULL, words[i]);
}

void gfs_inventory_put(const struct dec_artifact *a, struct gfs_json *w, struct cJSON *in,
		       const char *key)
{
	struct cJSON *o = gfs_json_object(w, in, key);
	bool seen[GFS_CODE_COUNT] = { false };

	gfs_json_word(w, o, "state", a->partial ? "partial" : "complete");
	for (uint32_t i = 0; i < a->problem_count; i++)
		if (a->problems[i].partial)
			seen[a->problems[i].code] = true;
	gfs_codes_put(w, o, "reasons", seen);
}

static void put_inventory(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			  const char *key)
{
	gfs_inventory_put(r->p, w, in, key);
}

bool gfs_problem_is_listed(const struct dec_problem *p)
{
	return p->object == DEC_NONE || p->partial;
}

static void put_problem_container(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
				  const char *key)
{
	put_id_or_null(r, w, in, key, ((const struct dec_problem *)r->p)->container);
}

static void put_problem_object(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			       const char *key)
{
	put_id_or_null(r, w, in, key, ((const struct dec_problem *)r->p)->object);
}

/* ---- containers ------------------------------------------------------------------- */

static void put_container_version(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
				  const char *key)
{
	const struct dec_container *c = r->p;

	/* A bare code object and an uncompressed bundle have no version field. */
	if (c->kind == DEC_CONTAINER_BARE || c->kind == DEC_CONTAINER_BUNDLE)
		gfs_json_null(w, in, key);
	else
		gfs_json_uint(w, in, key, c->version);
}

static void put_decoded_size(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			     const char *key)
{
	const struct dec_container *c = r->p;

	/* 0: not compressed, or compressed by a codec that nobody can ask for the size. */
	if (c->decoded_size != 0)
		gfs_json_uint(w, in, key, c->decoded_size);
	else
		gfs_json_null(w, in, key);
}

static void put_hash(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
		     const char *key)
{
	const struct dec_container *c = r->p;

	if (c->has_hash)
		gfs_json_hex(w, in, key, c->hash);
	else
		gfs_json_null(w, in, key);
}

static void put_container_around(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
				 const char *key)
{
	put_around(r, w, in, key, ((const struct dec_container *)r->p)->place);
}

static void put_container_problems(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
				   const char *key)
{
	put_problems(r, w, in, key, ((const struct dec_container *)r->p)->problems);
}

/* ---- objects ---------------------------------------------------------------------- */

static const struct dec_container *container_of(const struct gfs_record *r)
{
	const struct dec_object *o = r->p;

	return &r->artifact->containers[o->container];
}

static void put_codec_flags(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			    const char *key)
{
	gfs_json_hex(w, in, key, ((const struct dec_object *)r->p)->codec_flags);
}

static void put_unexamined(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			   const char *key)
{
	(void)r;
	gfs_json_word(w, in, key, "unexamined");
}

static void put_object_problems(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
				const char *key)
{
	put_problems(r, w, in, key, ((const struct dec_object *)r->p)->problems);
}

static void put_object_version(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			       const char *key)
{
	const struct dec_object *o = r->p;
	char version[16];

	snprintf(version, sizeof(version), "%u.%u", o->version_major, o->version_minor);
	gfs_json_word(w, in, key, o->has_version ? version : NULL);
}

static void put_id(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
		   const char *key)
{
	put_id_or_null(r, w, in, key, r->index);
}

static void put_container_id(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			     const char *key)
{
	put_id_or_null(r, w, in, key, ((const struct dec_object *)r->p)->container);
}

/* The outermost stored range that holds the object. */
static void put_artifact_range(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			       const char *key)
{
	const struct dec_object *o = r->p;

	put_range(w, in, key, o->space == DEC_SPACE_DECODED ? container_of(r)->range : o->encoded);
}

static void put_object_around(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			      const char *key)
{
	put_around(r, w, in, key, container_of(r)->place);
}

static bool is_uri_byte(unsigned char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       (c && strchr("/_.~-", c));
}

/* ROCm's form: comgr and rocgdb open "file://NAME#offset=..&size=..". */
static void put_uri(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
		    const char *key)
{
	const struct dec_object *o = r->p;
	struct dec_text name = r->artifact->name;
	char *uri;
	char *to;

	if (o->space == DEC_SPACE_DECODED) {
		gfs_json_null(w, in, key);
		return;
	}
	uri = malloc(3 * name.len + sizeof("file://#offset=&size=") + 2 * 20);
	if (!uri) {
		w->failed = true;
		return;
	}
	to = stpcpy(uri, "file://");
	for (size_t i = 0; i < name.len; i++) {
		unsigned char c = (unsigned char)name.p[i];

		to += sprintf(to, is_uri_byte(c) ? "%c" : "%%%02X", c);
	}
	sprintf(to, "#offset=%" PRIu64 "&size=%" PRIu64, o->encoded.offset, o->encoded.size);
	gfs_json_word(w, in, key, uri);
	free(uri);
}

/* ---- targets ---------------------------------------------------------------------- */

static void put_unrequested(const struct gfs_record *r, struct gfs_json *w, struct cJSON *in,
			    const char *key)
{
	(void)r;
	gfs_json_word(w, in, key, "unrequested");
}

/* ---- the tables ------------------------------------------------------------------- */

const struct gfs_field gfs_artifact_fields[] = {
	FIELD(struct dec_artifact, name),
	FIELD(struct dec_artifact, size),
	FIELD_FN("sha256", put_sha256),
	FIELD_FN("format", put_format),
	FIELD_AS("containers", struct dec_artifact, container_count),
	FIELD_AS("objects", struct dec_artifact, object_count),
	FIELD_AS("targets", struct dec_artifact, target_count),
	FIELD_FN("inventory", put_inventory),
	FIELDS_END,
};

const struct gfs_field gfs_problem_fields[] = {
	FIELD_FN("code", put_problem_code),
	FIELD(struct dec_problem, offset),
	FIELD(struct dec_problem, field),
	FIELD(struct dec_problem, message),
	FIELD_FN("container", put_problem_container),
	FIELD_FN("object", put_problem_object),
	FIELDS_END,
};

const struct gfs_field gfs_container_fields[] = {
	FIELD_FN("kind", put_container_kind),
	FIELD_FN("version", put_container_version),
	FIELD_FN("codec", put_container_codec),
	FIELD(struct dec_container, entries),
	FIELD_FN("decoded_size", put_decoded_size),
	FIELD_FN("hash", put_hash),
	FIELD_FN("around", put_container_around),
	FIELD_AS("offset", struct dec_container, range.offset),
	FIELD_AS("size", struct dec_container, range.size),
	FIELD_FN("problems", put_container_problems),
	FIELDS_END,
};

const struct gfs_field gfs_object_fields[] = {
	FIELD_FN("vendor", put_vendor),
	FIELD(struct dec_object, target),
	FIELD_FN("target_kind", put_target_kind),
	FIELD(struct dec_object, target_raw),
	FIELD_FN("kind", put_kind),
	FIELD_FN("codec", put_codec),
	FIELD_FN("codec_flags", put_codec_flags),
	FIELD(struct dec_object, payload_size),
	FIELD_FN("inspection", put_unexamined),
	FIELD_FN("problems", put_object_problems),
	FIELDS_END,
};

const struct gfs_field gfs_fatbin_fields[] = {
	FIELD(struct dec_object, entry_kind), FIELD_FN("version", put_object_version),
	FIELD(struct dec_object, identifier), FIELD(struct dec_object, options),
	FIELD(struct dec_object, scrambled),  FIELDS_END,
};

const struct gfs_field gfs_location_fields[] = {
	FIELD_FN("id", put_id),
	FIELD_FN("container", put_container_id),
	FIELD(struct dec_object, entry_index),
	FIELD_FN("space", put_space),
	FIELD(struct dec_object, header),
	FIELD(struct dec_object, encoded),
	FIELD_FN("artifact_range", put_artifact_range),
	FIELD_FN("around", put_object_around),
	FIELD_FN("uri", put_uri),
	FIELDS_END,
};

const struct gfs_field gfs_target_fields[] = {
	FIELD_AS("target", struct dec_target, name),
	FIELD_FN("vendor", put_target_vendor),
	FIELD_FN("kind", put_target_class),
	FIELD(struct dec_target, family),
	FIELD_AS("objects", struct dec_target, object_count),
	FIELD_FN("kernel_analysis", put_unrequested),
	FIELDS_END,
};

const struct gfs_field gfs_id_fields[] = {
	FIELD_FN("id", put_id),
	FIELDS_END,
};

const struct gfs_field gfs_of_object_fields[] = {
	FIELD_FN("object", put_id),
	FIELD_FN("vendor", put_vendor),
	FIELD(struct dec_object, target),
	FIELDS_END,
};

void gfs_field_put(const struct gfs_record *r, const struct gfs_field *f, struct gfs_json *w,
		   struct cJSON *in)
{
	const void *p = (const char *)r->p + f->offset;

	switch (f->kind) {
	case GFS_FIELD_FN:
		f->put(r, w, in, f->key);
		break;
	case GFS_FIELD_BOOL:
		gfs_json_bool(w, in, f->key, *(const bool *)p);
		break;
	case GFS_FIELD_U32:
		gfs_json_uint(w, in, f->key, *(const uint32_t *)p);
		break;
	case GFS_FIELD_U64:
		gfs_json_uint(w, in, f->key, *(const uint64_t *)p);
		break;
	case GFS_FIELD_WORD:
		gfs_json_word(w, in, f->key, *(const char *const *)p);
		break;
	case GFS_FIELD_TEXT:
		gfs_json_text(w, in, f->key, *(const struct dec_text *)p);
		break;
	case GFS_FIELD_RANGE:
		put_range(w, in, f->key, *(const struct dec_range *)p);
		break;
	}
}

void gfs_fields_put(const struct gfs_record *r, const struct gfs_field *fields, struct gfs_json *w,
		    struct cJSON *in)
{
	for (const struct gfs_field *f = fields; f->key; f++)
		gfs_field_put(r, f, w, in);
}
