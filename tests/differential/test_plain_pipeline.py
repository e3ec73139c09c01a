"""What the benchmark times beside us does the same work: its search in plain Python finds the same."""

from __future__ import annotations

import pytest

import pincite
from plain_pipeline import Search
from small_index import QUESTIONS, document, opened


@pytest.mark.parametrize("analyzer", ["unicode", "ascii"])
def test_the_twin_of_the_benchmark_finds_the_same(tmp_path, analyzer):
    stemmer = "english" if analyzer == "unicode" else None
    with opened(tmp_path / "kb", config=pincite.IndexConfig(analyzer=analyzer, stemmer=stemmer)) as kb:
        for first in (0, 7):
            kb.add([document(number) for number in range(first, first + 7)], progress=False)
        twin = Search(kb)
        for question in QUESTIONS:
            for max_distance in (None, 0.675):
                found = kb.search(question, rerank=False, max_distance=max_distance)
                assert [(hit.document_id, hit.start) for hit in found] == twin(question, max_distance=max_distance)
