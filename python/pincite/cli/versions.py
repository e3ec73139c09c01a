"""``pincite versions``: which versions of an index there are."""

from __future__ import annotations

import argparse

import pincite
from pincite.cli.arguments import add_json, add_kb, moment, open_kb, print_json, tell

HELP = "list the versions of an index, or discard one that does not serve"
EXAMPLE = "pincite versions kb --discard 2"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_kb(parser)
    parser.add_argument("--discard", type=int, metavar="N", help="remove a version that does not serve")
    add_json(parser)


def run(given: argparse.Namespace) -> int:
    """Discard what is to be discarded, and list what is there."""
    if given.discard is not None:
        with pincite.open(given.kb, report=tell) as kb:
            kb.discard(given.discard)
    with open_kb(given) as kb:
        versions = kb.status().versions
    if given.json:
        print_json({"versions": [version.to_dict() for version in versions]})
        return 0
    for version in versions:
        config, encoder = version.config, "no encoder yet"
        if version.encoder is not None:
            encoder = str(version.encoder.get("model", "custom"))
        print(f"{version.number:>3} {version.state:<9} {config.strategy}, target {config.target}, {encoder}, begun "
              f"{moment(version.made)}")  # fmt: skip
    return 0
