#!/usr/bin/env python3
"""Performance gates of gpuobj's commands, each measured against a yardstick in the same run.

Usage: cli.py DIR       run by cli.sh

a  `gpuobj summary` of nodellama, less what `gpuobj --version` needs, against one read() pass
   over the file: at most 4 times, or 5 ms, whichever is more: the bound of a mount's first ls
b  `gpuobj summary --kernels` of it against a plain zstd decode of its payloads, both on one
   CPU: at most 1.5 times

CPU time of whole processes, user and system, so that what else the machine does counts little;
medians of 5 alternating runs, everything in the page cache. Exit 1 when a gate is not held.
"""

import json
import os
import statistics
import subprocess
import sys

RUNS = 5
GPUOBJ = os.environ["GPUOBJ"]
READPASS = os.environ["READPASS"]
DECODEPASS = os.environ["DECODEPASS"]
CPU = min(os.sched_getaffinity(0))
failed = 0


def gate(name, held, text):
    global failed
    failed += not held
    print("%-6s %s: %s" % ("ok" if held else "FAIL", name, text), flush=True)


def seconds(command, text=b""):
    """CPU seconds of a command that is held to one CPU."""
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                             preexec_fn=lambda: os.sched_setaffinity(0, {CPU}))
    child.stdin.write(text)
    child.stdin.close()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status:
        raise SystemExit("%s: failed" % command[0])
    return usage.ru_utime + usage.ru_stime


def alternating(*commands):
    """The medians of several commands, given with what they read."""
    times = [[] for _ in commands]
    for _ in range(RUNS):
        for i, (command, text) in enumerate(commands):
            times[i].append(seconds(command, text))
    return [statistics.median(t) for t in times]


def records(path, name):
    """All files of one name in the objects of an artifact."""
    text = subprocess.run([GPUOBJ, "cat", path, "objects/*/" + name], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    decoder = json.JSONDecoder()
    found, at = [], 0
    while at < len(text):
        record, at = decoder.raw_decode(text, at)
        found.append(record)
        at += 1  # the newline
    return found


def zstd_frames(path):
    lines = []
    for what, where in zip(records(path, "object.json"), records(path, "location.json")):
        if what["codec"] == "zstd":
            lines.append("zstd %d %d %d" % (where["encoded"]["offset"], where["encoded"]["size"],
                                       what["payload_size"]))
    return "\n".join(lines).encode()


def gate_summary(path):
    start, took, read = alternating(([GPUOBJ, "--version"], b""), ([GPUOBJ, "summary", path], b""),
                                    ([READPASS, path], b""))
    limit = max(4 * read, 0.005)
    gate("summary of " + os.path.basename(path), took - start <= limit,
         "%.1f ms, read pass %.1f ms, limit %.1f ms"
         % ((took - start) * 1e3, read * 1e3, limit * 1e3))


def gate_kernels(path):
    took, plain = alternating(([GPUOBJ, "summary", "--kernels", path], b""),
                              ([DECODEPASS, path], zstd_frames(path)))
    gate("summary --kernels of " + os.path.basename(path), took <= 1.5 * plain,
         "%.2f s, plain zstd %.2f s, ratio %.2f, limit 1.5" % (took, plain, took / plain))


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    path = os.path.join(sys.argv[1], "nodellama-linux-libggml-cuda.so")
    if not os.path.exists(path):
        print("skip   %s: not there" % path)
        return 0
    gate_summary(path)
    gate_kernels(path)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
