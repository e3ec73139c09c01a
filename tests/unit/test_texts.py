"""Canonical texts on disk: every slice, line and length is that of the str."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.errors import IndexCorruptError
from pincite.store import texts as texts_module
from pincite.store.texts import CanonicalTexts, TextTable

NO_STAMP = bytes(32)
ALPHABET = st.characters(exclude_categories=("Cs",))
WILD = st.text(st.one_of(ALPHABET, st.sampled_from("\r\n \t\u2028\x85é📷")), max_size=200)


def written(path, documents):
    table = TextTable()
    for text in documents:
        table.add(text)
    table.write(path, stamp=NO_STAMP)


def stored(tmp_path_factory, documents):
    path = tmp_path_factory.mktemp("texts") / "texts.pin"
    written(path, documents)
    return CanonicalTexts.open(path)


@pytest.fixture(autouse=True)
def close_checkpoints(monkeypatch):
    """Let short texts have many checkpoints."""
    monkeypatch.setattr(texts_module, "STRIDE", 7)


@given(documents=st.lists(WILD, max_size=4), data=st.data())
def test_a_slice_is_that_of_the_str(tmp_path_factory, documents, data):
    texts = stored(tmp_path_factory, documents)
    assert len(texts) == len(documents)
    for number, text in enumerate(documents):
        assert texts.text(number) == text
        assert texts.length(number) == len(text)
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, len(text)))
        assert texts.slice(number, start, end) == text[start:end]
        assert texts.crlf_before(number, end) == len(re.findall("\r\n", text[:end]))


@given(text=WILD, data=st.data())
def test_lines_are_counted_as_in_commonmark(tmp_path_factory, text, data):
    """T04: LF, CRLF and CR end a line, U+2028 and U+0085 do not."""
    texts = stored(tmp_path_factory, [text])
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    ends = [found.end() for found in re.finditer(r"\r\n|\r|\n", text)]
    first = 1 + sum(line_end <= start for line_end in ends)
    last = 1 + sum(line_end <= max(start, end - 1) for line_end in ends)
    assert texts.lines(0, start, end) == (first, last)


def test_tables_that_contradict_each_other_are_refused(tmp_path):
    from pincite.core.mapped_file import MappedFile, write_mapped

    path = tmp_path / "texts.pin"
    written(path, ["one", "two"])
    file = MappedFile.open(path, kind="texts")
    sections = {name: np.array(file.array(name, np.uint8)) for name in file.names}
    for name in sorted(sections):
        if name.startswith("document_"):
            shorter = {**sections, name: sections[name][:-8]}
            write_mapped(tmp_path / "bad.pin", kind="texts", sections=shorter, stamp=NO_STAMP)
            with pytest.raises(IndexCorruptError, match="contradict"):
                CanonicalTexts.open(tmp_path / "bad.pin")


def test_bytes_that_are_no_utf8_are_named(tmp_path):
    from pincite.core.mapped_file import MappedFile, write_mapped

    path = tmp_path / "texts.pin"
    written(path, ["abc"])
    file = MappedFile.open(path, kind="texts")
    sections = {name: np.array(file.array(name, np.uint8)) for name in file.names}
    sections["utf8"][1] = 0xFF
    write_mapped(path, kind="texts", sections=sections, stamp=NO_STAMP)
    with pytest.raises(IndexCorruptError, match="byte 1"):
        CanonicalTexts.open(path).text(0)
