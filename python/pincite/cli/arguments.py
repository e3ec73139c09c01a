"""Arguments that several verbs take, and how they print."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime
from typing import Any

import pincite
from pincite.cite.context import one_line
from pincite.cite.origin import Origin
from pincite.config import DEFAULT_MAX_DISTANCE

__all__ = [
    "NO_ANSWER",
    "add_groups",
    "add_json",
    "add_kb",
    "add_question",
    "groups_of",
    "moment",
    "open_kb",
    "origin_line",
    "print_json",
    "question_options",
    "question_text",
    "seconds_of",
    "tell",
]

NO_ANSWER = 3


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def add_kb(parser: argparse.ArgumentParser) -> None:
    """Add the index's folder."""
    parser.add_argument("kb", metavar="KB", help="the index's folder")


def add_groups(parser: argparse.ArgumentParser) -> None:
    """Add the groups of the asker."""
    parser.add_argument(
        "--groups", type=groups_of, metavar="A,B", help="of the asker, with commas between them; '' sees nothing"
    )


def groups_of(text: str) -> list[str]:
    """Return groups that were written with commas between them."""
    return [group.strip() for group in text.split(",")] if text.strip() else []


def add_question(parser: argparse.ArgumentParser) -> None:
    """Add what a search takes."""
    add_kb(parser)
    parser.add_argument("question", metavar="QUESTION", nargs="+", help="its words; quote what the shell would read")
    parser.add_argument("-k", type=int, default=4, help="how many passages at most (default: 4)")
    parser.add_argument(
        "--max-distance", type=float, default=DEFAULT_MAX_DISTANCE, metavar="D",
        help=f"the greatest cosine distance that is an answer, 0 to 2 (default: {DEFAULT_MAX_DISTANCE}); 2: any",
    )  # fmt: skip
    parser.add_argument(
        "--rerank", choices=["fused", "pure", "none"], default="fused",
        help="how the reranker's order is used: fused with the hybrid one, alone, or not at all (default: fused)",
    )  # fmt: skip
    parser.add_argument("--candidates", type=int, default=50, help="candidates of each leg (default: 50)")
    add_groups(parser)
    parser.add_argument(
        "--where", metavar="CONDITION",
        help="""search only documents that fulfil it, such as 'lang == "de" and modified >= 2024-01-01'""",
    )  # fmt: skip
    parser.add_argument(
        "--statistics", choices=["visible", "global"], default="visible",
        help="how words are weighed: by the documents that the asker may see, or by all, which leaks: scores and order "
        "then tell how frequent a word is in documents that the asker may not see (default: visible)",
    )  # fmt: skip
    parser.add_argument("--min-logit", type=float, metavar="L", help="the least rerank logit that is an answer")
    parser.add_argument(
        "--max-absent", type=float, metavar="SHARE",
        help="how much of the weight of the question's words a passage may lack, 0 to 1",
    )  # fmt: skip
    parser.add_argument("--encoder", metavar="NAME_OR_PATH", help="the embedding model (default: the index's own)")
    parser.add_argument("--reranker", metavar="NAME_OR_PATH", help="the cross-encoder (default: the one built in)")
    add_json(parser)


def question_text(given: argparse.Namespace) -> str:
    """Return the question; its words may have come one by one."""
    return " ".join(given.question)


def question_options(given: argparse.Namespace) -> dict[str, Any]:
    """Return what `add_question` took, as `KnowledgeBase.search` wants it."""
    return {
        "k": given.k,
        "max_distance": given.max_distance,
        "rerank": given.rerank,
        "candidates": given.candidates,
        "min_logit": given.min_logit,
        "max_absent": given.max_absent,
        "where": given.where,
        "groups": given.groups,
        "statistics": given.statistics,
    }


def open_kb(given: argparse.Namespace) -> pincite.KnowledgeBase:
    """Open the index that was named, for reading."""
    kb = pincite.open(
        given.kb,
        read_only=True,
        encoder=getattr(given, "encoder", None),
        reranker=getattr(given, "reranker", None),
        report=tell,
    )
    if getattr(given, "reranker", None) is not None:
        kb.reranker()  # a name that is wrong is said now, not at the first question that is answered
    return kb


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a character: JSON has a way to write it, UTF-8 has none
        text = json.dumps(value, indent=2)
    print(text)


def seconds_of(text: str) -> float:
    """Return a length of time such as 90m, 12h or 30d in seconds."""
    units = {"m": 60.0, "h": 3600.0, "d": 86400.0}
    number, unit = text[:-1], text[-1:]
    if unit not in units or not number.isdecimal():
        raise argparse.ArgumentTypeError(f"given was {text!r}, wanted a number and m, h or d, such as 12h or 30d")
    return int(number) * units[unit]


def moment(seconds: float) -> str:
    """Return a time, given in seconds since 1970, as people write it here."""
    try:
        return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):  # a clock that was wrong by thousands of years
        return f"{seconds:.0f} s since 1970"


def origin_line(origin: Origin, uri: str) -> str:
    """Return how fresh a document is, and where it is from unless `uri` says so; empty where nothing is known."""
    said = [] if origin.modified is None else [f"modified {moment(origin.modified)}"]
    if origin.sync_broken:
        said.append("SYNC BROKEN")
    if origin.synced is not None:
        said.append(f"{'last ' if origin.sync_broken else ''}synced {moment(origin.synced)}")
    if origin.url is not None and not uri.startswith(origin.url):
        said.append(f"from {origin.url}")
    return one_line(", ".join(said))


def tell(line: str) -> None:
    """Say something that is no data, on one line."""
    if sys.stderr is not None:  # print would take standard output instead
        print(one_line(line), file=sys.stderr, flush=True)
