"""Mapped files: the format against its pure-Python twin, both ways, and the arrays that view them."""

from __future__ import annotations

import gc
import stat
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite import _core
from pincite.core.mapped_file import MappedFile, write_mapped
from pincite.errors import IndexCorruptError, InvalidInputError
from reference import envelope as reference

ascii_names = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=23)
files = st.tuples(
    ascii_names.map(lambda name: name[:15]),
    st.lists(st.tuples(ascii_names, st.binary(max_size=200)), max_size=6, unique_by=lambda section: section[0]),
    st.binary(min_size=32, max_size=32),
)


def contents(path, kind):
    file = MappedFile.open(path, kind=kind)
    return file.stamp, {name: bytes(file.section(name)) for name in file.names}


def test_crc32c_is_the_one_of_rfc_3720():
    assert reference.crc32c(bytes(32)) == 0x8A9136AA
    assert reference.crc32c(b"\xff" * 32) == 0x62A8AB43
    assert reference.crc32c(bytes(range(32))) == 0x46DD794E
    assert reference.crc32c(b"123456789") == 0xE3069283


@given(files)
def test_same_bytes_as_the_twin_and_read_back_by_both(file):
    kind, sections, stamp = file
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        write_mapped(path, kind=kind, sections=dict(sections), stamp=stamp)
        written = path.read_bytes()
        assert written == reference.write(kind, sections, stamp)
        assert reference.read(written) == (kind, stamp, dict(sections))
        assert contents(path, kind) == (stamp, dict(sections))
        assert [entry.name for entry in Path(folder).iterdir()] == ["file"]


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 4095, 4096, 100_003])
def test_sections_of_any_length(tmp_path, size):
    data = bytes(i * 7 & 0xFF for i in range(size))
    sections = [("a", data), ("empty", b""), ("b", data)]
    path = tmp_path / "file"
    write_mapped(path, kind="test", sections=dict(sections))
    assert path.read_bytes() == reference.write("test", sections)
    assert contents(path, "test") == (bytes(32), dict(sections))


@pytest.mark.parametrize(
    ("kind", "sections", "stamp", "says"),
    [
        ("", {}, bytes(32), "name '' has 0 bytes"),
        ("k" * 16, {}, bytes(32), "16 bytes, wanted 1 to 15"),
        ("ü", {}, bytes(32), "visible ASCII"),
        (3, {}, bytes(32), "kind is of type int, wanted str"),
        ("k", {"": b""}, bytes(32), "name '' has 0 bytes"),
        ("k", {"s" * 24: b""}, bytes(32), "24 bytes, wanted 1 to 23"),
        ("k", {"a b": b""}, bytes(32), "visible ASCII"),
        ("k", {1: b""}, bytes(32), "name is of type int, wanted str"),
        ("k", {"s": "text"}, bytes(32), "section 's' is of type str, wanted bytes"),
        ("k", {"s": np.array([None])}, bytes(32), "section 's' has dtype object"),
        ("k", [("s", b"")], bytes(32), "sections is of type list, wanted a dict"),
        ("k", {f"s{i}": b"" for i in range(257)}, bytes(32), "at most 256"),
        ("k", {}, bytes(31), "31 bytes, wanted 32"),
        ("k", {}, "x" * 32, "stamp is of type str, wanted 32 bytes"),
    ],
)
def test_bad_arguments_are_named_and_write_nothing(tmp_path, kind, sections, stamp, says):
    with pytest.raises(InvalidInputError, match=says):
        write_mapped(tmp_path / "file", kind=kind, sections=sections, stamp=stamp)
    assert list(tmp_path.iterdir()) == []


def test_a_section_is_added_once(tmp_path):
    nothing = np.zeros(0, np.uint8)
    with pytest.raises(InvalidInputError, match="'s' was added twice"):
        _core.write_envelope(
            str(tmp_path / "file"), kind="k", sections=[("s", nothing), ("s", nothing)], stamp=bytes(32)
        )
    assert list(tmp_path.iterdir()) == []


ARRAYS = [
    np.arange(6, dtype=np.int64),
    np.arange(6, dtype=">i4"),
    np.array([[1.5, 2.5], [3.5, 4.5]], dtype=np.float32).T,
    np.arange(20, dtype=np.uint16)[::-3],
    np.array([True, False]),
    np.array(7, dtype=np.uint8),
    np.zeros((0, 3)),
    np.array([(1, 2.5)], dtype=[("id", "<u4"), ("weight", "<f8")]),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}{a.shape}")
def test_an_array_comes_back_as_its_values(tmp_path, array):
    write_mapped(tmp_path / "file", kind="k", sections={"first": b"?", "a": array, "last": b"!"})
    read = MappedFile.open(tmp_path / "file", kind="k").array("a", array.dtype.newbyteorder("<"))
    assert read.dtype == array.dtype.newbyteorder("<")
    assert read.tolist() == array.reshape(-1).tolist()
    assert read.ctypes.data % 64 == 0


def test_sections_are_views_that_cannot_be_written_and_outlive_the_file(tmp_path):
    path = tmp_path / "file"
    write_mapped(path, kind="k", sections={"a": np.arange(5), "t": b"text"})
    file = MappedFile.open(path, kind="k")
    array, again, text = file.array("a", np.int64), file.array("a", np.int64), file.section("t")
    assert np.shares_memory(array, again)
    write_mapped(path, kind="k", sections={"a": np.zeros(5, np.int64), "t": b"next"})
    del file, again
    gc.collect()
    assert array.tolist() == list(range(5))
    assert bytes(text) == b"text"
    assert text.readonly
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        array.flags.writeable = True
    with pytest.raises(TypeError):
        text[0] = 1
    assert contents(path, "k")[1]["t"] == b"next"


def test_what_a_file_does_not_hold_is_named(tmp_path):
    write_mapped(tmp_path / "file", kind="k", sections={"s": b"12345"})
    file = MappedFile.open(tmp_path / "file", kind="k")
    for read in (file.section, lambda name: file.array(name, np.uint8)):
        with pytest.raises(IndexCorruptError, match="section 'none' is missing"):
            read("none")
    with pytest.raises(IndexCorruptError, match="'s' has 5 bytes, which does not fit values of 4"):
        file.array("s", np.float32)
    for dtype in (object, "S", "V0"):
        with pytest.raises(InvalidInputError, match="dtype has dtype"):
            file.array("s", dtype)
    for open_badly in (lambda: MappedFile.open(3, kind="k"), lambda: MappedFile.open("f", kind="k", verify=1)):
        with pytest.raises(InvalidInputError):
            open_badly()
    with pytest.raises(TypeError, match=r"MappedFile\.open"):
        MappedFile()


def test_256_sections_are_read_back(tmp_path):
    sections = [(f"s{i}", bytes([i])) for i in range(256)]
    path = tmp_path / "file"
    write_mapped(path, kind="k", sections=dict(sections))
    assert contents(path, "k")[1] == dict(sections)


def test_a_file_takes_the_place_of_the_old_one(tmp_path):
    path = tmp_path / "Grüße 文件"
    for content in (b"old", b"new"):
        write_mapped(path, kind="k", sections={"s": content})
    assert contents(path, "k")[1] == {"s": b"new"}
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_the_file_is_as_readable_as_any_other(tmp_path):
    write_mapped(tmp_path / "ours", kind="k", sections={})
    (tmp_path / "other").touch()
    ours, other = (stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ours", "other"))
    assert ours == other
