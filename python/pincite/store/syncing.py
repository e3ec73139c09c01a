"""What of the sources is gone, and what keeps us from knowing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pincite.store.sources import Discovery

__all__ = ["Comparison", "compare"]

UNREADABLE = "cannot be read"


@dataclass(slots=True)
class Comparison:
    """What became of the files that documents of some sources were read from.

    Attributes
    ----------
    gone : list of str
        Documents whose files are not there any more, or are passed over now, by id.
    troubles : dict of str to str
        By source: why its folder could not be compared; empty where it was. Nothing of a source in trouble is gone.
    """

    gone: list[str] = field(default_factory=list)
    troubles: dict[str, str] = field(default_factory=dict)


def compare(
    roots: dict[str, Path], found: Discovery, live: Iterable[tuple[str, str]], *, allow_empty: bool
) -> Comparison:
    """Compare documents with what was found in the folders of their sources.

    A folder that is not there, or that is empty while the index has documents of it, is taken for one that is not
    mounted; so nothing of it is gone, unless `allow_empty` (of an empty one). Nor is anything while some of it cannot
    be read.

    Parameters
    ----------
    roots : dict of str to Path
        The sources that are compared.
    found : Discovery
        What lies in their folders.
    live : iterable of (str, str)
        The sources and ids of the documents that were read from files.
    """
    result = Comparison()
    of_source: dict[str, list[str]] = {name: [] for name in roots}
    for source, id in live:
        if source in of_source:
            of_source[source].append(id)
    files: dict[str, int] = dict.fromkeys(roots, 0)
    for file in found.files:
        if file.source in files:
            files[file.source] += 1
    for name, root in roots.items():
        trouble = _trouble(root, of_source[name], files[name], found.ignored, allow_empty)
        result.troubles[name] = trouble
        if not trouble:
            there = {file.id for file in found.files}
            result.gone += [id for id in of_source[name] if id not in there]
    return result


def _trouble(
    root: Path, documents: Sequence[str], files: int, ignored: Sequence[tuple[str, str]], allow_empty: bool
) -> str:
    if not root.is_dir():
        return f"{root} is not there"
    if (now := root.resolve()) != root:
        return f"{root} has become a link to {now}; add that folder, under the same name, if it is the same"
    unreadable = [path for path, why in ignored if why.startswith(UNREADABLE) and Path(path).is_relative_to(root)]
    if unreadable:
        return f"{unreadable[0]} {UNREADABLE}"
    if documents and not files and not allow_empty:
        return f"{root} holds no file any more, and the index has {len(documents)} of it"
    return ""
