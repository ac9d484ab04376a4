/*
 * What queues.sh measures with; see there.
 *
 * queues null MOUNTPOINT               a file system of one file, "null", that takes writes
 * queues write FILE SIZE COUNT         nanoseconds of a write of SIZE bytes of packets
 * queues library SIZE COUNT            the same packets through softgpu alone
 * queues wake PIPE FILE COUNT          from a write of one packet to FILE until a poll of PIPE,
 *                                      in another process, has its data
 */
#define FUSE_USE_VERSION 314
#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "softgpu.h"

static void die(const char *what) __attribute__((noreturn));

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint8_t *make_packets(size_t size)
{
	static const uint8_t packet[SG_PACKET_BYTES] = {
		2, 0, 1, 0, 64, 0, 1, 0, 1, 0, 0, 0, 64, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0,
	};
	uint8_t *p = malloc(size);

	for (size_t at = 0; p && at < size; at += sizeof(packet))
		memcpy(p + at, packet, sizeof(packet));
	return p;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void print_median(uint64_t *times, size_t count)
{
	qsort(times, count, sizeof(*times), compare);
	printf("%llu\n", (unsigned long long)times[count / 2]);
}

/* ---- a file that does nothing ------------------------------------------------------------ */

static void null_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st = { .st_ino = ino, .st_nlink = 1 };

	(void)fi;
	st.st_mode = ino == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0644;
	fuse_reply_attr(req, &st, 0);
}

static void null_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e = { .ino = 2, .attr.st_ino = 2, .attr.st_nlink = 1 };

	e.attr.st_mode = S_IFREG | 0644;
	if (parent == FUSE_ROOT_ID && strcmp(name, "null") == 0)
		fuse_reply_entry(req, &e);
	else
		fuse_reply_err(req, ENOENT);
}

static void null_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	fi->direct_io = 1;
	fuse_reply_open(req, fi);
}

static void null_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off,
		       struct fuse_file_info *fi)
{
	(void)ino;
	(void)buf;
	(void)off;
	(void)fi;
	fuse_reply_write(req, size);
}

static int run_null(char **argv)
{
	static const struct fuse_lowlevel_ops ops = {
		.lookup = null_lookup,
		.getattr = null_getattr,
		.open = null_open,
		.write = null_write,
	};
	struct fuse_args args = FUSE_ARGS_INIT(1, argv);
	struct fuse_session *se = fuse_session_new(&args, &ops, sizeof(ops), NULL);
	struct fuse_loop_config *config = fuse_loop_cfg_create();

	if (!se || fuse_session_mount(se, argv[2]) != 0)
		return 1;
	fuse_daemonize(0);
	fuse_loop_cfg_set_max_threads(config, 4);
	fuse_session_loop_mt(se, config);
	fuse_session_unmount(se);
	return 0;
}

/* ---- writes --------------------------------------------------------------------------------- */

static int run_write(char **argv)
{
	size_t size = (size_t)atol(argv[3]);
	size_t count = (size_t)atol(argv[4]);
	uint64_t *times = calloc(count, sizeof(*times));
	uint8_t *packets = make_packets(size);
	int fd = open(argv[2], O_WRONLY | O_APPEND);

	if (fd < 0 || !times || !packets)
		die(argv[2]);
	for (size_t i = 0; i < count; i++) {
		uint64_t start = now();

		if (write(fd, packets, size) != (ssize_t)size)
			die("write");
		times[i] = now() - start;
	}
	print_median(times, count);
	return 0;
}

static int run_library(char **argv)
{
	size_t size = (size_t)atol(argv[2]);
	size_t count = (size_t)atol(argv[3]);
	uint64_t *times = calloc(count, sizeof(*times));
	uint8_t *packets = make_packets(size);
	struct sg_device_info info;
	struct sg_device *dev;
	uint64_t queue;
	size_t done;

	if (!times || !packets || sg_device_open(NULL, &dev) != SG_OK)
		die("device");
	sg_device_get_info(dev, &info);
	if (sg_queue_create(dev, info.agent, 16384, 0, &queue) != SG_OK)
		die("queue");
	for (size_t i = 0; i < count; i++) {
		uint64_t start = now();

		if (sg_queue_publish(dev, queue, packets, size / 64, &done) != SG_OK)
			die("publish");
		times[i] = now() - start;
	}
	print_median(times, count);
	sg_device_close(dev);
	return 0;
}

/* ---- waking up -------------------------------------------------------------------------------- */

static void report_wakes(const char *path, int out)
{
	struct pollfd p = { .events = POLLIN };
	char data[1 << 16];

	p.fd = open(path, O_RDONLY | O_NONBLOCK);
	if (p.fd < 0)
		die(path);
	while (read(p.fd, data, sizeof(data)) > 0)
		;
	for (uint64_t t = 0;; t = now()) {
		if (write(out, &t, sizeof(t)) != sizeof(t))
			exit(0);
		poll(&p, 1, -1);
		while (read(p.fd, data, sizeof(data)) > 0)
			;
	}
}

static int run_wake(char **argv)
{
	size_t count = (size_t)atol(argv[4]);
	uint64_t *times = calloc(count, sizeof(*times));
	uint8_t *packet = make_packets(SG_PACKET_BYTES);
	int fd = open(argv[3], O_WRONLY | O_APPEND);
	uint64_t end;
	int pair[2];
	pid_t child;

	if (fd < 0 || !times || !packet || pipe(pair) != 0)
		die(argv[3]);
	child = fork();
	if (child == 0) {
		close(pair[0]);
		report_wakes(argv[2], pair[1]);
	}
	close(pair[1]);
	if (read(pair[0], &end, sizeof(end)) != sizeof(end))
		die("child");
	for (size_t i = 0; i < count; i++) {
		uint64_t start;

		usleep(300); /* so that the other process sleeps in poll() */
		start = now();
		if (write(fd, packet, SG_PACKET_BYTES) != SG_PACKET_BYTES ||
		    read(pair[0], &end, sizeof(end)) != sizeof(end))
			die("wake");
		times[i] = end - start;
	}
	print_median(times, count);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "null") == 0)
		return run_null(argv);
	if (argc == 5 && strcmp(argv[1], "write") == 0)
		return run_write(argv);
	if (argc == 4 && strcmp(argv[1], "library") == 0)
		return run_library(argv);
	if (argc == 5 && strcmp(argv[1], "wake") == 0)
		return run_wake(argv);
	fputs("queues: see the comment at the top of queues.c\n", stderr);
	return 2;
}
