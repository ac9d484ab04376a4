/* gpuobj matrix: files down, devices across. */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_kernels.h"
#include "cli_matrix.h"
#include "cli_term.h"

const struct option cli_matrix_words[] = {
	{ "recursive", no_argument, NULL, 'r' },
	{ "kernels", no_argument, NULL, 'k' },
	{ "driver", required_argument, NULL, 'D' },
	{ "svg", required_argument, NULL, 'S' },
	{ 0 },
};

const char matrix_letters[MATRIX_OUTCOMES] = {
	[DEC_OUTCOME_NATIVE] = 'N', [DEC_OUTCOME_JIT] = 'J',   [DEC_OUTCOME_PARTIAL] = 'P',
	[DEC_OUTCOME_NONE] = '-',   [DEC_OUTCOME_MAYBE] = '?',
};

struct drawing {
	struct matrix matrix;
	struct dec_judge_options options;
};

/* ---- judging --------------------------------------------------------------------------------- */

static struct matrix_row *add_row(struct matrix *m)
{
	if (m->count == m->room) {
		m->room = m->room ? 2 * m->room : 16;
		m->rows = cli_memory(reallocarray(m->rows, m->room, sizeof(*m->rows)));
	}
	return &m->rows[m->count++];
}

static struct matrix_cell judge(const struct drawing *d, const struct gfs *fs,
				const struct cli_kernels *kernels, const struct dec_device *device)
{
	struct dec_answer *answer = cli_memory(dec_judge(fs->artifact, device, &d->options));
	struct gfs_kernel_verdict verdict;
	struct matrix_cell cell;

	if (kernels) {
		cli_kernels_judge(kernels, answer, &verdict);
		gfs_kernel_verdict_fini(&verdict);
	}
	cell = (struct matrix_cell){ answer->outcome, answer->reason };
	dec_answer_free(answer);
	return cell;
}

static bool judge_vendor(struct cli *cli, const struct drawing *d,
			 const struct cli_artifact *artifact, struct matrix_row *row,
			 enum dec_vendor vendor)
{
	const struct dec_device *device;
	struct cli_kernels kernels;
	bool by_kernels = cli->flag['k'];

	if (by_kernels && !cli_kernels_begin(cli, &kernels, artifact, vendor, &d->options))
		return false;
	for (uint32_t i = 0; (device = dec_device_at(i)); i++)
		if (device->vendor == vendor)
			row->cells[i] =
				judge(d, artifact->fs, by_kernels ? &kernels : NULL, device);
	row->has[vendor] = true;
	if (by_kernels)
		cli_kernels_end(&kernels);
	return true;
}

static bool has_code(const struct dec_artifact *artifact, enum dec_vendor vendor)
{
	for (uint32_t i = 0; i < artifact->target_count; i++)
		if (artifact->targets[i].vendor == vendor)
			return true;
	return false;
}

static void row_fini(struct matrix_row *row)
{
	free(row->name);
	free(row->cells);
}

static void take(struct cli *cli, void *ctx, const struct cli_artifact *artifact)
{
	const struct dec_artifact *a = artifact->fs->artifact;
	const char *path = artifact->path;
	struct drawing *d = ctx;
	struct matrix_row *row;
	bool ok = true;

	if (artifact->found && a->target_count == 0)
		return;
	row = add_row(&d->matrix);
	*row = (struct matrix_row){
		.name = cli_memory(cli_text(path, strlen(path))),
		.cells = cli_memory(calloc(dec_device_count(), sizeof(*row->cells))),
	};
	for (int vendor = DEC_VENDOR_NVIDIA; vendor < MATRIX_VENDORS && ok; vendor++)
		if (has_code(a, (enum dec_vendor)vendor))
			ok = judge_vendor(cli, d, artifact, row, (enum dec_vendor)vendor);
	if (ok)
		return;
	row_fini(row);
	d->matrix.count--;
}

/* ---- what both drawings need -------------------------------------------------------------------- */

bool matrix_has(const struct matrix *m, enum dec_vendor vendor)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->rows[i].has[vendor])
			return true;
	return false;
}

const char *matrix_vendor_word(enum dec_vendor vendor)
{
	return vendor == DEC_VENDOR_NVIDIA ? "NVIDIA" : "AMD";
}

/* Bytes of the folder that all names begin with. */
static size_t common_folder(const struct matrix *m)
{
	const char *first = m->rows[0].name;
	size_t len = strlen(first);

	for (size_t i = 1; i < m->count; i++) {
		size_t same = 0;

		while (same < len && m->rows[i].name[same] == first[same])
			same++;
		len = same;
	}
	while (len > 0 && first[len - 1] != '/')
		len--;
	return len;
}

/* What differs is what a reader looks for. */
static void shorten_names(struct matrix *m)
{
	size_t cut = m->count ? common_folder(m) : 0;

	for (size_t i = 0; i < m->count; i++)
		memmove(m->rows[i].name, m->rows[i].name + cut, strlen(m->rows[i].name + cut) + 1);
}

static void matrix_fini(struct matrix *m)
{
	for (size_t i = 0; i < m->count; i++)
		row_fini(&m->rows[i]);
	free(m->rows);
}

/* ---- the command ----------------------------------------------------------------------------------- */

static void write_svg(struct cli *cli, const struct matrix *m, const char *path)
{
	FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
	bool failed;

	if (!out) {
		cli_errno(cli, path, errno);
		return;
	}
	matrix_print_svg(m, out);
	if (out == stdout)
		return;
	failed = ferror(out);
	failed = fclose(out) != 0 || failed;
	if (failed)
		cli_errno(cli, path, errno);
}

void cli_matrix(struct cli *cli, char **paths, int count)
{
	struct drawing d = { 0 };
	int status = cli_judge_options(cli, &d.options);

	if (status != GFS_EXIT_OK) {
		cli->status = status;
		return;
	}
	if (cli->flag['k'])
		cli_progress_begin(&cli->progress, "examined", 0);
	cli_each_artifact(cli, paths, count, take, &d);
	cli_progress_end(&cli->progress);
	shorten_names(&d.matrix);
	if (cli->value['S'])
		write_svg(cli, &d.matrix, cli->value['S']);
	else
		matrix_print_text(&d.matrix);
	matrix_fini(&d.matrix);
}
