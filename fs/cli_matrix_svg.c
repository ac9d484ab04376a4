/*
 * The table as a picture: one file, nothing loaded from elsewhere, no scripts. Colours follow
 * the reader's light or dark page where the viewer knows of such a thing; letters say the same.
 */
#include "cli_matrix.h"

#include <string.h>

/* Pixels. */
enum {
	MARGIN = 16,
	CELL = 22,
	GAP = 8, /* between families */
	LETTER = 7, /* a wide enough guess, as fonts differ */
	TITLE = 28,
	LEGEND = 40,
};

/* Labels lean to the right by 60 degrees: height and width of 10 pixels along them. */
#define RISE(n) ((n)*87 / 100)
#define LEAN(n) ((n) / 2)

#define LABEL_MAX 64

static const char style[] =
	"text{font:12px system-ui,sans-serif;fill:#1f2328}"
	".page{fill:#ffffff}"
	".vendor{font-weight:bold;font-size:14px}"
	".cell{text-anchor:middle;font-weight:bold;fill:#ffffff}"
	".native{fill:#1a7f37}.jit{fill:#0969da}.partial{fill:#9a6700}.maybe{fill:#8250df}"
	".none{fill:#d8dee4}"
	"text.none{fill:#57606a}"
	"@media(prefers-color-scheme:dark){text{fill:#e6edf3}.page{fill:#0d1117}"
	".cell{fill:#ffffff}.none{fill:#30363d}text.none{fill:#9da7b1}}";

struct table {
	const struct matrix *matrix;
	enum dec_vendor vendor;
	int left; /* of the first column */
	int head; /* height of the labels */
	int width; /* of all columns, gaps and what leans over the last */
	int rows;
};

/* ---- text ------------------------------------------------------------------------------------ */

/* Two characters of Unicode are none of XML's. */
static bool is_barred(const char *p)
{
	return strncmp(p, "\xef\xbf\xbe", 3) == 0 || strncmp(p, "\xef\xbf\xbf", 3) == 0;
}

static void put_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (is_barred(text)) {
			fputs("\xef\xbf\xbd", out);
			text += 2;
			continue;
		}
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		default:
			fputc(*text, out);
		}
	}
}

static int text_width(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n * LETTER;
}

/* ---- layout ------------------------------------------------------------------------------------ */

static const char *family_of(const struct dec_device *device)
{
	const char *family = dec_device_family(device);

	return family ? family : "";
}

/* The next device of the vendor from *index on, and whether a family begins with it. */
static const struct dec_device *next_device(enum dec_vendor vendor, uint32_t *index, bool *begins)
{
	const struct dec_device *device;

	while ((device = dec_device_at(*index)) && device->vendor != vendor)
		++*index;
	if (!device)
		return NULL;
	*begins = *index == 0 || dec_device_at(*index - 1)->vendor != vendor ||
		  strcmp(family_of(dec_device_at(*index - 1)), family_of(device)) != 0;
	return device;
}

static void label_of(const struct dec_device *device, bool begins, char label[LABEL_MAX])
{
	const char *family = family_of(device);
	bool named = begins && *family;

	snprintf(label, LABEL_MAX, "%s%s%s%s", device->name, named ? " (" : "", named ? family : "",
		 named ? ")" : "");
}

static void measure(struct table *t)
{
	const struct dec_device *device;
	char label[LABEL_MAX];
	int longest = 0;
	bool begins;

	for (size_t i = 0; i < t->matrix->count; i++) {
		int width = text_width(t->matrix->rows[i].name);

		if (!t->matrix->rows[i].has[t->vendor])
			continue;
		t->rows++;
		t->left = width > t->left ? width : t->left;
	}
	t->left += MARGIN + GAP;
	for (uint32_t i = 0; (device = next_device(t->vendor, &i, &begins)); i++) {
		int width;

		label_of(device, begins, label);
		width = text_width(label);
		longest = width > longest ? width : longest;
		t->width += CELL + (begins ? GAP : 0);
	}
	t->head = RISE(longest) + GAP;
	t->width += LEAN(longest);
}

static int height_of(const struct table *t)
{
	return TITLE + t->head + t->rows * CELL + MARGIN;
}

/* ---- drawing ------------------------------------------------------------------------------------- */

static void put_square(FILE *out, int x, int y, enum dec_outcome outcome)
{
	const char *word = dec_outcome_word(outcome);

	fprintf(out,
		"<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\"/>"
		"<text class=\"cell %s\" x=\"%d\" y=\"%d\">%c</text>",
		outcome == DEC_OUTCOME_NONE ? "none" : word, x + 1, y + 1, CELL - 2, CELL - 2,
		outcome == DEC_OUTCOME_NONE ? "none" : "letter", x + CELL / 2, y + CELL / 2 + 4,
		matrix_letters[outcome]);
}

static void put_cell(FILE *out, int x, int y, const char *name, const struct dec_device *device,
		     const struct matrix_cell *cell)
{
	fputs("<g><title>", out);
	put_text(out, name);
	fprintf(out, ", %s: %s (", device->name, dec_outcome_word(cell->outcome));
	put_text(out, dec_reason_sentence(cell->reason));
	fputs(")</title>", out);
	put_square(out, x, y, cell->outcome);
	fputs("</g>\n", out);
}

static void put_labels(const struct table *t, FILE *out, int y)
{
	const struct dec_device *device;
	char label[LABEL_MAX];
	int x = t->left;
	bool begins;

	for (uint32_t i = 0; (device = next_device(t->vendor, &i, &begins)); i++) {
		x += begins ? GAP : 0;
		label_of(device, begins, label);
		fprintf(out, "<text transform=\"translate(%d %d) rotate(-60)\">", x + CELL / 2 + 4,
			y - 4);
		put_text(out, label);
		fputs("</text>\n", out);
		x += CELL;
	}
}

static void put_row(const struct table *t, FILE *out, const struct matrix_row *row, int y)
{
	const struct dec_device *device;
	int x = t->left;
	bool begins;

	fprintf(out, "<text x=\"%d\" y=\"%d\">", MARGIN, y + CELL / 2 + 4);
	put_text(out, row->name);
	fputs("</text>\n", out);
	for (uint32_t i = 0; (device = next_device(t->vendor, &i, &begins)); i++) {
		x += begins ? GAP : 0;
		put_cell(out, x, y, row->name, device, &row->cells[i]);
		x += CELL;
	}
}

static void put_table(const struct table *t, FILE *out, int y)
{
	fprintf(out, "<text class=\"vendor\" x=\"%d\" y=\"%d\">%s</text>\n", MARGIN,
		y + TITLE + t->head - GAP, matrix_vendor_word(t->vendor));
	y += TITLE + t->head;
	put_labels(t, out, y);
	for (size_t i = 0; i < t->matrix->count; i++) {
		if (!t->matrix->rows[i].has[t->vendor])
			continue;
		put_row(t, out, &t->matrix->rows[i], y);
		y += CELL;
	}
}

static int legend_width(void)
{
	int width = 2 * MARGIN;

	for (int i = 0; i < MATRIX_OUTCOMES; i++)
		width += CELL + 3 * GAP + text_width(dec_outcome_word((enum dec_outcome)i));
	return width;
}

static void put_legend(FILE *out, int y)
{
	int x = MARGIN;

	for (int i = 0; i < MATRIX_OUTCOMES; i++) {
		const char *word = dec_outcome_word((enum dec_outcome)i);

		put_square(out, x, y, (enum dec_outcome)i);
		x += CELL + GAP;
		fprintf(out, "<text x=\"%d\" y=\"%d\">%s</text>\n", x, y + CELL / 2 + 4, word);
		x += text_width(word) + 2 * GAP;
	}
}

void matrix_print_svg(const struct matrix *m, FILE *out)
{
	struct table tables[MATRIX_VENDORS];
	int count = 0;
	int width = legend_width();
	int height = LEGEND;
	int y = 0;

	for (int vendor = 0; vendor < MATRIX_VENDORS; vendor++) {
		struct table *t = &tables[count];

		if (!matrix_has(m, (enum dec_vendor)vendor))
			continue;
		*t = (struct table){ .matrix = m, .vendor = (enum dec_vendor)vendor };
		measure(t);
		height += height_of(t);
		width = t->left + t->width + MARGIN > width ? t->left + t->width + MARGIN : width;
		count++;
	}
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\" role=\"img\">\n"
		"<title>Which GPUs could load the code of these files</title>\n"
		"<style>%s</style>\n"
		"<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n",
		width, height, width, height, style);
	for (int i = 0; i < count; i++) {
		put_table(&tables[i], out, y);
		y += height_of(&tables[i]);
	}
	put_legend(out, y);
	fputs("</svg>\n", out);
}
