"""``pincite ledger``: where every character went."""

from __future__ import annotations

import argparse

from pincite.cite.context import one_line
from pincite.cli.arguments import add_json, add_kb, open_kb, print_json

HELP = "account for every character of every document; exit code 1 if an account does not balance"
EXAMPLE = "pincite ledger kb"

CLASSES = ("chunk", "heading", "front_matter", "white_space", "dropped")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    add_kb(parser)
    add_json(parser)


def run(given: argparse.Namespace) -> int:
    """Print the accounts."""
    with open_kb(given) as kb:
        ledger = kb.ledger()
    if given.json:
        print_json(
            {
                "balanced": ledger.balanced,
                "counts": ledger.counts,
                "documents": [
                    {
                        "id": account.id,
                        "state": account.state,
                        "length": account.length,
                        "counts": account.counts,
                        "dropped": account.reasons,
                        "not_extracted": account.not_extracted,
                        "balanced": account.balanced,
                        "faults": list(account.faults),
                        "reason": account.reason,
                        "message": account.message,
                        "spans": [list(span) for span in account.spans],
                    }
                    for account in ledger
                ],
            }
        )
    else:
        print(f"{'characters':>10} " + " ".join(f"{name:>12}" for name in CLASSES) + "  document")
        for account in ledger:
            if account.state == "failed":
                print(
                    f"{'failed':>10} "
                    + " ".join(f"{'-':>12}" for _ in CLASSES)
                    + f"  {one_line(account.id)}: {account.reason}"
                )
                continue
            counts = " ".join(f"{account.counts[name]:>12,}" for name in CLASSES)  # type: ignore[index]
            print(f"{account.length:>10,} {counts}  {one_line(account.id)}")
            for fault in account.faults:
                print(f"{'':>10} does not balance: {fault}")
    return 0 if ledger.balanced else 1
