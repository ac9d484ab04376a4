#!/usr/bin/env python3
"""Command lines: the help fits a screen, errors name what is wrong, exit statuses agree.

The statuses are the table of gpuobj(1), written down here a second time.
"""

import os
import re
import subprocess

from case import DATA, GPUOBJ, Ran, bundle, check, finish, same, scratch, write

folder = scratch()
LIBRARY = os.path.join(DATA, "cuda/host/libtwo.so")


def fits(what, ran):
    same(what + ": status", ran.status, 0)
    check(what + ": at most 24 lines", len(ran.lines) <= 24, len(ran.lines))
    check(what + ": at most 79 columns", max(map(len, ran.lines)) < 80, max(map(len, ran.lines)))


overview = Ran("--help")
fits("--help", overview)
commands = [m[1] for m in map(re.compile(r"    ([a-z]+) +[A-Z]").match, overview.lines) if m]
check("--help lists the commands", {"ls", "tree", "cat", "cp", "summary", "diff"} <= set(commands), commands)
words = []
for command in commands:
    ran = Ran(command, "--help")
    fits(command + " --help", ran)
    check(command + " --help begins with its usage", ran.lines[0].startswith("usage: gpuobj " + command))
    same("--help " + command, Ran("--help", command).out, ran.out)
    words += [(command, w) for w in re.findall(r"(--[a-z-]+)[ =][A-Z]", ran.out.decode())]
options = Ran("--help", "options")
same("--help options", options.status, 0)
check("--help options has the options", {"cache=N", "sha256=HEX", "max_payload=N"} <= set(options.out.decode().split()))
same("--help of something else", Ran("--help", "frobnicate").status, 2)

# Whatever long option takes an argument is named when that is missing.
for command, word in words:
    ran = Ran(command, word)
    same("%s %s alone" % (command, word), ran.complaints[0],
         "gpuobj: %s: option %s needs an argument" % (command, word))
for arguments, sentence in [
    (["-o"], "gpuobj: option -o needs an argument"),
    (["cat", "-o"], "gpuobj: cat: option -o needs an argument"),
    (["ls", "-z"], "gpuobj: ls: unknown option -z"),
    (["ls", "-lz"], "gpuobj: ls: unknown option -z"),
    (["ls", "--zzz"], "gpuobj: ls: unknown option --zzz"),
    (["cp", "--forge"], "gpuobj: cp: unknown option --forge"),
    (["cp", "--force=1"], "gpuobj: cp: option --force takes no argument"),
    (["--help=x"], "gpuobj: option --help takes no argument"),
    (["--sample=x"], "gpuobj: option --sample takes no argument"),
    (["cat", LIBRARY], "gpuobj: cat: too few paths given"),
    (["diff", LIBRARY], "gpuobj: diff: too few artifacts given"),
    (["diff", "a", "b", "c"], "gpuobj: diff: surplus argument c"),
    (["summary"], "gpuobj: summary: too few artifacts given"),
    (["frobnicate"], "gpuobj: unknown command frobnicate"),
]:
    ran = Ran(*arguments)
    same("%s: status" % arguments, ran.status, 2)
    same("%s: sentence" % arguments, ran.complaints[0], sentence)
    same("%s: lines" % arguments, len(ran.complaints), 2)

# ---- exit statuses ---------------------------------------------------------------------

missing = os.path.join(folder, "missing")
empty = write(os.path.join(folder, "empty"), b"")
bitcode = write(os.path.join(folder, "x.bc"), b"BC\xc0\xde" + bytes(64))
broken = write(os.path.join(folder, "broken"), bundle([
    (b"hip-amdgcn-amd-amdhsa--gfx90a", b"CCOB")]))
for command, rest in [("ls", []), ("tree", []), ("cat", ["/artifact.json"]), ("summary", []),
                      ("cp", ["/", os.path.join(folder, "d")]), ("diff", [LIBRARY])]:
    trouble = 2 if command == "diff" else None
    for artifact, status in [(missing, 3), (empty, 3), (folder, 3), (bitcode, 4)]:
        ran = Ran(command, artifact, *rest)
        same("%s %s" % (command, artifact), ran.status, trouble or status)
        same("%s %s: one line" % (command, artifact), len(ran.complaints), 1)
    ran = Ran(command, "-o", "sha256=" + "0" * 64, LIBRARY, *rest)
    same("%s with another digest" % command, ran.status, trouble or 3)
    with open("/dev/full", "wb") as full:
        if command != "cp":
            other = [os.path.join(DATA, "cuda/fatbin/mode_none.fatbin")] if command == "diff" else rest
            same("%s to a full disk" % command, Ran(command, LIBRARY, *other, stdout=full).status, trouble or 1)
same("a path that is not there", Ran("cat", LIBRARY, "/no").status, 1)
same("a path that is not there, and one that is", Ran("ls", LIBRARY, "/no", "/targets").status, 1)
same("diff of equal files", Ran("diff", LIBRARY, LIBRARY).status, 0)
same("diff of others", Ran("diff", LIBRARY, broken).status, 1)
same("several failures: the highest", Ran("summary", missing, bitcode, missing).status, 4)

# An artifact that changes meanwhile: nothing was mounted, and gpuobj is what speaks.
large = write(os.path.join(folder, "large"), bundle([(b"hip-amdgcn-amd-amdhsa--gfx90a", bytes(8 << 20))]))
child = subprocess.Popen([GPUOBJ, "cat", large, "/objects/00000/payload"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
child.stdout.read(1)
os.utime(large, (1, 1))  # the pipe is full long before the end
_, said = child.communicate(timeout=60)
same("a file that changes: status", child.returncode, 3)
same("a file that changes: sentences", said.decode().splitlines(),
     ["gpuobj: large changed since it was opened, reading it now fails with ESTALE (%s)" % os.path.realpath(large),
      "gpuobj: cat: /objects/00000/payload: Stale file handle"])

# Names of files do not reach a terminal as they are.
bad = os.path.join(folder, "a\x1b[31m\nb\u009bx")
ran = Ran("ls", bad)
check("control characters in a message", not set(ran.err[:-1]) & set(range(32)) and b"\xc2\x9b" not in ran.err,
      ran.err)
finish()
