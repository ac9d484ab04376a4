/* Commands that take several artifacts, and folders of them. */
#include "cli.h"

#include <errno.h>
#include <fts.h>
#include <string.h>

static void take_named(struct cli *cli, const char *path, cli_take take, void *ctx)
{
	struct gfs *fs;

	if (cli_open(cli, path, &fs) == 0)
		take(cli, ctx, path, fs);
	gfs_close(fs);
}

/* Messages begin with the name of the file, which does not say in which folder it is. */
static void tell(struct cli *cli, const FTSENT *file, const struct gfs_message *msg)
{
	size_t len = file->fts_namelen;
	bool named = strncmp(msg->text, file->fts_name, len) == 0 &&
		     strncmp(msg->text + len, ": ", 2) == 0;

	cli_error(cli, file->fts_path, named ? msg->text + len + 2 : msg->text);
	cli->status = (int)msg->exit;
}

/* Most files of a folder are no artifacts: those are not worth a word. */
static void take_found(struct cli *cli, const FTSENT *file, cli_take take, void *ctx)
{
	struct gfs_message msg;
	struct gfs *fs;

	if (file->fts_statp->st_size == 0)
		return;
	if (cli_try_open(cli, file->fts_accpath, &fs, &msg) == 0) {
		if (fs->artifact->target_count > 0)
			take(cli, ctx, file->fts_path, fs);
	} else if (msg.exit != GFS_EXIT_REFUSED) {
		tell(cli, file, &msg);
	}
	gfs_close(fs);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void take_entry(struct cli *cli, const FTSENT *entry, cli_take take, void *ctx)
{
	switch (entry->fts_info) {
	case FTS_F:
		if (entry->fts_level == FTS_ROOTLEVEL)
			take_named(cli, entry->fts_path, take, ctx);
		else
			take_found(cli, entry, take, ctx);
		break;
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		cli_errno(cli, entry->fts_path, entry->fts_errno);
		break;
	default: /* folders themselves, links, devices */
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
			take_named(cli, paths[i], take, ctx);
	}
}
