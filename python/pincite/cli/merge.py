"""``pincite merge``: one segment of all."""

from __future__ import annotations

import argparse

import pincite
from pincite.cli.arguments import add_json, add_kb, print_json, tell

HELP = "make one segment of all, without what was deleted or replaced; searches are fastest then"
EXAMPLE = "pincite merge kb"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_kb(parser)
    add_json(parser)


def run(given: argparse.Namespace) -> int:
    """Merge, and say how many segments there were."""
    with pincite.open(given.kb, report=tell) as kb:
        before = kb.status().segments
        generation = kb.merge()
        after = kb.status().segments
    if given.json:
        print_json({"generation": generation, "segments_before": before, "segments": after})
    else:
        print(f"segments: {before} before, {after} now; generation {generation}")
    return 0
