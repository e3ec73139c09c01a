"""Documents that go, folders that change, files that failed: what searches find is what is there."""

from __future__ import annotations

import os
import shutil
import time
from datetime import timedelta

import pytest

from pincite.errors import InvalidInputError, PassageNotFoundError
from pincite.types import Document
from small_index import answers, document, opened


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "handbook"
    (made / "notes").mkdir(parents=True)
    (made / "pumps.md").write_text("# Pumps\n\nThe red pump stops.\n")
    (made / "sails.md").write_text("# Sails\n\nA jib is small.\n")
    (made / "notes" / "oil.txt").write_text("Oil is changed in spring.\n")
    return made


@pytest.fixture
def kb(tmp_path, folder):
    with opened(tmp_path / "kb") as made:
        made.add(folder, progress=False)
        yield made


def ids(kb) -> list[str]:
    return sorted({hit.document_id for hit in kb.search("the red pump", max_distance=None, k=50)})


def test_what_is_deleted_is_found_no_more_and_counted_no_more(kb):
    before = kb.generation
    report = kb.delete("handbook/pumps.md")
    assert (report.deleted, report.generation) == (["handbook/pumps.md"], before + 1)
    assert ids(kb) == ["handbook/notes/oil.txt", "handbook/sails.md"]
    status = kb.status()
    assert (status.documents, status.chunks) == (2, 2)
    assert kb.ledger().balanced
    assert [entry.id for entry in kb.ledger()] == ids(kb)
    with pytest.raises(PassageNotFoundError):
        kb.resolve("handbook/pumps.md")
    assert kb.delete([]).generation == before + 1


def test_an_id_that_is_not_there_deletes_nothing(kb):
    before = kb.generation
    with pytest.raises(InvalidInputError, match=r"no document 'handbook/ropes\.md'"):
        kb.delete(["handbook/pumps.md", "handbook/ropes.md"])
    assert kb.generation == before
    assert len(ids(kb)) == 3


def test_deleting_everything_leaves_an_empty_index_that_takes_documents_again(kb, folder):
    kb.delete(ids(kb))
    assert kb.search("pump").refused
    assert kb.status().documents == kb.status().chunks == 0
    assert kb.add(folder, progress=False).count("added") == 3
    assert len(ids(kb)) == 3


def test_a_failure_is_forgotten_with_its_document(kb, folder):
    (folder / "pumps.md").write_bytes(b"")
    kb.add(folder, progress=False)
    assert [failure.id for failure in kb.status().failed] == ["handbook/pumps.md"]
    assert "handbook/pumps.md" in ids(kb)  # its last good version
    kb.delete("handbook/pumps.md")
    assert kb.status().failed == ()
    assert "handbook/pumps.md" not in ids(kb)


def test_update_replaces_what_is_there_and_nothing_else(tmp_path):
    with opened(tmp_path / "kb") as kb:
        kb.add([document(1), document(2)], progress=False)
        assert kb.update(document(1, version=5), progress=False).count("updated") == 1
        with pytest.raises(InvalidInputError, match="no document 'd003'; add takes new ones"):
            kb.update([document(2, version=5), document(3)], progress=False)
        assert kb.status().documents == 2


def test_a_sync_makes_an_index_equal_to_its_folder(kb, folder, tmp_path):
    (folder / "pumps.md").write_text("# Pumps\n\nThe blue pump runs.\n")
    (folder / "sails.md").unlink()
    (folder / "ropes.md").write_text("# Ropes\n\nA rope is long.\n")
    report = kb.sync(progress=False)
    assert report.deleted == ["handbook/sails.md"]
    assert [report.count(state) for state in ("added", "updated", "unchanged", "failed")] == [1, 1, 1, 0]
    with opened(tmp_path / "fresh") as fresh:
        fresh.add(folder, progress=False)
        for question in ("the pump", "rope", "jib"):
            found, wanted = (index.search(question, max_distance=None, k=9) for index in (kb, fresh))
            assert [hit.to_dict() for hit in found] == [hit.to_dict() for hit in wanted]
    again = kb.sync(progress=False)
    assert (again.deleted, again.count("unchanged")) == ([], 3)


def test_a_sync_keeps_metadata(kb, folder):
    kb.add(folder, metadata={"lang": "en"}, progress=False)
    assert kb.sync(progress=False).count("unchanged") == 3
    (folder / "sails.md").write_text("# Sails\n\nA jib is large.\n")
    kb.sync(progress=False)
    assert {hit.document.metadata["lang"] for hit in kb.search("jib", max_distance=None, k=9)} == {"en"}


@pytest.mark.parametrize("harm", ["gone", "emptied", "unreadable"])
def test_a_source_in_trouble_keeps_its_documents_and_says_so(kb, folder, tmp_path, monkeypatch, harm):
    kb.sync(progress=False)
    synced = kb.status().sources[0].synced
    assert synced is not None
    if harm == "gone":
        folder.rename(tmp_path / "elsewhere")
    elif harm == "emptied":
        shutil.rmtree(folder)
        folder.mkdir()
    else:
        (folder / "sails.md").unlink()
        refuse_to_list(monkeypatch, folder / "notes")
    report = kb.sync(progress=False)
    assert report.deleted == []
    assert list(report.troubles) == ["handbook"]
    assert len(ids(kb)) == 3
    state = kb.status().sources[0]
    assert (state.synced, state.trouble) == (synced, report.troubles["handbook"])
    assert {stale.reasons for stale in kb.stale()} == {("source",)}
    monkeypatch.undo()
    if harm == "gone":
        (tmp_path / "elsewhere").rename(folder)
    report = kb.sync(progress=False, allow_empty=harm == "emptied")
    assert report.troubles == {}
    assert len(report.deleted) == {"gone": 0, "emptied": 3, "unreadable": 1}[harm]
    state = kb.status().sources[0]
    assert state.trouble == ""
    assert state.synced > synced


def refuse_to_list(monkeypatch, folder):
    """Make a folder that cannot be listed; root may list any."""
    scandir = os.scandir

    def refusing(path):
        if os.fspath(path) == os.fspath(folder):
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)


def test_a_link_to_nothing_keeps_nothing_alive(kb, folder):
    (folder / "dangling.md").symlink_to("nowhere.md")
    (folder / "sails.md").unlink()
    report = kb.sync(progress=False)
    assert (report.deleted, report.troubles) == (["handbook/sails.md"], {})
    assert [reason for path, reason in report.ignored if "dangling" in path] == ["a link to nothing"]


def test_only_the_sources_that_are_named_are_synced(kb, folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.md").write_text("X is here.\n")
    kb.add(other, progress=False)
    (other / "x.md").unlink()
    (other / "y.md").write_text("Y is here.\n")
    (folder / "sails.md").unlink()
    assert kb.sync("handbook", progress=False).deleted == ["handbook/sails.md"]
    assert kb.sync(["other"], progress=False).deleted == ["other/x.md"]
    with pytest.raises(InvalidInputError, match="no source 'attic', it has: handbook, other"):
        kb.sync("attic", progress=False)


def test_documents_that_were_given_as_texts_are_no_business_of_a_sync(kb):
    kb.add(Document("given", "The red pump was given."), progress=False)
    assert kb.sync(progress=False).deleted == []
    assert "given" in ids(kb)


def test_a_file_that_failed_is_tried_again(kb, folder):
    (folder / "new.md").write_bytes(b"")
    kb.add(folder, progress=False)
    assert kb.retry(progress=False).count("failed") == 1
    assert kb.status().failed[0].attempts == 2
    (folder / "new.md").write_text("The new pump.\n")
    assert kb.retry(["handbook/new.md"], progress=False).count("added") == 1
    assert kb.status().failed == ()
    assert kb.retry(progress=False).documents == []
    with pytest.raises(InvalidInputError, match=r"'handbook/pumps\.md' has not failed"):
        kb.retry(["handbook/pumps.md"], progress=False)


@pytest.mark.parametrize("served", [False, True], ids=["never indexed", "has a last good version"])
def test_a_failure_whose_file_is_gone_stays_until_a_sync_or_a_deletion(kb, folder, served):
    (folder / "broken.md").write_text("The green pump.\n" if served else "")
    kb.add(folder, progress=False)
    (folder / "broken.md").write_bytes(b"")
    (folder / "new.md").write_bytes(b"")
    kb.add(folder, progress=False)
    (folder / "broken.md").unlink()
    (folder / "new.md").write_text("The new pump.\n")
    report = kb.retry(progress=False)
    assert [(each.id, each.state, each.reason, each.serving) for each in report.documents] == [
        ("handbook/broken.md", "failed", "missing", served),
        ("handbook/new.md", "added", "", True),
    ]
    assert report.generation == kb.generation
    assert report.failed[0].message.endswith("the file is gone; a sync forgets it, or delete the id")
    attempts = kb.status().failed[0].attempts
    kb.retry(["handbook/broken.md"], progress=False)
    (failure,) = kb.status().failed
    assert (failure.reason, failure.attempts) == ("missing", attempts + 1)
    assert ("handbook/broken.md" in ids(kb)) is served
    assert kb.sync(progress=False).deleted == (["handbook/broken.md"] if served else [])
    assert kb.status().failed == ()
    assert "handbook/broken.md" not in ids(kb)


def test_a_file_whose_whole_folder_is_away_is_not_said_to_be_forgotten_by_a_sync(kb, folder, tmp_path):
    (folder / "new.md").write_bytes(b"")
    kb.add(folder, progress=False)
    folder.rename(tmp_path / "away")
    (outcome,) = kb.retry(progress=False).documents
    assert (outcome.reason, "bring it back and retry" in outcome.message) == ("missing", True)
    kb.sync(progress=False)
    assert [failure.id for failure in kb.status().failed] == ["handbook/new.md"]
    kb.delete("handbook/new.md")
    assert kb.status().failed == ()


def test_a_failure_whose_file_is_gone_goes_with_a_sync(kb, folder):
    (folder / "new.md").write_bytes(b"")
    kb.sync(progress=False)
    assert [failure.id for failure in kb.status().failed] == ["handbook/new.md"]
    (folder / "new.md").unlink()
    kb.sync(progress=False)
    assert kb.status().failed == ()


def test_what_may_be_stale_is_named_with_its_reasons(kb, folder, monkeypatch):
    assert kb.stale() == []
    (folder / "pumps.md").write_bytes(b"")
    kb.add(folder, progress=False)
    assert [(stale.id, stale.reasons) for stale in kb.stale()] == [("handbook/pumps.md", ("failed",))]
    monkeypatch.setattr("pincite.store.stale.extractor_of", lambda suffix: f"{suffix}/99")
    assert {stale.id: stale.reasons for stale in kb.stale()} == {
        "handbook/notes/oil.txt": ("extractor",),
        "handbook/pumps.md": ("failed", "extractor"),
        "handbook/sails.md": ("extractor",),
    }


def test_age_counts_from_when_somebody_looked(kb, monkeypatch):
    kb.add(Document("given", "text"), progress=False)
    assert kb.stale(older_than=timedelta(hours=1)) == []
    in_two_hours = time.time() + 7200
    monkeypatch.setattr("pincite.store.stale.time.time", lambda: in_two_hours)
    assert [stale.reasons for stale in kb.stale(older_than=3600)] == [("age",)] * 4
    with pytest.raises(InvalidInputError, match="older_than is -1"):
        kb.stale(older_than=-1)


def test_a_deletion_in_many_segments_is_as_if_never_added(tmp_path):
    with opened(tmp_path / "kb") as kb, opened(tmp_path / "fresh") as fresh:
        for part in (range(7), range(7, 12), range(12, 30)):
            kb.add([document(number) for number in part], progress=False)
        kb.delete([f"d{number:03}" for number in range(0, 30, 3)])
        fresh.add([document(number) for number in range(30) if number % 3], progress=False)
        assert answers(kb) == answers(fresh)
