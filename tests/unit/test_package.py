"""What the package promises before any work is done: quick to import, one version, errors that are theirs."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pincite
from pincite import errors

ROOT = Path(__file__).resolve().parents[2]


def test_import_loads_no_model_runtime_and_no_parser():
    program = (
        "import sys, numpy; before = set(sys.modules); import pincite;"
        "import json; print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    loaded = json.loads(out)
    roots = {name.split(".")[0] for name in loaded}
    assert "pincite" in roots
    assert not roots & {
        "onnxruntime",
        "tokenizers",
        "markdown_it",
        "Stemmer",
        "sqlite3",
        "importlib_metadata",
    }
    assert len(loaded) <= 40, loaded


def test_the_version_is_the_same_everywhere():
    version = pincite.__version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["version"] == version
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+)", changelog, re.MULTILINE).group(1) == version


def test_every_public_name_exists_and_is_documented():
    for name in pincite.__all__:
        value = getattr(pincite, name)
        if name != "__version__":
            assert inspect.getdoc(value), name


@pytest.mark.parametrize("name", [name for name in errors.__all__ if name.endswith("Error")])
def test_every_error_is_a_pincite_error(name):
    assert issubclass(getattr(errors, name), errors.PinciteError)


def test_the_core_has_a_twin_for_every_error():
    header = (ROOT / "cpp/include/pincite/error.hpp").read_text(encoding="utf-8")
    for name in re.findall(r"^class (\w+) : public Error", header, re.MULTILINE):
        assert hasattr(errors, name), name
