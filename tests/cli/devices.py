#!/usr/bin/env python3
"""What gpuobj says of devices: which, matrix, /devices.

Usage: devices.py which       verdicts and exit statuses, one case a line
       devices.py tree        device.json against the inventory, report.json against the kernels
                              that each object has by itself
       devices.py manifest    reports against the kernels that the samples' MANIFEST lists
       devices.py matrix      text and picture: shape, legend, odd names
       devices.py corpus DIR  the cases on real files; "ok|skip|fail NAME" a line

GPUOBJ names the program.
"""

import json
import os
import re
import shutil
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

import case
from case import DATA, Ran, finish, on_terminal, samples, skip
import ptxas_table

FATBIN = "cuda/fatbin/mode_none.fatbin"  # sm_90 and its PTX in one region
VARIANTS = "cuda/fatbin/variants.fatbin"  # a, f and plain targets in one region
BUNDLE = "amd/bundle/plain_noalign.hipfb"
LIBTWO = "cuda/host/libtwo.so"  # two regions: sm_75, sm_90a, sm_120f, compute_120f

# Device, file, verdict, word in the parentheses, status.
WHICH = [
    ("sm_90", FATBIN, "native", "exact", 0),
    ("9.0", FATBIN, "native", "exact", 0),
    ("H100", FATBIN, "native", "exact", 0),
    ("sm_120", FATBIN, "jit", "jit", 0),
    ("NVIDIA GeForce RTX 5090", FATBIN, "jit", "jit", 0),
    ("sm_86", FATBIN, "none", "lower number", 1),
    ("rtx 3090", FATBIN, "none", "lower number", 1),
    ("gfx1100", FATBIN, "none", "vendor", 1),
    ("sm_90", VARIANTS, "native", "exact", 0),
    ("sm_80", VARIANTS, "none", "", 1),
    ("sm_89", VARIANTS, "none", "", 1),
    ("sm_120", VARIANTS, "native", "exact", 0),
    ("sm_90", LIBTWO, "native", "exact", 0),
    ("sm_121", LIBTWO, "native", "family", 0),
    ("sm_86", LIBTWO, "none", "", 1),
    ("gfx90a:xnack-", BUNDLE, "native", "exact", 0),
    ("gfx90a:sramecc+:xnack-", BUNDLE, "native", "exact", 0),
    ("gfx90a:xnack+", BUNDLE, "none", "xnack", 1),
    ("gfx90a", BUNDLE, "maybe", "gfx90a:xnack+: none", 3),
    ("gfx1100", BUNDLE, "native", "exact", 0),
    ("gfx1030", BUNDLE, "none", "another processor", 1),
    ("RX 7900 XTX", BUNDLE, "native", "exact", 0),
    ("gfx942:xnack-", "amd/co/gfx9-4-generic_v6.hsaco", "native", "generic", 0),
    ("sm_90", "cuda/fatbin/lto_lz4_scrambled.fatbin", "none", "linker", 1),
    ("gfx1100", "amd/bad/elf_abiversion_9.hsaco", "none", "ABI version", 1),
    ("sm_90", "cuda/fatbin/empty.fatbin", "none", "", 1),
]

# The same on real files: what each holds is in the corpus' README.
CORPUS = [
    ("sm_86", "deepspeech-linux-libdeepspeech.so", "jit", 0),
    ("sm_35", "deepspeech-linux-libdeepspeech.so", "native", 0),
    ("sm_120", "whisper-linux-index.node", "jit", 0),
    ("sm_89", "whisper-linux-index.node", "native", 0),
    ("sm_86", "whisper-linux-index.node", "none", 1),
    ("sm_120", "nodellama-linux-libggml-cuda.so", "native", 0),
    ("gfx90a:xnack-", "librocrand.so.1.1", "native", 0),
    ("gfx1100", "librocrand.so.1.1", "none", 1),
    ("gfx1030", "libhsa-runtime64.so.1.5.0", "partial", 1),
]

# With --kernels: a code object for each processor, all with the same ten kernels.
CORPUS_KERNELS = [
    ("gfx1030", "libhsa-runtime64.so.1.5.0", "native", 0),
    ("gfx700", "libhsa-runtime64.so.1.5.0", "native", 0),
    ("gfx1100", "libhsa-runtime64.so.1.5.0", "none", 1),
    ("sm_89", "whisper-linux-index.node", "native", 0),
    ("sm_120", "whisper-linux-index.node", "jit", 0),
]


def check(condition, text):
    case.check(text, condition)


def run(*arguments):
    ran = Ran(*arguments)
    return ran.status, ran.out.decode("utf-8", "surrogateescape"), ran.err.decode()


def data(name):
    return os.path.join(DATA, name)


def cat(path, *inside):
    status, out, err = run("cat", path, *inside)
    check(status == 0, "cat %s %s: %s" % (path, inside[:1], err))
    return out


def listed(path, folder):
    return run("ls", path, folder)[1].split()


# ---- which -----------------------------------------------------------------------------------


def verdict_of(device, path, *options):
    status, out, err = run("which", *options, device, path)
    match = re.fullmatch(r"(.*): (\w+) \((.*)\)\n", out)
    check(match and match[1] == path, "which %s %s: says %r %r" % (device, path, out, err))
    return status, match[2] if match else None, match[3] if match else ""


def test_which():
    for device, name, verdict, word, status in WHICH:
        got, said, why = verdict_of(device, data(name))
        where = "which %r %s: " % (device, name)
        if verdict:
            check(said == verdict, where + "%s (%s), want %s" % (said, why, verdict))
            check(got == status, where + "status %d, want %d" % (got, status))
        check(word in why, where + "%r is not in %r" % (word, why))
    test_several()
    test_lookup()
    test_jsonl()


def test_several():
    """Several files: 2 before 1 before 3 before 0."""
    native, none = data(FATBIN), data(BUNDLE)
    status, out, _ = run("which", "sm_90", native, none)
    check(status == 1 and len(out.splitlines()) == 2, "native and none give 1")
    status, _, err = run("which", "sm_90", native, none, "/nonexistent")
    check(status == 2 and err, "a file that cannot be read gives 2")
    status, out, _ = run("which", "gfx90a", data(BUNDLE), native)
    check(status == 1, "maybe and none give 1")
    status, out, _ = run("which", "gfx90a", data(BUNDLE))
    check(status == 3, "maybe gives 3")
    status, out, err = run("which", "sm_90", "-r", os.path.join(DATA, "cuda", "fatbin"))
    names = [line.split(": ")[0] for line in out.splitlines()]
    check(status == 1 and not err, "-r: %d %r" % (status, err))
    check(names == sorted(names) and len(names) > 5, "-r is sorted")
    check(not [n for n in names if n.endswith("empty.fatbin")], "-r leaves out what has no code")
    status, out, _ = run("which", "--sample", "gfx1100")
    check(status == 0 and out.startswith("sample: native"), "--sample: %r" % out)
    check("report.json" not in run("which", "--sample", "gfx1100")[2], "a word on kernels")
    status, out, err = run("which", "--sample", "sm_89")
    check(status == 1 and out.startswith("sample: partial") and "1 of 2 containers" in out,
          "a part of the sample: %r" % out)
    check(err.count("devices/sm_89/inspect/report.json") == 1 and err.count("\n") == 1,
          "where kernels are counted: %r" % err)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "text"), "w") as f:
            f.write("no code\n")
        os.symlink(native, os.path.join(folder, "link"))
        os.mkfifo(os.path.join(folder, "pipe"))
        status, out, err = run("which", "-r", "sm_90", folder)
        check(status == 1 and not out and "GPU code" in err, "-r of nothing: %r %r" % (out, err))
        odd = os.path.join(folder, "a\x1b[31m\nb")
        shutil.copy(native, odd)
        status, out, _ = run("which", "sm_90", odd)
        check("\x1b" not in out and out.count("\n") == 1, "control bytes reach a terminal")


def test_lookup():
    for device in ("rtx 4000", "nano"):
        status, out, err = run("which", device, data(FATBIN))
        check(status == 2 and not out and len(err.splitlines()) > 2,
              "%s is ambiguous: %d %r" % (device, status, err))
    for device in ("sm_130", "no such thing", "", "gfx90a:xnack?"):
        status, out, err = run("which", device, data(FATBIN))
        check(status == 2 and not out and err, "%r is unknown: %d %r" % (device, status, out))
    for arguments in ((), ("sm_90",), ("--driver", "new", "sm_90", data(FATBIN)),
                      ("--driver", "0", "sm_90", data(FATBIN))):
        check(run("which", *arguments)[0] == 2, "which %r gives 2" % (arguments,))
    status, out, _ = run("which", "--list")
    check(status == 0, "--list")
    for device, product in (("sm_89", "RTX 4090"), ("gfx942:xnack-", "MI300X")):
        line = [l for l in out.splitlines() if l.split()[0] == device]
        check(len(line) == 1 and product in line[0], "--list: %s has no %s" % (device, product))
    # An old driver does not take newer PTX.
    status, out, _ = run("which", "--driver", "470", "sm_120", data(FATBIN))
    check(status != 0, "driver 470 and PTX of CUDA 13: %r" % out)


def test_jsonl():
    status, out, _ = run("which", "--jsonl", "gfx90a", data(BUNDLE))
    rows = [json.loads(line) for line in out.splitlines()]
    check([r["device"] for r in rows] == ["gfx90a:xnack-", "gfx90a:xnack+"], "--jsonl: devices")
    check([r["verdict"] for r in rows] == ["native", "none"], "--jsonl: verdicts")
    check(status == 3, "--jsonl: status %d" % status)


# ---- the tree -----------------------------------------------------------------------------------

KEYS = ("device vendor family compute_capability products verdict reason inventory "
        "containers targets choices reasons ids").split()
REPORT_KEYS = ("device vendor family compute_capability products verdict reason inventory objects "
               "kernels loads missing kernel_analysis coverage ids").split()


def expand(ranges):
    """Ids in ranges, as numbers."""
    found = []
    for text in ranges:
        first, _, last = text.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


class Inventory:
    """What the other files of the tree say, read from a copy of it."""

    def __init__(self, name, tree):
        self.path = name
        self.tree = tree
        ids = sorted(os.listdir(os.path.join(tree, "objects")))
        self.objects = [self.json("objects", i, "object.json") for i in ids]
        self.places = [self.json("objects", i, "location.json") for i in ids]
        self.kernels = [self.names(i) for i in ids]
        self.containers = len(os.listdir(os.path.join(tree, "containers")))

    def json(self, *path):
        with open(os.path.join(self.tree, *path), encoding="utf-8") as f:
            return json.load(f)

    def names(self, oid):
        """The kernels of one object, as it names them itself."""
        folder = os.path.join("objects", oid, "inspect", "kernels")
        return {self.json(folder, kernel, "kernel.json")["name"]
                for kernel in os.listdir(os.path.join(self.tree, folder))}


def check_device(inventory, device):
    where = "%s of %s: " % (device["device"], inventory.path)
    check(list(device) == KEYS, where + "keys %r" % list(device))
    check(sum(device["containers"].values()) == inventory.containers, where + "containers do not add up")
    codes = {r["reason"] for r in device["targets"] + device["choices"]} | {device["reason"]}
    check(set(device["reasons"]) == codes, where + "reasons are not those of the rows")
    objects = [o for o in inventory.objects
               if o["vendor"] == device["vendor"] and o["kind"] not in ("host", "index")]
    rows = {}
    for row in device["targets"]:
        rows[row["target"]] = rows.get(row["target"], 0) + row["objects"]
    want = {}
    for o in objects:
        want[o["target"]] = want.get(o["target"], 0) + 1
    check(rows == want, where + "targets %r, want %r" % (rows, want))
    check_ids(inventory, device, where)


def check_ids(inventory, device, where):
    loads = [i for row in device["ids"]["loads"] for i in expand(row["objects"])]
    check(len(loads) == len(set(loads)), where + "an object loads in two ways")
    could = sum(r["objects"] for r in device["targets"] if r["verdict"] != "no")
    check(len(loads) == could, where + "%d objects load, rows say %d" % (len(loads), could))
    seen = []
    for row, ids in zip(device["choices"], device["ids"]["choices"], strict=True):
        containers = expand(ids["containers"])
        check(len(containers) == row["containers"], where + "containers of a choice")
        seen += containers
        for i in expand(ids["objects"]):
            check(i in loads, where + "object %d is chosen but does not load" % i)
            check(int(inventory.places[i]["container"]) in containers,
                  where + "object %d is of another container" % i)
            check(inventory.objects[i]["target"] in row["targets"], where + "target of a choice")
    check(len(seen) == len(set(seen)), where + "a container chooses twice")
    judged = sum(device["containers"].values()) - device["containers"]["other"]
    check(len(seen) == judged, where + "containers that count")


def check_report(inventory, device, report):
    where = "report of %s of %s: " % (device["device"], inventory.path)
    check(list(report) == REPORT_KEYS, where + "keys %r" % list(report))
    chosen = {i for row in device["ids"]["choices"] for i in expand(row["objects"])}
    of_vendor = [i for i, o in enumerate(inventory.objects)
                 if o["vendor"] == device["vendor"] and o["kind"] != "host"]
    every = set().union(*(inventory.kernels[i] for i in of_vendor))
    loadable = {}
    for i in sorted(chosen):
        for name in inventory.kernels[i]:
            loadable.setdefault(name, []).append(i)
    got = {name: row for row in report["loads"] for name in row["names"]}
    check(set(got) == set(loadable), where + "loadable %r, want %r" % (set(got), set(loadable)))
    missing = [name for row in report["missing"] for name in row["names"]]
    check(sorted(missing) == sorted(every - set(loadable)), where + "missing %r" % missing)
    check(report["kernels"]["no"] == len(missing), where + "count of the missing")
    check(sum(report["kernels"].values()) == len(every), where + "count of all")
    for name, ids in report["ids"].items():
        check(set(expand(ids)) <= set(loadable[name]), where + "ids of %s" % name)
        targets = {inventory.objects[i]["target"] for i in expand(ids)}
        check(targets == set(got[name]["targets"]), where + "targets of %s" % name)
    for row in report["missing"]:
        for name in row["names"]:
            have = {inventory.objects[i]["target"] for i in of_vendor
                    if name in inventory.kernels[i]}
            check(have == set(row["targets"]), where + "who has %s" % name)
    for row in report["loads"] + report["missing"]:
        check(row["kernels"] == len(row["names"]), where + "count of a row")


def test_copy(name, tree):
    run("cp", data(name), "/", tree)
    inventory = Inventory(name, tree)
    devices = sorted(os.listdir(os.path.join(tree, "devices")))
    vendors = set()
    for folder in devices:
        device = inventory.json("devices", folder, "device.json")
        report = inventory.json("devices", folder, "inspect", "report.json")
        check(device["device"] == report["device"] == folder, "%s: name of %s" % (name, folder))
        check_device(inventory, device)
        check_report(inventory, device, report)
        vendors.add(device["vendor"])
    check(vendors == {o["vendor"] for o in inventory.objects} - {"other"}, "%s: vendors" % name)


def all_devices(path):
    return cat(path, *["/devices/%s/device.json" % d for d in listed(path, "/devices")])


def test_payloads_do_not_matter():
    """Payloads of garbage: the same verdicts, as nobody looks at them."""
    path = data("cuda/fatbin/compress_all.fatbin")
    with open(path, "rb") as f:
        bytes_ = bytearray(f.read())
    for oid in listed(path, "/objects"):
        place = json.loads(cat(path, "/objects/%s/location.json" % oid.rstrip("/")))
        at, size = place["encoded"]["offset"], place["encoded"]["size"]
        bytes_[at:at + size] = bytes((b ^ 0xA5) for b in bytes_[at:at + size])
    with tempfile.TemporaryDirectory() as folder:
        spoilt = os.path.join(folder, os.path.basename(path))
        with open(spoilt, "wb") as f:
            f.write(bytes_)
        check(run("cat", spoilt, "/objects/00000/payload")[0] == 1, "the payload still decodes")
        check(all_devices(spoilt) == all_devices(path), "garbage changes device.json")
    for name in ("m10_usize_huge", "m12_zstd_corrupt", "m20_kind2_not_elf"):
        check(all_devices(data("cuda/malformed/%s.fatbin" % name)), "%s has no devices" % name)


def test_tree():
    for name in (FATBIN, VARIANTS, LIBTWO, BUNDLE, "cuda/host/rdc_exe", "cuda/host/a_rdc.o",
                 "cuda/fatbin/named_ident.fatbin", "amd/bundle/mixed_bitcode_and_elf.hipfb",
                 "amd/host/libtwo_new.so", "amd/bad/bundle_dup_id.hipfb"):
        with tempfile.TemporaryDirectory() as tree:
            test_copy(name, tree)
    check(not listed(data("cuda/fatbin/empty.fatbin"), "/devices"), "no code, but devices")
    test_payloads_do_not_matter()


# ---- the matrix -----------------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"


def rows_of(text):
    """{(vendor, device label): {file: letter}} of the table for a terminal."""
    cells = {}
    vendor, labels = None, []
    for line in text.splitlines():
        word = line.split(" ")[0]
        if word in ("NVIDIA", "AMD"):
            vendor, labels = word, None
        elif vendor and labels is None:
            labels = [(m.group(), m.end()) for m in re.finditer(r"\S+", line)]
        elif word and not line.startswith(" ") and labels:
            for label, end in labels:
                cells.setdefault((vendor, label, end), {})[word] = line[end - 1:end]
        elif not line:
            vendor, labels = None, []
    return cells


# Tables of names that a tool of the vendor wrote, not we.
MANIFEST = ("fatbin/variants.fatbin", "fatbin/mode_none.fatbin", "fatbin/named_ident.fatbin",
            "host/libtwo.so")


def test_manifest():
    if not samples():
        skip("no full sample set (GPUOBJFS_SAMPLES)")
    root = os.path.join(samples(), "cuda")
    truth = ptxas_table.Truth(os.path.join(root, "MANIFEST.md"))
    for name in MANIFEST:
        path = os.path.join(root, name)
        objects = [o for o in truth.objects[name]]
        check(objects, "%s is not in the manifest" % name)
        want = {k["name"] for o in objects for k in o}
        want |= {k for o in truth.ptx_names.get(name, []) for k in o}
        for device in ("sm_90", "sm_121", "sm_50"):
            report = json.loads(cat(path, "/devices/%s/inspect/report.json" % device))
            got = [n for row in report["loads"] + report["missing"] for n in row["names"]]
            check(sorted(got) == sorted(want), "%s on %s: %r" % (name, device, set(got) ^ want))


LETTERS = {"native": "N", "jit": "J", "partial": "P", "none": "-", "maybe": "?"}


def check_text(folder):
    files = {"f.fatbin": FATBIN, "v.fatbin": VARIANTS, "b.hipfb": BUNDLE, "two.so": LIBTWO}
    for short, name in files.items():
        shutil.copy(data(name), os.path.join(folder, short))
    status, out, err = run("matrix", "-r", folder)
    lines = out.splitlines()
    check(status == 0 and not err, "matrix: %d %r" % (status, err))
    check(max(len(line) for line in lines) <= 80, "matrix is wider than 80")
    check(not [line for line in lines if line != line.rstrip()], "blanks at an end")
    check("\x1b" not in out, "colour in a pipe")
    check(lines[-1] == "N native   J jit   P partial   - none   ? maybe", "legend")
    cells = rows_of(out)
    for label, device, vendor in (("9.0", "sm_90", "NVIDIA"), ("8.6", "sm_86", "NVIDIA"),
                                  ("12.0", "sm_120", "NVIDIA"), ("12.1", "sm_121", "NVIDIA"),
                                  ("1100", "gfx1100", "AMD"), ("1030", "gfx1030", "AMD")):
        columns = [v for (v_, l, _), v in cells.items() if (v_, l) == (vendor, label)]
        check(len(columns) == 1, "%s stands %d times" % (label, len(columns)))
        want = {f for f in files if (f == "b.hipfb") == (vendor == "AMD")}
        check(set(columns[0]) == want, "files of %s: %r" % (vendor, columns[0]))
        for name, got in columns[0].items():
            said = verdict_of(device, os.path.join(folder, name))[1]
            check(got == LETTERS[said], "%s on %s: %r, not %s" % (name, device, got, said))


def matrix_on_terminal(columns, **variables):
    text, status = on_terminal("matrix", data(FATBIN), columns=columns, stderr=False, **variables)
    check(status == 0, "matrix on a terminal")
    return text.decode()


def test_terminal():
    text = matrix_on_terminal(120)
    check("\x1b[32mN\x1b[0m" in text, "no colour on a terminal")
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        check("\x1b" not in matrix_on_terminal(120, **variables), "colour with %r" % variables)
    for columns in (40, 80, 120, 200):
        lines = matrix_on_terminal(columns, NO_COLOR="1").splitlines()[:-1]
        most = max(len(line) for line in lines)
        check(most <= columns, "%d of %d columns" % (most, columns))
    check(most > 120, "a wide terminal is not used")


def test_long_names():
    """Names that differ where they are cut differ in the table."""
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, "begins-alike-" + "x" * 30 + middle + "y" * 30 + "-ends.so")
                 for middle in ("1", "2", "3")]
        for name in names:
            shutil.copy(data(FATBIN), name)
        lines = run("matrix", *names)[1].splitlines()
    labels = [line.split("  ")[0] for line in lines if "-ends.so" in line or " #" in line]
    check(len(labels) >= 3 and len(set(labels)) == 3, "labels of long names: %r" % labels)
    check(max(map(len, lines)) <= 80, "long names make the table wide")


def test_text():
    with tempfile.TemporaryDirectory() as folder:
        check_text(folder)
    status, out, _ = run("matrix", data(FATBIN))
    check("AMD" not in out, "a vendor that is not there")
    status, out, _ = run("matrix", data("cuda/fatbin/empty.fatbin"))
    check(status == 0 and "no code" in out, "a file without code: %r" % out)


def test_svg():
    with tempfile.TemporaryDirectory() as folder:
        odd = os.path.join(folder, "a<b>&\"c\"\x01 é\ufffe.so")
        bad = os.path.join(os.fsencode(folder), b"\xff\xfe.so")
        for path in (odd, bad):
            shutil.copy(data(FATBIN), path)
        picture = os.path.join(folder, "m.svg")
        status, out, err = run("matrix", "--svg", picture, odd, os.fsdecode(bad), data(BUNDLE))
        check(status == 0 and not out and not err, "--svg: %r %r" % (out, err))
        tree = ElementTree.parse(picture)
        with open(picture, "rb") as f:
            text = f.read()
        status, out, _ = run("matrix", "--svg", "-", odd, os.fsdecode(bad), data(BUNDLE))
        check(out.encode() == text, "--svg - is another picture")
        check(run("matrix", "--svg", folder, odd)[0] == 1, "a folder as the picture")
    root = tree.getroot()
    check(root.tag == SVG + "svg", "root %s" % root.tag)
    texts = ["".join(t.itertext()) for t in root.iter(SVG + "text")]
    check(any("a<b>&\"c\"%01" in t for t in texts), "the odd name: %r" % texts[:9])
    check("sm_86" in texts, "labels")
    for word in ("native", "jit", "partial", "none", "maybe"):
        check(word in texts, "legend: %s" % word)
    for banned in (b"script", b"href", b"@import", b"url(", b"@font-face", b"http:"):
        check(text.count(banned) == (banned == b"http:"), "%r in the picture" % banned)
    titles = ["".join(t.itertext()) for t in root.iter(SVG + "title")]
    check(any(", sm_90: native" in t for t in titles), "what a cell says when pointed at")
    width, height = (float(root.get(k)) for k in ("width", "height"))
    for rect in root.iter(SVG + "rect"):
        if rect.get("x") and (float(rect.get("x")) + float(rect.get("width")) > width
                              or float(rect.get("y")) + float(rect.get("height")) > height):
            check(False, "a cell outside of the picture")
            break


def test_matrix():
    test_text()
    test_long_names()
    test_terminal()
    test_svg()
    check(run("matrix")[0] == 2, "matrix of nothing gives 2")


# ---- real files ---------------------------------------------------------------------------------


def test_corpus(folder):
    rows = [row + ((),) for row in CORPUS] + [row + (("--kernels",),) for row in CORPUS_KERNELS]
    for device, name, verdict, status, options in rows:
        path = os.path.join(folder, name)
        what = " ".join((name, "on", device + ":", verdict) + options)
        if not os.path.exists(path):
            print("skip %s: not there" % what)
            continue
        got, said, why = verdict_of(device, path, *options)
        print("%s %s (%s)" % ("ok" if (got, said) == (status, verdict) else "fail", what, why))
    return 0


def main(argv):
    if argv[:1] == ["corpus"] and len(argv) == 2:
        return test_corpus(argv[1])
    tests = {"which": test_which, "tree": test_tree, "manifest": test_manifest, "matrix": test_matrix}
    if len(argv) != 1 or argv[0] not in tests:
        sys.stderr.write(__doc__)
        return 2
    tests[argv[0]]()
    finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
