"""The main job by stages, from a folder to citations that verify; the same work in plain Python beside it."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import pincite
from bench_encoder import padded_scores
from bench_import import process_seconds
from harness import Row, compare, print_table
from main_job_data import HashedEncoder, Remembering, documents, hundred_thousand, questions
from pincite.models.encoder import Encoder
from pincite.models.reranker import Reranker
from pincite.types import EncodedTexts
from plain_pipeline import NumpyEncoder, Search, index


class Timed(Remembering):
    """An encoder that adds up its own time, in seconds."""

    seconds = 0.0

    def encode_batch(self, texts, *, progress=None) -> EncodedTexts:
        """Return the vectors of texts."""
        start = time.perf_counter()
        try:
            return super().encode_batch(texts, progress=progress)
        finally:
            self.seconds += time.perf_counter() - start


def indexed(paths, encoder) -> int:
    """Build an index in a new folder and return its number of chunks."""
    with (
        tempfile.TemporaryDirectory() as folder,
        pincite.open(Path(folder, "kb"), create=True, encoder=encoder) as kb,
    ):
        return kb.add(paths, progress=False).chunks


def indexing(name: str, folder: Path, kb: pincite.KnowledgeBase, encoder: Timed) -> list[Row]:
    """The whole folder once; its two smallest documents against plain Python, with the encoder and without."""
    start = time.perf_counter()
    report = kb.add(folder, progress=False)
    whole = time.perf_counter() - start
    size = f"{report.count('added')} {name}, {report.chunks:,} chunks"
    rate = f"index: {report.chunks / whole:.0f} chunks/s"
    alone, ratio = encoder.seconds, encoder.seconds / whole
    out = [Row(rate, size, whole, "its encoder alone", alone, ratio, "a part of ours, not a rival")]
    some = sorted(folder.rglob("*.md"), key=lambda path: path.stat().st_size)[:2]
    for work, used, repeats in (("index", Encoder.load(), 1), ("index, vectors for nothing", HashedEncoder(), 3)):
        n = indexed(some, used)
        row = compare(
            work,
            f"2 files, {n} chunks",
            lambda used=used: indexed(some, used),
            lambda used=used: index(some, used),
            other_name="plain Python, texts encoded one by one, in memory",
            repeats=repeats,
            agreement="as many chunks" if n == len(index(some, used)[0]) else "DIFFERS",
        )
        out.append(row)
    return out


def encoding(encoder: Encoder, question: str) -> Row:
    by_hand = NumpyEncoder(encoder)
    apart = abs(encoder.encode([question])[0] - by_hand(question)).max()
    return compare(
        "encode a question",
        f"{encoder.count_tokens(question)} word pieces",
        lambda: encoder.encode([question]),
        lambda: by_hand(question),
        other_name="numpy, float64",
        inner=5,
        agreement=f"differ by {apart:.0e} at most",
    )


def retrieval(kb: pincite.KnowledgeBase, asked: list[str], *, max_distance: float | None, repeats: int) -> Row:
    """Of searches without models: the vectors of the questions are remembered."""
    twin = Search(kb)

    def ours(question: str) -> pincite.SearchResult:
        return kb.search(question, rerank=False, max_distance=max_distance)

    same = sum(
        [(hit.document_id, hit.start) for hit in ours(question)] == twin(question, max_distance=max_distance)
        for question in asked
    )
    times = [_seconds(lambda question=question: ours(question)) for question in asked * 20]
    status = kb.status()
    return compare(
        f"retrieve without models (median {statistics.median(times) * 1e3:.2f} ms)",
        f"{status.chunks:,} chunks in {status.segments} segments, {len(asked)} questions",
        lambda: [ours(question) for question in asked],
        lambda: [twin(question, max_distance=max_distance) for question in asked],
        repeats=repeats,
        inner=5,
        agreement=f"same hits for {same} of {len(asked)}",
    )


def _seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def reranking(kb: pincite.KnowledgeBase, question: str) -> Row:
    reranker = Reranker.load()
    texts = [hit.content for hit in kb.search(question, rerank=False, max_distance=None, k=25)]
    apart = abs(reranker.score_batch(question, texts).scores - padded_scores(reranker, texts, question)).max()
    return compare(
        "rerank",
        f"{len(texts)} passages",
        lambda: reranker.score_batch(question, texts),
        lambda: padded_scores(reranker, texts, question),
        other_name="one padded batch",
        repeats=3,
        agreement=f"differ by {apart:.0e} at most",
    )


def opening(path: Path, encoder: Remembering, question: str) -> list[Row]:
    """From nothing to an answer: in this process without models, and in a new one with them."""

    def first_answer(*, verify: bool) -> list[tuple[str, int]]:
        with pincite.open(path, encoder=encoder, verify=verify) as kb:
            hits = kb.search(question, rerank=False, max_distance=None)
            return [(hit.document_id, hit.start) for hit in hits]

    nbytes = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return [
        compare(
            "open, answer without models", f"{nbytes / 1e6:.0f} MB, in the page cache",
            lambda: first_answer(verify=True), lambda: first_answer(verify=False), repeats=9,
            other_name="without its checksums",
            agreement="same hits; a part of ours, not a rival"
            if first_answer(verify=True) == first_answer(verify=False) else "DIFFERS",
        )
    ]  # fmt: skip


def new_process(path: Path, question: str) -> Row:
    program = f"import pincite; assert pincite.open({str(path)!r}).search({question!r}, max_distance=None).hits"
    floor = "import numpy, onnxruntime, tokenizers"
    pairs = [(process_seconds(program), process_seconds(floor)) for _ in range(5)]
    return Row(
        "new process to first answer",
        "both models loaded",
        statistics.median(ours for ours, _ in pairs),
        "a process that imports the runtimes",
        statistics.median(other for _, other in pairs),
        statistics.median(other / ours for ours, other in pairs),
        "a part of ours, not a rival",
    )


def citing(kb: pincite.KnowledgeBase, asked: list[str], folder: Path) -> Row:
    cited = [citation for question in asked for citation in kb.citations(kb.search(question, rerank=False))]

    def ours() -> int:
        exact = [citation.verify().status == "exact" for citation in cited]
        resolved = [kb.resolve(citation.uri).quote == citation.quote for citation in cited]
        return sum(both == (True, True) for both in zip(exact, resolved, strict=True))

    def by_hand() -> int:
        texts = ((citation, (folder.parent / citation.document_id).read_bytes().decode()) for citation in cited)
        return sum(text[citation.start : citation.end] == citation.quote for citation, text in texts)

    return compare(
        "verify and resolve citations",
        f"{len(cited)} citations",
        ours,
        by_hand,
        other_name="read the file, compare the slice",
        inner=3,
        agreement=f"{ours()} exact and resolved, {by_hand()} equal in the files",
    )


def rows() -> list[Row]:
    asked = questions()
    out = []
    with tempfile.TemporaryDirectory() as scratch:
        name, folder = documents(Path(scratch))
        path = Path(scratch, "kb")
        encoder = Timed(Encoder.load())
        with pincite.open(path, create=True, encoder=encoder) as kb:
            out += indexing(name, folder, kb, encoder)
            out.append(encoding(Encoder.load(), asked[0]))
            out.append(retrieval(kb, asked[:8], max_distance=0.675, repeats=3))
            out.append(reranking(kb, asked[0]))
            out.append(citing(kb, asked, folder))
            out += opening(path, encoder, asked[0])
        out.append(new_process(path, asked[0]))
        print("building 100,000 chunks ...", file=sys.stderr)
        with hundred_thousand(Path(scratch, "large")) as kb:
            texts = [kb.resolve(f"d{number:04}").quote for number in (7, 350)]
            like = [" ".join(np.random.default_rng(5).permutation(text.split()[:400])[:8]) for text in texts]
            out.append(retrieval(kb, like, max_distance=None, repeats=1))
            out += opening(Path(scratch, "large"), kb.encoder(), like[0])
    return out


if __name__ == "__main__":
    print_table(rows())
