"""What a reader holds is let go of, also where Ctrl-C comes at that moment."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest

from pincite.store.pins import Pin, pinned


class Interrupted:
    """A file whose closing is interrupted before it begins."""

    def __init__(self, file):
        self.file = file

    def close(self):
        raise KeyboardInterrupt


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_pin_that_is_interrupted_while_it_goes_holds_nothing(memory_path, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda ignored: None)  # that of the tests keeps what it is told of
    (memory_path / "readers").mkdir()
    before = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else None
    for interrupted in (False, True):
        pin = Pin(memory_path, 1, 7)
        if pin._file is None:
            pytest.skip("no pins on this system")
        assert pinned(memory_path) == {(1, 7)}
        if interrupted:
            pin._file = Interrupted(pin._file)
        del pin
        gc.collect()
        assert pinned(memory_path) == set()
    if before is not None:
        assert len(list(Path("/proc/self/fd").iterdir())) == before
