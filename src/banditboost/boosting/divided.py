"""Exploration where the learners are divided: its rate follows from their votes, and so does which other label is tried.

A vote weighs alpha^i, or nothing if that is negative; if no vote weighs anything, all weigh the same. With doubt = (votes for others than
the greedy label) / (all votes), rho = doubt^2 within its limits, and

    p_i = rho (u / (k - 1) + (1 - u) (votes for i) / (votes for others than the greedy label)),  u = 1/5,

for every label but the greedy one, which has 1 - rho; u = 1 if all votes are for it. Among some labels k is their number and only votes for
them count. `Decision.distribution` computes the same from the same memo. An empty array of allowed labels stands for all.
"""

from __future__ import annotations

from typing import NamedTuple

from banditboost.boosting.allowed import place_of
from banditboost.boosting.exploration import draw_label
from banditboost.kernels.compile import inlined, njit
from banditboost.kernels.layout import (
    ALLOWED,
    BY_VOTES,
    GREEDY,
    LEARNERS,
    POLICY,
    PROBABILITY,
    RATE,
    SHOWN,
    UNIFORM_SHARE,
    VOTES,
    Array,
)
from banditboost.kernels.rng import EXPLORE, uniform


class Division(NamedTuple):
    """How the votes of a round are divided."""

    alike: bool  # all votes weigh the same
    others: float  # votes for others than the greedy label
    doubt: float
    uniform_share: float


@inlined
def place_in(allowed: Array, label: int) -> int:
    """Where a label stands among those that may be shown, -1 if it may not."""
    return label if allowed.size == 0 else place_of(allowed, label)


@inlined
def vote_weight(memo: Array, learner: int, alike: bool) -> float:
    return 1.0 if alike else max(memo[VOTES + int(memo[LEARNERS]) + learner], 0.0)


@inlined
def votes_within(memo: Array, allowed: Array, but: int, alike: bool) -> float:
    """The weight of all votes for labels that are allowed, but for one label (or -1)."""
    total = 0.0
    for i in range(int(memo[LEARNERS])):
        if int(memo[VOTES + i]) != but and place_in(allowed, int(memo[VOTES + i])) >= 0:
            total += vote_weight(memo, i, alike)
    return total


@inlined
def votes_for(memo: Array, label: int, alike: bool) -> float:
    total = 0.0
    for i in range(int(memo[LEARNERS])):
        if int(memo[VOTES + i]) == label:
            total += vote_weight(memo, i, alike)
    return total


@inlined
def divide(memo: Array, greedy: int, allowed: Array) -> Division:
    alike = not votes_within(memo, allowed, -1, False) > 0.0
    total = votes_within(memo, allowed, -1, alike)
    others = votes_within(memo, allowed, greedy, alike)  # summed, since a difference would lose light votes
    return Division(alike, others, others / total if total > 0.0 else 1.0, UNIFORM_SHARE if others > 0.0 else 1.0)


@inlined
def draw_voted(memo: Array, greedy: int, allowed: Array, votes: Division, u: float) -> int:
    """A label other than the greedy one: that of a learner, drawn by its vote's weight."""
    drawn, below = greedy, 0.0
    for i in range(int(memo[LEARNERS])):
        label = int(memo[VOTES + i])
        weight = vote_weight(memo, i, votes.alike)
        if label != greedy and weight > 0.0 and place_in(allowed, label) >= 0:
            drawn = label
            below += weight
            if u * votes.others < below:
                break
    return drawn


@inlined
def draw_divided(memo: Array, greedy: int, allowed: Array, n_allowed: int, votes: Division, rate: float, u: float) -> int:
    if u < 1.0 - rate:
        return greedy
    u = (u - (1.0 - rate)) / rate
    if u >= votes.uniform_share:
        return draw_voted(memo, greedy, allowed, votes, (u - votes.uniform_share) / (1.0 - votes.uniform_share))
    place = draw_label(place_in(allowed, greedy), 1.0, n_allowed, u / votes.uniform_share)
    return place if allowed.size == 0 else int(allowed[place])


@inlined
def divided_probability(memo: Array, label: int, greedy: int, n_allowed: int, votes: Division, rate: float) -> float:
    if label == greedy:
        return 1.0 - rate
    share = votes.uniform_share / (n_allowed - 1)
    if votes.others > 0.0:
        share += (1.0 - votes.uniform_share) * votes_for(memo, label, votes.alike) / votes.others
    return rate * share


@njit
def show_divided(settings: Array, memo: Array, greedy: int, allowed: Array, key: int) -> None:
    """Draw one of the allowed labels and note down what was drawn from; a label that is alone is shown for certain."""
    shown, probability = greedy, 1.0
    votes = divide(memo, greedy, allowed)
    rate = max(settings[0]["least_rate"], min(settings[0]["rate"], votes.doubt * votes.doubt))
    n_allowed = settings[0]["n_labels"] if allowed.size == 0 else allowed.size
    if n_allowed > 1:
        shown = draw_divided(memo, greedy, allowed, n_allowed, votes, rate, uniform(key, EXPLORE, 0))
        probability = divided_probability(memo, shown, greedy, n_allowed, votes, rate)
    memo[SHOWN] = shown
    memo[GREEDY] = greedy
    memo[RATE] = rate
    memo[PROBABILITY] = probability
    memo[ALLOWED] = allowed.size
    memo[POLICY] = BY_VOTES
