/*
 * Copies as cp -a does from a mount, with two differences: a file appears under its name
 * only when it is whole, and what is inside the destination is reached by file descriptor,
 * never through a symbolic link, so that nothing outside of it is written. What an earlier
 * copy of the same artifact has brought there is left as it is.
 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli_copied.h"
#include "cli_signal.h"
#include "source.h"

struct copy {
	struct cli *cli;
	struct cli_copied copied; /* what the destination holds */
	char *buf; /* CLI_READ_SIZE bytes */
	unsigned int files; /* numbers the temporary names */
	char temporary[CLI_TEMPORARY_SIZE];
};

/* One node on its way: to name in the directory fd. The paths are for messages. */
struct item {
	struct gfs_node node;
	const char *from;
	int fd;
	const char *name;
	const char *to;
};

static void refuse(struct copy *copy, const char *what, const char *to, const char *with)
{
	char *sentence;

	if (asprintf(&sentence, "%s %s", what, with) < 0)
		sentence = NULL;
	cli_error(copy->cli, to, cli_memory(sentence));
	free(sentence);
}

/* Owner first: chown(2) takes bits off the mode. Those who may not give files away keep
 * them, as with cp(1). */
static int set_attributes(int fd, const struct stat *st)
{
	struct timespec times[2] = { st->st_atim, st->st_mtim };

	if (fchown(fd, st->st_uid, st->st_gid) != 0 && (errno != EPERM || geteuid() == 0))
		return -errno;
	if (fchmod(fd, st->st_mode & 07777) != 0 || futimens(fd, times) != 0)
		return -errno;
	return 0;
}

/* ---- files ------------------------------------------------------------------------ */

/* A new file in the directory, under a name that nobody else has, which goes when a signal
 * ends the program; negative errno. */
static int open_temporary(struct copy *copy, int dir)
{
	sigset_t before;
	int err;
	int fd;

	cli_signals_hold(&before);
	do {
		cli_temporary_name(copy->temporary, copy->files++);
		fd = openat(dir, copy->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	} while (fd < 0 && errno == EEXIST);
	err = -errno;
	if (fd >= 0)
		cli_signals_note(dir, copy->temporary);
	cli_signals_release(&before);
	return fd < 0 ? err : fd;
}

/* Gives it its name, NULL: removes it; negative errno. */
static int end_temporary(const struct copy *copy, int dir, const char *name)
{
	sigset_t before;
	int err = 0;

	cli_signals_hold(&before);
	if (name && renameat(dir, copy->temporary, dir, name) != 0)
		err = -errno;
	if (!name || err)
		unlinkat(dir, copy->temporary, 0);
	cli_signals_note(-1, NULL);
	cli_signals_release(&before);
	return err;
}

/* True: all bytes are in fd. An empty file is not read: in a mount the kernel knows its end,
 * though what should decode to nothing may be broken. */
static bool copy_bytes(struct copy *copy, const struct item *item, uint64_t size, int fd)
{
	uint64_t offset = 0;
	size_t got = 1;

	while (offset < size && got > 0) {
		int err = gfs_read(copy->cli->fs, item->node, offset, copy->buf, CLI_READ_SIZE,
				   &got, NULL);

		if (err) {
			cli_errno(copy->cli, item->from, err);
			return false;
		}
		err = cli_write(fd, copy->buf, got);
		if (err) {
			cli_errno(copy->cli, item->to, err);
			return false;
		}
		offset += got;
		cli_progress_add(&copy->cli->progress, got);
	}
	return true;
}

/* Gives the whole file its name and attributes; negative errno. Errors of writing may
 * show as late as in close(2). */
static int finish(const struct copy *copy, const struct item *item, int fd, const struct stat *st)
{
	int err = set_attributes(fd, st);
	int renamed;

	if (close(fd) != 0 && !err)
		err = -errno;
	renamed = end_temporary(copy, item->fd, err ? NULL : item->name);
	return err ? err : renamed;
}

/* Renaming over a device, a socket or a fifo would take it away from whoever uses it. */
static bool is_special(const struct item *item)
{
	struct stat st;

	return fstatat(item->fd, item->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* By any name: what is copied would be the end of what it is copied from. */
static bool is_artifact(const struct copy *copy, const struct item *item)
{
	const struct stat *artifact = gfs_source_stat(copy->cli->fs->source);
	struct stat st;

	return !copy->cli->options->sample && fstatat(item->fd, item->name, &st, 0) == 0 &&
	       st.st_dev == artifact->st_dev && st.st_ino == artifact->st_ino;
}

static void copy_file(struct copy *copy, const struct item *item)
{
	struct stat st;
	int err = gfs_getattr(copy->cli->fs, item->node, &st);
	int fd;

	if (err) {
		cli_errno(copy->cli, item->from, err);
		return;
	}
	if (is_special(item)) {
		refuse(copy, "is no regular file, will not be overwritten with", item->to,
		       item->from);
		return;
	}
	if (is_artifact(copy, item)) {
		refuse(copy, "is the artifact, will not be overwritten with", item->to, item->from);
		return;
	}
	if (cli_copied_already(&copy->copied, item->fd, item->name, &st))
		return;
	fd = open_temporary(copy, item->fd);
	if (fd < 0) {
		cli_errno(copy->cli, item->to, fd);
		return;
	}
	if (!copy_bytes(copy, item, (uint64_t)st.st_size, fd)) {
		close(fd);
		end_temporary(copy, item->fd, NULL);
		return;
	}
	err = finish(copy, item, fd, &st);
	if (!err)
		return;
	if (err == -EISDIR)
		refuse(copy, "is a directory, cannot be overwritten with", item->to, item->from);
	else
		cli_errno(copy->cli, item->to, err);
}

/* ---- directories ------------------------------------------------------------------ */

static void copy_node(struct copy *copy, const struct item *item);

/* The contents of dir into the open directory fd, and its attributes after them, because
 * each new name moves mtime. */
static void copy_into(struct copy *copy, struct gfs_node dir, const char *from, int fd,
		      const char *to)
{
	struct cli_list list = { 0 };
	struct stat st;
	int err = cli_list_read(&list, copy->cli->fs, dir);

	if (err)
		cli_errno(copy->cli, from, err);
	for (size_t i = 0; i < list.count && !copy->cli->stale; i++) {
		char *child_from = cli_join(from, list.items[i].name);
		char *child_to = cli_join(to, list.items[i].name);
		struct item item = { list.items[i].node, child_from, fd, list.items[i].name,
				     child_to };

		copy_node(copy, &item);
		free(child_to);
		free(child_from);
	}
	cli_list_fini(&list);
	err = gfs_getattr(copy->cli->fs, dir, &st);
	if (!err)
		err = set_attributes(fd, &st);
	if (err)
		cli_errno(copy->cli, to, err);
}

static void copy_dir(struct copy *copy, const struct item *item)
{
	bool is_new = mkdirat(item->fd, item->name, 0700) == 0;
	int fd = -1;

	if (is_new || errno == EEXIST)
		fd = openat(item->fd, item->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		if (!is_new)
			cli_temporary_clean(fd);
		copy_into(copy, item->node, item->from, fd, item->to);
		close(fd);
	} else if (errno == ENOTDIR || errno == ELOOP) {
		refuse(copy, "is no directory, cannot be overwritten with", item->to, item->from);
	} else {
		cli_errno(copy->cli, item->to, errno);
	}
}

static void copy_node(struct copy *copy, const struct item *item)
{
	if (gfs_is_dir(item->node))
		copy_dir(copy, item);
	else
		copy_file(copy, item);
}

/* ---- the command line ------------------------------------------------------------- */

/*
 * The last component without slashes behind it, and what stands before it; both the
 * caller's to free. The name is empty for "/", and "." for "dir/.".
 */
static void split(const char *path, char **parent, char **name)
{
	size_t end = strlen(path);
	size_t start;

	while (end > 0 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/'; start--)
		;
	*parent = cli_memory(start ? strndup(path, start) : strdup("."));
	*name = cli_memory(strndup(path + start, end - start));
}

/* The name that path gets in a directory that exists; NULL: its contents go there. The
 * caller's to free. */
static char *own_name(const char *path)
{
	char *parent, *name;

	split(path, &parent, &name);
	free(parent);
	if (*name != '\0' && strcmp(name, ".") != 0)
		return name;
	free(name);
	return NULL;
}

static void copy_to_dir(struct copy *copy, const struct cli_item *what, int fd, const char *to)
{
	char *name = own_name(what->name);

	if (!name) {
		copy_into(copy, what->node, what->name, fd, to);
	} else {
		char *path = cli_join(to, name);
		struct item item = { what->node, what->name, fd, name, path };

		copy_node(copy, &item);
		free(path);
	}
	free(name);
}

/* True: things may be written in the directory fd, or under the name in it. With -f they
 * may among those of another artifact, which are no copy of that any longer then. */
static bool may_copy(struct copy *copy, int fd, const char *dir, const char *name, const char *to)
{
	struct cli *cli = copy->cli;
	int err = cli_copied_look(&copy->copied, cli->fs, fd, dir, name);

	if (!err && copy->copied.other && !cli->flag['f']) {
		cli_error(cli, to, "is a copy of another artifact, -f copies all the same");
		return false;
	}
	if (!err)
		err = cli_copied_disown(&copy->copied);
	if (err)
		cli_errno(cli, to, err);
	copy->copied.resume = copy->copied.resume && !cli->flag['f'];
	return !err;
}

/* To a name that is no directory yet. What stands before its last component is the user's
 * to choose, symbolic links included. */
static void copy_to_name(struct copy *copy, const struct cli_item *what, const char *to)
{
	char *parent, *name;
	int fd;

	split(to, &parent, &name);
	fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || *name == '\0') {
		cli_errno(copy->cli, to, fd < 0 ? errno : ENOENT);
	} else if (!gfs_is_dir(what->node) && to[strlen(to) - 1] == '/') {
		cli_errno(copy->cli, to, ENOTDIR);
	} else if (may_copy(copy, fd, parent, name, to)) {
		struct item item = { what->node, what->name, fd, name, to };

		copy->copied.resume = false;
		copy_node(copy, &item);
	}
	if (fd >= 0)
		close(fd);
	free(name);
	free(parent);
}

struct named {
	char *name; /* in the destination */
	const char *from;
};

static int by_name(const void *x, const void *y)
{
	return strcmp(((const struct named *)x)->name, ((const struct named *)y)->name);
}

static void refuse_twice(struct copy *copy, const struct named *named, const char *to)
{
	char *path = cli_join(to, named->name);

	refuse(copy, "would be written twice, the second time with", path, named->from);
	free(path);
}

/* What differs only before the last component would take each other's place. */
static bool have_own_names(struct copy *copy, const struct cli_list *list, const char *to)
{
	struct named *names = cli_memory(calloc(list->count + 1, sizeof(*names)));
	size_t count = 0;
	bool ok = true;

	for (size_t i = 0; i < list->count; i++) {
		char *name = own_name(list->items[i].name);

		if (name)
			names[count++] = (struct named){ name, list->items[i].name };
	}
	if (count > 0)
		qsort(names, count, sizeof(names[0]), by_name);
	for (size_t i = 1; i < count && ok; i++) {
		ok = strcmp(names[i - 1].name, names[i].name) != 0;
		if (!ok)
			refuse_twice(copy, &names[i], to);
	}
	for (size_t i = 0; i < count; i++)
		free(names[i].name);
	free(names);
	return ok;
}

static void copy_all_to_dir(struct copy *copy, const struct cli_list *list, const char *to)
{
	struct cli *cli = copy->cli;
	int fd = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0) {
		cli_errno(cli, to, errno);
	} else if (list->count > 0 && may_copy(copy, fd, to, NULL, to)) {
		cli_temporary_clean(fd);
		for (size_t i = 0; i < list->count && !cli->stale; i++)
			copy_to_dir(copy, &list->items[i], fd, to);
	}
	if (fd >= 0)
		close(fd);
}

static bool take(void *ctx, const char *path, struct gfs_node node)
{
	cli_list_add(ctx, path, node);
	return true;
}

void cli_cp(struct cli *cli, char **paths, int count)
{
	struct copy copy = { .cli = cli, .copied.record = -1 };
	const char *to = paths[count - 1];
	struct cli_list list = { 0 };
	struct stat st;
	bool is_dir = stat(to, &st) == 0 && S_ISDIR(st.st_mode);

	cli_each_path(cli, paths, count - 1, take, &list);
	gfs_progress_set(NULL, NULL); /* it is bytes of files that count here */
	cli_progress_begin(&cli->progress, "copied", 0);
	copy.buf = cli_memory(malloc(CLI_READ_SIZE));
	if ((count > 2 || list.count > 1) && !is_dir)
		cli_error(cli, to, "is no directory, but there is more than one to copy");
	else if (!is_dir && list.count == 1)
		copy_to_name(&copy, &list.items[0], to);
	else if (is_dir && have_own_names(&copy, &list, to))
		copy_all_to_dir(&copy, &list, to);
	cli_copied_fini(&copy.copied);
	free(copy.buf);
	cli_progress_end(&cli->progress);
	cli_list_fini(&list);
}
