"""``pincite sync``: an index made equal to its folders."""

from __future__ import annotations

import argparse

import pincite
from pincite.cli.arguments import add_json, add_kb, groups_of, print_json, tell
from pincite.cli.ingesting import progress_of, report_as_json, tell_what_is_not_in

HELP = "make the documents of folders equal to their files: what is new or changed comes in, what is gone goes"
EXAMPLE = "pincite sync kb"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_kb(parser)
    parser.add_argument("sources", nargs="*", metavar="SOURCE", help="by name, as the status lists them (default: all)")
    parser.add_argument("--groups", type=groups_of, metavar="A,B", help="who may see the documents that are new")
    parser.add_argument("--allow-empty", action="store_true", help="take a folder that holds no file at its word")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    add_json(parser)


def run(given: argparse.Namespace) -> int:
    """Sync, and say what became of each document that is not in; exit code 1 where a source is in trouble."""
    with pincite.open(given.kb, report=tell) as kb:
        report = kb.sync(
            given.sources or None,
            groups=given.groups,
            allow_empty=given.allow_empty,
            progress=progress_of(given, "syncing"),
        )
    if given.json:
        print_json(report_as_json(report))
    else:
        tell_what_is_not_in(report)
        for name, trouble in report.troubles.items():
            tell(f"trouble: {name}: {trouble}; its documents are kept as they are")
        counts = ", ".join(f"{report.count(state)} {state}" for state in ("added", "updated", "unchanged", "failed"))
        print(f"{counts}, {len(report.deleted)} deleted; generation {report.generation}, {report.seconds:.1f} s")
    return 1 if report.troubles else 0
