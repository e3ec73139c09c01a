"""Commits, merges and sweeps: whatever the history, an index answers like one that was built at once."""

from __future__ import annotations

import os
import shutil
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pincite
from native_files import belong_together
from pincite.errors import IndexCorruptError, IndexLockedError, InvalidInputError, StorageError
from pincite.store import ingest, merging, sweeping
from pincite.store.segment import UNFINISHED
from stub_models import StubEncoder, StubReranker

WORDS = ["ship", "sail", "mast", "pump", "oil", "stop", "red", "sea", "rope", "deck"]
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=40).map(
    lambda words: (
        "# " + words[0] + "\n\n" + "\n\n".join(" ".join(words[i : i + 5]) + "." for i in range(0, len(words), 5))
    )
)
QUESTIONS = ["ship mast", "oil pump stop", "the red sea", "rope rope deck", "nothing known"]


def document(id, text):
    return pincite.Document(id=id, text=text)


def opened(path, **options):
    return pincite.open(path, create=True, encoder=StubEncoder(), reranker=StubReranker(), **options)


def answers(kb):
    """Everything of a search that must not depend on the history."""
    found = []
    for question in QUESTIONS:
        result = kb.search(question, max_distance=None, k=20)
        found.append(
            [(hit.document_id, hit.start, hit.end, hit.content, hit.lines, dict(hit.ranks), hit.bm25, hit.distance,
              hit.fused, hit.rerank_logit) for hit in result]
        )  # fmt: skip
    return found


@settings(max_examples=25)
@given(
    history=st.lists(
        st.dictionaries(st.sampled_from("abcdefgh"), TEXT, min_size=1, max_size=4), min_size=1, max_size=7
    ),
    batch=st.sampled_from([1, 3, 1000]),
)
def test_any_history_answers_like_a_fresh_build(tmp_path_factory, history, batch):
    folder = tmp_path_factory.mktemp("history")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ingest, "BATCH_CHUNKS", batch)
        patch.setattr(merging, "SMALLEST_TIER", 4)
        patch.setattr(merging, "FANOUT", 3)
        patch.setattr(sweeping, "GRACE_S", 0.0)
        with opened(folder / "kb", config=pincite.IndexConfig(target=40)) as kb:
            state = {}
            for step in history:
                kb.add([document(id, text) for id, text in step.items()], progress=False)
                state |= step
            grown = answers(kb)
            assert kb.ledger().balanced
    with opened(folder / "fresh", config=pincite.IndexConfig(target=40)) as fresh:
        fresh.add([document(id, text) for id, text in state.items()], progress=False)
        assert answers(fresh) == grown


def test_merges_bound_the_number_of_segments(tmp_path, monkeypatch):
    monkeypatch.setattr(merging, "SMALLEST_TIER", 4)
    with opened(tmp_path / "kb") as kb:
        for number in range(40):
            kb.add(document(f"d{number:02}", f"# Note {number}\n\nship {number}"), progress=False)
        assert kb.generation == 40
        assert kb.status().segments <= 3 * 4  # fewer than FANOUT a tier, and 40 chunks make 3 tiers
        assert kb.status().documents == 40


def test_what_is_unchanged_is_neither_embedded_nor_committed(tmp_path):
    encoder = StubEncoder()
    with pincite.open(tmp_path / "kb", create=True, encoder=encoder) as kb:
        documents = [document(id, f"# {id}\n\nship") for id in "abc"]
        kb.add(documents, progress=False)
        before = (encoder.n_encoded, kb.generation)
        report = kb.add(documents, progress=False)
        assert report.count("unchanged") == 3
        assert (encoder.n_encoded, kb.generation) == before
        report = kb.add([documents[0], document("b", "# b\n\nsail")], progress=False)
        assert [(outcome.id, outcome.state) for outcome in report.documents] == [("a", "unchanged"), ("b", "updated")]


def test_the_next_writer_sweeps_what_nobody_lists(tmp_path, monkeypatch):
    monkeypatch.setattr(sweeping, "GRACE_S", 0.0)
    with opened(tmp_path / "kb") as kb:
        kb.add(document("a", "ship"), progress=False)
        segments = tmp_path / "kb" / "segments"
        orphans = {f"{UNFINISHED}{'1' * 32}", "2" * 32}
        for name in orphans:
            (segments / name).mkdir()
            (segments / name / "texts.pin").write_bytes(b"half")
        (segments / "notes of somebody").mkdir()
        kb.add(document("a", "sail"), progress=False)
        kb.add(document("b", "mast"), progress=False)
        names = {folder.name for folder in segments.iterdir()}
        assert not names & orphans
        assert "notes of somebody" in names
        kb.add(document("b", "mast"), progress=False)
        assert kb.search("sail mast", max_distance=None).hits


def test_a_reader_keeps_its_generation_while_others_write(tmp_path, monkeypatch):
    monkeypatch.setattr(sweeping, "GRACE_S", 0.0)
    with opened(tmp_path / "kb") as kb, opened(tmp_path / "kb") as other:
        kb.add(document("a", "# A\n\nship"), progress=False)
        held = other.search("ship", max_distance=None)
        for text in ("sail", "mast", "pump"):
            kb.add(document("a", f"# A\n\n{text}"), progress=False)
        assert "ship" in held.hits[0].content
        citation = other.citations(held)[0]
        assert citation.quote == held.hits[0].content
        assert "pump" in other.search("pump", max_distance=None).hits[0].content
        assert other.generation == kb.generation == 4


def test_a_second_writer_is_refused_at_once_by_name(tmp_path):
    """K03, within one process; across processes in tests/faults."""
    with opened(tmp_path / "kb") as kb, opened(tmp_path / "kb") as other:
        with kb._folder.writer(), pytest.raises(IndexLockedError, match=str(os.getpid())):
            other.add(document("a", "ship"), progress=False)
        other.add(document("a", "ship"), progress=False)


def test_a_commit_that_fails_leaves_the_index_as_it_was(tmp_path, monkeypatch):
    with opened(tmp_path / "kb") as kb:
        kb.add(document("a", "ship"), progress=False)
        before = (answers(kb), kb.generation)

        def full(*arguments, **options):
            raise OSError(28, "No space left on device")

        for place in ("pincite.store.segment.TextTable.write", "pincite.store.segment.sync_folder"):
            with monkeypatch.context() as patch:
                patch.setattr(place, full)
                with pytest.raises(StorageError, match="No space left"):
                    kb.add(document("a", "sail"), progress=False)
            assert (answers(kb), kb.generation) == before
            assert [folder for folder in (tmp_path / "kb" / "segments").iterdir() if "unfinished" in folder.name] == []
        kb.add(document("a", "sail"), progress=False)
        assert "sail" in kb.search("sail", max_distance=None).hits[0].content


def test_a_segment_whose_files_do_not_belong_together_is_refused(tmp_path):
    with opened(tmp_path / "kb") as kb:
        kb.add([document("a", "ship"), document("b", "# B\n\nsail")], progress=False)
    with opened(tmp_path / "other") as kb:
        kb.add(document("a", "mast"), progress=False)
    (mine,) = (tmp_path / "kb" / "segments").iterdir()
    (other,) = (tmp_path / "other" / "segments").iterdir()
    kept_bm25 = (mine / "bm25.pin").read_bytes()
    for name in ("bm25.pin", "vectors.pin", "spans.pin", "texts.pin"):
        kept = (mine / name).read_bytes()
        (mine / name).write_bytes((other / name).read_bytes())
        with pytest.raises(IndexCorruptError, match=r"belong together|written with this segment"):
            pincite.open(tmp_path / "kb")
        (mine / name).write_bytes(kept)
    shutil.copy(other / "bm25.pin", mine / "bm25.pin")
    belong_together(mine)  # says so, and has other numbers of chunks
    with pytest.raises(IndexCorruptError, match=r"bm25\.pin': 1"):
        pincite.open(tmp_path / "kb")
    (mine / "bm25.pin").write_bytes(kept_bm25)
    belong_together(mine)
    pincite.open(tmp_path / "kb").close()


def test_dead_rows_go_when_their_segment_goes(tmp_path, monkeypatch):
    monkeypatch.setattr(sweeping, "GRACE_S", 0.0)
    with opened(tmp_path / "kb") as kb:
        for number in range(6):
            kb.add(document("a", f"ship {number}"), progress=False)
            time.sleep(0.01)
        kb.add(document("b", "sail"), progress=False)
        assert len(kb._folder.documents.dead_rows()) <= 2
        assert len(list((tmp_path / "kb" / "segments").iterdir())) <= 3


def test_vectors_are_those_of_the_embedded_texts(tmp_path):
    encoder = StubEncoder()
    with pincite.open(tmp_path / "kb", create=True, encoder=encoder) as kb:
        kb.add([document(id, f"# {id}\n\nship {id} sail\n\n## More\n\nmast") for id in "abc"], progress=False)
        for segment in kb._folder.snapshot().segments:
            texts = [segment.embedded_text(row) for row in range(len(segment))]
            assert np.array_equal(segment.vectors.vectors, encoder.encode_batch(texts).vectors)


def test_the_settings_of_an_index_are_kept(tmp_path):
    config = pincite.IndexConfig(strategy="E", target=300, stemmer=None)
    opened(tmp_path / "kb", config=config).close()
    with pincite.open(tmp_path / "kb") as kb:
        assert kb.config == config
    with pytest.raises(InvalidInputError, match="target=300"):
        opened(tmp_path / "kb", config=pincite.IndexConfig())
