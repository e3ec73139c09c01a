"""Which candidates answer at all: a threshold on the exact distance, and one stated exception to it."""

from __future__ import annotations

import math
import re

from pincite.core.arguments import number
from pincite.errors import InvalidInputError
from pincite.store.snapshot import RowKey, Snapshot

__all__ = ["RARE_CHUNKS", "checked_limits", "code_like_words", "decide"]

RARE_CHUNKS = 5
"""A word is rare where at most this many chunks of the index hold it."""

_EDGES = "\"'`“”‘’«»()[]{}<>,;:.!?"
_CODE_LIKE = re.compile(
    r"(?=.*\d)(?=.*[^\W\d]).{3,}"  # digits and letters: E1234, 0x80070057, ISO-27001
    r"|\d[\d./:-]*[./:-]\d[\d./:-]*"  # digits with marks between them: 4711-23, 10.2.1
    r"|\d{5,}"  # a long number
    r"|[^\W\d]\w*_\w+"  # a name with an underscore
)


def code_like_words(question: str) -> list[str]:
    """Return the words of a question that look like a code: an error number, an article number, an identifier.

    Examples
    --------
    >>> code_like_words("what does error E4711 from read_file() mean in 2024?")
    ['E4711', 'read_file']
    """
    words = (word.strip(_EDGES) for word in question.split())
    return list(dict.fromkeys(word for word in words if _CODE_LIKE.fullmatch(word)))


def checked_limits(
    max_distance: float | None, min_logit: float | None, max_absent: float | None, *, reranks: bool
) -> tuple[float | None, float | None, float | None]:
    """Return the limits of a search as floats.

    Raises
    ------
    InvalidInputError
        If one of them is out of its range, or logits are wanted where nothing is reranked.
    """
    if max_distance is not None and not 0.0 <= (max_distance := number(max_distance, "max_distance")) <= 2.0:
        raise InvalidInputError(f"max_distance is {max_distance}, wanted 0 to 2 (a cosine distance), or None")
    if min_logit is not None and not math.isfinite(min_logit := number(min_logit, "min_logit")):
        raise InvalidInputError(f"min_logit is {min_logit}, wanted a finite number, or None")
    if min_logit is not None and not reranks:
        raise InvalidInputError(f"min_logit is {min_logit} where nothing is reranked: only reranking gives logits")
    if max_absent is not None and not 0.0 <= (max_absent := number(max_absent, "max_absent")) <= 1.0:
        raise InvalidInputError(f"max_absent is {max_absent}, wanted 0 to 1 (a share of the weight), or None")
    return max_distance, min_logit, max_absent


def decide(
    snapshot: Snapshot, question: str, distances: dict[RowKey, float], max_distance: float | None
) -> dict[RowKey, str]:
    """Return the candidates that pass, in their order, with what let them pass.

    A candidate passes if its distance is at most `max_distance`. One that is farther passes only if it holds a word
    of the question that looks like a code, letter for letter, and that at most `RARE_CHUNKS` chunks hold: an embedding
    knows nothing of such a word, and whoever asks for it means just that.
    """
    passed: dict[RowKey, str] = {}
    rare: list[str] | None = None
    for key, distance in distances.items():
        if max_distance is None or distance <= max_distance:
            passed[key] = "distance"
            continue
        if rare is None:
            rare = [word for word in code_like_words(question) if _is_rare(snapshot, word)]
        for word in rare:
            if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", snapshot.content(key)):
                passed[key] = word
                break
    return passed


def _is_rare(snapshot: Snapshot, word: str) -> bool:
    return 0 < snapshot.bm25.document_frequency(f'"{word}"') <= RARE_CHUNKS
