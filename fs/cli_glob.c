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
	for (int i = 0; i < count && more; i++)
		more = each(cli, paths[i], found, ctx);
}
