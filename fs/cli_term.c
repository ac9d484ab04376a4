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

/* DEL, and the control characters from U+0080 on, which some terminals obey too. */
static bool has_late_controls(const char *p, size_t len)
{
	const unsigned char *u = (const unsigned char *)p;

	for (size_t i = 0; i < len; i++)
		if (u[i] == 0x7f || (u[i] == 0xc2 && i + 1 < len && u[i + 1] < 0xa0))
			return true;
	return false;
}

char *cli_text(const char *p, size_t len)
{
	struct dec_text text = { p, len };

	if (gfs_json_text_is_plain(text) && !has_late_controls(p, len))
		return strndup(p, len);
	return gfs_json_escape(text);
}

size_t cli_text_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
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
