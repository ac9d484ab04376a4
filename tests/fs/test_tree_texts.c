/* What the files of a tree say of an inventory. */
#include "hand_made.h"

#include <errno.h>

#include "tree_text.h"

#define AROUND                                                                                     \
	"\t\"around\":\t[{\n"                                                                      \
	"\t\t\t\"kind\":\t\"file\",\n\t\t\t\"name\":\t\"lib a%.so\",\n"                            \
	"\t\t\t\"offset\":\t0,\n\t\t\t\"size\":\t36\n\t\t}"

#define SECTION_AND_SEGMENT                                                                        \
	", {\n\t\t\t\"kind\":\t\"section\",\n\t\t\t\"name\":\t\".nv%FF%25\",\n"                    \
	"\t\t\t\"offset\":\t10,\n\t\t\t\"size\":\t20\n\t\t}, {\n"                                  \
	"\t\t\t\"kind\":\t\"segment\",\n\t\t\t\"name\":\tnull,\n"                                  \
	"\t\t\t\"offset\":\t12,\n\t\t\t\"size\":\t8\n\t\t}"

/* clang-format off */
static const struct {
	const char *path;
	const char *text;
} contents[] = {
	{ "artifact.json",
	  "{\n\t\"name\":\t\"lib a%.so\",\n\t\"size\":\t36,\n"
	  "\t\"sha256\":\t\"74e7e5bb9d22d6db26bf76946d40fff3ea9f0346b884fd0694920fccfad15e33\",\n"
	  "\t\"format\":\t\"elf64\",\n\t\"containers\":\t2,\n\t\"objects\":\t4,\n\t\"targets\":\t8,\n"
	  "\t\"inventory\":\t{\n\t\t\"state\":\t\"partial\",\n"
	  "\t\t\"reasons\":\t[\"limit\", \"truncated\"]\n\t}\n}\n" },
	{ "problems.json",
	  "[{\n\t\t\"code\":\t\"truncated\",\n\t\t\"offset\":\t30,\n\t\t\"field\":\t\"size\",\n"
	  "\t\t\"message\":\t\"It ends early.\",\n"
	  "\t\t\"container\":\t\"00000\",\n\t\t\"object\":\t\"00000\"\n\t}, {\n"
	  "\t\t\"code\":\t\"limit\",\n\t\t\"offset\":\t1,\n\t\t\"field\":\t\"count\",\n"
	  "\t\t\"message\":\t\"Too many.\",\n"
	  "\t\t\"container\":\tnull,\n\t\t\"object\":\tnull\n\t}, {\n"
	  "\t\t\"code\":\t\"bad_magic\",\n\t\t\"offset\":\t2,\n\t\t\"field\":\t\"magic\",\n"
	  "\t\t\"message\":\t\"No \\\"magic\\\".\",\n"
	  "\t\t\"container\":\t\"00000\",\n\t\t\"object\":\tnull\n\t}, {\n"
	  "\t\t\"code\":\t\"truncated\",\n\t\t\"offset\":\t3,\n\t\t\"field\":\t\"header\",\n"
	  "\t\t\"message\":\t\"Short.\",\n"
	  "\t\t\"container\":\t\"00000\",\n\t\t\"object\":\tnull\n\t}]\n" },
	{ "containers/00000/container.json",
	  "{\n\t\"kind\":\t\"fatbin\",\n\t\"version\":\t1,\n\t\"codec\":\t\"none\",\n"
	  "\t\"entries\":\t3,\n\t\"decoded_size\":\tnull,\n\t\"hash\":\tnull,\n"
	  AROUND SECTION_AND_SEGMENT "],\n\t\"offset\":\t12,\n\t\"size\":\t8,\n"
	  "\t\"problems\":\t[{\n\t\t\t\"code\":\t\"bad_magic\",\n\t\t\t\"offset\":\t2,\n"
	  "\t\t\t\"field\":\t\"magic\",\n\t\t\t\"message\":\t\"No \\\"magic\\\".\"\n\t\t}, {\n"
	  "\t\t\t\"code\":\t\"truncated\",\n\t\t\t\"offset\":\t3,\n\t\t\t\"field\":\t\"header\",\n"
	  "\t\t\t\"message\":\t\"Short.\"\n\t\t}]\n}\n" },
	{ "containers/00001/container.json",
	  "{\n\t\"kind\":\t\"compressed_bundle\",\n\t\"version\":\t3,\n\t\"codec\":\t\"zstd\",\n"
	  "\t\"entries\":\t1,\n\t\"decoded_size\":\t4096,\n\t\"hash\":\t\"0xfedcba9876543210\",\n"
	  AROUND "],\n\t\"offset\":\t20,\n\t\"size\":\t10,\n\t\"problems\":\t[]\n}\n" },
	{ "containers/00000/encoded", "cdefghij" },
	{ "objects/00000/object.json",
	  "{\n\t\"vendor\":\t\"nvidia\",\n\t\"target\":\t\"sm_90a\",\n"
	  "\t\"target_kind\":\t\"fatbin_entry\",\n\t\"target_raw\":\t\"90\",\n"
	  "\t\"kind\":\t\"cubin\",\n\t\"codec\":\t\"none\",\n\t\"codec_flags\":\t\"0x11\",\n"
	  "\t\"payload_size\":\t9,\n\t\"inspection\":\t\"unexamined\",\n"
	  "\t\"problems\":\t[{\n\t\t\t\"code\":\t\"truncated\",\n\t\t\t\"offset\":\t30,\n"
	  "\t\t\t\"field\":\t\"size\",\n\t\t\t\"message\":\t\"It ends early.\"\n\t\t}],\n"
	  "\t\"entry_kind\":\t2,\n\t\"version\":\t\"1.7\",\n\t\"identifier\":\t\"a.cu\",\n"
	  "\t\"options\":\tnull,\n\t\"scrambled\":\tfalse\n}\n" },
	{ "objects/00001/object.json",
	  "{\n\t\"vendor\":\t\"nvidia\",\n\t\"target\":\t\"compute_90\",\n"
	  "\t\"target_kind\":\t\"fatbin_entry\",\n\t\"target_raw\":\t\"90\",\n"
	  "\t\"kind\":\t\"ptx\",\n\t\"codec\":\t\"unsupported\",\n"
	  "\t\"codec_flags\":\t\"0xffffffffffffffff\",\n"
	  "\t\"payload_size\":\t\"0x20000000000001\",\n\t\"inspection\":\t\"unexamined\",\n"
	  "\t\"problems\":\t[],\n"
	  "\t\"entry_kind\":\t0,\n\t\"version\":\tnull,\n\t\"identifier\":\tnull,\n"
	  "\t\"options\":\t\"-O3\",\n\t\"scrambled\":\ttrue\n}\n" },
	{ "objects/00003/object.json",
	  "{\n\t\"vendor\":\t\"other\",\n\t\"target\":\tnull,\n"
	  "\t\"target_kind\":\t\"bundle_id\",\n\t\"target_raw\":\t\"host-x86_64\",\n"
	  "\t\"kind\":\t\"host\",\n\t\"codec\":\t\"none\",\n\t\"codec_flags\":\t\"0x0\",\n"
	  "\t\"payload_size\":\t0,\n\t\"inspection\":\t\"unexamined\",\n\t\"problems\":\t[]\n}\n" },
	{ "objects/00000/location.json",
	  "{\n\t\"id\":\t\"00000\",\n\t\"container\":\t\"00000\",\n\t\"entry_index\":\t0,\n"
	  "\t\"space\":\t\"artifact\",\n"
	  "\t\"header\":\t{\n\t\t\"offset\":\t12,\n\t\t\"size\":\t4\n\t},\n"
	  "\t\"encoded\":\t{\n\t\t\"offset\":\t16,\n\t\t\"size\":\t3\n\t},\n"
	  "\t\"artifact_range\":\t{\n\t\t\"offset\":\t16,\n\t\t\"size\":\t3\n\t},\n"
	  AROUND SECTION_AND_SEGMENT "],\n"
	  "\t\"uri\":\t\"file://lib%20a%25.so#offset=16&size=3\"\n}\n" },
	{ "objects/00002/location.json",
	  "{\n\t\"id\":\t\"00002\",\n\t\"container\":\t\"00001\",\n\t\"entry_index\":\t0,\n"
	  "\t\"space\":\t\"decoded\",\n"
	  "\t\"header\":\t{\n\t\t\"offset\":\t32,\n\t\t\"size\":\t30\n\t},\n"
	  "\t\"encoded\":\t{\n\t\t\"offset\":\t4000,\n\t\t\"size\":\t96\n\t},\n"
	  "\t\"artifact_range\":\t{\n\t\t\"offset\":\t20,\n\t\t\"size\":\t10\n\t},\n"
	  AROUND "],\n\t\"uri\":\tnull\n}\n" },
	{ "objects/00000/payload", "ghi" },
	{ "objects/00001/encoded", "j" },
	{ "targets/sm_90a/target.json",
	  "{\n\t\"target\":\t\"sm_90a\",\n\t\"vendor\":\t\"nvidia\",\n\t\"kind\":\t\"sm\",\n"
	  "\t\"family\":\t\"Hopper\",\n\t\"objects\":\t1,\n"
	  "\t\"kernel_analysis\":\t\"unrequested\"\n}\n" },
	{ "targets/%/target.json",
	  "{\n\t\"target\":\t\"\",\n\t\"vendor\":\t\"other\",\n\t\"kind\":\t\"other\",\n"
	  "\t\"family\":\tnull,\n\t\"objects\":\t4,\n"
	  "\t\"kernel_analysis\":\t\"unrequested\"\n}\n" },
	{ "targets/%/objects", "00000\n00001\n00002\n00003\n" },
	{ "targets/gfx90a:xnack+/objects", "00001\n00002\n" },
};
/* clang-format on */

static void shows_what_the_inventory_says(void **state)
{
	struct hand_made *f = *state;

	for (size_t i = 0; i < COUNT(contents); i++)
		expect_text(&f->fs, contents[i].path, contents[i].text);
}

/* Complete, without reasons and problems. */
static void shows_an_empty_inventory(void **state)
{
	struct hand_made *f = *state;
	struct dec_artifact empty = { .name = { "x", 1 }, .size = 36 };
	struct gfs_node node;

	f->fs.artifact = &empty;
	expect_text(&f->fs, "problems.json", "[]\n");
	expect_text(&f->fs, "artifact.json",
		    "{\n\t\"name\":\t\"x\",\n\t\"size\":\t36,\n"
		    "\t\"sha256\":"
		    "\t\"74e7e5bb9d22d6db26bf76946d40fff3ea9f0346b884fd0694920fccfad15e33\","
		    "\n\t\"format\":\t\"other\",\n"
		    "\t\"containers\":\t0,\n\t\"objects\":\t0,\n\t\"targets\":\t0,\n"
		    "\t\"inventory\":\t{\n\t\t\"state\":\t\"complete\",\n\t\t\"reasons\":\t[]\n"
		    "\t}\n}\n");
	assert_int_equal(gfs_walk(&f->fs, "objects/00000", &node), -ENOENT);
	assert_int_equal(gfs_walk(&f->fs, "targets/sm_90", &node), -ENOENT);
	assert_false(gfs_node_from_ino(&f->fs, 32, &node));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		HAND_MADE(shows_what_the_inventory_says),
		HAND_MADE(shows_an_empty_inventory),
	};

	return cmocka_run_group_tests_name("tree texts", tests, NULL, NULL);
}
