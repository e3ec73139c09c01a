"""Damaged, forged and impossible files: an error of ours, never a wrong answer, a crash or a hang."""

from __future__ import annotations

import errno
import os
import struct
import sys

import pytest

from pincite.core.mapped_file import MappedFile, write_mapped
from pincite.errors import IncompatibleIndexError, IndexCorruptError, StorageError
from reference import envelope as reference

SECTIONS = [("one", b"first section"), ("two", bytes(range(40)))]
SOUND = reference.write("test", SECTIONS, bytes(range(32)))
TABLE_END = reference.HEADER_NBYTES + reference.ENTRY.size * len(SECTIONS)
U64_MAX = 2**64 - 1


@pytest.fixture
def opened(tmp_path):
    path = tmp_path / "file"

    def read(data: bytes, kind: str = "test", *, verify: bool = True):
        path.write_bytes(data)
        file = MappedFile.open(path, kind=kind, verify=verify)
        return file.stamp, {name: bytes(file.section(name)) for name in file.names}

    return read


def test_the_sound_file_is_read(opened):
    assert opened(SOUND) == (bytes(range(32)), dict(SECTIONS))


@pytest.mark.parametrize("verify", [True, False])
def test_cut_short_at_every_byte_and_longer_by_one(opened, verify):
    for length in range(len(SOUND)):
        with pytest.raises(IndexCorruptError):
            opened(SOUND[:length], verify=verify)
    with pytest.raises(IndexCorruptError):
        opened(SOUND + b"\0", verify=verify)


def test_every_flipped_bit_is_seen(opened):
    """All of header and table, one a byte of padding and sections."""
    for at in range(len(SOUND)):
        for bit in range(8) if at < TABLE_END else (at % 8,):
            damaged = bytearray(SOUND)
            damaged[at] ^= 1 << bit
            with pytest.raises((IndexCorruptError, IncompatibleIndexError)):
                opened(bytes(damaged))


def test_without_verify_header_and_table_are_still_checked(opened):
    for at in range(TABLE_END):
        damaged = bytearray(SOUND)
        damaged[at] ^= 0x10
        with pytest.raises((IndexCorruptError, IncompatibleIndexError)):
            opened(bytes(damaged), verify=False)
    damaged = SOUND[:-1] + b"\xff"
    assert opened(damaged, verify=False)[1]["two"] == SECTIONS[1][1][:-1] + b"\xff"


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"version": 0}, "format version 0"),
        ({"version": 2}, "format version 2"),
        ({"byte_order": 0x04030201}, "byte order"),
    ],
)
def test_other_versions_and_byte_orders_are_told_from_damage(opened, fields, says):
    with pytest.raises(IncompatibleIndexError, match=says):
        opened(reference.seal(b"test", [], b"", **fields))


def test_another_kind_is_named(opened):
    with pytest.raises(IncompatibleIndexError, match="kind 'test', wanted 'flat'"):
        opened(SOUND, "flat")


@pytest.mark.parametrize("name", [b"\xff", "ü".encode(), b"a b", b"\n"])
def test_names_that_are_no_ascii_are_damage(opened, name):
    with pytest.raises(IndexCorruptError, match="kind is not ASCII"):
        opened(reference.seal(name, [], b""))
    with pytest.raises(IndexCorruptError, match="section 0 is not ASCII"):
        opened(reference.seal(b"test", [(name, 192, 0, 0)], bytes(48)))


@pytest.mark.parametrize("file_size", [0, 95, 97, 2**32, 2**63, U64_MAX])
def test_forged_file_sizes(opened, file_size):
    with pytest.raises(IndexCorruptError, match="its header says"):
        opened(reference.seal(b"test", [], b"", file_size=file_size))


@pytest.mark.parametrize("count", [1, 256, 257, 2**31, 2**32 - 1])
def test_forged_section_counts(opened, count):
    with pytest.raises(IndexCorruptError, match="sections, more than fit"):
        opened(reference.seal(b"test", [], b"", section_count=count))


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize(
    ("offset", "nbytes"),
    [
        (192, 2), (192, U64_MAX), (192, 2**63), (192, U64_MAX - 191), (0, 1), (64, 1), (193, 0), (256, 0),
        (U64_MAX, 1), (U64_MAX, U64_MAX), (2**64 - 64, 64), (2**63, 1), (192, 0),
    ],
)  # fmt: skip
def test_forged_sections(opened, offset, nbytes, verify):
    body = bytes(48) + b"x"  # one section of one byte belongs at 192
    entry = (b"one", offset, nbytes, reference.crc32c(b"x"))
    with pytest.raises(IndexCorruptError):
        opened(reference.seal(b"test", [entry], body), verify=verify)
    sound = (b"one", 192, 1, reference.crc32c(b"x"))
    assert opened(reference.seal(b"test", [sound], body), verify=verify)[1] == {"one": b"x"}


def test_sections_that_overlap_or_share_a_name(opened):
    first = (b"one", 192, 0, 0)
    with pytest.raises(IndexCorruptError, match="named twice"):
        opened(reference.seal(b"test", [first, first], b""))
    with pytest.raises(IndexCorruptError, match="outside its place"):
        opened(reference.seal(b"test", [(b"one", 192, 10, 0), (b"two", 192, 10, 0)], bytes(10)), verify=False)


def test_reserved_and_padding_bytes_must_be_zero(opened):
    for at in (80, 91):
        damaged = bytearray(SOUND)
        damaged[at] = 1
        damaged[92:96] = struct.pack("<I", reference.crc32c(bytes(damaged[:92])))
        with pytest.raises(IndexCorruptError, match="zero"):
            opened(bytes(damaged))


def test_a_missing_file(tmp_path):
    with pytest.raises(StorageError, match="none") as caught:
        MappedFile.open(tmp_path / "none", kind="test")
    assert caught.value.errno == errno.ENOENT


def test_a_folder(tmp_path):
    with pytest.raises(StorageError) as caught:
        MappedFile.open(tmp_path, kind="test")
    assert caught.value.errno in (errno.EISDIR, errno.EACCES)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX special files")
def test_a_device_or_pipe_is_refused_at_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in ("/dev/zero", str(pipe)):
        with pytest.raises(StorageError, match="not a regular file"):
            MappedFile.open(path, kind="test")


def write(path) -> None:
    write_mapped(path, kind="test", sections={"s": b"new"})


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_folder(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(SOUND)
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StorageError) as caught:
            write(path)
    finally:
        tmp_path.chmod(0o700)
    assert caught.value.errno == errno.EACCES
    assert path.read_bytes() == SOUND
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder(tmp_path):
    with pytest.raises(StorageError) as caught:
        write(tmp_path / "none" / "file")
    assert caught.value.errno == errno.ENOENT
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_way_is_left_and_no_temporary_file_stays(tmp_path):
    path = tmp_path / "file"
    (path / "inside").mkdir(parents=True)
    with pytest.raises(StorageError) as caught:
        write(path)
    assert caught.value.errno in (errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY, errno.EACCES)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs resource limits as on Linux")  # noqa: PTH110
def test_a_full_disk_leaves_the_old_file(tmp_path):
    import resource
    import signal

    path = tmp_path / "file"
    path.write_bytes(SOUND)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, limits[1]))
    try:
        with pytest.raises(StorageError) as caught:
            write(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert caught.value.errno == errno.EFBIG
    assert path.read_bytes() == SOUND
    assert list(tmp_path.iterdir()) == [path]
