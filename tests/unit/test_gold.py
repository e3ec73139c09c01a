"""Gold sets are read strictly and checked before anything is measured with them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pincite.errors import InvalidInputError
from pincite.evaluation import Excerpt, GoldSet, Question, Span, load_beir, load_chroma
from pincite.types import Document

TEXT = "# Pumps and oil\n\nA pump moves öil 📷. It stops.\r\n\nIt stops.\n\nSetext\n======\n\nEnd.\n"
DOCUMENTS = {
    "pumps": Document("pumps", TEXT),
    "plain": Document("plain", TEXT, markup="plain"),
    "repeated": Document("repeated", "ababab"),
}


def at(text: str, *, document: str = "pumps", nth: int = 0) -> Excerpt:
    start = -1
    for _ in range(nth + 1):
        start = TEXT.index(text, start + 1)
    return Excerpt(document, start, start + len(text), text)


def problems(*questions: Question, documents=DOCUMENTS.get) -> list[str]:
    return GoldSet("gold", questions).check(documents)


def written(tmp_path, *lines) -> str:
    path = tmp_path / "gold.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return str(path)


def test_a_set_in_order_has_no_problem():
    assert problems(
        Question("1", "what moves oil?", (at("A pump moves öil 📷."), at("It stops.", nth=1))),
        Question("2", "who sails?", answerable=False),
        Question("3", "the secret?", (at("End."),), answerable=False, forbidden=True, groups=("crew",)),
        Question("4", "pumps?", grades={"pumps": 2, "gone": 1}),
        Question("5", "pumps?", (at("Pumps and oil", document="plain"),)),
        Question("6", "both?", (at("Pumps and oil\n\nA pump"),)),
    ) == []  # fmt: skip


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        (Question("1", "q", (Excerpt("pumps", 0, 6, "A pump"),)), "is not there; it occurs at 17"),
        (Question("1", "q", (Excerpt("pumps", 0, 6, "A ship"),)), "is not there; it occurs nowhere"),
        (Question("1", "q", (Excerpt("repeated", 0, 3, "bab"),)), "is not there; it occurs at 1, 3"),
        (Question("1", "q", (Excerpt("pumps", 17, 22, "A pump"),)), "does not span its text of 6 code points"),
        (Question("1", "q", (Excerpt("pumps", -6, 0, "A pump"),)), "does not span its text"),
        (Question("1", "q", (at("\n\n"),)), "is blank"),
        (Question("1", "q", (Excerpt("pumps", 3, 3, ""),)), "is blank"),
        (Question("1", "q", (Excerpt("ships", 0, 3, "Abc"),)), "names no document"),
        (Question("1", "q", (at("Pumps and oil"),)), "lies inside a heading"),
        (Question("1", "q", (at("Setext"),)), "lies inside a heading"),
        (Question("1", "q"), "is answerable, and no excerpt or grade says by what"),
        (Question("1", "q", grades={"pumps": 0}), "is answerable, and no excerpt or grade says by what"),
        (Question("1", "q", (at("End."),), answerable=False), "is not answerable and has an answer"),
        (Question("1", " \n", answerable=False), "has no words"),
        (Question("1", "what \ud800", answerable=False), "holds half a character, a lone surrogate"),
        (Question("1", "what", answerable=False, family="\ud800"), "holds half a character"),
        (Question("1", "what", answerable=False, groups=("\udfff",)), "holds half a character"),
        (Question("1", "q", (at("End."),), without=(Span("pumps"),)), "is answerable without what answers it"),
        (Question("1", "q", answerable=False, without=(Span("ships"),)), "takes out 'ships', which names no document"),
        (Question("1", "q", answerable=False, without=(Span("pumps", 3, 3),)), "takes out [3, 3) of 'pumps', which is"),
        (Question("1", "q", answerable=False, without=(Span("pumps", -1, 3),)), "takes out [-1, 3) of 'pumps'"),
        (Question("1", "q", answerable=False, without=(Span("pumps", 0, 999),)), "takes out [0, 999) of 'pumps'"),
        (Question("1", "q", grades={"gone": 1}), "of 1 document that is graded as relevant, none is there"),
    ],
)
def test_each_fault_is_named(question, problem):
    (found,) = problems(question)
    assert problem in found


def test_all_faults_are_listed_and_ids_are_unique():
    found = problems(Question("1", "q"), Question("1", "q"), Question("2", ""))
    assert found[0] == "the id '1' is given to 2 questions"
    assert len(found) == 5


def test_without_documents_the_rest_is_checked():
    unseen = Question("1", "q", (Excerpt("anything", 5, 9, "text"),))
    assert problems(unseen, documents=None) == []
    assert len(problems(unseen, Question("2", "q", (Excerpt("anything", 5, 9, "tex"),)), documents=None)) == 1


def test_a_repeated_excerpt_is_told_apart_by_its_offset():
    first, second = at("It stops."), at("It stops.", nth=1)
    assert first.start != second.start
    assert problems(Question("1", "q", (first,)), Question("2", "q", (second,))) == []
    between = Excerpt("pumps", first.start + 1, first.end + 1, "It stops.")
    assert f"it occurs at {first.start}, {second.start}" in problems(Question("1", "q", (between,)))[0]


texts = st.text(st.characters(codec="utf-8"), min_size=1)
questions = st.builds(
    Question,
    id=texts,
    text=texts,
    excerpts=st.lists(st.builds(Excerpt, texts, st.integers(0), st.integers(0), texts), max_size=2).map(tuple),
    groups=st.none() | st.lists(texts, max_size=2).map(tuple),
    family=st.text(st.characters(codec="utf-8")),
    grades=st.dictionaries(texts, st.integers(), max_size=2),
) | st.builds(
    Question,
    id=texts,
    text=texts,
    answerable=st.just(False),
    forbidden=st.booleans(),
    without=st.lists(st.builds(Span, texts) | st.builds(Span, texts, st.integers(), st.integers())).map(tuple),
)


@given(st.lists(questions, min_size=1, max_size=4))
def test_a_set_comes_back_as_it_was_saved(tmp_path_factory, made):
    path = tmp_path_factory.getbasetemp() / "mine.jsonl"
    gold = GoldSet("mine", tuple(made))
    gold.save(path)
    assert GoldSet.load(path) == gold
    assert GoldSet.load(path).sha256 == gold.sha256


def test_the_hash_follows_the_questions():
    one = GoldSet("a", (Question("1", "q", answerable=False),))
    assert one.sha256 == GoldSet("b", one.questions).sha256
    assert one.sha256 != GoldSet("a", (Question("1", "q?", answerable=False),)).sha256


def test_defaults_are_filled_in(tmp_path):
    gold = GoldSet.load(written(tmp_path, {"question": "a"}, "", {"question": "b", "forbidden": True}))
    assert [(q.id, q.answerable, q.groups) for q in gold] == [("1", True, None), ("3", False, None)]
    assert gold.name == "gold"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: no JSON"),
        ("[1]", "line 2: is list, wanted a JSON object"),
        (
            '{"question": "q", "answerable": false, "question": "r"}',
            "line 2: no JSON: the key 'question' is there twice",
        ),
        ({"id": "1"}, "line 2: 'question' is missing"),
        ({"question": 7}, "line 2: question is 7, wanted str"),
        ({"question": "q", "answerable": "no"}, "line 2: answerable is 'no', wanted bool"),
        ({"question": "q", "anser": 1}, "line 2: unknown key 'anser', known are id, question"),
        ({"question": "q", "groups": "crew"}, "line 2: groups is 'crew', wanted a list of strings"),
        ({"question": "q", "grades": {"d": 1.5}}, "line 2: grades holds something that is no integer"),
        ({"question": "q", "forbidden": True, "answerable": True}, "line 2: the question is forbidden and answerable"),
        ({"question": "q", "excerpts": ["x"]}, "line 2: excerpt 1 is of type str, wanted an object"),
        ({"question": "q", "excerpts": [{"document": "d", "text": "t", "page": 3}]}, "line 2: unknown key 'page'"),
        ({"question": "q", "excerpts": [{"document": "d", "text": "t", "start": 3}]}, "wanted both or neither"),
        ({"question": "q", "excerpts": [{"document": "d", "text": "t", "start": 3, "end": True}]}, "end is True"),
        ({"question": "q", "excerpts": [{"document": "d", "text": "t"}]}, "documents were not given"),
        ({"question": "q", "without": ["d"]}, "line 2: without 1 is of type str, wanted an object"),
        ({"question": "q", "without": [{"document": "d", "text": "t"}]}, "line 2: unknown key 'text'"),
        ({"question": "q", "without": [{"document": "d", "start": 3}]}, "without 1 has start or end, wanted both"),
    ],
)
def test_a_line_that_is_no_question_is_named(tmp_path, line, message):
    with pytest.raises(InvalidInputError) as caught:
        GoldSet.load(written(tmp_path, {"question": "fine", "answerable": False}, line))
    assert message in str(caught.value)


def test_a_byte_order_mark_is_no_part_of_a_set(tmp_path):
    path = tmp_path / "bom.jsonl"
    path.write_text('{"question": "a", "answerable": false}\n', encoding="utf-8-sig")
    assert [question.text for question in GoldSet.load(path)] == ["a"]


def test_documents_that_are_gone_are_no_fault_where_that_is_what_is_measured():
    gold = GoldSet("g", (Question("1", "q", (Excerpt("ships", 0, 3, "Abc"),)), Question("2", "q", grades={"gone": 1})))
    assert len(gold.check(DOCUMENTS.get)) == 2
    assert gold.check(DOCUMENTS.get, may_lack=True) == []


def test_files_that_cannot_be_read_are_named(tmp_path):
    with pytest.raises(InvalidInputError, match=r"gone\.jsonl cannot be read"):
        GoldSet.load(tmp_path / "gone.jsonl")
    with pytest.raises(InvalidInputError, match="has no line, wanted a question a line"):
        GoldSet.load(written(tmp_path, "", ""))


def test_offsets_are_filled_in_where_there_is_no_doubt(tmp_path):
    def load(**excerpt):
        path = written(tmp_path, {"question": "q", "excerpts": [{"document": "pumps", **excerpt}]})
        return GoldSet.load(path, documents=DOCUMENTS.get)

    assert load(text="A pump moves öil 📷.").questions[0].excerpts == (at("A pump moves öil 📷."),)
    for excerpt, message in [
        ({"text": "It stops."}, "occurs 2 times in 'pumps', wanted exactly once"),
        ({"text": "A ship"}, "occurs 0 times"),
        ({"text": ""}, "occurs 0 times"),
        ({"text": "s"}, "occurs 3 times or more"),
        ({"document": "ships", "text": "A"}, "there is no document 'ships'"),
    ]:
        with pytest.raises(InvalidInputError, match=f"line 1: excerpt 1 has no start and end.*{message}"):
            load(**excerpt)


def beir(folder, corpus, queries, qrels):
    folder.mkdir()
    for name, lines in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(line + "\n" for line in qrels))
    return folder


def test_a_folder_of_beir(tmp_path):
    corpus = [{"_id": "d1", "title": "T", "text": "one"}, {"_id": "d2", "text": "# two", "metadata": {}}]
    queries = [{"_id": "q2", "text": "b"}, {"_id": "q1", "text": "a"}, {"_id": "q3", "text": "c"}]
    folder = beir(tmp_path / "set", corpus, queries, ["q1\td1\t2", "q1\td2\t-1", "q2\td2\t1", "q3\td1\t0"])
    documents, gold = load_beir(folder)
    assert documents == [Document("d1", "one", "T", "plain"), Document("d2", "# two", "", "plain")]
    assert gold == GoldSet(
        "set", (Question("q2", "b", grades={"d2": 1}), Question("q1", "a", grades={"d1": 2, "d2": 0}))
    )


@pytest.mark.parametrize(
    ("corpus", "qrels", "message"),
    [
        ([{"_id": 1, "text": "x"}], [], r"corpus\.jsonl, line 1: _id is 1, wanted a string"),
        ([{"_id": "d", "text": None}], [], r"corpus\.jsonl, line 1: text is None"),
        ([], ["q1\td1"], r"qrels\.tsv, line 2: is \['q1', 'd1'\], wanted query, document and grade"),
        ([], ["q1\td1\thigh"], "line 2: is"),
        ([], ["q9\td1\t1"], "judges the query 'q9', which queries.jsonl does not have"),
    ],
)
def test_faults_in_a_folder_of_beir_are_named(tmp_path, corpus, qrels, message):
    with pytest.raises(InvalidInputError, match=message):
        load_beir(beir(tmp_path / "set", corpus, [{"_id": "q1", "text": "a"}], qrels))
    with pytest.raises(InvalidInputError, match=r"other\.tsv cannot be read"):
        load_beir(beir(tmp_path / "sound", [], [], []), qrels="other.tsv")


def test_the_questions_of_chroma(tmp_path):
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora" / "a.md").write_bytes("ünd\r\nlast\r\n".encode())
    line = {"id": "q0", "corpus_id": "a", "question": "what?",
            "references": [{"content": "last", "start_index": 5, "end_index": 9}]}  # fmt: skip
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps(line))
    documents, gold = load_chroma(tmp_path)
    assert documents == [Document("a", "ünd\r\nlast\r\n")]
    assert gold.questions == (Question("q0", "what?", (Excerpt("a", 5, 9, "last"),), family="a"),)
    assert gold.check({document.id: document for document in documents}.get) == []
    questions.write_text(json.dumps({**line, "references": [{"content": "last"}]}))
    with pytest.raises(InvalidInputError, match="line 1: the references cannot be read: KeyError"):
        load_chroma(tmp_path)


@pytest.mark.parametrize(("name", "n_documents", "n_questions"), [("scifact", 5183, 300), ("cranfield", 1400, 225)])
def test_real_folders_are_in_order(shared, name, n_documents, n_questions):
    documents, gold = load_beir(shared / "data" / name)
    assert (len(documents), len(gold)) == (n_documents, n_questions)
    assert gold.check({document.id: document for document in documents}.get) == []


def test_chromas_excerpts_are_where_they_say(shared):
    documents, gold = load_chroma(shared / "data" / "chroma_chunking")
    assert (len(documents), len(gold)) == (3, 317)
    assert gold.check({document.id: document for document in documents}.get) == []
