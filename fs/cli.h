/*
 * gpuobj: what its sub-commands share. Each is one cli_NAME.c and one row in the table of
 * front_cli.c.
 */
#ifndef GFS_CLI_H
#define GFS_CLI_H

#include <getopt.h>

#include "cli_progress.h"
#include "internal.h"
#include "node.h"

struct cli {
	struct gfs *fs; /* the artifact; NULL for commands that open theirs with cli_open() */
	const struct gfs_options *options;
	const char *command;
	bool flag[128]; /* the letters given of those in the command's row */
	char *value[128]; /* what came with them, NULL for those without an argument */
	int status; /* what the program ends with: an enum gfs_exit */
	int failure; /* what it ends with when something goes wrong; 0: as enum gfs_exit says */
	struct cli_progress progress;
	bool colours; /* on the standard output */
	bool stale; /* the artifact has changed, nothing more can be read */
};

/* "gpuobj: COMMAND: subject: sentence" on stderr. */
void cli_note(struct cli *cli, const char *subject, const char *sentence);
/* The same for what went wrong; the status becomes 1, or stays where it is higher. */
void cli_error(struct cli *cli, const char *subject, const char *sentence);
/* For an errno, negative or not. ESTALE makes the status 3, and stale true. */
void cli_errno(struct cli *cli, const char *subject, int err);

/* Opens another artifact for a command that takes several; NULL stands for the one that is
 * built in. On failure it says why, *fs is NULL and the status is what the failure asks for.
 * Ends with gfs_close(). */
int cli_open(struct cli *cli, const char *artifact, struct gfs **fs);
/* The same, and says nothing. */
int cli_try_open(const struct cli *cli, const char *artifact, struct gfs **fs,
		 struct gfs_message *msg);
/* What cli_open() says then. */
void cli_open_error(struct cli *cli, const char *artifact, const struct gfs_message *msg);

/* For commands whose status 1 is an answer: all that goes wrong makes it this one. */
void cli_fail_with(struct cli *cli, int status);

/* p, which malloc() or the like gave. NULL ends the program: one that lists and copies has
 * nothing to save when memory runs out. */
void *cli_memory(void *p);

/* dir/name, the caller's to free; one slash between them. */
char *cli_join(const char *dir, const char *name);

/* The most that one read asks for. */
#define CLI_READ_SIZE ((size_t)1 << 20)

/* A line with a name of the tree, coloured where it is a directory and colours are wanted. */
void cli_put_name(const struct cli *cli, const char *name, struct gfs_node node);

/* Writes all of it; negative errno. */
int cli_write(int fd, const char *data, size_t size);

/* Nodes with their names, in the order they were added. */
struct cli_list {
	struct cli_item *items;
	size_t count;
	size_t room;
};

struct cli_item {
	struct gfs_node node;
	char *name;
};

void cli_list_add(struct cli_list *list, const char *name, struct gfs_node node);
/* What is in dir, or an error; what was read before it is kept. */
int cli_list_read(struct cli_list *list, struct gfs *fs, struct gfs_node dir);
void cli_list_fini(struct cli_list *list);

/*
 * What the paths name, in their order and that of the tree: each path that is there, and for
 * others with *, ? or [ in them all that match, component by component as fnmatch(3) does.
 * Only directories that a pattern is looked for in are read. Without paths it is the root.
 * Where nothing is found that is reported. found() ends the search by giving false.
 */
typedef bool (*cli_found)(void *ctx, const char *path, struct gfs_node node);
void cli_each_path(struct cli *cli, char **paths, int count, cli_found found, void *ctx);

struct cli_artifact {
	const char *path;
	struct gfs *fs;
	bool found; /* in a folder: nobody asked for this file */
	bool alone; /* there is no other, so its share of the work is known */
};

/*
 * Opens artifacts one after the other for take(). With -r, folders are walked in the order of
 * names; links in them are not followed, and files that are empty or of a kind that is refused
 * are left out. What cannot be read is an error, and the others follow.
 */
typedef void (*cli_take)(struct cli *cli, void *ctx, const struct cli_artifact *artifact);
void cli_each_artifact(struct cli *cli, char **paths, int count, cli_take take, void *ctx);

/* What options of a command say of the computer; 0 or the status to end with. */
struct dec_judge_options;
int cli_judge_options(struct cli *cli, struct dec_judge_options *options);

extern const struct option cli_which_words[];
extern const struct option cli_matrix_words[];

void cli_ls(struct cli *cli, char **paths, int count);
void cli_tree(struct cli *cli, char **paths, int count);
void cli_cat(struct cli *cli, char **paths, int count);
void cli_cp(struct cli *cli, char **paths, int count);
void cli_query(struct cli *cli, char **words, int count);
void cli_summary(struct cli *cli, char **paths, int count);
void cli_diff(struct cli *cli, char **paths, int count);
void cli_which(struct cli *cli, char **words, int count);
void cli_matrix(struct cli *cli, char **paths, int count);

#endif
