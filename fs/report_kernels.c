#include "report_kernels.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "examine.h"
#include "examine_json.h"
#include "json.h"
#include "tree.h"

/* What one object says of one kernel, or several that say the same. */
struct gfs_declared {
	char *name;
	size_t name_len;
	char *text; /* JSON, printed as an element of an array */
	size_t text_len;
	struct gfs_key code; /* 0 where it is not known */
};

struct collecting {
	struct gfs *fs;
	pthread_mutex_t lock; /* of all below */
	struct gfs_kernels *kernels;
	size_t room;
};

/* ---- collecting ------------------------------------------------------------------------- */

static void declared_fini(struct gfs_declared *d)
{
	free(d->name);
	free(d->text);
}

static void key_add(struct gfs_key *sum, struct gfs_key key)
{
	sum->low += key.low;
	sum->high += key.high;
}

static struct gfs_key code_key(const struct gfs_payload *payload, const char *bytes,
			       struct dec_range code)
{
	if (code.size == 0 || code.offset > payload->size ||
	    code.size > payload->size - code.offset)
		return (struct gfs_key){ 0 };
	return gfs_key_of(bytes + code.offset, (size_t)code.size);
}

static int declared_init(struct gfs_declared *d, const struct collecting *c, uint32_t object,
			 const struct dec_inspection *inspection, uint32_t kernel)
{
	struct dec_text name = inspection->kernels[kernel].name;
	int rc;

	*d = (struct gfs_declared){ .name = malloc(name.len + 1), .name_len = name.len };
	if (!d->name)
		return -ENOMEM;
	memcpy(d->name, name.p, name.len + 1); /* with the NUL behind every text */
	rc = gfs_kernel_of_target_show(c->fs, object, inspection, kernel, &d->text, &d->text_len);
	if (rc != 0)
		free(d->name);
	return rc;
}

static int push(struct collecting *c, const struct gfs_declared *d)
{
	struct gfs_kernels *k = c->kernels;

	if (k->declared_count == c->room) {
		size_t room = c->room ? 2 * c->room : 64;
		struct gfs_declared *bigger = reallocarray(k->declared, room, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		k->declared = bigger;
		c->room = room;
	}
	k->declared[k->declared_count++] = *d;
	return 0;
}

static void take_payload(struct collecting *c, struct gfs_key key,
			 const struct dec_inspection *inspection)
{
	pthread_mutex_lock(&c->lock);
	key_add(&c->kernels->payloads, key);
	for (uint32_t i = 0; i < inspection->problem_count; i++)
		c->kernels->problems[inspection->problems[i].code]++;
	pthread_mutex_unlock(&c->lock);
}

static int take(void *ctx, uint32_t object, struct gfs_payload *payload,
		const struct dec_inspection *inspection)
{
	struct collecting *c = ctx;
	const void *bytes = "";
	struct gfs_key key = { 0 };
	int rc = payload->there ? gfs_payload_bytes(c->fs, object, payload, &bytes) : 0;

	if (rc != 0)
		return rc;
	if (payload->there)
		key = gfs_key_of(bytes, (size_t)payload->size);
	take_payload(c, key, inspection);
	for (uint32_t i = 0; i < inspection->kernel_count && rc == 0; i++) {
		struct gfs_declared d;

		rc = declared_init(&d, c, object, inspection, i);
		if (rc != 0)
			break;
		d.code = code_key(payload, bytes, inspection->kernels[i].code);
		pthread_mutex_lock(&c->lock);
		rc = push(c, &d);
		pthread_mutex_unlock(&c->lock);
		if (rc != 0)
			declared_fini(&d);
	}
	return rc;
}

/* ---- sorting ---------------------------------------------------------------------------- */

static int compare_bytes(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

	if (order != 0)
		return order;
	return a_len < b_len ? -1 : a_len > b_len;
}

static int compare_names(const struct gfs_declared *x, const struct gfs_declared *y)
{
	return compare_bytes(x->name, x->name_len, y->name, y->name_len);
}

static int compare_texts(const struct gfs_declared *x, const struct gfs_declared *y)
{
	return compare_bytes(x->text, x->text_len, y->text, y->text_len);
}

static int compare(const void *a, const void *b)
{
	const struct gfs_declared *x = a;
	const struct gfs_declared *y = b;
	int order = compare_names(x, y);

	if (order == 0)
		order = compare_texts(x, y);
	return order != 0 ? order : memcmp(&x->code, &y->code, sizeof(x->code));
}

/* Sorts, and keeps the first of those that say the same, with all the codes that differ. */
static void unite(struct gfs_kernels *k)
{
	struct gfs_declared *kept = k->declared;
	struct gfs_key last;

	if (k->declared_count == 0)
		return;
	qsort(k->declared, k->declared_count, sizeof(k->declared[0]), compare);
	last = kept->code;
	for (size_t i = 1; i < k->declared_count; i++) {
		struct gfs_declared *d = &k->declared[i];
		struct gfs_key code = d->code;

		if (compare_names(kept, d) != 0 || compare_texts(kept, d) != 0) {
			*++kept = *d;
		} else {
			if (memcmp(&last, &code, sizeof(last)) != 0)
				key_add(&kept->code, code);
			declared_fini(d);
		}
		last = code;
	}
	k->declared_count = (size_t)(kept - k->declared) + 1;
}

static struct dec_text name_of(const void *ctx, uint32_t index)
{
	const struct gfs_kernels *k = ctx;
	const struct gfs_declared *d = &k->declared[k->first[index]];

	return (struct dec_text){ d->name, d->name_len };
}

static int name_all(struct gfs_kernels *k)
{
	uint32_t count = 0;

	k->first = calloc(k->declared_count + 1, sizeof(k->first[0]));
	if (!k->first)
		return -ENOMEM;
	for (size_t i = 0; i < k->declared_count; i++)
		if (i == 0 || compare_names(&k->declared[i - 1], &k->declared[i]) != 0)
			k->first[count++] = i;
	k->first[count] = k->declared_count;
	return gfs_file_names_init(&k->names, count, name_of, k);
}

/* ---- making -------------------------------------------------------------------------------- */

static void kernels_free(void *object)
{
	struct gfs_kernels *k = object;

	for (size_t i = 0; i < k->declared_count; i++)
		declared_fini(&k->declared[i]);
	free(k->declared);
	free(k->first);
	gfs_file_names_fini(&k->names);
	free(k);
}

/* With the headers that malloc() puts before name and text. */
static uint64_t memory_of(const struct gfs_kernels *k)
{
	uint64_t sum = sizeof(*k) + k->names.memory;

	for (size_t i = 0; i < k->declared_count; i++)
		sum += sizeof(k->declared[i]) + sizeof(k->first[0]) + k->declared[i].name_len +
		       k->declared[i].text_len + 32;
	return sum;
}

static int collect(struct gfs *fs, uint32_t target, struct gfs_kernels *k)
{
	const struct dec_target *t = &fs->artifact->targets[target];
	struct collecting c = { .fs = fs, .kernels = k };
	int rc;

	pthread_mutex_init(&c.lock, NULL);
	rc = gfs_examine_all(fs, t->objects, t->object_count, take, &c);
	pthread_mutex_destroy(&c.lock);
	if (rc != 0)
		return rc;
	unite(k);
	return name_all(k);
}

struct making {
	struct gfs *fs;
	uint32_t target;
};

static int make_kernels(void *ctx, struct gfs_blob *blob)
{
	const struct making *m = ctx;
	struct gfs_kernels *k = calloc(1, sizeof(*k));
	int rc = k ? collect(m->fs, m->target, k) : -ENOMEM;

	if (rc == 0)
		gfs_blob_adopt(blob, k, memory_of(k), kernels_free);
	else if (k)
		kernels_free(k);
	return rc;
}

int gfs_kernels_get(struct gfs *fs, uint32_t target, struct gfs_waiter *waiter,
		    struct gfs_blob **blob, const struct gfs_kernels **kernels)
{
	struct making making = { fs, target };
	int rc = gfs_cache_get(fs->cache, GFS_KEY(GFS_KEY_KERNELS, target), make_kernels, &making,
			       waiter, blob);

	*kernels = rc == 0 ? gfs_blob_object(*blob) : NULL;
	return rc;
}

/* ---- comparing ------------------------------------------------------------------------------- */

struct dec_text gfs_kernels_name(const struct gfs_kernels *k, uint32_t name)
{
	return name_of(k, name);
}

struct gfs_key gfs_kernels_code(const struct gfs_kernels *k, uint32_t name)
{
	struct gfs_key sum = { 0 };

	for (size_t i = k->first[name]; i < k->first[name + 1]; i++)
		key_add(&sum, k->declared[i].code);
	return sum;
}

bool gfs_kernels_alike(const struct gfs_kernels *x, uint32_t x_name, const struct gfs_kernels *y,
		       uint32_t y_name)
{
	size_t at = x->first[x_name];
	size_t other = y->first[y_name];
	size_t count = x->first[x_name + 1] - at;

	if (count != y->first[y_name + 1] - other)
		return false;
	for (size_t i = 0; i < count; i++)
		if (compare_texts(&x->declared[at + i], &y->declared[other + i]) != 0)
			return false;
	return true;
}

/* ---- showing --------------------------------------------------------------------------------- */

/* Room for the texts of [from, to), each with two bytes more, and three around them. */
static char *text_room(const struct gfs_kernels *k, size_t from, size_t to)
{
	size_t size = 4;

	for (size_t i = from; i < to; i++)
		size += k->declared[i].text_len + 2;
	return malloc(size);
}

int gfs_kernels_show(const struct gfs_kernels *k, uint32_t name, char **text, size_t *size)
{
	size_t from = k->first[name];
	size_t to = k->first[name + 1];
	char *at = text_room(k, from, to);

	*text = at;
	if (!at)
		return -ENOMEM;
	for (size_t i = from; i < to; i++) {
		at = stpcpy(at, i == from ? "[" : ", ");
		at = mempcpy(at, k->declared[i].text, k->declared[i].text_len);
	}
	at = stpcpy(at, "]\n");
	*size = (size_t)(at - *text);
	return 0;
}

int gfs_kernels_show_lines(const struct gfs_kernels *k, char **text, size_t *size)
{
	char *at = text_room(k, 0, k->declared_count);

	*text = at;
	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < k->declared_count; i++) {
		memcpy(at, k->declared[i].text, k->declared[i].text_len);
		at += gfs_json_compact(at, k->declared[i].text_len);
		*at++ = '\n';
	}
	*size = (size_t)(at - *text);
	return 0;
}
