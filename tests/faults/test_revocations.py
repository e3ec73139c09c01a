"""What was taken back is gone at once, in every handle and process; `nox -s soak -- revocations` does more of it."""

from __future__ import annotations

import random

import pytest

from soaks.revocations import grant_and_revoke

pytestmark = pytest.mark.slow


def test_no_answer_is_stale_after_a_revocation(memory_path):
    outcome = grant_and_revoke(memory_path / "kb", 200, random.Random(1))
    assert outcome.findings == []
    assert outcome.counts == {"revocations": 200, "looks": 200 * 2 * 2 * 5}
