"""An index that changes and that not everybody may see: what one more document costs, and a filtered question.

The encoder costs nothing (vectors by checksum), and nothing is reranked, so what is timed is the index. Documents have
one chunk each, which is the worst case for what is counted by document.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import pincite
from harness import Row, compare, print_table, seconds
from main_job_data import HashedEncoder, Remembering
from pincite.store import ingest

SIZES = tuple(int(n) for n in os.environ.get("PINCITE_BENCH_SIZES", "1000 10000 100000").split())
WORDS, LENGTH, GROUPS = 20_000, 40, 100
SHARES = (0.0001, 0.001, 0.01, 0.1, 0.5, 1.0)
REPEATS = 15
DELETED = 500
"""The first of the documents that are deleted."""


def text(random: np.random.Generator) -> str:
    """Return a sentence of words that are as frequent as in a language."""
    ranks = np.minimum(random.zipf(1.2, LENGTH), WORDS)
    return " ".join("w" + "".join(chr(97 + int(digit)) for digit in str(rank)) for rank in ranks) + ".\n"


def documents(n: int) -> list[pincite.Document]:
    """Return documents; `rank` is in 0 to 1 without a pattern."""
    random = np.random.default_rng(n)
    ranks = random.permutation(n) / n
    return [pincite.Document(f"d{i:06}", text(random), metadata={"rank": float(ranks[i])}) for i in range(n)]


def built(folder: Path, n: int) -> pincite.KnowledgeBase:
    """Return an index of n chunks, of which 1 % are in each group."""
    kb = pincite.open(folder / str(n), create=True, encoder=Remembering(HashedEncoder()))
    ingest.BATCH_CHUNKS, before = 20_000, ingest.BATCH_CHUNKS
    try:
        kb.add(documents(n), progress=False)
    finally:
        ingest.BATCH_CHUNKS = before
    return kb


def changes(kb: pincite.KnowledgeBase, n: int) -> tuple[float, float, float]:
    """Return the seconds of adding one document, replacing one, and deleting one: medians, and the worst of all."""
    random = np.random.default_rng(1)
    taken: dict[str, list[float]] = {"add": [], "update": [], "delete": []}
    for i in range(REPEATS):
        work: dict[str, Callable[[], object]] = {
            "add": lambda i=i: kb.add(pincite.Document(f"new{i}", text(random)), progress=False),
            "update": lambda i=i: kb.update(pincite.Document(f"d{i:06}", text(random)), progress=False),
            "delete": lambda i=i: kb.delete(f"d{DELETED + i:06}"),
        }
        for name, once in work.items():
            taken[name].append(seconds(once))
    return tuple(statistics.median(each) for each in taken.values())  # type: ignore[return-value]


def questions_of(kb: pincite.KnowledgeBase, n: int) -> list[Row]:
    """Return what conditions and groups cost a question, each beside the same question without."""
    question = "wb wcd wefg whi"
    plain = {"max_distance": None, "rerank": False}

    def ask(**options: object) -> Callable[[], object]:
        return lambda: kb.search(question, **plain, **options)

    out = []
    size = f"{n:,} chunks"
    for share in SHARES:
        if n * share < 1:
            continue
        where = f"rank < {share}"
        found = kb.search(question, where=where, k=100, **plain)
        expected = min(100, kb.view().select(found.plan.where).chunks)
        agreement = "k is filled" if len(found) == expected else "k IS NOT FILLED"
        row = compare(
            f"where {share:.2%} fulfil it",
            size,
            ask(where=where),
            ask(),
            other_name="the same without a condition",
            agreement=agreement,
            repeats=REPEATS,
            inner=3,
            other_inner=3,
        )
        out.append(row)
    unrestricted = statistics.median(seconds(ask()) for _ in range(REPEATS))
    ids = [f"d{i:06}" for i in range(n) if not DELETED <= i < DELETED + REPEATS]
    for group in range(GROUPS):
        kb.grant(ids[group::GROUPS], [f"g{group}"])
    for name, groups in (("1 %", ["g7"]), ("all", [f"g{i}" for i in range(GROUPS)])):
        first = seconds(ask(groups=groups))
        again = statistics.median(seconds(ask(groups=groups)) for _ in range(REPEATS))
        seen = kb.search(question, groups=groups, **plain).coverage.chunks
        said = f"{seen:,} chunks seen; statistics are theirs"
        out.append(
            Row(f"as groups that see {name}", size, again, "without groups", unrestricted, unrestricted / again, said)
        )
        out.append(Row(f"the first time after a grant ({name})", size, first, "again", again, again / first, said))
        leaking = ask(groups=groups, statistics="global")
        row = compare(
            f"as groups that see {name}, their statistics",
            size,
            ask(groups=groups),
            leaking,
            other_name="statistics of everything, which leak",
            agreement="as many hits" if len(kb.search(question, groups=groups, **plain)) else "NONE",
            repeats=REPEATS,
            inner=3,
            other_inner=3,
        )
        out.append(row)
    return out


def rows() -> list[Row]:
    """Return the rows of the table."""
    out: list[Row] = []
    smallest: tuple[float, ...] = ()
    with tempfile.TemporaryDirectory() as temporary:
        for n in SIZES:
            with built(Path(temporary), n) as kb:
                found = changes(kb, n)
                said = "as many documents as before" if kb.status().documents == n else "DIFFERS"
                smallest = smallest or found
                for name, mine, base in zip(("add one", "replace one", "delete one"), found, smallest, strict=True):
                    out.append(Row(name, f"{n:,} chunks", mine, f"at {SIZES[0]:,} chunks", base, base / mine, said))
                out += questions_of(kb, n)
    return out


if __name__ == "__main__":
    print_table(rows())
