/*
 * decode, devices: private. The rules of one vendor for one target, and what they ask the
 * tables. docs/devices.md numbers the rules as they stand here.
 */
#ifndef DEC_DEVICE_RULES_H
#define DEC_DEVICE_RULES_H

#include "device.h"
#include "target_profile.h"

/* device.c: whether an AMD runtime knows the processor. */
enum dec_runtime {
	DEC_RUNTIME_KNOWN,
	DEC_RUNTIME_LLVM_ONLY,
	DEC_RUNTIME_DROPPED,
};
enum dec_runtime dec_device_runtime(const struct dec_device *device);

/* device.c: the device of an SM number, NULL: none; what a renamed number is called today. */
const struct dec_device *dec_device_of_sm(uint32_t sm);
uint32_t dec_sm_today(uint32_t sm);

/* device_amdgpu.c: the index-th member of a generic, NULL: past the end. */
const char *dec_generic_member(const char *generic, uint32_t index);

/* What the rules look at, beside the device. */
struct dec_code {
	enum dec_kind kind;
	const struct dec_profile *target; /* known false: none is declared */
	bool suffix_lost; /* cubin without a fatbin entry: 'a' and 'f' may be missing */
	bool finalised; /* entry kind 0x10: an ELF that the driver finishes first */
};

struct dec_object_verdict dec_judge_sm(const struct dec_device *device,
				       const struct dec_code *code);
struct dec_object_verdict dec_judge_gfx(const struct dec_device *device,
					const struct dec_code *code);

/* device_sm.c, device_amdgpu.c: what else the inventory says of an object that would do. */
void dec_weigh_sm(struct dec_object_verdict *v, const struct dec_device *device,
		  const struct dec_object *object, const struct dec_profile *target,
		  uint32_t driver, uint32_t floor);
/* device_sm.c: the lowest branch for programs of the toolkit that this PTX tells; 0: it tells
 * none. The whole region is of that toolkit. */
uint32_t dec_toolkit_floor(const struct dec_object *object);
void dec_weigh_gfx(struct dec_object_verdict *v, const struct dec_container *container,
		   const struct dec_object *object, const struct dec_profile *target);

static inline struct dec_object_verdict dec_say(enum dec_verdict verdict, enum dec_how how,
						enum dec_reason reason)
{
	return (struct dec_object_verdict){
		.verdict = verdict, .how = how, .reason = reason, .counts = true
	};
}

static inline struct dec_object_verdict dec_say_no(enum dec_reason reason)
{
	return dec_say(DEC_VERDICT_NO, DEC_HOW_NONE, reason);
}

static inline bool dec_would_do(enum dec_verdict v)
{
	return v == DEC_VERDICT_YES || v == DEC_VERDICT_JIT || v == DEC_VERDICT_MAYBE;
}

static inline void dec_doubt(struct dec_object_verdict *v, enum dec_reason reason)
{
	if (v->verdict != DEC_VERDICT_MAYBE) /* the first doubt is the one that people see */
		v->reason = reason;
	v->verdict = DEC_VERDICT_MAYBE;
}

static inline void dec_refuse(struct dec_object_verdict *v, enum dec_reason reason)
{
	v->verdict = DEC_VERDICT_NO;
	v->how = DEC_HOW_NONE;
	v->reason = reason;
}

#endif
