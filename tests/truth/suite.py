#!/usr/bin/env python3
"""Runs gpuobj over folders of samples and compares its trees with the truth.

Usage: suite.py self                  the truth agrees with itself (needs the full samples)
       suite.py data                  every whole sample of tests/data equals the truth
       suite.py manifest              every sample that a MANIFEST describes equals it
       suite.py faults                every broken sample: no crash, 2 s, 256 MiB
       suite.py mutants               compare.py sees each change made to a right tree, and
                                      gpuobj says which field of a header was damaged

GPUOBJ names the program. GPUOBJFS_SAMPLES names the full sample set; without it, and without
../shared/samples beside the repository, what needs it is skipped (exit 77). gpuobj may be a
sanitizer build: then its reports count as crashes and memory is not looked at.
"""

import contextlib
import io
import os
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.path.join(ROOT, "tests", "data")
CPU_SECONDS = 2
RESIDENT_KIB = 256 * 1024
SANITIZER_EXIT = 99

sys.path.insert(0, HERE)
import compare as comparison  # noqa: E402
import headers  # noqa: E402
import manifest  # noqa: E402

# Copies go to memory where there is such a folder: what a disk spends on thousands of new files
# would count against the limit of CPU time.
if os.access("/dev/shm", os.W_OK):
    tempfile.tempdir = "/dev/shm"


def samples():
    path = os.environ.get("GPUOBJFS_SAMPLES") or os.path.join(ROOT, "..", "shared", "samples")
    if not os.path.isdir(path):
        print("SKIP: no full sample set (GPUOBJFS_SAMPLES)")
        sys.exit(77)
    return os.path.abspath(path)


def gpuobj():
    path = os.environ.get("GPUOBJ")
    if not path:
        sys.exit("suite.py: GPUOBJ is not set")
    return path


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def environment():
    env = dict(os.environ)
    env["ASAN_OPTIONS"] = "exitcode=%d:detect_leaks=1" % SANITIZER_EXIT
    env["UBSAN_OPTIONS"] = "halt_on_error=1:print_stacktrace=1:exitcode=%d" % SANITIZER_EXIT
    return env


def is_sanitized():
    with open(gpuobj(), "rb") as f:
        return b"__asan_init" in f.read()


class Ran:
    """One run: status, output, CPU seconds, resident KiB."""

    def __init__(self, *arguments):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = subprocess.Popen([gpuobj()] + list(arguments), stdin=subprocess.DEVNULL,
                                     stdout=out, stderr=err, preexec_fn=limits, env=environment())
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = 0
            self.status = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            self.out, self.err = out.read(), err.read()
        self.resident = usage.ru_maxrss
        self.cpu = usage.ru_utime + usage.ru_stime

    def crash(self):
        """Why this counts as a crash, None when it does not."""
        if self.status < 0:
            return "signal %d after %.1f s" % (-self.status, self.cpu)
        if self.status == SANITIZER_EXIT or b"Sanitizer" in self.err or b"runtime error" in self.err:
            return "sanitizer report: " + self.err.decode("utf-8", "replace")[:600]
        return None


def compare(*arguments):
    """(status, what compare.py prints)"""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = comparison.run(list(arguments))
    return status, out.getvalue()


def files(folder):
    for directory, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if not name.endswith((".md", ".txt")):
                yield os.path.relpath(os.path.join(directory, name), folder)


def broken(name):
    return "/malformed/" in name or "/bad/" in name


def artifact(name):
    """A file that is meant to be opened: no sources, logs and notes of the sample set."""
    return name.split("/")[1] not in ("src", "log", "notes") if "/" in name else False


def refused(name):
    return name.endswith(".bc")


# What the truth knows about; the schemas are the ones that copy devices, too.
KNOWN = ["artifact.json", "problems.json", "containers", "objects", "targets"]


def copied(path, folder):
    """The tree of one artifact in folder, None with a reason when gpuobj fails."""
    ran = Ran("cp", path, *KNOWN, folder)
    if ran.crash() or ran.status:
        return ran.crash() or "status %d: %s" % (ran.status, ran.err.decode("utf-8", "replace"))
    return None


def not_yet():
    """Samples whose containers are known not to be decoded: the list may only shrink."""
    try:
        with open(os.path.join(HERE, "not-yet.txt")) as f:
            return {line.split("#")[0].strip() for line in f} - {""}
    except FileNotFoundError:
        return set()


class Tally:
    def __init__(self):
        self.passed = self.failed = self.waiting = 0

    def count(self, name, text):
        if text:
            self.failed += 1
            print("FAIL %s: %s" % (name, text.rstrip()))
        else:
            self.passed += 1

    def end(self):
        print("%d files right, %d wrong, %d known not to be decoded yet"
              % (self.passed, self.failed, self.waiting))
        return 1 if self.failed or not self.passed else 0


def one(tally, name, path, truths, waiting):
    """Compares one artifact's tree with each truth, a list of arguments of compare.py."""
    with tempfile.TemporaryDirectory() as folder:
        text = copied(path, folder)
        for arguments in truths:
            if not text:
                status, text = compare(*arguments, folder)
                text = text if status else None
    if name in waiting:
        if text:
            tally.waiting += 1
            return
        text = "is right now: take it out of not-yet.txt"
    tally.count(name, text)


def run_data():
    tally = Tally()
    for name in files(DATA):
        if artifact(name) and not broken(name) and not refused(name):
            path = os.path.join(DATA, name)
            one(tally, name, path, [["--artifact", path]], not_yet())
    return tally.end()


def run_manifest():
    tally = Tally()
    folder = samples()
    known = manifest.load_all(folder)
    for name in files(folder):
        if not artifact(name) or broken(name) or refused(name):
            continue
        path = os.path.join(folder, name)
        truths = [["--artifact", path]]
        if name in known:
            truths.append(["--manifest", folder, name])
        one(tally, name, path, truths, not_yet())
    return tally.end()


def fault(path, sanitized):
    """What is wrong about walking one broken file, None when nothing is."""
    with tempfile.TemporaryDirectory() as folder:
        for arguments in (["ls", "-lR", path], ["cp", path, "/", folder]):
            ran = Ran(*arguments)
            what = "gpuobj " + arguments[0]
            if ran.crash():
                return "%s: %s" % (what, ran.crash())
            if ran.status not in (0, 1, 4):
                return "%s: status %d: %s" % (what, ran.status, ran.err.decode("utf-8", "replace"))
            if ran.status and not ran.err:
                return "%s: status %d without a word" % (what, ran.status)
            if not sanitized and ran.resident > RESIDENT_KIB:
                return "%s: %d KiB resident" % (what, ran.resident)
            if ran.status == 4:
                return None
        status, text = compare("--faulty", "--artifact", path, folder)
        return text if status else None


def run_faults():
    tally = Tally()
    sanitized = is_sanitized()
    folders = [DATA]
    full = os.environ.get("GPUOBJFS_SAMPLES") or os.path.join(ROOT, "..", "shared", "samples")
    if os.path.isdir(full):
        folders.append(full)
    else:
        print("note: no full sample set (GPUOBJFS_SAMPLES), only tests/data")
    seen = set()
    for folder in reversed(folders):
        for name in files(folder):
            if not artifact(name) or not broken(name) or name in seen:
                continue
            seen.add(name)
            text = fault(os.path.join(folder, name), sanitized)
            if name in not_yet() and text:
                tally.waiting += 1
            else:
                tally.count(name, text)
    return tally.end()


MUTANTS = [
    # (name, file under the tree, change of its bytes; None: the file is removed)
    ("a payload byte", "objects/00001/payload", lambda b: b[:100] + bytes([b[100] ^ 1]) + b[101:]),
    ("a payload cut", "objects/00001/payload", lambda b: b[:-1]),
    ("a payload grown", "objects/00001/payload", lambda b: b + b"\0"),
    ("no payload", "objects/00001/payload", None),
    ("an encoded byte", "objects/00003/encoded", lambda b: b[:-1] + bytes([b[-1] ^ 1])),
    ("no encoded", "objects/00003/encoded", None),
    ("another target", "objects/00001/object.json", lambda b: b.replace(b"sm_90a", b"sm_90")),
    ("another codec", "objects/00003/object.json", lambda b: b.replace(b'"zstd"', b'"lz4"')),
    ("another kind", "objects/00003/object.json", lambda b: b.replace(b'"ptx"', b'"cubin"')),
    ("examined", "objects/00003/object.json", lambda b: b.replace(b"unexamined", b"complete")),
    ("another offset", "objects/00002/location.json", lambda b: b.replace(b'"offset":\t', b'"offset":\t1')),
    ("another order of keys", "artifact.json", lambda b: b.replace(b'"name"', b'"eman"')),
    ("another digest", "artifact.json", lambda b: b.replace(b'"sha256":\t"', b'"sha256":\t"0')),
    ("partial", "artifact.json", lambda b: b.replace(b'"complete"', b'"partial"')),
    ("a problem", "problems.json", lambda b: b'[{"code": "limit"}]\n'),
    ("another size", "containers/00000/container.json", lambda b: b.replace(b'"size":\t', b'"size":\t1')),
    ("a container's place", "containers/00000/container.json", lambda b: b.replace(b".nv_fatbin", b".text")),
    ("an id list", "targets/sm_90a/objects", lambda b: b.replace(b"00001", b"00002")),
    ("a lost id", "targets/sm_90a/objects", lambda b: b"00001\n"),
    ("a target's count", "targets/sm_90a/target.json", lambda b: b.replace(b'"objects":\t2', b'"objects":\t3')),
    ("a lost target", "targets/sm_90a/target.json", None),
    ("no JSON", "objects/00000/object.json", lambda b: b[:-3]),
]


@contextlib.contextmanager
def tree_of(path):
    with tempfile.TemporaryDirectory() as folder:
        yield folder, copied(path, folder)


def run_mutants():
    path = os.path.join(DATA, "cuda/host/libtwo.so")
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        text = copied(path, folder)
        if not text and compare("--artifact", path, folder)[0]:
            text = "the tree is not right to begin with"
        tally.count("the tree as it is", text)
        for name, where, change in MUTANTS:
            victim = os.path.join(folder, where)
            with open(victim, "rb") as f:
                before = f.read()
            os.chmod(victim, 0o644)
            os.unlink(victim)
            after = change(before) if change else None
            if after is not None:
                with open(victim, "wb") as f:
                    f.write(after)
            status, _ = compare("--artifact", path, folder)
            text = None
            if after == before:
                text = "the change changed nothing"
            elif status != 1:
                text = "compare.py gives %d" % status
            tally.count("mutant: " + name, text)
            with open(victim, "wb") as f:
                f.write(before)
    with tempfile.TemporaryDirectory() as scratch:
        headers.run(DATA, scratch, tree_of, tally.count)
    return tally.end()


def run_self():
    return subprocess.run([sys.executable, os.path.join(HERE, "selfcheck.py"), samples()]).returncode


RUNS = {"self": run_self, "data": run_data, "manifest": run_manifest, "faults": run_faults,
        "mutants": run_mutants}

if __name__ == "__main__":
    sys.dont_write_bytecode = True
    if len(sys.argv) != 2 or sys.argv[1] not in RUNS:
        sys.exit(__doc__)
    sys.exit(RUNS[sys.argv[1]]())
