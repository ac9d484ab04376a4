#!/usr/bin/env python3
"""An artifact that changes while it is mounted: stale.py TREE CHANGE

CHANGE is a shell command. Files are opened, read and mapped before it; afterwards every read
must end with ESTALE, through descriptors that were open and through new ones, within a
bounded number of attempts (the kernel's cached pages go when the daemon hears of it).
"""

import errno
import os
import subprocess
import sys

ATTEMPTS = 200000


def until_stale(read):
    for _ in range(ATTEMPTS):
        try:
            read()
        except OSError as e:
            return errno.errorcode.get(e.errno, str(e.errno))
    return "data"


def main():
    tree, change = sys.argv[1:]
    payload = os.path.join(tree, "objects", "00000", "payload")
    fresh = os.path.join(tree, "objects", "00001", "payload")
    fd = os.open(payload, os.O_RDONLY)
    size = os.fstat(fd).st_size
    before = os.pread(fd, size, 0)
    if len(before) != size:
        print("cannot read before the change")
        return 1
    if os.pread(fd, size, 0) != before:  # now from the page cache
        print("two reads differ")
        return 1
    subprocess.run(change, shell=True, check=True)
    bad = 0

    def expect(what, got):
        nonlocal bad
        if got != "ESTALE":
            print("%s: %s, want ESTALE" % (what, got))
            bad += 1

    def read_path(path):
        f = os.open(path, os.O_RDONLY)
        try:
            os.pread(f, 4096, 0)
        finally:
            os.close(f)

    expect("a file never read before", until_stale(lambda: read_path(fresh)))
    expect("cached pages, open descriptor", until_stale(lambda: os.pread(fd, 4096, 0)))
    expect("cached pages, last byte", until_stale(lambda: os.pread(fd, 1, size - 1)))
    expect("cached pages, opened again", until_stale(lambda: read_path(payload)))
    container = os.path.join(tree, "containers", "00000", "encoded")
    expect("bytes of a container", until_stale(lambda: read_path(container)))
    os.close(fd)
    for _ in range(100):  # and it stays so
        try:
            read_path(payload)
            print("readable again")
            return 1
        except OSError:
            pass
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
