"""``pincite eval``: how well questions are answered, and how well those without an answer are refused."""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

import pincite
from pincite.cli.arguments import add_json, print_json, tell
from pincite.config import IndexConfig
from pincite.errors import InvalidInputError, counted
from pincite.evaluation.cached import CachedEncoder, CachedReranker
from pincite.evaluation.calibration import calibrate
from pincite.evaluation.chunkers import STRATEGIES, study_chunkers
from pincite.evaluation.chunks import IndexChunks
from pincite.evaluation.comparison import Comparison, compare
from pincite.evaluation.gold import GoldSet
from pincite.evaluation.negatives import Deleted, delete_answers, swap_entities
from pincite.evaluation.pages import calibration_page, chunkers_page, comparison_page, report_page, sweep_page
from pincite.evaluation.refusal import Score, distances_of, separability, sign_of, sweep
from pincite.evaluation.report import Report
from pincite.evaluation.retriever import Pipeline
from pincite.evaluation.run import evaluate
from pincite.evaluation.table import sweep_table
from pincite.store.files import naming_refusals

HELP = "measure an index with questions whose answers are known"
EXAMPLE = "pincite eval kb gold.jsonl"

FAILED = 1

NEGATIVES = (*get_args(Deleted), "entity")

RERANKED: tuple[Pipeline, ...] = ("hybrid+rerank", "rerank-alone")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's actions."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION", prog=parser.prog)
    parser.usage = f"{parser.prog} KB GOLD [options of run]\n       {parser.prog} ACTION ..."

    def action(name: str, help: str, *operands: str, example: str) -> argparse.ArgumentParser:
        added = actions.add_parser(
            name, help=help, description=f"{help[0].upper()}{help[1:]}.", epilog=f"example: pincite eval {example}"
        )
        for operand in operands:
            added.add_argument(operand.lower(), metavar=operand)
        added.add_argument("gold", metavar="GOLD", help="a gold set: see docs/evaluation.md")
        added.add_argument("--depth", type=int, default=20, help="passages to ask for (default: 20)")
        added.add_argument("--seed", type=int, default=0, help="of the bootstrap (default: 0)")
        added.add_argument("--report", metavar="HTML", help="write a page with the tables and plots to this file")
        add_json(added)
        return added

    pipelines = get_args(Pipeline)
    run_ = action("run", "measure one index", "KB", example="run kb gold.jsonl --pipeline hybrid")
    run_.add_argument("--pipeline", choices=pipelines, default="default", help="what of the index is measured")
    run_.add_argument("--max-distance", type=float, metavar="D", help="another threshold")
    compared = action(
        "compare", "compare two indexes, or two pipelines, pair by pair", "OLD", "NEW",
        example="compare kb kb gold.jsonl --pipelines bm25 default",
    )  # fmt: skip
    compared.add_argument(
        "--pipelines", choices=pipelines, nargs=2, default=["default", "default"], metavar=("OLD", "NEW"),
        help=f"of the one and the other: {', '.join(pipelines)}",
    )  # fmt: skip
    compared.add_argument("-k", type=int, default=4, help="answered means by one of the first K (default: 4)")
    for added in (run_, compared):
        added.add_argument("--timings", metavar="JSON", help="write how long questions took, by stage, to this file")
    swept = action(
        "sweep", "show what is answered and what is refused at each threshold", "KB", example="sweep kb gold.jsonl"
    )
    calibrated = action(
        "calibrate", "set the threshold that keeps a bound on bluffs, or say why there is none", "KB",
        example="calibrate kb gold.jsonl --max-bluffs 0.05",
    )  # fmt: skip
    calibrated.add_argument(
        "--max-bluffs", type=float, default=0.05, metavar="SHARE",
        help="the share of unanswerable questions that may be answered (default: 0.05)",
    )  # fmt: skip
    calibrated.add_argument("--confidence", type=float, default=0.95, help="in that bound (default: 0.95)")
    for added in (swept, calibrated):
        added.add_argument(
            "--score", choices=get_args(Score), default="distance",
            help="what is held against the threshold: the least distance, the highest rerank logit, or the share of "
            "the question's words that the passages lack (default: distance)",
        )  # fmt: skip
        added.add_argument(
            "--pipeline", choices=pipelines[1:],
            help="what of the index is measured (default: hybrid, for other scores hybrid+rerank)",
        )  # fmt: skip
    chunkers = action(
        "chunkers", "measure the ways of cutting a folder's documents", "FOLDER",
        example="chunkers docs gold.jsonl --work work",
    )  # fmt: skip
    chunkers.add_argument("--work", required=True, metavar="DIR", help="where the indexes go; a second run uses them")
    chunkers.add_argument("--target", type=int, default=512, help="the size of a chunk (default: 512)")
    chunkers.add_argument("--strategies", nargs="+", default=list(STRATEGIES), help="default: A to F and structural")
    chunkers.add_argument("--pipeline", choices=pipelines[1:], default="hybrid", help="what is measured")
    chunkers.add_argument("-k", type=int, default=4, help="answered means by one of the first K (default: 4)")
    gate = action(
        "gate", "fail if a new index loses answers that the old one has", "OLD", "NEW",
        example="gate kb kb2 gold.jsonl --max-destroyed 0",
    )  # fmt: skip
    gate.add_argument("--max-destroyed", type=int, default=0, metavar="N", help="answers that no chunk holds any more")
    gate.add_argument("--max-lost", type=int, metavar="N", help="questions that are not answered any more")
    gate.add_argument("--pipeline", choices=pipelines, default="default", help="what of the indexes is measured")
    gate.add_argument("-k", type=int, default=4, help="answered means by one of the first K (default: 4)")
    for added in (compared, gate):
        added.add_argument(
            "--versions", nargs=2, default=[None, None], metavar=("OLD", "NEW"), type=version_of,
            help="which version of the one and the other index: serving, built, previous or a number",
        )  # fmt: skip
    negatives = actions.add_parser(
        "negatives", help="make questions without an answer of those that have one",
        description="Write a gold set with the questions of another one and near ones made of them, which cannot be "
        "answered: asked of an index without what answers them, or with a name or a number swapped.",
        epilog="example: pincite eval negatives kb gold.jsonl --into near.jsonl && pincite eval sweep kb near.jsonl",
    )  # fmt: skip
    negatives.add_argument("kb", metavar="KB")
    negatives.add_argument("gold", metavar="GOLD", help="a gold set: see docs/evaluation.md")
    negatives.add_argument("--into", metavar="JSONL", required=True, help="the file to write; it must not be there yet")
    negatives.add_argument(
        "--by", nargs="+", choices=NEGATIVES, default=["section", "entity"],
        help="what is taken out of the index (the passages, sections or documents that answer), or entity: a name or a "
        "number is swapped (default: section entity)",
    )  # fmt: skip
    negatives.add_argument("--seed", type=int, default=0, help="of the swaps (default: 0)")
    add_json(negatives)


def in_full(arguments: Sequence[str]) -> list[str]:
    """Return a command line with ``eval KB GOLD`` as ``eval run KB GOLD``; a mistyped action stays as it is."""
    given = list(arguments)
    if given[:1] == ["eval"] and len(given) > 1 and given[1] not in {*_ACTIONS, "-h", "--help"}:
        mistyped = get_close_matches(given[1], _ACTIONS) and not Path(given[1]).exists()
        return given if mistyped else ["eval", "run", *given[1:]]
    return given


def run(given: argparse.Namespace) -> int:
    """Run the action."""
    for name, is_ours in (("report", _is_page), ("timings", _is_timings)):
        if (path := getattr(given, name, None)) is not None:
            _check_writable(Path(path), is_ours)
    code: int = _ACTIONS[given.action](given)
    return code


def _run(given: argparse.Namespace) -> int:
    report = _measured(given, given.kb, given.pipeline, threshold=given.max_distance)
    _write_page(given, report_page, report)
    if given.json:
        print_json(report.to_dict())
    else:
        print(report.table(), end="")
    _tell_times(given, [report])
    return 0


def _compare(given: argparse.Namespace) -> int:
    comparison, reports = _compared(given, *given.pipelines)
    _write_page(given, comparison_page, *reports, comparison)
    _tell_times(given, reports)
    if given.json:
        print_json(comparison.to_dict())
        return 0
    print(comparison.verdict + "\n")
    print("| difference | value | 95 % interval |\n| --- | ---: | --- |")
    for name, interval in comparison.differences.items():
        if math.isnan(interval.value):
            print(f"| {name} | no question | |")
        else:
            print(f"| {name} | {interval.value:+.3f} | {interval.low:+.3f} to {interval.high:+.3f} |")
    for word, ids in (("gained", comparison.gained), ("lost", comparison.lost), ("destroyed", comparison.destroyed)):
        if ids:
            print(f"\n{word}: {', '.join(ids)}")
    return 0


def _sweep(given: argparse.Namespace) -> int:
    report = _unthresholded(given)
    distances, sign = distances_of(report, score=given.score), sign_of(given.score)
    rows, apart = sweep(distances), separability(distances, seed=given.seed)
    _write_page(given, sweep_page, report, rows, score=given.score)
    if given.json:
        shown = [{**row.to_dict(), "threshold": sign * row.threshold} for row in rows]
        print_json({"score": given.score, "separability": apart.to_dict(), "rows": shown})
    else:
        print(sweep_table(rows, apart, sign=sign), end="")
    return 0


def _calibrate(given: argparse.Namespace) -> int:
    report = _unthresholded(given)
    found = calibrate(
        report, score=given.score, max_bluffs=given.max_bluffs, confidence=given.confidence, seed=given.seed
    )
    _write_page(given, calibration_page, report, found)
    if given.json:
        print_json(found.to_dict())
    else:
        print(f"threshold: {'none' if found.threshold is None else f'{found.threshold:.3f}'}\n{found.reason}")
    return 0 if found.threshold is not None else FAILED


def _gate(given: argparse.Namespace) -> int:
    for name, most in (("max-destroyed", given.max_destroyed), ("max-lost", given.max_lost)):
        if most is not None and most < 0:
            raise InvalidInputError(f"--{name} is {most}, wanted 0 or more")
    comparison, reports = _compared(given, given.pipeline, given.pipeline)
    if not comparison.n:
        raise InvalidInputError(f"{given.gold.name} has no question with an answer, so none can be lost; give some")
    closed = len(comparison.destroyed) > given.max_destroyed or (
        given.max_lost is not None and len(comparison.lost) > given.max_lost
    )
    limits = f"at most {given.max_destroyed} destroyed"
    limits += "" if given.max_lost is None else f" and {given.max_lost} lost"
    _write_page(given, comparison_page, *reports, comparison, passed=not closed, limits=limits)
    if given.json:
        print_json({**comparison.to_dict(), "passed": not closed})
    else:
        print("closed" if closed else "open")
        for word, ids in (("destroyed", comparison.destroyed), ("lost", comparison.lost)):
            print(f"{word}: {', '.join(ids) or 'none'}")
    return FAILED if closed else 0


def _negatives(given: argparse.Namespace) -> int:
    with pincite.open(given.kb, read_only=True, report=tell) as kb:
        documents = IndexChunks(kb.view(), kb.encoder).document
    asked = GoldSet.load(given.gold, documents=documents)
    questions = list(asked)
    for by in dict.fromkeys(given.by):
        made = swap_entities(asked, documents, seed=given.seed) if by == "entity" else delete_answers(
            asked, documents, what=by)  # fmt: skip
        if not len(made):
            tell(f"no question could be made by {by}: {asked.name} has none with an answer that it can change")
        questions += made
    into = Path(given.into)
    with naming_refusals(into, "write the questions"), into.open("x", encoding="utf-8", newline="\n") as file:
        file.write(GoldSet(into.stem, tuple(questions)).to_jsonl())
    families = Counter(question.family for question in questions if not question.answerable)
    if given.json:
        print_json({"path": str(into), "questions": len(questions), "families": dict(families)})
    else:
        print(f"{into}: {counted(len(questions), 'question')}, of which cannot be answered: "
              + ", ".join(f"{count} {family or 'without a family'}" for family, count in families.items()))  # fmt: skip
    return 0


def _chunkers(given: argparse.Namespace) -> int:
    work, folder = Path(given.work), str(Path(given.folder).resolve())
    with naming_refusals(work, "make the folder"):
        work.mkdir(parents=True, exist_ok=True)
    encoder = CachedEncoder(pincite.Encoder.load(report=tell), work / "vectors.sqlite")
    reranker = CachedReranker(pincite.Reranker.load(report=tell), work / "logits.sqlite")

    def opened(config: IndexConfig) -> pincite.KnowledgeBase:
        tell(f"cutting by {config.strategy} ...")
        # One for each folder, and nothing in it but what the folder holds now.
        place = work / f"{config.strategy}-{config.target}-{hashlib.sha256(folder.encode()).hexdigest()[:12]}"
        kb = pincite.open(place, create=True, config=config, encoder=encoder, reranker=reranker)
        kb.delete(kb.add(given.folder).missing)
        return kb

    study = study_chunkers(
        opened, given.gold, strategies=given.strategies, pipeline=given.pipeline, target=given.target,
        depth=given.depth, k=given.k, seed=given.seed, progress=True,
    )  # fmt: skip
    _write_page(given, chunkers_page, study)
    if given.json:
        print_json(study.to_dict())
    else:
        print(study.table(), end="")
    return 0


_ACTIONS: dict[str, Any] = {
    "run": _run,
    "compare": _compare,
    "sweep": _sweep,
    "calibrate": _calibrate,
    "chunkers": _chunkers,
    "gate": _gate,
    "negatives": _negatives,
}


def version_of(text: str) -> int | str:
    """Return a version's number, or what it is."""
    return int(text) if text.isdecimal() else text


def _is_page(text: str) -> bool:
    return text.startswith("<!doctype html>")


def _is_timings(text: str) -> bool:
    try:
        return set(json.loads(text)) == {"reports"}
    except (ValueError, TypeError, RecursionError):
        return False


def _check_writable(path: Path, is_ours: Callable[[str], bool]) -> None:
    """Say what cannot be written, or is somebody's, before the work and not after it."""
    new = not path.exists()
    with naming_refusals(path, "write the file"):
        if path.is_file() and path.stat().st_size and not is_ours(path.read_text(encoding="utf-8", errors="replace")):
            raise InvalidInputError(
                f"{path} is there and was not written by this command; give a path where nothing is"
            )
        if any((folder / "catalog.sqlite").exists() for folder in path.resolve().parents):
            raise InvalidInputError(f"{path} lies inside an index; give a path elsewhere")
        path.open("ab").close()
        if new:
            path.unlink()


def _write_page(given: argparse.Namespace, page: Callable[..., str], *of: Any, **told: Any) -> None:
    if given.report is not None:
        _write(given.report, page(*of, **told))


def _write(path: str, text: str) -> None:
    with naming_refusals(Path(path), "write the file"):
        Path(path).write_text(text, encoding="utf-8", newline="\n")


def _tell_times(given: argparse.Namespace, reports: Sequence[Report]) -> None:
    """Say how long questions took where it does not come between two runs that are the same: not in the output."""
    if given.timings is not None:
        timings = {"reports": [report.timings() for report in reports]}
        _write(given.timings, json.dumps(timings, ensure_ascii=False, indent=2) + "\n")
    for report in reports:
        if latency := report.latency():
            size = "" if report.cost is None else f"{counted(report.cost.chunks, 'chunk')}, {report.cost.size}; "
            took = ", ".join(f"{name[:-3]} {value:.1f} ms" for name, value in latency.items())
            tell(f"{report.name}: {size}a question took {took}")


def _compared(given: argparse.Namespace, old: Pipeline, new: Pipeline) -> tuple[Comparison, tuple[Report, Report]]:
    then, now = given.versions
    if (given.old, old, then) == (given.new, new, now):
        raise InvalidInputError(
            f"given were {given.old} and {given.new} with one pipeline, wanted two indexes, two --pipelines, or two "
            "--versions"
        )
    with pincite.open(given.old, read_only=True, version=then, report=tell) as kb:
        given.gold = GoldSet.load(given.gold, documents=IndexChunks(kb.view(), kb.encoder).document)
    # What the new index has lost is what is measured, and no fault of the questions.
    reports = (
        _measured(given, given.old, old, version=then),
        _measured(given, given.new, new, version=now, may_lack=True),
    )
    return compare(*reports, k=given.k), reports


def _unthresholded(given: argparse.Namespace) -> Report:
    """Measure a pipeline that has the score: the reranker's stage is where passages are held against the words."""
    known = ("dense", "hybrid", *RERANKED) if given.score == "distance" else RERANKED
    pipeline = given.pipeline or ("hybrid" if given.score == "distance" else "hybrid+rerank")
    if pipeline not in known:
        raise InvalidInputError(
            f"--pipeline is {pipeline}, --score {given.score}, which it does not measure; take --pipeline {known[-2]}"
        )
    return _measured(given, given.kb, pipeline)


def _measured(
    given: argparse.Namespace,
    path: str,
    pipeline: Pipeline,
    *,
    version: Any = None,
    threshold: float | None = None,
    may_lack: bool = False,
) -> Report:
    with pincite.open(path, read_only=True, version=version, report=tell) as kb:
        return evaluate(
            kb,
            given.gold,
            pipeline=pipeline,
            depth=given.depth,
            threshold=threshold,
            may_lack=may_lack,
            seed=given.seed,
            name=f"{path}{f' {version}' if version else ''} ({pipeline})",
            progress=True,
        )
