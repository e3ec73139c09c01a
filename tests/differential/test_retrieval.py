"""A search of the store, over segments and after updates, against its pure-Python twin."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st

import pincite
from pincite.retrieve.decide import code_like_words
from pincite.store import ingest
from reference import retrieval
from reference.bm25 import BM25
from reference.text import tokenize
from stub_models import Encoded, Scored, StubEncoder

WORDS = ["ship", "ships", "sail", "mast", "the", "red", "E4711", "read_file", "10.2.1", "4711-23"]
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
DOCUMENTS = st.lists(SENTENCES, min_size=1, max_size=6).map(lambda said: f"# {said[0]}\n\n" + "\n\n".join(said))
STEMMER = Stemmer.Stemmer("english")


class FixedVectors(StubEncoder):
    """A vector by the hash of the whole text.

    Exact ones have four components of one half: their cosines are multiples of a quarter, with no rounding in any
    arithmetic, and most of them tie. The others are normal, and do not tie unless the texts are equal.
    """

    def __init__(self, *, exact: bool) -> None:
        super().__init__(dim=8, model="exact" if exact else "normal")
        self._exact = exact

    def encode_batch(self, texts, *, progress=None) -> Encoded:
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            random = np.random.default_rng(list(hashlib.sha256(text.encode()).digest()))
            if self._exact:
                row[random.permutation(self.dim)[:4]] = random.choice([-0.5, 0.5], 4)
            else:
                row[:] = random.standard_normal(self.dim)
                row /= np.linalg.norm(row)
        none = np.zeros(len(texts), dtype=np.int64)
        return Encoded(vectors, none, none)


class FixedLogits:
    """A logit by the hash of the passage; some tie."""

    stamp = {"model": "fixed"}  # noqa: RUF012

    def score_batch(self, query, passages) -> Scored:
        logits = [hashlib.sha256(passage.encode()).digest()[0] % 50 - 25 for passage in passages]
        return Scored(np.array(logits, dtype=np.float32), np.zeros(len(passages), dtype=np.int64))


class Twin:
    """The documents as they are at last, in one piece."""

    def __init__(self, documents, config, encoder):
        self.config, self.encoder = config, encoder
        cut = [
            (id, chunk)
            for id, text in documents.items()
            for chunk in pincite.chunk(text, title=id, target=config.target)
        ]
        vectors = encoder.encode_batch([chunk.embedded_text for _, chunk in cut]).vectors.tolist()
        self.chunks = [
            retrieval.Chunk(id, chunk.start, chunk.content, chunk.embedded_text, vector)
            for (id, chunk), vector in zip(cut, vectors, strict=True)
        ]
        self.bm25 = BM25([[self.terms(chunk.embedded_text)] for _, chunk in cut])

    def terms(self, text):
        found = [term for term, *_ in tokenize(text, analyzer=self.config.analyzer)]
        return STEMMER.stemWords(found) if self.config.stemmer else found

    def words(self, text):
        written = {}
        for term, start, end, *_ in tokenize(text, analyzer=self.config.analyzer):
            written.setdefault(term, text[start:end])
        return {word: self.terms(word)[0] for word in written.values()}

    def frequency(self, word):
        phrase = tuple((term, False) for term in self.terms(word))
        return self.bm25.explain([phrase], 0)[0][1]

    def search(self, question, **options):
        clauses = [((term, False),) for term in self.terms(question)]
        ids, scores = self.bm25.search(clauses, k=len(self.chunks))
        return retrieval.search(
            self.chunks,
            question,
            self.encoder.encode_batch([question]).vectors[0].tolist(),
            by_words=dict(zip(ids, scores, strict=True)),
            frequency=self.frequency,
            words=self.words,
            rerank=lambda *given: FixedLogits().score_batch(*given).scores,
            **options,
        )


def check_hits(found, expected, nearest, *, exact):
    got = [
        (
            hit.document_id,
            hit.start,
            hit.content,
            hit.ranks,
            hit.bm25,
            hit.fused,
            hit.rerank_logit,
            hit.passed_by,
            hit.absent_words,
            hit.absent_weight,
        )
        for hit in found
    ]
    assert got == [
        (hit.chunk.document, hit.chunk.start, hit.chunk.content, hit.ranks, hit.bm25, hit.fused, hit.logit,
         hit.passed_by, hit.absent_words, hit.absent_weight)
        for hit in expected
    ]  # fmt: skip
    # The core adds up in float32, in the one order that its kernels share; the twin adds without rounding.
    apart = 0.0 if exact else 1e-6
    distances = [hit.distance for hit in found]
    assert distances == pytest.approx([hit.distance for hit in expected], abs=apart, rel=0)
    assert found.nearest_distance == pytest.approx(nearest, abs=apart, rel=0)
    assert found.refused == (not expected)


@settings(max_examples=40)
@given(
    history=st.lists(
        st.dictionaries(st.sampled_from("abcdefgh"), DOCUMENTS, min_size=1, max_size=5), min_size=1, max_size=4
    ),
    batch_chunks=st.sampled_from([1, 4, 1024]),
    questions=st.lists(SENTENCES, min_size=1, max_size=5),
    words=st.sampled_from([("unicode", "english"), ("ascii", None)]),
    exact=st.booleans(),
    data=st.data(),
)
def test_as_the_twin(tmp_path_factory, history, batch_chunks, questions, words, exact, data):
    config = pincite.IndexConfig(target=40, analyzer=words[0], stemmer=words[1])
    encoder = FixedVectors(exact=exact)
    folder = tmp_path_factory.mktemp("retrieval") / "kb"
    with (
        pytest.MonkeyPatch.context() as patch,
        pincite.open(folder, create=True, config=config, encoder=encoder, reranker=FixedLogits()) as kb,
    ):
        patch.setattr(ingest, "BATCH_CHUNKS", batch_chunks)
        documents = {}
        for step in history:
            kb.add([pincite.Document(id=id, text=text) for id, text in step.items()], progress=False)
            documents |= step
        twin = Twin(documents, config, encoder)
        for question in questions:
            options = {
                "k": data.draw(st.integers(1, 30)),
                "candidates": data.draw(st.integers(1, 40)),
                "max_distance": data.draw(st.sampled_from([None, 0.0, 0.25, 0.5, 0.75, 1.0, 1.3])),
                "max_absent": data.draw(st.sampled_from([None, 0.0, 0.2, 0.5, 0.8, 1.0])),
            }
            order = data.draw(st.sampled_from(["none", "fused", "pure"]))
            if order != "none":
                options["min_logit"] = data.draw(st.sampled_from([None, -20.0, 0.0, 10.0]))
            found = kb.search(question, rerank=order, **options)
            expected, nearest = twin.search(question, order=order, **options)
            check_hits(found, expected, nearest, exact=exact)


@pytest.mark.parametrize("order", ["none", "fused", "pure"])
@pytest.mark.parametrize("exact", [False, True])
def test_more_candidates_than_are_judged(tmp_path, monkeypatch, order, exact):
    monkeypatch.setattr(ingest, "BATCH_CHUNKS", 30)
    config, encoder = pincite.IndexConfig(), FixedVectors(exact=exact)
    documents = {f"d{i}": f"{WORDS[i % 4]} number {i}" for i in range(80)}
    given_documents = [pincite.Document(id=id, text=text) for id, text in documents.items()]
    twin = Twin(documents, config, encoder)
    with pincite.open(tmp_path, create=True, config=config, encoder=encoder, reranker=FixedLogits()) as kb:
        kb.add(given_documents, progress=False)
        assert kb.status().segments == 3
        for question in ("ships", "the mast", "number 7", "sail sail red"):
            options = {"k": 60, "candidates": 40, "max_distance": 1.25, "max_absent": 0.9}
            expected, nearest = twin.search(question, order=order, **options)
            found = kb.search(question, rerank=order, **options)
            check_hits(found, expected, nearest, exact=exact)
            assert found.plan.reranked == (0 if order == "none" else 25)


@given(st.text("aZé_09٣½./:-(), ", max_size=12))
def test_code_like_words_as_the_twin(question):
    words = dict.fromkeys(word.strip(retrieval.EDGES) for word in question.split())
    assert code_like_words(question) == [word for word in words if retrieval.is_code_like(word)]
