/* Targets taken apart. docs/formats/targets.md, "Comparing". */
#include "target_profile.h"

#include <stdio.h>

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
static bool read_sm(const char *name, struct dec_profile *p)
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
	p->class = DEC_CLASS_SM;
	return true;
}

/* ":sramecc+:xnack-", in the order and the spelling that normalising gives. */
static void read_features(const char *features, struct dec_profile *p)
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

struct dec_profile dec_profile_of(const char *text)
{
	struct dec_profile p = { 0 };
	struct dec_declared d;

	if (!*text)
		return p;
	normalise(text, &d);
	p.known = d.name[0] != 0;
	p.class = d.class;
	if (!p.known || read_sm(d.name, &p))
		return p;
	p.vendor = d.class == DEC_CLASS_OTHER || d.class == DEC_CLASS_SM ? DEC_VENDOR_OTHER
									 : DEC_VENDOR_AMD;
	snprintf(p.base, sizeof(p.base), "%.*s", (int)strcspn(d.name, ":"), d.name);
	read_features(d.name + strlen(p.base), &p);
	return p;
}
