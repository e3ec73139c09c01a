"""A small index with stub models, what it answers, and programs that use it in other processes."""

from __future__ import annotations

import os
import subprocess
import sys

import pincite
from stub_models import StubEncoder, StubReranker

WORDS = ["ship", "sail", "mast", "pump", "oil", "rope", "deck", "tide", "gull", "helm", "keel"]
QUESTIONS = ["ship mast", "oil pump on deck or number 7"]


def document(number: int, version: int = 0) -> pincite.Document:
    """Of two chunks, with words that other documents have as well."""
    first, second = WORDS[number % 11], WORDS[(number * 3 + version + 1) % 11]
    text = f"# Note {number}\n\nA {first} at number {number}.\n\n## Version {version}\n\nThen a {second}, ünd 📷.\n"
    return pincite.Document(id=f"d{number:03}", text=text, metadata={"version": version})


def opened(path, **options) -> pincite.KnowledgeBase:
    return pincite.open(path, **{"create": True, "encoder": StubEncoder(), "reranker": StubReranker(), **options})


def answers(kb: pincite.KnowledgeBase) -> list:
    """Everything of some searches that must depend on the documents alone, not on the history."""
    found = []
    for question in QUESTIONS:
        result = kb.search(question, max_distance=None, k=8)
        found.append(
            [(hit.to_dict(), hit.document.text_hash, dict(hit.document.metadata), citation.to_dict())
             for hit, citation in zip(result, kb.citations(result), strict=True)]
        )  # fmt: skip
    return found


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a Python program that can import what the tests import."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
