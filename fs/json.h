/*
 * A thin writer on cJSON. Failures stick: after the first one everything is a no-op and
 * gfs_json_finish() says so, so that callers write straight on.
 *
 * Numbers never pass through a double. Knows no struct of decode but dec_text.
 */
#ifndef GFS_JSON_H
#define GFS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode.h"

struct cJSON;

struct gfs_json {
	struct cJSON *root;
	struct gfs_json_key *keys; /* made by gfs_json_key() */
	bool failed; /* memory ran out */
};

void gfs_json_init(struct gfs_json *w);
void gfs_json_fini(struct gfs_json *w);

/*
 * Where a value goes: in is an object (key is its key and must outlive the writer) or an
 * array (key NULL). The value with in NULL is the root; there is one. NULL is returned
 * after a failure and may be passed on as in, unchecked.
 */
struct cJSON *gfs_json_object(struct gfs_json *w, struct cJSON *in, const char *key);
struct cJSON *gfs_json_array(struct gfs_json *w, struct cJSON *in, const char *key);

void gfs_json_null(struct gfs_json *w, struct cJSON *in, const char *key);
void gfs_json_bool(struct gfs_json *w, struct cJSON *in, const char *key, bool value);

/* A number up to 2^53, the string "0x..." above: no reader's double loses digits. */
void gfs_json_uint(struct gfs_json *w, struct cJSON *in, const char *key, uint64_t value);

/* A number from -2^53 on, decimal digits as a string below; value is negative. */
void gfs_json_negative(struct gfs_json *w, struct cJSON *in, const char *key, int64_t value);

/* With all its digits; what is no number is null. */
void gfs_json_float(struct gfs_json *w, struct cJSON *in, const char *key, double value);

/* Always "0x...": addresses, handles, flags, hashes. */
void gfs_json_hex(struct gfs_json *w, struct cJSON *in, const char *key, uint64_t value);

/* Our own words, valid UTF-8; NULL is null. */
void gfs_json_word(struct gfs_json *w, struct cJSON *in, const char *key, const char *word);

/* Text from a file. Valid UTF-8 without control bytes stands as it is, any other has its
 * bytes outside printable ASCII, and '%', as %XX. Absent text is null. */
void gfs_json_text(struct gfs_json *w, struct cJSON *in, const char *key, struct dec_text text);

/* The escaped form alone, to be free()d; NULL: memory ran out. */
char *gfs_json_escape(struct dec_text text);

/* Text from a file as a key: escaped likewise, lives as long as the writer and the text. */
const char *gfs_json_key(struct gfs_json *w, struct dec_text text);

/* Any bytes as hex digits. */
void gfs_json_bytes(struct gfs_json *w, struct cJSON *in, const char *key, struct dec_text bytes);

/* True: gfs_json_text() writes this text unescaped. */
bool gfs_json_text_is_plain(struct dec_text text);

/*
 * Prints with a final newline and releases the tree, whatever happens. The caller
 * free()s *text, which has *size bytes and a NUL. -ENOMEM: nothing is left to free.
 */
int gfs_json_finish(struct gfs_json *w, char **text, size_t *size);

/* Takes the white space between the values of valid JSON out of size bytes, in place. What
 * is left; there is no NUL behind it. */
size_t gfs_json_compact(char *text, size_t size);

#endif
