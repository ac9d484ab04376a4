#include "inspected.h"

#include <stdlib.h>

#define HEAD ".version 8.0\n.target sm_90\n" /* 27 bytes */

struct text_case {
	const char *name;
	const char *text; /* may hold NULs: size counts */
	size_t size;
	enum dec_state state;
	const char *target; /* as it is spelled, an '=' and as it is normalised */
	const char *kernels, *problems;
};

#define TEXT(s) (s), sizeof(s) - 1
#define OK DEC_STATE_COMPLETE
#define PART DEC_STATE_PARTIAL
#define BAD DEC_STATE_MALFORMED
#define SM90 "sm_90=compute_90"
#define PLAIN "k param_bytes=0 binding="

static const struct text_case texts[] = {
	/* Headers */
	{ "header alone", TEXT(HEAD), OK, SM90, "", "" },
	{ "all on one line",
	  TEXT(".version 8.0 .target sm_90a .address_size 64 .visible .entry k(){}"), OK,
	  "sm_90a=compute_90a", PLAIN "visible", "" },
	{ "CR alone", TEXT("// x\r.version 8.0\r.target sm_90\r.entry k() // {\r{ // }\r}"), OK,
	  SM90, PLAIN "local", "" },
	{ "CR and LF", TEXT(".version 8.0\r\n.target sm_90\r\n.weak .entry k()\r\n{\r\n}\r\n"), OK,
	  SM90, PLAIN "weak", "" },
	{ "byte-order mark", TEXT("\xef\xbb\xbf" HEAD ".entry k(){}"), OK, SM90, PLAIN "local",
	  "malformed_ptx text@0" },
	{ "family target, spelled compute", TEXT(".version 9.0 .target compute_100f .entry k(){}"),
	  OK, "compute_100f=compute_100f", PLAIN "local", "" },
	{ "two targets and an option",
	  TEXT(".version 8.0\n.target texmode_unified, /* , */ sm_90a ,\n sm_80\n.entry k(){}"), OK,
	  "sm_90a=compute_90a", PLAIN "local", "" },
	{ "no target", TEXT(".version 8.0\n.entry k(){}"), BAD, "=", PLAIN "local",
	  "malformed_ptx .target@0!" },
	{ "target of no architecture", TEXT(".version 8.0\n.target debug\n.entry k(){}"), BAD, "=",
	  PLAIN "local", "malformed_ptx .target@0!" },

	/* What is a kernel */
	{ "no list", TEXT(HEAD ".entry k{}"), OK, SM90, PLAIN "local", "" },
	{ "comments between all words", TEXT(HEAD ".visible/**/.entry//\nk/*(*/(/**/)/**/{}"), OK,
	  SM90, PLAIN "visible", "" },
	{ "names of all characters", TEXT(HEAD ".entry _k$1(){} .entry $a(){} .entry %b(){}"), OK,
	  SM90,
	  "_k$1 param_bytes=0 binding=local; $a param_bytes=0 binding=local; "
	  "%b param_bytes=0 binding=local",
	  "" },
	{ "declared, then defined", TEXT(HEAD ".entry k(); .visible .entry k(){}"), OK, SM90,
	  PLAIN "visible", "" },
	{ "declared alone", TEXT(HEAD ".extern .entry k(.param .u32 a);"), OK, SM90, "", "" },
	{ "functions",
	  TEXT(HEAD ".func (.param .b32 r) f(.param .b8 a[4]) { { } }\n.extern .func g;"), OK, SM90,
	  "", "" },
	{ "words in comments and strings",
	  TEXT(HEAD "// .entry a(){}\n/* .entry b(){} */ .file 1 \".entry c(){}\"\n.entry k(){}"),
	  OK, SM90, PLAIN "local", "" },
	{ "words in bodies", TEXT(HEAD ".entry k(){ .pragma \"}\"; // }\n /* } */ .entry x(){} }"),
	  OK, SM90, PLAIN "local", "" },
	{ "initialisers and sections",
	  TEXT(HEAD ".global .b8 s[3] = {1,2,3};\n.section .debug_info { .b8 1 }\n.entry k(){}"),
	  OK, SM90, PLAIN "local", "" },
	{ "linkage of something else", TEXT(HEAD ".visible .global .u32 g;\n.entry k(){}"), OK,
	  SM90, PLAIN "local", "" },

	/* Parameters */
	{ "the example of the notes",
	  TEXT(HEAD
	       ".entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20], .param .u16 d,"
	       " .param .u64 .ptr .global .align 4 e, .param .f64 f, .param .b32 g[3]){}"),
	  OK, SM90,
	  "k param_bytes=68 binding=local [a u8 @0+1/1] [b u64 @8+8/8] [c b8[20] @16+20/16] "
	  "[d u16 @36+2/2] [e u64 global @40+8/4] [f f64 @48+8/8] [g b32[3] @56+12/4]",
	  "" },
	{ "pointers",
	  TEXT(HEAD ".entry k(.param.u64.ptr p, .param.u64.ptr.align 8 q,"
		    " .param.u32.ptr.shared s, .param .u64 .ptr .const .align 1 c){}"),
	  OK, SM90,
	  "k param_bytes=32 binding=local [p u64 generic @0+8] [q u64 generic @8+8/8] "
	  "[s u32 shared @16+4] [c u64 const @24+8/1]",
	  "" },
	{ "handles and wide types",
	  TEXT(HEAD ".entry k(.param .f16 h, .param .texref t,"
		    " .param .b128 w, .param .bf16x2 x){}"),
	  OK, SM90,
	  "k param_bytes=36 binding=local [h f16 @0+2/2] [t texref @8+8/8] [w b128 @16+16/16] "
	  "[x bf16x2 @32+4/4]",
	  "" },
	{ "sizes in other bases",
	  TEXT(HEAD ".entry k(.param .align 0x10 .b8 a[0x14], .param .b8"
		    " b[WARP_SZ]){}"),
	  OK, SM90, "k param_bytes=52 binding=local [a b8[20] @0+20/16] [b b8[32] @20+32/1]", "" },
	{ "type that is not known",
	  TEXT(HEAD ".entry k(.param .u32 a, .param .u33 b)"
		    " .maxnreg 8 {}\n.entry l(){}"),
	  PART, SM90,
	  "k max_registers=8 binding=local [a u32 @0+4/4]; l param_bytes=0 binding=local",
	  "malformed_ptx entry@58!" },
	{ "no type", TEXT(HEAD ".entry k(.param a){}"), PART, SM90, "k binding=local",
	  "malformed_ptx entry@43!" },
	{ "no name", TEXT(HEAD ".entry k(.param .u32){}"), PART, SM90, "k binding=local",
	  "malformed_ptx entry@47!" },
	{ "array without a size", TEXT(HEAD ".entry k(.param .b8 a[]){}"), PART, SM90,
	  "k binding=local", "malformed_ptx entry@49!" },
	{ "array past 4 GiB", TEXT(HEAD ".entry k(.param .b64 a[4294967295]){}"), PART, SM90,
	  "k binding=local", "malformed_ptx entry@61!" },
	{ "alignment of 3", TEXT(HEAD ".entry k(.param .align 3 .b8 a[4]){}"), PART, SM90,
	  "k binding=local", "malformed_ptx entry@50!" },
	{ "comma at the end", TEXT(HEAD ".entry k(.param .u32 a,){}"), PART, SM90,
	  "k binding=local [a u32 @0+4/4]", "malformed_ptx entry@50!" },

	/* Directives */
	{ "all of them",
	  TEXT(HEAD ".entry k() .maxntid 128, 2 .reqntid 32,4,1 .minnctapersm 3 .maxnctapersm 4"
		    " .maxnreg 40 .explicitcluster .reqnctapercluster 2 .maxclusterrank 8"
		    " .blocksareclusters .noreturn .pragma \"a{\", \"b;\"; .unknown 7 {}"),
	  OK, SM90,
	  "k param_bytes=0 max_registers=40 max_threads=128,2,1 required_threads=32,4,1 "
	  "min_blocks_per_sm=3 max_blocks_per_sm=4 cluster=2,1,1 explicit_cluster=1 "
	  "max_cluster_rank=8 binding=local",
	  "" },
	{ "directive without its number", TEXT(HEAD ".entry k() .maxntid .maxnreg 8 {}"), PART,
	  SM90, "k param_bytes=0 max_registers=8 binding=local", "malformed_ptx entry@47!" },
	{ "number past 32 bits", TEXT(HEAD ".entry k() .maxnreg 4294967296 {}"), PART, SM90,
	  PLAIN "local", "malformed_ptx entry@47!" },

	/* Broken texts keep what was read */
	{ "body that does not end", TEXT(HEAD ".entry k(){ {"), PART, SM90, PLAIN "local",
	  "malformed_ptx entry@37!; malformed_ptx text@37!" },
	{ "comment that does not end", TEXT(HEAD ".entry k(){} /* .entry l(){}"), PART, SM90,
	  PLAIN "local", "malformed_ptx text@40!" },
	{ "string that does not end", TEXT(HEAD ".entry k(){} .file 1 \"x"), PART, SM90,
	  PLAIN "local", "malformed_ptx text@48!" },
	{ "entry without a name", TEXT(HEAD ".entry (){} .entry k(){}"), PART, SM90, PLAIN "local",
	  "malformed_ptx text@34!" },
	{ "entry without a body", TEXT(HEAD ".entry j() .visible .entry k(){}"), PART, SM90,
	  PLAIN "visible", "malformed_ptx entry@38!" },
	{ "text ends in a list", TEXT(HEAD ".entry k(.param .u32 a"), PART, SM90, "",
	  "malformed_ptx entry@49!" },
	{ "text ends before the body", TEXT(HEAD ".entry k()"), PART, SM90, "",
	  "malformed_ptx entry@37!" },
	{ "brace too many", TEXT(HEAD ".entry k(){} } } .entry l(){}"), PART, SM90,
	  "k param_bytes=0 binding=local; l param_bytes=0 binding=local",
	  "malformed_ptx text@40!" },
	{ "byte that is no text", TEXT(HEAD "\x80 .entry k(){}"), PART, SM90, PLAIN "local",
	  "malformed_ptx text@27!" },
	{ "defined twice", TEXT(HEAD ".entry k(){} .entry k(){}"), OK, SM90,
	  "k param_bytes=0 binding=local; k param_bytes=0 binding=local",
	  "duplicate_kernel name@40" },

	/* Modules */
	{ "NUL at the end", TEXT(HEAD ".entry k(){}\0\0\0\0"), OK, SM90, PLAIN "local", "" },
	{ "NUL in a body", TEXT(HEAD ".entry k(){\0}"), PART, SM90, PLAIN "local",
	  "malformed_ptx entry@37!; malformed_ptx text@37!; size_mismatch text@39" },
	{ "other bytes behind the NUL", TEXT(HEAD ".entry k(){}\0.entry l(){}"), OK, SM90,
	  PLAIN "local", "size_mismatch text@40" },
	{ "two modules", TEXT(HEAD ".entry k(){}\n.version 7.0 .target sm_80 .entry k(){}"), OK,
	  SM90, "k param_bytes=0 binding=local; k param_bytes=0 binding=local",
	  "malformed_ptx text@40" },
	{ "three modules, NULs between",
	  TEXT(HEAD "\0\0.version 7.0 .target sm_80 .entry k(){}\0"
		    ".version 6.0 .target sm_70 .entry l(){}\0"),
	  OK, SM90, "k param_bytes=0 binding=local; l param_bytes=0 binding=local",
	  "malformed_ptx text@29" },
	{ "second module without a target", TEXT(HEAD ".version 7.0 .entry k(){}"), PART, SM90,
	  PLAIN "local", "malformed_ptx text@27; malformed_ptx text@36!" },
};

static struct dec_inspection *of_text(const struct text_case *c)
{
	uint8_t *exact = malloc(c->size ? c->size : 1);
	struct dec_inspection *in;

	assert_non_null(exact);
	memcpy(exact, c->text, c->size);
	in = inspected(exact, c->size, strchr(c->target, '=') + 1);
	free(exact);
	return in;
}

static void check_text(void **state)
{
	const struct text_case *c = *state;
	struct dec_inspection *in = of_text(c);
	struct line target = { .len = 0 }, kernels = { .len = 0 }, problems = { .len = 0 };

	assert_int_equal(in->representation, DEC_REPRESENTATION_PTX);
	say(&target, "%s=%s", in->payload_target_raw.p, in->payload_target.p);
	expect_line(&target, c->target);
	assert_int_equal(in->evidence,
			 target.len > 1 ? DEC_EVIDENCE_PTX_TARGET : DEC_EVIDENCE_NONE);
	say_problems(&problems, in);
	expect_line(&problems, c->problems);
	assert_int_equal(in->state, c->state);
	say_kernels(&kernels, in);
	expect_line(&kernels, c->kernels);
	dec_inspection_free(in);
}

/* ---- ranges ------------------------------------------------------------------------------ */

static void code_ranges(void **state)
{
	static const char text[] =
		HEAD "\n .visible\n.entry k(.param .u32 a)\n{ ret; } .entry l{}\0";
	struct dec_inspection *in = inspected(text, sizeof(text), "compute_90");

	(void)state;
	assert_int_equal(in->kernel_count, 2);
	assert_int_equal(in->kernels[0].code.offset, 29);
	assert_memory_equal(text + 29, ".visible\n.entry k(.param .u32 a)\n{ ret; }",
			    in->kernels[0].code.size);
	assert_int_equal(in->kernels[0].code.size, 41);
	assert_memory_equal(text + in->kernels[1].code.offset, ".entry l{}", 10);
	assert_int_equal(in->kernels[1].code.size, 10);
	dec_inspection_free(in);
}

/* ---- metadata ------------------------------------------------------------------------------ */

struct meta_case {
	const char *name;
	const char *text;
	const char *metadata;
};

static const struct meta_case metas[] = {
	{ "one module",
	  ".version 8.0 .target sm_90a, texmode_unified, sm_80 .address_size 64 .entry k(){}",
	  "{version:'8.0' targets:['sm_90a' 'sm_80'] options:['texmode_unified'] address_size:64 "
	  "modules:[{version:'8.0' targets:['sm_90a' 'sm_80'] options:['texmode_unified'] "
	  "address_size:64 kernels:1}]}" },
	{ "declarations that stay such",
	  HEAD ".extern .entry a(); .entry b(); .entry c(); .entry b(){} .entry d(){}",
	  "{version:'8.0' targets:['sm_90'] options:[] modules:[{version:'8.0' targets:['sm_90'] "
	  "options:[] kernels:2 declarations:['a' 'c']}]}" },
	{ "two modules",
	  HEAD ".entry a(); .version 7.0 .target sm_80 .address_size 32 .entry a(){}",
	  "{version:'8.0' targets:['sm_90'] options:[] modules:[{version:'8.0' targets:['sm_90'] "
	  "options:[] kernels:0 declarations:['a']} {version:'7.0' targets:['sm_80'] options:[] "
	  "address_size:32 kernels:1}]}" },
};

static void check_meta(void **state)
{
	const struct meta_case *c = *state;
	struct dec_inspection *in = inspected(c->text, strlen(c->text), "compute_90");
	struct line found = { .len = 0 };

	assert_non_null(in->metadata);
	say_meta(&found, in->metadata);
	expect_line(&found, c->metadata);
	dec_inspection_free(in);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void too_many_kernels(void **state)
{
	struct bytes b = { 0 };
	struct dec_error err;
	struct dec_inspection *in;

	(void)state;
	add_text(&b, HEAD);
	for (unsigned i = 0; i < DEC_KERNELS_MAX + 2; i++)
		add_text(&b, ".entry k{}");
	in = examine(b.p, b.len, "compute_90", 0, &err);
	assert_non_null(in);
	assert_int_equal(in->kernel_count, DEC_KERNELS_MAX);
	assert_int_equal(in->state, DEC_STATE_PARTIAL);
	assert_int_equal(in->problems[0].code, DEC_PROBLEM_LIMIT);
	assert_int_equal(in->problems[0].offset, INSPECTED_AT + 27 + 10 * DEC_KERNELS_MAX);
	dec_inspection_free(in);
	bytes_free(&b);
}

int main(void)
{
	const struct CMUnitTest others[] = {
		cmocka_unit_test(code_ranges),
		cmocka_unit_test(too_many_kernels),
	};

	return RUN_ROWS(texts, check_text) + RUN_ROWS(metas, check_meta) +
	       cmocka_run_group_tests_name("others", others, NULL, NULL);
}
