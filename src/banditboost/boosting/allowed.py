"""A choice among some of the labels: lines 6 to 10 of Algorithm 1 with the allowed labels' places in the role of the labels.

`allowed` holds the indices of the allowed labels in increasing order. With all labels allowed every result is that of the plain steps.
"""

from __future__ import annotations

import numpy as np

from banditboost.boosting.experts import expert_labels
from banditboost.boosting.exploration import draw_label, exploration_rate, label_probability
from banditboost.kernels.compile import allocating, inlined
from banditboost.kernels.layout import ALLOWED, GREEDY, PROBABILITY, RATE, ROUND, SHOWN, VOTES, Array
from banditboost.kernels.rng import EXPLORE, round_key, uniform


@inlined
def place_of(allowed: Array, label: int) -> int:
    """Where a label stands among the allowed ones, -1 if it is none of them."""
    low, high = 0, allowed.size
    while low < high:
        middle = (low + high) // 2
        if allowed[middle] < label:
            low = middle + 1
        else:
            high = middle
    return low if low < allowed.size and allowed[low] == label else -1


@allocating
def label_experts_among(settings: Array, memo: Array, allowed: Array, labels: Array) -> None:
    """The allowed label that each expert votes for most; votes for other labels are left out."""
    n = settings[0]["n_learners"]
    votes, weights = np.zeros(n), np.zeros(n)
    for i in range(n):
        place = place_of(allowed, int(memo[VOTES + i]))
        if place >= 0:
            votes[i], weights[i] = place, memo[VOTES + n + i]
    expert_labels(votes, weights, allowed.size, round_key(settings[0]["seed"], int(memo[ROUND])), labels)
    for j in range(n):
        labels[j] = allowed[labels[j]]


@inlined
def show_among(settings: Array, memo: Array, greedy: int, allowed: Array, key: int) -> None:
    """Equation (2) over the allowed labels; a label that is alone is shown for certain."""
    rate, n_allowed = exploration_rate(settings, memo), allowed.size
    place = place_of(allowed, greedy)
    drawn, probability = place, 1.0
    if n_allowed > 1:
        drawn = draw_label(place, rate, n_allowed, uniform(key, EXPLORE, 0))
        probability = label_probability(drawn, place, rate, n_allowed)
    memo[SHOWN] = allowed[drawn]
    memo[GREEDY] = greedy
    memo[RATE] = rate
    memo[PROBABILITY] = probability
    memo[ALLOWED] = n_allowed
