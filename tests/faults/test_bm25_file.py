"""Forged BM25 files: a named error, never a crash."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import pincite
from pincite.errors import IncompatibleIndexError, IndexCorruptError
from reference import envelope as reference


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "index.bm25"
    pincite.BM25Index.build_fields(
        {"title": ["one two", "two"], "body": ["two three two", "four"]}, stemmer="english"
    ).save(path)
    return path


def forge(path, name, values):
    """Replace a section and make all checksums right again."""
    _, stamp, sections = reference.read(path.read_bytes())
    sections[name] = values
    if values is None:
        del sections[name]
    path.write_bytes(reference.write("bm25", list(sections.items()), stamp))


def u32(*values):
    return np.array(values, dtype="<u4").tobytes()


def u64(*values):
    return np.array(values, dtype="<u8").tobytes()


META = struct.Struct("<QIIdd")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("meta", META.pack(2**63, 2, 1, 1.2, 0.75)),
        ("meta", META.pack(2, 0, 1, 1.2, 0.75)),
        ("meta", META.pack(2, 2, 7, 1.2, 0.75)),
        ("meta", META.pack(2, 2, 1, float("nan"), 0.75)),
        ("meta", META.pack(2, 2, 1, 1.2, -1.0)),
        ("meta", b"short"),
        ("boosts", struct.pack("<2d", 1.0, float("inf"))),
        ("fields", b"title\xffody"),
        ("fields_offsets", u64(0, 9, 5)),
        ("stemmer", b"\xff"),
        ("lengths", u32(0, 0, 0, 0)),
        ("lengths", u32(2, 3, 1)),
        ("terms_offsets", u64(0, 2**63)),
        ("terms_offsets", b""),
        ("terms", b"\xff" * 14),
        ("terms_of_words", u32(0, 1, 2, 99)),
        ("ids", u32(0, 9, 0, 0, 1)),
        ("ids", u32(0, 0, 0, 0, 0)),
        ("tfs", u32(*[0] * 10)),
        ("tfs", u32(*[2**32 - 1] * 10)),
        ("posting_offsets", u64(0, 2, 1, 3, 5)),
        ("position_offsets", u64(0, 0, 0, 0, 7)),
        ("positions", u32(0)),
        ("frontier_offsets", u64(0, 2**40)),
        ("frontier", b""),
        ("frontier", u32(*[1, 0] * 5)),
        ("positions", None),
        ("words", None),
    ],
)
@pytest.mark.parametrize("verify", [True, False])
def test_forged_sections_are_refused(saved, name, values, verify):
    forge(saved, name, values)
    with pytest.raises(IndexCorruptError):
        pincite.BM25Index.load(saved, verify=verify)


@pytest.mark.parametrize("seed", range(60))
def test_forged_values_never_crash(saved, seed):
    random = np.random.default_rng(seed)
    *_, sections = reference.read(saved.read_bytes())
    name = sorted(sections)[seed % len(sections)]
    values = bytearray(sections[name])
    for _ in range(int(random.integers(1, 4))):
        if values:
            values[int(random.integers(len(values)))] = int(random.integers(256))
    forge(saved, name, bytes(values))
    try:
        index = pincite.BM25Index.load(saved)
        index.search('two "two three" t* unseen', operators=True)
        index.explain('two "two three" t*', 0, operators=True)
    except (IndexCorruptError, IncompatibleIndexError):
        pass  # an unknown stemmer is incompatible
