"""K03 and its neighbours: whoever writes while another process does is refused at once, by every verb; then goes on."""

from __future__ import annotations

import os
import shutil
import signal
import time
from contextlib import contextmanager

import pytest

import pincite
from children import forked
from pincite.errors import IndexLockedError, PinciteError
from small_index import answers, document, opened, start

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning"),
]

CONFIGS = [pincite.IndexConfig(target=target) for target in (500, 400, 300)]

VERBS = {
    "add": lambda kb: kb.add(document(9), progress=False),
    "update": lambda kb: kb.update(document(0, version=1), progress=False),
    "delete": lambda kb: kb.delete("d000"),
    "sync": lambda kb: kb.sync(progress=False),
    "retry": lambda kb: kb.retry(progress=False),
    "merge": lambda kb: kb.merge(),
    "rebuild": lambda kb: kb.rebuild(config=CONFIGS[2], progress=False),
    "swap": lambda kb: kb.swap(progress=False),
    "rollback": lambda kb: kb.rollback(progress=False),
    "discard": lambda kb: kb.discard(3),
    "restore": lambda kb: pincite.restore(kb._path.with_name("saved"), kb._path),
}


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """An index in which every verb has something to do: versions before and behind, a source, a failed file."""
    folder = tmp_path_factory.mktemp("locks")
    notes = folder / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# A\n\nA ship at number 3.")
    (notes / "b.png").write_bytes(b"\x89PNG")
    with opened(folder / "kb", config=CONFIGS[0]) as kb:
        kb.add(notes, progress=False)
        kb.add([document(0), document(1)], progress=False)
        kb.snapshot(folder / "saved")
        kb.rebuild(config=CONFIGS[1], progress=False)
        kb.swap(progress=False)
        kb.add(document(2), progress=False)
        kb.rebuild(config=CONFIGS[2], progress=False)
        kb.add(document(3), progress=False)
    (notes / "a.md").write_text("# A\n\nA mast at number 3.")
    return folder


@pytest.fixture
def path(template, memory_path):
    """A copy of it."""
    shutil.copytree(template, memory_path / "copy")
    return memory_path / "copy" / "kb"


@contextmanager
def held_by_another_process(path):
    """Give the number of a process that holds the writer's lock, and is killed in the end."""
    reading, writing = os.pipe()

    def hold():
        with opened(path) as kb, kb._folder.writer():
            os.write(writing, b"held")
            time.sleep(600)

    child = forked(hold)
    try:
        assert os.read(reading, 4) == b"held"
        yield child
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)
        os.close(writing)


def everything(kb):
    catalog = kb._folder.catalog
    return answers(kb), catalog.last_generation(), [version.number for version in catalog.versions()]


@pytest.mark.parametrize("verb", list(VERBS.values()), ids=list(VERBS))
def test_a_verb_is_refused_at_once_and_goes_through_when_the_other_was_killed(path, monkeypatch, verb):
    """Also in a handle that has only read until then; the index is as it was."""
    with opened(path) as kb:
        before = everything(kb)
        with held_by_another_process(path) as holder, monkeypatch.context() as patched:
            patched.setattr(time, "sleep", lambda seconds: pytest.fail("it waits"))
            with pytest.raises(IndexLockedError, match=f"is being written by process {holder};"):
                verb(kb)
            assert everything(kb) == before
        verb(kb)
        assert kb.ledger().balanced
        assert everything(kb) != before


def test_every_verb_that_takes_the_lock_is_here():
    """A verb that comes later has to be tried as well."""
    changing = {
        name
        for room in (pincite.knowledge_base.changing.Changing, pincite.knowledge_base.versioning.Versioning)
        for name in vars(room)
        if not name.startswith("_")
    }
    assert changing - {"grant", "snapshot"} == set(VERBS) - {"restore"}


def test_a_grant_and_a_snapshot_wait_for_no_writer(path):
    with opened(path) as kb, held_by_another_process(path):
        kb.snapshot(path.with_name("another"))
        kb.grant("d000", ["crew"])
        assert [hit.document_id for hit in kb.search("ship", groups=["crew"], max_distance=None)] == ["d000"] * 2


def test_two_handles_of_one_process_exclude_each_other(path):
    with opened(path) as kb, opened(path) as other:
        with kb._folder.writer(), pytest.raises(IndexLockedError, match=f"by process {os.getpid()};"):
            other.add(document(9), progress=False)
        other.add(document(9), progress=False)


MEANWHILE = {
    "adds 100": ("kb.add([document(number) for number in range(2, 102)], progress=False)", range(102)),
    "deletes": ("kb.delete('d000')", [1]),
    "merges": ("kb.add(document(2), progress=False); kb.merge()", range(3)),
    "swaps": (
        "kb.rebuild(config=IndexConfig(target=400), progress=False); kb.swap(progress=False);"
        "kb.add(document(2), progress=False)",
        range(3),
    ),
    "swaps and goes back": (
        "kb.rebuild(config=IndexConfig(target=400), progress=False); kb.swap(progress=False);"
        "kb.add(document(2), progress=False); kb.rollback(progress=False)",
        range(3),
    ),
    "restores": (
        "kb.snapshot(sys.argv[1] + '.saved'); kb.add(document(2), progress=False);"
        "pincite.restore(sys.argv[1] + '.saved', sys.argv[1])",
        range(2),
    ),
}


@pytest.mark.parametrize(("work", "left"), list(MEANWHILE.values()), ids=list(MEANWHILE))
def test_one_who_opened_before_adds_to_what_another_process_made_since(memory_path, work, left):
    """K03: with what is there now, not with what was there when it was opened."""
    with opened(memory_path / "kb") as kb:
        kb.add([document(0), document(1)], progress=False)
        assert answers(kb)
        program = f"import sys, pincite\nfrom pincite import IndexConfig\nfrom small_index import document, opened\n" \
                  f"with opened(sys.argv[1]) as kb:\n    {work}\n"  # fmt: skip
        other = start(program, memory_path / "kb")
        assert other.communicate(timeout=60) == ("", "")
        kb.add(document(200), progress=False)
        assert {account.id for account in kb.ledger()} == {document(number).id for number in [*left, 200]}
        with opened(memory_path / "kb") as again, opened(memory_path / "fresh", config=kb.config) as fresh:
            fresh.add([document(number) for number in [*left, 200]], progress=False)
            assert without_history(kb) == without_history(again) == without_history(fresh)


def without_history(kb):
    return [[hit[1:] for hit in found] for found in answers(kb)]


@pytest.mark.parametrize("made_anew", [True, False])
def test_one_whose_index_was_replaced_writes_into_none(memory_path, made_anew):
    with opened(memory_path / "kb") as kb:
        kb.add([document(0), document(1)], progress=False)
        shutil.rmtree(memory_path / "kb")
        if made_anew:
            with opened(memory_path / "kb") as new:
                new.add(document(5), progress=False)
        with pytest.raises(PinciteError, match="kb"):
            kb.add(document(2), progress=False)
    if made_anew:
        with opened(memory_path / "kb") as new:
            assert [account.id for account in new.ledger()] == ["d005"]
    else:
        assert not (memory_path / "kb" / "catalog.sqlite").exists()
