/* What a capture says of the kernel that it dispatches. */
#include "queue_files.h"

#include <fcntl.h>

#define KERNEL "objects/00007/inspect/kernels/"

/* The template of a kernel of the sample. */
static void template(struct gfs *fs, const char *kernel, uint8_t packet[SG_PACKET_BYTES])
{
	char path[128];
	size_t got;

	snprintf(path, sizeof(path), KERNEL "%s/dispatch.aql", kernel);
	assert_int_equal(gfs_read(fs, walk(fs, path), 0, packet, SG_PACKET_BYTES, &got, NULL), 0);
	assert_int_equal(got, SG_PACKET_BYTES);
}

/* What is read of the latest capture after this packet went in. */
static const char *capture(struct gfs *fs, const uint8_t packet[SG_PACKET_BYTES], const char *kind)
{
	struct gfs_file *f = open_file(fs, "queues/q/packets", O_WRONLY);
	char path[64];
	uint64_t n;

	assert_int_equal(put(f, 0, packet, SG_PACKET_BYTES), 0);
	gfs_file_close(f);
	n = number(fs, "queues/q/read_index") - 1;
	snprintf(path, sizeof(path), "queues/captures/%d.%s", (int)n, kind);
	return content(fs, path);
}

/* saxpy: 24 bytes of arguments at 8, at most 256 items. block_sum: 1024 bytes of LDS, 256x1x1. */
static const struct fit {
	const char *name;
	const char *kernel;
	int at; /* bytes of the template that are changed */
	int size;
	uint64_t value; /* an address: what is added to that of the memory */
	const char *findings;
} fits[] = {
	{ "template", "saxpy", 40, 8, 0, "[]" },
	{ "interior", "saxpy", 40, 8, 64, "[]" },
	{ "kernarg_missing", "saxpy", 40, 0, 0, "[\"kernarg_missing\"]" },
	{ "kernarg_foreign", "saxpy", 40, 8, 1 << 20, "[\"kernarg_foreign\"]" },
	{ "kernarg_short", "saxpy", 40, 8, 4096 - 16, "[\"kernarg_short\"]" },
	{ "kernarg_misaligned", "saxpy", 40, 8, 4, "[\"kernarg_misaligned\"]" },
	{ "group_segment_small", "block_sum", 28, 4, 1023, "[\"group_segment_small\"]" },
	{ "group_segment of more", "block_sum", 28, 4, 1025, "[]" },
	{ "workgroup_too_large", "saxpy", 4, 2, 257, "[\"workgroup_too_large\"]" },
	{ "workgroup_not_required", "block_sum", 4, 2, 128, "[\"workgroup_not_required\"]" },
};

static void test_findings(void **state)
{
	struct gfs *fs = *state;
	uint64_t address;

	assert_int_equal(make_dir(fs, "queues", "q"), 0);
	assert_int_equal(make_dir(fs, "queues/memory", "m"), 0);
	assert_int_equal(store(fs, "queues/memory/m/size", "4096"), 0);
	address = number(fs, "queues/memory/m/address");
	for (size_t i = 0; i < COUNT(fits); i++) {
		uint8_t packet[SG_PACKET_BYTES];
		char expected[128];
		const char *text;

		template(fs, fits[i].kernel, packet);
		if (fits[i].at != 40 || fits[i].size)
			write_le(packet + 40, 8, address);
		write_le(packet + fits[i].at, fits[i].size,
			 fits[i].value + (fits[i].at == 40 ? address : 0));
		write_le(packet + 12, 4, 1024);
		snprintf(expected, sizeof(expected), "\"findings\":\t%s", fits[i].findings);
		text = capture(fs, packet, "json");
		if (!strstr(text, expected))
			fail_msg("%s:\n%s", fits[i].name, text);
	}
}

static void test_arguments(void **state)
{
	static const uint8_t arguments[24] = { 1, 0, 0, 0, 2, 0, 0, 0, 3 };
	struct gfs *fs = *state;
	uint8_t packet[SG_PACKET_BYTES];
	struct gfs_file *f;
	const char *text;

	assert_int_equal(make_dir(fs, "queues", "q"), 0);
	assert_int_equal(make_dir(fs, "queues/memory", "m"), 0);
	assert_int_equal(store(fs, "queues/memory/m/size", "24"), 0);
	f = open_file(fs, "queues/memory/m/data", O_WRONLY);
	assert_int_equal(put(f, 0, arguments, sizeof(arguments)), 0);
	gfs_file_close(f);
	template(fs, "saxpy", packet);
	write_le(packet + 40, 8, number(fs, "queues/memory/m/address"));
	text = capture(fs, packet, "json");
	assert_non_null(strstr(text, "\"object\":\t\"00007\""));
	assert_non_null(strstr(text, "\"kernel\":\t\"saxpy\""));
	assert_non_null(strstr(text, "\"bytes\":\t\"01000000\""));
	assert_non_null(strstr(text, "\"bytes\":\t\"0300000000000000\""));
	assert_non_null(strstr(text, "\"kernarg_bytes\":\t\"010000000200000003\""));
	assert_non_null(strstr(capture(fs, packet, "replay.json"), "\"kernel\":\t\"saxpy\""));
}

static void test_unbound(void **state)
{
	static const uint64_t handles[] = {
		0, /* none */
		0xabcd, /* somebody else's */
		UINT64_C(0x4700ffff00000880), /* no such object */
		UINT64_C(0x4700000700000881), /* no descriptor there */
		UINT64_C(0x4700000000000000), /* an object without kernels of this kind */
	};
	struct gfs *fs = *state;
	uint8_t packet[SG_PACKET_BYTES];

	assert_int_equal(make_dir(fs, "queues", "q"), 0);
	for (size_t i = 0; i < COUNT(handles); i++) {
		make_packet(packet, handles[i]);
		assert_non_null(strstr(capture(fs, packet, "json"), "\"binding\":\tnull"));
	}
}

/* A kernel that needs scratch memory is not in the sample. */
static int open_scratch(void **state)
{
	return open_queues(state, DATA_DIR "/amd/co/gfx90a_sramecc+_xnack-_v5.hsaco");
}

static void test_private_segment(void **state)
{
	struct gfs *fs = *state;
	uint8_t packet[SG_PACKET_BYTES];
	size_t got;

	assert_int_equal(make_dir(fs, "queues", "q"), 0);
	assert_int_equal(gfs_read(fs, walk(fs, "objects/00000/inspect/kernels/priv/dispatch.aql"),
				  0, packet, sizeof(packet), &got, NULL),
			 0);
	assert_null(strstr(capture(fs, packet, "json"), "private_segment_small"));
	packet[24]--; /* one byte less */
	assert_non_null(strstr(capture(fs, packet, "json"), "\"private_segment_small\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		QUEUES_TEST(test_findings),
		cmocka_unit_test_setup_teardown(test_private_segment, open_scratch, close_queues),
		QUEUES_TEST(test_arguments),
		QUEUES_TEST(test_unbound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
