"""Reads safetensors files with numpy alone, trusting nothing in them.

The format, by its own documentation: an 8-byte little-endian length, a JSON header of that length, then the data that
it points into.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from pincite.errors import ModelFileError

__all__ = ["read_tensors"]

DTYPES = {"F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "U8": "|u1", "F64": "<f8"}
LARGEST_HEADER = 100_000_000
"""What the format's own implementation allows."""


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """Return the tensors of a file by name: floating-point ones as float32, integers as they are.

    The arrays are views of the file, read-only, wherever no cast is needed.

    Raises
    ------
    ModelFileError
        If the file cannot be read, or its header does not fit its size.
    """
    try:
        data = np.fromfile(path, dtype=np.uint8)
    except OSError as error:
        raise ModelFileError(f"cannot read {path}: {error.strerror or error}") from error
    data.flags.writeable = False
    size = int.from_bytes(data[:8].tobytes(), "little") if len(data) >= 8 else 0
    if not 2 <= size <= min(len(data) - 8, LARGEST_HEADER):
        raise ModelFileError(
            f"{path} has {len(data)} bytes and a header of {size}: it is no safetensors file, or cut short"
        )
    try:
        header = json.loads(data[8 : 8 + size].tobytes())
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"the header of {path} is no JSON: {error}") from None
    if not isinstance(header, dict):
        raise ModelFileError(f"the header of {path} is a {type(header).__name__}, wanted an object")
    body = data[8 + size :]
    return {name: _tensor(name, entry, body, path) for name, entry in header.items() if name != "__metadata__"}


def _tensor(name: str, entry: Any, body: np.ndarray, path: Path) -> np.ndarray:
    try:
        dtype, shape, (start, end) = np.dtype(DTYPES[entry["dtype"]]), tuple(entry["shape"]), entry["data_offsets"]
        whole = all(type(number) is int and number >= 0 for number in (*shape, start, end))
        fits = whole and start <= end <= len(body) and end - start == math.prod(shape) * dtype.itemsize
    except (KeyError, TypeError, ValueError):
        fits = False
    if not fits:
        raise ModelFileError(
            f"tensor {name!r} of {path} is described as {entry!r}, which does not fit the {len(body)} bytes of data "
            f"(known types: {', '.join(DTYPES)})"
        )
    array = np.frombuffer(body[start:end].data, dtype=dtype).reshape(shape)
    if entry["dtype"] == "BF16":  # the upper half of a float32
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array.astype(np.float32, copy=False) if dtype.kind == "f" else array
