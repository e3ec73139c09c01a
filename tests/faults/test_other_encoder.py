"""An index is refused an encoder that gives other vectors, even one of the same name and dimension."""

from __future__ import annotations

import shutil

import pytest

import pincite
import tiny_bert
from pincite.errors import IncompatibleIndexError
from stub_models import StubReranker

DOCUMENT = pincite.Document(id="cat", text="# The cat\n\nThe cat sat on the mat.\n")


def changed(folder, what):
    """Change one thing of a model that leaves its name and dimension."""
    if what == "model_sha256":
        tiny_bert.save_safetensors(folder / "model.safetensors", tiny_bert.weights(9))
    elif what == "window_tokens":
        (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 16}', encoding="utf-8")
    else:
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling/config.json").write_text('{"pooling_mode_cls_token": true}', encoding="utf-8")


@pytest.mark.parametrize("what", ["model_sha256", "window_tokens", "pooling"])
def test_a_changed_model_of_the_same_name_is_refused_and_both_are_named(tiny_encoder_folder, tmp_path, what):
    """Case I01: other weights, maximal length or pooling alone; questions and writes are refused."""
    other = shutil.copytree(tiny_encoder_folder, tmp_path / "other" / tiny_encoder_folder.name)
    changed(other, what)
    stamps = [dict(pincite.Encoder.load(folder).stamp) for folder in (tiny_encoder_folder, other)]
    assert [stamp["dim"] for stamp in stamps] == [tiny_bert.HIDDEN] * 2
    with pincite.open(tmp_path / "kb", create=True, encoder=tiny_encoder_folder, reranker=StubReranker()) as kb:
        kb.add(DOCUMENT, progress=False)
        found = kb.search("the cat", max_distance=None).hits
        assert found
        with pincite.open(tmp_path / "kb", encoder=other, reranker=StubReranker()) as wrong:
            for ask in (
                lambda: wrong.search("the cat"),
                lambda: wrong.context("the cat"),
                lambda: wrong.add(pincite.Document(id="dog", text="A dog."), progress=False),
                lambda: wrong.update(DOCUMENT, progress=False),
            ):
                with pytest.raises(IncompatibleIndexError) as caught:
                    ask()
                for stamp in stamps:
                    assert f"{what}={stamp[what]!r}" in str(caught.value)
        assert kb.generation == 1
        assert kb.search("the cat", max_distance=None).hits == found


def test_a_handle_notices_a_changed_model_that_comes_later(tiny_encoder_folder, tmp_path):
    """Case I01: the files are exchanged under an index that was built with them, and refused each time."""
    folder = shutil.copytree(tiny_encoder_folder, tmp_path / "models" / tiny_encoder_folder.name)
    with pincite.open(tmp_path / "kb", create=True, encoder=folder, reranker=StubReranker()) as kb:
        kb.add(DOCUMENT, progress=False)
        assert kb.search("the cat", max_distance=None).hits
    changed(folder, "model_sha256")
    with pincite.open(tmp_path / "kb", encoder=folder, reranker=StubReranker()) as kb:
        with pytest.raises(IncompatibleIndexError, match="built with another encoder"):
            kb.search("the cat", max_distance=None)
        with pytest.raises(IncompatibleIndexError, match="built with another encoder"):
            kb.search("the cat", max_distance=None)
