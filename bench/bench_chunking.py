"""Chunking against its pure-Python twin, spans only on both sides: no texts are made."""

from __future__ import annotations

import os
from pathlib import Path

from harness import Row, compare, print_table
from pincite.core.chunking import chunk_spans
from reference.chunking import chunk_spans as reference_spans

TARGET, OVERLAP = 512, 64


def documents() -> tuple[str, list[str]]:
    """Return a name and the texts: the 13 course documents where they are, else generated ones."""
    shared = Path(os.environ.get("PINCITE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    files = sorted((shared / "data" / "mdcourse").glob("*.md"))
    if files:
        return f"{len(files)} course files", [path.read_bytes().decode("utf-8") for path in files]
    sentence = "A policy maps each state to an action 🚀, and it can be learnt. "
    section = "\n\n".join(sentence * (1 + i % 11) for i in range(40))
    return "generated", ["".join(f"## Section {i}\n\n{section}\n" for i in range(8))] * 8


def equal(text: str, strategy: str) -> bool:
    spans, titles = chunk_spans(text, strategy=strategy, target=TARGET, overlap=OVERLAP)
    wanted, wanted_titles = reference_spans(text, strategy=strategy, target=TARGET, overlap=OVERLAP)
    same_titles = [text[start:end] for start, end in titles.tolist()] == wanted_titles
    return same_titles and spans.tolist() == [list(span) for span in wanted]


def rows() -> list[Row]:
    name, texts = documents()
    size = sum(len(text.encode()) for text in texts)
    out = []
    for strategy in "ABEF":  # C is E, and D is F, where no texts are made
        same = all(equal(text, strategy) for text in texts)

        def work(spans, strategy=strategy):
            return [spans(text, strategy=strategy, target=TARGET, overlap=OVERLAP) for text in texts]

        out.append(
            compare(
                f"chunk {strategy}, spans",
                f"{name}, {size / 1e6:.2f} MB",
                lambda work=work: work(chunk_spans),
                lambda work=work: work(reference_spans),
                agreement="spans and titles equal" if same else "DIFFERS",
                inner=10,
            )
        )
    return out


if __name__ == "__main__":
    print_table(rows())
