"""A forged "hnsw" or "hnsw-graph" file ends in a named error."""

from __future__ import annotations

import numpy as np
import pytest

import pincite
from pincite.errors import IncompatibleIndexError, IndexCorruptError
from reference import envelope as reference


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    rows = np.random.default_rng(1).standard_normal((300, 8)).astype(np.float32)
    path = tmp_path_factory.mktemp("hnsw") / "index"
    pincite.HnswIndex.build(rows, m=4, normalize=True).save(path)
    return path


def test_a_graph_alone_has_no_vectors_and_is_refused_over_others(tmp_path):
    rows = np.random.default_rng(1).standard_normal((300, 8)).astype(np.float32)
    flat = pincite.FlatIndex.build(rows, normalize=True)
    pincite.HnswIndex.over(flat, m=4).save_graph(tmp_path / "graph")
    kind, _, sections = reference.read((tmp_path / "graph").read_bytes())
    assert (kind, len(sections), "vectors" in sections) == ("hnsw-graph", 6, False)
    for fewer in (rows[:-1], rows[:, :-1], rows[:0]):
        with pytest.raises(IndexCorruptError, match="its graph is over 300 vectors of 8 dimensions, given were"):
            pincite.HnswIndex.load_graph(tmp_path / "graph", pincite.FlatIndex.build(fewer, normalize=True))
    with pytest.raises(IncompatibleIndexError, match="hnsw-graph"):
        pincite.HnswIndex.load(tmp_path / "graph")


def forge(saved, path, name, change):
    """Rewrite one section; the envelope's checksums are right again."""
    *_, sections = reference.read(saved.read_bytes())
    sections[name] = change(sections[name])
    path.write_bytes(reference.write("hnsw", list(sections.items())))


def put(dtype, at, value):
    def change(section):
        values = np.frombuffer(section, dtype).copy()
        values[at] = value
        return values.tobytes()

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("meta", put("<u8", 0, 299)),
        ("meta", put("<u8", 0, 2**63)),
        ("meta", put("<u8", 1, 16)),  # hnswlib opened a 32-dimension index as 16
        ("meta", put("<u8", 1, 0)),
        ("meta", put("<u4", 4, 0)),
        ("meta", put("<u4", 6, 300)),
        ("meta", lambda section: section[:-1]),
        ("vectors", lambda section: section[:-4]),
        ("base_offsets", put("<u8", 0, 1)),
        ("base_offsets", put("<u8", 7, 2**60)),
        ("base_offsets", put("<u8", 300, 5)),
        ("base_links", put("<u4", 9, 300)),
        ("base_links", put("<u4", 9, 2**32 - 1)),
        ("base_links", lambda section: section + bytes(4)),
        ("upper_lists", put("<u4", 1, 2**31)),
        ("upper_lists", put("<u4", slice(0, 300), 0)),
        ("upper_offsets", lambda _: b""),
        ("upper_offsets", put("<u8", 2, 2**62)),
        ("upper_links", put("<u4", 0, 300)),
    ],
)
def test_forged_structure_is_refused(saved, tmp_path, name, change):
    forge(saved, tmp_path / "forged", name, change)
    with pytest.raises(IndexCorruptError, match="forged"):
        pincite.HnswIndex.load(tmp_path / "forged")


def test_an_entry_point_below_the_top_is_refused(saved, tmp_path):
    *_, sections = reference.read(saved.read_bytes())
    levels = np.diff(np.frombuffer(sections["upper_lists"], "<u4").astype(np.int64))
    assert levels.max() > 0
    forge(saved, tmp_path / "forged", "meta", put("<u4", 6, int(levels.argmin())))
    with pytest.raises(IndexCorruptError, match="above the entry point"):
        pincite.HnswIndex.load(tmp_path / "forged")


def test_an_upper_link_to_a_row_of_level_0_is_refused(saved, tmp_path):
    *_, sections = reference.read(saved.read_bytes())
    levels = np.diff(np.frombuffer(sections["upper_lists"], "<u4").astype(np.int64))
    forge(saved, tmp_path / "forged", "upper_links", put("<u4", 0, int(levels.argmin())))
    with pytest.raises(IndexCorruptError, match="which is not there"):
        pincite.HnswIndex.load(tmp_path / "forged")


@pytest.mark.parametrize("path", ["graph", "exact"])
def test_forged_vectors_end_in_an_error(saved, tmp_path, path):
    forge(saved, tmp_path / "forged", "vectors", put("<f4", slice(None), np.nan))
    index = pincite.HnswIndex.load(tmp_path / "forged")
    with pytest.raises(IndexCorruptError, match="no vector of norm 1"):
        index._search(np.eye(1, 8, dtype=np.float32), path=path)
