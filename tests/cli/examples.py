#!/usr/bin/env python3
"""The scripts of mnt-examples that ask gpuobj, run by links from elsewhere, against the extractor
of tests/truth and the rows of gpuobj query. diff-releases.sh is compared in diff.py, a
mount's part of will-it-run.sh in tests/mount/devices.sh.
"""

import json
import os
import re
import shlex
import shutil
import subprocess

from case import DATA, GPUOBJ, ROOT, Ran, check, finish, same, scratch, skip, whole_files, write
import extract

if not shutil.which("jq"):
    skip("jq is not installed")
EXAMPLES = os.path.join(ROOT, "mnt-examples")
folder = scratch()
os.chdir(folder)


def run(script, *arguments, **environment):
    """(status, lines, lines of stderr)"""
    env = dict(os.environ, GPUOBJ=GPUOBJ, GPUOBJFS="/nowhere/gpuobjfs")
    done = subprocess.run(["sh", script, *arguments], capture_output=True, timeout=240,
                          env=dict(env, **environment))
    return done.returncode, done.stdout.decode().splitlines(), done.stderr.decode().splitlines()


# ---- how each begins -------------------------------------------------------------------------

SCRIPTS = ["diff-releases", "register-pressure", "which-targets", "will-it-run"]
for name in SCRIPTS:
    os.symlink(os.path.join(EXAMPLES, name + ".sh"), name)
    status, usage, complaints = run(name, "--help")
    same(name + " --help: status", (status, complaints), (0, []))
    check(name + " --help: usage", any(l.startswith("Usage: %s.sh " % name) for l in usage), usage)
    same(name + " -h", run(name, "-h"), (0, usage, []))
    same(name + " alone", run(name), (2, [], usage))

# ---- how they end ----------------------------------------------------------------------------

os.mkdir("left")
two = os.path.join(DATA, "cuda/host/libtwo.so")
for name, *arguments in [("register-pressure", two), ("which-targets", two), ("will-it-run", two),
                         ("diff-releases", two, os.path.join(DATA, "cuda/fatbin/mode_none.fatbin"))]:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(["sh", name, *arguments], stdout=writer, stderr=subprocess.PIPE, timeout=240,
                          env=dict(os.environ, GPUOBJ=GPUOBJ, GPUOBJFS="/nowhere/gpuobjfs", TMPDIR="left"))
    os.close(writer)
    same(name + ": nobody reads", (done.returncode % 256 in (141, 256 - 13), done.stderr, os.listdir("left")),
         (True, b"", []))

# A signal that comes when the folder is there, and nothing else has been done.
os.mkdir("early")
with open("early/mktemp", "w") as f:
    f.write("#!/bin/sh\n%s \"$@\"\nkill -TERM $PPID\n" % shutil.which("mktemp"))
os.chmod("early/mktemp", 0o755)
early = os.path.abspath("early") + ":" + os.environ["PATH"]
status, lines, complaints = run("will-it-run", "--sample", TMPDIR="left", PATH=early)
same("will-it-run: an early signal", (status, lines, complaints, os.listdir("left")), (2, [], [], []))

os.mkdir("few")
for program in ("dirname", "readlink", "sed"):
    os.symlink(shutil.which(program), os.path.join("few", program))
library = os.path.join(DATA, "cuda/host/libtwo.so")
sh = shutil.which("sh")
for name in SCRIPTS:
    done = subprocess.run([sh, name, library, library], capture_output=True, text=True, timeout=60,
                          env={"PATH": os.path.abspath("few"), "GPUOBJ": GPUOBJ})
    if name == "register-pressure":  # whose second word is a number
        same(name + ": a word", (done.returncode, done.stderr),
             (2, "%s: %s: not a number\n" % (name, library)))
        continue
    same(name + ": jq is not there", (done.returncode, done.stderr), (2, name + ": jq is not there\n"))

# ---- quickstart, which finds all that it would build ------------------------------------------

os.makedirs("built/fs")
os.makedirs("tools")
os.mkdir("a folder's")
open("built/build.ninja", "w").close()
os.symlink(GPUOBJ, "built/fs/gpuobj")
for tool in ("meson", "ninja", "pkg-config", "gcc", "g++", "fusermount3"):
    os.symlink(shutil.which("true"), os.path.join("tools", tool))
os.symlink(shutil.which("false"), "tools/apt-get")
quick = os.path.join(EXAMPLES, "quickstart.sh")
spaced = os.path.abspath("a folder's/lib two$.so")
shutil.copy2(library, spaced)  # ls -l shows its time
around = dict(BUILD=os.path.abspath("built"), TMPDIR=os.path.abspath("a folder's"),
              PATH=os.path.abspath("tools") + ":" + os.environ["PATH"])
plain = run(quick, library, **around)
same("quickstart: status", (plain[0], plain[2]), (0, []))
typed = [line[2:] for line in plain[1] if line.startswith("$ ")]
same("quickstart: commands", (len(typed), all(t.startswith("gpuobj ") for t in typed)), (7, True))
status, lines, complaints = run(quick, spaced, **around)
same("quickstart: an odd name: status", (status, complaints), (0, []))
same("quickstart: an odd name: what it shows", *(  # all but commands, the name, and a file that has it
    [l for l in shown if not re.search(r'^\$ |"name"| location.json$', l)] for shown in (lines, plain[1])))
for line, other in zip([l[2:] for l in lines if l.startswith("$ ")], typed):
    words = [shlex.split(text.partition(" | ")[0]) for text in (line, other)]
    same("quickstart: can be typed: " + line, words[0], [spaced if w == library else w for w in words[1]])
bad = write(os.path.join(folder, "bitcode"), b"BC\xc0\xde" + bytes(60))
status, lines, complaints = run(quick, bad, **around)
check("quickstart: of what cannot be shown", status == 1 and complaints, (status, complaints))
same("quickstart: leaves", os.listdir("a folder's"), [os.path.basename(spaced)])

# ---- which-targets ---------------------------------------------------------------------------

compared = 0
paths = list(whole_files(DATA))
status, lines, complaints = run("which-targets", *paths)
same("which-targets: status", (status, complaints), (0, []))
found, rows = {}, None
for line in lines:
    if line.startswith("  "):
        target, vendor, _, _, objects = line.strip().split("\t")
        rows.append((target, vendor, objects))
    else:
        path, _, count = line.rpartition(": ")
        rows = found[path] = []
        found[path, "count"] = count
for path in paths:
    truth = {}
    for container in extract.extract(path, payloads=False)["containers"]:
        for o in container["objects"]:
            if o.get("target"):
                key = (o["target"], o["vendor"])
                truth[key] = truth.get(key, 0) + 1
    wanted = sorted(key + ("%d objects" % n,) for key, n in truth.items())
    same("which-targets: " + path, sorted(found[path]), wanted)
    same("which-targets: count of " + path, found[path, "count"], "%d targets" % len(wanted))
    compared += len(wanted)
check("which-targets: targets were compared", compared > 50, compared)
status, lines, complaints = run("which-targets", "missing", library)
same("which-targets: a file that is missing", (status, len(lines), len(complaints)), (1, 5, 1))

# ---- register-pressure -------------------------------------------------------------------------

LISTS = {
    "registers of a thread": ("registers", "vgpr_count"),
    "shared memory of a block, bytes": ("static_shared_bytes", "group_segment_fixed_size"),
    "stack or private segment of a thread, bytes": ("stack_frame_bytes", "private_segment_fixed_size"),
}
SPILLS = "spilled registers"
REQUEST = json.dumps({"view": {"collection": "kernels", "fields": [
    "target", "name", "demangled", "vgpr_spill_count", "sgpr_spill_count",
    *(key for keys in LISTS.values() for key in keys)]}})


def values(kernel):
    """{list: what the kernel has there}"""
    spills = (kernel.get("vgpr_spill_count") or 0) + (kernel.get("sgpr_spill_count") or 0)
    of = {title: next((kernel[k] for k in keys if kernel.get(k) is not None), 0)
          for title, keys in LISTS.items()}
    return dict(of, **{SPILLS: spills})


def ranked(path, count):
    """{list: its lines}, from the rows of a query."""
    kernels = [json.loads(line) for line in Ran("query", "--jsonl", path, REQUEST).lines]
    lists = {}
    for title in [*LISTS, SPILLS]:
        have = [(values(k)[title], k["target"], k.get("demangled") or k["name"]) for k in kernels]
        have = sorted((-n, target, name) for n, target, name in have if n > 0)
        lists[title] = ["%d\t%s\t%s" % (-n, target, name) for n, target, name in have[:count]]
    return lists


# No sample spills registers; in this one the counts, msgpack's small integers, say so.
with open(os.path.join(DATA, "amd/co/gfx90a_sramecc+_xnack-_v5.hsaco"), "rb") as f:
    code = f.read()
spills = write(os.path.join(folder, "spills.hsaco"), code.replace(b".vgpr_spill_count\0", b".vgpr_spill_count\7")
               .replace(b".sgpr_spill_count\0", b".sgpr_spill_count\3"))
filled = set()
for path, count in [(library, None), (library, 1), (os.path.join(DATA, "amd/bundle/plain_noalign.hipfb"), 4),
                    (os.path.join(DATA, "cuda/fatbin/debug_named.fatbin"), 3),
                    (spills, 100)]:
    status, lines, complaints = run("register-pressure", path, *([str(count)] if count else []))
    same("register-pressure: %s: status" % path, (status, complaints), (0, []))
    got = {}
    for line in lines:
        if line.startswith("== "):
            got[line[3:]] = rows = []
        else:
            rows.append(line)
    same("register-pressure: %s" % path, got, ranked(path, count or 10))
    filled |= {title for title in got if got[title]}
same("register-pressure: lists that were compared", filled, {*LISTS, SPILLS})
check("register-pressure: sums of spills", got[SPILLS] and all(row.startswith("10\t") for row in got[SPILLS]),
      got[SPILLS])

# ---- will-it-run, without a mount ------------------------------------------------------------------

fatbin = os.path.join(DATA, "cuda/fatbin/mode_none.fatbin")
DEVICES = ["sm_86", "sm_90", "sm_120", "gfx1100"]
status, lines, complaints = run("will-it-run", library, fatbin, *DEVICES)
same("will-it-run: status", (status, complaints), (1, []))
same("will-it-run: titles", lines[0].split(), DEVICES)
for line, path in zip(lines[1:], (library, fatbin)):
    verdicts = [json.loads(Ran("which", "--jsonl", d, path).out)["verdict"] for d in DEVICES]
    same("will-it-run: " + path, line.split(), [os.path.basename(path)] + verdicts)
same("will-it-run: lines", len(lines), 3)
same("will-it-run: where it runs", run("will-it-run", fatbin, "sm_90", "sm_120")[0], 0)

# ---- a file without code ---------------------------------------------------------------------------

text = write(os.path.join(folder, "text"), b"no code\n")
same("which-targets: no code", run("which-targets", text), (0, [text + ": 0 targets"], []))
status, lines, complaints = run("register-pressure", text)
same("register-pressure: no code", (status, lines, complaints), (0, ["== " + t for t in got], []))
status, lines, complaints = run("will-it-run", text, "sm_90")
same("will-it-run: no code", (status, lines[1].split(), complaints), (1, ["text", "none"], []))
os.symlink(os.path.join(EXAMPLES, "will-it-run.sh"), "wir")
same("will-it-run: its name", [run("wir", *words)[2][0].partition(":")[0] for words in ([text], ["nothing"])],
     ["wir", "wir"])
finish()
