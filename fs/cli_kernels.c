#include "cli_kernels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache.h"
#include "cli_targets.h"
#include "cli_term.h"
#include "json.h"

/* Rows of missing kernels that are printed for people. */
#define ROWS_SHOWN 3

/* A name gets at least this many columns, however narrow the terminal is. */
#define NAME_MIN 20

/* ---- examining and judging --------------------------------------------------------------------- */

bool cli_kernels_begin(struct cli *cli, struct cli_kernels *k, const struct cli_artifact *artifact,
		       enum dec_vendor vendor, const struct dec_judge_options *options)
{
	int rc;

	*k = (struct cli_kernels){ .fs = artifact->fs, .options = options, .vendor = vendor };
	if (artifact->alone)
		cli_progress_begin(&cli->progress, "examining",
				   gfs_vendor_kernels_size(k->fs, vendor));
	rc = gfs_vendor_kernels_get(k->fs, vendor, NULL, &k->blob, &k->kernels);
	cli_progress_hide(&cli->progress);
	if (rc == 0)
		return true;
	cli_errno(cli, artifact->path, rc);
	cli->stale = false; /* this one alone */
	return false;
}

void cli_kernels_end(struct cli_kernels *k)
{
	gfs_blob_put(k->blob);
}

void cli_kernels_judge(const struct cli_kernels *k, struct dec_answer *answer,
		       struct gfs_kernel_verdict *v)
{
	if (gfs_kernel_verdict_init(v, k->fs->artifact, k->kernels, answer) != 0)
		cli_memory(NULL);
}

static uint32_t loads_on(const struct cli_kernels *k, const struct dec_device *device)
{
	struct dec_answer *answer = cli_memory(dec_judge(k->fs->artifact, device, k->options));
	struct gfs_kernel_verdict v;
	uint32_t count;

	cli_kernels_judge(k, answer, &v);
	count = v.total - v.counts[GFS_RANK_MISSING];
	gfs_kernel_verdict_fini(&v);
	dec_answer_free(answer);
	return count;
}

const struct dec_device *cli_kernels_most(const struct cli_kernels *k, uint32_t *count)
{
	const struct dec_device *most = NULL;
	const struct dec_device *device;

	*count = 0;
	for (uint32_t i = 0; (device = dec_device_at(i)); i++) {
		uint32_t loads = device->vendor == k->vendor ? loads_on(k, device) : 0;

		if (loads <= *count)
			continue;
		most = device;
		*count = loads;
	}
	return most;
}

/* ---- what is missing ----------------------------------------------------------------------------- */

static void begin_missing(const struct gfs_kernel_verdict *v, struct gfs_rank_rows *rows)
{
	if (gfs_rank_rows_init(rows, &v->ranking, v->ranks, GFS_RANK_MISSING) != 0)
		cli_memory(NULL);
}

/* On a terminal a name loses its middle: both ends tell kernels apart. */
static void print_name(struct dec_text name, size_t before)
{
	size_t width = cli_term_width(STDOUT_FILENO);
	char *text = cli_memory(cli_text(name.p, name.len));
	size_t room = width > before + NAME_MIN ? width - before : NAME_MIN;

	if (width == 0 || cli_text_width(text) <= room)
		fputs(text, stdout);
	else
		cli_text_cut(stdout, text, (int)room);
	putchar('\n');
	free(text);
}

static void print_row(const struct gfs_ranking *r, const struct gfs_rank_row *row)
{
	char *list = cli_memory(cli_targets_some(r->artifact, row->targets, row->target_count));
	char *brief = cli_memory(cli_targets_brief(list));
	int before = printf("    %" PRIu32 " for %s%s: ", row->count, brief,
			    row->count > 1 ? ", such as" : "");

	free(brief);
	free(list);
	print_name(gfs_kernel_name(r->kernels, row->names->index), (size_t)before);
}

void cli_kernels_print_missing(const struct gfs_kernel_verdict *v)
{
	uint32_t left = v->counts[GFS_RANK_MISSING];
	struct gfs_rank_rows rows;

	begin_missing(v, &rows);
	for (uint32_t i = 0; i < rows.count && i < ROWS_SHOWN; i++) {
		struct gfs_rank_row row = gfs_rank_rows_get(&rows, i);

		print_row(&v->ranking, &row);
		left -= row.count;
	}
	if (left > 0)
		printf("    %" PRIu32 " for other targets\n", left);
	gfs_rank_rows_fini(&rows);
}

/* ---- JSON ------------------------------------------------------------------------------------------ */

static void put_missing(const struct gfs_kernel_verdict *v, struct gfs_json *w, struct cJSON *in)
{
	struct cJSON *array = gfs_json_array(w, in, "missing");
	struct gfs_rank_rows rows;

	begin_missing(v, &rows);
	for (uint32_t i = 0; i < rows.count; i++) {
		struct gfs_rank_row row = gfs_rank_rows_get(&rows, i);

		gfs_rank_row_put(&v->ranking, &row, w, gfs_json_object(w, array, NULL));
	}
	gfs_rank_rows_fini(&rows);
}

void cli_kernels_put(const struct cli_kernels *k, const struct gfs_kernel_verdict *v,
		     struct gfs_json *w, struct cJSON *in)
{
	struct cJSON *o = gfs_json_object(w, in, "kernels");
	const struct dec_device *most;
	uint32_t count;

	for (int i = 0; i < GFS_RANKS; i++)
		gfs_json_uint(w, o, dec_verdict_word(gfs_rank_verdict((enum gfs_rank)i)),
			      v->counts[i]);
	gfs_json_word(w, in, "kernel_analysis", v->unread ? "partial" : "complete");
	most = cli_kernels_most(k, &count);
	o = gfs_json_object(w, in, "most");
	gfs_json_word(w, o, "device", most ? most->name : NULL);
	gfs_json_uint(w, o, "kernels", count);
	put_missing(v, w, in);
}
