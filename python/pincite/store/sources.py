"""Files of folders, and the names they have in an index.

A folder is a *source* with a name (its own, unless another is given), and a file's id is that name and its path below
the folder: ``handbook/setup/linux.md``. So ids stay as they are when the folder and the index move together.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pincite.errors import ExtractionError, InvalidInputError
from pincite.store.records import DocumentRecord, SourceFolder

__all__ = [
    "Discovery",
    "FoundFile",
    "discover",
    "file_of",
    "file_of_id",
    "ids_of_file",
    "is_gone",
    "missing_files",
    "require_regular",
]


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to be indexed."""

    id: str
    source: str
    path: Path
    nbytes: int


@dataclass(slots=True)
class Discovery:
    """What lies at some paths.

    Attributes
    ----------
    files : list of FoundFile
        By id.
    ignored : list of (str, str)
        What was passed over, with the reason.
    sources : dict of str to SourceFolder
        By name, those that are new or have moved, or become whole.
    """

    files: list[FoundFile] = field(default_factory=list)
    ignored: list[tuple[str, str]] = field(default_factory=list)
    sources: dict[str, SourceFolder] = field(default_factory=dict)


def discover(
    paths: Iterable[Path], *, known: Mapping[str, SourceFolder], index_folder: Path, name: str | None = None
) -> Discovery:
    """Find the files at `paths`.

    Folders are searched to any depth. Names that begin with a full stop, links to folders or out of the folder, and the
    index's own folder are passed over, and said so.

    Parameters
    ----------
    paths : iterable of Path
        Files and folders.
    known : mapping of str to SourceFolder
        The sources there are, by name.
    index_folder : Path
        Where the index lies.
    name : str, optional
        What to call the source, where a folder's own name will not do.

    Raises
    ------
    InvalidInputError
        If a path does not exist, or another folder has the source's name already.
    """
    found = Discovery()
    roots = {label: Path(folder.root) for label, folder in known.items()}
    whole_ones = {roots[label] for label, folder in known.items() if folder.whole}
    files: dict[Path, None] = {}
    for path in paths:
        if not path.exists():
            raise InvalidInputError(f"there is nothing at {path}; give a file or a folder that exists")
        whole = path.resolve()
        if _leads_out(path, whole, roots.values()):
            found.ignored.append((str(path), "a link out of the folder"))
            continue
        is_folder = whole.is_dir()
        root = whole if is_folder else whole.parent
        # A folder whose files were added one by one is no source of all that lies in it.
        around = whole_ones if is_folder else {*roots.values()}
        if name is not None or not any(root.is_relative_to(other) for other in around):
            own = next((label for label, other in roots.items() if other == root), root.name or "root")
            label = _free_name(own if name is None else name, root, roots)
            roots[label] = root
            found.sources[label] = SourceFolder(str(root), whole=is_folder)
            if is_folder:
                whole_ones.add(root)
        files.update(dict.fromkeys(_files(whole, index_folder.resolve(), found.ignored)))
    for file in files:
        label, root = _owner(file, roots)
        below = file.relative_to(root).as_posix()
        try:
            below.encode()
            nbytes = file.stat().st_size
        except UnicodeEncodeError:
            found.ignored.append((ascii(str(file)), "its name is not Unicode; rename it"))
        except OSError as error:
            found.ignored.append((str(file), f"cannot be read: {error.strerror}"))
        else:
            found.files.append(FoundFile(f"{label}/{below}", label, file, nbytes))
    found.files.sort(key=lambda file: file.id)
    return found


def _leads_out(path: Path, whole: Path, roots: Iterable[Path]) -> bool:
    """Whether a path that is a source, or lies in one, has become a link out of it, or goes by way of one."""
    # As it is written, without a look at links, and with those alone followed that its folder is reached by.
    places = [Path(os.path.abspath(path)), path.parent.resolve() / path.name]  # noqa: PTH100
    return any(place.is_relative_to(root) and not whole.is_relative_to(root) for root in roots for place in places)


def _owner(file: Path, roots: Mapping[str, Path]) -> tuple[str, Path]:
    """Return the source that a file belongs to, with its folder: of those around it, the nearest."""
    around = [(label, root) for label, root in roots.items() if file.is_relative_to(root)]
    return max(around, key=lambda pair: len(pair[1].parts))


def _free_name(name: str, root: Path, roots: Mapping[str, Path]) -> str:
    if not name or "/" in name or name != name.strip():
        raise InvalidInputError(f"name is {name!r}, wanted a name without '/' and without white space around it")
    known = next((label for label, folder in roots.items() if folder == root and label != name), None)
    if known is not None:
        raise InvalidInputError(f"the index calls {root} {known!r} already, given was {name!r}; leave the name out")
    other = roots.get(name)
    if other is not None and root not in {other, other.resolve()} and other.is_dir():
        raise InvalidInputError(
            f"the index calls {other} {name!r} already, so {root} needs another name; give name= (on the command "
            "line: --name)"
        )
    return name


def _files(path: Path, index_folder: Path, ignored: list[tuple[str, str]]) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return

    def refused(error: OSError) -> None:
        ignored.append((str(error.filename), f"cannot be read: {error.strerror}"))

    for folder, folders, names in os.walk(path, onerror=refused):
        here = Path(folder)
        for name in sorted(folders):
            if reason := _why_not(here / name, index_folder):
                folders.remove(name)
                ignored.append((str(here / name), reason))
        folders.sort()
        for name in sorted(names):
            if name.startswith("."):
                ignored.append((str(here / name), "hidden"))
            elif (here / name).is_symlink() and not (here / name).exists():
                ignored.append((str(here / name), "a link to nothing"))
            elif (here / name).is_symlink() and not (here / name).resolve().is_relative_to(path):
                ignored.append((str(here / name), "a link out of the folder"))
            else:
                yield here / name


def _why_not(folder: Path, index_folder: Path) -> str | None:
    if folder.name.startswith("."):
        return "hidden"
    if folder.is_symlink():
        return "a link to a folder"
    if folder == index_folder or (folder / "catalog.sqlite").is_file():
        return "an index"
    return None


def file_of(record: DocumentRecord, sources: Mapping[str, str]) -> Path | None:
    """Return the file that a document was read from; None if it was given as a string."""
    if record.source is None or record.source not in sources:
        return None
    return file_of_id(record.id, record.source, sources)


def file_of_id(id: str, source: str, sources: Mapping[str, str]) -> Path:
    """Return the file of an id, whether or not there is a document of it."""
    return Path(sources[source], id[len(source) + 1 :])


def require_regular(path: Path, id: str) -> None:
    """Refuse to read what `discover` would not find at the place of an id, whatever lay there before.

    Raises
    ------
    ExtractionError
        If it is no regular file, or only a link to a folder or out of the source's folder leads to one.
    OSError
        If it cannot be looked at.
    """
    root = path.parents[id.count("/") - 1]
    # A source's folder was without links when it was noted.
    straight = path.parent.resolve() == path.parent and path.resolve().is_relative_to(root)
    if not straight or not path.is_file():  # a pipe would keep its reader waiting
        raise ExtractionError(f"{id}: no regular file of its folder", reason="unreadable")


def ids_of_file(uri: str, sources: Mapping[str, str]) -> list[str]:
    """Return the ids that the file of a file: URI may have."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return []
    path = Path(unquote(parts.path))
    return [
        f"{name}/{path.relative_to(root).as_posix()}" for name, root in sources.items() if path.is_relative_to(root)
    ]


def missing_files(paths: Iterable[Path], live: Iterable[tuple[str, str]], sources: Mapping[str, str]) -> list[str]:
    """Return the documents that were read from below some paths and whose files are not there any more.

    Nor is a file there whose folder has become a source of its own since: it has another id now. One that cannot be
    looked for, as its folder cannot be read, is not missing. `live` are the sources and ids of
    the documents that were read from files.
    """
    below = [path.resolve() for path in paths]
    roots = {name: Path(root) for name, root in sources.items()}
    missing = []
    for source, id in live:
        file = file_of_id(id, source, sources)
        if not any(file.is_relative_to(path) for path in below):
            continue
        if is_gone(file) or _owner(file, roots)[0] != source:
            missing.append(id)
    return missing


def is_gone(file: Path) -> bool:
    """Return whether a file is not there; one that cannot be looked for is not gone."""
    try:
        file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False
