#include "device_kernels.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "examine.h"
#include "tree.h"

/* That an object has a kernel of this name. */
struct pair {
	uint32_t name;
	uint32_t object;
};

struct collecting {
	struct gfs *fs;
	pthread_mutex_t lock; /* of all below */
	struct gfs_vendor_kernels *kernels;
	size_t text_room;
	size_t text_used;
	uint32_t name_room;
	uint32_t *slots; /* of the table: a name's number plus 1, 0: free */
	uint32_t slot_count; /* a power of two */
	struct pair *pairs;
	size_t pair_count;
	size_t pair_room;
	uint32_t misfit_room;
	uint32_t unread_room;
};

/* ---- names (locked) ----------------------------------------------------------------------- */

struct dec_text gfs_kernel_name(const struct gfs_vendor_kernels *k, uint32_t name)
{
	return (struct dec_text){ k->text + k->names[name].at, k->names[name].len };
}

static uint32_t *slot_of(const struct collecting *c, struct dec_text name)
{
	uint32_t at = (uint32_t)gfs_key_of(name.p, name.len).low & (c->slot_count - 1);

	for (; c->slots[at] != 0; at = (at + 1) & (c->slot_count - 1)) {
		struct dec_text other = gfs_kernel_name(c->kernels, c->slots[at] - 1);

		if (other.len == name.len && memcmp(other.p, name.p, name.len) == 0)
			break;
	}
	return &c->slots[at];
}

static bool grow_slots(struct collecting *c)
{
	uint32_t count = c->slot_count ? 2 * c->slot_count : 256;
	uint32_t *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return false;
	free(c->slots);
	c->slots = slots;
	c->slot_count = count;
	for (uint32_t i = 0; i < c->kernels->count; i++)
		*slot_of(c, gfs_kernel_name(c->kernels, i)) = i + 1;
	return true;
}

static bool grow_names(struct collecting *c)
{
	uint32_t room = c->name_room ? 2 * c->name_room : 64;
	struct gfs_named *bigger = reallocarray(c->kernels->names, room, sizeof(*bigger));

	if (!bigger)
		return false;
	c->kernels->names = bigger;
	c->name_room = room;
	return true;
}

static bool grow_text(struct collecting *c, size_t more)
{
	size_t room = c->text_room ? c->text_room : 4096;
	char *bigger;

	while (room - c->text_used < more)
		room *= 2;
	bigger = realloc(c->kernels->text, room);
	if (!bigger)
		return false;
	c->kernels->text = bigger;
	c->text_room = room;
	return true;
}

static bool add_name(struct collecting *c, struct dec_text name, uint32_t *index)
{
	struct gfs_vendor_kernels *k = c->kernels;
	uint32_t *slot;

	if (k->count >= c->slot_count / 2 && !grow_slots(c))
		return false;
	slot = slot_of(c, name);
	*index = *slot - 1;
	if (*slot != 0)
		return true;
	/* One more than there are, for the end of the last one's objects. */
	if (k->count + 1 >= c->name_room && !grow_names(c))
		return false;
	if (c->text_room - c->text_used < name.len + 1 && !grow_text(c, name.len + 1))
		return false;
	*index = k->count++;
	*slot = k->count;
	k->names[*index] = (struct gfs_named){ c->text_used, name.len, 0 };
	memcpy(k->text + c->text_used, name.p, name.len);
	k->text[c->text_used + name.len] = '\0';
	c->text_used += name.len + 1;
	return true;
}

static bool add_pair(struct collecting *c, struct pair pair)
{
	if (c->pair_count == c->pair_room) {
		size_t room = c->pair_room ? 2 * c->pair_room : 256;
		struct pair *bigger = reallocarray(c->pairs, room, sizeof(*bigger));

		if (!bigger)
			return false;
		c->pairs = bigger;
		c->pair_room = room;
	}
	c->pairs[c->pair_count++] = pair;
	return true;
}

/* The other kinds promise nothing about the bytes. */
static bool is_other_code(enum dec_kind kind, const struct dec_inspection *found)
{
	static const struct {
		enum dec_kind kind;
		enum dec_representation expected;
	} rows[] = {
		{ DEC_KIND_CUBIN, DEC_REPRESENTATION_CUBIN },
		{ DEC_KIND_PTX, DEC_REPRESENTATION_PTX },
		{ DEC_KIND_CODE_OBJECT, DEC_REPRESENTATION_AMDGPU_ELF },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].kind == kind)
			return found->representation != rows[i].expected;
	return false;
}

/* What examination found other than the entry promises. */
static bool add_misfit(struct collecting *c, uint32_t object, const struct gfs_payload *payload,
		       const struct dec_inspection *found)
{
	struct gfs_vendor_kernels *k = c->kernels;
	bool conflict = found->consistency == DEC_CONSISTENCY_CONFLICT;
	bool useless =
		found->state == DEC_STATE_MALFORMED ||
		(payload->there && is_other_code(c->fs->artifact->objects[object].kind, found));
	struct gfs_misfit misfit = { .object = object };

	if (!conflict && !useless)
		return true;
	if (k->misfit_count == c->misfit_room) {
		uint32_t room = c->misfit_room ? 2 * c->misfit_room : 16;
		struct gfs_misfit *bigger = reallocarray(k->misfits, room, sizeof(*bigger));

		if (!bigger)
			return false;
		k->misfits = bigger;
		c->misfit_room = room;
	}
	if (!useless) {
		misfit.target = strndup(found->payload_target.p, found->payload_target.len);
		if (!misfit.target)
			return false;
	}
	k->misfits[k->misfit_count++] = misfit;
	return true;
}

static bool add_unread(struct collecting *c, uint32_t object, const struct dec_inspection *found)
{
	struct gfs_vendor_kernels *k = c->kernels;

	if (found->state == DEC_STATE_COMPLETE)
		return true;
	if (k->unread_count == c->unread_room) {
		uint32_t room = c->unread_room ? 2 * c->unread_room : 16;
		uint32_t *bigger = reallocarray(k->unread, room, sizeof(*bigger));

		if (!bigger)
			return false;
		k->unread = bigger;
		c->unread_room = room;
	}
	k->unread[k->unread_count++] = object;
	return true;
}

static int take(void *ctx, uint32_t object, struct gfs_payload *payload,
		const struct dec_inspection *inspection)
{
	struct collecting *c = ctx;
	struct pair pair = { 0, object };
	bool ok;

	pthread_mutex_lock(&c->lock);
	gfs_coverage_add(&c->kernels->coverage, c->fs->artifact, object, inspection);
	ok = add_misfit(c, object, payload, inspection) && add_unread(c, object, inspection);
	for (uint32_t i = 0; i < inspection->kernel_count && ok; i++)
		ok = add_name(c, inspection->kernels[i].name, &pair.name) && add_pair(c, pair);
	pthread_mutex_unlock(&c->lock);
	return ok ? 0 : -ENOMEM;
}

/* ---- sorting ------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b, void *ctx)
{
	struct dec_text x = gfs_kernel_name(ctx, *(const uint32_t *)a);
	struct dec_text y = gfs_kernel_name(ctx, *(const uint32_t *)b);
	int order = memcmp(x.p, y.p, x.len < y.len ? x.len : y.len);

	if (order != 0)
		return order;
	return x.len < y.len ? -1 : x.len > y.len;
}

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a;
	const struct pair *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->object < y->object ? -1 : x->object > y->object;
}

/* The numbers of names become their places in the order of bytes. */
static int sort_names(struct collecting *c)
{
	struct gfs_vendor_kernels *k = c->kernels;
	uint32_t *order = calloc((size_t)k->count + 1, sizeof(*order));
	uint32_t *place = calloc((size_t)k->count + 1, sizeof(*place));
	struct gfs_named *names = calloc((size_t)k->count + 1, sizeof(*names));

	if (!order || !place || !names) {
		free(order);
		free(place);
		free(names);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < k->count; i++)
		order[i] = i;
	qsort_r(order, k->count, sizeof(*order), compare_names, k);
	for (uint32_t i = 0; i < k->count; i++) {
		names[i] = k->names[order[i]];
		place[order[i]] = i;
	}
	for (size_t i = 0; i < c->pair_count; i++)
		c->pairs[i].name = place[c->pairs[i].name];
	free(order);
	free(place);
	free(k->names);
	k->names = names;
	return 0;
}

/* An object that has a name twice counts once. */
static int list_objects(struct collecting *c)
{
	struct gfs_vendor_kernels *k = c->kernels;
	size_t used = 0;
	size_t i = 0;

	if (c->pair_count > 0)
		qsort(c->pairs, c->pair_count, sizeof(c->pairs[0]), compare_pairs);
	k->objects = calloc(c->pair_count + 1, sizeof(k->objects[0]));
	if (!k->objects)
		return -ENOMEM;
	for (uint32_t name = 0; name < k->count; name++) {
		k->names[name].first = used;
		for (; i < c->pair_count && c->pairs[i].name == name; i++)
			if (i == 0 || compare_pairs(&c->pairs[i - 1], &c->pairs[i]) != 0)
				k->objects[used++] = c->pairs[i].object;
	}
	k->names[k->count].first = used;
	return 0;
}

/* ---- making ---------------------------------------------------------------------------------- */

static void kernels_free(void *object)
{
	struct gfs_vendor_kernels *k = object;

	free(k->text);
	free(k->names);
	free(k->objects);
	for (uint32_t i = 0; i < k->misfit_count; i++)
		free(k->misfits[i].target);
	free(k->misfits);
	free(k->unread);
	free(k);
}

static bool is_examined(const struct dec_object *object, enum dec_vendor vendor)
{
	return object->vendor == vendor && object->kind != DEC_KIND_HOST;
}

uint64_t gfs_vendor_kernels_size(const struct gfs *fs, enum dec_vendor vendor)
{
	const struct dec_artifact *a = fs->artifact;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < a->object_count; i++)
		if (is_examined(&a->objects[i], vendor))
			sum += a->objects[i].payload_size < UINT64_MAX - sum
				       ? a->objects[i].payload_size
				       : UINT64_MAX - sum;
	return sum;
}

static uint32_t *objects_of(const struct gfs *fs, enum dec_vendor vendor, uint32_t *count)
{
	const struct dec_artifact *a = fs->artifact;
	uint32_t *objects = calloc((size_t)a->object_count + 1, sizeof(*objects));

	*count = 0;
	for (uint32_t i = 0; objects && i < a->object_count; i++)
		if (is_examined(&a->objects[i], vendor))
			objects[(*count)++] = i;
	return objects;
}

static int collect(struct collecting *c, enum dec_vendor vendor)
{
	uint32_t *objects = objects_of(c->fs, vendor, &c->kernels->examined);
	int rc = objects ? gfs_examine_all(c->fs, objects, c->kernels->examined, take, c) : -ENOMEM;

	free(objects);
	if (rc == 0)
		rc = sort_names(c);
	return rc == 0 ? list_objects(c) : rc;
}

struct making {
	struct gfs *fs;
	enum dec_vendor vendor;
};

static int make_kernels(void *ctx, struct gfs_blob *blob)
{
	const struct making *m = ctx;
	struct collecting c = { .fs = m->fs, .kernels = calloc(1, sizeof(*c.kernels)) };
	int rc;

	if (!c.kernels)
		return -ENOMEM;
	pthread_mutex_init(&c.lock, NULL);
	rc = collect(&c, m->vendor);
	pthread_mutex_destroy(&c.lock);
	if (rc == 0)
		gfs_blob_adopt(blob, c.kernels,
			       sizeof(*c.kernels) + c.text_room +
				       c.kernels->count * sizeof(c.kernels->names[0]) +
				       c.pair_count * sizeof(c.kernels->objects[0]) +
				       c.misfit_room * sizeof(c.kernels->misfits[0]) +
				       c.unread_room * sizeof(c.kernels->unread[0]),
			       kernels_free);
	else
		kernels_free(c.kernels);
	free(c.slots);
	free(c.pairs);
	return rc;
}

int gfs_vendor_kernels_get(struct gfs *fs, enum dec_vendor vendor, struct gfs_waiter *waiter,
			   struct gfs_blob **blob, const struct gfs_vendor_kernels **kernels)
{
	struct making making = { fs, vendor };
	int rc = gfs_cache_get(fs->cache, GFS_KEY(GFS_KEY_VENDOR_KERNELS, vendor), make_kernels,
			       &making, waiter, blob);

	*kernels = rc == 0 ? gfs_blob_object(*blob) : NULL;
	return rc;
}

int gfs_vendor_kernels_ready(struct gfs *fs, enum dec_vendor vendor, struct gfs_waiter *waiter)
{
	const struct gfs_vendor_kernels *k;
	struct gfs_blob *blob;
	int rc = gfs_vendor_kernels_get(fs, vendor, waiter, &blob, &k);

	if (rc == 0)
		gfs_blob_put(blob);
	return rc;
}
