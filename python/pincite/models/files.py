"""Where models lie: a folder given by path, the bundle, or the cache, filled by a pull. Every file is hashed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pincite.errors import InvalidInputError, ModelFileError
from pincite.models.fetch import Report, fetch
from pincite.models.known import KNOWN, Bundle, Kind, Known, Source, known
from pincite.models.manifest import MANIFEST, Manifest, sha256_of

__all__ = ["ModelEntry", "ModelFolder", "cache_folder", "listing", "locate", "pull", "verify"]

SCRATCH = ".pull-"
ABANDONED_AFTER_S = 24 * 3600
"""A pull's scratch folder of this age belongs to nobody any more."""


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """The files of a model, hashed.

    Attributes
    ----------
    name : str
        The name it is known by; of a folder given by path, the folder's.
    path : Path
        The folder.
    weights : Path
        `model.safetensors`, or the one .onnx file.
    weights_sha256, tokenizer_sha256 : str
        In hexadecimal.
    config : mapping
        `config.json`.
    identity : tuple of int
        What tells the hashed weights from a file that has taken their place since.
    """

    name: str
    path: Path
    weights: Path
    weights_sha256: str
    tokenizer_sha256: str
    config: Mapping[str, Any]
    identity: tuple[int, ...]

    def settings(self, name: str) -> Mapping[str, Any]:
        """Return another JSON file of the folder; empty if there is none."""
        return _json(self.path / name) if (self.path / name).is_file() else {}

    def positive(self, key: str) -> int:
        """Return a size that `config.json` states.

        Raises
        ------
        ModelFileError
            If it does not.
        """
        value = self.config.get(key)
        if type(value) is not int or value < 1:
            raise ModelFileError(f"{self.path / 'config.json'} says {key} = {value!r}, wanted a positive integer")
        return value

    def check_unchanged(self) -> None:
        """Refuse weights that have changed since they were hashed.

        Raises
        ------
        ModelFileError
            If they have.
        """
        if _identity(self.weights) != self.identity:
            raise ModelFileError(f"{self.weights} has changed since it was hashed; load the model again")


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A line of `listing`: `state` is "bundled", "cached" or "not pulled", `size` bytes on disk, else None."""

    name: str
    kind: Kind
    state: str
    path: Path | None
    size: int | None
    source: str


def cache_folder() -> Path:
    """Return where pulled models lie: `PINCITE_CACHE`, or ``pincite`` in the user's cache folder of the platform."""
    if own := os.environ.get("PINCITE_CACHE"):
        return Path(own).expanduser().absolute()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).absolute() / "pincite"


def locate(name_or_path: str | os.PathLike[str], *, report: Report | None = None) -> ModelFolder:
    """Find a model: a folder by path first, then the bundle and the cache, then a pull.

    Hashes its weights and tokenizer, and compares what has a manifest or a line in the table of known models.

    Raises
    ------
    ModelFileError
        If it cannot be found or fetched, or a file is not what it should be.
    """
    given = _given(name_or_path)
    if Path(given).is_dir():
        path = Path(given).absolute()
        pulled = (path / MANIFEST).is_file()
        return _opened(path.name, path, Manifest.read(path).check(path, {}) if pulled else {})
    if not isinstance(name_or_path, str):
        raise ModelFileError(f"there is no folder {given}")
    model = known(given)
    path = _place(model)
    if not path.is_dir():
        pull(given, report=report)
    return _opened(model.name, path, _check(model, path))


def pull(name: str, *, source: Source | None = None, report: Report | None = None) -> Path:
    """Fetch a model into the cache unless it is there, whole, and return its folder.

    The files are written to a folder beside, flushed to disk, checked and renamed into place: an interrupted pull
    leaves nothing under the model's name, and of two at the same time one wins.

    Parameters
    ----------
    name : str
        Of the table of known models, or ``org/name[@revision]`` on the Hugging Face Hub.
    source : Source, optional
        The only one to try (default: all of the model's, in order).
    report : callable, optional
        Takes a line about what is happening.

    Raises
    ------
    ModelFileError
        If no source gives the model; every source's reason is named.
    """
    tell = report or (lambda line: None)
    model = known(_given(name))
    place = _place(model)
    if place.is_dir():
        try:
            _check(model, place)
        except ModelFileError as error:
            if _bundle(model):
                raise ModelFileError(f"{error}; it is part of Pincite: install Pincite again") from None
            tell(f"fetching again: {error}")
        else:
            tell(f"{model.name} is at {place}")
            return place
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _sweep(place.parent)
        scratch = Path(tempfile.mkdtemp(dir=place.parent, prefix=SCRATCH))
    except OSError as error:
        raise ModelFileError(
            f"cannot write to the cache {place.parent}: {error.strerror or error}; set PINCITE_CACHE to another folder"
        ) from error
    try:
        _fill(model, (source,) if source else model.sources, scratch / "model", tell)
        _settle(model, scratch, place)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    tell(f"{model.name} is at {place}")
    return place


def verify(name: str) -> list[str]:
    """Hash all files of a bundled or cached model again and return their names.

    Raises
    ------
    ModelFileError
        If a file is changed (both hashes are named), missing or not of the model, or the model is not there.
    """
    model = known(_given(name))
    place = _place(model)
    if not place.is_dir():
        raise ModelFileError(f"{model.name} is not in the cache ({place}); pull it first")
    return sorted(_check(model, place))


def listing() -> list[ModelEntry]:
    """Return the known models, then what else the cache holds, by name. Nothing is hashed or fetched."""
    entries = [_entry(model, _place(model)) for model in KNOWN.values()]
    places = {entry.path for entry in entries}
    folder = cache_folder() / "models"
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path in places or path.name.startswith(SCRATCH) or not (path / MANIFEST).is_file():
            continue
        with contextlib.suppress(ModelFileError):
            entries.append(_entry(known(Manifest.read(path).name), path))
    return entries


def _entry(model: Known, path: Path) -> ModelEntry:
    source = str(model.sources[0])
    if not path.is_dir():
        return ModelEntry(model.name, model.kind, "not pulled", None, None, source)
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    if _bundle(model):
        return ModelEntry(model.name, model.kind, "bundled", path, size, source)
    with contextlib.suppress(ModelFileError):
        source = Manifest.read(path).source
    return ModelEntry(model.name, model.kind, "cached", path, size, source)


def _given(name_or_path: Any) -> str:
    try:
        given = os.fspath(name_or_path)
    except TypeError:
        given = None
    if not isinstance(given, str) or not given or "\0" in given:
        raise InvalidInputError(f"the model is {name_or_path!r}, wanted a name or a folder")
    return given


def _bundle(model: Known) -> Bundle | None:
    return next((source for source in model.sources if isinstance(source, Bundle)), None)


def _place(model: Known) -> Path:
    if bundle := _bundle(model):
        return bundle.folder
    return cache_folder() / "models" / model.name.replace("/", "--")


def _check(model: Known, place: Path) -> dict[str, str]:
    if not _bundle(model):
        return Manifest.read(place).check(place, model.sha256)
    for name, wanted in model.sha256.items():
        found = sha256_of(place / name)
        if found != wanted:
            raise ModelFileError(f"{place / name} has SHA-256 {found}, wanted {wanted}; install Pincite again")
    return dict(model.sha256)


def _fill(model: Known, sources: tuple[Source, ...], folder: Path, tell: Report) -> None:
    """Fetch from the first source that gives the right files, and write the manifest."""
    reasons = []
    for source in sources:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            revision = fetch(source, folder, tell)
            manifest = Manifest.of(folder, name=model.name, source=str(source), revision=revision)
            manifest.check(folder, model.sha256)
        except ModelFileError as error:
            tell(f"no luck with {source}: {error}")
            reasons.append(f"{source}: {error}")
            continue
        manifest.write(folder)
        return
    raise ModelFileError(
        f"cannot fetch {model.name}. Tried {'. Tried '.join(reasons)}. Without a network, put config.json, "
        "tokenizer.json and model.safetensors into a folder by hand and give its path in place of the name"
    )


def _settle(model: Known, scratch: Path, place: Path) -> None:
    for path in (scratch / "model").rglob("*"):
        _flush(path)
    _flush(scratch / "model")
    if place.is_dir() and not _whole(model, place):
        place.rename(scratch / "broken")
    try:
        (scratch / "model").rename(place)
    except OSError as error:
        if not place.is_dir():
            raise ModelFileError(f"cannot rename the model into {place}: {error.strerror or error}") from error
        _check(model, place)  # another pull was quicker
    _flush(place.parent)


def _whole(model: Known, place: Path) -> bool:
    try:
        _check(model, place)
    except ModelFileError:
        return False
    return True


def _flush(path: Path) -> None:
    if path.is_dir() and sys.platform == "win32":
        return  # folders cannot be opened there, and renames are journalled
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sweep(folder: Path) -> None:
    """Remove what pulls that were killed left behind."""
    for path in folder.glob(SCRATCH + "*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > ABANDONED_AFTER_S:
                shutil.rmtree(path, ignore_errors=True)


def _opened(name: str, path: Path, hashes: Mapping[str, str]) -> ModelFolder:
    """The folder with its hashes, those of files that were hashed just now among them."""
    for needed in ("config.json", "tokenizer.json"):
        if not (path / needed).is_file():
            raise ModelFileError(f"{path} has no {needed}, which a model's folder needs")
    weights = path / "model.safetensors"
    if not weights.is_file():
        graphs = sorted([*path.glob("*.onnx"), *path.glob("onnx/*.onnx")])
        if len(graphs) != 1:
            found = ", ".join(graph.relative_to(path).as_posix() for graph in graphs) or "none"
            raise ModelFileError(f"{path} has no model.safetensors; wanted that or one .onnx file, found {found}")
        weights = graphs[0]
    identity = _identity(weights)  # before the hash, so that a change during it shows
    return ModelFolder(
        name=name,
        path=path,
        weights=weights,
        weights_sha256=hashes.get(weights.relative_to(path).as_posix()) or sha256_of(weights),
        tokenizer_sha256=hashes.get("tokenizer.json") or sha256_of(path / "tokenizer.json"),
        config=_json(path / "config.json"),
        identity=identity,
    )


def _identity(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError as error:
        raise ModelFileError(f"cannot read {path}: {error.strerror or error}") from error
    return status.st_ino, status.st_size, status.st_mtime_ns


def _json(path: Path) -> Mapping[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise ModelFileError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{path} is no JSON: {error}") from None
    if not isinstance(document, dict):
        raise ModelFileError(f"{path} holds a {type(document).__name__}, wanted an object")
    return document
