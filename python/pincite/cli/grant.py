"""``pincite grant``: who may see documents."""

from __future__ import annotations

import argparse

import pincite
from pincite.cli.arguments import add_json, add_kb, groups_of, print_json, tell
from pincite.errors import counted

HELP = "say who may see documents, instead of who might before; at once, without indexing anything"
EXAMPLE = "pincite grant kb handbook/wages.md --to office,board"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_kb(parser)
    parser.add_argument("ids", nargs="+", metavar="ID", help="of a document that is indexed or has failed")
    parser.add_argument(
        "--to", required=True, type=groups_of, metavar="A,B", help="groups, with commas between them; '' hides them"
    )
    add_json(parser)


def run(given: argparse.Namespace) -> int:
    """Grant."""
    with pincite.open(given.kb, report=tell) as kb:
        kb.grant(given.ids, given.to)
    if given.json:
        print_json({"ids": given.ids, "groups": given.to})
    else:
        print(f"{counted(len(given.ids), 'document')}: {', '.join(given.to) or 'seen by nobody'}")
    return 0
