"""What an index takes of a machine over a long time: it must come to an end."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pincite
from small_index import WORDS, document, opened
from soaks.crashes import in_a_child
from soaks.footprint import Footprint, growth, mapped_folders
from soaks.outcome import Outcome, folder_in_memory

SAMPLES = 10
MOST_RESIDENT_MIB = 1536
MOST_GROWTH_MIB = 1.0
"""A thousand documents, after the first thousand; a thousand questions, five hundred commits, or a hundred openings."""


def written_corpus(folder: Path, documents: int) -> Path:
    """Write text files of about 850 characters, of 20,000 words as long and as uneven as those of a language."""
    rng = random.Random(6)
    syllables = ["".join(pair) for pair in itertools.product("bdfgklmnprstv", "aeiou")]
    words = sorted({"".join(rng.choices(syllables, k=rng.choice((1, 1, 2, 2, 3, 4)))) for _ in range(30_000)})[:20_000]
    rng.shuffle(words)
    ranks = list(itertools.accumulate(1 / (rank + 2) for rank in range(len(words))))
    for number in range(documents):
        sentences = (" ".join(rng.choices(words, cum_weights=ranks, k=rng.randint(6, 18))) for _ in range(14))
        place = folder / f"{number // 500:03}" / f"{number:06}.txt"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(". ".join(sentences)[:850] + ".\n", encoding="utf-8")
    return folder


def ingest(folder: Path, documents: int, **models: object) -> list[Footprint]:
    """Add a corpus in one call, with both models at work before; return what was taken at each tenth."""
    corpus = written_corpus(folder / "corpus", documents)
    step, samples, seen = documents // SAMPLES, list[Footprint](), dict[str, None]()

    def look(done: float, total: float, id: str) -> None:
        if id not in seen:
            seen[id] = None
            if len(seen) % step == 0:
                samples.append(_told(f"{len(seen):,} documents", Footprint.now()))

    with pincite.open(folder / "kb", create=True, **models) as kb:
        kb.add(document(1), progress=False)
        assert kb.search("ship mast", max_distance=None).hits[0].rerank_logit is not None
        report = kb.add(corpus, progress=look)
        assert report.count("added") == documents, report.failed[:3]
        kb.search("ship mast", max_distance=None)
        _told(f"{report.chunks:,} chunks, and a question", Footprint.now())
    return samples


def ask(folder: Path, questions: int) -> Iterator[Footprint]:
    """Put questions to one handle; yield what is taken after each tenth."""
    rng = random.Random(6)
    with opened(folder / "kb") as kb:
        kb.add([document(number) for number in range(40)], progress=False)
        for _ in range(SAMPLES):
            for _ in range(questions // SAMPLES):
                kb.context(" ".join(rng.choices(WORDS, k=4)), max_distance=None)
            yield Footprint.now()


def open_and_close(folder: Path, rounds: int) -> Iterator[Footprint]:
    """Open an index, ask it and close it again; yield what is taken after each tenth."""
    with opened(folder / "kb") as kb:
        kb.add([document(number) for number in range(40)], progress=False)
    for _ in range(SAMPLES):
        for _ in range(rounds // SAMPLES):
            with opened(folder / "kb") as kb:
                kb.search("ship mast", max_distance=None)
        assert not (left := mapped_folders(folder / "kb" / "segments")), left
        yield Footprint.now()


def commit(folder: Path, commits: int) -> Iterator[Footprint]:
    """Change documents through one handle, which then maps its last generation alone; yield at each tenth."""
    with opened(folder / "kb") as kb:
        for number in range(commits):
            kb.add(document(number % 40, version=number), progress=False)
            if (number + 1) % (commits // SAMPLES) == 0:
                footprint = Footprint.now()
                mapped = mapped_folders(folder / "kb" / "segments")
                assert mapped == {segment.id for segment in kb.view().segments}, mapped
                yield footprint


LONG: dict[str, tuple[Callable[[Path, int], Iterator[Footprint]], int, int]] = {
    "questions": (ask, 10_000, 1_000),
    "openings": (open_and_close, 200, 100),
    "commits": (commit, 1_000, 500),
}
"""What is done, how often, and how often it may be done for a growth of MOST_GROWTH_MIB."""


def watch(documents: int) -> Outcome:
    """Do all of it, each in a process of its own: an ingestion with the real models, the rest with stubs."""
    outcome = Outcome()

    def ingested() -> None:
        with folder_in_memory() as folder:
            samples = ingest(folder, documents)
        _require_flat(samples, step=documents // SAMPLES, per=1_000)
        if (peak := Footprint.now().peak) > MOST_RESIDENT_MIB:
            raise AssertionError(f"{peak:.0f} MiB were resident, at most {MOST_RESIDENT_MIB} were wanted")

    def done(name: str) -> None:
        act, count, per = LONG[name]
        with folder_in_memory() as folder:
            samples = [
                _told(f"{number * count // SAMPLES:,} {name}", footprint)
                for number, footprint in enumerate(act(folder, count), start=1)
            ]
        _require_flat(samples, step=count // SAMPLES, per=per)
        if len({(each.descriptors, each.threads) for each in samples}) > 1:
            raise AssertionError("the descriptors or threads were not always as many")

    works = {name: (lambda name=name: done(name)) for name in LONG} | {"documents": ingested}
    for name, work in works.items():
        code, said = in_a_child(work)
        outcome.counts[name] += documents if name == "documents" else LONG[name][1]
        if code:
            outcome.findings.append(f"{name}: {said or code}")
    return outcome


def _told(what: str, footprint: Footprint) -> Footprint:
    print(f"{what:>30}: {footprint}", flush=True)
    return footprint


def _require_flat(samples: list[Footprint], *, step: int, per: int) -> None:
    grown = growth([sample.own for sample in samples], step=step, per=per)
    print(f"{f'a {per:,} more':>30}: {grown:+7.2f} MiB of its own", flush=True)
    if grown > MOST_GROWTH_MIB:
        raise AssertionError(f"{per:,} took {grown:.2f} MiB more, at most {MOST_GROWTH_MIB} were wanted")
