"""What a reader meets within so many characters."""

from __future__ import annotations

import pytest

from pincite.evaluation import Excerpt, Retrieved
from pincite.evaluation.coverage import answered_within

EXCERPTS = [Excerpt("d", 50, 60, "x" * 10), Excerpt("e", 0, 5, "x" * 5)]
FAR = Retrieved("d", 200, 230, 200)


@pytest.mark.parametrize(
    ("passages", "least"),
    [
        ([Retrieved("d", 50, 90, 50)], 10),
        ([Retrieved("d", 45, 90, 40)], 20),  # from where what was searched begins
        ([FAR, Retrieved("d", 50, 90, 50)], 40),
        ([FAR, Retrieved("d", 50, 90, 50), Retrieved("e", 0, 9, 0)], 40),
        ([FAR, Retrieved("e", 0, 5, 0), Retrieved("d", 50, 90, 50)], 35),  # any excerpt is an answer
    ],
)
def test_an_answer_is_met_once_the_reading_reaches_its_end(passages, least):
    assert [answered_within(passages, EXCERPTS, characters=n) for n in (0, least - 1, least, 10_000)] == [
        False, False, True, True
    ]  # fmt: skip


def test_an_answer_in_two_passages_or_beyond_them_is_not_met():
    halves = [Retrieved("d", 40, 55, 40), Retrieved("d", 55, 70, 55)]
    for passages in (halves, [FAR], [], [Retrieved("e", 1, 9, 1)]):
        assert not answered_within(passages, EXCERPTS, characters=10_000)
