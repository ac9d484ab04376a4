/* docs/formats/ptx.md, "Tokens": what ptxas takes, strings without escapes included. */
#include "ptx_lexer.h"

#include <endian.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef uint8_t lanes __attribute__((vector_size(16)));
#define LANES sizeof(lanes)

/* START begins a name; START and DIGIT continue one. */
enum { BLANK = 1, DIGIT = 2, START = 4, MARK = 8 };

/* clang-format off */
static const uint8_t classes[256] = {
	['\t' ... '\r'] = BLANK, [' '] = BLANK,
	['!' ... '#'] = MARK, ['$'] = START, ['%' ... '/'] = MARK,
	['0' ... '9'] = DIGIT, [':' ... '@'] = MARK,
	['A' ... 'Z'] = START, ['[' ... '^'] = MARK, ['_'] = START, ['`'] = MARK,
	['a' ... 'z'] = START, ['{' ... '~'] = MARK,
};
/* clang-format on */

/* ---- searching ------------------------------------------------------------------------- */

static inline lanes load(const uint8_t *p)
{
	lanes v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline lanes splat(char byte)
{
	lanes v = { 0 };

	return v + (uint8_t)byte;
}

/* The bytes of a comparison, each 0 or 0xff, as two numbers; the first byte lowest. */
static inline void halves_of(lanes hit, uint64_t *low, uint64_t *high)
{
	uint64_t halves[2];

	memcpy(halves, &hit, sizeof(halves));
	*low = le64toh(halves[0]);
	*high = le64toh(halves[1]);
}

/* Where one of two bytes is next; the end of the text when none is. */
static inline size_t find(struct dec_view v, size_t at, char a, char b)
{
	uint64_t low, high;

	for (; v.len - at >= LANES; at += LANES) {
		lanes bytes = load(v.p + at);

		halves_of((lanes)(bytes == splat(a)) | (lanes)(bytes == splat(b)), &low, &high);
		if (low)
			return at + (size_t)__builtin_ctzll(low) / 8;
		if (high)
			return at + 8 + (size_t)__builtin_ctzll(high) / 8;
	}
	while (at < v.len && v.p[at] != (uint8_t)a && v.p[at] != (uint8_t)b)
		at++;
	return at;
}

/* Gathers the bytes of a comparison into a bit each. */
static inline uint64_t bits_of(lanes hit)
{
#ifdef __SSE2__
	return (uint64_t)(unsigned)_mm_movemask_epi8((__m128i)hit);
#else
	const uint64_t ones = 0x0101010101010101;
	const uint64_t gather = 0x0102040810204080; /* byte i goes to bit 56 + i */
	uint64_t low, high;

	halves_of(hit, &low, &high);
	return ((low & ones) * gather >> 56) | ((high & ones) * gather >> 56) << 8;
#endif
}

#define BLOCK ((size_t)64)

/* A bit for each byte of a block that matters in a body. */
static inline uint64_t marks_in(const uint8_t *p)
{
	uint64_t marks = 0;

	for (size_t i = 0; i < BLOCK / LANES; i++) {
		lanes bytes = load(p + i * LANES);
		lanes hit = (lanes)(bytes == splat('{')) | (lanes)(bytes == splat('}')) |
			    (lanes)(bytes == splat('"')) | (lanes)(bytes == splat('/'));

		marks |= bits_of(hit) << i * LANES;
	}
	return marks;
}

/* The block at an offset; past the end of the text come blanks. */
static inline uint64_t marks_at(struct dec_view v, size_t at)
{
	uint8_t rest[BLOCK];

	if (v.len - at >= BLOCK)
		return marks_in(v.p + at);
	memset(rest, ' ', sizeof(rest));
	memcpy(rest, v.p + at, v.len - at);
	return marks_in(rest);
}

static size_t never_ends(struct dec_ptx_lexer *l, const char *what, size_t at)
{
	l->open = what;
	l->open_at = at;
	return l->text.len;
}

/* From the opening quote to behind the closing one. Strings may span lines; a backslash is
 * a character like any other. */
static size_t past_string(struct dec_ptx_lexer *l, size_t at)
{
	size_t end = find(l->text, at + 1, '"', '"');

	return end < l->text.len ? end + 1 : never_ends(l, "string", at);
}

static size_t past_block_comment(struct dec_ptx_lexer *l, size_t at)
{
	size_t end = at + 2;

	for (;;) {
		end = find(l->text, end, '*', '*');
		if (l->text.len - end < 2)
			return never_ends(l, "comment", at);
		if (l->text.p[++end] == '/')
			return end + 1;
	}
}

/* From a slash to behind the comment that it begins; the next byte when it begins none. */
static size_t past_slash(struct dec_ptx_lexer *l, size_t at)
{
	uint8_t next = l->text.len - at > 1 ? l->text.p[at + 1] : 0;

	if (next == '/')
		return find(l->text, at + 2, '\n', '\r');
	if (next == '*')
		return past_block_comment(l, at);
	return at + 1;
}

/* What one mark at an offset does to the depth; to behind it and what it begins. */
static inline size_t past_mark(struct dec_ptx_lexer *l, size_t at, uint64_t *depth)
{
	switch (l->text.p[at]) {
	case '{':
		++*depth;
		return at + 1;
	case '}':
		--*depth;
		return at + 1;
	case '"':
		return past_string(l, at);
	default:
		return past_slash(l, at);
	}
}

bool dec_ptx_skip_block(struct dec_ptx_lexer *l)
{
	size_t start = l->at ? l->at - 1 : 0, at = l->at, next;
	uint64_t depth = 1;

	for (size_t block = at; depth && block < l->text.len; block = next) {
		uint64_t marks = marks_at(l->text, block);

		next = block + BLOCK;
		while (depth && marks) {
			at = past_mark(l, block + (size_t)__builtin_ctzll(marks), &depth);
			if (at >= next) {
				next = at;
				break;
			}
			marks &= ~(uint64_t)0 << (at - block);
		}
	}
	l->at = depth ? l->text.len : at;
	if (depth && !l->open)
		never_ends(l, "block", start);
	return depth == 0;
}

/* ---- tokens ---------------------------------------------------------------------------- */

static size_t past_blanks(struct dec_ptx_lexer *l)
{
	struct dec_view v = l->text;
	size_t at = l->at;

	for (;;) {
		size_t next;

		while (at < v.len && classes[v.p[at]] == BLANK)
			at++;
		if (at == v.len || v.p[at] != '/')
			return at;
		next = past_slash(l, at);
		if (next == at + 1) /* a slash by itself */
			return at;
		at = next;
	}
}

static size_t past_word(struct dec_view v, size_t at)
{
	while (at < v.len && classes[v.p[at]] & (START | DIGIT))
		at++;
	return at;
}

/* Digits, with a fraction: versions are written so. */
static size_t past_number(struct dec_view v, size_t at)
{
	at = past_word(v, at);
	if (v.len - at > 1 && v.p[at] == '.' && classes[v.p[at + 1]] == DIGIT)
		at = past_word(v, at + 1);
	return at;
}

static enum dec_ptx_kind kind_at(struct dec_view v, size_t at)
{
	bool word_follows = v.len - at > 1 && classes[v.p[at + 1]] & (START | DIGIT);

	switch (classes[v.p[at]]) {
	case DIGIT:
		return DEC_PTX_NUMBER;
	case START:
		return DEC_PTX_NAME;
	case MARK:
		break;
	default:
		return DEC_PTX_STRAY;
	}
	if (v.p[at] == '"')
		return DEC_PTX_STRING;
	if (v.p[at] == '.' && word_follows)
		return DEC_PTX_DIRECTIVE;
	return v.p[at] == '%' && word_follows ? DEC_PTX_NAME : DEC_PTX_MARK;
}

bool dec_ptx_next(struct dec_ptx_lexer *l, struct dec_ptx_token *token)
{
	struct dec_view v = l->text;
	size_t start = past_blanks(l), end = start;

	token->kind = start < v.len ? kind_at(v, start) : DEC_PTX_END;
	switch (token->kind) {
	case DEC_PTX_END:
		break;
	case DEC_PTX_DIRECTIVE:
	case DEC_PTX_NAME:
		end = past_word(v, start + 1);
		break;
	case DEC_PTX_NUMBER:
		end = past_number(v, start);
		break;
	case DEC_PTX_STRING:
		end = past_string(l, start);
		break;
	case DEC_PTX_MARK:
	case DEC_PTX_STRAY:
		end = start + 1;
		break;
	}
	l->at = end;
	token->text = (struct dec_view){ v.p + start, end - start, v.origin + start };
	return token->kind != DEC_PTX_END;
}

static unsigned digit_of(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;
}

bool dec_ptx_number(const struct dec_ptx_token *token, uint64_t *value)
{
	const uint8_t *p = token->text.p;
	size_t len = token->text.len, i = 0;
	unsigned base = 10;

	*value = 0;
	if (token->kind != DEC_PTX_NUMBER)
		return false;
	if (p[len - 1] == 'U')
		len--;
	if (len > 1 && p[0] == '0') {
		uint8_t second = p[1] | 0x20;

		base = second == 'x' ? 16 : second == 'b' ? 2 : 8;
		i = base == 8 ? 1 : 2;
	}
	if (i == len)
		return false;
	for (; i < len; i++) {
		if (digit_of(p[i]) >= base || __builtin_mul_overflow(*value, base, value) ||
		    __builtin_add_overflow(*value, digit_of(p[i]), value))
			return false;
	}
	return true;
}
