#include "report.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "examine.h"
#include "report_tally.h"
#include "tree.h"

struct conflict {
	uint32_t object;
	char *payload_target;
};

struct report {
	struct gfs *fs;
	uint64_t *sizes; /* of the payloads to come, sorted */
	size_t size_count;
	pthread_mutex_t lock; /* of all below */
	struct gfs_tally total;
	struct gfs_tally *rows; /* by target; NULL: the total alone */
	struct conflict *conflicts;
	size_t conflict_count;
	size_t conflict_room;
};

/* ---- taking objects (locked) ------------------------------------------------------------- */

static bool add_conflict(struct report *r, uint32_t object, struct dec_text payload_target)
{
	char *copy;

	if (r->conflict_count == r->conflict_room) {
		size_t room = r->conflict_room ? 2 * r->conflict_room : 8;
		struct conflict *bigger = reallocarray(r->conflicts, room, sizeof(*bigger));

		if (!bigger)
			return false;
		r->conflicts = bigger;
		r->conflict_room = room;
	}
	copy = strndup(payload_target.p, payload_target.len);
	if (copy)
		r->conflicts[r->conflict_count++] = (struct conflict){ object, copy };
	return copy;
}

static bool add(struct report *r, uint32_t object, const struct gfs_tally_item *item)
{
	uint32_t target = item->artifact->objects[item->object].target_index;

	if (!gfs_tally_add(&r->total, item))
		return false;
	if (r->rows && target != DEC_NONE && !gfs_tally_add(&r->rows[target], item))
		return false;
	return item->inspection->consistency != DEC_CONSISTENCY_CONFLICT ||
	       add_conflict(r, object, item->inspection->payload_target);
}

/* No other payload has this size, so it differs from all of them. */
static bool is_alone(const struct report *r, uint64_t size)
{
	size_t low = 0;
	size_t high = r->size_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->sizes[middle] < size)
			low = middle + 1;
		else
			high = middle;
	}
	return low + 1 >= r->size_count || r->sizes[low + 1] != size;
}

/* Its hash, or its size where no other payload has that. */
static int key_of(const struct report *r, uint32_t object, struct gfs_payload *payload,
		  struct gfs_key *key)
{
	const void *bytes;
	int rc;

	*key = (struct gfs_key){ payload->size, 0 };
	if (is_alone(r, payload->size))
		return 0;
	rc = gfs_payload_bytes(r->fs, object, payload, &bytes);
	if (rc == 0)
		*key = gfs_key_of(bytes, (size_t)payload->size);
	return rc;
}

static int take(void *ctx, uint32_t object, struct gfs_payload *payload,
		const struct dec_inspection *inspection)
{
	struct report *r = ctx;
	bool any = payload->there && payload->size > 0;
	struct gfs_tally_item item;
	struct gfs_key key;
	int rc = any ? key_of(r, object, payload, &key) : 0;
	bool ok;

	if (rc != 0)
		return rc;
	ok = gfs_tally_item_init(&item, r->fs->artifact, object, any ? &key : NULL, inspection);
	if (ok) {
		pthread_mutex_lock(&r->lock);
		ok = add(r, object, &item);
		pthread_mutex_unlock(&r->lock);
	}
	gfs_tally_item_fini(&item);
	return ok ? 0 : -ENOMEM;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_target(const struct gfs *fs, uint32_t index, struct gfs_tally *tally,
		       struct gfs_json *w, struct cJSON *in)
{
	const struct dec_target *target = &fs->artifact->targets[index];

	gfs_json_text(w, in, "target", target->name);
	gfs_json_word(w, in, "vendor", dec_vendor_word(target->vendor));
	gfs_json_word(w, in, "kind", dec_class_word(target->class));
	gfs_json_word(w, in, "family", target->family);
	gfs_tally_put(tally, w, in);
}

static int compare_conflicts(const void *a, const void *b)
{
	const struct conflict *x = a;
	const struct conflict *y = b;

	return x->object < y->object ? -1 : x->object > y->object;
}

static void put_conflicts(struct report *r, struct gfs_json *w, struct cJSON *in)
{
	struct cJSON *array = gfs_json_array(w, in, "conflicts");
	char id[GFS_NAME_MAX + 1];

	if (r->conflict_count > 0)
		qsort(r->conflicts, r->conflict_count, sizeof(r->conflicts[0]), compare_conflicts);
	for (size_t i = 0; i < r->conflict_count; i++) {
		const struct conflict *c = &r->conflicts[i];
		struct cJSON *o = gfs_json_object(w, array, NULL);

		gfs_id_name(r->fs, c->object, id);
		gfs_json_word(w, o, "object", id);
		gfs_json_text(w, o, "target", r->fs->artifact->objects[c->object].target);
		gfs_json_text(w, o, "payload_target",
			      (struct dec_text){ c->payload_target, strlen(c->payload_target) });
	}
}

static int show_all(struct report *r, char **text, size_t *size)
{
	struct cJSON *root;
	struct cJSON *array;
	struct gfs_json w;

	gfs_json_init(&w);
	root = gfs_json_object(&w, NULL, NULL);
	gfs_tally_put(&r->total, &w, root);
	array = gfs_json_array(&w, root, "targets");
	for (uint32_t i = 0; i < r->fs->artifact->target_count; i++)
		put_target(r->fs, i, &r->rows[i], &w, gfs_json_object(&w, array, NULL));
	put_conflicts(r, &w, root);
	return gfs_json_finish(&w, text, size);
}

static int show_target(struct report *r, uint32_t target, char **text, size_t *size)
{
	struct cJSON *root;
	struct gfs_json w;

	gfs_json_init(&w);
	root = gfs_json_object(&w, NULL, NULL);
	put_target(r->fs, target, &r->total, &w, root);
	return gfs_json_finish(&w, text, size);
}

/* ---- both reports ------------------------------------------------------------------------------ */

static int compare_sizes(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void report_init(struct report *r, struct gfs *fs)
{
	*r = (struct report){ .fs = fs };
	pthread_mutex_init(&r->lock, NULL);
}

/* Of count objects (objects NULL: those from 0 on). */
static int examine(struct report *r, const uint32_t *objects, uint32_t count)
{
	r->sizes = calloc((size_t)count + 1, sizeof(*r->sizes));
	if (!r->sizes)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		r->sizes[i] = gfs_payload_size(r->fs, objects ? objects[i] : i);
	r->size_count = count;
	qsort(r->sizes, count, sizeof(r->sizes[0]), compare_sizes);
	return gfs_examine_all(r->fs, objects, count, take, r);
}

static void report_fini(struct report *r)
{
	gfs_tally_fini(&r->total);
	for (uint32_t i = 0; r->rows && i < r->fs->artifact->target_count; i++)
		gfs_tally_fini(&r->rows[i]);
	free(r->rows);
	free(r->sizes);
	for (size_t i = 0; i < r->conflict_count; i++)
		free(r->conflicts[i].payload_target);
	free(r->conflicts);
	pthread_mutex_destroy(&r->lock);
}

int gfs_report_show(struct gfs *fs, char **text, size_t *size)
{
	const struct dec_artifact *artifact = fs->artifact;
	struct report r;
	int rc;

	report_init(&r, fs);
	r.rows = calloc((size_t)artifact->target_count + 1, sizeof(*r.rows));
	rc = r.rows ? examine(&r, NULL, artifact->object_count) : -ENOMEM;
	if (rc == 0)
		rc = show_all(&r, text, size);
	report_fini(&r);
	return rc;
}

int gfs_target_report_show(struct gfs *fs, uint32_t target, char **text, size_t *size)
{
	const struct dec_target *t = &fs->artifact->targets[target];
	struct report r;
	int rc;

	report_init(&r, fs);
	rc = examine(&r, t->objects, t->object_count);
	if (rc == 0)
		rc = show_target(&r, target, text, size);
	report_fini(&r);
	return rc;
}

int gfs_report_total(struct gfs *fs, struct gfs_tally *total)
{
	struct report r;
	int rc;

	report_init(&r, fs);
	rc = examine(&r, NULL, fs->artifact->object_count);
	*total = r.total;
	r.total = (struct gfs_tally){ 0 };
	report_fini(&r);
	return rc;
}
