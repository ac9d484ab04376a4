/* SPDX-License-Identifier: MIT */
#include "internal.h"

static const struct error_row {
	const char *name;
	const char *key;
	const char *text;
	uint32_t hsa_status;
} errors[SG_PACKET_ERROR_COUNT] = {
#define X(id, name, key, text, status) [SG_PACKET_E_##id] = { name, key, text, status },
#include "errors.def"
#undef X
};

static const struct error_row *error_row(struct sg_packet_error err)
{
	return &errors[err.code < SG_PACKET_ERROR_COUNT ? err.code : SG_PACKET_OK];
}

size_t sg_packet_error_text(struct sg_packet_error err, char *buf, size_t size)
{
	const struct error_row *row = error_row(err);
	struct sg_text t = sg_text_on(buf, size);

	if (!row->name)
		return 0;
	sg_text_str(&t, row->name);
	if (!row->key)
		return t.len;
	sg_text_str(&t, " { ");
	sg_text_str(&t, row->key);
	sg_text_str(&t, ": ");
	if (row->text)
		sg_text_quoted(&t, row->text);
	else
		sg_text_u64(&t, err.arg);
	sg_text_str(&t, " }");
	return t.len;
}

uint32_t sg_packet_error_hsa_status(struct sg_packet_error err)
{
	return error_row(err)->hsa_status;
}

static bool fail(struct sg_packet_error *err, enum sg_packet_error_code code, uint64_t arg)
{
	*err = (struct sg_packet_error){ code, arg };
	return false;
}

static const char *const kernarg_classes[] = {
	[SG_KERNARG_NULL] = "null",
	[SG_KERNARG_SOFTGPU] = "softgpu",
	[SG_KERNARG_FOREIGN_OPAQUE] = "foreign_opaque",
};

const char *sg_kernarg_class_name(enum sg_kernarg_class class)
{
	return kernarg_classes[class];
}

size_t sg_kernarg_text(struct sg_kernarg kernarg, char *buf, size_t size)
{
	struct sg_text t = sg_text_on(buf, size);

	sg_text_str(&t, kernarg_classes[kernarg.class]);
	if (kernarg.class == SG_KERNARG_SOFTGPU) {
		sg_text_str(&t, ":");
		sg_text_u64(&t, kernarg.alloc_id);
	}
	return t.len;
}

/* Without a device nobody can own an address. */
static struct sg_kernarg kernarg_without_owner(uint64_t address)
{
	enum sg_kernarg_class class = address ? SG_KERNARG_FOREIGN_OPAQUE : SG_KERNARG_NULL;

	return (struct sg_kernarg){ class, address, 0 };
}

/* One function per kind of packet; the common fields of D are set. */

/* Steps 5 and 6 of aql.md 2.2 take turns, for all three dimensions whatever the setup says. */
static bool check_sizes(const struct sg_descriptor *d, struct sg_packet_error *err)
{
	for (unsigned int i = 0; i < 3; i++) {
		if (d->workgroup_size[i] == 0)
			return fail(err, SG_PACKET_E_ZERO_WORKGROUP, i);
		if (d->grid_size[i] < d->workgroup_size[i])
			return fail(err, SG_PACKET_E_GRID_SMALLER, i);
	}
	return true;
}

static bool check_unused_dimensions(const struct sg_descriptor *d, struct sg_packet_error *err)
{
	const uint16_t *wg = d->workgroup_size;
	const uint32_t *grid = d->grid_size;

	if (d->dimensions == 1 && (wg[1] != 1 || wg[2] != 1))
		return fail(err, SG_PACKET_E_DIM1_WORKGROUP, 0);
	if (d->dimensions == 1 && (grid[1] != 1 || grid[2] != 1))
		return fail(err, SG_PACKET_E_DIM1_GRID, 0);
	if (d->dimensions == 2 && (wg[2] != 1 || grid[2] != 1))
		return fail(err, SG_PACKET_E_DIM2, 0);
	return true;
}

static bool parse_kernel_dispatch(const uint8_t *p, enum sg_mode mode, struct sg_descriptor *d,
				  struct sg_packet_error *err)
{
	const uint8_t *wg = p + offsetof(struct sg_layout_dispatch, workgroup_size);
	const uint8_t *grid = p + offsetof(struct sg_layout_dispatch, grid_size);

	(void)mode;
	d->setup = (uint16_t)SG_GET(p, dispatch, setup);
	d->dimensions = d->setup & 3;
	for (unsigned int i = 0; i < 3; i++) {
		d->workgroup_size[i] = (uint16_t)sg_le(wg + 2 * i, 2);
		d->grid_size[i] = (uint32_t)sg_le(grid + 4 * i, 4);
	}
	d->private_segment_size = (uint32_t)SG_GET(p, dispatch, private_segment_size);
	d->group_segment_size = (uint32_t)SG_GET(p, dispatch, group_segment_size);
	d->kernel_object = SG_GET(p, dispatch, kernel_object);
	d->kernarg = kernarg_without_owner(SG_GET(p, dispatch, kernarg_address));
	if (d->dimensions == 0)
		return fail(err, SG_PACKET_E_BAD_DIMENSIONS, 0);
	return check_sizes(d, err) && check_unused_dimensions(d, err);
}

static bool parse_barrier(const uint8_t *p, enum sg_mode mode, struct sg_descriptor *d,
			  struct sg_packet_error *err)
{
	(void)p;
	(void)mode;
	(void)d;
	(void)err;
	return true;
}

static bool parse_still_invalid(const uint8_t *p, enum sg_mode mode, struct sg_descriptor *d,
				struct sg_packet_error *err)
{
	(void)p;
	(void)mode;
	(void)d;
	return fail(err, SG_PACKET_E_STILL_INVALID, 0);
}

static bool parse_unsupported(const uint8_t *p, enum sg_mode mode, struct sg_descriptor *d,
			      struct sg_packet_error *err)
{
	(void)p;
	(void)mode;
	return fail(err, SG_PACKET_E_UNSUPPORTED_TYPE, d->packet_type);
}

/* Mode hsa knows one vendor packet, barrier-value, with the four conditions of hsa_ext_amd.h. */
static bool parse_vendor(const uint8_t *p, enum sg_mode mode, struct sg_descriptor *d,
			 struct sg_packet_error *err)
{
	if (mode == SG_MODE_HSA &&
	    SG_GET(p, barrier_value, amd_format) == SG_AMD_FORMAT_BARRIER_VALUE &&
	    SG_GET(p, barrier_value, cond) <= SG_CONDITION_GTE)
		return true;
	return parse_unsupported(p, mode, d, err);
}

static const struct packet_row {
	const char *name;
	bool (*parse)(const uint8_t *p, enum sg_mode mode, struct sg_descriptor *d,
		      struct sg_packet_error *err);
} packets[] = {
#define X(type, name, text, parse, waits) [type] = { text, parse },
#include "packets.def"
#undef X
};

static const struct packet_row *packet_row(uint8_t type)
{
	static const struct packet_row unassigned = { "unassigned", parse_unsupported };

	return type < sizeof(packets) / sizeof(packets[0]) ? &packets[type] : &unassigned;
}

const char *sg_packet_type_name(uint8_t type)
{
	return packet_row(type)->name;
}

bool sg_packet_parse(const uint8_t *bytes, uint64_t packet_index, enum sg_mode mode,
		     struct sg_descriptor *out, struct sg_packet_error *err)
{
	struct sg_descriptor d = { .packet_index = packet_index };

	d.header = (uint16_t)SG_GET(bytes, dispatch, header);
	d.packet_type = (uint8_t)(d.header & 0xff);
	d.completion_signal = SG_GET(bytes, dispatch, completion_signal);
	for (size_t i = 0; i < SG_PACKET_BYTES; i++)
		d.bytes[i] = bytes[i];
	if (!packet_row(d.packet_type)->parse(bytes, mode, &d, err))
		return false;
	*err = (struct sg_packet_error){ SG_PACKET_OK, 0 };
	*out = d;
	return true;
}

bool sg_replay(const uint8_t *bytes, size_t len, uint64_t packet_index, enum sg_mode mode,
	       struct sg_descriptor *out, struct sg_packet_error *err)
{
	if (len != SG_PACKET_BYTES)
		return fail(err, SG_PACKET_E_WRONG_LENGTH, len);
	return sg_packet_parse(bytes, packet_index, mode, out, err);
}
