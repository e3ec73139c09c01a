"""Conditions on documents: read, written, decided, and inside both legs of a search."""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pincite
from pincite.errors import InvalidInputError
from pincite.filters import F, condition_of, parse_condition
from pincite.filters.conditions import And, Compare, Not, Or
from pincite.retrieve.legs import bm25_leg, dense_leg
from pincite.types import Document
from small_index import opened
from stub_models import StubEncoder

NAMES = st.sampled_from(["lang", "year", "draft", "id", "metadata.id", "missing"])
VALUES = st.sampled_from(["de", "en", "d0", "", 2023, 2024, 2023.5, True, False, date(2024, 1, 31)]) | st.datetimes(
    timezones=st.just(UTC), min_value=datetime(2000, 1, 1), max_value=datetime(2030, 1, 1)
)
COMPARISONS = st.one_of(
    st.builds(Compare, NAMES, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), VALUES),
    st.builds(Compare, NAMES, st.just("in"), st.lists(VALUES, max_size=3).map(tuple)),
    st.builds(Compare, NAMES, st.just("prefix"), st.sampled_from(["", "d", "de"])),
    st.builds(Compare, NAMES, st.just("exists"), st.booleans()),
)
CONDITIONS = st.recursive(
    COMPARISONS,
    lambda inner: (
        st.builds(Not, inner)
        | st.builds(And, st.lists(inner, min_size=1, max_size=3).map(tuple))
        | st.builds(Or, st.lists(inner, min_size=1, max_size=3).map(tuple))
    ),
    max_leaves=6,
)


def holds(condition, fields) -> bool:
    """Decide for one document, the slow way."""
    match condition:
        case Compare():
            return condition.holds(fields.get(condition.field))
        case And(parts):
            return all(holds(part, fields) for part in parts)
        case Or(parts):
            return any(holds(part, fields) for part in parts)
        case Not(part):
            return not holds(part, fields)


@given(CONDITIONS)
def test_a_condition_comes_back_from_json(condition):
    assert condition_of(json.loads(json.dumps(condition.to_dict()))).key == condition.key


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ('lang == "de"', F("lang") == "de"),
        ("lang != 'd\\'e'", F("lang") != "d'e"),
        ("year >= 2024 and year < 2.5e3", (F("year") >= 2024) & (F("year") < 2500.0)),
        ("modified >= 2024-01-31", F("modified") >= date(2024, 1, 31)),
        ("modified < 2024-01-31T12:30:00Z", F("modified") < datetime(2024, 1, 31, 12, 30, tzinfo=UTC)),
        ("draft == true or not draft exists", (F("draft") == True) | ~F("draft").exists()),  # noqa: E712
        ('lang in ["de", "en"]', F("lang").in_(["de", "en"])),
        ("lang in []", F("lang").in_([])),
        ('id prefix "handbook/"', F("id").startswith("handbook/")),
        ("a == 1 or b == 2 and c == 3", (F("a") == 1) | ((F("b") == 2) & (F("c") == 3))),
        ("(a == 1 or b == 2) and not (c == 3)", And((Or((F("a") == 1, F("b") == 2)), Not(F("c") == 3)))),
        ('"two words" == -3', F("two words") == -3),
    ],
)
def test_a_line_of_text_is_read(text, condition):
    assert parse_condition(text).key == condition.key


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "wanted a field's name"),
        ("lang", "wanted one of: ==, !="),
        ("lang = 'de'", "cannot be read at \"= 'de'\""),
        ("lang == de", "cannot be read at 'de', wanted a value"),
        ("lang == 'de' year == 3", "wanted and, or, or the end"),
        ("(lang == 'de'", r"cannot be read at 'the end', wanted '\)'"),
        ("lang in 'de'", r"wanted '\['"),
        ("lang in ['de' 'en']", "wanted ',' or"),
        ("modified > 2024-13-01", "wanted a value"),
        ("__import__('os')", "wanted one of: =="),
        ("not " * 99 + "a == 1", "nested more than 64 deep"),
        ("(" * 99 + "a == 1" + ")" * 99, "nested more than 64 deep"),
        ("x == " + "9" * 5000, "wanted a value"),
        ("lang prefix 3", "prefix of 'lang' takes a str, given was 3"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(text, message):
    with pytest.raises(InvalidInputError, match=message):
        parse_condition(text)


@given(st.text() | st.text("ab=<>!()[],'\"\\ 12-.TZtrueandoris", max_size=20))
def test_no_text_does_anything_else(text):
    with contextlib.suppress(InvalidInputError):
        parse_condition(text)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, "a condition is 3, wanted F"),
        ({"field": "a", "op": "=="}, r"has \['field', 'op'\], wanted field, op and value"),
        ({"field": "a", "op": "~", "value": 1}, "the operator is '~', wanted one of"),
        ({"field": "a", "op": "==", "value": None}, "compared with None of type NoneType"),
        ({"field": "a", "op": "==", "value": [1]}, r"compared with \[1\] of type list"),
        ({"field": "a", "op": "in", "value": "de"}, "wanted a list of values"),
        ({"field": "a", "op": "==", "value": {"date": "soon"}}, "ISO 8601"),
        ({"field": "", "op": "==", "value": 1}, "wanted its name"),
        ({"field": "a", "op": "==", "value": float("nan")}, "compared with nan"),
        ({"and": []}, "'and' holds"),
        ({"and": [{"not": 1}]}, "a condition is 1"),
    ],
)
def test_json_that_is_no_condition_is_named(value, message):
    with pytest.raises(InvalidInputError, match=message):
        condition_of(value)


def test_python_does_not_lose_a_side():
    with pytest.raises(TypeError, match="join conditions with &"):
        bool(F("a") == 1)
    with pytest.raises(InvalidInputError, match="joined with True"):
        assert (F("a") == 1) & True
    with pytest.raises(InvalidInputError, match="in_ takes a list"):
        F("a").in_("de")


METADATA = st.fixed_dictionaries(
    {},
    optional={
        "lang": st.sampled_from(["de", "en", "", ["de", "en"]]),
        "year": st.sampled_from([2023, 2024, 2023.5, "2024", "2024-01-31", True, 1.0, 1]),
        "draft": st.booleans() | st.just(1),
        "id": st.sampled_from(["d0", "de"]),
    },
)
HISTORIES = st.lists(st.dictionaries(st.integers(0, 5), METADATA | st.none(), min_size=1, max_size=4), max_size=4)


@settings(max_examples=40, deadline=None)
@given(history=HISTORIES, conditions=st.lists(CONDITIONS, min_size=1, max_size=4))
def test_documents_are_selected_as_one_by_one_after_any_history(tmp_path_factory, history, conditions):
    with opened(tmp_path_factory.mktemp("filters") / "kb") as kb:
        there = {}
        for step in history:  # None deletes
            given_now = {f"d{n}": metadata for n, metadata in step.items()}
            kept = {id: metadata for id, metadata in given_now.items() if metadata is not None}
            kb.add([Document(id, f"A pump {id}.\n", metadata=of) for id, of in kept.items()], progress=False)
            gone = [id for id in given_now if id not in kept and id in there]
            kb.delete(gone)
            there = {id: metadata for id, metadata in {**there, **kept}.items() if id not in gone}
            for condition in conditions:
                fields = {id: {**of, "id": id, "metadata.id": of.get("id")} for id, of in there.items()}
                wanted = {id for id, of in fields.items() if holds(condition, of)}
                found = kb.search("a pump", where=condition, max_distance=None, k=20, rerank=False)
                assert {hit.document_id for hit in found} == wanted
                if there:
                    assert found.coverage.documents == found.coverage.chunks == len(wanted)
                assert found.refused == (not wanted)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    words = ["pump", "oil", "ship", "mast", "red", "valve"]

    def numbered(i: int) -> Document:
        text = " ".join(words[(i * j) % 6] for j in range(1, 2 + i % 7)) + f" {i}.\n"
        return Document(f"d{i:03}", text, metadata={"n": i, "even": i % 2 == 0})

    with opened(tmp_path_factory.mktemp("many") / "kb") as kb:
        kb.add(map(numbered, range(150)), progress=False)
        kb.add(map(numbered, range(150, 200)), progress=False)
        yield kb


@pytest.mark.parametrize("where", ["n == 77", "even == true", "n >= 190", "n < 0 or n exists"])
def test_each_leg_is_the_unfiltered_one_less_the_others(many, where):
    snapshot = many.view()
    condition = condition_of(where)
    wanted = {f"d{n:03}" for n in range(200) if holds(condition, {"n": n, "even": n % 2 == 0})}
    selection = snapshot.select(condition)
    assert selection.documents == len(wanted)
    vector = StubEncoder().encode_batch(["red oil pump"]).vectors[0]
    for leg, asked in ((bm25_leg, "red oil pump"), (dense_leg, vector)):
        everything = leg(snapshot, asked, 200).scores
        filtered = leg(snapshot, asked, 30, rows=selection.rows).scores
        kept = [(key, score) for key, score in everything.items() if snapshot.order(key)[0] in wanted]
        assert list(filtered.items()) == kept[:30]


@pytest.mark.parametrize(("where", "matching"), [("n == 77", 1), ("n in [3, 150, 199]", 3), ("even == true", 100)])
@pytest.mark.parametrize("k", [1, 20, 90, 150])
def test_k_is_filled_while_enough_match(many, where, matching, k):
    found = many.search("red oil pump", where=where, k=k, max_distance=None, candidates=10)
    assert len(found) == min(k, matching)
    assert found.coverage.documents == matching
    assert found.to_dict()["plan"]["where"] == parse_condition(where).to_dict()


def test_nothing_that_fulfils_is_a_refusal_without_a_model(many, monkeypatch):
    monkeypatch.setattr(pincite.KnowledgeBase, "encoder", lambda self: pytest.fail("no model is needed"))
    found = many.search("red oil pump", where="n > 1000")
    assert found.refused
    assert found.reason == 'no document fulfils the condition; there is nothing for "red oil pump"'
    assert not many.context("red oil pump", where={"field": "n", "op": ">", "value": 1000})


def test_times_of_files_are_compared_with_dates(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("A pump.\n")
    with opened(tmp_path / "kb") as kb:
        kb.add(folder, progress=False)
        assert kb.search("pump", where=F("modified") >= date(2020, 1, 1), max_distance=None).hits
        assert not kb.search("pump", where=F("modified") < date(2020, 1, 1), max_distance=None).hits
        assert kb.search("pump", where='source == "docs" and media_type == "text/markdown"', max_distance=None).hits
