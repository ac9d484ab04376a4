#include "cli_signal.h"

#include <stddef.h>
#include <unistd.h>

#include "cli_progress.h"

static const int ending[] = { SIGINT, SIGTERM, SIGHUP };

#define ENDING_COUNT (sizeof(ending) / sizeof(ending[0]))

static struct {
	volatile sig_atomic_t dir;
	const char *volatile name;
} noted;

/* Threads that help or compute the digest get signals too, but the main one alone knows
 * that no file is changing right now. */
static void end(int number)
{
	static const struct sigaction by_default = { .sa_handler = SIG_DFL };

	if (gettid() != getpid()) {
		tgkill(getpid(), getpid(), number);
		return;
	}
	cli_progress_erase();
	if (noted.name)
		unlinkat((int)noted.dir, noted.name, 0);
	sigaction(number, &by_default, NULL);
	raise(number); /* blocked until this returns */
}

void cli_signals_init(void)
{
	struct sigaction action = { .sa_handler = end };

	for (size_t i = 0; i < ENDING_COUNT; i++)
		sigaddset(&action.sa_mask, ending[i]);
	for (size_t i = 0; i < ENDING_COUNT; i++) {
		struct sigaction old;

		if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(ending[i], &action, NULL);
	}
}

void cli_signals_hold(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ENDING_COUNT; i++)
		sigaddset(&set, ending[i]);
	pthread_sigmask(SIG_BLOCK, &set, before);
}

void cli_signals_release(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

void cli_signals_note(int dir, const char *name)
{
	noted.dir = dir;
	noted.name = name;
}
