/*
 * The tables that describe the tree. node.c derives lookup, readdir and inode numbers
 * from them, node_content.c attributes and reads; a new file is one row and its show function.
 *
 * Rows and collections are const and shared by all mounts; the node says which object,
 * container, target (a) and which thing inside it (b) a row stands for.
 */
#ifndef GFS_TREE_H
#define GFS_TREE_H

#include "internal.h"
#include "node.h"

struct gfs_at;
struct gfs_blob;
struct gfs_file_names;
struct gfs_file_kind;
struct gfs_text;

/* Inode numbers have room for indexes below GFS_INDEX_MAX. */
#define GFS_INDEX_BITS 28
#define GFS_INDEX_MAX (UINT32_C(1) << GFS_INDEX_BITS)

/* N directory entries of one kind: objects/<id>, targets/<target> ... */
struct gfs_collection {
	const struct gfs_entry *each; /* the row of every element; its name is not used */
	bool inner; /* elements are told apart by b, a stays the directory's */
	int (*count)(struct gfs *fs, struct gfs_node dir, uint32_t *count);
	int (*name)(struct gfs *fs, struct gfs_node dir, uint32_t index,
		    char name[GFS_NAME_MAX + 1]);
	/* -ENOENT: no element is called so. */
	int (*find)(struct gfs *fs, struct gfs_node dir, const char *name, uint32_t *index);
	/* For elements with names of a list, GFS_NAMED: where the list is, which lives as long
	 * as *blob, and what stands behind its names in the directory. */
	int (*names)(struct gfs *fs, struct gfs_node dir, struct gfs_blob **blob,
		     const struct gfs_file_names **names);
	const char *suffix;
};

/*
 * The same for elements that come and go: queues/<q>, captures/<n>.json ... Each has a number
 * that no other element gets while the mount lasts; it is in the node, and so in the inode
 * number.
 */
enum gfs_place {
	GFS_IN_A,
	GFS_IN_B, /* a stays the directory's */
	GFS_IN_BOTH, /* for numbers from GFS_INDEX_MAX on */
};

struct gfs_elements {
	const struct gfs_entry *each;
	enum gfs_place place;
	const char *suffix; /* of names made by gfs_number_name() */
	/* The first number from *number on that is there. False: none. */
	bool (*next)(struct gfs *fs, const struct gfs_elements *e, struct gfs_node dir,
		     uint64_t *number);
	int (*name)(struct gfs *fs, const struct gfs_elements *e, struct gfs_node dir,
		    uint64_t number, char name[GFS_NAME_MAX + 1]);
	int (*find)(struct gfs *fs, const struct gfs_elements *e, struct gfs_node dir,
		    const char *name, uint64_t *number);
	/* mkdir and rmdir; NULL: not for users. */
	int (*make)(struct gfs *fs, const struct gfs_elements *e, const char *name);
	int (*remove)(struct gfs *fs, struct gfs_node node);
	const struct gfs_elements *more; /* in the same directory, up to 4 */
};

/*
 * A directory has children, a collection (or elements), or both (children come first). A file has one
 * content: show, range or locate (of the artifact or inside another file), or unpack.
 *
 * The id is unique among all rows, below 256, and part of inode numbers. Taken: 1 the
 * root; 2-15 files and directories in it; 16-31 containers; 32-79 objects (inspect from 48
 * on); 80-111 targets (inspect from 96 on); 112-119 devices; 128-199 queues; 252-255 the
 * keys below.
 * Two rows may share a name where exists() lets at most one of them be there.
 */
struct gfs_entry {
	uint8_t id; /* 0 ends a table */
	const char *name;
	mode_t mode; /* with the S_IFMT bits */
	bool costly; /* its size takes more than a few microseconds to learn */
	bool (*exists)(struct gfs *fs, struct gfs_node node); /* NULL: always */

	/* Directories. */
	const struct gfs_entry *children;
	const struct gfs_collection *collection;

	/* Text: made once, cached. The caller free()s *text. ready() may hold a read (not
	 * the size) back and takes the waiter then; files that locate() finds have it too.
	 * size() is for text whose size is known before it can be shown. */
	int (*show)(struct gfs *fs, struct gfs_node node, char **text, size_t *size);
	int (*ready)(struct gfs *fs, struct gfs_node node, struct gfs_waiter *waiter);
	int (*size)(struct gfs *fs, struct gfs_node node, uint64_t *size);

	/* Bytes of the artifact; with inside(), of the file that it names. */
	struct dec_range (*range)(const struct gfs *fs, struct gfs_node node);
	struct gfs_node (*inside)(const struct gfs *fs, struct gfs_node node);
	/* The same where finding it out takes an examination. */
	int (*locate)(struct gfs *fs, struct gfs_node node, struct gfs_node *inside,
		      struct dec_range *range);

	/* Decoded bytes, cached; unpack() fills size() bytes. */
	bool (*unpack)(const struct gfs *fs, struct gfs_node node, void *out,
		       struct dec_error *err);

	/* Everything under /queues: may change at any time, so nobody caches it. queues.h has
	 * the structs. Files have a kind; the rest is for files of text. */
	bool live;
	bool unlisted; /* found by name only */
	bool watched; /* poll() tells that the text has changed */
	uint8_t of; /* enum gfs_class: whose file it is */
	const struct gfs_elements *elements;
	const struct gfs_file_kind *file;
	int (*render)(const struct gfs_at *at, struct gfs_text *text);
	int (*store)(const struct gfs_at *at, const char *word);
};

/* clang-format off */
#define DIR_MODE (S_IFDIR | 0755)
#define FILE_MODE (S_IFREG | 0444)
#define DIR_ROW(i, n, ...) { .id = (i), .name = (n), .mode = DIR_MODE, __VA_ARGS__ }
#define TEXT_ROW(i, n, fn, ...) \
	{ .id = (i), .name = (n), .mode = FILE_MODE, .show = (fn), __VA_ARGS__ }
#define RANGE_ROW(i, n, fn, ...) \
	{ .id = (i), .name = (n), .mode = FILE_MODE, .range = (fn), __VA_ARGS__ }
#define DECODED_ROW(i, n, size_fn, fn, ...) \
	{ .id = (i), .name = (n), .mode = FILE_MODE, .size = (size_fn), .unpack = (fn), __VA_ARGS__ }
#define LOCATED_ROW(i, n, fn, ...) \
	{ .id = (i), .name = (n), .mode = FILE_MODE, .locate = (fn), __VA_ARGS__ }
#define END_OF_DIR { .id = 0 }
/* clang-format on */

extern const struct gfs_entry gfs_root_entry; /* tree_root.c */
extern const struct gfs_collection gfs_containers; /* tree_container.c */
extern const struct gfs_collection gfs_objects; /* tree_object.c */
/* containers/<id>/decoded, tree_container.c */
struct gfs_node gfs_container_decoded(uint32_t container);
extern const struct gfs_collection gfs_targets; /* tree_target.c */
extern const struct gfs_collection gfs_devices; /* tree_device.c */
extern const struct gfs_entry gfs_queues_dir[]; /* tree_queue.c */
extern const struct gfs_elements gfs_queue_elements; /* tree_queue.c */
extern const struct gfs_entry gfs_object_inspect[]; /* tree_inspect.c */
extern const struct gfs_entry gfs_target_inspect[]; /* tree_inspect_target.c */
extern const struct gfs_entry gfs_root_inspect[]; /* tree_inspect_target.c */

/* Things that are cached as files are but are none: GFS_KEY(id, index). */
enum { GFS_KEY_KERNELS = 252, GFS_KEY_EXAMINED, GFS_KEY_HASH, GFS_KEY_VENDOR_KERNELS };
#define GFS_KEY(id, index) ((uint64_t)(id) | (uint64_t)(index) << 8)

/* How to get at the payload of an object. */
enum gfs_payload_way {
	GFS_PAYLOAD_NONE,
	GFS_PAYLOAD_STORED, /* its encoded range of the artifact */
	GFS_PAYLOAD_INNER, /* its encoded range of the container's decoded bytes */
	GFS_PAYLOAD_DECODED, /* compressed by itself */
};
enum gfs_payload_way gfs_payload_way(const struct gfs *fs, uint32_t object); /* tree_object.c */
/* objects/<id>/payload. False: there is none. */
bool gfs_object_payload(const struct gfs *fs, uint32_t object, struct gfs_node *node);

/* The whole content of a file of text or decoded bytes, node_content.c; as gfs_cache_get() says. */
int gfs_content_get(struct gfs *fs, struct gfs_node node, struct gfs_waiter *waiter,
		    struct gfs_blob **blob);

/* What a failure of decode is for a reader of the file, node_content.c. */
int gfs_errno_of(const struct dec_error *err);

/* ---- tree_show.c: what show functions and collections share ------------------------ */

struct gfs_field;

/* The record p (index of its array) as a JSON object with the keys of fields, then those
 * of more (NULL: none). sha256 is for the artifact's own record. */
int gfs_show_record(struct gfs *fs, const void *p, uint32_t index, const char *sha256,
		    const struct gfs_field *fields, const struct gfs_field *more, char **text,
		    size_t *size);

/* Ids are decimal, of one width: no other spelling is found. */
void gfs_id_name(const struct gfs *fs, uint32_t index, char name[GFS_NAME_MAX + 1]);
int gfs_id_find(const struct gfs *fs, const char *name, uint32_t count, uint32_t *index);

/* A collection whose elements have the names of a list. */
int gfs_named_count(struct gfs *fs, struct gfs_node dir, uint32_t *count);
int gfs_named_name(struct gfs *fs, struct gfs_node dir, uint32_t index,
		   char name[GFS_NAME_MAX + 1]);
int gfs_named_find(struct gfs *fs, struct gfs_node dir, const char *name, uint32_t *index);
/* clang-format off */
#define GFS_NAMED(fn, after) \
	.count = gfs_named_count, .name = gfs_named_name, .find = gfs_named_find, \
	.names = (fn), .suffix = (after)
/* clang-format on */

#endif
