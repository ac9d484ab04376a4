#include "cli.h"

#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How the branches are drawn: to a child, to the last child, and past both. */
struct branches {
	const char *child;
	const char *last;
	const char *beside;
	const char *below;
};

static const struct branches lines = { "├── ", "└── ", "│   ", "    " };
static const struct branches ascii = { "|-- ", "`-- ", "|   ", "    " };

struct drawing {
	struct cli *cli;
	const struct branches *branches;
	bool begun;
	uint64_t dirs;
	uint64_t files;
};

static void draw_name(struct drawing *d, const char *path, const char *name, struct gfs_node node)
{
	struct stat st;

	if (d->cli->flag['s']) {
		int err = gfs_getattr(d->cli->fs, node, &st);

		if (err)
			cli_errno(d->cli, path, err);
		else
			printf("[%11" PRIu64 "]  ", (uint64_t)st.st_size);
	}
	cli_put_name(d->cli, name, node);
}

static void draw_children(struct drawing *d, const char *path, const char *indent,
			  struct gfs_node dir);

static void draw_child(struct drawing *d, const char *dir, const char *indent,
		       const struct cli_item *item, bool last)
{
	char *path = cli_join(dir, item->name);
	const char *more = last ? d->branches->below : d->branches->beside;
	char *deeper = cli_memory(malloc(strlen(indent) + strlen(more) + 1));

	stpcpy(stpcpy(deeper, indent), more);
	printf("%s%s", indent, last ? d->branches->last : d->branches->child);
	draw_name(d, path, item->name, item->node);
	if (gfs_is_dir(item->node)) {
		d->dirs++;
		draw_children(d, path, deeper, item->node);
	} else {
		d->files++;
	}
	free(deeper);
	free(path);
}

static void draw_children(struct drawing *d, const char *path, const char *indent,
			  struct gfs_node dir)
{
	struct cli_list list = { 0 };
	int err = cli_list_read(&list, d->cli->fs, dir);

	if (err)
		cli_errno(d->cli, path, err);
	for (size_t i = 0; i < list.count && !d->cli->stale; i++)
		draw_child(d, path, indent, &list.items[i], i + 1 == list.count);
	cli_list_fini(&list);
}

static bool draw(void *ctx, const char *path, struct gfs_node node)
{
	struct drawing *d = ctx;

	d->begun = true;
	draw_name(d, path, path, node);
	if (gfs_is_dir(node))
		draw_children(d, path, "", node);
	else
		d->files++;
	return !d->cli->stale;
}

void cli_tree(struct cli *cli, char **paths, int count)
{
	struct drawing d = { .cli = cli };

	setlocale(LC_CTYPE, "");
	d.branches = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? &lines : &ascii;
	cli_each_path(cli, paths, count, draw, &d);
	if (!d.begun)
		return;
	printf("\n%" PRIu64 " director%s, %" PRIu64 " file%s\n", d.dirs, d.dirs == 1 ? "y" : "ies",
	       d.files, d.files == 1 ? "" : "s");
}
