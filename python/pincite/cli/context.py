"""``pincite context``: what a language model needs, or the reason not to call one."""

from __future__ import annotations

import argparse

from pincite.cite.context import NoAnswer
from pincite.cli.arguments import (
    NO_ANSWER,
    add_question,
    open_kb,
    origin_line,
    print_json,
    question_options,
    question_text,
)

HELP = "print the prompt with numbered sources and the citations behind the numbers, or NO ANSWER (exit code 3)"
EXAMPLE = 'pincite context kb "how do I install it"'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_question(parser)


def run(given: argparse.Namespace) -> int:
    """Search, and print the context or the refusal."""
    with open_kb(given) as kb:
        context = kb.context(question_text(given), **question_options(given))
    if given.json:
        print_json(context.to_dict())
    elif isinstance(context, NoAnswer):
        print(context.message)
    else:
        print(context.prompt)
        print("Citations:\n")
        for citation in context.citations:
            print(f"[{citation.number}] {citation.uri}")
            if line := origin_line(citation.origin, citation.uri):
                print(f"    {line}")
    return NO_ANSWER if isinstance(context, NoAnswer) else 0
