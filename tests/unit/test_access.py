"""Who may see a document is what `add` and `grant` say, and nothing that stands in it."""

from __future__ import annotations

import pytest

import pincite
from small_index import opened


@pytest.mark.parametrize("value", ["office", ["office"], {"office": True}, []], ids=str)
def test_groups_in_metadata_are_metadata(tmp_path, value):
    with opened(tmp_path / "kb") as kb:
        kb.add(pincite.Document("wages", "The captain is paid in rum.", metadata={"groups": value}), progress=False)
        assert not kb.has_groups
        kb.grant("wages", ["board"])
        assert kb.search("rum", max_distance=None, rerank=False, groups=["office"]).coverage.documents == 0
        (hit,) = kb.search("rum", max_distance=None, rerank=False, groups=["board"])
        assert hit.document.metadata["groups"] == value


def test_groups_in_front_matter_are_text(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "wages.md").write_text("---\ntitle: Wages\ngroups: [office]\n---\n\nThe captain is paid in rum.\n")
    with opened(tmp_path / "kb") as kb:
        kb.add(folder, metadata={"groups": "office"}, progress=False)
        assert not kb.has_groups
        kb.grant("docs/wages.md", ["board"])
        kb.sync(progress=False)
        assert kb.search("rum", max_distance=None, rerank=False, groups=["office"]).coverage.documents == 0
        assert kb.search("rum", max_distance=None, rerank=False, groups=["board"]).coverage.documents == 1
