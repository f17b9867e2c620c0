"""Learning curves whose window grows at the beginning, against plain means."""

from __future__ import annotations

import numpy as np
import pytest

from banditboost.experiments.curves import growing_curve


@pytest.mark.parametrize("rounds", [1, 2, 9, 100, 199, 1000, 5003])
@pytest.mark.parametrize("window", [0.01, 0.2, 1.0])
def test_every_point_is_the_mean_over_the_window_or_over_all_so_far(rounds: int, window: float) -> None:
    correct = np.random.default_rng(rounds).random(rounds) < 0.5
    curve = growing_curve(correct, window)
    width = max(1, int(window * rounds))
    for end, accuracy in zip(curve["round"], curve["accuracy"], strict=True):
        assert accuracy == pytest.approx(correct[max(0, end - width) : end].mean())
    assert curve["round"][0] == max(1, round(rounds / 100))
    assert curve["round"][-1] == rounds
    assert len(curve["round"]) <= 200
    assert curve["grows"]
