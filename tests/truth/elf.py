"""Bare ELF objects for the independent extractor: cubins and AMDGPU code objects."""

import struct

ELF_MAGIC = b"\x7fELF"
EM_CUDA = 190
EM_AMDGPU = 224

SHT_NOBITS = 8
SHT_NOTE = 7
# CUDA section types without file content in ET_REL: global, local, shared, reserved shared.
CUDA_NO_CONTENT = (0x70000007, 0x70000009, 0x7000000A, 0x70000015)


class Elf:
    """The parts of a 64-bit little-endian ELF header that the inventory needs."""

    def __init__(self, data, base, end):
        self.ok = False
        self.data = data
        self.base = base
        if end - base < 64 or data[base:base + 4] != ELF_MAGIC:
            return
        self.elf_class, self.order, ident_version, self.osabi, self.abi = data[base + 4:base + 9]
        if self.elf_class != 2 or self.order != 1 or ident_version != 1:
            return
        (self.type, self.machine, self.version, self.entry, self.phoff, self.shoff, self.flags,
         self.ehsize, self.phentsize, self.phnum, self.shentsize, self.shnum,
         self.shstrndx) = struct.unpack_from("<HHIQQQIHHHHHH", data, base + 16)
        if self.ehsize != 64:
            return
        room = end - base
        self.sections = []
        self.segments = []
        extent = 64
        if self.shoff:
            if self.shentsize != 64 or self.shoff > room or room - self.shoff < 64:
                return
            if self.shnum == 0:
                self.shnum = struct.unpack_from("<Q", data, base + self.shoff + 32)[0]
            if self.shstrndx == 0xFFFF:
                self.shstrndx = struct.unpack_from("<I", data, base + self.shoff + 40)[0]
            if self.shnum > (room - self.shoff) // 64:
                return
            for i in range(self.shnum):
                self.sections.append(
                    struct.unpack_from("<IIQQQQIIQQ", data, base + self.shoff + 64 * i))
            extent = max(extent, self.shoff + 64 * self.shnum)
        if self.phoff and self.phnum:
            if self.phentsize != 56 or self.phoff > room:
                return
            if self.phnum > (room - self.phoff) // 56:
                return
            for i in range(self.phnum):
                self.segments.append(
                    struct.unpack_from("<IIQQQQQQ", data, base + self.phoff + 56 * i))
            extent = max(extent, self.phoff + 56 * self.phnum)
        for s in self.sections:
            if not self.has_content(s):
                continue
            if s[4] > room or s[5] > room - s[4]:
                return
            extent = max(extent, s[4] + s[5])
        if not self.sections:
            for p in self.segments:
                if p[2] > room or p[5] > room - p[2]:
                    return
                extent = max(extent, p[2] + p[5])
        self.extent = extent
        self.ok = True

    def has_content(self, section):
        if section[1] in (0, SHT_NOBITS):
            return False
        if self.machine == EM_CUDA and self.type == 1 and section[1] in CUDA_NO_CONTENT:
            return False
        return True

    def section_name(self, section):
        if self.shstrndx >= len(self.sections):
            return None
        table = self.sections[self.shstrndx]
        if section[0] >= table[5]:
            return None
        at = self.base + table[4] + section[0]
        end = self.data.find(b"\0", at, self.base + table[4] + table[5])
        return self.data[at:end].decode("utf-8", "surrogateescape") if end >= 0 else None

    def section_around(self, offset, size):
        for s in self.sections:
            if self.has_content(s) and s[4] <= offset and offset + size <= s[4] + s[5]:
                return self.section_name(s)
        return None

    def notes(self):
        """(owner, type, desc) with the padding of 4 that all writers use."""
        ranges = [(s[4], s[5]) for s in self.sections if s[1] == SHT_NOTE]
        if not ranges:
            ranges = [(p[2], p[5]) for p in self.segments if p[0] == 4]
        for offset, size in ranges:
            at, end = self.base + offset, self.base + offset + size
            while end - at >= 12:
                namesz, descsz, kind = struct.unpack_from("<III", self.data, at)
                name_at = at + 12
                if namesz > end - name_at:
                    return
                desc_at = name_at + (namesz + 3 & ~3)
                if desc_at > end or descsz > end - desc_at:
                    return
                yield (self.data[name_at:name_at + namesz].rstrip(b"\0"), kind,
                       self.data[desc_at:desc_at + descsz])
                at = desc_at + (descsz + 3 & ~3)


MACH = dict(
    (int(number, 16), name)
    for number, name in (
        pair.split() for pair in """
20 gfx600,21 gfx601,22 gfx700,23 gfx701,24 gfx702,25 gfx703,26 gfx704,28 gfx801,29 gfx802,2a gfx803,
2b gfx810,2c gfx900,2d gfx902,2e gfx904,2f gfx906,30 gfx908,31 gfx909,32 gfx90c,33 gfx1010,34 gfx1011,
35 gfx1012,36 gfx1030,37 gfx1031,38 gfx1032,39 gfx1033,3a gfx602,3b gfx705,3c gfx805,3d gfx1035,
3e gfx1034,3f gfx90a,40 gfx940,41 gfx1100,42 gfx1013,43 gfx1150,44 gfx1103,45 gfx1036,46 gfx1101,
47 gfx1102,48 gfx1200,49 gfx1250,4a gfx1151,4b gfx941,4c gfx942,4e gfx1201,4f gfx950,50 gfx1310,
51 gfx9-generic,52 gfx10-1-generic,53 gfx10-3-generic,54 gfx11-generic,55 gfx1152,57 gfx1154,
58 gfx1153,59 gfx12-generic,5a gfx1251,5b gfx12-5-generic,5c gfx1172,5d gfx1170,5e gfx1171,
5f gfx9-4-generic,62 gfx11-7-generic,63 gfx13-generic
""".replace("\n", "").split(",")))

HAS_XNACK = set("""gfx801 gfx810 gfx900 gfx902 gfx904 gfx906 gfx908 gfx909 gfx90a gfx90c gfx940
gfx941 gfx942 gfx950 gfx1010 gfx1011 gfx1012 gfx1013 gfx9-generic gfx9-4-generic
gfx10-1-generic""".split())
HAS_SRAMECC = set("gfx906 gfx908 gfx90a gfx940 gfx941 gfx942 gfx950 gfx9-4-generic".split())

# Note type 3 of V1 and V2 objects: major, minor, stepping -> target.
ISA_VERSION = {
    (8, 0, 0): "gfx802", (8, 0, 1): "gfx801:xnack+", (8, 0, 4): "gfx803", (8, 1, 0): "gfx810:xnack+",
    (9, 0, 0): "gfx900:xnack-", (9, 0, 1): "gfx900:xnack+", (9, 0, 2): "gfx902:xnack-",
    (9, 0, 3): "gfx902:xnack+", (9, 0, 4): "gfx904:xnack-", (9, 0, 5): "gfx904:xnack+",
    (9, 0, 6): "gfx906:sramecc-:xnack-", (9, 0, 7): "gfx906:sramecc-:xnack+",
    (9, 0, 12): "gfx90c:xnack-",
}


def amdgpu_target(elf):
    """(known, target) that a bare code object declares."""
    if elf.osabi != 64:
        return False, None  # PAL and Mesa: the features are not comparable
    if elf.abi == 0:
        isa = None
        producer = False
        for owner, kind, desc in elf.notes():
            if owner == b"AMD" and kind == 3 and len(desc) >= 16:
                isa = struct.unpack_from("<III", desc, 4)
            producer |= owner == b"AMD" and kind == 4
        if isa is None:
            return False, None
        if producer:  # finalizer: xnack is bit 0 of e_flags
            base = "gfx%d%d%x" % isa
            name = ISA_VERSION.get(isa, base).split(":")[0]
            if name not in HAS_XNACK:
                return True, name
            return False, name
        return True, ISA_VERSION.get(isa, "gfx%d%d%x" % isa)
    name = MACH.get(elf.flags & 0xFF)
    if name is None:
        return False, None
    if elf.abi == 1:
        xnack = (3 if elf.flags & 0x100 else 2) if name in HAS_XNACK else 0
        sramecc = (3 if elf.flags & 0x200 else 2) if name in HAS_SRAMECC else 0
    else:
        xnack = elf.flags >> 8 & 3
        sramecc = elf.flags >> 10 & 3
    suffix = {0: "", 1: "", 2: "-", 3: "+"}
    if sramecc > 1:
        name += ":sramecc" + suffix[sramecc]
    if xnack > 1:
        name += ":xnack" + suffix[xnack]
    return True, name


def cubin_target(elf):
    if elf.abi <= 7:
        return "sm_%d%s" % (elf.flags & 0xFF, "a" if elf.flags & 0x800 else "")
    return "sm_%d%s" % (elf.flags >> 8 & 0xFF, "a" if elf.flags & 0x8 else "")


def bare(data, at, end):
    elf = Elf(data, at, end)
    if not elf.ok or elf.machine not in (EM_CUDA, EM_AMDGPU):
        return None
    if not elf.sections and not elf.segments:
        return None
    cuda = elf.machine == EM_CUDA
    entry = {
        "kind": "cubin" if cuda else "code_object", "vendor": "nvidia" if cuda else "amd",
        "target_kind": "standalone", "codec": "none", "space": "artifact",
        "encoded": [at, elf.extent], "payload_size": elf.extent, "payload": True,
        "_stored": (at, elf.extent),
    }
    if cuda:
        entry["target"] = cubin_target(elf)
    else:
        known, target = amdgpu_target(elf)
        if known:
            entry["target"] = target
    return {"kind": "bare", "offset": at, "size": elf.extent, "entries": 1, "objects": [entry]}
