"""``pincite status``: what an index holds."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict

from pincite.cite.context import one_line
from pincite.cli.arguments import add_json, add_kb, moment, open_kb, print_json, seconds_of
from pincite.errors import InvalidInputError, counted
from pincite.store.stale import StaleDocument
from pincite.store.status import Status

HELP = "say what an index holds, and which documents failed"
EXAMPLE = "pincite status kb"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_kb(parser)
    parser.add_argument("--failed", action="store_true", help="only the documents that failed")
    parser.add_argument("--stale", action="store_true", help="only the documents that may not say what is so any more")
    parser.add_argument(
        "--older-than", type=seconds_of, metavar="TIME", help="with --stale: not confirmed for so long, as 12h or 30d"
    )
    add_json(parser)


def run(given: argparse.Namespace) -> int:
    """Print the status."""
    if given.older_than is not None and not given.stale:
        raise InvalidInputError("--older-than is about stale documents; give --stale as well")
    with open_kb(given) as kb:
        if given.stale:
            return _stale(kb.stale(older_than=given.older_than), given.json)
        status = kb.status()
    if given.failed:
        return _failed(status, given.json)
    if given.json:
        print_json(status.to_dict())
        return 0
    encoder = "none yet" if status.encoder is None else str(status.encoder.get("model", "custom"))
    rows = {
        "documents": f"{status.documents:,}",
        "characters": f"{status.characters:,}",
        "chunks": f"{status.chunks:,} ({status.config['strategy']}, target {status.config['target']})",
        "failed": f"{len(status.failed):,}",
        **(
            {"unseen": counted(status.without_groups, "document has no groups", "documents have no groups")}
            if status.without_groups
            else {}
        ),
        "truncated": counted(status.truncated_tokens, "word piece"),
        "unknown": counted(status.unknown_tokens, "word"),
        "encoder": encoder,
        **(
            {"versions": ", ".join(f"{each.number} {each.state}" for each in status.versions)}
            if len(status.versions) > 1
            else {}
        ),
        "generation": f"{status.generation} in {counted(status.segments, 'segment')}",
        "size": f"{status.nbytes / 1e6:.1f} MB",
    }
    for name, value in rows.items():
        print(f"{name:<11} {value}")
    for source in status.sources:
        synced = "never synced" if source.synced is None else f"synced {moment(source.synced)}"
        trouble = f"; BROKEN since: {source.trouble}" if source.trouble else ""
        print(one_line(f"{'source':<11} {source.name}: {source.root} ({synced}{trouble})"))
    for failure in status.failed:
        print(one_line(f"{'failed':<11} {failure.id}: {failure.reason}: {failure.message}"))
    return 0


def _failed(status: Status, json: bool) -> int:
    if json:
        print_json({"failed": status.to_dict()["failed"]})
        return 0
    for failure in status.failed:
        tries = f"{counted(failure.attempts, 'try', 'tries')}, last at {moment(failure.last_failed)}"
        print(one_line(f"{failure.id}: {failure.reason}: {failure.message} ({tries})"))
    return 0


def _stale(documents: Sequence[StaleDocument], json: bool) -> int:
    if json:
        print_json({"stale": [asdict(document) for document in documents]})
        return 0
    for document in documents:
        print(one_line(f"{document.id}: {', '.join(document.reasons)}; confirmed {moment(document.confirmed)}"))
    return 0
