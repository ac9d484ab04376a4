/*
 * A file system that costs nothing but FUSE and the decode: the tree of N directories with a file
 * "payload" each, decoded into one buffer when another than the last is read. No daemon that
 * serves payloads can cost less. The list is that of frames.h.
 * Usage: barefs [-o direct_io] ARTIFACT MOUNTPOINT <LIST
 */
#define FUSE_USE_VERSION 314
#include "frames.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <pthread.h>

#define FOR_EVER 1e9

static struct frames frames;
static int artifact;
static int direct;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of both below */
static size_t decoded = SIZE_MAX; /* which frame the buffer holds */

/* Node ids: 1 the root, then a directory and its file in turn. */
static bool is_file(fuse_ino_t ino)
{
	return ino > 1 && ino % 2 == 1;
}

static struct stat attr(fuse_ino_t ino)
{
	return (struct stat){
		.st_ino = ino,
		.st_mode = is_file(ino) ? S_IFREG | 0444 : S_IFDIR | 0755,
		.st_nlink = 1,
		.st_size = is_file(ino) ? (off_t)frames.list[(ino - 3) / 2].decoded : 0,
	};
}

static struct fuse_entry_param entry(fuse_ino_t ino)
{
	return (struct fuse_entry_param){
		.ino = ino, .attr = attr(ino), .attr_timeout = FOR_EVER, .entry_timeout = FOR_EVER
	};
}

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	(void)userdata;
	conn->want &= ~(unsigned int)(FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_AUTO_INVAL_DATA);
	conn->want |= conn->capable & FUSE_CAP_READDIRPLUS;
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	size_t i = strtoul(name, NULL, 10);
	struct fuse_entry_param e;

	if (parent == 1 ? i >= frames.count : strcmp(name, "payload") != 0) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	e = entry(parent == 1 ? 2 + 2 * i : parent + 1);
	fuse_reply_entry(req, &e);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st = attr(ino);

	(void)fi;
	fuse_reply_attr(req, &st, FOR_EVER);
}

static void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
			   struct fuse_file_info *fi)
{
	off_t end = ino == 1 ? (off_t)frames.count : 1;
	char *data = malloc(size);
	size_t used = 0;

	(void)fi;
	for (; data && off < end; off++) {
		struct fuse_entry_param e = entry(ino == 1 ? 2 + 2 * (fuse_ino_t)off : ino + 1);
		char name[32] = "payload";
		size_t need;

		if (ino == 1)
			snprintf(name, sizeof(name), "%05lld", (long long)off);
		need = fuse_add_direntry_plus(req, data + used, size - used, name, &e, off + 1);
		if (need > size - used)
			break;
		used += need;
	}
	fuse_reply_buf(req, data, used);
	free(data);
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	fi->keep_cache = 1;
	fi->noflush = 1;
	fi->direct_io = direct;
	fuse_reply_open(req, fi);
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi)
{
	size_t i = (ino - 3) / 2;
	size_t all = frames.list[i].decoded;
	size_t left = (size_t)off < all ? all - (size_t)off : 0;

	(void)fi;
	pthread_mutex_lock(&lock);
	if (i != decoded && !frames_decode(&frames, artifact, i))
		abort();
	decoded = i;
	pthread_mutex_unlock(&lock);
	fuse_reply_buf(req, frames.out + off, size < left ? size : left);
}

static const struct fuse_lowlevel_ops ops = {
	.init = op_init,
	.lookup = op_lookup,
	.getattr = op_getattr,
	.readdirplus = op_readdirplus,
	.open = op_open,
	.read = op_read,
};

static const struct fuse_opt options[] = { { "direct_io", 0, 1 }, FUSE_OPT_END };

int main(int argc, char **argv)
{
	struct fuse_args args = FUSE_ARGS_INIT(argc - 2, argv);
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	struct fuse_session *session;

	if (argc < 3 || !config || fuse_opt_parse(&args, &direct, options, NULL) < 0)
		return 2;
	artifact = open(argv[argc - 2], O_RDONLY);
	if (artifact < 0 || !frames_read(&frames))
		return 1;
	fuse_loop_cfg_set_max_threads(config, (unsigned)sysconf(_SC_NPROCESSORS_ONLN) + 2);
	session = fuse_session_new(&args, &ops, sizeof(ops), NULL);
	if (!session || fuse_set_signal_handlers(session) < 0 ||
	    fuse_session_mount(session, argv[argc - 1]) < 0)
		return 1;
	return fuse_session_loop_mt(session, config) < 0;
}
