"""``pincite search``: the passages for a question."""

from __future__ import annotations

import argparse

from pincite.cite.citation import Citation
from pincite.cite.context import one_line
from pincite.cli.arguments import (
    NO_ANSWER,
    add_question,
    open_kb,
    origin_line,
    print_json,
    question_options,
    question_text,
)
from pincite.retrieve.result import Hit

HELP = "show the passages that answer a question, each with its citation"
EXAMPLE = 'pincite search kb "how do I install it" -k 2'

SHOWN = 320
LACKING = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_question(parser)


def run(given: argparse.Namespace) -> int:
    """Search, and print hits or the refusal."""
    with open_kb(given) as kb:
        result = kb.search(question_text(given), **question_options(given))
        citations = kb.citations(result, groups=given.groups)
    if given.json:
        hits = [
            {**hit.to_dict(), "citation": citation.to_dict()} for hit, citation in zip(result, citations, strict=True)
        ]
        print_json({**result.to_dict(), "hits": hits})
    elif result.refused:
        print(f"NO ANSWER: {result.reason}")
    else:
        print("\n\n".join(_shown(hit, citation) for hit, citation in zip(result, citations, strict=True)))
    return NO_ANSWER if result.refused else 0


def _shown(hit: Hit, citation: Citation) -> str:
    first, last = hit.lines
    words = one_line(" ".join(hit.content.split()))
    if len(words) > SHOWN:
        words = words[: SHOWN - 1] + "…"
    scores = [f"distance {hit.distance:.3f}"]
    if hit.bm25 is not None:
        scores.append(f"bm25 {hit.bm25:.2f}")
    if hit.rerank_logit is not None:
        scores.append(f"rerank {hit.rerank_logit:.2f}")
    if hit.absent_words:
        scores.append(f"lacks {', '.join(hit.absent_words[:LACKING])}")
    if hit.passed_by != "distance":
        scores.append(f"passed by the word {hit.passed_by!r}")
    lines = f"line {first}" if first == last else f"lines {first}-{last}"
    place = one_line(" > ".join((hit.document_id, *hit.heading_path)))
    shown = [f"[{citation.number}] {place}, {lines} ({', '.join(scores)})", words, citation.uri]
    if citation.origin.sync_broken:
        shown.append(origin_line(citation.origin, citation.uri))
    return "\n    ".join(shown)
