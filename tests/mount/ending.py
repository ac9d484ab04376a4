#!/usr/bin/env python3
"""A mount that ends while its artifact changes: ending.py PROGRAM ARTIFACT DIR

The one thread that serves is busy with a report, and a read waits behind it, which locks its
pages. The artifact changes, so the daemon drops what the kernel has cached, which waits for
those pages; and a signal ends the mount. It must end all the same, whoever comes first.

Status 1: it does not. What hangs then no signal can end, so the connection is aborted, which
takes root.
"""

import os
import signal
import subprocess
import sys
import threading

ROUNDS = 10
TURNS = 3000000


def is_waiting(thread):
    try:
        with open("/proc/self/task/%d/stat" % thread.native_id) as f:
            return f.read().rsplit(") ", 1)[1][0] in "SD"
    except (FileNotFoundError, ProcessLookupError):
        return True  # it has been answered, and is over


def connection(directory):
    """Its number, from the kernel's table: the mount itself is not to be asked."""
    with open("/proc/self/mountinfo") as f:
        for line in f:
            words = line.split()
            if words[4] == os.path.abspath(directory):
                return words[2].split(":")[1]
    return None


def give_up(number):
    control = "/sys/fs/fuse/connections"
    subprocess.run(["mount", "-t", "fusectl", "none", control])
    with open("%s/%s/abort" % (control, number), "w") as f:
        f.write("1")


def ignore(call, *args):
    try:
        call(*args)
    except OSError:
        pass


def one(program, artifact, directory):
    daemon = subprocess.Popen([program, "-f", "-s", artifact, directory])
    while subprocess.call(["mountpoint", "-q", directory]) != 0:
        if daemon.poll() is not None:
            return "it ended with %d before it was mounted" % daemon.returncode
    number = connection(directory)
    last = sorted(os.listdir(directory + "/objects"))[-1]
    fd = os.open("%s/objects/%s/payload" % (directory, last), os.O_RDONLY)
    os.fstat(fd)
    threads = []
    for call in [(os.stat, directory + "/inspect/report.json"), (os.pread, fd, 4096, 0)]:
        thread = threading.Thread(target=ignore, args=call, daemon=True)
        thread.start()
        threads.append(thread)
        while not is_waiting(thread):
            pass
    os.utime(artifact)
    daemon.send_signal(signal.SIGTERM)
    for _ in range(TURNS):
        if daemon.poll() is not None:
            break
    else:
        give_up(number)
        return "it does not end"
    for thread in threads:
        thread.join()
    os.close(fd)
    return "" if daemon.returncode == 0 else "it ended with %d" % daemon.returncode


def main():
    for i in range(ROUNDS):
        fault = one(*sys.argv[1:])
        if fault:
            print("round %d: %s" % (i, fault))
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
