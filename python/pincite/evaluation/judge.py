"""A judge that needs no language model, and is no judge of entailment."""

from __future__ import annotations

from pincite.core.arguments import number
from pincite.core.stemming import WordStemmer
from pincite.core.text import tokenize
from pincite.types import TextReranker

__all__ = ["WordsAndReranker"]


class WordsAndReranker:
    """Says that a passage supports a claim if it has its words, all its numbers, and the reranker's assent.

    It sees no negation and no inference: "the pump stops" and "the pump never stops" are alike to it. It finds claims
    that came from nowhere, not those that twist what they had.

    Parameters
    ----------
    reranker : TextReranker
    least_share : float, default 0.6
        Of the claim's different words, by their stems, that the passage has to hold.
    least_logit : float, default 0.0
        Of the reranker, for the claim as a question: as likely as not. Neither default was measured on judged answers.
    stemmer : str, default "english"
    """

    def __init__(
        self,
        reranker: TextReranker,
        *,
        least_share: float = 0.6,
        least_logit: float = 0.0,
        stemmer: str = "english",
    ) -> None:
        self._reranker = reranker
        self._least_share = number(least_share, "least_share")
        self._least_logit = number(least_logit, "least_logit")
        self._stemmer = WordStemmer(stemmer)

    @property
    def name(self) -> str:
        """What a report says of its judge."""
        return f"words and reranker, no entailment (share of words {self._least_share:g}, logit {self._least_logit:g})"

    def __call__(self, claim: str, passage: str) -> bool:
        """Judge a claim."""
        wanted, given = self._stems(claim), self._stems(passage)
        if not wanted or any(term not in given for term in wanted if any(map(str.isdigit, term))):
            return False
        if len(wanted & given) < self._least_share * len(wanted):
            return False
        return bool(self._reranker.score_batch(claim, [passage]).scores[0] >= self._least_logit)

    def _stems(self, text: str) -> set[str]:
        return set(self._stemmer.stem([token.term for token in tokenize(text)]))
