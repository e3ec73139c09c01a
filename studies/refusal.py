"""What a threshold refuses, and what a second look adds: far questions, near ones, and questions without their answer.

python studies/refusal.py --data DATA --work build/studies

Near questions are written by hand (`near`), asked of an index without the section or the passage that answers them
(`section deleted`, `passage deleted`), or have a name or a number swapped. Prints Markdown; progress goes to stderr.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from paired import markdown
from sets import QuestionSet, opened, question_set
from setting import Setting, run_alone, say

import pincite
from pincite.evaluation import Distances, GoldSet, Report, delete_answers, distances_of, separability, swap_entities
from pincite.evaluation.chunks import IndexChunks
from pincite.evaluation.negatives import Deleted
from pincite.evaluation.outcome import Outcome
from pincite.evaluation.refusal import Score, sweep
from pincite.evaluation.retriever import of_knowledge_base
from pincite.evaluation.statistics import holm, sign_test, wilson

SETS: tuple[tuple[str, Deleted], ...] = (("mdcourse", "section"), ("chroma", "passage"))
"""Chroma's corpora have no headings, so a section of theirs would be all of them."""

SCORES: tuple[Score, ...] = ("distance", "logit", "absent")
THRESHOLDS = (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.675, 0.7)
MOST_BLUFFS = (0.05, 0.1, 0.2)
RULES = ("distance", "logit", "absent", "logit and absent")
GRID = 25


def tables(setting: Setting) -> dict[str, str]:
    """Return how well scores tell questions apart, the bluffs of a distance threshold, and what a second stage adds."""
    apart, bluffs, added = "", "", ""
    for name, what in SETS:
        questions = question_set(setting, name)
        with opened(setting, questions) as kb:
            gold = with_negatives(setting, questions, kb, what)
            say(f"{name}: {len(gold)} questions, those without an answer included")
            report = pincite.evaluate(of_knowledge_base(kb, pipeline="hybrid+rerank"), gold)
            apart += f"{name}:\n\n{separability_table(report)}\n"
            bluffs += f"{name}:\n\n{bluff_table(report)}\n"
            added += f"{name}:\n\n{second_stage_table(kb, gold, report)}\n"
    return {"refusal separability": apart, "refusal bluffs": bluffs, "refusal second stage": added}


def with_negatives(setting: Setting, questions: QuestionSet, kb: pincite.KnowledgeBase, what: Deleted) -> GoldSet:
    """Return the set's questions with near and far ones that cannot be answered."""
    documents = IndexChunks(kb.view(), kb.encoder).document
    made = [*delete_answers(questions.gold, documents, what=what), *swap_entities(questions.gold, documents)]
    if questions.name == "mdcourse":
        made += [question for question in GoldSet.load(setting.gold) if not question.answerable]
    # Chroma's family is the corpus; one name for all of them.
    asked = [q if questions.name == "mdcourse" else replace(q, family=questions.name) for q in questions.gold]
    return GoldSet(questions.gold.name, (*asked, *made))


def separability_table(report: Report) -> str:
    """Return the area under the ROC curve of each score, for each family against each."""
    rows = []
    for no in families(report.unanswerable):
        for yes in families(report.answerable):
            parts = replace(report, outcomes=tuple(o for o in report.outcomes if o.family in (yes, no)))
            cells = [str(separability(distances_of(parts, score=score))) for score in SCORES]
            rows.append([no, yes, *cells])
    return markdown(["cannot be answered", "can be", *SCORES], rows)


def bluff_table(report: Report) -> str:
    """Return what becomes of the questions at some thresholds of the distance."""
    yes, no = families(report.answerable), families(report.unanswerable)
    head = ["threshold", *(f"given up, {family}" for family in yes), "answered correctly", "answered wrongly"]
    rows = []
    for row in sweep(distances_of(report), thresholds=THRESHOLDS):
        given_up = [
            str(wilson(sum(not within(o.distance, row.threshold) for o in of), len(of)))
            for of in (those(report.answerable, family) for family in yes)
        ]
        bluffs = [str(row.bluffs_of[family]) for family in no]
        rows.append(
            [f"{row.threshold:.3f}", *given_up, str(row.answered_correctly), str(row.answered_wrongly), *bluffs]
        )
    return markdown([*head, *(f"bluffs, {family}" for family in no)], rows, right=["threshold"])


def second_stage_table(kb: pincite.KnowledgeBase, gold: GoldSet, report: Report) -> str:
    """Return what rules do to one half of the questions that were set on the other half.

    Each rule answers as many of its half as it can while at most a share of the near questions is answered; a question
    and all that was made of it are in one half.
    """
    chosen = [half(outcome.id) == 0 for outcome in report.outcomes]
    here = replace(report, outcomes=tuple(itertools.compress(report.outcomes, chosen)))
    held_out = GoldSet(gold.name, tuple(question for question in gold if half(question.id) == 1))
    yes, no = families(report.answerable), families(report.unanswerable)
    head = ["bluffs wanted", "rule", "set to", *(f"answered, {family}" for family in yes), "answered correctly"]
    head += [*(f"bluffs, {family}" for family in no), "decisions against distance"]
    rows, changes = [], []
    for most in MOST_BLUFFS:
        first = None
        for rule in RULES:
            limits = limits_of(here, rule, most)
            say(f"at most {most:.0%} bluffs by {rule}: {limits}")
            found = pincite.evaluate(of_knowledge_base(kb, pipeline="hybrid+rerank", **limits), held_out)
            answered = [answered_share(those(found.answerable, family)) for family in yes]
            bluffs = [answered_share(those(found.unanswerable, family)) for family in no]
            rows.append(
                [f"{most:.0%}", rule, ", ".join(f"{name} {value:.3f}" for name, value in limits.items()), *answered,
                 str(found.refusal["answered correctly"]), *bluffs]
            )  # fmt: skip
            changes.append((0, 0) if first is None else decisions(first, found))
            first = first or found
    adjusted = iter(holm([sign_test(*change) for change in changes if any(change)]))
    for row, (gained, lost) in zip(rows, changes, strict=True):
        row.append(f"{gained} better, {lost} worse, p = {next(adjusted):.2g}" if gained or lost else "")
    return markdown(head, rows, right=["bluffs wanted"])


def limits_of(report: Report, rule: str, most: float) -> dict[str, float]:
    """Return the limits of a rule that answer the most questions while at most a share of the near ones is answered."""
    near = [outcome for outcome in report.unanswerable if outcome.family != "far"]
    parts = rule.split(" and ")
    scores = {name: distances_of(replace(report, outcomes=(*report.answerable, *near)), score=name) for name in parts}
    grids = [grid(scores[name]) for name in parts]
    best: tuple[int, tuple[float, ...]] = (-1, ())
    for limits in itertools.product(*grids):
        passes = partial(all_within, [scores[name] for name in parts], limits)
        if passes("unanswerable").mean() <= most:
            best = max(best, (int(passes("answerable").sum()), limits))
    names = {"distance": "max_distance", "logit": "min_logit", "absent": "max_absent"}
    return {names[n]: -limit if n == "logit" else limit for n, limit in zip(parts, best[1], strict=True)}


def grid(distances: Distances) -> Sequence[float]:
    """Return limits between the values of the answerable questions: at the same share of them each."""
    values = np.array(distances.answerable)
    return np.quantile(values[np.isfinite(values)], np.linspace(0, 1, 4 * GRID + 1)).tolist()  # type: ignore[no-any-return]


def all_within(scores: Sequence[Distances], limits: Iterable[float], kind: str) -> np.ndarray:
    """Return which questions of a kind keep all limits."""
    kept = [np.array(getattr(each, kind)) <= limit for each, limit in zip(scores, limits, strict=True)]
    return np.logical_and.reduce(kept)


def decisions(old: Report, new: Report) -> tuple[int, int]:
    """Return how many decisions got better and worse; right is to answer what can be, and to refuse near questions."""
    pairs = [(a, b) for a, b in zip(old.outcomes, new.outcomes, strict=True) if a.family != "far"]
    gained = sum(right(b) and not right(a) for a, b in pairs)
    lost = sum(right(a) and not right(b) for a, b in pairs)
    return gained, lost


def right(outcome: Outcome) -> bool:
    """Return whether a question was answered or refused as it should be."""
    return outcome.answerable != outcome.refused


def answered_share(outcomes: Sequence[Outcome]) -> str:
    """Return the share that was not refused."""
    return str(wilson(sum(not outcome.refused for outcome in outcomes), len(outcomes)))


def those(outcomes: Iterable[Outcome], family: str) -> list[Outcome]:
    """Return the outcomes of a family."""
    return [outcome for outcome in outcomes if outcome.family == family]


def families(outcomes: Iterable[Outcome]) -> list[str]:
    """Return the families, those written by hand first."""
    return sorted({outcome.family for outcome in outcomes}, key=lambda family: (" " in family, family))


def within(distance: float | None, threshold: float) -> bool:
    """Return whether there is anything within a threshold."""
    return distance is not None and distance <= threshold


def half(id: str) -> int:
    """Return which half a question is in, by its number."""
    found = re.search(r"\d+", id)
    return int(found[0]) % 2 if found else 0


if __name__ == "__main__":
    run_alone(tables, __doc__)
