#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "query.h"
#include "report_tally.h"

struct words {
	const char *artifact; /* NULL: --sample, or the request's path */
	const char *request; /* NULL: the standard input */
};

static void refuse(struct cli *cli, const char *sentence)
{
	fflush(stdout);
	fprintf(stderr, "gpuobj: query: %s\n", sentence);
	cli->status = GFS_EXIT_USAGE;
}

static bool is_request(const char *word)
{
	return word[strspn(word, " \t\n\r")] == '{';
}

/* With --sample the first word is NULL. */
static bool take_words(struct cli *cli, char **words, int count, struct words *taken)
{
	int at = 0;

	*taken = (struct words){ 0 };
	if (at < count && (!words[at] || !is_request(words[at])))
		taken->artifact = words[at++];
	if (at < count)
		taken->request = words[at++];
	if (taken->request && !is_request(taken->request))
		refuse(cli, "the request does not begin with {");
	else if (at < count)
		refuse(cli,
		       "the artifact comes before the request; ./{... is one that begins with {");
	return cli->status == GFS_EXIT_OK;
}

/* ---- the request --------------------------------------------------------------------- */

/* As much as can be one and a byte more; what failed is in errno, NULL then. */
static char *read_all(FILE *from, size_t *size)
{
	size_t room = 0;
	char *text = NULL;

	*size = 0;
	do {
		room = room ? 2 * room : 4096;
		text = cli_memory(realloc(text, room));
		*size += fread(text + *size, 1, room - *size, from);
	} while (*size == room && room <= GFS_QUERY_REQUEST_MAX);
	if (!ferror(from))
		return text;
	free(text);
	return NULL;
}

static bool parse(struct cli *cli, const char *text, size_t size, struct gfs_request *request)
{
	struct gfs_refusal why;
	int rc = gfs_request_parse(request, text, size, &why);

	if (rc == -EINVAL)
		refuse(cli, why.text);
	else if (rc != 0)
		cli_errno(cli, "request", rc);
	else if (cli->flag['j'] && (request->has_limit || request->cursor))
		refuse(cli, request->cursor ? "view.cursor: --jsonl has no pages"
					    : "view.limit: --jsonl has no pages");
	return cli->status == GFS_EXIT_OK;
}

static bool get_request(struct cli *cli, const char *word, struct gfs_request *request)
{
	size_t size;
	char *text;
	bool ok;

	if (word)
		return parse(cli, word, strlen(word), request);
	text = read_all(stdin, &size);
	if (!text) {
		cli_errno(cli, "standard input", errno);
		return false;
	}
	ok = parse(cli, text, size, request);
	free(text);
	return ok;
}

/* ---- the artifact ---------------------------------------------------------------------- */

static bool stat_artifact(struct cli *cli, const char *path, struct stat *st)
{
	if (stat(path, st) == 0)
		return true;
	cli_errno(cli, path, errno);
	cli->status = GFS_EXIT_ARTIFACT;
	return false;
}

static bool is_one_file(struct cli *cli, const char *artifact, const char *path)
{
	struct stat a;
	struct stat b;

	if (!stat_artifact(cli, artifact, &a) || !stat_artifact(cli, path, &b))
		return false;
	if (a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		return true;
	refuse(cli, "path: it is another file than ARTIFACT");
	return false;
}

static bool find_artifact(struct cli *cli, const struct gfs_request *request, const char **artifact)
{
	if (cli->options->sample) {
		if (request->path)
			refuse(cli, "path: it is another file than --sample");
		return !request->path;
	}
	if (*artifact && request->path)
		return is_one_file(cli, *artifact, request->path);
	if (!*artifact)
		*artifact = request->path;
	if (!*artifact)
		refuse(cli, "path: there is none, and no ARTIFACT");
	return *artifact;
}

/* A file that the request does not expect is refused before it is searched. */
static bool open_artifact(struct cli *cli, const struct gfs_request *request, const char *artifact)
{
	const struct gfs_options *given = cli->options;
	struct gfs_options options = *given;

	if (request->sha256 && given->sha256 && strcasecmp(request->sha256, given->sha256) != 0) {
		refuse(cli, "expected_sha256: it is another one than that of -o sha256");
		return false;
	}
	if (request->sha256)
		options.sha256 = request->sha256;
	cli->options = &options;
	cli_open(cli, artifact, &cli->fs);
	cli->options = given;
	if (cli->fs)
		cli->fs->options.sha256 = NULL; /* which ends with the request */
	return cli->fs;
}

/* ---- the answer -------------------------------------------------------------------------- */

/*
 * Whole lines are written at once, so that programs which write to one file or pipe do not
 * mix theirs. A pipe promises that for PIPE_BUF bytes; a file that was opened for appending,
 * or by a common ancestor, takes each write as one.
 */
#define LINES_SIZE ((size_t)64 << 10)

struct lines {
	size_t most; /* that are written at once, if one line is not longer */
	size_t used;
	char bytes[LINES_SIZE];
};

static int flush_lines(struct lines *lines)
{
	size_t used = lines->used;

	lines->used = 0;
	return cli_write(STDOUT_FILENO, lines->bytes, used);
}

static int put_line(void *ctx, const char *line, size_t size)
{
	struct lines *lines = ctx;
	int rc = size > lines->most - lines->used ? flush_lines(lines) : 0;

	if (rc != 0)
		return rc;
	if (size > lines->most)
		return cli_write(STDOUT_FILENO, line, size);
	memcpy(lines->bytes + lines->used, line, size);
	lines->used += size;
	return 0;
}

static bool is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) != 0 || S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode);
}

/* Lines have no place for it. */
static void tell_coverage(struct cli *cli, const struct gfs_coverage *coverage)
{
	const struct dec_artifact *artifact = cli->fs->artifact;
	const char *what =
		coverage->partial ? "the coverage is partial" : "the inventory is partial";

	if (coverage->partial && artifact->partial)
		what = "the inventory, and the coverage, is partial";
	if (coverage->partial || artifact->partial)
		cli_note(cli, artifact->name.p, what);
}

static int answer_lines(struct cli *cli, const struct gfs_request *request, struct gfs_refusal *why)
{
	struct lines *lines = cli_memory(calloc(1, sizeof(*lines)));
	struct gfs_coverage coverage;
	int rc;
	int written;

	lines->most = is_pipe(STDOUT_FILENO) ? PIPE_BUF : LINES_SIZE;
	rc = gfs_query_lines(cli->fs, request, put_line, lines, &coverage, why);
	written = flush_lines(lines);
	free(lines);
	if (rc == 0 && written == 0)
		tell_coverage(cli, &coverage);
	return rc ? rc : written;
}

static int answer_page(struct cli *cli, const struct gfs_request *request, struct gfs_refusal *why)
{
	char *text;
	size_t size;
	int rc = gfs_query_page(cli->fs, request, &text, &size, why);

	if (rc == 0) {
		rc = cli_write(STDOUT_FILENO, text, size);
		free(text);
	}
	return rc;
}

static void answer(struct cli *cli, const struct gfs_request *request)
{
	struct gfs_refusal why = { "" };
	int rc =
		cli->flag['j'] ? answer_lines(cli, request, &why) : answer_page(cli, request, &why);

	if (why.text[0])
		refuse(cli, why.text);
	else if (rc != 0)
		cli_errno(cli, cli->fs->artifact->name.p, rc);
}

void cli_query(struct cli *cli, char **words, int count)
{
	struct gfs_request request = { 0 };
	struct words taken;

	if (take_words(cli, words, count, &taken) && get_request(cli, taken.request, &request) &&
	    find_artifact(cli, &request, &taken.artifact) &&
	    open_artifact(cli, &request, taken.artifact))
		answer(cli, &request);
	gfs_request_fini(&request);
}
