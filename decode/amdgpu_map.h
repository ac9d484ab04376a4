/* Maps of AMDGPU metadata, read by tables of the keys that count. */
#ifndef DEC_AMDGPU_MAP_H
#define DEC_AMDGPU_MAP_H

#include "amdgpu.h"

/* One note while it is read. */
struct dec_amdgpu_reading {
	struct dec_amdgpu *g;
	struct dec_values *r;
	enum dec_amdgpu_language language;
	uint32_t kernel; /* DEC_NONE: outside of all */
	struct dec_facts facts;
	uint32_t groups[3]; /* UINT32_MAX: no bound, which is then not written */
	uint64_t symbol_offset;
	uint64_t seen; /* rows of the map that is read */
	struct dec_arg *args; /* of this kernel, in the scratch arena */
	uint32_t arg_count, arg_room;
	struct dec_arg arg;
	uint64_t value_align; /* V2: of the argument itself */
};

struct dec_amdgpu_row {
	const char *key, *v2_key; /* NULL: not in that language */
	/* Consumes the whole value. */
	bool (*take)(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
		     const struct dec_value *v);
	size_t what; /* a fact, an axis, or the place of a member of struct dec_arg */
	bool required; /* from V3 on */
};
struct dec_amdgpu_rows {
	const struct dec_amdgpu_row *list; /* by key, for speed alone */
	size_t count;
};

/* A remark or worse on the kernel that is read, or on the object outside of all. */
bool dec_amdgpu_map_note(struct dec_amdgpu_reading *rd, uint64_t offset, const char *field,
			 enum dec_severity severity, const char *sentence);

/* Skips a value that is not what its key calls for, and says so. */
bool dec_amdgpu_wrong(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
		      const struct dec_value *v, const char *sentence);

/* Reads a map that has been opened, up to its end or a fault. */
bool dec_amdgpu_read_map(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_rows *rows);

/* Names the first key that must be in the map just read and is not. */
bool dec_amdgpu_check_required(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_rows *rows,
			       uint64_t offset);

/* amdgpu_args.c: the array of arguments of one kernel, into rd->args. */
bool dec_amdgpu_take_args(struct dec_amdgpu_reading *rd, const struct dec_amdgpu_row *row,
			  const struct dec_value *v);

#endif
