"""`pincite eval`: tables, JSON and exit codes on an index whose answers are known."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest

from pincite.cli import main
from stub_models import StubEncoder, StubReranker

TEXTS = {
    "pumps.md": "# Pumps\n\nThe pump stops at 80 degrees.\n",
    "sails.md": "# Sails\n\nA sail catches wind.\n",
    "ropes.md": "# Ropes\n\nA rope is long.\n",
}
ASKED = {"what stops the pump": "The pump stops at 80 degrees.", "what does a sail catch": "A sail catches wind."}


@pytest.fixture(autouse=True)
def stub_models(monkeypatch):
    monkeypatch.setattr("pincite.models.encoder.Encoder.load", lambda *arguments, **options: StubEncoder())
    monkeypatch.setattr("pincite.knowledge_base.Reranker.load", lambda *arguments, **options: StubReranker())


@pytest.fixture
def desk(tmp_path, monkeypatch, capsys):
    """A folder with an index, one whose chunks are too small to hold an answer, and a gold set."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "docs" / name).write_text(text)
    lines = []
    for number, (question, answer) in enumerate(ASKED.items()):
        name = next(name for name, text in TEXTS.items() if answer in text)
        start = TEXTS[name].index(answer)
        excerpt = {"document": f"docs/{name}", "start": start, "end": start + len(answer), "text": answer}
        lines.append({"id": f"q{number}", "question": question, "answerable": True, "excerpts": [excerpt]})
    lines += [{"id": f"n{n}", "question": f"zebra {n} quantum football", "answerable": False} for n in range(60)]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["index", "docs", "--into", "kb", "--quiet"]) == 0
    assert main(["index", "docs", "--into", "blind", "--strategy", "A", "--target", "12", "--quiet"]) == 0
    capsys.readouterr()


def run(capsys, *arguments, code=0):
    assert main(["eval", *map(str, arguments)]) == code
    return capsys.readouterr().out


def test_run(desk, capsys):
    shown = run(capsys, "run", "kb", "gold.jsonl", "--pipeline", "hybrid")
    assert "| R@1 | 1.000 |" in shown
    assert "| destroyed | 0.000 |" in shown
    assert "2 questions with an answer, 60 to refuse" in shown
    first = run(capsys, "run", "kb", "gold.jsonl", "--json")
    assert first == run(capsys, "run", "kb", "gold.jsonl", "--json"), "two runs give the same bytes"
    report = json.loads(first)
    assert report["name"] == "kb (default)"
    assert len(report["questions"]) == 62


def test_compare_says_what_cannot_be_said(desk, capsys):
    shown = run(capsys, "compare", "kb", "kb", "gold.jsonl", "--pipelines", "bm25", "hybrid")
    assert shown.startswith("not distinguishable by R@4")
    assert "with 2 questions no difference can be seen" in shown
    shown = json.loads(run(capsys, "compare", "kb", "blind", "gold.jsonl", "--pipelines", "hybrid", "hybrid", "--json"))
    assert shown["lost"] == shown["destroyed"] == ["q0", "q1"]
    run(capsys, "compare", "kb", "kb", "gold.jsonl", code=1)


class Tags(HTMLParser):
    """Counts elements, and collects what a browser would fetch."""

    def __init__(self, page):
        super().__init__()
        self.open, self.fetched, self.counts = [], [], {}
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.fetched += [value for name, value in attributes if name in {"src", "href", "data"}]
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.counts[tag] = self.counts.get(tag, 0) + 1

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_fetches_nothing(desk, capsys, tmp_path):
    run(capsys, "run", "kb", "gold.jsonl", "--report", "one.html")
    run(capsys, "compare", "kb", "blind", "gold.jsonl", "--report", "two.html")
    one, two = ((tmp_path / name).read_text(encoding="utf-8") for name in ("one.html", "two.html"))
    for page in (one, two):
        tags = Tags(page)
        assert tags.open == []
        assert tags.fetched == []
        assert "url(" not in page
        assert "@import" not in page
    assert Tags(one).counts["svg"] == 2
    assert Tags(two).counts["svg"] == 3
    assert Tags(one).counts["circle"] == 6
    assert Tags(two).counts["circle"] == 12
    assert "2 destroyed" in two
    assert "not distinguishable" in two
    assert main(["eval", "run", "kb", "gold.jsonl", "--report", "no/such/folder.html"]) == 1
    assert "cannot write the page" in capsys.readouterr().err


def test_sweep_and_calibrate(desk, capsys):
    rows = json.loads(run(capsys, "sweep", "kb", "gold.jsonl", "--json"))["rows"]
    assert [row["bluffs"]["value"] for row in rows] == sorted(row["bluffs"]["value"] for row in rows)
    assert run(capsys, "sweep", "kb", "gold.jsonl").count("\n") == 2 + 2 + len(rows)
    assert (
        "few questions"
        in json.loads(run(capsys, "calibrate", "kb", "gold.jsonl", "--max-bluffs", "0.01", "--json", code=1))["verdict"]
    )
    assert run(capsys, "calibrate", "kb", "gold.jsonl", "--max-bluffs", "0.01", code=1).startswith("threshold: none\n")


def test_the_gate_closes_when_answers_are_lost(desk, capsys):
    gate = ("gate", "kb", "blind", "gold.jsonl", "--pipeline", "hybrid")
    assert run(capsys, *gate, code=1) == "closed\ndestroyed: q0, q1\nlost: q0, q1\n"
    assert run(capsys, *gate, "--max-destroyed", 2).startswith("open\n")
    assert json.loads(run(capsys, *gate, "--max-destroyed", 2, "--max-lost", 1, "--json", code=1))["passed"] is False
    assert run(capsys, "gate", "blind", "kb", "gold.jsonl", "--pipeline", "hybrid").startswith("open\n")


def test_a_gold_set_with_faults_is_refused(desk, capsys, tmp_path):
    line = {"id": "x", "question": "q", "answerable": True,
            "excerpts": [{"document": "docs/pumps.md", "start": 0, "end": 5, "text": "wrong"}]}  # fmt: skip
    (tmp_path / "bad.jsonl").write_text(json.dumps(line))
    assert main(["eval", "run", "kb", "bad.jsonl"]) == 1
    assert "faults" in capsys.readouterr().err


def test_chunkers_side_by_side(desk, capsys):
    arguments = (
        "chunkers",
        "docs",
        "gold.jsonl",
        "--work",
        "work",
        "--target",
        24,
        "--strategies",
        "A",
        "C",
        "structural",
    )
    first = run(capsys, *arguments)
    assert first == run(capsys, *arguments), "the second run uses what the first one kept"
    rows = {line.split(" | ")[0].strip("| "): line for line in first.splitlines() if line.startswith("| ")}
    assert {"A", "C", "structural"} <= set(rows)
    assert "* not distinguishable by R@4: A and structural" in first
    study = json.loads(run(capsys, *arguments, "--json"))
    assert [report["name"] for report in study["reports"]] == ["A", "C", "structural"]
    assert [report["configuration"]["index"]["target"] for report in study["reports"]] == [24, 24, 24]
    destroyed = {report["name"]: report["destroyed"] for report in study["reports"]}
    assert destroyed["A"] == ["q0", "q1"], "blind cuts at 24 go through both answers"
    assert destroyed["C"] == ["q0", "q1"], "these documents have no section of the kind that C takes"
