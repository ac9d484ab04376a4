#include "cli_targets.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_term.h"

/* ---- in order ---------------------------------------------------------------------- */

/* Hex digits of an AMD processor: "gfx90a" is 9.0.a, and comes after "gfx908". */
static size_t digits_of(const char *name)
{
	return strspn(name + strnlen(name, strlen("gfx")), "0123456789abcdef");
}

static int compare_gfx(const char *x, const char *y)
{
	size_t a = digits_of(x);
	size_t b = digits_of(y);

	return a != b ? (a < b ? -1 : 1) : strcmp(x, y);
}

static int compare(const void *p, const void *q)
{
	const struct dec_target *x = *(const struct dec_target *const *)p;
	const struct dec_target *y = *(const struct dec_target *const *)q;
	/* Those of no known kind come last. */
	unsigned int a = (unsigned int)x->class - 1u;
	unsigned int b = (unsigned int)y->class - 1u;
	int order;

	if (a != b)
		return a < b ? -1 : 1;
	if (x->class == DEC_CLASS_GFX)
		return compare_gfx(x->name.p, y->name.p);
	order = strverscmp(x->name.p, y->name.p);
	return order != 0 ? order : strcmp(x->name.p, y->name.p);
}

static const struct dec_target **sorted_targets(const struct dec_artifact *artifact,
						const uint32_t *indexes, uint32_t count)
{
	const struct dec_target **sorted =
		calloc((size_t)count + 1, sizeof(const struct dec_target *));

	for (uint32_t i = 0; sorted && i < count; i++)
		sorted[i] = &artifact->targets[indexes ? indexes[i] : i];
	if (sorted && count > 0)
		qsort(sorted, count, sizeof(sorted[0]), compare);
	return sorted;
}

/* ---- lists ---------------------------------------------------------------------------- */

static bool put_name(FILE *out, struct dec_text name)
{
	char *text = cli_text(name.p, name.len);

	for (const char *at = text; at && *at; at++)
		*at == ',' ? (void)fputs("%2C", out) : (void)fputc(*at, out);
	free(text);
	return text;
}

char *cli_targets_some(const struct dec_artifact *artifact, const uint32_t *indexes, uint32_t count)
{
	const struct dec_target **sorted = sorted_targets(artifact, indexes, count);
	char *list = NULL;
	size_t size;
	FILE *out = sorted ? open_memstream(&list, &size) : NULL;
	bool ok = out;

	for (uint32_t i = 0; i < count && ok; i++) {
		if (i > 0)
			fputc(',', out);
		ok = put_name(out, sorted[i]->name);
	}
	if (ok && count == 0)
		fputc('-', out);
	if (out && fclose(out) != 0)
		ok = false;
	free(sorted);
	if (ok)
		return list;
	free(list);
	return NULL;
}

char *cli_targets_list(const struct dec_artifact *artifact)
{
	return cli_targets_some(artifact, NULL, artifact->target_count);
}

/* ---- shorter ------------------------------------------------------------------------- */

/* Bytes of a name that one like it behind it need not repeat. */
static size_t prefix_length(const char *name)
{
	static const char *const prefixes[] = { "sm_", "compute_", "lto_", "gfx" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t len = strlen(prefixes[i]);

		if (strncmp(name, prefixes[i], len) == 0 && isdigit((unsigned char)name[len]))
			return len;
	}
	return 0;
}

char *cli_targets_brief(const char *list)
{
	char *brief = malloc(strlen(list) + 1);
	const char *before = ""; /* the name before this one */
	char *to = brief;

	for (const char *name = list; brief && *name;) {
		size_t size = strcspn(name, ",");
		size_t prefix = prefix_length(name);
		bool alike = prefix > 0 && prefix_length(before) == prefix &&
			     strncmp(before, name, prefix) == 0;

		if (name != list)
			*to++ = alike ? ',' : ' ';
		if (!alike)
			prefix = 0;
		to = mempcpy(to, name + prefix, size - prefix);
		before = name;
		name += size;
		name += *name == ',';
	}
	if (brief)
		*to = '\0';
	return brief;
}
