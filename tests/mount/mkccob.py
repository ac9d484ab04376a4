#!/usr/bin/env python3
"""Compressed bundles, one behind the other: mkccob.py FILE [SECTION] OUT

FILE is a bundle, or an ELF file with one in a section. Version 3 with zlib; of the two that are
made, the second says another hash than its bytes have.
"""

import hashlib
import os
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import elf  # noqa: E402


def bundle_of(arguments):
    with open(arguments[0], "rb") as f:
        data = f.read()
    if len(arguments) == 1:
        return data
    host = elf.Elf(data, 0, len(data))
    s = next(s for s in host.sections if host.section_name(s) == arguments[1])
    return data[s[4]:s[4] + s[5]]


def ccob(bundle, wrong):
    stored = zlib.compress(bundle)
    digest = hashlib.md5(bundle, usedforsecurity=False).digest()
    declared = struct.unpack("<Q", digest[:8])[0] ^ wrong
    return struct.pack("<4sHHQQQ", b"CCOB", 3, 0, 32 + len(stored), len(bundle), declared) + stored


inner = bundle_of(sys.argv[1:-1])
with open(sys.argv[-1], "wb") as out:
    out.write(ccob(inner, 0) + ccob(inner, 1))
