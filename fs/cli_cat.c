#include "cli.h"

#include <stdlib.h>
#include <unistd.h>

/* False: there is no use in going on with other files. */
static bool cat(struct cli *cli, const char *path, char *buf)
{
	struct gfs_node node;
	uint64_t offset = 0;
	size_t got;
	int err = gfs_walk(cli->fs, path, &node);

	do {
		if (!err)
			err = gfs_read(cli->fs, node, offset, buf, CLI_READ_SIZE, &got, NULL);
		if (err) {
			cli_errno(cli, path, err);
			return !cli->stale;
		}
		err = cli_write(STDOUT_FILENO, buf, got);
		if (err) {
			cli_errno(cli, "write error", err);
			return false;
		}
		offset += got;
	} while (got > 0);
	return true;
}

void cli_cat(struct cli *cli, char **paths, int count)
{
	char *buf = cli_memory(malloc(CLI_READ_SIZE));

	for (int i = 0; i < count; i++) {
		if (!cat(cli, paths[i], buf))
			break;
	}
	free(buf);
}
