"""``pincite index``: documents into an index."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pincite
from pincite.cli.arguments import add_json, print_json, tell
from pincite.config import DEFAULT_ENCODER, IndexConfig
from pincite.errors import InvalidInputError

HELP = "put files and folders into an index; what has not changed is skipped"
EXAMPLE = "pincite index docs --into kb"

SECONDS_BETWEEN_LINES = 10.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a folder, searched to any depth, or a file")
    parser.add_argument("--into", required=True, metavar="KB", help="the index's folder; made if there is none")
    parser.add_argument("--name", help="what to call the folder in ids, where its own name will not do")
    defaults = IndexConfig()
    parser.add_argument(
        "--strategy", help=f"how a new index cuts documents: structural, or A to F (default: {defaults.strategy})"
    )
    parser.add_argument("--target", type=int, help=f"a new index's size of a chunk (default: {defaults.target})")
    parser.add_argument("--encoder", metavar="NAME_OR_PATH", help="a new index's embedding model")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    add_json(parser)


def run(given: argparse.Namespace) -> int:
    """Index, and say what became of each document that is not in."""
    for path in given.paths:
        if not Path(path).exists():  # said before an index is made
            raise InvalidInputError(f"there is nothing at {path}; give a file or a folder that exists")
    with _opened(given) as kb:
        try:
            report = kb.add(given.paths, name=given.name, progress=False if given.quiet else _progress())
        except KeyboardInterrupt:
            tell(
                f"pincite: interrupted; {kb.status().documents} documents are in (generation {kb.generation}). "
                "The same command does the rest."
            )
            return 130
        serving = kb.status().documents
    if given.json:
        print_json(_as_json(report))
    else:
        _tell_what_is_not_in(report)
        counts = ", ".join(f"{report.count(state)} {state}" for state in ("added", "updated", "unchanged", "failed"))
        print(f"{counts}; {report.chunks} chunks, generation {report.generation}, {report.seconds:.1f} s")
    return 0 if serving or not report.documents else 1


def _opened(given: argparse.Namespace) -> pincite.KnowledgeBase:
    """Open the index, or make it once it is sure that there are settings and a model to make it with."""
    settings = {name: getattr(given, name) for name in ("strategy", "target") if getattr(given, name) is not None}
    if (Path(given.into) / "catalog.sqlite").exists():
        kb = pincite.open(given.into, encoder=given.encoder, report=tell)
        for name, value in settings.items():
            own = getattr(kb.config, name)
            if value != own:
                raise InvalidInputError(
                    f"{given.into} was built with --{name} {own}, given was {value}; leave --{name} out, or make "
                    "another index"
                )
        return kb
    encoder = pincite.Encoder.load(given.encoder or DEFAULT_ENCODER, report=tell)
    return pincite.open(given.into, create=True, config=IndexConfig(**settings), encoder=encoder, report=tell)


def _progress() -> bool | Callable[[float, float, str], None]:
    """Return a bar for a terminal; elsewhere, where a log is kept, a line every ten seconds."""
    if sys.stderr.isatty():
        return True
    said = time.monotonic()

    def say(done: float, total: float, id: str) -> None:
        nonlocal said
        if time.monotonic() - said >= SECONDS_BETWEEN_LINES:
            said = time.monotonic()
            tell(f"indexing: {done / max(total, 1):.0%}, at {id}")

    return say


def _tell_what_is_not_in(report: pincite.IngestReport) -> None:
    for outcome in report.failed:
        kept = " (its last good version is still found)" if outcome.serving else ""
        tell(f"failed: {outcome.id}: {outcome.reason}: {outcome.message}{kept}")
    for path, reason in report.ignored:
        tell(f"passed over: {path}: {reason}")
    for id in report.missing:
        tell(f"missing: {id}: its file is not there any more; the index still has what it said")
    _tell_sum(report, "truncated_tokens", "word pieces are beyond the encoder's window")
    _tell_sum(report, "unknown_tokens", "words are unknown to the encoder; bm25 finds them")


def _tell_sum(report: pincite.IngestReport, name: str, what: str) -> None:
    """Say in one line what the encoder did not see; `--json` has it by document."""
    counts = [getattr(outcome, name) for outcome in report.documents if getattr(outcome, name)]
    if counts:
        documents = "1 document" if len(counts) == 1 else f"{len(counts)} documents"
        tell(f"note: in {documents}, {sum(counts):,} {what}")


def _as_json(report: pincite.IngestReport) -> dict[str, Any]:
    return {
        "generation": report.generation,
        "seconds": round(report.seconds, 3),
        "counts": {state: report.count(state) for state in ("added", "updated", "unchanged", "failed")},
        "chunks": report.chunks,
        "documents": [
            {
                "id": outcome.id,
                "state": outcome.state,
                "chunks": outcome.chunks,
                "truncated_tokens": outcome.truncated_tokens,
                "unknown_tokens": outcome.unknown_tokens,
                "reason": outcome.reason,
                "message": outcome.message,
                "serving": outcome.serving,
            }
            for outcome in report.documents
        ],
        "missing": report.missing,
        "ignored": [{"path": path, "reason": reason} for path, reason in report.ignored],
    }
