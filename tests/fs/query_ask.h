/*
 * Asking in tests: what an answer's rows are as one text, whether they came as pages or as
 * lines.
 */
#ifndef QUERY_ASK_H
#define QUERY_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gfs;

/* One request's rows, compact, each with a newline, in a string that is the caller's. */
struct asked {
	char *rows;
	size_t count;
	uint64_t total; /* as the pages say, each the same */
	size_t pages;
};

/* root: members beside "view", each with a comma behind; view: those but limit and cursor,
 * without one at the end. False: it was refused or no answer, which is printed. */
bool ask_lines(struct gfs *fs, const char *root, const char *view, struct asked *asked);
bool ask_pages(struct gfs *fs, const char *root, const char *view, unsigned limit,
	       struct asked *asked);
void asked_free(struct asked *asked);

/* A page as it is, or NULL and the sentence printed to refusal (which has 4096 bytes). */
char *ask_page(struct gfs *fs, const char *request, char *refusal);

#endif
