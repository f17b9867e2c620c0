"""Lines 6 to 8 of Algorithm 1: expert j is the weighted vote of the first j learners.

Few labels are ever voted for. They are the *active* ones, kept in increasing order; all the others share one
vote of zero.
"""

from __future__ import annotations

import math

import numpy as np

from banditboost.boosting.exploration import place_among
from banditboost.compiled.compile import allocating, inlined, kernel
from banditboost.compiled.rng import EXPERT_TIE, uniform
from banditboost.types import Array


@inlined
def add_label(active: Array, n_active: int, label: int) -> int:
    """Insert a label into the ordered list unless it is there; returns the new length."""
    place = n_active
    while place > 0 and active[place - 1] >= label:
        place -= 1
    if place < n_active and active[place] == label:
        return n_active
    for i in range(n_active, place, -1):
        active[i] = active[i - 1]
    active[place] = label
    return n_active + 1


@inlined
def slot_of(active: Array, n_active: int, label: int) -> int:
    for slot in range(n_active):
        if active[slot] == label:
            return slot
    return n_active


@kernel
def nth_tied(
    active: Array, n_active: int, values: Array, low: float, high: float, others_tied: bool, number: int
) -> int:
    """Label number `number`, in increasing order, of those that are tied: active ones with low <= value <=
    high, and maybe all the rest.
    """
    if others_tied:
        label = number
        for slot in range(n_active):
            if not low <= values[slot] <= high and active[slot] <= label:
                label += 1
        return label
    for slot in range(n_active):
        if low <= values[slot] <= high:
            if number == 0:
                return active[slot]
            number -= 1
    return -1


@inlined
def largest_label(
    active: Array, n_active: int, sums: Array, n_labels: int, key: int, purpose: int, index: int
) -> int:
    """argmax over all k labels; a tie is broken by the keyed number of this purpose and index."""
    others = n_labels - n_active
    best = 0.0 if others > 0 else -math.inf
    first, n_tied = -1, others
    for slot in range(n_active):
        if sums[slot] > best:
            best, first, n_tied = sums[slot], slot, 1
        elif sums[slot] == best:
            n_tied += 1
    if n_tied == 1 and first >= 0:
        return active[first]
    return nth_tied(
        active,
        n_active,
        sums,
        best,
        best,
        best == 0.0 and others > 0,
        int(uniform(key, purpose, index) * n_tied),
    )


@inlined
def add_votes(votes: Array, active: Array, n_active: int) -> int:
    """Make the labels voted for active, too; returns how many are."""
    for i in range(votes.size):
        n_active = add_label(active, n_active, int(votes[i]))
    return n_active


@inlined
def expert_labels_within(
    votes: Array,
    weights: Array,
    active: Array,
    n_active: int,
    sums: Array,
    n_labels: int,
    key: int,
    labels: Array,
) -> None:
    """yhat^j = argmax_l s^j_l for every expert j, with s^j the running sum of weights[i] on votes[i].

    `sums` comes with zeros.
    """
    for j in range(votes.size):
        sums[slot_of(active, n_active, int(votes[j]))] += weights[j]
        labels[j] = largest_label(active, n_active, sums, n_labels, key, EXPERT_TIE, j)


@allocating
def expert_labels(votes: Array, weights: Array, n_labels: int, key: int, labels: Array) -> None:
    """yhat^j for every expert j, as `expert_labels_within`, with work arrays of its own."""
    numbers = np.zeros(2 * votes.size)
    active = numbers[votes.size :].view(np.int64)
    expert_labels_within(
        votes, weights, active, add_votes(votes, active, 0), numbers[: votes.size], n_labels, key, labels
    )


@allocating
def expert_labels_among(votes: Array, weights: Array, allowed: Array, key: int, labels: Array) -> None:
    """The allowed label that each expert votes for most; votes for other labels are left out."""
    n = votes.size
    places, counted = np.zeros(n), np.zeros(n)
    for i in range(n):
        place = place_among(allowed, int(votes[i]))
        if place >= 0:
            places[i], counted[i] = place, weights[i]
    expert_labels(places, counted, allowed.size, key, labels)
    for j in range(n):
        labels[j] = allowed[labels[j]]


@inlined
def draw_expert(log_weights: Array, u: float) -> int:
    """Line 7 of AdaBandit: i_t = i with probability proportional to v^i, whose logarithms are kept (the
    largest is 0).
    """
    total = 0.0
    for i in range(log_weights.size):
        total += math.exp(log_weights[i])
    reached = 0.0
    for i in range(log_weights.size):
        reached += math.exp(log_weights[i])
        if reached > u * total:
            return i
    return log_weights.size - 1
