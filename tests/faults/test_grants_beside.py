"""Grants, commits and questions of one handle in several threads: none waits for what another one holds."""

from __future__ import annotations

import pytest

from small_index import start

TOGETHER = """
import faulthandler, sys, threading, time
from small_index import document, opened

faulthandler.dump_traceback_later(60, exit=True)
sys.setswitchinterval(1e-6)  # threads change places at nearly every step
with opened(sys.argv[1]) as kb:
    kb.add([document(number) for number in range(4)], progress=False)
    kb.grant("d000", ["crew"])
    ended = threading.Event()

    def ask():
        while not ended.is_set():
            kb.search("ship", groups=["crew"], max_distance=None)
            kb.status()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + 4
    changes = 0
    while time.monotonic() < until or changes < 30:
        if sys.argv[2] == "grants":
            kb.grant(f"d00{changes % 4}", ["crew"] if changes % 2 else ["deck"])
        else:
            kb.add(document(changes % 4, version=changes), progress=False)
        changes += 1
    ended.set()
    for thread in threads:
        thread.join()
print(changes >= 30)
"""


@pytest.mark.parametrize("changes", ["grants", "commits"])
def test_threads_that_ask_and_change_end(memory_path, changes):
    program = start(TOGETHER, memory_path / "kb", changes)
    out, err = program.communicate(timeout=120)
    assert out == "True\n", err[-4000:]
