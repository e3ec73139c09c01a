"""The command line. Data goes to standard output, talk to standard error.

Exit codes: 0 done, 1 an error or nothing to show, 2 a command that cannot be understood, 3 no answer, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from pincite import __version__
from pincite.cli import (
    audit,
    cite,
    context,
    delete,
    doctor,
    eval,
    grant,
    index,
    ledger,
    merge,
    models,
    rebuild,
    restore,
    retry,
    rollback,
    search,
    snapshot,
    status,
    swap,
    sync,
    verify,
    versions,
)  # fmt: skip
from pincite.cli.arguments import print_json, tell
from pincite.errors import PinciteError

__all__ = ["VERBS", "main"]

VERBS: dict[str, Any] = {
    "index": index,
    "sync": sync,
    "delete": delete,
    "grant": grant,
    "audit": audit,
    "retry": retry,
    "merge": merge,
    "rebuild": rebuild,
    "swap": swap,
    "rollback": rollback,
    "versions": versions,
    "snapshot": snapshot,
    "restore": restore,
    "search": search,
    "context": context,
    "cite": cite,
    "status": status,
    "verify": verify,
    "doctor": doctor,
    "ledger": ledger,
    "eval": eval,
    "models": models,
}

ERROR, INTERRUPTED = 1, 130


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    root = argparse.ArgumentParser(
        prog="pincite",
        description="Retrieval that shows where the answer is written.",
        epilog='example: pincite index docs --into kb && pincite search kb "how do I install it"',
    )
    root.add_argument("--version", action="version", version=f"pincite {__version__}")
    verbs = root.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name, module in VERBS.items():
        verb = verbs.add_parser(
            name,
            help=module.HELP,
            description=f"{module.HELP[0].upper()}{module.HELP[1:]}.",
            epilog=f"example: {module.EXAMPLE}",
        )
        module.add_arguments(verb)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = parser().parse_args(eval.in_full(sys.argv[1:] if arguments is None else arguments))
    try:
        code: int = VERBS[given.verb].run(given)
        if sys.stdout is not None:  # closed by the caller: then nothing is said
            sys.stdout.flush()
    except PinciteError as error:
        if given.json:
            print_json({"error": type(error).__name__, "message": str(error)})
        tell(f"pincite: {error}")
        return ERROR
    except OSError as error:
        if error.filename is not None:  # a file of whatever the verb did
            tell(f"pincite: {error}")
            return ERROR
        # Standard output takes no more: its reader has enough, or the disk is full. The exit must not write again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            tell(f"pincite: cannot write the output: {error.strerror or error}")
        return ERROR
    except KeyboardInterrupt:
        tell("pincite: interrupted")
        return INTERRUPTED
    return code
