"""BM25 and BM25F, one document after the other.

Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009; fields as in
Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", CIKM 2004; the idf
with 1 + is Lucene's. Phrases and prefixes are scored like terms. A document is one list of tokens a field.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence

Document = Sequence[Sequence[str]]
Clause = tuple[tuple[str, bool], ...]  # (word, is a prefix); several words are a phrase


def ascii_tokens(text: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Za-z0-9]+", text)]


def parse(query: str, *, operators: bool) -> list[Clause]:
    if not operators:
        return [((word, False),) for word in ascii_tokens(query)]
    parts = query.split('"')
    if len(parts) % 2 == 0:  # a quote without a partner is a mark like any other
        parts[-2:] = [" ".join(parts[-2:])]
    clauses: list[Clause] = []
    for number, part in enumerate(parts):
        if number % 2:
            words = tuple((word, False) for word in ascii_tokens(part))
            clauses += [words] if words else []
            continue
        pieces = part.split("*")
        for place, piece in enumerate(pieces):
            words_here = ascii_tokens(piece)
            star = place < len(pieces) - 1 and re.search(r"[A-Za-z0-9]\Z", piece) is not None
            for i, word in enumerate(words_here):
                clauses.append(((word, star and i == len(words_here) - 1),))
    return clauses


def label(clause: Clause) -> str:
    words = [word + "*" * prefix for word, prefix in clause]
    return words[0] if len(words) == 1 else '"' + " ".join(words) + '"'


def places(clause: Clause, tokens: Sequence[str]) -> list[int]:
    """Where the clause stands in a field; its length is the clause's tf."""
    return [
        at
        for at in range(len(tokens) - len(clause) + 1)
        if all(
            tokens[at + i].startswith(word) if prefix else tokens[at + i] == word
            for i, (word, prefix) in enumerate(clause)
        )
    ]


class BM25:
    def __init__(
        self,
        documents: Sequence[Document],
        *,
        boosts: Sequence[float] = (1.0,),
        k1: float = 1.2,
        b: float = 0.75,
        visible: Collection[int] | None = None,
    ) -> None:
        self.documents = documents
        self.boosts = boosts
        self.k1 = k1
        self.b = b
        self.visible = sorted(range(len(documents)) if visible is None else visible)
        self.means = [
            sum(len(documents[i][f]) for i in self.visible) / len(self.visible) if self.visible else 0.0
            for f in range(len(boosts))
        ]

    def explain(self, clauses: Sequence[Clause], document: int) -> list[tuple[str, int, float, float]]:
        """(label, df, idf, contribution) of each distinct clause."""
        out = []
        for clause in dict.fromkeys(clauses):
            df = sum(any(places(clause, field) for field in self.documents[i]) for i in self.visible)
            n = len(self.visible)
            idf = math.log(1.0 + (n - df + 0.5) / (df + 0.5))
            out.append((label(clause), df, idf, clauses.count(clause) * self.term_score(clause, document, idf)))
        return out

    def term_score(self, clause: Clause, document: int, idf: float) -> float:
        tf = 0.0
        for tokens, boost, mean in zip(self.documents[document], self.boosts, self.means, strict=True):
            count = len(places(clause, tokens))
            if count:
                tf += count * (boost / (1.0 - self.b + self.b * len(tokens) / mean))
        return idf * tf * (self.k1 + 1.0) / (self.k1 + tf) if tf else 0.0

    def search(
        self, clauses: Sequence[Clause], *, k: int, allowed: Collection[int] | None = None
    ) -> tuple[list[int], list[float]]:
        scores = {}
        for i in self.visible:
            if allowed is None or i in allowed:
                score = 0.0
                for *_, contribution in self.explain(clauses, i):
                    score += contribution
                if score > 0.0:
                    scores[i] = score
        order = sorted(scores, key=lambda i: (-scores[i], i))[:k]
        return order, [scores[i] for i in order]
