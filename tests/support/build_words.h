/*
 * Files described in words. A capital letter begins a container: F fatbin, B bundle, C
 * compressed bundle, K one that was cut before it was compressed, O offload binary, U cubin and
 * G code object outside of any, T text of PTX (a file of its own). Behind it stand its entries.
 *
 * Fatbin entries: "sm_80" cubin, "compute_80" PTX, "lto_80", "fin_80" (kind 0x10), "rel_80",
 * "tile_80", "idx_80", "odd_80" (kind 4); behind them "@7.0" the version, "+m" with a Mercury
 * form, "+z" zstd, "+c" compiled to be linked, "+0" empty. Bundle entries ("+0" behind one of no
 * bytes): a gfx target for hipv4, "spirv", "host", "fill" (80 host entries), else the entry id.
 * Offload entries: "kind,triple,arch". U: an SM number; G: the e_flags of an object V5, "+os66"
 * its system, "+abi9" its ABI version; both "+r" relocatable.
 */
#ifndef TESTS_SUPPORT_BUILD_WORDS_H
#define TESTS_SUPPORT_BUILD_WORDS_H

#include "bytes.h"

/* An empty spec gives a file without any code. */
void build_words(struct bytes *b, const char *spec);

#endif
