"""Resident memory stays below a third more than the ceiling, plus a constant (docs/reliability.md).

A pool of trees that doubles needs its old half until the new one is filled.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.boosting.kernels import INTERPRETED
from tests.models.resident import MEBIBYTE

BEYOND = 32 * MEBIBYTE


@pytest.mark.skipif(INTERPRETED, reason="takes sixty thousand rounds")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere the peak is told in other units")
@pytest.mark.parametrize("kind", ["AdaBandit", "GapBoost"])
def test_resident_memory_stays_near_the_ceiling(kind: str) -> None:
    ceiling = 48
    command = [sys.executable, "-m", "tests.models.resident", kind, str(ceiling), "60000"]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert told["grown"] - told["rows"] < 4 / 3 * ceiling * MEBIBYTE + BEYOND
    assert told["told"] > 0.6 * ceiling * MEBIBYTE, "the ceiling was not met"
