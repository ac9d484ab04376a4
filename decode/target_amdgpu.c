/*
 * AMDGPU targets in their four spellings: bundle entry ids and ISA names (amdgpu triples
 * with a target id), e_flags, and the ISA version of old notes. docs/formats/targets.md.
 */
#include "internal.h"

#include <elf.h>
#include <stdio.h>

enum { MACH_XNACK = 1, MACH_SRAMECC = 2 };

static const struct mach_row {
	uint8_t mach;
	const char *processor;
	unsigned features;
} machs[] = {
#define X(mach, processor, features) { mach, processor, features },
#include "amdgpu_mach.def"
#undef X
};

static const struct {
	const char *subarch, *processor;
} subarchs[] = {
#define X(subarch, processor) { subarch, processor },
#include "amdgpu_subarch.def"
#undef X
};

static const struct {
	const char *pattern, *family;
} families[] = {
#define X(pattern, family) { pattern, family },
#include "gfx_families.def"
#undef X
};

/* Bytes by pointer and length; never NULL. */
struct text {
	const char *p;
	size_t len;
};

static bool starts(struct text t, const char *prefix)
{
	return t.len >= strlen(prefix) && memcmp(t.p, prefix, strlen(prefix)) == 0;
}

static bool equals(struct text t, const char *word)
{
	return t.len == strlen(word) && starts(t, word);
}

static bool ends(struct text t, const char *suffix)
{
	size_t len = strlen(suffix);

	return t.len >= len && memcmp(t.p + t.len - len, suffix, len) == 0;
}

/* Cuts at the first separator; the rest is empty when there is none. */
static struct text split(struct text *rest, char separator)
{
	const char *at = rest->len ? memchr(rest->p, separator, rest->len) : NULL;
	struct text head = *rest;

	if (!at) {
		rest->p += rest->len;
		rest->len = 0;
		return head;
	}
	head.len = (size_t)(at - rest->p);
	rest->p = at + 1;
	rest->len -= head.len + 1;
	return head;
}

static void append(struct dec_declared *d, struct text t)
{
	size_t used = strlen(d->name);

	snprintf(d->name + used, sizeof(d->name) - used, "%.*s", (int)t.len, t.p);
}

static const char *family_of(struct text processor)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		size_t len = strlen(families[i].pattern);
		bool prefix = families[i].pattern[len - 1] == '*';

		if (prefix ? processor.len >= len - 1 &&
				     memcmp(processor.p, families[i].pattern, len - 1) == 0
			   : equals(processor, families[i].pattern))
			return families[i].family;
	}
	return NULL;
}

static void classify(struct dec_declared *d, struct text processor)
{
	d->family = family_of(processor);
	d->class = DEC_CLASS_GFX;
	if (equals(processor, "amdgcnspirv"))
		d->class = DEC_CLASS_SPIRV;
	else if (ends(processor, "-generic"))
		d->class = DEC_CLASS_GFX_GENERIC;
	else if (starts(processor, "sm_"))
		d->class = DEC_CLASS_SM;
	else if (!starts(processor, "gfx") && !d->family)
		d->class = DEC_CLASS_OTHER;
}

/* ---- target ids ------------------------------------------------------------------- */

/* "xnack+" of "gfx90a:xnack+"; also "+xnack" of the old spelling without a colon. */
struct features {
	char sramecc, xnack; /* '+', '-', 0: not stated */
};

static char *feature_slot(struct features *f, struct text name)
{
	if (equals(name, "xnack"))
		return &f->xnack;
	return equals(name, "sramecc") ? &f->sramecc : NULL;
}

static bool feature_take(struct features *f, struct text t)
{
	char sign = t.len ? t.p[t.len - 1] : 0;
	char *slot = feature_slot(f, (struct text){ t.p, t.len ? t.len - 1 : 0 });

	if (!slot || *slot || (sign != '+' && sign != '-'))
		return false;
	*slot = sign;
	return true;
}

static void append_feature(struct dec_declared *d, const char *name, char sign)
{
	size_t used = strlen(d->name);

	if (sign)
		snprintf(d->name + used, sizeof(d->name) - used, ":%s%c", name, sign);
}

/* "gfx906+xnack+sramecc": every feature that is named is on. */
static bool features_old(struct features *f, struct text *processor)
{
	struct text rest = *processor;
	bool known = true;

	*processor = split(&rest, '+');
	while (known && rest.len) {
		struct text name = split(&rest, '+');
		char *slot = feature_slot(f, name);

		known = slot && !*slot;
		if (known)
			*slot = '+';
	}
	return known;
}

/* Canonical order; features that are not known keep their spelling. */
static void declare_target_id(struct dec_declared *d, struct text id, struct text processor)
{
	struct features f = { 0 };
	struct text rest = id, features;
	bool known;

	split(&rest, ':');
	features = rest;
	known = features_old(&f, &processor);
	while (known && rest.len)
		known = feature_take(&f, split(&rest, ':'));
	append(d, processor);
	if (known) {
		append_feature(d, "sramecc", f.sramecc);
		append_feature(d, "xnack", f.xnack);
	} else if (features.len) {
		append(d, (struct text){ ":", 1 });
		append(d, features);
	}
	classify(d, processor);
}

static struct text subarch_processor(struct text arch)
{
	struct text sub = { arch.p + strlen("amdgpu"), arch.len - strlen("amdgpu") };

	for (size_t i = 0; i < sizeof(subarchs) / sizeof(subarchs[0]); i++)
		if (equals(sub, subarchs[i].subarch))
			return (struct text){ subarchs[i].processor,
					      strlen(subarchs[i].processor) };
	return (struct text){ "", 0 };
}

static enum dec_vendor vendor_of(struct text arch)
{
	static const struct {
		const char *prefix;
		enum dec_vendor vendor;
	} rows[] = {
		{ "amd", DEC_VENDOR_AMD },
		{ "r600", DEC_VENDOR_AMD },
		{ "spirv64-amd", DEC_VENDOR_AMD },
		{ "nvptx", DEC_VENDOR_NVIDIA },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (starts(arch, rows[i].prefix))
			return rows[i].vendor;
	return DEC_VENDOR_OTHER;
}

/* Triple and target id, "<arch>-<vendor>-<os>-<environment>[-<target id>]". */
static struct text declare_triple(struct dec_declared *d, struct text triple)
{
	struct text rest = triple, arch = split(&rest, '-'), id, processor;
	struct text environment;

	split(&rest, '-'); /* vendor */
	split(&rest, '-'); /* operating system */
	id = rest; /* early ROCm wrote the processor where the environment belongs */
	environment = split(&rest, '-');
	if (!starts(environment, "gfx"))
		id = rest;
	d->vendor = vendor_of(triple);
	rest = id;
	processor = split(&rest, ':');
	if (processor.len == 0 && starts(arch, "amdgpu"))
		processor = subarch_processor(arch);
	if (processor.len)
		declare_target_id(d, id, processor);
	return arch;
}

enum dec_kind dec_declare_bundle_id(struct dec_declared *d, const char *id, size_t len)
{
	struct text rest = { id, len }, kind = split(&rest, '-'), arch;

	*d = (struct dec_declared){ .vendor = DEC_VENDOR_OTHER };
	if (equals(kind, "host"))
		return DEC_KIND_HOST;
	arch = declare_triple(d, rest);
	if (starts(arch, "spirv"))
		return DEC_KIND_SPIRV;
	return d->vendor == DEC_VENDOR_AMD ? DEC_KIND_CODE_OBJECT : DEC_KIND_UNKNOWN;
}

void dec_declare_offload(struct dec_declared *d, const char *triple, const char *arch)
{
	struct text id = { arch, strlen(arch) }, rest = id;
	struct text processor = split(&rest, ':');

	*d = (struct dec_declared){ .vendor = vendor_of((struct text){ triple, strlen(triple) }) };
	if (processor.len)
		declare_target_id(d, id, processor);
}

void dec_declare_isa_name(struct dec_declared *d, const char *name, size_t len)
{
	*d = (struct dec_declared){ .vendor = DEC_VENDOR_AMD };
	declare_triple(d, (struct text){ name, len });
	d->vendor = DEC_VENDOR_AMD;
}

/* ---- ELF header flags ------------------------------------------------------------------ */

enum {
	OSABI_AMDHSA = 64,
	ABI_V3 = 1,
	ABI_V4 = 2,
};

static const struct mach_row *mach_find(uint32_t flags)
{
	for (size_t i = 0; i < sizeof(machs) / sizeof(machs[0]); i++)
		if (machs[i].mach == (flags & 0xff))
			return &machs[i];
	return NULL;
}

/* V4 and later: 0 not supported, 1 any, 2 off, 3 on. */
static char v4_sign(uint32_t value)
{
	return value == 2 ? '-' : value == 3 ? '+' : 0;
}

void dec_declare_amdgpu_flags(struct dec_declared *d, uint32_t flags, uint8_t osabi,
			      uint8_t abiversion)
{
	const struct mach_row *row = mach_find(flags);
	bool hsa = osabi == OSABI_AMDHSA;
	struct text processor;

	*d = (struct dec_declared){ .vendor = DEC_VENDOR_AMD };
	if (!row)
		return;
	processor = (struct text){ row->processor, strlen(row->processor) };
	append(d, processor);
	classify(d, processor);
	if (hsa && abiversion >= ABI_V4) {
		append_feature(d, "sramecc", v4_sign(flags >> 10 & 3));
		append_feature(d, "xnack", v4_sign(flags >> 8 & 3));
	} else if (hsa && abiversion == ABI_V3) {
		if (row->features & MACH_SRAMECC)
			append_feature(d, "sramecc", flags & 0x200 ? '+' : '-');
		if (row->features & MACH_XNACK)
			append_feature(d, "xnack", flags & 0x100 ? '+' : '-');
	}
}

/* ---- ISA version of code object V1 and V2 ------------------------------------------------- */

static const struct {
	uint32_t major, minor, stepping;
	const char *target;
} isa_versions[] = {
#define X(major, minor, stepping, target) { major, minor, stepping, target },
#include "isa_versions.def"
#undef X
};

void dec_declare_isa_version(struct dec_declared *d, uint32_t major, uint32_t minor,
			     uint32_t stepping)
{
	*d = (struct dec_declared){ .vendor = DEC_VENDOR_AMD };
	for (size_t i = 0; i < sizeof(isa_versions) / sizeof(isa_versions[0]); i++) {
		struct text id = { isa_versions[i].target, strlen(isa_versions[i].target) };
		struct text rest = id;

		if (isa_versions[i].major == major && isa_versions[i].minor == minor &&
		    isa_versions[i].stepping == stepping)
			declare_target_id(d, id, split(&rest, ':'));
	}
}
