#!/usr/bin/env python3
"""What LLVM's tools read in a file, against the tree of it: second.py FILE TREE

llvm-objdump --offloading lists and extracts offload binaries and bundles, clang-offload-bundler
each bundle by itself, llvm-readelf reads cubins and code objects. Exit 0, 1, or 77 where no tool
is there or none can read anything of the file.

What the tools of LLVM 22 get wrong is worked round here, and only here:

OBJDUMP_FIRST    llvm-objdump stops at the first bundle of a section when compressed ones follow;
                 what it finds must be in the tree, what it does not find is not missed.
OBJDUMP_BESIDE   it writes what it extracts beside its input: the input is a link in a folder of
                 its own.
BUNDLER_ORDER    clang-offload-bundler --list has an order of its own and drops repeated ids: sets
                 are compared.
BUNDLER_UNKNOWN  it writes an environment "unknown" as an empty one.
BUNDLER_HOST     --unbundle refuses a bundle with a host id as LLVM 14 wrote it, without an
                 environment: a copy (of the decoded bytes, if it is compressed) gets a host id
                 of the same length that it takes.
READELF_NOTES    llvm-readelf's JSON is not JSON where an object of ABI version 0 has notes: those
                 are asked for without their notes.
READELF_KERNELS  it does not know kernels; they are counted from its symbols.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

VERSION = "-22"
# Each call takes a while, and objects of one library are much alike.
PAYLOADS = 40
EMPTY = hashlib.sha256(b"").hexdigest()
HOST_14, HOST_22 = b"host-x86_64-unknown-linux", b"host-x86_64-pc-linux-gnu-"
IMAGE_KINDS = {"llvm ir": "bitcode", "elf": "object", "cubin": "cubin", "fatbin": "unknown",
               "ptx": "ptx"}


def skip(why):
    print("SKIP: " + why)
    sys.exit(77)


def ran(tool, *arguments, folder=None):
    done = subprocess.run([tool + VERSION] + list(arguments), cwd=folder, capture_output=True,
                          timeout=600)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


class Tree:
    def __init__(self, root):
        self.root = root
        self.objects = []
        self.containers = {c: self.json("containers", c, "container.json")
                           for c in sorted(os.listdir(os.path.join(root, "containers")))}
        for oid in sorted(os.listdir(os.path.join(root, "objects"))):
            o = self.json("objects", oid, "object.json")
            o["id"] = oid
            o["container"] = self.json("objects", oid, "location.json")["container"]
            self.objects.append(o)

    def json(self, *parts):
        with open(os.path.join(self.root, *parts), "rb") as f:
            return json.load(f)

    def path(self, *parts):
        return os.path.join(self.root, *parts)

    def of_kind(self, *kinds):
        return [o for o in self.objects if self.containers[o["container"]]["kind"] in kinds]

    def payload(self, o):
        path = self.path("objects", o["id"], "payload")
        return digest(path) if os.path.exists(path) else None


class Opinion:
    def __init__(self):
        self.asked = self.wrong = 0

    def equal(self, what, theirs, ours):
        self.asked += 1
        if theirs != ours:
            self.wrong += 1
            print("%s: %s here, %s there" % (what, str(ours)[:200], str(theirs)[:200]))


def normal(entry_id):
    """BUNDLER_UNKNOWN"""
    parts = entry_id.split("-", 5)
    if len(parts) > 4 and parts[4] == "unknown":
        parts[4] = ""
    return "-".join(parts)


def offload_binaries(opinion, tree, text):
    images = []
    for line in text.splitlines():
        if line.startswith("OFFLOADING IMAGE"):
            images.append({})
        elif images and line.split(" ")[0] in ("kind", "arch", "triple"):
            images[-1][line.split(" ")[0]] = line.split(None, 1)[1] if " " in line else ""
    ours = tree.of_kind("offload_binary")
    if not images and not ours:
        return
    opinion.equal("offload images", [(i.get("arch"), IMAGE_KINDS.get(i["kind"])) for i in images],
                  [(o["target_raw"], o["kind"]) for o in ours])


def extracted(opinion, tree, folder, name):
    """OBJDUMP_FIRST: one way alone."""
    ours = {(normal(o["target_raw"]), tree.payload(o))
            for o in tree.of_kind("bundle", "compressed_bundle")}
    for leaf in sorted(os.listdir(folder)):
        if leaf == name:
            continue
        entry_id = normal(leaf[len(name) + 1:].split(".", 1)[1])
        opinion.equal("extracted " + entry_id,
                      (entry_id, digest(os.path.join(folder, leaf))) in ours, True)


def objdump(opinion, tree, path):
    name = "file"
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(path), os.path.join(folder, name))
        status, text = ran("llvm-objdump", "--offloading", name, folder=folder)
        if status == 0:
            offload_binaries(opinion, tree, text)
            extracted(opinion, tree, folder, name)
    return status == 0


def bundle(opinion, tree, cid):
    """One bundle, cut out."""
    ours = {}
    for o in tree.objects:
        if o["container"] == cid:
            ours.setdefault(normal(o["target_raw"]), tree.payload(o))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bundle")
        shutil.copyfile(tree.path("containers", cid, "encoded"), path)
        status, text = ran("clang-offload-bundler", "--list", "--type=o", "--input=" + path)
        opinion.equal("bundle %s: --list" % cid, status, 0)
        opinion.equal("bundle %s: ids" % cid, {normal(i) for i in text.split()}, set(ours))
        if HOST_14.decode() in ours:  # BUNDLER_HOST
            if tree.containers[cid]["kind"] == "compressed_bundle":
                shutil.copyfile(tree.path("containers", cid, "decoded"), path)
            with open(path, "r+b") as f:
                head = f.read(65536)
                f.seek(0)
                f.write(head.replace(HOST_14, HOST_22, 1))
        for n, (entry_id, sha256) in enumerate(sorted(ours.items())):
            if entry_id.startswith("host"):
                opinion.equal("bundle %s: %s" % (cid, entry_id), EMPTY, sha256)
                continue
            out = os.path.join(folder, str(n))
            status, _ = ran("clang-offload-bundler", "--unbundle", "--type=o", "--input=" + path,
                            "--targets=" + entry_id, "--output=" + out)
            opinion.equal("bundle %s: %s" % (cid, entry_id),
                          digest(out) if status == 0 else "status %d" % status, sha256)


def is_kernel(symbol, machine):
    name = symbol["Name"]["Name"]
    if symbol["Section"]["Value"] == 0:
        return False
    if machine == "cubin":
        return symbol["Type"]["Value"] == 2 and symbol["Other"]["Value"] & 0x10 != 0
    return name.endswith(".kd") and symbol["Size"] == 64


def notes(document):
    return [n for s in document.get("NoteSections", []) for n in s["NoteSection"]["Notes"]]


def elf(opinion, tree, o, representation):
    """READELF_KERNELS, READELF_NOTES"""
    where = "object %s" % o["id"]
    inspection = tree.json("objects", o["id"], "inspect", "inspection.json")
    metadata = tree.json("objects", o["id"], "inspect", "metadata.json")
    ours = metadata["elf"]
    old = representation == "amdgpu_elf" and ours["abi_version"] == 0
    status, text = ran("llvm-readelf", "-hSs" if old else "-hSsn", "--elf-output-style=JSON",
                       tree.path("objects", o["id"], "payload"))
    opinion.equal(where + ": llvm-readelf", status, 0)
    theirs = json.loads(text)[0]
    header = theirs["ElfHeader"]
    osabi = header["Ident"]["OS/ABI"]
    opinion.equal(where + ": e_flags", header["Flags"]["Value"], int(ours["flags"], 16))
    opinion.equal(where + ": EI_ABIVERSION", header["Ident"]["ABIVersion"], ours["abi_version"])
    opinion.equal(where + ": EI_OSABI", osabi["Value"] if isinstance(osabi, dict) else osabi,
                  int(str(ours["osabi"]), 0))
    if representation == "cubin":
        opinion.equal(where + ": sections", len(theirs["Sections"]), ours["sections"])
        opinion.equal(where + ": symbols", len(theirs.get("Symbols", [])), ours["symbols"])
        opinion.equal(where + ": e_version", header["Version"], ours["version"])
        opinion.equal(where + ": notes", len(notes(theirs)), len(metadata.get("notes", [])))
        kernels = [s for s in theirs.get("Symbols", []) if is_kernel(s["Symbol"], "cubin")]
    else:
        opinion.equal(where + ": e_type", int(header["Type"].split("0x")[1].rstrip(")"), 16),
                      ours["type"])
        if not old:
            opinion.equal(where + ": notes", [(n["Owner"], n["Data size"]) for n in notes(theirs)],
                          [(n["owner"], n["size"]) for n in metadata["notes"]])
        kernels = [s for s in theirs.get("Symbols", []) if is_kernel(s["Symbol"], "amdgpu")]
    if not old:
        opinion.equal(where + ": kernels", len(kernels), inspection["kernel_count"])


def readelf(opinion, tree):
    there = [o for o in tree.objects if o["kind"] in ("cubin", "code_object") and
             os.path.exists(tree.path("objects", o["id"], "payload"))]
    for o in there[::max(1, -(-len(there) // PAYLOADS))]:
        representation = tree.json("objects", o["id"], "inspect",
                                   "inspection.json")["representation"]
        if representation in ("cubin", "amdgpu_elf"):
            elf(opinion, tree, o, representation)


def main():
    path, root = sys.argv[1:]
    missing = [t + VERSION for t in ("llvm-objdump", "clang-offload-bundler", "llvm-readelf")
               if not shutil.which(t + VERSION)]
    if missing:
        skip("%s not installed" % ", ".join(missing))
    tree, opinion = Tree(root), Opinion()
    readable = objdump(opinion, tree, path)
    for cid, c in tree.containers.items():
        if c["kind"] in ("bundle", "compressed_bundle"):
            bundle(opinion, tree, cid)
    readelf(opinion, tree)
    if not opinion.asked:
        if readable and not tree.objects:
            print("nothing here and nothing there")
            return 0
        skip("nothing that LLVM's tools read")
    print("%d comparisons, %d differ" % (opinion.asked, opinion.wrong))
    return 1 if opinion.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
