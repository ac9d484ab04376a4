/* gpuobj: the same tree without a mount. */
#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

struct command {
	const char *name;
	const char *letters; /* options of its own, none of which takes an argument */
	int min; /* paths that must and may be given */
	int max;
	void (*run)(struct cli *cli, char **paths, int count);
	const char *usage;
	const char *help;
};

#define ANY 0x7fffffff

static const struct command commands[] = {
	{ "ls", "lR", 0, ANY, cli_ls, "ls [-lR] ARTIFACT [PATH...]",
	  "List what is in directories, / if none is named.\n\n"
	  "    -l                     mode, owner, size and time as well\n"
	  "    -R                     directories below as well\n" },
	{ "tree", "s", 0, 1, cli_tree, "tree [-s] ARTIFACT [PATH]",
	  "Draw a directory, / if none is named, and all below.\n\n"
	  "    -s                     with sizes\n" },
	{ "cat", "", 1, ANY, cli_cat, "cat ARTIFACT PATH...",
	  "Write files to the standard output.\n" },
	{ "cp", "", 2, ANY, cli_cp, "cp ARTIFACT PATH... DEST",
	  "Copy files, and directories with all below, to DEST outside. / stands for all that\n"
	  "is in it, as DIR/. does.\n" },
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

enum { OPT_SAMPLE = 1000 };

static const struct option long_options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ "sample", no_argument, NULL, OPT_SAMPLE },
	{ 0 },
};

/* ---- messages --------------------------------------------------------------------- */

void cli_error(struct cli *cli, const char *subject, const char *sentence)
{
	fflush(stdout); /* so that the two streams stay in order on a terminal */
	fprintf(stderr, "gpuobj: %s: %s: %s\n", cli->command, subject, sentence);
	if (cli->status == GFS_EXIT_OK)
		cli->status = GFS_EXIT_FAILURE;
}

void cli_errno(struct cli *cli, const char *subject, int err)
{
	cli_error(cli, subject, strerror(abs(err)));
	if (abs(err) != ESTALE)
		return;
	cli->status = GFS_EXIT_ARTIFACT;
	cli->stale = true;
}

static int usage(const struct command *command, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int usage(const struct command *command, const char *fmt, ...)
{
	const char *space = command ? " " : "";
	const char *name = command ? command->name : "";
	va_list ap;

	fprintf(stderr, "gpuobj:%s%s%s ", space, name, command ? ":" : "");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nTry 'gpuobj%s%s --help'.\n", space, name);
	return GFS_EXIT_USAGE;
}

/* What a full disk or a closed pipe kept from being written must not pass for success. */
static int end_output(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, "gpuobj: write error: %s\n", strerror(errno));
	return status == GFS_EXIT_OK ? GFS_EXIT_FAILURE : status;
}

static int help(const struct command *command)
{
	if (command) {
		printf("usage: gpuobj %s\n\n%s\n", command->usage, command->help);
		puts("    -o OPTION[,OPTION...]  as for all commands, see gpuobj --help\n"
		     "    --sample               in place of ARTIFACT: one that is built in");
		return end_output(GFS_EXIT_OK);
	}
	puts("Shows the GPU code objects inside ARTIFACT as a tree of files, without a mount.\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		printf("%s gpuobj %s\n", i ? "      " : "usage:", commands[i].usage);
	puts("\n    -h, --help             this text; after a command: about the command\n"
	     "    -V, --version\n"
	     "    --sample               in place of ARTIFACT: one that is built in\n"
	     "    -o OPTION[,OPTION...]");
	gfs_options_help();
	puts("\nNumbers take K, M, G. See gpuobj(1).");
	return end_output(GFS_EXIT_OK);
}

static int version(void)
{
	printf("gpuobj %s\n", GFS_VERSION);
	return end_output(GFS_EXIT_OK);
}

/* ---- the command line ------------------------------------------------------------- */

struct line {
	const struct command *command; /* NULL until it was met */
	struct gfs_options options;
	struct cli cli;
	bool help;
	bool version;
};

/* Ends the option that list begins with, undoing "\," and "\\"; what follows, or NULL. */
static char *next_option(char *list)
{
	char *out = list;

	for (; *list && *list != ','; list++) {
		if (*list == '\\' && list[1])
			list++;
		*out++ = *list;
	}
	list = *list ? list + 1 : NULL;
	*out = '\0';
	return list;
}

static int take_options(struct line *line, char *list)
{
	struct gfs_message msg;

	while (list) {
		char *next = next_option(list);
		int taken = gfs_options_set(&line->options, list, &msg);

		if (taken < 0)
			return usage(line->command, "%s", msg.text);
		if (!taken)
			return usage(line->command, "unknown option -o %s", list);
		list = next;
	}
	return GFS_EXIT_OK;
}

static int take(struct line *line, int option, char **argv)
{
	switch (option) {
	case 'o':
		return take_options(line, optarg);
	case 'h':
		line->help = true;
		return GFS_EXIT_OK;
	case 'V':
		line->version = true;
		return GFS_EXIT_OK;
	case OPT_SAMPLE:
		line->options.sample = true;
		return GFS_EXIT_OK;
	case ':':
		return usage(line->command, "option -%c needs an argument", optopt);
	case '?':
		if (optopt > 0 && optopt < OPT_SAMPLE)
			return usage(line->command, "unknown option -%c", optopt);
		return usage(line->command, "unknown option %s", argv[optind - 1]);
	default:
		line->cli.flag[option] = true;
		return GFS_EXIT_OK;
	}
}

/* Options up to the first other word with a leading '+' in letters, else all of them. */
static int take_all(struct line *line, const char *letters, int argc, char **argv)
{
	int status = GFS_EXIT_OK;
	int option;

	opterr = 0;
	optind = 0; /* makes getopt begin anew */
	while (status == GFS_EXIT_OK &&
	       (option = getopt_long(argc, argv, letters, long_options, NULL)) != -1)
		status = take(line, option, argv);
	return status;
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

static int run_command(struct line *line, char **words, int count)
{
	const struct command *command = line->command;
	struct cli *cli = &line->cli;
	struct gfs_message msg;

	if (!line->options.sample) {
		if (count == 0)
			return usage(command, "no artifact given");
		line->options.artifact = words[0];
		words++;
		count--;
	}
	if (count < command->min)
		return usage(command, "too few paths given");
	if (count > command->max)
		return usage(command, "surplus argument %s", words[command->max]);
	if (gfs_open(&line->options, &cli->fs, &msg) != 0) {
		fprintf(stderr, "gpuobj: %s\n", msg.text);
		return (int)msg.exit;
	}
	cli->command = command->name;
	command->run(cli, words, count);
	gfs_close(cli->fs);
	return end_output(cli->status);
}

static int take_command(struct line *line, int argc, char **argv)
{
	char letters[32];
	int status;

	line->command = find_command(argv[0]);
	if (!line->command)
		return usage(NULL, "unknown command %s", argv[0]);
	snprintf(letters, sizeof(letters), ":o:hV%s", line->command->letters);
	status = take_all(line, letters, argc, argv);
	if (status != GFS_EXIT_OK)
		return status;
	if (line->help)
		return help(line->command);
	if (line->version)
		return version();
	return run_command(line, argv + optind, argc - optind);
}

int main(int argc, char **argv)
{
	struct line line = { 0 };
	int status;

	gfs_options_init(&line.options);
	status = take_all(&line, "+:o:hV", argc, argv);
	if (status != GFS_EXIT_OK)
		return status;
	if (line.help)
		return help(NULL);
	if (line.version)
		return version();
	if (optind == argc)
		return usage(NULL, "no command given");
	return take_command(&line, argc - optind, argv + optind);
}
