/* MessagePack as a stream of values. docs/formats/amdgpu.md, "MessagePack as used". */
#ifndef DEC_MSGPACK_H
#define DEC_MSGPACK_H

#include "values.h"

struct dec_msgpack {
	struct dec_values r; /* first */
	struct dec_view v;
	size_t at;
	uint64_t left[DEC_METADATA_DEPTH]; /* values still to come, per open container */
};

/* Reads v, which must last as long as the reader. After the first value of the outermost
 * level the stream goes on with what follows, if anything does. */
void dec_msgpack_open(struct dec_msgpack *m, struct dec_view v);

#endif
