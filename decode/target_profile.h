/*
 * A target taken apart, whatever way it is spelled: entry ids, triples with a target id, ISA
 * names of old notes, SM numbers.
 */
#ifndef DEC_TARGET_PROFILE_H
#define DEC_TARGET_PROFILE_H

#include "internal.h"

struct dec_profile {
	bool known;
	enum dec_vendor vendor; /* OTHER: neither an SM number nor an AMD processor */
	enum dec_target_class class; /* of the spelling; SM numbers: DEC_CLASS_SM whatever it was */
	char base[DEC_ENTRY_ID_MAX + 32]; /* AMD: the processor */
	uint32_t sm; /* NVIDIA */
	char variant; /* NVIDIA: 'a', 'f', 0: plain */
	char sramecc, xnack; /* AMD: '+', '-', 0: not stated */
	bool odd; /* AMD: has features that are not known */
};

struct dec_profile dec_profile_of(const char *text);

#endif
