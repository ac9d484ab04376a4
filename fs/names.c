#include "names.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <openssl/sha.h>

static const char upper_hex[] = "0123456789ABCDEF";

static bool is_dots(const char *name, size_t len)
{
	return len >= 1 && len <= 2 && memcmp(name, "..", len) == 0;
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c <= 0x7e && c != '/' && c != '%' && c != '~';
}

/* Appends the digest that keeps names with equal beginnings apart. */
static int finish_cut(const char *name, size_t len, char *out, size_t at)
{
	unsigned char digest[SHA256_DIGEST_LENGTH];

	if (!SHA256((const unsigned char *)name, len, digest)) {
		out[0] = '\0';
		return -ENOMEM;
	}
	out[at++] = '~';
	for (size_t i = 0; i < GFS_NAME_DIGITS / 2; i++)
		snprintf(out + at + 2 * i, 3, "%02x", digest[i]);
	return 0;
}

int gfs_name_escape(const char *name, size_t len, char out[GFS_NAME_SIZE])
{
	bool dots = is_dots(name, len);
	size_t at = 0;
	size_t cut = 0; /* where the result ends if it proves too long */

	if (len == 0) {
		memcpy(out, "%", 2);
		return 0;
	}
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)name[i];
		bool plain = is_plain(c) && !dots;
		size_t need = plain ? 1 : 3;

		if (need > GFS_NAME_KEEP - at)
			return finish_cut(name, len, out, cut);
		if (plain) {
			out[at] = (char)c;
		} else {
			out[at] = '%';
			out[at + 1] = upper_hex[c >> 4];
			out[at + 2] = upper_hex[c & 15];
		}
		at += need;
		if (at <= GFS_NAME_CUT)
			cut = at;
	}
	out[at] = '\0';
	return 0;
}

static int hex_value(char c)
{
	const char *p = c ? strchr(upper_hex, c) : NULL;

	return p ? (int)(p - upper_hex) : -1;
}

bool gfs_name_unescape(const char *escaped, char *out, size_t *len)
{
	size_t n = 0;

	*len = 0;
	if (strcmp(escaped, "%") == 0)
		return true;
	for (const char *p = escaped; *p && *p != '~'; p++) {
		int high;
		int low;

		if (*p != '%') {
			out[n++] = *p;
			continue;
		}
		high = hex_value(p[1]);
		low = high < 0 ? -1 : hex_value(p[2]);
		if (low < 0)
			return false;
		out[n++] = (char)(high << 4 | low);
		p += 2;
	}
	*len = n;
	return *escaped != '\0';
}
