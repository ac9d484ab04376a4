/* SPDX-License-Identifier: MIT */
#include "internal.h"

static const char *const words[] = {
#define X(id, word) [SG_STATE_##id] = word,
	SG_STATE_LIST(X)
#undef X
};

const char *sg_state_name(enum sg_state state)
{
	return words[state];
}

static void number(struct sg_text *t, const char *before, uint64_t v)
{
	sg_text_str(t, before);
	sg_text_u64(t, v);
}

static void state_line(struct sg_text *t, const struct sg_queue_info *info)
{
	sg_text_str(t, words[info->state]);
	if (info->state == SG_STATE_ERROR) {
		sg_text_str(t, " ");
		sg_text_hex(t, info->hsa_status, 4);
	}
	if (info->state != SG_STATE_ACTIVE)
		number(t, " ", info->state_index);
	if (info->state == SG_STATE_BLOCKED_DEP) {
		sg_text_str(t, " ");
		sg_text_hex(t, info->state_signal, 16);
	}
	sg_text_str(t, "\n");
}

static void counter_line(struct sg_text *t, const char *word, uint64_t count)
{
	if (count) {
		number(t, word, count);
		sg_text_str(t, "\n");
	}
}

enum sg_status sg_queue_state_text(const struct sg_device *dev, uint64_t queue, char *buf,
				   size_t size, size_t *len)
{
	struct sg_queue_info info;
	struct sg_text t;
	enum sg_status status = sg_queue_get_info(dev, queue, &info);

	if (status != SG_OK)
		return status;
	t = sg_text_on(buf, size);
	if (info.paused)
		sg_text_str(&t, "paused\n");
	if (!info.paused || info.state != SG_STATE_ACTIVE)
		state_line(&t, &info);
	/* all that follows a barrier packet waits for it (aql.md 1.4); the next one stands for them */
	if (info.next_blocked) {
		number(&t, "blocked-barrier ", info.observed_through);
		sg_text_str(&t, "\n");
	}
	counter_line(&t, "overrun ", info.overruns);
	counter_line(&t, "index-back ", info.index_back);
	counter_line(&t, "short-packet ", info.short_packets);
	*len = t.len;
	return SG_OK;
}
