/* Enum values to the words of decode.h. */
#include "device.h"
#include "inspect.h"

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

WORDS(dec_representation_word, enum dec_representation, DEC_REPRESENTATION_LIST)
WORDS(dec_state_word, enum dec_state, DEC_STATE_LIST)
WORDS(dec_evidence_word, enum dec_evidence, DEC_EVIDENCE_LIST)
WORDS(dec_consistency_word, enum dec_consistency, DEC_CONSISTENCY_LIST)

WORDS(dec_verdict_word, enum dec_verdict, DEC_VERDICT_LIST)
WORDS(dec_how_word, enum dec_how, DEC_HOW_LIST)
WORDS(dec_outcome_word, enum dec_outcome, DEC_OUTCOME_LIST)

static const struct {
	const char *key;
	enum dec_shape shape;
} facts[] = {
#define X(suffix, key, shape) { key, shape },
#include "resources.def"
#undef X
};

const char *dec_fact_key(enum dec_fact_id id)
{
	return facts[id].key;
}

enum dec_shape dec_fact_shape(enum dec_fact_id id)
{
	return facts[id].shape;
}

struct dec_limits dec_limits_default(void)
{
#define X(name, value, what) .name = value,
	return (struct dec_limits){ DEC_LIMIT_LIST(X) };
#undef X
}
