"""Whatever is rebuilt, swapped, rolled back, saved and restored: an index is one of what it should hold, built afresh.

The model that it is compared with is three dicts: the documents, who may see them, and the way of cutting.
"""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

import pincite
from small_index import QUESTIONS, document, opened
from stub_models import StubEncoder

NUMBERS = st.integers(0, 9)
SOME = st.sets(st.sampled_from(["crew", "deck"]), max_size=2)
WAYS = [
    (pincite.IndexConfig(), StubEncoder()),
    (pincite.IndexConfig(strategy="A", target=20), StubEncoder(seed=1, model="other")),
    (pincite.IndexConfig(target=40, stemmer=None), StubEncoder(seed=2, dim=32, model="third")),
]
STEPS = st.one_of(
    st.tuples(st.just("add"), st.dictionaries(NUMBERS, st.integers(0, 3), min_size=1, max_size=4), SOME),
    st.tuples(st.just("grant"), st.sets(NUMBERS, min_size=1, max_size=4), SOME),
    st.tuples(st.just("delete"), st.sets(NUMBERS, min_size=1, max_size=4), st.none()),
    st.tuples(st.just("rebuild"), st.integers(0, 2), st.none()),
    st.tuples(st.sampled_from(["swap", "rollback", "snapshot", "restore", "merge", "discard"]), st.none(), st.none()),
)


def id_of(number: int) -> str:
    return f"d{number:03}"


def seen(kb, groups) -> list:
    found = []
    for question in QUESTIONS:
        result = kb.search(question, groups=groups, max_distance=None, k=9)
        said = result.to_dict()
        found.append([said["hits"], said["coverage"], said["refused"]])
    return found


def states(kb) -> dict[str, int]:
    return {version.state: version.number for version in kb.status().versions}


def reopened(kb, path, way):
    kb.close()
    return opened(path, create=False, encoder=WAYS[way][1])


@settings(max_examples=60, deadline=None)
@given(history=st.lists(STEPS, min_size=2, max_size=10))
@example(history=[("add", {0: 0, 1: 0}, {"crew"}), ("rebuild", 1, None), ("delete", {0}, None), ("swap", None, None),
                  ("grant", {1}, set()), ("rollback", None, None)])  # fmt: skip
@example(history=[("add", {0: 0, 1: 0}, {"crew"}), ("snapshot", None, None), ("delete", {0}, None),
                  ("grant", {1}, set()), ("add", {2: 0}, {"crew"}), ("restore", None, None),
                  ("rollback", None, None)])  # fmt: skip
@example(history=[("add", {0: 0}, {"crew"}), ("rebuild", 2, None), ("swap", None, None), ("delete", {0}, None),
                  ("rollback", None, None), ("add", {0: 1}, {"deck"}), ("rollback", None, None)])  # fmt: skip
@example(history=[("add", {0: 0, 1: 0}, {"crew"}), ("snapshot", None, None), ("delete", {0}, None),
                  ("add", {0: 1, 1: 1}, {"crew", "deck"}), ("restore", None, None),
                  ("restore", None, None)])  # fmt: skip
def test_any_history_of_versions_answers_as_a_fresh_build(tmp_path_factory, history):
    path = tmp_path_factory.mktemp("history") / "kb"
    kb = opened(path, encoder=WAYS[0][1])
    there, allowed = {}, {}
    serves, previous, built = 0, None, None
    saved, files, gone_since = None, 0, set()
    try:
        for step, what, to in history:
            known = [number for number in what if number in there] if step in {"grant", "delete"} else []
            if step == "add":
                kb.add([document(*each) for each in what.items()], groups=to, progress=False)
                there |= what
                allowed |= dict.fromkeys(what, to)
            elif step == "grant":
                kb.grant(map(id_of, known), to)
                allowed |= dict.fromkeys(known, to)
            elif step == "delete":
                kb.delete(map(id_of, known))
                gone_since.update(known)
                for number in known:
                    del there[number], allowed[number]
            elif step == "rebuild" and built in {None, what}:
                report = kb.rebuild(config=WAYS[what][0], encoder=WAYS[what][1], progress=False)
                assert (report.version, report.documents) == (states(kb)["built"], len(there))
                built = what
            elif step == "swap" and built is not None:
                kb.swap(progress=False)
                serves, previous, built = built, serves, None
            elif step == "rollback" and previous is not None:
                kb = reopened(kb, path, previous)
                kb.rollback(progress=False)
                serves, previous = previous, serves
            elif step == "snapshot" and there:
                files += 1
                kb.snapshot(path.with_name(f"saved{files}"))
                saved, gone_since = (dict(there), serves, dict(allowed)), set()
            elif step == "restore" and saved is not None:
                report = pincite.restore(path.with_name(f"saved{files}"), path)
                both = set(saved[0]) & set(there)
                kept = {n for n in both if n not in gone_since or saved[0][n] == there[n]}
                assert report.left_out == tuple(sorted(map(id_of, set(saved[0]) - kept)))
                assert report.removed == tuple(sorted(map(id_of, set(there) - kept)))
                gone_since |= set(there) - kept
                # Who sees a text is who might see it then and may now; what says the same is seen as it is now.
                allowed = {
                    n: allowed[n] if saved[0][n] == there[n] else allowed[n] & saved[2][n] for n in kept
                }  # fmt: skip
                there = {number: saved[0][number] for number in kept}
                serves, previous = saved[1], serves
                kb = reopened(kb, path, serves)
            elif step == "discard" and built is not None:
                kb.discard(states(kb)["built"])
                built = None
            elif step == "merge":
                kb.merge()
                assert kb.status().segments <= 1
            assert kb.config == WAYS[serves][0]
            assert kb.status().documents == len(there)
        assert kb.ledger().balanced
        with opened(tmp_path_factory.mktemp("fresh") / "kb", config=WAYS[serves][0], encoder=WAYS[serves][1]) as fresh:
            for number, version in there.items():
                fresh.add([document(number, version)], groups=allowed[number], progress=False)
            for groups in (["crew"], ["deck"], ["crew", "deck"], []):
                assert seen(kb, groups) == seen(fresh, groups)
    finally:
        kb.close()
