"""Every byte of a catalog changed, and every cut: a named error at open or by `verify`, or nothing that shows."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pincite
from pincite.errors import PinciteError
from small_index import document, opened
from soaks.outcome import Outcome, folder_in_memory

CATALOG = "catalog.sqlite"


def make(path: Path) -> None:
    """An index with something in every table: a failure, groups, a deletion, a replaced document, two versions."""
    folder = path.parent / "notes"
    folder.mkdir()
    (folder / "logo.png").write_bytes(b"\x89PNG")
    (folder / "note.md").write_text("# Rope\n\nA rope on deck.\n")
    with opened(path) as kb:
        kb.add([document(number) for number in range(6)], progress=False, groups=["crew"])
        kb.add([folder, document(0, version=1)], progress=False, groups=["crew", "office"])
        kb.delete("d003")
        kb.rebuild(config=pincite.IndexConfig(target=64), progress=False)


def everything(path: Path) -> Any:
    """What an index says, to whom; raises what is wrong with it."""
    with opened(path, create=False, read_only=True) as kb:
        status = {key: value for key, value in kb.status().to_dict().items() if key not in {"path", "nbytes"}}
        seen = [
            [hit.to_dict() for hit in kb.search("ship rope", groups=groups, max_distance=None, k=8)]
            for groups in ([], ["crew"], ["office"], ["crew", "office"])
        ]
        passages = [kb.resolve(account.id, groups=["crew"]) for account in kb.ledger() if account.state == "indexed"]
        with opened(path, create=False, read_only=True, version="built") as built:
            rest = [hit.to_dict() for hit in built.search("ship rope", groups=["crew"], max_distance=None, k=8)]
        return status, seen, passages, rest, [each.to_dict() for each in kb._folder.catalog.versions()]


def mutants(content: bytes, step: int, seed: int) -> Iterator[tuple[str, bytes, int]]:
    """What is done, the bytes that are written, and where; a cut has none."""
    random_ = random.Random(seed)
    for at in range(seed % step, len(content), step):
        other = random_.randrange(1, 256) if random_.random() < 0.5 else 1 << random_.randrange(8)
        yield f"byte {at} from {content[at]} to {content[at] ^ other}", bytes([content[at] ^ other]), at
    for at in range(seed % step, len(content), 16 * step):
        yield f"cut to {at}", b"", at


def sweep(step: int, *, seed: int = 0) -> Outcome:
    """Change every `step`-th byte of a catalog, and cut it at every sixteenth of these."""
    outcome = Outcome()
    with folder_in_memory() as folder:
        kb = folder / "kb"
        make(kb)
        catalog = kb / CATALOG
        sqlite3.connect(catalog).execute("PRAGMA wal_checkpoint(TRUNCATE)").connection.close()
        content, expected = catalog.read_bytes(), everything(kb)
        assert pincite.verify(kb).sound
        total = len(content) * 17 // (16 * step)
        for done, (what, written, at) in enumerate(mutants(content, step, seed)):
            for beside in ("-wal", "-shm"):
                catalog.with_name(catalog.name + beside).unlink(missing_ok=True)
            shutil.rmtree(kb / "readers", ignore_errors=True)
            descriptor = os.open(catalog, os.O_RDWR)
            os.pwrite(descriptor, written, at) if written else os.ftruncate(descriptor, at)
            outcome.counts[judge(kb, expected, what, outcome)] += 1
            os.pwrite(descriptor, content, 0)
            os.ftruncate(descriptor, len(content))
            os.close(descriptor)
            outcome.tell(done + 1, total, since=done)
    return outcome


def judge(kb: Path, expected: Any, what: str, outcome: Outcome) -> str:
    """Return how a mutant ended."""
    try:
        said = everything(kb)
        ended = "harmless" if said == expected else "other answers"
    except PinciteError as error:
        ended = "named at open or use" if CATALOG in str(error) else "other answers"
        said = error
    except Exception as error:
        ended, said = "an error without a name", error
    try:
        verified = pincite.verify(kb)
        seen = not verified.sound
    except PinciteError:
        seen = True
    except Exception as error:
        ended, said, seen = "verify ended in an error without a name", error, False
    if ended == "other answers" and seen:
        return "named by verify"
    if ended == "harmless":
        return "harmless, named by verify" if seen else "harmless"
    if ended != "named at open or use":
        outcome.findings.append(f"{what}: {ended}: {said!r:.600}")
    elif not seen:
        outcome.findings.append(f"{what}: named at open or use, not by verify: {said!r:.600}")
    return ended
