/* What a user may type, and which device it must, or must not, be. */
#include "device.h"
#include "inventory.h"

#include <stdio.h>
#include <string.h>

struct found_case {
	const char *name; /* what is typed */
	const char *devices; /* names, by commas */
	const char *product; /* NULL: an architecture was named */
};

static const struct found_case found[] = {
	/* NVIDIA architectures */
	{ "sm_89", "sm_89", NULL },
	{ "SM_89", "sm_89", NULL },
	{ "sm89", "sm_89", NULL },
	{ "8.9", "sm_89", NULL },
	{ "89", "sm_89", NULL },
	{ "compute_89", "sm_89", NULL },
	{ "sm_90a", "sm_90", NULL },
	{ "compute_100f", "sm_100", NULL },
	{ "12.0", "sm_120", NULL },
	{ "12.1", "sm_121", NULL },
	{ "121", "sm_121", NULL },
	{ " 8.7\n", "sm_87", NULL },
	{ "2.0", "sm_20", NULL },
	{ "sm_101", "sm_110", NULL },
	{ "10.1", "sm_110", NULL },

	/* AMD architectures */
	{ "gfx1100", "gfx1100", NULL },
	{ "GFX1100", "gfx1100", NULL },
	{ "gfx900", "gfx900", NULL },
	{ "gfx900:xnack-", "gfx900", NULL },
	{ "gfx902:xnack+", "gfx902", NULL },
	{ "gfx90a", "gfx90a:xnack-,gfx90a:xnack+", NULL },
	{ "gfx90a:xnack+", "gfx90a:xnack+", NULL },
	{ "gfx90a:sramecc+", "gfx90a:xnack-,gfx90a:xnack+", NULL },
	{ "gfx90a:sramecc+:xnack-", "gfx90a:xnack-", NULL },
	{ "gfx90a:xnack-:sramecc+", "gfx90a:xnack-", NULL },
	{ "gfx906", "gfx906:sramecc+:xnack-,gfx906:sramecc+:xnack+,gfx906:sramecc-:xnack-", NULL },
	{ "gfx906:sramecc-", "gfx906:sramecc-:xnack-", NULL },
	{ "gfx906:xnack-", "gfx906:sramecc+:xnack-,gfx906:sramecc-:xnack-", NULL },
	{ "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack+", "gfx942:xnack+", NULL },

	/* products, with and without what the makers put around them */
	{ "RTX 4090", "sm_89", "GeForce RTX 4090" },
	{ "rtx4090", "sm_89", "GeForce RTX 4090" },
	{ "GeForce RTX 4090", "sm_89", "GeForce RTX 4090" },
	{ "NVIDIA GeForce RTX 4090", "sm_89", "GeForce RTX 4090" },
	{ "NVIDIA GeForce RTX 4090 Laptop GPU", "sm_89", "GeForce RTX 4090" },
	{ "4090", "sm_89", "GeForce RTX 4090" },
	{ "RTX 4070 Ti", "sm_89", "GeForce RTX 4070 Ti" },
	{ "RTX 4070Ti SUPER", "sm_89", "GeForce RTX 4070 Ti" },
	{ "RTX 4070 SUPER", "sm_89", "GeForce RTX 4070" },
	{ "RTX 5090D", "sm_120", "GeForce RTX 5090 D" },
	{ "NVIDIA GeForce RTX 5090", "sm_120", "GeForce RTX 5090" },
	{ "RTX PRO 6000 Blackwell Workstation Edition", "sm_120", "RTX PRO 6000 Blackwell" },
	{ "GB10", "sm_121", "GB10" },
	{ "DGX Spark", "sm_121", "DGX Spark" },
	{ "Jetson T5000", "sm_110", "Jetson T5000" },
	{ "Jetson Thor", "sm_110", "Jetson AGX Thor" },
	{ "B300", "sm_103", "B300" },
	{ "GB300", "sm_103", "GB300" },
	{ "NVIDIA B200", "sm_100", "B200" },
	{ "NVIDIA H100 80GB HBM3", "sm_90", "H100" },
	{ "NVIDIA H100 PCIe", "sm_90", "H100" },
	{ "H200 NVL", "sm_90", "H200" },
	{ "GH200 480GB", "sm_90", "GH200" },
	{ "L4", "sm_89", "L4" },
	{ "L40", "sm_89", "L40" },
	{ "L40S", "sm_89", "L40S" },
	{ "NVIDIA RTX 6000 Ada Generation", "sm_89", "RTX 6000 Ada" },
	{ "Jetson AGX Orin Developer Kit", "sm_87", "Jetson AGX Orin" },
	{ "AGX Orin", "sm_87", "Jetson AGX Orin" },
	{ "Jetson Orin Nano", "sm_87", "Jetson Orin Nano" },
	{ "Orin Nano", "sm_87", "Jetson Orin Nano" },
	{ "jetson orin nx", "sm_87", "Jetson Orin NX" },
	{ "RTX 3090", "sm_86", "GeForce RTX 3090" },
	{ "A2", "sm_86", "A2" },
	{ "A10", "sm_86", "A10" },
	{ "A40", "sm_86", "A40" },
	{ "RTX A6000", "sm_86", "RTX A6000" },
	{ "NVIDIA A100-SXM4-80GB", "sm_80", "A100" },
	{ "A100 80GB PCIe", "sm_80", "A100" },
	{ "A30", "sm_80", "A30" },
	{ "Tesla T4", "sm_75", "Tesla T4" },
	{ "T4", "sm_75", "Tesla T4" },
	{ "GTX 1660 SUPER", "sm_75", "GeForce GTX 1660" },
	{ "RTX 2080 Ti", "sm_75", "GeForce RTX 2080 Ti" },
	{ "RTX 2080 with Max-Q Design", "sm_75", "GeForce RTX 2080" },
	{ "Jetson AGX Xavier", "sm_72", "Jetson AGX Xavier" },
	{ "Xavier NX", "sm_72", "Jetson Xavier NX" },
	{ "Tesla V100-SXM2-16GB", "sm_70", "Tesla V100" },
	{ "TITAN V", "sm_70", "TITAN V" },
	{ "GV100", "sm_70", "Quadro GV100" },
	{ "Jetson TX2", "sm_62", "Jetson TX2" },
	{ "GTX 1080 Ti", "sm_61", "GeForce GTX 1080 Ti" },
	{ "Tesla P40", "sm_61", "Tesla P40" },
	{ "P4", "sm_61", "Tesla P4" },
	{ "Tesla P100-PCIE-16GB", "sm_60", "Tesla P100" },
	{ "GTX 960", "sm_52", "GeForce GTX 960" },
	{ "GTX 960M", "sm_50", "GeForce GTX 960M" },
	{ "GTX 750 Ti", "sm_50", "GeForce GTX 750 Ti" },
	{ "Tesla K80", "sm_37", "Tesla K80" },
	{ "GTX 780", "sm_35", "GeForce GTX 780" },

	{ "MI300X", "gfx942:xnack-,gfx942:xnack+", "Instinct MI300X" },
	{ "mi300x", "gfx942:xnack-,gfx942:xnack+", "Instinct MI300X" },
	{ "AMD Instinct MI300X OAM", "gfx942:xnack-,gfx942:xnack+", "Instinct MI300X" },
	{ "MI250", "gfx90a:xnack-,gfx90a:xnack+", "Instinct MI250" },
	{ "MI250X", "gfx90a:xnack-,gfx90a:xnack+", "Instinct MI250X" },
	{ "AMD Instinct MI210", "gfx90a:xnack-,gfx90a:xnack+", "Instinct MI210" },
	{ "MI355X", "gfx950:xnack-,gfx950:xnack+", "Instinct MI355X" },
	{ "MI100", "gfx908:xnack-,gfx908:xnack+", "Instinct MI100" },
	{ "Radeon VII", "gfx906:sramecc-:xnack-", "Radeon VII" },
	{ "Vega 64", "gfx900", "Radeon RX Vega 64" },
	{ "RX 580", "gfx803", "Radeon RX 580" },
	{ "AMD Radeon RX 7900 XTX", "gfx1100", "Radeon RX 7900 XTX" },
	{ "RX 7900XT", "gfx1100", "Radeon RX 7900 XT" },
	{ "Radeon PRO W7900", "gfx1100", "Radeon PRO W7900" },
	{ "RX 9070 XT", "gfx1201", "Radeon RX 9070 XT" },
	{ "RX 9060", "gfx1200", "Radeon RX 9060" },
	{ "RX 7800 XT", "gfx1101", "Radeon RX 7800 XT" },
	{ "RX 7600", "gfx1102", "Radeon RX 7600" },
	{ "RX 6900 XT", "gfx1030", "Radeon RX 6900 XT" },
	{ "RX 6700 XT", "gfx1031", "Radeon RX 6700 XT" },
	{ "RX 6600", "gfx1032", "Radeon RX 6600" },
	{ "RX 5700 XT", "gfx1010", "Radeon RX 5700 XT" },
	{ "RX 5500", "gfx1012", "Radeon RX 5500" },
	{ "AMD Radeon 780M Graphics", "gfx1103", "Radeon 780M" },
	{ "AMD Radeon(TM) 8060S Graphics", "gfx1151", "Radeon 8060S" },
	{ "890M", "gfx1150", "Radeon 890M" },
	{ "860M", "gfx1152", "Radeon 860M" },
	{ "680M", "gfx1035", "Radeon 680M" },
	{ "Steam Deck", "gfx1033", "Steam Deck" },
	{ "V1605B", "gfx902", "Ryzen Embedded V1605B" },

	/* what follows a number and is not in the tables */
	{ "RX 7600 XT", "gfx1102", "Radeon RX 7600" },
	{ "RX 6750 XT", "gfx1031", "Radeon RX 6750" },
	{ "RX 6750 GRE 12GB", "gfx1031", "Radeon RX 6750" },
	{ "RX 6650 XT", "gfx1032", "Radeon RX 6650" },
	{ "AMD Radeon RX 6500 XT", "gfx1034", "Radeon RX 6500" },
	{ "RX 5600XT", "gfx1010", "Radeon RX 5600" },
	{ "RX 5500 XT", "gfx1012", "Radeon RX 5500" },
	{ "RTX 3050 Ti Laptop GPU", "sm_86", "GeForce RTX 3050" },
	{ "A10G", "sm_86", "A10G" },
	{ "TITAN RTX", "sm_75", "TITAN RTX" },
	{ "NVIDIA RTX A1000", "sm_86", "RTX A1000" },
	{ "NVIDIA H20", "sm_90", "H20" },
	{ "NVIDIA A800-SXM4-80GB", "sm_80", "A800" },
	{ "AMD Instinct MI250X / MI250", "gfx90a:xnack-,gfx90a:xnack+", "Instinct MI250X" },

	/* several products, but one architecture */
	{ "Orin", "sm_87", NULL },
	{ "4070", "sm_89", NULL },
	{ "MI300", "gfx942:xnack-,gfx942:xnack+", NULL },
	{ "Vega", "gfx900", NULL },
	{ "RX 7900", "gfx1100", NULL },

	/* traps: names that are inside one another */
	{ "Jetson Nano", "sm_53", "Jetson Nano" },
	{ "RTX A4000", "sm_86", "RTX A4000" },
	{ "RTX 4000 Ada", "sm_89", "RTX 4000 Ada" },
	{ "Quadro RTX 4000", "sm_75", "Quadro RTX 4000" },
	{ "RTX PRO 4000", "sm_120", "RTX PRO 4000 Blackwell" },
};

static void check_found(void **state)
{
	const struct found_case *c = *state;
	char devices[256] = "";
	struct dec_match m;

	dec_device_find(c->name, &m);
	if (m.find != DEC_FIND_FOUND)
		fail_msg("%s: %s", c->name, m.sentence);
	for (uint32_t i = 0; i < m.device_count; i++)
		snprintf(devices + strlen(devices), sizeof(devices) - strlen(devices), "%s%s",
			 i ? "," : "", m.devices[i]->name);
	assert_string_equal(devices, c->devices);
	assert_int_equal(m.candidate_count, 0);
	assert_int_equal(m.candidates_left_off, 0);
	if (c->product)
		assert_string_equal(m.product->name, c->product);
	else
		assert_null(m.product);
	assert_true(m.devices[0]->usual || m.device_count == 1);
}

/* ---- not one of them ------------------------------------------------------------------------- */

struct unclear_case {
	const char *name; /* what is typed */
	enum dec_find find;
	const char *candidates; /* names, by commas */
	const char *says; /* part of the sentence */
};

static const struct unclear_case unclear[] = {
	{ "RTX 4000", DEC_FIND_AMBIGUOUS,
	  "RTX PRO 4000 Blackwell,RTX 4000 Ada,RTX A4000,Quadro RTX 4000", "several products" },
	{ "RTX A", DEC_FIND_AMBIGUOUS,
	  "RTX A1000,RTX A2000,RTX A3000,RTX A4000,RTX A4500,RTX A5000,RTX A5500,RTX A6000",
	  "several" },
	{ "Nano", DEC_FIND_AMBIGUOUS, "Jetson Orin Nano,Jetson Nano", "several" },
	/* a laptop part of another architecture than the name it begins with */
	{ "RTX 3050 A Laptop GPU", DEC_FIND_AMBIGUOUS, "GeForce RTX 3050", "another product" },
	{ "MI250X / MI100", DEC_FIND_AMBIGUOUS, "Instinct MI250X", "another product" },
	{ "A100X", DEC_FIND_AMBIGUOUS, "A100", "another product" },
	{ "H100 7", DEC_FIND_AMBIGUOUS, "H100", "another product" },
	{ "gfx10-1-generic", DEC_FIND_AMBIGUOUS, "gfx1010,gfx1011,gfx1012,gfx1013",
	  "several devices" },

	{ "sm_130", DEC_FIND_UNKNOWN, "", "newer than the tables, which end at sm_121" },
	{ "13.0", DEC_FIND_UNKNOWN, "", "newer than the tables" },
	{ "sm_85", DEC_FIND_UNKNOWN, "", "no device sm_85" },
	{ "0", DEC_FIND_UNKNOWN, "", "no device sm_0" },
	{ "gfx9999", DEC_FIND_UNKNOWN, "", "no device gfx9999" },
	{ "gfx99-generic", DEC_FIND_UNKNOWN, "", "gfx99-generic" },
	{ "gfx90a:sramecc-", DEC_FIND_UNKNOWN, "gfx90a:xnack-,gfx90a:xnack+",
	  "do not report these features" },
	{ "gfx90a:other+", DEC_FIND_UNKNOWN, "gfx90a:xnack-,gfx90a:xnack+", "these features" },
	{ "gfx900:xnack+", DEC_FIND_UNKNOWN, "gfx900", "these features" },
	{ "gfx1100:xnack+", DEC_FIND_UNKNOWN, "gfx1100", "these features" },
	{ "RTX 2050", DEC_FIND_UNKNOWN, "", "no architecture and no product" },
	{ "RTX 9999", DEC_FIND_UNKNOWN, "", "no architecture and no product" },
	{ "T400", DEC_FIND_UNKNOWN, "", "no architecture" },
	{ "A101", DEC_FIND_UNKNOWN, "", "no architecture" },
	{ "Arc A770", DEC_FIND_UNKNOWN, "", "no architecture" },
	{ "NVIDIA GeForce", DEC_FIND_UNKNOWN, "", "names no device" },
	{ "sm_", DEC_FIND_UNKNOWN, "", "no architecture" },
	{ "8.", DEC_FIND_UNKNOWN, "", "no " },
	{ "8.99", DEC_FIND_UNKNOWN, "", "no " },
	{ "", DEC_FIND_UNKNOWN, "", "names no device" },
	{ "%s%s%n", DEC_FIND_UNKNOWN, "", "no architecture" },
	{ "/../..", DEC_FIND_UNKNOWN, "", "names no device" },
};

static void check_unclear(void **state)
{
	const struct unclear_case *c = *state;
	char candidates[512] = "";
	struct dec_match m;

	dec_device_find(c->name, &m);
	assert_int_equal(m.find, c->find);
	for (uint32_t i = 0; i < m.candidate_count; i++) {
		snprintf(candidates + strlen(candidates), sizeof(candidates) - strlen(candidates),
			 "%s%s", i ? "," : "", m.candidates[i].name);
		assert_non_null(m.candidates[i].device);
	}
	assert_string_equal(candidates, c->candidates);
	assert_int_equal(m.device_count, 0);
	if (!strstr(m.sentence, c->says))
		fail_msg("%s: %s", c->name, m.sentence);
}

/* ---- the table of products ---------------------------------------------------------------------- */

static void every_product_finds_itself(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < dec_product_count(); i++) {
		const struct dec_product *p = dec_product_at(i);
		struct dec_match m;

		dec_device_find(p->name, &m);
		if (m.find != DEC_FIND_FOUND || m.product != p)
			fail_msg("%s: %s", p->name, m.product ? m.product->name : m.sentence);
		for (uint32_t k = 0; k < m.device_count; k++)
			assert_true(dec_product_has(p, m.devices[k]));
	}
	assert_null(dec_product_at(dec_product_count()));
}

/* More than fit are counted, not written past the end. */
static void candidates_are_bounded(void **state)
{
	struct dec_match m;

	(void)state;
	dec_device_find("rtx", &m);
	assert_int_equal(m.find, DEC_FIND_AMBIGUOUS);
	assert_int_equal(m.candidate_count, DEC_MATCH_CANDIDATES);
	/* 50xx 8, PRO 6, 40xx 7, Ada 7, 30xx 9, A 8, 20xx 4, TITAN 1, Quadro 4 */
	assert_int_equal(m.candidate_count + m.candidates_left_off, 54);
	dec_device_find("rx", &m);
	assert_int_equal(m.find, DEC_FIND_AMBIGUOUS);
	assert_true(m.candidate_count <= DEC_MATCH_CANDIDATES);
}

static void what_was_understood_is_remarked(void **state)
{
	struct dec_match m;

	(void)state;
	dec_device_find("sm_101", &m);
	assert_non_null(strstr(m.sentence, "former name of sm_110"));
	dec_device_find("sm_110", &m);
	assert_string_equal(m.sentence, "");
	dec_device_find("4070", &m);
	assert_non_null(strstr(m.sentence, "all of them sm_89"));
}

/* Whatever is typed, however long. */
static void any_length(void **state)
{
	static const char *const pieces[] = { "a", "9", "gfx", "sm_", "a1 ", "rtx 4090 ", "\xff" };
	char text[600];
	struct dec_match m;

	(void)state;
	for (size_t i = 0; i < COUNT(pieces); i++)
		for (size_t len = 0; len < sizeof(text); len++) {
			for (size_t k = 0; k < len; k++)
				text[k] = pieces[i][k % strlen(pieces[i])];
			text[len] = 0;
			dec_device_find(text, &m);
			assert_true(m.device_count <= DEC_MATCH_DEVICES);
			assert_true(m.find == DEC_FIND_FOUND || m.sentence[0]);
		}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_product_finds_itself),
		cmocka_unit_test(candidates_are_bounded),
		cmocka_unit_test(what_was_understood_is_remarked),
		cmocka_unit_test(any_length),
	};

	return RUN_ROWS(found, check_found) + RUN_ROWS(unclear, check_unclear) +
	       cmocka_run_group_tests(tests, NULL, NULL);
}
