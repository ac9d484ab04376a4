#include "json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

/* Largest n for which every integer up to n is a double of its own. */
#define EXACT_MAX (UINT64_C(1) << 53)

struct gfs_json_key {
	struct gfs_json_key *next;
	char *text;
};

void gfs_json_init(struct gfs_json *w)
{
	*w = (struct gfs_json){ NULL, NULL, false };
}

void gfs_json_fini(struct gfs_json *w)
{
	cJSON_Delete(w->root);
	w->root = NULL;
	for (struct gfs_json_key *key = w->keys, *next; key; key = next) {
		next = key->next;
		free(key->text);
		free(key);
	}
	w->keys = NULL;
}

/* Hands item to its place. It is freed, and NULL returned, when that fails. */
static cJSON *put(struct gfs_json *w, cJSON *in, const char *key, cJSON *item)
{
	cJSON_bool taken = false;

	if (item && !w->failed) {
		if (!in) {
			taken = !w->root;
			w->root = taken ? item : w->root;
		} else if (key) {
			taken = cJSON_AddItemToObjectCS(in, key, item);
		} else {
			taken = cJSON_AddItemToArray(in, item);
		}
	}
	if (taken)
		return item;
	cJSON_Delete(item);
	w->failed = true;
	return NULL;
}

struct cJSON *gfs_json_object(struct gfs_json *w, struct cJSON *in, const char *key)
{
	return put(w, in, key, cJSON_CreateObject());
}

struct cJSON *gfs_json_array(struct gfs_json *w, struct cJSON *in, const char *key)
{
	return put(w, in, key, cJSON_CreateArray());
}

void gfs_json_null(struct gfs_json *w, struct cJSON *in, const char *key)
{
	put(w, in, key, cJSON_CreateNull());
}

void gfs_json_bool(struct gfs_json *w, struct cJSON *in, const char *key, bool value)
{
	put(w, in, key, cJSON_CreateBool(value));
}

void gfs_json_uint(struct gfs_json *w, struct cJSON *in, const char *key, uint64_t value)
{
	char digits[24];

	if (value > EXACT_MAX) {
		gfs_json_hex(w, in, key, value);
		return;
	}
	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	put(w, in, key, cJSON_CreateRaw(digits));
}

void gfs_json_hex(struct gfs_json *w, struct cJSON *in, const char *key, uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "0x%" PRIx64, value);
	put(w, in, key, cJSON_CreateString(digits));
}

void gfs_json_negative(struct gfs_json *w, struct cJSON *in, const char *key, int64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRId64, value);
	put(w, in, key,
	    value < -(int64_t)EXACT_MAX ? cJSON_CreateString(digits) : cJSON_CreateRaw(digits));
}

void gfs_json_float(struct gfs_json *w, struct cJSON *in, const char *key, double value)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%.17g", value);
	put(w, in, key, isfinite(value) ? cJSON_CreateRaw(digits) : cJSON_CreateNull());
}

void gfs_json_word(struct gfs_json *w, struct cJSON *in, const char *key, const char *word)
{
	put(w, in, key, word ? cJSON_CreateString(word) : cJSON_CreateNull());
}

/* Bytes of the UTF-8 sequence at p, 0 if it is none (RFC 3629: the shortest form, no
 * surrogates, at most U+10FFFF). */
static size_t utf8_length(const unsigned char *p, size_t left)
{
	unsigned char low = 0x80; /* bounds of the second byte */
	unsigned char high = 0xbf;
	size_t n;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		n = 2;
	else if (p[0] >= 0xe0 && p[0] <= 0xef)
		n = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		n = 4;
	else
		return 0;
	if (p[0] == 0xe0)
		low = 0xa0;
	else if (p[0] == 0xed)
		high = 0x9f;
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xf4)
		high = 0x8f;
	if (n > left || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if (p[i] < 0x80 || p[i] > 0xbf)
			return 0;
	return n;
}

bool gfs_json_text_is_plain(struct dec_text text)
{
	const unsigned char *p = (const unsigned char *)text.p;
	size_t n;

	for (size_t at = 0; at < text.len; at += n) {
		if (p[at] < 0x20)
			return false;
		n = utf8_length(p + at, text.len - at);
		if (n == 0)
			return false;
	}
	return true;
}

char *gfs_json_escape(struct dec_text text)
{
	char *out = text.len < SIZE_MAX / 3 ? malloc(3 * text.len + 1) : NULL;
	char *to = out;

	for (size_t i = 0; out && i < text.len; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c >= 0x20 && c <= 0x7e && c != '%')
			*to++ = (char)c;
		else
			to += snprintf(to, 4, "%%%02X", c);
	}
	if (out)
		*to = '\0';
	return out;
}

void gfs_json_text(struct gfs_json *w, struct cJSON *in, const char *key, struct dec_text text)
{
	char *escaped;

	if (!dec_text_present(text)) {
		gfs_json_null(w, in, key);
	} else if (gfs_json_text_is_plain(text)) {
		put(w, in, key, cJSON_CreateString(text.p));
	} else {
		escaped = gfs_json_escape(text);
		put(w, in, key, escaped ? cJSON_CreateString(escaped) : NULL);
		free(escaped);
	}
}

const char *gfs_json_key(struct gfs_json *w, struct dec_text text)
{
	struct gfs_json_key *key;

	if (gfs_json_text_is_plain(text))
		return text.p;
	key = calloc(1, sizeof(*key));
	if (key) {
		key->text = gfs_json_escape(text);
		key->next = w->keys;
		w->keys = key;
	}
	if (key && key->text)
		return key->text;
	w->failed = true;
	return "";
}

void gfs_json_bytes(struct gfs_json *w, struct cJSON *in, const char *key, struct dec_text bytes)
{
	char *hex = bytes.len < SIZE_MAX / 2 ? malloc(2 * bytes.len + 1) : NULL;

	if (hex)
		hex[0] = '\0';
	for (size_t i = 0; hex && i < bytes.len; i++)
		snprintf(hex + 2 * i, 3, "%02x", (unsigned char)bytes.p[i]);
	put(w, in, key, hex ? cJSON_CreateString(hex) : NULL);
	free(hex);
}

/* A copy with a newline, in memory from malloc() whatever cJSON's own allocator is. */
static char *with_newline(const char *printed, size_t *size)
{
	size_t len = strlen(printed);
	char *text = malloc(len + 2);

	if (!text)
		return NULL;
	memcpy(text, printed, len);
	memcpy(text + len, "\n", 2);
	*size = len + 1;
	return text;
}

int gfs_json_finish(struct gfs_json *w, char **text, size_t *size)
{
	char *printed = w->failed || !w->root ? NULL : cJSON_Print(w->root);

	gfs_json_fini(w);
	*size = 0;
	*text = printed ? with_newline(printed, size) : NULL;
	cJSON_free(printed);
	return *text ? 0 : -ENOMEM;
}

size_t gfs_json_compact(char *text, size_t size)
{
	bool quoted = false;
	size_t to = 0;

	for (size_t at = 0; at < size; at++) {
		char c = text[at];

		if (!quoted && (c == ' ' || c == '\t' || c == '\n'))
			continue;
		text[to++] = c;
		if (c == '"')
			quoted = !quoted;
		else if (c == '\\' && at + 1 < size)
			text[to++] = text[++at];
	}
	return to;
}
