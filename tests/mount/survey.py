#!/usr/bin/env python3
"""Walks a tree, checks what every file system must hold, prints one line per entry.

Usage: survey.py [--plain] [--devices N] [--artifact FILE] [--faulty] TREE

Line: path, type, mode, nlink, size, mtime in ns, inode, owner, sha256 of the content. Checked: the
size is what can be read, d_ino is st_ino, inodes are unique, blocks fit the size, names are
plain. --plain leaves inode and links out and checks only sizes: for copies. What lies under
/queues changes with time and is left out. --devices goes into N folders of /devices alone, the
first, the last and some between; the others are named. --artifact also compares the tree with the
truth, as compare.py does with it and --faulty. Exit 1 when something is wrong.
"""

import argparse
import errno
import hashlib
import os
import stat
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))


def content(path, size, say):
    """sha256 of the file, or the name of the error that reading it gives."""
    h = hashlib.sha256()
    got = 0
    try:
        with open(path, "rb", buffering=0) as f:
            while True:
                block = f.read(1 << 17)
                if not block:
                    break
                h.update(block)
                got += len(block)
            if f.seek(0, os.SEEK_END) != size:
                say(path, "SEEK_END is not the size")
    except OSError as e:
        return errno.errorcode.get(e.errno, str(e.errno))
    if got != size:
        say(path, "st_size %d, bytes read %d" % (size, got))
    return h.hexdigest()


class Survey:
    def __init__(self, root, plain, devices):
        self.root = root
        self.plain = plain
        self.devices = devices
        self.bad = 0
        self.inodes = {}
        self.device = os.lstat(root).st_dev

    def say(self, path, text):
        print("%s: %s" % (os.path.relpath(path, self.root), text), file=sys.stderr)
        self.bad += 1

    def check(self, path, st):
        if st.st_ino in self.inodes:
            self.say(path, "inode %d is also %s" % (st.st_ino, self.inodes[st.st_ino]))
        self.inodes[st.st_ino] = path
        if st.st_dev != self.device:
            self.say(path, "another device")
        if st.st_nlink != 1:
            self.say(path, "st_nlink %d" % st.st_nlink)
        directory = stat.S_ISDIR(st.st_mode)
        mode = stat.S_IMODE(st.st_mode)
        if mode != (0o755 if directory else 0o444):
            self.say(path, "mode %o" % mode)
        if not directory and st.st_blocks != (st.st_size + 511) // 512:
            self.say(path, "st_size %d, st_blocks %d" % (st.st_size, st.st_blocks))
        if (st.st_uid, st.st_gid) != (os.getuid(), os.getgid()):
            self.say(path, "owner %d:%d" % (st.st_uid, st.st_gid))

    def line(self, path, st, digest):
        kind = "d" if stat.S_ISDIR(st.st_mode) else "f" if stat.S_ISREG(st.st_mode) else "?"
        size = st.st_size if kind == "f" else 0
        fields = [os.path.relpath(path, self.root), kind, "%o" % stat.S_IMODE(st.st_mode),
                  str(size), str(st.st_mtime_ns)]
        if not self.plain:
            fields += [str(st.st_ino), "%d:%d" % (st.st_uid, st.st_gid)]
        print(" ".join(fields + [digest]))

    def leave(self, path, st):
        if not self.plain:
            self.check(path, st)
        self.line(path, st, "not entered")

    def visit(self, path, st):
        if not self.plain:
            self.check(path, st)
        if not stat.S_ISDIR(st.st_mode):
            self.line(path, st, content(path, st.st_size, self.say))
            return
        self.line(path, st, "-")
        with os.scandir(path) as entries:
            found = sorted(entries, key=lambda e: e.name)
        entered = range(len(found))
        if self.devices is not None and path == os.path.join(self.root, "devices"):
            entered = spread(len(found), self.devices)
        for at, e in enumerate(found):
            child = os.path.join(path, e.name)
            if child == os.path.join(self.root, "queues"):
                continue
            child_st = os.lstat(child)
            if not self.plain:
                if e.inode() != child_st.st_ino:
                    self.say(child, "d_ino %d, st_ino %d" % (e.inode(), child_st.st_ino))
                if any(ord(c) < 0x20 or ord(c) > 0x7E for c in e.name):
                    self.say(child, "name is not plain")
                if e.is_dir(follow_symlinks=False) != stat.S_ISDIR(child_st.st_mode):
                    self.say(child, "d_type is wrong")
            if at in entered:
                self.visit(child, child_st)
            else:
                self.leave(child, child_st)


def spread(count, few):
    """Places of at most few of count things: the first, the last, and evenly between."""
    if count <= few:
        return range(count)
    return {i * (count - 1) // max(1, few - 1) for i in range(few)}


def main(argv):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--devices", type=int)
    parser.add_argument("--artifact")
    parser.add_argument("--faulty", action="store_true")
    parser.add_argument("tree")
    options = parser.parse_args(argv)
    s = Survey(options.tree, options.plain, options.devices)
    s.visit(options.tree, os.lstat(options.tree))
    differs = 0
    if options.artifact:
        import compare
        differs = compare.run(["--faulty"] * options.faulty +
                              ["--artifact", options.artifact, options.tree])
    return 1 if s.bad or differs else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
