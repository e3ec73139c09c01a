"""Which files a folder has, and what they are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from pincite.errors import InvalidInputError
from pincite.store.records import SourceFolder
from pincite.store.sources import discover


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "guide"
    for name in ("a.md", "sub/b.txt", "sub/deep/c.html", ".hidden.md", ".git/config", "sub/d.bin"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return root


def ids(found):
    return [file.id for file in found.files]


def look(*paths, known=None, index=Path("/nowhere/kb"), name=None):
    return discover(paths, known=known or {}, index_folder=index, name=name)


def test_files_are_named_by_folder_and_path(tree):
    found = look(tree)
    assert ids(found) == ["guide/a.md", "guide/sub/b.txt", "guide/sub/d.bin", "guide/sub/deep/c.html"]
    assert found.sources == {"guide": SourceFolder(str(tree), True)}


def test_what_is_passed_over_is_said(tree):
    (tree / "link").symlink_to(tree / "sub", target_is_directory=True)
    (tree / "kb").mkdir()
    (tree / "other").mkdir()
    (tree / "other" / "catalog.sqlite").write_text("")
    found = look(tree, index=tree / "kb")
    assert {(Path(path).name, reason) for path, reason in found.ignored} == {
        (".hidden.md", "hidden"),
        (".git", "hidden"),
        ("link", "a link to a folder"),
        ("kb", "an index"),
        ("other", "an index"),
    }


def test_a_file_has_the_same_name_alone_and_with_its_folder(tree):
    assert ids(look(tree / "a.md")) == ["guide/a.md"]
    known = {"guide": SourceFolder(str(tree), True)}
    assert ids(look(tree / "sub" / "b.txt", known=known)) == ["guide/sub/b.txt"]
    assert look(tree / "sub", known=known).sources == {}


def test_a_folder_whose_file_was_added_alone_is_no_source_of_the_others(tree):
    found = look(tree / "a.md")
    assert found.sources == {"guide": SourceFolder(str(tree), False)}
    assert look(tree / "sub" / "b.txt", known=found.sources).sources == {}
    assert look(tree / "sub", known=found.sources).sources == {"sub": SourceFolder(str(tree / "sub"), True)}
    whole = look(tree, known=found.sources)
    assert whole.sources == {"guide": SourceFolder(str(tree), True)}
    assert ids(whole) == ids(look(tree))


def test_a_folder_that_was_added_first_keeps_its_files_when_the_folder_above_is_added(tree):
    known = {"sub": SourceFolder(str(tree / "sub"), True)}
    assert ids(look(tree, known=known)) == ["guide/a.md", "sub/b.txt", "sub/d.bin", "sub/deep/c.html"]


def test_a_file_given_twice_is_one(tree):
    assert ids(look(tree / "a.md", tree / "a.md", tree)) == ids(look(tree))


def test_two_folders_of_one_name_need_another(tree, tmp_path):
    other = tmp_path / "elsewhere" / "guide"
    other.mkdir(parents=True)
    (other / "x.md").write_text("x")
    with pytest.raises(InvalidInputError, match="--name"):
        look(other, known={"guide": SourceFolder(str(tree), True)})
    assert ids(look(other, known={"guide": SourceFolder(str(tree), True)}, name="guide2")) == ["guide2/x.md"]


def test_a_folder_that_has_moved_keeps_its_name(tree, tmp_path):
    moved = tmp_path / "new" / "guide"
    moved.parent.mkdir()
    tree.rename(moved)
    found = look(moved, known={"guide": SourceFolder(str(tree), True)})
    assert found.sources == {"guide": SourceFolder(str(moved), True)}
    assert "guide/a.md" in ids(found)


@pytest.mark.parametrize("name", ["", "a/b", " x"])
def test_a_name_has_to_be_one(tree, name):
    with pytest.raises(InvalidInputError, match="name is"):
        look(tree, name=name)


def test_what_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(InvalidInputError, match="nothing at"):
        look(tmp_path / "missing")
