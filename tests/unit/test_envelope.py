"""The core's file format against its pure-Python twin, both ways."""

from __future__ import annotations

import stat
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite import _core
from pincite.errors import InvalidInputError
from reference import envelope as reference

ascii_names = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=23)
files = st.tuples(
    ascii_names.map(lambda name: name[:15]),
    st.lists(st.tuples(ascii_names, st.binary(max_size=200)), max_size=6, unique_by=lambda section: section[0]),
    st.binary(min_size=32, max_size=32),
)


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
        _core.write_envelope(str(path), kind=kind, sections=sections, stamp=stamp)
        written = path.read_bytes()
        assert written == reference.write(kind, sections, stamp)
        assert reference.read(written) == (kind, stamp, dict(sections))
        assert _core.read_envelope(str(path), kind=kind) == (stamp, dict(sections))
        assert [entry.name for entry in Path(folder).iterdir()] == ["file"]


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 4095, 4096, 100_003])
def test_sections_of_any_length(tmp_path, size):
    data = bytes(i * 7 & 0xFF for i in range(size))
    sections = [("a", data), ("empty", b""), ("b", data)]
    path = tmp_path / "file"
    _core.write_envelope(str(path), kind="test", sections=sections, stamp=bytes(32))
    assert path.read_bytes() == reference.write("test", sections)
    assert _core.read_envelope(str(path), kind="test") == (bytes(32), dict(sections))


@pytest.mark.parametrize(
    ("kind", "sections", "stamp", "says"),
    [
        ("", [], bytes(32), "name '' has 0 bytes"),
        ("k" * 16, [], bytes(32), "16 bytes, wanted 1 to 15"),
        ("k", [("", b"")], bytes(32), "name '' has 0 bytes"),
        ("k", [("s" * 24, b"")], bytes(32), "24 bytes, wanted 1 to 23"),
        ("k", [("s", b""), ("s", b"")], bytes(32), "'s' was added twice"),
        ("k", [(f"s{i}", b"") for i in range(257)], bytes(32), "at most 256"),
        ("k", [], bytes(31), "31 bytes, wanted 32"),
    ],
)
def test_bad_arguments_are_named_and_write_nothing(tmp_path, kind, sections, stamp, says):
    with pytest.raises(InvalidInputError, match=says):
        _core.write_envelope(str(tmp_path / "file"), kind=kind, sections=sections, stamp=stamp)
    assert list(tmp_path.iterdir()) == []


def test_256_sections_are_read_back(tmp_path):
    sections = [(f"s{i}", bytes([i])) for i in range(256)]
    path = str(tmp_path / "file")
    _core.write_envelope(path, kind="k", sections=sections, stamp=bytes(32))
    assert _core.read_envelope(path, kind="k")[1] == dict(sections)


def test_a_file_takes_the_place_of_the_old_one(tmp_path):
    path = tmp_path / "Grüße 文件"
    for content in (b"old", b"new"):
        _core.write_envelope(str(path), kind="k", sections=[("s", content)], stamp=bytes(32))
    assert _core.read_envelope(str(path), kind="k")[1] == {"s": b"new"}
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_the_file_is_as_readable_as_any_other(tmp_path):
    _core.write_envelope(str(tmp_path / "ours"), kind="k", sections=[], stamp=bytes(32))
    (tmp_path / "other").touch()
    ours, other = (stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("ours", "other"))
    assert ours == other
