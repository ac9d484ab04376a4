#include "cli_copied.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#define RECORD "artifact.json"

/* The longest has the name of a file, escaped, and a few lines. */
#define RECORD_MAX ((size_t)16 << 10)

/* Directories above one of a copy: the tree has five levels. */
#define LEVELS_MAX 8

/* ---- whose copy it is ----------------------------------------------------------------- */

/* What artifact.json holds in the tree; NUL at the end. */
static int read_own(struct gfs *fs, char text[RECORD_MAX + 1], size_t *size)
{
	struct gfs_node node;
	int err = gfs_walk(fs, RECORD, &node);

	if (!err)
		err = gfs_read(fs, node, 0, text, RECORD_MAX, size, NULL);
	if (!err)
		text[*size] = '\0';
	return err;
}

/* The same of the directory; false: there is no such file, or it cannot be one of ours. */
static bool read_theirs(int dir, char text[RECORD_MAX + 1], size_t *size, struct timespec *ctime)
{
	int fd = openat(dir, RECORD, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	ssize_t n = -1;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = pread(fd, text, RECORD_MAX, 0);
	if (fd >= 0)
		close(fd);
	if (n < 0 || n != st.st_size)
		return false;
	text[n] = '\0';
	*size = (size_t)n;
	*ctime = st.st_ctim;
	return true;
}

/* The digest that a record names, to be free()d; NULL: it is none of ours. */
static char *digest_of(const char *text, size_t size)
{
	cJSON *record = cJSON_ParseWithLength(text, size);
	const char *hex = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(record, "sha256"));
	char *copy = hex && strlen(hex) == 64 ? cli_memory(strdup(hex)) : NULL;

	cJSON_Delete(record);
	return copy;
}

/* True: theirs is the record of a copy. */
static bool compare_records(struct cli_copied *copied, const char *own, size_t own_size,
			    const char *theirs, size_t their_size)
{
	char *digest = digest_of(own, own_size);
	char *other = digest_of(theirs, their_size);
	bool found = other;

	copied->resume = own_size == their_size && memcmp(own, theirs, own_size) == 0;
	copied->other = digest && other && strcmp(digest, other) != 0;
	free(other);
	free(digest);
	return found;
}

/* 1: the directory has the record of a copy, 0: it has none, or a negative errno. */
static int look_in(struct cli_copied *copied, struct gfs *fs, int dir)
{
	char *own = cli_memory(malloc(RECORD_MAX + 1));
	char *theirs = cli_memory(malloc(RECORD_MAX + 1));
	size_t own_size, their_size;
	int rc = 0;

	/* Reading our own takes the digest of the whole artifact. */
	if (read_theirs(dir, theirs, &their_size, &copied->since)) {
		rc = read_own(fs, own, &own_size);
		if (rc == 0)
			rc = compare_records(copied, own, own_size, theirs, their_size);
	}
	free(theirs);
	free(own);
	return rc;
}

/* Other directories may lie beside a copy in one directory. */
static bool may_be_at_root(struct gfs *fs, const char *name)
{
	struct gfs_node node;

	return gfs_lookup(fs, gfs_root(), name, &node) == 0;
}

int cli_copied_look(struct cli_copied *copied, struct gfs *fs, int fd, const char *path,
		    const char *name)
{
	char *real = realpath(path, NULL);
	int dir = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int level = 0;
	int rc = 0;

	*copied = (struct cli_copied){ .record = -1 };
	for (; dir >= 0 && level < LEVELS_MAX; level++) {
		char *slash = real ? strrchr(real, '/') : NULL;
		int above;

		if (!name || may_be_at_root(fs, name))
			rc = look_in(copied, fs, dir);
		if (rc != 0 || !slash)
			break;
		name = slash + 1;
		*slash = '\0'; /* the name stays behind it */
		above = openat(dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(dir);
		dir = above;
	}
	/* Only a copy of all to this place says which files are where they belong. */
	copied->resume = copied->resume && level == 0;
	if (rc > 0)
		copied->record = dir;
	else if (dir >= 0)
		close(dir);
	free(real);
	return rc < 0 ? rc : 0;
}

void cli_copied_fini(struct cli_copied *copied)
{
	if (copied->record >= 0)
		close(copied->record);
	copied->record = -1;
}

int cli_copied_disown(const struct cli_copied *copied)
{
	if (copied->other && unlinkat(copied->record, RECORD, 0) != 0 && errno != ENOENT)
		return -errno;
	return 0;
}

static bool is_before(struct timespec x, struct timespec y)
{
	return x.tv_sec != y.tv_sec ? x.tv_sec < y.tv_sec : x.tv_nsec < y.tv_nsec;
}

bool cli_copied_already(const struct cli_copied *copied, int fd, const char *name,
			const struct stat *wanted)
{
	struct stat st;

	return copied->resume && fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode) && st.st_size == wanted->st_size &&
	       st.st_mtim.tv_sec == wanted->st_mtim.tv_sec &&
	       st.st_mtim.tv_nsec == wanted->st_mtim.tv_nsec &&
	       !is_before(st.st_ctim, copied->since);
}

/* ---- temporary files -------------------------------------------------------------------- */

#define TEMPORARY_PREFIX ".gpuobj-"

void cli_temporary_name(char name[CLI_TEMPORARY_SIZE], unsigned int number)
{
	snprintf(name, CLI_TEMPORARY_SIZE, TEMPORARY_PREFIX "%jd-%u", (intmax_t)getpid(), number);
}

/* The process of a temporary name; 0: it is another name. */
static pid_t process_of(const char *name)
{
	static const char digits[] = "0123456789";
	size_t prefix = strlen(TEMPORARY_PREFIX);
	const char *pid = name + prefix;
	const char *number;
	long value;

	if (strncmp(name, TEMPORARY_PREFIX, prefix) != 0)
		return 0;
	number = pid + strspn(pid, digits);
	if (number == pid || *number != '-' || number[1] == '\0' ||
	    number[1 + strspn(number + 1, digits)] != '\0')
		return 0;
	value = strtol(pid, NULL, 10);
	return value > 0 && value <= INT_MAX ? (pid_t)value : 0;
}

void cli_temporary_clean(int fd)
{
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own >= 0 ? fdopendir(own) : NULL;
	const struct dirent *entry;

	if (!dir && own >= 0)
		close(own);
	while (dir && (entry = readdir(dir)) != NULL) {
		pid_t process = process_of(entry->d_name);

		if (process && kill(process, 0) != 0 && errno == ESRCH)
			unlinkat(fd, entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
}
