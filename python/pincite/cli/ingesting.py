"""What the verbs that take documents in say of it: how far it is, and what is not in."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import pincite
from pincite.cli.arguments import tell
from pincite.errors import counted

__all__ = ["progress_of", "report_as_json", "tell_what_is_not_in"]

SECONDS_BETWEEN_LINES = 10.0


def progress_of(given: argparse.Namespace, doing: str = "indexing") -> bool | Callable[[float, float, str], None]:
    """Return a bar for a terminal; elsewhere, where a log is kept, a line every ten seconds; nothing if it is quiet."""
    if given.quiet:
        return False
    if sys.stderr is None or sys.stderr.isatty():
        return True
    said = time.monotonic()

    def say(done: float, total: float, id: str) -> None:
        nonlocal said
        if time.monotonic() - said >= SECONDS_BETWEEN_LINES:
            said = time.monotonic()
            tell(f"{doing}: {done / max(total, 1):.0%}, at {id}")

    return say


def tell_what_is_not_in(report: pincite.IngestReport) -> None:
    """Say what failed, was passed over or is missing, and what the encoder did not see."""
    for outcome in report.failed:
        kept = " (its last good version is still found)" if outcome.serving else ""
        tell(f"failed: {outcome.id}: {outcome.reason}: {outcome.message}{kept}")
    for path, reason in report.ignored:
        tell(f"passed over: {path}: {reason}")
    for id in report.missing:
        tell(f"missing: {id}: its file is not there any more; the index still has what it said")
    _tell_sum(
        report,
        "truncated_tokens",
        "word piece is beyond the encoder's window",
        "word pieces are beyond the encoder's window",
    )
    _tell_sum(
        report,
        "unknown_tokens",
        "word is unknown to the encoder; bm25 finds it",
        "words are unknown to the encoder; bm25 finds them",
    )


def _tell_sum(report: pincite.IngestReport, name: str, one: str, several: str) -> None:
    """Say in one line what the encoder did not see; `--json` has it by document."""
    counts = [getattr(outcome, name) for outcome in report.documents if getattr(outcome, name)]
    if counts:
        tell(f"note: in {counted(len(counts), 'document')}, {counted(sum(counts), one, several)}")


def report_as_json(report: pincite.IngestReport) -> dict[str, Any]:
    """Return a report as JSON has it."""
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
        "deleted": report.deleted,
        "troubles": report.troubles,
        "ignored": [{"path": path, "reason": reason} for path, reason in report.ignored],
    }
