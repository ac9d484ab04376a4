#include "inventory.h"
#include "ptx_lexer.h"

#include <stdlib.h>
#include <string.h>

/* ---- tokens ---------------------------------------------------------------------------- */

struct token_case {
	const char *name;
	const char *text;
	const char *tokens; /* each with its kind in front, divided by blanks */
	const char *open;
	size_t open_at;
};

static const struct token_case tokens[] = {
	{ "no text", "", "", NULL, 0 },
	{ "blanks", " \t\r\n\v\f", "", NULL, 0 },
	{ "directive and number", ".version 8.0", "d.version #8.0", NULL, 0 },
	{ "directives without blanks", ".param.u64.ptr.global", "d.param d.u64 d.ptr d.global",
	  NULL, 0 },
	{ "names", "_a $b %c d$1_ %r<2>", "n_a n$b n%c nd$1_ n%r !< #2 !>", NULL, 0 },
	{ "percent alone", "% a", "!% na", NULL, 0 },
	{ "dot alone", ". a", "!. na", NULL, 0 },
	{ "line comment to a line feed", "a // b\nc", "na nc", NULL, 0 },
	{ "line comment to a carriage return", "a // b\rc", "na nc", NULL, 0 },
	{ "line comment to the end", "a // b", "na", NULL, 0 },
	{ "block comment", "a/* { \" // */b", "na nb", NULL, 0 },
	{ "block comments do not nest", "/* /* */ a */", "na !* !/", NULL, 0 },
	{ "stars in a comment", "/***/a/* * **/b", "na nb", NULL, 0 },
	{ "comment that does not end", "a /* b *", "na", "comment", 2 },
	{ "comment of three bytes", "/*/", "", "comment", 0 },
	{ "slash", "a / b", "na !/ nb", NULL, 0 },
	{ "slash at the end", "a /", "na !/", NULL, 0 },
	{ "string with what looks like code", ".file 1 \"{.entry // /*\" a",
	  "d.file #1 \"\"{.entry // /*\" na", NULL, 0 },
	{ "backslash is no escape", "\"a\\\" b", "\"\"a\\\" nb", NULL, 0 },
	{ "string over lines", "\"a\nb\" c", "\"\"a\nb\" nc", NULL, 0 },
	{ "string that does not end", "a \"b", "na \"\"b", "string", 2 },
	{ "marks", "(a,b)[3]{;}", "!( na !, nb !) ![ #3 !] !{ !; !}", NULL, 0 },
	{ "number, then a dot", "8.a", "#8 d.a", NULL, 0 },
	{ "stray bytes", "a \x01 \xc3", "na ?\x01 ?\xc3", NULL, 0 },
};

static void check_tokens(void **state)
{
	static const char kinds[] = {
		[DEC_PTX_DIRECTIVE] = 'd', [DEC_PTX_NAME] = 'n', [DEC_PTX_NUMBER] = '#',
		[DEC_PTX_STRING] = '"',	   [DEC_PTX_MARK] = '!', [DEC_PTX_STRAY] = '?',
	};
	const struct token_case *c = *state;
	struct dec_ptx_lexer l =
		dec_ptx_begin((struct dec_view){ (const uint8_t *)c->text, strlen(c->text), 100 });
	struct dec_ptx_token token;
	struct bytes found = { 0 };

	while (dec_ptx_next(&l, &token)) {
		if (found.len)
			add_text(&found, " ");
		add(&found, &kinds[token.kind], 1);
		add(&found, token.text.p, token.text.len);
		assert_int_equal(token.text.origin, 100 + (size_t)(token.text.p - l.text.p));
	}
	assert_int_equal(token.kind, DEC_PTX_END);
	assert_int_equal(token.text.origin, 100 + strlen(c->text));
	add(&found, "", 1);
	assert_string_equal((const char *)found.p, c->tokens);
	bytes_free(&found);
	assert_int_equal(l.open != NULL, c->open != NULL);
	if (c->open) {
		assert_string_equal(l.open, c->open);
		assert_int_equal(l.open_at, c->open_at);
	}
}

/* ---- numbers --------------------------------------------------------------------------- */

struct number_case {
	const char *name;
	const char *text;
	bool ok;
	uint64_t value;
};

static const struct number_case numbers[] = {
	{ "zero", "0", true, 0 },
	{ "decimal", "256", true, 256 },
	{ "unsigned", "256U", true, 256 },
	{ "hexadecimal", "0x1F", true, 31 },
	{ "capital X", "0XfU", true, 15 },
	{ "octal", "010", true, 8 },
	{ "binary", "0b101", true, 5 },
	{ "largest", "18446744073709551615", true, UINT64_MAX },
	{ "one more", "18446744073709551616", false, 0 },
	{ "many digits", "99999999999999999999999999", false, 0 },
	{ "octal with an 8", "08", false, 0 },
	{ "letters", "12ab", false, 0 },
	{ "fraction", "1.5", false, 0 },
	{ "hexadecimal without digits", "0x", false, 0 },
	{ "a name", "x1", false, 0 },
};

static void check_number(void **state)
{
	const struct number_case *c = *state;
	struct dec_ptx_lexer l =
		dec_ptx_begin((struct dec_view){ (const uint8_t *)c->text, strlen(c->text), 0 });
	struct dec_ptx_token token;
	uint64_t value;

	assert_true(dec_ptx_next(&l, &token));
	assert_int_equal(dec_ptx_number(&token, &value), c->ok);
	if (c->ok)
		assert_int_equal(value, c->value);
}

/* ---- bodies ---------------------------------------------------------------------------- */

struct block_case {
	const char *name;
	const char *text; /* from behind '{' */
	size_t end; /* behind the '}' that ends it */
	const char *open; /* NULL: it ends */
};

#define BLANKS_60 "                                                            "
static const struct block_case blocks[] = {
	{ "empty", "}", 1, NULL },
	{ "nested", "{{}{}}} }", 7, NULL },
	{ "braces in a comment", "// }\n /* } */ }", 15, NULL },
	{ "braces in a string", "\"}\" \"{\" }", 9, NULL },
	{ "quote in a comment", "// \"\n}", 6, NULL },
	{ "comment in a string", "\"//\"}", 5, NULL },
	{ "quotient", "a / b }", 7, NULL },
	{ "end past a block of 64", BLANKS_60 "      }", 67, NULL },
	{ "comment across blocks", BLANKS_60 "// } } } }\n}", 72, NULL },
	{ "string across blocks", BLANKS_60 "\"} } } }\"}", 70, NULL },
	{ "brace at the end of a block", BLANKS_60 "   } }", 64, NULL },
	{ "slash at the end of a block", BLANKS_60 "   //}\n}", 68, NULL },
	{ "nothing", "", 0, "block" },
	{ "does not end", "{ }", 3, "block" },
	{ "comment does not end", "/* }", 4, "comment" },
	{ "string does not end", "\" }", 3, "string" },
	{ "line comment at the end", "// }", 4, "block" },
};

static void check_block(void **state)
{
	const struct block_case *c = *state;
	size_t len = strlen(c->text);
	uint8_t *exact = malloc(len ? len : 1); /* a read past the end is seen */
	struct dec_ptx_lexer l;

	assert_non_null(exact);
	memcpy(exact, c->text, len);
	l = dec_ptx_begin((struct dec_view){ exact, len, 0 });
	assert_int_equal(dec_ptx_skip_block(&l), c->open == NULL);
	assert_int_equal(l.at, c->end);
	if (c->open)
		assert_string_equal(l.open, c->open);
	free(exact);
}

/* Each byte that matters at each place of two blocks: as a scan byte by byte finds it. */
static void every_place(void **state)
{
	(void)state;
	for (size_t at = 0; at < 130; at++) {
		char text[200];
		struct dec_ptx_lexer l;

		memset(text, 'y', sizeof(text)); /* between '{' and '}' but for its bits */
		text[at] = '{';
		text[at + 1] = '"';
		text[at + 2] = '}';
		text[at + 3] = '"';
		text[at + 5] = '}';
		text[at + 40] = '}';
		l = dec_ptx_begin((struct dec_view){ (const uint8_t *)text, sizeof(text), 0 });
		assert_true(dec_ptx_skip_block(&l));
		assert_int_equal(l.at, at + 41);
	}
}

int main(void)
{
	const struct CMUnitTest others[] = { cmocka_unit_test(every_place) };

	return RUN_ROWS(tokens, check_tokens) + RUN_ROWS(numbers, check_number) +
	       RUN_ROWS(blocks, check_block) +
	       cmocka_run_group_tests_name("places", others, NULL, NULL);
}
