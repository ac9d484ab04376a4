/* Rows of each collection, from what the inventory and examinations say. */
#include "query_internal.h"

#include "tree.h"

static const struct dec_inspection unexamined = {
	.state = DEC_STATE_UNEXAMINED,
	.consistency = DEC_CONSISTENCY_UNEXAMINED,
	.evidence = DEC_EVIDENCE_NONE,
	.payload_target = { dec_absent, 0 },
	.payload_target_raw = { dec_absent, 0 },
};

/* ---- rows ------------------------------------------------------------------------------- */

void gfs_made_row_init(const struct gfs_query *q, struct gfs_made_row *made)
{
	*made = (struct gfs_made_row){ .row.columns = &q->request->columns };
}

static void set_part(const struct gfs_query *q, struct gfs_made_row *made, enum gfs_part part,
		     const void *p, uint32_t index)
{
	made->row.records[part] =
		(struct gfs_record){ q->fs->artifact, q->fs->id_width, NULL, p, index };
}

static void fill_container(const struct gfs_query *q, uint32_t index, struct gfs_made_row *made)
{
	const struct dec_container *container = &q->fs->artifact->containers[index];

	set_part(q, made, GFS_PART_ID, container, index);
	set_part(q, made, GFS_PART_CONTAINER, container, index);
}

void gfs_made_row_object(const struct gfs_query *q, uint32_t index, struct gfs_made_row *made)
{
	const struct dec_object *o = &q->fs->artifact->objects[index];

	made->shown = (struct gfs_shown){
		.object = o,
		.inspection = &unexamined,
		.sha256 = "",
		.index = index,
	};
	set_part(q, made, GFS_PART_OBJECT, o, index);
	if (o->target_kind == DEC_TARGET_FATBIN_ENTRY)
		set_part(q, made, GFS_PART_FATBIN, o, index);
	set_part(q, made, GFS_PART_LOCATION, o, index);
	set_part(q, made, GFS_PART_OF_OBJECT, o, index);
	set_part(q, made, GFS_PART_INSPECTION, &made->shown, index);
}

static void fill_target(const struct gfs_query *q, uint32_t index, struct gfs_made_row *made)
{
	const struct dec_target *target = &q->fs->artifact->targets[index];

	made->analysis.kernel_analysis = "unrequested";
	if (q->batch) {
		struct gfs_coverage coverage = q->targets[index].coverage;

		coverage.partial |= q->targets[index].objects < target->object_count;
		made->analysis.kernel_analysis = gfs_coverage_word(&coverage);
	}
	set_part(q, made, GFS_PART_TARGET, target, index);
	set_part(q, made, GFS_PART_ANALYSIS, &made->analysis, index);
}

static void fill_problem(const struct gfs_query *q, uint32_t index, struct gfs_made_row *made)
{
	set_part(q, made, GFS_PART_PROBLEM, &q->fs->artifact->problems[index], index);
}

/* Rows of an object that was examined; false: at sub there is none to be shown. */
static bool fill_kernel(const struct gfs_query *q, uint32_t sub, struct gfs_made_row *made)
{
	made->shown.kernel = &made->shown.inspection->kernels[sub];
	set_part(q, made, GFS_PART_KERNEL, &made->shown, made->shown.index);
	return true;
}

static bool fill_object(const struct gfs_query *q, uint32_t sub, struct gfs_made_row *made)
{
	(void)q;
	(void)sub;
	(void)made;
	return true;
}

static uint32_t inventory_problem(const struct gfs_query *q, const struct dec_object *o,
				  uint32_t sub)
{
	uint32_t i = o->problems.first;

	while (i != DEC_NONE && sub-- > 0)
		i = q->fs->artifact->problems[i].next;
	return i;
}

static uint32_t inventory_problem_count(const struct gfs_query *q, const struct dec_object *o)
{
	uint32_t count = 0;

	for (uint32_t i = o->problems.first; i != DEC_NONE; i = q->fs->artifact->problems[i].next)
		count++;
	return count;
}

static const struct dec_problem *examined_problem(const struct gfs_shown *s, uint32_t index)
{
	return index < s->inspection->problem_count ? &s->inspection->problems[index] : s->around;
}

/* Those of object.json first, then those of inspection.json. */
static bool fill_object_problem(const struct gfs_query *q, uint32_t sub, struct gfs_made_row *made)
{
	const struct gfs_shown *s = &made->shown;
	uint32_t known = inventory_problem(q, s->object, sub);
	const struct dec_problem *p;

	made->row.records[GFS_PART_PROBLEM_KERNEL].p = NULL;
	if (known != DEC_NONE) {
		fill_problem(q, known, made);
		return true;
	}
	p = examined_problem(s, sub - inventory_problem_count(q, s->object));
	if (gfs_problem_is_repeated(p))
		return false;
	if (p->object != DEC_NONE) {
		made->kernel.kernel = s->inspection->kernels[p->object].name;
		set_part(q, made, GFS_PART_PROBLEM_KERNEL, &made->kernel, 0);
	}
	made->problem = *p;
	made->problem.container = s->object->container;
	made->problem.object = s->index;
	set_part(q, made, GFS_PART_PROBLEM, &made->problem, 0);
	return true;
}

static uint32_t kernel_rows(const struct gfs_query *q, const struct gfs_shown *s)
{
	(void)q;
	return s->inspection->kernel_count;
}

static uint32_t object_rows(const struct gfs_query *q, const struct gfs_shown *s)
{
	(void)q;
	(void)s;
	return 1;
}

static uint32_t problem_rows(const struct gfs_query *q, const struct gfs_shown *s)
{
	return inventory_problem_count(q, s->object) + s->inspection->problem_count +
	       (s->around != NULL);
}

/* ---- what rows come from ------------------------------------------------------------------ */

static bool holds_any(const struct gfs_query *q, uint32_t index)
{
	const struct dec_container *c = &q->fs->artifact->containers[index];
	uint32_t low = 0;
	uint32_t high = q->batch_count;

	while (low < high) { /* to the first that is not before the container */
		uint32_t middle = low + (high - low) / 2;

		if (q->batch[middle] < c->first_object)
			low = middle + 1;
		else
			high = middle;
	}
	return low < q->batch_count && q->batch[low] - c->first_object < c->object_count;
}

static bool is_of_batch(const struct gfs_query *q, uint32_t index)
{
	return q->targets[index].objects > 0;
}

static bool is_listed(const struct gfs_query *q, uint32_t index)
{
	return gfs_problem_is_listed(&q->fs->artifact->problems[index]);
}

#define COUNT_OF(member) offsetof(struct dec_artifact, member)

const struct gfs_row_source gfs_row_sources[] = {
	[GFS_ROWS_CONTAINERS] = {
		.count = COUNT_OF(container_count),
		.in_batch = holds_any,
		.fill = fill_container,
	},
	[GFS_ROWS_OBJECTS] = {
		.count = COUNT_OF(object_count),
		.fill = gfs_made_row_object,
		.rows = object_rows,
		.fill_row = fill_object,
		.around = true,
	},
	[GFS_ROWS_TARGETS] = {
		.count = COUNT_OF(target_count),
		.in_batch = is_of_batch,
		.fill = fill_target,
		.sums_up = true,
	},
	[GFS_ROWS_KERNELS] = {
		.count = COUNT_OF(object_count),
		.rows = kernel_rows,
		.fill_row = fill_kernel,
		.always = true,
	},
	[GFS_ROWS_PROBLEMS] = {
		.count = COUNT_OF(problem_count),
		.listed = is_listed,
		.fill = fill_problem,
		.rows = problem_rows,
		.fill_row = fill_object_problem,
		.around = true,
	},
};
