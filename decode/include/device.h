/*
 * decode, devices: which object of an inventory could which GPU load, and why.
 *
 * Works from the inventory alone: no payload is read, no GPU is asked, no driver either. A
 * verdict is about selection, not about memory, speed or what a library checks by itself.
 * The rules, where each comes from and what is not certain: docs/devices.md. The tables are
 * decode/device*.def; everything they give out lives as long as the program.
 */
#ifndef DEC_DEVICE_H
#define DEC_DEVICE_H

#include "decode.h"

/* ---- vocabularies: X(ENUM SUFFIX, "word shown to users") ------------------------- */

/* Of one object or one container. */
#define DEC_VERDICT_LIST(X)                                                                        \
	X(YES, "yes")                                                                              \
	X(JIT, "jit") /* the driver or the runtime compiles it first */                            \
	X(NO, "no")                                                                                \
	X(MAYBE, "maybe") /* the reason says what is not certain */                                \
	X(UNKNOWN, "unknown") /* no source says anything about it */

/* How an object fits; a verdict "maybe" says how it would. NONE: null in JSON. */
#define DEC_HOW_LIST(X)                                                                            \
	X(NONE, "none")                                                                            \
	X(EXACT, "exact") /* built for this device */                                              \
	X(SAME_MAJOR, "same_major") /* cubin of a lower minor number */                            \
	X(FAMILY, "family") /* 'f' target of another member of the family */                       \
	X(JIT, "jit") /* PTX, whatever its target */                                               \
	X(GENERIC, "generic") /* AMD generic processor */                                          \
	X(SPIRV, "spirv")

/* Of the whole artifact. */
#define DEC_OUTCOME_LIST(X)                                                                        \
	X(NATIVE, "native") /* every container has code that loads as it is */                     \
	X(JIT, "jit") /* every one has code, in some only PTX or SPIR-V */                         \
	X(PARTIAL, "partial") /* some have code for it, others none */                             \
	X(NONE, "none")                                                                            \
	X(MAYBE, "maybe")

enum dec_verdict {
#define X(s, w) DEC_VERDICT_##s,
	DEC_VERDICT_LIST(X)
#undef X
};
enum dec_how {
#define X(s, w) DEC_HOW_##s,
	DEC_HOW_LIST(X)
#undef X
};
enum dec_outcome {
#define X(s, w) DEC_OUTCOME_##s,
	DEC_OUTCOME_LIST(X)
#undef X
};
/* device_reasons.def: one row for each rule. */
enum dec_reason {
#define X(suffix, code, sentence) DEC_REASON_##suffix,
#include "device_reasons.def"
#undef X
};

/* The word for a value; a string literal, "?" for a value outside the list. */
const char *dec_verdict_word(enum dec_verdict v);
const char *dec_how_word(enum dec_how v);
const char *dec_outcome_word(enum dec_outcome v);
const char *dec_reason_word(enum dec_reason v); /* stable, for programs: "other_major" */
const char *dec_reason_sentence(enum dec_reason v); /* for people */

/* ---- devices ---------------------------------------------------------------------- */

/*
 * One architecture, and for AMD one setting of the features that such a device may report.
 * name names a feature only where several settings exist: "sm_86", "gfx1100", "gfx900",
 * "gfx90a:xnack-", "gfx906:sramecc+:xnack-". Features of a device: '+' on, '-' off, 0 it has
 * none, '?' what it reports changed with the software.
 */
struct dec_device {
	const char *name; /* unique, fit for a file name */
	const char *architecture; /* name without features: "sm_86", "gfx90a" */
	enum dec_vendor vendor; /* NVIDIA or AMD */
	uint32_t sm; /* NVIDIA: 10 * major + minor of the compute capability; else 0 */
	bool tegra; /* NVIDIA: integrated part, which takes its own number only */
	bool unsettled; /* it is not public how such a device behaves; reasons say so */
	uint32_t last_driver; /* NVIDIA: last branch that knows the device; 0: none announced */
	char sramecc, xnack; /* AMD */
	bool usual; /* the setting that such a device has by default */
};

/* All of them: NVIDIA by number, then AMD by processor; settings of one stand together. */
uint32_t dec_device_count(void);
const struct dec_device *dec_device_at(uint32_t index); /* NULL past the end */
/* Common name of the architecture ("Ampere", "CDNA 2"); NULL: not known. */
const char *dec_device_family(const struct dec_device *device);
/* By the exact name in the table, as in a path; NULL: none. */
const struct dec_device *dec_device_named(const char *name);

/* ---- products ---------------------------------------------------------------------- */

struct dec_product {
	const char *name; /* "RTX 4090", without the vendor */
	const char *target; /* an architecture, or one device where the product has one setting */
};

uint32_t dec_product_count(void);
const struct dec_product *dec_product_at(uint32_t index); /* NULL past the end */
bool dec_product_has(const struct dec_product *product, const struct dec_device *device);

/* ---- what a user types -------------------------------------------------------------- */

enum dec_find {
	DEC_FIND_FOUND, /* devices: one, or every setting of one architecture */
	DEC_FIND_AMBIGUOUS, /* candidates; the name does not say which */
	DEC_FIND_UNKNOWN,
};

struct dec_candidate {
	const char *name; /* of the product, or of the device */
	const struct dec_device *device; /* the first of its architecture */
};

#define DEC_MATCH_DEVICES 8
#define DEC_MATCH_CANDIDATES 48

struct dec_match {
	enum dec_find find;
	const struct dec_device *devices[DEC_MATCH_DEVICES];
	uint32_t device_count;
	const struct dec_product *product; /* that was named; NULL: an architecture was */
	struct dec_candidate candidates[DEC_MATCH_CANDIDATES];
	uint32_t candidate_count;
	uint32_t candidates_left_off; /* more than fit */
	char sentence[256]; /* why not FOUND, or a remark; empty: nothing to say */
};

/*
 * Takes an architecture (sm_89, compute_89, 8.9, 89, gfx1100, gfx90a:xnack+, gfx90a, a triple
 * with one) or a product in any case, with or without the vendor's words ("NVIDIA GeForce RTX
 * 4090", "mi300x"). An incomplete product name that fits several is ambiguous,
 * unless all of them are one architecture, which the sentence then remarks. An architecture past the tables is unknown, and said so.
 */
void dec_device_find(const char *text, struct dec_match *match);

/* ---- PTX versions and toolkits -------------------------------------------------------- */

struct dec_ptx_version {
	uint16_t major, minor;
	const char *cuda; /* toolkits that write it by default: "12.5, 12.6" */
	uint32_t driver; /* Linux driver branch that first takes it; 0: not known */
};

const struct dec_ptx_version *dec_ptx_version(uint32_t major, uint32_t minor); /* NULL: unknown */
/* The first PTX version that knows a target, variant 'a', 'f' or 0; NULL: not known. */
const struct dec_ptx_version *dec_ptx_first(uint32_t sm, char variant);

struct dec_toolkit {
	uint32_t major; /* of CUDA */
	uint32_t lowest_sm; /* lowest target it builds for */
	uint32_t driver; /* lowest branch on which its programs run */
};

const struct dec_toolkit *dec_toolkit(uint32_t major); /* NULL: not known */

/* ---- verdicts ------------------------------------------------------------------------- */

struct dec_object_verdict {
	enum dec_verdict verdict;
	enum dec_how how;
	enum dec_reason reason; /* always one: a "yes" has its rule too */
	bool counts; /* code of the device's vendor; host entries and indexes are not */
	bool linked; /* LTO-IR, bitcode, relocatable PTX and the like: input of a linker */
	const struct dec_ptx_version *ptx; /* PTX whose version the inventory knows; else NULL */
};

struct dec_container_verdict {
	enum dec_verdict verdict;
	enum dec_how how; /* of the first choice */
	enum dec_reason reason; /* of the first choice; for "no" of the object that came closest */
	bool counts; /* holds code of the vendor that is not only input of a linker */
	bool one_of; /* it is not certain which of the choices the runtime takes */
	uint32_t first_choice; /* in dec_answer.choices, likeliest first */
	uint32_t choice_count;
};

/* What is known of the computer beside its GPU. */
struct dec_judge_options {
	/* NVIDIA driver branch: 580; 0: not known, taken as new enough. Tegra devices have
	 * drivers of their own, for which it is not used. */
	uint32_t driver;
};

/* Indexes are those of the artifact; nothing in here points into it. */
struct dec_answer {
	const struct dec_device *device;
	enum dec_outcome outcome;
	enum dec_reason reason; /* of the container that decided, or NO_CODE and the like */
	bool incomplete; /* the inventory is: entries may be missing */
	const struct dec_object_verdict *objects; /* object_count of the artifact */
	const struct dec_container_verdict *containers; /* container_count of the artifact */
	const uint32_t *choices; /* object indexes */
	uint32_t choice_count;
	uint32_t native, jit, none, maybe; /* containers that count, by verdict; unknown is maybe */
};

/* Judges every object and container, in linear time. options may be NULL. NULL: memory ran
 * out. The caller owns the answer until dec_answer_free(), which takes NULL too. */
struct dec_answer *dec_judge(const struct dec_artifact *artifact, const struct dec_device *device,
			     const struct dec_judge_options *options);
void dec_answer_free(struct dec_answer *answer);

/* The same for one target as a payload spells it ("sm_100f", "gfx90a:xnack-", an ISA name),
 * of code of this kind: what the loader would say once it looks inside. The suffix is taken
 * as it stands: where a cubin lost it, ask dec_judge(). */
struct dec_object_verdict dec_judge_target(const struct dec_device *device, enum dec_kind kind,
					   const char *target);

#endif
