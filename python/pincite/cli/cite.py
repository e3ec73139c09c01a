"""``pincite cite``: from a citation's URI back to the passage."""

from __future__ import annotations

import argparse

from pincite.cli.arguments import add_groups, add_json, add_kb, open_kb, origin_line, print_json, tell

HELP = "print the passage that the URI of a citation names"
EXAMPLE = "pincite cite kb 'docs/guide.md#char=120,480'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_kb(parser)
    parser.add_argument("uri", metavar="URI", help="as `pincite search` prints it; quote it for the shell")
    add_groups(parser)
    add_json(parser)


def run(given: argparse.Namespace) -> int:
    """Resolve the URI; exit code 1 if the document has changed since it was made."""
    with open_kb(given) as kb:
        passage = kb.resolve(given.uri, groups=given.groups)
    if given.json:
        print_json(passage.to_dict())
    else:
        first, last = passage.lines
        tell(f"{' > '.join((passage.document_id, *passage.heading_path))}, lines {first}-{last}")
        print(passage.quote, flush=True)
        if line := origin_line(passage.origin, passage.uri):
            tell(line)
    if passage.integrity == "unchecked":
        tell("pincite: the URI has no md5=, so it cannot be said whether the document has changed since it was made")
    if passage.integrity == "changed":
        tell("pincite: the document has changed since this URI was made; shown is what stands at that place now")
        return 1
    return 0
