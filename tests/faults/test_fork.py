"""Case O06: a forked child encodes like its parent or raises; it never hangs, and neither does its end."""

from __future__ import annotations

import gc
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from pincite.errors import ModelFileError
from pincite.models.encoder import Encoder
from pincite.models.reranker import Reranker

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
    # What CPython 3.12 and later say of every fork beside a thread pool: it is the case that is tested here.
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning"),
]

HANG_S = 60
"""Beyond this a child is taken to hang; not a measure of speed."""


def status_of_child(work) -> int:
    """The exit code of a child: 0 if `work` returns True, 1 if it returns another value, 2 if it raises."""
    child = os.fork()
    if child == 0:
        code = 2
        try:
            code = 0 if work() is True else 1
        finally:
            os._exit(code)
    end = time.monotonic() + HANG_S
    pause = 0.0005
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(pause)
        pause = min(pause * 2, 0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail(f"the child still ran after {HANG_S} s")


TEXTS = ["the cat sat on the mat", "a dog", "who sleeps on the moon?"]


@pytest.mark.slow
def test_200_forks_encode_as_the_parent(tiny_encoder_folder):
    encoder = Encoder.load(tiny_encoder_folder, threads=2)
    vectors = encoder.encode(TEXTS)
    assert [status_of_child(lambda: np.array_equal(encoder.encode(TEXTS), vectors)) for _ in range(200)] == [0] * 200
    assert np.array_equal(encoder.encode(TEXTS), vectors)


def test_forks_rerank_as_the_parent(tiny_reranker_folder):
    reranker = Reranker.load(tiny_reranker_folder, threads=2)
    scores = reranker.score("where is the cat?", TEXTS)
    same = [
        status_of_child(lambda: np.array_equal(reranker.score("where is the cat?", TEXTS), scores)) for _ in range(9)
    ]
    assert same == [0] * 9


def test_forks_beside_threads_that_load_and_encode(tiny_encoder_folder):
    """The child must not inherit a lock that another thread of the parent holds."""
    shared = Encoder.load(tiny_encoder_folder, threads=2)
    vectors = shared.encode(TEXTS)
    stop = threading.Event()

    def busy():
        while not stop.is_set():
            Encoder.load(tiny_encoder_folder, threads=2).encode(TEXTS)
            shared.encode(TEXTS)

    workers = [threading.Thread(target=busy) for _ in range(2)]
    for worker in workers:
        worker.start()
    try:
        codes = [status_of_child(lambda: np.array_equal(shared.encode(TEXTS), vectors)) for _ in range(20)]
    finally:
        stop.set()
        for worker in workers:
            worker.join()
    assert codes == [0] * 20


def test_a_child_may_drop_the_encoder_and_have_children_of_its_own(tiny_encoder_folder):
    held = [Encoder.load(tiny_encoder_folder, threads=2)]
    vectors = held[0].encode(TEXTS)

    def drop():
        held.clear()
        gc.collect()
        return not held

    def grandchild():
        return np.array_equal(held[0].encode(TEXTS), vectors) and status_of_child(drop) == 0

    assert status_of_child(drop) == 0
    assert status_of_child(grandchild) == 0


def test_an_encoder_that_was_never_used_is_made_in_the_child(tiny_encoder_folder):
    encoder = Encoder.load(tiny_encoder_folder, threads=2)
    assert status_of_child(lambda: encoder.encode(TEXTS).shape == (3, encoder.dim)) == 0


def test_a_child_whose_model_is_gone_raises(tiny_encoder_folder, tmp_path):
    folder = shutil.copytree(tiny_encoder_folder, tmp_path / "gone")
    encoder = Encoder.load(folder, threads=2)
    encoder.encode(TEXTS)
    shutil.rmtree(folder)

    def work():
        with pytest.raises(ModelFileError, match="cannot read"):
            encoder.encode(TEXTS)
        return True

    assert status_of_child(work) == 0
    assert encoder.encode(TEXTS).shape == (3, encoder.dim)


def test_a_child_ends_by_itself_and_says_nothing(tiny_encoder_folder):
    """Interpreter shutdown destroys what is left: it must not wait for the parent's threads."""
    program = """
        import os, sys, warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        from pincite.models.encoder import Encoder
        encoder = Encoder.load(sys.argv[1], threads=2)
        encoder.encode(["the cat"])
        child = os.fork()
        if child:
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        encoder.encode(["the cat"])
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), str(tiny_encoder_folder)],
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted through /proc")
def test_the_runtime_starts_no_thread_that_reports_home(tiny_encoder_folder):
    program = """
        import os, sys
        import numpy
        from pincite.models.encoder import Encoder
        before, environment = len(os.listdir("/proc/self/task")), dict(os.environ)
        Encoder.load(sys.argv[1], threads=1).encode(["the cat"])
        assert "onnxruntime" in sys.modules
        assert dict(os.environ) == environment
        print(len(os.listdir("/proc/self/task")) - before)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), str(tiny_encoder_folder)],
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=True,
        env={name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"},
    )
    assert (done.stdout, done.stderr) == ("0\n", "")


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_pool_of_processes_encodes_as_the_parent(tiny_encoder_folder, method):
    encoder = Encoder.load(tiny_encoder_folder, threads=2)
    vectors = encoder.encode(TEXTS)
    with multiprocessing.get_context(method).Pool(2) as pool:
        for found in pool.imap_unordered(encoder.encode, [TEXTS] * 4):
            assert np.array_equal(found, vectors)


def test_the_real_model_in_forked_children(minilm):
    bundled = Reranker.load()
    vectors, scores = minilm.encode(TEXTS), bundled.score("where is the cat?", TEXTS)

    def work():
        same = np.allclose(minilm.encode(TEXTS), vectors, atol=1e-6)
        return same and np.allclose(bundled.score("where is the cat?", TEXTS), scores, atol=1e-5)

    assert [status_of_child(work) for _ in range(3)] == [0] * 3
