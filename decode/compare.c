/*
 * What an inventory declares against what a payload says of itself. docs/formats/targets.md,
 * "Comparing".
 */
#include "inspect.h"
#include "target_profile.h"

/* The first architecture with an 'f' variant. */
#define FIRST_WITH_FAMILY 100

static enum dec_consistency compare_nvidia(const struct dec_profile *declared,
					   const struct dec_profile *observed,
					   enum dec_evidence evidence)
{
	if (declared->sm != observed->sm)
		return DEC_CONSISTENCY_CONFLICT;
	if (evidence == DEC_EVIDENCE_CUBIN_FLAGS)
		return DEC_CONSISTENCY_BASE_ONLY;
	/* The attribute says 'a' or not; what is not can be plain or 'f'. */
	if (evidence == DEC_EVIDENCE_CUBIN_COMPAT && !observed->variant &&
	    observed->sm >= FIRST_WITH_FAMILY)
		return declared->variant == 'a' ? DEC_CONSISTENCY_CONFLICT
						: DEC_CONSISTENCY_BASE_ONLY;
	return declared->variant == observed->variant ? DEC_CONSISTENCY_MATCH
						      : DEC_CONSISTENCY_CONFLICT;
}

static enum dec_consistency compare_feature(char declared, char observed)
{
	if (declared == observed)
		return DEC_CONSISTENCY_MATCH;
	return declared && observed ? DEC_CONSISTENCY_CONFLICT : DEC_CONSISTENCY_UNKNOWN;
}

static enum dec_consistency compare_amd(const struct dec_profile *declared,
					const struct dec_profile *observed)
{
	enum dec_consistency sramecc = compare_feature(declared->sramecc, observed->sramecc);
	enum dec_consistency xnack = compare_feature(declared->xnack, observed->xnack);

	if (strcmp(declared->base, observed->base) != 0)
		return DEC_CONSISTENCY_CONFLICT;
	if (sramecc == DEC_CONSISTENCY_CONFLICT || xnack == DEC_CONSISTENCY_CONFLICT)
		return DEC_CONSISTENCY_CONFLICT;
	if (declared->odd || observed->odd)
		return DEC_CONSISTENCY_UNKNOWN;
	return sramecc == DEC_CONSISTENCY_MATCH ? xnack : sramecc;
}

enum dec_consistency dec_compare_targets(enum dec_target_kind kind, const char *declared,
					 enum dec_evidence evidence, const char *observed)
{
	struct dec_profile d = dec_profile_of(declared), o = dec_profile_of(observed);

	if (!d.known && !o.known)
		return DEC_CONSISTENCY_UNKNOWN;
	/* What is declared for a file of its own was read from that same payload. */
	if (kind == DEC_TARGET_STANDALONE || !d.known)
		return DEC_CONSISTENCY_SINGLE_SOURCE;
	/* The payload should have said it too, but could not be asked. */
	if (!o.known || d.vendor == DEC_VENDOR_OTHER || o.vendor == DEC_VENDOR_OTHER)
		return DEC_CONSISTENCY_UNKNOWN;
	if (d.vendor != o.vendor)
		return DEC_CONSISTENCY_CONFLICT;
	return d.vendor == DEC_VENDOR_NVIDIA ? compare_nvidia(&d, &o, evidence)
					     : compare_amd(&d, &o);
}
