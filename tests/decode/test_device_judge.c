/* Verdicts on whole inventories: what a runtime takes from a container, what a file is worth. */
#include "alloc.h"
#include "build_words.h"
#include "device.h"
#include "inventory.h"
#include "sound.h"

#include <stdio.h>
#include <string.h>

/* ---- one row ------------------------------------------------------------------------------------- */

struct judge_case {
	const char *name; /* the file */
	const char *device;
	uint32_t driver;
	const char *artifact; /* outcome, reason */
	const char *container; /* the first: verdict, how, reason, "choices" with ? for one of */
	const char *objects; /* a letter each: yes jit no maybe unknown */
	size_t cut; /* bytes off the end */
};

static void open_case(struct opened *o, const struct judge_case *c)
{
	build_words(&o->bytes, c->name);
	o->bytes.len -= c->cut;
	open_input(o);
}

static void describe_container(const struct dec_answer *answer, char *out, size_t size)
{
	const struct dec_container_verdict *v = &answer->containers[0];
	size_t used = (size_t)snprintf(out, size, "%s %s %s ", dec_verdict_word(v->verdict),
				       dec_how_word(v->how), dec_reason_word(v->reason));

	for (uint32_t i = 0; i < v->choice_count; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%u", i ? "," : "",
					 answer->choices[v->first_choice + i]);
	snprintf(out + used, size - used, "%s", v->one_of ? "?" : v->choice_count ? "" : "-");
}

static void describe_objects(const struct dec_answer *answer, uint32_t count, char *out)
{
	for (uint32_t i = 0; i < count; i++)
		out[i] = dec_verdict_word(answer->objects[i].verdict)[0];
	out[count] = 0;
}

static void check_judge(void **state)
{
	const struct judge_case *c = *state;
	const struct dec_device *device = dec_device_named(c->device);
	struct dec_judge_options options = { .driver = c->driver };
	struct opened o = { 0 };
	struct dec_answer *answer;
	char text[256];

	assert_non_null(device);
	open_case(&o, c);
	answer = dec_judge(o.a, device, c->driver ? &options : NULL);
	assert_non_null(answer);
	assert_ptr_equal(answer->device, device);
	if (answer_fault(o.a, answer))
		fail_msg("%s", answer_fault(o.a, answer));
	assert_true(o.a->object_count < sizeof(text));
	describe_objects(answer, o.a->object_count, text);
	if (c->objects)
		assert_string_equal(text, c->objects);
	if (c->container) {
		describe_container(answer, text, sizeof(text));
		assert_string_equal(text, c->container);
	}
	snprintf(text, sizeof(text), "%s %s", dec_outcome_word(answer->outcome),
		 dec_reason_word(answer->reason));
	assert_string_equal(text, c->artifact);
	dec_answer_free(answer);
	close_input(&o);
}

/* ---- what a driver takes from a fatbin -------------------------------------------------------------- */

static const struct judge_case regions[] = {
	/* 1. what cannot run is dropped; 2. a cubin before PTX, whatever the numbers */
	{ "F sm_80 sm_86 compute_89", "sm_89", 0, "native sm_lower_minor",
	  "yes same_major sm_lower_minor 1", "yyj", 0 },
	{ "F compute_90 sm_90", "sm_90", 0, "native sm_exact", "yes exact sm_exact 1", "jy", 0 },
	{ "F sm_75 compute_80", "sm_90", 0, "jit ptx_lower", "jit jit ptx_lower 1", "nj", 0 },
	{ "F fin_90 compute_90 sm_90", "sm_90", 0, "native sm_exact", "yes exact sm_exact 2", "yjy",
	  0 },
	{ "F compute_90 fin_90", "sm_90", 0, "native sm_exact", "yes exact sm_exact 1", "jy", 0 },
	{ "F fin_80 compute_90", "sm_90", 0, "jit ptx_lower", "jit jit ptx_lower 1", "nj", 0 },
	{ "F tile_80 compute_80", "sm_90", 0, "jit ptx_lower", "jit jit ptx_lower 1", "mj", 0 },
	{ "F tile_80", "sm_90", 0, "maybe tile_ir", "maybe jit tile_ir 0", "m", 0 },
	{ "F tile_100", "sm_90", 0, "none ptx_higher", "no none ptx_higher -", "n", 0 },

	/* 3. the nearest number not above the device */
	{ "F sm_80 sm_86 sm_89 sm_90", "sm_86", 0, "native sm_exact", "yes exact sm_exact 1",
	  "yynn", 0 },
	{ "F sm_86 sm_80", "sm_89", 0, "native sm_lower_minor", "yes same_major sm_lower_minor 0",
	  "yy", 0 },
	{ "F compute_50 compute_75 compute_100", "sm_90", 0, "jit ptx_lower", "jit jit ptx_lower 1",
	  "jjn", 0 },

	/* 4. without the Mercury form first; 5. the first cubin, the last PTX */
	{ "F sm_100+m sm_100 sm_100+m", "sm_100", 0, "native sm_exact", "yes exact sm_exact 1",
	  "yyy", 0 },
	{ "F sm_100 sm_100+m", "sm_100", 0, "native sm_exact", "yes exact sm_exact 0", "yy", 0 },
	{ "F sm_100+m sm_100+m", "sm_100", 0, "native sm_exact", "yes exact sm_exact 0", "yy", 0 },
	{ "F sm_90 sm_90 sm_90", "sm_90", 0, "native sm_exact", "yes exact sm_exact 0", "yyy", 0 },
	{ "F compute_90 compute_90 compute_90", "sm_90", 0, "jit ptx_lower", "jit jit ptx_lower 2",
	  "jjj", 0 },

	/* a suffix against plain at an equal number: nobody measured it */
	{ "F sm_90 sm_90a", "sm_90", 0, "native sm_accelerated", "yes exact sm_accelerated 1,0?",
	  "yy", 0 },
	{ "F sm_100f sm_100 sm_100a", "sm_100", 0, "native sm_accelerated",
	  "yes exact sm_accelerated 2,0,1?", "yyy", 0 },
	{ "F sm_100f sm_103", "sm_103", 0, "native sm_exact", "yes exact sm_exact 1", "yy", 0 },
	{ "F sm_100f sm_100a", "sm_103", 0, "native sm_family", "yes family sm_family 0", "yn", 0 },
	{ "F compute_90 compute_90a", "sm_90", 0, "jit ptx_accelerated",
	  "jit jit ptx_accelerated 1,0?", "jj", 0 },

	/* 6. no second try: where the first is doubtful, so is the region */
	{ "F sm_86 compute_86", "sm_88", 0, "maybe sm_unsettled",
	  "maybe same_major sm_unsettled 0,1?", "mj", 0 },
	{ "F sm_80 sm_86 sm_88", "sm_88", 0, "native sm_exact", "yes exact sm_exact 2", "mmy", 0 },
	{ "F sm_101a compute_100", "sm_110", 0, "maybe sm_renamed", "maybe exact sm_renamed 0,1?",
	  "mj", 0 },

	/* kinds that are not loaded */
	{ "F lto_90", "sm_90", 0, "none only_linked", "no none lto_ir -", "n", 0 },
	{ "F rel_90", "sm_90", 0, "none only_linked", "no none ptx_relocatable -", "n", 0 },
	{ "F idx_90", "sm_90", 0, "none no_code", "no none no_code -", "n", 0 },
	{ "F idx_90 sm_90", "sm_90", 0, "native sm_exact", "yes exact sm_exact 1", "ny", 0 },
	{ "F lto_90 sm_75", "sm_90", 0, "none lto_ir", "no none lto_ir -", "nn", 0 },
	{ "F odd_90", "sm_90", 0, "maybe kind_unknown", "unknown none kind_unknown -", "u", 0 },
	{ "F odd_90 sm_90", "sm_90", 0, "native sm_exact", "yes exact sm_exact 1", "uy", 0 },
	{ "F odd_90 sm_75", "sm_90", 0, "maybe kind_unknown", "unknown none kind_unknown -", "un",
	  0 },
	{ "F compute_90+c", "sm_90", 0, "maybe ptx_unfinished", "maybe jit ptx_unfinished 0", "m",
	  0 },
	{ "F compute_90+c sm_90", "sm_90", 0, "native sm_exact", "yes exact sm_exact 1", "my", 0 },

	/* the reason of what came closest */
	{ "F sm_75 sm_80 sm_120", "sm_87", 0, "none sm_tegra", "no none sm_tegra -", "nnn", 0 },
	{ "F lto_87 sm_80 sm_75", "sm_87", 0, "none sm_tegra", "no none sm_tegra -", "nnn", 0 },
	{ "F sm_75 sm_90a", "sm_80", 0, "none sm_other_major", "no none sm_other_major -", "nn",
	  0 },
	{ "F sm_90 sm_100a", "sm_103", 0, "none sm_accelerated_other",
	  "no none sm_accelerated_other -", "nn", 0 },
	{ "F sm_75 sm_120", "sm_87", 0, "none sm_other_major", "no none sm_other_major -", "nn",
	  0 },
	{ "F", "sm_87", 0, "none no_code", "no none no_code -", "", 0 },

	/* flags and codecs make no difference */
	{ "F sm_90+z compute_90+z", "sm_90", 0, "native sm_exact", "yes exact sm_exact 0", "yj",
	  0 },

	/* a chosen object whose bytes are not all there */
	{ "F compute_90 sm_90", "sm_90", 0, "maybe damaged", "maybe exact damaged 1,0?", "jm", 4 },
	{ "F sm_90 sm_75", "sm_90", 0, "native sm_exact", "yes exact sm_exact 0", "yn", 4 },
	{ "F sm_90+z", "sm_90", 0, "maybe damaged", "maybe exact damaged 0", "m", 4 },

	/* an entry of no bytes */
	{ "F sm_90+0", "sm_90", 0, "none empty", "no none empty -", "n", 0 },
	{ "F compute_90+0", "sm_90", 0, "none empty", "no none empty -", "n", 0 },
	{ "F sm_90+0 compute_90", "sm_90", 0, "jit ptx_lower", "jit jit ptx_lower 1", "nj", 0 },
	{ "B gfx1100+0", "gfx1100", 0, "none empty", "no none empty -", "n", 0 },
	{ "B gfx1100+0 gfx11-generic", "gfx1100", 0, "native generic", "yes generic generic 1",
	  "ny", 0 },
};

/* ---- PTX versions and drivers ------------------------------------------------------------------------- */

static const struct judge_case drivers[] = {
	{ "F compute_90@8.5", "sm_90", 555, "jit ptx_lower", "jit jit ptx_lower 0", "j", 0 },
	{ "F compute_90@8.5", "sm_90", 550, "none ptx_version_new", "no none ptx_version_new -",
	  "n", 0 },
	{ "F compute_90@9.5", "sm_90", 616, "maybe ptx_version_unknown",
	  "maybe jit ptx_version_unknown 0", "m", 0 },
	{ "F compute_90@9.9", "sm_90", 616, "maybe ptx_version_unknown",
	  "maybe jit ptx_version_unknown 0", "m", 0 },
	{ "F compute_90@9.9", "sm_90", 0, "jit ptx_lower", "jit jit ptx_lower 0", "j", 0 },
	{ "F compute_35@4.3", "sm_61", 470, "jit ptx_lower", "jit jit ptx_lower 0", "j", 0 },
	/* a version that does not know its target */
	{ "F compute_90@7.7", "sm_90", 0, "none ptx_version_low", "no none ptx_version_low -", "n",
	  0 },
	{ "F compute_90@7.8", "sm_90", 0, "jit ptx_lower", "jit jit ptx_lower 0", "j", 0 },
	{ "F compute_90a@7.8", "sm_90", 0, "none ptx_version_low", "no none ptx_version_low -", "n",
	  0 },
	{ "F compute_100f@8.7", "sm_100", 0, "none ptx_version_low", "no none ptx_version_low -",
	  "n", 0 },
	{ "F compute_90@0.0", "sm_90", 0, "jit ptx_lower", "jit jit ptx_lower 0", "j", 0 },
	/* drivers that do not know a device yet, or no longer */
	{ "F sm_86", "sm_86", 450, "none driver_old", "no none driver_old -", "n", 0 },
	{ "F sm_86", "sm_86", 455, "native sm_exact", "yes exact sm_exact 0", "y", 0 },
	{ "F sm_61", "sm_61", 580, "native sm_exact", "yes exact sm_exact 0", "y", 0 },
	{ "F sm_61", "sm_61", 590, "none driver_dropped", "no none driver_dropped -", "n", 0 },
	{ "F sm_35", "sm_37", 495, "none driver_dropped", "no none driver_dropped -", "n", 0 },
	{ "F sm_20", "sm_20", 580, "none driver_dropped", "no none driver_dropped -", "n", 0 },
	{ "F sm_20", "sm_21", 390, "maybe driver_unknown", "maybe same_major driver_unknown 0", "m",
	  0 },
	/* the toolkit's own floor */
	{ "F sm_86 compute_86@8.0", "sm_86", 520, "none driver_toolkit", "no none driver_toolkit -",
	  "nn", 0 },
	{ "F sm_86 compute_86@8.0", "sm_86", 525, "native sm_exact", "yes exact sm_exact 0", "yj",
	  0 },
	{ "F sm_86 F sm_80 compute_86@9.0", "sm_86", 575, "partial driver_toolkit",
	  "yes exact sm_exact 0", "ynn", 0 },
	{ "F sm_87 compute_86@9.0", "sm_87", 540, "native sm_exact", "yes exact sm_exact 0", "yj",
	  0 },
	/* PTX that is too new may be taken by its number: there is no second try */
	{ "F compute_80@8.5 compute_90@9.0", "sm_90", 555, "none driver_toolkit",
	  "no none driver_toolkit -", "nn", 0 },
	{ "F compute_80@8.0 compute_90@8.5", "sm_90", 535, "maybe ptx_version_new",
	  "maybe jit ptx_version_new 0", "jn", 0 },
	{ "F compute_80@8.0 compute_80@8.5", "sm_90", 535, "maybe ptx_version_new",
	  "maybe jit ptx_version_new 0", "jn", 0 },
	{ "F compute_80@8.5 compute_80@8.0", "sm_90", 535, "jit ptx_lower", "jit jit ptx_lower 1",
	  "nj", 0 },
	{ "F compute_75@8.5 compute_80@8.0", "sm_90", 535, "jit ptx_lower", "jit jit ptx_lower 1",
	  "nj", 0 },
	/* zstd and drivers before CUDA 12.8 */
	{ "F sm_90+z", "sm_90", 565, "maybe zstd_driver", "maybe exact zstd_driver 0", "m", 0 },
	{ "F sm_90+z", "sm_90", 570, "native sm_exact", "yes exact sm_exact 0", "y", 0 },
	{ "F sm_90", "sm_90", 565, "native sm_exact", "yes exact sm_exact 0", "y", 0 },
	/* Tegra devices have drivers of their own */
	{ "F compute_80@9.0", "sm_87", 540, "jit ptx_lower", "jit jit ptx_lower 0", "j", 0 },
	/* the driver says nothing about AMD's */
	{ "B gfx1100", "gfx1100", 450, "native gfx_exact", "yes exact gfx_exact 0", "y", 0 },
};

/* ---- what stands alone ---------------------------------------------------------------------------------- */

static const struct judge_case bares[] = {
	{ "U 86", "sm_86", 0, "native sm_exact", "yes exact sm_exact 0", "y", 0 },
	{ "U 80", "sm_86", 0, "native sm_lower_minor", "yes same_major sm_lower_minor 0", "y", 0 },
	/* from 90 on, a cubin alone may be an 'a' target that does not say so */
	{ "U 90", "sm_90", 0, "native sm_exact", "yes exact sm_exact 0", "y", 0 },
	{ "U 100", "sm_100", 0, "native sm_exact", "yes exact sm_exact 0", "y", 0 },
	{ "U 100", "sm_103", 0, "maybe sm_suffix_lost", "maybe same_major sm_suffix_lost 0", "m",
	  0 },
	{ "U 120", "sm_121", 0, "maybe sm_suffix_lost", "maybe same_major sm_suffix_lost 0", "m",
	  0 },
	{ "U 100", "sm_120", 0, "none sm_other_major", "no none sm_other_major -", "n", 0 },
	{ "U 103", "sm_100", 0, "none sm_higher_minor", "no none sm_higher_minor -", "n", 0 },
	{ "U 100a", "sm_103", 0, "none sm_accelerated_other", "no none sm_accelerated_other -", "n",
	  0 },
	{ "U 90+r", "sm_90", 0, "maybe sm_unfinished", "maybe exact sm_unfinished 0", "m", 0 },
	{ "U 90+r", "sm_80", 0, "none sm_other_major", "no none sm_other_major -", "n", 0 },
	{ "U 120a", "sm_120", 0, "native sm_accelerated", "yes exact sm_accelerated 0", "y", 0 },
	{ "T sm_80", "sm_90", 0, "jit ptx_lower", "jit jit ptx_lower 0", "j", 0 },
	{ "T sm_90a", "sm_100", 0, "none sm_accelerated_other", "no none sm_accelerated_other -",
	  "n", 0 },
	{ "G 541", "gfx1100", 0, "native gfx_exact", "yes exact gfx_exact 0", "y", 0 },
	{ "G 541", "gfx1101", 0, "none gfx_other", "no none gfx_other -", "n", 0 },
	{ "G 53f", "gfx90a:xnack+", 0, "native gfx_exact", "yes exact gfx_exact 0", "y", 0 },
	{ "G e3f", "gfx90a:xnack+", 0, "none gfx_xnack", "no none gfx_xnack -", "n", 0 },
	{ "G e3f", "gfx90a:xnack-", 0, "native gfx_exact", "yes exact gfx_exact 0", "y", 0 },
	{ "G 541+r", "gfx1100", 0, "none only_linked", "no none gfx_relocatable -", "n", 0 },
	{ "G 541+r", "gfx1101", 0, "none only_linked", "no none gfx_other -", "n", 0 },
	{ "G 41+os65", "gfx1100", 0, "none gfx_os", "no none gfx_os -", "n", 0 },
	{ "G 41+os66", "gfx1100", 0, "none gfx_os", "no none gfx_os -", "n", 0 },
	{ "G 541+abi4", "gfx1100", 0, "native gfx_exact", "yes exact gfx_exact 0", "y", 0 },
	{ "G 541+abi5", "gfx1100", 0, "none gfx_abi_unknown", "no none gfx_abi_unknown -", "n", 0 },
	{ "G 41+abi1", "gfx1100", 0, "maybe gfx_abi_old", "maybe exact gfx_abi_old 0", "m", 0 },
	{ "G 1000054", "gfx1103", 0, "native generic", "yes generic generic 0", "y", 0 },
	{ "", "sm_90", 0, "none no_code", NULL, "", 0 },
};

/* ---- what HIP takes from a bundle --------------------------------------------------------------------------- */

static const struct judge_case bundles[] = {
	/* native, generic, SPIR-V */
	{ "B host spirv gfx11-generic gfx1100", "gfx1100", 0, "native gfx_exact",
	  "yes exact gfx_exact 3", "njyy", 0 },
	{ "B host spirv gfx11-generic gfx1100", "gfx1103", 0, "native generic",
	  "yes generic generic 2", "njyn", 0 },
	{ "B host spirv gfx11-generic gfx1100", "gfx1201", 0, "jit spirv", "jit spirv spirv 1",
	  "njnn", 0 },
	{ "B hip-spirv64-amd-amdhsa-unknown-amdgcnspirv", "gfx1201", 0, "jit spirv",
	  "jit spirv spirv 0", "j", 0 },
	{ "C host spirv gfx1100", "gfx1201", 0, "jit spirv", "jit spirv spirv 1", "njn", 0 },
	{ "B host gfx1100", "gfx1201", 0, "none gfx_other", "no none gfx_other -", "nn", 0 },
	{ "B host gfx90a:xnack-", "gfx90a:xnack+", 0, "none gfx_xnack", "no none gfx_xnack -", "nn",
	  0 },
	{ "B host", "gfx1201", 0, "none no_code", "no none no_code -", "n", 0 },

	/* feature variants: which answers is not certain, that one does is */
	{ "B gfx90a:xnack- gfx90a:xnack+", "gfx90a:xnack+", 0, "native gfx_exact",
	  "yes exact gfx_exact 1", "ny", 0 },
	{ "B gfx90a gfx90a:sramecc+:xnack- gfx90a:xnack-", "gfx90a:xnack-", 0, "native gfx_exact",
	  "yes exact gfx_exact 1,2,0?", "yyy", 0 },

	/* the same id twice */
	{ "B gfx1100 gfx1100", "gfx1100", 0, "native gfx_exact", "yes exact gfx_exact 0,1?", "yy",
	  0 },
	{ "C gfx1100 gfx1100", "gfx1100", 0, "native gfx_exact", "yes exact gfx_exact 1", "yy", 0 },

	/* kinds of entries */
	{ "B hip-amdgcn-amd-amdhsa--gfx906", "gfx906:sramecc+:xnack-", 0, "native gfx_exact",
	  "yes exact gfx_exact 0", "y", 0 },
	{ "C hip-amdgcn-amd-amdhsa--gfx906", "gfx906:sramecc+:xnack-", 0, "maybe bundle_hipv4",
	  "maybe exact bundle_hipv4 0", "m", 0 },
	{ "B hip-amdgcn-amd-amdpal--gfx1100", "gfx1100", 0, "none gfx_os", "no none gfx_os -", "n",
	  0 },
	{ "B hip-amdgcn-mesa-mesa3d--gfx900", "gfx900", 0, "none gfx_os", "no none gfx_os -", "n",
	  0 },
	/* a processor that is not of its triple */
	{ "B hipv4-amdgpu9-amd-amdhsa--gfx908", "gfx908:xnack-", 0, "none gfx_subarch",
	  "no none gfx_subarch -", "n", 0 },
	{ "B hipv4-amdgpu9.0a-amd-amdhsa--gfx908", "gfx908:xnack-", 0, "none gfx_subarch",
	  "no none gfx_subarch -", "n", 0 },
	{ "B hipv4-amdgpu9-amd-amdhsa--gfx906:sramecc+", "gfx906:sramecc+:xnack-", 0,
	  "native gfx_exact", "yes exact gfx_exact 0", "y", 0 },
	{ "B hipv4-amdgpu9.0a-amd-amdhsa--", "gfx90a:xnack-", 0, "native gfx_exact",
	  "yes exact gfx_exact 0", "y", 0 },
	{ "B openmp-amdgcn-amd-amdhsa--gfx906", "gfx906:sramecc+:xnack-", 0, "maybe bundle_not_hip",
	  "maybe exact bundle_not_hip 0", "m", 0 },

	/* HIP searches 4096 bytes of a plain bundle's header, all of a compressed one's */
	{ "B gfx1100 fill", "gfx1100", 0, "native gfx_exact", "yes exact gfx_exact 0", NULL, 0 },
	{ "B fill gfx1100", "gfx1100", 0, "maybe bundle_past_header",
	  "maybe exact bundle_past_header 80", NULL, 0 },
	{ "C fill gfx1100", "gfx1100", 0, "native gfx_exact", "yes exact gfx_exact 80", NULL, 0 },

	/* a payload that is cut */
	{ "B gfx1100 gfx1030", "gfx1030", 0, "maybe damaged", "maybe exact damaged 1", "nm", 4 },
	{ "B gfx1100 gfx1030", "gfx1100", 0, "native gfx_exact", "yes exact gfx_exact 0", "yn", 4 },
	{ "K gfx1100 gfx1030", "gfx1030", 0, "maybe damaged", "maybe exact damaged 1", "nm", 0 },

	/* doubts */
	{ "B gfx9-generic spirv", "gfx906:sramecc+:xnack-", 0, "maybe generic_sramecc",
	  "maybe generic generic_sramecc 0,1?", "mj", 0 },
	{ "B gfx90c:xnack-", "gfx90c", 0, "maybe gfx_xnack_unsettled",
	  "maybe exact gfx_xnack_unsettled 0", "m", 0 },
	{ "B gfx1250", "gfx1250", 0, "maybe gfx_llvm_only", "unknown none gfx_llvm_only -", "u",
	  0 },

	/* offload binaries */
	{ "O 1,amdgcn-amd-amdhsa,gfx90a:xnack-", "gfx90a:xnack-", 0, "native gfx_exact",
	  "yes exact gfx_exact 0", "y", 0 },
	{ "O 2,amdgcn-amd-amdhsa,gfx90a", "gfx90a:xnack-", 0, "none only_linked",
	  "no none bitcode -", "n", 0 },
	{ "O 3,nvptx64-nvidia-cuda,sm_80 5,nvptx64-nvidia-cuda,sm_80", "sm_86", 0,
	  "native sm_lower_minor", "yes same_major sm_lower_minor 0", "yj", 0 },
	{ "O 3,nvptx64-nvidia-cuda,sm_80 5,nvptx64-nvidia-cuda,sm_80", "sm_90", 0, "jit ptx_lower",
	  "jit jit ptx_lower 1", "nj", 0 },
	{ "O 1,nvptx64-nvidia-cuda,sm_80", "gfx1100", 0, "none no_code", "no none no_code -", "n",
	  0 },
};

/* ---- artifacts ---------------------------------------------------------------------------------------------------- */

static const struct judge_case artifacts[] = {
	{ "F sm_80 F sm_86", "sm_86", 0, "native sm_lower_minor", NULL, "yy", 0 },
	{ "F sm_80 F compute_86", "sm_86", 0, "jit ptx_lower", NULL, "yj", 0 },
	{ "F sm_80 F sm_90a", "sm_86", 0, "partial sm_accelerated_other", NULL, "yn", 0 },
	{ "F compute_80 F sm_90", "sm_86", 0, "partial sm_other_major", NULL, "jn", 0 },
	{ "F sm_75 F sm_90", "sm_86", 0, "none sm_other_major", NULL, "nn", 0 },
	/* what is not certain cannot make a part whole, nor nothing a part */
	{ "F sm_88 F sm_86", "sm_88", 0, "maybe sm_unsettled", NULL, "ym", 0 },
	{ "F sm_88 F sm_86 F sm_75", "sm_88", 0, "partial sm_other_major", NULL, "ymn", 0 },
	{ "F sm_86 F sm_75", "sm_88", 0, "maybe sm_unsettled", NULL, "mn", 0 },
	/* containers that do not count: linker's input, host entries, the other vendor */
	{ "F sm_90 F lto_90 F idx_90", "sm_90", 0, "native sm_exact", NULL, "ynn", 0 },
	{ "B host F sm_90 B gfx1100", "sm_90", 0, "native sm_exact", NULL, "nyn", 0 },
	{ "B host F sm_90 B gfx1100", "gfx1100", 0, "native gfx_exact", NULL, "nny", 0 },
	{ "F sm_90", "gfx1100", 0, "none no_code", NULL, "n", 0 },
	{ "B host", "sm_90", 0, "none no_code", NULL, "n", 0 },
	/* an inventory that is not complete proves no absence */
	{ "F sm_75", "sm_90", 0, "maybe incomplete", NULL, "n", 4 },
};

/* ---- reports that users filed --------------------------------------------------------------------------------------- */

static const struct judge_case reports[] = {
	/* jax-ml/jax 40487: Orin, no plain 87 and no PTX */
	{ "F sm_50 sm_60 sm_70 sm_80 sm_90 sm_100 sm_101 sm_120", "sm_87", 0, "none sm_tegra",
	  "no none sm_tegra -", "nnnnnnnn", 0 },
	/* jax-ml/jax 40492: what did run there */
	{ "F sm_80 compute_80", "sm_87", 0, "jit ptx_lower", "jit jit ptx_lower 1", "nj", 0 },
	/* vllm-project/vllm 39233: Thor, a build of 13.0 without 110 */
	{ "F sm_87 sm_89 sm_90 sm_100 sm_120", "sm_110", 0, "none sm_other_major",
	  "no none sm_other_major -", "nnnnn", 0 },
	/* pytorch/pytorch 149845: RTX 5090 D */
	{ "F sm_80 sm_86 sm_90", "sm_120", 0, "none sm_other_major", "no none sm_other_major -",
	  "nnn", 0 },
	{ "F sm_80 sm_86 sm_90 compute_90", "sm_120", 0, "jit ptx_lower", "jit jit ptx_lower 3",
	  "nnnj", 0 },
	{ "F sm_80 sm_90 sm_120", "sm_120", 0, "native sm_exact", "yes exact sm_exact 2", "nny",
	  0 },
	/* CMU-Perceptual-Computing-Lab/openpose 1708: RTX 3090, an old build */
	{ "F sm_52 sm_61 sm_70 sm_75", "sm_86", 0, "none sm_other_major",
	  "no none sm_other_major -", "nnnn", 0 },
	/* NVIDIA/nvbandwidth 61: H100, driver 580, PTX of 13.2 */
	{ "F compute_75@9.2", "sm_90", 580, "none ptx_version_new", "no none ptx_version_new -",
	  "n", 0 },
	{ "F compute_75@9.2 sm_90", "sm_90", 580, "native sm_exact", "yes exact sm_exact 1", "ny",
	  0 },
	/* ComputationalRadiationPhysics/cuda_memtest 31: RTX 3070, driver 460, PTX of 11.3 */
	{ "F compute_52@7.3", "sm_86", 460, "none ptx_version_new", "no none ptx_version_new -",
	  "n", 0 },
	/* ROCm/rocALUTION 197: gfx1031, code for 1030 */
	{ "B host gfx1030", "gfx1031", 0, "none gfx_override", "no none gfx_override -", "nn", 0 },
	{ "B host gfx10-3-generic", "gfx1031", 0, "native generic", "yes generic generic 1", "ny",
	  0 },
	/* ROCm/TheRock 1184: 780M, a wheel with 1100 to 1102 */
	{ "B host gfx1100 gfx1101 gfx1102", "gfx1103", 0, "none gfx_override",
	  "no none gfx_override -", "nnnn", 0 },
	{ "B host gfx11-generic", "gfx1103", 0, "native generic", "yes generic generic 1", "ny",
	  0 },
	/* pytorch/pytorch 73534: V1605B, which is gfx902 */
	{ "B host gfx900 gfx906 gfx908", "gfx902", 0, "none gfx_other", "no none gfx_other -",
	  "nnnn", 0 },
	{ "B host gfx9-generic", "gfx902", 0, "native generic", "yes generic generic 1", "ny", 0 },
	/* ROCm/rocm-libraries 11211: gfx90c that reports a bare name */
	{ "B host gfx90c:xnack-", "gfx90c", 0, "maybe gfx_xnack_unsettled",
	  "maybe exact gfx_xnack_unsettled 1", "nm", 0 },
	{ "B host gfx90c", "gfx90c", 0, "native gfx_exact", "yes exact gfx_exact 1", "ny", 0 },
};

/* ---- single things ------------------------------------------------------------------------------------------------- */

static void the_ptx_version_is_given(void **state)
{
	struct opened o = { 0 };
	struct dec_answer *answer;

	(void)state;
	build_words(&o.bytes, "F compute_90@8.3 compute_120@9.0 sm_90 compute_90@9.9");
	open_input(&o);
	answer = dec_judge(o.a, dec_device_named("sm_90"), NULL);
	assert_non_null(answer);
	assert_string_equal(answer->objects[0].ptx->cuda, "12.3");
	assert_int_equal(answer->objects[1].ptx->driver, 580); /* although it is no use */
	assert_null(answer->objects[2].ptx);
	assert_null(answer->objects[3].ptx);
	dec_answer_free(answer);
	close_input(&o);
}

/* Every allocation fails in turn; nothing is left behind. */
static void memory_runs_out(void **state)
{
	struct opened o = { 0 };
	struct dec_answer *answer = NULL;
	unsigned failed = 0;
	long live;

	(void)state;
	build_words(&o.bytes, "F sm_80 compute_80 B gfx1100");
	open_input(&o);
	live = alloc_live();
	while (!answer) {
		alloc_fail_at(failed + 1);
		answer = dec_judge(o.a, dec_device_named("sm_86"), NULL);
		alloc_fail_at(0);
		if (!answer) {
			failed++;
			assert_int_equal(alloc_live(), live);
		}
	}
	assert_int_equal(answer->outcome, DEC_OUTCOME_NATIVE);
	assert_true(failed >= 4);
	dec_answer_free(answer);
	dec_answer_free(NULL);
	assert_int_equal(alloc_live(), live);
	close_input(&o);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ptx_version_is_given),
		cmocka_unit_test(memory_runs_out),
	};

	return RUN_ROWS(regions, check_judge) + RUN_ROWS(drivers, check_judge) +
	       RUN_ROWS(bares, check_judge) + RUN_ROWS(bundles, check_judge) +
	       RUN_ROWS(artifacts, check_judge) + RUN_ROWS(reports, check_judge) +
	       cmocka_run_group_tests(tests, NULL, NULL);
}
