"""K02: readers beside a writer, and whether a torn read would be seen; `nox -s survival -- together` does more."""

from __future__ import annotations

import math
import random

import pytest

from small_index import opened
from soaks import together
from soaks.outcome import Outcome

pytestmark = pytest.mark.slow

NOTHING = "[[], 0, 0]"


@pytest.fixture(autouse=True)
def merged_and_swept_at_once(monkeypatch):
    """What a run sets, it sets for as long as the test."""
    monkeypatch.setattr(together.merging, "SMALLEST_TIER", 4)
    monkeypatch.setattr(together.sweeping, "GRACE_S", -1.0)


def test_every_answer_is_that_of_one_state(memory_path):
    outcome = together.run(40, processes=2)
    assert outcome.findings == []
    assert outcome.counts["merges"] > 5
    assert outcome.counts["states seen"] > 10


@pytest.fixture
def looked(memory_path):
    """A history, and what one thread saw of each state."""
    with opened(memory_path / "kb") as kb:
        history = together.History(kb, random.Random(3))
        reader = together.Reader(memory_path / "kb", kb, 3)
        for _ in range(12):
            history.change()
            reader._round()
        yield history, reader.looks


def findings(history, looks):
    outcome = Outcome()
    assert len(list(history.place(looks, outcome))) + len(outcome.findings) == len(looks)
    return len(outcome.findings)


def test_a_torn_or_stale_answer_is_found(looked):
    """An answer of another generation, of none, of one that is over, of one that comes later; one of another asker."""
    history, looks = looked
    assert findings(history, looks) == 0
    found = [look for look in looks if look.kind == "search" and look.found != NOTHING]
    first, last = found[0], found[-1]
    assert first.generation < last.generation
    for torn in (
        last._replace(generation=last.generation - 1),
        last._replace(found=last.found.replace("0.", "1.", 1)),
        first._replace(began=last.began, ended=last.ended),
        last._replace(began=first.began, ended=first.ended),
        last._replace(asker=("nobody",)),
        *(look._replace(found="anything") for look in looks),
    ):
        assert findings(history, [torn]) == 1


def test_a_handle_that_goes_back_is_found(looked):
    """Each look may be right by itself: here none is bound to a time, and they come in the wrong order."""
    history, looks = looked
    whenever = [look._replace(began=0.0, ended=math.inf) for look in looks]
    assert findings(history, whenever) == 0
    assert findings(history, whenever[::-1]) > 0
