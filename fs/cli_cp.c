/*
 * Copies as cp -a does from a mount, with two differences: a file appears under its name
 * only when it is whole, and what is inside the destination is reached by file descriptor,
 * never through a symbolic link, so that nothing outside of it is written.
 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct copy {
	struct cli *cli;
	char *buf; /* CLI_READ_SIZE bytes */
	unsigned int files; /* numbers the temporary names */
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

/* A new file in the directory, under a name that nobody else has; negative errno. */
static int open_temporary(struct copy *copy, int dir, char *name, size_t size)
{
	int fd;

	do {
		snprintf(name, size, ".gpuobj-%ld-%u", (long)getpid(), copy->files++);
		fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	} while (fd < 0 && errno == EEXIST);
	return fd < 0 ? -errno : fd;
}

/* True: all bytes are in fd. */
static bool copy_bytes(struct copy *copy, const struct item *item, int fd)
{
	uint64_t offset = 0;
	size_t got;

	do {
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
	} while (got > 0);
	return true;
}

/* Gives the whole file its name and attributes; negative errno. Errors of writing may
 * show as late as in close(2). */
static int finish(const struct item *item, int fd, const struct stat *st, const char *temporary)
{
	int err = set_attributes(fd, st);

	if (close(fd) != 0 && !err)
		err = -errno;
	if (!err && renameat(item->fd, temporary, item->fd, item->name) != 0)
		err = -errno;
	return err;
}

/* Renaming over a device, a socket or a fifo would take it away from whoever uses it. */
static bool is_special(const struct item *item)
{
	struct stat st;

	return fstatat(item->fd, item->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode) && !S_ISDIR(st.st_mode);
}

static void copy_file(struct copy *copy, const struct item *item)
{
	char temporary[64];
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
	fd = open_temporary(copy, item->fd, temporary, sizeof(temporary));
	if (fd < 0) {
		cli_errno(copy->cli, item->to, fd);
		return;
	}
	if (!copy_bytes(copy, item, fd)) {
		close(fd);
		unlinkat(item->fd, temporary, 0);
		return;
	}
	err = finish(item, fd, &st, temporary);
	if (!err)
		return;
	unlinkat(item->fd, temporary, 0);
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
	int fd = -1;

	if (mkdirat(item->fd, item->name, 0700) == 0 || errno == EEXIST)
		fd = openat(item->fd, item->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
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

/* Under its own name, or for "/" and "dir/." without it, into a directory that exists. */
static void copy_to_dir(struct copy *copy, struct gfs_node node, const char *from, const char *to)
{
	int fd = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *parent, *name;

	if (fd < 0) {
		cli_errno(copy->cli, to, errno);
		return;
	}
	split(from, &parent, &name);
	if (*name == '\0' || strcmp(name, ".") == 0) {
		copy_into(copy, node, from, fd, to);
	} else {
		char *path = cli_join(to, name);
		struct item item = { node, from, fd, name, path };

		copy_node(copy, &item);
		free(path);
	}
	free(name);
	free(parent);
	close(fd);
}

/* To a name that is no directory yet. What stands before its last component is the user's
 * to choose, symbolic links included. */
static void copy_to_name(struct copy *copy, struct gfs_node node, const char *from, const char *to)
{
	char *parent, *name;
	int fd;

	split(to, &parent, &name);
	fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || *name == '\0') {
		cli_errno(copy->cli, to, fd < 0 ? errno : ENOENT);
	} else if (!gfs_is_dir(node) && to[strlen(to) - 1] == '/') {
		cli_errno(copy->cli, to, ENOTDIR);
	} else {
		struct item item = { node, from, fd, name, to };

		copy_node(copy, &item);
	}
	if (fd >= 0)
		close(fd);
	free(name);
	free(parent);
}

void cli_cp(struct cli *cli, char **paths, int count)
{
	struct copy copy = { .cli = cli };
	const char *to = paths[count - 1];
	struct stat st;
	bool is_dir = stat(to, &st) == 0 && S_ISDIR(st.st_mode);

	if (count > 2 && !is_dir) {
		cli_error(cli, to, "is no directory, but there is more than one to copy");
		return;
	}
	copy.buf = cli_memory(malloc(CLI_READ_SIZE));
	for (int i = 0; i < count - 1 && !cli->stale; i++) {
		struct gfs_node node;
		int err = gfs_walk(cli->fs, paths[i], &node);

		if (err)
			cli_errno(cli, paths[i], err);
		else if (is_dir)
			copy_to_dir(&copy, node, paths[i], to);
		else
			copy_to_name(&copy, node, paths[i], to);
	}
	free(copy.buf);
}
