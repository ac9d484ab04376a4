#include "query_fake.h"

#include "examine.h"
#include "source.h"

static atomic_int loads;

int __real_gfs_payload_load(struct gfs *fs, uint32_t object, struct gfs_payload *payload);
int __wrap_gfs_payload_load(struct gfs *fs, uint32_t object, struct gfs_payload *payload);

int __wrap_gfs_payload_load(struct gfs *fs, uint32_t object, struct gfs_payload *payload)
{
	atomic_fetch_add(&loads, 1);
	return __real_gfs_payload_load(fs, object, payload);
}

void forget(void)
{
	atomic_store(&loads, 0);
	atomic_store(&fake_exams, 0);
}

void assert_examined(int count)
{
	assert_int_equal(atomic_load(&loads), count);
	assert_int_equal(atomic_load(&fake_exams), count);
}

const struct fake_object query_objects[QUERY_OBJECTS] = {
	{ "sm_90", "target sm_90\nconsistency base_only\nkernel a registers 10\n"
		   "kernel b registers 20 arg x:8 arg y:4\n" },
	{ "sm_80", "consistency match\nkernel a registers 10\nkernel c registers 255\n" },
	{ "sm_90", "target sm_80\nconsistency conflict\nstate partial\nproblem flags\n"
		   "kernel d registers 20 note args\n" },
	{ "gfx90a", "kernel a vgpr_count 64 descriptor 64\n" },
	{ "gfx90a", NULL },
};

struct open *opened(void)
{
	struct open *o = calloc(1, sizeof(*o));

	assert_non_null(o);
	o->fake = fake_open(query_objects, QUERY_OBJECTS, MIB);
	assert_int_equal(gfs_source_sha256(o->fake->fs.source, o->sha256, NULL), 0);
	forget();
	return o;
}

void closed(struct open *o)
{
	fake_close(o->fake);
	free(o);
}

char *answer(struct open *o, const char *request)
{
	char *page = ask_page(&o->fake->fs, request, o->refusal);

	if (!page)
		fail_msg("%s: %s", request, o->refusal);
	return page;
}

const char *with_ids(struct open *o, const char *ids, const char *view)
{
	snprintf(o->text, sizeof(o->text),
		 "{\"expected_sha256\":\"%s\",\"object_ids\":[%s],\"view\":{%s}}", o->sha256, ids,
		 view);
	return o->text;
}
