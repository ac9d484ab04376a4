/*
 * Tokens of PTX text. The text is one module or several that nothing but `.version`
 * separates; it has no NUL, because a NUL ends a module before any token is made.
 *
 * Nothing is allocated: tokens are pieces of the text.
 */
#ifndef DEC_PTX_LEXER_H
#define DEC_PTX_LEXER_H

#include "view.h"

enum dec_ptx_kind {
	DEC_PTX_END,
	DEC_PTX_DIRECTIVE, /* with its dot: ".entry", ".u64" */
	DEC_PTX_NAME,
	DEC_PTX_NUMBER,
	DEC_PTX_STRING, /* with its quotes */
	DEC_PTX_MARK, /* one character of punctuation */
	DEC_PTX_STRAY, /* a byte that PTX has no use for */
};

struct dec_ptx_token {
	enum dec_ptx_kind kind;
	struct dec_view text; /* origin: as in the lexer's text */
};

struct dec_ptx_lexer {
	struct dec_view text;
	size_t at;
	/* What was begun and not ended before the text was: "comment", "string", "block". It
	 * began at open_at; NULL: nothing. */
	const char *open;
	size_t open_at;
};

static inline struct dec_ptx_lexer dec_ptx_begin(struct dec_view text)
{
	return (struct dec_ptx_lexer){ .text = text };
}

/* False at the end; the token is then DEC_PTX_END, empty, where the text ends. */
bool dec_ptx_next(struct dec_ptx_lexer *l, struct dec_ptx_token *token);

/* From behind a '{' to behind the '}' that ends it, past whatever is in between: at the
 * speed of memory, for most of a text is in function bodies. False: the text ends first. */
bool dec_ptx_skip_block(struct dec_ptx_lexer *l);

/* Inline, so that the length of a literal costs nothing. */
static inline bool dec_ptx_is(const struct dec_ptx_token *token, const char *word)
{
	size_t len = strlen(word);

	return token->text.len == len && memcmp(token->text.p, word, len) == 0;
}

/* The value of an integer token: decimal, octal, hexadecimal or binary, 'U' behind it or
 * not. False: none, or past 64 bits. */
bool dec_ptx_number(const struct dec_ptx_token *token, uint64_t *value);

#endif
