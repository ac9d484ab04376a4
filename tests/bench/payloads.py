#!/usr/bin/env python3
"""CPU time of reading every payload, against what decoding and copying them costs alone.

Usage: payloads.py FILE...       run by payloads.sh inside private namespaces, as root

One round measures, in turn,
  decode   liblz4 and libzstd over the same frames, one thread, nothing else
  tmpfs    cat of copies of the payloads on tmpfs
  null     cat through a file system that answers the same reads from one static buffer
  mount    cat objects/*/payload of a fresh mount, nothing cached
the last two through the page cache and with -o direct_io. The yardstick is decode + tmpfs. Two
gates: the mount with direct_io at most 1.25 times that; through the page cache at most 1.25
times null + decode, which no daemon can go below. Medians of 5 rounds, user and system time of
all processes, daemons included. Exit 1 when a gate is not held.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 5
GPUOBJFS = os.environ["GPUOBJFS"]
DECODEPASS = os.environ["DECODEPASS"]
NULLFS = os.environ["NULLFS"]
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
    """The frames of all compressed payloads and the sizes of all; copies go to a folder."""
    frames, sizes = [], []
    with Mount([GPUOBJFS, "-f", path], folder):
        for oid in sorted(os.listdir(os.path.join(folder, "objects"))):
            base = os.path.join(folder, "objects", oid)
            if not os.path.exists(os.path.join(base, "payload")):
                continue
            what, where = load(base, "object.json"), load(base, "location.json")["encoded"]
            if what["codec"] in ("lz4", "zstd"):
                frames.append("%s %d %d %d" % (what["codec"], where["offset"], where["size"],
                                               what["payload_size"]))
            with open(os.path.join(base, "payload"), "rb") as f:
                data = f.read()
            sizes.append(len(data))
            with open(os.path.join(copies, oid), "wb") as f:
                f.write(data)
    return "\n".join(frames) + "\n", "\n".join(map(str, sizes)) + "\n", sum(sizes)


def one_round(path, folder, copies, frames, sizes, found):
    found["decode"].append(cpu_of_child([DECODEPASS, path], input=frames, text=True))
    found["tmpfs"].append(cpu_of_child(["sh", "-c", "exec cat *"], cwd=copies))
    for mode in MODES:
        options = ["-o", mode] if mode != "cached" else []
        with Mount([NULLFS] + options, folder, sizes) as m:
            found["null", mode].append(m.cat("*/payload"))
        with Mount([GPUOBJFS, "-f"] + options + [path], folder) as m:
            found["mount", mode].append(m.cat("objects/*/payload"))


def median(values):
    if isinstance(values[0], tuple):
        return tuple(statistics.median(v) for v in zip(*values))
    return statistics.median(values)


def compare(path, folder, scratch):
    name = "payloads of " + os.path.basename(path)
    copies = os.path.join(scratch, "copies")
    os.mkdir(copies)
    subprocess.run(["mount", "-t", "tmpfs", "none", copies], check=True)
    frames, sizes, total = survey(path, folder, copies)
    found = {"decode": [], "tmpfs": []}
    found.update({(what, mode): [] for what in ("null", "mount") for mode in MODES})
    for _ in range(ROUNDS):
        one_round(path, folder, copies, frames, sizes, found)
    subprocess.run(["umount", copies], check=True)
    os.rmdir(copies)
    middle = {what: median(values) for what, values in found.items()}
    decode, base = middle["decode"], middle["decode"] + middle["tmpfs"]
    print("       %s: %.2f GB, decode %.2f s + tmpfs %.2f s = %.2f s"
          % (name, total / 1e9, decode, middle["tmpfs"], base))
    for mode in MODES:
        null, mount = sum(middle["null", mode]), sum(middle["mount", mode])
        print("       %-9s null %.2f+%.2f s, with decode %.2f times; mount %.2f+%.2f s, %.2f times"
              % ((mode,) + middle["null", mode] + ((null + decode) / base,)
                 + middle["mount", mode] + (mount / base,)))
        if mode == "cached":
            gate(name + ", page cache", mount <= 1.25 * (null + decode),
                 "%.2f of the null file system and decode, limit 1.25" % (mount / (null + decode)))
        else:
            gate(name + ", direct_io", mount <= 1.25 * base,
                 "%.2f of decode and tmpfs, limit 1.25" % (mount / base))


def main():
    scratch = tempfile.mkdtemp()
    folder = os.path.join(scratch, "mnt")
    os.mkdir(folder)
    for path in sys.argv[1:]:
        compare(path, folder, scratch)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
