"""The command line: data on stdout, talk on stderr, exit codes, JSON, help."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pincite
import pincite.__main__
from pincite.cli import VERBS, main, parser
from pincite.cli.arguments import moment
from pincite.errors import ModelFileError
from stub_models import StubEncoder, StubReranker

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def stub_models(monkeypatch):
    """Run the commands with models that need no weights."""
    monkeypatch.setattr("pincite.models.encoder.Encoder.load", lambda *arguments, **options: StubEncoder())
    monkeypatch.setattr("pincite.models.reranker.Reranker.load", lambda *arguments, **options: StubReranker())


@pytest.fixture
def kb(tmp_path, capsys):
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "pumps.md").write_text("# Pumps\n\nThe pump stops at 80 degrees.\n")
    (folder / "sails.md").write_text("# Sails\n\nA sail catches wind.\n")
    (folder / "logo.png").write_bytes(b"\x89PNG")
    assert main(["index", str(folder), "--into", str(tmp_path / "kb"), "--quiet"]) == 0
    capsys.readouterr()
    return str(tmp_path / "kb")


def run(capsys, *arguments, code=0):
    assert main([str(argument) for argument in arguments]) == code
    return capsys.readouterr()


def json_of(capsys, *arguments, code=0):
    return json.loads(run(capsys, *arguments, "--json", code=code).out)


def test_index_says_what_became_of_each(tmp_path, kb, capsys):
    said = run(capsys, "index", tmp_path / "docs", "--into", kb)
    assert said.out.startswith("0 added, 0 updated, 2 unchanged, 1 failed; 0 chunks, generation ")
    assert "failed: docs/logo.png: unsupported" in said.err
    (tmp_path / "docs" / "sails.md").write_text("# Sails\n\nNew.\n")
    report = json_of(capsys, "index", tmp_path / "docs", "--into", kb)
    assert report["counts"] == {"added": 0, "updated": 1, "unchanged": 1, "failed": 1}
    assert [document["reason"] for document in report["documents"] if document["state"] == "failed"] == ["unsupported"]


def test_verify_says_what_is_damaged_and_which_documents_it_touches(kb, capsys):
    assert run(capsys, "verify", kb).out.startswith("sound: 1 version of 1 segment, 2 documents in 2 chunks, ")
    (file,) = Path(kb).glob("segments/*/texts.pin")
    file.write_bytes(file.read_bytes().replace(b"The pump", b"The lump"))
    said = run(capsys, "verify", kb, code=1).out.splitlines()
    assert said[0].startswith(f"DAMAGED segments/{file.parent.name}/texts.pin: ")
    assert said[1:3] == ["affected docs/pumps.md", "affected docs/sails.md"]
    assert said[3].startswith("1 finding: ")
    found = json_of(capsys, "verify", kb, code=1)
    assert (found["sound"], found["affected"]) == (False, ["docs/pumps.md", "docs/sails.md"])


def test_doctor_says_what_to_do(kb, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("pincite.models.files.verify", lambda name: [])  # the stub has no files
    said = run(capsys, "doctor", kb, "--encoder", "stub").out
    assert "note     failed      1 document could not be indexed: 1 unsupported -> `pincite status --failed`" in said
    assert "PROBLEM" not in said
    (tmp_path / "docs").rename(tmp_path / "elsewhere")
    run(capsys, "sync", kb, "--quiet", code=1)
    assert re.search(r"^PROBLEM  source +docs \(", run(capsys, "doctor", kb, code=1).out, re.MULTILINE)
    found = json_of(capsys, "doctor", kb, code=1)
    assert found["healthy"] is False
    assert {"level", "subject", "what", "advice"} == set(found["findings"][0])


@pytest.mark.parametrize("closed", [(1,), (2,), (0, 1, 2)])
@pytest.mark.parametrize("verb", [["status"], ["search", "pump"], ["merge"], ["verify"]])
def test_closed_streams_end_in_no_traceback(kb, closed, verb):
    code = f"""
import os, sys
for stream in {closed}:
    os.close(stream)
arguments = [sys.executable, "-c", "import sys; from pincite.cli import main; sys.exit(main(sys.argv[1:]))"]
os.execv(sys.executable, [*arguments, {verb[0]!r}, {kb!r}, *{verb[1:]!r}])
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PINCITE_CACHE": "/nowhere"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode == (1 if verb[0] == "search" else 0)  # no model there


@pytest.mark.parametrize("seconds", [1e12, -1e12, 1e300, float("inf")])
def test_times_that_no_calendar_has_are_told(kb, capsys, monkeypatch, seconds):
    monkeypatch.setattr("time.time", lambda: seconds)
    Path(kb).parent.joinpath("docs", "new.md").write_text("# New\n\nText.\n")
    if abs(seconds) < 1e299:
        run(capsys, "sync", kb, "--quiet")
    assert "s since 1970" in moment(seconds)
    run(capsys, "versions", kb)
    run(capsys, "status", kb)


def test_ctrl_c_while_it_is_loaded_ends_quietly(monkeypatch, capsys):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr("pincite.cli.parser", interrupt)
    assert pincite.__main__.main() == 130
    assert capsys.readouterr().err == "pincite: interrupted\n"


def test_what_the_system_refuses_is_told_of_with_its_file(kb, capsys, monkeypatch):
    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied", f"{kb}/segments")

    monkeypatch.setattr("pincite.KnowledgeBase.merge", refuse)
    said = run(capsys, "merge", kb, code=1)
    assert f"Permission denied: '{kb}/segments'" in said.err


def test_index_with_nothing_inside_is_no_success(tmp_path, capsys):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "logo.png").write_bytes(b"\x89PNG")
    run(capsys, "index", tmp_path / "docs", "--into", tmp_path / "kb", code=1)


def test_search_shows_passages_with_citations(kb, capsys):
    shown = run(capsys, "search", kb, "pump stops at degrees", "--max-distance", 2).out
    assert re.search(r"^\[1\] docs/pumps\.md > Pumps, lines 1-3 \(distance 0\.\d{3}, bm25 \d", shown)
    uri = re.search(r"docs/pumps\.md#char=0,38;md5=[0-9a-f]{32},UTF-8", shown)[0]
    assert run(capsys, "cite", kb, uri).out == "# Pumps\n\nThe pump stops at 80 degrees.\n"
    result = json_of(capsys, "search", kb, "pump stops", "--max-distance", 2, "-k", 1)
    assert [hit["citation"]["uri"] for hit in result["hits"]] == [uri]


def test_context_is_prompt_and_citations_or_no(kb, capsys):
    shown = run(capsys, "context", kb, "pump stops", "--max-distance", 2).out
    assert "\n[1] docs/pumps.md > Pumps\n    # Pumps\n    \n    The pump stops at 80 degrees.\n" in shown
    assert re.search(r"^Citations:\n\n\[1\] docs/pumps\.md#char=0,38;", shown, re.MULTILINE)
    assert json_of(capsys, "context", kb, "pump stops", "--max-distance", 2)["citations"][0]["number"] == 1
    refused = run(capsys, "context", kb, "zebra", "--max-distance", 0.1, code=3)
    assert refused.out == 'NO ANSWER: nothing under cosine distance 0.1 for "zebra"\n'
    assert json_of(capsys, "context", kb, "zebra", "--max-distance", 0.1, code=3)["answerable"] is False
    assert run(capsys, "search", kb, "zebra", "--max-distance", 0.1, code=3).out.startswith("NO ANSWER")


def test_cite_says_when_the_document_has_changed(tmp_path, kb, capsys):
    uri = json_of(capsys, "search", kb, "pump stops", "--max-distance", 2)["hits"][0]["citation"]["uri"]
    (tmp_path / "docs" / "pumps.md").write_text("# Pumps\n\nThe pump stops at 95 degrees.\n")
    run(capsys, "index", tmp_path / "docs", "--into", kb)
    said = run(capsys, "cite", kb, uri, code=1)
    assert "95" in said.out
    assert "changed" in said.err
    assert json_of(capsys, "cite", kb, uri, code=1)["integrity"] == "changed"


def test_status_and_ledger(kb, capsys):
    assert re.search(r"^documents +2$", run(capsys, "status", kb).out, re.MULTILINE)
    assert json_of(capsys, "status", kb)["failed"][0]["id"] == "docs/logo.png"
    assert "docs/pumps.md" in run(capsys, "ledger", kb).out
    ledger = json_of(capsys, "ledger", kb)
    assert ledger["balanced"]
    assert {document["id"]: document["length"] for document in ledger["documents"]}["docs/pumps.md"] == 39


def test_what_is_gone_goes_with_a_sync(tmp_path, kb, capsys):
    (tmp_path / "docs" / "sails.md").unlink()
    said = run(capsys, "sync", kb)
    assert said.out.startswith("0 added, 0 updated, 1 unchanged, 1 failed, 1 deleted; generation ")
    assert json_of(capsys, "sync", kb, "docs", "--quiet")["deleted"] == []
    assert "synced 20" in run(capsys, "status", kb).out
    (tmp_path / "docs").rename(tmp_path / "away")
    said = run(capsys, "sync", kb, code=1)
    assert "trouble: docs: " in said.err
    assert "is not there; its documents are kept as they are" in said.err
    assert "BROKEN since: " in run(capsys, "status", kb).out
    assert json_of(capsys, "status", kb, "--stale")["stale"][0]["reasons"] == ["source"]


def test_delete_takes_out_what_is_named(kb, capsys):
    assert run(capsys, "delete", kb, "docs/sails.md").out.startswith("1 deleted; generation ")
    assert json_of(capsys, "status", kb)["documents"] == 1
    assert "no document 'docs/sails.md'" in run(capsys, "delete", kb, "docs/pumps.md", "docs/sails.md", code=1).err
    assert json_of(capsys, "delete", kb, "docs/pumps.md")["deleted"] == ["docs/pumps.md"]


def test_what_failed_is_listed_and_tried_again(tmp_path, kb, capsys):
    assert run(capsys, "retry", kb, code=1).out.startswith("0 indexed, 1 failed again; ")
    assert "docs/logo.png: unsupported: " in run(capsys, "status", kb, "--failed").out
    assert json_of(capsys, "status", kb, "--failed")["failed"][0]["attempts"] == 2
    (tmp_path / "docs" / "ropes.md").write_bytes(b"")
    run(capsys, "index", tmp_path / "docs", "--into", kb, "--quiet")
    (tmp_path / "docs" / "ropes.md").write_text("A rope.\n")
    assert json_of(capsys, "retry", kb, "docs/ropes.md", "--quiet")["counts"]["added"] == 1


def test_who_may_see_what(tmp_path, kb, capsys):
    run(capsys, "grant", kb, "docs/pumps.md", "--to", "crew, office")
    assert "has groups and none were given" in run(capsys, "search", kb, "pump", code=1).err
    options = ("--max-distance", "2", "--rerank", "none", "--groups")
    assert json_of(capsys, "search", kb, "pump", *options, "office")["hits"][0]["document_id"] == "docs/pumps.md"
    uri = json_of(capsys, "search", kb, "pump", *options, "office")["hits"][0]["citation"]["uri"]
    assert "stops at 80" in run(capsys, "cite", kb, uri, "--groups", "crew").out
    run(capsys, "cite", kb, uri, "--groups", "strangers", code=1)
    assert json_of(capsys, "search", kb, "pump", *options, "", code=3)["hits"] == []
    assert run(capsys, "context", kb, "sail", *options, "crew").out.count("docs/sails.md") == 0
    assert run(capsys, "grant", kb, "docs/pumps.md", "--to", "").out == "1 document: seen by nobody\n"
    run(capsys, "search", kb, "pump", *options, "crew,office", code=3)
    run(capsys, "index", tmp_path / "docs", "--into", kb, "--groups", "crew", "--quiet")
    assert len(json_of(capsys, "search", kb, "pump", *options, "crew")["hits"]) == 2


def test_an_audit_says_who_sees_what(kb, capsys):
    run(capsys, "grant", kb, "docs/pumps.md", "--to", "crew")
    said = run(capsys, "audit", kb, "--groups", "crew").out.splitlines()
    assert said[0] == "docs/pumps.md"
    assert said[-1].startswith("1 document seen, 1 hidden; 2 questions asked, 0 answered otherwise")
    assert json_of(capsys, "audit", kb, "--groups", "")["documents"] == []


def test_a_condition_narrows_a_search(kb, capsys):
    options = ("--max-distance", "2", "--rerank", "none", "--where")
    hits = json_of(capsys, "search", kb, "pump", *options, 'id prefix "docs/s"')["hits"]
    assert [hit["document_id"] for hit in hits] == ["docs/sails.md"]
    assert "cannot be read at 'docs'" in run(capsys, "search", kb, "pump", *options, "id prefix docs", code=1).err


def test_what_is_cited_says_how_fresh_it_is(tmp_path, kb, capsys):
    os.utime(tmp_path / "docs" / "pumps.md", (0, 0))
    (tmp_path / "docs" / "pumps.md").write_text("# Pumps\n\nThe pump stops at 90 degrees.\n")
    os.utime(tmp_path / "docs" / "pumps.md", (86400.5, 86400.5))
    run(capsys, "index", tmp_path / "docs", "--into", kb, "--quiet")
    ask = (kb, "pump stops", "--max-distance", 2, "-k", 1)
    uri = json_of(capsys, "search", *ask)["hits"][0]["citation"]["uri"]

    def line():
        shown = run(capsys, "context", *ask).out.splitlines()[-1].strip()
        assert run(capsys, "cite", kb, uri).err.splitlines()[1] == shown
        return shown

    assert line() == "modified 1970-01-02 00:00:00 UTC"
    run(capsys, "sync", kb, "--quiet")
    assert re.fullmatch(r"modified 1970-01-02 00:00:00 UTC, synced 20\S+ \S+ UTC", line())
    assert run(capsys, "search", *ask).out.splitlines()[-1].strip() == uri
    (tmp_path / "docs").rename(tmp_path / "away")
    run(capsys, "sync", kb, code=1)
    assert re.fullmatch(r"modified 1970-01-02 00:00:00 UTC, SYNC BROKEN, last synced 20\S+ \S+ UTC", line())
    assert run(capsys, "search", *ask).out.splitlines()[-1].strip() == line()
    shown = [
        json_of(capsys, "search", *ask)["hits"][0]["citation"],
        json_of(capsys, "context", *ask)["citations"][0],
        json_of(capsys, "cite", kb, uri),
    ]
    assert [each["origin"]["sync_broken"] for each in shown] == [True] * 3
    assert [each["origin"]["modified"] for each in shown] == [86400.5] * 3


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, []),
        ({"uri": "https://example.org/x"}, []),
        ({"metadata": {"url": "https://example.org/x"}}, ["from https://example.org/x"]),
        ({"metadata": {"url": "https://example.org/\x1b[2J", "modified": 0}},
         ["modified 1970-01-01 00:00:00 UTC, from https://example.org/%1B[2J"]),
    ],
    ids=str,
)  # fmt: skip
def test_where_a_document_is_from_is_said_once(tmp_path, capsys, given, wanted):
    with pincite.open(tmp_path / "kb", create=True, encoder=StubEncoder()) as kb:
        kb.add(pincite.Document("x", "The pump stops.", **given), progress=False)
    shown = run(capsys, "context", tmp_path / "kb", "pump", "--max-distance", 2).out.split("Citations:\n\n")[1]
    assert "#char=" in shown.splitlines()[0]
    assert [line.strip() for line in shown.splitlines()[1:]] == wanted


def test_statistics_of_everything_are_asked_for_by_name(kb, capsys):
    run(capsys, "grant", kb, "docs/pumps.md", "--to", "crew")
    ask = (kb, "pump", "--groups", "crew", "--max-distance", 2, "--rerank", "none", "--statistics")
    for verb in ("search", "context"):
        results = [json_of(capsys, verb, *ask, statistics) for statistics in ("visible", "global")]
        visible, everything = (result.get("result", result)["hits"][0] for result in results)
        assert visible["document_id"] == everything["document_id"] == "docs/pumps.md"
        assert visible["bm25"] != everything["bm25"]
    with pytest.raises(SystemExit):
        main(["search", kb, "pump", "--groups", "crew", "--statistics", "mine"])
    capsys.readouterr()
    for verb in ("search", "context"):
        with pytest.raises(SystemExit):
            main([verb, "--help"])
        assert "by all, which leaks:" in " ".join(capsys.readouterr().out.split())


def test_one_of_a_thing_is_no_plural(tmp_path, capsys):
    """An index with one of everything that is counted: document, chunk, failure, try, segment."""
    folder, kb = tmp_path / "docs", tmp_path / "kb"
    folder.mkdir()
    (folder / "pumps.md").write_text("# Pumps\n\nThe pump stops.\n")
    (folder / "ropes.md").write_bytes(b"")
    gold = tmp_path / "gold.jsonl"
    excerpt = {"document": "docs/pumps.md", "start": 9, "end": 24, "text": "The pump stops."}
    gold.write_text(json.dumps({"id": "q", "question": "pump", "answerable": True, "excerpts": [excerpt]}))
    said = []
    for command in (
        ("index", folder, "--into", kb, "--quiet"),
        ("status", kb),
        ("status", kb, "--failed"),
        ("eval", "run", kb, gold),
        ("eval", "compare", kb, kb, gold, "--pipelines", "bm25", "hybrid"),
        ("eval", "negatives", kb, gold, "--into", tmp_path / "near.jsonl"),
        ("rebuild", kb, "--target", 400, "--quiet"),
        ("swap", kb, "--quiet"),
        ("grant", kb, "docs/pumps.md", "--to", "crew"),
        ("snapshot", kb, tmp_path / "kb.pincite"),
        ("restore", tmp_path / "kb.pincite", "--into", tmp_path / "other"),
        ("audit", kb, "--groups", "crew", "--questions", 1),
        ("grant", kb, "docs/pumps.md", "--to", ""),
        ("status", kb),
    ):
        shown = run(capsys, *command)
        said += [*shown.out.splitlines(), *shown.err.splitlines()]
    singular = {found for line in said for found in re.findall(r"(?<![\w.,-])1 ([a-z]+)", line)}
    assert {"document", "chunk", "try", "segment", "question"} <= singular
    assert not {word for word in singular if word.endswith("s")} - {"previous"}


def test_how_old_is_stale_is_asked_for(kb, capsys):
    assert run(capsys, "status", kb, "--stale", "--older-than", "30d").out == ""
    old = run(capsys, "status", kb, "--stale", "--older-than", "0m").out
    assert "docs/pumps.md: age; confirmed 20" in old
    assert "give --stale as well" in run(capsys, "status", kb, "--older-than", "1d", code=1).err
    with pytest.raises(SystemExit):
        main(["status", kb, "--stale", "--older-than", "soon"])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["search", "missing", "x"], "does not exist"),
        (["search", "KB", " "], "question"),
        (["search", "KB", "x", "-k", "0"], "k is 0"),
        (["cite", "KB", "other.md#char=1,2"], "no document"),
        (["cite", "KB", "docs/pumps.md#page=1"], "char=START,END"),
        (["index", "missing", "--into", "KB"], "nothing at missing"),
        (["index", "KB", "--into", "KB", "--strategy", "E"], "was built with --strategy structural"),
        (["index", "KB", "--into", "KB", "--graph-from", "9"], "was built without --graph-from, given was 9"),
        (["models", "verify", "no/such"], "no/such"),
    ],
)
def test_an_error_is_one_line_on_stderr(kb, capsys, arguments, said, tmp_path, monkeypatch):
    monkeypatch.setenv("PINCITE_CACHE", str(tmp_path / "cache"))
    shown = run(capsys, *[kb if argument == "KB" else argument for argument in arguments], code=1)
    assert shown.out == ""
    assert shown.err.startswith("pincite: ")
    assert said in shown.err
    assert shown.err.count("\n") == 1
    shown = json_of(capsys, *[kb if argument == "KB" else argument for argument in arguments], code=1)
    assert said in shown["message"]


def test_what_fails_at_once_makes_no_index(tmp_path, capsys, monkeypatch):
    run(capsys, "index", tmp_path / "missing", "--into", tmp_path / "new", code=1)
    (tmp_path / "docs").mkdir()
    run(capsys, "index", tmp_path / "docs", "--into", tmp_path / "new", "--strategy", "G", code=1)

    def unreachable(*arguments, **options):
        raise ModelFileError("no network")

    monkeypatch.setattr("pincite.models.encoder.Encoder.load", unreachable)
    run(capsys, "index", tmp_path / "docs", "--into", tmp_path / "new", code=1)
    assert not (tmp_path / "new").exists()


def test_a_reranker_that_is_not_there_is_said_before_any_question(kb, capsys, monkeypatch):
    def missing(name, **options):
        raise ModelFileError(f"there is no {name}")

    monkeypatch.setattr("pincite.models.reranker.Reranker.load", missing)
    assert "there is no nope" in run(capsys, "search", kb, "zebra", "--reranker", "nope", code=1).err


def test_a_question_may_come_in_words(kb, capsys):
    quoted = json_of(capsys, "search", kb, "pump stops at", "--max-distance", 2)
    assert json_of(capsys, "search", kb, "pump", "stops", "at", "--max-distance", 2)["question"] == quoted["question"]


def test_no_name_writes_to_the_terminal(tmp_path, capsys):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a\x1b[31m\nb.png").write_bytes(b"x")
    (tmp_path / "docs" / "c\x1b[31m\nd.md").write_text("# A \x1b[1m\n\nship \x1b[2J\n")
    said = run(capsys, "index", tmp_path / "docs", "--into", tmp_path / "kb", "--quiet")
    kb = tmp_path / "kb"
    commands = (["status", kb], ["ledger", kb], ["search", kb, "ship", "--max-distance", 2])
    shown = [said.err, *(run(capsys, *command).out for command in commands)]
    assert not any("\x1b" in text for text in shown)
    assert all("\\x1b[31m\\n" in text for text in shown)


def test_a_log_gets_a_line_now_and_then(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("pincite.cli.ingesting.SECONDS_BETWEEN_LINES", 0.0)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("ship")
    said = run(capsys, "index", tmp_path / "docs", "--into", tmp_path / "kb")
    assert "indexing: 100%, at docs/a.md" in said.err


def test_a_full_disk_behind_the_output_is_one_line(kb):
    program = (
        "import sys; from unittest import mock; from stub_models import StubEncoder\n"
        "with mock.patch('pincite.models.encoder.Encoder.load', lambda *a, **o: StubEncoder()):\n"
        "    from pincite.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), *filter(None, sys.path)])}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", program, "status", kb],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
    assert (done.returncode, done.stderr) == (1, "pincite: cannot write the output: No space left on device\n")


def test_ctrl_c_says_what_is_in_and_how_to_go_on(tmp_path, kb, capsys, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    (tmp_path / "docs" / "more.md").write_text("# More\n\nMore.\n")
    with monkeypatch.context() as patch:
        patch.setattr(StubEncoder, "encode_batch", interrupted)
        said = run(capsys, "index", tmp_path / "docs", "--into", kb, code=130)
    assert "2 documents are in" in said.err
    assert "1 added" in run(capsys, "index", tmp_path / "docs", "--into", kb).out


def leaves(of, name=()):
    """Every command that can be run, with its parser."""
    below = [action for action in of._actions if hasattr(action, "choices") and isinstance(action.choices, dict)]
    if not below:
        yield name, of
    for action in below:
        for verb, child in action.choices.items():
            yield from leaves(child, (*name, verb))


@pytest.mark.parametrize(
    ("name", "command"), list(leaves(parser())), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_command_has_help_an_example_json_and_a_place_in_the_docs(name, command):
    assert command.description.endswith(".")
    assert command.epilog.startswith(f"example: pincite {' '.join(name)}")
    assert "--json" in command.format_help()
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert f"pincite {' '.join(name)}" in page
    section = page.split(f"## {name[0]}\n")[1].split("\n## ")[0]
    for action in command._actions:
        for option in action.option_strings:
            if option.startswith("--") and option not in {"--help", "--json"}:
                assert f"`{option}" in section, f"docs/cli.md says nothing of {option} for {' '.join(name)}"


def test_every_module_of_the_room_is_a_verb():
    modules = {path.stem for path in (ROOT / "python/pincite/cli").glob("*.py")}
    assert modules - {"__init__", "arguments", "ingesting"} == set(VERBS)


def test_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"pincite {pincite.__version__}\n"


def test_an_index_in_one_file(tmp_path, kb, capsys):
    report = json_of(capsys, "snapshot", kb, tmp_path / "saved")
    assert (report["documents"], report["path"]) == (2, str(tmp_path / "saved"))
    assert "exists" in run(capsys, "snapshot", kb, tmp_path / "saved", code=1).err
    run(capsys, "delete", kb, "docs/pumps.md")
    run(capsys, "index", tmp_path / "docs", "--into", kb, "--quiet")
    run(capsys, "delete", kb, "docs/sails.md")
    shown = run(capsys, "restore", tmp_path / "saved", "--into", kb)
    assert "left out: docs/sails.md: it was deleted since" in shown.err
    assert shown.out.startswith(f"{kb}: 1 document, generation ")
    assert json_of(capsys, "restore", tmp_path / "saved", "--into", tmp_path / "kb2")["documents"] == 2
    assert run(capsys, "merge", tmp_path / "kb2").out.startswith("segments: 1 before, 1 now; generation ")
    assert json_of(capsys, "merge", kb)["segments"] == 1
