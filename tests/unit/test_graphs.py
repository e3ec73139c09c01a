"""Segments with graphs: what goes by them, what never does, and that they come and go with their segments."""

from __future__ import annotations

import hashlib
import shutil

import numpy as np
import pytest

import pincite
from pincite.config import IndexConfig
from pincite.core.flat import FlatIndex
from pincite.core.hnsw import HnswIndex
from pincite.errors import InvalidInputError, StorageError
from pincite.filters import F
from pincite.retrieve import legs
from pincite.retrieve.legs import dense_leg
from pincite.store import ingest, writer
from pincite.store.segment import EF_CONSTRUCTION
from small_index import opened
from stub_models import Encoded, StubEncoder

DOCUMENTS, OF_EACH = 40, 100
"""Documents of the segment that gets a graph, and chunks of each: more than the 3,200 up to which the graph scans."""

QUESTIONS = [f"question {number}" for number in range(40)]
MIXED = "graph in 1 of 3 segments, exact scan in the others"


class ClusteredEncoder(StubEncoder):
    """A unit vector near one of 40 centres, by the hash of the text."""

    def __init__(self) -> None:
        super().__init__(dim=16, model="clustered")
        self._centres = np.random.default_rng(0).standard_normal((40, self.dim))

    def encode_batch(self, texts, *, progress=None) -> Encoded:
        texts = list(texts)
        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            digest = hashlib.sha256(text.encode()).digest()
            noise = np.random.default_rng(list(digest)).standard_normal(self.dim)
            row[:] = self._centres[digest[0] % 40] + 0.5 * noise
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        zeros = np.zeros(len(texts), dtype=np.int64)
        return Encoded(vectors, zeros, zeros)


def document(number: int, version: int = 0) -> pincite.Document:
    """Return a document that is cut into OF_EACH chunks."""
    text = "".join(f"{number:03} {version} {chunk:04} word\n" for chunk in range(OF_EACH))
    return pincite.Document(id=f"d{number:03}", text=text, metadata={"number": number})


def made(path, **options) -> pincite.KnowledgeBase:
    """Open an index whose chunks are lines, or make it."""
    config = IndexConfig(strategy="A", target=16, **options) if options else None
    return opened(path, encoder=ClusteredEncoder(), config=config)


@pytest.fixture(scope="module")
def histories(tmp_path_factory):
    """The same history with graphs and without: three segments, the largest with tombstones."""
    folder = tmp_path_factory.mktemp("histories")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ingest, "BATCH_CHUNKS", 10**6)
        for name, graph_from in (("graphs", DOCUMENTS * OF_EACH), ("exact", None)):
            with made(folder / name, graph_from=graph_from) as kb:
                kb.add([document(number) for number in range(DOCUMENTS)], progress=False)
                kb.add([document(number) for number in range(DOCUMENTS, DOCUMENTS + 10)], progress=False)
                kb.update(document(0, version=1), progress=False)
                kb.delete("d001")
    return folder


@pytest.fixture
def both(histories, tmp_path):
    """The two, with graphs first, to be changed."""
    copies = [shutil.copytree(histories / name, tmp_path / name) for name in ("graphs", "exact")]
    with made(copies[0]) as graphs, made(copies[1]) as exact:
        yield graphs, exact


def vectors_of(kb):
    return kb.encoder().encode_batch(QUESTIONS).vectors


def recall(view, exact_view, vectors, k) -> float:
    """Return the share of the true best that is found; what both find has the same score, to the bit."""
    shares = []
    for vector in vectors:
        found, true = dense_leg(view, vector, k).scores, dense_leg(exact_view, vector, k).scores
        assert len(found) == len(true)
        shared = found.keys() & true.keys()
        assert [found[key] for key in shared] == [true[key] for key in shared]
        shares.append(len(shared) / len(true))
    return float(np.mean(shares))


@pytest.mark.parametrize("k", [10, 50])
def test_a_graph_finds_nearly_all(both, k):
    graphs, exact = both
    view, exact_view = graphs.view(), exact.view()
    assert [segment.graph is not None for segment in view.segments] == [True, False, False]
    assert dense_leg(view, vectors_of(graphs)[0], k).path == MIXED
    assert dense_leg(exact_view, vectors_of(exact)[0], k).path == "exact scan"
    assert recall(view, exact_view, vectors_of(graphs), k) >= 0.95


def test_the_plan_says_what_ran(both):
    graphs, exact = both
    assert graphs.search("question", max_distance=None).plan.legs[1].path == MIXED
    assert graphs.search("question", max_distance=None, where=F("number") < 30).plan.legs[1].path == "exact scan"
    graphs.merge()
    assert graphs.search("question", max_distance=None).to_dict()["plan"]["legs"][1]["path"] == "graph"
    exact.merge()
    assert exact.search("question", max_distance=None).plan.legs[1].path == "exact scan"


def hits(kb, question, **options):
    """What must not depend on graphs; the plan's path has to say that none was asked."""
    result = kb.search(question, max_distance=None, k=20, **options)
    assert result.plan.legs[1].path == "exact scan"
    return [hit.to_dict() for hit in result], result.coverage, result.nearest_distance


def test_conditions_are_exact(both):
    for where in (F("number") >= 0, F("number") < 20, F("number") == 7):
        for question in QUESTIONS[:10]:
            assert hits(both[0], question, where=where) == hits(both[1], question, where=where)


@pytest.mark.parametrize("options", [{}, {"statistics": "global"}], ids=["their own", "global"])
def test_groups_are_exact(both, options):
    """Also where they see everything, and where statistics are of everything."""
    for kb in both:
        kb.grant([account.id for account in kb.ledger()], ["all"])
        kb.grant([f"d{number:03}" for number in range(2, 30)], ["all", "some"])
    for groups in (["all"], ["some"]):
        for question in QUESTIONS[:10]:
            given = {"groups": groups, **options}
            assert hits(both[0], question, **given) == hits(both[1], question, **given)


def test_an_index_without_some_chunks_is_exact(both):
    views = [kb.view() for kb in both]
    vector = vectors_of(both[0])[0]
    nearest = dense_leg(views[1], vector, 5).keys
    ours, theirs = (dense_leg(view.without(nearest), vector, 50) for view in views)
    assert (ours.path, ours.scores) == ("exact scan", theirs.scores)


def test_k_is_filled_at_any_share_of_tombstones(both, monkeypatch):
    monkeypatch.setattr(writer, "segments_to_merge", lambda *_: [])  # else a half dead segment is folded away
    monkeypatch.setattr(legs, "GRAPH_EF", 20)  # fewer candidates, so that the graph is asked when most are dead, too
    paths = []
    for left in (41, 35, 25, 15, 5, 1, 0):
        for kb in both:
            kb.delete([account.id for account in kb.ledger()][left:])
        view, exact_view = (kb.view() for kb in both)
        assert len(view) == left * OF_EACH
        found = [dense_leg(view, vector, 5) for vector in vectors_of(both[0])]
        assert {len(leg.scores) for leg in found} == {5 if left else 0}
        paths += {leg.path for leg in found}
        if left:
            assert recall(view, exact_view, vectors_of(both[0]), 5) >= 0.95
    assert paths == [MIXED] * 4 + ["exact scan"] * 3


def test_a_merge_builds_the_graph_that_a_fresh_index_has(both, tmp_path, monkeypatch):
    monkeypatch.setattr(ingest, "BATCH_CHUNKS", 10**6)
    with made(tmp_path / "fresh", graph_from=DOCUMENTS * OF_EACH) as fresh:
        numbers = [0, *range(2, DOCUMENTS + 10)]
        fresh.add([document(number, version=int(number == 0)) for number in numbers], progress=False)
        both[0].merge()
        (merged,), (expected,) = both[0].view().segments, fresh.view().segments
    files = [segment.folder / "graph.pin" for segment in (merged, expected)]
    assert files[0].read_bytes() == files[1].read_bytes()
    flat = FlatIndex.build(merged.vectors.vectors)
    HnswIndex.over(flat, ef_construction=EF_CONSTRUCTION).save_graph(tmp_path / "again")
    assert files[0].read_bytes() == (tmp_path / "again").read_bytes()


def test_a_snapshot_takes_graphs_along(both, tmp_path):
    both[0].merge()  # a segment that holds deleted texts would be written anew without them
    both[0].snapshot(tmp_path / "file")
    pincite.restore(tmp_path / "file", tmp_path / "restored")
    with made(tmp_path / "restored") as restored:
        for question in QUESTIONS[:5]:
            ours, theirs = (kb.search(question, max_distance=None, k=20) for kb in (restored, both[0]))
            assert ours.plan == theirs.plan
            assert [hit.to_dict() for hit in ours] == [hit.to_dict() for hit in theirs]


def test_a_lost_graph_is_missed(both):
    segment = both[0].view().segments[0]
    (segment.folder / "graph.pin").unlink()
    with pytest.raises(StorageError, match=r"graph\.pin"):
        made(segment.folder.parents[1])


def test_the_settings_keep_where_graphs_begin(tmp_path):
    config = IndexConfig(graph_from=5000)
    assert IndexConfig.from_dict(config.to_dict()) == config
    before = {name: value for name, value in config.to_dict().items() if name != "graph_from"}
    assert IndexConfig.from_dict(before) == IndexConfig()
    made(tmp_path / "kb", graph_from=5000).close()
    with made(tmp_path / "kb") as kb:
        assert kb.config.graph_from == 5000
    with pytest.raises(InvalidInputError, match=r"graph_from=5000.*graph_from=None"):
        made(tmp_path / "kb", graph_from=None)


@pytest.mark.parametrize("graph_from", [0, -1, 1.5, "many"])
def test_graphs_begin_at_a_number_of_chunks(tmp_path, graph_from):
    with pytest.raises(InvalidInputError, match="graph_from"):
        made(tmp_path / "kb", graph_from=graph_from)
    assert not (tmp_path / "kb").exists()
