"""``pincite restore``: an index from a snapshot."""

from __future__ import annotations

import argparse

import pincite
from pincite.cli.arguments import add_json, print_json, tell
from pincite.errors import counted

HELP = "make an index of a snapshot, or put the index that it is of back to it"
EXAMPLE = "pincite restore kb-monday.pincite --into kb"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("file", metavar="FILE", help="what pincite snapshot wrote")
    parser.add_argument("--into", required=True, metavar="KB", help="an index's folder, or one to be made")
    parser.add_argument(
        "--keep-grants", action="store_true",
        help="in a new index, who might see what still may: grants that were taken back since come to life again",
    )  # fmt: skip
    add_json(parser)


def run(given: argparse.Namespace) -> int:
    """Restore, and say what did not come back, what is gone and who sees nothing."""
    report = pincite.restore(given.file, given.into, keep_grants=given.keep_grants)
    if given.json:
        print_json(report.to_dict())
        return 0
    for id in report.left_out:
        tell(f"left out: {id}: it was deleted since")
    for id in report.removed:
        tell(f"removed: {id}: it came after the snapshot")
    for id in report.narrowed:
        tell(f"narrowed: {id}: it says what it once said, and only who might see that then, and may now, sees it")
    if report.without_groups:
        unseen = counted(report.without_groups, "document has no groups", "documents have no groups")
        tell(f"note: {unseen}; grant says who may see what")
    print(f"{report.path}: {counted(report.documents, 'document')}, generation {report.generation}")
    return 0
