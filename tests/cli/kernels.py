#!/usr/bin/env python3
"""gpuobj which and matrix with --kernels: verdicts by the names of kernels.

The inputs are put together from entries of the samples, so that what each device gets of which
names is known from how they were made; their names are those that the toolkit was given.
"""

import json
import os
import shutil
import struct
import subprocess

from case import DATA, GPUOBJ, Ran, bundle, check, finish, on_terminal, ptx, same, samples, scratch, write
import ptxas_table

folder = scratch()
FATBIN = os.path.join(DATA, "cuda/fatbin")
BUNDLE = os.path.join(DATA, "amd/bundle/plain_noalign.hipfb")
MAGIC = 0xBA55ED50


def entries(name):
    """The entries of a fatbin of one region, as bytes."""
    with open(os.path.join(FATBIN, name), "rb") as f:
        data = f.read()
    _, _, at, size = struct.unpack_from("<IHHQ", data)
    end, found = at + size, []
    while at < end:
        header, payload = struct.unpack_from("<IQ", data, at + 4)
        found.append(data[at:at + header + payload])
        at += header + payload
    return found


def sm(entry, number):
    """The same entry, declared for another SM number."""
    return entry[:0x1c] + struct.pack("<I", number) + entry[0x20:]


def text(target, *kernels):
    """An entry of PTX, whose header is that of one that the toolkit wrote."""
    body = ptx(*((k, "", "") for k in kernels), target="sm_%d" % target) + b"\0"
    body += bytes(-len(body) % 8)
    entry = bytearray(entries("mode_none.fatbin")[1][:64])
    struct.pack_into("<IQIIHHIII", entry, 4, 64, len(body), 0, 0, 0, 8, target, 0, 0)
    struct.pack_into("<Q", entry, 0x38, 0)
    return bytes(entry) + body


def regions(name, *lists):
    """A file of one region for each list of entries."""
    data = b"".join(struct.pack("<IHHQ", MAGIC, 1, 16, len(b"".join(l))) + b"".join(l) for l in lists)
    return write(os.path.join(folder, name), data)


def which(device, *paths, options=("--kernels",)):
    """Status and rows of JSON."""
    ran = Ran("which", "--jsonl", *options, device, *paths)
    return ran.status, [json.loads(line) for line in ran.lines]


def expect(what, path, device, plain, by_kernels, counts, status):
    """Verdicts without and with --kernels; counts are yes, jit, maybe, no."""
    row = which(device, path, options=())[1][0]
    same("%s, %s: by containers" % (what, device), row["verdict"], plain)
    check("%s: no keys of kernels" % what, "kernels" not in row and "missing" not in row)
    got, (row,) = which(device, path)
    same("%s, %s: by kernels" % (what, device), row["verdict"], by_kernels)
    same("%s, %s: counts" % (what, device), tuple(row["kernels"].values()), counts)
    same("%s, %s: keys" % (what, device), list(row["kernels"]), ["yes", "jit", "maybe", "no"])
    same("%s, %s: status" % (what, device), got, status)
    missing = [n for r in row["missing"] for n in r["names"]]
    same("%s, %s: missing" % (what, device), len(missing), counts[3])
    check("%s, %s: rows" % (what, device), all(r["kernels"] == len(r["names"]) for r in row["missing"]))
    return row


# ---- one region for each architecture ------------------------------------------------------

VARIANTS = entries("variants.fatbin")  # sm_75 sm_90 sm_90a sm_100a sm_100f sm_103a sm_120f and others
NONE = entries("mode_none.fatbin")  # sm_90 and its PTX, six kernels
SIX = {"_Z3shmILi1024EEvPf", "_Z3shmILi64EEvPf", "bounded", "empty", "simple", "stackk"}

split = regions("split", *([e] for e in VARIANTS))
row = expect("split", split, "sm_90", "partial", "native", (2, 0, 0, 0), 0)
same("split: how", row["how"], ["exact"])
same("split: reason", row["reason"], "sm_exact")
same("split: most", row["most"], {"device": "sm_75", "kernels": 2})
row = expect("split", split, "sm_86", "none", "none", (0, 0, 0, 2), 1)
same("split: who has them", [sorted(r["names"]) for r in row["missing"]], [["_Z3t2bPd", "_Z3t2kPi"]])
check("split: targets", {"sm_75", "sm_90a", "compute_121a"} <= set(row["missing"][0]["targets"]), row["missing"])
expect("split", split, "sm_120", "partial", "native", (2, 0, 0, 0), 0)
row = expect("split", regions("two", [VARIANTS[0]], [text(80, "_Z3t2bPd", "_Z3t2kPi")]),
             "sm_86", "partial", "jit", (0, 2, 0, 0), 0)
same("two: how", (row["how"], row["reason"]), (["jit"], "ptx_lower"))
expect("two", regions("two", [VARIANTS[0]], [text(80, "_Z3t2bPd", "_Z3t2kPi")]),
       "sm_75", "partial", "native", (2, 0, 0, 0), 0)

# Of what one architecture alone has, the others miss something.
own = regions("own", VARIANTS[:1], [NONE[0]], [text(80, "eighty"), text(75, "eighty")])
row = expect("own", own, "sm_90", "partial", "partial", (6, 1, 0, 2), 1)
same("own: most", row["most"], {"device": "sm_90", "kernels": 7})
same("own: missing", row["missing"], [{"targets": ["sm_75"], "kernels": 2, "names": ["_Z3t2bPd", "_Z3t2kPi"]}])
row = expect("own", own, "sm_75", "partial", "partial", (2, 1, 0, 6), 1)
same("own: missing", (row["missing"][0]["targets"], set(row["missing"][0]["names"])), (["sm_90"], SIX))
same("own: most elsewhere", row["most"], {"device": "sm_90", "kernels": 7})
expect("own", own, "sm_120", "partial", "partial", (0, 1, 0, 8), 1)
row = expect("own", own, "sm_50", "none", "none", (0, 0, 0, 9), 1)

# ---- what is chosen decides ----------------------------------------------------------------

# The cubin is taken, and the kernel that only the PTX beside it has is not there.
left = regions("left", [NONE[0], text(90, "simple", "other")])
row = expect("left", left, "sm_90", "native", "partial", (6, 0, 0, 1), 1)
same("left: reason", row["reason"], "kernels_left")
same("left: missing", row["missing"][0]["names"], ["other"])
expect("left", left, "sm_120", "jit", "partial", (0, 2, 0, 5), 1)
# The entry lies about its payload, which is for 9.0.
row = expect("lie", regions("lie", [sm(NONE[0], 80)]), "sm_80", "native", "none", (0, 0, 0, 6), 1)
same("lie: reason", row["reason"], "sm_other_major")
row = expect("lies", regions("lies", [sm(NONE[0], 80)], [text(80, "x")]), "sm_80", "jit", "partial",
             (0, 1, 0, 6), 1)

# ---- what cannot be read -------------------------------------------------------------------

(SCRAMBLED,) = entries("ptx_scrambled.fatbin")  # compute_90
(LTO,) = entries("lto_lz4_scrambled.fatbin")
(RELOCATABLE,) = entries("reloc_ptx.fatbin")  # compute_80, _Z2kbPi
# Alone it has no names, and what the containers say stays.
expect("scrambled", regions("s1", [SCRAMBLED]), "sm_120", "jit", "jit", (0, 0, 0, 0), 0)
# Where it is chosen it stands for the kernels of the entries beside it.
row = expect("scrambled beside", regions("s2", [NONE[0], SCRAMBLED]), "sm_120", "jit", "jit", (0, 6, 0, 0), 0)
same("scrambled beside: analysis", row["kernel_analysis"], "partial")
# Where the device has no other code, who knows which kernels are missing.
hidden = regions("s3", [VARIANTS[0]], [SCRAMBLED])
row = expect("scrambled elsewhere", hidden, "sm_75", "partial", "partial", (2, 0, 0, 0), 1)
ran = Ran("which", "-k", "sm_75", hidden)
check("hidden kernels are said", b"1 of 2 containers" in ran.out and b"the kernels of 1 object are not known (00001)" in ran.err,
      (ran.out, ran.err))
# Input of a linker is nothing that a device could miss.
row = expect("linked", regions("l", [NONE[0]], [LTO], [RELOCATABLE]), "sm_90", "native", "native", (6, 0, 0, 0), 0)
same("linked: analysis", row["kernel_analysis"], "complete")
expect("linked alone", regions("l2", [RELOCATABLE]), "sm_90", "none", "none", (0, 0, 0, 0), 1)
old = os.path.join(folder, "bitcode")
write(old, bundle([(b"hip-amdgcn-amd-amdhsa--gfx1100", b"BC\xc0\xde" + bytes(60))]))
# ---- what is not the code that its entry says --------------------------------------------

row = expect("bitcode", old, "gfx1100", "native", "maybe", (0, 0, 0, 0), 3)
same("bitcode: reason", row["reason"], "misfit")
NO_CODE = NONE[0][:64] + b"no code at all" + bytes(len(NONE[0]) - 78)
MALFORMED = NONE[0][:64] + b"\x7fELF" + bytes(len(NONE[0]) - 68)
for what, entry in (("no cubin", NO_CODE), ("malformed", MALFORMED)):
    # What PTX has beside it is in doubt, and so is the file without any names.
    row = expect(what, regions("m1", [entry, text(90, "a", "b")]), "sm_90", "native", "maybe", (0, 0, 2, 0), 3)
    same(what + ": reason", row["reason"], "misfit")
    row = expect(what + " alone", regions("m2", [entry]), "sm_90", "native", "maybe", (0, 0, 0, 0), 3)
    same(what + " alone: reason", row["reason"], "misfit")
    expect(what + " elsewhere", regions("m3", [entry], [VARIANTS[0]]), "sm_75", "partial", "partial", (2, 0, 0, 0), 1)
    expect(what + " not chosen", regions("m4", [entry, text(75, "a")]), "sm_120", "jit", "jit", (0, 1, 0, 0), 0)
# A damaged cubin gives no kernels, whatever its entry says.
broken = regions("broken", [NONE[0][:64] + b"\x7fELF" + bytes(len(NONE[0]) - 68)], [VARIANTS[1]])
row = which("sm_90", broken)[1][0]
same("broken: analysis", row["kernel_analysis"], "partial")
same("broken: counts", row["kernels"], {"yes": 2, "jit": 0, "maybe": 0, "no": 0})

# Nobody knows of the 102f in front of a cubin whether a 103 takes it.
DOUBT = sm(VARIANTS[4], 102)
row = expect("unknown", regions("u1", [DOUBT]), "sm_103", "maybe", "maybe", (0, 0, 2, 0), 3)
same("unknown: reason", row["reason"], "sm_family_unknown")
# An entry of an unknown kind is what is in doubt, not the cubin beside it, which does not fit.
row = expect("odd kind", regions("u3", [NONE[0], struct.pack("<H", 0x100) + NONE[1][2:]]), "sm_75", "maybe", "maybe",
             (0, 0, 6, 0), 3)
same("odd kind: reason", row["reason"], "kind_unknown")
unseen = regions("u2", [DOUBT[:64] + b"\x7fELF" + bytes(len(DOUBT) - 68)], [VARIANTS[4]])
expect("unknown and unseen", unseen, "sm_103", "maybe", "maybe", (2, 0, 0, 0), 3)
# What is not listed may be there.
status, (row,) = which("sm_90", regions("cut", [VARIANTS[0]], [VARIANTS[1]]), options=("-k", "-o", "max_objects=1"))
same("half an inventory", (status, row["verdict"], row["reason"], row["inventory"]),
     (3, "maybe", "incomplete", "partial"))

same("another vendor", which("gfx1100", split)[1][0]["verdict"], "none")
same("no code", which("sm_90", os.path.join(FATBIN, "empty.fatbin"))[0], 1)

# ---- settings, several files, folders ------------------------------------------------------

for device in ("gfx90a", "gfx90a:xnack-", "gfx90a:xnack+", "gfx1100", "gfx1030"):
    plain, rows = which(device, BUNDLE, options=())
    status, named = which(device, BUNDLE)
    same("bundle, %s: status" % device, status, plain)
    same("bundle, %s: verdicts" % device, [r["verdict"] for r in named], [r["verdict"] for r in rows])
    same("bundle, %s: as a line" % device, Ran("which", "-k", device, BUNDLE).out.count(b": maybe (depends"),
         int(device == "gfx90a"))

tree = os.path.join(folder, "tree", "deep")
os.makedirs(tree)
shutil.copy(split, os.path.join(tree, "a"))
shutil.copy(regions("full", NONE), os.path.join(tree, "b"))
write(os.path.join(tree, "text"), b"no code\n")
ran = Ran("which", "-rk", "H100", os.path.join(folder, "tree"))
same("a folder", (ran.status, ran.err), (0, b""))
same("a folder: lines", [line.split(": ")[0] for line in ran.lines], [os.path.join(tree, n) for n in "ab"])
check("a folder: how many", "all 2 kernels" in ran.lines[0] and "all 6 kernels" in ran.lines[1], ran.lines)
same("without --kernels", Ran("which", "-r", "H100", os.path.join(folder, "tree")).status, 1)
same("one is missing something", Ran("which", "-k", "H100", split, own).status, 1)
same("one cannot be read", Ran("which", "-k", "H100", split, os.path.join(folder, "none")).status, 2)
# The driver counts: PTX 8.0 is too new for one of 2021.
same("an old driver", which("sm_86", os.path.join(folder, "two"), options=("-k", "--driver", "470"))[0], 1)

# An answer that nobody got is none.
with open("/dev/full", "wb") as nowhere:
    for what, words, status in (("which", ("which", "sm_75", own), 2), ("which -k", ("which", "-k", "sm_75", own), 2),
                                ("maybe", ("which", "sm_103", os.path.join(folder, "u1")), 2),
                                ("which --list", ("which", "--list"), 2), ("diff", ("diff", own, split), 2),
                                ("matrix", ("matrix", own), 1)):
        ran = subprocess.run([GPUOBJ, *words], stdout=nowhere, stderr=subprocess.PIPE, timeout=60)
        same(what + ": a full disk", ran.returncode, status)
        check(what + ": a full disk is said", b"gpuobj: write error: " in ran.stderr, ran.stderr)
        closed = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", GPUOBJ, *words], stderr=subprocess.PIPE, timeout=60)
        same(what + ": no output", closed.returncode, status)

# ---- for people ----------------------------------------------------------------------------

ran = Ran("which", "--kernels", "sm_75", own)
same("lines", [line[:4] for line in ran.lines], [own[:4], "    "])
check("the verdict", ": partial (exact, jit; 3 of 9 kernels, sm_90 has 7; " in ran.lines[0], ran.lines)
check("what is missing", ran.lines[1].startswith("    6 for sm_90, such as: "), ran.lines)
check("a name", ran.lines[1].split(": ")[1] in SIX, ran.lines)
check("where the others are", b"devices/sm_75/inspect/report.json names all" in ran.err and ran.err.count(b"\n") == 1,
      ran.err)
ran = Ran("which", "--kernels", "sm_90", own)
check("no device has more", "7 of 9 kernels, no device has more" in ran.lines[0], ran.lines)
many = regions("many", [text(50, "common")], *([text(80 + i, "only%d" % i)] for i in (0, 6, 7, 9)))
ran = Ran("which", "-k", "sm_75", many)
same("rows at most", len(ran.lines), 5)
same("and the rest", ran.lines[4], "    1 for other targets")
LONG = "_Z" + "x" * 90 + "y" * 90 + "z"
long = regions("long", [text(50, "common")], [text(80, LONG)])
check("a long name in a pipe", LONG in Ran("which", "-k", "sm_75", long).lines[1])
for columns in (60, 100, 300):
    cut = on_terminal("which", "-k", "sm_75", long, columns=columns, stderr=False)[0].decode().splitlines()[1]
    check("%d columns" % columns, len(cut) == min(columns, len("    1 for compute_80: " + LONG)), cut)
    check("%d columns: both ends" % columns, ": _Zxx" in cut and cut.endswith("yyz"), cut)

# ---- the same numbers elsewhere ------------------------------------------------------------

for path in (split, own, left, os.path.join(DATA, "cuda/host/libtwo.so"), os.path.join(FATBIN, "variants.fatbin"), BUNDLE):
    for device in ("sm_75", "sm_90", "sm_121") if path != BUNDLE else ("gfx1100", "gfx90a:xnack+"):
        report = json.loads(Ran("cat", path, "/devices/%s/inspect/report.json" % device).out)
        row = which(device, path)[1][0]
        where = "%s, %s: as the report: " % (os.path.basename(path), device)
        same(where + "kernels", row["kernels"], report["kernels"])
        same(where + "missing", row["missing"], report["missing"])

LETTERS = {"native": "N", "jit": "J", "partial": "P", "none": "-", "maybe": "?"}
files = [split, own, left, regions("none", [text(100, "x")])]
for options in ((), ("--kernels",)):
    ran = Ran("matrix", *options, *files)
    same("matrix %s: status" % (options,), (ran.status, ran.err), (0, b""))
    rows = [line.split()[1:] for line in ran.lines if line and line[0] not in "N "]
    labels = [l for line, after in zip(ran.lines, ran.lines[1:]) if line.startswith("NVIDIA") for l in after.split()]
    for index, path in enumerate(files):
        letters = [letter for r in rows[index::len(files)] for letter in r]
        cells = dict(zip(labels, letters, strict=True))
        for device in ("7.5", "8.6", "9.0", "12.0"):
            want = which(device, path, options=options)[1][0]["verdict"]
            same("matrix %s: %s on %s" % (options, os.path.basename(path), device), cells[device], LETTERS[want])
ran = Ran("matrix", "-k", split, os.path.join(folder, "absent"))
check("matrix: one cannot be read", ran.status == 3 and b"absent" in ran.err and b"split" in ran.out, ran.err)

# ---- against the MANIFESTs -----------------------------------------------------------------

full = samples()
if full:
    truth = ptxas_table.Truth(os.path.join(full, "cuda", "MANIFEST.md"))
    compared = 0
    for name in sorted(n for n in truth.objects if os.path.exists(os.path.join(full, "cuda", n))):
        names = {k["name"] for o in truth.objects[name] for k in o}
        names |= {k for o in truth.ptx_names.get(name, []) for k in o}
        row = which("sm_90", os.path.join(full, "cuda", name))[1][0]
        if row["kernel_analysis"] == "complete":
            compared += 1
            same(name + ": kernels", sum(row["kernels"].values()), len(names))
    check("files were compared", compared > 20, compared)
else:
    print("note: no full sample set (GPUOBJFS_SAMPLES)")
finish()
