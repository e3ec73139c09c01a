"""What an index takes of the machine comes to an end; `nox -s survival -- memory` measures it for long."""

from __future__ import annotations

import gc
import sys

import pytest

from pincite.store.records import PreparedDocument
from pincite.store.staging import carried
from small_index import document, opened
from soaks import memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what a process takes is read as Linux tells it")


@pytest.mark.parametrize(("act", "times"), [(memory.ask, 60), (memory.open_and_close, 40), (memory.commit, 80)])
def test_descriptors_threads_and_mappings_do_not_add_up(memory_path, act, times):
    """The mappings are looked at in the work itself: those of the last generation, and none once it is closed."""
    samples = list(act(memory_path, times))
    assert len({(each.descriptors, each.threads) for each in samples[1:]}) == 1


def test_a_merge_holds_one_document_at_a_time(memory_path, monkeypatch):
    """Its texts and vectors are as large as they are; what is made of them for each document is not kept."""
    alive = []

    def counted(*arguments):
        made = carried(*arguments)
        alive.append(sum(isinstance(each, PreparedDocument) for each in gc.get_objects()))
        return made

    with opened(memory_path / "kb") as kb:
        for number in range(6):
            kb.add([document(10 * number + i) for i in range(10)], progress=False)
        monkeypatch.setattr("pincite.store.staging.carried", counted)
        kb.merge()
        assert kb.status().documents == len(alive) == 60
    assert max(alive) <= 2
