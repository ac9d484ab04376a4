#!/usr/bin/env python3
"""CPU time of reading every payload, against what decoding and copying them costs alone.

Usage: payloads.py FILE...       run by payloads.sh inside private namespaces, as root

One round measures, in turn,
  decode   liblz4 and libzstd over the same frames, one thread, nothing else
  tmpfs    cat of copies of the payloads on tmpfs
  static   cat through a file system that answers the same reads from one static buffer
  bare     the same with each payload decoded into that buffer first: no daemon can cost less
  mount    cat objects/*/payload of a fresh mount, nothing cached
the last three through the page cache and with -o direct_io. Printed are the times that each
takes of decode + tmpfs, limit 1.25; the gate is the mount at most 1.15 times bare. User and
system time of all processes, daemons included; medians of the ratios of 7 rounds, since a busy
neighbour of the machine moves all that is measured in one round. Exit 1 when a gate is not held.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 7
GPUOBJFS = os.environ["GPUOBJFS"]
DECODEPASS = os.environ["DECODEPASS"]
BAREFS = os.environ["BAREFS"]
MODES = ("cached", "direct_io")
failed = 0


def gate(name, held, text):
    global failed
    failed += not held
    print("%-6s %s: %s" % ("ok" if held else "FAIL", name, text), flush=True)


def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_of_child(command, **how):
    before = children()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **how)
    return children() - before


def cpu_of_daemon(pid):
    """Seconds of all its threads; the clock is what clock_getcpuclockid() gives."""
    return time.clock_gettime(~pid << 3 | 2)


class Mount:
    """A file system whose program stays in the foreground."""

    def __init__(self, command, folder, text=None):
        self.folder = folder
        parent = os.stat(os.path.dirname(folder)).st_dev
        self.child = subprocess.Popen(command + [folder], stdin=subprocess.PIPE, text=True,
                                      stderr=subprocess.DEVNULL)
        self.child.stdin.write(text or "")
        self.child.stdin.close()
        while os.stat(folder).st_dev == parent:
            if self.child.poll() is not None:
                raise SystemExit("%s: not mounted" % command)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["fusermount3", "-u", self.folder], check=True)
        self.child.wait()

    def cat(self, pattern):
        """Seconds of the daemon and of the reader."""
        before = cpu_of_daemon(self.child.pid)
        reader = cpu_of_child(["sh", "-c", "exec cat " + pattern], cwd=self.folder)
        return cpu_of_daemon(self.child.pid) - before, reader


def load(path, name):
    with open(os.path.join(path, name)) as f:
        return json.load(f)


def survey(path, folder, copies):
    """Codec, place and sizes of every payload; copies go to a folder."""
    frames = []
    with Mount([GPUOBJFS, "-f", path], folder):
        for oid in sorted(os.listdir(os.path.join(folder, "objects"))):
            base = os.path.join(folder, "objects", oid)
            if not os.path.exists(os.path.join(base, "payload")):
                continue
            what, where = load(base, "object.json"), load(base, "location.json")["encoded"]
            with open(os.path.join(base, "payload"), "rb") as f:
                data = f.read()
            codec = what["codec"] if what["codec"] in ("lz4", "zstd") else "none"
            frames.append((codec, where["offset"], where["size"], len(data)))
            with open(os.path.join(copies, oid), "wb") as f:
                f.write(data)
    return frames


def as_list(frames, codec=None):
    return "".join("%s %d %d %d\n" % ((codec or f[0],) + f[1:]) for f in frames)


def one_round(path, folder, copies, frames):
    """What each way takes of decode + tmpfs, and the seconds."""
    found = {
        "decode": cpu_of_child([DECODEPASS, path], input=as_list(frames), text=True),
        "tmpfs": cpu_of_child(["sh", "-c", "exec cat *"], cwd=copies),
    }
    for mode in MODES:
        options = ["-o", mode] if mode != "cached" else []
        ways = (("static", [BAREFS] + options + [path], as_list(frames, "none")),
                ("bare", [BAREFS] + options + [path], as_list(frames)),
                ("mount", [GPUOBJFS, "-f"] + options + [path], None))
        for name, command, text in ways:
            with Mount(command, folder, text) as m:
                found[name, mode] = m.cat("objects/*/payload" if name == "mount" else "*/payload")
    return found


def compare(path, folder, scratch):
    name = "payloads of " + os.path.basename(path)
    copies = os.path.join(scratch, "copies")
    os.mkdir(copies)
    subprocess.run(["mount", "-t", "tmpfs", "none", copies], check=True)
    frames = survey(path, folder, copies)
    rounds = [one_round(path, folder, copies, frames) for _ in range(ROUNDS)]
    subprocess.run(["umount", copies], check=True)
    os.rmdir(copies)

    def middle(measure):
        return statistics.median(measure(r) for r in rounds)

    print("       %s: %.2f GB, decode %.2f s + tmpfs %.2f s"
          % (name, sum(f[3] for f in frames) / 1e9, middle(lambda r: r["decode"]),
             middle(lambda r: r["tmpfs"])))
    for mode in MODES:
        for way in ("static", "bare", "mount"):
            print("       %-9s %-6s daemon %.2f s, cat %.2f s: %.2f times%s" % (
                mode, way, middle(lambda r: r[way, mode][0]), middle(lambda r: r[way, mode][1]),
                middle(lambda r: (sum(r[way, mode]) + (way == "static") * r["decode"])
                       / (r["decode"] + r["tmpfs"])),
                ", the decode added" if way == "static" else ""))
        ratio = middle(lambda r: sum(r["mount", mode]) / sum(r["bare", mode]))
        gate("%s, %s" % (name, mode), ratio <= 1.15,
             "the mount takes %.2f of the bare file system, limit 1.15" % ratio)


def main():
    scratch = tempfile.mkdtemp()
    folder = os.path.join(scratch, "mnt")
    os.mkdir(folder)
    for path in sys.argv[1:]:
        compare(path, folder, scratch)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
