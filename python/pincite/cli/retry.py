"""``pincite retry``: files that failed, once more."""

from __future__ import annotations

import argparse

import pincite
from pincite.cli.arguments import add_json, add_kb, print_json, tell
from pincite.cli.ingesting import progress_of, report_as_json, tell_what_is_not_in

HELP = "try files again that failed"
EXAMPLE = "pincite retry kb"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_kb(parser)
    parser.add_argument("ids", nargs="*", metavar="ID", help="of documents that failed (default: all of them)")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    add_json(parser)


def run(given: argparse.Namespace) -> int:
    """Retry, and say what failed again; exit code 1 if anything did."""
    with pincite.open(given.kb, report=tell) as kb:
        report = kb.retry(given.ids or None, progress=progress_of(given, "retrying"))
    if given.json:
        print_json(report_as_json(report))
    else:
        tell_what_is_not_in(report)
        print(f"{len(report.documents) - len(report.failed)} indexed, {len(report.failed)} failed again; "
              f"generation {report.generation}")  # fmt: skip
    return 1 if report.failed else 0
