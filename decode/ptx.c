/*
 * PTX text: its modules, what their headers say, and the kernels that they define.
 * docs/formats/ptx.md.
 */
#include "exam_kernels.h"
#include "meta_list.h"
#include "ptx_params.h"

#include <inttypes.h>
#include <stdlib.h>

#define NOT_SET ((uint64_t)-1)

/* One module while it is read. */
struct module {
	bool begun, has_target;
	struct dec_view version;
	uint64_t address_size; /* NOT_SET: not said */
	uint32_t first_kernel;
	struct dec_meta_list targets, options;
};

struct reader {
	struct dec_exam *x;
	struct dec_ptx_lexer lexer;
	struct module module;
	uint32_t modules;
	struct dec_ptx_params params; /* of the kernel at hand */
	struct dec_kernel_budget budget;
	struct dec_view *declared; /* names of this module that may have no definition */
	size_t declared_count, declared_room;
	bool stray_noted;
	struct dec_meta_tree tree;
	struct dec_meta_list root, module_list;
};

/* A kernel while it is read. */
struct entry {
	uint64_t start; /* of its first directive, as problems count */
	struct dec_view name;
	struct dec_facts facts;
	struct dec_ptx_fault fault; /* the first one */
};

static bool note(struct reader *r, uint64_t offset, enum dec_severity severity,
		 const char *sentence)
{
	return dec_exam_note(r->x, DEC_NONE, DEC_PROBLEM_MALFORMED_PTX, offset, "text", severity,
			     "%s", sentence);
}

static bool is_mark(const struct dec_ptx_token *token, char mark)
{
	return token->kind == DEC_PTX_MARK && token->text.p[0] == (uint8_t)mark;
}

static void put_back(struct reader *r, const struct dec_ptx_token *token)
{
	r->lexer.at = (size_t)(token->text.origin - r->lexer.text.origin);
}

/* ---- modules ----------------------------------------------------------------------------- */

static void meta_number(struct dec_meta_list *list, const char *key, uint64_t value)
{
	if (value != NOT_SET)
		dec_meta_uint(list, key, value);
}

/* Names that are declared and nowhere defined. */
static bool module_declarations(struct reader *r, struct dec_meta_list *module)
{
	struct dec_meta_list names = dec_meta_list_begin(&r->tree);
	const struct dec_kernel **sorted;
	uint32_t count;

	if (r->declared_count == 0)
		return true;
	sorted = dec_exam_sorted(r->x, r->module.first_kernel, &count);
	if (!sorted)
		return false;
	for (size_t i = 0; i < r->declared_count; i++)
		if (!dec_exam_is_listed(sorted, count, r->declared[i]))
			dec_meta_text(&names, NULL, r->declared[i]);
	free(sorted);
	r->declared_count = 0;
	if (names.count)
		dec_meta_nest(module, "declarations", DEC_META_ARRAY, &names);
	return true;
}

static void module_header(struct dec_meta_list *list, const struct module *m)
{
	dec_meta_text(list, "version", m->version);
	dec_meta_nest(list, "targets", DEC_META_ARRAY, &m->targets);
	dec_meta_nest(list, "options", DEC_META_ARRAY, &m->options);
	meta_number(list, "address_size", m->address_size);
}

static bool module_end(struct reader *r)
{
	struct module *m = &r->module;
	struct dec_meta_list list = dec_meta_list_begin(&r->tree);

	if (!m->begun)
		return true;
	m->begun = false;
	if (r->modules == 1)
		module_header(&r->root, m);
	module_header(&list, m);
	dec_meta_uint(&list, "kernels", r->x->out->kernel_count - m->first_kernel);
	if (!module_declarations(r, &list))
		return false;
	dec_meta_nest(&r->module_list, NULL, DEC_META_MAP, &list);
	if (!m->has_target && r->modules > 1 &&
	    !note(r, m->version.origin, DEC_PARTIAL, "a module names no target architecture"))
		return false;
	return dec_exam_note_duplicates(r->x, m->first_kernel);
}

static bool module_begin(struct reader *r, const struct dec_ptx_token *directive)
{
	struct dec_ptx_token version;

	if (!module_end(r))
		return false;
	if (++r->modules == 2 && !note(r, directive->text.origin, DEC_COMPLETE,
				       "another module begins here; ptxas takes the first alone"))
		return false;
	if (!dec_ptx_next(&r->lexer, &version) || version.kind != DEC_PTX_NUMBER)
		put_back(r, &version);
	r->module = (struct module){
		.begun = true,
		.version = version.text,
		.address_size = NOT_SET,
		.first_kernel = r->x->out->kernel_count,
		.targets = dec_meta_list_begin(&r->tree),
		.options = dec_meta_list_begin(&r->tree),
	};
	return true;
}

static bool is_architecture(struct dec_view name)
{
	return dec_starts(name, "sm_", 3) || dec_starts(name, "compute_", 8);
}

static void read_targets(struct reader *r)
{
	struct dec_ptx_token token;
	struct module *m = &r->module;

	while (dec_ptx_next(&r->lexer, &token) && token.kind == DEC_PTX_NAME) {
		bool architecture = is_architecture(token.text);

		m->has_target |= architecture;
		dec_meta_text(architecture ? &m->targets : &m->options, NULL, token.text);
		if (!dec_ptx_next(&r->lexer, &token) || !is_mark(&token, ','))
			break;
	}
	put_back(r, &token);
}

static void read_address_size(struct reader *r)
{
	struct dec_ptx_token token;

	dec_ptx_next(&r->lexer, &token);
	if (!dec_ptx_number(&token, &r->module.address_size)) {
		r->module.address_size = NOT_SET;
		put_back(r, &token);
	}
}

/* ---- kernels ----------------------------------------------------------------------------- */

static void entry_fault(struct entry *e, const struct dec_ptx_token *token, const char *sentence)
{
	if (!e->fault.sentence)
		e->fault = (struct dec_ptx_fault){ sentence, token->text.origin };
}

static const struct {
	const char *word;
	enum dec_fact_id fact;
} performance[] = {
	{ ".maxntid", DEC_FACT_MAX_THREADS },
	{ ".reqntid", DEC_FACT_REQUIRED_THREADS },
	{ ".minnctapersm", DEC_FACT_MIN_BLOCKS_PER_SM },
	{ ".maxnctapersm", DEC_FACT_MAX_BLOCKS_PER_SM },
	{ ".maxnreg", DEC_FACT_MAX_REGISTERS },
	{ ".explicitcluster", DEC_FACT_EXPLICIT_CLUSTER },
	{ ".reqnctapercluster", DEC_FACT_CLUSTER },
	{ ".maxclusterrank", DEC_FACT_MAX_CLUSTER_RANK },
};

/* "n", or "x[, y[, z]]" with 1 for what is not written. */
static bool read_numbers(struct reader *r, struct entry *e, uint32_t triple[3])
{
	struct dec_ptx_token token;
	uint64_t value;

	for (size_t i = 0; i < 3; i++) {
		dec_ptx_next(&r->lexer, &token);
		if (!dec_ptx_number(&token, &value) || value > UINT32_MAX) {
			put_back(r, &token);
			entry_fault(e, &token, "a directive of a kernel lacks its number");
			return false;
		}
		triple[i] = (uint32_t)value;
		dec_ptx_next(&r->lexer, &token);
		if (!is_mark(&token, ','))
			break;
	}
	put_back(r, &token);
	return true;
}

static void read_performance(struct reader *r, struct entry *e, enum dec_fact_id fact)
{
	uint32_t n[3] = { 1, 1, 1 };

	if (dec_fact_shape(fact) == DEC_SHAPE_BOOL)
		dec_facts_count(&e->facts, fact, 1);
	else if (!read_numbers(r, e, n))
		return;
	else if (dec_fact_shape(fact) == DEC_SHAPE_TRIPLE)
		dec_facts_triple(&e->facts, fact, n[0], n[1], n[2]);
	else
		dec_facts_count(&e->facts, fact, n[0]);
}

/* .pragma "..." [, "..."] ; */
static void skip_pragma(struct reader *r)
{
	struct dec_ptx_token token;

	while (dec_ptx_next(&r->lexer, &token) &&
	       (token.kind == DEC_PTX_STRING || is_mark(&token, ',')))
		;
	if (!is_mark(&token, ';'))
		put_back(r, &token);
}

static const char *const linkages[] = { ".visible", ".weak", ".extern" };

static bool is_linkage(const struct dec_ptx_token *token)
{
	for (size_t i = 0; i < sizeof(linkages) / sizeof(linkages[0]); i++)
		if (dec_ptx_is(token, linkages[i]))
			return true;
	return false;
}

/* What only a new statement begins with: the one before was cut short. */
static bool begins_statement(const struct dec_ptx_token *token)
{
	return token->kind == DEC_PTX_END || is_linkage(token) || dec_ptx_is(token, ".entry") ||
	       dec_ptx_is(token, ".func") || dec_ptx_is(token, ".version");
}

/* From behind the parameters to '{' or ';', which token is then; else what came instead. */
static void read_directives(struct reader *r, struct entry *e, struct dec_ptx_token *token)
{
	for (;;) {
		size_t i = 0, count = sizeof(performance) / sizeof(performance[0]);

		dec_ptx_next(&r->lexer, token);
		if (is_mark(token, '{') || is_mark(token, ';') || begins_statement(token))
			return;
		while (i < count && !dec_ptx_is(token, performance[i].word))
			i++;
		if (i < count)
			read_performance(r, e, performance[i].fact);
		else if (dec_ptx_is(token, ".pragma"))
			skip_pragma(r);
	}
}

/* Behind a fault in the list: on to where it ends. */
static void skip_params(struct reader *r)
{
	struct dec_ptx_token token;

	do
		dec_ptx_next(&r->lexer, &token);
	while (!is_mark(&token, ')') && !is_mark(&token, '{') && !is_mark(&token, ';') &&
	       !begins_statement(&token));
	if (!is_mark(&token, ')'))
		put_back(r, &token);
}

static bool read_params(struct reader *r, struct entry *e)
{
	struct dec_ptx_token token;
	struct dec_ptx_fault fault = { 0 };

	r->params.count = 0;
	r->params.bytes = 0;
	dec_ptx_next(&r->lexer, &token);
	if (!is_mark(&token, '(')) {
		put_back(r, &token);
	} else if (!dec_ptx_read_params(&r->lexer, &r->params, &fault)) {
		if (r->params.no_memory)
			return false;
		put_back(r, &(struct dec_ptx_token){ .text = { .origin = fault.offset } });
		skip_params(r);
		e->fault = fault;
		return true;
	}
	dec_facts_count(&e->facts, DEC_FACT_PARAM_BYTES, r->params.bytes);
	return true;
}

static bool remember_declared(struct reader *r, struct dec_view name)
{
	if (!(r->x->wants & DEC_WANT_METADATA))
		return true;
	if (r->declared_count == DEC_KERNELS_MAX) {
		r->tree.cut = true;
		return true;
	}
	if (r->declared_count == r->declared_room) {
		size_t room = r->declared_room ? r->declared_room * 2 : 16;
		struct dec_view *bigger = reallocarray(r->declared, room, sizeof(*bigger));

		if (!bigger)
			return false;
		r->declared = bigger;
		r->declared_room = room;
	}
	r->declared[r->declared_count++] = name;
	return true;
}

/* A fault of a kernel that is listed, or of a declaration (kernel DEC_NONE). */
static bool note_fault(struct reader *r, const struct entry *e, uint32_t kernel)
{
	if (!e->fault.sentence)
		return true;
	return dec_exam_note(r->x, kernel, DEC_PROBLEM_MALFORMED_PTX, e->fault.offset, "entry",
			     DEC_PARTIAL, "%s (kernel %.*s)", e->fault.sentence,
			     (int)(e->name.len < 80 ? e->name.len : 80), (const char *)e->name.p);
}

static bool keep_entry(struct reader *r, struct entry *e)
{
	struct dec_exam *x = r->x;
	uint64_t end = r->lexer.text.origin + r->lexer.at;
	struct dec_kernel kernel = {
		.symbol = { dec_absent, 0 },
		.code = { e->start - x->payload.origin, end - e->start },
	};
	uint32_t index;
	bool claimed;

	if (!dec_exam_list_kernel(x, &r->budget, e->name, e->start, &kernel, &index))
		return false;
	if (index == DEC_NONE)
		return true;
	if (!dec_exam_claim_args(x, &r->budget, e->start, r->params.count, &claimed) ||
	    (claimed && !dec_ptx_keep_params(x, &r->params, &x->kernels[index])) ||
	    !dec_facts_keep(x, &e->facts, &x->kernels[index]))
		return false;
	return note_fault(r, e, index);
}

static struct dec_text binding(const struct dec_ptx_token *linkage)
{
	for (size_t i = 0; i < sizeof(linkages) / sizeof(linkages[0]); i++)
		if (dec_ptx_is(linkage, linkages[i]))
			return (struct dec_text){ linkages[i] + 1, strlen(linkages[i]) - 1 };
	return (struct dec_text){ "local", strlen("local") };
}

/* From behind .entry; linkage is empty where none is written. */
static bool read_entry(struct reader *r, uint64_t start, const struct dec_ptx_token *linkage)
{
	struct entry e = { .start = start };
	struct dec_ptx_token token;

	dec_ptx_next(&r->lexer, &token);
	e.name = token.text;
	if (token.kind != DEC_PTX_NAME) {
		put_back(r, &token);
		return note(r, token.text.origin, DEC_PARTIAL, ".entry is not followed by a name");
	}
	dec_facts_text(&e.facts, DEC_FACT_BINDING, binding(linkage));
	if (!read_params(r, &e))
		return false;
	read_directives(r, &e, &token);
	if (is_mark(&token, '{')) {
		if (!dec_ptx_skip_block(&r->lexer))
			entry_fault(&e, &token, "the body does not end");
		return keep_entry(r, &e);
	}
	if (!is_mark(&token, ';')) {
		put_back(r, &token);
		entry_fault(&e, &token, "neither a body nor ';' follows");
	}
	return note_fault(r, &e, DEC_NONE) && remember_declared(r, e.name);
}

/* ---- the text ---------------------------------------------------------------------------- */

static bool note_stray(struct reader *r, const struct dec_ptx_token *token)
{
	if (r->stray_noted)
		return true;
	r->stray_noted = true;
	return dec_exam_note(r->x, DEC_NONE, DEC_PROBLEM_MALFORMED_PTX, token->text.origin, "text",
			     DEC_PARTIAL, "0x%02x stands where a statement begins",
			     (unsigned)token->text.p[0]);
}

/* One token at depth 0 that is no linkage. */
static bool statement(struct reader *r, const struct dec_ptx_token *token, uint64_t start,
		      const struct dec_ptx_token *linkage)
{
	if (token->kind == DEC_PTX_STRAY || is_mark(token, '}'))
		return note_stray(r, token);
	if (is_mark(token, '{'))
		dec_ptx_skip_block(&r->lexer);
	if (token->kind != DEC_PTX_DIRECTIVE)
		return true;
	if (dec_ptx_is(token, ".version"))
		return module_begin(r, token);
	if (dec_ptx_is(token, ".entry"))
		return read_entry(r, start, linkage);
	if (dec_ptx_is(token, ".target"))
		read_targets(r);
	else if (dec_ptx_is(token, ".address_size"))
		read_address_size(r);
	return true;
}

static bool read_text(struct reader *r, struct dec_view text)
{
	static const struct dec_ptx_token none = { DEC_PTX_END, { NULL, 0, 0 } };
	struct dec_ptx_token token, linkage = none;
	uint64_t start = 0;

	r->lexer = dec_ptx_begin(text);
	while (dec_ptx_next(&r->lexer, &token)) {
		if (linkage.kind == DEC_PTX_END)
			start = token.text.origin;
		if (is_linkage(&token)) {
			linkage = token;
			continue;
		}
		if (!statement(r, &token, start, &linkage))
			return false;
		linkage = none;
	}
	if (r->lexer.open && !dec_exam_note(r->x, DEC_NONE, DEC_PROBLEM_MALFORMED_PTX,
					    text.origin + r->lexer.open_at, "text", DEC_PARTIAL,
					    "a %s begins here and does not end", r->lexer.open))
		return false;
	return module_end(r);
}

static struct dec_view rest_of(struct dec_view v, size_t at)
{
	return (struct dec_view){ v.p + at, v.len - at, v.origin + at };
}

/* Up to the first NUL; rest is what lies behind it and its like. */
static struct dec_view split_at_nul(struct dec_view v, struct dec_view *rest)
{
	size_t len = strnlen((const char *)v.p, v.len), next = len;

	while (next < v.len && v.p[next] == 0)
		next++;
	*rest = rest_of(v, next);
	return (struct dec_view){ v.p, len, v.origin };
}

/* Further modules behind NULs; anything else there is no part of the text. */
static bool read_behind_nul(struct reader *r, struct dec_view rest)
{
	while (rest.len) {
		struct dec_view all = rest, text = split_at_nul(all, &rest);
		struct dec_ptx_lexer l = dec_ptx_begin(text);
		struct dec_ptx_token token;

		dec_ptx_next(&l, &token);
		if (!dec_ptx_is(&token, ".version"))
			return dec_exam_note(r->x, DEC_NONE, DEC_PROBLEM_SIZE_MISMATCH, all.origin,
					     "text", DEC_COMPLETE,
					     "%zu bytes that are no module follow the NUL that "
					     "ends the text",
					     all.len);
		if (!read_text(r, text))
			return false;
	}
	return true;
}

/* The byte-order mark, which is no part of any module. */
static bool skip_mark(struct reader *r, struct dec_view *v)
{
	if (!dec_starts(*v, "\xef\xbb\xbf", 3))
		return true;
	*v = rest_of(*v, 3);
	return note(r, r->x->payload.origin, DEC_COMPLETE,
		    "the text begins with a byte-order mark, which ptxas refuses");
}

static bool read_head(struct reader *r, struct dec_view text)
{
	struct dec_declared target;
	struct dec_view raw;

	if (dec_ptx_head(text, &target, &raw) && target.name[0])
		return dec_exam_target(r->x, DEC_EVIDENCE_PTX_TARGET, &target, raw);
	return dec_exam_malformed(r->x, DEC_PROBLEM_MALFORMED_PTX, text.origin, ".target",
				  "no .target with an architecture follows .version");
}

static bool examine(struct reader *r)
{
	struct dec_view text = dec_payload_all(&r->x->payload), rest;

	if (!skip_mark(r, &text))
		return false;
	text = split_at_nul(text, &rest);
	if (!read_head(r, text) || !read_text(r, text) || !read_behind_nul(r, rest))
		return false;
	dec_meta_nest(&r->root, "modules", DEC_META_ARRAY, &r->module_list);
	return dec_meta_finish(&r->root);
}

bool dec_exam_ptx(struct dec_exam *x)
{
	struct reader r = { .x = x, .tree = { .x = x } };
	bool ok;

	r.root = dec_meta_list_begin(&r.tree);
	r.module_list = dec_meta_list_begin(&r.tree);
	ok = examine(&r);
	dec_ptx_params_fini(&r.params);
	free(r.declared);
	return ok;
}
