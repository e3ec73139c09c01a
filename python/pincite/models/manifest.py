"""What a model's folder must hold, file by file: written at the pull, checked ever after."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from pincite.errors import ModelFileError

__all__ = ["MANIFEST", "Entry", "Manifest", "sha256_of"]

MANIFEST = "pincite-model.json"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file: its size in bytes and its SHA-256 in hexadecimal."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The files of a model by their path in its folder (with ``/``), and where they came from."""

    name: str
    source: str
    revision: str | None
    files: Mapping[str, Entry]

    @classmethod
    def of(cls, folder: Path, *, name: str, source: str, revision: str | None) -> Manifest:
        """Hash what lies in a folder."""
        files = {path: Entry((folder / path).stat().st_size, sha256_of(folder / path)) for path in _listed(folder)}
        return cls(name, source, revision, files)

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest of a folder.

        Raises
        ------
        ModelFileError
            If there is none, or it is none.
        """
        path = folder / MANIFEST
        try:
            document = json.loads(path.read_bytes())
            files = {name: Entry(**entry) for name, entry in document["files"].items()}
            if any(PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts for name in files):
                raise ValueError("a file outside the folder")
            return cls(document["name"], document["source"], document["revision"], files)
        except OSError as error:
            raise ModelFileError(f"cannot read {path}: {error.strerror or error}; {_remedy(folder)}") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ModelFileError(f"{path} is no manifest ({error}); {_remedy(folder)}") from None

    def write(self, folder: Path) -> None:
        """Write it into the folder."""
        document: dict[str, Any] = {
            "name": self.name,
            "source": self.source,
            "revision": self.revision,
            "files": {name: {"size": entry.size, "sha256": entry.sha256} for name, entry in sorted(self.files.items())},
        }
        (folder / MANIFEST).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")

    def check(self, folder: Path, binding: Mapping[str, str]) -> dict[str, str]:
        """Hash the folder and return the SHA-256 of every file by name.

        Parameters
        ----------
        folder : Path
            The model's folder.
        binding : mapping of str to str
            SHA-256 that files must have whatever the manifest says.

        Raises
        ------
        ModelFileError
            If a file is changed (both hashes are named), missing or not of the model.
        """
        present, wanted_files = set(_listed(folder)), self.files.keys() | binding.keys()
        for what, names in (("lacks", wanted_files - present), ("also has", present - self.files.keys())):
            if names:
                raise ModelFileError(
                    f"{folder} {what} {', '.join(sorted(names))}, compared with its {MANIFEST}; {_remedy(folder)}"
                )
        for name, entry in self.files.items():
            found = sha256_of(folder / name)
            wanted = binding.get(name, entry.sha256)
            if found != wanted:
                raise ModelFileError(f"{folder / name} has SHA-256 {found}, wanted {wanted}; {_remedy(folder)}")
        return {name: binding.get(name, entry.sha256) for name, entry in self.files.items()}


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal.

    Raises
    ------
    ModelFileError
        If it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelFileError(f"cannot read {path}: {error.strerror or error}") from error


def _listed(folder: Path) -> list[str]:
    """The files of a folder and its folders, without the manifest."""
    found = (Path(root, name).relative_to(folder) for root, _, names in os.walk(folder) for name in names)
    return sorted(path.as_posix() for path in found if path.as_posix() != MANIFEST)


def _remedy(folder: Path) -> str:
    return f"remove {folder} or pull the model again"
