"""K01: an index after kills, failing calls and losses of power; a part of what `nox -s survival` does in full."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

import fsfault
from soaks import catalogs

pytestmark = pytest.mark.slow


@pytest.mark.skipif(bool(fsfault.missing()), reason=fsfault.missing() or "-")
@pytest.mark.parametrize(
    ("what", "number", "counted", "least"),
    [("kills", 41, "kills", 100), ("failures", 71, "failed calls", 200), ("power", 400, "states", 350)],
)
def test_an_index_survives(what, number, counted, least):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ended = subprocess.run(
        [sys.executable, "-m", "soaks.survival", what, str(number), *(["--first", "7"] if what != "power" else [])],
        env=environment, text=True, capture_output=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-6000:]
    found = re.search(rf"([\d,]+) {counted}", ended.stdout)
    assert found is not None
    assert int(found[1].replace(",", "")) > least


def test_damage_to_a_catalog_is_named_or_does_not_show():
    outcome = catalogs.sweep(251, seed=3)
    assert outcome.findings == []
    assert outcome.counts["named at open or use"] > 50
    assert outcome.counts["harmless"] > 50  # most of a small catalog is free space
