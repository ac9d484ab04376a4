#include "cli_term.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "json.h"

/* Of a terminal that does not know its own. */
#define WIDTH_UNKNOWN 80

unsigned int cli_term_width(int fd)
{
	struct winsize size;

	if (!isatty(fd))
		return 0;
	if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return WIDTH_UNKNOWN;
	return size.ws_col;
}

bool cli_term_moves(int fd)
{
	const char *term = getenv("TERM");

	return term && *term && strcmp(term, "dumb") != 0 && isatty(fd);
}

bool cli_term_colours(int fd)
{
	const char *no = getenv("NO_COLOR");
	const char *yes = getenv("CLICOLOR");

	return !(no && *no) && !(yes && strcmp(yes, "0") == 0) && cli_term_moves(fd);
}

const char *cli_colour(bool wanted, enum cli_colour colour)
{
	static const char *const sequences[] = {
		[CLI_PLAIN] = "\033[0m",  [CLI_BOLD] = "\033[1m",    [CLI_RED] = "\033[31m",
		[CLI_GREEN] = "\033[32m", [CLI_YELLOW] = "\033[33m", [CLI_BLUE] = "\033[1;34m",
	};

	return wanted ? sequences[colour] : "";
}

/* Bytes of what a terminal obeys, at u: DEL, the control characters from U+0080 on, and those
 * that turn the direction of text (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069),
 * which make a name look like another. */
static bool is_late_control(const unsigned char *u, size_t left)
{
	if (u[0] == 0x7f || left < 2)
		return u[0] == 0x7f;
	if (u[0] == 0xc2 || u[0] == 0xd8)
		return u[0] == 0xc2 ? u[1] < 0xa0 : u[1] == 0x9c;
	if (left < 3 || u[0] != 0xe2)
		return false;
	if (u[1] == 0x80)
		return u[2] == 0x8e || u[2] == 0x8f || (u[2] >= 0xaa && u[2] <= 0xae);
	return u[1] == 0x81 && u[2] >= 0xa6 && u[2] <= 0xa9;
}

static bool is_shown_as_it_is(const char *p, size_t len)
{
	if (!gfs_json_text_is_plain((struct dec_text){ p, len }))
		return false;
	for (size_t i = 0; i < len; i++)
		if (is_late_control((const unsigned char *)p + i, len - i))
			return false;
	return true;
}

char *cli_text(const char *p, size_t len)
{
	if (is_shown_as_it_is(p, len) && !memchr(p, '%', len))
		return strndup(p, len);
	return gfs_json_escape((struct dec_text){ p, len });
}

char *cli_sentence(const char *p, size_t len)
{
	return is_shown_as_it_is(p, len) ? strndup(p, len)
					 : gfs_json_escape((struct dec_text){ p, len });
}

static bool begins(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

size_t cli_text_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += begins(*text);
	return width;
}

/* Behind the first n characters. */
static const char *skip(const char *text, int n)
{
	for (; *text && (n > 0 || !begins(*text)); text++)
		n -= begins(*text);
	return text;
}

void cli_text_cut(FILE *out, const char *text, int width)
{
	int tail = width / 2;
	int head = width - tail - 2;

	fprintf(out, "%.*s..%s", (int)(skip(text, head) - text), text,
		skip(text, (int)cli_text_width(text) - tail));
}

void cli_size_text(char text[CLI_SIZE_TEXT], uint64_t size, bool exact)
{
	static const char units[] = "KMGTPE";
	uint64_t unit = 1024;
	int i = 0;

	if (exact || size < unit) {
		snprintf(text, CLI_SIZE_TEXT, "%" PRIu64, size);
		return;
	}
	/* Up to where rounding up would make 1024 of it. */
	while (size > unit * 1023 && i < 5) {
		unit *= 1024;
		i++;
	}
	if (size <= unit / 10 * 99 + unit % 10 * 99 / 10) {
		uint64_t tenths = size / unit * 10 + (size % unit * 10 + unit - 1) / unit;

		snprintf(text, CLI_SIZE_TEXT, "%" PRIu64 ".%" PRIu64 "%c", tenths / 10, tenths % 10,
			 units[i]);
	} else {
		snprintf(text, CLI_SIZE_TEXT, "%" PRIu64 "%c", size / unit + (size % unit != 0),
			 units[i]);
	}
}
