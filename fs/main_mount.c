/* gpuobjfs: shows what is inside one file as a file system. */
#include "front_fuse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "options.h"
#include "source.h"

static void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void complain(const char *fmt, ...)
{
	va_list ap;

	fputs("gpuobjfs: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* ---- help ------------------------------------------------------------------------- */

static void help_options(void)
{
	puts("gpuobjfs -o OPTION[,OPTION...], beside those of mount(8) and libfuse, with what "
	     "holds\n"
	     "without it:\n\n"
	     "    ro                     fast mode: leave out all that can be written\n"
	     "    allow_other            let other users in\n"
	     "    direct_io              payloads go past the page cache, for reading once\n"
	     "    max_threads=N          requests served at once (CPUs + 2)");
	gfs_options_help();
	puts("\nNumbers take K, M, G. See gpuobjfs(1).");
}

/* A screen; topic is what stands behind --help, NULL: nothing. */
static int help(const char *topic)
{
	if (topic && strcmp(topic, "options") == 0)
		help_options();
	else
		puts("usage: gpuobjfs [options] ARTIFACT MOUNTPOINT\n"
		     "       gpuobjfs [options] --sample MOUNTPOINT\n\n"
		     "Shows the GPU code objects inside ARTIFACT as files, until\n"
		     "fusermount3 -u MOUNTPOINT.\n\n"
		     "    -f                     stay in the foreground\n"
		     "    -s                     serve with one thread\n"
		     "    -d                     print every request, implies -f\n"
		     "    -h, --help             this text\n"
		     "    --help options         the options of -o\n"
		     "    -V, --version          versions of gpuobjfs and libfuse\n"
		     "    --sample               mount an artifact that is built in\n"
		     "    -o OPTION[,OPTION...]  ro (the fast mode, without what can be written),\n"
		     "                           limits, and what mount(8) and libfuse take\n\n"
		     "See gpuobjfs(1).");
	return fflush(stdout) == 0 ? GFS_EXIT_OK : GFS_EXIT_FAILURE;
}

static int version(void)
{
	printf("gpuobjfs %s\nlibfuse %s\n", GFS_VERSION, gfs_front_library());
	return fflush(stdout) == 0 ? GFS_EXIT_OK : GFS_EXIT_FAILURE;
}

/* ---- the mount point -------------------------------------------------------------- */

/* path as a shell takes it, where it holds more than the usual characters. */
static void print_quoted(FILE *out, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._-+,:@%=";

	if (strspn(path, plain) == strlen(path)) {
		fputs(path, out);
		return;
	}
	fputc('\'', out);
	for (; *path; path++)
		*path == '\'' ? fputs("'\\''", out) : fputc(*path, out);
	fputc('\'', out);
}

static void complain_mountpoint(const char *path, int err)
{
	if (err != ENOTCONN) {
		complain("cannot mount on %s: %s", path, strerror(err));
		return;
	}
	fprintf(stderr,
		"gpuobjfs: %s: a mount whose program has died is still there; end it with:\n",
		path);
	fputs("fusermount3 -u ", stderr);
	print_quoted(stderr, path);
	fputc('\n', stderr);
}

static bool is_inside(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	if (len == 1) /* the root directory */
		return true;
	return strncmp(path, dir, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

/* Of the path as it was given: its last component may be a symbolic link. */
static char *real_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *parent = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	char *real = parent ? realpath(parent, NULL) : NULL;

	free(parent);
	return real;
}

/* A path below the mount point would lead back into the mount, and its reader wait for
 * itself. */
static bool hides(const char *mountpoint, const char *path)
{
	char *real = realpath(path, NULL);
	char *parent = real_parent(path);
	bool hidden =
		(real && is_inside(real, mountpoint)) || (parent && is_inside(parent, mountpoint));

	free(parent);
	free(real);
	return hidden;
}

/* mount.fuse3 -o drop_privileges has mounted already and hands the descriptor down. */
static bool is_descriptor(const char *mountpoint)
{
	static const char prefix[] = "/dev/fd/";
	const char *number = mountpoint + strlen(prefix);

	return strncmp(mountpoint, prefix, strlen(prefix)) == 0 && *number &&
	       number[strspn(number, "0123456789")] == '\0';
}

/* The absolute path of the mount point, the caller's to free; NULL: it cannot be one. */
static char *check_mountpoint(const struct gfs_mount_args *args)
{
	const char *artifact = args->options.artifact;
	struct statvfs fs;
	struct stat st;
	char *real;

	if (is_descriptor(args->mountpoint))
		return strdup(args->mountpoint);
	real = realpath(args->mountpoint, NULL);
	/* Attributes of a dead mount may come from the kernel's cache; statvfs() asks. */
	if (!real || stat(real, &st) != 0 || statvfs(real, &fs) != 0) {
		complain_mountpoint(args->mountpoint, errno);
	} else if (!S_ISDIR(st.st_mode)) {
		complain_mountpoint(args->mountpoint, ENOTDIR);
	} else if (artifact && hides(real, artifact)) {
		complain("%s would hide %s, which lies inside", args->mountpoint, artifact);
	} else if (hides(real, args->options.tmpdir)) {
		complain("%s would hide %s, where large decodes go (-o tmpdir)", args->mountpoint,
			 args->options.tmpdir);
	} else {
		return real;
	}
	free(real);
	return NULL;
}

/* ---- mounting --------------------------------------------------------------------- */

/* The daemon works in the root directory, so what is relative now must not stay so. One that
 * does not exist, as the default may not, is left for the cache to complain of. */
static char *pin_tmpdir(struct gfs_options *options)
{
	char *real = realpath(options->tmpdir, NULL);

	if (real)
		options->tmpdir = real;
	return real;
}

static void tell_what_is_there(struct gfs *fs)
{
	const char *name = gfs_source_name(fs->source);
	const struct dec_artifact *artifact = fs->artifact;

	if (artifact->object_count == 0)
		complain("%s: no GPU code found; mounted with an empty inventory", name);
	if (artifact->partial)
		complain("%s: the inventory is partial; problems.json says why", name);
}

static int serve(struct gfs_front *front, struct gfs *fs, const struct gfs_mount_args *args,
		 const char *mountpoint)
{
	int err = gfs_front_mount(front, fs, mountpoint);

	if (err)
		return GFS_EXIT_FAILURE;
	tell_what_is_there(fs);
	err = gfs_front_daemonize(front, args->foreground);
	if (!err)
		err = gfs_front_run(front, args);
	if (err)
		complain("%s: %s", args->mountpoint, strerror(-err));
	return err ? GFS_EXIT_FAILURE : GFS_EXIT_OK;
}

static int open_and_serve(struct gfs_front *front, const struct gfs_mount_args *args,
			  const char *mountpoint)
{
	struct gfs_message msg;
	struct gfs *fs;
	int status;

	if (gfs_open(&args->options, &fs, &msg) != 0) {
		complain("%s", msg.text);
		return (int)msg.exit;
	}
	status = serve(front, fs, args, mountpoint);
	gfs_close(fs);
	return status;
}

/* What df and /proc/mounts show: never a relative path. */
static char *device_name(const struct gfs_options *options)
{
	char *real = options->sample ? NULL : realpath(options->artifact, NULL);

	if (real)
		return real;
	return strdup(options->sample ? "sample" : options->artifact);
}

static int run(struct gfs_mount_args *args)
{
	char *mountpoint = check_mountpoint(args);
	char *device = device_name(&args->options);
	char *tmpdir = pin_tmpdir(&args->options);
	struct gfs_front *front = NULL;
	int status = GFS_EXIT_FAILURE;

	if (mountpoint && device) {
		front = gfs_front_new(args, device);
		status = front ? open_and_serve(front, args, mountpoint) : GFS_EXIT_USAGE;
	}
	gfs_front_free(front);
	free(tmpdir);
	free(device);
	free(mountpoint);
	return status;
}

static int usage_error(const struct gfs_message *msg)
{
	if (msg->text[0])
		complain("%s", msg->text);
	if (msg->exit == GFS_EXIT_USAGE)
		fputs("Try 'gpuobjfs --help'.\n", stderr);
	return (int)msg->exit;
}

int main(int argc, char **argv)
{
	struct gfs_mount_args args;
	struct gfs_message msg;
	int status;

	if (gfs_mount_args_init(&args, argc, argv, &msg) != 0)
		status = usage_error(&msg);
	else if (args.help)
		status = help(args.help_topic);
	else if (args.version)
		status = version();
	else
		status = run(&args);
	gfs_mount_args_fini(&args);
	return status;
}
