/* Commands that take several artifacts, and folders of them. */
#include "cli.h"

#include <errno.h>
#include <fts.h>
#include <string.h>

static void take_named(struct cli *cli, const char *path, bool alone, cli_take take, void *ctx)
{
	struct cli_artifact artifact = { .path = path, .alone = alone };

	if (cli_open(cli, path, &artifact.fs) == 0) {
		if (!path)
			artifact.path = artifact.fs->artifact->name.p;
		take(cli, ctx, &artifact);
	}
	gfs_close(artifact.fs);
}

/* Most files of a folder are no artifacts: those are not worth a word. */
static void take_found(struct cli *cli, const FTSENT *file, cli_take take, void *ctx)
{
	struct cli_artifact artifact = { .path = file->fts_path, .found = true };
	struct gfs_message msg;

	if (file->fts_statp->st_size == 0)
		return;
	if (cli_try_open(cli, file->fts_accpath, &artifact.fs, &msg) == 0)
		take(cli, ctx, &artifact);
	else if (msg.exit != GFS_EXIT_REFUSED)
		cli_open_error(cli, file->fts_path, &msg);
	gfs_close(artifact.fs);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void take_entry(struct cli *cli, const FTSENT *entry, cli_take take, void *ctx)
{
	bool named = entry->fts_level == FTS_ROOTLEVEL;

	switch (entry->fts_info) {
	case FTS_D:
	case FTS_DP:
		break;
	case FTS_DC:
		cli_error(cli, entry->fts_path, "is a directory that contains itself");
		break;
	case FTS_DNR:
	case FTS_ERR:
		cli_errno(cli, entry->fts_path, entry->fts_errno);
		break;
	default: /* links, devices and the like: one that is named is refused with its reason */
		if (named)
			take_named(cli, entry->fts_path, false, take, ctx);
		else if (entry->fts_info == FTS_F)
			take_found(cli, entry, take, ctx);
		else if (entry->fts_info == FTS_NS)
			cli_errno(cli, entry->fts_path, entry->fts_errno);
		break;
	}
}

static void walk(struct cli *cli, char *path, cli_take take, void *ctx)
{
	char *roots[] = { path, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
	FTSENT *entry;

	if (!fts) {
		cli_errno(cli, path, errno);
		return;
	}
	while (errno = 0, (entry = fts_read(fts)))
		take_entry(cli, entry, take, ctx);
	if (errno)
		cli_errno(cli, path, errno);
	fts_close(fts);
}

void cli_each_artifact(struct cli *cli, char **paths, int count, cli_take take, void *ctx)
{
	for (int i = 0; i < count; i++) {
		if (paths[i] && cli->flag['r'])
			walk(cli, paths[i], take, ctx);
		else
			take_named(cli, paths[i], count == 1, take, ctx);
	}
}
