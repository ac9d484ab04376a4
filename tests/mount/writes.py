#!/usr/bin/env python3
"""Tries every way to change a mounted tree: writes.py TREE EXPECTED...

EXPECTED are the names of errors that count as refused. Prints what was answered otherwise.
"""

import errno
import os
import sys

root, wanted = sys.argv[1], sys.argv[2:]
a_file = os.path.join(root, "artifact.json")
a_dir = os.path.join(root, "objects")
new = os.path.join(root, "objects", "new")

ATTEMPTS = {
    "open for writing": lambda: os.open(a_file, os.O_WRONLY),
    "open for both": lambda: os.open(a_file, os.O_RDWR),
    "open with O_TRUNC": lambda: os.open(a_file, os.O_RDONLY | os.O_TRUNC),
    "append": lambda: os.open(a_file, os.O_WRONLY | os.O_APPEND),
    "create": lambda: os.open(new, os.O_CREAT | os.O_WRONLY, 0o644),
    "create in the root": lambda: os.open(os.path.join(root, "new"), os.O_CREAT | os.O_RDWR, 0o644),
    "mkdir": lambda: os.mkdir(new),
    "mkdir in the root": lambda: os.mkdir(os.path.join(root, "new")),
    "rmdir": lambda: os.rmdir(a_dir),
    "unlink": lambda: os.unlink(a_file),
    "rename": lambda: os.rename(a_file, new),
    "rename a directory": lambda: os.rename(a_dir, os.path.join(root, "other")),
    "link": lambda: os.link(a_file, new),
    "symlink": lambda: os.symlink("x", new),
    "mkfifo": lambda: os.mkfifo(new),
    "truncate": lambda: os.truncate(a_file, 0),
    "chmod": lambda: os.chmod(a_file, 0o600),
    "chown": lambda: os.chown(a_file, os.getuid(), os.getgid()),
    "utime": lambda: os.utime(a_file, (1, 1)),
}

bad = 0
for name, attempt in ATTEMPTS.items():
    try:
        attempt()
        got = "success"
    except OSError as e:
        got = errno.errorcode.get(e.errno, str(e.errno))
    if got not in wanted:
        print("%s: %s, want %s" % (name, got, " or ".join(wanted)))
        bad += 1
sys.exit(1 if bad else 0)
