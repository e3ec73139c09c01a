"""``pincite swap``: the version that was rebuilt serves."""

from __future__ import annotations

import argparse

import pincite
from pincite.cli.arguments import add_json, add_kb, print_json, tell
from pincite.cli.ingesting import progress_of

HELP = "let the version that rebuild built serve, in one commit; rollback undoes it"
EXAMPLE = "pincite swap kb"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_kb(parser)
    parser.add_argument(
        "--encoder", metavar="NAME_OR_PATH", help="that version's embedding model, where it is not found by its name"
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    add_json(parser)


def run(given: argparse.Namespace) -> int:
    """Swap, and say what serves now."""
    with pincite.open(given.kb, encoder=given.encoder, report=tell) as kb:
        generation = kb.swap(progress=progress_of(given, "taking in what changed"))
        say_what_serves(kb, generation, given.json)
    return 0


def say_what_serves(kb: pincite.KnowledgeBase, generation: int, json: bool) -> None:
    """Print the version that serves, and how to go back."""
    version = next(version for version in kb.status().versions if version.state == "serving")
    if json:
        print_json({"generation": generation, "version": version.to_dict()})
    else:
        print(f"version {version.number} serves: {version.config.strategy}, target {version.config.target}; "
              f"generation {generation}. pincite rollback undoes it.")  # fmt: skip
