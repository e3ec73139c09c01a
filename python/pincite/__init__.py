"""Pincite: retrieval that shows where the answer is written."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pincite import errors
from pincite._core import __version__
from pincite.config import IndexConfig
from pincite.core.bm25 import BM25Batch, BM25Index, BM25Term, BM25View
from pincite.core.chunking import chunk
from pincite.core.flat import FlatIndex, SearchBatch
from pincite.core.fusion import rrf
from pincite.core.highlights import highlights
from pincite.core.hnsw import HnswBatch, HnswIndex
from pincite.core.text import tokenize
from pincite.errors import PinciteError
from pincite.types import Chunk, Document, Section, Token

if TYPE_CHECKING:
    from pincite.cite.citation import Citation
    from pincite.cite.context import Context, NoAnswer
    from pincite.cite.resolve import Passage
    from pincite.cite.verification import Verification
    from pincite.evaluation.gold import GoldSet
    from pincite.evaluation.report import Report
    from pincite.evaluation.run import evaluate
    from pincite.filters import F
    from pincite.knowledge_base import Diagnosis, KnowledgeBase, diagnose, open, resolve, restore, verify
    from pincite.models.encoder import Encoder
    from pincite.models.reranker import Reranker
    from pincite.retrieve.result import Hit, SearchResult
    from pincite.store.diagnosis import Finding
    from pincite.store.ingest import DocumentOutcome, IngestReport
    from pincite.store.ledger import DocumentLedger, Ledger
    from pincite.store.status import Status
    from pincite.store.verifying import Damage, IndexVerification

__all__ = [
    "BM25Batch",
    "BM25Index",
    "BM25Term",
    "BM25View",
    "Chunk",
    "Citation",
    "Context",
    "Damage",
    "Diagnosis",
    "Document",
    "DocumentLedger",
    "DocumentOutcome",
    "Encoder",
    "F",
    "Finding",
    "FlatIndex",
    "GoldSet",
    "Hit",
    "HnswBatch",
    "HnswIndex",
    "IndexConfig",
    "IndexVerification",
    "IngestReport",
    "KnowledgeBase",
    "Ledger",
    "NoAnswer",
    "Passage",
    "PinciteError",
    "Report",
    "Reranker",
    "SearchBatch",
    "SearchResult",
    "Section",
    "Status",
    "Token",
    "Verification",
    "__version__",
    "chunk",
    "diagnose",
    "errors",
    "evaluate",
    "highlights",
    "open",
    "resolve",
    "restore",
    "rrf",
    "tokenize",
    "verify",
]

# The floors above the core are loaded when they are asked for first: they need SQLite, a tokenizer and the like, and
# who wants the core alone shall not wait for them.
_LAZY = {
    "Citation": "cite.citation",
    "Context": "cite.context",
    "Damage": "store.verifying",
    "Diagnosis": "knowledge_base",
    "DocumentLedger": "store.ledger",
    "DocumentOutcome": "store.ingest",
    "Encoder": "models.encoder",
    "F": "filters",
    "Finding": "store.diagnosis",
    "GoldSet": "evaluation.gold",
    "Hit": "retrieve.result",
    "IndexVerification": "store.verifying",
    "IngestReport": "store.ingest",
    "KnowledgeBase": "knowledge_base",
    "Ledger": "store.ledger",
    "NoAnswer": "cite.context",
    "Passage": "cite.resolve",
    "Report": "evaluation.report",
    "Reranker": "models.reranker",
    "SearchResult": "retrieve.result",
    "Status": "store.status",
    "Verification": "cite.verification",
    "diagnose": "knowledge_base",
    "evaluate": "evaluation.run",
    "open": "knowledge_base",
    "resolve": "knowledge_base",
    "restore": "knowledge_base",
    "verify": "knowledge_base",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'pincite' has no attribute {name!r}")
    value = getattr(import_module(f"pincite.{_LAZY[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
