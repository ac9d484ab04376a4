/* The device behind /queues, with the bounds that the options give it. */
#include <errno.h>

#include "queues.h"

/* clang-format off */
#define X(option, member, what) \
	static void set_##member(struct sg_config *config, uint64_t value) \
	{ \
		config->member = (uint32_t)value; \
	}
GFS_QUEUE_BOUND_LIST(X)
#undef X
/* clang-format on */

static const struct bound {
	const char *option;
	size_t offset; /* in struct gfs_queue_options */
	void (*set)(struct sg_config *config, uint64_t value);
} bounds[] = {
#define X(option, member, what)                                                                    \
	{ #option, offsetof(struct gfs_queue_options, member), set_##member },
	GFS_QUEUE_BOUND_LIST(X)
#undef X
};

#define BOUND_COUNT (sizeof(bounds) / sizeof(bounds[0]))

/* False: no device takes it. */
static bool set_bound(struct sg_config *config, const struct bound *bound,
		      const struct gfs_queue_options *options)
{
	uint64_t value = *(const uint64_t *)((const char *)options + bound->offset);

	if (value > UINT32_MAX)
		return false;
	bound->set(config, value);
	if (config->memory_single > config->memory_total)
		config->memory_single = config->memory_total;
	return true;
}

/* The option whose value no device takes, whatever the others are; NULL: none alone. */
static const char *find_wrong(const struct gfs_queue_options *options)
{
	for (size_t i = 0; i < BOUND_COUNT; i++) {
		struct sg_config config;
		struct sg_device *dev;
		enum sg_status status = SG_INVALID_ARGUMENT;

		sg_config_default(&config);
		if (set_bound(&config, &bounds[i], options))
			status = sg_device_open(&config, &dev);
		if (status == SG_INVALID_ARGUMENT)
			return bounds[i].option;
		sg_device_close(dev);
	}
	return NULL;
}

static int refuse_bounds(const struct gfs_queue_options *options, struct gfs_message *msg)
{
	const char *wrong = find_wrong(options);

	if (wrong)
		gfs_message_set(msg, GFS_EXIT_USAGE, "option %s: out of range", wrong);
	else
		gfs_message_set(msg, GFS_EXIT_USAGE,
				"options queue_captures and queue_kernarg: too much together");
	return -EINVAL;
}

int gfs_device_open(const struct gfs_queue_options *options, struct sg_device **dev,
		    struct gfs_message *msg)
{
	enum sg_status status = SG_OK;
	struct sg_config config;

	sg_config_default(&config);
	for (size_t i = 0; i < BOUND_COUNT && status == SG_OK; i++) {
		if (!set_bound(&config, &bounds[i], options))
			status = SG_INVALID_ARGUMENT;
	}
	if (status == SG_OK)
		status = sg_device_open(&config, dev);
	if (status == SG_INVALID_ARGUMENT)
		return refuse_bounds(options, msg);
	if (status == SG_OK)
		return 0;
	gfs_message_set(msg, GFS_EXIT_FAILURE, "queues: out of memory");
	return -ENOMEM;
}
