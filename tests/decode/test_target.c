/* Every spelling of a target: docs/formats/targets.md, and "SM numbers" of fatbin.md. */
#include "internal.h"
#include "inventory.h"

#include <string.h>

struct id_case {
	const char *name; /* the entry id */
	const char *target; /* "": none */
	enum dec_kind kind;
	enum dec_vendor vendor;
	enum dec_target_class class;
};

#define GFX DEC_KIND_CODE_OBJECT, DEC_VENDOR_AMD, DEC_CLASS_GFX
#define GENERIC DEC_KIND_CODE_OBJECT, DEC_VENDOR_AMD, DEC_CLASS_GFX_GENERIC
#define SPIRV DEC_KIND_SPIRV, DEC_VENDOR_AMD, DEC_CLASS_SPIRV
#define HOST DEC_KIND_HOST, DEC_VENDOR_OTHER, DEC_CLASS_OTHER
#define NOTHING DEC_KIND_CODE_OBJECT, DEC_VENDOR_AMD, DEC_CLASS_OTHER

static const struct id_case ids[] = {
	/* the same target, in all its spellings */
	{ "hipv4-amdgcn-amd-amdhsa--gfx906:xnack-", "gfx906:xnack-", GFX },
	{ "hip-amdgcn-amd-amdhsa--gfx906:xnack-", "gfx906:xnack-", GFX },
	{ "hcc-amdgcn-amd-amdhsa--gfx803", "gfx803", GFX },
	{ "openmp-amdgcn-amd-amdhsa--gfx90a", "gfx90a", GFX },
	{ "hip-amdgcn-amd-amdhsa-unknown-gfx906:xnack-", "gfx906:xnack-", GFX },
	{ "hip-amdgcn-amd-amdhsa-gfx906", "gfx906", GFX },
	{ "hip-amdgcn-amd-amdhsa-gfx906:xnack-", "gfx906:xnack-", GFX },
	{ "hip-amdgcn-amd-amdhsa-gfx9-4-generic:xnack+", "gfx9-4-generic:xnack+", GENERIC },
	{ "hipv4-amdgcn-amd-amdhsa--", "", NOTHING },
	{ "hipv4-amdgcn-amd-amdhsa-", "", NOTHING },
	{ "hipv4-amdgcn-amd-amdhsa", "", NOTHING },
	{ "hipv4-amdgcn", "", NOTHING },
	{ "hipv4-amdgcn-mesa-mesa3d--gfx900", "gfx900", GFX },

	/* both features, in both orders */
	{ "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack-", GFX },
	{ "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-:sramecc+", "gfx90a:sramecc+:xnack-", GFX },
	{ "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+:sramecc-", "gfx90a:sramecc-:xnack+", GFX },
	{ "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc-", "gfx90a:sramecc-", GFX },
	{ "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+", "gfx90a:xnack+", GFX },

	/* features that are not known keep their spelling */
	{ "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack", "gfx90a:xnack", GFX },
	{ "hipv4-amdgcn-amd-amdhsa--gfx90a:future+", "gfx90a:future+", GFX },
	{ "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+:future-", "gfx90a:xnack+:future-", GFX },
	{ "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+:xnack-", "gfx90a:xnack+:xnack-", GFX },
	{ "hipv4-amdgcn-amd-amdhsa--gfx90a::", "gfx90a::", GFX },

	/* generic processors */
	{ "hip-amdgcn-amd-amdhsa--gfx9-generic", "gfx9-generic", GENERIC },
	{ "hip-amdgcn-amd-amdhsa--gfx9-4-generic:sramecc+:xnack-", "gfx9-4-generic:sramecc+:xnack-",
	  GENERIC },
	{ "hip-amdgcn-amd-amdhsa--gfx10-1-generic:xnack+", "gfx10-1-generic:xnack+", GENERIC },
	{ "hip-amdgcn-amd-amdhsa--gfx10-3-generic", "gfx10-3-generic", GENERIC },
	{ "hip-amdgcn-amd-amdhsa--gfx11-generic", "gfx11-generic", GENERIC },
	{ "hip-amdgcn-amd-amdhsa--gfx11-7-generic", "gfx11-7-generic", GENERIC },
	{ "hip-amdgcn-amd-amdhsa--gfx12-generic", "gfx12-generic", GENERIC },
	{ "hip-amdgcn-amd-amdhsa--gfx12-5-generic", "gfx12-5-generic", GENERIC },
	{ "hip-amdgcn-amd-amdhsa--gfx13-generic", "gfx13-generic", GENERIC },

	/* triples with a subarchitecture */
	{ "hip-amdgpu9.4-amd-amdhsa--gfx9-4-generic:xnack+", "gfx9-4-generic:xnack+", GENERIC },
	{ "hip-amdgpu12.00-amd-amdhsa--gfx1200", "gfx1200", GFX },
	{ "hipv4-amdgpu9.42-amd-amdhsa--", "gfx942", GFX },
	{ "hip-amdgpu9.0a-amd-amdhsa--", "gfx90a", GFX },
	{ "hip-amdgpu9.0c-amd-amdhsa--", "gfx90c", GFX },
	{ "hip-amdgpu9.00-amd-amdhsa--:xnack+", "gfx900:xnack+", GFX },
	{ "hip-amdgpu9.0a-amd-amdhsa--:xnack-:sramecc+", "gfx90a:sramecc+:xnack-", GFX },
	{ "hip-amdgpu9-amd-amdhsa--gfx906:sramecc+", "gfx906:sramecc+", GFX },
	{ "hip-amdgpu9-amd-amdhsa--", "gfx9-generic", GENERIC },
	{ "hip-amdgpu9.4-amd-amdhsa--", "gfx9-4-generic", GENERIC },
	{ "hip-amdgpu9.5-amd-amdhsa--", "gfx9-4-generic", GENERIC },
	{ "hip-amdgpu10-amd-amdhsa--", "gfx10-1-generic", GENERIC },
	{ "hip-amdgpu10.1-amd-amdhsa--", "gfx10-1-generic", GENERIC },
	{ "hip-amdgpu10.3-amd-amdhsa--", "gfx10-3-generic", GENERIC },
	{ "hip-amdgpu10.36-amd-amdhsa--", "gfx1036", GFX },
	{ "hip-amdgpu11.7-amd-amdhsa--", "gfx11-7-generic", GENERIC },
	{ "hip-amdgpu12.50s-amd-amdhsa--", "gfx1250", GFX },
	{ "hip-amdgpu13.10-amd-amdhsa--", "gfx1310", GFX },
	{ "hip-amdgpu7-amd-amdhsa--", "", NOTHING },
	{ "hip-amdgpu99.99-amd-amdhsa--", "", NOTHING },
	{ "hip-amdgpufoo-amd-amdhsa--", "", NOTHING },
	{ "hip-amdgpu-amd-amdhsa--gfx1100", "gfx1100", GFX },

	/* SPIR-V */
	{ "hip-spirv64-amd-amdhsa--amdgcnspirv", "amdgcnspirv", SPIRV },
	{ "hip-spirv64-amd-amdhsa-unknown-amdgcnspirv", "amdgcnspirv", SPIRV },

	/* the host, never read strictly */
	{ "host-x86_64-unknown-linux", "", HOST },
	{ "host-x86_64-unknown-linux--", "", HOST },
	{ "host-x86_64-unknown-linux-gnu-", "", HOST },
	{ "host-x86_64-pc-linux-gnu-", "", HOST },
	{ "host-x86_64-unknown-linux-gnu", "", HOST },
	{ "host-x86_64-pc-windows-msvc-", "", HOST },
	{ "host", "", HOST },

	/* others */
	{ "openmp-nvptx64-nvidia-cuda--sm_70", "sm_70", DEC_KIND_UNKNOWN, DEC_VENDOR_NVIDIA,
	  DEC_CLASS_SM },
	{ "sycl-x86_64-unknown-linux--skylake", "skylake", DEC_KIND_UNKNOWN, DEC_VENDOR_OTHER,
	  DEC_CLASS_OTHER },
	{ "hosts-x86_64-unknown-linux", "", DEC_KIND_UNKNOWN, DEC_VENDOR_OTHER, DEC_CLASS_OTHER },
	{ "", "", DEC_KIND_UNKNOWN, DEC_VENDOR_OTHER, DEC_CLASS_OTHER },
	{ "-", "", DEC_KIND_UNKNOWN, DEC_VENDOR_OTHER, DEC_CLASS_OTHER },
	{ "-----", "", DEC_KIND_UNKNOWN, DEC_VENDOR_OTHER, DEC_CLASS_OTHER },
};

static void check_id(void **state)
{
	const struct id_case *c = *state;
	struct dec_declared d;

	assert_int_equal(dec_declare_bundle_id(&d, c->name, strlen(c->name)), c->kind);
	assert_string_equal(d.name, c->target);
	assert_int_equal(d.vendor, c->vendor);
	assert_int_equal(d.class, c->class);
}

/* No id that is taken can be cut, whatever its letters. */
static void the_longest_id_fits(void **state)
{
	static const char prefix[] = "hip-amdgcn-amd-amdhsa--";
	char id[DEC_ENTRY_ID_MAX];
	struct dec_declared d;

	(void)state;
	memset(id, 'x', sizeof(id));
	memcpy(id, prefix, strlen(prefix));
	dec_declare_bundle_id(&d, id, sizeof(id));
	assert_int_equal(strlen(d.name), sizeof(id) - strlen(prefix));
}

/* ---- e_flags ---------------------------------------------------------------------------- */

struct flags_case {
	const char *name;
	uint32_t flags;
	uint8_t osabi, abiversion;
	const char *target;
};

enum { NO_OS = 0, HSA = 64, PAL = 65, MESA = 66, V2 = 0, V3 = 1, V4 = 2, V5 = 3, V6 = 4 };

static const struct flags_case flags_cases[] = {
	{ "V2 states no feature", 0x12c, HSA, V2, "gfx900" },
	{ "V3 gfx906, xnack", 0x12f, HSA, V3, "gfx906:sramecc-:xnack+" },
	{ "V3 gfx906, sramecc", 0x22f, HSA, V3, "gfx906:sramecc+:xnack-" },
	{ "V3 gfx90a, both", 0x33f, HSA, V3, "gfx90a:sramecc+:xnack+" },
	{ "V3 gfx90a, neither", 0x3f, HSA, V3, "gfx90a:sramecc-:xnack-" },
	{ "V3 gfx900 has no sramecc", 0x32c, HSA, V3, "gfx900:xnack+" },
	{ "V3 gfx803 has neither", 0x32a, HSA, V3, "gfx803" },
	{ "V4 not supported", 0x2a, HSA, V4, "gfx803" },
	{ "V4 any", 0x53f, HSA, V4, "gfx90a" },
	{ "V4 xnack off, sramecc any", 0x62f, HSA, V4, "gfx906:xnack-" },
	{ "V4 xnack on, sramecc off", 0xb2f, HSA, V4, "gfx906:sramecc-:xnack+" },
	{ "V5 xnack off, sramecc on", 0xe3f, HSA, V5, "gfx90a:sramecc+:xnack-" },
	{ "V5 xnack on, sramecc any", 0x73f, HSA, V5, "gfx90a:xnack+" },
	{ "V5 xnack on", 0x333, HSA, V5, "gfx1010:xnack+" },
	{ "V6 generic version 1", 0x01000151, HSA, V6, "gfx9-generic" },
	{ "V6 generic with both features any", 0x0100055f, HSA, V6, "gfx9-4-generic" },
	{ "V6 generic version 255", 0xff000054, HSA, V6, "gfx11-generic" },
	{ "V6 gfx1250", 0x549, HSA, V6, "gfx1250" },
	{ "later than V6", 0xe3f, HSA, 9, "gfx90a:sramecc+:xnack-" },
	{ "PAL states no feature", 0xf3f, PAL, 0, "gfx90a" },
	{ "Mesa", 0x2c, MESA, 0, "gfx900" },
	{ "r600", 0x02, NO_OS, 0, "r630" },
	{ "no processor", 0, HSA, V5, "" },
	{ "reserved number", 0x4d, HSA, V5, "" },
	{ "unknown number", 0xff, HSA, V6, "" },
	{ "first of gfx", 0x20, HSA, V5, "gfx600" },
	{ "last", 0x63, HSA, V6, "gfx13-generic" },
};

static void check_flags(void **state)
{
	const struct flags_case *c = *state;
	struct dec_declared d;

	dec_declare_amdgpu_flags(&d, c->flags, c->osabi, c->abiversion);
	assert_string_equal(d.name, c->target);
	assert_int_equal(d.vendor, DEC_VENDOR_AMD);
}

/* Every number of the table names a processor that has a family. */
static void every_processor_has_a_family(void **state)
{
	size_t named = 0;

	(void)state;
	for (uint32_t mach = 0; mach < 256; mach++) {
		struct dec_declared d;

		dec_declare_amdgpu_flags(&d, mach, HSA, V6);
		if (!d.name[0])
			continue;
		named++;
		if (!d.family)
			fail_msg("%s has no family", d.name);
	}
	assert_int_equal(named, 79); /* rows of amdgpu_mach.def */
}

/* ---- ISA versions ----------------------------------------------------------------------- */

struct isa_case {
	const char *name; /* the target; "": none */
	uint32_t major, minor, stepping;
};

static const struct isa_case isas[] = {
	{ "gfx600", 6, 0, 0 },
	{ "gfx601", 6, 0, 1 },
	{ "gfx602", 6, 0, 2 },
	{ "gfx700", 7, 0, 0 },
	{ "gfx701", 7, 0, 1 },
	{ "gfx702", 7, 0, 2 },
	{ "gfx703", 7, 0, 3 },
	{ "gfx704", 7, 0, 4 },
	{ "gfx705", 7, 0, 5 },
	{ "gfx802", 8, 0, 0 },
	{ "gfx801:xnack+", 8, 0, 1 },
	{ "gfx802", 8, 0, 2 },
	{ "gfx803", 8, 0, 3 },
	{ "gfx803", 8, 0, 4 },
	{ "gfx805", 8, 0, 5 },
	{ "gfx810:xnack+", 8, 1, 0 },
	{ "gfx900:xnack-", 9, 0, 0 },
	{ "gfx900:xnack+", 9, 0, 1 },
	{ "gfx902:xnack-", 9, 0, 2 },
	{ "gfx902:xnack+", 9, 0, 3 },
	{ "gfx904:xnack-", 9, 0, 4 },
	{ "gfx904:xnack+", 9, 0, 5 },
	{ "gfx906:sramecc-:xnack-", 9, 0, 6 },
	{ "gfx906:sramecc-:xnack+", 9, 0, 7 },
	{ "gfx90c:xnack-", 9, 0, 12 },
	{ "", 9, 0, 8 },
	{ "", 10, 1, 0 },
	{ "", UINT32_MAX, UINT32_MAX, UINT32_MAX },
};

static void check_isa(void **state)
{
	const struct isa_case *c = *state;
	struct dec_declared d;

	dec_declare_isa_version(&d, c->major, c->minor, c->stepping);
	assert_string_equal(d.name, c->name);
}

struct text_case {
	const char *name; /* triple, or ISA name */
	const char *arch;
	const char *target;
	enum dec_vendor vendor;
};

static const struct text_case offloads[] = {
	{ "amdgcn-amd-amdhsa", "gfx90a:xnack-:sramecc+", "gfx90a:sramecc+:xnack-", DEC_VENDOR_AMD },
	{ "amdgpu9.4-amd-amdhsa", "gfx942", "gfx942", DEC_VENDOR_AMD },
	{ "spirv64-amd-amdhsa", "amdgcnspirv", "amdgcnspirv", DEC_VENDOR_AMD },
	{ "spirv64-intel", "generic", "generic", DEC_VENDOR_OTHER },
	{ "nvptx64-nvidia-cuda", "sm_90a", "sm_90a", DEC_VENDOR_NVIDIA },
	{ "r600--", "cayman", "cayman", DEC_VENDOR_AMD },
	{ "amdgcn-amd-amdhsa", "", "", DEC_VENDOR_AMD },
	{ "", "", "", DEC_VENDOR_OTHER },
};

static void check_offload(void **state)
{
	const struct text_case *c = *state;
	struct dec_declared d;

	dec_declare_offload(&d, c->name, c->arch);
	assert_string_equal(d.name, c->target);
	assert_int_equal(d.vendor, c->vendor);
}

static const struct text_case isa_names[] = {
	{ "amdgcn-amd-amdhsa--gfx907", NULL, "gfx907", DEC_VENDOR_AMD },
	{ "amdgcn-amd-amdhsa--gfx906:xnack+:sramecc-", NULL, "gfx906:sramecc-:xnack+",
	  DEC_VENDOR_AMD },
	{ "amdgcn-amd-amdpal--gfx1030", NULL, "gfx1030", DEC_VENDOR_AMD },
	{ "amdgcn-mesa-mesa3d--gfx900", NULL, "gfx900", DEC_VENDOR_AMD },
	{ "amdgpu9.0a-amd-amdhsa--", NULL, "gfx90a", DEC_VENDOR_AMD },
	{ "nonsense", NULL, "", DEC_VENDOR_AMD },
	{ "", NULL, "", DEC_VENDOR_AMD },
};

static void check_isa_name(void **state)
{
	const struct text_case *c = *state;
	struct dec_declared d;

	dec_declare_isa_name(&d, c->name, strlen(c->name));
	assert_string_equal(d.name, c->target);
	assert_int_equal(d.vendor, c->vendor);
}

/* ---- families -------------------------------------------------------------------------------- */

struct family_case {
	const char *name; /* the processor */
	const char *family;
};

static const struct family_case families[] = {
	{ "gfx600", "GCN 1" },	   { "gfx705", "GCN 2" },	{ "gfx803", "GCN 3/4" },
	{ "gfx900", "GCN 5" },	   { "gfx90c", "GCN 5" },	{ "gfx906", "GCN 5.1" },
	{ "gfx908", "CDNA 1" },	   { "gfx90a", "CDNA 2" },	{ "gfx942", "CDNA 3" },
	{ "gfx950", "CDNA 4" },	   { "gfx9-generic", "GCN 5" }, { "gfx9-4-generic", "CDNA 3/4" },
	{ "gfx1010", "RDNA 1" },   { "gfx1036", "RDNA 2" },	{ "gfx1100", "RDNA 3" },
	{ "gfx1151", "RDNA 3.5" }, { "gfx1201", "RDNA 4" },	{ "gfx12-generic", "RDNA 4" },
	{ "gfx1250", "GFX12.5" },  { "gfx1310", "GFX13" },	{ "gfx9999", NULL },
	{ "something", NULL },
};

static void check_family(void **state)
{
	const struct family_case *c = *state;
	struct dec_declared d;

	dec_declare_offload(&d, "amdgcn-amd-amdhsa", c->name);
	if (c->family)
		assert_string_equal(d.family, c->family);
	else
		assert_null(d.family);
}

/* ---- NVIDIA ------------------------------------------------------------------------------------ */

struct sm_case {
	const char *name; /* the target */
	enum dec_target_class class;
	uint32_t sm;
	char variant;
	const char *family;
};

static const struct sm_case sms[] = {
	{ "sm_13", DEC_CLASS_SM, 13, 0, "Tesla" },
	{ "sm_21", DEC_CLASS_SM, 21, 0, "Fermi" },
	{ "sm_30", DEC_CLASS_SM, 30, 0, "Kepler" },
	{ "sm_53", DEC_CLASS_SM, 53, 0, "Maxwell" },
	{ "sm_61", DEC_CLASS_SM, 61, 0, "Pascal" },
	{ "sm_72", DEC_CLASS_SM, 72, 0, "Volta" },
	{ "sm_75", DEC_CLASS_SM, 75, 0, "Turing" },
	{ "sm_88", DEC_CLASS_SM, 88, 0, "Ampere" },
	{ "sm_89", DEC_CLASS_SM, 89, 0, "Ada Lovelace" },
	{ "sm_90", DEC_CLASS_SM, 90, 0, "Hopper" },
	{ "sm_90a", DEC_CLASS_SM, 90, 'a', "Hopper" },
	{ "compute_90a", DEC_CLASS_COMPUTE, 90, 'a', "Hopper" },
	{ "lto_90a", DEC_CLASS_LTO, 90, 'a', "Hopper" },
	{ "sm_100f", DEC_CLASS_SM, 100, 'f', "Blackwell" },
	{ "sm_101a", DEC_CLASS_SM, 101, 'a', "Blackwell" },
	{ "sm_103a", DEC_CLASS_SM, 103, 'a', "Blackwell" },
	{ "sm_110f", DEC_CLASS_SM, 110, 'f', "Blackwell" },
	{ "compute_120f", DEC_CLASS_COMPUTE, 120, 'f', "Blackwell" },
	{ "sm_121a", DEC_CLASS_SM, 121, 'a', "Blackwell" },
	{ "sm_0", DEC_CLASS_SM, 0, 0, NULL },
	{ "sm_99", DEC_CLASS_SM, 99, 0, NULL },
	{ "sm_1000", DEC_CLASS_SM, 1000, 0, NULL },
	{ "compute_4294967295f", DEC_CLASS_COMPUTE, UINT32_MAX, 'f', NULL },
};

static void check_sm(void **state)
{
	const struct sm_case *c = *state;
	struct dec_declared d;

	dec_declare_sm(&d, c->class, c->sm, c->variant);
	assert_string_equal(d.name, c->name);
	assert_int_equal(d.class, c->class);
	assert_int_equal(d.vendor, DEC_VENDOR_NVIDIA);
	if (c->family)
		assert_string_equal(d.family, c->family);
	else
		assert_null(d.family);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_id_fits),
		cmocka_unit_test(every_processor_has_a_family),
	};

	return RUN_ROWS(ids, check_id) + RUN_ROWS(flags_cases, check_flags) +
	       RUN_ROWS(isas, check_isa) + RUN_ROWS(offloads, check_offload) +
	       RUN_ROWS(isa_names, check_isa_name) + RUN_ROWS(families, check_family) +
	       RUN_ROWS(sms, check_sm) + cmocka_run_group_tests(tests, NULL, NULL);
}
