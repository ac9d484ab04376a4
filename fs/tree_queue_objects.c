/* queues/signals/<s> and queues/memory/<m>. */
#include "tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "queues.h"

/* ---- signals ------------------------------------------------------------------------------ */

static int handle_show(const struct gfs_at *at, struct gfs_text *text)
{
	gfs_text_print(text, "0x%016" PRIx64 "\n", at->object->handle);
	return 0;
}

static int value_show(const struct gfs_at *at, struct gfs_text *text)
{
	struct sg_signal_info info;
	enum sg_status status = sg_signal_get_info(at->q->dev, at->object->handle, &info);

	if (status == SG_OK)
		gfs_text_print(text, "%" PRId64 "\n", info.value);
	return gfs_queues_errno(status);
}

static int value_store(const struct gfs_at *at, const char *word)
{
	int64_t value;
	int rc = gfs_parse_i64(word, &value);

	if (rc != 0)
		return rc;
	return gfs_queues_errno(sg_signal_store(at->q->dev, at->object->handle, value));
}

/* Doorbells have no directory here. */
static int kind_show(const struct gfs_at *at, struct gfs_text *text)
{
	(void)at;
	gfs_text_print(text, "user\n");
	return 0;
}

/* Lines of packets that are listed; all rings together hold a million. */
#define USERS_MAX 4096

static void print_users(struct gfs_text *text, const struct sg_signal_user *users, size_t count)
{
	static const char *const roles[] = {
		[SG_ROLE_COMPLETION] = "completion",
		[SG_ROLE_DEPENDENCY] = "dependency",
	};

	for (size_t i = 0; i < count; i++)
		gfs_text_print(text,
			       "{\"queue_id\":%" PRIu64 ",\"packet_index\":%" PRIu64
			       ",\"type\":\"%s\",\"role\":\"%s\"}\n",
			       users[i].queue_id, users[i].packet_index,
			       sg_packet_type_name(users[i].packet_type), roles[users[i].role]);
}

static int users_show(const struct gfs_at *at, struct gfs_text *text)
{
	struct sg_signal_user *users = malloc(USERS_MAX * sizeof(*users));
	enum sg_status status;
	size_t total;

	if (!users)
		return -ENOMEM;
	status = sg_signal_users(at->q->dev, at->object->handle, users, USERS_MAX, &total);
	if (status == SG_OK) {
		print_users(text, users, total < USERS_MAX ? total : USERS_MAX);
		if (total > USERS_MAX)
			gfs_text_print(text, "{\"left_out\":%zu}\n", total - USERS_MAX);
	}
	free(users);
	return gfs_queues_errno(status);
}

#define OF_SIGNAL .of = GFS_CLASS_SIGNAL

const struct gfs_entry gfs_signal_dir[] = {
	SHOW_ROW(184, "handle", handle_show, OF_SIGNAL),
	STORE_ROW(185, "value", value_show, value_store, .watched = true, OF_SIGNAL),
	SHOW_ROW(186, "kind", kind_show, OF_SIGNAL),
	LIVE_RW_FILE(187, "wait", &gfs_file_wait, OF_SIGNAL),
	SHOW_ROW(188, "users", users_show, .costly = true, OF_SIGNAL),
	END_OF_DIR,
};

/* ---- memory ------------------------------------------------------------------------------- */

/* Zeros while there is none. */
static int info_of(const struct gfs_at *at, struct sg_allocation_info *info)
{
	*info = (struct sg_allocation_info){ 0 };
	if (!at->object->handle)
		return 0;
	return gfs_queues_errno(sg_memory_find(at->q->dev, at->object->handle, info));
}

/* clang-format off */
#define SHOW(fn, format, value) \
	static int fn(const struct gfs_at *at, struct gfs_text *text) \
	{ \
		struct sg_allocation_info info; \
		int rc = info_of(at, &info); \
\
		if (rc == 0) \
			gfs_text_print(text, format "\n", value); \
		return rc; \
	}
SHOW(size_show, "%" PRIu64, info.size)
SHOW(address_show, "0x%" PRIx64, info.base)
SHOW(alloc_id_show, "%" PRIu64, info.id)
/* clang-format on */

static int space_show(const struct gfs_at *at, struct gfs_text *text)
{
	struct sg_space_info info;

	sg_space_get_info(at->q->dev, at->object->space, &info);
	gfs_text_print(text, "%s\n", info.name);
	return 0;
}

static int space_store(const struct gfs_at *at, const char *word)
{
	struct sg_space_info info;

	for (int space = 0; space < SG_SPACE_COUNT; space++) {
		sg_space_get_info(at->q->dev, (enum sg_space)space, &info);
		if (strcmp(info.name, word) != 0)
			continue;
		if (at->object->handle)
			return -EBUSY;
		at->object->space = (enum sg_space)space;
		return 0;
	}
	return -EINVAL;
}

static int size_store(const struct gfs_at *at, const char *word)
{
	struct sg_space_info space;
	enum sg_status status;
	uint64_t size;
	int rc = gfs_parse_u64(word, &size);

	if (rc != 0)
		return rc;
	if (at->object->handle)
		return -EBUSY;
	sg_space_get_info(at->q->dev, at->object->space, &space);
	status = sg_memory_allocate(at->q->dev, space.handle, size, &at->object->handle);
	return status == SG_OUT_OF_RESOURCES ? -ENOMEM : gfs_queues_errno(status);
}

#define OF_MEMORY .of = GFS_CLASS_MEMORY

const struct gfs_entry gfs_memory_dir[] = {
	STORE_ROW(192, "space", space_show, space_store, OF_MEMORY),
	STORE_ROW(193, "size", size_show, size_store, OF_MEMORY),
	SHOW_ROW(194, "address", address_show, OF_MEMORY),
	SHOW_ROW(195, "alloc_id", alloc_id_show, OF_MEMORY),
	LIVE_RW_FILE(196, "data", &gfs_file_data, OF_MEMORY),
	END_OF_DIR,
};
