"""Questions are asked as their askers: what they may not see is refused, or found, as if it were not there."""

from __future__ import annotations

import pytest

from pincite.errors import InvalidInputError
from pincite.evaluation import Excerpt, GoldSet, Question, evaluate
from pincite.types import Document
from small_index import opened

TEXT = "The red pump stops at eighty degrees.\n"
WHOLE = Excerpt("pumps", 0, len(TEXT) - 1, TEXT[:-1])


@pytest.fixture
def kb(tmp_path):
    with opened(tmp_path / "kb") as made:
        made.add([Document("pumps", TEXT)], groups=["crew"], progress=False)
        made.add([Document("sails", "A jib is small.\n")], groups=["office"], progress=False)
        yield made


def test_who_asks_decides_what_is_found(kb):
    question = "red pump stops at eighty degrees"
    gold = GoldSet(
        "both",
        (
            Question("crew", question, (WHOLE,), groups=("crew",)),
            Question("office", question, (WHOLE,), answerable=False, forbidden=True, groups=("office",)),
            Question("nobody", question, answerable=False, groups=()),
        ),
    )
    report = evaluate(kb, gold, pipeline="hybrid")
    assert report.measures["R@1"].value == 1.0
    assert report.refusal["leaks"].value == 0.0
    assert [outcome.refused for outcome in report.outcomes] == [False, False, True]
    kb.grant("pumps", ["office"])
    report = evaluate(kb, gold, pipeline="hybrid")
    assert (report.measures["R@1"].value, report.refusal["leaks"].value) == (0.0, 1.0)


def test_a_question_of_nobody_is_refused_where_there_are_groups(kb):
    with pytest.raises(InvalidInputError, match="question 'q' names no groups, and the index has them"):
        evaluate(kb, GoldSet("g", (Question("q", "pump", (WHOLE,)),)))
