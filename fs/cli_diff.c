/*
 * What differs between two artifacts: targets, kernels by name, what each is, its code. The
 * two lists of anything are sorted alike, so one pass over both finds what is in one alone.
 */
#include "cli_diff.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle_hash.h"
#include "cache.h"
#include "cli_term.h"
#include "demangle.h"
#include "report_kernels.h"

/* ---- one difference -------------------------------------------------------------------- */

bool cli_diff_done(const struct cli_diff *d)
{
	return d->cli->stale || d->failed || (d->different && d->quiet);
}

void cli_diff_put(struct cli_diff *d, char sign, const char *fmt, ...)
{
	enum cli_colour colour = sign == '+' ? CLI_GREEN : sign == '-' ? CLI_RED : CLI_YELLOW;
	va_list ap;

	d->different = true;
	if (d->quiet)
		return;
	cli_progress_hide(&d->cli->progress);
	printf("%s%c ", cli_colour(d->cli->colours, colour), sign);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	puts(cli_colour(d->cli->colours, CLI_PLAIN));
}

static void fail(struct cli_diff *d, int side, int err)
{
	cli_errno(d->cli, d->path[side], err);
	d->failed = true;
}

static int compare_texts(struct dec_text x, struct dec_text y)
{
	int order = memcmp(x.p, y.p, x.len < y.len ? x.len : y.len);

	return order != 0 || x.len == y.len ? order : x.len < y.len ? -1 : 1;
}

/* ---- problems --------------------------------------------------------------------------- */

/* Of the inventory, by code: of a target's objects, or of what belongs to no target. */
static void count_problems(const struct dec_artifact *a, uint32_t target,
			   uint64_t counts[GFS_CODE_COUNT])
{
	for (uint32_t i = 0; i < a->problem_count; i++) {
		uint32_t object = a->problems[i].object;
		uint32_t owner = object == DEC_NONE ? DEC_NONE : a->objects[object].target_index;

		counts[a->problems[i].code] += owner == target;
	}
}

static void diff_problems(struct cli_diff *d, const char *target,
			  uint64_t counts[2][GFS_CODE_COUNT])
{
	for (int code = 0; code < GFS_CODE_COUNT && !cli_diff_done(d); code++)
		if (counts[0][code] != counts[1][code])
			cli_diff_put(d, '~', "problem %s %" PRIu64 " -> %" PRIu64 " %s", target,
				     counts[0][code], counts[1][code],
				     dec_problem_word((enum dec_problem_code)code));
}

/* ---- the kernels of a target -------------------------------------------------------------- */

static char *shown_name(const struct cli_diff *d, struct dec_text name)
{
	char *demangled = d->cli->flag['C'] ? gfs_demangle(name) : NULL;
	char *text =
		demangled ? cli_text(demangled, strlen(demangled)) : cli_text(name.p, name.len);

	free(demangled);
	return cli_memory(text);
}

static void put_kernel(struct cli_diff *d, char sign, const char *target, struct dec_text name)
{
	char *text = shown_name(d, name);

	cli_diff_put(d, sign, "kernel %s %s", target, text);
	free(text);
}

static bool keys_differ(struct gfs_key x, struct gfs_key y)
{
	return x.low != y.low || x.high != y.high;
}

static void diff_kernel(struct cli_diff *d, const char *target,
			const struct gfs_kernels *const k[2], const uint32_t at[2])
{
	char *name;

	if (gfs_kernels_alike(k[0], at[0], k[1], at[1]) &&
	    !keys_differ(gfs_kernels_code(k[0], at[0]), gfs_kernels_code(k[1], at[1])))
		return;
	name = shown_name(d, gfs_kernels_name(k[0], at[0]));
	if (!gfs_kernels_alike(k[0], at[0], k[1], at[1]))
		cli_diff_facts(d, target, name, k, at);
	if (keys_differ(gfs_kernels_code(k[0], at[0]), gfs_kernels_code(k[1], at[1])))
		cli_diff_put(d, '~', "code %s %s", target, name);
	free(name);
}

static void diff_kernels(struct cli_diff *d, const char *target,
			 const struct gfs_kernels *const k[2])
{
	uint32_t at[2] = { 0, 0 };

	while ((at[0] < k[0]->names.count || at[1] < k[1]->names.count) && !cli_diff_done(d)) {
		int order;

		if (at[0] == k[0]->names.count)
			order = 1;
		else if (at[1] == k[1]->names.count)
			order = -1;
		else
			order = compare_texts(gfs_kernels_name(k[0], at[0]),
					      gfs_kernels_name(k[1], at[1]));
		if (order == 0)
			diff_kernel(d, target, k, at);
		else if (order < 0)
			put_kernel(d, '-', target, gfs_kernels_name(k[0], at[0]));
		else
			put_kernel(d, '+', target, gfs_kernels_name(k[1], at[1]));
		at[0] += order <= 0;
		at[1] += order >= 0;
	}
}

/* ---- a target of both --------------------------------------------------------------------- */

/* A hash that is wrong is a problem of each object in the container, as inspection.json says;
 * decoding finds it, which is why the kernels do not know it. */
static void count_hashes(struct cli_diff *d, int side, uint32_t target,
			 uint64_t counts[GFS_CODE_COUNT])
{
	const struct dec_artifact *a = d->fs[side]->artifact;
	const struct dec_target *t = &a->targets[target];

	for (uint32_t i = 0; i < t->object_count && !d->failed; i++) {
		struct gfs_hash_check check;
		int err = gfs_hash_check(d->fs[side], a->objects[t->objects[i]].container, &check);

		if (err)
			fail(d, side, err);
		else if (check.differs)
			counts[check.problem.code]++;
	}
}

static void examine_target(struct cli_diff *d, const char *target, const uint32_t index[2],
			   uint64_t problems[2][GFS_CODE_COUNT])
{
	const struct gfs_kernels *k[2] = { NULL, NULL };
	struct gfs_blob *blob[2];

	for (int side = 0; side < 2 && !d->failed; side++) {
		int err = gfs_kernels_get(d->fs[side], index[side], NULL, &blob[side], &k[side]);

		if (err)
			fail(d, side, err);
	}
	for (int side = 0; side < 2 && !d->failed; side++)
		count_hashes(d, side, index[side], problems[side]);
	if (k[0] && k[1] && !d->failed) {
		for (int code = 0; code < GFS_CODE_COUNT; code++)
			for (int side = 0; side < 2; side++)
				problems[side][code] += k[side]->problems[code];
		diff_kernels(d, target, k);
		if (keys_differ(k[0]->payloads, k[1]->payloads) && !cli_diff_done(d))
			cli_diff_put(d, '~', "payloads %s", target);
	}
	for (int side = 0; side < 2; side++)
		if (k[side])
			gfs_blob_put(blob[side]);
}

static void diff_target(struct cli_diff *d, const char *target, const uint32_t index[2])
{
	uint64_t problems[2][GFS_CODE_COUNT] = { { 0 } };
	uint32_t objects[2];

	for (int side = 0; side < 2; side++) {
		const struct dec_artifact *a = d->fs[side]->artifact;

		objects[side] = a->targets[index[side]].object_count;
		count_problems(a, index[side], problems[side]);
	}
	if (objects[0] != objects[1])
		cli_diff_put(d, '~', "objects %s %" PRIu32 " -> %" PRIu32, target, objects[0],
			     objects[1]);
	if (!d->cli->flag['t'] && !cli_diff_done(d))
		examine_target(d, target, index, problems);
	diff_problems(d, target, problems);
}

/* ---- all ------------------------------------------------------------------------------------ */

/* The sides that have the next target in order, -1, 0 (both) or 1. */
static int next_target(const struct cli_diff *d, const uint32_t at[2])
{
	const struct dec_artifact *x = d->fs[0]->artifact;
	const struct dec_artifact *y = d->fs[1]->artifact;

	if (at[0] == x->target_count)
		return 1;
	if (at[1] == y->target_count)
		return -1;
	return compare_texts(x->targets[at[0]].name, y->targets[at[1]].name);
}

static void diff_targets(struct cli_diff *d)
{
	uint32_t at[2] = { 0, 0 };

	while ((at[0] < d->fs[0]->artifact->target_count ||
		at[1] < d->fs[1]->artifact->target_count) &&
	       !cli_diff_done(d)) {
		int order = next_target(d, at);
		int side = order > 0;
		struct dec_text name = d->fs[side]->artifact->targets[at[side]].name;
		char *target = cli_memory(cli_text(name.p, name.len));

		if (order == 0)
			diff_target(d, target, at);
		else
			cli_diff_put(d, order < 0 ? '-' : '+', "target %s", target);
		free(target);
		at[0] += order <= 0;
		at[1] += order >= 0;
	}
}

static void diff_rest(struct cli_diff *d)
{
	uint64_t problems[2][GFS_CODE_COUNT] = { { 0 } };

	for (int side = 0; side < 2; side++)
		count_problems(d->fs[side]->artifact, DEC_NONE, problems[side]);
	diff_problems(d, "-", problems);
}

/* Bytes that will be examined. */
static uint64_t work_of(const struct cli_diff *d)
{
	uint64_t sum = 0;

	for (int side = 0; side < 2; side++) {
		const struct dec_artifact *a = d->fs[side]->artifact;

		for (uint32_t i = 0; i < a->object_count; i++)
			if (a->objects[i].target_index != DEC_NONE)
				sum += a->objects[i].payload_size;
	}
	return sum;
}

/* Half of the cache each, so that the budget is that of the program. */
static bool open_both(struct cli_diff *d, char **paths)
{
	const struct gfs_options *given = d->cli->options;
	struct gfs_options half = *given;
	bool ok;

	half.cache /= 2;
	d->cli->options = &half;
	ok = cli_open(d->cli, paths[0], &d->fs[0]) == 0 &&
	     cli_open(d->cli, paths[1], &d->fs[1]) == 0;
	d->cli->options = given;
	return ok;
}

void cli_diff(struct cli *cli, char **paths, int count)
{
	struct cli_diff d = { .cli = cli, .quiet = cli->flag['q'] };

	(void)count; /* two, says the command's row */
	cli_fail_with(cli, CLI_DIFF_TROUBLE);
	for (int side = 0; side < 2; side++)
		d.path[side] = paths[side] ? paths[side] : "sample";
	if (open_both(&d, paths)) {
		cli_progress_begin(&cli->progress, "comparing", work_of(&d));
		diff_targets(&d);
		if (!cli_diff_done(&d))
			diff_rest(&d);
		cli_progress_end(&cli->progress);
	}
	if (d.different && cli->status == GFS_EXIT_OK)
		cli->status = CLI_DIFF_DIFFERENT;
	gfs_close(d.fs[0]);
	gfs_close(d.fs[1]);
}
