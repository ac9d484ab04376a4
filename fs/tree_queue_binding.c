/* What a captured packet dispatches: the kernel of the artifact, and how the two fit. */
#include "tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cache.h"
#include "examine.h"
#include "examine_json.h"
#include "json.h"
#include "queues.h"

/* Handles that gfs_kernel_object() makes: a mark, the object, the descriptor's offset. */
#define HANDLE_MARK 0x47
#define HANDLE_OBJECT_BITS 24

#define KERNEL_DISPATCH 2

struct binding {
	const struct sg_capture *c;
	const uint8_t *kernarg; /* NULL: none */
	uint64_t kept; /* bytes that are copied at most */
	uint32_t object;
	const struct dec_kernel *kernel;
};

/* False: it names no object of this artifact. */
static bool object_of(const struct gfs *fs, const struct sg_descriptor *desc, uint32_t *object)
{
	uint64_t handle = desc->kernel_object;

	if (desc->packet_type != KERNEL_DISPATCH || handle >> 56 != HANDLE_MARK)
		return false;
	*object = (uint32_t)(handle >> 32 & ((1u << HANDLE_OBJECT_BITS) - 1));
	return *object < fs->artifact->object_count;
}

static const struct dec_kernel *find_kernel(const struct dec_inspection *inspection,
					    uint32_t object, uint64_t handle)
{
	for (uint32_t i = 0; i < inspection->kernel_count; i++) {
		const struct dec_kernel *k = &inspection->kernels[i];

		if (k->descriptor.size && gfs_kernel_object(object, k) == handle)
			return k;
	}
	return NULL;
}

/* 0: the kernel does not state it, which asks for nothing. */
static uint64_t stated(const struct binding *b, enum dec_fact_id id)
{
	const struct dec_fact *fact = dec_kernel_fact(b->kernel, id);

	return fact ? fact->u : 0;
}

static uint64_t workgroup_items(const struct binding *b)
{
	const uint16_t *size = b->c->desc.workgroup_size;

	return (uint64_t)size[0] * size[1] * size[2];
}

/* ---- findings --------------------------------------------------------------------------------- */

static bool kernarg_missing(const struct binding *b)
{
	return stated(b, DEC_FACT_KERNARG_SEGMENT_SIZE) && !b->c->desc.kernarg.address;
}

static bool kernarg_foreign(const struct binding *b)
{
	return stated(b, DEC_FACT_KERNARG_SEGMENT_SIZE) && b->c->desc.kernarg.address &&
	       !b->c->kernarg_alloc_id;
}

/* The copy ends where the memory does, or where no more is kept. */
static bool kernarg_short(const struct binding *b)
{
	uint64_t needed = stated(b, DEC_FACT_KERNARG_SEGMENT_SIZE);

	if (needed > b->kept)
		needed = b->kept;
	return b->c->kernarg_alloc_id && b->c->kernarg_len < needed;
}

static bool kernarg_misaligned(const struct binding *b)
{
	uint64_t align = stated(b, DEC_FACT_KERNARG_SEGMENT_ALIGN);

	return align && b->c->desc.kernarg.address % align != 0;
}

static bool group_segment_small(const struct binding *b)
{
	return b->c->desc.group_segment_size < stated(b, DEC_FACT_GROUP_SEGMENT_FIXED_SIZE);
}

static bool private_segment_small(const struct binding *b)
{
	return b->c->desc.private_segment_size < stated(b, DEC_FACT_PRIVATE_SEGMENT_FIXED_SIZE);
}

static bool workgroup_too_large(const struct binding *b)
{
	uint64_t most = stated(b, DEC_FACT_MAX_FLAT_WORKGROUP_SIZE);

	return most && workgroup_items(b) > most;
}

static bool workgroup_not_required(const struct binding *b)
{
	const struct dec_fact *fact = dec_kernel_fact(b->kernel, DEC_FACT_REQD_WORKGROUP_SIZE);

	for (int i = 0; i < 3 && fact; i++) {
		if (b->c->desc.workgroup_size[i] != fact->triple[i])
			return true;
	}
	return false;
}

static const struct finding {
	const char *word;
	bool (*applies)(const struct binding *b);
} findings[] = {
#define X(word) { #word, word },
	GFS_FINDING_LIST(X)
#undef X
};

/* ---- JSON -------------------------------------------------------------------------------------- */

/* What the bytes hold for an argument; null where they do not reach. */
static void put_value(const struct binding *b, const struct dec_arg *arg, struct gfs_json *w,
		      struct cJSON *in)
{
	uint64_t have = b->kernarg ? b->c->kernarg_len : 0;

	if (arg->offset > have || arg->size > have - arg->offset || arg->size == 0)
		gfs_json_null(w, in, "bytes");
	else
		gfs_json_bytes(w, in, "bytes",
			       (struct dec_text){ (const char *)b->kernarg + arg->offset,
						  (size_t)arg->size });
}

static void put_stated(struct gfs_json *w, struct cJSON *in, const char *key, uint64_t value)
{
	if (value == DEC_UNSTATED)
		gfs_json_null(w, in, key);
	else
		gfs_json_uint(w, in, key, value);
}

static void put_arguments(const struct binding *b, struct gfs_json *w, struct cJSON *in)
{
	struct cJSON *array = gfs_json_array(w, in, "arguments");

	for (uint32_t i = 0; i < b->kernel->arg_count; i++) {
		const struct dec_arg *arg = &b->kernel->args[i];
		struct cJSON *o = gfs_json_object(w, array, NULL);

		gfs_json_text(w, o, "name", arg->name);
		gfs_json_text(w, o, "kind", arg->kind);
		put_stated(w, o, "offset", arg->offset);
		put_stated(w, o, "size", arg->size);
		put_value(b, arg, w, o);
	}
}

static void put_binding(const struct gfs *fs, const struct binding *b, struct gfs_json *w,
			struct cJSON *in)
{
	struct cJSON *o = gfs_json_object(w, in, "binding");
	struct cJSON *array;
	char id[GFS_NAME_MAX + 1];

	gfs_id_name(fs, b->object, id);
	gfs_json_word(w, o, "object", id);
	gfs_json_text(w, o, "kernel", b->kernel->name);
	put_arguments(b, w, o);
	array = gfs_json_array(w, o, "findings");
	for (size_t i = 0; i < sizeof(findings) / sizeof(findings[0]); i++) {
		if (findings[i].applies(b))
			gfs_json_word(w, array, NULL, findings[i].word);
	}
}

int gfs_binding_put(const struct gfs_at *at, struct gfs_json *w, struct cJSON *in,
		    const struct sg_capture *c, const uint8_t *kernarg)
{
	struct binding b = {
		.c = c,
		.kernarg = kernarg,
		.kept = at->fs->options.queues.kernarg_bytes,
	};
	const struct gfs_examined *x;
	struct gfs_blob *blob;
	int rc;

	if (!object_of(at->fs, &c->desc, &b.object)) {
		gfs_json_null(w, in, "binding");
		return 0;
	}
	rc = gfs_examined_get(at->fs, b.object, false, at->waiter, &blob, &x);
	if (rc != 0)
		return rc;
	b.kernel = find_kernel(x->inspection, b.object, c->desc.kernel_object);
	if (b.kernel)
		put_binding(at->fs, &b, w, in);
	else
		gfs_json_null(w, in, "binding");
	gfs_blob_put(blob);
	return 0;
}
