"""``pincite rebuild``: another version of an index, beside the one that serves."""

from __future__ import annotations

import argparse
from dataclasses import replace

import pincite
from pincite.cli.arguments import add_json, add_kb, print_json, tell
from pincite.cli.ingesting import progress_of
from pincite.errors import counted

HELP = "cut, index and embed all documents anew beside what serves; swap lets the result serve"
EXAMPLE = "pincite rebuild kb --strategy E --target 1024"

SETTINGS = ("strategy", "target", "overlap", "analyzer", "stemmer", "graph_from")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_kb(parser)
    parser.add_argument("--strategy", help="how documents are cut: structural, or A to F (default: as they are)")
    parser.add_argument("--target", type=int, help="the size of a chunk (default: as it is)")
    parser.add_argument("--overlap", type=int, help="what is embedded of the preceding chunk (default: as it is)")
    parser.add_argument("--analyzer", help="how text becomes terms: unicode or ascii (default: as it is)")
    parser.add_argument("--stemmer", help="a Snowball algorithm, or none (default: as it is)")
    parser.add_argument(
        "--graph-from", type=int, metavar="N", help="give segments of N chunks or more a graph (default: as it is)"
    )
    parser.add_argument("--encoder", "--model", metavar="NAME_OR_PATH", help="the embedding model (default: as it is)")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    add_json(parser)


def run(given: argparse.Namespace) -> int:
    """Build, and say what to do with it."""
    with pincite.open(given.kb, report=tell) as kb:
        settings = {name: getattr(given, name) for name in SETTINGS if getattr(given, name) is not None}
        if settings.get("stemmer") == "none":
            settings["stemmer"] = None
        try:
            report = kb.rebuild(
                config=replace(kb.config, **settings), encoder=given.encoder, progress=progress_of(given, "rebuilding")
            )
        except KeyboardInterrupt:
            tell("pincite: interrupted; what serves is as it was. The same command does the rest.")
            return 130
    if given.json:
        print_json(report.to_dict())
    else:
        print(
            f"version {report.version} built: {counted(report.documents, 'document')}, "
            f"{counted(report.chunks, 'chunk')}, {counted(report.made, 'document')} cut now, {report.seconds:.1f} s\n"
            f"compare it: pincite eval gate {given.kb} {given.kb} GOLD --versions serving built\n"
            f"let it serve: pincite swap {given.kb}"
        )
    return 0
