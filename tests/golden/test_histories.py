"""With the real model, too: any history, and any view, answers as a fresh build, within 1e-5 and in the same order.

To the bit it cannot be: a vector depends on what it was computed together with, by a few 1e-7.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import pincite

ADRS = sorted((Path(__file__).resolve().parents[2] / "docs" / "adr").glob("*.md"))
QUESTIONS = [
    "why do all kernels give equal bits",
    "what happens to a document that is deleted",
    "how is HTML turned into text",
    "when does a graph pay",
    "which model embeds the question",
]
WITHIN = 1e-5


def document(path: Path, paragraphs: int | None = None) -> pincite.Document:
    """A decision record, or how it began."""
    return pincite.Document(path.name, "\n\n".join(path.read_text(encoding="utf-8").split("\n\n")[:paragraphs]))


def found(kb, **options) -> list[tuple]:
    return [
        (hit.document_id, hit.start, hit.content, hit.bm25, pytest.approx(hit.distance, abs=WITHIN), dict(hit.ranks))
        for question in QUESTIONS
        for hit in kb.search(question, k=8, max_distance=None, rerank=False, **options)
    ]  # fmt: skip


@pytest.mark.parametrize("seed", [0, 1])
def test_a_history_answers_as_a_fresh_build_with_the_model(tmp_path, minilm, seed):
    chance = random.Random(seed)
    papers = chance.sample(ADRS, 6)
    begun = [document(path, chance.choice([2, 4])) for path in papers]
    with (
        pincite.open(tmp_path / "kb", create=True, encoder=minilm) as kb,
        pincite.open(tmp_path / "fresh", create=True, encoder=minilm) as fresh,
    ):
        for each in begun:
            kb.add(each, groups=["later"], progress=False)
        kb.delete([each.id for each in begun[:2]])
        kb.add([document(path) for path in papers[1:4]], groups=["crew"], progress=False)
        kb.grant(begun[4].id, ["crew"])
        if seed:
            kb.merge()
        fresh.add([*(document(path) for path in papers[1:4]), begun[4]], progress=False)
        assert found(kb, groups=["crew"]) == found(fresh)
        fresh.add(begun[5], progress=False)
        assert found(kb, groups=["crew", "later"]) == found(fresh)
        assert len(found(fresh)) > 20
