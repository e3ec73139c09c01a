"""``pincite index``: documents into an index."""

from __future__ import annotations

import argparse
from pathlib import Path

import pincite
from pincite.cli.arguments import add_json, groups_of, print_json, tell
from pincite.cli.ingesting import progress_of, report_as_json, tell_what_is_not_in
from pincite.config import DEFAULT_ENCODER, IndexConfig
from pincite.errors import InvalidInputError, counted

HELP = "put files and folders into an index; what has not changed is skipped"
EXAMPLE = "pincite index docs --into kb"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a folder, searched to any depth, or a file")
    parser.add_argument("--into", required=True, metavar="KB", help="the index's folder; made if there is none")
    parser.add_argument("--name", help="what to call the folder in ids, where its own name will not do")
    defaults = IndexConfig()
    parser.add_argument(
        "--strategy", help=f"how a new index cuts documents: structural, or A to F (default: {defaults.strategy})"
    )
    parser.add_argument("--target", type=int, help=f"a new index's size of a chunk (default: {defaults.target})")
    parser.add_argument(
        "--graph-from", type=int, metavar="N", help="give a new index's segments of N chunks or more a graph"
    )
    parser.add_argument("--encoder", metavar="NAME_OR_PATH", help="a new index's embedding model")
    parser.add_argument(
        "--groups", type=groups_of, metavar="A,B", help="who may see the documents (default: who might before)"
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    add_json(parser)


def run(given: argparse.Namespace) -> int:
    """Index, and say what became of each document that is not in."""
    for path in given.paths:
        if not Path(path).exists():  # said before an index is made
            raise InvalidInputError(f"there is nothing at {path}; give a file or a folder that exists")
    with _opened(given) as kb:
        try:
            report = kb.add(given.paths, name=given.name, groups=given.groups, progress=progress_of(given))
        except KeyboardInterrupt:
            tell(
                f"pincite: interrupted; {counted(kb.status().documents, 'document is in', 'documents are in')} "
                f"(generation {kb.generation}). The same command does the rest."
            )
            return 130
        serving = kb.status().documents
    if given.json:
        print_json(report_as_json(report))
    else:
        tell_what_is_not_in(report)
        counts = ", ".join(f"{report.count(state)} {state}" for state in ("added", "updated", "unchanged", "failed"))
        print(f"{counts}; {counted(report.chunks, 'chunk')}, generation {report.generation}, {report.seconds:.1f} s")
    return 0 if serving or not report.documents else 1


def _opened(given: argparse.Namespace) -> pincite.KnowledgeBase:
    """Open the index, or make it once it is sure that there are settings and a model to make it with."""
    names = ("strategy", "target", "graph_from")
    settings = {name: getattr(given, name) for name in names if getattr(given, name) is not None}
    if (Path(given.into) / "catalog.sqlite").exists():
        kb = pincite.open(given.into, encoder=given.encoder, report=tell)
        for name, value in settings.items():
            own = getattr(kb.config, name)
            if value != own:
                option = f"--{name.replace('_', '-')}"
                raise InvalidInputError(
                    f"{given.into} was built {f'with {option} {own}' if own is not None else f'without {option}'}, "
                    f"given was {value}; leave {option} out, or make another index"
                )
        return kb
    encoder = pincite.Encoder.load(given.encoder or DEFAULT_ENCODER, report=tell)
    return pincite.open(given.into, create=True, config=IndexConfig(**settings), encoder=encoder, report=tell)
