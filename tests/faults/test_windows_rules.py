"""Everyday work where files that are open or mapped cannot be removed, renamed or replaced, as on Windows."""

from __future__ import annotations

import sys

import pytest

from small_index import start

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the rules are imitated with what Linux tells")

BEGIN = """
import os, sys
from pathlib import Path
import windows_rules
place = Path(sys.argv[1])
windows_rules.hold(place)
import gc
import pincite
from pincite.store import sweeping
from small_index import answers, document, opened, start
sweeping.GRACE_S = -1.0

def told(kb):
    return [[(hit["document_id"], text_hash) for hit, text_hash, *_ in found] for found in answers(kb)]

def lying(index):
    with opened(index) as kb:
        kb.add(document(60), progress=False)
    with opened(index) as kb:  # the next writer
        kb.retry(progress=False)
        listed = {row["id"] for row in kb._folder.catalog.rows("SELECT id FROM segments")}
    return {entry.name for entry in (index / "segments").iterdir()} - listed | {
        entry.name for entry in index.glob(".*")}
"""

WORK = """
index = place / "kb"
with opened(index) as kb:
    for number in range(9):
        kb.add(document(number), progress=False)
    kb.update(document(3, version=1), progress=False)
    kb.delete("d004")
    kb.merge()
    kb.rebuild(config=pincite.IndexConfig(target=128), progress=False)
    kb.swap(progress=False)
    kb.rollback(progress=False)
    kb.snapshot(place / "kb.snapshot")
    kept = told(kb)
    kb.add(document(20), progress=False)
pincite.restore(place / "kb.snapshot", index)
pincite.restore(place / "kb.snapshot", place / "other")
for each in (index, place / "other"):
    with opened(each) as kb:
        assert told(kb) == kept
    assert lying(each) == set(), (each, lying(each), windows_rules.refused)
assert all("/readers/" in each for each in windows_rules.refused), windows_rules.refused
"""

READER = """
import sys
from small_index import answers, opened
with opened(sys.argv[1], read_only=True, create=False) as kb:
    held, before = kb.view(), answers(kb)  # a generation that stays in use, whatever comes after
    print("reading", flush=True)
    sys.stdin.readline()
    assert [held.content(key) for key in range(len(held))]
    assert answers(kb) != before
    del held
    print("done", flush=True)
    sys.stdin.readline()
"""

BESIDE = """
index = place / "kb"
with opened(index) as kb:
    for number in range(5):
        kb.add(document(number), progress=False)
held = {entry.name for entry in (index / "segments").iterdir()}
import subprocess
reader = subprocess.Popen([sys.executable, "-c", READER, str(index)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
assert reader.stdout.readline() == "reading\\n"
windows_rules.processes.add(reader.pid)
with opened(index) as kb:
    for number in range(5, 12):
        kb.add(document(number), progress=False)
    kb.update(document(1, version=1), progress=False)
    kb.merge()
    kb.rebuild(config=pincite.IndexConfig(target=128), progress=False)
    kb.swap(progress=False)
with opened(index) as kb:
    kb.add(document(30), progress=False)
there = {entry.name for entry in (index / "segments").iterdir()}
assert there & held, "nothing was held"
reader.stdin.write("\\n"); reader.stdin.flush()
assert reader.stdout.readline() == "done\\n"
reader.stdin.write("\\n"); reader.stdin.close(); assert reader.wait() == 0
windows_rules.processes.remove(reader.pid)
assert lying(index) == set(), (lying(index), windows_rules.refused)
assert all("/readers/" in each for each in windows_rules.refused), windows_rules.refused
"""

LOCKED = """
from pincite.errors import IndexLockedError
index = place / "kb"
with opened(index) as kb, kb._folder.writer():
    with opened(index) as other:
        try:
            other.add(document(1), progress=False)
        except IndexLockedError as error:
            assert str(os.getpid()) in str(error), error
        else:
            raise AssertionError("two writers")
with opened(index) as kb:
    kb.add(document(1), progress=False)
"""


@pytest.mark.parametrize("work", [WORK, f"READER = {READER!r}\n{BESIDE}", LOCKED], ids=["alone", "beside", "locked"])
def test_the_everyday_work_passes(work, tmp_path):
    program = start(BEGIN + work, tmp_path)
    _, trouble = program.communicate(timeout=300)
    assert program.returncode == 0, trouble


def test_the_rules_are_felt(tmp_path):
    """A file that this process maps, and a folder around it, stay where they are."""
    program = start(
        BEGIN + "import mmap\nplace.joinpath('a').mkdir()\nfile = place / 'a' / 'b'\nfile.write_bytes(b'1')\n"
        "with file.open('rb') as opened: map = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)\n"
        "for act in (file.unlink, lambda: file.rename(place / 'c'), lambda: (place / 'a').rename(place / 'd')):\n"
        "    try: act()\n    except PermissionError: print('refused')\n"
        "map.close()\nfile.unlink()\n",
        tmp_path,
    )
    said, trouble = program.communicate(timeout=60)
    assert (program.returncode, said) == (0, "refused\n" * 3), trouble
