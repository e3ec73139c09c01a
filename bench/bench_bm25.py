"""BM25 against the obvious loop over all documents: build, and the ten best of short and long queries.

The long queries are questions as people ask them: content words with function words between, the latter as
often as language has them.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable
from statistics import quantiles

import numpy as np

import pincite
from harness import Row, compare, seconds
from reference.bm25 import ascii_tokens

N_DOCS = 100_000
N_QUERIES = 200
N_FUNCTION = 100  # the most frequent words stand for those without a meaning of their own
N_COMPARED = 8  # the loop takes about a tenth of a second a query


class Loop:
    """BM25 in pure Python: a Counter a document, and every document scored."""

    def __init__(self, texts: list[str], terms: Callable[[str], list[str]] = ascii_tokens) -> None:
        self.terms = terms
        self.counts = [Counter(terms(text)) for text in texts]
        self.lengths = [sum(count.values()) for count in self.counts]
        df = Counter(word for count in self.counts for word in count)
        n = len(texts)
        self.idf = {word: math.log(1 + (n - d + 0.5) / (d + 0.5)) for word, d in df.items()}

    def scored(self, query: str) -> list[tuple[float, int]]:
        """Return all documents as (score, -id)."""
        words = [(word, self.idf[word]) for word in self.terms(query) if word in self.idf]
        mean = sum(self.lengths) / len(self.lengths)
        scored = []
        for i, (counts, length) in enumerate(zip(self.counts, self.lengths, strict=True)):
            norm = 1.2 * (1 - 0.75 + 0.75 * length / mean)
            score = 0.0
            for word, idf in words:
                tf = counts.get(word, 0)
                if tf:
                    score += idf * tf * 2.2 / (tf + norm)
            scored.append((score, -i))
        return scored

    def search(self, query: str) -> list[tuple[float, int]]:
        """Return the ten best as (score, -id)."""
        return heapq.nlargest(10, self.scored(query))


def passages(random: np.random.Generator, n: int) -> list[str]:
    """About 90 words each, a third of them from one of 2,000 topics, word frequencies after Zipf."""
    words = np.array([f"w{i}" for i in range(300_000)])
    zipf = 1.0 / (np.arange(len(words)) + 2.7)
    cumulative = np.cumsum(zipf / zipf.sum())
    topics = random.integers(100, len(words), (2000, 60))
    out = []
    for length in np.clip(random.lognormal(math.log(87), 0.3, n), 25, 220).astype(int):
        ranks = np.minimum(np.searchsorted(cumulative, random.random(length)), len(words) - 1)
        on_topic = random.random(length) < 0.33
        topic = topics[random.integers(len(topics))]
        ranks[on_topic] = topic[(len(topic) * random.random(on_topic.sum()) ** 2).astype(int)]
        out.append(" ".join(words[ranks]))
    return out


def queries_like(texts: list[str], random: np.random.Generator, *, question: bool) -> list[str]:
    """Words of one held-out passage each: 2 to 8 content words, or a question around 4 to 8 of them.

    A question opens with three function words ("what is the") and has none to two ("in the", "for") before
    each later content word: 7 to 25 words. They are drawn from the 100 most frequent words as these occur in
    the passages, so the most frequent ones come often, and more than once.
    """
    weights = 1.0 / (np.arange(N_FUNCTION) + 2.7)

    def function_words(count: int) -> list[str]:
        return [f"w{i}" for i in random.choice(N_FUNCTION, count, p=weights / weights.sum())]

    out = []
    for text in texts:
        content = list(dict.fromkeys(word for word in text.split() if int(word[1:]) >= N_FUNCTION))
        picked = random.permutation(content)[: random.integers(4 if question else 2, 9)].tolist()
        words = function_words(3) if question else []
        for word in picked:
            words += [*(function_words(random.integers(0, 3)) if question and word != picked[0] else []), word]
        out.append(" ".join(words))
    return out


def agrees(loop: Loop, index: pincite.BM25Index, query: str) -> bool:
    ids, scores = index.search(query)
    expected = [(score, -number) for score, number in loop.search(query) if score > 0]
    same = np.allclose(scores, [score for score, _ in expected], rtol=1e-12, atol=0)
    return same and ids.tolist() == [i for _, i in expected]


def rows() -> list[Row]:
    random = np.random.default_rng(3)
    texts = passages(random, N_DOCS)
    held_out = passages(random, N_QUERIES)
    index = pincite.BM25Index.build(texts, analyzer="ascii")
    loop = Loop(texts)
    out = [
        compare(
            "bm25 build",
            f"{N_DOCS:,} passages",
            lambda: pincite.BM25Index.build(texts, analyzer="ascii"),
            lambda: Loop(texts),
            agreement="same terms" if index.n_terms == len(loop.idf) else "DIFFERS",
            repeats=1,
        )
    ]
    for kind in ("short", "long"):
        queries = queries_like(held_out, random, question=kind == "long")
        words = sum(len(query.split()) for query in queries) / len(queries)
        times = [seconds(lambda q=q: index.search(q)) for q in queries * 3]
        median, p95 = (quantiles(times, n=20)[at] * 1e6 for at in (9, 18))
        compared = queries[:N_COMPARED]
        same = sum(agrees(loop, index, query) for query in compared)
        out.append(
            compare(
                f"bm25 {kind} query (one: median {median:.0f} us, p95 {p95:.0f} us)",
                f"{N_DOCS:,} passages, {N_COMPARED} queries of {words:.0f} words",
                lambda compared=compared: [index.search(query) for query in compared],
                lambda compared=compared: [loop.search(query) for query in compared],
                agreement=f"top 10 equal in {same} of {N_COMPARED}",
                repeats=3,
                inner=10,
            )
        )
    return out


if __name__ == "__main__":
    from harness import print_table

    print_table(rows())
