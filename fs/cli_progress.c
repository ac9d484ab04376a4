#include "cli_progress.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli_term.h"

/* Work of less is over before a line could be read. */
#define DELAY_MS 1000

/* Faster than ten times a second nobody reads. */
#define INTERVAL_MS 100

/* The bar has at most this many columns, and none where fewer than the least are left. */
#define BAR_MAX 40
#define BAR_MIN 4

#define LINE_MAX_BYTES 256

static const char erase[] = "\r\033[K";

/* The terminal that a line is shown on, -1: none is shown. There is one at a time. */
static volatile sig_atomic_t shown_on = -1;

static uint64_t milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void cli_progress_init(struct cli_progress *p, int fd)
{
	*p = (struct cli_progress){
		.fd = cli_term_moves(fd) ? fd : -1,
		.delay = DELAY_MS,
		.interval = INTERVAL_MS,
		.now = milliseconds,
	};
}

/* A terminal that cannot be written to is no reason to end the work. */
static void put(int fd, const char *text, size_t len)
{
	if (write(fd, text, len) < 0)
		return;
}

void cli_progress_erase(void)
{
	int fd = shown_on;

	shown_on = -1;
	if (fd >= 0)
		put(fd, erase, sizeof(erase) - 1);
}

void cli_progress_begin(struct cli_progress *p, const char *what, uint64_t total)
{
	p->what = what;
	p->total = total;
	p->done = 0;
	if (p->fd >= 0)
		p->next = p->now() + p->delay;
}

/* "####----" of the columns that the rest of the line leaves; "" where they are too few. */
static void draw_bar(char *text, size_t size, size_t columns, unsigned int percent)
{
	size_t bar = columns < BAR_MAX ? columns : BAR_MAX;
	size_t filled = bar * percent / 100;

	text[0] = '\0';
	if (bar < BAR_MIN || bar >= size)
		return;
	memset(text, '#', filled);
	memset(text + filled, '-', bar - filled);
	text[bar] = '\0';
}

static unsigned int percent_of(const struct cli_progress *p)
{
	uint64_t done = p->done < p->total ? p->done : p->total;

	/* The last bytes of work are not its end. */
	return (unsigned int)((double)done / (double)p->total * 99.0);
}

static void draw(const struct cli_progress *p)
{
	size_t width = p->width ? p->width : cli_term_width(p->fd);
	char size[CLI_SIZE_TEXT];
	char bar[BAR_MAX + 1] = "";
	char text[LINE_MAX_BYTES];
	size_t len;

	cli_size_text(size, p->done, false);
	if (p->total == 0) {
		len = (size_t)snprintf(text, sizeof(text), "%s%s %s", erase, p->what, size);
	} else {
		unsigned int percent = percent_of(p);
		/* With the last column, which stays free: some terminals go on to the next line. */
		size_t rest = strlen(p->what) + sizeof(" 99% []");

		draw_bar(bar, sizeof(bar), width > rest ? width - rest : 0, percent);
		len = (size_t)snprintf(text, sizeof(text), "%s%s %2u%%%s%s%s", erase, p->what,
				       percent, *bar ? " [" : "", bar, *bar ? "]" : "");
	}
	len = len < sizeof(text) ? len : sizeof(text) - 1;
	if (width > 0 && len > sizeof(erase) - 1 + width - 1)
		len = sizeof(erase) - 1 + width - 1;
	shown_on = p->fd;
	put(p->fd, text, len);
}

void cli_progress_add(void *ctx, uint64_t bytes)
{
	struct cli_progress *p = ctx;
	uint64_t now;

	if (!p->what)
		return;
	p->done = bytes < UINT64_MAX - p->done ? p->done + bytes : UINT64_MAX;
	if (p->fd < 0)
		return;
	now = p->now();
	if (now < p->next)
		return;
	p->next = now + p->interval;
	draw(p);
}

void cli_progress_hide(struct cli_progress *p)
{
	if (p->fd >= 0)
		cli_progress_erase();
}

void cli_progress_end(struct cli_progress *p)
{
	cli_progress_hide(p);
	p->what = NULL;
}
