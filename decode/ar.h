/* decode: private header of archives, calls between ar.c and ar_table.c. */
#ifndef DEC_AR_H
#define DEC_AR_H

#include "internal.h"

enum {
	DEC_AR_HEADER = 60,
	DEC_AR_NAME = 16, /* bytes of a name, the header's first field */
	DEC_AR_OFF_SIZE = 48, /* of the member's size in the header */
};

struct dec_ar_fault {
	enum dec_problem_code code;
	uint64_t offset;
	const char *field; /* NULL: none */
	const char *sentence;
};

/* What the name in a header says: a table of the archive; the one of long names. */
bool dec_ar_is_table(const uint8_t *name);
bool dec_ar_is_names(const uint8_t *name);

/* Whether data, which lies in the archive whole, is the table that its name promises. */
bool dec_ar_table_check(struct dec_build *b, struct dec_range data, const uint8_t *name,
			struct dec_ar_fault *fault);

#endif
