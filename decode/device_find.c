/* What a user types, to devices. docs/devices.md, "Names that are understood". */
#include "device_rules.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	TEXT_MAX = 128, /* the longest name of a product has 24 bytes */
	TOKENS_MAX = 24,
};

__attribute__((format(printf, 2, 3))) static void unknown(struct dec_match *m, const char *format,
							  ...)
{
	va_list args;

	m->find = DEC_FIND_UNKNOWN;
	va_start(args, format);
	vsnprintf(m->sentence, sizeof(m->sentence), format, args);
	va_end(args);
}

/* The first device that a product's target names. */
static const struct dec_device *device_of(const char *target)
{
	const struct dec_device *d;

	for (uint32_t i = 0; (d = dec_device_at(i)); i++)
		if (strcmp(d->name, target) == 0 || strcmp(d->architecture, target) == 0)
			return d;
	return NULL;
}

static void add_device(struct dec_match *m, const struct dec_device *d)
{
	m->find = DEC_FIND_FOUND;
	if (m->device_count < DEC_MATCH_DEVICES)
		m->devices[m->device_count++] = d;
}

static void add_candidate(struct dec_match *m, const char *name, const struct dec_device *d)
{
	if (m->candidate_count == DEC_MATCH_CANDIDATES)
		m->candidates_left_off++;
	else
		m->candidates[m->candidate_count++] = (struct dec_candidate){ name, d };
}

static void forget_candidates(struct dec_match *m)
{
	m->candidate_count = 0;
	m->candidates_left_off = 0;
}

/* ---- NVIDIA architectures --------------------------------------------------------------- */

static void find_sm(struct dec_match *m, uint32_t sm)
{
	const struct dec_device *d = dec_device_of_sm(dec_sm_today(sm)), *last = NULL;

	for (uint32_t i = 0; i < dec_device_count(); i++)
		if (dec_device_at(i)->sm)
			last = dec_device_at(i);
	if (!d && last && sm > last->sm)
		unknown(m, "sm_%u is newer than the tables, which end at %s", sm, last->name);
	else if (!d)
		unknown(m, "no device sm_%u is known", sm);
	if (!d)
		return;
	add_device(m, d);
	if (d->sm != sm)
		snprintf(m->sentence, sizeof(m->sentence), "sm_%u is the former name of %s", sm,
			 d->name);
}

/* "8.9", "12.0": one digit behind the point. */
static bool read_capability(const char *text, uint32_t *sm)
{
	size_t whole = strspn(text, "0123456789");

	if (whole == 0 || whole > 2 || text[whole] != '.' ||
	    !isdigit((unsigned char)text[whole + 1]) || text[whole + 2])
		return false;
	*sm = (uint32_t)strtoul(text, NULL, 10) * 10 + (uint32_t)(text[whole + 1] - '0');
	return true;
}

/* "89", which no product is called; four digits are one ("4090"). */
static bool read_number(const char *text, uint32_t *sm)
{
	size_t len = strspn(text, "0123456789");

	if (len == 0 || len > 3 || text[len])
		return false;
	*sm = (uint32_t)strtoul(text, NULL, 10);
	return true;
}

/* "sm_90", "compute_90a", "sm90": the suffix of a target is no part of a device's name. */
static bool read_sm(const char *text, uint32_t *sm)
{
	struct dec_profile p = dec_profile_of(text);
	char spelled[TEXT_MAX + 4];

	if (p.vendor != DEC_VENDOR_NVIDIA && strncmp(text, "sm", 2) == 0) {
		snprintf(spelled, sizeof(spelled), "sm_%s", text + 2);
		p = dec_profile_of(spelled);
	}
	*sm = p.sm;
	return p.vendor == DEC_VENDOR_NVIDIA;
}

/* ---- AMD architectures -------------------------------------------------------------------- */

static bool fits_setting(char stated, char device)
{
	return !stated || stated == device || device == '?';
}

static void find_generic(struct dec_match *m, const char *generic)
{
	const char *member;

	for (uint32_t i = 0; (member = dec_generic_member(generic, i)); i++)
		add_candidate(m, member, device_of(member));
	if (!m->candidate_count) {
		unknown(m, "no device and no generic target %.64s is known", generic);
		return;
	}
	m->find = DEC_FIND_AMBIGUOUS;
	snprintf(m->sentence, sizeof(m->sentence), "%.64s is a target for several devices",
		 generic);
}

static void find_gfx(struct dec_match *m, const struct dec_profile *p)
{
	const struct dec_device *d;

	for (uint32_t i = 0; (d = dec_device_at(i)); i++) {
		if (strcmp(d->architecture, p->base) != 0)
			continue;
		add_candidate(m, d->name, d);
		if (!p->odd && fits_setting(p->sramecc, d->sramecc) &&
		    fits_setting(p->xnack, d->xnack))
			add_device(m, d);
	}
	if (m->device_count)
		forget_candidates(m);
	else if (m->candidate_count)
		unknown(m, "devices %.64s do not report these features", p->base);
	else
		unknown(m, "no device %.64s is known", p->base);
}

/* ---- products --------------------------------------------------------------------------------- */

enum word_class { PLAIN, NUMBER, IDLE, TRAILING };

static enum word_class class_of(const char *word)
{
	static const struct {
		const char *word;
		enum word_class class;
	} words[] = {
#define X(word, class) { word, class },
#include "device_words.def"
#undef X
	};

	if (isdigit((unsigned char)*word))
		return NUMBER;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].word, word) == 0)
			return words[i].class;
	return PLAIN;
}

/* Runs of letters and runs of digits, in lower case, without the idle ones. */
struct tokens {
	char text[2 * TEXT_MAX];
	const char *at[TOKENS_MAX];
	size_t count;
};

static void tokens_read(struct tokens *t, const char *name)
{
	size_t used = 0;

	t->count = 0;
	while (*name && t->count < TOKENS_MAX) {
		bool digits = isdigit((unsigned char)*name);
		size_t start = used;

		while (isalnum((unsigned char)*name) && !!isdigit((unsigned char)*name) == digits &&
		       used < sizeof(t->text) - 2)
			t->text[used++] = (char)tolower((unsigned char)*name++);
		if (used == start) {
			name++;
			continue;
		}
		t->text[used++] = 0;
		if (class_of(t->text + start) == IDLE)
			used = start;
		else
			t->at[t->count++] = t->text + start;
	}
}

/* How many tokens of the name the query begins with, if it begins with all of them. */
static size_t prefix(const struct tokens *query, const struct tokens *name)
{
	if (name->count > query->count)
		return 0;
	for (size_t i = 0; i < name->count; i++)
		if (strcmp(query->at[i], name->at[i]) != 0)
			return 0;
	return name->count;
}

/* Whether all tokens of the query are in the name, in order. */
static bool inside(const struct tokens *query, const struct tokens *name)
{
	size_t found = 0;

	for (size_t i = 0; i < name->count && found < query->count; i++)
		if (strcmp(query->at[found], name->at[i]) == 0)
			found++;
	return found == query->count;
}

static bool is_trailing(const struct tokens *t, size_t i)
{
	return i < t->count && class_of(t->at[i]) == TRAILING;
}

/* What follows a name does not make it another product: "Laptop GPU", "SXM4", "80GB". */
static bool rest_is_idle(const struct tokens *query, size_t from)
{
	for (size_t i = from; i < query->count; i++) {
		bool beside = is_trailing(query, i + 1) || (i > from && is_trailing(query, i - 1));

		if (!is_trailing(query, i) && !(class_of(query->at[i]) == NUMBER && beside))
			return false;
	}
	return true;
}

static void take_product(struct dec_match *m, const struct dec_product *product)
{
	const struct dec_device *d;

	forget_candidates(m);
	m->product = product;
	for (uint32_t i = 0; (d = dec_device_at(i)); i++)
		if (dec_product_has(product, d))
			add_device(m, d);
}

/* A few digits are in many names and mean none of them. */
static bool says_enough(const struct tokens *query)
{
	for (size_t i = 0; i < query->count; i++)
		if (class_of(query->at[i]) != NUMBER || strlen(query->at[i]) > 3)
			return true;
	return false;
}

/* Letters alone may be part of products to come; a number or a whole word is enough. */
static bool says_which(const struct tokens *query)
{
	for (size_t i = 0; i < query->count; i++)
		if (class_of(query->at[i]) == NUMBER || strlen(query->at[i]) > 3)
			return true;
	return false;
}

static void find_inside(struct dec_match *m, const struct tokens *query, const char *text)
{
	const struct dec_product *p, *only = NULL;
	bool alike = says_which(query);
	struct tokens name;

	for (uint32_t i = 0; (p = dec_product_at(i)); i++) {
		tokens_read(&name, p->name);
		if (!says_enough(query) || !inside(query, &name))
			continue;
		alike = alike && (!only || strcmp(only->target, p->target) == 0);
		only = p;
		add_candidate(m, p->name, device_of(p->target));
	}
	if (m->candidate_count == 1) {
		take_product(m, only);
	} else if (m->candidate_count && alike) {
		take_product(m, only);
		m->product = NULL;
		snprintf(m->sentence, sizeof(m->sentence),
			 "\"%.100s\" names several products, all of them %s", text, only->target);
	} else if (m->candidate_count) {
		m->find = DEC_FIND_AMBIGUOUS;
		snprintf(m->sentence, sizeof(m->sentence), "\"%.100s\" names several products",
			 text);
	} else {
		unknown(m, "no architecture and no product \"%.100s\" is known", text);
	}
}

static void find_product(struct dec_match *m, const char *text)
{
	const struct dec_product *p, *longest = NULL;
	struct tokens query, name;
	size_t len = 0;

	tokens_read(&query, text);
	if (query.count == 0) {
		unknown(m, "\"%.100s\" names no device", text);
		return;
	}
	for (uint32_t i = 0; (p = dec_product_at(i)); i++) {
		tokens_read(&name, p->name);
		if (prefix(&query, &name) > len) {
			longest = p;
			len = name.count;
		}
	}
	if (longest && rest_is_idle(&query, len)) {
		take_product(m, longest);
		return;
	}
	find_inside(m, &query, text);
	if (m->find != DEC_FIND_UNKNOWN || !longest)
		return;
	m->find = DEC_FIND_AMBIGUOUS;
	add_candidate(m, longest->name, device_of(longest->target));
	snprintf(m->sentence, sizeof(m->sentence), "\"%.100s\" may be another product than the %s",
		 text, longest->name);
}

/* "MI250X / MI250", as some tools print what they cannot tell apart. */
static bool find_either(struct dec_match *m, const char *text)
{
	const char *slash = strchr(text, '/');
	struct dec_match other = { .find = DEC_FIND_UNKNOWN };
	char first[TEXT_MAX];

	if (!slash)
		return false;
	snprintf(first, sizeof(first), "%.*s", (int)(slash - text), text);
	find_product(m, first);
	find_product(&other, slash + 1);
	if (m->find == DEC_FIND_FOUND && other.find == DEC_FIND_FOUND &&
	    m->devices[0] == other.devices[0] && m->device_count == other.device_count)
		return true;
	*m = (struct dec_match){ .find = DEC_FIND_UNKNOWN };
	return false;
}

/* ---- all of them ---------------------------------------------------------------------------------- */

/* In lower case, without blanks at the ends; false: too long for any name. */
static bool plain(const char *text, char out[TEXT_MAX])
{
	size_t len;

	text += strspn(text, " \t\r\n");
	len = strlen(text);
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	if (len >= TEXT_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		out[i] = (char)tolower((unsigned char)text[i]);
	out[len] = 0;
	return true;
}

void dec_device_find(const char *text, struct dec_match *match)
{
	char name[TEXT_MAX];
	struct dec_profile p;
	uint32_t sm;

	*match = (struct dec_match){ .find = DEC_FIND_UNKNOWN };
	if (!plain(text, name)) {
		unknown(match, "the name has more than %d bytes", TEXT_MAX - 1);
		return;
	}
	if (read_capability(name, &sm) || read_number(name, &sm) || read_sm(name, &sm)) {
		find_sm(match, sm);
		return;
	}
	p = dec_profile_of(name);
	if (p.class == DEC_CLASS_GFX_GENERIC)
		find_generic(match, p.base);
	else if (strncmp(p.base, "gfx", 3) == 0)
		find_gfx(match, &p);
	else if (!find_either(match, name))
		find_product(match, name);
}
