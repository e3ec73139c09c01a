"""What an asker gets is what an index of the documents that they may see would give: nothing else shows through."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pincite.errors import InvalidInputError, PassageNotFoundError
from small_index import QUESTIONS, document, opened

GROUPS = ["crew", "deck", "office"]
SOME = st.sets(st.sampled_from(GROUPS), max_size=3)
NUMBERS = st.integers(0, 9)
STEPS = st.one_of(
    st.tuples(st.just("add"), st.dictionaries(NUMBERS, st.integers(0, 3), min_size=1, max_size=5), SOME | st.none()),
    st.tuples(st.just("grant"), st.sets(NUMBERS, min_size=1, max_size=5), SOME),
    st.tuples(st.just("delete"), st.sets(NUMBERS, min_size=1, max_size=4), st.none()),
)


def seen(kb, groups, **options) -> list:
    """Everything that an asker gets to see, but timings, plan and generation."""
    found = []
    for question in (*QUESTIONS, "zebra"):
        result = kb.search(question, groups=groups, k=6, **options)
        said = {
            key: value for key, value in result.to_dict().items() if key not in {"timings_ms", "plan", "generation"}
        }
        citations = [citation.to_dict() for citation in kb.citations(result, groups=groups)]
        context = kb.context(question, groups=groups, k=6, **options)
        found.append((said, citations, getattr(context, "prompt", None) or context.message))
    return found


@settings(max_examples=40, deadline=None)
@given(history=st.lists(STEPS, min_size=1, max_size=7), groups=st.lists(SOME, min_size=1, max_size=3))
@example(history=[("add", {0: 0, 1: 0}, {"crew"}), ("grant", {0}, set())], groups=[{"crew"}])
@example(history=[("add", {0: 1}, {"crew"}), ("add", {1: 2}, {"deck"})], groups=[{"crew"}, {"deck"}, {"crew", "deck"}])
@example(history=[("add", {0: 0, 1: 0}, {"crew"}), ("add", {1: 1}, None), ("delete", {0}, None)], groups=[{"crew"}])
def test_nothing_of_the_others_shows_through(tmp_path_factory, history, groups):
    with opened(tmp_path_factory.mktemp("all") / "kb") as kb:
        there, allowed = {}, {}
        for step, what, to in history:
            ids = [f"d{number:03}" for number in what]
            if step == "add":
                given_documents = [document(number, version) for number, version in what.items()]
                kb.add(given_documents, groups=to, progress=False)
                there |= what
                if to is not None:
                    allowed |= dict.fromkeys(what, to)
            else:
                known = [number for number in what if number in there]
                ids = [f"d{number:03}" for number in known]
                if step == "grant":
                    kb.grant(ids, to)
                    allowed |= dict.fromkeys(known, to)
                else:
                    kb.delete(ids)
                    for number in known:
                        del there[number]
                        allowed.pop(number, None)
        for asker in groups:
            mine = {number: version for number, version in there.items() if allowed.get(number, set()) & asker}
            with opened(tmp_path_factory.mktemp("mine") / "kb") as own:
                own.add([document(number, version) for number, version in mine.items()], progress=False)
                for options in ({"max_distance": None}, {}, {"max_distance": None, "rerank": False},
                                {"max_distance": None, "where": "version >= 1"}):  # fmt: skip
                    assert seen(kb, asker, **options) == seen(own, None, **options)
        assert kb.ledger().balanced


@pytest.fixture
def kb(tmp_path):
    with opened(tmp_path / "kb") as made:
        made.add([document(0), document(1)], groups=["crew"], progress=False)
        made.add([document(2)], groups=["office"], progress=False)
        made.add([document(3)], progress=False)
        yield made


def ids(kb, groups) -> list[str]:
    return sorted({hit.document_id for hit in kb.search("number", groups=groups, max_distance=None, k=9)})


def test_an_index_with_groups_wants_them(kb):
    for ask in (
        lambda: kb.search("number"),
        lambda: kb.context("number"),
        lambda: kb.resolve("d000"),
        lambda: kb.citations(kb.search("number", groups=["crew"])),
        lambda: kb.current_text("d000", against="index"),
    ):
        with pytest.raises(InvalidInputError, match="the index has groups and none were given"):
            ask()
    assert ids(kb, []) == []
    assert ids(kb, ["crew"]) == ["d000", "d001"]
    assert ids(kb, {"crew", "office"}) == ["d000", "d001", "d002"]
    assert ids(kb, ["strangers"]) == []
    for wrong in ("crew", [5], [""], 7):
        with pytest.raises((InvalidInputError, TypeError)):
            kb.search("number", groups=wrong)


def test_an_index_without_groups_shows_nothing_to_whoever_comes_with_some(tmp_path):
    with opened(tmp_path / "kb") as kb:
        kb.add([document(0)], progress=False)
        assert ids(kb, None) == ["d000"]
        assert ids(kb, ["crew"]) == []


def test_what_was_taken_back_is_gone_at_the_next_question_in_every_process(kb, tmp_path):
    with opened(tmp_path / "kb", read_only=True, create=False) as other:
        assert ids(other, ["crew"]) == ["d000", "d001"]
        before = kb.generation
        kb.grant("d000", ["office"])
        assert kb.generation == before
        assert ids(other, ["crew"]) == ["d001"]
        assert ids(other, ["office"]) == ["d000", "d002"]
        kb.grant(["d000", "d001", "d002"], [])
        assert ids(other, GROUPS) == []


def test_groups_are_changed_without_indexing_anything(kb):
    encoded = kb.encoder().n_encoded
    report = kb.add([document(0), document(1)], groups=["deck"], progress=False)
    assert report.count("unchanged") == 2
    assert kb.encoder().n_encoded == encoded
    assert (ids(kb, ["crew"]), ids(kb, ["deck"])) == ([], ["d000", "d001"])


def test_a_new_version_keeps_its_groups_and_a_deleted_document_leaves_none(kb):
    kb.update(document(0, version=5), progress=False)
    assert ids(kb, ["crew"]) == ["d000", "d001"]
    kb.delete("d000")
    kb.add([document(0)], progress=False)
    assert ids(kb, ["crew"]) == ["d001"]


def test_a_citation_holds_for_whoever_may_see_it_now(kb):
    result = kb.search("number", groups=["crew"], max_distance=None)
    citations = {each.document_id: each for each in kb.citations(result, groups=["crew"])}
    uri = citations["d000"].uri
    assert citations["d000"].verify().status == "exact"
    assert kb.resolve(uri, groups=["crew"]).document_id == "d000"
    absent = {}
    for name in (uri, uri.replace("d000", "d999")):
        with pytest.raises(PassageNotFoundError) as caught:
            kb.resolve(name, groups=["office"])
        absent[name] = str(caught.value).replace("d999", "d000")
    assert len(set(absent.values())) == 1, "what may not be seen is as what is not there"
    kb.grant("d000", ["office"])
    assert citations["d000"].verify().status == "gone"
    assert citations["d001"].verify().status == "exact"


def test_groups_may_come_one_by_one(kb):
    context = kb.context("number", groups=iter(["crew"]), max_distance=None)
    assert {citation.verify().status for citation in context.citations} == {"exact"}


def test_failures_are_counted_for_those_who_may_see_them(kb, tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "empty.md").write_bytes(b"")
    kb.add(folder, groups=["crew"], progress=False)
    for groups, failed in ((["crew"], 1), (["office"], 0)):
        result = kb.search("number", groups=groups, max_distance=None)
        assert (result.coverage.failed, result.complete) == (failed, not failed)


def test_new_files_of_a_source_get_the_groups_of_the_sync_and_others_keep_theirs(kb, tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("A number.\n")
    kb.add(folder, groups=["office"], progress=False)
    (folder / "b.md").write_text("A number too.\n")
    kb.sync(progress=False)
    assert "docs/b.md" not in ids(kb, GROUPS)
    assert kb.status().without_groups == 2  # d003, which was added without, and docs/b.md
    (folder / "c.md").write_text("Another number.\n")
    kb.sync(groups=["deck"], progress=False)
    assert ids(kb, ["deck"]) == ["docs/c.md"]
    assert "docs/a.md" in ids(kb, ["office"])
    kb.grant("docs/b.md", ["deck"])
    assert ids(kb, ["deck"]) == ["docs/b.md", "docs/c.md"]


def test_a_grant_of_something_unknown_changes_nothing(kb):
    with pytest.raises(InvalidInputError, match="no document 'd999'"):
        kb.grant(["d000", "d999"], ["office"])
    assert ids(kb, ["crew"]) == ["d000", "d001"]


def test_many_askers_share_what_is_known_of_them(kb):
    views = kb._folder.views
    assert views.of(kb._folder.snapshot(), ["crew"]) is views.of(kb._folder.snapshot(), ("crew",))
    for n in range(200):
        kb.search("number", groups=[f"g{n}", "crew"])
    assert len(views._views) <= 65


def test_an_audit_lists_what_is_seen_and_finds_what_shows_through(kb, monkeypatch):
    found = kb.audit(["crew"], questions=8)
    assert (found.groups, found.documents, found.hidden, found.leaks) == (("crew",), ("d000", "d001"), 2, ())
    assert found.questions == 8
    assert kb.audit([]).documents == ()
    assert kb.audit(GROUPS).hidden == 1
    permitted = type(kb._folder.snapshot()).permitted

    def careless(self, may_see, failed):
        view = permitted(self, may_see, failed)
        view.bm25 = self.bm25  # statistics, and rows, of everything
        return view

    monkeypatch.setattr(type(kb._folder.snapshot()), "permitted", careless)
    kb._folder.views._views.clear()
    assert any("the bm25 leg answers" in leak for leak in kb.audit(["crew"], questions=8).leaks)


def test_statistics_of_everything_are_asked_for_by_name(kb, tmp_path):
    """Scores are those of an index of all documents; what is found, and counted, is what may be seen."""
    question = "ship mast number"
    more = [document(number) for number in range(10, 30)]
    kb.add(more, groups=["office"], progress=False)
    with opened(tmp_path / "public") as public:
        public.add([*(document(number) for number in range(4)), *more], progress=False)
        everything = public.search(question, max_distance=None, rerank=False, k=90)
    scores = {(hit.document_id, hit.start): hit.bm25 for hit in everything}
    visible = kb.search(question, groups=["crew"], max_distance=None, rerank=False)
    leaking = kb.search(question, groups=["crew"], max_distance=None, rerank=False, statistics="global")
    assert {hit.document_id for hit in leaking} == {hit.document_id for hit in visible} == {"d000", "d001"}
    assert leaking.coverage == visible.coverage
    assert {(hit.document_id, hit.start): hit.bm25 for hit in leaking}.items() <= scores.items()
    assert not {(hit.document_id, hit.start): hit.bm25 for hit in visible}.items() <= scores.items()
    context = kb.context(question, groups=["crew"], max_distance=None, rerank=False, statistics="global")
    assert [citation.document_id for citation in context.citations] == [hit.document_id for hit in leaking]
    assert kb.search(question, groups=[], statistics="global").coverage.documents == 0
    with pytest.raises(InvalidInputError, match="statistics is 'mine', wanted one of"):
        kb.search(question, groups=[], statistics="mine")
