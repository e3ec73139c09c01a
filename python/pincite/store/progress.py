"""How far a long call is: told to a callable, or shown as a bar."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pincite.core.arguments import flag

__all__ = ["Progress", "shown"]

Progress = Callable[[float, float, str], None]
"""Takes what is done, all that there is to do (bytes, or questions), and the id of what is under way."""


@contextmanager
def shown(
    progress: bool | Progress, total: int, *, doing: str = "indexing", unit: str = "B"
) -> Iterator[Callable[[float, str], None] | None]:
    """Give the callable that is told of every bit of progress."""
    if callable(progress):
        done = 0.0

        def tell(more: float, id: str) -> None:
            nonlocal done
            done += more
            progress(done, total, id)

        yield tell
    elif flag(progress, "progress") and sys.stderr is not None:
        from tqdm import tqdm

        # disable=None: only where standard error is a terminal
        with tqdm(total=total, unit=unit, unit_scale=unit == "B", disable=None, desc=doing) as bar:

            def advance(more: float, id: str) -> None:
                bar.set_postfix_str(id[-40:], refresh=False)
                bar.update(more)

            yield advance
    else:
        yield None
