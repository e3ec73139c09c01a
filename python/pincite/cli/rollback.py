"""``pincite rollback``: the version that served before a swap serves again."""

from __future__ import annotations

import argparse

import pincite
from pincite.cli import swap
from pincite.cli.arguments import tell
from pincite.cli.ingesting import progress_of

HELP = "undo a swap: documents and grants stay as they are, only the way of cutting and embedding goes back"
EXAMPLE = "pincite rollback kb"

add_arguments = swap.add_arguments


def run(given: argparse.Namespace) -> int:
    """Go back, and say what serves now."""
    with pincite.open(given.kb, encoder=given.encoder, report=tell) as kb:
        generation = kb.rollback(progress=progress_of(given, "taking in what changed"))
        swap.say_what_serves(kb, generation, given.json)
    return 0
