/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#define BASE UINT64_C(0x100000000000)
#define MIB (UINT64_C(1) << 20)

/* aql.md 5, the four spaces */
struct space_case {
	const char *name; /* also the space's */
	enum sg_space space;
	uint32_t flags;
	enum sg_location location;
	uint64_t kind;
};

static const struct space_case spaces_5[] = {
	{ "region_fine_kernarg", SG_SPACE_REGION_FINE_KERNARG, 3, SG_LOCATION_NONE, 2 },
	{ "region_coarse", SG_SPACE_REGION_COARSE, 4, SG_LOCATION_NONE, 2 },
	{ "pool_fine_host", SG_SPACE_POOL_FINE_HOST, 3, SG_LOCATION_CPU, 3 },
	{ "pool_coarse_device", SG_SPACE_POOL_COARSE_DEVICE, 4, SG_LOCATION_GPU, 3 },
};

static void check_space(void **state)
{
	const struct space_case *c = *state;
	struct world w = open_world();
	struct sg_space_info info;
	uint64_t base = make_memory(w.dev, c->space, 5000);
	struct packet p = dispatch(base, 0);
	struct sg_capture capture = { .number = 9 };

	sg_space_get_info(w.dev, c->space, &info);
	assert_string_equal(info.name, c->name);
	assert_int_equal(info.segment, 0);
	assert_int_equal(info.flags, c->flags);
	assert_int_equal(info.location, c->location);
	assert_int_equal(info.size, 268435456);
	assert_int_equal(info.in_use, 8192);
	assert_true(info.handle >> 56 == c->kind);
	publish(w.dev, Q0, p, 1); /* every space counts as ours */
	assert_int_equal(sg_capture_get(w.dev, 0, &capture), SG_OK);
	assert_int_equal(capture.desc.kernarg.class, SG_KERNARG_SOFTGPU);
	close_world(&w);
}

/* aql.md 5, the rules of allocation */
struct size_case {
	const char *name;
	uint64_t asked;
	enum sg_status status;
	uint64_t rounded;
	const char *outcome;
};

static const struct size_case sizes_5[] = {
	{ "5 size 0", 0, SG_INVALID_ARGUMENT, 0, "invalid_argument" },
	{ "5 size 1", 1, SG_OK, 4096, "ok" },
	{ "5 granule", 4096, SG_OK, 4096, "ok" },
	{ "5 granule and 1", 4097, SG_OK, 8192, "ok" },
	{ "5 largest single", 67108864, SG_OK, 67108864, "ok" },
	{ "5 over max single, as asked", 67108865, SG_INVALID_ALLOCATION, 0, "invalid_allocation" },
	{ "5 2^64 - 1", UINT64_MAX, SG_INVALID_ALLOCATION, 0, "invalid_allocation" },
};

static void check_size(void **state)
{
	const struct size_case *c = *state;
	struct world w = open_world();
	struct sg_space_info space;
	struct sg_allocation_info info;
	uint64_t base = 0;
	char line[SG_LINE_MAX];

	sg_space_get_info(w.dev, SG_SPACE_POOL_FINE_HOST, &space);
	assert_int_equal(sg_memory_allocate(w.dev, space.handle, c->asked, &base), c->status);
	assert_true(base == (c->status == SG_OK ? BASE : 0));
	assert_true(sg_trace_next(w.dev, &w.seen, line, sizeof(line)) > 0);
	assert_non_null(strstr(line, "\"type\":\"memory_allocate\",\"seq\":5,\"space_handle\":"));
	assert_non_null(strstr(line, c->outcome));
	assert_non_null(
		strstr(line, c->status == SG_OK ? "\"ptr\":17592186044416," : "\"ptr\":0,"));
	if (c->status == SG_OK) {
		assert_int_equal(sg_memory_find(w.dev, base, &info), SG_OK);
		assert_int_equal(info.size, c->rounded);
		assert_int_equal(info.id, 1);
		assert_int_equal(info.space, SG_SPACE_POOL_FINE_HOST);
	}
	close_world(&w);
}

static void capacity_is_shared(void **state)
{
	struct world w = open_world();
	struct sg_space_info space;
	struct sg_device_info info;
	uint64_t base = 0;
	uint64_t first;

	(void)state;
	first = make_memory(w.dev, SG_SPACE_REGION_FINE_KERNARG, 64 * MIB);
	make_memory(w.dev, SG_SPACE_REGION_COARSE, 64 * MIB);
	make_memory(w.dev, SG_SPACE_POOL_FINE_HOST, 64 * MIB);
	make_memory(w.dev, SG_SPACE_POOL_COARSE_DEVICE, 64 * MIB - 4096);
	sg_space_get_info(w.dev, SG_SPACE_REGION_COARSE, &space);
	assert_int_equal(sg_memory_allocate(w.dev, space.handle, 4097, &base), SG_OUT_OF_RESOURCES);
	assert_int_equal(sg_memory_allocate(w.dev, space.handle, 4096, &base), SG_OK);
	assert_int_equal(sg_memory_allocate(w.dev, space.handle, 1, &base), SG_OUT_OF_RESOURCES);
	sg_device_get_info(w.dev, &info);
	assert_int_equal(info.memory_in_use, 268435456);
	assert_int_equal(info.live_allocations, 5);
	assert_int_equal(sg_memory_free(w.dev, first), SG_OK);
	assert_int_equal(sg_memory_allocate(w.dev, space.handle, 1, &base), SG_OK);
	close_world(&w);
}

static void order_of_checks(void **state)
{
	struct world w = open_world();
	struct sg_allocation_info info;
	uint64_t base = 0;
	uint8_t byte = 0;
	size_t n;

	(void)state;
	assert_int_equal(sg_memory_allocate(w.dev, 0, 0, &base), SG_INVALID_ARGUMENT);
	assert_int_equal(sg_memory_allocate(w.dev, S0, 0, &base), SG_INVALID_ARGUMENT);
	assert_int_equal(sg_memory_allocate(w.dev, AGENT, 1, &base), SG_INVALID_ARGUMENT);
	assert_int_equal(sg_memory_allocate(w.dev, UINT64_C(0x0200000200000001), 0, &base),
			 SG_INVALID_REGION);
	assert_int_equal(sg_memory_allocate(w.dev, UINT64_C(0x0300000200000000), 0, &base),
			 SG_INVALID_POOL);
	expect_types(&w, ""); /* up to here nothing is traced */
	sg_device_shutdown(w.dev);
	forget_events(&w);
	assert_int_equal(sg_memory_allocate(w.dev, UINT64_C(0x0200000200000000), 1, &base),
			 SG_NOT_INITIALIZED);
	assert_int_equal(sg_memory_free(w.dev, BASE), SG_NOT_INITIALIZED);
	assert_int_equal(sg_memory_find(w.dev, BASE, &info), SG_NOT_INITIALIZED);
	assert_int_equal(sg_memory_read(w.dev, BASE, 0, &byte, 1, &n), SG_NOT_INITIALIZED);
	assert_int_equal(sg_memory_write(w.dev, BASE, 0, &byte, 1, &n), SG_NOT_INITIALIZED);
	expect_types(&w, "");
	close_world(&w);
}

static void ids_and_addresses_are_never_reused(void **state)
{
	struct world w = open_world();
	struct sg_allocation_info info = { .id = 0 };
	uint64_t base = make_memory(w.dev, SG_SPACE_REGION_COARSE, 4096);
	uint64_t empty;

	(void)state;
	assert_true(base == BASE);
	assert_int_equal(sg_memory_free(w.dev, base), SG_OK);
	assert_true(make_memory(w.dev, SG_SPACE_REGION_COARSE, 65537) == BASE + 0x10000);
	assert_true(make_memory(w.dev, SG_SPACE_REGION_COARSE, 65536) == BASE + 0x30000);
	assert_true(make_memory(w.dev, SG_SPACE_REGION_COARSE, 1) == BASE + 0x40000);
	assert_int_equal(sg_memory_allocate(w.dev, UINT64_C(0x0200000200000000), 0, &empty),
			 SG_INVALID_ARGUMENT); /* takes no id */
	sg_device_shutdown(w.dev);
	sg_device_init(w.dev);
	base = make_memory(w.dev, SG_SPACE_REGION_COARSE, 1);
	assert_true(base == BASE + 0x50000);
	assert_int_equal(sg_memory_find(w.dev, base, &info), SG_OK);
	assert_int_equal(info.id, 5);
	close_world(&w);
}

/* Gives one byte for every request of a GiB; nobody looks at the contents. */
static void *tiny_alloc(void *ctx, size_t count, size_t size)
{
	(void)ctx;
	return count == UINT64_C(1) << 30 ? calloc(1, 1) : calloc(count, size);
}

static void tiny_release(void *ctx, void *p)
{
	(void)ctx;
	free(p);
}

static void address_space_ends(void **state)
{
	struct sg_config config;
	struct sg_device *dev;
	struct sg_space_info space;
	uint64_t base = 0;
	uint64_t last = 0;
	unsigned int n = 0;

	(void)state;
	sg_config_default(&config);
	config.memory_total = config.memory_single = UINT64_C(1) << 30;
	config.mem = (struct sg_allocator){ tiny_alloc, tiny_release, NULL };
	assert_int_equal(sg_device_open(&config, &dev), SG_OK);
	sg_space_get_info(dev, SG_SPACE_REGION_COARSE, &space);
	/* 16 TiB in pieces of 1 GiB */
	while (sg_memory_allocate(dev, space.handle, UINT64_C(1) << 30, &base) == SG_OK) {
		last = base;
		n++;
		assert_int_equal(sg_memory_free(dev, base), SG_OK);
	}
	assert_int_equal(n, 16384);
	assert_true(last == UINT64_C(0x200000000000) - (UINT64_C(1) << 30));
	sg_device_close(dev);
}

/* aql.md 5, free: exactly the base */
struct free_case {
	const char *name;
	uint64_t ptr;
	enum sg_status status;
};

static const struct free_case frees_5[] = {
	{ "5 free the base", BASE, SG_OK },
	{ "5 free null", 0, SG_INVALID_ARGUMENT },
	{ "5 free interior", BASE + 64, SG_INVALID_ARGUMENT },
	{ "5 free unknown", BASE + 0x10000, SG_INVALID_ARGUMENT },
	{ "5 free below", BASE - 1, SG_INVALID_ARGUMENT },
	{ "5 free all ones", UINT64_MAX, SG_INVALID_ARGUMENT },
};

static void check_free(void **state)
{
	const struct free_case *c = *state;
	struct world w = open_world();
	struct sg_device_info info;
	char line[SG_LINE_MAX];

	make_memory(w.dev, SG_SPACE_REGION_FINE_KERNARG, 100);
	forget_events(&w);
	assert_int_equal(sg_memory_free(w.dev, c->ptr), c->status);
	sg_device_get_info(w.dev, &info);
	assert_int_equal(info.live_allocations, c->status == SG_OK ? 0 : 1);
	assert_int_equal(info.memory_in_use, c->status == SG_OK ? 0 : 4096);
	assert_true(sg_trace_next(w.dev, &w.seen, line, sizeof(line)) > 0);
	assert_non_null(strstr(line, c->status == SG_OK ? "\"outcome\":\"ok\""
							: "\"outcome\":\"invalid_argument\""));
	if (c->status == SG_OK)
		assert_int_equal(sg_memory_free(w.dev, c->ptr), SG_INVALID_ARGUMENT);
	close_world(&w);
}

static void free_lines(void **state)
{
	static const char *const lines[] = {
		"{\"type\":\"memory_allocate\",\"seq\":5,\"space_handle\":144115196665790464,"
		"\"size\":64,"
		"\"ptr\":17592186044416,\"outcome\":\"ok\"}",
		"{\"type\":\"memory_free\",\"seq\":6,\"ptr\":17592186044417,"
		"\"outcome\":\"invalid_argument\"}",
		"{\"type\":\"memory_free\",\"seq\":7,\"ptr\":17592186044416,\"outcome\":\"ok\"}",
		NULL,
	};
	struct world w = open_world();
	uint64_t base = make_memory(w.dev, SG_SPACE_REGION_FINE_KERNARG, 64);

	(void)state;
	sg_memory_free(w.dev, base + 1);
	sg_memory_free(w.dev, base);
	expect_lines(&w, lines);
	close_world(&w);
}

/* aql.md 5, kernarg classes; one allocation of 8192 at BASE, a freed one at BASE + 64 KiB */
struct kernarg_case {
	const char *name;
	uint64_t address;
	enum sg_kernarg_class class;
	uint64_t alloc_id;
	uint64_t inside; /* allocation that the capture names */
	uint64_t offset;
};

static const struct kernarg_case kernargs_5[] = {
	{ "5 kernarg 0", 0, SG_KERNARG_NULL, 0, 0, 0 },
	{ "5 kernarg at the base", BASE, SG_KERNARG_SOFTGPU, 1, 1, 0 },
	{ "5 kernarg inside", BASE + 16, SG_KERNARG_FOREIGN_OPAQUE, 0, 1, 16 },
	{ "5 kernarg at the last byte", BASE + 8191, SG_KERNARG_FOREIGN_OPAQUE, 0, 1, 8191 },
	{ "5 kernarg at the end", BASE + 8192, SG_KERNARG_FOREIGN_OPAQUE, 0, 0, 0 },
	{ "5 kernarg freed", BASE + 0x10000, SG_KERNARG_FOREIGN_OPAQUE, 0, 0, 0 },
	{ "5 kernarg in the ring", UINT64_C(0x200000100000), SG_KERNARG_FOREIGN_OPAQUE, 0, 0, 0 },
	{ "5 kernarg elsewhere", 0x7fff12345678, SG_KERNARG_FOREIGN_OPAQUE, 0, 0, 0 },
	{ "5 kernarg all ones", UINT64_MAX, SG_KERNARG_FOREIGN_OPAQUE, 0, 0, 0 },
};

static void check_kernarg(void **state)
{
	const struct kernarg_case *c = *state;
	struct world w = open_world();
	struct sg_capture capture = { .number = 9 };

	make_memory(w.dev, SG_SPACE_REGION_FINE_KERNARG, 8192);
	sg_memory_free(w.dev, make_memory(w.dev, SG_SPACE_REGION_FINE_KERNARG, 64));
	publish(w.dev, Q0, dispatch(c->address, 0), 1);
	assert_int_equal(sg_capture_get(w.dev, 0, &capture), SG_OK);
	assert_int_equal(capture.desc.kernarg.class, c->class);
	assert_true(capture.desc.kernarg.address == c->address);
	assert_int_equal(capture.desc.kernarg.alloc_id, c->alloc_id);
	assert_int_equal(capture.kernarg_alloc_id, c->inside);
	assert_int_equal(capture.kernarg_offset, c->offset);
	close_world(&w);
}

/* Bytes */
static const struct window_case windows[] = {
	{ "data: all", 0, 4096, 4096, SG_OK, 4096 },
	{ "data: crossing the end", 4090, 10, 6, SG_OK, 6 },
	{ "data: at the end", 4096, 10, 0, SG_INVALID_ALLOCATION, 0 },
	{ "data: far past the end", UINT64_MAX, 10, 0, SG_INVALID_ALLOCATION, 0 },
	{ "data: nothing", 4096, 0, 0, SG_OK, 0 },
};

static void check_window(void **state)
{
	struct world w = open_world();
	uint64_t base = make_memory(w.dev, SG_SPACE_REGION_FINE_KERNARG, 1);

	expect_window(w.dev, base, sg_memory_write, sg_memory_read, *state);
	close_world(&w);
}

static void bytes_start_as_zeros_and_need_the_base(void **state)
{
	struct world w = open_world();
	uint64_t base = make_memory(w.dev, SG_SPACE_REGION_FINE_KERNARG, 4096);
	struct sg_allocation_info info;
	uint8_t out[4096];
	static const uint8_t zeros[4096];
	size_t done = 0;

	(void)state;
	assert_int_equal(sg_memory_read(w.dev, base, 0, out, 4096, &done), SG_OK);
	assert_memory_equal(out, zeros, 4096);
	assert_int_equal(sg_memory_read(w.dev, base + 1, 0, out, 1, &done), SG_INVALID_ARGUMENT);
	assert_int_equal(sg_memory_write(w.dev, base + 1, 0, out, 1, &done), SG_INVALID_ARGUMENT);
	assert_int_equal(sg_memory_find(w.dev, base + 4095, &info), SG_OK);
	assert_true(info.base == base);
	assert_int_equal(sg_memory_find(w.dev, base + 4096, &info), SG_INVALID_ARGUMENT);
	assert_int_equal(sg_memory_find(w.dev, base - 1, &info), SG_INVALID_ARGUMENT);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest rules_5[] = {
		NAMED("5 capacity, shared by all four", capacity_is_shared),
		NAMED("5 order of checks", order_of_checks),
		NAMED("5 alloc_id, addresses", ids_and_addresses_are_never_reused),
		NAMED("5 free, traced", free_lines),
		NAMED("5 contents", bytes_start_as_zeros_and_need_the_base),
		cmocka_unit_test(address_space_ends),
	};

	return RUN_ROWS(spaces_5, check_space) + RUN_ROWS(sizes_5, check_size) +
	       RUN_ROWS(frees_5, check_free) + RUN_ROWS(kernargs_5, check_kernarg) +
	       RUN_ROWS(windows, check_window) + cmocka_run_group_tests(rules_5, NULL, NULL);
}
