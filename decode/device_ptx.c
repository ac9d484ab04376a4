/* PTX ISA versions and toolkits: which driver takes them, which targets they know. */
#include "device.h"

static const struct dec_ptx_version versions[] = {
#define X(major, minor, cuda, driver) { major, minor, cuda, driver },
#include "device_ptx.def"
#undef X
};

static const struct {
	uint32_t sm;
	char variant;
	uint16_t major, minor;
} targets[] = {
#define X(sm, variant, major, minor) { sm, variant, major, minor },
#include "device_ptx_targets.def"
#undef X
};

static const struct dec_toolkit toolkits[] = {
#define X(major, lowest_sm, driver) { major, lowest_sm, driver },
#include "device_toolkits.def"
#undef X
};

const struct dec_ptx_version *dec_ptx_version(uint32_t major, uint32_t minor)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (versions[i].major == major && versions[i].minor == minor)
			return &versions[i];
	return NULL;
}

const struct dec_ptx_version *dec_ptx_first(uint32_t sm, char variant)
{
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		if (targets[i].sm == sm && targets[i].variant == variant)
			return dec_ptx_version(targets[i].major, targets[i].minor);
	return NULL;
}

const struct dec_toolkit *dec_toolkit(uint32_t major)
{
	for (size_t i = 0; i < sizeof(toolkits) / sizeof(toolkits[0]); i++)
		if (toolkits[i].major == major)
			return &toolkits[i];
	return NULL;
}
