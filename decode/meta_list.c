#include "meta_list.h"

static const char nothing[1];

static bool make_room(struct dec_meta_list *list)
{
	uint32_t room = list->room ? list->room * 2 : 8;
	struct dec_meta *bigger;

	if (list->count < list->room)
		return true;
	bigger = room > list->room ? dec_exam_array(list->tree->x, room, sizeof(*bigger)) : NULL;
	if (!bigger) {
		list->tree->failed = true;
		return false;
	}
	if (list->count)
		memcpy(bigger, list->items, list->count * sizeof(*bigger));
	list->items = bigger;
	list->room = room;
	return true;
}

static struct dec_meta *add(struct dec_meta_list *list, const char *key, enum dec_meta_type type)
{
	struct dec_meta_tree *tree = list->tree;
	struct dec_meta *item;

	if (tree->failed || tree->cut || !(tree->x->wants & DEC_WANT_METADATA))
		return NULL;
	tree->cut = tree->nodes >= DEC_METADATA_NODES_MAX;
	if (tree->cut || !make_room(list))
		return NULL;
	tree->nodes++;
	item = &list->items[list->count++];
	item->type = type;
	item->key = (struct dec_text){ key ? key : dec_absent, key ? strlen(key) : 0 };
	return item;
}

void dec_meta_uint(struct dec_meta_list *list, const char *key, uint64_t value)
{
	struct dec_meta *item = add(list, key, DEC_META_UINT);

	if (item)
		item->u = value;
}

void dec_meta_hex(struct dec_meta_list *list, const char *key, uint64_t value)
{
	struct dec_meta *item = add(list, key, DEC_META_HEX);

	if (item)
		item->u = value;
}

static void add_copy(struct dec_meta_list *list, const char *key, enum dec_meta_type type,
		     struct dec_view v)
{
	struct dec_meta_tree *tree = list->tree;
	struct dec_meta *item = add(list, key, type);

	if (!item)
		return;
	item->text = (struct dec_text){ nothing, 0 };
	tree->cut = v.len > DEC_METADATA_TEXT_MAX - tree->text_bytes;
	if (tree->cut)
		return;
	tree->text_bytes += v.len;
	if (v.len && !dec_exam_text(tree->x, v, &item->text))
		tree->failed = true;
}

void dec_meta_text(struct dec_meta_list *list, const char *key, struct dec_view text)
{
	add_copy(list, key, DEC_META_TEXT, text);
}

void dec_meta_bytes(struct dec_meta_list *list, const char *key, struct dec_view bytes)
{
	add_copy(list, key, DEC_META_BYTES, bytes);
}

void dec_meta_kept(struct dec_meta_list *list, const char *key, struct dec_text text)
{
	struct dec_meta *item = add(list, key, DEC_META_TEXT);

	if (item)
		item->text = text;
}

void dec_meta_literal(struct dec_meta_list *list, const char *key, const char *text)
{
	dec_meta_kept(list, key, (struct dec_text){ text, strlen(text) });
}

void dec_meta_nest(struct dec_meta_list *list, const char *key, enum dec_meta_type type,
		   const struct dec_meta_list *sub)
{
	struct dec_meta *item = add(list, key, type);

	if (!item)
		return;
	item->items = sub->items;
	item->count = sub->count;
}

bool dec_meta_finish(struct dec_meta_list *list)
{
	struct dec_meta_tree *tree = list->tree;
	struct dec_meta_list root = dec_meta_list_begin(tree);

	if (tree->cut) {
		tree->cut = false;
		tree->nodes = 0; /* this one item is past the limit, and the root */
		dec_meta_literal(list, "cut", "the rest is past the limit for metadata");
	}
	dec_meta_nest(&root, NULL, DEC_META_MAP, list);
	tree->x->out->metadata = root.items;
	return !tree->failed;
}
