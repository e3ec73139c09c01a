"""Any way of cutting is measured in memory, and finds what an index on disk finds."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pytest

import pincite
from pincite.errors import InvalidInputError
from pincite.evaluation import (
    Excerpt,
    GoldSet,
    MemoryIndex,
    Question,
    cutter_of,
    evaluate,
    of_knowledge_base,
    study_cutters,
)
from pincite.types import Document
from small_index import WORDS, document
from stub_models import StubEncoder, StubReranker

PIPELINES = ["bm25", "dense", "hybrid", "hybrid+rerank"]
DOCUMENTS = [document(number) for number in range(40)]
SENTENCE = "Then a keel, ünd 📷."


class Piece(NamedTuple):
    """Somebody's own chunk."""

    start: int
    end: int
    covered_start: int
    embedded_text: str


def lines(document: Document) -> list[Piece]:
    """Cut at line ends, and add a note behind what is embedded."""
    pieces, start = [], 0
    for line in document.text.splitlines(keepends=True):
        if line.strip():
            pieces.append(Piece(start, start + len(line), start, f"{line}in {document.id}"))
        start += len(line)
    return pieces[::-1]


def in_memory(cutter=None, documents=DOCUMENTS, **options) -> MemoryIndex:
    encoder = options.pop("encoder", StubEncoder())
    cutter = cutter or cutter_of(pincite.IndexConfig(), encoder)
    return MemoryIndex(documents, cutter, encoder=encoder, reranker=StubReranker(), **options)


def on_disk(path, documents=DOCUMENTS, **config) -> pincite.KnowledgeBase:
    kb = pincite.open(
        path, create=True, encoder=StubEncoder(), reranker=StubReranker(), config=pincite.IndexConfig(**config)
    )
    kb.add(documents, progress=False)
    return kb


def quoted(documents, id: str, text: str) -> Excerpt:
    (start,) = (each.text.index(text) for each in documents if each.id == id)
    return Excerpt(id, start, start + len(text), text)


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    with on_disk(tmp_path_factory.mktemp("index") / "kb") as made:
        yield made


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_an_index_in_memory_finds_what_one_on_disk_finds(kb, pipeline):
    """Hits, order, distances and logits; the documents say much the same, so that many scores tie."""
    retriever, wanted = in_memory().retriever(pipeline), of_knowledge_base(kb, pipeline=pipeline)
    questions = [f"{first} {second}" for first in WORDS for second in (*WORDS[::3], "number 7", "nothing")]
    ties = 0
    for question in questions:
        found, expected = retriever(question), wanted(question)
        # Absent words are what a second look refuses by; in memory nothing is refused.
        assert found.passages == tuple(replace(passage, absent=None) for passage in expected.passages), question
        assert found.nearest_distance == expected.nearest_distance
        distances = [passage.distance for passage in found.passages]
        ties += len(distances) - len(set(distances))
    assert ties > 100


@pytest.mark.parametrize("config", [{}, {"strategy": "F", "target": 24, "overlap": 8}, {"strategy": "A", "target": 16}])
def test_a_report_says_what_that_of_an_index_on_disk_says(tmp_path, config):
    gold = GoldSet(
        "notes", (Question("helm", "helm number", (quoted(DOCUMENTS, "d003", SENTENCE),)),
                  Question("none", "zzz", answerable=False)),
    )  # fmt: skip
    encoder = StubEncoder(window_tokens=12)
    documents = [*DOCUMENTS, Document("long", "## One\n\n" + "word " * 60, title="A long | one")]
    with pincite.open(tmp_path / "kb", create=True, encoder=encoder, config=pincite.IndexConfig(**config)) as kb:
        kb.add(documents, progress=False)
        wanted = evaluate(kb, gold, pipeline="hybrid")
    index = in_memory(cutter_of(pincite.IndexConfig(**config), encoder), documents, encoder=encoder)
    report = evaluate(index.retriever(), gold)
    assert report.outcomes == wanted.outcomes
    assert report.documents_sha256 == wanted.documents_sha256
    assert {**report.cost.to_dict(), "nbytes": 0} == {**wanted.cost.to_dict(), "nbytes": 0}
    assert (report.generation, report.cost.nbytes) == (None, None)
    assert report.name == "hybrid"
    assert " MB" not in report.table()
    assert "MB" in wanted.table()


def test_own_chunks_are_measured(tmp_path):
    gold = GoldSet("notes", (
        Question("line", "then a keel", (quoted(DOCUMENTS, "d003", SENTENCE),)),
        Question("both", "number 3", (quoted(DOCUMENTS, "d003", "number 3.\n\n## Version 0"),)),
        Question("other", "zzz", (Excerpt("d004", 0, 3, "# N"),)),
    ))  # fmt: skip
    index = in_memory(lines, name="lines")
    assert len(index) == 4 * len(DOCUMENTS)
    assert "d003" in index
    assert "d999" not in index
    report = evaluate(index.retriever("bm25"), GoldSet("notes", gold.questions[:2]))
    assert report.destroyed == ("both",)
    assert [outcome.rank is not None for outcome in report.outcomes] == [True, False]
    assert report.cost.header_tokens == 2 * len(index)  # "in d003": behind the text, and no part of it
    assert report.cost.characters == sum(len(line) + 1 for each in DOCUMENTS for line in each.text.split("\n") if line)
    assert report.configuration["index"]["name"] == "lines"
    with pytest.raises(InvalidInputError, match="lies inside a heading"):
        evaluate(index.retriever(), gold)


def test_what_the_window_cuts_off_is_counted_for_any_cutter():
    def whole(document):
        return [Piece(0, len(document.text), 0, document.text)]

    encoder = StubEncoder(window_tokens=10)
    lost = [max(0, len(each.text.split()) + 2 - 10) for each in DOCUMENTS]
    cost = in_memory(whole, encoder=encoder).cost()
    assert (cost.truncated_chunks, cost.lost_tokens) == (sum(map(bool, lost)), sum(lost))
    assert cost.lost_tokens > 0


def test_the_configuration_names_the_cuts():
    described = [
        in_memory(cutter).retriever().describe()["index"]["chunks_sha256"]
        for cutter in (lines, lambda document: sorted(lines(document)), lambda document: lines(document)[1:])
    ]
    assert described[0] == described[1] != described[2]
    assert in_memory(lines).name == "lines"
    retrievers = [in_memory(lines).retriever(pipeline) for pipeline in PIPELINES]
    assert [each.describe()["encoder"] is None for each in retrievers] == [True, False, False, False]
    assert [each.describe()["reranker"] is None for each in retrievers] == [True, True, True, False]


@pytest.mark.parametrize("piece", [(-1, 2, 0, ""), (3, 3, 3, ""), (3, 9, 4, ""), (3, 9999, 3, ""), (3, 9, -1, "")])
def test_chunks_outside_their_document_are_refused(piece):
    with pytest.raises(InvalidInputError, match=r"a chunk of 'd000' covers from .* <= start < end <= \d+"):
        in_memory(lambda document: [Piece(*piece)])


def test_what_cannot_be_measured_is_refused():
    with pytest.raises(InvalidInputError, match="has None as embedded_text, wanted a str"):
        in_memory(lambda document: [Piece(0, 1, 0, None)])
    with pytest.raises(InvalidInputError, match="is 'text', which has no start and no end and no covered_s"):
        in_memory(lambda document: ["text"])
    with pytest.raises(InvalidInputError, match="2 documents have 1 ids"):
        in_memory(documents=[DOCUMENTS[0]] * 2)
    with pytest.raises(InvalidInputError, match="pipeline is 'default', wanted one of"):
        in_memory().retriever("default")
    bare = MemoryIndex(DOCUMENTS, lines, encoder=StubEncoder())
    with pytest.raises(InvalidInputError, match="the index has no reranker"):
        bare.retriever("hybrid+rerank")
    with pytest.raises(InvalidInputError, match="depth is 21, the retriever returns 20"):
        evaluate(bare.retriever(), GoldSet("none", (Question("1", "q", answerable=False),)), depth=21)


def test_nothing_is_found_where_nothing_is_cut():
    gold = GoldSet("notes", (Question("line", "then a keel", (quoted(DOCUMENTS, "d003", SENTENCE),)),))
    for documents, cutter in (([], lines), (DOCUMENTS, lambda document: [])):
        index = in_memory(cutter, documents)
        for pipeline in PIPELINES:
            assert index.retriever(pipeline)("helm").passages == ()
        assert index.cost().chunks == 0
    assert evaluate(index.retriever(), gold).destroyed == ("line",)


def test_cutters_side_by_side():
    gold = GoldSet("notes", (
        Question("line", "then a keel", (quoted(DOCUMENTS, "d003", SENTENCE),)),
        Question("both", "number 3", (quoted(DOCUMENTS, "d003", "number 3.\n\n## Version 0"),)),
    ))  # fmt: skip
    encoder = StubEncoder()
    ours = cutter_of(pincite.IndexConfig(strategy="A"), encoder)
    study = study_cutters(DOCUMENTS, gold, {"lines": lines, "A": ours}, encoder=encoder, pipeline="bm25")
    assert [report.name for report in study.reports] == ["lines", "A"]
    (comparison,) = study.comparisons
    assert (comparison.old, comparison.new, comparison.n) == ("A", "lines", 2)
    assert "| lines | 160 | 1 |" in study.table()
    assert "| A | 40 | 0 |" in study.table()
