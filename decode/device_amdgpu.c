/* Which AMD device takes which code object. docs/devices.md, "AMD". */
#include "device_rules.h"

#include <elf.h>
#include <stdio.h>

enum {
	HEADER_SEARCHED = 4096, /* bytes of a plain bundle in which HIP looks for its entries */
	OSABI_AMDHSA = 64,
	ABI_V4 = 2, /* EI_ABIVERSION */
	ABI_V6 = 4,
};

static struct dec_object_verdict unknown(enum dec_reason reason)
{
	return dec_say(DEC_VERDICT_UNKNOWN, DEC_HOW_NONE, reason);
}

/* ---- generics -------------------------------------------------------------------------- */

#define PLAIN false
#define SRAMECC true
static const struct generic_row {
	const char *generic, *member;
	bool sramecc; /* targets of the generic can state it */
} generics[] = {
#define X(generic, member, version, sramecc) { generic, member, sramecc },
#include "device_generics.def"
#undef X
};
#undef SRAMECC
#undef PLAIN

/* The version of a generic object is in its payload, which is not read here. */
#define X(generic, member, version, sramecc)                                                       \
	_Static_assert((version) == 1, generic " covers " member " from a version on that only "   \
					       "the payload tells");
#include "device_generics.def"
#undef X

static const struct generic_row *generic_find(const char *generic, const char *member)
{
	for (size_t i = 0; i < sizeof(generics) / sizeof(generics[0]); i++)
		if (strcmp(generics[i].generic, generic) == 0 &&
		    strcmp(generics[i].member, member) == 0)
			return &generics[i];
	return NULL;
}

const char *dec_generic_member(const char *generic, uint32_t index)
{
	for (size_t i = 0; i < sizeof(generics) / sizeof(generics[0]); i++)
		if (strcmp(generics[i].generic, generic) == 0 && index-- == 0)
			return generics[i].member;
	return NULL;
}

/* ---- one target --------------------------------------------------------------------------- */

/* Code for another processor, which some users have run all the same: never a yes. */
static enum dec_reason other_processor(const char *device, const char *object)
{
	static const struct {
		const char *device, *reported;
	} overrides[] = {
#define X(device, reported) { device, reported },
#include "device_overrides.def"
#undef X
	};

	for (size_t i = 0; i < sizeof(overrides) / sizeof(overrides[0]); i++)
		if (strcmp(overrides[i].device, device) == 0 &&
		    strcmp(overrides[i].reported, object) == 0)
			return DEC_REASON_GFX_OVERRIDE;
	return DEC_REASON_GFX_OTHER;
}

/* Whether the processor fits, whatever the features. */
static struct dec_object_verdict judge_processor(const struct dec_device *device,
						 const struct dec_profile *p)
{
	const struct generic_row *row;

	if (p->class != DEC_CLASS_GFX_GENERIC)
		return strcmp(p->base, device->architecture) == 0
			       ? dec_say(DEC_VERDICT_YES, DEC_HOW_EXACT, DEC_REASON_GFX_EXACT)
			       : dec_say_no(other_processor(device->architecture, p->base));
	row = generic_find(p->base, device->architecture);
	if (!row)
		return dec_say_no(DEC_REASON_GENERIC_OTHER);
	if (device->sramecc && !row->sramecc)
		return dec_say(DEC_VERDICT_MAYBE, DEC_HOW_GENERIC, DEC_REASON_GENERIC_SRAMECC);
	return dec_say(DEC_VERDICT_YES, DEC_HOW_GENERIC, DEC_REASON_GENERIC);
}

/* An object that does not state a feature runs under any setting of it. */
static void judge_feature(struct dec_object_verdict *v, char stated, char device,
			  enum dec_reason other)
{
	if (!stated || stated == device)
		return;
	if (device == '?')
		dec_doubt(v, DEC_REASON_GFX_XNACK_UNSETTLED);
	else
		dec_refuse(v, other);
}

static struct dec_object_verdict judge_object(const struct dec_device *device,
					      const struct dec_profile *p)
{
	struct dec_object_verdict v;

	if (p->class != DEC_CLASS_GFX && p->class != DEC_CLASS_GFX_GENERIC)
		return dec_say_no(DEC_REASON_GFX_NAME);
	v = judge_processor(device, p);
	if (!dec_would_do(v.verdict))
		return v;
	if (p->odd)
		return dec_say_no(DEC_REASON_GFX_NAME);
	if (dec_device_runtime(device) == DEC_RUNTIME_DROPPED)
		return dec_say_no(DEC_REASON_GFX_DROPPED);
	if (dec_device_runtime(device) == DEC_RUNTIME_LLVM_ONLY)
		return unknown(DEC_REASON_GFX_LLVM_ONLY);
	judge_feature(&v, p->sramecc, device->sramecc, DEC_REASON_GFX_SRAMECC);
	if (dec_would_do(v.verdict))
		judge_feature(&v, p->xnack, device->xnack, DEC_REASON_GFX_XNACK);
	return v;
}

static struct dec_object_verdict judge_spirv(const struct dec_device *device)
{
	switch (dec_device_runtime(device)) {
	case DEC_RUNTIME_LLVM_ONLY:
		return unknown(DEC_REASON_GFX_LLVM_ONLY);
	case DEC_RUNTIME_DROPPED:
		return dec_say_no(DEC_REASON_GFX_DROPPED);
	default:
		return dec_say(DEC_VERDICT_JIT, DEC_HOW_SPIRV, DEC_REASON_SPIRV);
	}
}

struct dec_object_verdict dec_judge_gfx(const struct dec_device *device,
					const struct dec_code *code)
{
	const struct dec_profile *p = code->target;
	struct dec_object_verdict v;

	if (code->kind == DEC_KIND_BITCODE) {
		v = dec_say_no(DEC_REASON_BITCODE);
		v.linked = true;
		return v;
	}
	if (code->kind == DEC_KIND_SPIRV || p->class == DEC_CLASS_SPIRV)
		return judge_spirv(device);
	if (code->kind != DEC_KIND_CODE_OBJECT && code->kind != DEC_KIND_OBJECT)
		return unknown(DEC_REASON_KIND_UNKNOWN);
	return p->known ? judge_object(device, p) : unknown(DEC_REASON_NO_TARGET);
}

/* ---- what HIP asks a bundle for -------------------------------------------------------------- */

static bool raw_kind_is(const struct dec_object *o, const char *kind)
{
	size_t len = strlen(kind);

	return o->target_raw.len > len && memcmp(o->target_raw.p, kind, len) == 0 &&
	       o->target_raw.p[len] == '-';
}

enum { FIELD_KIND, FIELD_ARCH, FIELD_VENDOR, FIELD_OS };

/* Of an entry id; ends at the next hyphen. */
static struct dec_text id_field(const struct dec_object *o, int field)
{
	const char *p = o->target_raw.p, *end = p + o->target_raw.len;
	const char *hyphen;

	for (; field > 0; field--) {
		hyphen = memchr(p, '-', (size_t)(end - p));
		p = hyphen ? hyphen + 1 : end;
	}
	hyphen = memchr(p, '-', (size_t)(end - p));
	return (struct dec_text){ p, (size_t)((hyphen ? hyphen : end) - p) };
}

static bool text_is(struct dec_text text, const char *word)
{
	return text.len == strlen(word) && memcmp(text.p, word, text.len) == 0;
}

/* "amdgpu9" names gfx9-generic and what that covers. */
static bool subarch_fits(struct dec_text arch, const struct dec_profile *p)
{
	struct dec_declared d;
	char triple[32];

	if (arch.len <= strlen("amdgpu") || arch.len > 16 || memcmp(arch.p, "amdgpu", 6) != 0)
		return true;
	snprintf(triple, sizeof(triple), "%.*s-amd-amdhsa--", (int)arch.len, arch.p);
	dec_declare_isa_name(&d, triple, strlen(triple));
	return strcmp(d.name, p->base) == 0 || generic_find(d.name, p->base);
}

static void weigh_bundled(struct dec_object_verdict *v, const struct dec_container *container,
			  const struct dec_object *object, const struct dec_profile *target)
{
	bool compressed = container->kind == DEC_CONTAINER_COMPRESSED_BUNDLE;
	uint64_t listed = object->header.offset + object->header.size - container->range.offset;
	struct dec_text os = id_field(object, FIELD_OS);

	if (text_is(os, "amdpal") || text_is(os, "mesa3d"))
		dec_refuse(v, DEC_REASON_GFX_OS);
	else if (v->how != DEC_HOW_SPIRV && !subarch_fits(id_field(object, FIELD_ARCH), target))
		dec_refuse(v, DEC_REASON_GFX_SUBARCH);
	if (!dec_would_do(v->verdict))
		return;
	if (!raw_kind_is(object, "hip") && !raw_kind_is(object, "hipv4"))
		dec_doubt(v, DEC_REASON_BUNDLE_NOT_HIP);
	else if (compressed && raw_kind_is(object, "hip") && v->how != DEC_HOW_SPIRV)
		dec_doubt(v, DEC_REASON_BUNDLE_HIPV4);
	if (object->space == DEC_SPACE_ARTIFACT && listed > HEADER_SEARCHED)
		dec_doubt(v, DEC_REASON_BUNDLE_PAST_HEADER);
}

static void weigh_elf(struct dec_object_verdict *v, const struct dec_object *object)
{
	/* For whatever processor it is. */
	v->linked = object->elf_osabi == OSABI_AMDHSA && object->elf_type == ET_REL;
	if (!dec_would_do(v->verdict))
		return;
	if (object->elf_osabi != OSABI_AMDHSA)
		dec_refuse(v, DEC_REASON_GFX_OS);
	else if (v->linked)
		dec_refuse(v, DEC_REASON_GFX_RELOCATABLE);
	else if (object->elf_abiversion > ABI_V6)
		dec_refuse(v, DEC_REASON_GFX_ABI_UNKNOWN);
	else if (object->elf_abiversion < ABI_V4)
		dec_doubt(v, DEC_REASON_GFX_ABI_OLD);
}

void dec_weigh_gfx(struct dec_object_verdict *v, const struct dec_container *container,
		   const struct dec_object *object, const struct dec_profile *target)
{
	if (object->target_kind != DEC_TARGET_BUNDLE_ID && object->elf_type)
		weigh_elf(v, object);
	else if (object->target_kind == DEC_TARGET_BUNDLE_ID && dec_would_do(v->verdict))
		weigh_bundled(v, container, object, target);
}
