/*
 * Metadata as it is collected. Everything lives in the inspection's arena. The first failure
 * to get memory stays in the tree, later calls do nothing: callers check once, at the end.
 * Where nobody wants metadata, every list stays empty.
 */
#ifndef DEC_META_LIST_H
#define DEC_META_LIST_H

#include "inspect_internal.h"

struct dec_meta_tree {
	struct dec_exam *x;
	uint64_t nodes, text_bytes;
	bool failed; /* no memory */
	bool cut; /* past DEC_METADATA_NODES_MAX or DEC_METADATA_TEXT_MAX */
};

/* The items of one map or array. */
struct dec_meta_list {
	struct dec_meta_tree *tree;
	struct dec_meta *items;
	uint32_t count, room;
};

static inline struct dec_meta_list dec_meta_list_begin(struct dec_meta_tree *tree)
{
	return (struct dec_meta_list){ .tree = tree };
}

/* key is a literal, NULL in an array. */
void dec_meta_uint(struct dec_meta_list *list, const char *key, uint64_t value);
void dec_meta_hex(struct dec_meta_list *list, const char *key, uint64_t value);
void dec_meta_literal(struct dec_meta_list *list, const char *key, const char *text);
void dec_meta_text(struct dec_meta_list *list, const char *key, struct dec_view text);
void dec_meta_bytes(struct dec_meta_list *list, const char *key, struct dec_view bytes);
/* A text of the inspection itself: it is lent, not copied. */
void dec_meta_kept(struct dec_meta_list *list, const char *key, struct dec_text text);

/* Hangs sub, which is complete, into list. type: map or array. */
void dec_meta_nest(struct dec_meta_list *list, const char *key, enum dec_meta_type type,
		   const struct dec_meta_list *sub);

/* Makes the list the inspection's metadata, if it was asked for; what is past the limit is
 * said in it, for an inspection's problems do not depend on what was asked. False: no memory. */
bool dec_meta_finish(struct dec_meta_list *list);

#endif
