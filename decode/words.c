/* Enum values to the words of decode.h. */
#include "decode.h"

const char dec_absent[1] = "";

/* One table and one bounds check per vocabulary. */
#define WORDS(function, type, LIST)                                                                \
	const char *function(type v)                                                               \
	{                                                                                          \
		static const char *const words[] = { LIST(WORD) };                                 \
		return (size_t)v < sizeof(words) / sizeof(words[0]) ? words[v] : "?";              \
	}
#define WORD(suffix, word) word,

WORDS(dec_format_word, enum dec_format, DEC_FORMAT_LIST)
WORDS(dec_vendor_word, enum dec_vendor, DEC_VENDOR_LIST)
WORDS(dec_container_word, enum dec_container_kind, DEC_CONTAINER_LIST)
WORDS(dec_kind_word, enum dec_kind, DEC_KIND_LIST)
WORDS(dec_codec_word, enum dec_codec, DEC_CODEC_LIST)
WORDS(dec_target_kind_word, enum dec_target_kind, DEC_TARGET_KIND_LIST)
WORDS(dec_class_word, enum dec_target_class, DEC_TARGET_CLASS_LIST)
WORDS(dec_space_word, enum dec_space, DEC_SPACE_LIST)
WORDS(dec_place_word, enum dec_place_kind, DEC_PLACE_LIST)
WORDS(dec_problem_word, enum dec_problem_code, DEC_PROBLEM_LIST)

struct dec_limits dec_limits_default(void)
{
#define X(name, value, what) .name = value,
	return (struct dec_limits){ DEC_LIMIT_LIST(X) };
#undef X
}
