"""Run every study and write its tables into docs/evaluation.md.

python studies/run.py                          all of them
python studies/run.py pipelines refusal        some

A table goes where the page has ``<!-- NAME -->``, up to the next ``<!-- end -->``. The tables hold no timings, so a
second run changes nothing.
"""

from __future__ import annotations

import importlib
import time
from pathlib import Path

from setting import ROOT, parser, say, setting_of

STUDIES = ("chunking", "pipelines", "refusal")
PAGE = ROOT / "docs" / "evaluation.md"


def main() -> None:
    """Run, fill in, and say how long each took."""
    arguments = parser(__doc__)
    arguments.add_argument("studies", nargs="*", default=list(STUDIES), metavar="STUDY", help=", ".join(STUDIES))
    given = arguments.parse_args()
    setting = setting_of(given)
    for name in given.studies:
        say(f"== {name}")
        started = time.perf_counter()
        for place, table in importlib.import_module(name).tables(setting).items():
            fill(PAGE, place, table)
        say(f"== {name} took {(time.perf_counter() - started) / 60:.1f} minutes")


def fill(page: Path, place: str, table: str) -> None:
    """Put a table in its place of a page.

    Raises
    ------
    SystemExit
        If the page has no such place, or several.
    """
    opening, closing = f"<!-- {place} -->\n", "<!-- end -->"
    before, *rest = page.read_text(encoding="utf-8").split(opening)
    if len(rest) != 1 or closing not in rest[0]:
        raise SystemExit(f"{page} has {len(rest)} places for {place!r}, wanted one: {opening}... {closing}")
    page.write_text(f"{before}{opening}{table.rstrip()}\n{rest[0][rest[0].index(closing) :]}", encoding="utf-8")


if __name__ == "__main__":
    main()
