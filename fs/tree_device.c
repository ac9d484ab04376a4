/* devices/<device>: would this artifact run there? a is the device's place in decode's table. */
#include "tree.h"

#include <errno.h>
#include <stdio.h>

#include "device.h"
#include "device_kernels.h"
#include "device_show.h"

static const struct dec_device *device_of(struct gfs_node node)
{
	return dec_device_at(node.a);
}

static bool is_shown(struct gfs *fs, struct gfs_node node)
{
	return gfs_device_is_shown(fs, device_of(node));
}

static int device_show(struct gfs *fs, struct gfs_node node, char **text, size_t *size)
{
	return gfs_device_show(fs, device_of(node), text, size);
}

static int report_show(struct gfs *fs, struct gfs_node node, char **text, size_t *size)
{
	return gfs_device_report_show(fs, device_of(node), text, size);
}

static int report_ready(struct gfs *fs, struct gfs_node node, struct gfs_waiter *waiter)
{
	return gfs_vendor_kernels_ready(fs, device_of(node)->vendor, waiter);
}

static const struct gfs_entry device_inspect[] = {
	TEXT_ROW(115, "report.json", report_show, .ready = report_ready, .costly = true),
	END_OF_DIR,
};

static const struct gfs_entry device_dir[] = {
	TEXT_ROW(113, "device.json", device_show, .costly = true),
	DIR_ROW(114, "inspect", .children = device_inspect),
	END_OF_DIR,
};

static const struct gfs_entry device_entry =
	DIR_ROW(112, NULL, .children = device_dir, .exists = is_shown);

static int devices_count(struct gfs *fs, struct gfs_node dir, uint32_t *count)
{
	(void)fs;
	(void)dir;
	*count = dec_device_count();
	return 0;
}

static int devices_name(struct gfs *fs, struct gfs_node dir, uint32_t index,
			char name[GFS_NAME_MAX + 1])
{
	(void)fs;
	(void)dir;
	snprintf(name, GFS_NAME_MAX + 1, "%s", dec_device_at(index)->name);
	return 0;
}

static int devices_find(struct gfs *fs, struct gfs_node dir, const char *name, uint32_t *index)
{
	const struct dec_device *device = dec_device_named(name);

	(void)fs;
	(void)dir;
	for (*index = 0; device && dec_device_at(*index) != device; ++*index)
		;
	return device ? 0 : -ENOENT;
}

const struct gfs_collection gfs_devices = {
	.each = &device_entry,
	.count = devices_count,
	.name = devices_name,
	.find = devices_find,
};
