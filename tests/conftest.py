"""Shared by all tests: Hypothesis profiles and the folder of shared data."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("default", deadline=None, derandomize=True, max_examples=150)
settings.register_profile("soak", deadline=None, max_examples=5000, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data and golden files beside the checkout; tests that need it skip without it."""
    folder = Path(os.environ.get("PINCITE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if not (folder / "golden").is_dir():
        pytest.skip(f"no shared data at {folder} (set PINCITE_SHARED to its place)")
    return folder


@pytest.fixture
def memory_path():
    """A folder in memory where that can be had: for hundreds of commits, each synced, where no power fails."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        yield Path(name)


@pytest.fixture(scope="session")
def tiny_encoder_folder(tmp_path_factory) -> Path:
    """An encoder of random weights (tests/tiny_bert.py) as a folder. Copy it before changing anything."""
    from tiny_bert import save_encoder

    return save_encoder(tmp_path_factory.mktemp("models") / "tiny-encoder")


@pytest.fixture(scope="session")
def tiny_reranker_folder(tmp_path_factory) -> Path:
    """A cross-encoder of random weights as a folder. Copy it before changing anything."""
    from tiny_bert import save_reranker

    return save_reranker(tmp_path_factory.mktemp("models") / "tiny-reranker")


@pytest.fixture(scope="session")
def minilm():
    """The real encoder, pulled at first need; without it tests skip, or fail where PINCITE_REQUIRE_MODEL is 1."""
    from pincite.errors import ModelFileError
    from pincite.models.encoder import Encoder

    try:
        return Encoder.load()
    except ModelFileError as error:
        if os.environ.get("PINCITE_REQUIRE_MODEL") == "1":
            raise
        pytest.skip(f"the model cannot be had: {error}")
