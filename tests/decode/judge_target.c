/*
 * judge_target: lines "TARGET DEVICE" of PTX on standard input, "VERDICT REASON" of each on
 * standard output; "- -" for a device that is not known. For comparisons with other judges.
 */
#include "device.h"

#include <stdio.h>

int main(void)
{
	char target[64], name[64];

	while (scanf("%63s %63s", target, name) == 2) {
		const struct dec_device *device = dec_device_named(name);
		struct dec_object_verdict v;

		if (!device) {
			puts("- -");
			continue;
		}
		v = dec_judge_target(device, DEC_KIND_PTX, target);
		printf("%s %s\n", dec_verdict_word(v.verdict), dec_reason_word(v.reason));
	}
	return 0;
}
