/*
 * The rules for one target and one device. Every expectation is typed from what the makers
 * publish (docs/devices.md says where), none from the tables that are tested.
 */
#include "device.h"
#include "inventory.h"

#include <stdio.h>
#include <string.h>

static const struct dec_device *device(const char *name)
{
	const struct dec_device *d = dec_device_named(name);

	if (!d)
		fail_msg("no device %s", name);
	return d;
}

/* ---- the matrix of plain cubins ---------------------------------------------------------- */

#define COLUMNS 14
static const char *const columns[COLUMNS] = {
	"sm_70", "sm_72",  "sm_75",  "sm_80",  "sm_86",	 "sm_87",  "sm_89",
	"sm_90", "sm_100", "sm_103", "sm_107", "sm_110", "sm_120", "sm_121",
};

struct matrix_row {
	const char *name; /* the cubin's target */
	const char *devices; /* Y: it runs there, in the order of columns */
};

/* clang-format off */
static const struct matrix_row matrix[] = {
	/*         7.0 7.2T 7.5 8.0 8.6 8.7T 8.9 9.0 10.0 10.3 10.7 11.0T 12.0 12.1 */
	{ "sm_70",  "Y.Y..........." },
	{ "sm_75",  "..Y..........." },
	{ "sm_80",  "...YY.Y......." },
	{ "sm_86",  "....Y.Y......." },
	{ "sm_87",  ".....Y........" },
	{ "sm_89",  "......Y......." },
	{ "sm_90",  ".......Y......" },
	{ "sm_100", "........YYY..." },
	{ "sm_103", ".........YY..." },
	{ "sm_120", "............YY" },
	{ "sm_121", ".............Y" },
	/* exact ones, by the rules for Tegra and for the number alone */
	{ "sm_72",  ".Y............" },
	{ "sm_107", "..........Y..." },
	{ "sm_110", "...........Y.." },
	/* older */
	{ "sm_30",  ".............." },
	{ "sm_52",  ".............." },
	{ "sm_61",  ".............." },
};
/* clang-format on */

static void check_matrix(void **state)
{
	const struct matrix_row *row = *state;

	assert_int_equal(strlen(row->devices), COLUMNS);
	for (size_t i = 0; i < COLUMNS; i++) {
		struct dec_object_verdict v =
			dec_judge_target(device(columns[i]), DEC_KIND_CUBIN, row->name);
		bool own = strcmp(row->name, columns[i]) == 0, runs = row->devices[i] == 'Y';

		if (v.verdict != (runs ? DEC_VERDICT_YES : DEC_VERDICT_NO))
			fail_msg("%s on %s: %s", row->name, columns[i],
				 dec_verdict_word(v.verdict));
		assert_int_equal(v.how, !runs ? DEC_HOW_NONE
					: own ? DEC_HOW_EXACT
					      : DEC_HOW_SAME_MAJOR);
	}
}

/* ---- targets ---------------------------------------------------------------------------------- */

#define YES DEC_VERDICT_YES
#define JIT DEC_VERDICT_JIT
#define NO DEC_VERDICT_NO
#define MAYBE DEC_VERDICT_MAYBE
#define UNKNOWN DEC_VERDICT_UNKNOWN

struct target_case {
	const char *name; /* the target */
	const char *device;
	enum dec_verdict verdict;
	enum dec_how how;
	const char *reason;
};

static void check_target(const struct target_case *c, enum dec_kind kind)
{
	struct dec_object_verdict v = dec_judge_target(device(c->device), kind, c->name);

	if (v.verdict != c->verdict)
		fail_msg("%s on %s: %s (%s)", c->name, c->device, dec_verdict_word(v.verdict),
			 dec_reason_word(v.reason));
	assert_string_equal(dec_how_word(v.how), dec_how_word(c->how));
	assert_string_equal(dec_reason_word(v.reason), c->reason);
	assert_true(v.counts);
	assert_null(v.ptx);
}

static const struct target_case cubins[] = {
	/* rule 1: numbers that no driver takes */
	{ "sm_0", "sm_80", NO, DEC_HOW_NONE, "sm_number" },
	{ "sm_1000", "sm_80", NO, DEC_HOW_NONE, "sm_number" },
	{ "sm_4294967295", "sm_80", NO, DEC_HOW_NONE, "sm_number" },
	{ "sm_999", "sm_80", NO, DEC_HOW_NONE, "sm_other_major" },
	{ "gfx90a", "sm_90", NO, DEC_HOW_NONE, "sm_number" },
	{ "", "sm_90", UNKNOWN, DEC_HOW_NONE, "no_target" },

	/* rule 2: 'a' is for one device */
	{ "sm_90a", "sm_90", YES, DEC_HOW_EXACT, "sm_accelerated" },
	{ "sm_100a", "sm_100", YES, DEC_HOW_EXACT, "sm_accelerated" },
	{ "sm_100a", "sm_103", NO, DEC_HOW_NONE, "sm_accelerated_other" },
	{ "sm_120a", "sm_121", NO, DEC_HOW_NONE, "sm_accelerated_other" },
	{ "sm_90a", "sm_100", NO, DEC_HOW_NONE, "sm_accelerated_other" },
	{ "sm_103a", "sm_103", YES, DEC_HOW_EXACT, "sm_accelerated" },
	{ "sm_110a", "sm_110", YES, DEC_HOW_EXACT, "sm_accelerated" },
	{ "sm_121a", "sm_121", YES, DEC_HOW_EXACT, "sm_accelerated" },
	{ "sm_121a", "sm_120", NO, DEC_HOW_NONE, "sm_accelerated_other" },

	/* rule 3: families, in one direction only */
	{ "sm_100f", "sm_100", YES, DEC_HOW_EXACT, "sm_family" },
	{ "sm_100f", "sm_103", YES, DEC_HOW_FAMILY, "sm_family" },
	{ "sm_100f", "sm_107", YES, DEC_HOW_FAMILY, "sm_family" },
	{ "sm_100f", "sm_110", NO, DEC_HOW_NONE, "sm_family_other" },
	{ "sm_100f", "sm_120", NO, DEC_HOW_NONE, "sm_family_other" },
	{ "sm_103f", "sm_100", NO, DEC_HOW_NONE, "sm_family_other" },
	{ "sm_103f", "sm_103", YES, DEC_HOW_EXACT, "sm_family" },
	{ "sm_103f", "sm_107", YES, DEC_HOW_FAMILY, "sm_family" },
	{ "sm_107f", "sm_107", YES, DEC_HOW_EXACT, "sm_family" },
	{ "sm_107f", "sm_103", NO, DEC_HOW_NONE, "sm_family_other" },
	{ "sm_110f", "sm_110", YES, DEC_HOW_EXACT, "sm_family" },
	{ "sm_110f", "sm_100", NO, DEC_HOW_NONE, "sm_family_other" },
	{ "sm_120f", "sm_120", YES, DEC_HOW_EXACT, "sm_family" },
	{ "sm_120f", "sm_121", YES, DEC_HOW_FAMILY, "sm_family" },
	{ "sm_121f", "sm_121", YES, DEC_HOW_EXACT, "sm_family" },
	{ "sm_121f", "sm_120", NO, DEC_HOW_NONE, "sm_family_other" },
	{ "sm_90f", "sm_90", NO, DEC_HOW_NONE, "sm_family_none" },
	{ "sm_102f", "sm_103", UNKNOWN, DEC_HOW_NONE, "sm_family_unknown" },
	{ "sm_109f", "sm_107", NO, DEC_HOW_NONE, "sm_family_other" },
	{ "sm_130f", "sm_121", NO, DEC_HOW_NONE, "sm_family_other" },

	/* rules 4 to 7 where the matrix does not say why */
	{ "sm_86", "sm_86", YES, DEC_HOW_EXACT, "sm_exact" },
	{ "sm_80", "sm_89", YES, DEC_HOW_SAME_MAJOR, "sm_lower_minor" },
	{ "sm_89", "sm_86", NO, DEC_HOW_NONE, "sm_higher_minor" },
	{ "sm_89", "sm_90", NO, DEC_HOW_NONE, "sm_other_major" },
	{ "sm_90", "sm_100", NO, DEC_HOW_NONE, "sm_other_major" },
	{ "sm_120", "sm_121", YES, DEC_HOW_SAME_MAJOR, "sm_lower_minor" },

	/* older than the matrix */
	{ "sm_20", "sm_21", YES, DEC_HOW_SAME_MAJOR, "sm_lower_minor" },
	{ "sm_30", "sm_35", YES, DEC_HOW_SAME_MAJOR, "sm_lower_minor" },
	{ "sm_30", "sm_37", YES, DEC_HOW_SAME_MAJOR, "sm_lower_minor" },
	{ "sm_30", "sm_32", NO, DEC_HOW_NONE, "sm_tegra" },
	{ "sm_35", "sm_37", YES, DEC_HOW_SAME_MAJOR, "sm_lower_minor" },
	{ "sm_35", "sm_30", NO, DEC_HOW_NONE, "sm_higher_minor" },
	{ "sm_50", "sm_52", YES, DEC_HOW_SAME_MAJOR, "sm_lower_minor" },
	{ "sm_52", "sm_50", NO, DEC_HOW_NONE, "sm_higher_minor" },
	{ "sm_60", "sm_61", YES, DEC_HOW_SAME_MAJOR, "sm_lower_minor" },

	/* Tegra, in both directions */
	{ "sm_32", "sm_32", YES, DEC_HOW_EXACT, "sm_exact" },
	{ "sm_32", "sm_35", NO, DEC_HOW_NONE, "sm_tegra" },
	{ "sm_52", "sm_53", NO, DEC_HOW_NONE, "sm_tegra" },
	{ "sm_53", "sm_53", YES, DEC_HOW_EXACT, "sm_exact" },
	{ "sm_60", "sm_62", NO, DEC_HOW_NONE, "sm_tegra" },
	{ "sm_61", "sm_62", NO, DEC_HOW_NONE, "sm_tegra" },
	{ "sm_70", "sm_72", NO, DEC_HOW_NONE, "sm_tegra" },
	{ "sm_72", "sm_75", NO, DEC_HOW_NONE, "sm_tegra" },
	{ "sm_80", "sm_87", NO, DEC_HOW_NONE, "sm_tegra" },
	{ "sm_86", "sm_87", NO, DEC_HOW_NONE, "sm_tegra" },
	{ "sm_87", "sm_87", YES, DEC_HOW_EXACT, "sm_exact" },
	{ "sm_87", "sm_89", NO, DEC_HOW_NONE, "sm_tegra" },
	{ "sm_90", "sm_110", NO, DEC_HOW_NONE, "sm_other_major" },

	/* 8.8 is not public */
	{ "sm_88", "sm_88", YES, DEC_HOW_EXACT, "sm_exact" },
	{ "sm_80", "sm_88", MAYBE, DEC_HOW_SAME_MAJOR, "sm_unsettled" },
	{ "sm_86", "sm_88", MAYBE, DEC_HOW_SAME_MAJOR, "sm_unsettled" },
	{ "sm_87", "sm_88", MAYBE, DEC_HOW_SAME_MAJOR, "sm_unsettled" },
	{ "sm_88", "sm_89", MAYBE, DEC_HOW_SAME_MAJOR, "sm_unsettled" },
	{ "sm_88", "sm_86", NO, DEC_HOW_NONE, "sm_higher_minor" },
	{ "sm_75", "sm_88", NO, DEC_HOW_NONE, "sm_other_major" },

	/* 101 and 110 */
	{ "sm_101", "sm_110", MAYBE, DEC_HOW_EXACT, "sm_renamed" },
	{ "sm_101a", "sm_110", MAYBE, DEC_HOW_EXACT, "sm_renamed" },
	{ "sm_101f", "sm_110", MAYBE, DEC_HOW_EXACT, "sm_renamed" },
	{ "sm_101", "sm_100", NO, DEC_HOW_NONE, "sm_tegra" },
	{ "sm_101", "sm_103", NO, DEC_HOW_NONE, "sm_tegra" },
	{ "sm_101", "sm_120", NO, DEC_HOW_NONE, "sm_other_major" },
	{ "sm_101f", "sm_103", NO, DEC_HOW_NONE, "sm_family_other" },
	{ "sm_101a", "sm_100", NO, DEC_HOW_NONE, "sm_accelerated_other" },
	{ "sm_100", "sm_110", NO, DEC_HOW_NONE, "sm_other_major" },
};

static void check_cubin(void **state)
{
	check_target(*state, DEC_KIND_CUBIN);
}

static const struct target_case ptxs[] = {
	{ "compute_50", "sm_50", JIT, DEC_HOW_JIT, "ptx_lower" },
	{ "compute_50", "sm_121", JIT, DEC_HOW_JIT, "ptx_lower" },
	{ "compute_80", "sm_87", JIT, DEC_HOW_JIT, "ptx_lower" },
	{ "compute_80", "sm_75", NO, DEC_HOW_NONE, "ptx_higher" },
	{ "compute_86", "sm_80", NO, DEC_HOW_NONE, "ptx_higher" },
	{ "compute_87", "sm_89", JIT, DEC_HOW_JIT, "ptx_lower" },
	{ "compute_88", "sm_89", JIT, DEC_HOW_JIT, "ptx_lower" },
	{ "compute_72", "sm_75", JIT, DEC_HOW_JIT, "ptx_lower" },
	{ "compute_90", "sm_110", JIT, DEC_HOW_JIT, "ptx_lower" },
	{ "sm_90", "sm_100", JIT, DEC_HOW_JIT, "ptx_lower" }, /* as the text spells it */
	{ "compute_90a", "sm_90", JIT, DEC_HOW_JIT, "ptx_accelerated" },
	{ "compute_90a", "sm_100", NO, DEC_HOW_NONE, "sm_accelerated_other" },
	{ "compute_100a", "sm_103", NO, DEC_HOW_NONE, "sm_accelerated_other" },
	{ "compute_100f", "sm_100", JIT, DEC_HOW_JIT, "ptx_family" },
	{ "compute_100f", "sm_103", JIT, DEC_HOW_JIT, "ptx_family" },
	{ "compute_100f", "sm_107", JIT, DEC_HOW_JIT, "ptx_family" },
	{ "compute_100f", "sm_110", NO, DEC_HOW_NONE, "sm_family_other" },
	{ "compute_103f", "sm_103", JIT, DEC_HOW_JIT, "ptx_family" },
	{ "compute_103f", "sm_100", NO, DEC_HOW_NONE, "sm_family_other" },
	{ "compute_110f", "sm_110", JIT, DEC_HOW_JIT, "ptx_family" },
	{ "compute_120f", "sm_120", JIT, DEC_HOW_JIT, "ptx_family" },
	{ "compute_120f", "sm_121", JIT, DEC_HOW_JIT, "ptx_family" },
	{ "compute_121f", "sm_120", NO, DEC_HOW_NONE, "sm_family_other" },
	{ "compute_121f", "sm_121", JIT, DEC_HOW_JIT, "ptx_family" },
	{ "compute_90f", "sm_90", NO, DEC_HOW_NONE, "sm_family_none" },
	/* what ptxas 13.0 does with the old name of 110 */
	{ "compute_101", "sm_100", NO, DEC_HOW_NONE, "ptx_higher" },
	{ "compute_101", "sm_103", JIT, DEC_HOW_JIT, "ptx_lower" },
	{ "compute_101", "sm_110", JIT, DEC_HOW_JIT, "ptx_lower" },
	{ "compute_101", "sm_121", JIT, DEC_HOW_JIT, "ptx_lower" },
	{ "compute_101f", "sm_110", JIT, DEC_HOW_JIT, "ptx_family" },
	{ "compute_101f", "sm_103", NO, DEC_HOW_NONE, "sm_family_other" },
	{ "compute_101a", "sm_110", MAYBE, DEC_HOW_JIT, "ptx_renamed" },
	{ "compute_101a", "sm_103", NO, DEC_HOW_NONE, "sm_accelerated_other" },
	{ "compute_0", "sm_80", NO, DEC_HOW_NONE, "sm_number" },
	{ "compute_1000", "sm_80", NO, DEC_HOW_NONE, "sm_number" },
};

static void check_ptx(void **state)
{
	check_target(*state, DEC_KIND_PTX);
}

static const struct target_case gfxs[] = {
	/* rule 4: the same processor and no other */
	{ "gfx1100", "gfx1100", YES, DEC_HOW_EXACT, "gfx_exact" },
	{ "gfx1030", "gfx1201", NO, DEC_HOW_NONE, "gfx_other" },
	{ "gfx1101", "gfx1103", NO, DEC_HOW_NONE, "gfx_other" },
	{ "gfx90a", "gfx942:xnack-", NO, DEC_HOW_NONE, "gfx_other" },
	{ "gfx803", "gfx803", YES, DEC_HOW_EXACT, "gfx_exact" },
	{ "gfx9999", "gfx90a:xnack-", NO, DEC_HOW_NONE, "gfx_other" },
	{ "sm_90", "gfx90a:xnack-", NO, DEC_HOW_NONE, "gfx_name" },
	{ "skylake", "gfx90a:xnack-", NO, DEC_HOW_NONE, "gfx_name" },
	{ "", "gfx90a:xnack-", UNKNOWN, DEC_HOW_NONE, "no_target" },
	{ "gfx90a:other+", "gfx90a:xnack-", NO, DEC_HOW_NONE, "gfx_name" },

	/* what some users have run all the same is no */
	{ "gfx1030", "gfx1031", NO, DEC_HOW_NONE, "gfx_override" },
	{ "gfx1030", "gfx1032", NO, DEC_HOW_NONE, "gfx_override" },
	{ "gfx1030", "gfx1036", NO, DEC_HOW_NONE, "gfx_override" },
	{ "gfx1031", "gfx1030", NO, DEC_HOW_NONE, "gfx_other" },
	{ "gfx1100", "gfx1103", NO, DEC_HOW_NONE, "gfx_override" },
	{ "gfx1100", "gfx1151", NO, DEC_HOW_NONE, "gfx_override" },
	{ "gfx1151", "gfx1150", NO, DEC_HOW_NONE, "gfx_other" }, /* seen to fail */
	{ "gfx1100", "gfx1150", NO, DEC_HOW_NONE, "gfx_other" },
	{ "gfx1030", "gfx1010", NO, DEC_HOW_NONE, "gfx_override" },
	{ "gfx900", "gfx90c", NO, DEC_HOW_NONE, "gfx_override" },

	/* rules 2 and 3: features by truth value */
	{ "gfx90a", "gfx90a:xnack-", YES, DEC_HOW_EXACT, "gfx_exact" },
	{ "gfx90a", "gfx90a:xnack+", YES, DEC_HOW_EXACT, "gfx_exact" },
	{ "gfx90a:xnack-", "gfx90a:xnack-", YES, DEC_HOW_EXACT, "gfx_exact" },
	{ "gfx90a:xnack-", "gfx90a:xnack+", NO, DEC_HOW_NONE, "gfx_xnack" },
	{ "gfx90a:xnack+", "gfx90a:xnack-", NO, DEC_HOW_NONE, "gfx_xnack" },
	{ "gfx90a:xnack+", "gfx90a:xnack+", YES, DEC_HOW_EXACT, "gfx_exact" },
	{ "gfx90a:sramecc+", "gfx90a:xnack-", YES, DEC_HOW_EXACT, "gfx_exact" },
	{ "gfx90a:sramecc-", "gfx90a:xnack-", NO, DEC_HOW_NONE, "gfx_sramecc" },
	{ "gfx90a:sramecc+:xnack-", "gfx90a:xnack-", YES, DEC_HOW_EXACT, "gfx_exact" },
	{ "gfx90a:xnack-:sramecc+", "gfx90a:xnack-", YES, DEC_HOW_EXACT, "gfx_exact" },
	{ "gfx90a:sramecc+:xnack+", "gfx90a:xnack-", NO, DEC_HOW_NONE, "gfx_xnack" },
	{ "amdgcn-amd-amdhsa--gfx90a:xnack-", "gfx90a:xnack-", YES, DEC_HOW_EXACT, "gfx_exact" },
	{ "gfx1100:xnack+", "gfx1100", NO, DEC_HOW_NONE, "gfx_xnack" },
	{ "gfx1100:xnack-", "gfx1100", NO, DEC_HOW_NONE, "gfx_xnack" },
	{ "gfx1100:sramecc-", "gfx1100", NO, DEC_HOW_NONE, "gfx_sramecc" },

	/* what devices report */
	{ "gfx906:sramecc+:xnack-", "gfx906:sramecc+:xnack-", YES, DEC_HOW_EXACT, "gfx_exact" },
	{ "gfx906:sramecc+:xnack-", "gfx906:sramecc-:xnack-", NO, DEC_HOW_NONE, "gfx_sramecc" },
	{ "gfx906:sramecc-:xnack-", "gfx906:sramecc-:xnack-", YES, DEC_HOW_EXACT, "gfx_exact" },
	{ "gfx906:xnack-", "gfx906:sramecc-:xnack-", YES, DEC_HOW_EXACT, "gfx_exact" },
	{ "gfx906:xnack+", "gfx906:sramecc+:xnack+", YES, DEC_HOW_EXACT, "gfx_exact" },
	{ "gfx908:xnack-", "gfx908:xnack-", YES, DEC_HOW_EXACT, "gfx_exact" },
	{ "gfx942:sramecc+:xnack+", "gfx942:xnack+", YES, DEC_HOW_EXACT, "gfx_exact" },
	{ "gfx950:xnack+", "gfx950:xnack-", NO, DEC_HOW_NONE, "gfx_xnack" },
	{ "gfx900:xnack-", "gfx900", YES, DEC_HOW_EXACT, "gfx_exact" },
	{ "gfx900:xnack+", "gfx900", NO, DEC_HOW_NONE, "gfx_xnack" },
	{ "gfx1010:xnack-", "gfx1010", YES, DEC_HOW_EXACT, "gfx_exact" },
	{ "gfx1013:xnack+", "gfx1013", NO, DEC_HOW_NONE, "gfx_xnack" },
	{ "gfx902", "gfx902", YES, DEC_HOW_EXACT, "gfx_exact" },
	{ "gfx902:xnack+", "gfx902", MAYBE, DEC_HOW_EXACT, "gfx_xnack_unsettled" },
	{ "gfx902:xnack-", "gfx902", MAYBE, DEC_HOW_EXACT, "gfx_xnack_unsettled" },
	{ "gfx909:xnack+", "gfx909", MAYBE, DEC_HOW_EXACT, "gfx_xnack_unsettled" },
	{ "gfx90c:xnack-", "gfx90c", MAYBE, DEC_HOW_EXACT, "gfx_xnack_unsettled" },
	{ "gfx90c", "gfx90c", YES, DEC_HOW_EXACT, "gfx_exact" },

	/* rule 5 and the members of generics */
	{ "gfx9-generic", "gfx900", YES, DEC_HOW_GENERIC, "generic" },
	{ "gfx9-generic", "gfx902", YES, DEC_HOW_GENERIC, "generic" },
	{ "gfx9-generic", "gfx904", YES, DEC_HOW_GENERIC, "generic" },
	{ "gfx9-generic", "gfx909", YES, DEC_HOW_GENERIC, "generic" },
	{ "gfx9-generic", "gfx90c", YES, DEC_HOW_GENERIC, "generic" },
	{ "gfx9-generic:xnack+", "gfx900", NO, DEC_HOW_NONE, "gfx_xnack" },
	{ "gfx9-generic:xnack-", "gfx900", YES, DEC_HOW_GENERIC, "generic" },
	{ "gfx9-generic:xnack+", "gfx902", MAYBE, DEC_HOW_GENERIC, "gfx_xnack_unsettled" },
	{ "gfx9-generic", "gfx906:sramecc+:xnack-", MAYBE, DEC_HOW_GENERIC, "generic_sramecc" },
	{ "gfx9-generic", "gfx906:sramecc-:xnack-", MAYBE, DEC_HOW_GENERIC, "generic_sramecc" },
	{ "gfx9-generic:xnack+", "gfx906:sramecc+:xnack-", NO, DEC_HOW_NONE, "gfx_xnack" },
	{ "gfx9-generic", "gfx908:xnack-", NO, DEC_HOW_NONE, "generic_other" },
	{ "gfx9-generic", "gfx90a:xnack-", NO, DEC_HOW_NONE, "generic_other" },
	{ "gfx9-generic", "gfx942:xnack-", NO, DEC_HOW_NONE, "generic_other" },
	{ "gfx9-4-generic", "gfx942:xnack-", YES, DEC_HOW_GENERIC, "generic" },
	{ "gfx9-4-generic", "gfx950:xnack+", YES, DEC_HOW_GENERIC, "generic" },
	{ "gfx9-4-generic:xnack-", "gfx950:xnack+", NO, DEC_HOW_NONE, "gfx_xnack" },
	{ "gfx9-4-generic:sramecc+", "gfx942:xnack-", YES, DEC_HOW_GENERIC, "generic" },
	{ "gfx9-4-generic", "gfx90a:xnack-", NO, DEC_HOW_NONE, "generic_other" },
	{ "gfx10-1-generic", "gfx1010", YES, DEC_HOW_GENERIC, "generic" },
	{ "gfx10-1-generic", "gfx1013", YES, DEC_HOW_GENERIC, "generic" },
	{ "gfx10-1-generic", "gfx1030", NO, DEC_HOW_NONE, "generic_other" },
	{ "gfx10-3-generic", "gfx1030", YES, DEC_HOW_GENERIC, "generic" },
	{ "gfx10-3-generic", "gfx1031", YES, DEC_HOW_GENERIC, "generic" },
	{ "gfx10-3-generic", "gfx1036", YES, DEC_HOW_GENERIC, "generic" },
	{ "gfx11-generic", "gfx1100", YES, DEC_HOW_GENERIC, "generic" },
	{ "gfx11-generic", "gfx1103", YES, DEC_HOW_GENERIC, "generic" },
	{ "gfx11-generic", "gfx1151", YES, DEC_HOW_GENERIC, "generic" },
	{ "gfx11-generic", "gfx1153", YES, DEC_HOW_GENERIC, "generic" },
	{ "gfx11-generic", "gfx1201", NO, DEC_HOW_NONE, "generic_other" },
	{ "gfx12-generic", "gfx1200", YES, DEC_HOW_GENERIC, "generic" },
	{ "gfx12-generic", "gfx1201", YES, DEC_HOW_GENERIC, "generic" },
	{ "gfx12-generic", "gfx1250", NO, DEC_HOW_NONE, "generic_other" },

	/* rule 1: what only the compiler knows, what the runtimes forgot */
	{ "gfx1154", "gfx1154", UNKNOWN, DEC_HOW_NONE, "gfx_llvm_only" },
	{ "gfx11-generic", "gfx1154", UNKNOWN, DEC_HOW_NONE, "gfx_llvm_only" },
	{ "gfx1170", "gfx1170", UNKNOWN, DEC_HOW_NONE, "gfx_llvm_only" },
	{ "gfx11-7-generic", "gfx1172", UNKNOWN, DEC_HOW_NONE, "gfx_llvm_only" },
	{ "gfx1250", "gfx1250", UNKNOWN, DEC_HOW_NONE, "gfx_llvm_only" },
	{ "gfx1250:xnack+", "gfx1250", UNKNOWN, DEC_HOW_NONE, "gfx_llvm_only" },
	{ "gfx12-5-generic", "gfx1251", UNKNOWN, DEC_HOW_NONE, "gfx_llvm_only" },
	{ "gfx1310", "gfx1310", UNKNOWN, DEC_HOW_NONE, "gfx_llvm_only" },
	{ "gfx13-generic", "gfx1310", UNKNOWN, DEC_HOW_NONE, "gfx_llvm_only" },
	{ "gfx1201", "gfx1250", NO, DEC_HOW_NONE, "gfx_other" },
	{ "gfx940", "gfx940", NO, DEC_HOW_NONE, "gfx_dropped" },
	{ "gfx941", "gfx941", NO, DEC_HOW_NONE, "gfx_dropped" },
	{ "gfx940", "gfx942:xnack-", NO, DEC_HOW_NONE, "gfx_other" },
	{ "gfx9-4-generic", "gfx940", NO, DEC_HOW_NONE, "generic_other" },

	/* SPIR-V */
	{ "amdgcnspirv", "gfx1100", JIT, DEC_HOW_SPIRV, "spirv" },
	{ "amdgcnspirv", "gfx1250", UNKNOWN, DEC_HOW_NONE, "gfx_llvm_only" },
	{ "amdgcnspirv", "gfx941", NO, DEC_HOW_NONE, "gfx_dropped" },
};

static void check_gfx(void **state)
{
	check_target(*state, DEC_KIND_CODE_OBJECT);
}

/* ---- kinds ---------------------------------------------------------------------------------------- */

struct kind_case {
	const char *name; /* the device */
	enum dec_kind kind;
	const char *target;
	enum dec_verdict verdict;
	const char *reason;
	bool linked;
};

static const struct kind_case kinds[] = {
	{ "sm_90", DEC_KIND_LTO_IR, "lto_90", NO, "lto_ir", true },
	{ "sm_90", DEC_KIND_RELOCATABLE_PTX, "compute_90", NO, "ptx_relocatable", true },
	{ "sm_90", DEC_KIND_BITCODE, "sm_90", NO, "bitcode", true },
	{ "sm_90", DEC_KIND_TILE_IR, "compute_80", MAYBE, "tile_ir", false },
	{ "sm_90", DEC_KIND_TILE_IR, "compute_100", NO, "ptx_higher", false },
	{ "sm_90", DEC_KIND_OBJECT, "sm_90", YES, "sm_exact", false },
	{ "sm_90", DEC_KIND_UNKNOWN, "sm_90", UNKNOWN, "kind_unknown", false },
	{ "gfx1100", DEC_KIND_BITCODE, "gfx1100", NO, "bitcode", true },
	{ "gfx1100", DEC_KIND_OBJECT, "gfx1100", YES, "gfx_exact", false },
	{ "gfx1100", DEC_KIND_SPIRV, "amdgcnspirv", JIT, "spirv", false },
	{ "gfx1100", DEC_KIND_UNKNOWN, "gfx1100", UNKNOWN, "kind_unknown", false },
};

static void check_kind(void **state)
{
	const struct kind_case *c = *state;
	struct dec_object_verdict v = dec_judge_target(device(c->name), c->kind, c->target);

	assert_string_equal(dec_verdict_word(v.verdict), dec_verdict_word(c->verdict));
	assert_string_equal(dec_reason_word(v.reason), c->reason);
	assert_int_equal(v.linked, c->linked);
}

/* ---- PTX versions ------------------------------------------------------------------------------------ */

struct ptx_case {
	const char *name; /* CUDA */
	uint32_t major, minor, driver;
};

static const struct ptx_case ptx_versions[] = {
	{ "8.0", 5, 0, 367 },	     { "9.0", 6, 0, 384 },  { "9.1", 6, 1, 390 },
	{ "9.2", 6, 2, 396 },	     { "10.0", 6, 3, 410 }, { "10.1", 6, 4, 418 },
	{ "10.2", 6, 5, 440 },	     { "11.0", 7, 0, 450 }, { "11.1", 7, 1, 455 },
	{ "11.2", 7, 2, 460 },	     { "11.3", 7, 3, 465 }, { "11.4", 7, 4, 470 },
	{ "11.5", 7, 5, 495 },	     { "11.6", 7, 6, 510 }, { "11.7", 7, 7, 515 },
	{ "11.8", 7, 8, 520 },	     { "12.0", 8, 0, 525 }, { "12.1", 8, 1, 530 },
	{ "12.2", 8, 2, 535 },	     { "12.3", 8, 3, 545 }, { "12.4", 8, 4, 550 },
	{ "12.5, 12.6", 8, 5, 555 }, { "12.7", 8, 6, 565 }, { "12.8", 8, 7, 570 },
	{ "12.9", 8, 8, 575 },	     { "13.0", 9, 0, 580 }, { "13.1", 9, 1, 590 },
	{ "13.2", 9, 2, 595 },	     { "13.3", 9, 3, 610 }, { "13.4", 9, 4, 616 },
	{ "13.5", 9, 5, 0 },
};

static void check_ptx_version(void **state)
{
	const struct ptx_case *c = *state;
	const struct dec_ptx_version *v = dec_ptx_version(c->major, c->minor);

	assert_non_null(v);
	assert_int_equal(v->major, c->major);
	assert_int_equal(v->minor, c->minor);
	assert_int_equal(v->driver, c->driver);
	assert_string_equal(v->cuda, c->name);
}

static const struct ptx_case ptx_firsts[] = {
	{ "60", 5, 0, 0 },   { "61", 5, 0, 0 },	  { "62", 5, 0, 0 },   { "70", 6, 0, 0 },
	{ "72", 6, 1, 0 },   { "75", 6, 3, 0 },	  { "80", 7, 0, 0 },   { "86", 7, 1, 0 },
	{ "87", 7, 4, 0 },   { "89", 7, 8, 0 },	  { "90", 7, 8, 0 },   { "90a", 8, 0, 0 },
	{ "100", 8, 6, 0 },  { "100a", 8, 6, 0 }, { "100f", 8, 8, 0 }, { "101", 8, 6, 0 },
	{ "101a", 8, 6, 0 }, { "101f", 8, 8, 0 }, { "120", 8, 7, 0 },  { "120a", 8, 7, 0 },
	{ "120f", 8, 8, 0 }, { "103", 8, 8, 0 },  { "103a", 8, 8, 0 }, { "103f", 8, 8, 0 },
	{ "121", 8, 8, 0 },  { "121a", 8, 8, 0 }, { "121f", 8, 8, 0 }, { "88", 9, 0, 0 },
	{ "110", 9, 0, 0 },  { "110a", 9, 0, 0 }, { "110f", 9, 0, 0 }, { "107", 9, 4, 0 },
	{ "107a", 9, 4, 0 }, { "107f", 9, 4, 0 },
};

static void check_ptx_first(void **state)
{
	const struct ptx_case *c = *state;
	unsigned sm = 0;
	char variant = 0;
	const struct dec_ptx_version *v;

	sscanf(c->name, "%u%c", &sm, &variant);
	v = dec_ptx_first(sm, variant);
	assert_non_null(v);
	assert_int_equal(v->major, c->major);
	assert_int_equal(v->minor, c->minor);
}

static void versions_that_are_not_known(void **state)
{
	(void)state;
	assert_null(dec_ptx_version(9, 9));
	assert_null(dec_ptx_version(4, 0));
	assert_null(dec_ptx_version(0, 0));
	assert_null(dec_ptx_first(90, 'f'));
	assert_null(dec_ptx_first(30, 0));
	assert_null(dec_ptx_first(0, 0));
}

static void toolkits(void **state)
{
	(void)state;
	assert_int_equal(dec_toolkit(11)->lowest_sm, 35);
	assert_int_equal(dec_toolkit(12)->lowest_sm, 50);
	assert_int_equal(dec_toolkit(13)->lowest_sm, 75);
	assert_int_equal(dec_toolkit(11)->driver, 450);
	assert_int_equal(dec_toolkit(12)->driver, 525);
	assert_int_equal(dec_toolkit(13)->driver, 580);
	assert_null(dec_toolkit(14));
}

/* ---- the table ------------------------------------------------------------------------------------------ */

static bool listed(unsigned sm, const unsigned *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == sm)
			return true;
	return false;
}

/* Which numbers are Tegra's, and which drivers forgot a device. */
static void nvidia_devices(void **state)
{
	static const unsigned tegra[] = { 32, 53, 62, 72, 87, 110 };
	static const unsigned until_470[] = { 30, 35, 37 };
	static const unsigned until_580[] = { 50, 52, 60, 61, 70 };
	unsigned seen = 0, last = 0;

	(void)state;
	for (uint32_t i = 0; i < dec_device_count(); i++) {
		const struct dec_device *d = dec_device_at(i);
		unsigned driver = listed(d->sm, until_470, COUNT(until_470))   ? 470
				  : listed(d->sm, until_580, COUNT(until_580)) ? 580
									       : 0;
		char name[16];

		if (d->vendor != DEC_VENDOR_NVIDIA)
			continue;
		snprintf(name, sizeof(name), "sm_%u", d->sm);
		assert_string_equal(d->name, name);
		assert_true(d->sm > last);
		assert_int_equal(d->tegra, listed(d->sm, tegra, COUNT(tegra)));
		assert_int_equal(d->unsettled, d->sm == 88);
		assert_int_equal(d->last_driver, driver);
		last = d->sm;
		seen++;
	}
	assert_int_equal(seen, 27);
}

/* Every device has one name and is found by it; every architecture has one usual setting. */
static void names_are_unique(void **state)
{
	uint32_t count = dec_device_count();

	(void)state;
	assert_null(dec_device_at(count));
	assert_null(dec_device_named("sm_101"));
	for (uint32_t i = 0; i < count; i++) {
		const struct dec_device *d = dec_device_at(i);
		unsigned usual = 0;

		assert_ptr_equal(dec_device_named(d->name), d);
		for (uint32_t k = 0; k < count; k++)
			usual += dec_device_at(k)->usual &&
				 strcmp(dec_device_at(k)->architecture, d->architecture) == 0;
		assert_int_equal(usual, 1);
		assert_null(strchr(d->name, '/'));
	}
}

/* An object that names its device in full is taken by it, if anything is known of it. */
static void a_device_takes_its_own(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < dec_device_count(); i++) {
		const struct dec_device *d = dec_device_at(i);
		bool amd = d->vendor == DEC_VENDOR_AMD;
		struct dec_object_verdict v =
			dec_judge_target(d, amd ? DEC_KIND_CODE_OBJECT : DEC_KIND_CUBIN, d->name);

		if (v.verdict != DEC_VERDICT_YES && v.reason != DEC_REASON_GFX_DROPPED &&
		    v.reason != DEC_REASON_GFX_LLVM_ONLY)
			fail_msg("%s: %s", d->name, dec_reason_word(v.reason));
	}
}

struct family_case {
	const char *name; /* the device */
	const char *family;
};

static const struct family_case families[] = {
	{ "sm_70", "Volta" },	       { "sm_75", "Turing" },	{ "sm_87", "Ampere" },
	{ "sm_89", "Ada Lovelace" },   { "sm_90", "Hopper" },	{ "sm_121", "Blackwell" },
	{ "gfx90a:xnack-", "CDNA 2" }, { "gfx1201", "RDNA 4" }, { "gfx900", "GCN 5" },
	{ "gfx1151", "RDNA 3.5" },
};

static void check_family(void **state)
{
	const struct family_case *c = *state;

	assert_string_equal(dec_device_family(device(c->name)), c->family);
}

/* Words are stable and sentences are there: programs and people read them. */
static void every_reason_speaks(void **state)
{
	(void)state;
	for (unsigned i = 0; strcmp(dec_reason_word((enum dec_reason)i), "?") != 0; i++) {
		const char *word = dec_reason_word((enum dec_reason)i);

		assert_int_equal(strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_"),
				 strlen(word));
		assert_true(strlen(dec_reason_sentence((enum dec_reason)i)) > 10);
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(dec_reason_word((enum dec_reason)k), word);
	}
	assert_string_equal(dec_reason_word((enum dec_reason)9999), "?");
	assert_string_equal(dec_reason_sentence((enum dec_reason)9999), "?");
	assert_string_equal(dec_reason_word(DEC_REASON_INCOMPLETE), "incomplete");
	assert_string_equal(dec_verdict_word((enum dec_verdict)99), "?");
	assert_string_equal(dec_outcome_word(DEC_OUTCOME_PARTIAL), "partial");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_that_are_not_known),
		cmocka_unit_test(toolkits),
		cmocka_unit_test(nvidia_devices),
		cmocka_unit_test(names_are_unique),
		cmocka_unit_test(a_device_takes_its_own),
		cmocka_unit_test(every_reason_speaks),
	};

	return RUN_ROWS(matrix, check_matrix) + RUN_ROWS(cubins, check_cubin) +
	       RUN_ROWS(ptxs, check_ptx) + RUN_ROWS(gfxs, check_gfx) + RUN_ROWS(kinds, check_kind) +
	       RUN_ROWS(ptx_versions, check_ptx_version) + RUN_ROWS(ptx_firsts, check_ptx_first) +
	       RUN_ROWS(families, check_family) + cmocka_run_group_tests(tests, NULL, NULL);
}
