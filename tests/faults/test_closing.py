"""An index that is closed while others use it."""

from __future__ import annotations

import gc
import threading

import pytest

from pincite.errors import PinciteError
from small_index import document, opened

LOOKS = {
    "search": lambda kb: kb.search("ship", groups=["crew"], max_distance=None),
    "status": lambda kb: kb.status(),
    "ledger": lambda kb: kb.ledger(),
    "resolve": lambda kb: kb.resolve("d000", groups=["crew"]),
    "view": lambda kb: kb.view(groups=["crew"]),
}


@pytest.mark.parametrize("look", LOOKS)
def test_whoever_looks_while_another_thread_closes_is_told(memory_path, look):
    with opened(memory_path / "kb") as kb:
        kb.add([document(number) for number in range(3)], progress=False, groups=["crew"])
    said = []
    for _ in range(30):
        kb = opened(memory_path / "kb")
        catalog = kb._folder.catalog
        begun = threading.Barrier(4)

        def ask(kb=kb, begun=begun):
            begun.wait()
            while True:
                try:
                    LOOKS[look](kb)
                except PinciteError as error:
                    said.append(str(error))
                    return
                except BaseException as error:
                    said.append(repr(error))
                    return

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        begun.wait()
        kb.close()
        for thread in threads:
            thread.join()
        assert catalog._connection is None
    assert {line.partition(" was ")[2] for line in said} == {"closed; open it again with pincite.open"}


def test_a_closed_index_holds_no_generation(memory_path):
    kb = opened(memory_path / "kb")
    kb.add(document(0), progress=False, groups=["crew"])
    kb.search("ship", groups=["crew"])
    folder = kb._folder
    kb.close()
    gc.collect()
    assert folder._snapshot is None
    assert folder.views._views == {}
