"""Damages one header field at a time and looks for the problem that names it.

Each row says where the problem must stand, its code and field; its offset is the field's own.
Objects that the field does not belong to must stay as they were.
"""

import json
import os
import struct

EHDR = {"EI_CLASS": (4, 1), "e_ident": (4, 1), "e_phoff": (32, 8), "e_shoff": (40, 8),
        "e_phentsize": (54, 2), "e_phnum": (56, 2), "e_shentsize": (58, 2), "e_shnum": (60, 2),
        "e_shstrndx": (62, 2)}
SHDR = {"sh_name": (0, 4), "sh_offset": (24, 8), "sh_size": (32, 8), "sh_link": (40, 4),
        "sh_entsize": (56, 8)}
PHDR = {"p_offset": (8, 8), "p_filesz": (32, 8)}
SYM = {"st_name": (0, 4), "st_shndx": (6, 2)}
COFF = {"Machine": (0, 2), "NumberOfSections": (2, 2), "PointerToSymbolTable": (8, 4),
        "SizeOfOptionalHeader": (16, 2)}
SECTION = {"VirtualSize": (8, 4), "SizeOfRawData": (16, 4), "PointerToRawData": (20, 4)}
LFANEW = 0x40

FAR, MAX = 1 << 63, -1

ARTIFACT, OBJECT, INSPECTION = "problems.json", "object.json", "inspect/inspection.json"


class Elf:
    """Places in the ELF file that begins at `at`."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.phoff, self.shoff = struct.unpack_from("<QQ", data, at + 32)
        count, names = struct.unpack_from("<HH", data, at + 60)
        headers = [struct.unpack_from("<IIQQQQIIQQ", data, at + self.shoff + 64 * i)
                   for i in range(count)]
        strings = at + headers[names][4] if headers else 0
        self.sections = {}
        for i, h in enumerate(headers):
            end = data.index(b"\0", strings + h[0])
            self.sections[bytes(data[strings + h[0]:end]).decode()] = (i, h)

    def place(self, what):
        if what in EHDR:
            return self.at + EHDR[what][0], EHDR[what][1]
        owner, field = what.rsplit("/", 1)
        if field in PHDR:
            return self.at + self.phoff + 56 * int(owner) + PHDR[field][0], PHDR[field][1]
        if field in SHDR:
            return (self.at + self.shoff + 64 * self.sections[owner][0] + SHDR[field][0],
                    SHDR[field][1])
        # A kernel's symbol, by its section of code.
        index, _ = self.sections[owner]
        table = self.sections[".symtab"][1]
        for at in range(self.at + table[4], self.at + table[4] + table[5], 24):
            info, other, section = struct.unpack_from("<BBH", self.data, at + 4)
            if section == index and info & 15 == 2 and other & 0x10:
                return at + SYM[field][0], SYM[field][1]
        raise KeyError(what)


class Image:
    """Places in what image_of() makes."""

    def place(self, what):
        header = LFANEW + 4
        if what == "e_lfanew":
            return 0x3c, 4
        if what == "PE signature":
            return LFANEW, 4
        if what == "optional header magic":
            return header + 20, 2
        if what in COFF:
            return header + COFF[what][0], COFF[what][1]
        return header + 20 + 112 + SECTION[what][0], SECTION[what][1]


def image_of(payload):
    """A PE image with one section, .nv_fatb."""
    head = b"MZ".ljust(0x3c, b"\0") + struct.pack("<I", LFANEW)
    head += b"PE\0\0" + struct.pack("<HHIIIHH", 0x8664, 1, 0, 0, 0, 112, 0x2022)
    head += struct.pack("<H", 0x20b).ljust(112, b"\0")
    start = 512
    head += b".nv_fatb" + struct.pack("<IIIIIIHHI", len(payload), 0x1000, len(payload), start, 0,
                                      0, 0, 0, 0x40000040)
    return head.ljust(start, b"\0") + payload


def samples(folder):
    """name: (bytes, places, the object that they belong to or None)"""
    def read(name):
        with open(os.path.join(folder, name), "rb") as f:
            return f.read()
    fatbin = read("cuda/fatbin/mode_none.fatbin")
    host = read("cuda/host/libtwo.so")
    cubin = read("cuda/cubin/k_sm_90a.cubin")
    code_object = read("amd/co/gfx90a_sramecc+_xnack-_v5.hsaco")
    return {
        "host": (host, Elf(host, 0), None),
        "image": (image_of(fatbin), Image(), None),
        "cubin": (cubin, Elf(cubin, 0), 0),
        "entry": (fatbin, Elf(fatbin, fatbin.index(b"\x7fELF")), 0),
        "amdgpu": (code_object, Elf(code_object, 0), 0),
    }


ROWS = [
    # sample, field, value, file, code, field as named (None: the same)
    ("host", "EI_CLASS", 0, ARTIFACT, "malformed_elf", "e_ident"),
    ("host", "e_shoff", FAR, ARTIFACT, "truncated", None),
    ("host", "e_shentsize", 40, ARTIFACT, "malformed_elf", None),
    ("host", "e_shnum", MAX, ARTIFACT, "truncated", None),
    ("host", "e_shnum", 0, ARTIFACT, "truncated", None),
    ("host", "e_shstrndx", MAX, ARTIFACT, "out_of_bounds", None),
    ("host", "e_shstrndx", 1, ARTIFACT, "out_of_bounds", None),
    ("host", "e_phoff", FAR, ARTIFACT, "out_of_bounds", None),
    ("host", "e_phnum", 0xfff0, ARTIFACT, "out_of_bounds", None),
    ("host", ".nv_fatbin/sh_offset", FAR, ARTIFACT, "out_of_bounds", None),
    ("host", ".nv_fatbin/sh_size", MAX, ARTIFACT, "out_of_bounds", None),
    ("host", ".nv_fatbin/sh_name", MAX, ARTIFACT, "out_of_bounds", None),
    ("image", "e_lfanew", MAX, ARTIFACT, "out_of_bounds", None),
    ("image", "e_lfanew", 1 << 31, ARTIFACT, "out_of_bounds", None),
    ("image", "PE signature", 0, ARTIFACT, "bad_magic", None),
    ("image", "SizeOfOptionalHeader", MAX, ARTIFACT, "truncated", None),
    ("image", "SizeOfOptionalHeader", 0, ARTIFACT, "out_of_bounds", None),
    ("image", "SizeOfOptionalHeader", 120, ARTIFACT, "size_mismatch", None),
    ("image", "optional header magic", 0, ARTIFACT, "bad_magic", None),
    ("image", "NumberOfSections", MAX, ARTIFACT, "truncated", None),
    ("image", "PointerToSymbolTable", MAX, ARTIFACT, "out_of_bounds", None),
    ("image", "SizeOfRawData", MAX, ARTIFACT, "out_of_bounds", None),
    ("image", "Machine", 0x14c, ARTIFACT, "bad_magic", None),
    ("image", "VirtualSize", 1, ARTIFACT, "size_mismatch", None),
    ("image", "PointerToRawData", MAX, ARTIFACT, "out_of_bounds", None),
]
for sample in "cubin", "entry":
    ROWS += [
        (sample, "e_phoff", FAR, INSPECTION, "out_of_bounds", None),
        (sample, "e_phentsize", 0, INSPECTION, "out_of_bounds", None),
        (sample, "e_phnum", 0xfff0, INSPECTION, "out_of_bounds", None),
        (sample, "e_shoff", FAR, INSPECTION, "out_of_bounds", None),
        (sample, "e_shnum", 0xfff0, INSPECTION, "out_of_bounds", None),
        (sample, "e_shentsize", 0, INSPECTION, "malformed_elf", None),
        (sample, "e_shstrndx", MAX, INSPECTION, "out_of_bounds", None),
        (sample, ".nv.info/sh_offset", FAR, INSPECTION, "out_of_bounds", None),
        (sample, ".nv.info/sh_size", MAX, INSPECTION, "out_of_bounds", None),
        (sample, ".nv.info.simple/sh_name", MAX, INSPECTION, "out_of_bounds", None),
        (sample, ".symtab/sh_offset", 0, INSPECTION, "malformed_elf", ".symtab"),
        (sample, ".symtab/sh_entsize", 0, INSPECTION, "malformed_elf", None),
        (sample, ".symtab/sh_link", 0, INSPECTION, "malformed_elf", None),
        (sample, ".text.simple/st_name", 1, INSPECTION, "malformed_elf", None),
        (sample, ".text.simple/st_shndx", 0xff00, INSPECTION, "out_of_bounds", None),
    ]
ROWS += [
    ("amdgpu", "e_phoff", FAR, INSPECTION, "malformed_elf", None),
    ("amdgpu", "e_phentsize", 0, INSPECTION, "malformed_elf", None),
    ("amdgpu", "e_phnum", 0xfff0, INSPECTION, "malformed_elf", None),
    ("amdgpu", "1/p_offset", FAR, INSPECTION, "out_of_bounds", None),
    ("amdgpu", "1/p_filesz", MAX, INSPECTION, "out_of_bounds", None),
    ("amdgpu", ".dynsym/sh_link", MAX, INSPECTION, "malformed_elf", None),
    ("amdgpu", ".dynsym/sh_entsize", 0, INSPECTION, "malformed_elf", None),
    ("amdgpu", ".dynsym/sh_size", 5, INSPECTION, "malformed_elf", None),
    ("amdgpu", ".text/sh_offset", FAR, INSPECTION, "out_of_bounds", None),
    ("amdgpu", ".text/sh_size", MAX, INSPECTION, "out_of_bounds", None),
    ("amdgpu", "e_shoff", FAR, INSPECTION, "malformed_elf", None),
    ("amdgpu", "e_shnum", 0xfff0, INSPECTION, "malformed_elf", None),
    ("amdgpu", "e_shentsize", 0, INSPECTION, "malformed_elf", None),
    ("amdgpu", "e_shstrndx", MAX, INSPECTION, "out_of_bounds", None),
    ("amdgpu", "e_shstrndx", 1, INSPECTION, "out_of_bounds", None),
    ("amdgpu", "e_shstrndx", 0xfff0, INSPECTION, "out_of_bounds", None),
]


def load(*parts):
    with open(os.path.join(*parts)) as f:
        return json.load(f)


def problems_of(document):
    return document if isinstance(document, list) else document["problems"]


def shown(tree):
    """What each object is, without where it lies."""
    found = []
    for oid in sorted(os.listdir(os.path.join(tree, "objects"))):
        folder = os.path.join(tree, "objects", oid)
        inspection = load(folder, INSPECTION)
        kernels = sorted(os.listdir(os.path.join(folder, "inspect", "kernels")))
        found.append([load(folder, OBJECT)["target"], inspection["payload_sha256"], kernels])
    return found


def fault(tree, before, victim, at, row):
    """What is wrong with the tree of a damaged file, None when nothing is."""
    _, field, _, where, code, named = row
    folder = tree if where == ARTIFACT else os.path.join(tree, "objects", "%05d" % victim)
    wanted = (code, named or field.rsplit("/", 1)[-1], at)
    said = [(p["code"], p["field"], p["offset"]) for p in problems_of(load(folder, where))]
    if code and wanted not in said:
        return "%s has no %s, but %s" % (where, wanted, said)
    if not code and said:
        return "%s has %s" % (where, said)
    after = shown(tree)
    if len(after) != len(before):
        return "%d objects, %d before" % (len(after), len(before))
    for i, (a, b) in enumerate(zip(after, before)):
        if i != victim and a != b:
            return "object %d was %s and is %s" % (i, b, a)
    return None


def run(folder, scratch, copied, count):
    """copied(path) is a tree and an error; count(name, error) takes each row's result."""
    known = samples(folder)
    healthy = {}
    for row in ROWS:
        name, field, value = row[:3]
        data, places, victim = known[name]
        at, width = places.place(field)
        victims = [data] if name not in healthy else []
        damaged = bytearray(data)
        damaged[at:at + width] = (value & (1 << 8 * width) - 1).to_bytes(width, "little")
        text = None
        for content in victims + [bytes(damaged)]:
            path = os.path.join(scratch, "artifact")
            with open(path, "wb") as f:
                f.write(content)
            with copied(path) as (tree, text):
                if text:
                    break
                if name not in healthy:
                    healthy[name] = shown(tree)
                else:
                    text = fault(tree, healthy[name], victim, at, row)
        count("header: %s %s = %#x" % (name, field, value & (1 << 8 * width) - 1), text)
