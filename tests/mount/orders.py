#!/usr/bin/env python3
"""One mount read in order, another of the same artifact by four readers in random orders: they
must be byte for byte the same outside /queues.

Usage: orders.py TREE OTHER [KERNELS [SEED]]

KERNELS bounds the files below folders named kernels, of which a library has a million; the
others are all read.
"""

import concurrent.futures
import hashlib
import os
import random
import sys

READERS = 4
CHUNK = 1 << 20
SHOWN = 40


def walk(tree):
    """Paths of folders and files, in order."""
    folders, files = [], []
    for folder, names, leaves in os.walk(tree):
        if folder == tree:
            names[:] = [n for n in names if n != "queues"]
        names.sort()
        inner = os.path.relpath(folder, tree)
        folders.append(inner)
        files += [os.path.join(inner, n) for n in sorted(leaves)]
    return folders, files


def chosen(files, rng, most):
    """All files but those of kernels, of which there are at most so many."""
    kernels = [f for f in files if "/kernels/" in f]
    others = [f for f in files if "/kernels/" not in f]
    return sorted(others + (kernels if len(kernels) <= most else rng.sample(kernels, most)))


def attributes(path):
    s = os.lstat(path)
    return s.st_ino, s.st_mode, s.st_nlink, s.st_uid, s.st_gid, s.st_size, s.st_blocks, s.st_mtime_ns


def content(path):
    """Attributes and digest; the error of a file that cannot be read is what it holds."""
    digest = hashlib.sha256()
    try:
        with open(path, "rb", buffering=0) as f:
            while True:
                block = f.read(CHUNK)
                if not block:
                    break
                digest.update(block)
    except OSError as e:
        return attributes(path), "errno %d" % e.errno
    return attributes(path), digest.hexdigest()


def read(tree, files):
    return {f: content(os.path.join(tree, f)) for f in files}


def shuffled(arguments):
    """One reader: its part of the files first, then a part that another one has too."""
    tree, files, seed, mine = arguments
    rng = random.Random("%s %d" % (seed, mine))
    again = rng.sample(files, len(files) // READERS)
    order = files[mine::READERS] + again
    rng.shuffle(order)
    return read(tree, order)


def main():
    tree, other = sys.argv[1:3]
    most = int(sys.argv[3]) if len(sys.argv) > 3 else 1 << 30
    seed = sys.argv[4] if len(sys.argv) > 4 else "1"
    folders, everything = walk(tree)
    files = chosen(everything, random.Random(seed), most)
    want = read(tree, files)
    bad = []
    with concurrent.futures.ProcessPoolExecutor(READERS) as pool:
        for found in pool.map(shuffled, [(other, files, seed, i) for i in range(READERS)]):
            bad += ["%s: %s, read in order %s" % (f, found[f], want[f])
                    for f in found if found[f] != want[f]]
    if walk(other) != (folders, everything):
        bad.append("other names")
    bad += ["%s: other attributes" % f for f in folders
            if attributes(os.path.join(tree, f)) != attributes(os.path.join(other, f))]
    for line in bad[:SHOWN]:
        print(line)
    print("%d files of %d folders, %d differ" % (len(files), len(folders), len(bad)))
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main())
