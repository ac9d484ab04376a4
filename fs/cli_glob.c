/* Paths in the tree, and patterns of them: a shell knows only the names outside. */
#include "cli.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct match {
	struct cli *cli;
	cli_found found;
	void *ctx;
	bool any; /* something was found, or an error reported */
};

static bool is_pattern(const char *text)
{
	return text[strcspn(text, "*?[\\")] != '\0';
}

static bool is_absent(int err)
{
	return err == -ENOENT || err == -ENOTDIR || err == -ENAMETOOLONG;
}

static bool complain(struct match *m, const char *path, int err)
{
	cli_errno(m->cli, path, err);
	m->any = true;
	return !m->cli->stale;
}

static char *path_of(const char *dir, const char *name)
{
	return dir ? cli_join(dir, name) : cli_memory(strdup(name));
}

static bool descend(struct match *m, const char *at, struct gfs_node node, const char *rest);

/* All that the pattern names in the directory, each with what the rest names in it. */
static bool match_names(struct match *m, const char *at, struct gfs_node dir, const char *pattern,
			const char *rest)
{
	struct cli_list list = { 0 };
	int err = cli_list_read(&list, m->cli->fs, dir);
	bool more = err ? complain(m, at ? at : "/", err) : true;

	for (size_t i = 0; i < list.count && more; i++) {
		char *path;

		if (fnmatch(pattern, list.items[i].name, 0) != 0)
			continue;
		path = path_of(at, list.items[i].name);
		more = descend(m, path, list.items[i].node, rest);
		free(path);
	}
	cli_list_fini(&list);
	return more;
}

/* One component: a name that is there stands for itself, whatever is in it, and only a
 * pattern has the directory read. */
static bool match_component(struct match *m, const char *at, struct gfs_node dir, const char *name,
			    const char *rest)
{
	struct gfs_node child;
	bool more = true;
	char *path;
	int err;

	if (strcmp(name, ".") == 0)
		return descend(m, at, dir, rest);
	err = gfs_lookup(m->cli->fs, dir, name, &child);
	if (is_absent(err) && is_pattern(name))
		return match_names(m, at, dir, name, rest);
	path = path_of(at, name);
	if (!err)
		more = descend(m, path, child, rest);
	else if (!is_absent(err))
		more = complain(m, path, err);
	free(path);
	return more;
}

/* False: found() wants no more. at is the path of node as far as it goes, NULL: nothing yet. */
static bool descend(struct match *m, const char *at, struct gfs_node node, const char *rest)
{
	const char *start = rest + strspn(rest, "/");
	size_t len = strcspn(start, "/");
	char *name;
	bool more;

	if (start != rest && !gfs_is_dir(node))
		return true;
	if (len == 0) {
		m->any = true;
		return m->found(m->ctx, at ? at : "/", node);
	}
	if (!gfs_is_dir(node))
		return true;
	name = cli_memory(strndup(start, len));
	more = match_component(m, at, node, name, start + len);
	free(name);
	return more;
}

/* ---- ".." ------------------------------------------------------------------------ */

/* As a mount has it: only what is a directory has one above it. */
static bool is_dir_at(struct cli *cli, const char *path)
{
	struct gfs_node node;

	return gfs_walk(cli->fs, path, &node) == 0 && gfs_is_dir(node);
}

/* The length of path, of which len bytes are there, without its last name; what is "/", or
 * empty, has none and stays. */
static size_t without_last(const char *path, size_t len)
{
	while (len > 0 && path[len - 1] == '/')
		len--;
	while (len > 0 && path[len - 1] != '/')
		len--;
	return len > 0 || *path != '/' ? len : 1;
}

/*
 * The path without "..", the caller's to free: nothing in the tree is a link, so that the name
 * before it goes. At the root that is the root. What is no directory keeps it, and is not found.
 */
static char *without_parents(struct cli *cli, const char *path)
{
	char *out = cli_memory(malloc(strlen(path) + 2));
	size_t len = 0;

	while (*path) {
		size_t name = strcspn(path, "/");
		size_t slashes = strspn(path + name, "/");

		out[len] = '\0';
		if (name == 2 && memcmp(path, "..", name) == 0 && is_dir_at(cli, len ? out : "/")) {
			len = without_last(out, len);
		} else if (name != 1 || *path != '.') {
			memcpy(out + len, path, name + slashes);
			len += name + slashes;
		}
		path += name + slashes;
	}
	strcpy(out + len, len ? "" : "/");
	return out;
}

static bool has_parents(const char *path)
{
	for (; *path; path += strspn(path, "/")) {
		size_t name = strcspn(path, "/");

		if (name == 2 && memcmp(path, "..", name) == 0)
			return true;
		path += name;
	}
	return false;
}

static bool each(struct cli *cli, const char *path, cli_found found, void *ctx)
{
	struct match m = { cli, found, ctx, false };
	struct gfs_node node;
	int err = gfs_walk(cli->fs, path, &node);
	bool more;

	if (!err)
		return found(ctx, path, node);
	if (!is_absent(err) || !is_pattern(path))
		return complain(&m, path, err);
	more = descend(&m, *path == '/' ? "/" : NULL, gfs_root(), path);
	if (!m.any)
		cli_error(cli, path, "no path in the tree matches");
	return more;
}

void cli_each_path(struct cli *cli, char **paths, int count, cli_found found, void *ctx)
{
	bool more = true;

	if (count == 0)
		found(ctx, "/", gfs_root());
	for (int i = 0; i < count && more; i++) {
		char *path = has_parents(paths[i]) ? without_parents(cli, paths[i]) : NULL;

		more = each(cli, path ? path : paths[i], found, ctx);
		free(path);
	}
}
