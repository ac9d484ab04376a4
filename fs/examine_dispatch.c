#include "examine_dispatch.h"

#include <string.h>

#include "examine_json.h"

/* hsa.h: KERNEL_DISPATCH (2), barrier bit, acquire and release scope system (2 each). */
#define HEADER (2 | 1 << 8 | 2 << 9 | 2 << 11)

/* Offsets of hsa_kernel_dispatch_packet_t; what is left out stays 0. */
enum {
	AT_HEADER = 0,
	AT_SETUP = 2,
	AT_WORKGROUP = 4,
	AT_GRID = 12,
	AT_PRIVATE = 24,
	AT_GROUP = 28,
	AT_KERNEL_OBJECT = 32,
};

/* A work-group that every kernel can run with, if it may have so many work-items. */
#define WORKGROUP_SIZE 64

static void put(unsigned char *at, uint64_t value, int size)
{
	for (int i = 0; i < size; i++)
		at[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t count_of(const struct dec_kernel *kernel, enum dec_fact_id id, uint64_t otherwise)
{
	const struct dec_fact *fact = dec_kernel_fact(kernel, id);

	return fact ? fact->u : otherwise;
}

/* What the packet's 32 bits hold. */
static uint64_t segment_of(const struct dec_kernel *kernel, enum dec_fact_id id)
{
	uint64_t size = count_of(kernel, id, 0);

	return size < UINT32_MAX ? size : UINT32_MAX;
}

/* False: none is required, or one that no packet can have. */
static bool required(const struct dec_kernel *kernel, uint32_t size[3])
{
	const struct dec_fact *fact = dec_kernel_fact(kernel, DEC_FACT_REQD_WORKGROUP_SIZE);

	for (int i = 0; i < 3 && fact; i++) {
		size[i] = fact->triple[i];
		if (size[i] == 0 || size[i] > UINT16_MAX)
			return false;
	}
	return fact;
}

static void workgroup(const struct dec_kernel *kernel, uint32_t size[3])
{
	uint64_t most;

	if (required(kernel, size))
		return;
	most = count_of(kernel, DEC_FACT_MAX_FLAT_WORKGROUP_SIZE, WORKGROUP_SIZE);
	size[0] = most > 0 && most < WORKGROUP_SIZE ? (uint32_t)most : WORKGROUP_SIZE;
	size[1] = 1;
	size[2] = 1;
}

void gfs_dispatch_template(uint32_t object, const struct dec_kernel *kernel,
			   unsigned char packet[GFS_DISPATCH_SIZE])
{
	uint32_t size[3];

	workgroup(kernel, size);
	memset(packet, 0, GFS_DISPATCH_SIZE);
	put(packet + AT_HEADER, HEADER, 2);
	put(packet + AT_SETUP, size[1] > 1 || size[2] > 1 ? 3 : 1, 2);
	for (int i = 0; i < 3; i++) {
		put(packet + AT_WORKGROUP + 2 * i, size[i], 2);
		put(packet + AT_GRID + 4 * i, size[i], 4);
	}
	put(packet + AT_PRIVATE, segment_of(kernel, DEC_FACT_PRIVATE_SEGMENT_FIXED_SIZE), 4);
	put(packet + AT_GROUP, segment_of(kernel, DEC_FACT_GROUP_SEGMENT_FIXED_SIZE), 4);
	put(packet + AT_KERNEL_OBJECT, gfs_kernel_object(object, kernel), 8);
}
