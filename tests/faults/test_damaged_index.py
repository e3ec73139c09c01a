"""Any byte of any file flipped, any file cut short, missing or replaced: a named error, or the same answers."""

from __future__ import annotations

import shutil
import sqlite3

import pytest

import pincite
from pincite.config import IndexConfig
from pincite.errors import IndexCorruptError, IndexNotFoundError, PinciteError, StorageError
from pincite.store import merging, sweeping
from small_index import answers, document, opened

CATALOG, SEGMENT = (200, 50), (20, 5)
"""How many flips and cuts of each file; soaks/mutants.py tries all of a segment's files by themselves."""

FILES = ["catalog.sqlite", "writer.lock", *(f"segments/{n}/{name}.pin" for n in (0, 1)
                                            for name in ("texts", "spans", "bm25", "vectors", "graph"))]  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """Two segments with graphs, one with a document that was replaced, and one document that failed."""
    folder = tmp_path_factory.mktemp("sound")
    (folder / "logo.png").write_bytes(b"\x89PNG")
    with opened(folder / "kb", config=pincite.IndexConfig(graph_from=1)) as kb:
        kb.add([document(number) for number in range(6)], progress=False)
        kb.add([folder / "logo.png", document(0, version=1), document(7)], progress=False)
    return folder / "kb"


@pytest.fixture
def copy(sound, memory_path):
    return shutil.copytree(sound, memory_path / "kb")


def file_of(folder, name):
    """The file of `name`, in which a segment has its place in the list of its names."""
    if not name.startswith("segments/"):
        return folder / name
    _, number, rest = name.split("/")
    return sorted((folder / "segments").iterdir())[int(number)] / rest


def everything(folder):
    """What an index says; raises what is wrong with it."""
    with opened(folder, create=False) as kb:
        status = {key: value for key, value in kb.status().to_dict().items() if key not in {"path", "nbytes"}}
        ledger = kb.ledger()
        assert ledger.balanced
        passages = [kb.resolve(account.id) for account in ledger if account.state == "indexed"]
        return answers(kb), status, ledger, passages


def damages(content, flips, cuts):
    """What is wrong, and the bytes; of a small file, each byte once."""
    for at in sorted({i * len(content) // flips for i in range(flips)}):
        yield f"bit {at % 8} of byte {at}", content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :]
    for at in sorted({i * len(content) // cuts for i in range(cuts)}):
        yield f"cut to {at}", content[:at]


@pytest.mark.parametrize("name", FILES)
def test_damage_is_named_or_changes_nothing(copy, name):
    file = file_of(copy, name)
    content, expected = file.read_bytes(), everything(copy)
    flips, cuts = SEGMENT if name.startswith("segments/") else CATALOG
    found = 0
    for what, damaged in damages(content, flips, cuts):
        for beside in ("-wal", "-shm"):
            (copy / f"catalog.sqlite{beside}").unlink(missing_ok=True)
        file.write_bytes(damaged)
        try:
            assert everything(copy) == expected, what
        except PinciteError as error:
            assert file.name in str(error), what  # noqa: PT017
            found += 1
    if name == "writer.lock":
        assert found == 0
    else:
        # Of the catalog, three quarters are free space and what only writers read.
        assert found > cuts // 2 if name == "catalog.sqlite" else found == flips + cuts


@pytest.mark.parametrize("name", [name for name in FILES if name != "writer.lock"])
@pytest.mark.parametrize("what", ["missing", "empty", "folder"])
def test_what_is_missing_is_named(copy, name, what):
    file = file_of(copy, name)
    file.unlink()
    if what == "empty":
        file.touch()
    if what == "folder":
        file.mkdir()
    with pytest.raises(
        (IndexCorruptError, IndexNotFoundError, StorageError), match=file.name if what == "empty" else str(copy)
    ):
        everything(copy)


def test_a_missing_segment_is_named(copy):
    lost = file_of(copy, "segments/0/texts.pin").parent
    shutil.rmtree(lost)
    with pytest.raises(StorageError, match=lost.name):
        opened(copy)


def test_a_missing_folder_of_segments_is_named(copy):
    shutil.rmtree(copy / "segments")
    with pytest.raises(StorageError, match="segments"):
        opened(copy)


TAMPERED = [
    "UPDATE documents SET title = 'other' WHERE id = 'd001'",
    "UPDATE documents SET metadata = '{}' WHERE id = 'd001'",
    "UPDATE documents SET text_hash = 'x' WHERE id = 'd001'",
    "UPDATE documents SET died = 2 WHERE id = 'd001'",
    "UPDATE documents SET died = NULL, id = 'd00' WHERE died IS NOT NULL",
    "DELETE FROM documents WHERE died IS NOT NULL",
    "DELETE FROM documents WHERE id = 'd001'",
    "UPDATE segments SET died = 2 WHERE born = 1",
    "UPDATE segments SET born = 2",
    "DELETE FROM generations WHERE number = 2",
    "DELETE FROM generations",
    "DELETE FROM failures",
    "UPDATE sources SET root = '/'",
    "DELETE FROM meta",
    "UPDATE meta SET value = '1' WHERE key = 'format'",
    "UPDATE meta SET value = '2' WHERE key = 'serving'",
    "DELETE FROM meta WHERE key = 'serving'",
    "DELETE FROM versions",
    "UPDATE versions SET config = replace(config, '512', '513')",
    "UPDATE versions SET encoder = 'null'",
    "UPDATE versions SET number = 2",
    "UPDATE documents SET version = 2 WHERE id = 'd001'",
    "UPDATE segments SET version = 2 WHERE born = 1",
    "UPDATE generations SET version = 2",
    "UPDATE generations SET documents = documents + 1",
    "UPDATE generations SET characters = characters + 1",
    "UPDATE generations SET committed = 0",
]


@pytest.mark.parametrize("statement", TAMPERED)
def test_rows_that_were_changed_are_found_out(copy, statement):
    """What a flipped byte may do to the catalog, made certain."""
    connection = sqlite3.connect(copy / "catalog.sqlite", isolation_level=None)
    connection.execute(statement)
    connection.close()
    with pytest.raises(IndexCorruptError, match=r"catalog\.sqlite"):
        everything(copy)


@pytest.mark.parametrize(
    "statement",
    [
        'UPDATE access SET groups = \'["crew", "office"]\'',
        "UPDATE access SET id = 'd001' WHERE id = 'd000'",
        "DELETE FROM meta WHERE key = 'epoch'",
        "UPDATE meta SET key = 'epoci' WHERE key = 'epoch'",
        "UPDATE meta SET value = '0' WHERE key = 'epoch'",
    ],
)
def test_damage_never_shows_what_may_not_be_seen(copy, statement):
    """While the index is open, too: a reader does not compare all of the catalog again."""
    with opened(copy) as kb:
        kb.grant("d000", ["crew"])
    with opened(copy, read_only=True, create=False) as reader:
        assert not reader.search("ship", groups=["office"], max_distance=None).hits
        connection = sqlite3.connect(copy / "catalog.sqlite", isolation_level=None)
        connection.execute(statement)
        connection.close()
        for groups in (None, ["office"]):
            try:
                assert not reader.search("ship", groups=groups, max_distance=None).hits
            except PinciteError as error:
                assert "catalog.sqlite" in str(error) or "the index has groups" in str(error)  # noqa: PT017


def test_damage_is_not_merged_under_new_checksums(copy, monkeypatch):
    monkeypatch.setattr(merging, "FANOUT", 2)
    file = file_of(copy, "segments/0/vectors.pin")
    content = file.read_bytes()
    file.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    with opened(copy, verify=False) as kb, pytest.raises(IndexCorruptError, match=r"vectors\.pin"):
        kb.add(document(8), progress=False)


@pytest.mark.parametrize("again", ["rebuild", "merge", "snapshot"])
def test_a_damaged_text_is_not_written_again_under_new_checksums(copy, tmp_path, again):
    file = file_of(copy, "segments/0/texts.pin")
    file.write_bytes(file.read_bytes().replace(b" at number", b" at bumber"))
    with opened(copy, verify=False) as kb, pytest.raises(IndexCorruptError, match=r"texts\.pin"):
        {
            "rebuild": lambda: kb.rebuild(config=IndexConfig(target=40), progress=False),
            "merge": kb.merge,
            "snapshot": lambda: kb.snapshot(tmp_path / "saved"),
        }[again]()
    assert not (tmp_path / "saved").exists()


def test_damage_to_a_segment_that_is_swept_removes_nothing_else(memory_path, monkeypatch):
    """Dead documents are removed by the rows that its spans name: none that lies in another segment."""
    monkeypatch.setattr(merging, "FANOUT", 9)  # only half dead segments are folded away
    with opened(memory_path / "kb") as kb:
        kb.add([document(number) for number in range(5)], progress=False)
        kb.add(document(6), progress=False)
        kb.add([document(0, version=1), document(6, version=1)], progress=False)
        expected, dead = answers(kb), sorted(kb._folder.documents.dead_rows())
        listed = {segment.id for segment in kb._folder.snapshot().segments}
    (merged,) = [path for path in (memory_path / "kb" / "segments").iterdir() if path.name not in listed]
    in_the_first, in_the_merged = (row.to_bytes(8, "little") for row in dead)
    content = (merged / "spans.pin").read_bytes()
    assert in_the_merged in content
    (merged / "spans.pin").write_bytes(content.replace(in_the_merged, in_the_first))
    monkeypatch.setattr(sweeping, "GRACE_S", -1.0)
    with opened(memory_path / "kb") as kb:
        kb.add(document(0, version=1), progress=False)  # unchanged: nothing is written, but it sweeps
        assert not merged.exists()
    with opened(memory_path / "kb") as kb:
        assert answers(kb) == expected
        assert kb.ledger().balanced
