/* NVIDIA targets: their spelling and the common name of the architecture. */
#include "internal.h"

#include <stdio.h>

/* docs/formats/fatbin.md, "SM numbers". */
static const struct {
	uint32_t first, last;
	const char *family;
} families[] = {
#define X(first, last, family) { first, last, family },
#include "sm_families.def"
#undef X
};

static const char *const prefixes[] = {
	[DEC_CLASS_SM] = "sm",
	[DEC_CLASS_COMPUTE] = "compute",
	[DEC_CLASS_LTO] = "lto",
};

void dec_declare_sm(struct dec_declared *d, enum dec_target_class class, uint32_t sm, char variant)
{
	char suffix[2] = { variant, 0 };

	*d = (struct dec_declared){ .vendor = DEC_VENDOR_NVIDIA, .class = class };
	snprintf(d->name, sizeof(d->name), "%s_%u%s", prefixes[class], sm, suffix);
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (sm >= families[i].first && sm <= families[i].last)
			d->family = families[i].family;
}
