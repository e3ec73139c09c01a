"""The file format of cpp/include/pincite/envelope.hpp, written and read from its description.

CRC-32C: RFC 3720, appendix B.4 (Castagnoli polynomial, reflected, all ones before and after).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

HEADER = struct.Struct("<8sII16s32sQII12s")  # then the CRC-32C of these 92 bytes
ENTRY = struct.Struct("<24sQQII")
MAGIC = bytes.fromhex("89 50 49 4E 43 49 54 0A")
BYTE_ORDER_MARK = 0x01020304
HEADER_NBYTES = 96


def _table() -> list[int]:
    out = []
    for crc in range(256):
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        out.append(crc)
    return out


TABLE = _table()


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def seal(
    kind: bytes,
    entries: Sequence[tuple[bytes, int, int, int]],
    body: bytes,
    *,
    stamp: bytes = bytes(32),
    version: int = 1,
    byte_order: int = BYTE_ORDER_MARK,
    file_size: int | None = None,
    section_count: int | None = None,
) -> bytes:
    """Return a file with sound header and table checksums, whatever the other fields say."""
    table = b"".join(ENTRY.pack(*entry, 0) for entry in entries)
    size = HEADER_NBYTES + len(table) + len(body) if file_size is None else file_size
    count = len(entries) if section_count is None else section_count
    header = HEADER.pack(MAGIC, version, byte_order, kind, stamp, size, count, crc32c(table), bytes(12))
    return header + struct.pack("<I", crc32c(header)) + table + body


def write(kind: str, sections: Sequence[tuple[str, bytes]], stamp: bytes = bytes(32)) -> bytes:
    end = table_end = HEADER_NBYTES + ENTRY.size * len(sections)
    entries = []
    body = b""
    for name, data in sections:
        offset = -(-end // 64) * 64
        entries.append((name.encode(), offset, len(data), crc32c(data)))
        body = body.ljust(offset - table_end, b"\0") + data
        end = offset + len(data)
    return seal(kind.encode(), entries, body, stamp=stamp)


def read(data: bytes) -> tuple[str, bytes, dict[str, bytes]]:
    """Return kind, stamp and sections of a sound file; ValueError on any other."""
    if len(data) < HEADER_NBYTES or struct.unpack_from("<I", data, 92)[0] != crc32c(data[:92]):
        raise ValueError("header")
    magic, version, order, kind, stamp, size, count, table_crc, zero = HEADER.unpack_from(data)
    if (magic, version, order, size, zero) != (MAGIC, 1, BYTE_ORDER_MARK, len(data), bytes(12)):
        raise ValueError("header")
    end = HEADER_NBYTES + ENTRY.size * count
    if end > len(data) or crc32c(data[HEADER_NBYTES:end]) != table_crc:
        raise ValueError("table")
    sections = {}
    for name, offset, nbytes, crc, entry_zero in ENTRY.iter_unpack(data[HEADER_NBYTES:end]):
        section = data[offset : offset + nbytes]
        place = -(-end // 64) * 64
        if offset != place or len(section) != nbytes or crc32c(section) != crc or entry_zero:
            raise ValueError("section")
        if any(data[end:offset]):
            raise ValueError("padding")
        sections[name.rstrip(b"\0").decode()] = section
        end = offset + nbytes
    if end != len(data) or len(sections) != count:
        raise ValueError("end")
    return kind.rstrip(b"\0").decode(), stamp, sections
