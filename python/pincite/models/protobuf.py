"""As much of protobuf's wire format as ONNX needs: fields out, fields in.

The format: https://protobuf.dev/programming-guides/encoding/. A message is written as a list of chunks that is joined
once at the end, so that weights are copied once however deep they lie.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["Chunks", "fields", "integer", "message", "text"]

Chunks = list[bytes | memoryview]

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5


def integer(number: int, value: int) -> Chunks:
    """Return field `number` holding an integer; a negative one takes two's complement in 64 bits."""
    return [_varint(number << 3 | VARINT) + _varint(value & (1 << 64) - 1)]


def message(number: int, chunks: Chunks) -> Chunks:
    """Return field `number` holding a message, or other bytes, given in chunks."""
    return [_varint(number << 3 | LENGTH) + _varint(sum(map(len, chunks))), *chunks]


def text(number: int, value: str) -> Chunks:
    """Return field `number` holding a string."""
    return message(number, [value.encode()])


def fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield the fields of a message: integers as int, everything else as its bytes.

    Raises
    ------
    ValueError
        If the bytes are cut short or no protobuf.
    """
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == VARINT:
            value, at = _read_varint(data, at)
            yield number, value
            continue
        if wire == LENGTH:
            size, at = _read_varint(data, at)
        elif wire in (FIXED32, FIXED64):
            size = 4 if wire == FIXED32 else 8
        else:
            raise ValueError(f"wire type {wire} at byte {at}")
        if size > len(data) - at:
            raise ValueError(f"a field of {size} bytes at byte {at} of {len(data)}")
        yield number, data[at : at + size]
        at += size


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _read_varint(data: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError(f"no integer ends at byte {at}")
