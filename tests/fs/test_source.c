#include "fs_test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "source.h"

static const char abc[] = "abc";

static struct gfs_source *open_ok(const char *path)
{
	struct gfs_options options = { .artifact = path };
	struct gfs_source *source;
	struct gfs_message msg = { 0 };

	if (gfs_source_open(&options, &source, &msg) != 0)
		fail_msg("%s", msg.text);
	return source;
}

/* ---- what is refused -------------------------------------------------------------- */

static void refuses(void **state)
{
	static const struct {
		const char *path;
		int error;
		const char *sentence;
	} cases[] = {
		{ "missing", -ENOENT, "no such file, expected" },
		{ "file/below", -ENOTDIR, "no such file, expected" },
		{ "directory", -EISDIR, "is a directory, expected a regular file" },
		{ "fifo", -EINVAL, "is a pipe or socket, expected a regular file" },
		{ "device", -EINVAL, "is a device, expected a regular file" },
		{ "empty", -EINVAL, "is empty, expected" },
	};
	char *dir = scratch_new();
	int here = open(".", O_RDONLY | O_DIRECTORY);

	(void)state;
	assert_int_equal(chdir(dir), 0);
	free(scratch_file(".", "file", abc, 3));
	free(scratch_file(".", "empty", abc, 0));
	assert_int_equal(mkdir("directory", 0755), 0);
	assert_int_equal(mkfifo("fifo", 0644), 0);
	assert_int_equal(symlink("/dev/null", "device"), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct gfs_options options = { .artifact = cases[i].path };
		struct gfs_source *source;
		struct gfs_message msg = { 0 };
		int rc = gfs_source_open(&options, &source, &msg);

		if (rc != cases[i].error || source || msg.exit != GFS_EXIT_ARTIFACT)
			fail_msg("%s: %d, exit %d", cases[i].path, rc, msg.exit);
		if (strncmp(msg.text, cases[i].path, strlen(cases[i].path)) != 0 ||
		    !strstr(msg.text, cases[i].sentence))
			fail_msg("%s: \"%s\"", cases[i].path, msg.text);
	}
	assert_int_equal(fchdir(here), 0);
	close(here);
	scratch_free(dir);
}

/* ---- reading ---------------------------------------------------------------------- */

static void reads_exactly(void **state)
{
	char *dir = scratch_new();
	char *path = scratch_file(dir, "lib.so", "0123456789", 10);
	struct gfs_source *source = open_ok(path);
	const struct dec_source *plain = gfs_source_plain(source);
	char buf[11] = "";

	(void)state;
	assert_string_equal(gfs_source_name(source), "lib.so");
	assert_int_equal(gfs_source_path(source)[0], '/');
	assert_int_equal(gfs_source_stat(source)->st_size, 10);
	assert_int_equal(plain->size, 10);
	assert_int_equal(gfs_source_read(source, 3, buf, 4), 0);
	assert_memory_equal(buf, "3456", 4);
	assert_int_equal(plain->read(plain->ctx, 0, buf, 10), 0);
	assert_string_equal(buf, "0123456789");
	assert_int_equal(gfs_source_read(source, 10, buf, 0), 0);
	assert_int_equal(gfs_source_read(source, 7, buf, 4), -EIO);
	assert_int_equal(gfs_source_read(source, UINT64_MAX, buf, 2), -EIO);
	assert_int_equal(plain->read(plain->ctx, 11, buf, 1), -EIO);
	gfs_source_close(source);
	scratch_free(dir);
	free(path);
}

static void keeps_the_given_name(void **state)
{
	char *dir = scratch_new();
	char *path = scratch_file(dir, "libx.so.1.2", abc, 3);
	char *link = NULL;
	char *odd = NULL;
	struct gfs_source *source;

	(void)state;
	assert_true(asprintf(&link, "%s/libx.so", dir) > 0);
	assert_true(asprintf(&odd, "%s/.//./libx.so", dir) > 0);
	assert_int_equal(symlink("libx.so.1.2", link), 0);
	source = open_ok(odd);
	assert_string_equal(gfs_source_name(source), "libx.so");
	assert_string_equal(gfs_source_path(source), link);
	gfs_source_close(source);
	scratch_free(dir);
	free(path);
	free(link);
	free(odd);
}

/* SAMPLE_FILE is what the build included; sha256sum is the second opinion. */
static void digest_of_sample_file(char hex[65])
{
	FILE *f = popen("sha256sum < '" SAMPLE_FILE "'", "r");

	assert_non_null(f);
	assert_int_equal(fread(hex, 1, 64, f), 64);
	hex[64] = '\0';
	assert_int_equal(pclose(f), 0);
}

static void serves_the_sample(void **state)
{
	struct gfs_options options = { .sample = true };
	struct gfs_source *source;
	struct gfs_message msg;
	uint64_t size;
	char buf[3];
	char hex[65], expected[65];

	(void)state;
	assert_int_equal(gfs_source_open(&options, &source, &msg), 0);
	assert_string_equal(gfs_source_name(source), "sample");
	assert_null(gfs_source_path(source));
	assert_int_equal(gfs_source_stat(source)->st_mtime, 0);
	size = (uint64_t)gfs_source_stat(source)->st_size;
	assert_int_equal(gfs_source_read(source, 1, buf, 3), 0);
	assert_memory_equal(buf, "ELF", 3);
	assert_int_equal(gfs_source_read(source, size - 3, buf, 3), 0);
	assert_int_equal(gfs_source_read(source, size, buf, 1), -EIO);
	assert_int_equal(gfs_source_check(source), 0);
	assert_int_equal(gfs_source_sha256(source, hex, NULL), 0);
	digest_of_sample_file(expected);
	assert_string_equal(hex, expected);
	gfs_source_close(source);
}

/* ---- changes ---------------------------------------------------------------------- */

struct change_case {
	const char *what;
	void (*change)(const char *dir, const char *path);
	int error;
};

static void nothing(const char *dir, const char *path)
{
	(void)dir;
	(void)path;
}

static void append(const char *dir, const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND);

	(void)dir;
	assert_int_equal(write(fd, "d", 1), 1);
	close(fd);
}

static void shorten(const char *dir, const char *path)
{
	(void)dir;
	assert_int_equal(truncate(path, 2), 0);
}

/* Same size, and mtime put back: ctime tells. */
static void overwrite(const char *dir, const char *path)
{
	int fd = open(path, O_WRONLY);
	struct stat st;

	(void)dir;
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(futimens(fd, (struct timespec[]){ st.st_atim, st.st_mtim }), 0);
	close(fd);
}

static void replace(const char *dir, const char *path)
{
	char *other = scratch_file(dir, "other", abc, 3);

	assert_int_equal(rename(other, path), 0);
	free(other);
}

static void make_unreachable(const char *dir, const char *path)
{
	char *other = NULL;

	(void)path;
	assert_true(asprintf(&other, "%s.moved", dir) > 0);
	assert_int_equal(rename(dir, other), 0);
	free(other);
}

static void remove_it(const char *dir, const char *path)
{
	(void)dir;
	assert_int_equal(unlink(path), 0);
}

/* The file itself stays as it is. */
static void turn_link(const char *dir, const char *path)
{
	free(scratch_file(dir, "other", abc, 3));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("other", path), 0);
}

/* ctime has the granularity of the kernel's tick: wait until it has moved on. */
static void let_time_pass(const char *dir)
{
	struct stat before;
	struct stat now;
	char *path = scratch_file(dir, "clock", abc, 3);

	assert_int_equal(stat(path, &before), 0);
	do {
		free(scratch_file(dir, "clock", abc, 3));
		assert_int_equal(stat(path, &now), 0);
	} while (now.st_ctim.tv_sec == before.st_ctim.tv_sec &&
		 now.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
	free(path);
}

static size_t count_lines(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n = 0;
	int c;

	assert_non_null(f);
	while ((c = getc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

/* Reads twice after the change with stderr in a file. */
static size_t read_twice(const char *dir, struct gfs_source *source, const struct change_case *c)
{
	char *log = scratch_file(dir, "log", "", 0);
	int saved = dup(STDERR_FILENO);
	int fd = open(log, O_WRONLY);
	char buf[3];
	int first;
	int second;
	size_t lines;

	dup2(fd, STDERR_FILENO);
	first = gfs_source_read(source, 0, buf, 3);
	second = gfs_source_check(source);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(fd);
	if (first != c->error || second != c->error)
		fail_msg("%s: %d, then %d", c->what, first, second);
	lines = count_lines(log);
	free(log);
	return lines;
}

static void notices_changes(void **state)
{
	static const struct change_case cases[] = {
		{ "nothing", nothing, 0 },
		{ "append", append, -ESTALE },
		{ "shorten", shorten, -ESTALE },
		{ "overwrite", overwrite, -ESTALE },
		{ "replace", replace, -ESTALE },
		{ "remove", remove_it, -ESTALE },
		{ "unreachable path", make_unreachable, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char *dir = scratch_new();
		char *logs = scratch_new();
		char *path = scratch_file(dir, "lib.so", abc, 3);
		struct gfs_source *source = open_ok(path);
		char *moved = NULL;

		let_time_pass(logs);
		cases[i].change(dir, path);
		if (read_twice(logs, source, &cases[i]) != (cases[i].error != 0))
			fail_msg("%s: not one line in the log", cases[i].what);
		gfs_source_close(source);
		assert_true(asprintf(&moved, "%s.moved", dir) > 0);
		scratch_free(moved);
		scratch_free(dir);
		scratch_free(logs);
		free(path);
	}
}

static void notices_another_file_at_the_path(void **state)
{
	static const struct change_case turned = { "link turned", turn_link, -ESTALE };
	char *dir = scratch_new();
	char *logs = scratch_new();
	char *path = scratch_file(dir, "lib.so.1", abc, 3);
	char *link = NULL;
	struct gfs_source *source;

	(void)state;
	assert_true(asprintf(&link, "%s/lib.so", dir) > 0);
	assert_int_equal(symlink("lib.so.1", link), 0);
	source = open_ok(link);
	turned.change(dir, link);
	assert_int_equal(read_twice(logs, source, &turned), 1);
	gfs_source_close(source);
	scratch_free(dir);
	scratch_free(logs);
	free(path);
	free(link);
}

/* ---- the digest ------------------------------------------------------------------- */

struct signal_waiter {
	struct gfs_waiter waiter; /* first */
	struct gfs_source *source;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	int rc;
	bool told;
	char hex[65];
};

static void waiter_done(struct gfs_waiter *waiter)
{
	struct signal_waiter *w = (struct signal_waiter *)waiter;

	pthread_mutex_lock(&w->lock);
	w->rc = gfs_source_sha256(w->source, w->hex, NULL); /* as a front asks again */
	w->told = true;
	pthread_cond_signal(&w->moved);
	pthread_mutex_unlock(&w->lock);
}

static void waiter_init(struct signal_waiter *w, struct gfs_source *source)
{
	*w = (struct signal_waiter){ .waiter.done = waiter_done, .source = source };
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->moved, NULL);
}

static void waiter_wait(struct signal_waiter *w)
{
	pthread_mutex_lock(&w->lock);
	while (!w->told)
		pthread_cond_wait(&w->moved, &w->lock);
	pthread_mutex_unlock(&w->lock);
	pthread_cond_destroy(&w->moved);
	pthread_mutex_destroy(&w->lock);
}

/* FIPS 180-2, appendix B.1 */
static const char sha256_abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

static void digests(void **state)
{
	char *dir = scratch_new();
	char *path = scratch_file(dir, "abc", abc, 3);
	struct gfs_source *source = open_ok(path);
	struct signal_waiter w;
	char hex[65];

	(void)state;
	assert_int_equal(gfs_source_sha256(source, hex, NULL), 0);
	assert_string_equal(hex, sha256_abc);
	waiter_init(&w, source);
	assert_int_equal(gfs_source_sha256(source, hex, &w.waiter), 0);
	assert_false(gfs_source_cancel(source, &w.waiter));
	gfs_source_close(source);
	scratch_free(dir);
	free(path);
}

/* Large enough that the second caller comes while it runs: 64 MiB take some 50 ms. */
static char *large_file(const char *dir)
{
	char *path = scratch_file(dir, "large", abc, 3);

	assert_int_equal(truncate(path, 64 << 20), 0);
	return path;
}

static void queues_for_the_digest(void **state)
{
	char *dir = scratch_new();
	char *path = large_file(dir);
	struct gfs_source *source = open_ok(path);
	struct signal_waiter a;
	struct signal_waiter b;
	struct signal_waiter cancelled;
	char hex[65];

	(void)state;
	waiter_init(&a, source);
	waiter_init(&b, source);
	waiter_init(&cancelled, source);
	assert_int_equal(gfs_source_sha256(source, hex, &a.waiter), -EINPROGRESS);
	assert_int_equal(gfs_source_sha256(source, hex, &cancelled.waiter), -EINPROGRESS);
	assert_int_equal(gfs_source_sha256(source, hex, &b.waiter), -EINPROGRESS);
	assert_true(gfs_source_cancel(source, &cancelled.waiter));
	assert_false(gfs_source_cancel(source, &cancelled.waiter));
	assert_int_equal(gfs_source_sha256(source, hex, NULL), 0);
	waiter_wait(&a);
	waiter_wait(&b);
	assert_int_equal(a.rc, 0);
	assert_string_equal(a.hex, hex);
	assert_string_equal(b.hex, hex);
	assert_false(cancelled.told);
	gfs_source_close(source);
	scratch_free(dir);
	free(path);
}

static void stops_the_digest_when_closed(void **state)
{
	char *dir = scratch_new();
	char *path = large_file(dir);
	struct gfs_source *source;
	struct signal_waiter w;
	char hex[65];

	(void)state;
	assert_int_equal(truncate(path, (off_t)1 << 36), 0); /* a minute of hashing */
	source = open_ok(path);
	waiter_init(&w, source);
	assert_int_equal(gfs_source_sha256(source, hex, &w.waiter), -EINPROGRESS);
	gfs_source_close(source);
	assert_true(w.told);
	assert_int_equal(w.rc, -ECANCELED);
	waiter_wait(&w);
	scratch_free(dir);
	free(path);
}

static void a_failed_digest_stays_failed(void **state)
{
	char *dir = scratch_new();
	char *path = scratch_file(dir, "abc", abc, 3);
	struct gfs_source *source = open_ok(path);
	int saved = dup(STDERR_FILENO);
	int null = open("/dev/null", O_WRONLY);
	char hex[65];

	(void)state;
	append(dir, path);
	dup2(null, STDERR_FILENO); /* the line goes to syslog: nobody needs to listen */
	assert_int_equal(gfs_source_sha256(source, hex, NULL), -ESTALE);
	dup2(saved, STDERR_FILENO);
	assert_int_equal(gfs_source_sha256(source, hex, NULL), -ESTALE);
	close(saved);
	close(null);
	gfs_source_close(source);
	scratch_free(dir);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refuses),
		cmocka_unit_test(reads_exactly),
		cmocka_unit_test(keeps_the_given_name),
		cmocka_unit_test(serves_the_sample),
		cmocka_unit_test(notices_changes),
		cmocka_unit_test(notices_another_file_at_the_path),
		cmocka_unit_test(digests),
		cmocka_unit_test(queues_for_the_digest),
		cmocka_unit_test(stops_the_digest_when_closed),
		cmocka_unit_test(a_failed_digest_stays_failed),
	};

	return cmocka_run_group_tests_name("source", tests, NULL, NULL);
}
