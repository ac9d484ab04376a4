#include "node.h"

#include <errno.h>
#include <string.h>

#include "tree.h"

/*
 * Inode numbers: the row's id in 8 bits, a and b in 28 each. Outer indexes stay low so
 * that usual numbers are small. gfs_open() refuses inventories with larger indexes.
 */
#define ID_BITS 8
#define A_SHIFT ID_BITS
#define B_SHIFT (ID_BITS + GFS_INDEX_BITS)
#define INDEX_MASK ((UINT64_C(1) << GFS_INDEX_BITS) - 1)

/* objects/<id>/inspect/kernels/<kernel>/<file> has 7 with the root. */
#define DEPTH_MAX 8

struct gfs_node gfs_root(void)
{
	return (struct gfs_node){ &gfs_root_entry, 0, 0 };
}

bool gfs_is_dir(struct gfs_node node)
{
	return S_ISDIR(node.entry->mode);
}

bool gfs_is_live(struct gfs_node node)
{
	return node.entry->live;
}

/* ---- inode numbers ---------------------------------------------------------------- */

uint64_t gfs_ino(struct gfs_node node)
{
	return node.entry->id | (uint64_t)node.a << A_SHIFT | (uint64_t)node.b << B_SHIFT;
}

/* The rows from at down to the one with this id; their number, 0 if it is not there. */
static size_t find_row(const struct gfs_entry *at, uint8_t id,
		       const struct gfs_entry *path[DEPTH_MAX], size_t depth)
{
	size_t found = 0;

	if (depth == DEPTH_MAX)
		return 0;
	path[depth++] = at;
	if (at->id == id)
		return depth;
	for (const struct gfs_entry *row = at->children; row && row->id && !found; row++)
		found = find_row(row, id, path, depth);
	if (!found && at->collection)
		found = find_row(at->collection->each, id, path, depth);
	for (const struct gfs_elements *e = at->elements; e && !found; e = e->more)
		found = find_row(e->each, id, path, depth);
	return found;
}

static bool exists(struct gfs *fs, struct gfs_node node)
{
	return !node.entry->exists || node.entry->exists(fs, node);
}

static struct gfs_node element(struct gfs_node dir, uint32_t index)
{
	const struct gfs_collection *c = dir.entry->collection;

	return c->inner ? (struct gfs_node){ c->each, dir.a, index }
			: (struct gfs_node){ c->each, index, dir.b };
}

static struct gfs_node live_element(const struct gfs_elements *e, struct gfs_node dir,
				    uint64_t number)
{
	uint32_t low = (uint32_t)(number & INDEX_MASK);

	if (e->place == GFS_IN_B)
		return (struct gfs_node){ e->each, dir.a, low };
	return (struct gfs_node){ e->each, low, (uint32_t)(number >> GFS_INDEX_BITS) };
}

static uint64_t live_number(const struct gfs_elements *e, uint32_t a, uint32_t b)
{
	if (e->place == GFS_IN_B)
		return b;
	return e->place == GFS_IN_A ? a : a | (uint64_t)b << GFS_INDEX_BITS;
}

/* The set of elements of dir that are of this row; NULL: none. */
static const struct gfs_elements *elements_of(struct gfs_node dir, const struct gfs_entry *row)
{
	const struct gfs_elements *e = dir.entry->elements;

	while (e && e->each != row)
		e = e->more;
	return e;
}

/* From dir to its child in row, with the indexes of an inode number. */
static bool step(struct gfs *fs, struct gfs_node *dir, const struct gfs_entry *row, uint32_t a,
		 uint32_t b)
{
	const struct gfs_collection *c = dir->entry->collection;
	const struct gfs_elements *e = elements_of(*dir, row);
	uint32_t index = c && c->inner ? b : a;
	uint64_t number;
	uint32_t count;

	if (e) {
		number = live_number(e, a, b);
		if (!e->next(fs, e, *dir, &number) || number != live_number(e, a, b))
			return false;
		*dir = live_element(e, *dir, number);
	} else if (c && row == c->each) {
		/* Where it cannot be counted now, what is done with the node says why. */
		if (c->count(fs, *dir, &count) == 0 && index >= count)
			return false;
		*dir = element(*dir, index);
	} else {
		dir->entry = row;
	}
	return exists(fs, *dir);
}

bool gfs_node_from_ino(struct gfs *fs, uint64_t ino, struct gfs_node *node)
{
	const struct gfs_entry *path[DEPTH_MAX];
	uint32_t a = (uint32_t)(ino >> A_SHIFT & INDEX_MASK);
	uint32_t b = (uint32_t)(ino >> B_SHIFT & INDEX_MASK);
	size_t depth = find_row(&gfs_root_entry, (uint8_t)ino, path, 0);
	struct gfs_node at = gfs_root();

	if (depth == 0)
		return false;
	for (size_t i = 1; i < depth; i++)
		if (!step(fs, &at, path[i], a, b))
			return false;
	/* Indexes that no directory on the way has used are not part of the node. */
	if (gfs_ino(at) != ino)
		return false;
	*node = at;
	return true;
}

/* ---- directories ------------------------------------------------------------------ */

static int lookup_live(struct gfs *fs, struct gfs_node dir, const char *name, struct gfs_node *node)
{
	int rc = -ENOENT;

	for (const struct gfs_elements *e = dir.entry->elements; e && rc == -ENOENT; e = e->more) {
		uint64_t number;

		rc = e->find(fs, e, dir, name, &number);
		if (rc == 0)
			*node = live_element(e, dir, number);
	}
	return rc;
}

int gfs_lookup(struct gfs *fs, struct gfs_node dir, const char *name, struct gfs_node *node)
{
	const struct gfs_collection *c = dir.entry->collection;
	uint32_t index;
	int rc;

	if (!gfs_is_dir(dir))
		return -ENOTDIR;
	if (strlen(name) > GFS_NAME_MAX)
		return -ENAMETOOLONG;
	for (const struct gfs_entry *row = dir.entry->children; row && row->id; row++) {
		struct gfs_node child = { row, dir.a, dir.b };

		if (strcmp(row->name, name) == 0 && exists(fs, child)) {
			*node = child;
			return 0;
		}
	}
	if (!c)
		return lookup_live(fs, dir, name, node);
	rc = c->find(fs, dir, name, &index);
	if (rc != 0)
		return rc;
	*node = element(dir, index);
	return exists(fs, *node) ? 0 : -ENOENT;
}

/* Cursors number the rows of the table, then the elements. */
static int fill_rows(struct gfs *fs, struct gfs_node dir, uint64_t cursor, uint64_t *rows,
		     gfs_fill fill, void *ctx)
{
	const struct gfs_entry *row = dir.entry->children;
	uint64_t at = 0;
	int stop = 0;

	for (; row && row->id; row++, at++) {
		struct gfs_node child = { row, dir.a, dir.b };

		if (!stop && at >= cursor && !row->unlisted && exists(fs, child))
			stop = fill(ctx, row->name, child, at + 1);
	}
	*rows = at;
	return stop;
}

static int fill_elements(struct gfs *fs, struct gfs_node dir, uint64_t first, uint64_t rows,
			 gfs_fill fill, void *ctx)
{
	const struct gfs_collection *c = dir.entry->collection;
	char name[GFS_NAME_MAX + 1];
	uint32_t count;
	int rc = c->count(fs, dir, &count);

	for (uint64_t i = first; rc == 0 && i < count; i++) {
		struct gfs_node child = element(dir, (uint32_t)i);

		if (!exists(fs, child))
			continue;
		rc = c->name(fs, dir, (uint32_t)i, name);
		if (rc == 0 && fill(ctx, name, child, rows + i + 1) != 0)
			break;
	}
	return rc;
}

/* Cursors of live elements: behind the rows by number, which stays true whatever comes and
 * goes meanwhile, and above that which of the directory's sets it is. */
#define SET_SHIFT (2 * GFS_INDEX_BITS + 1)

/* Stops at a full buffer and returns non-zero then. */
static int fill_set(struct gfs *fs, struct gfs_node dir, const struct gfs_elements *e,
		    uint64_t number, uint64_t base, gfs_fill fill, void *ctx)
{
	char name[GFS_NAME_MAX + 1];

	for (; e->next(fs, e, dir, &number); number++) {
		if (e->name(fs, e, dir, number, name) != 0)
			continue; /* gone in between */
		if (fill(ctx, name, live_element(e, dir, number), base + number + 1) != 0)
			return 1;
	}
	return 0;
}

static void fill_live(struct gfs *fs, struct gfs_node dir, uint64_t cursor, uint64_t rows,
		      gfs_fill fill, void *ctx)
{
	uint64_t first = cursor & ((UINT64_C(1) << SET_SHIFT) - 1);
	uint64_t number = first > rows ? first - rows : 0;
	uint64_t set = 0;
	int stop = 0;

	for (const struct gfs_elements *e = dir.entry->elements; e && !stop; e = e->more, set++) {
		if (set < cursor >> SET_SHIFT)
			continue;
		stop = fill_set(fs, dir, e, number, (set << SET_SHIFT) + rows, fill, ctx);
		number = 0;
	}
}

int gfs_readdir(struct gfs *fs, struct gfs_node dir, uint64_t cursor, gfs_fill fill, void *ctx)
{
	uint64_t rows;

	if (!gfs_is_dir(dir))
		return -ENOTDIR;
	if (fill_rows(fs, dir, cursor, &rows, fill, ctx) != 0)
		return 0;
	fill_live(fs, dir, cursor, rows, fill, ctx);
	if (!dir.entry->collection)
		return 0;
	return fill_elements(fs, dir, cursor > rows ? cursor - rows : 0, rows, fill, ctx);
}

int gfs_walk(struct gfs *fs, const char *path, struct gfs_node *node)
{
	struct gfs_node at = gfs_root();
	char name[GFS_NAME_MAX + 1];

	while (*path) {
		size_t len = strcspn(path, "/");
		int rc;

		if (!gfs_is_dir(at))
			return -ENOTDIR;
		if (len > GFS_NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, path, len);
		name[len] = '\0';
		path += len;
		path += *path == '/';
		if (len == 0 || strcmp(name, ".") == 0)
			continue;
		rc = gfs_lookup(fs, at, name, &at);
		if (rc != 0)
			return rc;
		if (path[-1] == '/' && !gfs_is_dir(at))
			return -ENOTDIR;
	}
	*node = at;
	return 0;
}

/* ---- changes ---------------------------------------------------------------------- */

int gfs_mkdir(struct gfs *fs, struct gfs_node dir, const char *name)
{
	const struct gfs_elements *e = dir.entry->elements;
	struct gfs_node found;

	if (!gfs_is_live(dir))
		return -EROFS;
	if (gfs_lookup(fs, dir, name, &found) == 0)
		return -EEXIST;
	while (e && !e->make)
		e = e->more;
	return e ? e->make(fs, e, name) : -EPERM;
}

int gfs_rmdir(struct gfs *fs, struct gfs_node dir, const char *name)
{
	const struct gfs_elements *e;
	struct gfs_node found;
	int rc;

	if (!gfs_is_live(dir))
		return -EROFS;
	rc = gfs_lookup(fs, dir, name, &found);
	if (rc != 0)
		return rc;
	if (!gfs_is_dir(found))
		return -ENOTDIR;
	e = elements_of(dir, found.entry);
	return e && e->remove ? e->remove(fs, found) : -EBUSY;
}
