"""Flat index files: saved and read back, damaged, and forged with sound checksums."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pincite import FlatIndex
from pincite.errors import IncompatibleIndexError, IndexCorruptError
from reference import envelope as reference

STORAGES = ["float32", "float16", "int8"]
ROWS = np.random.default_rng(1).standard_normal((70, 12)).astype(np.float32)
QUERY = ROWS[3]


def saved(path, storage: str) -> dict[str, bytes]:
    FlatIndex.build(ROWS, normalize=True, storage=storage).save(path)
    kind, _, sections = reference.read(path.read_bytes())
    assert kind == "flat"
    return sections


def answer(index: FlatIndex):
    ids, scores = index.search(QUERY, k=50, normalize=True)
    return ids.tolist(), scores.tolist()


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("storage", STORAGES)
def test_a_loaded_index_is_the_saved_one(tmp_path, storage, verify):
    built = FlatIndex.build(ROWS, normalize=True, storage=storage)
    built.save(tmp_path / "flat")
    loaded = FlatIndex.load(tmp_path / "flat", verify=verify)
    assert (len(loaded), loaded.dim, loaded.storage) == (70, 12, storage)
    assert loaded.vectors.tobytes() == built.vectors.tobytes()
    assert answer(loaded) == answer(built)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "flat").read_bytes()


def test_an_empty_index_is_read_back(tmp_path):
    FlatIndex.build(np.empty((0, 5)), storage="int8").save(tmp_path / "flat")
    assert (len(index := FlatIndex.load(tmp_path / "flat")), index.dim) == (0, 5)


def test_another_kind_is_refused(tmp_path):
    (tmp_path / "f").write_bytes(reference.write("bm25", []))
    with pytest.raises(IncompatibleIndexError, match="wanted 'flat'"):
        FlatIndex.load(tmp_path / "f")


@pytest.mark.parametrize("storage", STORAGES)
def test_a_section_missing_or_of_another_length(tmp_path, storage):
    path = tmp_path / "flat"
    sections = saved(path, storage)
    for name, data in sections.items():
        for forged in (None, b"", data[:-1], data[:-4], data + bytes(4)):
            others = {**sections, name: forged}
            path.write_bytes(reference.write("flat", [item for item in others.items() if item[1] is not None]))
            with pytest.raises(IndexCorruptError):
                FlatIndex.load(path)


@pytest.mark.parametrize(
    ("size", "dim", "storage"),
    [
        (70, 13, 0), (71, 12, 0), (0, 12, 0), (70, 0, 0), (2**64 - 1, 12, 0), (2**63, 2, 0), (2**32, 2**32, 0),
        (2**32 - 1, 2**32 - 1, 0), (70, 12, 1), (70, 12, 2), (70, 12, 3), (70, 12, 2**32 - 1), (1, 840, 2),
        (0, 2**31, 2),
    ],
)  # fmt: skip
def test_forged_sizes(tmp_path, size, dim, storage):
    path = tmp_path / "flat"
    sections = saved(path, "float32")
    sections["meta"] = struct.pack("<QQII", size, dim, storage, 0)
    path.write_bytes(reference.write("flat", list(sections.items())))
    with pytest.raises(IndexCorruptError):
        FlatIndex.load(path)


@pytest.mark.parametrize("storage", STORAGES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_forged_values_end_in_an_answer_or_our_error(tmp_path, storage, data):
    path = tmp_path / "flat"
    sections = saved(path, storage)
    name = data.draw(st.sampled_from([name for name in sections if name != "meta"]))
    at = data.draw(st.integers(0, len(sections[name]) - 8))
    value = data.draw(st.one_of(st.sampled_from([struct.pack("<f", x) * 2 for x in (np.nan, np.inf, -np.inf, 3e38)]),
                                st.binary(min_size=8, max_size=8)))  # fmt: skip
    sections[name] = sections[name][: at & ~3] + value + sections[name][(at & ~3) + 8 :]
    path.write_bytes(reference.write("flat", list(sections.items())))
    index = FlatIndex.load(path)
    try:
        ids, scores = answer(index)
    except IndexCorruptError as error:
        assert "no finite number" in str(error)  # noqa: PT017
    else:
        assert len(set(ids)) == 50
        assert all(0 <= i < 70 for i in ids)
        assert np.isfinite(scores).all()
