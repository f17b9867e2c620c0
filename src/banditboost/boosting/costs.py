"""Lines 14 and 15 of Algorithm 1: the estimated cost vectors of equation (5), and what a learner is taught
from one.

Slots 0 .. n-1 stand for the active labels, slot n for any label without votes, of which there are k - n: they
all have the same cost.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from banditboost.boosting.estimate import Estimate
from banditboost.boosting.experts import add_label, add_votes, nth_tied, slot_of
from banditboost.compiled.compile import allocating, inlined, kernel, loop
from banditboost.compiled.rng import COST_TIE, uniform
from banditboost.trees.special_functions import tanh_half
from banditboost.types import Array, Record

LEAST_IMPORTANCE = 1e-10  # an example that weighs less teaches nothing
LESSONS = ("ours", "differences", "text")
OURS, TEXT = 0, 2


class Ballot(NamedTuple):
    """The labels that matter in a round: those voted for and the estimate's two, in increasing order; and the
    slots of these two.
    """

    active: Array
    n_active: int
    first: int
    second: int


@inlined
def list_active(votes: Array, first: int, second: int, active: Array) -> int:
    """Write down which labels matter, and return how many.

    There is room for two more than there are votes; `second` may be -1: none.
    """
    n_active = add_label(active, 0, first)
    if second >= 0:
        n_active = add_label(active, n_active, second)
    return add_votes(votes, active, n_active)


@inlined
def open_ballot(active: Array, n_active: int, first: int, second: int) -> Ballot:
    """Not for kernels that make arrays: they would count a reference less than there is."""
    return Ballot(active, n_active, slot_of(active, n_active, first), slot_of(active, n_active, second))


@kernel
def clip_entries(costs: Array, clip: float) -> None:
    """The appendix's range [-clip, clip]."""
    for slot in range(costs.size):
        costs[slot] = max(-clip, min(clip, costs[slot]))


@inlined
def label_and_weight(
    costs: Array, ballot: Ballot, settings: Record, right: int, key: int, learner: int
) -> tuple[int, float]:
    """The appendix's l = argmin_j chat_j and w = sum_j (chat_j - chat_l), by one of three lessons.

    "text": entries are clipped (in place), as the appendix has it; of several minima a verdict that tells the
    right label takes this one, if it is among them, and else one is drawn.

    "differences": a constant added to all entries changes neither l nor w, so clipping should not see one:
    after an exploration that hit, potential costs are all far below -clip and would be flat. The differences
    are clipped instead.

    "ours": besides, a verdict that tells the right label teaches that one, minimum or not.
    """
    active, n_active = ballot.active, ballot.n_active
    n_labels, most = settings.n_labels, settings.largest_weight
    n_slots = min(n_active + 1, n_labels)
    if settings.lesson == TEXT:
        clip_entries(costs, most)
        most *= 2.0  # of a difference
    least = math.inf
    for slot in range(n_slots):
        least = min(least, costs[slot])
    limit = least + settings.tie_tolerance * (1.0 + abs(least))
    weight, n_tied = 0.0, 0
    for slot in range(n_slots):
        many = 1 if slot < n_active else n_labels - n_active
        weight += many * min(costs[slot] - least, most)
        if costs[slot] <= limit:
            n_tied += many
    weight *= settings.importance_scale
    if weight < LEAST_IMPORTANCE:
        return -1, 0.0
    if right >= 0 and (settings.lesson == OURS or costs[ballot.first] <= limit):
        return right, weight
    number = int(uniform(key, COST_TIE, learner) * n_tied) if n_tied > 1 else 0
    others_tied = n_slots > n_active and costs[n_active] <= limit
    return nth_tied(active, n_active, costs, -math.inf, limit, others_tied, number), weight


@inlined
def suffer(suffered: Array, vectors: Array, costs: Array, ballot: Ballot, learner: int, own: int) -> None:
    """Line 15: the learner suffers the loss chat_h, the cost of its own slot.

    One in Python may take the whole vector; for trees there is no room for it.
    """
    suffered[learner] += costs[own]
    if vectors.size > 0:
        for label in range(vectors.shape[1]):
            vectors[learner, label] = costs[slot_of(ballot.active, ballot.n_active, label)]


class Logistic(NamedTuple):
    """The logistic costs of one round while votes are added: C[l, r] of equation (10) for all slots at once.

    With h[l, r] = tanh((s_l - s_r) / 2): C[l, r] = (1 + h[l, r]) / 2 off the diagonal, and row l of C sums to
    total[l] = sum_r h[l, r]. Adding a vote changes one row and one column of h. Slots are filled up to a
    multiple of four, for vectorised loops, with labels that do not exist (many = 0).
    """

    sums: Array  # s_l
    h: Array
    total: Array
    many: Array  # how many labels each slot stands for
    fresh: Array  # the row that is being computed
    vector: Array  # a cost vector


@allocating
def zeros_for(n_active: int) -> Array:
    """Room for the costs of so many labels."""
    size = (n_active + 4) // 4 * 4
    return np.zeros((5 + size, size))


@inlined
def no_votes(n_active: int, n_labels: int, numbers: Array) -> Logistic:
    """Nothing is voted yet. `numbers` are zeros; as `open_ballot`, not for kernels that make arrays."""
    for slot in range(n_active):
        numbers[2, slot] = 1.0
    numbers[2, n_active] = n_labels - n_active
    return Logistic(numbers[0], numbers[5:], numbers[1], numbers[2], numbers[3], numbers[4])


@loop
def add_vote(costs: Logistic, slot: int, weight: float) -> None:
    """s_slot += weight."""
    costs.sums[slot] += weight
    mine, fresh, total = costs.sums[slot], costs.fresh, 0.0
    for r in range(fresh.size):
        fresh[r] = tanh_half(mine - costs.sums[r])
    for r in range(fresh.size):
        costs.total[r] -= fresh[r] - costs.h[slot, r]
        costs.h[slot, r] = fresh[r]
        costs.h[r, slot] = -fresh[r]
        total += costs.many[r] * fresh[r]
    costs.total[slot] = total


@inlined
def logistic_cost(costs: Logistic, label: int, right: int, n_labels: int) -> float:
    """C[l, r] of equation (10), for slots."""
    if label == right:
        return -0.5 * ((n_labels - 1) - costs.total[right])
    return 0.5 + 0.5 * costs.h[label, right]


@loop
def estimated_costs(costs: Logistic, ballot: Ballot, of: Estimate, n_labels: int) -> None:
    """The vector chat = C (1 - lhat), equation (5): base * (row sums of C) + first_extra * C[:, first] +
    second_extra * C[:, second].
    """
    first, second, vector = ballot.first, ballot.second, costs.vector
    # Off the diagonal C[l, r] = (1 - h[r, l]) / 2: rows are read, columns would not vectorise.
    for slot in range(vector.size):
        extra = of.first_extra * (1.0 - costs.h[first, slot]) + of.second_extra * (
            1.0 - costs.h[second, slot]
        )
        vector[slot] = of.base * costs.total[slot] + 0.5 * extra
    vector[first] += of.first_extra * (logistic_cost(costs, first, first, n_labels) - 0.5)
    if of.second_extra != 0.0:
        vector[second] += of.second_extra * (logistic_cost(costs, second, second, n_labels) - 0.5)
