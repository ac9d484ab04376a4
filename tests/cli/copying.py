#!/usr/bin/env python3
"""gpuobj cp: goes on where it ended, never mixes two artifacts, writes nothing outside.

That a whole copy is what cp -a gives from a mount is the case "copy" of the mount suite.
"""

import errno
import os
import shutil
import signal
import stat
import subprocess
import threading

from case import DATA, GPUOBJ, Ran, bundle, check, finish, same, scratch, write

folder = scratch()
os.chdir(folder)
shutil.copy(os.path.join(DATA, "cuda/host/libtwo.so"), "lib.so")
os.utime("lib.so", (1, 1))  # as reproducible builds do


def copy(what, *arguments, status=0):
    ran = Ran("cp", *arguments)
    if not same(what + ": status", ran.status, status):
        print(ran.err.decode(errors="replace"))
    return ran


def tree(top):
    """{path: (mode, size, mtime, bytes)} of all that is there."""
    found = {}
    for directory, folders, names in os.walk(top):
        for name in folders + names:
            path = os.path.join(directory, name)
            st = os.lstat(path)
            content = None
            if stat.S_ISREG(st.st_mode):
                with open(path, "rb") as f:
                    content = f.read()
            found[os.path.relpath(path, top)] = (st.st_mode, st.st_size if content else 0, st.st_mtime_ns, content)
    return found


def inodes(top):
    return {os.path.relpath(os.path.join(d, n), top): os.lstat(os.path.join(d, n)).st_ino
            for d, _, names in os.walk(top) for n in names}


def again(what, *arguments, status=0):
    """Paths that a copy into "d" made anew."""
    before = inodes("d")
    copy(what, *arguments, status=status)
    after = inodes("d")
    return {path for path, ino in after.items() if before.get(path) != ino}


# ---- going on ----------------------------------------------------------------------------

copy("fresh", "lib.so", "/", "d")
fresh = tree("d")
check("fresh: many files", len(fresh) > 50, len(fresh))
same("again: nothing is written", again("again", "lib.so", "/", "d"), set())
same("again: the tree", tree("d"), fresh)

os.unlink("d/problems.json")
shutil.rmtree("d/objects/00001")
os.chmod("d/objects/00000/payload", 0o644)
os.truncate("d/objects/00000/payload", 10)
os.utime("d/objects/00000/payload", (1, 1))
os.utime("d/objects/00002/payload", (2, 2))
gone = {"problems.json", "objects/00000/payload", "objects/00002/payload"}
gone |= {path for path in fresh if path.startswith("objects/00001/") and fresh[path][3] is not None}
same("what is missing, short or of another time", again("repair", "lib.so", "/", "d"), gone)
same("repaired: the tree", tree("d"), fresh)

files = {path for path in fresh if fresh[path][3] is not None}
same("-f: everything", again("-f", "-f", "lib.so", "/", "d"), files)
same("--force: everything", again("--force", "--force", "lib.so", "/.", "d"), files)
same("parts go on as well", again("part", "lib.so", "/objects", "/targets", "d"), set())
os.utime("lib.so", (2, 2))
same("a touched artifact: everything", again("touched", "lib.so", "/", "d"), files)
os.utime("lib.so", (1, 1))
copy("as before", "lib.so", "/", "d")

# ---- two artifacts ---------------------------------------------------------------------------

# The same sizes and times everywhere, but other bytes.
with open("lib.so", "rb") as f:
    content = bytearray(f.read())
twin = bytes(content).replace(b"_Z3t1kPfi", b"_Z3t1xPfi")
check("the twin differs", twin != bytes(content))
write("twin.so", twin)
os.utime("twin.so", (1, 1))
copy("twin", "twin.so", "/", "t")
twins = tree("t")
alike = [p for p in files if p in twins and twins[p][:3] == fresh[p][:3] and twins[p] != fresh[p]]
check("some files differ in bytes alone", len(alike) > 3, alike)

before = tree("d")
for paths in (["/"], ["/objects"], ["/objects/00000/payload"]):
    ran = copy("another artifact, %s" % paths, "twin.so", *paths, "d", status=1)
    check("another artifact: one line says so", ran.err.count(b"\n") == 1 and b"another artifact" in ran.err, ran.err)
    same("another artifact: nothing changed", tree("d"), before)
copy("another artifact, -f", "-f", "twin.so", "/", "d")
same("another artifact, -f: all of the new one", {p: c for p, c in tree("d").items() if p in twins}, twins)

# Above the destination: what would be a part of that copy, and only that.
shutil.rmtree("d")
copy("for its parts", "lib.so", "/", "d")
before = tree("d")
for paths, to in ((["/objects/00000"], "d/objects"), (["/objects/00000/."], "d/objects/00000"),
                  (["/objects/00000/payload"], "d/objects/00000/payload"), (["/artifact.json"], "d/artifact.json"),
                  (["/targets"], "d/objects/new"), (["/objects/00000"], "d/../d/./objects/")):
    ran = copy("a part, %s" % to, "twin.so", *paths, to, status=1)
    check("a part, %s: one line says so" % to, ran.err.count(b"\n") == 1 and b"another artifact" in ran.err, ran.err)
    same("a part, %s: nothing changed" % to, tree("d"), before)
copy("beside a copy", "twin.so", "/artifact.json", "d/other.json")
copy("below a copy", "twin.so", "/", "d/other")
same("below a copy: all", tree("d/other"), twins)
shutil.rmtree("d/other")
os.unlink("d/other.json")

# -f makes a mixture, which is nobody's copy.
for paths, to in ((["/objects"], "d"), (["/objects/00000"], "d/objects"),
                  (["/objects/00000/payload"], "d/objects/00000/payload")):
    copy("-f of a part, %s" % to, "-f", "twin.so", *paths, to)
    check("-f of a part, %s: no record" % to, not os.path.exists("d/artifact.json"))
    copy("after -f of a part, %s" % to, "lib.so", "/", "d")
    same("after -f of a part, %s: the tree" % to, {p: c for p, c in tree("d").items() if p in fresh}, fresh)

# ---- the artifact itself ----------------------------------------------------------------------

shutil.copy("lib.so", "payload")
os.link("payload", "linked")
os.symlink("payload", "symbolic")
os.makedirs("holds/00000")
os.link("payload", "holds/00000/payload")
for paths, to in ((["/objects/00000/payload"], "payload"), (["/objects/00000/payload"], "linked"),
                  (["/objects/00000/payload"], "symbolic"), (["/objects/00000/payload"], "."),
                  (["-f", "/objects/00000/payload"], "./payload")):
    ran = copy("the artifact, %s" % to, "payload", *paths, to, status=1)
    check("the artifact, %s: it says so" % to, ran.err.count(b"\n") == 1 and b"is the artifact" in ran.err, ran.err)
copy("the artifact, in a directory", "payload", "/objects/00000", "holds", status=1)
check("the artifact, in a directory: the rest is there", os.path.exists("holds/00000/object.json"))
for path in ("payload", "linked", "symbolic", "holds/00000/payload"):
    check("the artifact, %s: it is there" % path, os.path.samefile(path, "payload"))
same("the artifact: its bytes", open("payload", "rb").read(), content)
check("the artifact: the link is one", os.path.islink("symbolic"))

# ---- one record, another artifact's files ---------------------------------------------------

# Files of one artifact under the record of another, as a copy that was killed may leave them
# or somebody who copies parts: they are older than the record.
shutil.rmtree("d")
os.mkdir("d")
copy("parts", "lib.so", "/problems.json", "/objects", "/targets", "d")
copy("the record of the other", "twin.so", "/artifact.json", "d")
copy("the rest of the other", "twin.so", "/", "d")
same("no mixture", {p: c for p, c in tree("d").items() if p in twins}, twins)

# A file of that name that is none of ours is no record.
shutil.rmtree("d")
os.mkdir("d")
write("d/artifact.json", b'{"name": "something else"}\n')
copy("a file of the same name", "lib.so", "/", "d")
same("a file of the same name: the tree", tree("d"), fresh)

# ---- links in the destination ---------------------------------------------------------------

os.mkdir("outside")
write("outside/secret", b"secret\n")
shutil.rmtree("d")
os.makedirs("d/objects/00001")
os.symlink(os.path.abspath("outside"), "d/containers")
os.symlink("../../../outside/secret", "d/objects/00001/payload")
os.symlink(os.path.abspath("outside/new"), "d/problems.json")
os.symlink(os.path.abspath("outside"), "d/objects/00000")
ran = copy("links", "lib.so", "/", "d", status=1)
same("links: two are named", sorted(line.split(": ")[2] for line in ran.complaints), ["d/containers", "d/objects/00000"])
same("links: nothing outside", (os.listdir("outside"), open("outside/secret").read()), (["secret"], "secret\n"))
check("links: a file takes the place of one", not os.path.islink("d/objects/00001/payload") and
      not os.path.islink("d/problems.json"))
same("links: nothing outside when it goes on", Ran("cp", "lib.so", "/", "d").status, 1)
same("links: nothing outside", (os.listdir("outside"), open("outside/secret").read()), (["secret"], "secret\n"))
same(".. does not lead outside", Ran("cp", "lib.so", "/../outside", "d").status, 1)

# A link is no file of the copy, whatever it leads to.
shutil.rmtree("d")
copy("for a link", "lib.so", "/", "d")
os.rename("d/problems.json", "outside/moved")
os.symlink("../outside/moved", "d/problems.json")
copy("a link to what was there", "lib.so", "/", "d")
check("a link to what was there: a file takes its place", not os.path.islink("d/problems.json"))
os.unlink("outside/moved")

# Names that change into links all the time while it copies.
shutil.rmtree("d")
copy("for a race", "lib.so", "/", "d")
stop = threading.Event()


def plant():
    while not stop.is_set():
        for name in ("objects/00001", "objects/00002", "targets"):
            try:
                os.rename("d/" + name, "d/away")
                os.symlink(os.path.abspath("outside"), "d/" + name)
                os.unlink("d/" + name)
                os.rename("d/away", "d/" + name)
            except OSError as e:
                if e.errno not in (errno.ENOENT, errno.EEXIST, errno.ENOTEMPTY, errno.EISDIR, errno.ENOTDIR):
                    raise
                shutil.rmtree("d/away", ignore_errors=True)


planter = threading.Thread(target=plant)
planter.start()
for _ in range(5):
    check("a race: it ends", Ran("cp", "-f", "lib.so", "/", "d").status in (0, 1))
stop.set()
planter.join()
same("a race: nothing outside", (os.listdir("outside"), open("outside/secret").read()), (["secret"], "secret\n"))

# ---- what is half done -----------------------------------------------------------------------


def temporary(top):
    return [n for _, _, names in os.walk(top) for n in names if n.startswith(".gpuobj-")]


write("large.bin", bundle([(b"hip-amdgcn-amd-amdhsa--gfx90a", bytes(64 << 20))]))
for number, left in ((signal.SIGTERM, 0), (signal.SIGINT, 0), (signal.SIGHUP, 0), (signal.SIGKILL, 1)):
    shutil.rmtree("d", ignore_errors=True)
    for _ in range(20):  # a copy may be done before the signal gets there
        child = subprocess.Popen([GPUOBJ, "cp", "large.bin", "/objects/00000/payload", "/artifact.json", "d"]
                                 if os.path.isdir("d") else [GPUOBJ, "cp", "large.bin", "/", "d"],
                                 preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        while child.poll() is None and not temporary("d"):
            pass
        child.send_signal(number)
        if child.wait() == -number and (not left or temporary("d")):
            break
        shutil.rmtree("d")
    same("%s: status" % number.name, child.returncode, -number)
    same("%s: half a file" % number.name, len(temporary("d")), left)
    copy("%s: going on" % number.name, "large.bin", "/", "d")
    same("%s: half a file, afterwards" % number.name, temporary("d"), [])
    same("%s: the payload" % number.name, os.path.getsize("d/objects/00000/payload"), 64 << 20)
ignoring = subprocess.run(["nohup", GPUOBJ, "cp", "large.bin", "/artifact.json", "n"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
same("nohup", ignoring.returncode, 0)

dead = subprocess.Popen(["true"])
dead.wait()
shutil.rmtree("d")
copy("a copy", "lib.so", "/", "d")
names = [".gpuobj-%d-0" % dead.pid, ".gpuobj-%d-7" % os.getpid(), ".gpuobj-x-1", ".gpuobj-1", ".gpuobj-%d-" % dead.pid]
for name in names:
    write("d/" + name, b"")
    write("d/objects/00000/" + name, b"")
copy("with what others left", "lib.so", "/", "d")
same("left by the dead alone", sorted(temporary("d")), sorted(2 * names[1:]))

# ---- several to one place -----------------------------------------------------------------------

os.mkdir("e")
ran = copy("the same name twice", "lib.so", "objects/*/payload", "e", status=1)
same("the same name twice: nothing is written", (os.listdir("e"), ran.err.count(b"\n")), ([], 1))
copy("a pattern", "lib.so", "objects/0000[12]", "/targets/sm_9*", "e")
same("a pattern: what is there", sorted(os.listdir("e")), ["00001", "00002", "sm_90a"])
finish()
