"""Who sees few of many documents gets the best of the few, as if there were no others."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

import pincite
from crowd import UNCOMPARED
from small_index import WORDS, opened
from stub_models import StubEncoder

pytestmark = pytest.mark.slow

NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def hidden(number: int) -> pincite.Document:
    """Twenty chunks, all about ships and masts."""
    parts = [f"## Ship mast\n\nShip mast, ship mast, ship mast {number:04} {part:02}.\n" for part in range(20)]
    return pincite.Document(id=f"hidden-{number:04}", text="\n".join(parts))


def visible(number: int) -> pincite.Document:
    """One chunk, of other words than the question's, some nearer to it than others."""
    words = [WORDS[3 + (number * step) % 8] for step in range(1, 5 + number % 5)]
    text = f"{NUMBERS[number % 10]} {NUMBERS[number // 10]} {' '.join(words)}"
    return pincite.Document(id=f"visible-{number:02}", text=text)


def test_k_is_filled_with_the_nearest_of_what_is_seen(memory_path):
    """Case A01, embedded: 10,000 chunks, of which a group sees 20 far from the question, in segments and merged."""
    encoder, question = StubEncoder(), "ship mast"
    (asked,) = encoder.encode_batch([question]).vectors
    seen = [visible(number) for number in range(20)]
    chunks = [pincite.chunk(document.text, title=document.id) for document in seen]
    assert {len(each) for each in chunks} == {1}
    vectors = encoder.encode_batch([each.embedded_text for (each,) in chunks]).vectors
    distances = {document.id: float(1 - vector @ asked) for document, vector in zip(seen, vectors, strict=True)}
    config = pincite.IndexConfig(target=60)
    segments = []
    with opened(memory_path / "kb", config=config, encoder=encoder) as kb:
        for part in range(5):
            others = range(part * 100, min(499, part * 100 + 100))
            kb.add([hidden(number) for number in others], groups=["crew"], progress=False)
            kb.add(seen[part * 4 : part * 4 + 4], groups=["guests"], progress=False)
            segments.append(kb.status().segments)
        assert kb.status().chunks == 10_000
        assert kb.status().segments >= 2
        assert any(after <= before for before, after in pairwise(segments)), "nothing was merged"
        nearest_of_all = kb.search(question, groups=["crew", "guests"], max_distance=None, k=10, rerank=False)
        assert min(distances.values()) > max(hit.distance for hit in nearest_of_all), "the 20 are not far"
        for options in ({}, {"candidates": 10}, {"where": 'id prefix "visible-"'}):
            result = kb.search(question, groups=["guests"], max_distance=None, k=10, rerank=False, **options)
            found = [hit.document_id for hit in result]
            assert found == sorted(distances, key=lambda id: (round(distances[id], 6), id))[:10]
            np.testing.assert_allclose([hit.distance for hit in result], [distances[id] for id in found], atol=1e-6)
            assert (result.coverage.documents, result.coverage.chunks) == (20, 20)


def test_documents_that_are_not_seen_change_nothing(memory_path):
    """Case A02: 1,000 hidden documents come that hold the question's word, and go; three are seen."""
    seen = [
        pincite.Document(id="a", text="# Merger\n\nThe merger of two yards.\n"),
        pincite.Document(id="b", text="# Report\n\nA report about the merger, in brief.\n"),
        pincite.Document(id="c", text="# Ropes\n\nThe report of the ropes.\n"),
    ]
    others = [
        pincite.Document(id=f"{number:04}", text=f"# Merger {number}\n\nThe merger report, merger E4711 {number}.\n")
        for number in range(1000)
    ]
    with opened(memory_path / "kb") as kb:
        kb.add(seen, groups=["guests"], progress=False)
        before = answers(kb)
        assert before.count('"refused": false') > 6
        for part in range(0, 1000, 250):
            kb.add(others[part : part + 250], groups=["crew"] if part else None, progress=False)
            assert answers(kb) == before
        kb.delete([document.id for document in others[::2]])
        assert answers(kb) == before
        assert kb.search("merger report", groups=["crew"]).coverage.documents == 375


def answers(kb: pincite.KnowledgeBase) -> str:
    """All that the guests get, to the byte."""
    found: list[object] = []
    for question in ("merger report", "merger E4711", "ropes"):
        for options in ({"max_distance": None}, {"max_distance": None, "rerank": False}, {}, {"max_absent": 0.5}):
            result = kb.search(question, groups=["guests"], **options)
            context = kb.context(question, groups=["guests"], **options)
            found += [
                {key: value for key, value in result.to_dict().items() if key not in UNCOMPARED},
                [citation.to_dict() for citation in kb.citations(result, groups=["guests"])],
                context.prompt if context else context.message,
            ]
    return json.dumps(found)
