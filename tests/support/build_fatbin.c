#include "build.h"

#include <string.h>

/* docs/formats/fatbin.md, "Entry header" */
static void add_entry(struct bytes *b, const struct fat_entry *e)
{
	size_t at = b->len, name = e->name ? strlen(e->name) : 0;
	size_t options = e->options ? strlen(e->options) : 0;
	uint32_t name_at = e->name ? FAT_ENTRY : 0, options_at = 0;

	add_zeros(b, FAT_ENTRY);
	if (e->name) {
		add(b, e->name, name + 1);
		pad_to(b, 8);
	}
	if (e->options) {
		options_at = (uint32_t)(b->len - at);
		add_le(b, 4, options_at + 8);
		add_le(b, 4, options);
		add(b, e->options, options + 1);
		pad_to(b, 8);
	}
	set_le(b, at + 0x00, 2, e->kind);
	set_le(b, at + 0x02, 2, 0x0101);
	set_le(b, at + 0x04, 4, b->len - at);
	set_le(b, at + 0x08, 8, (e->size + 7) / 8 * 8);
	set_le(b, at + 0x10, 4, e->flags & 0xf000 ? e->size : 0);
	set_le(b, at + 0x14, 4, options_at);
	set_le(b, at + 0x18, 2, 5);
	set_le(b, at + 0x1a, 2, 8);
	set_le(b, at + 0x1c, 4, e->arch);
	set_le(b, at + 0x20, 4, name_at);
	set_le(b, at + 0x24, 4, name);
	set_le(b, at + 0x28, 8, e->flags);
	set_le(b, at + 0x38, 8, e->decoded);
	add(b, e->payload, e->size);
	add_zeros(b, (8 - e->size % 8) % 8);
}

size_t add_fatbin(struct bytes *b, const struct fat_entry *entries, size_t count)
{
	size_t at = add(b, "\x50\xed\x55\xba\x01\x00\x10\x00", 8);

	add_le(b, 8, 0);
	for (size_t i = 0; i < count; i++)
		add_entry(b, &entries[i]);
	set_le(b, at + 8, 8, b->len - at - FAT_REGION);
	return at;
}
