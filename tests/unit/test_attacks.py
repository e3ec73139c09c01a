"""What an hour of attacks found: faults that are gone, and those that are left, by their numbers in docs/attacks.md."""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import threading
import time
import zipfile
from datetime import timedelta

import pytest

import pincite
from pincite.errors import IndexCorruptError, InvalidInputError
from pincite.filters import F
from pincite.types import Document
from small_index import opened
from stub_models import StubEncoder

DAY = 86_400.0


def open_fault(number: int, what: str) -> pytest.MarkDecorator:
    return pytest.mark.xfail(strict=True, reason=f"fault {number}: {what}")


def doc(id: str, text: str, **metadata: object) -> Document:
    return Document(id=id, text=text, metadata=metadata)


def found(kb, question: str = "ship", **options: object) -> dict[str, str]:
    """The texts of what is found, by id."""
    hits = kb.search(question, max_distance=None, k=50, rerank=False, **options)
    return {hit.document_id: hit.content for hit in hits}


def folder_of(path, **texts: str):
    path.mkdir(parents=True)
    for name, text in texts.items():
        (path / f"{name}.md").write_text(text)
    return path


@pytest.fixture
def kb(tmp_path):
    with opened(tmp_path / "kb") as made:
        yield made


@pytest.fixture
def pair(kb, tmp_path):
    """A writer, and a reader with its own handle."""
    with opened(tmp_path / "kb") as reader:
        yield kb, reader


# Leaks


@pytest.mark.parametrize("ask", ["search", "view", "current_text", "resolve"])
def test_a_text_is_not_shown_by_the_groups_of_the_next_one(pair, monkeypatch, ask):
    """Fault 1: a commit that changed both came between the look at the texts and the look at the groups."""
    writer, reader = pair
    writer.add(doc("plan", "ship secret"), groups=["board"], progress=False)
    known = reader._folder.views._now
    calls = []

    def overtaken():
        if not calls:
            calls.append(1)
            writer.add(doc("plan", "ship redacted"), groups=["all"], progress=False)
        return known()

    monkeypatch.setattr(reader._folder.views, "_now", overtaken)
    shown = {
        "search": lambda: found(reader, groups=["all"])["plan"],
        "view": lambda: reader.view(groups=["all"]).content(0),
        "current_text": lambda: reader.current_text("plan", against="index", groups=["all"]).text,
        "resolve": lambda: reader.resolve("plan", groups=["all"]).quote,
    }[ask]()
    assert shown == "ship redacted"
    assert calls


def test_a_reader_that_may_not_write_sees_a_grant_that_was_taken_back(kb, tmp_path, monkeypatch):
    kb.add([doc("a", "ship"), doc("b", "ship too")], groups=["staff"], progress=False)
    kb.close()
    with opened(tmp_path / "kb") as writer, monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda path, mode: False)
        with opened(tmp_path / "kb", create=False, read_only=True) as reader:
            assert set(found(reader, groups=["staff"])) == {"a", "b"}
            writer.grant("b", ["board"])
            assert set(found(reader, groups=["staff"])) == {"a"}


@pytest.fixture
def two_sources(kb, tmp_path):
    """Folders of two groups, and a citation of the file that everybody may see."""
    secret = folder_of(tmp_path / "secret", s="ship secret")
    public = folder_of(tmp_path / "public", a="ship public", z="ship at last")
    kb.add(secret, groups=["board"], progress=False)
    kb.add(public, groups=["all"], progress=False)
    return kb, public, secret


@pytest.mark.parametrize("link", ["file", "folder"])
def test_a_link_in_the_place_of_a_file_shows_nothing(kb, tmp_path, link):
    """Fault 5: the file that a source's document is compared with was read through links out of the folder."""
    secret = folder_of(tmp_path / "secret", s="ship secret")
    notes = folder_of(tmp_path / "public" / "notes", s="ship public")
    kb.add(tmp_path / "public", groups=["all"], progress=False)
    if link == "file":
        (notes / "s.md").unlink()
        (notes / "s.md").symlink_to(secret / "s.md")
    else:
        shutil.rmtree(notes)
        notes.symlink_to(secret, target_is_directory=True)
    assert kb.current_text("public/notes/s.md", against="source", groups=["all"]) is None
    assert kb.sync(progress=False).deleted == []  # the source holds nothing any more, which is its trouble
    assert found(kb, groups=["all"]) == {"public/notes/s.md": "ship public"}


def test_a_failed_file_that_became_a_link_is_not_tried_again(two_sources):
    """Fault 5: a retry did not look where the file had gone."""
    kb, public, secret = two_sources
    (public / "bad.md").write_bytes(b"")
    kb.add(public, groups=["all"], progress=False)
    (public / "bad.md").unlink()
    (public / "bad.md").symlink_to(secret / "s.md")
    assert [outcome.reason for outcome in kb.retry(progress=False).documents] == ["unreadable"]


@pytest.mark.parametrize("link", ["file", "folder"])
def test_adding_a_path_that_became_a_link_grants_nothing(two_sources, link):
    """Fault 5: the groups went to the document that the link led to."""
    kb, public, secret = two_sources
    place = public / "a.md" if link == "file" else public / "notes"
    place.unlink(missing_ok=True)
    place.symlink_to(secret / "s.md" if link == "file" else secret)
    path = place if link == "file" else place / "s.md"
    report = kb.add(path, groups=["all"], progress=False)
    assert report.ignored == [(str(path), "a link out of the folder")]
    assert "secret/s.md" not in found(kb, groups=["all"])


def test_a_file_that_becomes_a_link_while_a_sync_runs_is_not_read(two_sources):
    """Fault 5: what was found a while ago was read wherever it led."""
    kb, public, secret = two_sources
    (public / "z.md").write_text("ship changed")

    def swap(done, total, id):
        (public / "z.md").unlink()
        (public / "z.md").symlink_to(secret / "s.md")
        nonlocal swap
        swap = lambda *_: None  # noqa: E731

    kb.sync(progress=lambda *told: swap(*told))
    assert found(kb, groups=["all"])["public/z.md"] == "ship at last"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_a_pipe_in_the_place_of_a_file_keeps_nobody_waiting(two_sources):
    """Fault 5: whoever verified against the source waited for a writer for ever."""
    kb, public, _ = two_sources
    (public / "a.md").unlink()
    os.mkfifo(public / "a.md")
    asked = threading.Thread(
        target=kb.current_text, args=["public/a.md"], kwargs={"against": "source", "groups": ["all"]}, daemon=True
    )
    asked.start()
    asked.join(20)
    assert not asked.is_alive()


@pytest.mark.parametrize("value", [{"a": 1}, [{"a": 1}], {}])
def test_what_a_hidden_field_holds_makes_no_error(kb, value):
    """Fault 6: dicts could not be ordered, and that one was there was told to whoever asked."""
    kb.add(doc("hidden", "ship", level=value), groups=["board"], progress=False)
    kb.add(doc("open", "ship"), groups=["all"], progress=False)
    for condition in (F("level") < 3, F("level") >= 0.5, F("level") > "a", F("level") <= True):
        assert found(kb, groups=["all"], where=condition) == {}
        assert found(kb, groups=["board"], where=condition) == {}
    assert set(found(kb, groups=["board"], where=F("level") != 3)) == {"hidden"}


@open_fault(7, "a link to another file of the folder is followed, whoever may see that one")
def test_a_link_within_a_folder_shows_no_restricted_file_of_it(kb, tmp_path):
    folder = folder_of(tmp_path / "hr", open="ship open", pay="ship salaries")
    kb.add(folder, groups=["all"], progress=False)
    kb.grant("hr/pay.md", ["board"])
    (folder / "open.md").unlink()
    (folder / "open.md").symlink_to("pay.md")
    kb.sync(progress=False)
    assert "ship salaries" not in found(kb, groups=["all"]).values()


def test_a_sync_takes_in_no_siblings_of_a_file_that_was_added_alone(kb, tmp_path):
    folder = folder_of(tmp_path / "desk", open="ship open", diary="ship diary")
    kb.add(folder / "open.md", groups=["all"], progress=False)
    kb.sync(groups=["all"], progress=False)
    assert set(found(kb, groups=["all"])) == {"desk/open.md"}


def test_a_grant_is_taken_back_while_somebody_writes(pair):
    writer, other = pair
    writer.add(doc("a", "ship"), groups=["all"], progress=False)
    writer.add(doc("b", "oil"), groups=["all"], progress=lambda *_: other.grant("a", []))
    assert "a" not in found(other, groups=["all"])


@pytest.mark.parametrize("nothing", ["folder", "list"])
def test_groups_are_said_even_where_there_is_nothing_yet(kb, tmp_path, nothing):
    """Fault 16: an index whose first folder was empty stayed open to everybody."""
    (tmp_path / "empty").mkdir()
    kb.add(tmp_path / "empty" if nothing == "folder" else [], groups=["board"], progress=False)
    kb.add(doc("a", "ship"), progress=False)
    with pytest.raises(InvalidInputError, match="the index has groups"):
        kb.search("ship")
    assert found(kb, groups=["board"]) == {}


def test_citations_of_a_held_result_add_nothing_that_was_hidden_since(kb):
    kb.add(doc("a", "ship one\n\n# Next\n\noil two\n"), groups=["all"], progress=False)
    result = kb.search("ship", groups=["all"], max_distance=None, k=1)
    kb.grant("a", ["board"])
    (citation,) = kb.citations(result, groups=["all"])
    assert (citation.before, citation.after) == ("", "")


def test_a_restored_text_is_not_shown_by_the_groups_of_a_later_one(kb, tmp_path):
    kb.add(doc("plan", "ship secret"), groups=["board"], progress=False)
    kb.snapshot(tmp_path / "kept.zip")
    kb.add(doc("plan", "ship redacted"), groups=["all"], progress=False)
    pincite.restore(tmp_path / "kept.zip", tmp_path / "kb")
    assert "ship secret" not in found(kb, groups=["all"]).values()


def test_a_restore_brings_no_deleted_text_back_under_an_id_that_was_given_again(kb, tmp_path):
    kb.add([doc("a", "ship of a person"), doc("b", "oil")], progress=False)
    kb.snapshot(tmp_path / "kept.zip")
    kb.delete("a")
    kb.add(doc("a", "ship of nobody"), progress=False)
    pincite.restore(tmp_path / "kept.zip", tmp_path / "kb")
    assert "ship of a person" not in found(kb).values()


def test_a_snapshot_carries_no_deleted_text(kb, tmp_path):
    kb.add([doc("a", "ship of a person"), *(doc(f"d{i}", "oil") for i in range(4))], progress=False)
    kb.delete("a")
    kb.snapshot(tmp_path / "kept.zip")
    with zipfile.ZipFile(tmp_path / "kept.zip") as kept:
        assert not any(b"ship of a person" in kept.read(name) for name in kept.namelist())


@pytest.mark.parametrize("version", ["built", "previous"])
def test_a_version_that_does_not_serve_shows_no_text_by_the_groups_of_a_later_one(kb, tmp_path, version):
    kb.add(doc("plan", "ship secret"), groups=["board"], progress=False)
    kb.rebuild(progress=False)
    if version == "previous":
        kb.swap(progress=False)
    kb.add(doc("plan", "ship redacted"), groups=["all"], progress=False)
    with opened(tmp_path / "kb", create=False, version=version) as beside:
        assert "ship secret" not in found(beside, groups=["all"]).values()


# What is not so any more


@pytest.mark.parametrize("how", ["link", "working folder"])
def test_an_open_index_stays_the_one_that_was_opened(tmp_path, monkeypatch, how):
    """Fault 3: where its name led to another index by then, a writer removed that one's segments."""
    for name in ("one", "two"):
        with opened(tmp_path / name / "kb") as made:
            made.add(doc("a", f"ship {name}"), progress=False)
    current = tmp_path / "current"
    current.symlink_to(tmp_path / "one", target_is_directory=True)
    monkeypatch.chdir(tmp_path / "one")
    with opened(current / "kb" if how == "link" else "kb") as kb:
        current.unlink()
        current.symlink_to(tmp_path / "two", target_is_directory=True)
        monkeypatch.chdir(tmp_path / "two")
        kb.add(doc("b", "ship more"), progress=False)
        kb._folder.catalog.close()  # as a fork does
        assert found(kb) == {"a": "ship one", "b": "ship more"}
    for name, texts in {"one": {"a": "ship one", "b": "ship more"}, "two": {"a": "ship two"}}.items():
        with opened(tmp_path / name / "kb", create=False) as again:
            assert found(again) == texts


def test_an_index_that_took_the_place_of_another_survives_a_writer_of_that_one(kb, tmp_path):
    kb.add(doc("old", "ship old"), progress=False)
    with opened(tmp_path / "next") as following:
        following.add(doc("new", "ship new"), progress=False)
    (tmp_path / "kb").rename(tmp_path / "was")
    (tmp_path / "next").rename(tmp_path / "kb")
    with contextlib.suppress(Exception):  # a refusal is as good
        kb.add(doc("late", "ship late"), progress=False)
    assert all(path.is_dir() and any(path.iterdir()) for path in (tmp_path / "kb" / "segments").iterdir())
    with opened(tmp_path / "kb", create=False) as again:
        assert "new" in found(again)


def test_a_reader_notices_that_its_index_was_put_away(pair, tmp_path):
    writer, reader = pair
    writer.add(doc("a", "ship old"), groups=["all"], progress=False)
    assert found(reader, groups=["all"])
    writer.close()
    shutil.rmtree(tmp_path / "kb")
    with opened(tmp_path / "kb") as again:
        again.add(doc("a", "ship new"), groups=["board"], progress=False)
        try:
            answered = found(reader, groups=["all"])
        except Exception:  # a refusal is as good
            answered = {}
    assert answered == {}


@open_fault(10, "a folder is known by where its link led when it was added, and syncs say that all is well")
def test_a_folder_that_is_a_link_is_followed_when_it_is_turned(kb, tmp_path):
    for number in ("1", "2"):
        folder_of(tmp_path / f"release-{number}", a=f"ship {number}")
    current = tmp_path / "current"
    current.symlink_to("release-1")
    kb.add(current, progress=False)
    current.unlink()
    current.symlink_to("release-2")
    report = kb.sync(progress=False)
    assert report.troubles or list(found(kb).values()) == ["ship 2"]


def test_a_file_that_has_another_id_since_its_folder_was_named_is_missing_under_the_old_one(kb, tmp_path):
    """Fault 11: nothing said that the old id was there to stay, with what it once said."""
    inner = folder_of(tmp_path / "docs" / "inner", a="ship first")
    (tmp_path / "docs" / "b.md").write_text("oil")
    kb.add(tmp_path / "docs", progress=False)
    kb.add(inner, name="inner", progress=False)
    (inner / "a.md").write_text("ship second")
    report = kb.add(tmp_path / "docs", progress=False)
    assert report.missing == ["docs/inner/a.md"]
    assert kb.sync(progress=False).deleted == ["docs/inner/a.md"]
    assert found(kb) == {"docs/b.md": "oil", "inner/a.md": "ship second"}


def test_a_folder_has_one_name(kb, tmp_path):
    """Fault 11: with a second one, which of them a file belonged to went by the alphabet."""
    folder = folder_of(tmp_path / "docs", a="ship")
    kb.add(folder, progress=False)
    with pytest.raises(InvalidInputError, match="'docs' already, given was 'another'; leave the name out"):
        kb.add(folder, name="another", progress=False)
    assert kb.add(folder, name="docs", progress=False).count("unchanged") == 1


@open_fault(12, "a file that was touched keeps the time it had")
def test_the_time_of_a_file_is_that_of_the_file(kb, tmp_path):
    folder = folder_of(tmp_path / "docs", a="ship")
    os.utime(folder / "a.md", (DAY, DAY))
    kb.add(folder, progress=False)
    os.utime(folder / "a.md", (20_000 * DAY, 20_000 * DAY))
    kb.sync(progress=False)
    assert found(kb, where="modified >= 2020-01-01")


def test_a_file_that_is_tried_again_has_the_metadata_it_was_given(kb, tmp_path):
    folder = folder_of(tmp_path / "docs", a="")
    kb.add(folder, metadata={"lang": "en"}, progress=False)
    (folder / "a.md").write_text("ship")
    kb.retry(progress=False)
    assert found(kb, where='lang == "en"')


def test_a_search_that_a_jump_of_the_clock_overtakes_is_answered(kb, tmp_path, monkeypatch):
    kb.add([doc("a", "ship"), doc("b", "ship too")], progress=False)
    now = time.time

    class Overtaken(StubEncoder):
        def encode_batch(self, texts, **options):
            if list(texts) == ["ship"]:
                for days in (1, 2, 3):
                    monkeypatch.setattr(time, "time", lambda days=days: now() + days * DAY)
                    kb.add([doc("a", f"oil {days}"), doc("b", f"oil {days}")], progress=False)
            return super().encode_batch(texts, **options)

    with opened(tmp_path / "kb", encoder=Overtaken()) as reader:
        try:
            answered = found(reader)
        except IndexCorruptError as error:
            pytest.fail(str(error))
    assert set(answered) == {"a", "b"}


@pytest.mark.parametrize("named", ["docs", "papers"])
def test_a_folder_that_moved_and_left_a_link_is_a_trouble_of_its_own(kb, tmp_path, named):
    """Fault 15: no source was synced then, and none was marked."""
    moved = folder_of(tmp_path / "disk1" / "docs", a="ship one")
    other = folder_of(tmp_path / "other", b="ship two")
    kb.add([moved, other], progress=False)
    (tmp_path / "disk2").mkdir()
    moved.rename(tmp_path / "disk2" / named)
    moved.symlink_to(tmp_path / "disk2" / named, target_is_directory=True)
    (moved / "a.md").write_text("ship again")
    (other / "b.md").write_text("ship three")
    report = kb.sync(progress=False)
    assert "has become a link" in report.troubles["docs"]
    assert [stale.id for stale in kb.stale()] == ["docs/a.md"]
    assert found(kb) == {"docs/a.md": "ship one", "other/b.md": "ship three"}
    kb.add(tmp_path / "disk2" / named, name="docs", progress=False)
    assert kb.sync(progress=False).troubles == {}
    assert found(kb) == {"docs/a.md": "ship again", "other/b.md": "ship three"}


def test_a_folder_that_became_a_link_grants_nothing(two_sources):
    """Fault 5: the groups of an add went to the documents of the folder that it led to."""
    kb, public, secret = two_sources
    shutil.rmtree(public)
    public.symlink_to(secret, target_is_directory=True)
    assert kb.add(public, groups=["all"], progress=False).ignored == [(str(public), "a link out of the folder")]
    assert kb.current_text("public/a.md", against="source", groups=["all"]) is None
    assert set(found(kb, groups=["all"])) == {"public/a.md", "public/z.md"}


def test_what_was_edited_while_a_sync_ran_is_not_confirmed_after_that(kb, tmp_path, monkeypatch):
    folder = folder_of(tmp_path / "docs", a="ship a", b="ship b")
    kb.add(folder, progress=False)
    clock = [time.time() + DAY]
    monkeypatch.setattr(time, "time", lambda: clock[0])

    def edit(done, total, id):
        clock[0] += 100
        (folder / "a.md").write_text("ship edited")  # it has been read
        clock[0] += 100

    kb.sync(progress=edit)
    (source,) = kb.status().sources
    assert source.synced < clock[0] - 100


def test_a_clock_that_was_set_back_makes_nothing_young(kb, monkeypatch):
    """Fault 18: what was confirmed in a time to come was never old again."""
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 1000 * DAY)
    kb.add(doc("a", "ship"), progress=False)
    monkeypatch.undo()
    assert [stale.reasons for stale in kb.stale(older_than=timedelta(days=1))] == [("age",)]


def test_current_text_takes_no_other_word_for_the_index(kb):
    """Fault 19: any word but "source" gave what the index has, as what the source says."""
    kb.add(doc("a", "ship"), progress=False)
    with pytest.raises(InvalidInputError, match="against is 'Source', wanted one of"):
        kb.current_text("a", against="Source")


def test_an_asker_changes_nothing_for_the_next_one(kb):
    kb.add(doc("a", "ship", lang="en"), progress=False)
    with contextlib.suppress(TypeError):
        kb.search("ship", max_distance=None)[0].document.metadata["lang"] = "xx"
    assert kb.search("ship", max_distance=None)[0].to_dict()["metadata"] == {"lang": "en"}


@open_fault(22, "a pickled result needs the files it was found in")
def test_a_pickled_result_outlives_a_merge(kb, monkeypatch):
    kb.add(doc("a", "ship"), progress=False)
    kept = pickle.dumps(kb.search("ship", max_distance=None))
    now = time.time
    for days in (1, 2, 3):
        monkeypatch.setattr(time, "time", lambda days=days: now() + days * DAY)
        kb.add(doc("a", f"ship {days}"), progress=False)
    assert pickle.loads(kept)[0].content == "ship"


def test_a_file_and_a_document_of_one_id_are_refused(kb, tmp_path):
    """Fault 23: the error spoke of the catalog's columns."""
    folder = folder_of(tmp_path / "docs", a="ship")
    with pytest.raises(InvalidInputError, match=r"a file and a document have the id 'docs/a\.md'"):
        kb.add([folder, doc("docs/a.md", "ship too")], progress=False)
    assert kb.status().documents == 0


def test_groups_that_are_no_list_are_named(kb):
    """Fault 24: a TypeError of Python's."""
    with pytest.raises(InvalidInputError, match="groups is True, wanted a list"):
        kb.search("ship", groups=True)
