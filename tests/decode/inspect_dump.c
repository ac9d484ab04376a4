/*
 * inspect_dump [-m] FILE...: what decode finds in each payload of the files, one fact a line,
 * fields separated by tabs. -m adds the metadata. For comparisons with other readers.
 *
 * Bytes outside printable ASCII and the backslash are written \xXX; an absent text or a
 * number that is not stated is "-".
 */
#include "inspect.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct file {
	uint8_t *p;
	size_t len;
};

static int read_file(void *ctx, uint64_t offset, void *buf, size_t len)
{
	const struct file *f = ctx;

	if (offset > f->len || len > f->len - offset)
		return -EIO;
	memcpy(buf, f->p + offset, len);
	return 0;
}

static bool load(const char *path, struct file *f)
{
	FILE *in = fopen(path, "rb");
	long size = -1;

	*f = (struct file){ NULL, 0 };
	if (in && fseek(in, 0, SEEK_END) == 0)
		size = ftell(in);
	if (size >= 0 && fseek(in, 0, SEEK_SET) == 0 && (f->p = malloc((size_t)size + 1)))
		f->len = fread(f->p, 1, (size_t)size, in);
	if (in)
		fclose(in);
	return f->p && f->len == (size_t)size;
}

/* ---- printing ------------------------------------------------------------------------------ */

static void print_bytes(const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)p[i];

		if (c < ' ' || c > '~' || c == '\\')
			printf("\\x%02x", c);
		else
			putchar(c);
	}
}

static void print_text(struct dec_text t)
{
	putchar('\t');
	if (!dec_text_present(t))
		putchar('-');
	else
		print_bytes(t.p, t.len);
}

static void print_stated(uint64_t n)
{
	if (n == DEC_UNSTATED)
		printf("\t-");
	else
		printf("\t%" PRIu64, n);
}

static void print_fact(const struct dec_fact *f)
{
	printf("fact\t%s", dec_fact_key(f->id));
	switch (dec_fact_shape(f->id)) {
	case DEC_SHAPE_COUNT:
	case DEC_SHAPE_BOOL:
		printf("\t%" PRIu64 "\n", f->u);
		break;
	case DEC_SHAPE_HEX:
		printf("\t0x%" PRIx64 "\n", f->u);
		break;
	case DEC_SHAPE_TRIPLE:
		printf("\t%" PRIu32 ",%" PRIu32 ",%" PRIu32 "\n", f->triple[0], f->triple[1],
		       f->triple[2]);
		break;
	case DEC_SHAPE_TEXT:
		print_text(f->text);
		putchar('\n');
		break;
	}
}

static void print_arg(const struct dec_arg *a)
{
	printf("arg");
	print_text(a->name);
	print_text(a->type);
	print_text(a->kind);
	print_text(a->address_space);
	print_text(a->access);
	print_stated(a->offset);
	print_stated(a->size);
	print_stated(a->align);
	putchar('\n');
}

static void print_kernel(const struct dec_kernel *k)
{
	printf("kernel");
	print_text(k->name);
	print_text(k->symbol);
	printf("\tcode %" PRIu64 "+%" PRIu64 "\tdescriptor %" PRIu64 "+%" PRIu64 "\n",
	       k->code.offset, k->code.size, k->descriptor.offset, k->descriptor.size);
	for (uint32_t i = 0; i < k->fact_count; i++)
		print_fact(&k->facts[i]);
	for (uint32_t i = 0; i < k->arg_count; i++)
		print_arg(&k->args[i]);
}

static void print_problem(const struct dec_problem *p)
{
	printf("problem\t%s\t%" PRIu64 "\t%s\t%s\t", dec_problem_word(p->code), p->offset, p->field,
	       p->partial ? "partial" : "remark");
	if (p->object == DEC_NONE)
		printf("-");
	else
		printf("%" PRIu32, p->object);
	print_text(p->message);
	putchar('\n');
}

static void print_meta(const struct dec_meta *m, int depth)
{
	printf("meta\t%*s", 2 * depth, "");
	if (m->key.p && dec_text_present(m->key)) {
		print_bytes(m->key.p, m->key.len);
		printf(": ");
	}
	switch (m->type) {
	case DEC_META_NIL:
		printf("nil\n");
		break;
	case DEC_META_BOOL:
		printf("%s\n", m->u ? "true" : "false");
		break;
	case DEC_META_UINT:
		printf("%" PRIu64 "\n", m->u);
		break;
	case DEC_META_INT:
		printf("%" PRId64 "\n", m->i);
		break;
	case DEC_META_FLOAT:
		printf("%.17g\n", m->f);
		break;
	case DEC_META_HEX:
		printf("0x%" PRIx64 "\n", m->u);
		break;
	case DEC_META_TEXT:
	case DEC_META_BYTES:
		putchar(m->type == DEC_META_TEXT ? '"' : '<');
		print_bytes(m->text.p, m->text.len);
		printf("%c\n", m->type == DEC_META_TEXT ? '"' : '>');
		break;
	case DEC_META_ARRAY:
	case DEC_META_MAP:
		printf("%s of %" PRIu32 "\n", m->type == DEC_META_MAP ? "map" : "array", m->count);
		for (uint32_t i = 0; i < m->count; i++)
			print_meta(&m->items[i], depth + 1);
		break;
	}
}

static void print_inspection(const struct dec_artifact *a, uint32_t object,
			     const struct dec_inspection *in)
{
	const struct dec_object *o = &a->objects[object];

	printf("object\t%" PRIu32 "\t%" PRIu64 "\t%s\t%s\t%s\t%s", object, o->encoded.offset,
	       dec_representation_word(in->representation), dec_state_word(in->state),
	       dec_evidence_word(in->evidence), dec_consistency_word(in->consistency));
	print_text(o->target);
	print_text(in->payload_target);
	print_text(in->payload_target_raw);
	putchar('\n');
	for (uint32_t i = 0; i < in->kernel_count; i++)
		print_kernel(&in->kernels[i]);
	for (uint32_t i = 0; i < in->problem_count; i++)
		print_problem(&in->problems[i]);
	if (in->metadata)
		print_meta(in->metadata, 0);
}

/* ---- payloads -------------------------------------------------------------------------------- */

/* The payload of an object; *owned is to be freed. NULL: it cannot be had, err says why. */
static const uint8_t *payload(const struct dec_artifact *a, uint32_t object, const struct file *f,
			      uint8_t **owned, struct dec_error *err)
{
	const struct dec_object *o = &a->objects[object];
	const struct dec_container *c = &a->containers[o->container];

	*owned = NULL;
	if (!o->has_payload)
		return NULL;
	if (o->codec != DEC_CODEC_NONE) {
		*owned = malloc(o->payload_size + 1);
		return *owned && dec_unpack(a, object, *owned, err) ? *owned : NULL;
	}
	if (o->space == DEC_SPACE_ARTIFACT)
		return f->p + o->encoded.offset;
	*owned = malloc(c->decoded_size + 1);
	return *owned && dec_unpack_container(a, o->container, *owned, err)
		       ? *owned + o->encoded.offset
		       : NULL;
}

static bool dump_object(const struct dec_artifact *a, uint32_t object, const struct file *f,
			unsigned wants)
{
	const struct dec_object *o = &a->objects[object];
	struct dec_error why = { .status = DEC_OK }, err;
	struct dec_inspection *in;
	uint8_t *owned;
	const uint8_t *p = payload(a, object, f, &owned, &why);

	if (p)
		in = dec_inspect(a, object, p,
				 o->codec == DEC_CODEC_NONE ? o->encoded.size : o->payload_size,
				 wants, &err);
	else
		in = dec_inspect_without(a, object, o->has_payload ? &why : NULL, &err);
	free(owned);
	if (!in)
		return false;
	print_inspection(a, object, in);
	dec_inspection_free(in);
	return true;
}

static bool dump(const char *path, unsigned wants)
{
	struct dec_source source = { .read = read_file };
	struct dec_limits limits = dec_limits_default();
	struct dec_artifact *a = NULL;
	struct dec_error err = { .sentence = "cannot be read" };
	struct file f;
	bool ok = load(path, &f);

	printf("file\t%s\n", path);
	source.ctx = &f;
	source.size = f.len;
	if (ok)
		a = dec_open(&source, path, &limits, &err);
	if (!a)
		fprintf(stderr, "%s: %s\n", path, err.sentence);
	ok = a != NULL;
	for (uint32_t i = 0; ok && i < a->object_count; i++)
		ok = dump_object(a, i, &f, wants);
	dec_close(a);
	free(f.p);
	return ok;
}

int main(int argc, char **argv)
{
	unsigned wants = 0;
	bool ok = true;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-m") == 0)
			wants = DEC_WANT_METADATA;
		else
			ok = dump(argv[i], wants) && ok;
	}
	return !ok;
}
