#include "hand_made.h"

#include "cache.h"
#include "source.h"

#define TEXT(s)                                                                                    \
	{                                                                                          \
		s, sizeof(s) - 1                                                                   \
	}
#define ABSENT                                                                                     \
	{                                                                                          \
		dec_absent, 0                                                                      \
	}
#define NO_PROBLEMS                                                                                \
	{                                                                                          \
		DEC_NONE, DEC_NONE                                                                 \
	}

static const char bytes[] = "0123456789abcdefghijklmnopqrstuvwxyz";

/* clang-format off */
static const struct dec_place places[] = {
	{ DEC_PLACE_FILE, TEXT("lib a%.so"), { 0, 36 }, DEC_NONE },
	{ DEC_PLACE_SECTION, TEXT(".nv\xff%"), { 10, 20 }, 0 },
	{ DEC_PLACE_SEGMENT, ABSENT, { 12, 8 }, 1 },
};

static const struct dec_problem problems[] = {
	{ DEC_PROBLEM_TRUNCATED, 30, "size", TEXT("It ends early."), 0, 0, DEC_NONE, true },
	{ DEC_PROBLEM_LIMIT, 1, "count", TEXT("Too many."), DEC_NONE, DEC_NONE, DEC_NONE, true },
	{ DEC_PROBLEM_BAD_MAGIC, 2, "magic", TEXT("No \"magic\"."), 0, DEC_NONE, 3, false },
	{ DEC_PROBLEM_TRUNCATED, 3, "header", TEXT("Short."), 0, DEC_NONE, DEC_NONE, true },
};

static const struct dec_container containers[] = {
	{ .kind = DEC_CONTAINER_FATBIN, .version = 1, .entries = 3, .range = { 12, 8 }, .place = 2,
	  .object_count = 2, .problems = { 2, 3 } },
	{ .kind = DEC_CONTAINER_COMPRESSED_BUNDLE, .codec = DEC_CODEC_ZSTD, .version = 3,
	  .entries = 1, .decoded_size = 4096, .has_hash = true, .hash = 0xfedcba9876543210,
	  .range = { 20, 10 }, .place = 0, .first_object = 2, .object_count = 2,
	  .problems = NO_PROBLEMS },
};

static const struct dec_object objects[] = {
	{ .vendor = DEC_VENDOR_NVIDIA, .kind = DEC_KIND_CUBIN, .codec = DEC_CODEC_NONE,
	  .target_kind = DEC_TARGET_FATBIN_ENTRY, .has_payload = true, .has_version = true,
	  .version_major = 1, .version_minor = 7, .entry_kind = 2, .codec_flags = 0x11,
	  .target = TEXT("sm_90a"), .target_raw = TEXT("90"), .identifier = TEXT("a.cu"),
	  .options = ABSENT, .payload_size = 9, .header = { 12, 4 }, .encoded = { 16, 3 },
	  .problems = { 0, 0 } },
	{ .vendor = DEC_VENDOR_NVIDIA, .kind = DEC_KIND_PTX, .codec = DEC_CODEC_UNSUPPORTED,
	  .target_kind = DEC_TARGET_FATBIN_ENTRY, .codec_flags = UINT64_MAX, .scrambled = true,
	  .target = TEXT("compute_90"), .target_raw = TEXT("90"), .identifier = ABSENT,
	  .options = TEXT("-O3"), .payload_size = (UINT64_C(1) << 53) + 1, .header = { 19, 0 },
	  .encoded = { 19, 1 }, .entry_index = 1, .target_index = 1, .problems = NO_PROBLEMS },
	{ .vendor = DEC_VENDOR_AMD, .kind = DEC_KIND_CODE_OBJECT, .codec = DEC_CODEC_NONE,
	  .target_kind = DEC_TARGET_BUNDLE_ID, .space = DEC_SPACE_DECODED, .has_payload = true,
	  .target = TEXT("gfx90a:xnack+"), .target_raw = TEXT("hip-amdgcn-amd-amdhsa--gfx90a"),
	  .identifier = ABSENT, .options = ABSENT, .payload_size = 100, .header = { 32, 30 },
	  .encoded = { 4000, 96 }, .container = 1, .target_index = 3, .problems = NO_PROBLEMS },
	{ .vendor = DEC_VENDOR_OTHER, .kind = DEC_KIND_HOST, .target_kind = DEC_TARGET_BUNDLE_ID,
	  .has_payload = false, .target = ABSENT, .target_raw = TEXT("host-x86_64"),
	  .identifier = ABSENT, .options = ABSENT, .container = 1, .entry_index = 1,
	  .target_index = DEC_NONE, .problems = NO_PROBLEMS },
};
/* clang-format on */

static const uint32_t of_target[] = { 0, 1, 2, 3 };

/* 247 bytes and one that differs: the cut leaves equal beginnings. */
#define LONG25 "long long long long long "
#define LONG LONG25 LONG25 LONG25 LONG25 LONG25 LONG25 LONG25 LONG25 LONG25 "and very long after al"

static const struct dec_target targets[] = {
	{ TEXT(""), DEC_VENDOR_OTHER, DEC_CLASS_OTHER, NULL, of_target, 4 },
	{ TEXT("."), DEC_VENDOR_OTHER, DEC_CLASS_OTHER, NULL, of_target, 1 },
	{ TEXT("a/b"), DEC_VENDOR_OTHER, DEC_CLASS_OTHER, NULL, of_target + 1, 1 },
	{ TEXT("gfx90a:xnack+"), DEC_VENDOR_AMD, DEC_CLASS_GFX, "CDNA 2", of_target + 1, 2 },
	{ TEXT(LONG "k"), DEC_VENDOR_OTHER, DEC_CLASS_OTHER, NULL, of_target, 1 },
	{ TEXT(LONG "l"), DEC_VENDOR_OTHER, DEC_CLASS_OTHER, NULL, of_target, 1 },
	{ TEXT("sm_90"), DEC_VENDOR_NVIDIA, DEC_CLASS_SM, "Hopper", of_target, 1 },
	{ TEXT("sm_90a"), DEC_VENDOR_NVIDIA, DEC_CLASS_SM, "Hopper", of_target, 1 },
};

static struct dec_artifact artifact = {
	.name = TEXT("lib a%.so"),
	.size = 36,
	.format = DEC_FORMAT_ELF64,
	.partial = true,
	.containers = containers,
	.container_count = COUNT(containers),
	.objects = objects,
	.object_count = COUNT(objects),
	.targets = targets,
	.target_count = COUNT(targets),
	.problems = problems,
	.problem_count = COUNT(problems),
	.places = places,
	.place_count = COUNT(places),
};

int hand_made_open(void **state)
{
	struct hand_made *f = calloc(1, sizeof(*f));
	struct gfs_message msg;

	assert_non_null(f);
	f->dir = scratch_new();
	f->path = scratch_file(f->dir, "lib a%.so", bytes, 36);
	f->fs.options.artifact = f->path;
	assert_int_equal(gfs_source_open(&f->fs.options, &f->fs.source, &msg), 0);
	f->fs.cache = gfs_cache_new(1 << 20, 1 << 20, f->dir);
	f->fs.artifact = &artifact;
	f->fs.id_width = 5;
	f->fs.uid = 1234;
	f->fs.gid = 5678;
	*state = f;
	return 0;
}

int hand_made_close(void **state)
{
	struct hand_made *f = *state;

	gfs_cache_free(f->fs.cache);
	gfs_source_close(f->fs.source);
	scratch_free(f->dir);
	free(f->path);
	free(f);
	return 0;
}
