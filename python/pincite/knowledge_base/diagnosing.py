"""What is wrong with an index, its models and what it runs on, or soon will be."""

from __future__ import annotations

import os
import platform
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pincite import __version__
from pincite.core.arguments import path_text
from pincite.core.kernels import default_kernel
from pincite.errors import ModelFileError, PinciteError
from pincite.models import files
from pincite.models.encoder import Encoder
from pincite.models.known import DEFAULT_RERANKER
from pincite.store.diagnosis import Finding, of_documents, of_error, of_folder, of_upkeep, opened
from pincite.store.files import naming_refusals
from pincite.store.folder import IndexFolder, require_index
from pincite.types import TextEncoder

__all__ = ["Diagnosis", "diagnose"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was looked at, and what was found.

    Attributes
    ----------
    path : str
    findings : tuple of Finding
    """

    path: str
    findings: tuple[Finding, ...]

    @property
    def healthy(self) -> bool:
        """Whether there is no problem; notes are none."""
        return not any(finding.level == "problem" for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis as JSON has it."""
        return {"path": self.path, "healthy": self.healthy, "findings": [asdict(each) for each in self.findings]}


def diagnose(path: str | os.PathLike[str], *, encoder: str | os.PathLike[str] | TextEncoder | None = None) -> Diagnosis:
    """Look at an index, its models and what it runs on, and say what does not work, or will not hold, and what to do.

    Nothing is written or fetched. It does not read all of the index: `pincite.verify` does.

    Parameters
    ----------
    path : path
        The index's folder.
    encoder : name, path or TextEncoder, optional
        By default the one that the index was built with, where that has a name that can be found.

    Raises
    ------
    IndexNotFoundError
        If there is no index.

    Examples
    --------
    >>> import pincite
    >>> [each.what for each in pincite.diagnose("kb").findings if each.level == "problem"]  # doctest: +SKIP
    []
    """
    place = Path(path_text(path)).resolve()
    with naming_refusals(place, "look at the index"):
        require_index(place)
        findings = [_software(), *of_folder(place)]
        folder = opened(place)
        if isinstance(folder, Finding):
            return Diagnosis(str(place), (*findings, folder))
        with closing(folder):
            for look in (of_upkeep, of_documents):
                findings += _as_far_as_possible(look(folder))
            findings += _as_far_as_possible(_models(folder, encoder))
    return Diagnosis(str(place), tuple(findings))


def _as_far_as_possible(findings: Iterator[Finding]) -> Iterator[Finding]:
    try:
        yield from findings
    except PinciteError as error:
        yield of_error(error)


def _software() -> Finding:
    packages = ", ".join(map(_version_of, ("numpy", "onnxruntime", "tokenizers")))
    runs_on = f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {packages}"
    machine = f"{default_kernel()} kernels on {platform.machine()} with {os.cpu_count()} CPUs"
    return Finding("fine", "software", f"pincite {__version__}, {runs_on}; {machine}")


def _version_of(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:  # or another package brings the module
        return f"{package} not installed by this name"


def _models(folder: IndexFolder, given: str | os.PathLike[str] | TextEncoder | None) -> Iterator[Finding]:
    try:
        folder.check_analyzer()
    except PinciteError as error:
        yield Finding("problem", "analyzer", str(error))
    yield _encoder(folder, given)
    try:
        files.verify(DEFAULT_RERANKER)
    except ModelFileError as error:
        yield Finding("problem", "reranker", str(error))
    else:
        yield Finding("fine", "reranker", DEFAULT_RERANKER)


def _encoder(folder: IndexFolder, given: str | os.PathLike[str] | TextEncoder | None) -> Finding:
    stamp = folder.version.encoder
    if stamp is None:
        return Finding("fine", "encoder", "none yet: the first document binds the index to one")
    name = str(stamp.get("model", ""))
    try:
        if given is None:  # not `Encoder.load`, which would fetch it
            if not any(entry.name == name for entry in files.listing()):
                return Finding(
                    "note", "encoder", f"{name or 'one of its own making'}, which has no place where it could be found",
                    "give it where the index is opened, as encoder=, or --encoder",
                )  # fmt: skip
            given = name
        if isinstance(given, str) and not Path(given).is_dir():
            files.verify(given)
        folder.check_encoder(Encoder.load(given) if isinstance(given, (str, os.PathLike)) else given)
    except PinciteError as error:
        pull = isinstance(error, ModelFileError) and given in {None, name}
        advice = f"`pincite models pull {name}`" if pull else ""
        return Finding("problem", "encoder", str(error), advice)
    return Finding("fine", "encoder", f"{name}, gives the vectors that the index was built with")
