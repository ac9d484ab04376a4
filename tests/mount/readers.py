#!/usr/bin/env python3
"""Random reads of a mounted tree against the true bytes: readers.py TREE ROUNDS [SEED [direct]]

The true bytes are those of one sequential read, checked with compare.py elsewhere. pread at
random places and lengths (over page, block and end-of-file edges), mmap (private and shared),
small steps, vectors, a direct read, reads behind the end. "direct": the mount has -o direct_io,
and payloads, encoded and decoded bytes are the files that cannot be mapped shared.
"""

import errno
import mmap
import os
import random
import sys

EDGES = (512, 4096, 65536, 131072)


def files(tree):
    for top in ("objects", "containers", "targets"):
        for folder, _, names in os.walk(os.path.join(tree, top)):
            for name in names:
                yield os.path.join(folder, name)
    yield os.path.join(tree, "artifact.json")


def place(rng, size):
    """An offset and a length, often near an edge."""
    if rng.random() < 0.5:
        edge = rng.choice(EDGES)
        offset = rng.randrange(0, size // edge + 2) * edge + rng.randrange(-3, 4)
    else:
        offset = rng.randrange(0, size + 64)
    length = rng.choice((1, 2, 7, 64, 511, 4096, 4097, 70000, 262144))
    return max(0, offset), length


def main():
    tree, rounds = sys.argv[1], int(sys.argv[2])
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    direct = ("payload", "encoded", "decoded") if sys.argv[4:] == ["direct"] else ()
    known = {}
    for path in files(tree):
        try:
            with open(path, "rb") as f:
                known[path] = f.read()
        except OSError:
            pass
    paths = sorted(p for p in known if known[p])
    bad = done = 0

    def expect(path, what, got, want):
        nonlocal bad, done
        done += 1
        if got != want:
            print("%s: %s: other bytes (%d, want %d)" % (path, what, len(got), len(want)))
            bad += 1

    while done < rounds and bad < 10:
        path = rng.choice(paths)
        want = known[path]
        size = len(want)
        with open(path, "rb", buffering=0) as f:
            fd = f.fileno()
            for _ in range(20):
                offset, length = place(rng, size)
                expect(path, "pread %d+%d" % (offset, length), os.pread(fd, length, offset),
                       want[offset:offset + length])
            offset, length = place(rng, size)
            parts = [bytearray(100), bytearray(5000)]
            n = os.preadv(fd, parts, offset)
            expect(path, "preadv %d" % offset, b"".join(parts)[:n], want[offset:offset + 5100])
            ways = [mmap.MAP_PRIVATE, mmap.MAP_SHARED]
            if os.path.basename(path) in direct:
                try:
                    mmap.mmap(fd, 0, flags=ways.pop(), prot=mmap.PROT_READ).close()
                    refusal = 0
                except OSError as e:
                    refusal = e.errno
                expect(path, "shared mmap", bytes([refusal]), bytes([errno.ENODEV]))
            for flags in ways:
                with mmap.mmap(fd, 0, flags=flags, prot=mmap.PROT_READ) as m:
                    for _ in range(10):
                        offset, length = place(rng, size)
                        offset = min(offset, size)
                        expect(path, "mmap %d+%d" % (offset, length), m[offset:offset + length],
                               want[offset:offset + length])
        if done % 5 == 0:
            try:
                fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
            except OSError:
                continue
            with mmap.mmap(-1, 65536) as m:
                start = rng.randrange(0, size // 4096 + 1) * 4096
                n = os.preadv(fd, [m], start)
                expect(path, "O_DIRECT %d" % start, m[:n], want[start:start + 65536])
            os.close(fd)
    print("%d reads of %d files" % (done, len(paths)))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
