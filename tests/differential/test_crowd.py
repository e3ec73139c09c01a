"""Ten thousand questions of askers with up to 50 of 200 groups, amid a random history.

`nox -s soak -- permissions` asks a million and looks through everything that comes back; here it asks a few.
"""

from __future__ import annotations

import math
import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from crowd import Crowd, told
from small_index import opened
from soaks import permissions

pytestmark = pytest.mark.slow

ROUNDS, ASKERS, QUESTIONS = 20, 5, 50
"""Every asker comes twice a round: after some changes, and when nothing but who may see what has changed since."""


def test_ten_thousand_questions_are_answered_as_by_an_index_of_what_is_seen(memory_path):
    crowd = Crowd(memory_path / "all", random.Random(5))
    asked, kinds, sizes, segments = 0, set(), set(), set()
    everything, alone = str(memory_path / "all"), str(memory_path / "alone")
    with crowd.kb, opened(memory_path / "all" / "kb", read_only=True, create=False) as reader:
        for _ in range(ROUNDS):
            for _ in range(10):
                crowd.change()
                segments.add(crowd.kb.status().segments)
            askers = [crowd.asker() for _ in range(ASKERS)]
            for _ in range(2):
                crowd.grant()
                for asker in askers:
                    with crowd.alone(Path(alone), asker) as own:
                        for _ in range(QUESTIONS):
                            question = crowd.question()
                            same = replace(question, name=question.name.replace(everything, alone))
                            wanted = told(own, same, None).replace(alone, everything)
                            kb = crowd.chance.choice([crowd.kb, reader])
                            assert told(kb, question, asker) == wanted, (question, sorted(asker))
                            asked += 1
                            kinds.add((question.kind, '"hits": [{' in wanted, "Error: " in wanted))
                    sizes.add(len(crowd.seen_by(asker)))
                    shutil.rmtree(alone)
        assert crowd.kb.ledger().balanced
    assert asked == 10_000
    assert len(kinds) >= 8
    assert min(sizes) < 10 < 60 < max(sizes)
    assert {1, 2, 3} <= segments


def test_nothing_of_what_is_hidden_comes_back_by_any_way():
    outcome = permissions.run(480, seed=1, until=math.inf)
    assert outcome.findings == []
    assert outcome.counts["questions"] == 480
    assert outcome.counts["asked again of nobody"] > 10
