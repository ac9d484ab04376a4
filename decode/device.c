/* The devices and products that are known: tables and their look-up by exact name. */
#include "device_rules.h"

/* ---- devices ------------------------------------------------------------------------ */

static const struct device_row {
	struct dec_device device; /* first: what is given out */
	enum dec_runtime runtime;
} devices[] = {
#define DESKTOP .tegra = false
#define TEGRA .tegra = true
#define UNSETTLED .unsettled = true
#define X(number, class, branch)                                                                   \
	{ .device = { .name = "sm_" #number,                                                       \
		      .architecture = "sm_" #number,                                               \
		      .vendor = DEC_VENDOR_NVIDIA,                                                 \
		      .sm = number,                                                                \
		      .last_driver = branch,                                                       \
		      .usual = true,                                                               \
		      class } },
#include "device_sm.def"
#undef X
#undef UNSETTLED
#undef TEGRA
#undef DESKTOP
#define USUAL true
#define OTHER false
#define KNOWN DEC_RUNTIME_KNOWN
#define LLVM_ONLY DEC_RUNTIME_LLVM_ONLY
#define DROPPED DEC_RUNTIME_DROPPED
#define X(processor, spelling, s, x, which, state)                                                 \
	{ .device = { .name = (spelling),                                                          \
		      .architecture = (processor),                                                 \
		      .vendor = DEC_VENDOR_AMD,                                                    \
		      .sramecc = (s),                                                              \
		      .xnack = (x),                                                                \
		      .unsettled = (state) != DEC_RUNTIME_KNOWN || (x) == '?',                     \
		      .usual = (which) },                                                          \
	  .runtime = (state) },
#include "device_gfx.def"
#undef X
#undef DROPPED
#undef LLVM_ONLY
#undef KNOWN
#undef OTHER
#undef USUAL
};
#define DEVICES (sizeof(devices) / sizeof(devices[0]))

uint32_t dec_device_count(void)
{
	return DEVICES;
}

const struct dec_device *dec_device_at(uint32_t index)
{
	return index < DEVICES ? &devices[index].device : NULL;
}

const struct dec_device *dec_device_named(const char *name)
{
	for (size_t i = 0; i < DEVICES; i++)
		if (strcmp(devices[i].device.name, name) == 0)
			return &devices[i].device;
	return NULL;
}

const struct dec_device *dec_device_of_sm(uint32_t sm)
{
	for (size_t i = 0; i < DEVICES; i++)
		if (sm && devices[i].device.sm == sm)
			return &devices[i].device;
	return NULL;
}

enum dec_runtime dec_device_runtime(const struct dec_device *device)
{
	return ((const struct device_row *)device)->runtime;
}

const char *dec_device_family(const struct dec_device *device)
{
	struct dec_declared d;

	if (device->vendor == DEC_VENDOR_NVIDIA)
		dec_declare_sm(&d, DEC_CLASS_SM, device->sm, 0);
	else
		dec_declare_offload(&d, "amdgcn", device->architecture);
	return d.family;
}

uint32_t dec_sm_today(uint32_t sm)
{
	static const struct {
		uint32_t former, today;
	} names[] = {
#define X(former, today) { former, today },
#include "device_sm_names.def"
#undef X
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].former == sm)
			return names[i].today;
	return sm;
}

/* ---- products -------------------------------------------------------------------------- */

static const struct dec_product products[] = {
#define X(name, target) { name, target },
#include "device_products.def"
#undef X
};
#define PRODUCTS (sizeof(products) / sizeof(products[0]))

uint32_t dec_product_count(void)
{
	return PRODUCTS;
}

const struct dec_product *dec_product_at(uint32_t index)
{
	return index < PRODUCTS ? &products[index] : NULL;
}

bool dec_product_has(const struct dec_product *product, const struct dec_device *device)
{
	return strcmp(product->target, device->name) == 0 ||
	       strcmp(product->target, device->architecture) == 0;
}

/* ---- reasons ---------------------------------------------------------------------------- */

static const struct {
	const char *word, *sentence;
} reasons[] = {
#define X(suffix, word, sentence) { word, sentence },
#include "device_reasons.def"
#undef X
};
#define REASONS (sizeof(reasons) / sizeof(reasons[0]))

const char *dec_reason_word(enum dec_reason v)
{
	return (size_t)v < REASONS ? reasons[v].word : "?";
}

const char *dec_reason_sentence(enum dec_reason v)
{
	return (size_t)v < REASONS ? reasons[v].sentence : "?";
}
