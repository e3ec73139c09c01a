"""An index is evaluated: its pipelines, the answers that its chunks destroy, its cost, and a report that repeats."""

from __future__ import annotations

import json
from typing import get_args

import pytest

import pincite
from pincite.errors import InvalidInputError
from pincite.evaluation import Excerpt, GoldSet, Question, evaluate, of_knowledge_base
from pincite.evaluation.calibration import stamp_of
from pincite.evaluation.retriever import Pipeline
from pincite.types import Document
from stub_models import StubEncoder, StubReranker


def values(report) -> dict[str, float]:
    return {name: interval.value for name, interval in report.measures.items()}


HANDBOOK = """# Pumps

A pump moves water. The pump stops at eighty degrees.

## Limits

Error E4711 means that it is dry. Close the red valve before the crew sleeps.
"""
SAILS = "# Sails\n\nA sail catches wind. The jib is twelve square metres.\n"


def quoted(document: str, text: str) -> Excerpt:
    start = {"pumps": HANDBOOK, "sails": SAILS}[document].index(text)
    return Excerpt(document, start, start + len(text), text)


GOLD = GoldSet(
    "handbook",
    (
        Question("stops", "when stops the pump", (quoted("pumps", "The pump stops at eighty degrees."),)),
        Question("valve", "close the red valve", (quoted("pumps", "Close the red valve before the crew sleeps."),)),
        Question("jib", "jib square metres", (quoted("sails", "The jib is twelve square metres."),)),
        Question("wage", "zzz minimum wage", answerable=False),
    ),
)


def opened(path, **config):
    kb = pincite.open(
        path,
        create=True,
        encoder=StubEncoder(),
        reranker=StubReranker(),
        config=pincite.IndexConfig(**config) if config else None,
    )
    kb.add([Document("pumps", HANDBOOK), Document("sails", SAILS)], progress=False)
    return kb


@pytest.fixture
def kb(tmp_path):
    with opened(tmp_path / "kb") as made:
        yield made


@pytest.mark.parametrize("pipeline", get_args(Pipeline))
def test_a_knowledge_base_is_measured_by_any_pipeline(kb, pipeline):
    report = evaluate(kb, GOLD, pipeline=pipeline)
    assert values(report)["R@4"] == 1.0
    assert values(report)["destroyed"] == 0.0
    assert report.name == pipeline
    assert report.generation == kb.generation
    assert report.gold["checked"]
    assert set(report.latency()) == {"p50_ms", "p95_ms", "mean_ms"}
    assert all(outcome.distance is None for outcome in report.outcomes) == (pipeline == "bm25")
    judged = any(outcome.logit is not None for outcome in report.outcomes)
    assert judged == (pipeline in {"default", "hybrid+rerank", "rerank-alone"})


def test_a_pipeline_finds_what_searching_finds(kb):
    retriever = of_knowledge_base(kb)
    for question in GOLD:
        wanted = kb.search(question.text, k=20)
        found = retriever(question.text)
        assert [(p.document_id, p.start, p.end, p.distance, p.logit) for p in found.passages] == [
            (hit.document_id, hit.start, hit.end, hit.distance, hit.rerank_logit) for hit in wanted
        ]
        assert found.nearest_distance == wanted.nearest_distance


ASKED = ("red valve oil", "crew pump wind", "jib")


@pytest.fixture
def sixty(tmp_path):
    """An index of more passages than the reranker judges, and than a leg gives."""
    words = ["pump", "red", "valve", "crew", "jib", "wind", "oil"]
    documents = [
        Document(f"{i:02}", " ".join(words[(i * j + j) % 7] for j in range(1, 2 + i % 5)) + f" {i}.") for i in range(60)
    ]
    with pincite.open(tmp_path / "kb", create=True, encoder=StubEncoder(), reranker=StubReranker()) as kb:
        kb.add(documents, progress=False)
        yield kb


def found(retriever, question: str) -> list[str]:
    return [passage.document_id for passage in retriever(question).passages]


def test_a_shallow_evaluation_searches_as_widely_as_a_search(sixty):
    for question in ASKED:
        wanted = [hit.document_id for hit in sixty.search(question, max_distance=None)]
        assert found(of_knowledge_base(sixty, pipeline="hybrid+rerank", depth=4), question) == wanted


@pytest.mark.parametrize(
    ("pipeline", "rerank"), [("hybrid", "none"), ("hybrid+rerank", "fused"), ("rerank-alone", "pure")]
)
def test_a_pipeline_has_the_order_that_a_search_has(sixty, pipeline, rerank):
    for question in ASKED:
        wanted = [hit.document_id for hit in sixty.search(question, k=60, max_distance=None, rerank=rerank)]
        assert found(of_knowledge_base(sixty, pipeline=pipeline, depth=60), question) == wanted


def test_candidates_are_those_of_a_search(sixty):
    for question in ASKED:
        wanted = sixty.search(question, k=3, max_distance=None, candidates=5)
        retriever = of_knowledge_base(sixty, pipeline="hybrid+rerank", depth=60, candidates=5)
        assert found(retriever, question)[:3] == [hit.document_id for hit in wanted]
        assert 5 <= len(found(retriever, question)) <= 10


def test_the_reranker_judges_no_more_than_its_limit(sixty):
    for question in ASKED:
        hybrid = found(of_knowledge_base(sixty, pipeline="hybrid", depth=60), question)
        for limit in (0, 7, 25, 60):
            retriever = of_knowledge_base(sixty, pipeline="rerank-alone", depth=60, rerank_limit=limit)
            passages = retriever(question).passages
            judged = [passage for passage in passages if passage.logit is not None]
            assert len(judged) == min(limit, len(hybrid))
            assert tuple(judged) == passages[: len(judged)]
            assert sorted(passage.document_id for passage in judged) == sorted(hybrid[:limit])
            assert [passage.logit for passage in judged] == sorted((p.logit for p in judged), reverse=True)
            assert [passage.document_id for passage in passages[limit:]] == hybrid[limit:]


def test_numbers_out_of_their_range_are_refused(kb):
    with pytest.raises(InvalidInputError, match="candidates is 0, wanted at least 1"):
        of_knowledge_base(kb, candidates=0)
    with pytest.raises(InvalidInputError, match="rerank_limit is -1, wanted at least 0"):
        of_knowledge_base(kb, rerank_limit=-1)


def test_a_calibration_lapses_with_the_candidates_and_the_limit(kb):
    retrievers = [
        of_knowledge_base(kb),
        of_knowledge_base(kb, candidates=25),
        of_knowledge_base(kb, rerank_limit=10),
        of_knowledge_base(kb, pipeline="hybrid+rerank"),
        of_knowledge_base(kb, pipeline="rerank-alone"),
    ]
    reports = [evaluate(retriever, GOLD) for retriever in retrievers]
    for stamps in (
        [report.configuration_hash for report in reports],
        [json.dumps(stamp_of(report)) for report in reports],
    ):
        assert len(set(stamps)) == len(reports)


def test_a_description_names_only_what_has_a_say(kb):
    for pipeline, used in {
        "bm25": (None, None),
        "dense": (None, None),
        "hybrid": (25, None),
        "hybrid+rerank": (25, 10),
    }.items():
        described = of_knowledge_base(kb, pipeline=pipeline, candidates=25, rerank_limit=10).describe()
        assert (described["candidates"], described["rerank_limit"]) == used
    assert of_knowledge_base(kb, depth=80).describe()["candidates"] == 80


def test_a_threshold_refuses(kb):
    everything = evaluate(kb, GOLD, pipeline="dense")
    assert everything.refusal["bluffs"].value == 1.0
    nothing = evaluate(kb, GOLD, pipeline="dense", threshold=0.0)
    assert nothing.refusal["given up wrongly"].value == 1.0
    assert nothing.refusal["bluffs"].value == 0.0
    nearest = [outcome.distance for outcome in everything.outcomes]
    assert [outcome.distance for outcome in nothing.outcomes] == nearest
    at_its_distance = evaluate(kb, GoldSet("jib", GOLD.questions[2:3]), pipeline="dense", threshold=nearest[2])
    assert not at_its_distance.outcomes[0].refused
    with pytest.raises(InvalidInputError, match="'bm25', which measures no distance"):
        evaluate(kb, GOLD, pipeline="bm25", threshold=0.5)
    with pytest.raises(InvalidInputError, match="pipeline is 'words', wanted one of"):
        evaluate(kb, GOLD, pipeline="words")


def test_blind_cuts_destroy_answers_and_the_report_names_them(tmp_path):
    with opened(tmp_path / "kb", strategy="A", target=64) as kb:
        report = evaluate(kb, GOLD, pipeline="bm25")
        cut = [
            question.id
            for question in GOLD
            if question.answerable and question.excerpts[0].start // 64 != (question.excerpts[0].end - 1) // 64
        ]
        assert 0 < len(cut) < 3
        assert list(report.destroyed) == cut
        assert values(report)["destroyed"] == pytest.approx(len(cut) / 3)
        assert f"No chunk holds the answer of: {', '.join(cut)}." in report.table()
        assert values(report)["failure rate@20"] >= len(cut) / 3


def test_one_excerpt_that_is_left_is_an_answer_unless_all_are_wanted(tmp_path):
    question = Question("both", "pump", (GOLD.questions[0].excerpts[0], GOLD.questions[1].excerpts[0]))
    with opened(tmp_path / "kb", strategy="A", target=64) as kb:
        for excerpts, destroyed in (("any", ()), ("all", ("both",))):
            assert evaluate(kb, GoldSet("two", (question,)), pipeline="bm25", excerpts=excerpts).destroyed == destroyed


def test_graded_documents_that_are_not_indexed_are_destroyed(kb):
    questions = (Question("1", "pump", grades={"sails": 1, "x": 1}), Question("2", "jib", grades={"x": 1, "sails": 0}))
    assert evaluate(kb, GoldSet("graded", questions)).destroyed == ("2",)


def test_overlap_repairs_what_a_blind_cut_destroys(tmp_path):
    with opened(tmp_path / "kb", strategy="B", target=64, overlap=50) as kb:
        assert evaluate(kb, GOLD, pipeline="bm25").destroyed == ()


def test_the_cost_of_an_index_is_counted(tmp_path):
    with opened(tmp_path / "kb", strategy="E", target=200) as kb:
        kb.add([Document("long", "## One\n\n" + "word " * 300 + ".", title="Long")], progress=False)
        cost = evaluate(kb, GOLD_OF_STRATEGY_E, pipeline="bm25").cost
        chunks = [
            chunk
            for id, text, title in (("pumps", HANDBOOK, ""), ("long", "## One\n\n" + "word " * 300 + ".", "Long"))
            for chunk in pincite.chunk(text, title=title or id, strategy="E", target=200)
        ]
        assert cost.chunks == len(chunks) == kb.status().chunks
        assert cost.characters == sum(len(chunk.content) for chunk in chunks)
        headers = [chunk.embedded_text.removesuffix(chunk.content) for chunk in chunks]
        assert cost.header_tokens == sum(len(header.split()) for header in headers) > 0
        lost = [max(0, len(chunk.embedded_text.split()) + 2 - 256) for chunk in chunks]
        assert (cost.truncated_chunks, cost.lost_tokens) == (sum(map(bool, lost)), sum(lost))
        assert cost.lost_tokens == kb.status().truncated_tokens > 0
        assert 0 < cost.nbytes < kb.status().nbytes


GOLD_OF_STRATEGY_E = GoldSet("limits", GOLD.questions[1:2])


def test_replaced_documents_are_not_counted(kb):
    kb.add([Document("sails", "# Sails\n\nNew.\n")], progress=False)
    assert any(rows is not None for rows in kb.view().visible)  # the old one is dead, and still there
    with pytest.raises(InvalidInputError, match="it occurs nowhere"):
        evaluate(kb, GOLD)
    report = evaluate(kb, GoldSet("pumps", GOLD.questions[:1]))
    assert report.cost.chunks == kb.status().chunks == 3
    assert report.cost.characters == sum(len(chunk.content) for chunk in pincite.chunk(HANDBOOK)) + len(
        "# Sails\n\nNew."
    )
    assert values(report)["R@1"] == 1.0


def test_two_runs_give_the_same_bytes(kb, tmp_path):
    GOLD.save(tmp_path / "handbook.jsonl")
    first, second = (json.dumps(evaluate(kb, gold).to_dict()) for gold in (GOLD, tmp_path / "handbook.jsonl"))
    assert first == second
    assert "ms" not in json.loads(first)
    again = evaluate(kb, GOLD).to_dict()
    assert again["configuration"]["seed"] == 0
    assert again["generation"] == 1
    with opened(tmp_path / "again") as rebuilt:
        assert evaluate(rebuilt, GOLD).to_dict()["questions"] == again["questions"]
        assert evaluate(rebuilt, GOLD).documents_sha256 == again["documents_sha256"]
    assert evaluate(kb, GOLD).table() == evaluate(kb, GOLD).table()


def test_the_configuration_hash_follows_the_configuration(kb):
    reports = [
        evaluate(kb, GOLD),
        evaluate(kb, GOLD, seed=1),
        evaluate(kb, GOLD, depth=8),
        evaluate(kb, GOLD, excerpts="all"),
        evaluate(kb, GOLD, threshold=0.5),
        evaluate(kb, GOLD, pipeline="hybrid"),
    ]
    assert len({report.configuration_hash for report in reports}) == len(reports)
    assert reports[0].configuration_hash == evaluate(kb, GOLD, name="other").configuration_hash
    before = reports[0].documents_sha256
    kb.add([Document("more", "More.")], progress=False)
    later = evaluate(kb, GOLD)
    assert later.configuration_hash == reports[0].configuration_hash
    assert later.documents_sha256 != before


def test_one_evaluation_sees_one_generation(kb):
    """A commit in the middle of it changes nothing."""
    retriever = of_knowledge_base(kb)
    wanted = evaluate(retriever, GOLD).to_dict()
    kb.add([Document("pumps", HANDBOOK + "\nClose the red valve, pump, jib, square metres.\n")], progress=False)
    assert evaluate(retriever, GOLD).to_dict() == wanted
    with pytest.raises(InvalidInputError, match="depth is 21, the retriever returns 20 passages at most"):
        evaluate(retriever, GOLD, depth=21)
    with pytest.raises(InvalidInputError, match="a knowledge base has its own"):
        evaluate(kb, GOLD, documents=[Document("d", "x")])


def test_an_empty_index_refuses_everything(tmp_path):
    gold = GoldSet("nothing", (Question("1", "q", answerable=False),))
    with pincite.open(tmp_path / "kb", create=True, encoder=StubEncoder(), reranker=StubReranker()) as kb:
        for pipeline in ("default", "bm25", "dense"):
            report = evaluate(kb, gold, pipeline=pipeline)
            assert report.refusal["bluffs"].value == 0.0
            assert report.cost.chunks == 0
            assert report.to_dict()["measures"]["R@1"] == {"value": None, "low": 0.0, "high": 1.0}
            assert "| R@1 | no question | |" in report.table()
