/*
 * gpuobj matrix: the verdicts, and the two ways to draw them.
 */
#ifndef GFS_CLI_MATRIX_H
#define GFS_CLI_MATRIX_H

#include <stdio.h>

#include "device.h"

#define X(...) +1
enum {
	MATRIX_VENDORS = 0 DEC_VENDOR_LIST(X),
	MATRIX_OUTCOMES = 0 DEC_OUTCOME_LIST(X),
};
#undef X

struct matrix_cell {
	enum dec_outcome outcome;
	enum dec_reason reason;
};

struct matrix_row {
	char *name; /* printable */
	bool has[MATRIX_VENDORS]; /* code of that vendor */
	struct matrix_cell *cells; /* by device */
};

struct matrix {
	struct matrix_row *rows;
	size_t count;
	size_t room;
};

/* The letter of each outcome. */
extern const char matrix_letters[MATRIX_OUTCOMES];

const char *matrix_vendor_word(enum dec_vendor vendor);

/* True: some row has code of the vendor. */
bool matrix_has(const struct matrix *m, enum dec_vendor vendor);

void matrix_print_text(const struct matrix *m);
void matrix_print_svg(const struct matrix *m, FILE *out);

#endif
