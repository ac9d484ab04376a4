#!/usr/bin/env python3
"""Performance gates of the first stage, each measured against a yardstick in the same run.

Usage: bench.py FILE...       run by bench.sh inside private namespaces, as root

a  mount to first `ls targets`, less what hello_ll needs, against one read() pass over FILE:
   at most 4 times, or 5 ms, whichever is more
b  `dd bs=1M` of a stored payload, freshly mounted each time, against passthrough_ll on the same
   bytes: at least 0.9
c  resident memory after `ls -lR`: below 96 MiB plus the cache budget
d  devices/<device>/device.json of an artifact with 1,000 objects or more, rendered anew each
   time: at most what `ls objects` takes on the same mount, warm

Medians of 9 alternating runs, everything in the page cache. HELLO_LL and PASSTHROUGH_LL name
the two examples of libfuse; what needs a missing one is skipped. Exit 1 when a gate is not held.
"""

import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

RUNS = 9
GPUOBJFS = os.environ["GPUOBJFS"]
READPASS = os.environ["READPASS"]
HELLO = os.environ.get("HELLO_LL")
PASSTHROUGH = os.environ.get("PASSTHROUGH_LL")
CACHE = 256 << 20
failed = 0


def median(values):
    return statistics.median(values)


def spread(values):
    return "%.1f..%.1f" % (min(values) / 1e3, max(values) / 1e3)


def gate(name, held, text):
    global failed
    failed += not held
    print("%-6s %s: %s" % ("ok" if held else "FAIL", name, text), flush=True)


def unmount(folder):
    subprocess.run(["fusermount3", "-u", folder], check=True)


def first_ls(command, folder, inside):
    """Microseconds from starting a mounter until `ls` of a folder in it has ended."""
    start = time.monotonic_ns()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run(["ls", os.path.join(folder, inside)], check=True, stdout=subprocess.DEVNULL)
    took = (time.monotonic_ns() - start) / 1e3
    unmount(folder)
    return took


def readpass(path):
    return float(subprocess.run([READPASS, path], check=True, stdout=subprocess.PIPE).stdout)


def gate_first_ls(path, folder):
    name = "first ls of " + os.path.basename(path)
    if not HELLO:
        print("skip   %s: hello_ll was not built" % name)
        return
    readpass(path)
    ours, hello, passes = [], [], []
    for _ in range(RUNS):
        ours.append(first_ls([GPUOBJFS, path, folder], folder, "targets"))
        hello.append(first_ls([HELLO, folder], folder, ""))
        passes.append(readpass(path))
    cost = median(ours) - median(hello)
    limit = max(4 * median(passes), 5000)
    gate(name, cost <= limit,
         "%.1f ms - hello_ll %.1f ms = %.1f ms; read pass %.1f ms, ratio %.2f, limit %.1f ms (ours %s)"
         % (median(ours) / 1e3, median(hello) / 1e3, cost / 1e3, median(passes) / 1e3,
            cost / median(passes), limit / 1e3, spread(ours)))


def stored_payload(folder):
    """The largest stored payload of a mount: id, offset, size."""
    best = (0, None, 0)
    for oid in os.listdir(os.path.join(folder, "objects")):
        base = os.path.join(folder, "objects", oid)
        try:
            size = os.stat(os.path.join(base, "payload")).st_size
        except OSError:
            continue
        if size <= best[0] or os.path.exists(os.path.join(base, "encoded")):
            continue
        with open(os.path.join(base, "location.json")) as f:
            where = json.load(f)
        if where["space"] == "artifact":
            best = (size, oid, where["encoded"]["offset"])
    return best


def dd(path):
    start = time.monotonic_ns()
    subprocess.run(["dd", "if=" + path, "of=/dev/null", "bs=1M", "status=none"], check=True)
    return (time.monotonic_ns() - start) / 1e3


def gate_sequential(path, folder, scratch):
    name = "sequential read of " + os.path.basename(path)
    if not PASSTHROUGH:
        print("skip   %s: passthrough_ll was not built" % name)
        return
    subprocess.run([GPUOBJFS, path, folder], check=True, stderr=subprocess.DEVNULL)
    size, oid, offset = stored_payload(folder)
    unmount(folder)
    if size < 4 << 20:
        print("skip   %s: no stored payload of 4 MiB" % name)
        return
    source = os.path.join(scratch, "source")
    os.makedirs(source, exist_ok=True)
    with open(path, "rb") as f, open(os.path.join(source, "payload"), "wb") as out:
        f.seek(offset)
        out.write(f.read(size))
    ours, theirs, bare = [], [], []
    inside = os.path.join(folder, "objects", oid, "payload")
    for _ in range(RUNS):
        subprocess.run([GPUOBJFS, path, folder], check=True, stderr=subprocess.DEVNULL)
        ours.append(dd(inside))
        unmount(folder)
        subprocess.run([PASSTHROUGH, "-o", "source=" + source, folder], check=True)
        theirs.append(dd(os.path.join(folder, "payload")))
        unmount(folder)
        bare.append(dd(os.path.join(source, "payload")))
    shutil.rmtree(source)
    ratio = median(theirs) / median(ours)
    gate(name, ratio >= 0.9,
         "%.1f MB: %.0f MB/s, passthrough_ll %.0f MB/s, without FUSE %.0f MB/s, ratio %.2f "
         "(ours %s ms, theirs %s ms)"
         % (size / 1e6, size / median(ours), size / median(theirs), size / median(bare), ratio,
            spread(ours), spread(theirs)))


def resident(pid):
    """KiB resident now and at most."""
    found = {}
    with open("/proc/%d/status" % pid) as f:
        for line in f:
            if line.startswith(("VmRSS:", "VmHWM:")):
                found[line[:5]] = int(line.split()[1])
    return found["VmRSS"], found["VmHWM"]


def gate_resident(path, folder):
    name = "resident after ls -lR of " + os.path.basename(path)
    child = subprocess.Popen([GPUOBJFS, "-f", path, folder], stderr=subprocess.DEVNULL)
    parent = os.stat(os.path.dirname(folder)).st_dev
    while os.stat(folder).st_dev == parent:
        if child.poll() is not None:
            gate(name, False, "not mounted")
            return
    before, _ = resident(child.pid)
    subprocess.run(["ls", "-lR", folder], check=True, stdout=subprocess.DEVNULL)
    after, most = resident(child.pid)
    unmount(folder)
    child.wait()
    limit = (96 << 10) + CACHE // 1024
    gate(name, most < limit, "%.1f MiB after mount, %.1f MiB after, %.1f MiB at most, limit %.0f MiB"
         % (before / 1024, after / 1024, most / 1024, limit / 1024))


def timed(*command):
    start = time.monotonic_ns()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (time.monotonic_ns() - start) / 1e3


def gate_device(path, folder):
    name = "device.json of " + os.path.basename(path)
    subprocess.run([GPUOBJFS, path, folder], check=True, stderr=subprocess.DEVNULL)
    objects = os.path.join(folder, "objects")
    devices = os.path.join(folder, "devices")
    # Each device is read once: what was rendered is cached.
    names = sorted(os.listdir(devices))[-RUNS:]
    count = len(os.listdir(objects))
    ours, lists = [], []
    for device in names if count >= 1000 else []:
        lists.append(timed("ls", objects))
        ours.append(timed("cat", os.path.join(devices, device, "device.json")))
    unmount(folder)
    if not ours:
        print("skip   %s: %d objects" % (name, count))
        return
    gate(name, median(ours) <= median(lists),
         "%.1f ms, ls objects %.1f ms, ratio %.2f (%s ms, %s ms)"
         % (median(ours) / 1e3, median(lists) / 1e3, median(ours) / median(lists), spread(ours),
            spread(lists)))


def made(scratch):
    """A fatbin with one stored entry of 128 MiB: long enough to time a copy."""
    path = os.path.join(scratch, "made-128MiB.fatbin")
    size = 128 << 20
    entry = struct.pack("<HHIQIIHHIIIQQQ", 2, 0x0101, 64, size, 0, 0, 8, 1, 90, 0, 0, 0x11, 0, 0)
    with open(path, "wb") as f:
        f.write(struct.pack("<4sHHQ", b"\x50\xed\x55\xba", 1, 16, 64 + size) + entry)
        block = os.urandom(1 << 20)
        for _ in range(size >> 20):
            f.write(block)
    return path


def main():
    scratch = tempfile.mkdtemp()
    folder = os.path.join(scratch, "mnt")
    os.mkdir(folder)
    gate_sequential(made(scratch), folder, scratch)
    for path in sys.argv[1:]:
        gate_first_ls(path, folder)
        gate_sequential(path, folder, scratch)
        gate_resident(path, folder)
        gate_device(path, folder)
    shutil.rmtree(scratch)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
