#include "cli.h"

#include <stdlib.h>
#include <unistd.h>

struct cat {
	struct cli *cli;
	char *buf; /* CLI_READ_SIZE bytes */
};

/* False: there is no use in going on with other files. */
static bool cat(void *ctx, const char *path, struct gfs_node node)
{
	const struct cat *c = ctx;
	struct cli *cli = c->cli;
	uint64_t offset = 0;
	size_t got;

	do {
		int err = gfs_read(cli->fs, node, offset, c->buf, CLI_READ_SIZE, &got, NULL);

		if (err) {
			cli_errno(cli, path, err);
			return !cli->stale;
		}
		err = cli_write(STDOUT_FILENO, c->buf, got);
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
	struct cat c = { cli, cli_memory(malloc(CLI_READ_SIZE)) };

	cli_each_path(cli, paths, count, cat, &c);
	free(c.buf);
}
