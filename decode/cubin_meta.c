/* What a cubin says beside its kernels' facts: header, notes, attributes. */
#include "cubin.h"
#include "meta_list.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>

enum shape {
	SHAPE_WORDS,
	SHAPE_SYMBOLS,
	SHAPE_VALUE,
	SHAPE_BANK,
	SHAPE_PARAM,
	SHAPE_PARAM_V2,
};

static const struct attribute {
	uint8_t code;
	const char *name;
	enum shape shape;
} attributes[] = {
#define X(code, name, shape) { code, #name, SHAPE_##shape },
#include "nv_info.def"
#undef X
};

static const struct {
	uint8_t code;
	const char *name;
} compats[] = {
#define X(code, name) { code, name },
#include "nv_compat.def"
#undef X
};

static const struct {
	unsigned abi, first, bits;
	const char *name;
} flag_fields[] = {
#define X(abi, first, bits, field, name) { abi, first, bits, name },
#include "cubin_flags.def"
#undef X
};

/* ---- header ---------------------------------------------------------------------------------------- */

static void elf_type(struct dec_meta_list *elf, uint16_t type)
{
	static const struct {
		uint16_t type;
		const char *name;
	} types[] = {
		{ ET_REL, "relocatable" },
		{ ET_EXEC, "executable" },
		{ DEC_ET_EWP, "extensible_whole_program" },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (types[i].type == type) {
			dec_meta_literal(elf, "type", types[i].name);
			return;
		}
	}
	dec_meta_hex(elf, "type", type);
}

static void elf_header(const struct dec_cubin *c, struct dec_meta_list *root)
{
	const struct dec_elf *h = &c->elf.h;
	struct dec_meta_list elf = dec_meta_list_begin(root->tree);
	struct dec_meta_list flags = dec_meta_list_begin(root->tree);

	elf_type(&elf, h->type);
	dec_meta_hex(&elf, "osabi", h->osabi);
	dec_meta_uint(&elf, "abi_version", h->abiversion);
	dec_meta_uint(&elf, "version", h->version);
	dec_meta_hex(&elf, "flags", h->flags);
	for (size_t i = 0; i < sizeof(flag_fields) / sizeof(flag_fields[0]); i++)
		if (flag_fields[i].abi == c->abi)
			dec_meta_uint(&flags, flag_fields[i].name,
				      h->flags >> flag_fields[i].first &
					      ((1u << flag_fields[i].bits) - 1));
	dec_meta_nest(&elf, "flag_fields", DEC_META_MAP, &flags);
	dec_meta_uint(&elf, "sections", c->section_count);
	dec_meta_uint(&elf, "symbols", c->symbol_count);
	dec_meta_nest(root, "elf", DEC_META_MAP, &elf);
}

/* ---- notes ----------------------------------------------------------------------------------------- */

/* Toolkit * 10 as "13.0". */
static void toolkit(struct dec_meta_list *list, const char *key, uint32_t version)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%" PRIu32 ".%" PRIu32, version / 10, version % 10);

	dec_meta_text(list, key, (struct dec_view){ (const uint8_t *)text, (size_t)len, 0 });
}

static void note_info(struct dec_meta_list *list, struct dec_view desc)
{
	dec_meta_literal(list, "note", desc.len == 12 ? "cuver" : "cuinfo");
	dec_meta_uint(list, "version", dec_le16(desc.p));
	dec_meta_uint(list, "virtual_sm", dec_le16(desc.p + 2));
	if (desc.len == 8)
		toolkit(list, "toolkit", dec_le32(desc.p + 4));
	else
		dec_meta_bytes(list, "rest", (struct dec_view){ desc.p + 4, desc.len - 4, 0 });
}

static void note_tool(struct dec_meta_list *list, struct dec_view desc)
{
	static const char *const keys[] = {
		[DEC_TKINFO_OBJECT] = "object",	       [DEC_TKINFO_TOOL] = "tool",
		[DEC_TKINFO_VERSION] = "tool_version", [DEC_TKINFO_BUILD] = "build",
		[DEC_TKINFO_COMMAND] = "options",
	};

	dec_meta_literal(list, "note", "tkinfo");
	dec_meta_uint(list, "version", dec_le32(desc.p));
	for (unsigned i = 0; i < DEC_TKINFO_STRINGS; i++)
		dec_meta_text(list, keys[i], dec_cubin_tkinfo(desc, i));
}

static void one_note(struct dec_meta_list *notes, const struct dec_elf_note *note)
{
	struct dec_meta_list list = dec_meta_list_begin(notes->tree);

	if (note->type == DEC_NT_CUINFO && (note->desc.len == 8 || note->desc.len == 12)) {
		note_info(&list, note->desc);
	} else if (note->type == DEC_NT_TKINFO && note->desc.len >= 4) {
		note_tool(&list, note->desc);
	} else {
		dec_meta_uint(&list, "type", note->type);
		dec_meta_bytes(&list, "bytes", note->desc);
	}
	dec_meta_nest(notes, NULL, DEC_META_MAP, &list);
}

static void all_notes(const struct dec_cubin *c, struct dec_meta_list *root)
{
	struct dec_meta_list notes = dec_meta_list_begin(root->tree);

	for (uint64_t i = 1; i < c->section_count; i++) {
		struct dec_view v = dec_elfview_bytes(&c->elf, &c->sections[i]);
		struct dec_elf_note note;
		bool broken;

		while (c->sections[i].type == SHT_NOTE && dec_cubin_next_note(&v, &note, &broken))
			one_note(&notes, &note);
	}
	dec_meta_nest(root, "notes", DEC_META_ARRAY, &notes);
}

/* ---- .nv.compat ------------------------------------------------------------------------------------ */

static void compat_key(struct dec_meta_list *list, uint8_t code)
{
	for (size_t i = 0; i < sizeof(compats) / sizeof(compats[0]); i++) {
		if (compats[i].code == code) {
			dec_meta_literal(list, "attribute", compats[i].name);
			return;
		}
	}
	dec_meta_hex(list, "attribute", code);
}

static void compat(const struct dec_cubin *c, struct dec_meta_list *root)
{
	struct dec_meta_list all = dec_meta_list_begin(root->tree);

	for (uint64_t i = 1; i < c->section_count; i++) {
		struct dec_view v = dec_elfview_bytes(&c->elf, &c->sections[i]);
		struct dec_info_record r;
		const char *fault;

		while (c->sections[i].type == DEC_SHT_NV_COMPAT && dec_info_next(&v, &r, &fault)) {
			struct dec_meta_list list = dec_meta_list_begin(root->tree);

			compat_key(&list, r.attribute);
			if (r.format == DEC_INFO_SIZED)
				dec_meta_bytes(&list, "value", r.bytes);
			else
				dec_meta_uint(&list, "value", r.value);
			dec_meta_nest(&all, NULL, DEC_META_MAP, &list);
		}
	}
	dec_meta_nest(root, "nv_compat", DEC_META_ARRAY, &all);
}

/* ---- .nv.info -------------------------------------------------------------------------------------- */

static void symbol(const struct dec_cubin *c, struct dec_meta_list *list, const char *key,
		   uint32_t index)
{
	struct dec_elfsymbol s = { 0 };
	char number[24];
	int len = snprintf(number, sizeof(number), "#%" PRIu32, index);
	struct dec_view name = { (const uint8_t *)number, (size_t)len, 0 };

	if (c->strtab && index < c->symbol_count &&
	    dec_elfview_symbol(&c->elf, &c->sections[c->symtab], &c->sections[c->strtab], index,
			       &s) &&
	    s.name.len)
		name = s.name;
	dec_meta_text(list, key, name);
}

/* A single word is a number, several are a list. */
static void words(struct dec_meta_list *list, struct dec_view v)
{
	struct dec_meta_list all = dec_meta_list_begin(list->tree);

	if (v.len % 4) {
		dec_meta_bytes(list, "value", v);
		return;
	}
	if (v.len == 4) {
		dec_meta_uint(list, "value", dec_le32(v.p));
		return;
	}
	for (size_t at = 0; at < v.len && !list->tree->cut; at += 4)
		dec_meta_uint(&all, NULL, dec_le32(v.p + at));
	dec_meta_nest(list, "value", DEC_META_ARRAY, &all);
}

static void symbols(const struct dec_cubin *c, struct dec_meta_list *list, struct dec_view v)
{
	struct dec_meta_list all = dec_meta_list_begin(list->tree);

	for (size_t at = 0; at + 4 <= v.len && !list->tree->cut; at += 4)
		symbol(c, &all, NULL, dec_le32(v.p + at));
	dec_meta_nest(list, "value", DEC_META_ARRAY, &all);
}

static void param(struct dec_meta_list *list, struct dec_view v, bool v2)
{
	struct dec_meta_list p = dec_meta_list_begin(list->tree);
	uint32_t word = dec_le32(v.p + 8);

	dec_meta_uint(&p, "ordinal", dec_le16(v.p + 4));
	dec_meta_uint(&p, "offset", dec_le16(v.p + 6));
	dec_meta_uint(&p, "size", v2 ? word : word >> 18);
	if (!v2) {
		dec_meta_uint(&p, "pointee_log2_align", word & 0xff);
		dec_meta_uint(&p, "space", word >> 8 & 15);
		dec_meta_uint(&p, "bank", word >> 12 & 31);
		dec_meta_uint(&p, "parameter_space", word >> 17 & 1);
	}
	dec_meta_nest(list, "value", DEC_META_MAP, &p);
}

static void bank(const struct dec_cubin *c, struct dec_meta_list *list, struct dec_view v)
{
	struct dec_meta_list b = dec_meta_list_begin(list->tree);

	symbol(c, &b, "symbol", dec_le32(v.p));
	dec_meta_uint(&b, "offset", dec_le16(v.p + 4));
	dec_meta_uint(&b, "size", dec_le16(v.p + 6));
	dec_meta_nest(list, "value", DEC_META_MAP, &b);
}

static size_t shape_size(enum shape shape)
{
	static const size_t sizes[] = {
		[SHAPE_VALUE] = 8,
		[SHAPE_BANK] = 8,
		[SHAPE_PARAM] = 12,
		[SHAPE_PARAM_V2] = 12,
	};

	return shape < sizeof(sizes) / sizeof(sizes[0]) ? sizes[shape] : 0;
}

static void sized(const struct dec_cubin *c, struct dec_meta_list *list, enum shape shape,
		  struct dec_view v)
{
	if (shape_size(shape) && shape_size(shape) != v.len)
		shape = SHAPE_WORDS;
	switch (shape) {
	case SHAPE_SYMBOLS:
		symbols(c, list, v);
		break;
	case SHAPE_VALUE:
		symbol(c, list, "symbol", dec_le32(v.p));
		dec_meta_uint(list, "value", dec_le32(v.p + 4));
		break;
	case SHAPE_BANK:
		bank(c, list, v);
		break;
	case SHAPE_PARAM:
	case SHAPE_PARAM_V2:
		param(list, v, shape == SHAPE_PARAM_V2);
		break;
	case SHAPE_WORDS:
		words(list, v);
		break;
	}
}

static void info_record(const struct dec_cubin *c, struct dec_meta_list *all,
			const struct dec_info_record *r)
{
	struct dec_meta_list list = dec_meta_list_begin(all->tree);
	size_t i = 0, count = sizeof(attributes) / sizeof(attributes[0]);

	while (i < count && attributes[i].code != r->attribute)
		i++;
	if (i < count)
		dec_meta_literal(&list, "attribute", attributes[i].name);
	else
		dec_meta_hex(&list, "attribute", r->attribute);
	if (r->format == DEC_INFO_SIZED)
		sized(c, &list, i < count ? attributes[i].shape : SHAPE_WORDS, r->bytes);
	else if (r->format != DEC_INFO_BARE)
		dec_meta_uint(&list, "value", r->value);
	dec_meta_nest(all, NULL, DEC_META_MAP, &list);
}

static void info_section(const struct dec_cubin *c, struct dec_meta_list *list, const char *key,
			 struct dec_view v)
{
	struct dec_meta_list all = dec_meta_list_begin(list->tree);
	struct dec_info_record r;
	const char *fault;

	while (!list->tree->cut && dec_info_next(&v, &r, &fault))
		info_record(c, &all, &r);
	dec_meta_nest(list, key, DEC_META_ARRAY, &all);
}

static void info(const struct dec_cubin *c, struct dec_meta_list *root)
{
	struct dec_meta_list list = dec_meta_list_begin(root->tree);
	struct dec_meta_list kernels = dec_meta_list_begin(root->tree);

	for (uint64_t i = 1; i < c->section_count; i++)
		if (dec_cubin_is_module_info(c, &c->sections[i]))
			info_section(c, &list, "module",
				     dec_elfview_bytes(&c->elf, &c->sections[i]));
	for (uint32_t i = 0; i < c->kernel_count; i++) {
		const struct dec_cubin_kernel *k = &c->kernels[i];
		struct dec_meta_list one = dec_meta_list_begin(root->tree);

		if (k->index == DEC_NONE || !k->info)
			continue;
		dec_meta_kept(&one, "kernel", c->x->kernels[k->index].name);
		info_section(c, &one, "attributes",
			     dec_elfview_bytes(&c->elf, &c->sections[k->info]));
		dec_meta_nest(&kernels, NULL, DEC_META_MAP, &one);
	}
	dec_meta_nest(&list, "kernels", DEC_META_ARRAY, &kernels);
	dec_meta_nest(root, "nv_info", DEC_META_MAP, &list);
}

bool dec_cubin_metadata(struct dec_cubin *c)
{
	struct dec_meta_tree tree = { .x = c->x };
	struct dec_meta_list root = dec_meta_list_begin(&tree);

	if (!(c->x->wants & DEC_WANT_METADATA))
		return true;
	elf_header(c, &root);
	all_notes(c, &root);
	compat(c, &root);
	info(c, &root);
	return dec_meta_finish(&root);
}
