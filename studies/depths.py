"""How many candidates, how many of them for the reranker, and how the legs and the reranker's order are fused.

python studies/depths.py --data DATA --work build/studies           the tables
python studies/depths.py --data DATA --work build/studies --times   what a question costs instead

Each setting is measured on the same questions as the default and paired with it. Judging up to 100 passages a question
takes more than an hour on two cores from an empty work folder. Prints Markdown; progress goes to stderr.
"""

from __future__ import annotations

import functools
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

from paired import compare_by, corrected, markdown, signed
from sets import NAMES, QuestionSet, opened, question_set, report_of
from setting import Setting, parser, say, setting_of

import pincite
from pincite.core.fusion import rrf
from pincite.evaluation import Report, Retrieved
from pincite.evaluation.retriever import of_knowledge_base
from pincite.retrieve.legs import bm25_leg, dense_leg
from pincite.retrieve.pipeline import CANDIDATES, RERANK_LIMIT, RRF_K
from pincite.retrieve.rerank import FUSION_K

DEFAULT = (CANDIDATES, RERANK_LIMIT)
DEPTHS = ((25, 25), (50, 25), (100, 25), (200, 25), (50, 0), (50, 10), (50, 50), (50, 100), (200, 100))
"""Candidates a leg, and how many passages the reranker judges: two axes through the default, and the far corner."""
GRADED_DEPTHS = ((50, 25), (50, 0), (50, 10), (50, 50), (25, 0), (100, 0), (200, 0))
"""On SciFact, whose claims the reranker does not help: the candidates of the hybrid order, and a few of its depths."""

FUSIONS = tuple((k, weight) for k in (10.0, 60.0, 100.0) for weight in (0.3, 0.5, 0.7))
"""The constant of the reciprocal rank fusion, and the dense leg's share of the weights."""

SHARES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
"""Of the weights, what the reranker's order has beside the hybrid one."""

MEASURES = ("R@1", "R@4", "MRR", "nDCG@10")
GRADED_MEASURES = ("nDCG@10", "MAP", "recall@20")
TIMED = 20


def tables(setting: Setting) -> dict[str, str]:
    """Return the depths, the fusions and the reranker's shares, each paired with the default."""
    sets = [question_set(setting, name) for name in NAMES]
    sweeps = {
        "depths": (("candidates", "judged"), depth_rows, ("mdcourse", "chroma", "scifact")),
        "depths fusion": (("k", "dense"), fusion_rows, ("mdcourse", "chroma", "scifact")),
        "depths share": (("share",), share_rows, NAMES),
    }
    made = {}
    for place, (settings, rows_of, names) in sweeps.items():
        rows: dict[bool, list[list[str]]] = {False: [], True: []}
        for questions in sets:
            if questions.name in names:
                with opened(setting, questions) as kb:
                    rows[questions.graded] += rows_of(kb, questions)
        made[place] = table(settings, rows[False], MEASURES, ("R@1", "R@4"))
        made[f"{place} graded"] = table(settings, rows[True], GRADED_MEASURES, ("nDCG@10",))
    return made


def depth_rows(kb: pincite.KnowledgeBase, questions: QuestionSet) -> list[list[str]]:
    """Return the rows of the depths."""
    reports = {
        (candidates, limit): report_of(
            kb,
            questions,
            "hybrid+rerank",
            candidates=candidates,
            rerank_limit=limit,
            name=f"{candidates} candidates, {limit} judged",
        )
        for candidates, limit in (GRADED_DEPTHS if questions.graded else DEPTHS)
    }
    return paired_rows(questions, reports, DEFAULT, ("{}", "{}"))


def fusion_rows(kb: pincite.KnowledgeBase, questions: QuestionSet) -> list[list[str]]:
    """Return the rows of the fusions of the two legs, without the reranker."""
    reports = {
        (k, weight): pincite.evaluate(
            fused_by(kb, k, weight), questions.gold, depth=questions.depth, name=f"k {k:g}, dense {weight:g}"
        )
        for k, weight in FUSIONS
    }
    return paired_rows(questions, reports, (float(RRF_K), 0.5), ("{:g}", "{:g}"))


def fused_by(kb: pincite.KnowledgeBase, k: float, weight: float) -> Callable[[str], list[Retrieved]]:
    """Return the hybrid order with another constant and weights; k = 60 and equal weights are the product's own."""
    snapshot, encoder = kb.view(), kb.encoder()

    def retrieve(question: str) -> list[Retrieved]:
        vector = encoder.encode_batch([question]).vectors[0]
        legs = [bm25_leg(snapshot, question, CANDIDATES), dense_leg(snapshot, vector, CANDIDATES)]
        keys, _ = rrf([leg.keys for leg in legs], k=k, weights=[1 - weight, weight])
        chunks = [snapshot.chunk(key) for key in keys.tolist()]
        return [Retrieved(snapshot.document(c.document).id, c.start, c.end, c.covered_start) for c in chunks]

    return retrieve


def share_rows(kb: pincite.KnowledgeBase, questions: QuestionSet) -> list[list[str]]:
    """Return the rows of the reranker's shares."""
    reports = {}
    orders = orders_of(kb)
    for share in SHARES:
        say(f"{questions.name}: share {share:g}")
        retriever = weighed(orders, share)
        reports[(share,)] = pincite.evaluate(retriever, questions.gold, depth=questions.depth, name=f"share {share:g}")
    return paired_rows(questions, reports, (0.5,), ("{:g}",))


Orders = Callable[[str], tuple[tuple[Retrieved, ...], list[int]]]


def orders_of(kb: pincite.KnowledgeBase) -> Orders:
    """Return what gives, for a question, the passages in hybrid order and the places in it of the reranker's order."""
    hybrid, alone = (
        of_knowledge_base(kb, pipeline=pipeline, depth=2 * CANDIDATES, candidates=CANDIDATES)
        for pipeline in ("hybrid", "rerank-alone")
    )

    @functools.cache
    def orders(question: str) -> tuple[tuple[Retrieved, ...], list[int]]:
        passages = hybrid(question).passages
        place = {(each.document_id, each.start): at for at, each in enumerate(passages)}
        judged = alone(question).passages[:RERANK_LIMIT]
        return passages, [place[each.document_id, each.start] for each in judged]

    return orders


def weighed(orders: Orders, share: float) -> Callable[[str], list[Retrieved]]:
    """Return the fused order with another share for the reranker; one half is the product's own, 1 its order alone."""

    def retrieve(question: str) -> list[Retrieved]:
        passages, pure = orders(question)
        order, _ = rrf([range(len(pure)), pure], k=FUSION_K, weights=[1 - share, share])
        return [*(passages[at] for at in order.tolist()), *passages[len(pure) :]]

    return retrieve


def paired_rows(
    questions: QuestionSet,
    reports: Mapping[tuple[float, ...], Report],
    default: tuple[float, ...],
    formats: tuple[str, ...],
) -> list[list[str]]:
    """Return a row a setting: its measures, and what it gains and loses beside the default, p-values corrected."""
    tested = ("nDCG@10",) if questions.graded else ("R@1", "R@4")
    others = [at for at in reports if at != default]
    made = corrected([compare_by(reports[default], reports[at], by) for at in others for by in tested])
    rows = []
    for place, (at, report) in enumerate(reports.items()):
        row = ["" if place else f"{questions.name} ({len(questions.gold)})"]
        row += [shape.format(value) for shape, value in zip(formats, at, strict=True)]
        row += [str(report.measures[measure]) for measure in (GRADED_MEASURES if questions.graded else MEASURES)]
        if at == default:
            row += ["the default", *[""] * (len(tested) - 1)]
        for comparison in made if at != default else ():
            if comparison.new == report.name:
                counts = f"{len(comparison.gained)} / {len(comparison.lost)}"
                row.append(f"{signed(comparison)}, {counts}, p = {comparison.adjusted_p:.2g}")
        rows.append(row)
    return rows


def table(
    settings: Sequence[str], rows: Sequence[Sequence[str]], measures: Sequence[str], tested: Sequence[str]
) -> str:
    """Return the rows below their names."""
    return markdown(
        ["questions", *settings, *measures, *(f"{by}: less the default's, gained / lost" for by in tested)],
        rows,
        right=settings,
    )


def times(setting: Setting) -> str:
    """Return the median processor time of a question by depth: one thread, models that remember nothing."""
    questions = question_set(setting, "chroma")
    asked = random.Random(0).sample([question.text for question in questions.gold], TIMED)
    models = {"encoder": pincite.Encoder.load(threads=1), "reranker": pincite.Reranker.load(threads=1)}
    rows = []
    with opened(setting, questions), pincite.open(setting.work / "pipelines" / questions.index, **models) as kb:
        for candidates, limit in DEPTHS:
            say(f"{candidates} candidates, {limit} judged")
            retriever = of_knowledge_base(kb, pipeline="hybrid+rerank", candidates=candidates, rerank_limit=limit)
            retriever(asked[0])  # loads the models
            spent = []
            for question in asked:
                started = time.process_time()
                retriever(question)
                spent.append(1000 * (time.process_time() - started))
            rows.append([str(candidates), str(limit), f"{statistics.median(spent):.0f}"])
    return markdown(["candidates", "judged", "ms"], rows, right=("candidates", "judged", "ms"))


def main() -> None:
    """Print the tables, or the times."""
    arguments = parser(__doc__)
    arguments.add_argument("--times", action="store_true", help="measure what a question costs instead")
    given = arguments.parse_args()
    setting = setting_of(given)
    if given.times:
        print(times(setting), end="")
        return
    for name, each in tables(setting).items():
        print(f"<!-- {name} -->\n{each}")


if __name__ == "__main__":
    main()
