/* PTX text as a file of its own: recognised by its first directives. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>

struct lexer {
	const char *p, *end;
};

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '$' || c == '%';
}

static bool at(const struct lexer *l, const char *s)
{
	size_t len = strlen(s);

	return (size_t)(l->end - l->p) >= len && memcmp(l->p, s, len) == 0;
}

static void skip_past(struct lexer *l, const char *s)
{
	while (l->p < l->end && !at(l, s))
		l->p++;
	if (l->p < l->end)
		l->p += strlen(s);
}

/* Line comments end at either line end: files with CR alone are legal. */
static void skip_line(struct lexer *l)
{
	while (l->p < l->end && *l->p != '\n' && *l->p != '\r')
		l->p++;
}

static void skip_space(struct lexer *l)
{
	for (;;) {
		while (l->p < l->end && is_blank(*l->p))
			l->p++;
		if (at(l, "//"))
			skip_line(l);
		else if (at(l, "/*"))
			skip_past(l, "*/");
		else
			return;
	}
}

static struct dec_view word(struct lexer *l)
{
	const char *start;

	skip_space(l);
	start = l->p;
	while (l->p < l->end && is_word(*l->p))
		l->p++;
	return (struct dec_view){ (const uint8_t *)start, (size_t)(l->p - start), 0 };
}

static bool is(struct dec_view v, const char *s)
{
	return v.len == strlen(s) && dec_starts(v, s, v.len);
}

/* "M.m" */
static bool is_version(struct dec_view v)
{
	size_t dots = 0;

	for (size_t i = 0; i < v.len; i++) {
		if (v.p[i] == '.')
			dots++;
		else if (v.p[i] < '0' || v.p[i] > '9')
			return false;
	}
	return dots == 1 && v.len >= 3 && v.p[0] != '.' && v.p[v.len - 1] != '.';
}

/* sm_90a or compute_90a: digits, then 'a', 'f' or nothing. */
static bool declare_target(struct dec_declared *d, struct dec_view v)
{
	const char *name = dec_starts(v, "sm_", 3)	  ? "sm_"
			   : dec_starts(v, "compute_", 8) ? "compute_"
							  : NULL;
	uint32_t sm = 0;
	size_t i;

	if (!name)
		return false;
	for (i = strlen(name); i < v.len && v.p[i] >= '0' && v.p[i] <= '9' && sm < 100000; i++)
		sm = sm * 10 + (uint32_t)(v.p[i] - '0');
	if (i == strlen(name) || v.len - i > 1)
		return false;
	if (v.len - i == 1 && v.p[i] != 'a' && v.p[i] != 'f')
		return false;
	dec_declare_sm(d, DEC_CLASS_COMPUTE, sm, i < v.len ? (char)v.p[i] : 0);
	return true;
}

/* The first target of the list; texmode_unified, debug and the like stand beside it. */
static void read_targets(struct lexer *l, struct dec_declared *d, struct dec_view *raw)
{
	for (;;) {
		struct dec_view name = word(l);

		if (declare_target(d, name)) {
			*raw = name;
			return;
		}
		skip_space(l);
		if (name.len == 0 || l->p == l->end || *l->p != ',')
			return;
		l->p++;
	}
}

bool dec_ptx_head(struct dec_view text, struct dec_declared *declared, struct dec_view *raw)
{
	struct lexer l = { (const char *)text.p, (const char *)text.p + text.len };

	*declared = (struct dec_declared){ .vendor = DEC_VENDOR_NVIDIA };
	*raw = (struct dec_view){ (const uint8_t *)dec_absent, 0, 0 };
	if (at(&l, "\xef\xbb\xbf"))
		l.p += 3;
	if (!is(word(&l), ".version") || !is_version(word(&l)))
		return false;
	if (is(word(&l), ".target"))
		read_targets(&l, declared, raw);
	return true;
}
