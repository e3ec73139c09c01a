"""Texts and spans that were forged, with all checksums right: an error of ours when they are opened or read."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest

from native_files import belong_together, native_files
from pincite.core.mapped_file import MappedFile, write_mapped
from pincite.errors import IndexCorruptError
from pincite.store.columns import rises
from pincite.store.segment import Segment
from soaks.outcome import folder_in_memory

INT64 = np.iinfo(np.int64)
VALUES = [0, 1, 2, 3, 7, 1024, 2**31, 2**62, INT64.max, -1, -2, -(2**31), INT64.min]
ROUNDS = 2_000


@pytest.fixture(scope="module")
def files():
    with folder_in_memory() as folder:
        yield {file.name: file for file in native_files(folder)}


def sections_of(file) -> dict[str, bytes]:
    mapped = MappedFile.open(file.path, kind=file.name)
    return {name: bytes(mapped.section(name)) for name in mapped.names}


@contextmanager
def forging(file):
    """Give what replaces sections of a file; put the file back afterwards."""
    sound, folder = sections_of(file), file.path.parent
    before = {each: each.read_bytes() for each in folder.iterdir()}

    def forge(sections):
        write_mapped(file.path, kind=file.name, sections={**sound, **sections})
        if file.name != "spans":
            belong_together(folder)

    try:
        yield forge
    finally:
        for each, content in before.items():
            each.write_bytes(content)


def forged(content: bytes, random: np.random.Generator) -> bytes:
    """Put another number or byte for one, drop one, or add one."""
    how = random.integers(8)
    if how == 0 or len(content) < 8:
        at = int(random.integers(len(content) + 1))
        return content[:at] + random.bytes(1) + content[at + int(random.integers(2)) :]
    numbers = np.frombuffer(content[: len(content) // 8 * 8], dtype=np.int64)
    at = int(random.integers(len(numbers)))
    if how == 1:
        return np.delete(numbers, at).tobytes()
    values = np.array([*VALUES, *numbers, numbers[at] ^ 1], dtype=np.int64)
    value = values[int(random.integers(len(values)))]
    if how == 2:
        return np.insert(numbers, at, value).tobytes()
    changed = numbers.copy()
    changed[at] = value
    return changed.tobytes() + content[len(numbers) * 8 :]


@pytest.mark.parametrize("name", ["texts", "spans"])
def test_forged_sections_are_named_or_say_something(files, name):
    file = files[name]
    sound, random = sections_of(file), np.random.default_rng(6)
    refused = 0
    with forging(file) as forge:
        for number in range(ROUNDS):
            sections = dict(sound)
            for _ in range(1 + number % 2):
                section = list(sections)[int(random.integers(len(sections)))]
                sections[section] = forged(sections[section], random)
            forge(sections)
            try:
                file.says(file.load(verify=True))
            except IndexCorruptError as error:
                assert str(file.path.parent) in str(error)  # noqa: PT017
                refused += 1
    assert ROUNDS // 2 < refused < ROUNDS


@pytest.mark.parametrize(
    "path",
    [b"", b"{", b"5", b"null", b'"ab"', b"[5]", b"[[]]", b"[" * 100_000, b'["\xff"]', b"[" + b"1" * 5_000 + b"]"],
)
def test_headings_that_are_none_are_named(files, path):
    file = files["spans"]
    sound = sections_of(file)
    with forging(file) as forge:
        forge({
            "strings": path,
            "string_ends": np.full(len(sound["string_ends"]) // 8, len(path)),
            "chunk_path": bytes(len(sound["chunk_path"])),
        })  # fmt: skip
        segment = Segment(file.path.parent)
        with pytest.raises(IndexCorruptError, match=r"spans\.pin: string 0 is no"):
            segment.spans.chunk(0)


@pytest.mark.parametrize(
    ("name", "column", "value"),
    [
        ("spans", "chunk_end", 2**40), ("spans", "chunk_start", -1), ("spans", "chunk_covered_start", INT64.min),
        ("spans", "chunk_document", 1), ("spans", "section_end", 2**40), ("spans", "section_start", -1),
        ("spans", "section_heading_end", INT64.max), ("spans", "document_chunks", -1),
        ("texts", "document_points", 1), ("texts", "document_checkpoints", 1), ("texts", "document_lines", 2**40),
        ("texts", "document_crlf", INT64.min), ("texts", "checkpoints", -1), ("texts", "checkpoints", 2**40),
    ],
)  # fmt: skip
@pytest.mark.parametrize("verify", [True, False])
def test_a_place_that_is_none_is_named_when_the_segment_is_opened(files, name, column, value, verify):
    file = files[name]
    numbers = np.frombuffer(sections_of(file)[column], dtype=np.int64).copy()
    numbers[0] = value
    with forging(file) as forge:
        forge({column: numbers})
        with pytest.raises(IndexCorruptError, match=str(file.path.parent)):
            file.load(verify=verify)


def test_numbers_whose_differences_overflow_do_not_rise():
    numbers = np.array([0, 2**62 + 2**61, -(2**62) - 2**61, 1])
    assert (np.diff(numbers) >= 0).all()
    assert not rises(numbers, 1)
