/* What changed of one kernel: its declarations are JSON, compared key by key. */
#include "cli_diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "cli_term.h"
#include "report_kernels.h"

/* Who it is, not what it is. */
static const char *const identity[] = { "name", "demangled", "name_escaped", "vendor", "target" };

static bool is_identity(const char *key)
{
	for (size_t i = 0; i < sizeof(identity) / sizeof(identity[0]); i++)
		if (strcmp(identity[i], key) == 0)
			return true;
	return false;
}

/* ---- the values of a key ------------------------------------------------------------------- */

/* Lists of objects, which are empty where there is none. */
static bool is_counted(const char *key)
{
	return strcmp(key, "args") == 0 || strcmp(key, "problems") == 0;
}

/* As it is printed: text without quotes, of those lists how long they are. */
static char *value_text(const char *key, const cJSON *value)
{
	char number[24];
	char *printed;
	char *text;

	if (cJSON_IsString(value))
		return cli_memory(cli_text(value->valuestring, strlen(value->valuestring)));
	if (is_counted(key) && cJSON_IsArray(value)) {
		snprintf(number, sizeof(number), "%d", cJSON_GetArraySize(value));
		return cli_memory(strdup(number));
	}
	printed = cli_memory(cJSON_PrintUnformatted(value));
	text = cli_memory(cli_text(printed, strlen(printed)));
	cJSON_free(printed);
	return text;
}

static int compare(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

/* What all declarations say of a key, each value once: "32", "32|40", "none". */
static char *stated(const cJSON *declarations, const char *key)
{
	int size = cJSON_GetArraySize(declarations);
	char **values = cli_memory(calloc((size_t)size + 1, sizeof(*values)));
	const cJSON *declaration;
	size_t count = 0;
	size_t length;
	char *text;
	FILE *out = cli_memory(open_memstream(&text, &length));

	cJSON_ArrayForEach(declaration, declarations)
	{
		const cJSON *value = cJSON_GetObjectItemCaseSensitive(declaration, key);

		if (value && !cJSON_IsNull(value))
			values[count++] = value_text(key, value);
	}
	if (count > 0)
		qsort(values, count, sizeof(values[0]), compare);
	else
		fputs("none", out);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || strcmp(values[i - 1], values[i]) != 0)
			fprintf(out, "%s%s", i ? "|" : "", values[i]);
	for (size_t i = 0; i < count; i++)
		free(values[i]);
	free(values);
	if (fclose(out) != 0)
		cli_memory(NULL);
	return text;
}

/* ---- comparing --------------------------------------------------------------------------------- */

/* Numbers say little: what differs may be one of those that are counted. */
static bool same_value(cJSON *const sides[2], const char *key)
{
	const cJSON *declaration = sides[0]->child;
	const cJSON *other = sides[1]->child;

	for (; declaration && other; declaration = declaration->next, other = other->next)
		if (!cJSON_Compare(cJSON_GetObjectItemCaseSensitive(declaration, key),
				   cJSON_GetObjectItemCaseSensitive(other, key), true))
			return false;
	return !declaration && !other;
}

/* True: it differs, and that is said. */
static bool diff_key(struct cli_diff *d, const char *target, const char *name, const char *key,
		     cJSON *const sides[2])
{
	char *before = stated(sides[0], key);
	char *after = stated(sides[1], key);

	bool differs = strcmp(before, after) != 0 || (is_counted(key) && !same_value(sides, key));

	if (differs)
		cli_diff_put(d, '~', "%s %s %s -> %s %s", key, target, before, after, name);
	free(before);
	free(after);
	return differs;
}

static bool has_key(const cJSON *declarations, const char *key, const cJSON *before)
{
	for (const cJSON *at = declarations->child; at && at != before; at = at->next)
		if (cJSON_GetObjectItemCaseSensitive(at, key))
			return true;
	return false;
}

/* Every key of either side once: those of the old one, then those of the new one alone. */
static bool diff_keys(struct cli_diff *d, const char *target, const char *name,
		      cJSON *const sides[2])
{
	bool differs = false;

	for (int side = 0; side < 2; side++)
		for (const cJSON *at = sides[side]->child; at; at = at->next)
			for (const cJSON *item = at->child; item; item = item->next) {
				const char *key = item->string;

				if (is_identity(key) || has_key(sides[side], key, at) ||
				    (side == 1 && has_key(sides[0], key, NULL)))
					continue;
				differs = diff_key(d, target, name, key, sides) || differs;
			}
	return differs;
}

static cJSON *parse(const struct gfs_kernels *kernels, uint32_t name)
{
	cJSON *parsed = NULL;
	char *text;
	size_t size;

	if (gfs_kernels_show(kernels, name, &text, &size) == 0) {
		parsed = cJSON_ParseWithLength(text, size);
		free(text);
	}
	return cli_memory(parsed);
}

void cli_diff_facts(struct cli_diff *d, const char *target, const char *name,
		    const struct gfs_kernels *const k[2], const uint32_t at[2])
{
	cJSON *sides[2] = { parse(k[0], at[0]), parse(k[1], at[1]) };

	/* The same values of every key, but not together. */
	if (!diff_keys(d, target, name, sides))
		cli_diff_put(d, '~', "declarations %s %d -> %d %s", target,
			     cJSON_GetArraySize(sides[0]), cJSON_GetArraySize(sides[1]), name);
	cJSON_Delete(sides[0]);
	cJSON_Delete(sides[1]);
}
