/* docs/formats/ptx.md, "Parameters and sizes". */
#include "ptx_params.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
	const char *name;
	uint64_t size;
} types[] = {
#define X(name, size) { name, size },
#include "ptx_types.def"
#undef X
};

static const char *const spaces[] = { ".const", ".global", ".local", ".shared" };

/* ptxas knows this one name where a number is expected. */
static const struct {
	const char *name;
	uint64_t value;
} constants[] = { { "WARP_SZ", 32 } };

#define ALIGN_MAX ((uint64_t)1 << 16)

static bool fail(struct dec_ptx_fault *fault, const struct dec_ptx_token *token,
		 const char *sentence)
{
	*fault = (struct dec_ptx_fault){ sentence, token->text.origin };
	return false;
}

static uint64_t type_size(const struct dec_ptx_token *token)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (dec_ptx_is(token, types[i].name))
			return types[i].size;
	return 0;
}

static bool is_space(const struct dec_ptx_token *token)
{
	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++)
		if (dec_ptx_is(token, spaces[i]))
			return true;
	return false;
}

static bool is_mark(const struct dec_ptx_token *token, char mark)
{
	return token->kind == DEC_PTX_MARK && token->text.p[0] == (uint8_t)mark;
}

static bool constant(const struct dec_ptx_token *token, uint64_t *value)
{
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
		if (dec_ptx_is(token, constants[i].name)) {
			*value = constants[i].value;
			return true;
		}
	}
	return dec_ptx_number(token, value);
}

static bool read_align(struct dec_ptx_lexer *l, struct dec_ptx_param *p,
		       struct dec_ptx_fault *fault)
{
	struct dec_ptx_token token;
	uint64_t align;

	dec_ptx_next(l, &token);
	if (!constant(&token, &align) || align == 0 || align > ALIGN_MAX || align & (align - 1))
		return fail(fault, &token, "an alignment is no power of two");
	if (p->pointer)
		p->pointee_align = align;
	else
		p->align = align;
	return true;
}

/* The directives from behind .param to the name. */
static bool read_type(struct dec_ptx_lexer *l, struct dec_ptx_param *p, struct dec_ptx_token *token,
		      struct dec_ptx_fault *fault)
{
	while (dec_ptx_next(l, token) && token->kind == DEC_PTX_DIRECTIVE) {
		uint64_t size = type_size(token);

		if (size && !p->size) {
			p->size = size;
			p->type = token->text;
		} else if (dec_ptx_is(token, ".align")) {
			if (!read_align(l, p, fault))
				return false;
		} else if (dec_ptx_is(token, ".ptr")) {
			p->pointer = true;
		} else if (p->pointer && is_space(token)) {
			p->space = token->text;
		} else {
			return fail(fault, token, "a parameter has a type that is not known");
		}
	}
	if (token->kind != DEC_PTX_NAME)
		return fail(fault, token, "a parameter has no name");
	if (!p->size)
		return fail(fault, token, "a parameter has no type");
	p->name = token->text;
	return true;
}

/* "[n]" behind the name, if it is there; token is what follows. */
static bool read_array(struct dec_ptx_lexer *l, struct dec_ptx_param *p,
		       struct dec_ptx_token *token, struct dec_ptx_fault *fault)
{
	dec_ptx_next(l, token);
	while (is_mark(token, '[')) {
		uint64_t n;

		dec_ptx_next(l, token);
		if (!constant(token, &n) || n > UINT32_MAX || (n && p->count > UINT32_MAX / n))
			return fail(fault, token, "an array has no size that can be read");
		p->array = true;
		p->count *= n;
		dec_ptx_next(l, token);
		if (!is_mark(token, ']'))
			return fail(fault, token, "the size of an array does not end with ']'");
		dec_ptx_next(l, token);
	}
	return true;
}

static struct dec_ptx_param *add(struct dec_ptx_params *params)
{
	if (params->count == params->room) {
		uint32_t room = params->room ? params->room * 2 : 16;
		struct dec_ptx_param *bigger = reallocarray(params->list, room, sizeof(*bigger));

		if (!bigger) {
			params->no_memory = true;
			return NULL;
		}
		params->list = bigger;
		params->room = room;
	}
	return &params->list[params->count++];
}

/* Sizes are below 2^32 * 16 and bytes below 2^32, so no sum wraps. */
static bool place(struct dec_ptx_params *params, struct dec_ptx_param *p,
		  const struct dec_ptx_token *token, struct dec_ptx_fault *fault)
{
	uint64_t align = p->align ? p->align : p->size;
	struct dec_ptx_param *added;

	p->align = align;
	p->size *= p->count;
	p->offset = (params->bytes + align - 1) / align * align;
	if (p->offset + p->size > UINT32_MAX)
		return fail(fault, token, "the parameters have more than 4 GiB");
	if (params->count == DEC_ARGS_MAX)
		return fail(fault, token, "a kernel has more parameters than are listed");
	added = add(params);
	if (!added)
		return false;
	*added = *p;
	params->bytes = p->offset + p->size;
	return true;
}

bool dec_ptx_read_params(struct dec_ptx_lexer *l, struct dec_ptx_params *params,
			 struct dec_ptx_fault *fault)
{
	struct dec_ptx_token token;

	dec_ptx_next(l, &token);
	if (is_mark(&token, ')'))
		return true;
	for (;;) {
		struct dec_ptx_param p = { .count = 1, .pointee_align = DEC_UNSTATED };

		if (!dec_ptx_is(&token, ".param"))
			return fail(fault, &token, "a parameter does not begin with .param");
		if (!read_type(l, &p, &token, fault) || !read_array(l, &p, &token, fault) ||
		    !place(params, &p, &token, fault))
			return false;
		if (is_mark(&token, ')'))
			return true;
		if (!is_mark(&token, ','))
			return fail(fault, &token, "parameters are not divided by ','");
		dec_ptx_next(l, &token);
	}
}

void dec_ptx_params_fini(struct dec_ptx_params *params)
{
	free(params->list);
}

/* ---- keeping ----------------------------------------------------------------------------- */

static struct dec_view undotted(struct dec_view v)
{
	return (struct dec_view){ v.p + 1, v.len - 1, v.origin + 1 };
}

static bool keep_type(struct dec_exam *x, const struct dec_ptx_param *p, struct dec_text *out)
{
	struct dec_view type = undotted(p->type);
	char text[48];
	int len;

	if (!p->array)
		return dec_exam_text(x, type, out);
	len = snprintf(text, sizeof(text), "%.*s[%" PRIu64 "]", (int)type.len, (const char *)type.p,
		       p->count);
	return dec_exam_text(x, (struct dec_view){ (const uint8_t *)text, (size_t)len, 0 }, out);
}

static bool keep(struct dec_exam *x, const struct dec_ptx_param *p, struct dec_arg *arg)
{
	static const struct dec_text absent = { dec_absent, 0 };

	*arg = (struct dec_arg){
		.kind = absent,
		.address_space = absent,
		.access = absent,
		.offset = p->offset,
		.size = p->size,
		.align = p->pointer ? p->pointee_align : p->align,
	};
	if (p->pointer && !p->space.len) /* PTX ISA, ".ptr": generic where none is named */
		arg->address_space = (struct dec_text){ "generic", strlen("generic") };
	if (p->space.len && !dec_exam_text(x, undotted(p->space), &arg->address_space))
		return false;
	return dec_exam_text(x, p->name, &arg->name) && keep_type(x, p, &arg->type);
}

bool dec_ptx_keep_params(struct dec_exam *x, const struct dec_ptx_params *params,
			 struct dec_kernel *kernel)
{
	struct dec_arg *args = dec_exam_array(x, params->count, sizeof(*args));

	if (!args)
		return false;
	for (uint32_t i = 0; i < params->count; i++)
		if (!keep(x, &params->list[i], &args[i]))
			return false;
	kernel->args = args;
	kernel->arg_count = params->count;
	return true;
}
