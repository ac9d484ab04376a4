/* The request: what cJSON lets pass is looked at before, what it means after. */
#include "query.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "options.h"

/* Largest n for which every integer up to n is a double of its own. */
#define EXACT_MAX 9007199254740992.0

void gfs_refuse(struct gfs_refusal *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
}

const char *gfs_quoted(const char *word, char quoted[GFS_QUOTED_SIZE])
{
	static const char cut[] = "...";
	size_t len = strlen(word);
	size_t room = GFS_QUOTED_SIZE - sizeof(cut) - 2; /* the quotes */
	char *to = quoted;

	*to++ = '"';
	for (size_t i = 0; i < len && i < room; i++)
		*to++ = word[i] >= 0x20 && word[i] <= 0x7e ? word[i] : '?';
	to = stpcpy(to, len > room ? cut : "");
	stpcpy(to, "\"");
	return quoted;
}

/* ---- bytes ------------------------------------------------------------------------------ */

/* cJSON takes "01", "+1" and "1."; JSON does not (RFC 8259, 6). */
static bool skip_number(const char **at)
{
	const char *p = *at;

	p += *p == '-';
	if (!isdigit((unsigned char)*p))
		return false;
	p += *p == '0' ? 1 : strspn(p, "0123456789");
	if (*p == '.') {
		size_t digits = strspn(p + 1, "0123456789");

		if (digits == 0)
			return false;
		p += 1 + digits;
	}
	if (*p == 'e' || *p == 'E') {
		size_t sign = strspn(p + 1, "+-");
		size_t digits = strspn(p + 1 + sign, "0123456789");

		if (sign > 1 || digits == 0)
			return false;
		p += 1 + sign + digits;
	}
	*at = p;
	return !isalnum((unsigned char)*p) && !strchr("+-.", *p ? *p : ' ');
}

/* From behind the first quote to behind the last, or to what is wrong. */
static const char *skip_string(const char **at, const char *end)
{
	const char *p = *at;

	for (; p < end && *p != '"'; p++) {
		*at = p;
		if ((unsigned char)*p < 0x20)
			return "it has a control byte in a string";
		if (*p != '\\')
			continue;
		if (strncmp(p, "\\u0000", 6) == 0)
			return "it has an escaped NUL in a string";
		p++;
	}
	*at = p < end ? p + 1 : end;
	return p < end ? NULL : "a string does not end";
}

/* What is wrong with the text beyond what its parser sees, and in *at where; NULL: nothing.
 * There is a NUL behind it. */
static const char *lexical_fault(const char **at, const char *end)
{
	const char *p = *at;
	int depth = 0;

	for (; p < end; *at = p) {
		const char *fault = NULL;

		if (isdigit((unsigned char)*p) || *p == '-') {
			if (!skip_number(&p))
				return "it has a number that is none";
			continue;
		}
		if ((unsigned char)*p < 0x20 && *p != '\t' && *p != '\n' && *p != '\r')
			return "it has a control byte";
		if (*p == '{' || *p == '[')
			depth++;
		else if (*p == '}' || *p == ']')
			depth--;
		if (depth > GFS_QUERY_DEPTH)
			return "it is nested too deep";
		if (*p++ == '"')
			fault = skip_string(&p, end);
		if (fault) {
			*at = p;
			return fault;
		}
	}
	return NULL;
}

/* ---- meaning ------------------------------------------------------------------------------ */

struct parse {
	struct gfs_request *request;
	struct gfs_refusal *why;
	const struct cJSON *view; /* members whose turn comes after the collection's */
	const struct cJSON *fields;
	const struct cJSON *filter;
};

static int wrong(struct parse *p, const char *key, const char *expected)
{
	gfs_refuse(p->why, "%s: expected %s", key, expected);
	return -EINVAL;
}

/* Comma and blank between words; what finds no room is left out. */
static void append(char *list, size_t size, const char *word)
{
	size_t len = strlen(list);

	snprintf(list + len, size - len, "%s%s", len ? ", " : "", word);
}

struct key {
	const char *name;
	const char *path; /* the same, as sentences have it */
	int (*take)(struct parse *p, const char *path, const struct cJSON *value);
};

static const struct key *find_key(const struct key *keys, const char *name)
{
	while (keys->name && strcmp(keys->name, name) != 0)
		keys++;
	return keys->name ? keys : NULL;
}

static int unknown_key(struct parse *p, const char *path, const struct key *keys, const char *name)
{
	char quoted[GFS_QUOTED_SIZE];
	char known[256] = "";

	for (; keys->name; keys++)
		append(known, sizeof(known), keys->name);
	gfs_refuse(p->why, "%s: unknown key %s, known are %s", path, gfs_quoted(name, quoted),
		   known);
	return -EINVAL;
}

/* Keys in a table have one bit each. */
static int take_keys(struct parse *p, const char *path, const struct cJSON *object,
		     const struct key *keys)
{
	const struct cJSON *member;
	unsigned seen = 0;
	int rc = 0;

	if (!cJSON_IsObject(object))
		return wrong(p, path, "an object");
	cJSON_ArrayForEach(member, object)
	{
		const struct key *key = find_key(keys, member->string);

		if (!key)
			return unknown_key(p, path, keys, member->string);
		if (seen & 1u << (key - keys)) {
			gfs_refuse(p->why, "%s: is there twice", key->path);
			return -EINVAL;
		}
		seen |= 1u << (key - keys);
		rc = key->take(p, key->path, member);
		if (rc != 0)
			break;
	}
	return rc;
}

static int take_text(struct parse *p, const char *path, const struct cJSON *value,
		     const char **text)
{
	if (!cJSON_IsString(value) || !*value->valuestring)
		return wrong(p, path, "a string that is not empty");
	*text = value->valuestring;
	return 0;
}

static int take_path(struct parse *p, const char *path, const struct cJSON *value)
{
	return take_text(p, path, value, &p->request->path);
}

static int take_sha256(struct parse *p, const char *path, const struct cJSON *value)
{
	if (!cJSON_IsString(value) || !gfs_is_digest(value->valuestring))
		return wrong(p, path, "64 hex digits");
	p->request->sha256 = value->valuestring;
	return 0;
}

static int take_strings(struct parse *p, const char *path, const struct cJSON *value,
			const struct cJSON **strings)
{
	static const char expected[] = "a list of strings that is not empty";
	const struct cJSON *one;

	if (!cJSON_IsArray(value) || !value->child)
		return wrong(p, path, expected);
	cJSON_ArrayForEach(one, value)
	{
		if (!cJSON_IsString(one))
			return wrong(p, path, expected);
	}
	*strings = value;
	return 0;
}

static int take_ids(struct parse *p, const char *path, const struct cJSON *value)
{
	return take_strings(p, path, value, &p->request->ids);
}

static int take_collection(struct parse *p, const char *path, const struct cJSON *value)
{
	char quoted[GFS_QUOTED_SIZE];
	char known[256] = "";

	if (!cJSON_IsString(value))
		return wrong(p, path, "a string");
	for (int i = 0; gfs_rows_words[i]; i++) {
		if (strcmp(gfs_rows_words[i], value->valuestring) == 0) {
			gfs_columns_init(&p->request->columns, (enum gfs_rows)i);
			return 0;
		}
		append(known, sizeof(known), gfs_rows_words[i]);
	}
	gfs_refuse(p->why, "%s: unknown collection %s, known are %s", path,
		   gfs_quoted(value->valuestring, quoted), known);
	return -EINVAL;
}

static int take_fields(struct parse *p, const char *path, const struct cJSON *value)
{
	return take_strings(p, path, value, &p->fields);
}

static int take_filter(struct parse *p, const char *path, const struct cJSON *value)
{
	p->filter = value;
	return cJSON_IsObject(value) ? 0 : wrong(p, path, "an object");
}

static bool is_whole(double number)
{
	return number >= -EXACT_MAX && number <= EXACT_MAX && number == (double)(int64_t)number;
}

static int take_limit(struct parse *p, const char *path, const struct cJSON *value)
{
	double limit = cJSON_IsNumber(value) ? value->valuedouble : 0;

	if (!is_whole(limit) || limit < 1 || limit > GFS_QUERY_LIMIT_MAX) {
		gfs_refuse(p->why, "%s: expected a whole number from 1 to %d", path,
			   GFS_QUERY_LIMIT_MAX);
		return -EINVAL;
	}
	p->request->limit = (uint32_t)limit;
	p->request->has_limit = true;
	return 0;
}

static int take_cursor(struct parse *p, const char *path, const struct cJSON *value)
{
	return take_text(p, path, value, &p->request->cursor);
}

static int take_view(struct parse *p, const char *path, const struct cJSON *value)
{
	static const struct key keys[] = {
		{ "collection", "view.collection", take_collection },
		{ "fields", "view.fields", take_fields },
		{ "filter", "view.filter", take_filter },
		{ "limit", "view.limit", take_limit },
		{ "cursor", "view.cursor", take_cursor },
		{ 0 },
	};

	p->view = value;
	return take_keys(p, path, value, keys);
}

static const struct key root_keys[] = {
	{ "path", "path", take_path },
	{ "expected_sha256", "expected_sha256", take_sha256 },
	{ "object_ids", "object_ids", take_ids },
	{ "view", "view", take_view },
	{ 0 },
};

/* ---- columns ---------------------------------------------------------------------------- */

static struct gfs_column *find_column(struct parse *p, const char *path, const char *name)
{
	struct gfs_columns *columns = &p->request->columns;
	size_t at = gfs_columns_find(columns, name);
	char quoted[GFS_QUOTED_SIZE];
	char known[3072] = "";

	if (at < columns->count)
		return &columns->all[at];
	for (size_t i = 0; i < columns->count; i++)
		append(known, sizeof(known), columns->all[i].key);
	gfs_refuse(p->why, "%s: unknown key %s, known of %s are %s", path, gfs_quoted(name, quoted),
		   gfs_rows_words[columns->of], known);
	return NULL;
}

static int select_fields(struct parse *p)
{
	const struct cJSON *name;

	if (!p->fields)
		return 0;
	gfs_columns_narrow(&p->request->columns);
	cJSON_ArrayForEach(name, p->fields)
	{
		struct gfs_column *column = find_column(p, "view.fields", name->valuestring);

		if (!column)
			return -EINVAL;
		column->wanted = true;
	}
	return 0;
}

static bool has_twice(const struct cJSON *object)
{
	for (const struct cJSON *a = object->child; a; a = a->next)
		for (const struct cJSON *b = a->next; b; b = b->next)
			if (strcmp(a->string, b->string) == 0)
				return true;
	return false;
}

static bool is_member_count(const struct cJSON *value, int most)
{
	return !value->child || cJSON_GetArraySize(value) <= most;
}

/* What is in a filter can be compared, and is worth it; depth is bounded by the text. */
static const char *value_fault(const struct cJSON *value)
{
	const struct cJSON *one;
	const char *fault = NULL;

	if (cJSON_IsNumber(value) && !is_whole(value->valuedouble))
		return "has a number that is not whole or past 2^53";
	if (!is_member_count(value,
			     cJSON_IsObject(value) ? GFS_QUERY_KEYS_MAX : GFS_QUERY_VALUES_MAX))
		return "has too many values";
	if (cJSON_IsObject(value) && has_twice(value))
		return "has an object with a key twice";
	cJSON_ArrayForEach(one, value)
	{
		fault = fault ? fault : value_fault(one);
	}
	return fault;
}

static int set_filter(struct parse *p, const struct cJSON *value)
{
	struct gfs_column *column = find_column(p, "view.filter", value->string);
	const char *fault = value_fault(value);

	if (!column)
		return -EINVAL;
	if (column->filter)
		fault = "is there twice";
	else if (cJSON_IsArray(value) && !value->child)
		fault = "is an empty list, which nothing matches";
	if (fault) {
		gfs_refuse(p->why, "view.filter.%s: %s", column->key, fault);
		return -EINVAL;
	}
	column->filter = value;
	return 0;
}

static int set_filters(struct parse *p)
{
	const struct cJSON *value;
	int rc = 0;

	cJSON_ArrayForEach(value, p->filter)
	{
		rc = set_filter(p, value);
		if (rc != 0)
			break;
	}
	return rc;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static bool is_plain(const char *text)
{
	return !text || gfs_json_text_is_plain((struct dec_text){ text, strlen(text) });
}

static bool is_word(const char *key)
{
	return *key && key[strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

/* False: some text in the value is none that a tree has, where it is escaped. The path of
 * keys to it is appended to path then, as far as they are words. */
static bool is_all_plain(const struct cJSON *value, char *path, size_t size)
{
	const struct cJSON *one;
	size_t len = strlen(path);

	if (!is_plain(value->string))
		return false;
	if (value->string && is_word(value->string))
		snprintf(path + len, size - len, "%s%s", len ? "." : "", value->string);
	if (!is_plain(value->valuestring))
		return false;
	cJSON_ArrayForEach(one, value)
	{
		if (!is_all_plain(one, path, size))
			return false;
	}
	path[len] = '\0';
	return true;
}

static int refuse_at(struct parse *p, const char *fault, const char *text, const char *at)
{
	gfs_refuse(p->why, "request: %s, at offset %td", fault, at - text);
	return -EINVAL;
}

static int parse_text(struct parse *p, const char *text, size_t size)
{
	const char *at = text;
	const char *fault = lexical_fault(&at, text + size);
	char path[128] = "";

	if (fault)
		return refuse_at(p, fault, text, at);
	p->request->root = cJSON_ParseWithLengthOpts(text, size, &at, false);
	if (!p->request->root)
		return refuse_at(p, "it is no JSON", text, at);
	at += strspn(at, " \t\n\r");
	if (at != text + size)
		return refuse_at(p, "something stands behind its end", text, at);
	if (is_all_plain(p->request->root, path, sizeof(path)))
		return 0;
	gfs_refuse(p->why, "%s: it has text with control characters, or that is no UTF-8",
		   *path ? path : "request");
	return -EINVAL;
}

static int check_whole(struct parse *p)
{
	if (!p->view)
		return wrong(p, "view", "an object, it is missing");
	if (p->request->columns.count == 0)
		return wrong(p, "view.collection", "a string, it is missing");
	if (p->request->ids && !p->request->sha256)
		return wrong(p, "expected_sha256",
			     "the digest of the artifact that object_ids are from, it is missing");
	return 0;
}

static int parse(struct parse *p, const char *text, size_t size)
{
	int rc = parse_text(p, text, size);

	if (rc == 0)
		rc = take_keys(p, "request", p->request->root, root_keys);
	if (rc == 0)
		rc = check_whole(p);
	if (rc == 0)
		rc = select_fields(p);
	if (rc == 0)
		rc = set_filters(p);
	return rc;
}

int gfs_request_parse(struct gfs_request *request, const char *text, size_t size,
		      struct gfs_refusal *why)
{
	struct parse p = { .request = request, .why = why };
	char *copy;
	int rc;

	*request = (struct gfs_request){ .limit = GFS_QUERY_LIMIT };
	if (size > GFS_QUERY_REQUEST_MAX) {
		gfs_refuse(why, "request: it has more than %llu bytes",
			   (unsigned long long)GFS_QUERY_REQUEST_MAX);
		return -EINVAL;
	}
	copy = malloc(size + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, size);
	copy[size] = '\0';
	rc = parse(&p, copy, size);
	free(copy);
	return rc;
}

void gfs_request_fini(struct gfs_request *request)
{
	cJSON_Delete(request->root);
	request->root = NULL;
}
