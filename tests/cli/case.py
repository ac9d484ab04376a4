"""What the cases of this suite share: running gpuobj, checking, inputs made on the spot.

GPUOBJ names the program, which may be a sanitizer build. A case is a script: it calls
check() and ends with finish().
"""

import atexit
import fcntl
import os
import pty
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
ROOT = os.path.dirname(TESTS)
DATA = os.path.join(TESTS, "data")
GPUOBJ = os.environ["GPUOBJ"]
SANITIZER_EXIT = 99

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TESTS, "truth"))

checks = failures = 0


def check(what, held, why=""):
    global checks, failures
    checks += 1
    if not held:
        failures += 1
        print("FAIL: %s%s" % (what, ": %s" % (why,) if why != "" else ""), flush=True)
    return held


def same(what, got, wanted):
    return check(what, got == wanted, "got %r, wanted %r" % (got, wanted))


def skip(why):
    print("SKIP: " + why)
    sys.exit(77)


def finish():
    print("%d checks, %d failures" % (checks, failures))
    sys.exit(1 if failures or not checks else 0)


class Ran:
    """One run of gpuobj: status, out, err (bytes)."""

    def __init__(self, *arguments, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        done = subprocess.run([GPUOBJ] + [os.fspath(a) for a in arguments],
                              stderr=subprocess.PIPE, timeout=240, **options)
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
        if self.status == SANITIZER_EXIT or b"Sanitizer" in self.err or b"runtime error" in self.err:
            check("gpuobj " + " ".join(map(str, arguments)), False, self.err.decode(errors="replace"))

    @property
    def lines(self):
        return self.out.decode().splitlines()

    @property
    def complaints(self):
        return self.err.decode(errors="replace").splitlines()


def on_terminal(*arguments, columns=0, stdout=True, stderr=True, **environment):
    """(what the terminal gets, status); stdout False: that goes into a pipe, stderr False: nowhere."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "CLICOLOR")}
    env.update({"TERM": "xterm"}, **environment)
    child = subprocess.Popen([GPUOBJ] + list(arguments), stdin=side, stdout=side if stdout else subprocess.PIPE,
                             stderr=side if stderr else subprocess.DEVNULL,
                             env={k: v for k, v in env.items() if v is not None})
    os.close(side)
    text = b""
    while True:
        try:
            block = os.read(main, 65536)
        except OSError:  # the other side is closed
            break
        if not block:
            break
        text += block
    os.close(main)
    if not stdout:
        child.stdout.read()
    return text.replace(b"\r\n", b"\n"), child.wait()


def scratch():
    """A folder that goes when the case ends, in memory where there is such a place."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = tempfile.mkdtemp(prefix="gpuobjfs-cli.", dir=place)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def samples():
    """The full sample set, None where there is none."""
    path = os.environ.get("GPUOBJFS_SAMPLES") or os.path.join(ROOT, "..", "shared", "samples")
    return os.path.abspath(path) if os.path.isdir(path) else None


def whole_files(folder):
    """Artifacts of a folder of samples that are meant to be opened and are not broken."""
    for directory, _, names in sorted(os.walk(folder)):
        kind = os.path.relpath(directory, folder).split(os.sep)
        if {"malformed", "bad", "src", "log", "notes"} & set(kind):
            continue
        for name in sorted(names):
            if not name.endswith((".md", ".txt", ".bc")):
                yield os.path.join(directory, name)


# ---- inputs ---------------------------------------------------------------------------


def write(path, content):
    with open(path, "wb") as f:
        f.write(content)
    return path


def bundle(entries):
    """A Clang offload bundle of (entry id, bytes)."""
    magic = b"__CLANG_OFFLOAD_BUNDLE__"
    header = len(magic) + 8 + sum(24 + len(name) for name, _ in entries)
    table, body, at = b"", b"", header
    for name, content in entries:
        table += struct.pack("<QQQ", at, len(content), len(name)) + name
        body += content
        at += len(content)
    return magic + struct.pack("<Q", len(entries)) + table + body


def ptx(*kernels, target="sm_90", comment=""):
    """PTX text of (name, performance directives, body)."""
    text = ".version 8.0\n.target %s\n.address_size 64\n%s" % (target, comment)
    for name, directives, body in kernels:
        text += ".visible .entry %s(\n\t.param .u64 p\n)\n%s{\n%s\tret;\n}\n" % (name, directives, body)
    return text.encode()
