"""``pincite delete``: documents out of an index."""

from __future__ import annotations

import argparse

import pincite
from pincite.cli.arguments import add_json, add_kb, print_json, tell

HELP = "take documents out of an index, by id; their files stay"
EXAMPLE = "pincite delete kb handbook/old.md"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_kb(parser)
    parser.add_argument("ids", nargs="+", metavar="ID", help="of a document that is indexed or has failed")
    add_json(parser)


def run(given: argparse.Namespace) -> int:
    """Delete, and say the generation."""
    with pincite.open(given.kb, report=tell) as kb:
        report = kb.delete(given.ids)
    if given.json:
        print_json({"deleted": report.deleted, "generation": report.generation})
    else:
        print(f"{len(report.deleted)} deleted; generation {report.generation}")
    return 0
