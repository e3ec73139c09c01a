"""Snowball stems, once a word.

The core reads texts and never stems. It hands its distinct words out, this module stems them in one call, and
the index keeps the result; a word of a query that the index has not seen is stemmed here once and remembered.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Sequence
from typing import Any

from pincite.errors import InvalidInputError

__all__ = ["WordStemmer"]

_REMEMBERED = 65_536
_all: weakref.WeakSet[WordStemmer] = weakref.WeakSet()


class WordStemmer:
    """A Snowball stemmer that threads may share.

    Parameters
    ----------
    language : str
        A Snowball algorithm, such as ``"english"``.

    Raises
    ------
    InvalidInputError
        If Snowball has no such algorithm; the message lists those it has.
    """

    def __init__(self, language: str) -> None:
        import Stemmer  # costs milliseconds, and most indexes have no stemmer

        languages = Stemmer.algorithms()
        if language not in languages:
            raise InvalidInputError(f"stemmer is {language!r}, wanted one of: {', '.join(sorted(languages))}")
        self._language = language
        self._known: dict[str, str] = {}
        self._begin()
        _all.add(self)

    def _begin(self) -> None:
        import Stemmer

        self._stemmer: Any = Stemmer.Stemmer(self._language, 0)
        self._lock = threading.Lock()  # a Snowball stemmer has state

    def stem(self, words: Sequence[str]) -> list[str]:
        """Return the stem of each word, without remembering it."""
        with self._lock:
            return list(self._stemmer.stemWords(words))

    def stems(self, words: Sequence[str]) -> dict[str, str]:
        """Return a mapping of the words to their stems; each new word is stemmed once."""
        with self._lock:
            out = {word: self._known[word] for word in words if word in self._known}
        missing = [word for word in dict.fromkeys(words) if word not in out]
        found = dict(zip(missing, self.stem(missing), strict=True)) if missing else {}
        with self._lock:
            if len(self._known) + len(found) > _REMEMBERED:
                self._known.clear()
            self._known.update(found)
        return out | found


def _begin_again() -> None:
    """In a forked child: another thread of the parent may have been stemming, and is not here to let go of the lock."""
    for stemmer in list(_all):
        stemmer._begin()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_again)
