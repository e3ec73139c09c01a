"""BM25 over a public collection, measured by our own measures."""

from __future__ import annotations

import pincite
from pincite.evaluation import Retrieved, evaluate, load_beir


def test_bm25_on_scifact_is_as_good_as_published(shared):
    """0.679 is what Anserini's BM25 gives for title and abstract as one field, with stemming and stop words."""
    documents, gold = load_beir(shared / "data" / "scifact")
    index = pincite.BM25Index.build([f"{each.title} {each.text}" for each in documents], stemmer="english")

    def bm25(question: str) -> list[Retrieved]:
        ids, _ = index.search(question, k=100)
        return [Retrieved(documents[i].id, 0, len(documents[i].text), 0) for i in ids]

    report = evaluate(bm25, gold, depth=100, documents=documents)
    assert len(report.answerable) == 300
    assert report.measures["nDCG@10"].value >= 0.679
    assert round(report.measures["nDCG@10"].value, 4) == 0.6860  # what trec_eval gives for this run
