"""Lines 9 and 10 of Algorithm 1: the sampling distribution of equation (2), and the draw from it."""

from __future__ import annotations

from banditboost.kernels.compile import inlined
from banditboost.kernels.layout import GREEDY, PROBABILITY, RATE, SHOWN, Array
from banditboost.kernels.rng import EXPLORE, uniform


@inlined
def label_probability(shown: int, greedy: int, rate: float, n_labels: int) -> float:
    """Equation (2): p_i = 1 - rho for the greedy label, rho / (k - 1) for each other."""
    return 1.0 - rate if shown == greedy else rate / (n_labels - 1)


@inlined
def draw_label(greedy: int, rate: float, n_labels: int, u: float) -> int:
    """Turn a uniform number into a label distributed as equation (2) says."""
    if u < 1.0 - rate:
        return greedy
    other = min(int((u - (1.0 - rate)) / rate * (n_labels - 1)), n_labels - 2)
    return other if other < greedy else other + 1


@inlined
def show(settings: Array, memo: Array, greedy: int, key: int) -> None:
    """Draw the label to show and note down what was drawn from."""
    n_labels, rate = settings[0]["n_labels"], settings[0]["rate"]
    shown = greedy
    if settings[0]["full_information"] == 0:
        shown = draw_label(greedy, rate, n_labels, uniform(key, EXPLORE, 0))
    memo[SHOWN] = shown
    memo[GREEDY] = greedy
    memo[RATE] = rate
    memo[PROBABILITY] = label_probability(shown, greedy, rate, n_labels)
