"""Case O06 for a whole index: a forked child searches and adds like its parent, and never hangs."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time

import pytest

import pincite
from children import codes_of, forked
from pincite.core.stemming import WordStemmer
from small_index import document, opened
from soaks import forks

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
    # What CPython 3.12 and later say of every fork beside a thread: it is the case that is tested here.
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning"),
]


@pytest.fixture
def tiny_models(tiny_encoder_folder, tiny_reranker_folder):
    """Real models, of random weights."""
    return {"encoder": tiny_encoder_folder, "reranker": tiny_reranker_folder}


@pytest.fixture(params=["stub", "tiny"])
def kb(request, memory_path):
    """Open, and used."""
    models = request.getfixturevalue("tiny_models") if request.param == "tiny" else {}
    with opened(memory_path / "kb", **models) as made:
        made.add([document(number) for number in range(6)], progress=False)
        made.add([document(2, version=1)], progress=False)
        found(made)
        yield made


def found(kb):
    return [hit.to_dict() for hit in kb.search("ship mast", max_distance=None)]


def test_200_children_answer_as_the_parent(kb, request):
    expected = found(kb)
    rounds = 50 if "stub" in request.node.name else 5
    codes = []
    for _ in range(rounds):
        codes += codes_of([forked(lambda: found(kb) == expected) for _ in range(4)])
    assert codes == [0] * 4 * rounds
    assert found(kb) == expected


@pytest.mark.parametrize("kb", ["stub"], indirect=True)
def test_children_beside_threads_that_search_and_write(kb):
    """The child must not inherit a lock that another thread of the parent holds, SQLite's own among them."""
    expected, generation = found(kb), kb.generation
    done, faults = threading.Event(), []

    def read():
        while not done.is_set():
            try:
                found(kb)
                kb._folder.documents.totals()
                kb.status()
                kb.ledger()
            except Exception as error:
                faults.append(error)
                return

    def write():
        number = 0
        while not done.is_set():
            try:
                kb.add([pincite.Document(id=f"x{number}", text=" ")], progress=False)  # fails, and makes a generation
                number += 1
            except Exception as error:
                faults.append(error)
                return

    threads = [threading.Thread(target=work) for work in (read, read, write)]
    for thread in threads:
        thread.start()
    try:
        codes = []
        for _ in range(15):
            codes += codes_of([forked(lambda: found(kb) == expected) for _ in range(4)])
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert (codes, faults) == ([0] * 60, [])
    assert kb.generation > generation


@pytest.mark.parametrize("kb", ["stub"], indirect=True)
def test_a_child_that_adds_is_seen_by_the_parent_and_outlives_its_closing(kb, memory_path):
    """The child's connection must hold file locks of its own: without, its commits go into a removed file."""
    closed, read = os.pipe()[::-1]

    def work():
        kb.add(document(20), progress=False)
        os.read(read, 1)  # the parent has closed the index
        kb.add(document(21), progress=False)
        return kb.status().documents == 8

    child = forked(work)
    while kb.status().documents == 6:
        time.sleep(0.001)
    kb.close()
    os.write(closed, b"x")
    assert codes_of([child]) == [0]
    for descriptor in (closed, read):
        os.close(descriptor)
    with opened(memory_path / "kb") as again:
        assert (again.status().documents, again.generation) == (8, 4)


def test_a_grandchild_and_an_ordinary_end(kb):
    expected = found(kb)

    def work():
        return codes_of([forked(lambda: found(kb) == expected)]) == [0] and found(kb) == expected

    assert codes_of([forked(work)]) == [0]


def ask(folder, models):
    with pincite.open(folder, **models) as kb:
        return found(kb)


@pytest.mark.parametrize("kb", ["tiny"], indirect=True)
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_of_a_pool_answer_as_the_parent(kb, memory_path, tiny_models, method):
    with multiprocessing.get_context(method).Pool(2) as pool:
        answered = pool.starmap_async(ask, [(memory_path / "kb", tiny_models)] * 4).get(timeout=60)
    assert answered == [found(kb)] * 4


@pytest.mark.parametrize("kind", ["stub", "real"])
def test_each_way_to_fork(request, kind):
    """Beside threads that search, and by multiprocessing; `nox -s survival -- forks` does each 200 times."""
    if kind == "real":
        request.getfixturevalue("minilm")
    outcome = forks.run(2, [kind])
    assert outcome.findings == []
    ways = {"os.fork": 2, "os.fork beside threads": 2, "multiprocessing fork": 2, "multiprocessing spawn": 1}
    assert {way: outcome.counts[f"{kind}, {way}"] for way in ways} == ways


def test_a_child_stems_though_a_thread_of_its_parent_did():
    """The stemmer's lock is held at the fork, by a thread that the child does not have."""
    stemmer = WordStemmer("english")
    held, done = threading.Event(), threading.Event()

    def hold():
        with stemmer._lock:
            held.set()
            done.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    codes = codes_of([forked(lambda: stemmer.stems(["running"]) == {"running": "run"}) for _ in range(4)])
    done.set()
    holder.join()
    assert codes == [0] * 4
    assert stemmer.stems(["running"]) == {"running": "run"}
