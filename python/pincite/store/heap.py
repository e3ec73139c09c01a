"""The memory of a process between one commit and the next."""

from __future__ import annotations

import ctypes
import sys

__all__ = ["give_back"]


def give_back() -> None:
    """Return to the system what was freed; costs milliseconds.

    Once a large array was freed, glibc keeps up to twice its size for the next one (mallopt(3), M_TRIM_THRESHOLD): a
    merge's would be held for good. Where there is no glibc, do nothing.
    """
    if _trim is not None:
        _trim(0)


_trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
