"""What a simulation can know of weak learners, since it knows the right labels: their empirical edges, and
the sums of the weak learning condition (`theory.WeakLearningCondition`).
"""

from __future__ import annotations

import numpy as np

from banditboost.boosting.costs import Ballot, list_active, open_ballot
from banditboost.boosting.experts import slot_of
from banditboost.boosting.potential import PotentialTable, find_state
from banditboost.boosting.vote_states import count_class
from banditboost.compiled.compile import allocating, inlined, kernel, loop
from banditboost.memo import VOTES
from banditboost.trees.special_functions import tanh_half
from banditboost.types import Array, Record


@loop
def add_true_costs(
    settings: Record, memo: Array, ballot: Ballot, sums: Array, lead: Array, edges: Array
) -> None:
    """Equation (10) for the right label alone: both costs follow from lead[r] = tanh((s_y - s_r) / 2)."""
    n, n_labels, right, n_active = settings.n_learners, settings.n_labels, ballot.first, ballot.n_active
    total = 0.0
    for i in range(n):
        mine = slot_of(ballot.active, n_active, int(memo[VOTES + i]))
        least = -0.5 * ((n_labels - 1) - total)
        edges[0, i] += least if mine == right else 0.5 - 0.5 * lead[mine]
        edges[1, i] += least
        edges[2, i] = min(edges[2, i], least)
        sums[mine] += memo[VOTES + n + i]
        if mine == right:
            for slot in range(lead.size):
                lead[slot] = tanh_half(sums[right] - sums[slot])
            total = (n_labels - n_active) * lead[n_active]
            for slot in range(n_active):
                total += lead[slot]
        else:
            total -= lead[mine]
            lead[mine] = tanh_half(sums[right] - sums[mine])
            total += lead[mine]


@inlined
def count_true_costs(settings: Record, memo: Array, right: int, edges: Array, numbers: Array) -> None:
    n = settings.n_learners
    active = numbers[: n + 2].view(np.int64)
    ballot = open_ballot(active, list_active(memo[VOTES : VOTES + n], right, -1, active), right, -1)
    size = (ballot.n_active + 4) // 4 * 4  # a multiple of four for the vectorised loop
    add_true_costs(
        settings, memo, ballot, numbers[n + 2 : n + 2 + size], numbers[n + 2 + size : n + 2 + 2 * size], edges
    )


@allocating
def note_edges(settings: Record, memo: Array, right: int, edges: Array) -> None:
    """Add the true costs c^i_{h^i} and c^i_y of one round, and note the least c^i_y of all.

    Columns of equation (10) sum to 0, so that all of the weak learning condition follows from these.
    """
    n = settings.n_learners
    count_true_costs(settings, memo, right, edges, np.zeros(n + 2 + 2 * (n + 6)))


@kernel
def potential_of(table: PotentialTable, histogram: Array, n_votes: int, count: int) -> float:
    """phi of a label with `count` votes, after n_votes in all."""
    slot = find_state(table, histogram, n_votes)
    phi: float = table.values[slot, count_class(histogram, count)]
    return phi


@kernel
def move(histogram: Array, count: int, step: int) -> None:
    """A label with `count` votes gets one more, or (step = -1) one less."""
    histogram[count] -= 1
    histogram[count + step] += 1


@allocating
def note_potentials(settings: Record, table: PotentialTable, memo: Array, right: int, sums: Array) -> None:
    """Add d^i_{h^i} and |d^i|_1 of one round, and note the largest |d^i|_1 of all.

    d^i = c^i - c^i_y, with c^i_l = phi^y_{N-i}(s^{i-1} + e_l) of equation (8). Two potentials for each
    learner are enough: phi^y_{N-i+1}(s^{i-1}) = c^i . u^y_gamma = c^i_y + (1 - gamma) / k |d^i|_1.
    """
    n, scale = settings.n_learners, settings.n_labels / (1.0 - settings.edge)
    active = np.empty(n + 1, np.int64)
    n_active = list_active(memo[VOTES : VOTES + n], right, -1, active)
    counts, histogram = np.zeros(n_active, np.int64), np.zeros(n + 2, np.int64)
    histogram[0] = settings.n_labels
    own = slot_of(active, n_active, right)
    before = potential_of(table, histogram, 0, 0)
    for i in range(n):
        mine = slot_of(active, n_active, int(memo[VOTES + i]))
        move(histogram, counts[own], 1)
        least = potential_of(table, histogram, i + 1, counts[own] + 1)
        move(histogram, counts[own] + 1, -1)
        move(histogram, counts[mine], 1)
        counts[mine] += 1
        after = least if mine == own else potential_of(table, histogram, i + 1, counts[own])
        weight = scale * max(0.0, before - least)
        sums[0, i] += after - least
        sums[1, i] += weight
        sums[2, i] = max(sums[2, i], weight)
        before = after
