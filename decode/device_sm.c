/* Which NVIDIA device takes which fatbin entry. docs/devices.md, "NVIDIA". */
#include "device_rules.h"

#include <elf.h>
#include <stdlib.h>

enum {
	NUMBER_MAX = 999,
	FIRST_WITH_ACCELERATED = 90, /* sm_90a is the first target with a suffix */
	FIRST_WITH_FAMILY = 100,
	DRIVER_WITH_ZSTD = 570, /* of CUDA 12.8 */
	FIRST_PTX_LISTED = 5, /* device_ptx.def; every driver that is named takes older ones */
};

static struct dec_object_verdict linked(enum dec_reason reason)
{
	struct dec_object_verdict v = dec_say_no(reason);

	v.linked = true;
	return v;
}

/* ---- families ------------------------------------------------------------------------- */

static const struct {
	uint32_t target, device;
} members[] = {
#define X(target, device) { target, device },
#include "device_sm_families.def"
#undef X
};

enum membership { OUTSIDE, INSIDE, NOT_KNOWN };

static bool same_major(uint32_t a, uint32_t b)
{
	return a / 10 == b / 10;
}

/* Members are added with new devices: what the table has not heard of is not known. */
static enum membership family(uint32_t target, uint32_t device)
{
	bool target_listed = false, device_listed = false;

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (members[i].target == target && members[i].device == device)
			return INSIDE;
		target_listed |= members[i].target == target;
		device_listed |= members[i].device == device;
	}
	if (same_major(target, device) && target < device && (!target_listed || !device_listed))
		return NOT_KNOWN;
	return OUTSIDE;
}

/* An 'f' target; what it is called when it fits differs between cubins and PTX. */
static struct dec_object_verdict judge_family(uint32_t target, uint32_t device,
					      struct dec_object_verdict inside)
{
	if (target < FIRST_WITH_FAMILY)
		return dec_say_no(DEC_REASON_SM_FAMILY_NONE);
	switch (family(target, device)) {
	case INSIDE:
		return inside;
	case NOT_KNOWN:
		return dec_say(DEC_VERDICT_UNKNOWN, DEC_HOW_NONE, DEC_REASON_SM_FAMILY_UNKNOWN);
	default:
		return dec_say_no(DEC_REASON_SM_FAMILY_OTHER);
	}
}

/* ---- cubins --------------------------------------------------------------------------- */

/* Rules 5 to 7: a plain cubin of another number in the same major. */
static struct dec_object_verdict judge_minor(const struct dec_device *device, uint32_t number,
					     bool suffix_lost)
{
	const struct dec_device *own = dec_device_of_sm(dec_sm_today(number));
	bool lower = number < device->sm;

	if (lower && (device->unsettled || (own && own->unsettled)))
		return dec_say(DEC_VERDICT_MAYBE, DEC_HOW_SAME_MAJOR, DEC_REASON_SM_UNSETTLED);
	if (device->tegra || (own && own->tegra))
		return dec_say_no(DEC_REASON_SM_TEGRA);
	if (!lower)
		return dec_say_no(DEC_REASON_SM_HIGHER_MINOR);
	if (suffix_lost && number >= FIRST_WITH_ACCELERATED)
		return dec_say(DEC_VERDICT_MAYBE, DEC_HOW_SAME_MAJOR, DEC_REASON_SM_SUFFIX_LOST);
	return dec_say(DEC_VERDICT_YES, DEC_HOW_SAME_MAJOR, DEC_REASON_SM_LOWER_MINOR);
}

static struct dec_object_verdict judge_cubin(const struct dec_device *device,
					     const struct dec_code *code)
{
	uint32_t number = code->target->sm;
	bool own = number == device->sm;

	if (dec_sm_today(number) == device->sm && !own)
		return dec_say(DEC_VERDICT_MAYBE, DEC_HOW_EXACT, DEC_REASON_SM_RENAMED);
	if (code->target->variant == 'a')
		return own ? dec_say(DEC_VERDICT_YES, DEC_HOW_EXACT, DEC_REASON_SM_ACCELERATED)
			   : dec_say_no(DEC_REASON_SM_ACCELERATED_OTHER);
	if (code->target->variant == 'f')
		return judge_family(number, device->sm,
				    dec_say(DEC_VERDICT_YES, own ? DEC_HOW_EXACT : DEC_HOW_FAMILY,
					    DEC_REASON_SM_FAMILY));
	if (own)
		return dec_say(DEC_VERDICT_YES, DEC_HOW_EXACT, DEC_REASON_SM_EXACT);
	return same_major(number, device->sm) ? judge_minor(device, number, code->suffix_lost)
					      : dec_say_no(DEC_REASON_SM_OTHER_MAJOR);
}

/* ---- PTX and what else the driver compiles ----------------------------------------------- */

static struct dec_object_verdict judge_ptx(const struct dec_device *device,
					   const struct dec_code *code)
{
	uint32_t number = code->target->sm;

	if (code->target->variant == 'f')
		return judge_family(number, device->sm,
				    dec_say(DEC_VERDICT_JIT, DEC_HOW_JIT, DEC_REASON_PTX_FAMILY));
	if (!code->target->variant)
		return number <= device->sm
			       ? dec_say(DEC_VERDICT_JIT, DEC_HOW_JIT, DEC_REASON_PTX_LOWER)
			       : dec_say_no(DEC_REASON_PTX_HIGHER);
	if (number == device->sm)
		return dec_say(DEC_VERDICT_JIT, DEC_HOW_JIT, DEC_REASON_PTX_ACCELERATED);
	if (dec_sm_today(number) == device->sm)
		return dec_say(DEC_VERDICT_MAYBE, DEC_HOW_JIT, DEC_REASON_PTX_RENAMED);
	return dec_say_no(DEC_REASON_SM_ACCELERATED_OTHER);
}

static struct dec_object_verdict judge_tile(const struct dec_device *device,
					    const struct dec_code *code)
{
	if (code->target->sm > device->sm)
		return dec_say_no(DEC_REASON_PTX_HIGHER);
	return dec_say(DEC_VERDICT_MAYBE, DEC_HOW_JIT, DEC_REASON_TILE_IR);
}

static struct dec_object_verdict judge_number(const struct dec_device *device,
					      const struct dec_code *code)
{
	const struct dec_profile *p = code->target;

	if (!p->known)
		return dec_say(DEC_VERDICT_UNKNOWN, DEC_HOW_NONE, DEC_REASON_NO_TARGET);
	if (p->vendor != DEC_VENDOR_NVIDIA || p->sm == 0 || p->sm > NUMBER_MAX)
		return dec_say_no(DEC_REASON_SM_NUMBER);
	switch (code->kind) {
	case DEC_KIND_PTX:
		return judge_ptx(device, code);
	case DEC_KIND_TILE_IR:
		return judge_tile(device, code);
	default:
		return judge_cubin(device, code);
	}
}

struct dec_object_verdict dec_judge_sm(const struct dec_device *device, const struct dec_code *code)
{
	switch (code->kind) {
	case DEC_KIND_CUBIN:
	case DEC_KIND_OBJECT:
	case DEC_KIND_PTX:
	case DEC_KIND_TILE_IR:
		return judge_number(device, code);
	case DEC_KIND_LTO_IR:
		return linked(DEC_REASON_LTO_IR);
	case DEC_KIND_RELOCATABLE_PTX:
		return linked(DEC_REASON_PTX_RELOCATABLE);
	case DEC_KIND_BITCODE:
		return linked(DEC_REASON_BITCODE);
	default:
		if (code->finalised)
			return judge_number(device, code);
		return dec_say(DEC_VERDICT_UNKNOWN, DEC_HOW_NONE, DEC_REASON_KIND_UNKNOWN);
	}
}

/* ---- PTX versions, options, drivers -------------------------------------------------------- */

static bool older(const struct dec_object *o, const struct dec_ptx_version *than)
{
	return o->version_major != than->major ? o->version_major < than->major
					       : o->version_minor < than->minor;
}

/* The branches are those of desktop drivers; Tegra devices have drivers of their own. */
static uint32_t branch_for(const struct dec_device *device, uint32_t driver)
{
	return device->tegra ? 0 : driver;
}

static void weigh_version(struct dec_object_verdict *v, const struct dec_object *o,
			  const struct dec_ptx_version *first, uint32_t driver)
{
	v->ptx = dec_ptx_version(o->version_major, o->version_minor);
	if (!dec_would_do(v->verdict))
		return;
	if (first && older(o, first))
		dec_refuse(v, DEC_REASON_PTX_VERSION_LOW);
	else if (driver && v->ptx && v->ptx->driver > driver)
		dec_refuse(v, DEC_REASON_PTX_VERSION_NEW);
	else if (driver && (v->ptx ? !v->ptx->driver : o->version_major >= FIRST_PTX_LISTED))
		dec_doubt(v, DEC_REASON_PTX_VERSION_UNKNOWN);
}

static void weigh_ptx(struct dec_object_verdict *v, const struct dec_object *o,
		      const struct dec_profile *target, uint32_t driver)
{
	if (o->has_version && o->version_major)
		weigh_version(v, o, dec_ptx_first(target->sm, target->variant), driver);
	if (dec_would_do(v->verdict) && dec_text_present(o->options) &&
	    strstr(o->options.p, "--compile-only"))
		dec_doubt(v, DEC_REASON_PTX_UNFINISHED);
}

/* Drivers drop devices by age: the last branch of the next device that has one; 0: none. */
static uint32_t last_of_later(const struct dec_device *device)
{
	const struct dec_device *d;

	for (uint32_t i = 0; (d = dec_device_at(i)); i++)
		if (d->sm > device->sm && d->last_driver)
			return d->last_driver;
	return 0;
}

static void weigh_driver(struct dec_object_verdict *v, const struct dec_device *device,
			 const struct dec_object *o, uint32_t driver)
{
	const struct dec_ptx_version *first = dec_ptx_first(device->sm, 0);

	uint32_t last = device->last_driver ? device->last_driver : last_of_later(device);

	if (last && driver > last)
		dec_refuse(v, DEC_REASON_DRIVER_DROPPED);
	else if (last && !device->last_driver)
		dec_doubt(v, DEC_REASON_DRIVER_UNKNOWN);
	else if (first && first->driver > driver)
		dec_refuse(v, DEC_REASON_DRIVER_OLD);
	else if (o->codec == DEC_CODEC_ZSTD && driver < DRIVER_WITH_ZSTD)
		dec_doubt(v, DEC_REASON_ZSTD_DRIVER);
}

uint32_t dec_toolkit_floor(const struct dec_object *o)
{
	const struct dec_ptx_version *ptx = NULL;
	const struct dec_toolkit *toolkit = NULL;

	if (o->kind == DEC_KIND_PTX && o->has_version)
		ptx = dec_ptx_version(o->version_major, o->version_minor);
	if (ptx)
		toolkit = dec_toolkit((uint32_t)strtoul(ptx->cuda, NULL, 10));
	return toolkit ? toolkit->driver : 0;
}

void dec_weigh_sm(struct dec_object_verdict *v, const struct dec_device *device,
		  const struct dec_object *object, const struct dec_profile *target,
		  uint32_t driver, uint32_t floor)
{
	driver = branch_for(device, driver);
	if (object->elf_type == ET_REL && dec_would_do(v->verdict))
		dec_doubt(v, DEC_REASON_SM_UNFINISHED);
	if (object->kind == DEC_KIND_PTX)
		weigh_ptx(v, object, target, driver);
	if (driver && dec_would_do(v->verdict))
		weigh_driver(v, device, object, driver);
	if (driver && driver < floor && dec_would_do(v->verdict))
		dec_refuse(v, DEC_REASON_DRIVER_TOOLKIT);
}
