"""``pincite audit``: what some groups can see."""

from __future__ import annotations

import argparse

from pincite.cite.context import one_line
from pincite.cli.arguments import add_json, add_kb, groups_of, open_kb, print_json
from pincite.errors import counted

HELP = "list what groups can see, and check on sampled questions that nothing else shows through"
EXAMPLE = "pincite audit kb --groups office"

FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_kb(parser)
    parser.add_argument("--groups", required=True, type=groups_of, metavar="A,B", help="with commas between them")
    parser.add_argument("--questions", type=int, default=20, help="how many to ask (default: 20)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default: 0)")
    add_json(parser)


def run(given: argparse.Namespace) -> int:
    """Audit; exit code 1 if anything shows through."""
    with open_kb(given) as kb:
        found = kb.audit(given.groups, questions=given.questions, seed=given.seed)
    if given.json:
        print_json(found.to_dict())
    else:
        for id in found.documents:
            print(one_line(id))
        for leak in found.leaks:
            print(one_line(f"LEAK: {leak}"))
        print(f"{counted(len(found.documents), 'document')} seen, {found.hidden} hidden; "
              f"{counted(found.questions, 'question')} asked, "
              f"{len(found.leaks)} answered otherwise than without what is hidden")  # fmt: skip
    return FAILED if found.leaks else 0
