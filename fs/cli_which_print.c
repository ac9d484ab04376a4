/* What gpuobj which says of one artifact. */
#include "cli_which.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_term.h"
#include "json.h"

/* ---- the ways in which it fits -------------------------------------------------------------- */

/* Of containers. */
static uint32_t ways_of(const struct dec_answer *answer, const struct dec_artifact *artifact)
{
	uint32_t ways = 0;

	for (uint32_t i = 0; i < artifact->container_count; i++) {
		const struct dec_container_verdict *c = &answer->containers[i];

		if (c->counts && c->verdict != DEC_VERDICT_NO)
			ways |= UINT32_C(1) << c->how;
	}
	return ways & ~(UINT32_C(1) << DEC_HOW_NONE);
}

/* Kernels were judged, and there are some. */
static bool has_kernels(const struct which_file *file, const struct which_verdict *v)
{
	return file->kernels && v->kernels.total > 0;
}

/* Bits, in the order of the vocabulary. */
static uint32_t ways_in(const struct which_file *file, const struct which_verdict *v)
{
	return has_kernels(file, v) ? v->kernels.ways : ways_of(v->answer, file->artifact);
}

static enum dec_how take_way(uint32_t *ways)
{
	int how = __builtin_ctz(*ways);

	*ways &= *ways - 1;
	return (enum dec_how)how;
}

/* ---- for people -------------------------------------------------------------------------------- */

static void print_name(const char *path)
{
	char *name = cli_memory(cli_text(path, strlen(path)));

	printf("%s: ", name);
	free(name);
}

static void print_containers(const struct dec_answer *answer)
{
	uint32_t fit = answer->native + answer->jit + answer->maybe;

	printf("%u of %u containers; ", fit, fit + answer->none);
}

/* No device may have all of them, so the number says little without the best one. */
static void print_kernels(const struct which_file *file, const struct which_verdict *v)
{
	uint32_t fit = v->kernels.total - v->kernels.counts[GFS_RANK_MISSING];
	const struct dec_device *most;
	uint32_t count;

	printf("%u of %u kernels, ", fit, v->kernels.total);
	most = cli_kernels_most(file->kernels, &count);
	if (most && count > fit)
		printf("%s has %u; ", most->name, count);
	else
		printf("no device has more; ");
}

static void print_verdict(const struct which_file *file, const struct which_verdict *v)
{
	const struct dec_answer *answer = v->answer;
	bool missing = has_kernels(file, v) && v->kernels.counts[GFS_RANK_MISSING] > 0;
	uint32_t ways = ways_in(file, v);

	printf("%s (", dec_outcome_word(answer->outcome));
	while (ways) {
		printf("%s", dec_how_word(take_way(&ways)));
		printf(ways ? ", " : "; ");
	}
	if (answer->outcome == DEC_OUTCOME_PARTIAL && !missing)
		print_containers(answer);
	else if (answer->outcome == DEC_OUTCOME_PARTIAL)
		print_kernels(file, v);
	else if (has_kernels(file, v) && !missing)
		printf("all %u kernels; ", v->kernels.total);
	printf("%s)\n", dec_reason_sentence(answer->reason));
	if (answer->outcome == DEC_OUTCOME_PARTIAL && missing)
		cli_kernels_print_missing(&v->kernels);
}

/* A device that may be set up in several ways, which make a difference. */
static void print_settings(const struct which_file *file)
{
	printf("maybe (depends on the setting; ");
	for (uint32_t i = 0; i < file->count; i++) {
		const struct dec_answer *answer = file->verdicts[i].answer;

		printf("%s%s%s: %s", i ? ", " : "", answer->device->name,
		       answer->device->usual ? " as usual" : "", dec_outcome_word(answer->outcome));
	}
	printf(")\n");
}

bool which_agrees(const struct which_file *file)
{
	for (uint32_t i = 1; i < file->count; i++)
		if (file->verdicts[i].answer->outcome != file->verdicts[0].answer->outcome)
			return false;
	return true;
}

void which_print_text(const struct which_file *file)
{
	print_name(file->path);
	if (which_agrees(file))
		print_verdict(file, &file->verdicts[0]);
	else
		print_settings(file);
}

/* ---- for programs ------------------------------------------------------------------------------ */

static void print_line(const struct which_file *file, const struct which_verdict *v)
{
	const struct dec_answer *answer = v->answer;
	uint32_t ways = ways_in(file, v);
	struct cJSON *root;
	struct cJSON *o;
	struct gfs_json w;
	char *text;
	size_t size;

	gfs_json_init(&w);
	root = gfs_json_object(&w, NULL, NULL);
	gfs_json_text(&w, root, "file", (struct dec_text){ file->path, strlen(file->path) });
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
	if (file->kernels)
		cli_kernels_put(file->kernels, &v->kernels, &w, root);
	if (gfs_json_finish(&w, &text, &size) != 0)
		cli_memory(NULL);
	fwrite(text, 1, gfs_json_compact(text, size), stdout);
	putchar('\n');
	free(text);
}

void which_print_json(const struct which_file *file)
{
	for (uint32_t i = 0; i < file->count; i++)
		print_line(file, &file->verdicts[i]);
}
