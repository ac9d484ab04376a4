/* One metadata note as a stream of values, in either language. */
#ifndef DEC_AMDGPU_READER_H
#define DEC_AMDGPU_READER_H

#include "amdgpu.h"
#include "msgpack.h"
#include "yamlvalues.h"

struct dec_amdgpu_reader {
	union {
		struct dec_msgpack msgpack;
		struct dec_yaml yaml;
	};
	struct dec_values *values;
	enum dec_amdgpu_language language;
};

static inline void dec_amdgpu_reader_open(struct dec_amdgpu_reader *reader,
					  const struct dec_amdgpu_note *note,
					  enum dec_amdgpu_language language)
{
	reader->language = language;
	if (language == DEC_AMDGPU_YAML) {
		dec_yaml_open(&reader->yaml, note->desc);
		reader->values = &reader->yaml.r;
	} else {
		dec_msgpack_open(&reader->msgpack, note->desc);
		reader->values = &reader->msgpack.r;
	}
}

static inline void dec_amdgpu_reader_close(struct dec_amdgpu_reader *reader)
{
	if (reader->language == DEC_AMDGPU_YAML)
		dec_yaml_close(&reader->yaml);
}

#endif
