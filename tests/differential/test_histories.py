"""After any history of additions, updates and deletions, an index answers as one that was built afresh."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from small_index import answers, document, opened

NUMBERS = st.integers(0, 11)
STEPS = st.one_of(
    st.tuples(st.just("add"), st.dictionaries(NUMBERS, st.integers(0, 3), min_size=1, max_size=6)),
    st.tuples(st.just("delete"), st.sets(NUMBERS, min_size=1, max_size=6)),
    st.tuples(st.just("open again"), st.none()),
)


@settings(max_examples=40, deadline=None)
@given(history=st.lists(STEPS, min_size=1, max_size=8))
@example(history=[("add", {0: 0, 1: 0}), ("delete", {0, 1})])
@example(history=[("add", {0: 0}), ("add", {1: 0}), ("add", {2: 0}), ("delete", {1}), ("add", {1: 1}), ("delete", {0})])
def test_any_history_answers_as_a_fresh_build(tmp_path_factory, history):
    path = tmp_path_factory.mktemp("history") / "kb"
    kb, there = opened(path), {}
    try:
        for step, what in history:
            if step == "add":
                kb.add([document(number, version) for number, version in what.items()], progress=False)
                there |= what
            elif step == "delete":
                gone = [number for number in what if number in there]
                kb.delete([f"d{number:03}" for number in gone])
                there = {number: version for number, version in there.items() if number not in gone}
            else:
                kb.close()
                kb = opened(path)
            assert kb.status().documents == len(there)
        with opened(tmp_path_factory.mktemp("fresh") / "kb") as fresh:
            fresh.add([document(number, version) for number, version in there.items()], progress=False)
            assert answers(kb) == answers(fresh)
            assert kb.status().chunks == fresh.status().chunks
            assert kb.ledger().balanced
    finally:
        kb.close()
