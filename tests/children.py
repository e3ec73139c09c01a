"""Forked children that must end."""

from __future__ import annotations

import os
import signal
import time

HANG_S = 60
"""Beyond this children are taken to hang; not a measure of speed."""


def forked(work) -> int:
    child = os.fork()
    if child == 0:
        code = 2
        try:
            code = 0 if work() else 1
        finally:
            os._exit(code)
    return child


def codes_of(children):
    """The exit codes: 0 where `work` was true, 1 where not, 2 where it raised, -9 where it hung."""
    end = time.monotonic() + HANG_S
    codes = []
    for child in children:
        done, status = os.waitpid(child, os.WNOHANG)
        while not done and time.monotonic() < end:
            time.sleep(0.001)
            done, status = os.waitpid(child, os.WNOHANG)
        if not done:
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
        codes.append(os.waitstatus_to_exitcode(status))
    return codes
