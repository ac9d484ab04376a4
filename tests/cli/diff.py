#!/usr/bin/env python3
"""gpuobj diff: texts whose differences are known by hand, what ptxas said of the samples, and
mnt-examples/diff-releases.sh, which finds the same by mounts and jq, over pairs of samples.
"""

import itertools
import os
import re
import shutil
import struct
import subprocess

from case import (DATA, GPUOBJ, ROOT, Ran, bundle, check, finish, ptx, same, samples, scratch,
                  whole_files, write)
import ptxas_table

folder = scratch()
counter = itertools.count()


def put(content):
    return write(os.path.join(folder, "%d.bin" % next(counter)), content)


def differs(what, old, new, lines, *options):
    old, new = (f if isinstance(f, str) else put(f) for f in (old, new))
    ran = Ran("diff", *options, old, new)
    same(what, ran.lines, lines)
    same(what + ": status", (ran.status, ran.err), (1 if lines else 0, b""))
    quiet = Ran("diff", "-q", *options, old, new)
    same(what + ": -q", (quiet.status, quiet.out), (ran.status, b""))


# ---- known by hand ------------------------------------------------------------------------

A = ("a", ".maxntid 128, 1, 1\n", "\tmov.u32 %r1, 1;\n")
A_WIDE = ("a", ".maxntid 256, 1, 1\n", "\tmov.u32 %r1, 1;\n")
A_OTHER = ("a", ".maxntid 128, 1, 1\n", "\tmov.u32 %r1, 2;\n")
B = ("b", "", "")
MANGLED = ("_Z3addIfEvPT_", "", "")
differs("the same text", ptx(A, B), ptx(A, B), [])
differs("kernels in another order", ptx(A, B), ptx(B, A), ["~ payloads compute_90"])
differs("a comment", ptx(A), ptx(A, comment="// hello\n"), ["~ payloads compute_90"])
differs("a kernel more", ptx(A), ptx(A, B), ["+ kernel compute_90 b", "~ payloads compute_90"])
differs("a kernel less", ptx(A, B), ptx(B), ["- kernel compute_90 a", "~ payloads compute_90"])
differs("more threads", ptx(A), ptx(A_WIDE),
        ["~ max_threads compute_90 [128,1,1] -> [256,1,1] a", "~ code compute_90 a",
         "~ payloads compute_90"])
differs("a fact that is gone", ptx(A), ptx(("a", "", A[2])),
        ["~ max_threads compute_90 [128,1,1] -> none a", "~ code compute_90 a",
         "~ payloads compute_90"])
differs("another instruction", ptx(A), ptx(A_OTHER), ["~ code compute_90 a", "~ payloads compute_90"])
differs("another target", ptx(A), ptx(A, target="sm_100"), ["+ target compute_100", "- target compute_90"])
differs("names of C++", ptx(A), ptx(A, MANGLED),
        ["+ kernel compute_90 _Z3addIfEvPT_", "~ payloads compute_90"])
differs("names for people", ptx(A), ptx(A, MANGLED),
        ["+ kernel compute_90 void add<float>(float*)", "~ payloads compute_90"], "-C")
differs("inventories alone", ptx(A), ptx(B), [], "-t")
differs("inventories alone, targets", ptx(A), ptx(A, target="sm_100"),
        ["+ target compute_100", "- target compute_90"], "--targets")

# A parameter more: another number of arguments, and the bytes that they take.
wider = ptx(A).replace(b".param .u64 p\n", b".param .u64 p,\n\t.param .u32 n\n")
ran = Ran("diff", put(ptx(A)), put(wider))
check("an argument more", "~ args compute_90 1 -> 2 a" in ran.lines and
      "~ param_bytes compute_90 8 -> 12 a" in ran.lines, ran.out)
none = ptx(A).replace(b"\t.param .u64 p\n", b"")
ran = Ran("diff", put(none), put(ptx(A)))
check("an argument where there was none", "~ args compute_90 0 -> 1 a" in ran.lines, ran.out)
kinds = ptx(A).replace(b".param .u64 p\n", b".param .f64 p\n")
ran = Ran("diff", put(ptx(A)), put(kinds))
check("an argument of another type", "~ args compute_90 1 -> 1 a" in ran.lines, ran.out)

# Several objects of one target: what they say together counts, not where it stands.
GFX = b"hip-amdgcn-amd-amdhsa--gfx90a"
# An AMDGPU ELF file whose section table lies outside.
BAD = b"\x7fELF\x02\x01\x01\x40\x02" + bytes(7) + struct.pack("<HHIQQQIHHHHHH", 3, 224, 1, 0, 0, 1 << 20, 0, 64, 56, 0, 64, 9, 8)
differs("an object more", bundle([(GFX, BAD)]), bundle([(GFX, BAD), (GFX, BAD)]),
        ["~ objects gfx90a 1 -> 2", "~ payloads gfx90a", "~ problem gfx90a 1 -> 2 malformed_elf"])
differs("objects change places", bundle([(GFX, BAD), (GFX, BAD + b"1234")]),
        bundle([(GFX, BAD + b"1234"), (GFX, BAD)]), [])
cut = put(bundle([(GFX, bytes(64))])[:-10])
ran = Ran("diff", "-t", put(bundle([(GFX, bytes(64))])), cut)
check("a problem of the inventory", any(re.match(r"~ problem (gfx90a|-) 0 -> 1 truncated$", l) for l in ran.lines),
      ran.out)

# A hash of a compressed bundle that decoding refutes: its last byte is the wrong one, and all
# objects in the bundle have the problem.
wrong = os.path.join(DATA, "amd/bad/ccob_hash_wrong.hipfb")
with open(wrong, "rb") as f:
    right = bytearray(f.read())
right[24] ^= 0xff
lines = ["~ problem %s 0 -> 1 hash_mismatch" % t for t in Ran("ls", wrong, "/targets").lines]
check("a wrong hash: targets", len(lines) > 1, lines)
differs("a wrong hash", put(bytes(right)), wrong, lines)
differs("a wrong hash: inventories alone", put(bytes(right)), wrong, [], "-t")

# ---- trouble -------------------------------------------------------------------------------

good = put(ptx(A))
for arguments in ([good, folder + "/missing"], [folder + "/missing", good], [good, put(b"BC\xc0\xde" + bytes(60))],
                  [good], [good, good, good], ["--no", good, good]):
    ran = Ran("diff", *arguments)
    same("trouble: status of %s" % arguments, ran.status, 2)
    check("trouble: a word", ran.err != b"" and ran.out == b"")

# ---- what ptxas said ----------------------------------------------------------------------

full = samples()
RESOURCES = ("registers", "static_shared_bytes", "stack_frame_bytes", "param_bytes", "barriers", "code_bytes")
if full:
    truth = ptxas_table.Truth(os.path.join(full, "cuda", "MANIFEST.md"))
    by_target = {}
    for name in sorted(truth.objects):
        path = os.path.join(full, "cuda", name)
        target = re.search(r"sm_\d+[af]?(?=\.cubin$)", name)
        # The synthetic ones declare other targets than their names say.
        if target and "synthetic" not in name and os.path.exists(path) and len(truth.objects[name]) == 1 and not truth.relocatable[name][0]:
            by_target.setdefault(target[0], []).append(name)
    compared = 0
    for target, names in sorted(by_target.items()):
        for old, new in itertools.permutations(names, 2):
            a, b = ({k["name"]: k for k in truth.objects[n][0]} for n in (old, new))
            wanted = {"+ kernel %s %s" % (target, n) for n in b.keys() - a.keys()}
            wanted |= {"- kernel %s %s" % (target, n) for n in a.keys() - b.keys()}
            for n in a.keys() & b.keys():
                wanted |= {"~ %s %s %s -> %s %s" % (key, target, a[n][key], b[n][key], n)
                           for key in RESOURCES if a[n][key] != b[n][key]}
            ran = Ran("diff", *[os.path.join(full, "cuda", n) for n in (old, new)])
            keys = {"kernel"} | set(RESOURCES)
            got = {line for line in ran.lines if line.split()[1] in keys}
            same("ptxas, %s and %s" % (old, new), got, wanted)
            compared += len(wanted)
    check("ptxas: differences were compared", compared > 9, compared)
else:
    print("note: no full sample set (GPUOBJFS_SAMPLES)")

# ---- diff-releases.sh ---------------------------------------------------------------------

SCRIPT = os.path.join(ROOT, "mnt-examples", "diff-releases.sh")
NAMES = re.search(r"def resources: \[(.*?)\]", open(SCRIPT).read(), re.S)[1]
NAMES = set(re.findall(r'"(\w+)"', NAMES))


def facts_of_script(old, new):
    """{(sign, target, ...)} that diff-releases.sh prints; without a mount it uses gpuobj cp."""
    done = subprocess.run(["sh", SCRIPT, old, new], capture_output=True, text=True, timeout=240,
                          env=dict(os.environ, GPUOBJFS="/nowhere/gpuobjfs", GPUOBJ=GPUOBJ))
    facts, target = set(), None
    for line in done.stdout.splitlines():
        if match := re.match(r"target (added|gone): (.*)$", line):
            facts.add(("+" if match[1] == "added" else "-", "target", match[2]))
        elif match := re.match(r"(\S+): \d+ kernels added, \d+ gone, \d+ changed$", line):
            target = match[1]
        elif line[0] in "+-":
            facts.add((line[0], target, line[2:]))
        else:
            name, _, changes = line[2:].rpartition(": ")
            for change in re.split(r", (?=[a-z_]+ )", changes):
                key, before, after = re.match(r"(\w+) (.*) -> (.*)$", change).groups()
                values = ["|".join(v.split(" or ")) for v in (before, after)]
                facts.add(("~", target, name, key, *values))
    return done.returncode, facts


def facts_of_diff(old, new):
    ran = Ran("diff", "-C", old, new)
    facts = set()
    for line in ran.lines:
        sign, what, target, *rest = line.split(" ")
        if what == "target":
            facts.add((sign, "target", target))
        elif what == "kernel":
            facts.add((sign, target, " ".join(rest)))
        elif what in NAMES:
            facts.add((sign, target, " ".join(rest[3:]), what, rest[0], rest[2]))
    return ran.status, facts


def pairs():
    """Neighbours in the folders of samples; with GPUOBJFS_EVERY=1 of the full set, too."""
    for top in [DATA] + ([full] if full and os.environ.get("GPUOBJFS_EVERY") else []):
        for _, group in itertools.groupby(whole_files(top), os.path.dirname):
            yield from itertools.pairwise(group)


if shutil.which("jq"):
    seen, compared = set(), 0
    for old, new in pairs():
        status, wanted = facts_of_script(old, new)
        own, got = facts_of_diff(old, new)
        if status == 2:  # a file that is refused
            same("%s and %s: status" % (old, new), own, 2)
            continue
        check("%s and %s: status" % (old, new), own == 1 or not wanted and own == 0, own)
        same("%s and %s" % (old, new), got, wanted)
        seen |= {fact[0] for fact in wanted}
        compared += 1
    check("diff-releases.sh: pairs were compared", compared > 9 and seen == set("+-~"), (compared, seen))
else:
    print("note: jq is not installed")
finish()
