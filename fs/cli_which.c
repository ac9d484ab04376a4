/* gpuobj which: would it run on that GPU? */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_term.h"
#include "device.h"
#include "json.h"

const struct option cli_which_words[] = {
	{ "recursive", no_argument, NULL, 'r' },
	{ "driver", required_argument, NULL, 'D' },
	{ "jsonl", no_argument, NULL, 'J' },
	{ "list", no_argument, NULL, 'L' },
	{ 0 },
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

/* The ways in which containers fit, in the order of the vocabulary. */
static uint32_t ways_of(const struct dec_answer *answer, const struct gfs *fs)
{
	uint32_t ways = 0;

	for (uint32_t i = 0; i < fs->artifact->container_count; i++) {
		const struct dec_container_verdict *c = &answer->containers[i];

		if (c->counts && c->verdict != DEC_VERDICT_NO)
			ways |= UINT32_C(1) << c->how;
	}
	return ways & ~(UINT32_C(1) << DEC_HOW_NONE);
}

static enum dec_how take_way(uint32_t *ways)
{
	int how = __builtin_ctz(*ways);

	*ways &= *ways - 1;
	return (enum dec_how)how;
}

static void print_answer(const char *path, const struct dec_answer *answer, const struct gfs *fs)
{
	uint32_t ways = ways_of(answer, fs);
	uint32_t fit = answer->native + answer->jit + answer->maybe;
	char *name = cli_memory(cli_text(path, strlen(path)));

	printf("%s: %s (", name, dec_outcome_word(answer->outcome));
	free(name);
	while (ways) {
		printf("%s", dec_how_word(take_way(&ways)));
		printf(ways ? ", " : "; ");
	}
	if (answer->outcome == DEC_OUTCOME_PARTIAL)
		printf("%u of %u containers; ", fit, fit + answer->none);
	printf("%s)\n", dec_reason_sentence(answer->reason));
}

static void print_line(const char *path, const struct dec_answer *answer, const struct gfs *fs)
{
	uint32_t ways = ways_of(answer, fs);
	struct cJSON *root;
	struct cJSON *o;
	struct gfs_json w;
	char *text;
	size_t size;

	gfs_json_init(&w);
	root = gfs_json_object(&w, NULL, NULL);
	gfs_json_text(&w, root, "file", (struct dec_text){ path, strlen(path) });
	gfs_json_word(&w, root, "device", answer->device->name);
	gfs_json_word(&w, root, "verdict", dec_outcome_word(answer->outcome));
	o = gfs_json_array(&w, root, "how");
	while (ways)
		gfs_json_word(&w, o, NULL, dec_how_word(take_way(&ways)));
	gfs_json_word(&w, root, "reason", dec_reason_word(answer->reason));
	gfs_json_word(&w, root, "sentence", dec_reason_sentence(answer->reason));
	o = gfs_json_object(&w, root, "containers");
	gfs_json_uint(&w, o, "native", answer->native);
	gfs_json_uint(&w, o, "jit", answer->jit);
	gfs_json_uint(&w, o, "none", answer->none);
	gfs_json_uint(&w, o, "maybe", answer->maybe);
	gfs_json_word(&w, root, "inventory", answer->incomplete ? "partial" : "complete");
	if (gfs_json_finish(&w, &text, &size) != 0)
		cli_memory(NULL);
	fwrite(text, 1, gfs_json_compact(text, size), stdout);
	putchar('\n');
	free(text);
}

/* A device that may be set up in several ways, which make a difference. */
static void print_settings(const char *path, struct dec_answer *const *answers, uint32_t count)
{
	char *name = cli_memory(cli_text(path, strlen(path)));

	printf("%s: maybe (depends on the setting; ", name);
	free(name);
	for (uint32_t i = 0; i < count; i++)
		printf("%s%s%s: %s", i ? ", " : "", answers[i]->device->name,
		       answers[i]->device->usual ? " as usual" : "",
		       dec_outcome_word(answers[i]->outcome));
	printf(")\n");
}

static bool all_agree(struct dec_answer *const *answers, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (answers[i]->outcome != answers[0]->outcome)
			return false;
	return true;
}

static void take(struct cli *cli, void *ctx, const struct cli_artifact *artifact)
{
	const struct gfs *fs = artifact->fs;
	struct which *which = ctx;
	uint32_t count = which->match.device_count;
	struct dec_answer *answers[DEC_MATCH_DEVICES] = { NULL };
	int rank;

	if (artifact->found && fs->artifact->target_count == 0)
		return;
	for (uint32_t i = 0; i < count; i++)
		answers[i] = cli_memory(
			dec_judge(fs->artifact, which->match.devices[i], &which->options));
	rank = all_agree(answers, count) ? rank_of(answers[0]->outcome) : RANK_MAYBE;
	for (uint32_t i = 0; cli->flag['J'] && i < count; i++)
		print_line(artifact->path, answers[i], fs);
	if (!cli->flag['J'] && all_agree(answers, count))
		print_answer(artifact->path, answers[0], fs);
	else if (!cli->flag['J'])
		print_settings(artifact->path, answers, count);
	if (answers[0]->outcome == DEC_OUTCOME_PARTIAL)
		which->partial = which->match.devices[0];
	for (uint32_t i = 0; i < count; i++)
		dec_answer_free(answers[i]);
	which->worst = rank > which->worst ? rank : which->worst;
	which->any = true;
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
	cli_each_artifact(cli, paths, count, take, &which);
	if (which.partial && !cli->flag['J'])
		fprintf(stderr,
			"gpuobj: which: partial: kernels are counted in "
			"devices/%s/inspect/report.json\n",
			which.partial->name);
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
