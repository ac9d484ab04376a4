#!/usr/bin/env python3
"""Patterns of paths inside an artifact, against glob.glob() over a copy of the whole tree."""

import glob
import os
import shutil
import subprocess

from case import DATA, GPUOBJ, Ran, bundle, check, finish, same, scratch, write

folder = scratch()
library = os.path.join(DATA, "cuda/host/libtwo.so")
copied = os.path.join(folder, "copied")
same("a copy", Ran("cp", library, "/", copied).status, 0)


def paths_of(pattern, top):
    return sorted(glob.glob(pattern, root_dir=top))


for pattern in ["objects/*/object.json", "objects/0000?/location.json", "objects/0000[24-6]/payload",
                "*/*/inspect/kernels/_Z3t1*/code", "targets/sm_*/target.json", "*.json",
                "targets/*/inspect/kernels/*.json", "objects/0000[!1-9]/*.json", "containers/*/*"]:
    wanted = paths_of(pattern, copied)
    check(pattern + ": there are some", wanted)
    for form in (pattern, "/" + pattern, "./" + pattern.replace("/", "//")):
        ran = Ran("ls", library, form)
        prefix = "/" if form[0] == "/" else ""
        same(form + ": ls", (ran.status, sorted(ran.lines)), (0, [prefix + p for p in wanted]))
    content = Ran("cat", library, pattern).out
    in_order = Ran("ls", library, pattern).lines
    same(pattern + ": cat", content, b"".join(open(os.path.join(copied, p), "rb").read() for p in in_order))

same("directories", Ran("ls", library, "targets/sm_9*").lines, Ran("ls", library, "targets/sm_90a").lines)
same("directories alone with a slash", Ran("ls", library, "obj*/").lines, Ran("ls", library, "/objects").lines)
same("files are none with a slash", Ran("ls", library, "*.json/").status, 1)
same("tree of several", [l for l in Ran("tree", library, "objects/0000[01]").lines if l.startswith("objects")],
     ["objects/00000", "objects/00001"])
for pattern in ["objects/9*", "nothing*/x", "artifact.json/*", "objects/*/nothing", "[", "objects/[!0-9]"]:
    ran = Ran("cat", library, pattern)
    same(pattern + ": status", (ran.status, ran.out), (1, b""))
    same(pattern + ": sentence", ran.complaints, ["gpuobj: cat: %s: no path in the tree matches" % pattern])
same("without a pattern", Ran("cat", library, "objects/9").complaints,
     ["gpuobj: cat: objects/9: No such file or directory"])

# "..": where a copy has the file, and an error where it has none.
for path in ["targets/../artifact.json", "/objects/00000/../00001/object.json", "./objects//..//problems.json",
             "targets/sm_90a/../../artifact.json", "nothing/../artifact.json", "artifact.json/../problems.json",
             "objects/00000/../..", "objects/00000/../0000*/../artifact.json", "objects/9/../../artifact.json"]:
    outside = os.path.join(copied, path.lstrip("/"))
    ran = Ran("cat", library, path)
    wanted = open(outside, "rb").read() if os.path.isfile(outside) else b""
    same(path + ": as in a copy", (ran.status, ran.out), (0 if wanted else 1, wanted))
for path in ["..", "/..", "targets/..", "../targets/../.."]:
    same(path + ": the root", Ran("ls", library, path).lines, Ran("ls", library, "/").lines)
same("a pattern behind ..", Ran("ls", library, "objects/../targets/sm_9*").lines, Ran("ls", library, "targets/sm_9*").lines)

# A name stands for itself first, whatever is in it.
odd = write(os.path.join(folder, "odd"), bundle([
    (b"hip-amdgcn-amd-amdhsa--g[ab]*", bytes(4)), (b"hip-amdgcn-amd-amdhsa--ga", bytes(4)),
    (b"hip-amdgcn-amd-amdhsa--gb*:+", bytes(4))]))
names = sorted(Ran("ls", odd, "/targets").lines)
same("odd names", names, ["g[ab]*", "ga", "gb*:+"])
same("a name that is a pattern", Ran("ls", "-l", odd, "targets/g[ab]*/objects").lines[0].split()[-1],
     "targets/g[ab]*/objects")
same("the pattern of its siblings", Ran("ls", odd, "targets/g[ab]/objects").lines, ["targets/ga/objects"])
same("with a backslash", Ran("ls", odd, "targets/gb\\*:?/objects").lines, ["targets/gb*:+/objects"])

# Nothing is examined but what the pattern names: payloads are read to be examined, and making
# the inventory takes as many reads whatever is asked for.


def reads(*arguments):
    log = os.path.join(folder, "strace.log")
    subprocess.run(["strace", "-f", "-o", log, "-e", "trace=pread64", GPUOBJ] + list(arguments), check=True,
                   stdout=subprocess.DEVNULL, env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
    with open(log) as f:
        return sum("pread64(" in line for line in f)


if shutil.which("strace") and subprocess.run(["strace", "-o", "/dev/null", "true"]).returncode == 0:
    inventory = reads("ls", library, "/")
    check("reads are seen", inventory > 0)
    for pattern in ["objects/*/object.json", "targets/*/objects", "objects/*/inspect", "*/*/inspect"]:
        same(pattern + ": reads", reads("ls", library, pattern), inventory)
    one = reads("ls", library, "objects/00001/inspect/kernels/*")
    check("one object is examined", one > inventory, (one, inventory))
    check("all are", reads("ls", library, "objects/*/inspect/kernels/*") > one)
else:
    print("note: strace is not there or not permitted")
finish()
