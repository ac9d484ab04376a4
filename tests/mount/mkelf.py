#!/usr/bin/env python3
"""Writes minimal ELF headers that are not taken: mkelf.py 32|big FILE."""

import struct
import sys

kind, path = sys.argv[1:]
if kind == "32":
    ident = b"\x7fELF" + bytes([1, 1, 1]) + bytes(9)
    head = ident + struct.pack("<HHIIIIIHHHHHH", 3, 3, 1, 0, 0, 0, 0, 52, 32, 0, 40, 0, 0)
else:
    ident = b"\x7fELF" + bytes([2, 2, 1]) + bytes(9)
    head = ident + struct.pack(">HHIQQQIHHHHHH", 3, 21, 1, 0, 0, 0, 0, 64, 56, 0, 64, 0, 0)
with open(path, "wb") as f:
    f.write(head + bytes(4096))
