"""Ways of cutting: A to F, structural and the recursive splitter, on the same questions.

python studies/chunking.py --data DATA --work build/studies

Asks Chroma's 317 questions of its three corpora, and of the course our 60 sentences in two phrasings, with the default
encoder. Every way of cutting is an index in memory. Prints Markdown; progress goes to stderr.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from cutting import BASELINES, TARGETS, Corpus, chroma, course, cutters
from paired import markdown
from setting import Setting, run_alone, say

from pincite.evaluation import MemoryIndex, Report, evaluate
from pincite.evaluation.chunks import IndexCost
from pincite.evaluation.coverage import answered_within
from pincite.evaluation.memory_index import MemoryPipeline
from pincite.evaluation.statistics import bootstrap_mean, holm, sign_test, wilson

BUDGET = 2000
"""Characters that are read: about what the first four passages of the default chunker hold."""

READ = f"R in {BUDGET:,}"

MAIN = (*"ABCDEF", "structural", *BASELINES)

OVERLAP = (("A", "B"), ("C", "D"), ("E", "F"), ("structural, no overlap", "structural"))
HEADER = (("C", "E"), ("D", "F"), ("structural, no header", "structural"))
"""What each ablation adds: from the first to the second."""

CAPTION = f"""Pipeline "hybrid" unless said otherwise, default encoder. A to F and structural have target 512 and
overlap 64, in their own units; "recursive" is langchain's splitter with Chroma's separators: 200 tokens without
overlap, and 800 with 400. Tokens are the encoder's word pieces; what its window of 256 cuts off is in the last column
of the second table. One excerpt that is covered whole answers a question. "{READ}" is the share answered for somebody
who reads {BUDGET:,} characters of the passages in their order, overlap included.
"""

CHROMA_CAPTION = """The three corpora are one index. Every one has a heading line with its name in front (`## finance`),
for all ways of cutting alike: C to F read only what stands below such a line, and these corpora have none.
"""

COURSE_CAPTION = """The 120 questions are 60 sentences in two phrasings, and so are not quite 120 independent ones.
"""


@dataclass(frozen=True)
class Measured:
    """What one way of cutting gave, by one pipeline.

    Attributes
    ----------
    report : Report
    read : list of bool
        By question: whether it is answered within the characters of the budget.
    first_four : list of int
        By question: the characters of the first four passages, overlap included.
    """

    report: Report
    read: list[bool]
    first_four: list[int]

    @cached_property
    def answered(self) -> dict[str, list[bool]]:
        """By measure and question."""
        outcomes = self.report.answerable
        return {f"R@{k}": [outcome.within(k) for outcome in outcomes] for k in (1, 4, 20)} | {READ: self.read}

    @cached_property
    def destroyed(self) -> list[bool]:
        """By question: whether no chunk holds its answer."""
        return [bool(outcome.destroyed) for outcome in self.report.answerable]

    @property
    def cost(self) -> IndexCost:
        """Of the index."""
        assert self.report.cost is not None  # every one is of an index
        return self.report.cost

    def shares(self) -> list[str]:
        """Return the shares of the questions that are answered, with intervals, in the order of `SHARES`."""
        return [str(wilson(sum(self.answered[measure]), len(self.read))) for measure in SHARES]


SHARES = ("R@1", "R@4", "R@20", READ)

Ways = Mapping[str, Measured]
"""By way of cutting."""

Results = Mapping[str, Ways]
"""By corpus."""


def tables(setting: Setting) -> dict[str, str]:
    """Cut, encode and ask; by both legs, and all but the targets by vectors alone."""
    corpora = (chroma(setting.data / "chroma_chunking"), course(setting.data / "mdcourse", setting.gold))
    hybrid: dict[str, dict[str, Measured]] = {corpus.name: {} for corpus in corpora}
    dense: dict[str, dict[str, Measured]] = {corpus.name: {} for corpus in corpora}
    for corpus in corpora:
        for name, cutter in cutters(setting.encoder).items():
            started = time.perf_counter()
            index = MemoryIndex(corpus.documents, cutter, encoder=setting.encoder, name=name)
            hybrid[corpus.name][name] = measured(corpus, index, "hybrid")
            if name not in map(sized, TARGETS):
                dense[corpus.name][name] = measured(corpus, index, "dense")
            say(f"{corpus.name}, {name}: {len(index):,} chunks, {time.perf_counter() - started:.0f} s")
    return written(hybrid, dense)


def sized(target: int) -> str:
    """Return what the structural chunker of a target is called."""
    return f"structural {target}"


def measured(corpus: Corpus, index: MemoryIndex, pipeline: MemoryPipeline) -> Measured:
    """Ask all questions."""
    retriever = index.retriever(pipeline)
    found = [(question, retriever(question.text).passages) for question in corpus.gold]
    return Measured(
        evaluate(retriever, corpus.gold, name=index.name),
        [answered_within(passages, question.excerpts, characters=BUDGET) for question, passages in found],
        [sum(passage.end - passage.covered_start for passage in passages[:4]) for _, passages in found],
    )


def written(hybrid: Results, dense: Results) -> dict[str, str]:
    """Return the tables by their places."""
    against = [(name, "structural") for name in MAIN if name != "structural"]
    targets = [(sized(512), sized(target)) for target in TARGETS if target != 512]
    ablations = (*OVERLAP, *HEADER)
    found = {
        "chroma": [CAPTION + CHROMA_CAPTION, main_table(hybrid["Chroma"]), cost_table(hybrid["Chroma"])],
        "chroma dense": [main_table(dense["Chroma"])],
        "mdcourse": [COURSE_CAPTION, main_table(hybrid["mdcourse"]), cost_table(hybrid["mdcourse"])],
        "mdcourse phrasings": [family_table(hybrid["mdcourse"])],
        "mdcourse dense": [main_table(dense["mdcourse"])],
        "ablations": [paired_table(paired(hybrid, ablations, ("R@1", "R@4")))],
        "ablations dense": [paired_table(paired(dense, ablations, ("R@1", "R@4")))],
        "overlap held": [paired_table(paired(hybrid, OVERLAP, ("R@1", "R@4"), held=True))],
        "structural": [paired_table(paired(hybrid, against, ("R@1", "R@4", READ)))],
        "targets": [sweep_table(hybrid), paired_table(paired(hybrid, targets, ("R@4", READ)))],
    }
    return {f"chunking {name}": "\n".join(parts) for name, parts in found.items()}


def main_table(ways: Ways) -> str:
    """Return what is found, a way of cutting a row."""
    rows = [
        [name, f"{ways[name].cost.chunks:,}", str(sum(ways[name].destroyed)), *ways[name].shares(),
         str(ways[name].report.measures["MRR"])]
        for name in MAIN
    ]  # fmt: skip
    return markdown(["cut", "chunks", "destroyed", *SHARES, "MRR"], rows, right=["chunks", "destroyed"])


def cost_table(ways: Ways) -> str:
    """Return what the chunks cost, and Chroma's measures of characters."""
    shown = [f"character {name}@5" for name in ("recall", "precision", "iou")]
    counts = ["characters in the first 4", "header tokens a chunk", "truncated chunks", "lost tokens"]
    rows = []
    for name in MAIN:
        cost, measures = ways[name].cost, ways[name].report.measures
        rows.append(
            [name, *(str(measures[measure]) for measure in shown), mean(ways[name].first_four),
             f"{cost.header_tokens / cost.chunks:.1f}", f"{cost.truncated_chunks:,}", f"{cost.lost_tokens:,}"]
        )  # fmt: skip
    return markdown(["cut", *shown, *counts], rows, right=counts)


def family_table(ways: Ways) -> str:
    """Return what is found by phrasing."""
    families = {name: ways[name].report.families for name in MAIN}
    shown = [(family, k) for family in families["structural"] for k in ("R@1", "R@4", "R@20")]
    rows = [[name, *(str(families[name][family][k]) for family, k in shown)] for name in MAIN]
    return markdown(["cut", *(f"{family}, {k}" for family, k in shown)], rows)


def sweep_table(results: Results) -> str:
    """Return the structural chunker by target."""
    counts = ["target", "chunks", "destroyed", "characters in the first 4"]
    rows = []
    for corpus, ways in results.items():
        for target in TARGETS:
            way = ways[sized(target)]
            rows.append(
                [corpus, str(target), f"{way.cost.chunks:,}", str(sum(way.destroyed)), *way.shares(),
                 mean(way.first_four)]
            )  # fmt: skip
    return markdown(["corpus", *counts[:3], *SHARES, counts[3]], rows, right=counts)


class Paired(NamedTuple):
    """One test: what the new way of cutting answers that the old one does not, and the other way round."""

    corpus: str
    old: str
    new: str
    by: str
    destroyed: str
    changes: list[int]
    """1 gained, -1 lost, 0 neither, a question each."""


def paired(
    results: Results, pairs: Iterable[tuple[str, str]], measures: Sequence[str], *, held: bool = False
) -> list[Paired]:
    """Hold pairs of ways of cutting against each other; with `held` on the questions that neither destroys."""
    found = []
    for (old, new), (corpus, ways) in ((pair, each) for pair in pairs for each in results.items()):
        before, after = ways[old], ways[new]
        asked = [i for i in range(len(after.read)) if not held or not (before.destroyed[i] or after.destroyed[i])]
        destroyed = f"{sum(before.destroyed)} to {sum(after.destroyed)}"
        for by in measures:
            changes = [int(after.answered[by][i]) - int(before.answered[by][i]) for i in asked]
            found.append(Paired(corpus, old, new, by, destroyed, changes))
    return found


def paired_table(tests: Sequence[Paired]) -> str:
    """Return tests with their p-values, corrected for all of the table by Holm's method."""
    p_values = [sign_test(test.changes.count(1), test.changes.count(-1)) for test in tests]
    rows = []
    for test, p, adjusted in zip(tests, p_values, holm(p_values), strict=True):
        gained, lost = test.changes.count(1), test.changes.count(-1)
        difference = bootstrap_mean(test.changes)
        rows.append(
            [test.corpus, test.old, test.new, test.by, test.destroyed, str(gained), str(lost), str(len(test.changes)),
             f"{difference.value:+.3f} [{difference.low:+.3f}, {difference.high:+.3f}]", f"{p:.2g}", f"{adjusted:.2g}",
             ("better" if gained > lost else "worse") if adjusted < 0.05 else "not distinguishable"]
        )  # fmt: skip
    counts = ["destroyed", "gained", "lost", "of", "p", "Holm"]
    head = ["corpus", "from", "to", "by", *counts[:4], "difference", *counts[4:], "verdict"]
    return markdown(head, rows, right=counts)


def mean(values: Sequence[int]) -> str:
    """Return a mean of many characters."""
    return f"{sum(values) / len(values):,.0f}"


if __name__ == "__main__":
    run_alone(tables, __doc__)
