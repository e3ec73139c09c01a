"""A graph in ONNX Runtime: made at first use, shared by threads, made anew in every forked child."""

from __future__ import annotations

import ctypes
import math
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pincite.errors import InvalidInputError, ModelFileError
from pincite.models import protobuf
from pincite.models.export import Task, to_onnx
from pincite.models.files import ModelFolder

__all__ = ["Graph", "available_cpus", "read_graph", "refuse_external_data", "runtime"]

SUPPLIED = ("input_ids", "attention_mask", "token_type_ids")
INTEGERS: dict[str, np.dtype[Any]] = {"tensor(int64)": np.dtype(np.int64), "tensor(int32)": np.dtype(np.int32)}

# Held while a session is made, and by a fork: a child must not inherit the runtime's own locks half-way.
_making = threading.RLock()
_graphs: weakref.WeakSet[Graph] = weakref.WeakSet()


def runtime() -> Any:
    """Return the module `onnxruntime`, with its telemetry off unless `ORT_DISABLE_TELEMETRY` is set, to whatever.

    From version 1.29 on it reports sessions, file names among them, to its makers by default. Besides, its reporting
    thread starts with the import, and a forked child that ends in the ordinary way then waits for it for ever. An
    application that imports it before Pincite does keeps that thread, though not the reports.
    """
    own = "ORT_DISABLE_TELEMETRY" in os.environ
    if not own:
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        import onnxruntime  # type: ignore[import-untyped]
    finally:
        if not own:
            del os.environ["ORT_DISABLE_TELEMETRY"]
    if not own:
        onnxruntime.disable_telemetry_events()
    return onnxruntime


class Graph:
    """A transformer's graph whose inputs are token ids.

    Parameters
    ----------
    read : callable
        Gives the bytes of the ONNX model; called at first use, and once in every forked child that uses it.
    name : str
        What errors call it.
    outputs : sequence of str
        Names of the wanted output, the best first; without any of them, the graph's only output is taken.
    threads : int, optional
        Of one run; default: the CPUs this process may use.
    """

    def __init__(self, read: Callable[[], bytes], *, name: str, outputs: Sequence[str], threads: int | None) -> None:
        self._read, self._name, self._wanted = read, name, outputs
        self.threads = available_cpus() if threads is None else _checked_threads(threads)
        self._session: Any = None
        self._output = ""
        self._inputs: dict[str, np.dtype[Any]] = {}
        _graphs.add(self)

    def run(
        self, ids: Sequence[Sequence[int]], *, segments: Sequence[int] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the output for a batch of token ids, and the mask ``(batch, tokens)`` of what is no padding.

        Parameters
        ----------
        ids : sequence of sequences of int
            Tokens of each text, at least one.
        segments : sequence of int, optional
            Where the second segment of each text begins; default: there is none.

        Raises
        ------
        ModelFileError
            If the graph is of no use here, or fails on this input.
        """
        session = self._ready()
        lengths = np.array([len(row) for row in ids])
        columns = np.arange(lengths.max())
        mask = columns < lengths[:, None]
        feed = {"attention_mask": mask, "input_ids": np.zeros(mask.shape, np.int64)}
        feed["input_ids"][mask] = np.concatenate(ids)
        feed["token_type_ids"] = (
            np.zeros_like(mask) if segments is None else mask & (columns >= np.asarray(segments)[:, None])
        )
        feed = {name: feed[name].astype(dtype) for name, dtype in self._inputs.items()}
        try:
            output = session.run([self._output], feed)[0]
        except Exception as error:  # the runtime's errors have no base of their own
            raise ModelFileError(f"ONNX Runtime failed in {self._name} on shape {mask.shape}: {error}") from error
        if not isinstance(output, np.ndarray) or output.shape[:1] != mask.shape[:1]:
            raise ModelFileError(f"{self._output} of {self._name} has another shape than one row for each text")
        return output.astype(np.float32, copy=False), mask

    def _ready(self) -> Any:
        session = self._session
        if session is None:
            with _making:
                if self._session is None:
                    self._session = self._made()
                session = self._session
        return session

    def _made(self) -> Any:
        onnxruntime = runtime()
        model = self._read()
        refuse_external_data(model, self._name)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        options.enable_mem_pattern = False  # plans one shape at a time; ours differ from batch to batch
        options.log_severity_level = 4  # errors are raised; they need not be printed as well
        # Idle threads that spin take the CPUs from whoever shares them: a question took three times as long.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise ModelFileError(f"ONNX Runtime {onnxruntime.__version__} cannot load {self._name}: {error}") from error
        self._inputs = {given.name: self._supplied(given.name, given.type) for given in session.get_inputs()}
        if missing := {"input_ids", "attention_mask"} - self._inputs.keys():
            raise ModelFileError(
                f"{self._name} takes {', '.join(self._inputs)}; it lacks {', '.join(sorted(missing))}, without which "
                "texts cannot be told from padding"
            )
        self._output = self._chosen([str(output.name) for output in session.get_outputs()])
        return session

    def _supplied(self, name: str, kind: str) -> np.dtype[Any]:
        if name not in SUPPLIED or kind not in INTEGERS:
            raise ModelFileError(
                f"{self._name} wants an input {name} of type {kind}; what can be supplied is {', '.join(SUPPLIED)} "
                f"of type {' or '.join(INTEGERS)}"
            )
        return INTEGERS[kind]

    def _chosen(self, names: list[str]) -> str:
        name: str
        for name in (*self._wanted, *(names if len(names) == 1 else ())):
            if name in names:
                return name
        raise ModelFileError(f"{self._name} gives {', '.join(names)}; wanted {' or '.join(self._wanted)}")

    def _abandon(self) -> None:
        """Forget the parent's session without destroying it: it would wait for threads that do not exist here."""
        if self._session is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._session))
            self._session = None


def _in_child() -> None:
    global _making
    _making = threading.RLock()
    for graph in _graphs:
        graph._abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lambda: _making.acquire(),
        after_in_parent=lambda: _making.release(),
        after_in_child=_in_child,
    )


def read_graph(model: ModelFolder, *, task: Task, pooling: str = "mean") -> bytes:
    """Return the ONNX model of a folder: its .onnx file, or one made of its weights.

    Raises
    ------
    ModelFileError
        If it cannot be read or used, or is no longer the file that was hashed.
    """
    if model.weights.suffix != ".onnx":
        graph = to_onnx(model.path, model.config, task=task, pooling=pooling)
    else:
        try:
            graph = model.weights.read_bytes()
        except OSError as error:
            raise ModelFileError(f"cannot read {model.weights}: {error.strerror or error}") from error
    model.check_unchanged()
    return graph


def available_cpus() -> int:
    """Return how many CPUs this process may use: its affinity, and the quota of its control group (version 2)."""
    affinity = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        group = Path("/proc/self/cgroup").read_text(encoding="utf-8").strip().rpartition("::")[2]
        quota, period = Path("/sys/fs/cgroup", group.lstrip("/"), "cpu.max").read_text(encoding="utf-8").split()
        return max(1, min(affinity, math.ceil(int(quota) / int(period))))
    except (OSError, ValueError):  # another system, or no quota ("max")
        return affinity


def refuse_external_data(model: bytes, name: str) -> None:
    """Refuse an ONNX model that reads weights from other files, which no hash of its own file covers.

    Raises
    ------
    ModelFileError
        If it does, or its bytes are no ONNX model.
    """
    try:
        external = any(_external_in(graph) for field, graph in protobuf.fields(memoryview(model)) if field == 7)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{name} is no ONNX model: {error}") from None
    if external:
        raise ModelFileError(f"{name} keeps weights in other files (ONNX external data); save it as one file")


def _external_in(graph: Any) -> bool:
    """Whether a GraphProto has a tensor of which data lies elsewhere, its nodes' own tensors and graphs included."""
    for field, value in protobuf.fields(graph):
        if field == 5 and _is_external(value):
            return True
        if field == 15 and any(
            part in (1, 2) and _is_external(tensor) for part, tensor in protobuf.fields(_bytes(value))
        ):
            return True
        if field == 1:
            for part, attribute in protobuf.fields(_bytes(value)):
                if part == 5 and _external_in_attribute(attribute):
                    return True
    return False


def _external_in_attribute(attribute: Any) -> bool:
    for field, value in protobuf.fields(_bytes(attribute)):
        if field in (5, 10) and _is_external(value):
            return True
        if field in (6, 11) and _external_in(_bytes(value)):
            return True
    return False


def _is_external(tensor: Any) -> bool:
    return any((field == 13) or (field == 14 and value == 1) for field, value in protobuf.fields(_bytes(tensor)))


def _bytes(value: Any) -> memoryview:
    if not isinstance(value, memoryview):
        raise ValueError("a number where a message belongs")
    return value


def _checked_threads(threads: Any) -> int:
    if type(threads) is not int or not 1 <= threads <= 1024:
        raise InvalidInputError(f"threads is {threads!r}, wanted an integer from 1 to 1024")
    return threads
