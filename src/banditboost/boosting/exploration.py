"""Lines 9 and 10 of Algorithm 1: the sampling distribution of equation (2), the draw from it, and how large
its rate is.

`allowed` holds the indices of the labels that may be shown, in increasing order; an empty array stands for
all labels. With some of them allowed, their places play the role of the labels, and k is their number.
"""

from __future__ import annotations

from typing import Any

from banditboost.compiled.compile import allocating, inlined
from banditboost.compiled.rng import EXPLORE, uniform
from banditboost.memo import ALLOWED, GREEDY, PROBABILITY, RATE, ROUND, SHOWN
from banditboost.types import Array, Record

# Schedules: what the rate follows from.
SCHEDULE_CONSTANT, SCHEDULE_BY_ROUND, SCHEDULE_BY_ERROR, SCHEDULE_BY_VOTES = range(4)
_FIRST_VERDICTS = 20.0  # with which an error of 1 is believed in at the beginning


@allocating
def allowed_labels(scratch: Any) -> Array:
    """The labels that may be shown in this call; none stands for all."""
    allowed: Array = scratch.allowed[1 : 1 + scratch.allowed[0]]
    return allowed


@inlined
def exploration_rate(settings: Record, counts: Record, memo: Array) -> float:
    """rho of this round, for all schedules but the one by votes (divided.py)."""
    rate: float = settings.rate
    if settings.schedule == SCHEDULE_CONSTANT:
        return rate
    if settings.schedule == SCHEDULE_BY_ROUND:
        wanted = settings.rate_scale * (memo[ROUND] + 1.0) ** -settings.rate_power
    else:
        wanted = settings.rate_scale * counts.recent_error
    return max(settings.least_rate, min(rate, wanted))


@inlined
def count_verdict(settings: Record, counts: Record, memo: Array, feedback: float) -> None:
    """Count it, and let it be part of the recent error of the greedy label."""
    counts.verdicts += 1
    if settings.schedule == SCHEDULE_BY_ERROR and memo[SHOWN] == memo[GREEDY]:
        counts.recent_error += (1.0 - feedback - counts.recent_error) / min(
            counts.verdicts + _FIRST_VERDICTS, settings.error_memory
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
def place_among(allowed: Array, label: int) -> int:
    """Where a label stands among some of them, -1 if it is none of them."""
    low, high = 0, allowed.size
    while low < high:
        middle = (low + high) // 2
        if allowed[middle] < label:
            low = middle + 1
        else:
            high = middle
    return low if low < allowed.size and allowed[low] == label else -1


@inlined
def place_of(allowed: Array, label: int) -> int:
    """Where a label stands among those that may be shown, -1 if it may not."""
    return label if allowed.size == 0 else place_among(allowed, label)


@inlined
def label_at(allowed: Array, place: int) -> int:
    """The label at a place among those that may be shown."""
    return place if allowed.size == 0 else int(allowed[place])


@inlined
def note_choice(
    memo: Array, shown: int, greedy: int, probability: float, rate: float, n_allowed: int
) -> None:
    """Write the choice of a round into its memo; n_allowed is 0 if all labels could be shown."""
    memo[SHOWN] = shown
    memo[GREEDY] = greedy
    memo[PROBABILITY] = probability
    memo[RATE] = rate
    memo[ALLOWED] = n_allowed


@inlined
def show(settings: Record, counts: Record, memo: Array, greedy: int, allowed: Array, key: int) -> None:
    """Draw the label to show and note what it was drawn from; a label that is alone is shown for certain."""
    rate = exploration_rate(settings, counts, memo)
    n_labels = settings.n_labels if allowed.size == 0 else allowed.size
    best = place_of(allowed, greedy)
    drawn, probability = best, 1.0
    if n_labels > 1:
        if settings.full_information == 0:
            drawn = draw_label(best, rate, n_labels, uniform(key, EXPLORE, 0))
        probability = label_probability(drawn, best, rate, n_labels)
    note_choice(memo, label_at(allowed, drawn), greedy, probability, rate, allowed.size)
