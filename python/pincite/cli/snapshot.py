"""``pincite snapshot``: an index in one file."""

from __future__ import annotations

import argparse

from pincite.cli.arguments import add_json, add_kb, open_kb, print_json
from pincite.errors import counted

HELP = "write an index, as it is now, to one file, while others read and write it"
EXAMPLE = "pincite snapshot kb kb-monday.pincite"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_kb(parser)
    parser.add_argument("file", metavar="FILE", help="the file to write; it must not be there yet")
    add_json(parser)


def run(given: argparse.Namespace) -> int:
    """Write it, and say what it holds."""
    with open_kb(given) as kb:
        report = kb.snapshot(given.file)
    if given.json:
        print_json(report.to_dict())
    else:
        print(f"{report.path}: {counted(report.documents, 'document')}, {counted(report.chunks, 'chunk')} of "
              f"generation {report.generation}, {report.nbytes / 1e6:.1f} MB")  # fmt: skip
    return 0
