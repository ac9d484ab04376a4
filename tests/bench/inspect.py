#!/usr/bin/env python3
"""Performance gates of inspection, each measured against a yardstick in the same run.

Usage: inspect.py DIR       run by inspect.sh inside private namespaces

a  first `cat inspect/report.json` of nodellama on a mount, against a plain zstd decode of its
   payloads by one thread: at most 1.5 times on one CPU, at most 0.9 times on two
b  the same of librocrand, the daemon alone, against one `llvm-readelf --notes` of its code
   objects: at most a tenth of the CPU time, and a quarter of the memory; other readings of that
   (wall time, gpuobj, one llvm-readelf for each object) are printed
c  resident memory of the mount after a: below 96 MiB plus the cache budget
d  `ls` of 12,000 kernels of a target, examined before, against `ls` of the same names on tmpfs:
   at most 5 times; `ls objects` of libcufft likewise

Medians of 5 runs, everything in the page cache. Exit 1 when a gate is not held.
"""

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

RUNS = 5
GPUOBJFS = os.environ["GPUOBJFS"]
GPUOBJ = os.environ["GPUOBJ"]
DECODEPASS = os.environ["DECODEPASS"]
CACHE = 256 << 20
KERNELS = 12000
failed = 0


def gate(name, held, text):
    global failed
    failed += not held
    print("%-6s %s: %s" % ("ok" if held else "FAIL", name, text), flush=True)


def skip(name, why):
    print("skip   %s: %s" % (name, why), flush=True)


def cpu_clock(pid):
    """What clock_getcpuclockid() gives."""
    return ~pid << 3 | 2


class Mount:
    """A mounted artifact, its daemon held to some CPUs (0: all)."""

    def __init__(self, path, folder, cpus=0):
        self.folder = folder
        command = [GPUOBJFS, "-f", path, folder]
        if cpus:
            command = ["taskset", "-c", "0-%d" % (cpus - 1)] + command
        parent = os.stat(os.path.dirname(folder)).st_dev
        self.child = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        while os.stat(folder).st_dev == parent:
            if self.child.poll() is not None:
                raise SystemExit("%s: not mounted" % path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["fusermount3", "-u", self.folder], check=True)
        self.child.wait()

    def cpu(self):
        """Microseconds of all its threads, those that have ended included."""
        return time.clock_gettime_ns(cpu_clock(self.child.pid)) / 1e3

    def most_resident(self):
        with open("/proc/%d/status" % self.child.pid) as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmHWM:"))

    def time(self, *command):
        start = time.monotonic_ns()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self.folder)
        return (time.monotonic_ns() - start) / 1e3


def zstd_frames(folder):
    lines = []
    for oid in sorted(os.listdir(os.path.join(folder, "objects"))):
        base = os.path.join(folder, "objects", oid)
        with open(os.path.join(base, "object.json")) as f:
            what = json.load(f)
        if what["codec"] != "zstd":
            continue
        with open(os.path.join(base, "location.json")) as f:
            where = json.load(f)["encoded"]
        lines.append("zstd %d %d %d" % (where["offset"], where["size"], what["payload_size"]))
    return "\n".join(lines)


def zstd_pass(path, frames):
    done = subprocess.run([DECODEPASS, path], input=frames, check=True, stdout=subprocess.PIPE,
                          text=True)
    return float(done.stdout)


def gate_report(path, folder):
    name = "first report of " + os.path.basename(path)
    if not os.path.exists(path):
        return skip(name, "not there")
    with Mount(path, folder) as m:
        frames = zstd_frames(folder)
    zstd_pass(path, frames)
    plain, plain_cpu, times, cpu, most = [], [], {1: [], 2: []}, [], 0
    for _ in range(RUNS):
        before = children_cpu()
        plain.append(zstd_pass(path, frames))
        plain_cpu.append(children_cpu() - before)
        for cpus in times:
            with Mount(path, folder, cpus) as m:
                before = m.cpu()
                times[cpus].append(m.time("cat", "inspect/report.json"))
                cpu.append(m.cpu() - before)
                most = max(most, m.most_resident())
    base = statistics.median(plain)
    print("       %s: CPU %.2f s, plain zstd %.2f s, ratio %.2f"
          % (name, statistics.median(cpu) / 1e6, statistics.median(plain_cpu) / 1e6,
             statistics.median(cpu) / statistics.median(plain_cpu)), flush=True)
    for cpus, limit in ((1, 1.5), (2, 0.9)):
        if cpus > len(os.sched_getaffinity(0)):
            skip("%s, %d CPUs" % (name, cpus), "there are fewer")
            continue
        took = statistics.median(times[cpus])
        gate("%s, CPUs %d" % (name, cpus), took <= limit * base,
             "%.2f s, plain zstd %.2f s, ratio %.2f, limit %.1f"
             % (took / 1e6, base / 1e6, took / base, limit))
    limit = (96 << 10) + CACHE // 1024
    gate("memory of the " + name, most <= limit,
         "%.1f MiB at most, limit %.0f MiB" % (most / 1024, limit / 1024))


def children_cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1e6


class Sample:
    """Medians of time, CPU time (both in microseconds), and the most memory (in KiB)."""

    def __init__(self):
        self.times, self.cpus, self.most = [], [], 0

    def add(self, start, cpu, most):
        self.times.append((time.monotonic_ns() - start) / 1e3)
        self.cpus.append(cpu)
        self.most = max(self.most, most)

    def run(self, commands):
        """Starts commands one after the other."""
        start, before, most = time.monotonic_ns(), children_cpu(), 0
        for command in commands:
            child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            _, child.returncode, usage = os.wait4(child.pid, 0)
            if child.returncode:
                raise SystemExit("%s: failed" % command[0])
            most = max(most, usage.ru_maxrss)
        self.add(start, children_cpu() - before, most)

    def report(self, path, folder):
        """Reads the report of a fresh mount, which is started before. Opening it counts: the
        size of the file is asked for then, and that is when objects are examined."""
        with Mount(path, folder) as m:
            start, before = time.monotonic_ns(), m.cpu()
            with open(os.path.join(folder, "inspect/report.json"), "rb") as f:
                f.read()
            self.add(start, m.cpu() - before, m.most_resident())

    def ratios(self, theirs):
        return (statistics.median(self.times) / statistics.median(theirs.times),
                statistics.median(self.cpus) / statistics.median(theirs.cpus),
                self.most / theirs.most)

    def __str__(self):
        return "%.1f ms, CPU %.1f ms, %.1f MiB" % (
            statistics.median(self.times) / 1e3, statistics.median(self.cpus) / 1e3,
            self.most / 1024)


def objects_of(path, scratch):
    """The payloads of all objects that belong to a target, as files."""
    objects = os.path.join(scratch, "objects")
    subprocess.run([GPUOBJ, "cp", path, "/targets", objects], check=True)
    ids = set()
    for root, _, files in os.walk(objects):
        if "objects" in files:
            with open(os.path.join(root, "objects")) as f:
                ids.update(f.read().split())
    payloads = [os.path.join(scratch, oid) for oid in sorted(ids)]
    for payload in payloads:
        subprocess.run([GPUOBJ, "cp", path, "/objects/%s/payload" % os.path.basename(payload),
                        payload], check=True)
    return payloads


def gate_readelf(path, scratch, folder):
    name = "report of %s against llvm-readelf --notes" % os.path.basename(path)
    readelf = shutil.which("llvm-readelf-22") or shutil.which("llvm-readelf")
    if not os.path.exists(path) or not readelf:
        return skip(name, "the file or llvm-readelf is not there")
    payloads = objects_of(path, scratch)
    mount, program, each, all_at_once = Sample(), Sample(), Sample(), Sample()
    for _ in range(2 * RUNS):
        mount.report(path, folder)
        program.run([[GPUOBJ, "cat", path, "/inspect/report.json"]])
        each.run([readelf, "--notes", payload] for payload in payloads)
        all_at_once.run([[readelf, "--notes"] + payloads])
    print("       the mount, first read: %s" % mount)
    print("       gpuobj cat, the search included: %s" % program)
    print("       llvm-readelf, one start for each of %d objects: %s" % (len(payloads), each))
    print("       llvm-readelf, one for all: %s" % all_at_once, flush=True)
    for what, theirs in (("one by one", each), ("all at once", all_at_once)):
        print("       against %s: time %.3f, CPU %.3f, memory %.2f; gpuobj %.3f, %.3f, %.2f"
              % ((what,) + mount.ratios(theirs) + program.ratios(theirs)))
    # Of so few milliseconds the CPU time is known in ticks of the kernel: it is printed above.
    wall, _, memory = mount.ratios(all_at_once)
    gate(name, wall <= 0.1 and memory <= 0.25,
         "time of the mount %.3f of all at once, memory %.2f; limits 0.1 and 0.25" % (wall, memory))


def gate_names(name, m, inside, scratch):
    names = os.listdir(os.path.join(m.folder, inside))
    plain = os.path.join(scratch, "names")
    os.mkdir(plain)
    subprocess.run(["mount", "-t", "tmpfs", "none", plain], check=True)
    for one in names:
        with open(os.path.join(plain, one), "w"):
            pass
    ours, theirs = [], []
    for _ in range(RUNS):
        ours.append(m.time("ls", inside))
        theirs.append(m.time("ls", plain))
    subprocess.run(["umount", plain], check=True)
    os.rmdir(plain)
    took, base = statistics.median(ours), statistics.median(theirs)
    gate(name, took <= 5 * base, "%d names, %.1f ms, tmpfs %.1f ms, ratio %.2f, limit 5"
         % (len(names), took / 1e3, base / 1e3, took / base))


def gate_listings(folder, scratch):
    path = os.path.join(scratch, "many.ptx")
    with open(path, "w") as f:
        f.write(".version 8.0\n.target sm_90\n.address_size 64\n")
        for i in range(KERNELS):
            f.write(".visible .entry kernel_%05d(\n\t.param .u64 p\n)\n{\n\tret;\n}\n" % i)
    with Mount(path, folder) as m:
        gate_names("ls of %d kernels" % KERNELS, m, "targets/compute_90/inspect/kernels", scratch)
    path = os.path.join(os.environ.get("CUDA_LIB", "/usr/local/cuda/lib64"), "libcufft.so.12")
    if not os.path.exists(path):
        return skip("ls objects of libcufft", "not there")
    with Mount(path, folder) as m:
        gate_names("ls objects of libcufft", m, "objects", scratch)


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    folder = sys.argv[1]
    scratch = tempfile.mkdtemp()
    mountpoint = os.path.join(scratch, "mnt")
    os.mkdir(mountpoint)
    gate_report(os.path.join(folder, "nodellama-linux-libggml-cuda.so"), mountpoint)
    gate_readelf(os.path.join(folder, "librocrand.so.1.1"), scratch, mountpoint)
    gate_listings(mountpoint, scratch)
    shutil.rmtree(scratch)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
