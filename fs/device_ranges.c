/* Ids as they stand in the files of a device. */
#include "device_show.h"

#include <inttypes.h>
#include <stdio.h>

void gfs_ranges_begin(struct gfs_ranges *r, const struct gfs *fs, struct gfs_json *w,
		      struct cJSON *in, const char *key)
{
	*r = (struct gfs_ranges){ .w = w,
				  .array = gfs_json_array(w, in, key),
				  .width = fs->id_width };
}

static void put(struct gfs_ranges *r)
{
	char text[32];
	uint32_t last = r->next - 1;

	if (r->first == last)
		snprintf(text, sizeof(text), "%0*" PRIu32, r->width, last);
	else
		snprintf(text, sizeof(text), "%0*" PRIu32 "-%0*" PRIu32, r->width, r->first,
			 r->width, last);
	gfs_json_word(r->w, r->array, NULL, text);
}

void gfs_ranges_add(struct gfs_ranges *r, uint32_t index)
{
	if (r->next != 0 && index < r->next)
		return;
	if (r->next != 0 && index > r->next)
		put(r);
	if (r->next == 0 || index > r->next)
		r->first = index;
	r->next = index + 1;
}

void gfs_ranges_end(struct gfs_ranges *r)
{
	if (r->next != 0)
		put(r);
	r->next = 0;
}
