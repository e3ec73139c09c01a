"""Whether what an index was made with still makes the same of the same: encoder and analyzer.

Names and hashes are compared, and what came out of known texts is kept and made again: another model, tokenizer, word
table or stemmer under the same name is noticed by it. What made single documents (extractor, chunker) is stamped on
them; those that another version made are not wrong, but stale.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pincite.config import IndexConfig
from pincite.core.arguments import integer
from pincite.core.bm25 import BM25Index
from pincite.core.chunking import chunk
from pincite.core.stemming import WordStemmer
from pincite.core.text import tokenize
from pincite.errors import IncompatibleIndexError, InvalidInputError
from pincite.store.encoding import encoded
from pincite.store.records import VersionRecord
from pincite.types import TextEncoder

__all__ = ["analyzer_probes", "check_analyzer", "check_config", "check_encoder", "encoder_probes", "stamp_of"]

PROBES = ("Where is the answer written?", "[Guide > Set-up]\nInstall it, then run `tool --check` in 2 steps: α, β.")
"""Texts whose vectors are kept."""

WORDS = (
    "Running runners ran; easily, Straße CAFÉ naïve ﬁle №5 x² 3.5 don't e-mail snake_case Ünïcode 東京都へ行く "
    "สวัสดีชาวโลก 한국어 поезда и электростанции İstanbul ΣΊΣΥΦΟΣ generalization"
)
"""A text whose terms are kept: a case of each rule by which the analyzers cut and fold."""

PROBE_TOLERANCE = 1e-3
"""How far the components of equal texts may be apart: other processors and batches give 1e-6, other weights 1e-2."""


def check_config(config: IndexConfig) -> None:
    """Refuse settings that no index can be built by, before anything is written.

    Raises
    ------
    InvalidInputError
        If one of them is unknown, or out of its range.
    """
    chunk("x", strategy=config.strategy, target=config.target, overlap=config.overlap)
    BM25Index.build([], analyzer=config.analyzer, stemmer=config.stemmer)
    if config.graph_from is not None:
        integer(config.graph_from, "graph_from", at_least=1)


def analyzer_probes(config: IndexConfig) -> dict[str, Any]:
    """Return what the analyzer and the stemmer make of a known text."""
    terms = [token.term for token in tokenize(WORDS, analyzer=config.analyzer)]
    return {"terms": terms if config.stemmer is None else WordStemmer(config.stemmer).stem(terms)}


def check_analyzer(version: VersionRecord, path: Path) -> None:
    """Refuse an index whose words were cut otherwise than they are now.

    Raises
    ------
    IncompatibleIndexError
        If the same text gives other terms.
    """
    now, then = analyzer_probes(version.config)["terms"], version.probes["terms"]
    if now == then:
        return
    pairs = [(old, new) for old, new in zip(then, now, strict=False) if old != new] or [(len(then), len(now))]
    raise IncompatibleIndexError(
        f"{path} was indexed by another version of the analyzer {version.config.analyzer!r} with the stemmer "
        f"{version.config.stemmer!r}: the index has {pairs[0][0]!r} where this one gives {pairs[0][1]!r}; make a new "
        "version of it with `rebuild`, and `swap`"
    )


def stamp_of(encoder: TextEncoder) -> dict[str, Any]:
    """Return an encoder's stamp, as the catalog keeps it.

    Raises
    ------
    InvalidInputError
        If it does not come out of a file as it went in: the encoder would fit no index any more.
    """
    try:
        stamp = dict(encoder.stamp)
        same = json.loads(json.dumps(stamp, allow_nan=False)) == stamp
    except (TypeError, ValueError, RecursionError):
        same = False
    if not same:
        raise InvalidInputError(f"the encoder's stamp is {encoder.stamp!r}, wanted a dict that JSON can hold as it is")
    return stamp


def encoder_probes(encoder: TextEncoder) -> dict[str, Any]:
    """Return the vectors of known texts."""
    return {"vectors": _of_probes(encoder).tolist()}


def check_encoder(stamp: Mapping[str, Any], probes: Mapping[str, Any], encoder: TextEncoder, path: Path) -> None:
    """Refuse an encoder whose vectors are not comparable with those of an index.

    Raises
    ------
    IncompatibleIndexError
        If its stamp is another, or the vectors of the probe texts are.
    """
    given = stamp_of(encoder)
    if dict(stamp) != given:
        differing = sorted(key for key in {*stamp, *given} if stamp.get(key) != given.get(key))
        theirs = ", ".join(f"{key}={given.get(key)!r}" for key in differing)
        wanted = ", ".join(f"{key}={stamp.get(key)!r}" for key in differing)
        raise IncompatibleIndexError(
            f"{path} was built with another encoder: the index has {wanted}, given was {theirs}; open it with the "
            "encoder it was built with, or make a new version of it with `rebuild`"
        )
    stored = np.array(probes["vectors"], dtype=np.float32)
    found = _of_probes(encoder)
    apart = float(np.abs(found - stored).max()) if found.shape == stored.shape else math.inf
    if not apart <= PROBE_TOLERANCE:
        raise IncompatibleIndexError(
            f"{path} was built with an encoder of the same name that gives other vectors: those of the probe texts "
            f"are {apart:.2g} apart, at most {PROBE_TOLERANCE} is wanted; use the model it was built with, or make a "
            "new version of it with `rebuild`"
        )


def _of_probes(encoder: TextEncoder) -> npt.NDArray[np.float32]:
    return encoded(encoder, PROBES, of="the probe texts")[0]
