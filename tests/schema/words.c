/* Prints the tables of words that the schemas repeat: "TABLE WORD" a line, for check.py. */
#include <stdio.h>

#include "device.h"
#include "inspect.h"
#include "internal.h"
#include "queues.h"
#include "report_tally.h"
#include "softgpu.h"

/* Words that softgpu gives by a function, up to the last of its enumeration. */
static void functions(void)
{
	for (int i = 0; i <= SG_VERDICT_REJECTED; i++)
		printf("verdict %s\n", sg_verdict_name((enum sg_verdict_kind)i));
	for (int i = 0; i <= SG_MODE_HSA; i++)
		printf("mode %s\n", sg_mode_name((enum sg_mode)i));
	for (int i = 0; i <= SG_KERNARG_FOREIGN_OPAQUE; i++)
		printf("kernarg_class %s\n", sg_kernarg_class_name((enum sg_kernarg_class)i));
	for (int i = 0; i <= UINT8_MAX; i++)
		printf("packet_type %s\n", sg_packet_type_name((uint8_t)i));
}

static void facts(void)
{
	static const char *const shapes[] = {
		[DEC_SHAPE_COUNT] = "count",   [DEC_SHAPE_BOOL] = "bool",
		[DEC_SHAPE_TRIPLE] = "triple", [DEC_SHAPE_TEXT] = "text",
		[DEC_SHAPE_HEX] = "hex",
	};

	for (int i = 0; i < DEC_FACT_COUNT; i++)
		printf("fact %s %s\n", dec_fact_key((enum dec_fact_id)i),
		       shapes[dec_fact_shape((enum dec_fact_id)i)]);
	for (int i = 0; i < GFS_SPREAD_COUNT; i++)
		printf("spread %s\n", dec_fact_key(gfs_spread_facts[i]));
}

/* clang-format off */
#define LIST(table, list) \
	do { \
		static const char *const words[] = { list(X) }; \
\
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) \
			printf("%s %s\n", table, words[i]); \
	} while (0)

static void lists(void)
{
#define X(suffix, word) word,
	LIST("format", DEC_FORMAT_LIST);
	LIST("vendor", DEC_VENDOR_LIST);
	LIST("container_kind", DEC_CONTAINER_LIST);
	LIST("object_kind", DEC_KIND_LIST);
	LIST("codec", DEC_CODEC_LIST);
	LIST("target_kind", DEC_TARGET_KIND_LIST);
	LIST("target_class", DEC_TARGET_CLASS_LIST);
	LIST("space", DEC_SPACE_LIST);
	LIST("place_kind", DEC_PLACE_LIST);
	LIST("problem_code", DEC_PROBLEM_LIST);
	LIST("representation", DEC_REPRESENTATION_LIST);
	LIST("inspection_state", DEC_STATE_LIST);
	LIST("consistency", DEC_CONSISTENCY_LIST);
	LIST("status", SG_STATUS_LIST);
	LIST("object_verdict", DEC_VERDICT_LIST);
	LIST("outcome", DEC_OUTCOME_LIST);
#undef X
/* Where nothing fits, null stands for the word. */
#define X(suffix, word) DEC_HOW_##suffix,
	static const enum dec_how hows[] = { DEC_HOW_LIST(X) };
#undef X
	for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++)
		if (hows[i] != DEC_HOW_NONE)
			printf("how %s\n", dec_how_word(hows[i]));
#define X(suffix, code, sentence) puts("device_reason " code);
#include "device_reasons.def"
#undef X
/* Where no payload target was found, null stands for the word. */
#define X(suffix, word) DEC_EVIDENCE_##suffix,
	static const enum dec_evidence evidence[] = { DEC_EVIDENCE_LIST(X) };
#undef X
	for (size_t i = 0; i < sizeof(evidence) / sizeof(evidence[0]); i++)
		if (evidence[i] != DEC_EVIDENCE_NONE)
			printf("payload_target_kind %s\n", dec_evidence_word(evidence[i]));
#define X(word) #word,
	LIST("finding", GFS_FINDING_LIST);
#undef X
#define X(option, member, what) #member,
	LIST("queue_limit", GFS_QUEUE_BOUND_LIST);
#undef X
}

static void events(void)
{
#undef FIELD
#undef FIELD_AS
#define FIELD(member) " " #member
#define FIELD_AS(key, member) " " key
#define JOIN(a, b, c, d, e, f, g, h, i, j, k, l, ...) a b c d e f g h i j k l
#define X(id, name, ...) \
	puts("event " name JOIN(__VA_ARGS__, "", "", "", "", "", "", "", "", "", "", "", ""));
#include "trace.def"
#undef X
}
/* clang-format on */

int main(void)
{
	functions();
	facts();
	lists();
	events();
	return 0;
}
