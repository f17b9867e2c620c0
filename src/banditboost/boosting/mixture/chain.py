"""softmax(s^0), softmax(s^1), ... of a round, while votes are added, and what follows from them.

They are kept by slot (costs.py): those of active labels, and that of any other label. A vote counts the one
weight that does what the mixture over all weights does; it is in the memo.
"""

from __future__ import annotations

import math

import numpy as np

from banditboost.boosting.costs import list_active
from banditboost.boosting.experts import add_votes, nth_tied, slot_of
from banditboost.boosting.exploration import place_of
from banditboost.compiled.compile import allocating, inlined, kernel, loop
from banditboost.compiled.rng import EXPERT_TIE, round_key, uniform
from banditboost.memo import ROUND, VOTES
from banditboost.types import Array, Record

EQUAL = 1e-9  # probabilities that differ by less than this share are equal


@inlined
def no_votes(n_labels: int, probabilities: Array) -> None:
    """softmax(s^0)."""
    for slot in range(probabilities.size):
        probabilities[slot] = 1.0 / n_labels


@loop
def add_vote(probabilities: Array, mine: int, weight: float, memo: Array, n_labels: int) -> None:
    """softmax(s^i): the vote counts `weight`; then the result is smoothed with mu = 1 / (t + 1)^2."""
    grown = math.exp(weight)
    mu = 1.0 / (memo[ROUND] + 2.0) ** 2
    kept, floor = (1.0 - mu) / (1.0 + probabilities[mine] * (grown - 1.0)), mu / n_labels
    probabilities[mine] *= grown
    for slot in range(probabilities.size):
        probabilities[slot] = kept * probabilities[slot] + floor


@inlined
def likeliest(
    active: Array, n_active: int, probabilities: Array, n_labels: int, allowed: Array, key: int, expert: int
) -> int:
    """yhat^i = argmax_l s^i_l among the labels that may be shown; of several one is drawn."""
    others = n_labels if allowed.size == 0 else allowed.size
    best, first = 0.0, -1
    for slot in range(n_active):
        if place_of(allowed, active[slot]) >= 0:
            others -= 1
            if probabilities[slot] > best:
                best, first = probabilities[slot], slot
    others_tied = others > 0 and probabilities[n_active] >= best * (1.0 - EQUAL)
    least = max(best, probabilities[n_active] if others_tied else 0.0) * (1.0 - EQUAL)
    n_tied = others if others_tied else 0
    for slot in range(n_active):
        if probabilities[slot] >= least and place_of(allowed, active[slot]) >= 0:
            n_tied += 1
    if n_tied == 1 and not others_tied:
        return int(active[first])
    number = int(uniform(key, EXPERT_TIE, expert) * n_tied)
    if allowed.size == 0:
        return nth_tied(active, n_active, probabilities, least, math.inf, others_tied, number)
    for label in allowed:
        slot = slot_of(active, n_active, label)
        if probabilities[slot] >= least:
            if number == 0:
                return int(label)
            number -= 1
    return -1


@inlined
def label_experts(settings: Record, memo: Array, numbers: Array, key: int, labels: Array) -> None:
    """yhat^i of every expert, from the votes and weights in a memo."""
    n, n_labels = settings.n_learners, settings.n_labels
    active = numbers[:n].view(np.int64)
    n_active = add_votes(memo[VOTES : VOTES + n], active, 0)
    probabilities = numbers[n : n + n_active + 1]
    no_votes(n_labels, probabilities)
    for i in range(n):
        add_vote(
            probabilities,
            slot_of(active, n_active, int(memo[VOTES + i])),
            memo[VOTES + n + i],
            memo,
            n_labels,
        )
        labels[i] = likeliest(active, n_active, probabilities, n_labels, active[:0], key, i)


@allocating
def ask_experts(settings: Record, memo: Array, seed: int, labels: Array) -> None:
    """The label of every expert for a memo, without choosing one (for `predict_proba_one`)."""
    numbers = np.empty(2 * settings.n_learners + 1)
    label_experts(settings, memo, numbers, round_key(seed, int(memo[ROUND])), labels)


@kernel
def ask_expert(settings: Record, memo: Array, expert: int, shares: Array) -> None:
    """softmax(s^i) of one expert for a memo, with a slot for every label (for `rank`)."""
    n, n_labels = settings.n_learners, settings.n_labels
    no_votes(n_labels, shares)
    for i in range(expert + 1):
        add_vote(shares, int(memo[VOTES + i]), memo[VOTES + n + i], memo, n_labels)


@inlined
def add_true_costs(settings: Record, memo: Array, right: int, edges: Array, numbers: Array) -> None:
    n, n_labels = settings.n_learners, settings.n_labels
    active = numbers[: n + 1].view(np.int64)
    n_active = list_active(memo[VOTES : VOTES + n], right, -1, active)
    probabilities = numbers[n + 1 : n + 2 + n_active]
    no_votes(n_labels, probabilities)
    for i in range(n):
        voted = int(memo[VOTES + i])
        mine = slot_of(active, n_active, voted)
        edges[0, i] += probabilities[mine] - (1.0 if voted == right else 0.0)
        least = probabilities[slot_of(active, n_active, right)] - 1.0
        edges[1, i] += least
        edges[2, i] = min(edges[2, i], least)
        add_vote(probabilities, mine, memo[VOTES + n + i], memo, n_labels)


@allocating
def note_edges(settings: Record, memo: Array, right: int, edges: Array) -> None:
    """Add the true costs C[h^i, y] and C[y, y] of one round, and note the least C[y, y] of all.

    Columns of C sum to 0, so that edges and the weak learning condition follow from these. Only a simulation
    can know them.
    """
    add_true_costs(settings, memo, right, edges, np.empty(2 * settings.n_learners + 3))
