"""``pincite verify``: whether an index is what was written."""

from __future__ import annotations

import argparse

import pincite
from pincite.cite.context import one_line
from pincite.cli.arguments import add_json, add_kb, print_json
from pincite.cli.ingesting import progress_of
from pincite.errors import counted

HELP = "compare all of an index with its checksums, and its parts with each other"
EXAMPLE = "pincite verify kb"

DAMAGED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_kb(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress")
    add_json(parser)


def run(given: argparse.Namespace) -> int:
    """Verify; exit code 1 if something is damaged."""
    found = pincite.verify(given.kb, progress=progress_of(given, "verifying"))
    if given.json:
        print_json(found.to_dict())
        return 0 if found.sound else DAMAGED
    for damage in found.damages:
        print(one_line(f"DAMAGED {damage.file}: {damage.what}"))
    for id in found.affected:
        print(one_line(f"affected {id}"))
    print(
        f"{'sound' if found.sound else counted(len(found.damages), 'finding')}: "
        f"{counted(found.versions, 'version')} of {counted(found.segments, 'segment')}, "
        f"{counted(found.documents, 'document')} in {counted(found.chunks, 'chunk')}, "
        f"{found.nbytes / 1e6:.1f} MB compared"
    )
    return 0 if found.sound else DAMAGED
