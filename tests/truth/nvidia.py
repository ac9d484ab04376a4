"""CUDA fatbin regions and PTX files for the independent extractor."""

import re
import struct

from unpack import within_limits

FATBIN_MAGIC = b"\x50\xed\x55\xba"

FATBIN_KIND = {1: "ptx", 2: "cubin", 8: "lto_ir", 0x20: "index", 0x40: "relocatable_ptx",
               0x80: "tile_ir"}
FLAG_ZLIB, FLAG_LZ4, FLAG_UNKNOWN, FLAG_ZSTD, FLAG_SCRAMBLED = 0x1000, 0x2000, 0x4000, 0x8000, 0x10000


def fatbin_target(kind, arch, flags):
    word = {1: "compute", 0x40: "compute", 0x80: "compute", 8: "lto"}.get(kind, "sm")
    suffix = "a" if flags & 0x100000 else "f" if flags & 0x200000 else ""
    return "%s_%d%s" % (word, arch, suffix)


def fatbin_codec(flags, stored_head):
    if flags & (FLAG_ZLIB | FLAG_UNKNOWN):
        return "unsupported"
    both = flags & (FLAG_LZ4 | FLAG_ZSTD)
    if both == FLAG_LZ4 | FLAG_ZSTD:
        return "zstd" if stored_head == b"\x28\xb5\x2f\xfd" else "lz4"
    return {0: "none", FLAG_LZ4: "lz4", FLAG_ZSTD: "zstd"}[both]


def fatbin_text(data, at, offset, length, header_size):
    if offset < 64 or offset > header_size or length > header_size - offset or not length:
        return None
    return data[at + offset:at + offset + length].decode("utf-8", "surrogateescape")


def fatbin(data, at, end):
    """One region; "fault" is set on what is not whole."""
    if end - at < 16:
        return None
    version, header_size, fat_size = struct.unpack_from("<HHQ", data, at + 4)
    if version != 1 or header_size < 16 or header_size % 8 or header_size > end - at:
        return None
    region = {"kind": "fatbin", "offset": at, "objects": []}
    room = end - at - header_size
    if fat_size > room:
        fat_size = room
        region["fault"] = "fat_size past the end"
    stop = at + header_size + fat_size
    region["size"] = stop - at
    pos = at + header_size
    while pos < stop:
        if stop - pos < 64:
            region["fault"] = "less than an entry header"
            break
        (kind, entry_version, entry_header, payload_size, csize, options_at, minor, major, arch,
         name_at, name_len, flags, key, usize) = struct.unpack_from("<HHIQIIHHIIIQQQ", data, pos)
        if entry_header < 64 or entry_header > stop - pos:
            region["fault"] = "entry header size"
            break
        body = pos + entry_header
        entry = {
            "kind": FATBIN_KIND.get(kind, "unknown"), "vendor": "nvidia",
            "target": fatbin_target(kind, arch, flags), "target_kind": "fatbin_entry",
            "codec_flags": flags, "entry_kind": kind, "version": [major, minor],
            "scrambled": bool(flags & FLAG_SCRAMBLED), "space": "artifact",
            "header": [pos, entry_header],
        }
        if kind == 0x100:
            entry["fault"] = "entries inside that nobody knows how to find"
        if payload_size > stop - body:
            payload_size = stop - body
            entry["fault"] = "payload past the region"
        codec = fatbin_codec(flags, bytes(data[body:body + 4]))
        stored = payload_size
        if codec != "none":
            stored = min(csize or payload_size, payload_size)
            if csize > payload_size or not csize:
                entry["fault"] = "compressed size"
        if flags & FLAG_LZ4 and flags & FLAG_ZSTD:
            entry["fault"] = "two codec bits"
        decoded = usize if codec != "none" else payload_size
        entry["codec"] = codec
        entry["encoded"] = [body, stored]
        entry["payload_size"] = decoded
        entry["payload"] = (codec != "unsupported" and not (entry["scrambled"] and codec != "none")
                            and within_limits(decoded, stored))
        entry["_stored"] = (body, stored)
        if name_len:
            name = fatbin_text(data, pos, name_at, name_len, entry_header)
            if name is None:
                entry["fault"] = "name outside the header"
            else:
                entry["identifier"] = name
        if options_at and kind in (1, 8, 0x40):
            if 64 <= options_at <= entry_header - 8:
                text_at, text_len = struct.unpack_from("<II", data, pos + options_at)
                text = fatbin_text(data, pos, text_at, text_len, entry_header)
                if text is not None:
                    entry["options"] = text
                elif text_len:
                    entry["fault"] = "options outside the header"
            else:
                entry["fault"] = "options outside the header"
        region["objects"].append(entry)
        if "fault" in entry and entry["fault"] == "payload past the region":
            break
        pos = body + payload_size
    if fat_size and not region["objects"] and at != 0:
        return None  # where nothing says that a region belongs here
    region["entries"] = len(region["objects"])
    return region


def lto_file(data):
    """An NVVM container as a whole file; its tags name the target."""
    if bytes(data[:4]) != b"\xed\x43\x4e\x7f" or len(data) < 24:
        return None
    sm, variant = None, ""
    for at in range(24, min(len(data) - 3, 1024), 4):
        tag, value = struct.unpack_from("<HH", data, at)
        if tag == 0x63:
            break
        if tag == 1:
            sm = value // 10
        elif tag == 0x20 and value == 1:
            variant = "a"
    entry = {"kind": "lto_ir", "vendor": "nvidia", "target_kind": "standalone", "codec": "none",
             "space": "artifact", "encoded": [0, len(data)], "payload_size": len(data),
             "payload": True, "_stored": (0, len(data))}
    if sm is not None:
        entry["target"] = "lto_%d%s" % (sm, variant)
    return {"kind": "bare", "offset": 0, "size": len(data), "entries": 1, "objects": [entry]}


PTX_HEAD = re.compile(
    rb"^(?:\xef\xbb\xbf)?(?:\s|//[^\n\r]*|/\*.*?\*/)*\.version\s+(\d+)\.(\d+)", re.S)
PTX_TARGET = re.compile(rb"\.target\s+((?:sm|compute)_(\d+[af]?))")


def ptx_file(data, at, size):
    """PTX text that is a whole file, or a whole member of an archive."""
    head = bytes(data[at:at + min(size, 65536)])
    m = PTX_HEAD.match(head)
    if not m:
        return None
    entry = {"kind": "ptx", "vendor": "nvidia", "target_kind": "standalone", "codec": "none",
             "space": "artifact", "encoded": [at, size], "payload_size": size,
             "payload": True, "_stored": (at, size)}
    t = PTX_TARGET.search(head, m.end())
    if t:
        entry["target"] = "compute_" + t.group(2).decode()
    return {"kind": "bare", "offset": at, "size": size, "entries": 1, "objects": [entry]}
