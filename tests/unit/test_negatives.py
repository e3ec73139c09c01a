"""Questions without an answer, made of those that have one, asked of an index without what answers them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pincite
from pincite.errors import InvalidInputError
from pincite.evaluation import Excerpt, GoldSet, Question, Span, evaluate, of_knowledge_base
from pincite.evaluation.chunks import IndexChunks
from pincite.evaluation.negatives import delete_answers, swap_entities
from pincite.types import Document
from small_index import QUESTIONS, document, opened

PUMPS = "# Pumps\n\nIn 1987 the Red Pump cost 42 crowns.\n\n## Limits\n\nIt stops at eighty degrees. It floats.\n"
SAILS = "# Sails\n\nThe Blue Jib has 12 square metres.\n"
DOCUMENTS = {"pumps": Document("pumps", PUMPS), "sails": Document("sails", SAILS)}


def quoted(id: str, text: str) -> Excerpt:
    start = DOCUMENTS[id].text.index(text)
    return Excerpt(id, start, start + len(text), text)


GOLD = GoldSet(
    "handbook",
    (
        Question("cost", "In 1987, what did the Red Pump cost?", (quoted("pumps", "the Red Pump cost 42 crowns."),)),
        Question("stops", "when does it stop?", (quoted("pumps", "It stops at eighty degrees."),), family="short"),
        Question("jib", "Is a Blue Jib large?", (quoted("sails", "The Blue Jib has 12 square metres."),)),
        Question("wage", "what is the minimum wage?", answerable=False),
    ),
)


@pytest.mark.parametrize(
    ("what", "gone"),
    [
        ("passage", ["the Red Pump cost 42 crowns.", "It stops at eighty degrees.", SAILS[9:-1]]),
        ("section", [PUMPS[: PUMPS.index("## L")], PUMPS[PUMPS.index("## L") :], SAILS]),
        ("document", [PUMPS, PUMPS, SAILS]),
    ],
)
def test_what_answers_is_taken_out(what, gone):
    made = delete_answers(GOLD, DOCUMENTS.get, what=what)
    assert [question.text for question in made] == [question.text for question in GOLD][:3]
    assert [DOCUMENTS[s.document].text[s.start : s.end] for q in made for s in q.without] == gone
    assert {question.family for question in made} == {f"{what} deleted"}
    assert not any(question.answerable or question.excerpts for question in made)
    assert made.check(DOCUMENTS.get) == []


def test_an_excerpt_across_sections_takes_out_all_of_them():
    across = Question("q", "what", (Excerpt("pumps", 10, len(PUMPS) - 2, PUMPS[10:-2]),))
    (made,) = delete_answers(GoldSet("g", (across,)), DOCUMENTS.get)
    assert made.without == (Span("pumps", 0, len(PUMPS)),)


def test_swapped_entities_are_in_no_document_that_answers():
    made = swap_entities(GOLD, DOCUMENTS.get)
    assert [question.family for question in made] == ["entity swapped"] * 2  # "stops" names nothing
    for question in made:
        id, new, old = re.fullmatch(r"(\w+) with (.+) for (.+)", question.id).groups()
        before = next(each for each in GOLD if each.id == id)
        assert question.text == before.text.replace(old, new)
        text = DOCUMENTS[before.excerpts[0].document].text
        assert old in text
        assert new.lower() not in text.lower()
        assert not question.answerable
    assert made.check(DOCUMENTS.get) == []
    assert swap_entities(GOLD, DOCUMENTS.get) == made
    assert any(swap_entities(GOLD, DOCUMENTS.get, seed=seed) != made for seed in range(1, 9))


@pytest.mark.parametrize("make", [delete_answers, swap_entities])
def test_a_document_that_is_not_there_is_named(make):
    with pytest.raises(InvalidInputError, match="there is no document 'pumps'"):
        make(GOLD, {"sails": DOCUMENTS["sails"]}.get)


def hits(kb_or_retriever) -> list:
    return [kb_or_retriever(question).passages for question in QUESTIONS]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("whole") / "kb") as kb:
        for part in (range(9), range(9, 14), range(14, 20)):  # several segments
            kb.add([document(number) for number in part], progress=False)
        kb.add([document(3, version=2)], progress=False)  # and a dead row
        yield kb


@settings(max_examples=8, deadline=None)
@given(gone=st.sets(st.integers(0, 19), max_size=19))
@pytest.mark.parametrize("pipeline", ["bm25", "dense", "hybrid", "hybrid+rerank"])
def test_an_index_without_documents_is_one_that_never_had_them(whole, tmp_path_factory, pipeline, gone):
    chunks = IndexChunks(whole.view(), whole.encoder)
    keys = [key for number in gone for key in chunks.touching(Span(f"d{number:03}"))]
    with opened(tmp_path_factory.mktemp("rest") / "kb") as rest:
        kept = [document(number, version=2 * (number == 3)) for number in range(20) if number not in gone]
        rest.add(kept, progress=False)
        wanted = hits(of_knowledge_base(rest, pipeline=pipeline))
    assert hits(of_knowledge_base(whole, pipeline=pipeline).without(keys)) == wanted


def test_an_index_without_anything_finds_nothing(whole):
    chunks = IndexChunks(whole.view(), whole.encoder)
    keys = [key for number in range(20) for key in chunks.touching(Span(f"d{number:03}"))]
    for pipeline in ("bm25", "dense", "hybrid"):
        assert hits(of_knowledge_base(whole, pipeline=pipeline).without(keys)) == [()] * len(QUESTIONS)


def test_each_question_is_asked_without_its_own(tmp_path):
    with opened(tmp_path / "kb") as kb:
        kb.add(DOCUMENTS.values(), progress=False)
        gold = GoldSet("both", (*GOLD, *delete_answers(GOLD, DOCUMENTS.get)))
        report = evaluate(kb, gold, pipeline="dense")
        assert report.measures["R@4"].value == 1.0
        found = {outcome.id: outcome.distance for outcome in report.outcomes}
        farther = [found[f"{id} without its section"] - found[id] for id in ("cost", "stops", "jib")]
        assert min(farther) >= 0.0
        assert max(farther) > 0.0
        assert evaluate(kb, gold, pipeline="dense").to_dict() == report.to_dict()


def test_a_callable_cannot_take_anything_out():
    with pytest.raises(InvalidInputError, match="'cost without its section' is asked of an index without"):
        evaluate(lambda question: [], delete_answers(GOLD, DOCUMENTS.get), documents=DOCUMENTS.values())


def test_chunks_that_touch_a_span_by_one_character_are_touched(tmp_path):
    with opened(tmp_path / "kb", config=pincite.IndexConfig(strategy="A", target=16)) as kb:
        kb.add(DOCUMENTS.values(), progress=False)
        chunks = IndexChunks(kb.view(), kb.encoder)
        first = chunks.touching(Span("pumps"))[0]
        assert chunks.touching(Span("pumps", 15, 16)) == [first]
        assert chunks.touching(Span("pumps", 15, 17)) == [first, first + 1]
        assert chunks.touching(Span("pumps", 16, 32)) == [first + 1]
        assert len(chunks.touching(Span("pumps"))) == -(-len(PUMPS) // 16)
        assert chunks.touching(Span("nowhere")) == []
