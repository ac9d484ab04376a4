#include "inspect.h"
#include "inventory.h"

struct pair {
	const char *name;
	enum dec_target_kind kind;
	const char *declared;
	enum dec_evidence evidence;
	const char *observed;
	enum dec_consistency expected;
};

#define FATBIN DEC_TARGET_FATBIN_ENTRY
#define BUNDLE DEC_TARGET_BUNDLE_ID
#define OFFLOAD DEC_TARGET_OFFLOAD_ARCH
#define ALONE DEC_TARGET_STANDALONE
#define NOTHING DEC_EVIDENCE_NONE
#define FLAGS DEC_EVIDENCE_CUBIN_FLAGS
#define COMPAT DEC_EVIDENCE_CUBIN_COMPAT
#define TKINFO DEC_EVIDENCE_CUBIN_TKINFO
#define PTX DEC_EVIDENCE_PTX_TARGET
#define NOTE DEC_EVIDENCE_AMDGPU_NOTE
#define MACH DEC_EVIDENCE_AMDGPU_FLAGS
#define SINGLE DEC_CONSISTENCY_SINGLE_SOURCE
#define MATCH DEC_CONSISTENCY_MATCH
#define BASE DEC_CONSISTENCY_BASE_ONLY
#define CONFLICT DEC_CONSISTENCY_CONFLICT
#define UNKNOWN DEC_CONSISTENCY_UNKNOWN

static const struct pair sources[] = {
	{ "standalone cubin", ALONE, "sm_90", COMPAT, "sm_90", SINGLE },
	{ "standalone, declared and not observed", ALONE, "sm_90", NOTHING, "", SINGLE },
	{ "standalone, observed and not declared", ALONE, "", PTX, "compute_90", SINGLE },
	{ "standalone code object", ALONE, "gfx90a", NOTE, "amdgcn-amd-amdhsa--gfx90a:xnack-",
	  SINGLE },
	{ "standalone without any", ALONE, "", NOTHING, "", UNKNOWN },
	{ "entry that declares nothing", BUNDLE, "", NOTE, "gfx1100", SINGLE },
	{ "entry id without a processor", BUNDLE, "hipv4-amdgcn-amd-amdhsa--", NOTE, "gfx1100",
	  SINGLE },
	{ "payload that says nothing", BUNDLE, "gfx906", NOTHING, "", UNKNOWN },
	{ "fatbin payload that says nothing", FATBIN, "sm_90", NOTHING, "", UNKNOWN },
	{ "neither", FATBIN, "", NOTHING, "", UNKNOWN },
	{ "two vendors", OFFLOAD, "gfx90a", TKINFO, "sm_90", CONFLICT },
	{ "two vendors, other way", OFFLOAD, "sm_90", NOTE, "gfx90a", CONFLICT },
	{ "name of no vendor", OFFLOAD, "generic", NOTE, "gfx90a", UNKNOWN },
};

static const struct pair nvidia[] = {
	{ "flags, plain", FATBIN, "sm_90", FLAGS, "sm_90", BASE },
	{ "flags, a", FATBIN, "sm_90a", FLAGS, "sm_90", BASE },
	{ "flags, a on both sides", FATBIN, "sm_120a", FLAGS, "sm_120a", BASE },
	{ "flags, a not declared", FATBIN, "sm_120", FLAGS, "sm_120a", BASE },
	{ "flags, f", FATBIN, "sm_100f", FLAGS, "sm_100", BASE },
	{ "flags, other base", FATBIN, "sm_80", FLAGS, "sm_90", CONFLICT },
	{ "flags, other base, both a", FATBIN, "sm_100a", FLAGS, "sm_103a", CONFLICT },
	{ "compat, a and a", FATBIN, "sm_90a", COMPAT, "sm_90a", MATCH },
	{ "compat, plain Hopper", FATBIN, "sm_90", COMPAT, "sm_90", MATCH },
	{ "compat, a declared, plain code", FATBIN, "sm_90a", COMPAT, "sm_90", CONFLICT },
	{ "compat, plain declared, a code", FATBIN, "sm_90", COMPAT, "sm_90a", CONFLICT },
	{ "compat, f declared, a code", FATBIN, "sm_100f", COMPAT, "sm_100a", CONFLICT },
	{ "compat, a declared, not a", FATBIN, "sm_100a", COMPAT, "sm_100", CONFLICT },
	{ "compat, plain or f", FATBIN, "sm_100", COMPAT, "sm_100", BASE },
	{ "compat, f or plain", FATBIN, "sm_100f", COMPAT, "sm_100", BASE },
	{ "compat, no f below 100", FATBIN, "sm_90f", COMPAT, "sm_90", CONFLICT },
	{ "compat, other base", FATBIN, "sm_100a", COMPAT, "sm_103a", CONFLICT },
	{ "tkinfo, plain", FATBIN, "sm_100", TKINFO, "sm_100", MATCH },
	{ "tkinfo, a", FATBIN, "sm_103a", TKINFO, "sm_103a", MATCH },
	{ "tkinfo, f", FATBIN, "sm_120f", TKINFO, "sm_120f", MATCH },
	{ "tkinfo, f declared, plain code", FATBIN, "sm_100f", TKINFO, "sm_100", CONFLICT },
	{ "tkinfo, plain declared, f code", FATBIN, "sm_100", TKINFO, "sm_100f", CONFLICT },
	{ "tkinfo, a declared, f code", FATBIN, "sm_100a", TKINFO, "sm_100f", CONFLICT },
	{ "tkinfo, other base", FATBIN, "sm_86", TKINFO, "sm_89", CONFLICT },
	{ "PTX, plain", FATBIN, "compute_90", PTX, "compute_90", MATCH },
	{ "PTX, a", FATBIN, "compute_90a", PTX, "compute_90a", MATCH },
	{ "PTX, f", FATBIN, "compute_100f", PTX, "compute_100f", MATCH },
	{ "PTX, as .target spells it", FATBIN, "compute_90a", PTX, "sm_90a", MATCH },
	{ "PTX, a declared, plain text", FATBIN, "compute_90a", PTX, "compute_90", CONFLICT },
	{ "PTX, plain declared, a text", FATBIN, "compute_90", PTX, "compute_90a", CONFLICT },
	{ "PTX, other base", FATBIN, "compute_80", PTX, "compute_90", CONFLICT },
	{ "PTX in an offload binary", OFFLOAD, "sm_90", PTX, "compute_90", MATCH },
	{ "two digits are not three", FATBIN, "sm_10", TKINFO, "sm_100", CONFLICT },
	{ "suffix of no variant", FATBIN, "sm_90x", TKINFO, "sm_90", UNKNOWN },
	{ "no number", FATBIN, "sm_", TKINFO, "sm_90", UNKNOWN },
};

#define TRIPLE "amdgcn-amd-amdhsa--"

static const struct pair amd[] = {
	{ "same", BUNDLE, "gfx906", NOTE, "gfx906", MATCH },
	{ "entry id and ISA name", BUNDLE, "hipv4-" TRIPLE "gfx906", NOTE, TRIPLE "gfx906", MATCH },
	{ "kind of the entry", BUNDLE, "hip-" TRIPLE "gfx1100", NOTE, TRIPLE "gfx1100", MATCH },
	{ "OpenMP entry", BUNDLE, "openmp-" TRIPLE "gfx90a", NOTE, TRIPLE "gfx90a", MATCH },
	{ "unknown environment declared", BUNDLE, "hip-amdgcn-amd-amdhsa-unknown-gfx906", NOTE,
	  TRIPLE "gfx906", MATCH },
	{ "unknown environment observed", BUNDLE, "gfx906:xnack-", NOTE,
	  "amdgcn-amd-amdhsa-unknown-gfx906:xnack-", MATCH },
	{ "processor in the environment's place", BUNDLE, "hip-amdgcn-amd-amdhsa-gfx906", NOTE,
	  TRIPLE "gfx906", MATCH },
	{ "subarchitecture with its processor", BUNDLE, "hip-amdgpu12.00-amd-amdhsa--gfx1200", NOTE,
	  TRIPLE "gfx1200", MATCH },
	{ "subarchitecture alone", BUNDLE, "hipv4-amdgpu9.42-amd-amdhsa--", NOTE, TRIPLE "gfx942",
	  MATCH },
	{ "subarchitecture in hexadecimal", BUNDLE, "gfx90c", NOTE, "amdgpu9.0c-amd-amdhsa--",
	  MATCH },
	{ "subarchitecture with features alone", BUNDLE, "gfx900:xnack+", NOTE,
	  "amdgpu9.00-amd-amdhsa--:xnack+", MATCH },
	{ "subarchitecture, unknown environment", BUNDLE, "gfx90a", NOTE,
	  "amdgpu9.0a-amd-amdhsa-unknown-gfx90a", MATCH },
	{ "subarchitecture of another", BUNDLE, "gfx1200", NOTE, "amdgpu12.01-amd-amdhsa--",
	  CONFLICT },
	{ "family names its generic", BUNDLE, "gfx9-4-generic:xnack+", NOTE,
	  "amdgpu9.4-amd-amdhsa--gfx9-4-generic:xnack+", MATCH },
	{ "family alone", BUNDLE, "gfx11-generic", NOTE, "amdgpu11-amd-amdhsa--", MATCH },
	{ "family under its alias", BUNDLE, "gfx10-1-generic", NOTE, "amdgpu10-amd-amdhsa--",
	  MATCH },
	{ "family that covers it", BUNDLE, "amdgpu9-amd-amdhsa--gfx906:sramecc+", NOTE,
	  TRIPLE "gfx906:sramecc+", MATCH },
	{ "generic and generic", BUNDLE, "hipv4-" TRIPLE "gfx11-generic", NOTE,
	  TRIPLE "gfx11-generic", MATCH },
	{ "generic and one of its own", BUNDLE, "gfx11-generic", NOTE, "gfx1100", CONFLICT },
	{ "two generics", BUNDLE, "gfx9-generic", NOTE, "gfx9-4-generic", CONFLICT },
	{ "other processor", BUNDLE, "gfx906", NOTE, "gfx908", CONFLICT },
	{ "longer name", BUNDLE, "gfx90", NOTE, "gfx906", CONFLICT },
	{ "feature on both sides", BUNDLE, "gfx906:xnack-", NOTE, "gfx906:xnack-", MATCH },
	{ "both features", BUNDLE, "gfx90a:sramecc+:xnack-", NOTE, TRIPLE "gfx90a:sramecc+:xnack-",
	  MATCH },
	{ "features in another order", BUNDLE, "gfx90a:xnack-:sramecc+", NOTE,
	  "gfx90a:sramecc+:xnack-", MATCH },
	{ "feature differs", BUNDLE, "gfx90a:xnack+", NOTE, "gfx90a:xnack-", CONFLICT },
	{ "one feature differs, one agrees", BUNDLE, "gfx90a:sramecc+:xnack+", NOTE,
	  "gfx90a:sramecc+:xnack-", CONFLICT },
	{ "one differs, one is not stated", BUNDLE, "gfx90a:xnack+", NOTE, "gfx90a:sramecc+:xnack-",
	  CONFLICT },
	{ "feature only declared", BUNDLE, "gfx90a:xnack-", NOTE, "gfx90a", UNKNOWN },
	{ "feature only observed", BUNDLE, "gfx90a", NOTE, "gfx90a:xnack-", UNKNOWN },
	{ "one agrees, one is only declared", BUNDLE, "gfx90a:sramecc+:xnack-", NOTE,
	  "gfx90a:sramecc+", UNKNOWN },
	{ "each states another", BUNDLE, "gfx90a:sramecc+", NOTE, "gfx90a:xnack-", UNKNOWN },
	{ "base differs, features too", BUNDLE, "gfx908:xnack+", NOTE, "gfx90a:xnack-", CONFLICT },
	{ "by flags", BUNDLE, "gfx942:sramecc+:xnack-", MACH, "gfx942:sramecc+:xnack-", MATCH },
	{ "by flags that say more", BUNDLE, "gfx900", MACH, "gfx900:xnack-", UNKNOWN },
	{ "by flags of another", BUNDLE, "gfx900", MACH, "gfx902", CONFLICT },
	{ "features with a plus in front", BUNDLE, "gfx906:sramecc+:xnack+", NOTE,
	  TRIPLE "gfx906+xnack+sramecc", MATCH },
	{ "old name of a feature", BUNDLE, "gfx906:sramecc+", NOTE, TRIPLE "gfx906+sram-ecc",
	  MATCH },
	{ "feature that is not known, same base", BUNDLE, "gfx90a:tgsplit+", NOTE, "gfx90a",
	  UNKNOWN },
	{ "feature that is not known, other base", BUNDLE, "gfx90a:tgsplit+", NOTE, "gfx908",
	  CONFLICT },
	{ "offload binary", OFFLOAD, "gfx90a:xnack+", NOTE, TRIPLE "gfx90a:xnack+", MATCH },
	{ "old processor", BUNDLE, "cayman", MACH, "cayman", MATCH },
};

static void check_pair(void **state)
{
	const struct pair *p = *state;
	enum dec_consistency found =
		dec_compare_targets(p->kind, p->declared, p->evidence, p->observed);

	assert_string_equal(dec_consistency_word(found), dec_consistency_word(p->expected));
}

/* No text, however long, is more than a name that compares or not. */
static void long_names(void **state)
{
	struct bytes b = { 0 };

	(void)state;
	add_text(&b, "hipv4-" TRIPLE "gfx906");
	for (unsigned i = 0; i < 4096; i++)
		add_text(&b, i % 2 ? ":xnack+" : "+sram-ecc");
	add(&b, "", 1);
	assert_int_equal(dec_compare_targets(BUNDLE, (const char *)b.p, NOTE, "gfx906"), UNKNOWN);
	assert_int_equal(dec_compare_targets(BUNDLE, "gfx906", NOTE, (const char *)b.p), UNKNOWN);
	assert_int_equal(dec_compare_targets(FATBIN, (const char *)b.p, TKINFO, "sm_90"), CONFLICT);
	bytes_free(&b);
}

int main(void)
{
	const struct CMUnitTest others[] = { cmocka_unit_test(long_names) };

	return RUN_ROWS(sources, check_pair) + RUN_ROWS(nvidia, check_pair) +
	       RUN_ROWS(amd, check_pair) +
	       cmocka_run_group_tests_name("long names", others, NULL, NULL);
}
