#!/usr/bin/env python3
"""Reads the MANIFEST.md files of a sample set into the form of extract.py.

Usage: manifest.py MANIFEST.md...      prints {"folder/file": inventory} as JSON

The manifests were written by other decoders than ours, so they are a second witness. Keys
that a manifest does not state are absent.
"""

import functools
import json
import os
import re
import sys

KIND_WORD = {"ELF": ("cubin", "sm"), "PTX": ("ptx", "compute"), "reloc-PTX": ("relocatable_ptx", "compute"),
             "NVVM/LTO-IR": ("lto_ir", "lto")}

CUDA_FILE = re.compile(r"^### (\S+) \((\d+) bytes\)")
REGION = re.compile(r"^\s*- region (\d+) @0x([0-9a-f]+) size (\d+)")
ENTRY = re.compile(
    r"^\s*- entry (\d+): (\S+) (\S+) ver (\d+)\.(\d+) hdr (\d+) payload (\d+) csize (\d+) "
    r"usize (\d+) flags 0x([0-9a-f]+) (\S+)(.*)$")
CUBIN = re.compile(r"^  - cubin sm=(\d+) abi=(\d+) osabi=0x\w+ type=\d+ e_flags=0x([0-9a-f]+)")
LTO_ROW = re.compile(r"^\| (lto/\S+) \|[^|]*\|[^|]*\| (\d+) \| (yes|no)")
PTX_ROW = re.compile(r"^\| (ptx/[^|]+)\| ([\d.]+) \| (sm_\d+[af]?)([^|]*)\|")

AMD_FILE = re.compile(r"^### (\S+) — (\d+) bytes")
AMD_BUNDLE = re.compile(r"^(\s*)- @0x([0-9a-f]+) bundle: (\d+) entries, header (\d+) bytes")
AMD_CCOB = re.compile(
    r"^(\s*)- @0x([0-9a-f]+) CCOB v(\d) method=(\d)\((\w+)\) header=(\d+) total=(\w+) "
    r"uncompressed=(\d+) stored_hash=0x([0-9a-f]+)")
AMD_ENTRY = re.compile(r"^\s*- \[(\d+)\] offset=0x([0-9a-f]+) size=(\d+) id=`([^`]*)`")
AMD_ELF = re.compile(r"^- ELF: osabi=(\d+) abiversion=(\d+) e_type=(\d+) e_flags=0x([0-9a-f]+)")
AMD_SECTION = re.compile(
    r"^- section `__CLANG_OFFLOAD_BUNDLE__([^`]*)` offset 0x([0-9a-f]+) size (\d+)")
AMD_TARGET = re.compile(r"^- amdhsa\.version=.* amdhsa\.target=(\S+)")


def quoted(text, key):
    m = re.search(key + r'="([^"]*)"', text)
    return m.group(1) if m else None


def cuda_entry(m, at):
    _, word, target, major, minor, hdr, payload, csize, usize, flags, codecs, rest = m.groups()
    hdr, payload, csize, usize = int(hdr), int(payload), int(csize), int(usize)
    codec = codecs.split("+")[-1]
    codec = "none" if codec == "raw" else codec
    scrambled = codecs.startswith("scrambled")
    kind = KIND_WORD[word][0]
    entry = {
        "kind": kind, "vendor": "nvidia", "target": target, "target_kind": "fatbin_entry",
        "version": [int(major), int(minor)], "header": [at, hdr], "codec": codec,
        "codec_flags": int(flags, 16), "scrambled": scrambled, "space": "artifact",
        "encoded": [at + hdr, csize if codec != "none" else payload],
        "payload_size": usize if codec != "none" else payload,
        "payload": not (scrambled and codec != "none"),
    }
    for key, name in (("name", "identifier"), ("opts", "options")):
        value = quoted(rest, key)
        if value is not None:
            entry[name] = value
    return entry, at + hdr + payload


def cuda(lines):
    files = {}
    current = None
    for line in lines:
        m = CUDA_FILE.match(line)
        if m:
            current = {"size": int(m.group(2)), "containers": []}
            files[m.group(1)] = current
            continue
        if line.startswith("## "):
            current = None
        m = REGION.match(line)
        if m and current is not None:
            at = int(m.group(2), 16)
            region = {"kind": "fatbin", "offset": at, "size": int(m.group(3)), "objects": []}
            current["containers"].append(region)
            next_entry = at + 16
            continue
        m = ENTRY.match(line)
        if m and current is not None:
            entry, next_entry = cuda_entry(m, next_entry)
            region["objects"].append(entry)
            continue
        m = CUBIN.match(line)
        if m and current is not None and not current["containers"]:
            sm, abi, flags = int(m.group(1)), int(m.group(2)), int(m.group(3), 16)
            a = flags & 0x800 if abi <= 7 else flags & 0x8
            current["containers"].append({
                "kind": "bare", "offset": 0, "size": current["size"], "entries": 1,
                "objects": [{"kind": "cubin", "vendor": "nvidia", "target_kind": "standalone",
                             "target": "sm_%d%s" % (sm, "a" if a else ""), "codec": "none",
                             "space": "artifact", "encoded": [0, current["size"]],
                             "payload_size": current["size"], "payload": True}]})
            continue
        m = LTO_ROW.match(line)
        if m:
            target = "lto_%d%s" % (int(m.group(2)) // 10, "a" if m.group(3) == "yes" else "")
            files[m.group(1)] = {"containers": [{
                "kind": "bare", "offset": 0, "entries": 1,
                "objects": [{"kind": "lto_ir", "vendor": "nvidia", "target_kind": "standalone",
                             "target": target, "codec": "none", "payload": True}]}]}
            continue
        m = PTX_ROW.match(line)
        if m and "then" not in m.group(4):
            stem = None
            for name in m.group(1).split(","):
                name = name.strip()
                if "/" not in name:
                    name = "ptx/" + name
                if not name.endswith(".ptx"):
                    name += ".ptx"
                stem = name
                files[stem] = {"containers": [{
                    "kind": "bare", "offset": 0, "entries": 1,
                    "objects": [{"kind": "ptx", "vendor": "nvidia", "target_kind": "standalone",
                                 "target": "compute_" + m.group(3)[3:], "codec": "none",
                                 "payload": True}]}]}
    for inventory in files.values():
        for c in inventory["containers"]:
            c.setdefault("entries", len(c["objects"]))
    return files


def amd_bundle_entry(m, base, space):
    size = int(m.group(3))
    return entry_of_id(m.group(4), size, [base + int(m.group(2), 16), size], space)


def entry_of_id(entry_id, size, encoded, space):
    entry = {"target_raw": entry_id, "target_kind": "bundle_id", "codec": "none", "space": space,
             "encoded": encoded, "payload_size": size, "payload": True,
             "kind": "host" if entry_id.startswith("host") else "device"}
    if entry_id.startswith("host"):
        entry["target"] = None
    else:
        # Only the plain spelling: what follows the double hyphen.
        tail = re.fullmatch(r"(?:hip|hipv4|openmp)-amdgcn-amd-amdhsa-(?:unknown)?-(gfx\S+)", entry_id)
        if tail:
            parts = tail.group(1).split(":")
            entry["target"] = ":".join([parts[0]] + sorted(parts[1:]))
    return entry


def amd(lines):
    files = {}
    current = None
    for line in lines:
        m = AMD_FILE.match(line)
        if m:
            current = {"size": int(m.group(2)), "containers": []}
            silent = False
            inner = 0
            container = None
            files[m.group(1)] = current
            continue
        if line.startswith("## "):
            current = None
        if current is None:
            continue
        m = AMD_CCOB.match(line)
        if m:
            at = int(m.group(2), 16)
            container = {"kind": "compressed_bundle", "offset": at, "version": int(m.group(3)),
                         "codec": m.group(5), "decoded_size": int(m.group(8)),
                         "hash": int(m.group(9), 16), "objects": []}
            if m.group(7) != "None":
                container["size"] = int(m.group(7))
            inner = len(m.group(1)) + 1
            current["containers"].append(container)
            continue
        m = AMD_BUNDLE.match(line)
        if m:
            if inner and len(m.group(1)) >= inner:
                container["entries"] = int(m.group(3))
                space, base = "decoded", 0
            else:
                inner = 0
                at = int(m.group(2), 16)
                space, base = "artifact", at
                container = {"kind": "bundle", "offset": at, "entries": int(m.group(3)),
                             "_header": int(m.group(4)), "objects": []}
                current["containers"].append(container)
            continue
        m = AMD_ENTRY.match(line)
        if m and container is not None:
            container["objects"].append(amd_bundle_entry(m, base, space))
            if space == "artifact":
                end = max([container["_header"]] + [
                    sum(e["encoded"]) - base for e in container["objects"]])
                container["size"] = end
            continue
        m = AMD_SECTION.match(line)
        if m:
            entry_id, at, size = m.group(1), int(m.group(2), 16), int(m.group(3))
            entry = entry_of_id(entry_id, size, [at, size], "artifact")
            current["containers"].append({"kind": "bundle", "offset": at, "size": size,
                                          "entries": 1, "objects": [entry]})
            continue
        m = AMD_ELF.match(line)
        if m and container is None:
            entry = {"kind": "code_object", "vendor": "amd", "target_kind": "standalone",
                     "codec": "none", "space": "artifact", "encoded": [0, current["size"]],
                     "payload_size": current["size"], "payload": True}
            container = {"kind": "bare", "offset": 0, "size": current["size"], "entries": 1,
                         "objects": [entry]}
            current["containers"].append(container)
            continue
        m = AMD_TARGET.match(line)
        if m and container is not None and container["kind"] == "bare" and m.group(1) != "None":
            entry["target"] = m.group(1).split("amdgcn-amd-amdhsa--", 1)[-1]
            continue
        if ("OffloadBinary" in line
                or line.startswith("- first bytes") or line.startswith("(written by")):
            silent = silent or not line.startswith("(written by")
        if silent:
            current["silent"] = True
    # Some rows say what a file is, but not what is inside.
    for name in [n for n, i in files.items() if i.pop("silent", False) or not i["containers"]]:
        del files[name]
    return files


def load(path):
    with open(path, encoding="utf-8") as f:
        lines = f.read().splitlines()
    found = cuda(lines)
    found.update(amd(lines))
    folder = os.path.basename(os.path.dirname(os.path.abspath(path)))
    return {folder + "/" + name: inventory for name, inventory in found.items()}


@functools.lru_cache(maxsize=4)
def load_all(samples):
    """{"cuda/host/t1.o": inventory} of a sample set's folder."""
    found = {}
    for folder in ("cuda", "amd"):
        path = os.path.join(samples, folder, "MANIFEST.md")
        if os.path.exists(path):
            found.update(load(path))
    return found


def main(argv):
    if not argv:
        sys.stderr.write(__doc__)
        return 2
    found = {}
    for path in argv:
        found.update(load(path))
    json.dump(found, sys.stdout, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
