"""`pincite.verify`: all that is damaged is told of, with the documents that it touches, and nothing is written."""

from __future__ import annotations

import errno
import shutil
import sqlite3
import threading
from pathlib import Path

import pytest

import pincite
from native_files import belong_together
from pincite.config import IndexConfig
from pincite.core.mapped_file import MappedFile, write_mapped
from pincite.errors import IncompatibleIndexError, IndexCorruptError, IndexNotFoundError, StorageError
from pincite.store import catalog_rows, merging, verifying
from pincite.store.spans import BESIDE
from pincite.store.texts import CanonicalTexts, TextTable
from small_index import document, opened


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Two segments with graphs, of three documents and one, and a version beside the one that serves."""
    path = tmp_path_factory.mktemp("sound") / "kb"
    with opened(path, config=IndexConfig(graph_from=1)) as kb:
        kb.add([document(number) for number in range(4)], progress=False)
        kb.add(document(0, version=1), progress=False)
        kb.rebuild(config=IndexConfig(target=64), progress=False)
    return path


@pytest.fixture
def copy(sound, memory_path):
    return shutil.copytree(sound, memory_path / "kb")


def segments(path):
    """The folders of the segments of the version that serves, oldest first."""
    with opened(path) as kb:
        return [path / "segments" / segment.id for segment in kb._folder.documents.segments()]


def flip(file, at=-9):
    content = bytearray(file.read_bytes())
    content[at] ^= 1
    file.write_bytes(content)


def files_of(path):
    return {
        file: (file.stat().st_mtime_ns, file.read_bytes())
        for file in path.rglob("*")
        if file.is_file() and file.suffix != ".sqlite-shm"
    }


def test_a_sound_index_is_left_as_it_is(copy):
    pincite.verify(copy)  # may leave SQLite's own files and a reader's
    before, told = files_of(copy), []
    found = pincite.verify(copy, progress=lambda done, total, id: told.append((done, total)))
    assert files_of(copy) == before
    assert (found.sound, found.damages, found.affected) == (True, (), ())
    assert (found.versions, found.segments, found.documents, found.chunks) == (2, 3, 8, 16)
    assert told[-1][0] == told[-1][1] == found.nbytes == sum(
        file.stat().st_size for file in (copy / "segments").rglob("*.pin")
    )  # fmt: skip


@pytest.mark.parametrize("name", ["texts.pin", "spans.pin", "bm25.pin", "vectors.pin", "graph.pin"])
@pytest.mark.parametrize("how", ["flipped", "cut", "missing"])
def test_each_damaged_file_is_named_with_the_documents_it_touches(copy, name, how):
    first, _ = segments(copy)
    if how == "flipped":
        flip(first / name)
    elif how == "cut":
        (first / name).write_bytes((first / name).read_bytes()[:-1])
    else:
        (first / name).unlink()
    found = pincite.verify(copy)
    (damage,) = found.damages
    assert damage.file.startswith(f"segments/{first.name}")
    assert name in damage.what
    assert found.affected == ("d001", "d002", "d003")  # of d000, the replaced text alone


def test_it_goes_on_behind_what_it_finds(copy):
    first, second = segments(copy)
    flip(first / "texts.pin")
    flip(first / "vectors.pin")
    flip(second / "bm25.pin")
    connection = sqlite3.connect(copy / "catalog.sqlite", isolation_level=None)
    connection.execute("UPDATE meta SET value = '7' WHERE key = 'noted'")
    connection.close()
    found = pincite.verify(copy)
    assert {damage.file for damage in found.damages} == {
        "catalog.sqlite", f"segments/{first.name}/texts.pin", f"segments/{first.name}/vectors.pin",
        f"segments/{second.name}/bm25.pin",
    }  # fmt: skip
    assert found.affected == ("d000", "d001", "d002", "d003")


@pytest.mark.parametrize("name", ["texts.pin", "spans.pin", "bm25.pin", "vectors.pin", "graph.pin", None])
def test_a_damaged_index_is_put_back_from_its_snapshot(memory_path, name):
    with opened(memory_path / "kb", config=IndexConfig(graph_from=1)) as kb:
        kb.add([document(number) for number in range(4)], progress=False, groups=["crew"])
        kb.snapshot(memory_path / "saved")
        expected = [hit.to_dict() for hit in kb.search("ship", groups=["crew"], max_distance=None)]
        kb.grant("d001", ["deck"])
        kb.delete("d002")
        kb.add(document(0, version=1), progress=False)
    first, _ = segments(memory_path / "kb")
    if name is None:
        shutil.rmtree(first)
    else:
        flip(first / name)
    report = pincite.restore(memory_path / "saved", memory_path / "kb")
    assert report.left_out == ("d002",)
    with opened(memory_path / "kb") as kb:
        found = [hit.to_dict() for hit in kb.search("ship", groups=["crew"], max_distance=None)]
        assert {hit["document_id"] for hit in expected} - {hit["document_id"] for hit in found} <= {"d001", "d002"}
        assert kb.search("ship", groups=["deck"], max_distance=None).hits[0].document_id == "d001"
        assert pincite.verify(memory_path / "kb").damages != ()
        kb.discard(1)
    assert pincite.verify(memory_path / "kb").sound


def test_a_version_that_does_not_serve_is_compared_too(copy):
    with opened(copy, version="built") as kb:
        (segment,) = kb._folder.snapshot().segments
        flip(segment.folder / "spans.pin")
    with opened(copy) as kb:
        assert kb.search("ship", max_distance=None).hits
    found = pincite.verify(copy)
    assert [damage.file for damage in found.damages] == [f"segments/{segment.id}/spans.pin"]


def test_a_text_that_is_not_the_one_that_was_read_is_found_out(copy):
    """Checksums are right: what wrote the file wrote something else than was cut and cited."""
    first, _ = segments(copy)
    texts = CanonicalTexts.open(first / "texts.pin")
    held = [texts.text(number) for number in range(len(texts))]
    stamp = MappedFile.open(first / "texts.pin", kind="texts").stamp
    held[2] = held[2].replace("at number", "at bumber")
    forged = TextTable()
    for text in held:
        forged.add(text)
    forged.write(first / "texts.pin", stamp=stamp)
    belong_together(first)
    found = pincite.verify(copy)
    assert found.affected == ("d002",)
    assert "'d002': the text is not the one that was read" in found.damages[0].what


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'documents'",
        "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'generations'",
        "UPDATE documents SET title = 'x' WHERE died IS NOT NULL",
        "UPDATE documents SET metadata = '{}' WHERE version = 2 AND id = 'd001'",
        "INSERT INTO deletions VALUES ('d009', 1, 0)",
        "INSERT INTO access VALUES ('d009', '[]', 0)",
        "CREATE TRIGGER x AFTER INSERT ON documents BEGIN DELETE FROM documents; END",
        "DROP INDEX live_uris",
        "ALTER TABLE failures RENAME COLUMN metadata TO metAdata",
        "ALTER TABLE documents RENAME COLUMN title TO titlf",
        "ALTER TABLE generations RENAME TO generationt",
    ],
)
def test_rows_that_no_reader_needs_are_compared_too(copy, statement):
    connection = sqlite3.connect(copy / "catalog.sqlite", isolation_level=None)
    connection.execute(statement)
    connection.close()
    found = pincite.verify(copy)
    assert {damage.file for damage in found.damages} == {"catalog.sqlite"}
    if not statement.startswith(("UPDATE", "INSERT")):
        with pytest.raises(IndexCorruptError, match="its tables are not those"):
            opened(copy)


def test_a_writer_beside_it_is_no_damage(memory_path, monkeypatch):
    monkeypatch.setattr(merging, "FANOUT", 2)
    monkeypatch.setattr("pincite.store.sweeping.GRACE_S", -1.0)
    with opened(memory_path / "kb") as kb:
        kb.add(document(0), progress=False)

        def write():
            for number in range(40):
                kb.add(document(number % 9, version=number), progress=False)

        writer = threading.Thread(target=write)
        writer.start()
        rounds = 0
        while writer.is_alive():
            assert pincite.verify(memory_path / "kb").damages == ()
            rounds += 1
        writer.join()
        assert rounds > 1
        assert kb.generation == 40  # the first was there already


@pytest.mark.parametrize("when", ["before it is pinned", "while it is compared"])
def test_a_version_that_goes_meanwhile_is_no_damage(copy, monkeypatch, when):
    monkeypatch.setattr("pincite.store.sweeping.GRACE_S", -1.0)
    place = "Pin" if when == "before it is pinned" else "Segment"
    real = getattr(verifying, place)

    def discarding(*arguments):
        monkeypatch.setattr(verifying, place, real)
        with opened(copy) as kb:
            kb.discard(2)
            kb.delete([])  # sweeps
        return real(*arguments)

    monkeypatch.setattr(verifying, place, discarding)
    found = pincite.verify(copy)
    assert (found.damages, found.affected) == ((), ())


def test_a_commit_right_before_the_pin_is_no_damage(copy, monkeypatch):
    pin = verifying.Pin

    def committing(*arguments):
        monkeypatch.setattr(verifying, "Pin", pin)
        with opened(copy) as kb:
            kb.add([document(2, version=5), document(9)], progress=False)
        return pin(*arguments)

    monkeypatch.setattr(verifying, "Pin", committing)
    found = pincite.verify(copy)
    assert (found.damages, found.affected, found.documents) == ((), (), 9)


@pytest.mark.parametrize("refused", ["EMFILE", "EACCES", "ENOMEM"])
def test_what_the_system_refuses_is_no_damage(copy, monkeypatch, refused):
    def refuse(path):
        raise StorageError(getattr(errno, refused), f"{path}: refused")

    monkeypatch.setitem(verifying.FILES, "bm25.pin", refuse)
    with pytest.raises(StorageError, match="bm25"):
        pincite.verify(copy)


def test_what_is_no_index_and_what_is_too_new_is_no_damage(copy, tmp_path):
    with pytest.raises(IndexNotFoundError):
        pincite.verify(tmp_path / "nowhere")
    with opened(copy) as kb, kb._folder.catalog.transaction() as connection:
        pincite.store.catalog_rows.put_meta(connection, {"format": 99})
    with pytest.raises(IncompatibleIndexError, match="99"):
        pincite.verify(copy)


def test_vectors_of_a_segment_belong_to_its_chunks(copy):
    first, second = segments(copy)
    shutil.copy(second / "vectors.pin", first / "vectors.pin")
    (damage,) = pincite.verify(copy).damages
    assert "do not belong together" in damage.what or "graph" in damage.what


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("name", ["texts.pin", "spans.pin", "bm25.pin", "vectors.pin", "graph.pin"])
def test_files_of_two_segments_are_not_exchanged_unseen(memory_path, name, verify):
    """Each is whole, and of as many chunks as the other."""
    with opened(memory_path / "kb", config=IndexConfig(graph_from=1)) as kb:
        for number in (0, 6):  # graphs of two chunks would be equal
            kb.add([document(number + more) for more in range(6)], progress=False)
    first, second = segments(memory_path / "kb")
    (first / name).rename(memory_path / "x")
    (second / name).rename(first / name)
    (memory_path / "x").rename(second / name)
    found = pincite.verify(memory_path / "kb")
    assert {Path(damage.file).name for damage in found.damages} == {first.name, second.name}
    assert len(found.affected) == 12
    with pytest.raises(IndexCorruptError, match="not the file that was written with"):
        opened(memory_path / "kb", verify=verify)


@pytest.mark.parametrize("column", ["metadata", "dropped"])
@pytest.mark.parametrize("value", ["[]", "5", "null", "no json", "[" * 100_000])
def test_values_of_another_kind_are_named_though_their_row_has_its_checksum(copy, column, value):
    with opened(copy) as kb, kb._folder.catalog.transaction() as connection:
        connection.execute(f"UPDATE documents SET {column} = ?", [value])
        for row in connection.execute(catalog_rows.SELECT_DOCUMENT).fetchall():
            connection.execute(
                "UPDATE documents SET checksum = ? WHERE row = ?", [catalog_rows.document_checksum(row), row["row"]]
            )
    assert {damage.file for damage in pincite.verify(copy).damages} == {"catalog.sqlite"}
    with opened(copy) as kb, pytest.raises(IndexCorruptError, match=f"{column} of the document"):
        kb.search("ship", max_distance=None)


def test_it_goes_on_behind_a_damaged_row(copy):
    """Of a version and of documents: every file is compared all the same, and every document told of."""
    first, second = segments(copy)
    flip(first / "texts.pin")
    flip(second / "vectors.pin")
    connection = sqlite3.connect(copy / "catalog.sqlite", isolation_level=None)
    connection.execute("UPDATE versions SET made = 7")
    connection.execute("UPDATE documents SET title = 'x' WHERE version = 1 AND id IN ('d001', 'd003')")
    connection.close()
    found = pincite.verify(copy)
    assert {f"segments/{first.name}/texts.pin", f"segments/{second.name}/vectors.pin", "catalog.sqlite"} == {
        damage.file for damage in found.damages
    }
    assert sum("'d001'" in damage.what or "'d003'" in damage.what for damage in found.damages) == 2
    assert found.affected == ("d000", "d001", "d002", "d003")
    assert (found.versions, found.segments, found.documents) == (2, 3, 8)


@pytest.mark.parametrize("names", [["texts.pin"], ["texts.pin", "bm25.pin", "vectors.pin", "/dev/stdin"], []])
def test_names_of_other_files_are_not_followed(copy, names):
    """A forged file of spans: nothing is read that does not belong to a segment, and nothing left unbound."""
    first, _ = segments(copy)
    spans = MappedFile.open(first / "spans.pin", kind="spans")
    sections = {name: bytes(spans.section(name)) for name in spans.names if not name.startswith(BESIDE)}
    beside = {BESIDE + name: bytes(32) for name in names}
    write_mapped(first / "spans.pin", kind="spans", stamp=spans.stamp, sections={**sections, **beside})
    with pytest.raises(IndexCorruptError, match="contradict each other"):
        opened(copy, verify=False)


def test_what_a_file_manager_leaves_in_a_segment_is_not_bound_to_it(memory_path, monkeypatch):
    write = TextTable.write

    def littered(table, path, *, stamp):
        (path.parent / ".DS_Store").touch()
        write(table, path, stamp=stamp)

    monkeypatch.setattr(TextTable, "write", littered)
    with opened(memory_path / "kb") as kb:
        kb.add(document(0), progress=False)
        kb.snapshot(memory_path / "saved")
    pincite.restore(memory_path / "saved", memory_path / "other")
    for name in ("kb", "other"):
        for litter in (memory_path / name).rglob(".DS_Store"):
            litter.unlink()
        assert pincite.verify(memory_path / name).sound


def test_a_text_that_damage_made_bytes_has_another_checksum():
    assert catalog_rows.checksum(["d001", b"x"]) != catalog_rows.checksum(["d001", "x"])
