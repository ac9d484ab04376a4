/* What several sub-commands do with paths and directories. */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli_term.h"

static int status_of_failure = GFS_EXIT_FAILURE;

void cli_fail_with(struct cli *cli, int status)
{
	cli->failure = status;
	status_of_failure = status;
}

void *cli_memory(void *p)
{
	if (p)
		return p;
	fprintf(stderr, "gpuobj: %s\n", strerror(ENOMEM));
	exit(status_of_failure);
}

char *cli_join(const char *dir, const char *name)
{
	size_t len = strlen(dir);
	const char *slash = len && dir[len - 1] == '/' ? "" : "/";
	char *path = cli_memory(malloc(len + strlen(slash) + strlen(name) + 1));

	stpcpy(stpcpy(stpcpy(path, dir), slash), name);
	return path;
}

int cli_write(int fd, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

void cli_put_name(const struct cli *cli, const char *name, struct gfs_node node)
{
	bool coloured = cli->colours && gfs_is_dir(node);

	printf("%s%s%s\n", cli_colour(coloured, CLI_BLUE), name, cli_colour(coloured, CLI_PLAIN));
}

void cli_list_add(struct cli_list *list, const char *name, struct gfs_node node)
{
	if (list->count == list->room) {
		list->room = list->room ? 2 * list->room : 16;
		list->items =
			cli_memory(reallocarray(list->items, list->room, sizeof(*list->items)));
	}
	list->items[list->count++] = (struct cli_item){ node, cli_memory(strdup(name)) };
}

static int add_child(void *ctx, const char *name, struct gfs_node child, uint64_t next)
{
	(void)next;
	cli_list_add(ctx, name, child);
	return 0;
}

int cli_list_read(struct cli_list *list, struct gfs *fs, struct gfs_node dir)
{
	return gfs_readdir(fs, dir, 0, add_child, list);
}

void cli_list_fini(struct cli_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].name);
	free(list->items);
}
