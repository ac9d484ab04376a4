/* Builders of AMDGPU code objects: metadata in MessagePack, and a linked object of one kernel
 * "k" with everything at fixed places. */
#ifndef TESTS_SUPPORT_CODE_OBJECT_H
#define TESTS_SUPPORT_CODE_OBJECT_H

#include "build.h"

/* ---- MessagePack ------------------------------------------------------------------------------ */

void mp_map(struct bytes *b, unsigned pairs); /* at most 15 */
void mp_map16(struct bytes *b, unsigned pairs);
void mp_array(struct bytes *b, unsigned count); /* at most 15 */
void mp_array16(struct bytes *b, unsigned count);
void mp_text(struct bytes *b, const char *text); /* at most 255 bytes */
void mp_uint(struct bytes *b, uint32_t n);
/* A key and its value. */
void mp_pair(struct bytes *b, const char *key, uint32_t n);
void mp_texts(struct bytes *b, const char *key, const char *value);

/* ---- a linked object --------------------------------------------------------------------------- */

enum {
	PHDR = 64,
	NOTE = PHDR + 3 * 56,
	DESC = NOTE + 20, /* of a note whose owner is AMDGPU */
	KD = 0x800,
	TEXT = 0x900,
	SYM = 0xb00,
	STR = 0xc00,
	HASH = 0xd00,
	DYN = 0xe00,
	SECTIONS = DYN + 5 * 16, /* headers of: none, notes, descriptor, code, symbols, names */
	BASE = 0x10000, /* address of offset 0 */
};

/* ABI 0 has amd_kernel_code_t before the code; the descriptor is always there, only its symbol
 * is not. Sections: notes, descriptor, code, symbols, their names; the same as segments. */
void add_linked(struct bytes *b, unsigned abi, uint32_t flags, const struct bytes *notes);

#endif
