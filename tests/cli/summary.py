#!/usr/bin/env python3
"""gpuobj summary against the truth: the extractor of tests/truth, and the MANIFESTs of the
full sample set where it is there: objects and targets, kernels as ptxas counted them.
"""

import os
import re
import shutil

from case import (DATA, Ran, bundle, check, finish, on_terminal, ptx, same, samples, scratch,
                  whole_files, write)
import extract
import ptxas_table

folder = scratch()
COLUMNS = ["FILE", "VENDORS", "OBJECTS", "SIZE", "ENCODED", "DECODED"]
KERNELS = ["KERNELS", "NAMES", "COVERAGE"]


def rows(ran):
    """{file: {title: text}} of what goes into a pipe."""
    titles = ran.lines[0].split("\t")
    found = {}
    for line in ran.lines[1:]:
        fields = line.split("\t")
        if same("fields of " + fields[0], len(fields), len(titles)):
            found[fields[0]] = dict(zip(titles, fields))
    return found


# ---- against the extractor ---------------------------------------------------------------

paths = list(whole_files(DATA))
ran = Ran("summary", "--bytes", *paths)
same("status", ran.status, 0)
same("titles", ran.lines[0].split("\t"), COLUMNS + ["TARGETS"])
found = rows(ran)
same("files", list(found), paths)
compared = 0
for path in paths:
    truth = extract.extract(path, payloads=False)
    row = found[path]
    objects = [o for c in truth["containers"] for o in c["objects"]]
    code = [o for o in objects if o["kind"] != "host"]
    same(path + ": size", row["SIZE"], str(os.path.getsize(path)))
    same(path + ": objects", row["OBJECTS"], str(len(objects)))
    targets = {o["target"] for o in objects if o.get("target")}
    same(path + ": targets", set(row["TARGETS"].split(",")) - {"-"}, targets)
    vendors = {o["vendor"] for o in objects if o.get("target")}
    same(path + ": vendors", set(row["VENDORS"].split(",")) - {"-"}, vendors)
    same(path + ": decoded", row["DECODED"], str(sum(o["payload_size"] for o in code)))
    if not any(c["kind"] == "compressed_bundle" for c in truth["containers"]):
        stored = sum(o["encoded"][1] for o in code if o.get("space", "artifact") == "artifact")
        compared += 1
        same(path + ": encoded", row["ENCODED"], str(stored))
check("encoded sizes were compared", compared > 20, compared)

# ---- kernels ------------------------------------------------------------------------------

full = samples()
if full:
    truth = ptxas_table.Truth(os.path.join(full, "cuda", "MANIFEST.md"))
    names = sorted(n for n in truth.objects if os.path.exists(os.path.join(full, "cuda", n)))
    ran = Ran("summary", "-k", *[os.path.join(full, "cuda", n) for n in names])
    found = rows(ran)
    same("titles with kernels", ran.lines[0].split("\t"), COLUMNS + KERNELS + ["TARGETS"])
    for name in names:
        kernels = [k["name"] for o in truth.objects[name] for k in o]
        kernels += [k for o in truth.ptx_names.get(name, []) for k in o]
        row = found[os.path.join(full, "cuda", name)]
        same(name + ": kernels", row["KERNELS"], str(len(kernels)))
        same(name + ": names", row["NAMES"], str(len(set(kernels))))
else:
    print("note: no full sample set (GPUOBJFS_SAMPLES)")

three = write(os.path.join(folder, "three.ptx"), ptx(("a", "", ""), ("b", "", ""), ("c", "", "")))
row = rows(Ran("summary", "--kernels", three))[three]
same("kernels of three", [row[t] for t in KERNELS], ["3", "3", "complete"])
odd = write(os.path.join(folder, "odd"), bundle([
    (b"hip-amdgcn-amd-amdhsa--gfx90a", b"BC\xc0\xde" + bytes(60))]))
same("coverage of bitcode", rows(Ran("summary", "-k", odd))[odd]["COVERAGE"], "partial")

# ---- numbers and order ------------------------------------------------------------------

names = [b"sm_100", b"gfx1030", b"gfx908", b"gfx90a", b"gfx900:xnack+", b"gfx11-generic", b"gfx942"]
mixed = write(os.path.join(folder, "mixed"), bundle([
    (b"hip-amdgcn-amd-amdhsa--" + n, b"\x7fELF" + bytes(1532)) for n in names[1:]]))
row = rows(Ran("summary", mixed))[mixed]
same("order of processors", row["TARGETS"],
     "gfx900:xnack+,gfx908,gfx90a,gfx942,gfx1030,gfx11-generic")
same("sizes for people", row["DECODED"], "9.0K")
same("all digits", rows(Ran("summary", "-b", mixed))[mixed]["DECODED"], str(6 * 1536))
same("without code", rows(Ran("summary", __file__))[__file__]["TARGETS"], "-")

# ---- folders ----------------------------------------------------------------------------

tree = os.path.join(folder, "tree")
os.makedirs(os.path.join(tree, "b", "deep"))
library = os.path.join(DATA, "cuda/host/libtwo.so")
for name in ["z.so", "b/deep/a.so", "b/two.so", "a\x1b[31m\tb.so"]:
    shutil.copy(library, os.path.join(tree, name))
write(os.path.join(tree, "text"), b"text\n")
write(os.path.join(tree, "nothing"), b"")
os.symlink(library, os.path.join(tree, "link.so"))
os.symlink("..", os.path.join(tree, "b", "up"))
os.mkfifo(os.path.join(tree, "fifo"))
ran = Ran("summary", "-r", tree)
same("a folder: status", (ran.status, ran.err), (0, b""))
shown = [os.path.relpath(line.split("\t")[0], tree) for line in ran.lines[1:]]
same("a folder: files by name", shown, ["a%1B[31m%09b.so", "b/deep/a.so", "b/two.so", "z.so"])
check("a folder: no control characters", b"\x1b" not in ran.out)
shown = [os.path.relpath(line.split("\t")[0], tree) for line in Ran("summary", "-ra", tree).lines[1:]]
same("a folder: -a", shown, ["a%1B[31m%09b.so", "b/deep/a.so", "b/two.so", "text", "z.so"])
same("a link that is named", len(Ran("summary", "-r", os.path.join(tree, "link.so")).lines), 2)
same("text that is named", len(Ran("summary", "-r", os.path.join(tree, "text")).lines), 2)
for name in ["nothing", "fifo"]:
    ran = Ran("summary", "-r", os.path.join(tree, name))
    same(name + " that is named", (ran.status, len(ran.complaints)), (3, 1))

os.symlink("nowhere", os.path.join(tree, "dangling"))
for name in ["missing", "dangling"]:
    ran = Ran("summary", "-r", os.path.join(tree, name))
    same(name + " that is named", (ran.status, len(ran.complaints)), (3, 1))
same("links are left out", Ran("summary", "-r", tree).status, 0)

write(os.path.join(tree, "b", "x.bc"), b"BC\xc0\xde" + bytes(64))
ran = Ran("summary", "-r", tree, os.path.join(tree, "missing"))
same("errors: status", ran.status, 3)
same("errors: the rest is shown", len(ran.lines), 5)
check("errors: not of a kind that is refused", len(ran.complaints) == 1 and
      os.path.join(tree, "missing") in ran.complaints[0], ran.err)
ran = Ran("summary", "-r", os.path.join(tree, "b", "x.bc"))
same("a refused file that is named", (ran.status, len(ran.complaints)), (4, 1))
same("a folder without -r", Ran("summary", tree).status, 3)

# ---- on a terminal ------------------------------------------------------------------------

files = [os.path.join("cuda", "host", "libtwo.so"), os.path.join("cuda", "fatbin", "variants.fatbin")]
os.chdir(DATA)
everything = rows(Ran("summary", *files))
for columns in (200, 95):
    text, status = on_terminal("summary", *files, columns=columns, stderr=False, NO_COLOR="1")
    same("%d columns: status" % columns, status, 0)
    lines = text.decode().splitlines()
    check("%d columns: width" % columns, max(map(len, lines)) <= columns, max(map(len, lines)))
    at = lines[0].index("TARGETS")
    shown = {}
    for line in lines[1:]:
        if line[0] != " ":
            path = line.split()[0]
            shown[path] = ""
        check("%d columns: targets stand alone" % columns, line[at - 1] == " " and line[at] != " ", line)
        shown[path] += line[at:]
    check("%d columns: one line each where there is room" % columns, columns == 95 or len(lines) == 3)
    check("%d columns: wrapped where there is none" % columns, columns == 200 or len(lines) > 3)
    for path in files:
        names, prefix = [], ""
        for word in re.split("[ ,]", shown[path]):
            prefix = re.match("(sm_|compute_|lto_|gfx)?", word)[0] or prefix
            names.append(word if word.startswith(prefix) else prefix + word)
        same("%d columns, %s: targets" % (columns, path), names, everything[path]["TARGETS"].split(","))
finish()
