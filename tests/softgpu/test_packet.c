/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <string.h>

/* A change to G1: WIDTH bytes at OFF; up to four, WIDTH 0 ends. ERROR "" means valid. */
struct edit {
	unsigned int off;
	unsigned int width;
	uint64_t v;
};

struct parse_case {
	const char *name;
	struct edit edits[4];
	const char *error;
	uint32_t hsa_status;
};

static void check_parse(void **state)
{
	const struct parse_case *c = *state;
	struct packet p = golden(1);
	struct sg_descriptor d;
	struct sg_packet_error err;
	char text[SG_DETAIL_MAX];
	bool ok;

	for (size_t i = 0; i < COUNT(c->edits) && c->edits[i].width; i++)
		p = with(p, c->edits[i].off, c->edits[i].width, c->edits[i].v);
	ok = sg_replay(p.bytes, sizeof(p.bytes), 9, SG_MODE_SOFTGPU, &d, &err);
	assert_int_equal(sg_packet_error_text(err, text, sizeof(text)), strlen(c->error));
	assert_string_equal(text, c->error);
	assert_int_equal(sg_packet_error_hsa_status(err), c->hsa_status);
	assert_int_equal(ok, c->error[0] == '\0');
	if (ok) {
		assert_int_equal(d.packet_index, 9);
		assert_memory_equal(d.bytes, p.bytes, sizeof(d.bytes));
	}
}

/* aql.md 2.1, right column */
static const struct parse_case fields_2_1[] = {
	{ "2.1 type: 0 is unsupported",
	  { { 0, 1, 0 } },
	  "UnsupportedType { packet_type: 0 }",
	  0x1009 },
	{ "2.1 type: 1 is still invalid", { { 0, 1, 1 } }, "StillInvalid", 0x1009 },
	{ "2.1 type: 2 is parsed", { { 0, 1, 2 } }, "", 0 },
	{ "2.1 type: 3 is accepted", { { 0, 1, 3 } }, "", 0 },
	{ "2.1 type: 4 is unsupported",
	  { { 0, 1, 4 } },
	  "UnsupportedType { packet_type: 4 }",
	  0x1009 },
	{ "2.1 type: 5 is accepted", { { 0, 1, 5 } }, "", 0 },
	{ "2.1 type: 6 is unsupported",
	  { { 0, 1, 6 } },
	  "UnsupportedType { packet_type: 6 }",
	  0x1009 },
	{ "2.1 type: 255 is unsupported",
	  { { 0, 1, 255 } },
	  "UnsupportedType { packet_type: 255 }",
	  0x1009 },
	{ "2.1 type: low byte only, 0x0101 is invalid",
	  { { 0, 2, 0x0101 } },
	  "StillInvalid",
	  0x1009 },
	{ "2.1 barrier bit is not looked at", { { 0, 2, 0x0102 } }, "", 0 },
	{ "2.1 fence scope 3 passes", { { 0, 2, 0x1e02 } }, "", 0 },
	{ "2.1 header bits 13 to 15 pass", { { 0, 2, 0xe002 } }, "", 0 },
	{ "2.1 setup bits 0-1: 0 is refused",
	  { { 2, 2, 0 } },
	  "BadDimensions { dimensions: 0 }",
	  0x100D },
	{ "2.1 setup bits 0-1: 3 passes", { { 2, 2, 3 } }, "", 0 },
	{ "2.1 setup 5 is taken as 1-D", { { 2, 2, 5 } }, "", 0 },
	{ "2.1 setup 4 has no dimensions",
	  { { 2, 2, 4 } },
	  "BadDimensions { dimensions: 0 }",
	  0x100D },
	{ "2.1 workgroup x 0", { { 4, 2, 0 } }, "ZeroWorkgroup { dim: 0 }", 0x1001 },
	{ "2.1 workgroup has no upper bound",
	  { { 2, 2, 3 },
	    { 4, 6, 0xffffffffffff },
	    { 12, 8, 0xffffffffffffffff },
	    { 20, 4, 0xffffffff } },
	  "",
	  0 },
	{ "2.1 zero grid shows as smaller",
	  { { 12, 4, 0 } },
	  "GridSmallerThanWorkgroup { dim: 0 }",
	  0x100D },
	{ "2.1 grid has no upper bound", { { 12, 4, 0xffffffff } }, "", 0 },
	{ "2.1 grid need not be a multiple", { { 12, 4, 65 } }, "", 0 },
	{ "2.1 reserved0 and reserved2 pass",
	  { { 10, 2, 0xffff }, { 48, 8, 0xffffffffffffffff } },
	  "",
	  0 },
	{ "2.1 any segment size", { { 24, 8, 0xffffffffffffffff } }, "", 0 },
	{ "2.1 kernel_object 0", { { 32, 8, 0 } }, "", 0 },
	{ "2.1 kernarg_address unaligned", { { 40, 8, 0x1001 } }, "", 0 },
	{ "2.1 completion_signal forged", { { 56, 8, 0x1234 } }, "", 0 },
	{ "2.1 barrier: reserved words and dependencies",
	  { { 0, 8, 0xffffffffffff0003 }, { 8, 8, 0x1234 }, { 48, 8, 1 } },
	  "",
	  0 },
};

/* aql.md 2.2 in its order; each row that has one also breaks a later rule */
static const struct parse_case steps_2_2[] = {
	{ "2.2 step 2: type 1 before anything else",
	  { { 0, 4, 1 }, { 4, 2, 0 } },
	  "StillInvalid",
	  0x1009 },
	{ "2.2 step 3: type before setup",
	  { { 0, 4, 7 } },
	  "UnsupportedType { packet_type: 7 }",
	  0x1009 },
	{ "2.2 accept: barrier with a bad body", { { 0, 4, 3 }, { 4, 2, 0 } }, "", 0 },
	{ "2.2 step 4: setup before workgroup",
	  { { 2, 2, 8 }, { 4, 2, 0 } },
	  "BadDimensions { dimensions: 0 }",
	  0x100D },
	{ "2.2 step 5: workgroup x before grid x",
	  { { 4, 2, 0 }, { 12, 4, 0 } },
	  "ZeroWorkgroup { dim: 0 }",
	  0x1001 },
	{ "2.2 step 6: grid x before workgroup y",
	  { { 6, 2, 0 }, { 12, 4, 32 } },
	  "GridSmallerThanWorkgroup { dim: 0 }",
	  0x100D },
	{ "2.2 step 5: workgroup y in 1-D", { { 6, 2, 0 } }, "ZeroWorkgroup { dim: 1 }", 0x1001 },
	{ "2.2 step 6: grid y before dims",
	  { { 6, 2, 2 } },
	  "GridSmallerThanWorkgroup { dim: 1 }",
	  0x100D },
	{ "2.2 step 5: workgroup z", { { 8, 2, 0 } }, "ZeroWorkgroup { dim: 2 }", 0x1001 },
	{ "2.2 step 6: grid z",
	  { { 2, 2, 3 }, { 8, 2, 3 }, { 20, 4, 2 } },
	  "GridSmallerThanWorkgroup { dim: 2 }",
	  0x100D },
	{ "2.2 step 7: workgroup y of 1-D",
	  { { 6, 2, 2 }, { 16, 4, 2 } },
	  "DimConstraint { detail: \"dims=1 requires workgroup y=z=1\" }",
	  0x100D },
	{ "2.2 step 7: workgroup z of 1-D",
	  { { 8, 2, 2 }, { 20, 4, 2 } },
	  "DimConstraint { detail: \"dims=1 requires workgroup y=z=1\" }",
	  0x100D },
	{ "2.2 step 8: grid y of 1-D",
	  { { 16, 4, 2 } },
	  "DimConstraint { detail: \"dims=1 requires grid y=z=1\" }",
	  0x100D },
	{ "2.2 step 8: grid z of 1-D",
	  { { 20, 4, 2 } },
	  "DimConstraint { detail: \"dims=1 requires grid y=z=1\" }",
	  0x100D },
	{ "2.2 step 9: workgroup z of 2-D",
	  { { 2, 2, 2 }, { 8, 2, 2 }, { 20, 4, 2 } },
	  "DimConstraint { detail: \"dims=2 requires workgroup/grid z=1\" }",
	  0x100D },
	{ "2.2 step 9: grid z of 2-D",
	  { { 2, 2, 2 }, { 20, 4, 2 } },
	  "DimConstraint { detail: \"dims=2 requires workgroup/grid z=1\" }",
	  0x100D },
	{ "2.2 step 10: 2-D with y", { { 2, 2, 2 }, { 6, 2, 4 }, { 16, 4, 9 } }, "", 0 },
	{ "2.2 step 10: 3-D",
	  { { 2, 2, 3 }, { 6, 4, 0x00040004 }, { 16, 4, 9 }, { 20, 4, 9 } },
	  "",
	  0 },
};

/* aql.md 2.2 step 1 */
struct length_case {
	const char *name;
	size_t len;
	const char *error;
};

static const struct length_case lengths[] = {
	{ "2.2 step 1: 0 bytes", 0, "WrongLength { got: 0 }" },
	{ "2.2 step 1: 63 bytes", 63, "WrongLength { got: 63 }" },
	{ "2.2 step 1: 65 bytes", 65, "WrongLength { got: 65 }" },
	{ "2.2 step 1: 65536 bytes", 65536, "WrongLength { got: 65536 }" },
};

static void check_length(void **state)
{
	const struct length_case *c = *state;
	static uint8_t bytes[65536];
	struct sg_descriptor d;
	struct sg_packet_error err;
	char text[SG_DETAIL_MAX];

	assert_false(sg_replay(bytes, c->len, 0, SG_MODE_SOFTGPU, &d, &err));
	sg_packet_error_text(err, text, sizeof(text));
	assert_string_equal(text, c->error);
	assert_int_equal(sg_packet_error_hsa_status(err), 0x1009);
}

/* aql.md 1.10 */
struct golden_case {
	const char *name;
	unsigned int n;
	const char *error;
};

static const struct golden_case goldens[] = {
	{ "G1 dispatch", 1, "" },
	{ "G2 dispatch with system fences", 2, "" },
	{ "G3 barrier-AND", 3, "" },
	{ "G4 zero workgroup", 4, "ZeroWorkgroup { dim: 0 }" },
	{ "G5 grid smaller", 5, "GridSmallerThanWorkgroup { dim: 0 }" },
	{ "G6 no dimensions", 6, "BadDimensions { dimensions: 0 }" },
	{ "G7 agent dispatch", 7, "UnsupportedType { packet_type: 4 }" },
};

static void check_golden(void **state)
{
	const struct golden_case *c = *state;
	struct packet p = golden(c->n);
	struct sg_descriptor d;
	struct sg_packet_error err;
	char text[SG_DETAIL_MAX];

	assert_int_equal(sg_replay(p.bytes, 64, 0, SG_MODE_SOFTGPU, &d, &err), !c->error[0]);
	sg_packet_error_text(err, text, sizeof(text));
	assert_string_equal(text, c->error);
}

static void descriptor_of_dispatch(void **state)
{
	struct packet p = golden(2);
	struct sg_descriptor d;
	struct sg_packet_error err;

	(void)state;
	p = with(p, 2, 2, 7);
	p = with(p, 4, 6, 0x000400030002);
	p = with(p, 12, 4, 0x11121314);
	p = with(p, 16, 4, 0x21222324);
	p = with(p, 20, 4, 0x31323334);
	p = with(p, 24, 4, 0x41424344);
	p = with(p, 28, 4, 0x51525354);
	p = with(p, 32, 8, 0xf1f2f3f4f5f6f7f8);
	p = with(p, 40, 8, 0xe1e2e3e4e5e6e7e8);
	p = with(p, 56, 8, 0xd1d2d3d4d5d6d7d8);
	assert_true(sg_replay(p.bytes, 64, UINT64_MAX, SG_MODE_SOFTGPU, &d, &err));
	assert_true(d.packet_index == UINT64_MAX);
	assert_int_equal(d.packet_type, 2);
	assert_int_equal(d.header, 0x1402);
	assert_int_equal(d.setup, 7);
	assert_int_equal(d.dimensions, 3);
	assert_int_equal(d.workgroup_size[0], 2);
	assert_int_equal(d.workgroup_size[1], 3);
	assert_int_equal(d.workgroup_size[2], 4);
	assert_int_equal(d.grid_size[0], 0x11121314);
	assert_int_equal(d.grid_size[1], 0x21222324);
	assert_int_equal(d.grid_size[2], 0x31323334);
	assert_int_equal(d.private_segment_size, 0x41424344);
	assert_int_equal(d.group_segment_size, 0x51525354);
	assert_true(d.kernel_object == 0xf1f2f3f4f5f6f7f8);
	assert_int_equal(d.kernarg.class, SG_KERNARG_FOREIGN_OPAQUE);
	assert_true(d.kernarg.address == 0xe1e2e3e4e5e6e7e8);
	assert_int_equal(d.kernarg.alloc_id, 0);
	assert_true(d.completion_signal == 0xd1d2d3d4d5d6d7d8);
}

static void descriptor_of_barrier(void **state)
{
	struct packet p;
	struct sg_descriptor d;
	struct sg_packet_error err;

	(void)state;
	memset(p.bytes, 0xff, sizeof(p.bytes));
	p = with(p, 0, 2, 0x0105);
	assert_true(sg_replay(p.bytes, 64, 3, SG_MODE_SOFTGPU, &d, &err));
	assert_int_equal(d.packet_type, 5);
	assert_int_equal(d.header, 0x0105);
	assert_int_equal(d.setup, 0);
	assert_int_equal(d.dimensions, 0);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(d.workgroup_size[i], 0);
		assert_int_equal(d.grid_size[i], 0);
	}
	assert_int_equal(d.private_segment_size, 0);
	assert_int_equal(d.group_segment_size, 0);
	assert_int_equal(d.kernel_object, 0);
	assert_int_equal(d.kernarg.class, SG_KERNARG_NULL);
	assert_int_equal(d.kernarg.address, 0);
	assert_true(d.completion_signal == UINT64_MAX);
	assert_memory_equal(d.bytes, p.bytes, 64);
}

static void replay_never_owns_kernarg(void **state)
{
	struct world w = open_world();
	uint64_t base = make_memory(w.dev, SG_SPACE_REGION_FINE_KERNARG, 64);
	struct packet p = dispatch(base, 0);
	struct sg_descriptor d;
	struct sg_packet_error err;

	(void)state;
	assert_true(sg_replay(p.bytes, 64, 0, SG_MODE_SOFTGPU, &d, &err));
	assert_int_equal(d.kernarg.class, SG_KERNARG_FOREIGN_OPAQUE);
	p = dispatch(0, 0);
	assert_true(sg_replay(p.bytes, 64, 0, SG_MODE_HSA, &d, &err));
	assert_int_equal(d.kernarg.class, SG_KERNARG_NULL);
	close_world(&w);
}

static void failure_leaves_descriptor(void **state)
{
	struct packet p = golden(4);
	struct sg_descriptor d = { .packet_index = 77 };
	struct sg_packet_error err;

	(void)state;
	assert_false(sg_replay(p.bytes, 64, 1, SG_MODE_SOFTGPU, &d, &err));
	assert_int_equal(d.packet_index, 77);
	assert_int_equal(d.packet_type, 0);
}

struct vendor_case {
	const char *name;
	enum sg_mode mode;
	uint8_t format;
	uint32_t cond;
	bool valid;
};

static const struct vendor_case vendors[] = {
	{ "barrier-value, softgpu: rejected", SG_MODE_SOFTGPU, 2, 0, false },
	{ "barrier-value, hsa: eq", SG_MODE_HSA, 2, 0, true },
	{ "barrier-value, hsa: gte", SG_MODE_HSA, 2, 3, true },
	{ "barrier-value, hsa: condition 4", SG_MODE_HSA, 2, 4, false },
	{ "PM4 IB, hsa: rejected", SG_MODE_HSA, 1, 0, false },
	{ "extended dispatch, hsa: rejected", SG_MODE_HSA, 3, 0, false },
	{ "all zeros, hsa: rejected", SG_MODE_HSA, 0, 0, false },
};

static void check_vendor(void **state)
{
	const struct vendor_case *c = *state;
	struct packet p = with(barrier_value(S0, 1, 2, c->cond, S0), 2, 1, c->format);
	struct sg_descriptor d;
	struct sg_packet_error err;
	char text[SG_DETAIL_MAX];

	assert_int_equal(sg_replay(p.bytes, 64, 0, c->mode, &d, &err), c->valid);
	sg_packet_error_text(err, text, sizeof(text));
	assert_string_equal(text, c->valid ? "" : "UnsupportedType { packet_type: 0 }");
	if (c->valid)
		assert_int_equal(d.packet_type, 0);
}

struct name_case {
	const char *name; /* also what is expected */
	uint8_t type;
};

static const struct name_case names[] = {
	{ "vendor_specific", 0 }, { "invalid", 1 },	   { "kernel_dispatch", 2 },
	{ "barrier_and", 3 },	  { "agent_dispatch", 4 }, { "barrier_or", 5 },
	{ "unassigned", 6 },	  { "unassigned", 255 },
};

static void check_name(void **state)
{
	const struct name_case *c = *state;

	assert_string_equal(sg_packet_type_name(c->type), c->name);
}

static void texts_are_cut_to_the_buffer(void **state)
{
	char text[8];

	(void)state;
	assert_int_equal(sg_packet_error_text((struct sg_packet_error){ 2, 0 }, text, sizeof(text)),
			 7);
	assert_string_equal(text, "StillIn");
	assert_int_equal(sg_packet_error_text((struct sg_packet_error){ 9999, 0 }, text, 8), 0);
	assert_string_equal(text, "");
	assert_int_equal(sg_packet_error_hsa_status((struct sg_packet_error){ 9999, 0 }), 0);
}

static void kernarg_texts(void **state)
{
	char text[SG_DETAIL_MAX];

	(void)state;
	sg_kernarg_text((struct sg_kernarg){ SG_KERNARG_NULL, 0, 0 }, text, sizeof(text));
	assert_string_equal(text, "null");
	sg_kernarg_text((struct sg_kernarg){ SG_KERNARG_SOFTGPU, 4096, UINT64_MAX }, text,
			sizeof(text));
	assert_string_equal(text, "softgpu:18446744073709551615");
	sg_kernarg_text((struct sg_kernarg){ SG_KERNARG_FOREIGN_OPAQUE, 1, 0 }, text, sizeof(text));
	assert_string_equal(text, "foreign_opaque");
	assert_string_equal(sg_kernarg_class_name(SG_KERNARG_SOFTGPU), "softgpu");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(descriptor_of_dispatch),
		cmocka_unit_test(descriptor_of_barrier),
		cmocka_unit_test(replay_never_owns_kernarg),
		cmocka_unit_test(failure_leaves_descriptor),
		cmocka_unit_test(texts_are_cut_to_the_buffer),
		cmocka_unit_test(kernarg_texts),
	};

	return RUN_ROWS(fields_2_1, check_parse) + RUN_ROWS(steps_2_2, check_parse) +
	       RUN_ROWS(lengths, check_length) + RUN_ROWS(goldens, check_golden) +
	       RUN_ROWS(vendors, check_vendor) + RUN_ROWS(names, check_name) +
	       cmocka_run_group_tests(tests, NULL, NULL);
}
