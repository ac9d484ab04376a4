/* gpuobj which: would it run on that GPU? */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_which.h"
#include "tree.h"

const struct option cli_which_words[] = {
	{ "recursive", no_argument, NULL, 'r' },    { "kernels", no_argument, NULL, 'k' },
	{ "driver", required_argument, NULL, 'D' }, { "jsonl", no_argument, NULL, 'J' },
	{ "list", no_argument, NULL, 'L' },	    { 0 },
};

/* Documented; when there are several files the one that comes last here counts. */
static const int statuses[] = { 0, 3, 1, 2 };

enum { RANK_RUNS, RANK_MAYBE, RANK_NOT, RANK_TROUBLE };

struct which {
	struct dec_match match;
	struct dec_judge_options options;
	int worst; /* rank */
	bool any; /* file was judged */
	const struct dec_device *partial; /* some file was for it; NULL: none */
};

/* ---- what is said of a file ------------------------------------------------------------------ */

static int rank_of(enum dec_outcome outcome)
{
	switch (outcome) {
	case DEC_OUTCOME_NATIVE:
	case DEC_OUTCOME_JIT:
		return RANK_RUNS;
	case DEC_OUTCOME_MAYBE:
		return RANK_MAYBE;
	case DEC_OUTCOME_PARTIAL:
	case DEC_OUTCOME_NONE:
		break;
	}
	return RANK_NOT;
}

static void judge_file(const struct which *which, struct which_file *file)
{
	for (uint32_t i = 0; i < file->count; i++) {
		struct which_verdict *v = &file->verdicts[i];

		v->answer = cli_memory(
			dec_judge(file->artifact, which->match.devices[i], &which->options));
		if (file->kernels)
			cli_kernels_judge(file->kernels, v->answer, &v->kernels);
	}
}

static void count_file(struct which *which, const struct which_file *file)
{
	enum dec_outcome outcome = file->verdicts[0].answer->outcome;
	int rank = which_agrees(file) ? rank_of(outcome) : RANK_MAYBE;

	if (outcome == DEC_OUTCOME_PARTIAL)
		which->partial = which->match.devices[0];
	which->worst = rank > which->worst ? rank : which->worst;
	which->any = true;
}

/* Kernels that nobody can see may be missing as well. */
static void note_unread(struct cli *cli, const struct which_file *file)
{
	for (uint32_t i = 0; i < file->count; i++) {
		const struct gfs_kernel_verdict *v = &file->verdicts[i].kernels;
		char id[GFS_NAME_MAX + 1];
		char *text;

		if (v->unread == 0)
			continue;
		gfs_id_name(file->kernels->fs, v->first_unread, id);
		if (asprintf(&text, "the kernels of %" PRIu32 " object%s are not known (%s%s)",
			     v->unread, v->unread > 1 ? "s" : "", id,
			     v->unread > 1 ? " is the first" : "") < 0)
			text = NULL;
		cli_note(cli, file->path, cli_memory(text));
		free(text);
		return;
	}
}

static void file_fini(struct which_file *file)
{
	for (uint32_t i = 0; i < file->count; i++) {
		if (file->kernels)
			gfs_kernel_verdict_fini(&file->verdicts[i].kernels);
		dec_answer_free(file->verdicts[i].answer);
	}
}

static void take(struct cli *cli, void *ctx, const struct cli_artifact *artifact)
{
	struct which *which = ctx;
	struct cli_kernels kernels;
	struct which_file file = {
		.path = artifact->path,
		.artifact = artifact->fs->artifact,
		.kernels = cli->flag['k'] ? &kernels : NULL,
		.count = which->match.device_count,
	};

	if (artifact->found && file.artifact->target_count == 0)
		return;
	if (file.kernels && !cli_kernels_begin(cli, &kernels, artifact,
					       which->match.devices[0]->vendor, &which->options))
		return;
	judge_file(which, &file);
	note_unread(cli, &file);
	if (cli->flag['J'])
		which_print_json(&file);
	else
		which_print_text(&file);
	count_file(which, &file);
	file_fini(&file);
	if (file.kernels)
		cli_kernels_end(&kernels);
}

/* ---- what is known ----------------------------------------------------------------------------- */

static void list_products(const struct dec_device *device)
{
	const struct dec_product *product;
	const char *between = "  ";

	for (uint32_t i = 0; (product = dec_product_at(i)); i++) {
		if (!dec_product_has(product, device))
			continue;
		printf("%s%s", between, product->name);
		between = ", ";
	}
}

static void list_known(void)
{
	const struct dec_device *device;

	for (uint32_t i = 0; (device = dec_device_at(i)); i++) {
		const char *family = dec_device_family(device);

		printf("%-24s%-13s", device->name, family ? family : "-");
		list_products(device);
		putchar('\n');
	}
}

static void explain(struct cli *cli, const char *text, const struct dec_match *match)
{
	cli_error(cli, text, match->sentence);
	for (uint32_t i = 0; i < match->candidate_count; i++)
		fprintf(stderr, "  %-28s %s\n", match->candidates[i].name,
			match->candidates[i].device->architecture);
	if (match->candidates_left_off)
		fprintf(stderr, "  and %u more\n", match->candidates_left_off);
	if (match->find == DEC_FIND_UNKNOWN)
		fprintf(stderr, "'gpuobj which --list' prints what is known.\n");
}

/* ---- the command --------------------------------------------------------------------------------- */

int cli_judge_options(struct cli *cli, struct dec_judge_options *options)
{
	const char *text = cli->value['D'];
	char *end;
	unsigned long driver;

	*options = (struct dec_judge_options){ 0 };
	if (!text)
		return GFS_EXIT_OK;
	driver = strtoul(text, &end, 10);
	if (strspn(text, "0123456789") == 0 || (*end && *end != '.') || driver == 0 ||
	    driver > 9999) {
		cli_error(cli, text, "a driver branch is a number such as 580");
		return GFS_EXIT_USAGE;
	}
	options->driver = (uint32_t)driver;
	return GFS_EXIT_OK;
}

/* What would tell more. */
static void tell_partial(const struct cli *cli, const struct dec_device *device)
{
	fprintf(stderr, "gpuobj: which: partial: %sdevices/%s/inspect/report.json names %s\n",
		cli->flag['k'] ? "" : "--kernels counts kernels, ", device->name,
		cli->flag['k'] ? "all that are missing" : "them");
}

static int judge(struct cli *cli, const char *device, char **paths, int count)
{
	struct which which = { .worst = RANK_RUNS };

	if (cli_judge_options(cli, &which.options) != GFS_EXIT_OK)
		return RANK_TROUBLE;
	dec_device_find(device, &which.match);
	if (which.match.find != DEC_FIND_FOUND) {
		explain(cli, device, &which.match);
		return RANK_TROUBLE;
	}
	if (which.match.sentence[0])
		fprintf(stderr, "gpuobj: which: %s: %s\n", device, which.match.sentence);
	if (cli->flag['k'])
		cli_progress_begin(&cli->progress, "examined", 0);
	cli_each_artifact(cli, paths, count, take, &which);
	cli_progress_end(&cli->progress);
	if (which.partial && !cli->flag['J'])
		tell_partial(cli, which.partial);
	if (cli->status != GFS_EXIT_OK)
		return RANK_TROUBLE;
	if (!which.any)
		fprintf(stderr, "gpuobj: which: there is no file with GPU code\n");
	return which.any ? which.worst : RANK_NOT;
}

void cli_which(struct cli *cli, char **words, int count)
{
	bool sample = count > 0 && !words[0];
	char *device;

	cli_fail_with(cli, statuses[RANK_TROUBLE]);
	if (cli->flag['L']) {
		list_known();
		return;
	}
	if (count < 2) {
		cli_error(cli, count > (int)sample ? words[sample] : "DEVICE",
			  "a device and at least one artifact are needed");
		cli->status = statuses[RANK_TROUBLE];
		return;
	}
	/* The built-in artifact stands first: the two change places. */
	if (sample) {
		words[0] = words[1];
		words[1] = NULL;
	}
	device = words[0];
	cli->status = statuses[judge(cli, device, words + 1, count - 1)];
}
