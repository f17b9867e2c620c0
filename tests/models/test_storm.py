"""Short storms of real signals; `python -m tests.models.storm` makes long ones."""

from __future__ import annotations

import pytest

from tests.boosting.kernels import INTERPRETED
from tests.models import storm

pytestmark = pytest.mark.skipif(INTERPRETED, reason="interpreted kernels can be interrupted")


@pytest.mark.parametrize("kind", ["GapBoost", "AdaBandit"])
def test_a_model_in_a_storm(kind: str) -> None:
    counts = storm.storms(4.0, 1, [kind])
    assert counts["faults"] == 0
    assert counts["strikes"] > 20
    assert counts["rounds"] >= counts["verdicts"] > 1000


def test_a_command_that_is_interrupted_goes_on_to_the_same_model() -> None:
    outcomes = storm.commands(3, 2)
    assert sum(outcomes.values()) == 3
    assert not [name for name in outcomes if name.startswith("FAULT")], outcomes
