#include "cli.h"

#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* An age from which on ls(1) shows the year instead of the time: half a mean one. */
#define RECENT (31556952 / 2)

/* ---- one line of -l --------------------------------------------------------------- */

struct line {
	const char *name;
	struct gfs_node node;
	char mode[11];
	char links[24];
	const char *owner;
	const char *group;
	char size[24];
	char time[32];
	blkcnt_t blocks;
};

struct widths {
	int links;
	int owner;
	int group;
	int size;
};

/* Every node has the same owner, so that the names need to be asked for once. */
struct names {
	char owner[64];
	char group[64];
};

static void get_names(const struct gfs *fs, struct names *names)
{
	const struct passwd *user = getpwuid(fs->uid);
	const struct group *group = getgrgid(fs->gid);

	snprintf(names->owner, sizeof(names->owner), "%u", fs->uid);
	snprintf(names->group, sizeof(names->group), "%u", fs->gid);
	if (user)
		snprintf(names->owner, sizeof(names->owner), "%s", user->pw_name);
	if (group)
		snprintf(names->group, sizeof(names->group), "%s", group->gr_name);
}

static void format_mode(mode_t mode, char text[11])
{
	static const char letters[] = "rwxrwxrwx";

	text[0] = S_ISDIR(mode) ? 'd' : '-';
	for (int i = 0; i < 9; i++)
		text[i + 1] = mode & 0400 >> i ? letters[i] : '-';
	text[10] = '\0';
}

static void format_time(time_t when, char *text, size_t size)
{
	time_t now = time(NULL);
	bool recent = when <= now && when > now - RECENT;
	struct tm tm;

	if (!localtime_r(&when, &tm))
		snprintf(text, size, "%jd", (intmax_t)when);
	else if (recent)
		strftime(text, size, "%b %e %H:%M", &tm);
	else
		strftime(text, size, "%b %e  %Y", &tm);
}

static void fill_line(struct line *line, const struct stat *st, const struct cli_item *item,
		      const struct names *names)
{
	line->name = item->name;
	line->node = item->node;
	line->owner = names->owner;
	line->group = names->group;
	line->blocks = st->st_blocks;
	format_mode(st->st_mode, line->mode);
	snprintf(line->links, sizeof(line->links), "%ju", (uintmax_t)st->st_nlink);
	snprintf(line->size, sizeof(line->size), "%jd", (intmax_t)st->st_size);
	format_time(st->st_mtime, line->time, sizeof(line->time));
}

static void widen(int *width, const char *text)
{
	int len = (int)strlen(text);

	if (len > *width)
		*width = len;
}

/* ---- a listing -------------------------------------------------------------------- */

static void print_lines(const struct cli *cli, const struct line *lines, size_t count)
{
	struct widths w = { 0 };

	for (size_t i = 0; i < count; i++) {
		widen(&w.links, lines[i].links);
		widen(&w.owner, lines[i].owner);
		widen(&w.group, lines[i].group);
		widen(&w.size, lines[i].size);
	}
	for (size_t i = 0; i < count; i++) {
		const struct line *l = &lines[i];

		printf("%s %*s %-*s %-*s %*s %s ", l->mode, w.links, l->links, w.owner, l->owner,
		       w.group, l->group, w.size, l->size, l->time);
		cli_put_name(cli, l->name, l->node);
	}
}

static void print_total(const struct line *lines, size_t count)
{
	uintmax_t blocks = 0;

	for (size_t i = 0; i < count; i++)
		blocks += (uintmax_t)lines[i].blocks;
	printf("total %ju\n", (blocks + 1) / 2);
}

/* dir is what the names are relative to, NULL: they are paths themselves. */
static void print_long(struct cli *cli, const char *dir, const struct cli_list *list)
{
	struct line *lines = cli_memory(calloc(list->count + 1, sizeof(*lines)));
	struct names names;
	size_t count = 0;

	get_names(cli->fs, &names);
	for (size_t i = 0; i < list->count && !cli->stale; i++) {
		const struct cli_item *item = &list->items[i];
		struct stat st;
		int err = gfs_getattr(cli->fs, item->node, &st);

		if (err) {
			char *path = dir ? cli_join(dir, item->name) : NULL;

			cli_errno(cli, path ? path : item->name, err);
			free(path);
		} else {
			fill_line(&lines[count++], &st, item, &names);
		}
	}
	if (dir)
		print_total(lines, count);
	print_lines(cli, lines, count);
	free(lines);
}

static void print_list(struct cli *cli, const char *dir, const struct cli_list *list)
{
	if (cli->flag['l']) {
		print_long(cli, dir, list);
		return;
	}
	for (size_t i = 0; i < list->count; i++)
		cli_put_name(cli, list->items[i].name, list->items[i].node);
}

static void list_dir(struct cli *cli, const char *path, struct gfs_node dir, bool header,
		     bool *begun)
{
	struct cli_list list = { 0 };
	int err = cli_list_read(&list, cli->fs, dir);

	if (err)
		cli_errno(cli, path, err);
	if (header)
		printf("%s%s:\n", *begun ? "\n" : "", path);
	*begun = true;
	print_list(cli, path, &list);
	for (size_t i = 0; cli->flag['R'] && i < list.count && !cli->stale; i++) {
		char *child;

		if (!gfs_is_dir(list.items[i].node))
			continue;
		child = cli_join(path, list.items[i].name);
		list_dir(cli, child, list.items[i].node, true, begun);
		free(child);
	}
	cli_list_fini(&list);
}

struct listing {
	struct cli_list files;
	struct cli_list dirs;
};

static bool take(void *ctx, const char *path, struct gfs_node node)
{
	struct listing *l = ctx;

	cli_list_add(gfs_is_dir(node) ? &l->dirs : &l->files, path, node);
	return true;
}

void cli_ls(struct cli *cli, char **paths, int count)
{
	struct listing l = { 0 };
	bool header, begun;

	cli_each_path(cli, paths, count, take, &l);
	print_list(cli, NULL, &l.files);
	begun = l.files.count > 0;
	header = count > 1 || l.files.count + l.dirs.count > 1 || cli->flag['R'];
	for (size_t i = 0; i < l.dirs.count && !cli->stale; i++)
		list_dir(cli, l.dirs.items[i].name, l.dirs.items[i].node, header, &begun);
	cli_list_fini(&l.files);
	cli_list_fini(&l.dirs);
}
