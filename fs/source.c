#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <syslog.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "full_read.h"
#include "waiter.h"

/* One read of the digest: costs little beside hashing it, and closing waits for one. */
#define HASH_CHUNK ((size_t)1 << 20)

/* Made at build time from the sample artifact. */
extern const unsigned char gfs_sample_bytes[];
extern const size_t gfs_sample_size;

enum hash_state { HASH_NONE, HASH_RUNNING, HASH_DONE };

struct gfs_source {
	int fd; /* -1: the sample */
	char *path; /* NULL: the sample */
	const char *name;
	const char *program;
	struct stat st;
	struct dec_source plain;
	atomic_bool changed;
	atomic_bool stop; /* the digest is no longer wanted */

	pthread_mutex_t lock; /* of all below */
	pthread_cond_t hashed;
	enum hash_state state;
	bool joinable;
	pthread_t thread;
	int hash_error;
	char hex[65];
	struct gfs_waiter *waiters;
};

/* ---- opening ---------------------------------------------------------------------- */

static void refuse(struct gfs_message *msg, const char *path, const char *sentence)
{
	gfs_message_set(msg, GFS_EXIT_ARTIFACT, "%s: %s", path, sentence);
}

static int refuse_errno(struct gfs_message *msg, const char *path, int err)
{
	if (err == ENOMEM)
		gfs_message_set(msg, GFS_EXIT_FAILURE, "%s: out of memory", path);
	else if (err == ENOENT || err == ENOTDIR)
		refuse(msg, path, "no such file, expected a library, program or GPU code object");
	else
		gfs_message_set(msg, GFS_EXIT_ARTIFACT,
				"%s: cannot be opened (%s), expected a readable file", path,
				strerror(err));
	return -err;
}

static int check_kind(const char *path, const struct stat *st, struct gfs_message *msg)
{
	if (S_ISDIR(st->st_mode)) {
		refuse(msg, path, "is a directory, expected a regular file");
		return -EISDIR;
	}
	if (!S_ISREG(st->st_mode)) {
		refuse(msg, path,
		       S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode)
			       ? "is a pipe or socket, expected a regular file"
			       : "is a device, expected a regular file");
		return -EINVAL;
	}
	if (st->st_size == 0) {
		refuse(msg, path, "is empty, expected a file with GPU code objects");
		return -EINVAL;
	}
	return 0;
}

/* Absolute, but with the last component as it was given: when that is a symbolic link
 * which later points elsewhere, the artifact was replaced. */
static char *absolute_path(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char *dir = slash ? strndup(path, (size_t)(name - path)) : strdup(".");
	char *real = dir ? realpath(dir, NULL) : NULL;
	char *joined = real ? malloc(strlen(real) + strlen(name) + 2) : NULL;

	if (joined)
		sprintf(joined, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name);
	free(real);
	free(dir);
	return joined;
}

static int open_file(struct gfs_source *s, const char *path, struct gfs_message *msg)
{
	int rc;

	/* Looked at before it is opened: opening alone can move a tape. */
	if (stat(path, &s->st) != 0)
		return refuse_errno(msg, path, errno);
	rc = check_kind(path, &s->st, msg);
	if (rc != 0)
		return rc;
	s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (s->fd < 0 || fstat(s->fd, &s->st) != 0)
		return refuse_errno(msg, path, errno);
	rc = check_kind(path, &s->st, msg);
	if (rc != 0)
		return rc;
	s->path = absolute_path(path);
	if (!s->path)
		return refuse_errno(msg, path, errno);
	s->name = strrchr(s->path, '/') + 1;
	return 0;
}

static void open_sample(struct gfs_source *s)
{
	s->name = "sample";
	s->st.st_mode = S_IFREG | 0444;
	s->st.st_nlink = 1;
	s->st.st_size = (off_t)gfs_sample_size;
}

/* ---- reading ---------------------------------------------------------------------- */

static int read_plain(void *ctx, uint64_t offset, void *buf, size_t len)
{
	struct gfs_source *s = ctx;

	if (offset > s->plain.size || len > s->plain.size - offset)
		return -EIO;
	if (s->fd >= 0)
		return gfs_full_read(s->fd, offset, buf, len);
	memcpy(buf, gfs_sample_bytes + offset, len);
	return 0;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool has_changed(const struct gfs_source *s)
{
	struct stat now;

	if (fstat(s->fd, &now) != 0 || !same_file(&now, &s->st) || now.st_size != s->st.st_size ||
	    !same_time(now.st_mtim, s->st.st_mtim) || !same_time(now.st_ctim, s->st.st_ctim))
		return true;
	/* A path that is gone says nothing by itself: removing the last name moves ctime. */
	return stat(s->path, &now) == 0 && !same_file(&now, &s->st);
}

/* Daemons have /dev/null, Linux device 1:3, for their stderr. */
static bool stderr_is_gone(void)
{
	struct stat st;

	return fstat(STDERR_FILENO, &st) != 0 ||
	       (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3));
}

static void log_change(const struct gfs_source *s)
{
	static const char sentence[] =
		"changed since it was opened, reading it now fails with ESTALE";

	if (stderr_is_gone())
		syslog(LOG_WARNING, "%s: %s %s (%s)", s->program, s->name, sentence, s->path);
	else
		fprintf(stderr, "%s: %s %s (%s)\n", s->program, s->name, sentence, s->path);
}

int gfs_source_check(struct gfs_source *s)
{
	if (s->fd < 0)
		return 0;
	if (atomic_load(&s->changed))
		return -ESTALE;
	if (!has_changed(s))
		return 0;
	if (!atomic_exchange(&s->changed, true))
		log_change(s);
	return -ESTALE;
}

int gfs_source_read(struct gfs_source *s, uint64_t offset, void *buf, size_t len)
{
	int rc = gfs_source_check(s);
	int after;

	if (rc != 0)
		return rc;
	rc = read_plain(s, offset, buf, len);
	after = gfs_source_check(s);
	return after != 0 ? after : rc;
}

/* ---- the digest ------------------------------------------------------------------- */

static int hash_all(struct gfs_source *s, EVP_MD_CTX *md, unsigned char *chunk)
{
	for (uint64_t at = 0; at < s->plain.size;) {
		uint64_t left = s->plain.size - at;
		size_t n = left < HASH_CHUNK ? (size_t)left : HASH_CHUNK;
		int rc = atomic_load(&s->stop) ? -ECANCELED : gfs_source_read(s, at, chunk, n);

		if (rc != 0)
			return rc;
		if (!EVP_DigestUpdate(md, chunk, n))
			return -ENOMEM;
		at += n;
	}
	return 0;
}

static int hash_hex(struct gfs_source *s, char hex[65])
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	unsigned char *chunk = malloc(HASH_CHUNK);
	unsigned char digest[EVP_MAX_MD_SIZE];
	int rc = -ENOMEM;

	if (md && chunk && EVP_DigestInit_ex(md, EVP_sha256(), NULL))
		rc = hash_all(s, md, chunk);
	if (rc == 0 && !EVP_DigestFinal_ex(md, digest, NULL))
		rc = -ENOMEM;
	for (size_t i = 0; rc == 0 && i < 32; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	free(chunk);
	EVP_MD_CTX_free(md);
	return rc;
}

static void *hash_thread(void *arg)
{
	struct gfs_source *s = arg;
	char hex[65] = "";
	int rc = hash_hex(s, hex);
	struct gfs_waiter *waiters;

	pthread_mutex_lock(&s->lock);
	memcpy(s->hex, hex, sizeof(hex));
	s->hash_error = rc;
	s->state = HASH_DONE;
	waiters = s->waiters;
	s->waiters = NULL;
	pthread_cond_broadcast(&s->hashed);
	pthread_mutex_unlock(&s->lock);
	gfs_waiters_done(waiters);
	return NULL;
}

/* Signals stay with the threads that expect them. */
static int start_hash(struct gfs_source *s)
{
	sigset_t all;
	sigset_t before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&s->thread, NULL, hash_thread, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err != 0)
		return -err;
	s->state = HASH_RUNNING;
	s->joinable = true;
	return 0;
}

/* A finished thread is joined by whoever slept for it, so that a daemon can fork after
 * its first digest without carrying a thread that is not there. */
static void join_hash(struct gfs_source *s)
{
	bool join;

	pthread_mutex_lock(&s->lock);
	join = s->joinable && !pthread_equal(s->thread, pthread_self());
	if (join)
		s->joinable = false;
	pthread_mutex_unlock(&s->lock);
	if (join)
		pthread_join(s->thread, NULL);
}

int gfs_source_sha256(struct gfs_source *s, char hex[65], struct gfs_waiter *waiter)
{
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	if (s->state == HASH_NONE)
		rc = start_hash(s);
	if (rc == 0 && s->state == HASH_RUNNING && waiter) {
		gfs_waiters_add(&s->waiters, waiter);
		rc = -EINPROGRESS;
	}
	while (rc == 0 && s->state == HASH_RUNNING)
		pthread_cond_wait(&s->hashed, &s->lock);
	if (rc == 0) {
		rc = s->hash_error;
		memcpy(hex, s->hex, sizeof(s->hex));
	}
	pthread_mutex_unlock(&s->lock);
	if (!waiter)
		join_hash(s);
	return rc;
}

bool gfs_source_cancel(struct gfs_source *s, struct gfs_waiter *waiter)
{
	bool found;

	pthread_mutex_lock(&s->lock);
	found = gfs_waiters_remove(&s->waiters, waiter);
	pthread_mutex_unlock(&s->lock);
	return found;
}

/* ---- lifetime --------------------------------------------------------------------- */

int gfs_source_open(const struct gfs_options *options, struct gfs_source **source,
		    struct gfs_message *msg)
{
	struct gfs_source *s = calloc(1, sizeof(*s));
	int rc = 0;

	*source = NULL;
	if (!s)
		return refuse_errno(msg, options->sample ? "sample" : options->artifact, ENOMEM);
	s->fd = -1;
	s->program = options->program ? options->program : "gpuobjfs";
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->hashed, NULL);
	if (options->sample)
		open_sample(s);
	else
		rc = open_file(s, options->artifact, msg);
	if (rc != 0) {
		gfs_source_close(s);
		return rc;
	}
	s->plain = (struct dec_source){ read_plain, s, (uint64_t)s->st.st_size };
	*source = s;
	return 0;
}

void gfs_source_close(struct gfs_source *s)
{
	if (!s)
		return;
	atomic_store(&s->stop, true);
	join_hash(s);
	pthread_cond_destroy(&s->hashed);
	pthread_mutex_destroy(&s->lock);
	if (s->fd >= 0)
		close(s->fd);
	free(s->path);
	free(s);
}

const char *gfs_source_name(const struct gfs_source *s)
{
	return s->name;
}

const char *gfs_source_path(const struct gfs_source *s)
{
	return s->path;
}

const struct stat *gfs_source_stat(const struct gfs_source *s)
{
	return &s->st;
}

const struct dec_source *gfs_source_plain(struct gfs_source *s)
{
	return &s->plain;
}
