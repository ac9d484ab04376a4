/*
 * What gpuobj may do to a terminal, and what it writes there. Nothing here looks at the
 * options of a command.
 */
#ifndef GFS_CLI_TERM_H
#define GFS_CLI_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Columns of the terminal behind fd, 0: it is none. */
unsigned int cli_term_width(int fd);

/* Whether fd is a terminal that moves its cursor: TERM is neither unset nor "dumb". */
bool cli_term_moves(int fd);

/* Whether to write colours to fd: such a terminal, NO_COLOR not set (or empty), CLICOLOR not 0. */
bool cli_term_colours(int fd);

/* SGR sequences, and the one that ends them; "" where colours are not wanted. */
enum cli_colour { CLI_PLAIN, CLI_BOLD, CLI_RED, CLI_GREEN, CLI_YELLOW, CLI_BLUE };
const char *cli_colour(bool wanted, enum cli_colour colour);

/*
 * A name as it can be shown and be one field of one line, to be free()d: UTF-8 without control
 * characters, those of direction included, and without '%' stands as it is, of any other text
 * the bytes outside printable ASCII and '%' are written %XX. No two names are shown alike.
 * NULL: memory ran out.
 */
char *cli_text(const char *p, size_t len);
/* The same for a sentence, where '%' alone stands: paths in the tree have it. */
char *cli_sentence(const char *p, size_t len);

/* Columns that such a text takes, one for each code point. */
size_t cli_text_width(const char *text);
/* Prints width columns of a text that takes more, without its middle. */
void cli_text_cut(FILE *out, const char *text, int width);

/* 1536 as "1.5K", rounded up as ls -h does; with exact all the digits. */
#define CLI_SIZE_TEXT 24
void cli_size_text(char text[CLI_SIZE_TEXT], uint64_t size, bool exact);

#endif
