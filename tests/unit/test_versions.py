"""Versions beside the one that serves, snapshots and restores: what they promise, one by one."""

from __future__ import annotations

import shutil
import sqlite3
import zipfile
from contextlib import closing
from copy import copy
from dataclasses import replace
from pathlib import Path

import pytest

import pincite
from pincite.errors import (
    IncompatibleIndexError,
    IndexCorruptError,
    IndexLockedError,
    IndexNotFoundError,
    InvalidInputError,
    PinciteError,
    StorageError,
)
from pincite.store import ingest, restoring, stamps, sweeping
from small_index import answers, document, opened
from stub_models import StubEncoder

OTHER = pincite.IndexConfig(strategy="A", target=30)


def other():
    return StubEncoder(seed=1, model="other")


@pytest.fixture
def path(memory_path):
    return memory_path / "kb"


@pytest.fixture
def kb(path):
    with opened(path) as made:
        made.add([document(number) for number in range(6)], progress=False)
        yield made


def states(kb):
    return [version.state for version in kb.status().versions]


def everything(kb, groups=None):
    return sorted({hit.document_id for hit in kb.search("number", groups=groups, max_distance=None, k=99)})


def test_the_old_version_serves_until_the_swap(kb, path):
    before, asked = answers(kb), []

    def ask(done, total, id):
        with opened(path, read_only=True, create=False) as reader:
            asked.append(answers(reader))

    kb.rebuild(config=OTHER, encoder=other(), progress=ask)
    assert len(asked) >= 6
    assert all(each == before for each in [*asked, answers(kb)])
    assert states(kb) == ["serving", "built"]
    with (
        opened(path, create=False, encoder=other(), version="built") as built,
        opened(path.with_name("fresh"), config=OTHER, encoder=other()) as fresh,
    ):
        fresh.add([document(number) for number in range(6)], progress=False)
        assert answers(built) == answers(fresh)
        with pytest.raises(InvalidInputError, match="read_only"):
            built.add(document(7), progress=False)


def test_other_handles_follow_a_swap_and_say_when_they_have_another_encoder(kb, path):
    with opened(path, read_only=True, create=False) as reader:
        assert answers(reader) == answers(kb)
        kb.rebuild(config=OTHER, progress=False)
        kb.swap(progress=False)
        assert answers(reader) == answers(kb)
        assert reader.config == kb.config == OTHER
        kb.rebuild(encoder=other(), progress=False)
        kb.swap(progress=False)
        with pytest.raises(IncompatibleIndexError, match="model='other', given was model='stub'"):
            reader.search("ship")
        assert answers(kb)  # the handle that rebuilt has the encoder


def test_a_rebuild_goes_on_where_it_was_interrupted(kb, monkeypatch):
    monkeypatch.setattr(ingest, "BATCH_CHUNKS", 1)
    encoder = other()

    def stop(done, total, id):
        if done > total / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kb.rebuild(config=OTHER, encoder=encoder, progress=stop)
    assert states(kb) == ["serving", "building"]
    with pytest.raises(InvalidInputError, match="`rebuild` builds one"):
        kb.swap()
    report = kb.rebuild(config=OTHER, encoder=encoder, progress=False)
    assert 0 < report.made < 6
    assert report.documents == 6
    assert kb.rebuild(config=OTHER, encoder=encoder, progress=False).made == 0
    kb.add(document(1, version=1), progress=False)
    assert kb.rebuild(config=OTHER, encoder=encoder, progress=False).made == 1


def test_settings_that_are_wrong_or_others_than_those_begun_are_refused(kb):
    with pytest.raises(InvalidInputError, match="strategy"):
        kb.rebuild(config=pincite.IndexConfig(strategy="Z"))
    with pytest.raises(InvalidInputError, match="stemmer"):
        kb.rebuild(config=pincite.IndexConfig(stemmer="klingon"))
    assert states(kb) == ["serving"]
    kb.rebuild(config=OTHER, progress=False)
    for options in ({}, {"config": OTHER, "encoder": other()}):
        with pytest.raises(InvalidInputError, match=r"version 2 is built with .*strategy='A'.*discard"):
            kb.rebuild(**options, progress=False)


def test_what_is_not_there_can_neither_serve_nor_be_discarded(kb, path):
    with pytest.raises(InvalidInputError, match="`rebuild` builds one"):
        kb.swap()
    with pytest.raises(InvalidInputError, match="`swap` leaves one"):
        kb.rollback()
    with pytest.raises(InvalidInputError, match="version 1 serves"):
        kb.discard(1)
    with pytest.raises(InvalidInputError, match="version 2 is not there"):
        kb.discard(2)
    for version in ("built", "previous", 2):
        with pytest.raises(InvalidInputError, match=r"it has: 1 \(serving\)"):
            pincite.open(path, version=version)
    with pytest.raises(InvalidInputError, match="version is 'newest'"):
        pincite.open(path, version="newest")


def test_what_was_discarded_or_swapped_away_leaves_no_trace(kb, path, monkeypatch):
    monkeypatch.setattr(sweeping, "GRACE_S", -1.0)
    serving = {folder.name for folder in (path / "segments").iterdir()}
    kb.rebuild(config=OTHER, progress=False)
    kb.discard(2)
    kb.add(document(0), progress=False)  # the next writer sweeps
    assert {folder.name for folder in (path / "segments").iterdir()} == serving
    for _ in range(3):
        kb.rebuild(progress=False)
        kb.swap(progress=False)
    kb.add(document(0), progress=False)
    assert states(kb) == ["previous", "serving"]
    rows = kb._folder.catalog.rows("SELECT DISTINCT version FROM documents")
    assert {row["version"] for row in rows} == {version.number for version in kb.status().versions}
    assert len(list((path / "segments").iterdir())) == 2


def test_versions_share_what_fails_the_sources_and_the_grants(kb, path, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nship number")
    (folder / "b.png").write_bytes(b"\x89PNG")
    kb.add(folder, groups=["crew"], progress=False)
    kb.rebuild(config=OTHER, progress=False)
    (folder / "a.md").write_text("# A\n\nsail number")
    (folder / "c.md").write_text("# C\n\nmast number")
    kb.sync(groups=["crew"], progress=False)
    kb.grant("notes/a.md", ["deck"])
    kb.swap(progress=False)
    status = kb.status()
    assert [failure.id for failure in status.failed] == ["notes/b.png"]
    assert [source.name for source in status.sources] == ["notes"]
    assert everything(kb, ["crew"]) == ["notes/c.md"]
    assert everything(kb, ["deck"]) == ["notes/a.md"]
    (folder / "a.md").unlink()
    kb.sync(progress=False)
    kb.rollback(progress=False)
    assert everything(kb, ["deck"]) == []
    with pytest.raises(PinciteError):
        kb.resolve("notes/a.md", groups=["deck"])


def test_the_time_at_which_a_document_was_confirmed_outlives_a_rebuild(kb):
    before = {each.id: each.confirmed for each in kb.stale(older_than=0)}
    kb.rebuild(config=OTHER, progress=False)
    kb.swap(progress=False)
    assert {each.id: each.confirmed for each in kb.stale(older_than=0)} == before


def test_an_index_of_another_analyzer_is_refused_until_it_is_rebuilt(kb, path, monkeypatch):
    """What a new release of the word tables, or of the stemmer, would do: I01 for words."""
    monkeypatch.setattr(stamps, "tokenize", lambda text, analyzer: [pincite.Token("x", 0, 1, False)])
    for act in (
        lambda kb: kb.search("ship"),
        lambda kb: kb.add(document(7), progress=False),
        lambda kb: kb.view(),
    ):
        with opened(path) as upgraded, pytest.raises(IncompatibleIndexError, match="'run' where this one gives 'x'"):
            act(upgraded)
    with opened(path) as upgraded:
        assert upgraded.status().documents == 6
        upgraded.rebuild(progress=False)
        upgraded.swap(progress=False)
        with pytest.raises(IncompatibleIndexError, match="'run' where this one gives 'x'"):
            upgraded.rollback(progress=False)
        assert everything(upgraded) == [f"d{number:03}" for number in range(6)]
    monkeypatch.undo()
    with opened(path) as downgraded, pytest.raises(IncompatibleIndexError, match="'x' where this one gives 'run'"):
        downgraded.search("ship")


def test_merging_on_demand_leaves_one_segment_and_the_same_answers(kb):
    kb.add([document(1, version=1), document(7)], progress=False)
    before, segments = answers(kb), kb.status().segments
    assert segments > 1
    generation = kb.merge()
    assert (kb.status().segments, answers(kb), kb.generation) == (1, before, generation)
    assert kb.merge() == generation


def test_a_snapshot_makes_an_index_that_answers_the_same(kb, path, tmp_path):
    kb.add(document(1, version=2), progress=False)
    kb.delete("d005")
    report = kb.snapshot(tmp_path / "saved")
    assert (report.generation, report.documents) == (kb.generation, 5)
    restored = pincite.restore(tmp_path / "saved", tmp_path / "new" / "kb")
    assert (restored.documents, restored.left_out, restored.removed, restored.without_groups) == (5, (), (), 0)
    with opened(tmp_path / "new" / "kb", create=False) as again:
        assert answers(again) == answers(kb)
        assert again.ledger() == kb.ledger()
        again.add(document(9), progress=False)
        assert again.status().documents == 6


def test_a_snapshot_is_never_written_over_something(kb, path, tmp_path):
    (tmp_path / "there").write_text("precious")
    (tmp_path / "link").symlink_to("nowhere")
    for place, why in (
        (tmp_path / "there", "exists"),
        (tmp_path / "link", "exists"),
        (path / "saved", "within the index"),
    ):
        with pytest.raises(InvalidInputError, match=why):
            kb.snapshot(place)
    with pytest.raises(PinciteError, match="nowhere"):
        kb.snapshot(tmp_path / "nowhere" / "saved")
    assert (tmp_path / "there").read_text() == "precious"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["link", "there"]


def test_restoring_elsewhere_brings_back_no_grant(kb, tmp_path):
    kb.grant(["d000", "d001"], ["crew"])
    kb.snapshot(tmp_path / "saved")
    kb.grant("d000", [])
    report = pincite.restore(tmp_path / "saved", tmp_path / "closed")
    assert report.without_groups == 6
    pincite.restore(tmp_path / "saved", tmp_path / "knowingly", keep_grants=True)
    with opened(tmp_path / "closed") as closed, opened(tmp_path / "knowingly") as knowingly:
        with pytest.raises(InvalidInputError, match="has groups and none were given"):
            closed.search("number")
        assert everything(closed, ["crew"]) == []
        closed.grant("d001", ["crew"])
        assert everything(closed, ["crew"]) == ["d001"]
        assert everything(knowingly, ["crew"]) == ["d000", "d001"]


def test_a_grant_that_is_taken_back_while_a_restore_runs_stays_so(kb, path, tmp_path, monkeypatch):
    kb.add(document(0), groups=["crew", "deck"], progress=False)
    kb.snapshot(tmp_path / "saved")
    kb.add(document(0, version=1), groups=["crew", "office"], progress=False)
    serve = restoring.serve

    def overtaken(folder, number, **options):
        kb.grant("d000", ["office"])
        return serve(folder, number, **options)

    monkeypatch.setattr(restoring, "serve", overtaken)
    report = pincite.restore(tmp_path / "saved", path)
    assert report.narrowed == ("d000",)
    assert [everything(kb, [group]) for group in ("crew", "deck", "office")] == [[], [], []]


def test_what_cannot_be_restored_leaves_everything_as_it_was(kb, path, tmp_path):
    kb.snapshot(tmp_path / "saved")
    with opened(tmp_path / "stranger") as stranger:
        stranger.add(document(3), progress=False)
        with pytest.raises(InvalidInputError, match="of another index"):
            pincite.restore(tmp_path / "saved", tmp_path / "stranger")
        assert everything(stranger) == ["d003"]
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "note.txt").write_text("x")
    (tmp_path / "text").write_text("no zip")
    with zipfile.ZipFile(tmp_path / "zip", "w") as archive:
        archive.writestr("../../evil", "x")
    for file, place, error in (
        ("saved", tmp_path / "full", InvalidInputError),
        ("none", tmp_path / "new", PinciteError),
        ("text", tmp_path / "new", IndexCorruptError),
        ("zip", tmp_path / "new", IndexCorruptError),
        ("text", path, IndexCorruptError),
    ):
        with pytest.raises(error):
            pincite.restore(tmp_path / file, place)
        with pytest.raises((IndexNotFoundError, InvalidInputError)):
            pincite.open(tmp_path / "new")
    with pytest.raises(InvalidInputError, match="keep_grants"):
        pincite.restore(tmp_path / "saved", path, keep_grants=True)
    with kb._folder.writer(), pytest.raises(IndexLockedError):
        pincite.restore(tmp_path / "saved", path)
    assert everything(kb) == [f"d{number:03}" for number in range(6)]
    assert not list(path.glob(".restoring*"))
    assert pincite.restore(tmp_path / "saved", tmp_path / "new").documents == 6


def test_any_byte_of_a_snapshot_that_is_changed_is_found_out_or_does_no_harm(kb, tmp_path):
    kb.snapshot(tmp_path / "saved")
    content = (tmp_path / "saved").read_bytes()
    expected, found = answers(kb), 0
    for at in range(0, len(content), len(content) // 150):
        (tmp_path / "damaged").write_bytes(content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :])
        try:
            pincite.restore(tmp_path / "damaged", tmp_path / "new")
        except PinciteError as error:
            assert "damaged" in str(error) or "new" in str(error)  # noqa: PT017
            found += 1
        else:
            with opened(tmp_path / "new") as restored:
                assert answers(restored) == expected
        shutil.rmtree(tmp_path / "new", ignore_errors=True)
    assert found > 120
    for at in range(0, len(content), len(content) // 50):
        (tmp_path / "damaged").write_bytes(content[:at])
        with pytest.raises(IndexCorruptError):
            pincite.restore(tmp_path / "damaged", tmp_path / "new")


def test_a_commit_reads_as_much_of_the_catalog_however_much_it_holds(tmp_path, monkeypatch):
    """Steps of SQLite's machine, which do not depend on the clock."""
    steps = {}
    for size in (100, 3000):
        with opened(tmp_path / str(size)) as kb:
            monkeypatch.setattr(ingest, "BATCH_CHUNKS", 100_000)
            kb.add([pincite.Document(f"x{number:05}", f"ship {number}") for number in range(size)], progress=False)
            kb.add(document(1), progress=False)
            count = 0

            def tick():
                nonlocal count
                count += 1

            with kb._folder.catalog._using() as connection:
                connection.set_progress_handler(tick, 1)
            kb.add(document(2), progress=False)
            kb.add(document(2, version=1), progress=False)
            kb.delete("d002")
            steps[size] = count
    assert 0 < steps[3000] < 1.2 * steps[100]


@pytest.mark.parametrize("how", ["renamed", "removed", "replaced by itself"])
def test_a_handle_whose_index_was_replaced_cannot_write(kb, path, tmp_path, how):
    """It would sweep the segments of what lies there now, and commit to what does not."""
    kb.snapshot(tmp_path / "saved")
    if how == "renamed":
        path.rename(path.with_name("old"))
    else:
        shutil.rmtree(path)
    if how != "removed":
        pincite.restore(tmp_path / "saved", path)
        with opened(path) as there:
            there.add(document(8), progress=False)
    with pytest.raises((IndexNotFoundError, StorageError)):
        kb.add(document(9), progress=False)
    if how != "removed":
        with opened(path, create=False) as there:
            assert everything(there) == [*(f"d{number:03}" for number in range(6)), "d008"]


def test_a_snapshot_that_a_swap_comes_into_is_of_what_served(kb, path, tmp_path, monkeypatch):
    """Of the version that was built, and lacks what has changed since, it must never be."""
    kb.rebuild(config=OTHER, progress=False)
    kb.delete("d000")
    kb.add(document(8), progress=False)
    before, copy = answers(kb), kb._folder.catalog.copy

    def copy_before_a_swap(target):
        copy(target)
        with opened(path, create=False) as writer:
            writer.swap(progress=False)

    monkeypatch.setattr(kb._folder.catalog, "copy", copy_before_a_swap)
    kb.snapshot(tmp_path / "saved")
    assert kb.config == OTHER
    pincite.restore(tmp_path / "saved", tmp_path / "new")
    with opened(tmp_path / "new", create=False) as restored:
        assert answers(restored) == before


def test_a_version_that_does_not_serve_is_no_snapshot(kb, path, tmp_path):
    """It may be half built, or hold what was deleted since."""
    kb.rebuild(config=OTHER, progress=False)
    with opened(path, create=False, version="built") as built:
        with pytest.raises(InvalidInputError, match="of the one that serves, 1"):
            built.snapshot(tmp_path / "saved")
        kb.swap(progress=False)
        assert built.snapshot(tmp_path / "saved").documents == 6


def test_what_a_file_manager_leaves_in_a_segment_is_not_in_the_snapshot(kb, path, tmp_path):
    for name in (".DS_Store", "._texts.pin", "texts.pin~"):
        (next((path / "segments").iterdir()) / name).write_text("x")
    kb.snapshot(tmp_path / "saved")
    assert pincite.restore(tmp_path / "saved", tmp_path / "new").documents == 6


def test_an_index_that_is_made_while_a_restore_waits_for_the_lock_stays(kb, tmp_path, monkeypatch):
    kb.snapshot(tmp_path / "saved")
    waited = restoring.lock_to_create

    def lock_after_another(place):
        with opened(place) as there:
            there.add(document(8), progress=False)
        return waited(place)

    monkeypatch.setattr(restoring, "lock_to_create", lock_after_another)
    with pytest.raises(InvalidInputError, match="meanwhile"):
        pincite.restore(tmp_path / "saved", tmp_path / "new")
    with opened(tmp_path / "new", create=False) as there:
        assert everything(there) == ["d008"]


@pytest.mark.parametrize("restores", [True, False])
def test_the_log_of_a_catalog_that_is_gone_is_not_played_into_the_next(kb, path, tmp_path, restores):
    kb.snapshot(tmp_path / "saved")
    kb.add(document(8), progress=False)
    killed = shutil.copytree(path, tmp_path / "killed")  # as a kill leaves it: the catalog's log is not empty
    assert (killed / "catalog.sqlite-wal").stat().st_size
    (killed / "catalog.sqlite").unlink()
    with pytest.raises(IndexNotFoundError, match="holds segments of an index, and not its catalog"):
        pincite.open(killed)
    with pytest.raises(InvalidInputError, match="not all of one"):
        opened(killed)  # would sweep them
    if restores:
        pincite.restore(tmp_path / "saved", killed)
    else:
        shutil.rmtree(killed / "segments")
    with opened(killed) as there:
        assert everything(there) == [f"d{number:03}" for number in range(6)] * restores


def test_a_folder_of_segments_of_another_kind_becomes_no_index(kb, tmp_path):
    kb.snapshot(tmp_path / "saved")
    film = tmp_path / "films" / "segments" / "holiday" / "1.mp4"
    film.parent.mkdir(parents=True)
    film.write_text("x")
    with pytest.raises(InvalidInputError, match="is no index"):
        pincite.restore(tmp_path / "saved", tmp_path / "films")
    with pytest.raises(InvalidInputError, match="is no index"):
        opened(tmp_path / "films")
    assert film.exists()


@pytest.mark.parametrize("change", [
    "CREATE TRIGGER again AFTER DELETE ON access"
    " BEGIN INSERT INTO access VALUES (old.id, old.groups, old.checksum); END",
    "ALTER TABLE failures RENAME TO f; CREATE VIEW failures AS SELECT * FROM f",
    "DROP INDEX live_documents",
])  # fmt: skip
def test_a_snapshot_whose_catalog_has_other_tables_is_refused(kb, path, tmp_path, change):
    """The first would bring back every grant as it is taken away."""
    kb.grant("d000", ["crew"])
    kb.snapshot(tmp_path / "saved")
    with zipfile.ZipFile(tmp_path / "saved") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    (tmp_path / "catalog").write_bytes(files["catalog.sqlite"])
    with closing(sqlite3.connect(tmp_path / "catalog")) as connection:
        connection.executescript(change)
    files["catalog.sqlite"] = (tmp_path / "catalog").read_bytes()
    with zipfile.ZipFile(tmp_path / "changed", "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    for place in (tmp_path / "new", path):
        with pytest.raises(IndexCorruptError, match="tables"):
            pincite.restore(tmp_path / "changed", place)


def test_a_snapshot_with_the_texts_of_another_index_is_refused(kb, path, tmp_path):
    """Each file is whole, and as large as the one whose place it takes."""
    kb.snapshot(tmp_path / "saved")
    with opened(tmp_path / "other") as other_kb:
        texts = [replace(document(number), text=document(number).text.replace(" at ", " on ")) for number in range(6)]
        other_kb.add(texts, progress=False)
        (segment,) = other_kb._folder.snapshot().segments
    with zipfile.ZipFile(tmp_path / "saved") as archive, zipfile.ZipFile(tmp_path / "mixed", "w") as mixed:
        for name in archive.namelist():
            foreign = name.startswith("segments/")
            mixed.writestr(name, (segment.folder / Path(name).name).read_bytes() if foreign else archive.read(name))
    for place in (tmp_path / "new", path):
        with pytest.raises(IndexCorruptError, match="not the one that was read"):
            pincite.restore(tmp_path / "mixed", place)


def test_an_archive_whose_files_overlap_is_refused(kb, tmp_path):
    """Entries within one another make gigabytes of kilobytes, without any compression."""
    kb.snapshot(tmp_path / "saved")
    with zipfile.ZipFile(tmp_path / "saved", "a") as archive:
        entry = archive.getinfo("catalog.sqlite")
        within = copy(entry)
        within.filename = within.orig_filename = f"segments/{'0' * 32}/texts.pin"
        archive.filelist.append(within)
        archive.NameToInfo[within.filename] = within
        archive.comment = b"written again"
    with pytest.raises(IndexCorruptError, match="overlap"):
        pincite.restore(tmp_path / "saved", tmp_path / "new")


def listed(kb):
    return {row["id"] for row in kb._folder.catalog.rows("SELECT id FROM segments")}


def test_a_writer_sweeps_segments_and_nothing_else_that_lies_among_them(kb, path, tmp_path):
    kb.snapshot(tmp_path / "saved")
    pincite.restore(tmp_path / "saved", path / "segments" / "copy")
    (path / "segments" / (".unfinished-" + "0" * 32)).mkdir()
    (path / "segments" / ("1" * 32)).mkdir()
    kb.add(document(8), progress=False)
    assert {entry.name for entry in (path / "segments").iterdir()} == {"copy", *listed(kb)}
    with opened(path / "segments" / "copy", create=False) as there:
        assert there.status().documents == 6


@pytest.mark.xfail(strict=True, reason="fault 11 of attacks-versions.md: without groups nothing tells that it is gone")
def test_a_version_that_does_not_serve_shows_nothing_that_was_deleted(kb, path):
    kb.rebuild(config=OTHER, progress=False)
    kb.delete("d000")
    with opened(path, create=False, version="built") as built:
        assert "d000" not in everything(built)
