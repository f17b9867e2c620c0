"""Exploration where the learners are divided: its rate follows from their votes, and so does which other
label is tried.

A vote weighs alpha^i, or nothing if that is negative; if no vote weighs anything, all weigh the same. With
doubt = (votes for others than the greedy label) / (all votes), rho = doubt^2 within its limits, and

    p_i = rho (u / (k - 1) + (1 - u) (votes for i) / (votes for others than the greedy label)),  u = 1/5,

for every label but the greedy one, which has 1 - rho; u = 1 if all votes are for it. Among some labels k is
their number and only votes for them count. `Decision.distribution` computes the same from the same memo.
"""

from __future__ import annotations

from typing import NamedTuple

from banditboost.boosting.exploration import (
    SCHEDULE_BY_VOTES,
    draw_label,
    label_at,
    note_choice,
    place_of,
    show,
)
from banditboost.compiled.compile import inlined, kernel
from banditboost.compiled.rng import EXPLORE, uniform
from banditboost.memo import LEARNERS, POLICY, POLICY_BY_VOTES, UNIFORM_SHARE, VOTES
from banditboost.types import Array, Record


class Division(NamedTuple):
    """How the votes of a round are divided."""

    alike: bool  # all votes weigh the same
    others: float  # votes for others than the greedy label
    doubt: float
    uniform_share: float


@inlined
def vote_weight(memo: Array, learner: int, alike: bool) -> float:
    return 1.0 if alike else max(memo[VOTES + int(memo[LEARNERS]) + learner], 0.0)


@inlined
def votes_within(memo: Array, allowed: Array, but: int, alike: bool) -> float:
    """The weight of all votes for labels that are allowed, but for one label (or -1)."""
    total = 0.0
    for i in range(int(memo[LEARNERS])):
        if int(memo[VOTES + i]) != but and place_of(allowed, int(memo[VOTES + i])) >= 0:
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
    return Division(
        alike, others, others / total if total > 0.0 else 1.0, UNIFORM_SHARE if others > 0.0 else 1.0
    )


@inlined
def draw_voted(memo: Array, greedy: int, allowed: Array, votes: Division, u: float) -> int:
    """A label other than the greedy one: that of a learner, drawn by its vote's weight."""
    drawn, below = greedy, 0.0
    for i in range(int(memo[LEARNERS])):
        label = int(memo[VOTES + i])
        weight = vote_weight(memo, i, votes.alike)
        if label != greedy and weight > 0.0 and place_of(allowed, label) >= 0:
            drawn = label
            below += weight
            if u * votes.others < below:
                break
    return drawn


@inlined
def draw_divided(
    memo: Array, greedy: int, allowed: Array, n_allowed: int, votes: Division, rate: float, u: float
) -> int:
    if u < 1.0 - rate:
        return greedy
    u = (u - (1.0 - rate)) / rate
    if u >= votes.uniform_share:
        return draw_voted(
            memo, greedy, allowed, votes, (u - votes.uniform_share) / (1.0 - votes.uniform_share)
        )
    place = draw_label(place_of(allowed, greedy), 1.0, n_allowed, u / votes.uniform_share)
    return label_at(allowed, place)


@inlined
def divided_probability(
    memo: Array, label: int, greedy: int, n_allowed: int, votes: Division, rate: float
) -> float:
    if label == greedy:
        return 1.0 - rate
    share = votes.uniform_share / (n_allowed - 1)
    if votes.others > 0.0:
        share += (1.0 - votes.uniform_share) * votes_for(memo, label, votes.alike) / votes.others
    return rate * share


@kernel
def show_divided(settings: Record, memo: Array, greedy: int, allowed: Array, key: int) -> None:
    """Draw one of the allowed labels by the votes and note down what was drawn from; a label that is alone is
    shown for certain.
    """
    shown, probability = greedy, 1.0
    votes = divide(memo, greedy, allowed)
    rate = max(settings.least_rate, min(settings.rate, votes.doubt * votes.doubt))
    n_allowed = settings.n_labels if allowed.size == 0 else allowed.size
    if n_allowed > 1:
        shown = draw_divided(memo, greedy, allowed, n_allowed, votes, rate, uniform(key, EXPLORE, 0))
        probability = divided_probability(memo, shown, greedy, n_allowed, votes, rate)
    note_choice(memo, shown, greedy, probability, rate, allowed.size)
    memo[POLICY] = POLICY_BY_VOTES


@inlined
def show_by_schedule(
    settings: Record, counts: Record, memo: Array, greedy: int, allowed: Array, key: int
) -> None:
    """Draw the label to show, by the votes if the schedule says so."""
    if settings.schedule == SCHEDULE_BY_VOTES:
        show_divided(settings, memo, greedy, allowed, key)
    else:
        show(settings, counts, memo, greedy, allowed, key)
