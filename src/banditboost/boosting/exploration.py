"""Lines 9 and 10 of Algorithm 1: the sampling distribution of equation (2), the draw from it, and how large its rate is."""

from __future__ import annotations

from banditboost.kernels.compile import inlined
from banditboost.kernels.layout import GREEDY, PROBABILITY, RATE, ROUND, SHOWN, Array
from banditboost.kernels.rng import EXPLORE, uniform

CONSTANT, BY_ROUND, BY_ERROR, BY_VOTES = range(4)  # schedules: what the rate follows from
_FIRST_VERDICTS = 20.0  # with which an error of 1 is believed in at the beginning


@inlined
def exploration_rate(settings: Array, memo: Array) -> float:
    """rho of this round, for all schedules but the one by votes (divided.py)."""
    rate: float = settings[0]["rate"]
    if settings[0]["schedule"] == CONSTANT:
        return rate
    if settings[0]["schedule"] == BY_ROUND:
        wanted = settings[0]["rate_scale"] * (memo[ROUND] + 1.0) ** -settings[0]["rate_power"]
    else:
        wanted = settings[0]["rate_scale"] * settings[0]["recent_error"]
    return max(settings[0]["least_rate"], min(rate, wanted))


@inlined
def count_verdict(settings: Array, memo: Array, outcome: int) -> None:
    """Count it, and let it be part of the recent error of the greedy label."""
    settings[0]["verdicts"] += 1
    if settings[0]["schedule"] == BY_ERROR and memo[SHOWN] == memo[GREEDY]:
        wrong = 0.0 if outcome != 0 else 1.0
        settings[0]["recent_error"] += (wrong - settings[0]["recent_error"]) / min(
            settings[0]["verdicts"] + _FIRST_VERDICTS, settings[0]["error_memory"]
        )


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
    n_labels, rate = settings[0]["n_labels"], exploration_rate(settings, memo)
    shown = greedy
    if settings[0]["full_information"] == 0:
        shown = draw_label(greedy, rate, n_labels, uniform(key, EXPLORE, 0))
    memo[SHOWN] = shown
    memo[GREEDY] = greedy
    memo[RATE] = rate
    memo[PROBABILITY] = label_probability(shown, greedy, rate, n_labels)
