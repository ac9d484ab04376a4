#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "softgpu.h"

/* Decoded payloads and rendered text kept at most. The largest decoded payload seen has
 * 134 MB, so a quarter of this holds what nearly every artifact decodes to. */
#define CACHE_DEFAULT DEC_MIB(256)

enum kind {
	SIZE, /* uint64_t, written with K, M, G where one divides it */
	DIRECTORY, /* const char *, one that exists */
	DIGEST, /* const char *, 64 hex digits */
	MODE, /* uint64_t, octal permissions */
};

struct row {
	const char *name;
	enum kind kind;
	size_t offset; /* in struct gfs_options */
	const char *what;
};

#define AT(member) offsetof(struct gfs_options, member)

static const struct row rows[] = {
	{ "cache", SIZE, AT(cache), "bytes of decoded payloads and text kept in memory" },
	{ "tmpdir", DIRECTORY, AT(tmpdir), "directory for decodes too large for the cache" },
	{ "sha256", DIGEST, AT(sha256), "refuse an artifact with another digest" },
#define X(name, value, what) { #name, SIZE, AT(limits.name), "most " what },
	DEC_LIMIT_LIST(X)
#undef X
	{ "queue_mode", MODE, AT(queues.mode), "permissions of the queue files" },
#define X(name, member, what) { #name, SIZE, AT(queues.member), "most " what },
	GFS_QUEUE_BOUND_LIST(X)
#undef X
};

/* What the help puts for a value. */
static const char *const placeholders[] = {
	[SIZE] = "N",
	[DIRECTORY] = "DIR",
	[DIGEST] = "HEX",
	[MODE] = "OCTAL",
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

/* The owner writes, others look. */
#define QUEUE_MODE 0644

static void init_queues(struct gfs_queue_options *queues)
{
	struct sg_config config;

	sg_config_default(&config);
#define X(option, member, what) queues->member = config.member;
	GFS_QUEUE_BOUND_LIST(X)
#undef X
	queues->mode = QUEUE_MODE;
}

void gfs_options_init(struct gfs_options *options)
{
	const char *tmpdir = getenv("TMPDIR");

	*options = (struct gfs_options){
		.cache = CACHE_DEFAULT,
		/* /tmp is memory on many systems, which is what such a file is to relieve. */
		.tmpdir = tmpdir && *tmpdir ? tmpdir : "/var/tmp",
		.limits = dec_limits_default(),
	};
	init_queues(&options->queues);
}

static const struct row *find_row(const char *name, size_t len)
{
	for (size_t i = 0; i < ROW_COUNT; i++) {
		if (strlen(rows[i].name) == len && memcmp(rows[i].name, name, len) == 0)
			return &rows[i];
	}
	return NULL;
}

/* How far a suffix shifts; -1: not a suffix. */
static int suffix_shift(const char *suffix)
{
	static const char letters[] = "KMG";
	const char *at;

	if (*suffix == '\0')
		return 0;
	at = strchr(letters, toupper((unsigned char)*suffix));
	if (!at || suffix[1] != '\0')
		return -1;
	return 10 * (int)(at - letters + 1);
}

static bool parse_size(const char *text, uint64_t *size)
{
	unsigned long long number;
	char *end;
	int shift;

	if (!isdigit((unsigned char)*text)) /* strtoull takes signs and blanks */
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	shift = suffix_shift(end);
	if (errno || shift < 0 || number > UINT64_MAX >> shift)
		return false;
	*size = (uint64_t)number << shift;
	return true;
}

/* Reading and writing alone: nothing there is a program. */
static bool parse_mode(const char *text, uint64_t *mode)
{
	size_t len = strlen(text);

	if (len == 0 || len > 4 || strspn(text, "01234567") != len)
		return false;
	*mode = strtoul(text, NULL, 8);
	return (*mode & ~(uint64_t)0666) == 0;
}

bool gfs_is_digest(const char *text)
{
	size_t len = strlen(text);

	for (size_t i = 0; i < len; i++) {
		if (!isxdigit((unsigned char)text[i]))
			return false;
	}
	return len == 64;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int refuse(struct gfs_message *msg, const struct row *row, const char *expected)
{
	gfs_message_set(msg, GFS_EXIT_USAGE, "option %s: expected %s", row->name, expected);
	return -EINVAL;
}

static int set_row(struct gfs_options *options, const struct row *row, const char *value,
		   struct gfs_message *msg)
{
	void *member = (char *)options + row->offset;

	switch (row->kind) {
	case SIZE:
		if (!parse_size(value, member))
			return refuse(msg, row, "a number, with K, M or G if you like");
		return 1;
	case MODE:
		if (!parse_mode(value, member))
			return refuse(msg, row, "an octal number of 4s and 2s, such as 0644");
		return 1;
	case DIGEST:
		if (!gfs_is_digest(value))
			return refuse(msg, row, "64 hex digits");
		break;
	case DIRECTORY:
		if (!is_directory(value))
			return refuse(msg, row, "a directory that exists");
		break;
	}
	*(const char **)member = value;
	return 1;
}

int gfs_options_set(struct gfs_options *options, const char *arg, struct gfs_message *msg)
{
	size_t len = strcspn(arg, "=");
	const struct row *row = find_row(arg, len);

	if (!row)
		return 0;
	return set_row(options, row, arg[len] == '=' ? arg + len + 1 : "", msg);
}

/* 268435456 as 256M; what no unit divides, and small numbers, as they are. */
static void format_size(char *text, size_t size, uint64_t value)
{
	if (value >= DEC_GIB(1) && value % DEC_GIB(1) == 0)
		snprintf(text, size, "%" PRIu64 "G", value / DEC_GIB(1));
	else if (value >= DEC_MIB(1) && value % DEC_MIB(1) == 0)
		snprintf(text, size, "%" PRIu64 "M", value / DEC_MIB(1));
	else
		snprintf(text, size, "%" PRIu64, value);
}

static void print_row(const struct gfs_options *defaults, const struct row *row)
{
	const void *member = (const char *)defaults + row->offset;
	const char *text;
	char number[32];

	if (row->kind == SIZE) {
		format_size(number, sizeof(number), *(const uint64_t *)member);
		text = number;
	} else if (row->kind == MODE) {
		snprintf(number, sizeof(number), "%04" PRIo64, *(const uint64_t *)member);
		text = number;
	} else {
		text = *(const char *const *)member;
	}
	printf("    %s=%-*s %s", row->name, (int)(21 - strlen(row->name)), placeholders[row->kind],
	       row->what);
	if (text)
		printf(" (%s)", text);
	putchar('\n');
}

void gfs_options_help(void)
{
	struct gfs_options defaults;

	gfs_options_init(&defaults);
	for (size_t i = 0; i < ROW_COUNT; i++)
		print_row(&defaults, &rows[i]);
}
