"""From bytes to a document that is ready to be embedded: extract, cut, describe."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from pincite.config import IndexConfig
from pincite.core.arguments import path_text
from pincite.core.chunking import ChunkedDocument, chunk_document
from pincite.errors import ExtractionError, InvalidInputError
from pincite.extract import ExtractedText, extract
from pincite.store.encoding import encoded
from pincite.store.records import DocumentRecord, PreparedDocument, StoredDocument
from pincite.store.uris import document_uri
from pincite.types import Document, TextEncoder

__all__ = [
    "EmbeddedDocument",
    "checked_metadata",
    "chunker_of",
    "content_hash",
    "document_bytes",
    "embed",
    "prepare_document",
    "prepare_file",
    "prepare_stored",
    "sorted_out",
    "text_hash",
]

EmbeddedDocument = tuple[PreparedDocument, npt.NDArray[np.float32]]
"""A document, and one unit vector a chunk."""

CHUNKER_VERSION = 1
"""Goes up when the same text and settings give other chunks."""

GIVEN = "given/1"
"""The extractor of a document that was given as a string."""


def chunker_of(config: IndexConfig) -> str:
    """Return the chunker's name with its version."""
    return f"{config.strategy}/{CHUNKER_VERSION}"


def content_hash(data: bytes) -> str:
    """Return the SHA-256 of a document's bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def text_hash(text: str) -> str:
    """Return the MD5 of a canonical text, in hex: the integrity check of its URIs (RFC 5147)."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def document_bytes(document: Document) -> bytes:
    """Return bytes that are equal when two given documents are.

    Raises
    ------
    InvalidInputError
        If a field is of another type, or cannot be stored.
    """
    for name in ("id", "text", "title", "markup", "uri"):
        value = getattr(document, name)
        if not isinstance(value, str):
            raise InvalidInputError(f"the document's {name} is of type {type(value).__name__}, wanted str")
    if not document.id.strip():
        raise InvalidInputError(f"the document's id is {document.id!r}, wanted a name that is not blank")
    if document.markup not in {"markdown", "plain"}:
        raise InvalidInputError(f"the document's markup is {document.markup!r}, wanted 'markdown' or 'plain'")
    metadata = checked_metadata(document.metadata, f"metadata of {document.id!r}")
    fields = [document.id, document.text, document.title, document.markup, document.uri, metadata]
    try:
        return json.dumps(fields, ensure_ascii=False, sort_keys=True).encode()
    except UnicodeEncodeError as error:
        raise InvalidInputError(
            f"the document {document.id!r} holds a lone surrogate, which no encoding can store ({error}); decode the "
            "source with errors='replace'"
        ) from None


def checked_metadata(metadata: Any, name: str) -> dict[str, Any]:
    """Return metadata as a dict that JSON gives back as it is.

    Raises
    ------
    InvalidInputError
        If it is no mapping, or JSON in UTF-8 cannot hold it.
    """
    if not isinstance(metadata, Mapping):
        raise InvalidInputError(f"{name} is of type {type(metadata).__name__}, wanted a dict")
    try:
        text = json.dumps(dict(metadata), ensure_ascii=False, allow_nan=False)
        text.encode()
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"{name} cannot be stored as JSON: {error}; give str, finite numbers, lists and dicts"
        ) from None
    kept: dict[str, Any] = json.loads(text)
    if not _all_str_keys(metadata):
        raise InvalidInputError(f"{name} has keys that are no str, wanted str alone, as JSON has them")
    return kept


def _all_str_keys(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _all_str_keys(inner) for key, inner in value.items())
    return not isinstance(value, (list, tuple)) or all(map(_all_str_keys, value))


def sorted_out(given: Any) -> tuple[list[Path], list[Document]]:
    """Tell paths from documents.

    Raises
    ------
    InvalidInputError
        If something is neither, a document cannot be kept, or two have the same id.
    """
    items = [given] if isinstance(given, (str, bytes, os.PathLike, Document)) else given
    if not isinstance(items, Iterable):
        raise InvalidInputError(f"given was {type(items).__name__}, wanted paths or documents")
    paths: list[Path] = []
    documents: dict[str, Document] = {}
    for item in items:
        if not isinstance(item, Document):
            paths.append(Path(path_text(item)))
            continue
        document_bytes(item)  # raises what is wrong with it, before anything is written
        if item.id in documents:
            raise InvalidInputError(f"two documents have the id {item.id!r}; give each its own")
        documents[item.id] = item
    return paths, list(documents.values())


def prepare_file(
    data: bytes,
    *,
    id: str,
    source: str,
    modified: float | None,
    metadata: Mapping[str, Any],
    config: IndexConfig,
    encoder: TextEncoder,
) -> PreparedDocument:
    """Extract and cut a file.

    Raises
    ------
    ExtractionError
        If it has no text that can be indexed.
    """
    name = PurePosixPath(id)
    extracted = extract(data, suffix=name.suffix)
    return _prepare(
        extracted, id=id, uri=id, source=source, title=extracted.title or name.stem, data=data, modified=modified,
        metadata=metadata, config=config, encoder=encoder,
    )  # fmt: skip


def prepare_document(document: Document, *, config: IndexConfig, encoder: TextEncoder) -> PreparedDocument:
    """Cut a document that was given as a string.

    Raises
    ------
    ExtractionError
        If it is blank, or holds U+0000.
    """
    if not document.text.strip():
        raise ExtractionError(f"{document.id}: the document is empty", reason="empty")
    if "\0" in document.text:
        at = document.text.index("\0")
        raise ExtractionError(f"{document.id}: U+0000 at code point {at}; remove it", reason="binary")
    extracted = ExtractedText(
        text=document.text, markup="plain" if document.markup == "plain" else "markdown", title=document.title,
        media_type="text/markdown" if document.markup == "markdown" else "text/plain", encoding="", extractor=GIVEN,
        dropped={},
    )  # fmt: skip
    return _prepare(
        extracted, id=document.id, uri=document.uri or document.id, source=None, title=document.title or document.id,
        data=document_bytes(document), modified=None, metadata=dict(document.metadata), config=config,
        encoder=encoder,
    )  # fmt: skip


def prepare_stored(document: StoredDocument, *, config: IndexConfig, encoder: TextEncoder) -> PreparedDocument:
    """Cut a document of an index anew. What is known of it stays: nothing is read or extracted again."""
    record = document.record
    cut = _cut(document.text, record.title, record.markup, config, encoder)
    known = replace(record, chunker=chunker_of(config), front_matter_end=cut.front_matter_end, n_chunks=len(cut.chunks))
    return PreparedDocument(known, document.text, cut.chunks, cut.sections)


def embed(prepared: PreparedDocument, encoder: TextEncoder, progress: Callable[[float], None]) -> EmbeddedDocument:
    """Return a document with what the encoder's window cut off, and the vectors of its chunks.

    `progress` is told the shares of the document that are done; they add up to 1.
    """
    texts = [chunk.embedded_text for chunk in prepared.chunks]
    vectors, found = encoded(
        encoder, texts, of=repr(prepared.record.id), progress=lambda more: progress(more / max(1, len(texts)))
    )
    if not texts:
        progress(1.0)
    record = replace(
        prepared.record,
        truncated_tokens=int(found.truncated_tokens.sum()),
        unknown_tokens=int(found.unknown_tokens.sum()),
    )
    return replace(prepared, record=record), vectors


def _prepare(
    extracted: ExtractedText,
    *,
    id: str,
    uri: str,
    source: str | None,
    title: str,
    data: bytes,
    modified: float | None,
    metadata: Mapping[str, Any],
    config: IndexConfig,
    encoder: TextEncoder,
) -> PreparedDocument:
    cut = _cut(extracted.text, title, extracted.markup, config, encoder)
    record = DocumentRecord(
        id=id,
        uri=document_uri(uri),
        source=source,
        title=title,
        markup=extracted.markup,
        media_type=extracted.media_type,
        encoding=extracted.encoding,
        extractor=extracted.extractor,
        chunker=chunker_of(config),
        content_hash=content_hash(data),
        text_hash=text_hash(extracted.text),
        length=len(extracted.text),
        front_matter_end=cut.front_matter_end,
        n_chunks=len(cut.chunks),
        truncated_tokens=sum(chunk.truncated_tokens for chunk in cut.chunks),
        dropped=dict(extracted.dropped),
        metadata=dict(metadata),
        modified=modified,
        confirmed=time.time(),
    )
    return PreparedDocument(record, extracted.text, cut.chunks, cut.sections)


def _cut(text: str, title: str, markup: str, config: IndexConfig, encoder: TextEncoder) -> ChunkedDocument:
    return chunk_document(
        text,
        title=title,
        strategy=config.strategy,
        target=config.target,
        overlap=config.overlap,
        window_tokens=encoder.window_tokens,
        word_pieces=encoder.word_pieces,
        markup=markup,
    )
