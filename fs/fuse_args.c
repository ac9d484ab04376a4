/*
 * The command line of the mount: libfuse's conventions, with the options that both
 * programs share beside them.
 */
#include "front_fuse.h"

#include <errno.h>
#include <fuse_opt.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

enum key { KEY_DEBUG, KEY_RO, KEY_RW, KEY_SAMPLE };

/* clang-format off */
/* FUSE_OPT_KEY() without the sign change that clang warns of. */
#define KEY(text, key) { text, UINT_MAX, key }
#define FLAG(text, member) { text, offsetof(struct gfs_mount_args, member), 1 }

static const struct fuse_opt spec[] = {
	FLAG("-h", help),
	FLAG("--help", help),
	FLAG("-V", version),
	FLAG("--version", version),
	FLAG("-f", foreground),
	FLAG("-s", single_thread),
	FLAG("max_threads=%u", max_threads),
	FLAG("direct_io", direct_io),
	KEY("--sample", KEY_SAMPLE),
	KEY("-d", KEY_DEBUG),
	KEY("debug", KEY_DEBUG),
	KEY("ro", KEY_RO),
	KEY("rw", KEY_RW),
	FUSE_OPT_END,
};
/* clang-format on */

/*
 * Words for mount(8) and its boot scripts that a line of fstab may carry down to us. And dev and
 * suid, which mount.fuse3 adds of its own accord when root mounts: no file here is a device or
 * has an owner's rights to lend, so there is nothing that they could allow.
 */
static const char *const ignored[] = {
	"auto",	  "noauto", "defaults", "nofail", "_netdev", "user",
	"nouser", "users",  "owner",	"group",  "dev",     "suid",
};

/* libfuse hands out option text that lives for one call only. */
struct gfs_kept {
	struct gfs_kept *next;
	char text[];
};

struct parse {
	struct gfs_mount_args args; /* first: the offsets of spec count from here */
	const char *path[2];
	int path_count;
	struct gfs_message *msg;
};

static const char *keep(struct gfs_mount_args *args, const char *text)
{
	size_t size = strlen(text) + 1;
	struct gfs_kept *kept = malloc(sizeof(*kept) + size);

	if (!kept)
		return NULL;
	memcpy(kept->text, text, size);
	kept->next = args->kept;
	args->kept = kept;
	return kept->text;
}

static int usage(struct gfs_message *msg, const char *what, const char *arg)
{
	gfs_message_set(msg, GFS_EXIT_USAGE, "%s%s", what, arg);
	return -1;
}

static int out_of_memory(struct gfs_message *msg)
{
	gfs_message_set(msg, GFS_EXIT_FAILURE, "%s", strerror(ENOMEM));
	return -1;
}

static bool is_ignored(const char *arg)
{
	size_t len = strcspn(arg, "="); /* mount(8) writes user=NAME */

	if (strncmp(arg, "x-", 2) == 0)
		return true;
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++) {
		if (strlen(ignored[i]) == len && strncmp(ignored[i], arg, len) == 0)
			return true;
	}
	return false;
}

static int take_path(struct parse *p, const char *arg)
{
	const char *path = keep(&p->args, arg);

	if (!path)
		return out_of_memory(p->msg);
	if (p->path_count == 2)
		return usage(p->msg, "surplus argument ", arg);
	p->path[p->path_count++] = path;
	return 0;
}

/* 0: taken, 1: for libfuse, -1: wrong. */
static int take_option(struct parse *p, const char *arg)
{
	const char *kept;
	int taken;

	if (arg[0] == '-')
		return usage(p->msg, "unknown option ", arg);
	if (is_ignored(arg))
		return 0;
	if (strcmp(arg, "remount") == 0)
		return usage(p->msg, "cannot be remounted, only unmounted and mounted again", "");
	kept = keep(&p->args, arg);
	if (!kept)
		return out_of_memory(p->msg);
	taken = gfs_options_set(&p->args.options, kept, p->msg);
	return taken < 0 ? -1 : !taken;
}

static int take(void *data, const char *arg, int key, struct fuse_args *rest)
{
	struct parse *p = data;

	(void)rest;
	switch (key) {
	case FUSE_OPT_KEY_NONOPT:
		return take_path(p, arg);
	case KEY_SAMPLE:
		p->args.options.sample = true;
		return 0;
	case KEY_DEBUG:
		p->args.foreground = 1;
		return 1;
	case KEY_RO:
	case KEY_RW:
		p->args.options.read_only = key == KEY_RO;
		return 1;
	default:
		return take_option(p, arg);
	}
}

static int check_paths(struct parse *p)
{
	int wanted = p->args.options.sample ? 1 : 2;

	p->args.help_topic = p->path[0];
	if (p->args.help || p->args.version)
		return 0;
	if (p->path_count > wanted)
		return usage(p->msg, "surplus argument ", p->path[wanted]);
	if (wanted == 2 && p->path_count == 0)
		return usage(p->msg, "no artifact given", "");
	if (p->path_count < wanted)
		return usage(p->msg, "no mount point given", "");
	p->args.mountpoint = p->path[wanted - 1];
	if (!p->args.options.sample)
		p->args.options.artifact = p->path[0];
	return 0;
}

int gfs_mount_args_init(struct gfs_mount_args *args, int argc, char **argv, struct gfs_message *msg)
{
	struct fuse_args given = FUSE_ARGS_INIT(argc, argv);
	struct parse p = { .msg = msg };
	int err;

	*msg = (struct gfs_message){ .exit = GFS_EXIT_USAGE };
	gfs_options_init(&p.args.options);
	p.args.rest = malloc(sizeof(*p.args.rest));
	if (!p.args.rest)
		err = out_of_memory(msg);
	else
		err = fuse_opt_parse(&given, &p, spec, take);
	if (p.args.rest)
		*p.args.rest = given;
	if (!err)
		err = check_paths(&p);
	*args = p.args;
	return err ? -EINVAL : 0;
}

void gfs_mount_args_fini(struct gfs_mount_args *args)
{
	struct gfs_kept *kept = args->kept;

	while (kept) {
		struct gfs_kept *next = kept->next;

		free(kept);
		kept = next;
	}
	if (args->rest)
		fuse_opt_free_args(args->rest);
	free(args->rest);
}
