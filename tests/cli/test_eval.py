"""`pincite eval`: tables, JSON and exit codes on an index whose answers are known."""

from __future__ import annotations

import json
import re

import pytest

from pincite.cli import main
from stub_models import StubEncoder, StubReranker

TEXTS = {
    "pumps.md": "# Pumps\n\nThe pump stops at 80 degrees.\n",
    "sails.md": "# Sails\n\nA sail catches wind.\n",
    "ropes.md": "# Ropes\n\nA rope is long.\n",
}
ASKED = {"what stops the pump at 80": "The pump stops at 80 degrees.", "what does a sail catch": "A sail catches wind."}


@pytest.fixture(autouse=True)
def stub_models(monkeypatch):
    monkeypatch.setattr("pincite.models.encoder.Encoder.load", lambda *arguments, **options: StubEncoder())
    monkeypatch.setattr("pincite.models.reranker.Reranker.load", lambda *arguments, **options: StubReranker())


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


def test_run_is_what_eval_does_if_nothing_else_is_said(desk, capsys, monkeypatch):
    long = run(capsys, "run", "kb", "gold.jsonl", "--pipeline", "hybrid", "--json")
    assert run(capsys, "kb", "gold.jsonl", "--pipeline", "hybrid", "--json") == long
    assert run(capsys, "--json", "--pipeline", "hybrid", "kb", "gold.jsonl") == long
    monkeypatch.setattr("sys.argv", ["pincite", "eval", "kb", "gold.jsonl"])
    assert main() == 0
    assert capsys.readouterr().out.startswith("**kb (default)** on gold")
    assert main(["eval", "nowhere", "gold.jsonl"]) == 1
    assert "nowhere" in capsys.readouterr().err


def test_a_mistyped_action_is_no_index(desk, capsys, tmp_path):
    with pytest.raises(SystemExit) as ended:
        main(["eval", "swep", "kb", "gold.jsonl"])
    assert ended.value.code == 2
    assert "invalid choice: 'swep'" in capsys.readouterr().err
    (tmp_path / "kb").rename(tmp_path / "swep")
    run(capsys, "swep", "gold.jsonl")


def test_help_shows_both_forms(capsys):
    with pytest.raises(SystemExit):
        main(["eval", "--help"])
    shown = capsys.readouterr().out
    assert shown.startswith("usage: pincite eval KB GOLD [options of run]\n       pincite eval ACTION ...\n")
    with pytest.raises(SystemExit):
        main(["eval", "sweep", "--help"])
    assert capsys.readouterr().out.startswith("usage: pincite eval sweep [-h] ")


@pytest.mark.parametrize(
    ("action", "code", "kind"),
    [
        (("run", "kb", "gold.jsonl"), 0, "Evaluation"),
        (("compare", "kb", "blind", "gold.jsonl"), 0, "Comparison"),
        (("sweep", "kb", "gold.jsonl"), 0, "Thresholds, distance"),
        (("calibrate", "kb", "gold.jsonl"), 0, "Calibration, distance"),
        (("calibrate", "kb", "gold.jsonl", "--max-bluffs", 0.01), 1, "Calibration, distance"),
        (("gate", "kb", "blind", "gold.jsonl", "--pipeline", "hybrid"), 1, "Migration gate"),
        (("chunkers", "docs", "gold.jsonl", "--work", "work", "--strategies", "A", "structural"), 0, "Ways of cutting"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_action_writes_a_page(desk, capsys, tmp_path, action, code, kind):
    """The pages themselves: tests/unit/test_pages.py."""
    shown = [run(capsys, *action, "--report", name, code=code) for name in ("one.html", "two.html")]
    page = (tmp_path / "one.html").read_bytes()
    assert f'<p class="kind">{kind}</p>'.encode() in page
    assert page.endswith(b"</html>\n")
    assert ((tmp_path / "two.html").read_bytes(), shown[1]) == (page, shown[0]), "two runs give the same bytes"


def test_questions_are_shown_by_their_text(desk, capsys, tmp_path):
    run(capsys, "gate", "kb", "blind", "gold.jsonl", "--pipeline", "hybrid", "--report", "page.html", code=1)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "2 destroyed: a chunk of the old index holds the answer" in page
    assert page.count("what does a sail catch") == 2, "lost and destroyed"
    report = json.loads(run(capsys, "run", "kb", "gold.jsonl", "--json"))
    assert [question["question"] for question in report["questions"]][:2] == list(ASKED)


def test_what_cannot_be_written_is_said_before_the_work(desk, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("pincite.cli.eval.evaluate", lambda *arguments, **options: pytest.fail("the work was done"))
    for option in ("--report", "--timings"):
        for path in ("no/such/folder.html", "."):
            assert main(["eval", "kb", "gold.jsonl", option, path]) == 1
            assert f"{path}: cannot write the file" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_times_are_in_a_file_of_their_own(desk, capsys, tmp_path):
    plain = run(capsys, "run", "kb", "gold.jsonl", "--pipeline", "hybrid", "--json")
    arguments = ("kb", "gold.jsonl", "--pipeline", "hybrid", "--json", "--timings", "times.json")
    assert run(capsys, *arguments) == plain
    (timings,) = json.loads((tmp_path / "times.json").read_text(encoding="utf-8"))["reports"]
    assert timings["configuration_hash"] == json.loads(plain)["configuration_hash"]
    assert {"total", "encode", "bm25", "dense"} <= set(timings["stages"])
    assert set(timings["stages"]["total"]) == {"n", "p50_ms", "p95_ms", "mean_ms"}
    assert timings["stages"]["total"]["n"] == 62
    assert main(["eval", "compare", "kb", "blind", "gold.jsonl", "--timings", "times.json"]) == 0
    timings = json.loads((tmp_path / "times.json").read_text(encoding="utf-8"))["reports"]
    assert [each["name"] for each in timings] == ["kb (default)", "blind (default)"]
    said = capsys.readouterr().err
    assert re.search(r"^kb \(default\): 3 chunks, \d\.\d MB; a question took p50 \d", said, re.MULTILINE)


def test_a_bar_is_shown_on_a_terminal_only(desk, capsys, monkeypatch):
    assert main(["eval", "kb", "gold.jsonl"]) == 0
    assert "62/62" not in capsys.readouterr().err
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert main(["eval", "kb", "gold.jsonl"]) == 0
    said = capsys.readouterr().err
    assert "kb (default): 100%" in said
    assert "62/62" in said


def test_sweep_and_calibrate(desk, capsys):
    rows = json.loads(run(capsys, "sweep", "kb", "gold.jsonl", "--json"))["rows"]
    assert [row["bluffs"]["value"] for row in rows] == sorted(row["bluffs"]["value"] for row in rows)
    assert run(capsys, "sweep", "kb", "gold.jsonl").count("\n") == 2 + 2 + len(rows)
    assert (
        "few questions"
        in json.loads(run(capsys, "calibrate", "kb", "gold.jsonl", "--max-bluffs", "0.01", "--json", code=1))["verdict"]
    )
    assert run(capsys, "calibrate", "kb", "gold.jsonl", "--max-bluffs", "0.01", code=1).startswith("threshold: none\n")


def test_thresholds_are_on_any_score(desk, capsys):
    arguments = ("sweep", "kb", "gold.jsonl", "--score", "logit")
    swept = json.loads(run(capsys, *arguments, "--json"))
    thresholds = [row["threshold"] for row in swept["rows"]]
    assert thresholds == sorted(thresholds, reverse=True), "the least logit that is an answer, the strictest first"
    assert swept["score"] == "logit"
    assert run(capsys, *arguments).splitlines()[4].startswith(f"| {thresholds[0]:.3f} | ")
    found = json.loads(run(capsys, "calibrate", "kb", "gold.jsonl", "--score", "absent", "--json"))
    assert (found["score"], found["stamp"]["pipeline"]) == ("absent", "hybrid+rerank")
    for score, pipeline in (("distance", "bm25"), ("logit", "hybrid")):
        assert main(["eval", "sweep", "kb", "gold.jsonl", "--score", score, "--pipeline", pipeline]) == 1
        assert f"--score {score}, which it does not measure" in capsys.readouterr().err


def test_near_questions_are_made_and_measured(desk, capsys):
    into = ("negatives", "kb", "gold.jsonl", "--into")
    shown = run(capsys, *into, "near.jsonl", "--by", "document", "passage", "entity")
    assert "near.jsonl: 67 questions" in shown
    assert "2 document deleted, 2 passage deleted, 1 entity swapped" in shown
    rows = json.loads(run(capsys, "sweep", "kb", "near.jsonl", "--json"))["rows"]
    assert set(rows[0]["bluffs_of"]) == {"", "document deleted", "passage deleted", "entity swapped"}
    assert main(["eval", *into, "near.jsonl"]) != 0
    assert "near.jsonl" in capsys.readouterr().err
    made = json.loads(run(capsys, *into, "more.jsonl", "--json"))
    assert made == {
        "path": "more.jsonl",
        "questions": 65,
        "families": {"": 60, "section deleted": 2, "entity swapped": 1},
    }


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
    assert "has 1 fault, wanted none" in capsys.readouterr().err


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


def test_a_way_of_cutting_is_measured_on_what_the_folder_holds_now(desk, capsys, tmp_path):
    """Whatever the work folder was used for before."""

    def table(work):
        study = json.loads(run(capsys, "chunkers", "docs", "gold.jsonl", "--work", work, "--strategies", "A",
                               "structural", "--json"))  # fmt: skip
        return [(report["name"], report["cost"]["chunks"], report["measures"]) for report in study["reports"]]

    fresh = table("fresh")
    (tmp_path / "docs" / "more.md").write_text("# More\n\nA pump stops and a sail catches.\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x.md").write_text("Another sail.\n")
    assert table("used") != fresh
    (tmp_path / "docs" / "more.md").unlink()
    main(["eval", "chunkers", "other", "gold.jsonl", "--work", "used", "--strategies", "A"])
    capsys.readouterr()
    assert table("used") == fresh


@pytest.mark.parametrize("option", ["--report", "--timings"])
def test_nothing_of_others_is_written_over(desk, capsys, tmp_path, option):
    before = {path: path.read_bytes() for path in (tmp_path / "gold.jsonl", *(tmp_path / "docs").iterdir())}
    for path in ("gold.jsonl", "docs/pumps.md", "kb/catalog.sqlite", "kb/new.html"):
        assert main(["eval", "kb", "gold.jsonl", option, path]) == 1, path
        assert path in capsys.readouterr().err
    assert all(path.read_bytes() == content for path, content in before.items())
    for _ in range(2):  # its own may be
        run(capsys, "kb", "gold.jsonl", option, "out")


def test_a_gate_sees_a_document_that_is_gone(desk, capsys):
    assert main(["index", "docs", "--into", "kb2", "--quiet"]) == 0
    assert main(["delete", "kb2", "docs/pumps.md"]) == 0
    capsys.readouterr()
    shown = run(capsys, "gate", "kb", "kb2", "gold.jsonl", code=1)
    assert "closed" in shown
    assert "destroyed: q0" in shown
    assert "open" in run(capsys, "gate", "kb", "kb2", "gold.jsonl", "--max-destroyed", "1")


def test_a_gate_over_nothing_is_no_gate(desk, capsys, tmp_path):
    (tmp_path / "none.jsonl").write_text('{"question": "zebra", "answerable": false}\n')
    assert main(["eval", "gate", "kb", "blind", "none.jsonl"]) == 1
    assert "no question with an answer" in capsys.readouterr().err
    assert main(["eval", "gate", "kb", "blind", "gold.jsonl", "--max-lost", "-1"]) == 1
    assert "--max-lost is -1, wanted 0 or more" in capsys.readouterr().err
    assert "nan" not in run(capsys, "compare", "kb", "blind", "none.jsonl")
    assert "nan" not in run(capsys, "sweep", "kb", "none.jsonl")


@pytest.mark.parametrize("distance", ["nan", "-1", "3"])
def test_a_threshold_is_a_distance(desk, capsys, distance):
    assert main(["eval", "kb", "gold.jsonl", "--max-distance", distance]) == 1
    assert "wanted 0 to 2 (a cosine distance)" in capsys.readouterr().err


def verb(capsys, *arguments, code=0):
    assert main([str(argument) for argument in arguments]) == code
    return capsys.readouterr()


def test_a_change_of_strategy_is_gated_swapped_and_undone(desk, capsys):
    gate = ("gate", "kb", "kb", "gold.jsonl", "--pipeline", "hybrid", "--versions", "serving", "built")
    shown = verb(capsys, "rebuild", "kb", "--strategy", "A", "--target", 12, "--quiet").out
    assert shown.startswith("version 2 built: 3 documents, ")
    assert "pincite eval gate kb kb GOLD --versions serving built" in shown
    assert run(capsys, *gate, code=1) == "closed\ndestroyed: q0, q1\nlost: q0, q1\n"
    assert verb(capsys, "versions", "kb", "--discard", 2).out.splitlines()[0].startswith("  1 serving   structural")
    report = json.loads(verb(capsys, "rebuild", "kb", "--target", 300, "--stemmer", "none", "--quiet", "--json").out)
    assert (report["version"], report["documents"], report["made"]) == (3, 3, 3)
    assert run(capsys, *gate).startswith("open\n")
    assert run(capsys, "compare", "kb", "kb", "gold.jsonl", "--versions", 1, 3, "--pipelines", "bm25", "bm25")
    assert verb(capsys, "swap", "kb", "--quiet").out.startswith("version 3 serves: structural, target 300; generation ")
    assert json.loads(verb(capsys, "status", "kb", "--json").out)["config"]["stemmer"] is None
    back = json.loads(verb(capsys, "rollback", "kb", "--quiet", "--json").out)
    assert (back["version"]["number"], back["version"]["state"]) == (1, "serving")
    states = [version["state"] for version in json.loads(verb(capsys, "versions", "kb", "--json").out)["versions"]]
    assert states == ["serving", "previous"]


def test_two_equal_sides_are_no_comparison(desk, capsys):
    assert "two --versions" in verb(capsys, "eval", "gate", "kb", "kb", "gold.jsonl", code=1).err
    none = verb(capsys, "eval", "gate", "kb", "kb", "gold.jsonl", "--versions", "serving", "built", code=1)
    assert "has no version 'built', it has: 1 (serving)" in none.err
