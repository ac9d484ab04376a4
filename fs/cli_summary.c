/* One line for each artifact: what a packager wants to know of many of them. */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli_targets.h"
#include "cli_term.h"
#include "report.h"
#include "report_tally.h"

/* The targets get at least this many columns, however narrow the terminal is. */
#define TARGETS_MIN 20

/* The columns before the targets. */
enum column {
	COLUMN_FILE,
	COLUMN_VENDORS,
	COLUMN_OBJECTS,
	COLUMN_SIZE,
	COLUMN_ENCODED,
	COLUMN_DECODED,
	COLUMN_KERNELS, /* from here on with --kernels alone */
	COLUMN_NAMES,
	COLUMN_COVERAGE,
	COLUMN_COUNT,
};

/* clang-format off */
static const struct {
	const char *title;
	bool left; /* aligned */
} columns[COLUMN_COUNT] = {
	[COLUMN_FILE] = { "FILE", true },
	[COLUMN_VENDORS] = { "VENDORS", true },
	[COLUMN_OBJECTS] = { "OBJECTS", false },
	[COLUMN_SIZE] = { "SIZE", false },
	[COLUMN_ENCODED] = { "ENCODED", false },
	[COLUMN_DECODED] = { "DECODED", false },
	[COLUMN_KERNELS] = { "KERNELS", false },
	[COLUMN_NAMES] = { "NAMES", false },
	[COLUMN_COVERAGE] = { "COVERAGE", true },
};
/* clang-format on */

struct row {
	char *text[COLUMN_COUNT];
	char *targets;
};

struct summary {
	struct cli *cli;
	bool kernels;
	unsigned int width; /* of the terminal; 0: rows go out one by one, with tabs */
	struct row *rows;
	size_t count;
	size_t room;
};

/* ---- what one artifact has ------------------------------------------------------------ */

static uint64_t add(uint64_t sum, uint64_t size)
{
	return size < UINT64_MAX - sum ? sum + size : UINT64_MAX;
}

/* Code as it is stored: entries of compressed containers are what is in their streams. */
static uint64_t encoded_size(const struct dec_artifact *a)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < a->object_count; i++)
		if (a->objects[i].kind != DEC_KIND_HOST &&
		    a->objects[i].space == DEC_SPACE_ARTIFACT)
			sum = add(sum, a->objects[i].encoded.size);
	for (uint32_t i = 0; i < a->container_count; i++)
		sum = add(sum, a->containers[i].stream.size);
	return sum;
}

/* Of stored ones what is there: the size that is declared may be any. */
static uint64_t payload_size(const struct dec_object *o)
{
	return o->codec == DEC_CODEC_NONE ? o->encoded.size : o->payload_size;
}

static uint64_t decoded_size(const struct dec_artifact *a)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < a->object_count; i++)
		if (a->objects[i].kind != DEC_KIND_HOST)
			sum = add(sum, payload_size(&a->objects[i]));
	return sum;
}

static char *vendors_text(const struct dec_artifact *a)
{
	bool seen[DEC_VENDOR_AMD + 1] = { false };
	char text[32] = "";

	for (uint32_t i = 0; i < a->target_count; i++)
		seen[a->targets[i].vendor] = true;
	for (int v = 0; v <= DEC_VENDOR_AMD; v++) {
		if (!seen[v])
			continue;
		if (*text)
			strcat(text, ",");
		strcat(text, dec_vendor_word((enum dec_vendor)v));
	}
	return cli_memory(strdup(*text ? text : "-"));
}

static char *number_text(uint64_t number)
{
	char text[CLI_SIZE_TEXT];

	cli_size_text(text, number, true);
	return cli_memory(strdup(text));
}

static char *size_text(const struct summary *s, uint64_t size)
{
	char text[CLI_SIZE_TEXT];

	cli_size_text(text, size, s->cli->flag['b']);
	return cli_memory(strdup(text));
}

static int fill_kernels(struct summary *s, const struct cli_artifact *artifact, struct row *row)
{
	struct gfs_tally total;
	int rc;

	if (artifact->alone)
		cli_progress_begin(&s->cli->progress, "examining",
				   decoded_size(artifact->fs->artifact));
	rc = gfs_report_total(artifact->fs, &total);
	row->text[COLUMN_KERNELS] = number_text(total.kernels);
	row->text[COLUMN_NAMES] = number_text(total.names.used);
	row->text[COLUMN_COVERAGE] = cli_memory(strdup(gfs_coverage_word(&total.coverage)));
	gfs_tally_fini(&total);
	return rc;
}

static int fill_row(struct summary *s, const struct cli_artifact *artifact, struct row *row)
{
	const struct dec_artifact *a = artifact->fs->artifact;
	const char *path = artifact->path;

	*row = (struct row){ .text = {
				     [COLUMN_FILE] = cli_memory(cli_text(path, strlen(path))),
				     [COLUMN_VENDORS] = vendors_text(a),
				     [COLUMN_OBJECTS] = number_text(a->object_count),
				     [COLUMN_SIZE] = size_text(s, a->size),
				     [COLUMN_ENCODED] = size_text(s, encoded_size(a)),
				     [COLUMN_DECODED] = size_text(s, decoded_size(a)),
			     } };
	row->targets = cli_memory(cli_targets_list(a));
	return s->kernels ? fill_kernels(s, artifact, row) : 0;
}

static void row_fini(struct row *row)
{
	for (int i = 0; i < COLUMN_COUNT; i++)
		free(row->text[i]);
	free(row->targets);
}

/* ---- the table -------------------------------------------------------------------------- */

static int column_count(const struct summary *s)
{
	return s->kernels ? COLUMN_COUNT : COLUMN_KERNELS;
}

/* For pipes: fields and their order do not depend on anything but the options. */
static void print_tabbed(const struct summary *s, const struct row *row)
{
	for (int i = 0; i < column_count(s); i++)
		printf("%s\t", row ? row->text[i] : columns[i].title);
	puts(row ? row->targets : "TARGETS");
}

static void print_cell(const char *text, int column, size_t width)
{
	int blanks = (int)(width - cli_text_width(text));

	if (columns[column].left)
		printf("%s%*s  ", text, blanks, "");
	else
		printf("%*s%s  ", blanks, "", text);
}

static void print_titles(const struct summary *s, const size_t *widths)
{
	bool colours = s->cli->colours;

	fputs(cli_colour(colours, CLI_BOLD), stdout);
	for (int i = 0; i < column_count(s); i++)
		print_cell(columns[i].title, i, widths[i]);
	printf("TARGETS%s\n", cli_colour(colours, CLI_PLAIN));
}

/* Up to width bytes of the list, broken behind a comma or blank; a name that is longer than
 * that stands alone. */
static size_t line_length(const char *targets, size_t width)
{
	size_t fits = 0;
	size_t at = 0;

	while (targets[at]) {
		at += strcspn(targets + at, ", ");
		at += targets[at] != '\0';
		if (at > width && fits > 0)
			break;
		fits = at;
	}
	return fits;
}

static void print_targets(const char *list, size_t indent, size_t width)
{
	char *brief = cli_memory(cli_targets_brief(list));
	const char *at = brief;

	do {
		size_t len = line_length(at, width);

		printf("%*s%.*s\n", at == brief ? 0 : (int)indent, "", (int)len, at);
		at += len;
	} while (*at);
	free(brief);
}

static void print_table(const struct summary *s)
{
	size_t widths[COLUMN_COUNT];
	size_t before = 0; /* columns of the terminal before the targets */
	size_t left;

	for (int i = 0; i < column_count(s); i++) {
		widths[i] = strlen(columns[i].title);
		for (size_t k = 0; k < s->count; k++) {
			size_t width = cli_text_width(s->rows[k].text[i]);

			widths[i] = width > widths[i] ? width : widths[i];
		}
		before += widths[i] + 2;
	}
	left = s->width > before + TARGETS_MIN ? s->width - before : TARGETS_MIN;
	print_titles(s, widths);
	for (size_t k = 0; k < s->count; k++) {
		for (int i = 0; i < column_count(s); i++)
			print_cell(s->rows[k].text[i], i, widths[i]);
		print_targets(s->rows[k].targets, before, left);
	}
}

/* Takes the row over. */
static void show(struct summary *s, struct row *row)
{
	if (s->width == 0) {
		print_tabbed(s, row);
		row_fini(row);
		return;
	}
	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 16;
		s->rows = cli_memory(reallocarray(s->rows, s->room, sizeof(*s->rows)));
	}
	s->rows[s->count++] = *row;
}

/* ---- the artifacts ------------------------------------------------------------------------ */

static void take(struct cli *cli, void *ctx, const struct cli_artifact *artifact)
{
	const char *path = artifact->path;
	const struct gfs *fs = artifact->fs;
	struct summary *s = ctx;
	struct row row;
	int err;

	if (artifact->found && fs->artifact->object_count == 0 && !cli->flag['a'])
		return;
	err = fill_row(s, artifact, &row);
	if (err) {
		cli_errno(cli, path, err);
		cli->stale = false; /* this one alone */
		row_fini(&row);
	} else {
		if (fs->artifact->partial)
			cli_note(cli, path, "the inventory is partial; problems.json says why");
		show(s, &row);
	}
	if (!s->kernels)
		cli_progress_add(&cli->progress, fs->artifact->size);
}

void cli_summary(struct cli *cli, char **paths, int count)
{
	struct summary s = {
		.cli = cli,
		.kernels = cli->flag['k'],
		.width = cli_term_width(STDOUT_FILENO),
	};

	if (s.width == 0)
		print_tabbed(&s, NULL);
	cli_progress_begin(&cli->progress, s.kernels ? "examined" : "read", 0);
	cli_each_artifact(cli, paths, count, take, &s);
	cli_progress_end(&cli->progress);
	if (s.width > 0)
		print_table(&s);
	for (size_t i = 0; i < s.count; i++)
		row_fini(&s.rows[i]);
	free(s.rows);
}
