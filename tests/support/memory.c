#include "memory.h"

#include <errno.h>
#include <string.h>

static int memory_read(void *ctx, uint64_t offset, void *buf, size_t len)
{
	struct memory *m = ctx;
	size_t there = 0;

	m->reads++;
	if (m->reads == m->fail_at)
		return -EIO;
	if (offset > m->source.size || len > m->source.size - offset) {
		m->outside = true;
		return -EINVAL;
	}
	m->read_bytes += len;
	if (offset < m->len)
		there = len < m->len - offset ? len : (size_t)(m->len - offset);
	if (there)
		memcpy(buf, m->p + offset, there);
	memset((uint8_t *)buf + there, 0, len - there);
	return 0;
}

void memory_init(struct memory *m, const void *p, size_t len)
{
	*m = (struct memory){
		.source = { memory_read, m, len },
		.p = p,
		.len = len,
	};
}
