"""Every kernel of this machine against the scalar one, bit for bit, and that one against float64."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from pincite import _core
from pincite.core.kernels import available_kernels
from pincite.errors import InvalidInputError

FASTER = [name for name in available_kernels() if name != "scalar"]
SPECIAL = np.array([0.0, -0.0, 1e-45, -1e-45, 1e-40, -3e-39, 1.1754944e-38, 1.0, -1.0, 1e18], np.float32)


def unaligned(array: np.ndarray) -> np.ndarray:
    """Return a copy that starts one element past an aligned address."""
    room = np.empty(array.size + 1, array.dtype)
    room[1:] = array.ravel()
    return room[1:].reshape(array.shape)


def floats(random: np.random.Generator, shape: tuple[int, ...], special: bool) -> np.ndarray:
    values = random.standard_normal(shape).astype(np.float32)
    if special:
        values = np.where(random.random(shape) < 0.4, random.choice(SPECIAL, shape), values)
    return unaligned(values)


@pytest.mark.skipif(not FASTER, reason="this machine runs the scalar kernel only")
@pytest.mark.parametrize("kernel", FASTER)
@pytest.mark.parametrize("special", [False, True], ids=["normal", "denormals and zeros"])
def test_same_bits_for_every_dimension(kernel, special):
    """Case V03: the SIMD kernels give what the scalar one gives, for floats, halves and int8."""
    random = np.random.default_rng(3)
    for dim in range(1, 1025):
        query = floats(random, (dim,), special)
        rows = floats(random, (3, dim), special)
        assert (
            _core.dot(query, rows[0], kernel=kernel).hex() == _core.dot(query, rows[0], kernel="scalar").hex()
        ), dim
        found, expected = (_core.dot_rows(query, rows, kernel=name) for name in (kernel, "scalar"))
        assert found.tobytes() == expected.tobytes(), dim
        halves = unaligned(_core.half_bits(rows).reshape(rows.shape) & 0xBFFF)  # finite halves only
        found, expected = (_core.dot_rows_f16(query, halves, kernel=name) for name in (kernel, "scalar"))
        assert found.tobytes() == expected.tobytes(), dim
        q8 = unaligned(random.integers(-128, 128, dim, dtype=np.int8))
        r8 = unaligned(random.integers(-128, 128, (3, dim), dtype=np.int8))
        exact = r8.astype(np.int64) @ q8.astype(np.int64)
        for name in (kernel, "scalar"):
            assert _core.dot_rows_i8(q8, r8, kernel=name).tolist() == exact.tolist(), dim


@pytest.mark.parametrize("kernel", available_kernels())
def test_int8_extremes_are_exact(kernel):
    extremes = np.full(1024, -128, np.int8)
    assert _core.dot_rows_i8(extremes, extremes[None], kernel=kernel).tolist() == [1024 * 128 * 128]


def test_scalar_is_close_to_float64():
    random = np.random.default_rng(4)
    for dim in range(1, 1025):
        query, row = random.standard_normal((2, dim))
        query, row = (np.float32(v / np.linalg.norm(v)) for v in (query, row))
        exact = float(query.astype(np.float64) @ row.astype(np.float64))
        assert abs(_core.dot(query, row, kernel="scalar") - exact) < 1e-6


@pytest.mark.parametrize("kernel", available_kernels())
def test_a_row_scores_the_same_in_any_place(kernel):
    random = np.random.default_rng(5)
    rows = floats(random, (9, 100), False)
    query = floats(random, (100,), False)
    scores = _core.dot_rows(query, rows, kernel=kernel)
    order = random.permutation(9)
    assert _core.dot_rows(query, unaligned(rows[order]), kernel=kernel).tobytes() == scores[order].tobytes()
    assert [_core.dot(query, row, kernel=kernel) for row in rows] == scores.tolist()


def test_every_half_converts_exactly():
    bits = np.arange(2**16, dtype=np.uint16)
    finite = bits[np.isfinite(bits.view(np.float16))]
    for kernel in available_kernels():
        found = _core.dot_rows_f16(np.ones(1, np.float32), finite[:, None], kernel=kernel)
        assert found.tolist() == finite.view(np.float16).astype(np.float32).tolist()


def test_rounding_to_half_is_numpys():
    """Case V03: 70000 is no half; it rounds to infinity and never to a finite or negative number."""
    random = np.random.default_rng(6)
    values = np.concatenate(
        [
            random.integers(0, 2**32, 200_000, dtype=np.uint32).view(np.float32),
            np.float32(
                [0, -0.0, 65504, 65519.996, 65520, 70000, -70000, 2**-24, 2**-25, 3 * 2**-26, 6.1e-5, np.inf]
            ),
            np.nextafter(
                np.arange(2**10, dtype=np.uint16).view(np.float16).astype(np.float32), np.float32(1)
            ),
        ]
    )
    values = np.ascontiguousarray(values[~np.isnan(values)])
    with np.errstate(over="ignore"):
        expected = values.astype(np.float16)
    assert _core.half_bits(values).tolist() == expected.view(np.uint16).tolist()


PRINT_KERNEL = """
import pincite
from pincite.core.kernels import default_kernel
print("imported", flush=True)
print(default_kernel())
"""


def run_with(kernel: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PINCITE_KERNEL": kernel, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-c", PRINT_KERNEL], env=env, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("kernel", available_kernels())
def test_a_kernel_can_be_forced(kernel):
    assert run_with(kernel).stdout.split() == ["imported", kernel]


def test_an_unknown_kernel_is_refused_at_first_use_and_the_others_are_listed():
    done = run_with("mmx")
    assert done.returncode == 1
    assert "InvalidInputError: no kernel named 'mmx'" in done.stderr
    assert ", ".join(available_kernels()) in done.stderr
    assert done.stdout.split() == ["imported"]


def test_mismatched_lengths_are_refused():
    with pytest.raises(InvalidInputError, match="3 and 4"):
        _core.dot(np.ones(3, np.float32), np.ones(4, np.float32))
