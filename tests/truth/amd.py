"""Bundles, compressed bundles and offload binaries for the independent extractor."""

import hashlib
import re
import struct
import zlib

from unpack import MAX_PAYLOAD, unzlib, unzstd, within_limits, zstd_frame_size

BUNDLE_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
CCOB_MAGIC = b"CCOB"
OFFLOAD_MAGIC = b"\x10\xff\x10\xad"

SUBARCH_FAMILY = {
    "9": "gfx9-generic", "9.4": "gfx9-4-generic", "9.5": "gfx9-4-generic", "10": "gfx10-1-generic",
    "10.1": "gfx10-1-generic", "10.3": "gfx10-3-generic", "11": "gfx11-generic",
    "11.7": "gfx11-7-generic", "12": "gfx12-generic", "12.5": "gfx12-5-generic",
    "13": "gfx13-generic", "8.10": "gfx810", "9.08": "gfx908", "9.0a": "gfx90a",
}


def canonical(processor_and_features):
    parts = processor_and_features.split(":")
    return ":".join([parts[0]] + sorted(parts[1:]))


def bundle_target(entry_id):
    """(known, target) of a bundle entry id."""
    parts = entry_id.split("-", 5)
    if parts[0] == "host":
        return True, None
    if len(parts) < 5:
        return False, None
    arch, environment = parts[1], parts[4]
    rest = parts[5] if len(parts) > 5 else ""
    if not rest and environment.startswith("gfx"):
        rest = environment  # early spelling: the processor in the environment field
    if arch.startswith("amdgpu") and arch != "amdgpu" and (not rest or rest.startswith(":")):
        sub = arch[len("amdgpu"):]
        if sub in SUBARCH_FAMILY:
            rest = SUBARCH_FAMILY[sub] + rest
        elif re.fullmatch(r"\d+\.\d[0-9a-f]", sub):
            rest = "gfx" + sub.replace(".", "") + rest
    if not rest:
        return False, None
    return True, canonical(rest)


def bundle_entries(data, at, end, base, space, shift):
    """Entries of the plain bundle at `at`; offsets are given plus `shift`. Returns
    (entries, size of the bundle, fault) or None."""
    if end - at < 32 or data[at:at + 24] != BUNDLE_MAGIC:
        return None
    count, = struct.unpack_from("<Q", data, at + 24)
    if count > (end - at - 32) // 24:
        return None
    pos = at + 32
    entries = []
    last = 0
    fault = None
    for _ in range(count):
        if end - pos < 24:
            return None
        offset, size, id_len = struct.unpack_from("<QQQ", data, pos)
        if id_len > end - pos - 24:
            return None
        entry_id = bytes(data[pos + 24:pos + 24 + id_len])
        entry = {"codec": "none", "space": space, "header": [shift + pos - at + base, 24 + id_len],
                 "target_kind": "bundle_id", "payload": True}
        try:
            entry["target_raw"] = entry_id.decode("ascii")
        except UnicodeDecodeError:
            entry["fault"] = "id is not ASCII"
        text = entry_id.decode("utf-8", "surrogateescape")
        host = text.startswith("host")
        entry["kind"] = "host" if host else "device"
        entry["vendor"] = "amd" if "-amd-" in text else "other"
        known, target = bundle_target(text)
        if known:
            entry["target"] = target
        if offset > end - at or size > end - at - offset:
            fault = entry["fault"] = "entry past the end"
            size = 0 if offset > end - at else end - at - offset
        else:
            last = max(last, offset + size)
        entry["encoded"] = [shift + base + offset, size]
        entry["payload_size"] = size
        entry["_at"] = (at + offset, size)
        entries.append(entry)
        pos += 24 + id_len
    header = pos - at
    for e in entries:
        start, size = e["_at"]
        if size and start - at < header:
            fault = e["fault"] = "entry inside the header"
    spans = sorted(e["_at"] for e in entries if e["_at"][1])
    for (a, n), (b, _) in zip(spans, spans[1:]):
        if a + n > b:
            fault = fault or "entries overlap"
            for e in entries:
                if e["_at"][0] in (a, b):
                    e["fault"] = fault
    return entries, max(header, last), fault


def bundle(data, at, end):
    if data[at + 24:at + 33] == b"____START" or data[at + 24:at + 31] == b"____END":
        return None
    found = bundle_entries(data, at, end, at, "artifact", 0)
    if not found:
        return None
    entries, size, fault = found
    for e in entries:
        e["_stored"] = e.pop("_at")
    out = {"kind": "bundle", "offset": at, "size": size, "entries": len(entries), "objects": entries}
    if fault:
        out["fault"] = fault
    if not entries:
        out["fault"] = "no entries"
    return out


SECTION_PREFIX = BUNDLE_MAGIC.decode()


def bundle_section(name, offset, size):
    """A section __CLANG_OFFLOAD_BUNDLE__<id> of an object made with -fgpu-rdc: one entry."""
    entry_id = name[len(SECTION_PREFIX):]
    host = entry_id.startswith("host")
    entry = {"codec": "none", "space": "artifact", "target_kind": "bundle_id", "payload": True,
             "kind": "host" if host else "device", "target_raw": entry_id,
             "encoded": [offset, size], "payload_size": size, "_stored": (offset, size)}
    known, target = bundle_target(entry_id)
    if known:
        entry["target"] = target
    return {"kind": "bundle", "offset": offset, "size": size, "entries": 1, "objects": [entry]}


def spirv_file(data):
    if bytes(data[:4]) != b"\x03\x02\x23\x07":
        return None
    entry = {"kind": "spirv", "target_kind": "standalone", "target": None, "codec": "none",
             "space": "artifact", "encoded": [0, len(data)], "payload_size": len(data),
             "payload": True, "_stored": (0, len(data))}
    return {"kind": "bare", "offset": 0, "size": len(data), "entries": 1, "objects": [entry]}


def true_hash(decoded):
    """What the header should say: the first 8 bytes of the MD5; None where there is no MD5."""
    try:
        digest = hashlib.md5(decoded, usedforsecurity=False).digest()
    except ValueError:
        return None
    return struct.unpack("<Q", digest[:8])[0]


def ccob(data, at, end):
    if end - at < 20:
        return None
    version, method = struct.unpack_from("<HH", data, at + 4)
    if version not in (1, 2, 3) or method not in (0, 1):
        return None
    if version == 1:
        header = 20
        usize, stored_hash = struct.unpack_from("<IQ", data, at + 8)
        total = None
    elif version == 2:
        header = 24
        if end - at < header:
            return None
        total, usize, stored_hash = struct.unpack_from("<IIQ", data, at + 8)
    else:
        header = 32
        if end - at < header:
            return None
        total, usize, stored_hash = struct.unpack_from("<QQQ", data, at + 8)
    if total is None:
        if method == 1:
            n = zstd_frame_size(data, at + header, end)
        else:
            d = zlib.decompressobj()
            try:
                d.decompress(bytes(data[at + header:end]), MAX_PAYLOAD)
                n = end - at - header - len(d.unused_data) if d.eof else 0
            except zlib.error:
                n = 0
        if not n:
            return None
        total = header + n
    if total < header or total > end - at:
        return None
    stored = bytes(data[at + header:at + total])
    if not within_limits(usize, len(stored)):
        return None
    decoded = (unzstd if method == 1 else unzlib)(stored, usize)
    if decoded is None:
        return None
    out = {"kind": "compressed_bundle", "offset": at, "size": total, "decoded_size": usize,
           "codec": "zstd" if method == 1 else "zlib", "version": version, "hash": stored_hash,
           "decoded_sha256": hashlib.sha256(decoded).hexdigest(),
           "true_hash": true_hash(decoded), "hash_at": at + header - 8}
    found = bundle_entries(decoded, 0, len(decoded), 0, "decoded", 0)
    if not found:
        out.update(entries=0, objects=[], fault="inner bytes are no bundle")
        return out
    entries, _, fault = found
    for e in entries:
        offset, size = e.pop("_at")
        e["_bytes"] = decoded[offset:offset + size]
    out.update(entries=len(entries), objects=entries)
    if fault:
        out["fault"] = fault
    return out


def offload_binary(data, at, end):
    if end - at < 40:
        return None
    version, total = struct.unpack_from("<IQ", data, at + 4)
    if version not in (1, 2, 3) or total > end - at or total < 40:
        return None
    entry_at, field24 = struct.unpack_from("<QQ", data, at + 16)
    inflated = struct.unpack_from("<Q", data, at + 32)[0] if version == 3 else 0
    space, record = "artifact", data[at:at + total]
    if inflated:
        space = "decoded"
        stored = bytes(record[entry_at:])
        size = inflated - entry_at
        plain = (unzstd if stored[:4] == b"\x28\xb5\x2f\xfd" else unzlib)(stored, size)
        if plain is None:
            return None
        record = bytes(record[:entry_at]) + plain
    count = 1 if version == 1 else field24
    if entry_at > len(record) or count > (len(record) - entry_at) // 40:
        return None
    entries = []
    for i in range(count):
        pos = entry_at + 40 * i
        image_kind, producer, flags, str_at, str_count, img_at, img_size = struct.unpack_from(
            "<HHIQQQQ", record, pos)
        outside = img_at > len(record) or img_size > len(record) - img_at
        pairs = {}
        step = 16 if version == 1 else 24
        if str_at > len(record) or str_count > (len(record) - str_at) // step:
            return None
        for k in range(str_count):
            key_at, value_at = struct.unpack_from("<QQ", record, str_at + step * k)
            key = bytes(record[key_at:record.find(b"\0", key_at)])
            value = bytes(record[value_at:record.find(b"\0", value_at)])
            pairs[key.decode("latin-1")] = value.decode("latin-1")
        shift = at if space == "artifact" else 0
        entry = {"codec": "none", "space": space, "target_kind": "offload_arch",
                 "encoded": [shift + img_at, img_size], "payload_size": img_size, "payload": True,
                 "_bytes": bytes(record[img_at:img_at + img_size])}
        if outside:
            entry["fault"] = "image outside the record"
        if "arch" in pairs:
            entry["target"] = canonical(pairs["arch"])
        entries.append(entry)
    return {"kind": "offload_binary", "offset": at, "size": total, "version": version,
            "entries": count, "objects": entries}
