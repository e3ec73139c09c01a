"""Ways of cutting: A to F, structural and the recursive splitter, on the same questions.

python studies/chunking.py --data DATA --work build/studies

Asks Chroma's 317 questions of its three corpora, and of the course our 60 sentences in two phrasings, with the default
encoder. Every way of cutting is an index in memory. Prints Markdown; progress goes to stderr.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from setting import Setting, run_alone, say

import pincite
from pincite.evaluation import Cutter, GoldSet, MemoryIndex, Report, evaluate, load_chroma
from pincite.evaluation.coverage import answered_within
from pincite.evaluation.memory_index import MemoryPipeline
from pincite.evaluation.statistics import bootstrap_mean, holm, sign_test, wilson
from pincite.extract import extract
from pincite.types import Chunk, Document, TextEncoder

SEPARATORS = ["\n\n", "\n", ".", "?", "!", " ", ""]
"""Of the recursive splitter in Chroma's evaluation."""

BASELINES = {"recursive 200": (200, 0), "recursive 800/400": (800, 400)}
"""Size and overlap in word pieces."""

TARGETS = (256, 384, 512, 768, 1024)

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


class Corpus(NamedTuple):
    """Documents and questions about them."""

    name: str
    documents: list[Document]
    gold: GoldSet


def chroma(folder: Path) -> Corpus:
    """Return Chroma's corpora, each below one heading line with its name, and its questions."""
    documents, gold = load_chroma(folder)
    headed, shifts = [], {}
    for document in documents:
        heading = f"## {document.id.replace('_', ' ')}\n\n"
        shifts[document.id] = len(heading)
        headed.append(replace(document, text=heading + document.text))
    questions = tuple(
        replace(
            question,
            excerpts=tuple(
                replace(each, start=each.start + shifts[each.document], end=each.end + shifts[each.document])
                for each in question.excerpts
            ),
        )
        for question in gold
    )
    return Corpus("Chroma", headed, GoldSet(gold.name, questions))


def course(folder: Path, gold: Path) -> Corpus:
    """Return the course's chapters as an index of their folder has them, and our questions that they answer."""
    documents = []
    for file in sorted(folder.glob("*.md")):
        extracted = extract(file.read_bytes(), suffix=file.suffix)
        documents.append(Document(f"{folder.name}/{file.name}", extracted.text, title=extracted.title or file.stem))
    asked = GoldSet.load(gold)
    return Corpus("mdcourse", documents, GoldSet(asked.name, tuple(each for each in asked if each.answerable)))


def pincite_cutter(encoder: TextEncoder, **settings: Any) -> Callable[[Document], list[Chunk]]:
    """Return one of our own ways of cutting. A document without a title has none: its heading names it already."""

    def cut(document: Document) -> list[Chunk]:
        return pincite.chunk(
            document.text, title=document.title, window_tokens=encoder.window_tokens,
            word_pieces=encoder.word_pieces, **settings,
        )  # fmt: skip

    return cut


def headless(cutter: Callable[[Document], list[Chunk]]) -> Cutter:
    """Return the same cuts without the contextual header in what is embedded."""

    def cut(document: Document) -> list[Chunk]:
        return [replace(chunk, embedded_text=_without_header(chunk)) for chunk in cutter(document)]

    return cut


def _without_header(chunk: Chunk) -> str:
    before = chunk.embedded_text[: len(chunk.embedded_text) - (chunk.end - chunk.covered_start)]
    header = before[: before.index("\n") + 1] if before.startswith("[") else ""
    return chunk.embedded_text[len(header) :]


def recursive_cutter(encoder: TextEncoder, *, tokens: int, overlap: int) -> Cutter:
    """Return langchain's recursive splitter with Chroma's separators; sizes are in the encoder's word pieces."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        separators=SEPARATORS, chunk_size=tokens, chunk_overlap=overlap, keep_separator=True,
        length_function=lru_cache(maxsize=None)(lambda text: len(encoder.word_pieces(text))),
    )  # fmt: skip

    def cut(document: Document) -> list[Chunk]:
        chunks: list[Chunk] = []
        end = 0
        for content in splitter.split_text(document.text):
            start = _place(document.text, content, end)
            end = start + len(content)
            chunks.append(Chunk(start, end, content, content, covered_start=start))
        return chunks

    return cut


def _place(text: str, piece: str, end: int) -> int:
    """Return where a piece starts: behind the one before it, white space apart, or, overlapping it, before its end."""
    behind = end + len(text[end:]) - len(text[end:].lstrip())
    if text.startswith(piece, behind):
        return behind
    return text.index(piece, max(0, end - len(piece) + 1), behind + len(piece))


def cutters(encoder: TextEncoder) -> dict[str, Cutter]:
    """Return every way of cutting that is measured, by name."""
    structural = pincite_cutter(encoder)
    made: dict[str, Cutter] = {name: pincite_cutter(encoder, strategy=name) for name in "ABCDEF"}
    made["structural"] = structural
    made["structural, no overlap"] = pincite_cutter(encoder, overlap=0)
    made["structural, no header"] = headless(structural)
    for name, (tokens, overlap) in BASELINES.items():
        made[name] = recursive_cutter(encoder, tokens=tokens, overlap=overlap)
    for target in TARGETS:
        made[f"structural {target}"] = pincite_cutter(encoder, target=target)
    return made


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

    def share(self, measure: str) -> str:
        """Return a share of the questions with its interval."""
        answered = self.answered[measure]
        return str(wilson(sum(answered), len(answered)))


Results = dict[str, dict[str, Measured]]
"""By corpus and way of cutting."""


def measured(corpus: Corpus, index: MemoryIndex, pipeline: MemoryPipeline) -> Measured:
    """Ask all questions."""
    retriever = index.retriever(pipeline)
    report = evaluate(retriever, corpus.gold, name=index.name)
    found = [(question, retriever(question.text).passages) for question in corpus.gold]
    return Measured(
        report,
        [answered_within(passages, question.excerpts, characters=BUDGET) for question, passages in found],
        [sum(passage.end - passage.covered_start for passage in passages[:4]) for _, passages in found],
    )


def measure(setting: Setting, corpora: Iterable[Corpus]) -> tuple[Results, Results]:
    """Cut, encode and ask; by both legs, and the main rows by vectors alone."""
    hybrid: Results = {}
    dense: Results = {}
    for corpus in corpora:
        hybrid[corpus.name], dense[corpus.name] = {}, {}
        for name, cutter in cutters(setting.encoder).items():
            started = time.perf_counter()
            index = MemoryIndex(corpus.documents, cutter, encoder=setting.encoder, name=name)
            hybrid[corpus.name][name] = measured(corpus, index, "hybrid")
            if name not in {f"structural {target}" for target in TARGETS}:
                dense[corpus.name][name] = measured(corpus, index, "dense")
            say(f"chunking: {corpus.name}, {name}: {len(index):,} chunks, {time.perf_counter() - started:.0f} s")
    return hybrid, dense


def main_table(rows: dict[str, Measured], *, names: Sequence[str] = MAIN) -> str:
    """Return what is found, a way of cutting a row."""
    shown = ("R@1", "R@4", "R@20", READ)
    lines = [f"| cut | chunks | destroyed | {' | '.join(shown)} | MRR |", "| --- | ---: | ---: |" + " --- |" * 5]
    for name in names:
        report = rows[name].report
        cells = [rows[name].share(measure) for measure in shown] + [str(report.measures["MRR"])]
        lines.append(f"| {name} | {_cost(report).chunks:,} | {len(report.destroyed or ())} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def cost_table(rows: dict[str, Measured]) -> str:
    """Return what the chunks cost, and Chroma's measures of characters."""
    shown = [f"character {name}@5" for name in ("recall", "precision", "iou")]
    lines = [
        f"| cut | {' | '.join(shown)} | characters in the first 4 | header tokens a chunk | truncated chunks "
        "| lost tokens |",
        "| --- |" + " --- |" * 3 + " ---: |" * 4,
    ]
    for name in MAIN:
        cost, measures = _cost(rows[name].report), rows[name].report.measures
        characters = f"{_mean(rows[name].first_four):,.0f}"
        lines.append(
            f"| {name} | {' | '.join(str(measures[measure]) for measure in shown)} | {characters} "
            f"| {cost.header_tokens / cost.chunks:.1f} | {cost.truncated_chunks:,} | {cost.lost_tokens:,} |"
        )
    return "\n".join(lines) + "\n"


def family_table(rows: dict[str, Measured]) -> str:
    """Return what is found by phrasing."""
    families = sorted(next(iter(rows.values())).report.families)
    shown = [(family, k) for family in families for k in ("R@1", "R@4", "R@20")]
    lines = [f"| cut | {' | '.join(f'{family}, {k}' for family, k in shown)} |", "| --- |" + " --- |" * len(shown)]
    for name in MAIN:
        found = rows[name].report.families
        lines.append(f"| {name} | {' | '.join(str(found[family][k]) for family, k in shown)} |")
    return "\n".join(lines) + "\n"


class Paired(NamedTuple):
    """One test: what the new way of cutting answers that the old one does not, and the other way round."""

    corpus: str
    old: str
    new: str
    by: str
    destroyed: str
    changes: list[int]  # 1 gained, -1 lost, 0 neither, a question each


def paired(results: Results, pairs: Iterable[tuple[str, str]], measures: Sequence[str]) -> list[Paired]:
    """Hold pairs of ways of cutting against each other, on every corpus and by every measure."""
    found = []
    for (old, new), (corpus, rows) in ((pair, each) for pair in pairs for each in results.items()):
        destroyed = " to ".join(str(len(rows[name].report.destroyed or ())) for name in (old, new))
        for by in measures:
            both = zip(rows[old].answered[by], rows[new].answered[by], strict=True)
            found.append(Paired(corpus, old, new, by, destroyed, [int(after) - int(before) for before, after in both]))
    return found


def paired_table(tests: Sequence[Paired]) -> str:
    """Return tests with their p-values, corrected for all of the table by Holm's method."""
    p_values = [sign_test(test.changes.count(1), test.changes.count(-1)) for test in tests]
    lines = [
        "| corpus | from | to | by | destroyed | gained | lost | of | difference | p | Holm | |",
        "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | --- | ---: | ---: | --- |",
    ]
    for test, p, adjusted in zip(tests, p_values, holm(p_values), strict=True):
        gained, lost = test.changes.count(1), test.changes.count(-1)
        verdict = ("better" if gained > lost else "worse") if adjusted < 0.05 else "not distinguishable"
        lines.append(
            f"| {test.corpus} | {test.old} | {test.new} | {test.by} | {test.destroyed} | {gained} | {lost} "
            f"| {len(test.changes)} | {bootstrap_mean(test.changes)} | {p:.2g} | {adjusted:.2g} | {verdict} |"
        )
    return "\n".join(lines) + "\n"


def sweep_table(results: Results) -> str:
    """Return the structural chunker by target."""
    shown = ("R@1", "R@4", "R@20", READ)
    lines = [
        f"| corpus | target | chunks | destroyed | {' | '.join(shown)} | characters in the first 4 |",
        "| --- | ---: | ---: | ---: |" + " --- |" * 4 + " ---: |",
    ]
    for corpus, rows in results.items():
        for target in TARGETS:
            row = rows[f"structural {target}"]
            lines.append(
                f"| {corpus} | {target} | {_cost(row.report).chunks:,} | {len(row.report.destroyed or ())} "
                f"| {' | '.join(map(row.share, shown))} | {_mean(row.first_four):,.0f} |"
            )
    return "\n".join(lines) + "\n"


def _cost(report: Report) -> Any:
    assert report.cost is not None  # every one is of an index
    return report.cost


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values)


def tables(setting: Setting) -> dict[str, str]:
    """Run the study."""
    corpora = (chroma(setting.data / "chroma_chunking"), course(setting.data / "mdcourse", setting.gold))
    hybrid, dense = measure(setting, corpora)
    against = [(name, "structural") for name in MAIN if name != "structural"]
    targets = [("structural 512", f"structural {target}") for target in TARGETS if target != 512]
    found = {
        "chroma": [CAPTION + CHROMA_CAPTION, main_table(hybrid["Chroma"]), cost_table(hybrid["Chroma"])],
        "chroma-dense": [main_table(dense["Chroma"])],
        "mdcourse": [COURSE_CAPTION, main_table(hybrid["mdcourse"]), cost_table(hybrid["mdcourse"])],
        "mdcourse-phrasings": [family_table(hybrid["mdcourse"])],
        "mdcourse-dense": [main_table(dense["mdcourse"])],
        "ablations": [paired_table(paired(hybrid, (*OVERLAP, *HEADER), ("R@1", "R@4")))],
        "ablations-dense": [paired_table(paired(dense, (*OVERLAP, *HEADER), ("R@1", "R@4")))],
        "structural": [paired_table(paired(hybrid, against, ("R@1", "R@4", READ)))],
        "targets": [sweep_table(hybrid), paired_table(paired(hybrid, targets, ("R@4", READ)))],
    }
    return {f"chunking-{name}": "\n".join(parts) for name, parts in found.items()}


if __name__ == "__main__":
    run_alone(tables, __doc__)
