/*
 * What an inventory declares against what a payload says of itself. docs/formats/targets.md,
 * "Comparing".
 */
#include "inspect.h"
#include "internal.h"

#include <stdio.h>

/* One target, taken apart: processor and features, or SM number and variant. */
struct profile {
	bool known;
	enum dec_vendor vendor;
	char base[DEC_ENTRY_ID_MAX + 32];
	uint32_t sm;
	char variant; /* NVIDIA: 'a', 'f', 0: plain */
	char sramecc, xnack; /* AMD: '+', '-', 0: not stated */
	bool odd; /* AMD: has features that are not known */
};

/* ---- normalising --------------------------------------------------------------------------- */

static bool starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* True if text begins with one of the words and a hyphen lies behind it. */
static bool begins_with_one(const char *text, const char *const *words, size_t count, bool exact)
{
	const char *hyphen = strchr(text, '-');

	for (size_t i = 0; hyphen && i < count; i++)
		if (starts(text, words[i]) &&
		    (!exact || strlen(words[i]) == (size_t)(hyphen - text)))
			return true;
	return false;
}

static const char *const entry_kinds[] = {
	"hip", "hipv4", "hcc", "openmp", "sycl", "cuda", "host"
};
static const char *const triple_heads[] = { "amdgcn", "amdgpu", "r600", "spirv", "nvptx" };

static bool is_entry_id(const char *text)
{
	return begins_with_one(text, entry_kinds, sizeof(entry_kinds) / sizeof(entry_kinds[0]),
			       true);
}

static bool is_triple(const char *text)
{
	return begins_with_one(text, triple_heads, sizeof(triple_heads) / sizeof(triple_heads[0]),
			       false);
}

/* "gfx906+xnack+sram-ecc" of code object V2 and V3 as "gfx906:xnack+:sramecc+". */
static void modern_features(const char *text, char *out, size_t size)
{
	static const struct {
		const char *old, *now;
	} features[] = {
		{ "+xnack", ":xnack+" },
		{ "+sramecc", ":sramecc+" },
		{ "+sram-ecc", ":sramecc+" },
	};
	size_t used = 0;

	while (*text && used < size - 1) {
		size_t i = 0, count = sizeof(features) / sizeof(features[0]);

		while (i < count && !starts(text, features[i].old))
			i++;
		if (i < count) {
			used += (size_t)snprintf(out + used, size - used, "%s", features[i].now);
			text += strlen(features[i].old);
		} else {
			out[used++] = *text++;
		}
	}
	out[used < size ? used : size - 1] = 0;
}

static void normalise(const char *text, struct dec_declared *d)
{
	char modern[DEC_ENTRY_ID_MAX + 32];

	modern_features(text, modern, sizeof(modern));
	if (is_entry_id(modern))
		dec_declare_bundle_id(d, modern, strlen(modern));
	else if (is_triple(modern))
		dec_declare_isa_name(d, modern, strlen(modern));
	else
		dec_declare_offload(d, "amdgcn", modern);
}

/* "sm_90a", "compute_90a", "lto_90a": the prefix says what the code is, not for what. */
static bool read_sm(const char *name, struct profile *p)
{
	static const char *const prefixes[] = { "sm_", "compute_", "lto_" };
	const char *digits = NULL;
	size_t len, variant;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (starts(name, prefixes[i]))
			digits = name + strlen(prefixes[i]);
	if (!digits)
		return false;
	len = strspn(digits, "0123456789");
	variant = strlen(digits + len);
	if (len == 0 || len > 8 || variant > 1 || (variant && !strchr("af", digits[len])))
		return false;
	for (size_t i = 0; i < len; i++)
		p->sm = p->sm * 10 + (uint32_t)(digits[i] - '0');
	p->variant = digits[len];
	p->vendor = DEC_VENDOR_NVIDIA;
	return true;
}

/* ":sramecc+:xnack-", in the order and the spelling that normalising gives. */
static void read_features(const char *features, struct profile *p)
{
	while (*features == ':') {
		size_t len = strcspn(++features, ":");
		char sign = len ? features[len - 1] : 0;

		if (starts(features, "sramecc") && len == strlen("sramecc+"))
			p->sramecc = sign;
		else if (starts(features, "xnack") && len == strlen("xnack+"))
			p->xnack = sign;
		else
			p->odd = true;
		features += len;
	}
}

static struct profile profile_of(const char *text)
{
	struct profile p = { 0 };
	struct dec_declared d;

	if (!*text)
		return p;
	normalise(text, &d);
	p.known = d.name[0] != 0;
	if (!p.known || read_sm(d.name, &p))
		return p;
	p.vendor = d.class == DEC_CLASS_OTHER || d.class == DEC_CLASS_SM ? DEC_VENDOR_OTHER
									 : DEC_VENDOR_AMD;
	snprintf(p.base, sizeof(p.base), "%.*s", (int)strcspn(d.name, ":"), d.name);
	read_features(d.name + strlen(p.base), &p);
	return p;
}

/* ---- comparing ----------------------------------------------------------------------------- */

/* The first architecture with an 'f' variant. */
#define FIRST_WITH_FAMILY 100

static enum dec_consistency compare_nvidia(const struct profile *declared,
					   const struct profile *observed,
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

static enum dec_consistency compare_amd(const struct profile *declared,
					const struct profile *observed)
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
	struct profile d = profile_of(declared), o = profile_of(observed);

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
