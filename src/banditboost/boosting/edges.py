"""Empirical edges of weak learners: what a simulation can know, which is told the right labels."""

from __future__ import annotations

import numpy as np

from banditboost.boosting.costs import Ballot, list_active, open_ballot
from banditboost.boosting.experts import slot_of
from banditboost.compiled.compile import allocating, inlined, loop
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
    """Add the true costs c^i_{h^i} and c^i_y of one round, from which the empirical edges follow.

    Only a simulation can know them.
    """
    n = settings.n_learners
    count_true_costs(settings, memo, right, edges, np.zeros(n + 2 + 2 * (n + 6)))
