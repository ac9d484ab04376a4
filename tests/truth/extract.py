#!/usr/bin/env python3
"""The true inventory of a file, found without the programs under test.

Usage: extract.py [--no-payload] FILE...

Prints one JSON document per file. Written from docs of the formats (fatbin, bundle, ELF);
shares nothing with decode/. A key that is absent means: this tool does not know. Used as a
module by compare.py and selfcheck.py.

    {"size": N, "format": WORD, "containers": [
        {"kind": WORD, "offset": N, "size": N, "entries": N, "section": NAME, "objects": [
            {"kind": WORD, "vendor": WORD, "target": NAME or null, "codec": WORD,
             "header": [OFFSET, SIZE], "encoded": [OFFSET, SIZE], "payload_size": N,
             "payload": true or false, "sha256": HEX or null, ...}]}]}

sha256 null: the payload is there by its headers and does not decode.
"""

import hashlib
import json
import mmap
import struct
import sys

from amd import (BUNDLE_MAGIC, CCOB_MAGIC, OFFLOAD_MAGIC, SECTION_PREFIX, bundle,
                 bundle_section, ccob, offload_binary, spirv_file)
from elf import ELF_MAGIC, EM_AMDGPU, EM_CUDA, Elf, bare
from nvidia import FATBIN_MAGIC, fatbin, lto_file, ptx_file
from unpack import unlz4, unzlib, unzstd

FINDERS = [(FATBIN_MAGIC, fatbin), (BUNDLE_MAGIC, bundle), (ELF_MAGIC + b"\x02\x01", bare),
           (CCOB_MAGIC, ccob), (OFFLOAD_MAGIC, offload_binary)]


def members(data):
    """Where files begin inside this one: itself, and what an ar archive holds."""
    if bytes(data[:8]) != b"!<arch>\n":
        yield 0, len(data)
        return
    at = 8
    while at + 60 <= len(data):
        try:
            size = int(bytes(data[at + 48:at + 58]))
        except ValueError:
            return
        yield at + 60, min(size, len(data) - at - 60)
        at += 60 + size + (size & 1)


def placed(data):
    """What is known by its place: sections named as entries, archive members that are text."""
    for at, size in members(data):
        ptx = ptx_file(data, at, size) if at else None
        if ptx:
            yield ptx
        host = Elf(data, at, at + size)
        if not host.ok or host.machine in (EM_CUDA, EM_AMDGPU):
            continue
        for s in host.sections:
            name = host.section_name(s) or ""
            if name.startswith(SECTION_PREFIX) and host.has_content(s):
                yield bundle_section(name, at + s[4], s[5])


def scan(data):
    """Every container by position; nothing is looked for inside one that was found."""
    start = 0
    for found in sorted(placed(data), key=lambda c: c["offset"]) + [None]:
        yield from scan_range(data, start, found["offset"] if found else len(data))
        if found:
            yield found
            start = found["offset"] + found["size"]


def scan_range(data, start, end):
    hits = [data.find(magic, start, end) for magic, _ in FINDERS]
    while any(h >= 0 for h in hits):
        which = min((h, i) for i, h in enumerate(hits) if h >= 0)[1]
        at = hits[which]
        found = FINDERS[which][1](data, at, end)
        after = at + found["size"] if found else at + 1
        if found:
            yield found
        for i, (magic, _) in enumerate(FINDERS):
            if 0 <= hits[i] < after:
                hits[i] = data.find(magic, after, end)


def file_format(data):
    head = bytes(data[:64])
    if head[:4] == FATBIN_MAGIC:
        return "fatbin"
    if head[:24] == BUNDLE_MAGIC:
        return "bundle"
    if head[:4] == ELF_MAGIC and head[4:6] == b"\x02\x01" and len(head) == 64:
        machine = struct.unpack_from("<H", head, 18)[0]
        return {EM_CUDA: "cubin", EM_AMDGPU: "code_object"}.get(machine, "elf64")
    return None


def payload_bytes(data, entry):
    if "_bytes" in entry:
        return entry["_bytes"]
    at, size = entry["_stored"]
    stored = bytes(data[at:at + size])
    if entry["codec"] == "none":
        return stored
    return {"lz4": unlz4, "zstd": unzstd, "zlib": unzlib}[entry["codec"]](
        stored, entry["payload_size"])


def open_file(path):
    with open(path, "rb") as f:
        try:
            return mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:
            return b""


def extract(path, payloads=True):
    data = open_file(path)
    out = {"size": len(data), "containers": []}
    word = file_format(data)
    ptx = ptx_file(data, 0, len(data))
    alone = ptx or lto_file(data) or spirv_file(data)
    if ptx:
        word = "ptx"
    if word:
        out["format"] = word
    out["containers"].extend([alone] if alone else scan(data))
    if word == "elf64":
        host = Elf(data, 0, len(data))
        if host.ok:
            for c in out["containers"]:
                name = host.section_around(c["offset"], c["size"])
                if name:
                    c["section"] = name
    for c in out["containers"]:
        for e in c["objects"]:
            if not payloads or not e["payload"]:
                continue
            content = payload_bytes(data, e)
            e["sha256"] = hashlib.sha256(content).hexdigest() if content is not None else None
            if content is None:
                e["fault"] = "does not decode"
    return out


def public(inventory):
    """Without the keys that only this module uses."""
    if isinstance(inventory, dict):
        return {k: public(v) for k, v in inventory.items() if not k.startswith("_")}
    if isinstance(inventory, list):
        return [public(v) for v in inventory]
    return inventory


def main(argv):
    payloads = True
    if argv and argv[0] == "--no-payload":
        payloads = False
        argv = argv[1:]
    if not argv:
        sys.stderr.write(__doc__)
        return 2
    for path in argv:
        out = {"file": path}
        out.update(public(extract(path, payloads)))
        json.dump(out, sys.stdout, indent=1)
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
