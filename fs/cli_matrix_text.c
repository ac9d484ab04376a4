/* The table for a terminal: as many devices side by side as fit, then the next ones below. */
#include "cli_matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "cli_term.h"

/* Letters tell what is meant, colour only helps. */
static const enum cli_colour colours[MATRIX_OUTCOMES] = {
	[DEC_OUTCOME_NATIVE] = CLI_GREEN,   [DEC_OUTCOME_JIT] = CLI_BLUE,
	[DEC_OUTCOME_PARTIAL] = CLI_YELLOW, [DEC_OUTCOME_NONE] = CLI_RED,
	[DEC_OUTCOME_MAYBE] = CLI_BOLD,
};

#define NAME_MIN 12
#define WIDTH_OF_PIPES 80
#define LABEL_MAX 16

struct column {
	uint32_t device;
	const char *family;
	char label[LABEL_MAX];
	int width; /* of the label, with a space before it */
	int pad; /* after it, so that the family's name has room */
};

struct table {
	const struct matrix *matrix;
	enum dec_vendor vendor;
	struct column *columns;
	uint32_t count;
	uint32_t *numbers; /* by row; 0: its name is the only one like it */
	int name_width;
	int width; /* for columns */
	bool colours;
};

/* ---- layout ------------------------------------------------------------------------------------ */

static void set_label(struct column *c, const struct dec_device *device)
{
	if (device->vendor == DEC_VENDOR_NVIDIA)
		snprintf(c->label, sizeof(c->label), "%u.%u", device->sm / 10, device->sm % 10);
	else
		snprintf(c->label, sizeof(c->label), "%s",
			 device->architecture + (strncmp(device->architecture, "gfx", 3) ? 0 : 3));
	c->width = (int)strlen(c->label) + 1;
}

/* The end of the family that begins at from, at most to. */
static uint32_t family_end(const struct table *t, uint32_t from, uint32_t to)
{
	uint32_t end = from + 1;

	while (end < to && strcmp(t->columns[end].family, t->columns[from].family) == 0)
		end++;
	return end;
}

static int width_of(const struct table *t, uint32_t from, uint32_t to)
{
	int width = 0;

	for (uint32_t i = from; i < to; i++)
		width += t->columns[i].width + t->columns[i].pad;
	return width;
}

static void make_columns(struct table *t)
{
	const struct dec_device *device;

	t->columns = cli_memory(calloc(dec_device_count() + 1, sizeof(*t->columns)));
	for (uint32_t i = 0; (device = dec_device_at(i)); i++) {
		struct column *c = &t->columns[t->count];
		const char *family = dec_device_family(device);

		if (device->vendor != t->vendor)
			continue;
		c->device = i;
		c->family = family ? family : "-";
		set_label(c, device);
		t->count++;
	}
	for (uint32_t from = 0, to; from < t->count; from = to) {
		int short_by;

		to = family_end(t, from, t->count);
		short_by = (int)strlen(t->columns[from].family) + 1 - width_of(t, from, to);
		t->columns[to - 1].pad = short_by > 0 ? short_by : 0;
	}
}

static void set_widths(struct table *t)
{
	int width = (int)cli_term_width(STDOUT_FILENO);
	int longest = NAME_MIN;

	for (size_t i = 0; i < t->matrix->count; i++) {
		int len = (int)cli_text_width(t->matrix->rows[i].name);

		longest = len > longest ? len : longest;
	}
	width = width ? width : WIDTH_OF_PIPES;
	t->name_width = longest < width / 3 ? longest : width / 3;
	t->width = width - t->name_width;
}

/* The end of the columns that fit beside each other: whole families, if one fits at all. */
static uint32_t block_end(const struct table *t, uint32_t from)
{
	uint32_t end = family_end(t, from, t->count);

	while (end > from + 1 && width_of(t, from, end) > t->width)
		end--;
	while (end < t->count) {
		uint32_t next = family_end(t, end, t->count);

		if (width_of(t, from, next) > t->width)
			break;
		end = next;
	}
	return end;
}

/* ---- printing -------------------------------------------------------------------------------------- */

static bool is_long(const struct table *t, const char *name)
{
	return (int)cli_text_width(name) > t->name_width;
}

/* Too long a name loses its middle: both ends tell libraries apart. */
static void print_name(const struct table *t, const char *name)
{
	if (is_long(t, name))
		cli_text_cut(stdout, name, t->name_width);
	else
		printf("%s%*s", name, t->name_width - (int)cli_text_width(name), "");
}

struct label {
	uint32_t row;
	char *cut;
};

static int compare_labels(const void *a, const void *b)
{
	const struct label *x = a;
	const struct label *y = b;
	int order = strcmp(x->cut, y->cut);

	return order != 0 ? order : x->row < y->row ? -1 : x->row > y->row;
}

static char *cut_name(const char *name, int width)
{
	char *text = NULL;
	size_t size;
	FILE *out = cli_memory(open_memstream(&text, &size));

	cli_text_cut(out, name, width);
	if (fclose(out) != 0)
		cli_memory(NULL);
	return text;
}

/* Rows whose names are cut to the same are numbered, from 1 on. */
static void number_rows(struct table *t)
{
	const struct matrix *m = t->matrix;
	struct label *labels = cli_memory(calloc(m->count + 1, sizeof(*labels)));
	size_t count = 0;

	t->numbers = cli_memory(calloc(m->count + 1, sizeof(*t->numbers)));
	for (size_t i = 0; i < m->count; i++)
		if (m->rows[i].has[t->vendor] && is_long(t, m->rows[i].name))
			labels[count++] = (struct label){
				(uint32_t)i,
				cut_name(m->rows[i].name, t->name_width),
			};
	qsort(labels, count, sizeof(*labels), compare_labels);
	for (size_t i = 1; i < count; i++) {
		uint32_t *before = &t->numbers[labels[i - 1].row];

		if (strcmp(labels[i - 1].cut, labels[i].cut) != 0)
			continue;
		*before = *before ? *before : 1;
		t->numbers[labels[i].row] = *before + 1;
	}
	for (size_t i = 0; i < count; i++)
		free(labels[i].cut);
	free(labels);
}

static void print_row_name(const struct table *t, const struct matrix_row *row)
{
	uint32_t number = t->numbers[row - t->matrix->rows];
	char text[16];

	if (number == 0) {
		print_name(t, row->name);
		return;
	}
	cli_text_cut(stdout, row->name,
		     t->name_width - snprintf(text, sizeof(text), " #%u", number));
	fputs(text, stdout);
}

/* Of a column that is not the first with the gap before it: no line ends in blanks. */
static int width_at(const struct table *t, uint32_t column, uint32_t from)
{
	return t->columns[column].width + (column > from ? t->columns[column - 1].pad : 0);
}

static void print_head(const struct table *t, uint32_t from, uint32_t to)
{
	print_name(t, matrix_vendor_word(t->vendor));
	for (uint32_t i = from, next; i < to; i = next) {
		next = family_end(t, i, to);
		printf(" %-*s", next < to ? width_of(t, i, next) - 1 : 0, t->columns[i].family);
	}
	printf("\n%*s", t->name_width, "");
	for (uint32_t i = from; i < to; i++)
		printf("%*s", width_at(t, i, from), t->columns[i].label);
	putchar('\n');
}

/* A line with the settings of one feature, where devices are told apart by it. */
static void print_feature(const struct table *t, const char *feature, uint32_t from, uint32_t to)
{
	bool any = false;
	int blanks = 0;

	for (uint32_t i = from; i < to; i++)
		any = any || strstr(dec_device_at(t->columns[i].device)->name, feature);
	if (!any)
		return;
	printf("%*s", t->name_width, feature);
	for (uint32_t i = from; i < to; i++) {
		const char *at = strstr(dec_device_at(t->columns[i].device)->name, feature);

		blanks += width_at(t, i, from);
		if (!at)
			continue;
		printf("%*c", blanks, at[strlen(feature)]);
		blanks = 0;
	}
	putchar('\n');
}

static void print_letter(const struct table *t, enum dec_outcome outcome)
{
	printf("%s%c%s", cli_colour(t->colours, colours[outcome]), matrix_letters[outcome],
	       cli_colour(t->colours, CLI_PLAIN));
}

static void print_row(const struct table *t, const struct matrix_row *row, uint32_t from,
		      uint32_t to)
{
	print_row_name(t, row);
	for (uint32_t i = from; i < to; i++) {
		printf("%*s", width_at(t, i, from) - 1, "");
		print_letter(t, row->cells[t->columns[i].device].outcome);
	}
	putchar('\n');
}

static void print_block(const struct table *t, uint32_t from, uint32_t to)
{
	print_head(t, from, to);
	print_feature(t, "sramecc", from, to);
	print_feature(t, "xnack", from, to);
	for (size_t i = 0; i < t->matrix->count; i++)
		if (t->matrix->rows[i].has[t->vendor])
			print_row(t, &t->matrix->rows[i], from, to);
	putchar('\n');
}

static void print_table(const struct matrix *m, enum dec_vendor vendor)
{
	struct table t = { .matrix = m,
			   .vendor = vendor,
			   .colours = cli_term_colours(STDOUT_FILENO) };

	make_columns(&t);
	set_widths(&t);
	number_rows(&t);
	for (uint32_t from = 0, to; from < t.count; from = to) {
		to = block_end(&t, from);
		print_block(&t, from, to);
	}
	free(t.columns);
	free(t.numbers);
}

static void print_legend(void)
{
	struct table t = { .colours = cli_term_colours(STDOUT_FILENO) };

	for (int i = 0; i < MATRIX_OUTCOMES; i++) {
		print_letter(&t, (enum dec_outcome)i);
		printf(" %s%s", dec_outcome_word((enum dec_outcome)i),
		       i + 1 < MATRIX_OUTCOMES ? "   " : "\n");
	}
}

void matrix_print_text(const struct matrix *m)
{
	bool any = false;

	for (int vendor = 0; vendor < MATRIX_VENDORS; vendor++) {
		if (!matrix_has(m, (enum dec_vendor)vendor))
			continue;
		any = true;
		print_table(m, (enum dec_vendor)vendor);
	}
	if (any)
		print_legend();
	for (size_t i = 0; i < m->count; i++)
		if (!m->rows[i].has[DEC_VENDOR_NVIDIA] && !m->rows[i].has[DEC_VENDOR_AMD])
			printf("%s: no code for these devices\n", m->rows[i].name);
}
