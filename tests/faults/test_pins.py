"""What a reader holds is let go of, also where Ctrl-C comes at that moment."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from pathlib import Path

import pytest

import pincite
from pincite.store.pins import Pin, pinned
from small_index import answers, document, opened


class Interrupted:
    """A file whose closing is interrupted before it begins."""

    def __init__(self, file):
        self.file = file

    def close(self):
        raise KeyboardInterrupt


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names on this system")
def test_pipes_and_folders_in_the_place_of_pins_let_nobody_wait(memory_path):
    with opened(memory_path / "kb") as kb:
        kb.add(document(0), progress=False)
    readers = memory_path / "kb" / "readers"
    for generation in range(2, 7):
        os.mkfifo(readers / f"1-{generation}") if generation % 2 else (readers / f"1-{generation}").mkdir()
    with opened(memory_path / "kb") as kb:
        for number in range(4):
            kb.add(document(number, version=1), progress=False)
        assert answers(kb)
    shutil.rmtree(readers)
    os.mkfifo(readers)
    with opened(memory_path / "kb") as kb:
        assert answers(kb)
        kb.add(document(9), progress=False)
    found = {each.subject: each.level for each in pincite.diagnose(memory_path / "kb").findings}
    assert found["readers"] == "note"


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
