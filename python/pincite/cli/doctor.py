"""``pincite doctor``: what does not work, or will not hold, and what to do."""

from __future__ import annotations

import argparse

import pincite
from pincite.cite.context import one_line
from pincite.cli.arguments import add_json, add_kb, print_json

HELP = "look at an index, its models and what it runs on, and say what to do about what is wrong"
EXAMPLE = "pincite doctor kb"

ILL = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_kb(parser)
    parser.add_argument("--encoder", metavar="NAME_OR_PATH", help="the embedding model (default: the index's own)")
    add_json(parser)


def run(given: argparse.Namespace) -> int:
    """Diagnose; exit code 1 if there is a problem."""
    found = pincite.diagnose(given.kb, encoder=given.encoder)
    if given.json:
        print_json(found.to_dict())
    else:
        for finding in found.findings:
            level = finding.level.upper() if finding.level == "problem" else finding.level
            advice = f" -> {finding.advice}" if finding.advice else ""
            print(one_line(f"{level:<8} {finding.subject:<11} {finding.what}{advice}"))
    return 0 if found.healthy else ILL
