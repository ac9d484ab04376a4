"""Codecs for the independent extractor: the C libraries through ctypes, and frame walks."""

import ctypes
import ctypes.util
import struct
import zlib

MAX_PAYLOAD = 1 << 30
RATIO_FLOOR = 16 << 20
MAX_RATIO = 1024


def _library(name, soname):
    for candidate in (soname, ctypes.util.find_library(name)):
        if candidate:
            try:
                return ctypes.CDLL(candidate)
            except OSError:
                pass
    raise SystemExit("extract.py: lib%s is missing" % name)


_zstd = None
_lz4 = None


def unzstd(stored, size):
    """The decoded bytes of one zstd frame, None when it is broken or of another size."""
    global _zstd
    if _zstd is None:
        _zstd = _library("zstd", "libzstd.so.1")
        _zstd.ZSTD_decompress.restype = ctypes.c_size_t
        _zstd.ZSTD_decompress.argtypes = [
            ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
        _zstd.ZSTD_isError.argtypes = [ctypes.c_size_t]
    out = ctypes.create_string_buffer(max(size, 1))
    got = _zstd.ZSTD_decompress(out, size, stored, len(stored))
    if _zstd.ZSTD_isError(got) or got != size:
        return None
    return out.raw[:size]


def unlz4(stored, size):
    global _lz4
    if _lz4 is None:
        _lz4 = _library("lz4", "liblz4.so.1")
        _lz4.LZ4_decompress_safe.argtypes = [
            ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
    out = ctypes.create_string_buffer(max(size, 1))
    got = _lz4.LZ4_decompress_safe(stored, out, len(stored), size)
    if got != size:
        return None
    return out.raw[:size]


def unzlib(stored, size):
    try:
        d = zlib.decompressobj()
        out = d.decompress(stored, size + 1)
    except zlib.error:
        return None
    return out if len(out) == size else None


def zstd_frame_size(data, at, end):
    """Bytes of the frame that starts at `at` (RFC 8878), 0 when it is no frame."""
    start = at
    while at + 8 <= end and data[at + 1:at + 4] == b"\x2a\x4d\x18" and 0x50 <= data[at] <= 0x5F:
        at += 8 + struct.unpack_from("<I", data, at + 4)[0]
    if at + 5 > end or data[at:at + 4] != b"\x28\xb5\x2f\xfd":
        return 0
    d = data[at + 4]
    single = d >> 5 & 1
    at += 5 + (0 if single else 1) + (0, 1, 2, 4)[d & 3] + (1 if single else 0, 2, 4, 8)[d >> 6]
    while True:
        if at + 3 > end:
            return 0
        head = data[at] | data[at + 1] << 8 | data[at + 2] << 16
        at += 3
        kind = head >> 1 & 3
        if kind == 3:
            return 0
        at += 1 if kind == 1 else head >> 3
        if at > end:
            return 0
        if head & 1:
            break
    at += 4 if d & 4 else 0
    return at - start if at <= end else 0


def within_limits(size, stored):
    return size <= MAX_PAYLOAD and size <= max(RATIO_FLOOR, MAX_RATIO * stored)
