"""``pincite status``: what an index holds."""

from __future__ import annotations

import argparse

from pincite.cite.context import one_line
from pincite.cli.arguments import add_json, add_kb, open_kb, print_json

HELP = "say what an index holds, and which documents failed"
EXAMPLE = "pincite status kb"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_kb(parser)
    add_json(parser)


def run(given: argparse.Namespace) -> int:
    """Print the status."""
    with open_kb(given) as kb:
        status = kb.status()
    if given.json:
        print_json(status.to_dict())
        return 0
    encoder = "none yet" if status.encoder is None else str(status.encoder.get("model", "custom"))
    rows = {
        "documents": f"{status.documents:,}",
        "characters": f"{status.characters:,}",
        "chunks": f"{status.chunks:,} ({status.config['strategy']}, target {status.config['target']})",
        "failed": f"{len(status.failed):,}",
        "truncated": f"{status.truncated_tokens:,} word pieces",
        "unknown": f"{status.unknown_tokens:,} words",
        "encoder": encoder,
        "generation": f"{status.generation} in {status.segments} segments",
        "size": f"{status.nbytes / 1e6:.1f} MB",
    }
    for name, value in rows.items():
        print(f"{name:<11} {value}")
    for name, root in status.sources.items():
        print(one_line(f"{'source':<11} {name}: {root}"))
    for failure in status.failed:
        print(one_line(f"{'failed':<11} {failure.id}: {failure.reason}: {failure.message}"))
    return 0
