/* gpuobj: the same tree without a mount. */
#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli_signal.h"
#include "cli_term.h"
#include "options.h"
#include "source.h"

struct command {
	const char *name;
	const char *letters; /* options of its own, as for getopt(3) */
	const struct option *words; /* the long ones, ended by zeros; val is below 128 */
	/* The words are artifacts, or what else the command opens by itself; with --sample
	 * the first is NULL. False: the first word is the artifact, the others are in it. */
	bool opens;
	int min; /* words, after the artifact that is opened for it */
	int max;
	void (*run)(struct cli *cli, char **paths, int count);
	const char *usage;
	const char *help;
};

#define ANY 0x7fffffff

static const struct option query_words[] = {
	{ "jsonl", no_argument, NULL, 'j' },
	{ 0 },
};

/* Of commands that take paths. */
#define PATTERNS "\nPATH may have *, ? and [...] for names in the tree: quote it from the shell.\n"

static const struct option cp_words[] = {
	{ "force", no_argument, NULL, 'f' },
	{ 0 },
};

static const struct option summary_words[] = {
	{ "all", no_argument, NULL, 'a' },
	{ "bytes", no_argument, NULL, 'b' },
	{ "kernels", no_argument, NULL, 'k' },
	{ "recursive", no_argument, NULL, 'r' },
	{ 0 },
};

static const struct option diff_words[] = {
	{ "demangle", no_argument, NULL, 'C' },
	{ "brief", no_argument, NULL, 'q' },
	{ "targets", no_argument, NULL, 't' },
	{ 0 },
};

static const struct command commands[] = {
	{ "ls", "lR", NULL, false, 0, ANY, cli_ls, "ls [-lR] ARTIFACT [PATH...]",
	  "List what is in directories, / if none is named.\n\n"
	  "    -l                     mode, owner, size and time as well\n"
	  "    -R                     directories below as well\n" PATTERNS },
	{ "tree", "s", NULL, false, 0, ANY, cli_tree, "tree [-s] ARTIFACT [PATH...]",
	  "Draw directories, / if none is named, and all below.\n\n"
	  "    -s                     with sizes\n" PATTERNS },
	{ "cat", "", NULL, false, 1, ANY, cli_cat, "cat ARTIFACT PATH...",
	  "Write files to the standard output.\n" PATTERNS },
	{ "cp", "f", cp_words, false, 2, ANY, cli_cp, "cp [-f] ARTIFACT PATH... DEST",
	  "Copy files, and directories with all below, to DEST outside. / stands for all\n"
	  "that is in it, as DIR/. does. Where DEST is a copy of the same artifact, files\n"
	  "whose size and time agree are there already and are left.\n\n"
	  "    -f, --force            copy all, over a copy of another artifact too\n" PATTERNS },
	{ "query", "", query_words, true, 0, 2, cli_query, "query [--jsonl] [ARTIFACT] [REQUEST]",
	  "Answer a request with one page of rows, in JSON.\n\n"
	  "REQUEST is an argument that begins with {, or else the standard input:\n\n"
	  "    {\"path\": FILE, \"expected_sha256\": HEX, \"object_ids\": [ID...],\n"
	  "     \"view\": {\"collection\": NAME, \"fields\": [KEY...],\n"
	  "              \"filter\": {KEY: VALUE...}, \"limit\": N, \"cursor\": TEXT}}\n\n"
	  "NAME is containers, objects, targets, kernels or problems. Only the view and\n"
	  "its collection must be there; path may stand for ARTIFACT.\n\n"
	  "    --jsonl                all rows, one a line\n" },
	{ "summary", "abkr", summary_words, true, 1, ANY, cli_summary,
	  "summary [-abkr] ARTIFACT...",
	  "Print a line for each artifact: vendors, objects, sizes, targets. In a pipe\n"
	  "tabs separate the columns, and the targets are all there.\n\n"
	  "    -a, --all              with -r, files without GPU code as well\n"
	  "    -b, --bytes            all digits of sizes\n"
	  "    -k, --kernels          examine them: kernels, distinct names of those, and\n"
	  "                           whether all could be examined\n"
	  "    -r, --recursive        the files in folders and below, no links, no devices\n" },
	{ "diff", "Cqt", diff_words, true, 2, 2, cli_diff, "diff [-Cqt] OLD NEW",
	  "Compare the GPU code of two artifacts, one difference a line: targets and\n"
	  "kernels added (+) and gone (-); facts and code of kernels in both, payloads and\n"
	  "problems that changed (~).\n\n"
	  "    -C, --demangle         names of C++ kernels as people write them\n"
	  "    -q, --brief            no lines, the exit status alone\n"
	  "    -t, --targets          compare the inventories, examine nothing\n\n"
	  "The status is 0 without differences, 1 with some, 2 for all that goes wrong.\n" },
	{ "which", "kr", cli_which_words, true, 0, ANY, cli_which,
	  "which [-kr] [--driver N] DEVICE ARTIFACT...",
	  "Say whether artifacts would run on a GPU: native, jit, partial, none or maybe,\n"
	  "and why. DEVICE is an architecture (sm_89, 8.9, gfx1100, gfx90a:xnack+) or a\n"
	  "product (\"RTX 4090\", MI300X).\n\n"
	  "    -k, --kernels          judge by kernels, not containers: examine them all\n"
	  "    -r, --recursive        the files in folders and below that have GPU code\n"
	  "    --driver N             the branch of the NVIDIA driver there, such as 580\n"
	  "    --jsonl                a line of JSON for each artifact and device\n"
	  "    --list                 nothing but the devices and products that are known\n\n"
	  "The status is 0 for native and jit, 3 for maybe, 1 for none and partial, 2 for\n"
	  "all that goes wrong; of several artifacts the one that is last in this order.\n" },
	{ "matrix", "kr", cli_matrix_words, true, 1, ANY, cli_matrix,
	  "matrix [-kr] [--driver N] [--svg FILE] ARTIFACT...",
	  "Draw a table of which artifacts would run on which GPUs.\n\n"
	  "    -k, --kernels          judge by kernels, not containers: examine them all\n"
	  "    -r, --recursive        the files in folders and below that have GPU code\n"
	  "    --driver N             the branch of the NVIDIA driver there, such as 580\n"
	  "    --svg FILE             as a picture, - for the standard output\n" },
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

/* Between the streams: in order on a terminal, and clear of what a terminal obeys. */
static void complain(struct cli *cli, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void complain(struct cli *cli, const char *fmt, ...)
{
	char *text, *shown;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0)
		text = NULL;
	cli_memory(text);
	shown = cli_memory(cli_sentence(text, (size_t)len));
	fflush(stdout);
	cli_progress_hide(&cli->progress);
	fprintf(stderr, "gpuobj: %s\n", shown);
	free(shown);
	free(text);
}

/* The worst that went wrong is what the program ends with. */
static void count_trouble(struct cli *cli, enum gfs_exit exit)
{
	int status = cli->failure ? cli->failure : (int)exit;

	cli->status = status > cli->status ? status : cli->status;
}

void cli_note(struct cli *cli, const char *subject, const char *sentence)
{
	complain(cli, "%s: %s: %s", cli->command, subject, sentence);
}

void cli_error(struct cli *cli, const char *subject, const char *sentence)
{
	cli_note(cli, subject, sentence);
	count_trouble(cli, GFS_EXIT_FAILURE);
}

void cli_errno(struct cli *cli, const char *subject, int err)
{
	cli_error(cli, subject, strerror(abs(err)));
	if (abs(err) != ESTALE)
		return;
	count_trouble(cli, GFS_EXIT_ARTIFACT);
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
static int end_output(struct cli *cli)
{
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "gpuobj: write error: %s\n", strerror(errno));
		count_trouble(cli, GFS_EXIT_FAILURE);
		if (cli->failure)
			cli->status = cli->failure;
	}
	return cli->status;
}

static void help_command(const struct command *command)
{
	printf("usage: gpuobj %s\n\n%s\n", command->usage, command->help);
	puts("    -o OPTION[,OPTION...]  as for all commands, see gpuobj --help options\n"
	     "    --sample               in place of ARTIFACT: one that is built in");
}

static void help_options(void)
{
	puts("gpuobj -o OPTION[,OPTION...], with what holds without it:\n");
	gfs_options_help();
	puts("\nNumbers take K, M, G. See gpuobj(1).");
}

/* A screen: each command with the first sentence of its help. */
static void help_all(void)
{
	puts("Shows the GPU code objects inside ARTIFACT as a tree of files, without a mount.\n\n"
	     "usage: gpuobj COMMAND [OPTION...] ARTIFACT [PATH...]\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		printf("    %-8s %.*s\n", commands[i].name, (int)strcspn(commands[i].help, ".:\n"),
		       commands[i].help);
	puts("\n    -h, --help [TOPIC]     this text; TOPIC: a command, or options (of -o)\n"
	     "    COMMAND --help         what a command takes\n"
	     "    -o OPTION[,OPTION...]  limits and the like\n"
	     "    --sample               in place of ARTIFACT: one that is built in\n"
	     "    -V, --version\n\n"
	     "See gpuobj(1).");
}

static int version(void)
{
	printf("gpuobj %s\n", GFS_VERSION);
	return end_output(&(struct cli){ 0 });
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

/* word is the one that getopt_long() was at; of a long option it says all. */
static int refuse_option(const struct line *line, int option, const char *word)
{
	const char *what = option == ':' ? "needs an argument" : "takes no argument";
	const char *end = strchrnul(word, '=');

	if (strncmp(word, "--", 2) != 0 && optopt > 0 && optopt < OPT_SAMPLE)
		return option == ':' ? usage(line->command, "option -%c %s", optopt, what)
				     : usage(line->command, "unknown option -%c", optopt);
	/* getopt_long() knows the option when it has a value for it. */
	if (optopt != 0)
		return usage(line->command, "option %.*s %s", (int)(end - word), word, what);
	return usage(line->command, "unknown option %s", word);
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
	case '?':
		return refuse_option(line, option, argv[optind - 1]);
	default:
		line->cli.flag[option] = true;
		line->cli.value[option] = optarg;
		return GFS_EXIT_OK;
	}
}

/* Options up to the first other word with a leading '+' in letters, else all of them. */
static int take_all(struct line *line, const char *letters, const struct option *words, int argc,
		    char **argv)
{
	int status = GFS_EXIT_OK;
	int option;

	opterr = 0;
	optind = 0; /* makes getopt begin anew */
	while (status == GFS_EXIT_OK &&
	       (option = getopt_long(argc, argv, letters, words, NULL)) != -1)
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

int cli_try_open(const struct cli *cli, const char *artifact, struct gfs **fs,
		 struct gfs_message *msg)
{
	struct gfs_options options = *cli->options;

	options.artifact = artifact;
	options.sample = !artifact;
	return gfs_open(&options, fs, msg);
}

/* Messages begin with the path or its last component, which alone does not say in which of
 * many folders the file is. */
static size_t missing_directory(const char *path, const char *text)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	size_t len = slash ? strlen(slash + 1) : 0;

	if (!slash || strncmp(text, slash + 1, len) != 0 || text[len] != ':')
		return 0;
	return (size_t)(slash + 1 - path);
}

void cli_open_error(struct cli *cli, const char *artifact, const struct gfs_message *msg)
{
	complain(cli, "%.*s%s", (int)missing_directory(artifact, msg->text),
		 artifact ? artifact : "", msg->text);
	count_trouble(cli, msg->exit);
}

int cli_open(struct cli *cli, const char *artifact, struct gfs **fs)
{
	struct gfs_message msg;
	int err = cli_try_open(cli, artifact, fs, &msg);

	if (err)
		cli_open_error(cli, artifact, &msg);
	return err;
}

/* What the mount says when it is ready: nobody should take a list for all there is. */
static void tell_partial(struct cli *cli)
{
	if (cli->fs->artifact->partial)
		complain(cli, "%s: the inventory is partial; problems.json says why",
			 gfs_source_name(cli->fs->source));
}

/* words has room for one more in front, where --sample stands. */
static int run_command(struct line *line, char **words, int count)
{
	const struct command *command = line->command;
	struct cli *cli = &line->cli;
	char *artifact = NULL;

	if (line->options.sample) {
		*--words = NULL;
		count++;
	}
	if (!command->opens) {
		if (count == 0)
			return usage(command, "no artifact given");
		artifact = *words++;
		count--;
	}
	if (count < command->min)
		return usage(command, "too few %s given", command->opens ? "artifacts" : "paths");
	if (count > command->max)
		return usage(command, "surplus argument %s", words[command->max]);
	cli->command = command->name;
	cli->options = &line->options;
	cli->colours = cli_term_colours(STDOUT_FILENO);
	cli_progress_init(&cli->progress, STDERR_FILENO);
	gfs_progress_set(cli_progress_add, &cli->progress);
	cli_signals_init();
	if (!command->opens && cli_open(cli, artifact, &cli->fs) != 0)
		return cli->status;
	if (cli->fs)
		tell_partial(cli);
	command->run(cli, words, count);
	gfs_close(cli->fs);
	return end_output(cli);
}

/* The options of all commands and those of this one; the caller's to free. */
static struct option *all_words(const struct command *command)
{
	size_t shared = sizeof(long_options) / sizeof(long_options[0]);
	size_t own = 0;
	struct option *words;

	while (command->words && command->words[own].name)
		own++;
	words = cli_memory(calloc(own + shared, sizeof(*words)));
	if (own)
		memcpy(words, command->words, own * sizeof(*words));
	memcpy(words + own, long_options, sizeof(long_options));
	return words;
}

/* topic is a command, "options", or NULL for all. */
static int help(const struct command *command, const char *topic)
{
	if (topic && strcmp(topic, "options") != 0) {
		command = find_command(topic);
		if (!command)
			return usage(NULL, "no help on %s", topic);
	}
	if (command)
		help_command(command);
	else if (topic)
		help_options();
	else
		help_all();
	return end_output(&(struct cli){ 0 });
}

static int take_command(struct line *line, int argc, char **argv)
{
	struct option *words;
	char letters[32];
	int status;

	line->command = find_command(argv[0]);
	if (!line->command)
		return usage(NULL, "unknown command %s", argv[0]);
	snprintf(letters, sizeof(letters), ":o:hV%s", line->command->letters);
	words = all_words(line->command);
	status = take_all(line, letters, words, argc, argv);
	free(words);
	if (status != GFS_EXIT_OK)
		return status;
	if (line->help)
		return help(line->command, NULL);
	if (line->version)
		return version();
	return run_command(line, argv + optind, argc - optind);
}

int main(int argc, char **argv)
{
	struct line line = { 0 };
	int status;

	gfs_options_init(&line.options);
	line.options.program = "gpuobj";
	status = take_all(&line, "+:o:hV", long_options, argc, argv);
	if (status != GFS_EXIT_OK)
		return status;
	if (line.help)
		return help(NULL, argv[optind]);
	if (line.version)
		return version();
	if (optind == argc)
		return usage(NULL, "no command given");
	return take_command(&line, argc - optind, argv + optind);
}
