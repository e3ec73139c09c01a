"""What is shown with a citation: where its document comes from, how fresh it is, and nothing of other documents."""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime

import pytest

import pincite
from pincite.cite.origin import Origin
from small_index import opened

DAY = datetime(2026, 3, 1, tzinfo=UTC).timestamp()


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "handbook"
    (made / "wages").mkdir(parents=True)
    (made / "pumps.md").write_text("# Pumps\n\nThe red pump stops.\n")
    (made / "wages" / "secret.md").write_text("# Wages\n\nThe captain is paid in rum.\n")
    os.utime(made / "pumps.md", (DAY, DAY))
    return made


@pytest.fixture
def kb(tmp_path, folder):
    with opened(tmp_path / "kb") as made:
        made.add(folder, progress=False)
        yield made


def cited(kb, id="handbook/pumps.md", **options):
    result = kb.search("the red pump", max_distance=None, rerank=False, **options)
    (found,) = (citation for citation in kb.citations(result, **options) if citation.document_id == id)
    assert kb.resolve(found.uri, **options).origin == found.origin
    assert kb.resolve(found.uri, **options).to_dict()["origin"] == found.to_dict()["origin"]
    return found


def test_a_file_has_its_time_and_the_last_sync_of_its_folder(kb, folder, tmp_path):
    assert cited(kb).origin == Origin(url=None, modified=DAY, source="handbook", synced=None, sync_broken=False)
    before = time.time()
    kb.sync(progress=False)
    synced = cited(kb).origin.synced
    assert before <= synced <= time.time()
    folder.rename(tmp_path / "away")
    kb.sync(progress=False)
    assert cited(kb).origin == Origin(url=None, modified=DAY, source="handbook", synced=synced, sync_broken=True)
    (tmp_path / "away").rename(folder)
    kb.sync(progress=False)
    assert cited(kb).origin.synced > synced
    assert not cited(kb).origin.sync_broken


def test_a_file_that_has_changed_has_its_new_time(kb, folder):
    (folder / "pumps.md").write_text("# Pumps\n\nThe red pump runs.\n")
    os.utime(folder / "pumps.md", (DAY + 60, DAY + 60))
    kb.sync(progress=False)
    assert cited(kb).origin.modified == DAY + 60


def given(tmp_path, **options):
    with opened(tmp_path / "kb") as kb:
        kb.add(pincite.Document("given", "The red pump was given.", **options), progress=False)
        return cited(kb, "given").origin


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (DAY, DAY),
        (int(DAY), DAY),
        ("2026-03-01", DAY),
        ("2026-03-01T02:00:00+02:00", DAY),
        ("2026-03-01 00:01", DAY + 60),
        ("in spring", None),
        (True, None),
        (None, None),
        ([2026, 3, 1], None),
        (1e30, None),
        ("0001-01-01T00:00:00+14:00", None),
    ],
)
def test_a_given_document_was_modified_when_its_metadata_say_so(tmp_path, said, wanted):
    assert given(tmp_path, metadata={"modified": said}) == Origin(None, wanted, None, None, sync_broken=False)


def test_a_file_was_modified_when_its_folder_says_so(kb, folder):
    kb.add(folder, metadata={"modified": "1999-01-01"}, progress=False)
    assert cited(kb).origin.modified == DAY


@pytest.mark.parametrize(
    ("document", "wanted"),
    [
        ({}, None),
        ({"uri": "https://example.org/pumps"}, "https://example.org/pumps"),
        ({"uri": "file:///srv/pumps.md"}, None),
        ({"uri": "pumps", "metadata": {"url": "HTTP://example.org/a b#top"}}, "HTTP://example.org/a%20b"),
        ({"uri": "https://a.example", "metadata": {"url": "https://b.example/"}}, "https://b.example/"),
        ({"metadata": {"url": "javascript://example.org/%0Aalert(1)"}}, None),
        ({"metadata": {"url": 5}}, None),
    ],
    ids=str,
)
def test_the_url_is_one_of_the_web_or_none(tmp_path, document, wanted):
    assert given(tmp_path, **document).url == wanted


def test_a_file_that_was_fetched_can_say_from_where(kb, folder):
    kb.add(folder / "pumps.md", metadata={"url": "https://example.org/pumps.html"}, progress=False)
    assert cited(kb).origin.url == "https://example.org/pumps.html"
    assert cited(kb).href.startswith("file:///")


def test_a_sync_that_broke_says_nothing_of_what_is_hidden(kb, folder, monkeypatch):
    """What kept a sync from it can name any file of the folder, or count the documents of it."""
    kb.grant("handbook/pumps.md", ["crew"])
    kb.sync(progress=False)
    scandir = os.scandir

    def refusing(path):
        if os.fspath(path) == os.fspath(folder / "wages"):
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    assert "wages" in kb.sync(progress=False).troubles["handbook"]
    context = kb.context("the red pump", max_distance=None, rerank=False, groups=["crew"])
    passage = kb.resolve(context.citations[0].uri, groups=["crew"])
    assert context.citations[0].origin.sync_broken
    for shown in (context.to_dict(), passage.to_dict()):
        assert "wages" not in json.dumps(shown)


def test_the_prompt_is_about_the_text_alone(kb, folder, tmp_path):
    before = kb.context("the red pump", max_distance=None, rerank=False)
    kb.sync(progress=False)
    folder.rename(tmp_path / "away")
    kb.sync(progress=False)
    after = kb.context("the red pump", max_distance=None, rerank=False)
    assert after.citations[0].origin.sync_broken
    assert (after.prompt, after.sources) == (before.prompt, before.sources)
